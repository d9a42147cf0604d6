"""Names of parts in results: which part of each body a contact is on, and how results carry that.

Two fields, ``part_a`` and ``part_b``, hold numbers of names, which stand in ``info["parts"]``; both are None
where no mesh of the query has names. Results on a device get them when somebody asks: names are looked up on
the host.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gpu_collide._validate import as_numpy
from gpu_collide.geometry.mesh.labels import labels_of
from gpu_collide.results.enums import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from gpu_collide._types import Array
    from gpu_collide.geometry.mesh.mesh import Mesh

__all__ = ["PART_FIELDS", "NamedLater", "joined_names", "names_of", "parts_of_contacts"]

PART_FIELDS: dict[str, tuple[Any, tuple[int, ...]]] = {"part_a": (np.int32, ()), "part_b": (np.int32, ())}
_FEATURES = {  # of A and of B in each kind of contact
    Kind.FV: ("face", "vertex"),
    Kind.VF: ("vertex", "face"),
    Kind.EE: ("edge", "edge"),
    Kind.EV: ("edge", "vertex"),
    Kind.VE: ("vertex", "edge"),
    Kind.VV: ("vertex", "vertex"),
}


class NamedLater:
    """A field of `PART_FIELDS` of results whose names are looked up when somebody asks for them.

    Instances of the class that it stands in have the field in their ``__dict__``, or ``_named_by``
    there, what `parts_of_contacts` takes of the bodies, or no names.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, found: Any, owner: type) -> Any:
        named_by = None if found is None else found.__dict__.get("_named_by")
        if named_by is None:
            return None
        pairs, pair, kind = (as_numpy(getattr(found, name), name) for name in ("pairs", "pair", "kind"))
        features = tuple(as_numpy(getattr(found, name), name) for name in ("feature_a", "feature_b"))
        meshes, shape = named_by
        fields, names = parts_of_contacts(meshes, shape, pairs[pair], kind, (features[0], features[1]))
        for name, codes in fields.items():
            there = found.feature_a.copy()  # of the same length and type, where the result lies
            there.set(codes)
            fields[name] = there
        found.info["parts"] = names
        found.__dict__.update(fields)
        return fields[self._name]


def parts_of_contacts(
    meshes: Sequence[Mesh], shape: Array, of_bodies: Array, kind: Array, features: tuple[Array, Array]
) -> tuple[dict[str, Array], list[str]]:
    """The fields of `PART_FIELDS` and the names that they number.

    Parameters
    ----------
    meshes : sequence of Mesh
    shape : (n,) ndarray of int
        Which mesh each body has.
    of_bodies : (c, 2) ndarray of int
        A and B of each contact.
    kind : (c,) ndarray
    features : pair of (c,) ndarray
        ``feature_a`` and ``feature_b``.
    """
    if len(of_bodies) and of_bodies.max() >= len(shape):
        raise ValueError(
            f"bodies: expected those of the query, {of_bodies.max() + 1} or more, got {len(shape)}"
        )
    number: dict[str, int] = {}
    for mesh in meshes:
        for name in mesh.parts.names if mesh.parts is not None else ():
            number.setdefault(name, len(number))
    fields = {}
    for side, name in enumerate(PART_FIELDS):
        codes = np.full(len(kind), -1, np.int32)
        mine = shape[of_bodies[:, side]]
        for k, mesh in enumerate(meshes):
            if mesh.parts is None:
                continue
            for what in _FEATURES:
                rows = np.flatnonzero((mine == k) & (kind == what))
                met, again = np.unique(features[side][rows], return_inverse=True)
                labels = labels_of(mesh, _FEATURES[what][side], met)
                told = [number.setdefault(label, len(number)) if label else -1 for label in labels]
                codes[rows] = np.array(told, np.int32)[again] if len(rows) else 0
        fields[name] = codes
    return _renumbered(fields, list(number))


def _renumbered(fields: Mapping[str, Array], names: Sequence[str]) -> tuple[dict[str, Array], list[str]]:
    """The same with names in alphabetical order, which pieces and the whole agree on."""
    order = sorted(range(len(names)), key=names.__getitem__)
    rank = np.empty(len(names) + 1, np.int32)
    rank[order], rank[-1] = np.arange(len(names)), -1
    return {name: rank[codes] for name, codes in fields.items()}, [names[k] for k in order]


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
    joined = {name: np.concatenate(column) for name, column in columns.items()}
    fields, names = _renumbered(joined, list(number))
    return fields, {"parts": names}
