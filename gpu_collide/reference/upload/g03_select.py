"""The numbers of a list that have a flag, in their order, and -1 after them."""

import numpy as np

__all__ = ["selected"]


def selected(numbers, flags):
    """The list (n,), and how many have a flag."""
    left = [number for number, flag in zip(numbers, flags, strict=True) if flag]
    return np.array(left + [-1] * (len(numbers) - len(left)), np.int32), len(left)
