"""Names of parts in results: which part of each body a contact is on, and how results carry that.

Two fields, ``part_a`` and ``part_b``, hold numbers of names, which stand in ``info["parts"]``; both are None
where no mesh of the query has names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gpu_collide.geometry.labels import labels_of
from gpu_collide.results.words import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from gpu_collide._types import Array
    from gpu_collide.bodies.bodies import Bodies

__all__ = ["PART_FIELDS", "joined_names", "names_of", "parts_of_contacts"]

PART_FIELDS: dict[str, tuple[Any, tuple[int, ...]]] = {"part_a": (np.int32, ()), "part_b": (np.int32, ())}
_FEATURES = {  # of A and of B in each kind of contact
    Kind.FV: ("face", "vertex"),
    Kind.VF: ("vertex", "face"),
    Kind.EE: ("edge", "edge"),
}


def parts_of_contacts(
    bodies: Bodies, of_bodies: Array, kind: Array, features: tuple[Array, Array]
) -> tuple[dict[str, Array], list[str]]:
    """The fields of `PART_FIELDS` and the names that they number.

    Parameters
    ----------
    bodies : Bodies
    of_bodies : (c, 2) ndarray of int
        A and B of each contact.
    kind : (c,) ndarray
    features : pair of (c,) ndarray
        ``feature_a`` and ``feature_b``.
    """
    number: dict[str, int] = {}
    for mesh in bodies.meshes:
        for name in mesh.parts.names if mesh.parts is not None else ():
            number.setdefault(name, len(number))
    fields = {}
    for side, name in enumerate(PART_FIELDS):
        codes = np.full(len(kind), -1, np.int32)
        shape = bodies.shape[of_bodies[:, side]]
        for k, mesh in enumerate(bodies.meshes):
            if mesh.parts is None:
                continue
            for what in _FEATURES:
                rows = np.flatnonzero((shape == k) & (kind == what))
                met, again = np.unique(features[side][rows], return_inverse=True)
                labels = labels_of(mesh, _FEATURES[what][side], met)
                told = [number.setdefault(label, len(number)) if label else -1 for label in labels]
                codes[rows] = np.array(told, np.int32)[again] if len(rows) else 0
        fields[name] = codes
    return fields, list(number)


def names_of(codes: Array, names: Sequence[str]) -> Array:
    """Names (c,) of numbers; empty where there is none."""
    return np.array([*names, ""], "U")[codes]


def joined_names(results: Sequence[Any]) -> tuple[dict[str, Array], dict[str, Any]]:
    """Fields of several results as those of one, and what its info says."""
    if all(result.part_a is None for result in results):
        return {}, {}
    number: dict[str, int] = {}
    columns: Mapping[str, list[Array]] = {name: [] for name in PART_FIELDS}
    for result in results:
        here = [number.setdefault(name, len(number)) for name in result.info.get("parts", ())]
        for name, column in columns.items():
            codes = getattr(result, name)
            codes = np.full(len(result), -1) if codes is None else codes
            column.append(np.array([*here, -1], np.int32)[codes])
    return {name: np.concatenate(column) for name, column in columns.items()}, {"parts": list(number)}
