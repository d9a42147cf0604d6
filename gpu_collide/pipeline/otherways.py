"""What is asked of a pair alone that `max_bytes` is too small for.

The way that is fastest has not fitted; of the others, whole meshes and near faces, either may take less.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gpu_collide.pipeline.run import TooLarge

__all__ = ["tried"]


def tried(work, take, otherwise):
    """A function as `take`, which tries other ways with a pair that is too large alone.

    Parameters
    ----------
    work : Work
        Its ``prepared`` and ``gives_up`` are what a way is.
    take, otherwise : callable
        ``take(at, stop)``: all stages for so many pairs; ``otherwise``: the same, where `work` is of another
        way.

    Returns
    -------
    callable
        Raises `TooLarge` with the least that any way takes.
    """

    def some(at, stop):
        try:
            return take(at, stop)
        except TooLarge as error:
            if stop - at > 1 or work.options.features != "auto" or not work.prepared.late.any():
                raise
            needs = [error.need]
        for prepared in _ways(work.prepared):
            try:
                return _asked(work, prepared, otherwise, at, stop)
            except TooLarge as other:
                needs.append(other.need)
        raise TooLarge(min(needs))

    return some


def _ways(prepared):
    """`Prepared` for whole meshes alone, and for near faces however long the search for them is."""
    none = np.zeros(len(prepared.near), np.uint8)
    yield replace(prepared, near=none, late=none, walked=False)
    yield replace(prepared, near=prepared.late, walked=False)


def _asked(work, prepared, take, at, stop):
    before = work.prepared, work.gives_up
    work.prepared, work.gives_up = prepared, False
    try:
        return take(at, stop)
    finally:
        work.prepared, work.gives_up = before
