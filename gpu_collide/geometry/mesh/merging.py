"""The argument `merge_coplanar` of meshes: its values, how flat faces have to be for it, and which of the
caller's faces each merged one consists of."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gpu_collide._validate import check_positive

if TYPE_CHECKING:
    from typing import Any

    from gpu_collide._types import Array

__all__ = ["check_merge", "flatness", "gather_sources"]

# Merging coplanar faces: at most half of what a given polygon may be off its plane, at least the rounding of
# a rotated shape.
MOST_FLATTENED = 5e-7
LEAST_FLATTENED = 1e-12


def check_merge(merge_coplanar: Any) -> None:
    """Refuse what is neither a bool nor a distance; 0 is False."""
    if isinstance(merge_coplanar, (bool, np.bool_)):
        return
    if not isinstance(merge_coplanar, (int, float, np.integer, np.floating)):
        raise TypeError(
            f"merge_coplanar: expected a bool or a positive number, got {type(merge_coplanar).__name__}; "
            f"pass True, False or a distance in sizes, at most {MOST_FLATTENED:g}"
        )
    if merge_coplanar != 0 and check_positive(merge_coplanar, "merge_coplanar") > MOST_FLATTENED:
        raise ValueError(f"merge_coplanar: expected at most {MOST_FLATTENED:g}, got {merge_coplanar}")


def flatness(merge_coplanar: Any, dtype: Any, points: Array, radius: float) -> float:
    """Distance from a plane, in sizes, up to which faces are merged."""
    if not isinstance(merge_coplanar, (bool, np.bool_)):
        return float(merge_coplanar)
    # Coordinates are rounded in the caller's frame, where they may be much larger than the mesh.
    digits = np.finfo(dtype).eps if dtype.kind == "f" else np.finfo(float).eps
    rounding = digits * float(np.abs(points).max()) / radius
    return min(max(LEAST_FLATTENED, rounding), MOST_FLATTENED)


def gather_sources(label: Array, source: Any) -> tuple[Array, Array]:
    """CSR of the caller's faces behind each merged face, ascending and without repeats."""
    order = np.lexsort((source, label))
    label, source = label[order], source[order]
    new = np.ones(len(label), bool)
    new[1:] = (label[1:] != label[:-1]) | (source[1:] != source[:-1])
    return np.concatenate([[0], np.cumsum(np.bincount(label[new]))]), source[new]
