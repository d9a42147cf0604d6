"""`Compound`: one body of several shapes of any kind; and `Expansion`, the rows that queries make of bodies
with compounds among their shapes."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gpu_collide._validate import Frozen, first_few, how_many
from gpu_collide.bodies.poses import Poses
from gpu_collide.geometry.arrays.parts import Parts, as_parts
from gpu_collide.geometry.mesh.joining import joined_meshes
from gpu_collide.geometry.mesh.labels import FEATURES
from gpu_collide.geometry.mesh.mesh import Mesh

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gpu_collide._types import Array

__all__ = ["Compound", "Expansion", "refuse_compounds"]


class Compound(Frozen):
    """One rigid body of several shapes, each at its place, of any kinds: a table, a hammer with a round head.

    `Bodies` and `Scene` take it as a shape. Results tell contacts and distances of bodies, and by the number
    of a feature the part.

    Parameters
    ----------
    shapes : sequence of Mesh or Compound
        The same one may come several times. Of a compound the parts become parts of this one.
    poses : Poses of as many poses, optional
        Where the frame of each is in that of the body. Default: they are in it already.
    names : sequence of str, optional
        What each part is called, empty for none. Default: its number, "0", "1", ... Names that a shape has
        stay, behind its own: "arm/hand".

    Attributes
    ----------
    shapes : tuple of Mesh
        All parts.
    poses : Poses of shape (k,)
    names : tuple of str
    meshes : tuple of Mesh
        What queries work with, in the frame of the body: a mesh of all parts with faces that have one
        rounding radius and are two-sided or not, and one for each sphere, capsule, cylinder or cone.
    n_faces, n_edges, n_vertices : int
        Of all of `meshes`, in their order; so features are numbered in results.
    parts : Parts or None
        Names of the parts, as of a `Mesh`; None if there are none.

    Raises
    ------
    TypeError, ValueError
        No shapes, or other things than shapes; other numbers of poses or names; poses that are not valid, or
        so far away that a shape has no digits left there.

    Notes
    -----
    Nothing is welded: parts may touch or overlap, and each is as solid as it was. Where they overlap,
    features of one that lie inside another are features still, and may be told as contacts there. Depths of
    overlap count for each region, not for the union of the parts.

    Where all parts go into one mesh, the body has that mesh, and all queries take it. Else those that take
    compounds say so; others refuse them.

    Examples
    --------
    >>> import gpu_collide as gc
    >>> at = gc.Poses.from_quat_wxyz([[0, 0, 0], [0, 0, 0.6]], [[1, 0, 0, 0]] * 2)
    >>> parts = [gc.shapes.box((0.1, 0.1, 1)), gc.shapes.sphere(0.15)]
    >>> mallet = gc.Compound(parts, at, names=["handle", "head"])
    >>> here = gc.Poses.from_quat_wxyz([[0, 0, 0], [0, 0, 1.5]], [[1, 0, 0, 0]] * 2)
    >>> bodies = gc.Bodies([mallet, gc.shapes.box()], [0, 1], here, here)
    >>> found = gc.clearance(bodies, [[0, 1]], at=0.0)
    >>> round(float(found.distance[0]), 9), mallet.part_of("vertex", found.feature_a[0])
    (0.25, 'head')
    """

    shapes: tuple[Mesh, ...]
    poses: Poses
    names: tuple[str, ...]
    meshes: tuple[Mesh, ...]
    parts: Parts | None
    n_faces: int
    n_edges: int
    n_vertices: int
    edge_face_start: Array
    edge_faces: Array
    vertex_face_start: Array
    vertex_faces: Array

    def __init__(
        self,
        shapes: Sequence[Mesh | Compound],
        poses: Poses | None = None,
        *,
        names: Sequence[str] | None = None,
    ) -> None:
        parts, where, called = _flat(*_checked(shapes, poses, names))
        groups: dict[Any, list[int]] = {}
        for k, mesh in enumerate(parts):
            groups.setdefault(k if mesh.thin else (mesh.rounding, mesh.two_sided), []).append(k)
        meshes, labels = [], []
        matrix = where.to_matrix()
        for members in groups.values():
            points = [parts[k].vertices @ matrix[k, :3, :3].T + matrix[k, :3, 3] for k in members]
            made, own = _joined([parts[k] for k in members], points, [called[k] for k in members], members)
            meshes.append(made)
            labels += own
        face = np.cumsum([0, *(mesh.n_faces for mesh in meshes)])
        edge_start, edge_faces = _joined_rows(
            [mesh.edge_face_start for mesh in meshes],
            [mesh.edge_faces + 2 * k for mesh, k in zip(meshes, face, strict=False)],
        )
        vertex_start, vertex_faces = _joined_rows(
            [mesh.vertex_face_start for mesh in meshes],
            [mesh.vertex_faces + k for mesh, k in zip(meshes, face, strict=False)],
        )
        self.__dict__.update(
            shapes=tuple(parts), poses=where, names=tuple(called), meshes=tuple(meshes),
            parts=as_parts(labels, len(labels)), n_faces=int(face[-1]),
            n_edges=len(edge_start) - 1, n_vertices=len(vertex_start) - 1,
            edge_face_start=edge_start, edge_faces=edge_faces,
            vertex_face_start=vertex_start, vertex_faces=vertex_faces,
        )  # fmt: skip

    thin = False
    part_of = Mesh.part_of

    def __repr__(self) -> str:
        named = "" if self.parts is None else f": {', '.join(self.names)}"
        return f"Compound({how_many(len(self.shapes), 'part')}{named})"


def _checked(shapes: Any, poses: Any, names: Any) -> tuple[list[Any], Poses, list[str]]:
    if isinstance(shapes, (Mesh, Compound)) or not hasattr(shapes, "__iter__"):
        raise TypeError(f"shapes: expected a sequence of Mesh or Compound, got {type(shapes).__name__}")
    shapes = list(shapes)
    n = len(shapes)
    if n == 0:
        raise ValueError("shapes: expected at least one Mesh or Compound, got none")
    for k, shape in enumerate(shapes):
        if not isinstance(shape, (Mesh, Compound)):
            raise TypeError(f"shapes: expected Mesh or Compound, got {type(shape).__name__} at place {k}")
    if names is not None:
        if isinstance(names, str) or len(names) != n:
            got = repr(names) if isinstance(names, str) else len(names)
            raise ValueError(f"names: expected a name for each of {n} shapes, got {got}")
        for name in names:
            if not isinstance(name, str):
                raise TypeError(f"names: expected str, got {type(name).__name__}")
    if poses is None:
        poses = Poses.identity(n)
    elif not isinstance(poses, Poses):
        raise TypeError(f"poses: expected gpu_collide.Poses, got {type(poses).__name__}")
    if len(poses.flat()) != n or not poses.valid.all():
        raise ValueError(f"poses: expected a valid pose for each of {n} shapes, got shape {poses.shape}")
    return shapes, poses.flat(), [str(k) for k in range(n)] if names is None else list(names)


def _flat(shapes: list[Any], poses: Poses, names: list[str]) -> tuple[list[Mesh], Poses, list[str]]:
    """Parts of which none is a compound, and where they are in the frame of the whole."""
    parts: list[Mesh] = []
    where, called = [], []
    for k, shape in enumerate(shapes):
        compound, here = isinstance(shape, Compound), poses[k : k + 1]
        parts += shape.shapes if compound else [shape]
        where.append(here @ shape.poses if compound else here)
        called += [_path(names[k], inner) for inner in (shape.names if compound else [""])]
    return parts, Poses.concatenate(where), called


def _joined_rows(starts: list[Array], values: list[Array]) -> tuple[Array, Array]:
    """Several lists in CSR form, one after the other."""
    counts = np.concatenate([np.diff(start) for start in starts])
    return np.concatenate([[0], np.cumsum(counts)]), np.concatenate(values)


def _path(*names: str) -> str:
    return "/".join(name for name in names if name)


def _joined(
    parts: list[Mesh], points: list[Array], names: list[str], places: list[int]
) -> tuple[Mesh, list[str]]:
    """One mesh of parts whose vertices are at `points`, and the names of its faces."""
    one = parts[0]
    if one.thin:
        return one._again(points[0], one.face_vertices), names
    faces, labels = joined_meshes(parts, names)
    try:
        made = Mesh(
            np.concatenate(points), faces, two_sided=one.two_sided, parts=labels, rounding=one.rounding
        )
    except ValueError as error:
        raise ValueError(f"poses: shapes {first_few(places)} are no meshes there: {error}") from error
    if (made.n_faces, made.n_edges, made.n_vertices) != tuple(
        sum(getattr(part, f"n_{what}") for part in parts) for what in ("faces", "edges", "vertices")
    ):
        raise ValueError(
            f"poses: expected shapes {first_few(places)} so near the origin that none of their faces vanishes"
            ", got places where numbers have no digits for them"
        )
    return made, labels


class Expansion(NamedTuple):
    """Bodies as rows, one for each mesh of each: those of a body stand together, in the order of bodies.

    Each row has the poses of its body, and moves exactly as that does.

    Attributes
    ----------
    meshes : tuple of Mesh
    shape : (r,) int32
        Mesh of each row.
    body : (r,) int32
        Its body.
    first : (n + 1,) int64
        Rows of body i are ``first[i]:first[i + 1]``.
    offset : (r, 4) int64
        What numbers of faces, edges and vertices of the row's mesh become by in the body's shape, and 0.
    """

    meshes: tuple[Mesh, ...]
    shape: Array
    body: Array
    first: Array
    offset: Array

    @classmethod
    def of(cls, meshes: Sequence[Mesh | Compound], shape: Array) -> Expansion:
        """That of bodies which have these shapes."""
        several = [mesh.meshes if isinstance(mesh, Compound) else (mesh,) for mesh in meshes]
        many = np.array([len(own) for own in several])
        base = np.cumsum(many) - many
        counts = [[[mesh.n_faces, mesh.n_edges, mesh.n_vertices, 0] for mesh in own] for own in several]
        offset = np.concatenate([np.cumsum(own, axis=0) - own for own in counts])
        first = np.concatenate([[0], np.cumsum(many[shape])])
        body = np.repeat(np.arange(len(shape), dtype=np.int32), many[shape])
        which = (base[shape[body]] + np.arange(len(body)) - first[body]).astype(np.int32)
        return cls(tuple(mesh for own in several for mesh in own), which, body, first, offset[which])

    def products(self, pairs: Array) -> tuple[Array, Array]:
        """Pairs of rows, (k, 2) int32, of each of the `pairs` of bodies, and which of these each is of."""
        count, pairs = np.diff(self.first), pairs.astype(np.int64)
        a, b = count[pairs].T
        owner = np.repeat(np.arange(len(pairs)), a * b)
        place = np.arange(len(owner)) - (np.cumsum(a * b) - a * b)[owner]
        rows = self.first[pairs[owner]] + np.stack(np.divmod(place, b[owner]), axis=1)
        return rows.astype(np.int32), owner

    def rules(self, told: dict[str, Any]) -> dict[str, Any]:
        """`Rules.arguments` of bodies as those of rows: no two rows of a body are a pair."""
        told = dict(told)
        for name in ("world", "group", "mask"):
            told[name] = None if told[name] is None else told[name][self.body]
        several = np.flatnonzero(np.diff(self.first) > 1)
        own, _ = self.products(np.stack([several, several], axis=1))
        ignored, _ = self.products(told["ignore"])
        told["ignore"] = np.concatenate([own[own[:, 0] < own[:, 1]], ignored])
        return told

    def bodies_of(self, pairs: Array) -> tuple[Array, Array]:
        """Pairs of bodies, (p, 2) int32, each once and in lexicographic order, and which one each of the
        `pairs` of rows is of."""
        both = self.body[pairs].astype(np.int64)
        key, owner = np.unique(both[:, 0] * len(self.first) + both[:, 1], return_inverse=True)
        found = np.stack(np.divmod(key, len(self.first)), axis=1)
        return found.astype(np.int32), owner.reshape(-1)

    def numbers(self, rows: Array, columns: Array, numbers: Array) -> Array:
        """Numbers of features, (k,), of rows as those of their bodies; `columns` has 0, 1, 2 for a face, an
        edge, a vertex, and 3 for none."""
        return (numbers + self.offset[rows, columns]).astype(np.int32)


assert FEATURES == ("face", "edge", "vertex")  # the columns of `Expansion.offset`


def refuse_compounds(bodies: Any, name: str, what: str) -> None:
    """Raise ``ValueError`` if the argument `name` has compounds of several meshes, which `what` does not
    take."""
    if bodies.expansion is not None:
        raise ValueError(
            f"{name}: expected no compounds of several meshes, which {what} does not take, got some; make "
            "a polyhedron of each round part (Mesh.to_polyhedron), so that all parts go into one mesh, or "
            "make its parts bodies of their own"
        )
