"""Generators of random numbers, each for its own seed."""

from collections.abc import Iterable

import numpy as np
import pytest


def everyday(first, of):
    """Values of a parameter up to `of`: the `first` ones every day, the others with the slow tests."""
    return [*range(first), *(pytest.param(k, marks=pytest.mark.slow) for k in range(first, of))]


def generator(*seeds):
    """NumPy's generator for numbers and for sequences of numbers within each other, in their order.

    Seeds of families are joined of a run's seed, which may be a list itself, and their own. Up to NumPy 2.4
    `default_rng` took such lists within lists as if they were one; since 2.5 it refuses them.
    """
    return np.random.default_rng(list(_flat(seeds)))


def _flat(seeds):
    for seed in seeds:
        if isinstance(seed, Iterable):
            yield from _flat(seed)
        else:
            yield int(seed)
