"""`Mesh`: the shape of a body, with its adjacency computed once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gpu_collide._validate import (
    as_float_array,
    as_int_array,
    as_numpy,
    check_bool,
    check_choice,
    check_finite,
    check_positive,
    how_many,
)
from gpu_collide.backends import declarations
from gpu_collide.geometry.arrays.measures import (
    MAGNITUDES,
    normalise,
    normalise_thin,
)
from gpu_collide.geometry.arrays.parts import Parts, as_parts
from gpu_collide.geometry.arrays.report import MeshReport
from gpu_collide.geometry.arrays.surface import Surface
from gpu_collide.geometry.mesh import merging, pickled
from gpu_collide.geometry.mesh.cleaning import cleaned
from gpu_collide.geometry.mesh.joining import joined_parts
from gpu_collide.geometry.mesh.labels import FEATURES, labels_of
from gpu_collide.geometry.mesh.radii import check_ends, check_rounding
from gpu_collide.geometry.preparation import prepared
from gpu_collide.geometry.repair import loops

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gpu_collide._types import Array, ArrayLike, Precision

__all__ = ["Mesh", "MeshReport"]

FAR_FROM_ORIGIN = 1e4  # sizes between a mesh and its own origin above which the report mentions rounding


class Mesh(Surface):
    """A rigid shape made of convex planar polygons.

    Open, non-manifold and many-part meshes are normal input. The mesh never changes after it is made, and
    its arrays are read-only.

    Parameters
    ----------
    vertices : (nv, 3) array_like of float
        Corner positions in the body's own frame, in the caller's unit of length.
    faces : (m, 3) or (m, k) array_like of int, or a list of loops of any length
        Vertices of each face, counter-clockwise seen from outside.
    two_sided : bool, optional
        If True, both sides of every face can be hit (sheets, open shells): nothing is culled for facing away.
    triangulate : bool, optional
        Cut every polygon of more than three corners into triangles, so that non-planar and non-convex ones
        are welcome.
    merge_coplanar : bool or float, optional
        Join neighbouring faces of one plane into larger convex polygons, after `triangulate`; fewer features
        make fewer contacts and less work. True merges what is flat within the rounding of the dtype given
        (1e-12 of the size for float64, about 1e-7 for float32); a number is the distance from the plane, in
        sizes, at most 5e-7.  Vertices left without a face, or in the middle of a straight edge, are removed.
    merge_vertices : bool, optional
        Weld vertices of exactly the same coordinates first.
    parts : (m,) sequence of str, optional
        What the part is called that each face belongs to; empty for none. Contacts tell the names.
    rounding : float, optional
        Rounding radius: the body is all that is within this length of the mesh, so that its surface is that
        of the mesh moved outwards, with round edges and corners. With one above 0 `faces` may be empty, of
        one vertex (a sphere) or two (a capsule). Queries that do not take it say so, and
        `to_polyhedron` is for them: see docs/guide/round.md.
    ends : (2,) sequence of float, optional
        Of two vertices without `faces`: radii of flat ends there, across the line between them. The body is a
        cylinder, or a cone where one is 0, which `shapes.cylinder` and `shapes.cone` make.

    Attributes
    ----------
    vertices : (nv, 3) float64
        In the caller's frame and unit.
    center : (3,) float64
        Middle of the bounding box of all vertices.
    radius : float
        Largest distance of a vertex from `center`, and `rounding`.
    rounding : float
        Of a cylinder or a cone its larger radius: it lies within that length of its axis.
    ends : (float, float) or None
    two_sided : bool
    face_start : (nf + 1,) int32
    face_vertices : (L,) int32
        Corners ``face_start[f]:face_start[f + 1]`` are the loop of face f.
    face_edges : (L,) int32
        Edge of the loop side from each corner to the next.
    face_planes : (nf, 4) float64
        Unit outward normal n and d with ``n . (x - center) + d = 0``.
    edges : (ne, 2) int32
        (low, high) vertex of each edge, in lexicographic order.
    edge_face_start : (ne + 1,) int32
    edge_faces : (L,) int32
        ``2 * face + side``; side 0: the face's loop walks the edge from low to high (the face is on its
        left), 1: high to low.
    edge_flags : (ne,) int32
        Bit 0 reflex (never of a two-sided mesh), bit 1 more than two faces, bit 2 border (one face), bit 3
        flat.
    vertex_edge_start, vertex_edges : (nv + 1,), (2 ne,) int32
        ``2 * edge + (0 if the vertex is its low end else 1)``.
    vertex_face_start, vertex_faces : (nv + 1,), (L,) int32
    vertex_flags : (nv,) int32
        Bit 0: some edge of the vertex is reflex.
    source_face : (nf,) int64
        The caller's face behind each face (the lowest of them if several were merged).
    source_faces_start, source_faces : (nf + 1,), (k,) int64
        All of the caller's faces behind face f: ``source_faces[source_faces_start[f]:source_faces_start[f +
        1]]``.
    source_vertex : (nv,) int64
        The caller's vertex behind each vertex (the lowest of those welded).
    parts : Parts or None
        Names of its parts (``parts.names``) and which each face belongs to; `part_of` tells them.
    report : MeshReport
        What was repaired, dropped or looks odd.

    Raises
    ------
    TypeError
        Arrays of the wrong dtype, or a flag that is no bool.
    ValueError
        Wrong shapes, NaN or infinity, no faces, an index out of range, or a face that is not a convex planar
        polygon (corners more than 1e-6 of the size off its plane).

    Examples
    --------
    >>> import gpu_collide as gc
    >>> corners = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
    >>> tetrahedron = gc.Mesh(corners, [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
    >>> tetrahedron.n_edges, tetrahedron.closed
    (6, True)
    """

    def __init__(
        self,
        vertices: ArrayLike,
        faces: ArrayLike | Sequence[ArrayLike],
        *,
        two_sided: bool = False,
        triangulate: bool = False,
        merge_coplanar: bool | float = False,
        merge_vertices: bool = False,
        parts: Sequence[str] | Parts | None = None,
        rounding: float = 0.0,
        ends: Sequence[float] | None = None,
    ) -> None:
        rounding = self.rounding = check_rounding(rounding)
        if ends is not None:
            self.ends = check_ends(ends, vertices, faces, rounding)
            rounding = self.rounding = max(self.ends)
        two_sided = check_bool(two_sided, "two_sided")
        triangulate = check_bool(triangulate, "triangulate")
        merge_vertices = check_bool(merge_vertices, "merge_vertices")
        merging.check_merge(merge_coplanar)
        given = as_numpy(vertices, "vertices")
        points = check_finite(as_float_array(given, "vertices", shape=(None, 3)), "vertices")
        if len(points) == 0:
            raise ValueError("vertices: expected at least three vertices, got none")
        loose: Any = faces
        if rounding > 0.0 and len(points) < 3 and len(loose) == 0:
            if parts is not None:
                raise ValueError("parts: expected none of a mesh without faces, got names; leave them out")
            self._make_thin(points)
            return
        start, corners = loops.parse_faces(faces, len(points))
        named = as_parts(parts, len(start) - 1)
        clean = cleaned(points, start, corners, triangulate, merge_vertices, merge_coplanar, given.dtype)
        center, radius, scaled = normalise(clean.points)
        self.vertices = clean.points
        self.center, self.radius, self.two_sided = center, radius + rounding, two_sided
        self.source_face, self.source_vertex = clean.source, clean.source_vertex
        self.source_faces_start, self.source_faces = clean.members_start, clean.members
        self.parts = None if named is None else named.of_merged(clean.members_start, clean.members)
        self._connect(clean.start, clean.corners, scaled)
        self.report = MeshReport.build(clean.findings + self._oddities())
        self._frozen = True

    def _make_thin(self, points: Array) -> None:
        """All of one vertex or two."""
        self.vertices, self.two_sided, self.parts = points, True, None
        self.center, radius = normalise_thin(points)
        if len(points) == 2 and not radius > MAGNITUDES[0]:
            raise ValueError("vertices: expected two different places, got one; pass one vertex for a sphere")
        self.radius = radius + self.rounding
        self.source_face = self.source_faces = np.zeros(1, np.int64)
        self.source_faces_start, self.source_vertex = np.arange(2), np.arange(len(points))
        self._connect_thin()
        self.report = MeshReport.build([])
        self._frozen = True

    def _oddities(self) -> list[tuple[str, Any]]:
        """What is odd about the finished mesh, as (what, indices) pairs."""
        counts = np.diff(self.edge_face_start)
        right = np.bincount(np.repeat(np.arange(self.n_edges), counts), self.edge_faces & 1, self.n_edges)
        mixed = (counts == 2) & (right != 1)
        findings: list[tuple[str, Any]] = [
            ("edges have two faces that walk them the same way (mixed winding)", np.flatnonzero(mixed)),
            ("edges have more than two faces (non-manifold)", np.flatnonzero(counts > 2)),
            ("edges have one face (open border)", np.flatnonzero(counts == 1)),
        ]
        if self.closed and self.volume < 0 and not self.two_sided:
            findings.append(
                ("closed mesh looks inside out: its faces are seen clockwise from outside", np.zeros(1, int))
            )
        if np.abs(self.center).max() > FAR_FROM_ORIGIN * self.radius:
            what = "mesh lies so far from its own origin that its coordinates lose digits"
            findings.append((what, np.zeros(1, int)))
        return findings

    @classmethod
    def from_trimesh(cls, trimesh_mesh: Any, **options: Any) -> Mesh:
        """Mesh of a ``trimesh.Trimesh`` (or anything with `vertices` and `faces`), or of all parts of a
        ``trimesh.Scene``, in its coordinates and with their names; options as for `Mesh`."""
        if hasattr(trimesh_mesh, "geometry") and hasattr(trimesh_mesh, "dump"):
            vertices, faces, parts = joined_parts(trimesh_mesh.dump())
            return cls(vertices, faces, **{"parts": parts, **options})
        for name in ("vertices", "faces"):
            if not hasattr(trimesh_mesh, name):
                kind = type(trimesh_mesh).__name__
                raise TypeError(
                    f"trimesh_mesh: expected an object with vertices and faces, got {kind} without {name}"
                )
        return cls(np.asarray(trimesh_mesh.vertices), np.asarray(trimesh_mesh.faces), **options)

    def flip(self) -> Mesh:
        """The same mesh with the other side of its faces outside, for one that was made inside out.

        Vertices keep their numbers, and so do faces; ``source_face`` and the like lead to this mesh's.
        """
        last = np.repeat(self.face_start[1:], np.diff(self.face_start))
        first = np.repeat(self.face_start[:-1], np.diff(self.face_start))
        corners = self.face_vertices[first + last - 1 - np.arange(len(last))]
        return self._again(self.vertices, corners)

    def scaled(self, factor: float, *, up: str | None = None) -> Mesh:
        """The same mesh in another unit of length, and with another axis upward.

        Parameters
        ----------
        factor : float
            What its coordinates are multiplied by: 0.001 makes metres of millimetres.
        up : {"x", "y", "z"}, optional
            Axis that points up in this mesh; it points along z in the new one, and the others follow so that
            nothing is mirrored. Default: none is turned.

        Returns
        -------
        Mesh
            Vertices and faces keep their numbers.

        Raises
        ------
        TypeError, ValueError
            A factor that is no positive number, or another axis.
        """
        factor = float(check_positive(factor, "factor"))
        points = factor * self.vertices
        if up is not None:
            k = "xyz".index(check_choice(up, "up", ("x", "y", "z")))
            points = points[:, [(k + 1) % 3, (k + 2) % 3, k]]
        return self._again(points, self.face_vertices, factor)

    def rounded(self, radius: float) -> Mesh:
        """The same mesh with another rounding radius, 0 for none.

        Raises
        ------
        TypeError, ValueError
            A radius that is no length from 0 up, or 0 of a sphere or a capsule; a cylinder or a cone.

        Examples
        --------
        >>> import gpu_collide as gc
        >>> gc.shapes.l_block().rounded(0.05).rounding
        0.05
        """
        if self.ends is not None:
            raise ValueError(
                f"radius: expected a mesh that is no cylinder or cone, whose rims are sharp, got {self!r}"
            )
        return self._again(self.vertices, self.face_vertices, rounding=check_rounding(radius))

    def to_polyhedron(self, tolerance: float | None = None) -> Mesh:
        """A mesh of flat faces around this round shape, for what knows polyhedra alone.

        Parameters
        ----------
        tolerance : float, optional
            No point of it is farther outside of the round shape, and none of this is outside of it; of a
            rounded mesh at least 2.9e-4 of the radius. Default: 0.0181 of the (larger) radius, which is 320
            faces for a sphere, 17 sides for a cylinder.

        Returns
        -------
        Mesh
            Triangles; one convex body, or of a mesh that is not convex several that overlap: what is around
            each face, and the mesh itself. Features have numbers of their own. This mesh if it is not round.

        Raises
        ------
        TypeError, ValueError
            A tolerance that is no positive number, or too small.

        Examples
        --------
        >>> import gpu_collide as gc
        >>> gc.shapes.sphere(0.5).to_polyhedron().n_faces
        320
        """
        from gpu_collide.geometry.frustum import corners_around
        from gpu_collide.geometry.offset import cuts_of

        if self.ends is not None:
            return Mesh(*corners_around(self, tolerance))
        return self._polyhedron(cuts_of(self, tolerance)) if self.rounding else self

    def _seen(self) -> Mesh:
        """What pictures show of it: a mesh that is not round."""
        from gpu_collide.geometry.offset import cuts_to_see

        if self.ends is not None:
            return self.to_polyhedron()
        return self._polyhedron(cuts_to_see(self)) if self.rounding else self

    def _polyhedron(self, cuts: int) -> Mesh:
        from gpu_collide.geometry.offset import polyhedron_around
        from gpu_collide.geometry.preparation.prepared import kept_with

        around: Mesh = kept_with(self, f"polyhedron {cuts}", lambda: Mesh(*polyhedron_around(self, cuts)))
        return around

    def _again(
        self, vertices: Array, corners: Array, factor: float = 1.0, rounding: float | None = None
    ) -> Mesh:
        """A mesh of other vertices or corners, of the same number for each face; lengths of this one are
        multiplied by `factor`."""
        rounding = factor * self.rounding if rounding is None else rounding
        if self.ends is not None:
            return Mesh(vertices, [], ends=[factor * radius for radius in self.ends])
        if self.thin:
            return Mesh(vertices, [], rounding=rounding)
        sides = np.diff(self.face_start)
        loops = np.split(corners, self.face_start[1:-1])
        faces = corners.reshape(len(sides), -1) if (sides == sides[0]).all() else loops
        return Mesh(vertices, faces, two_sided=self.two_sided, parts=self.parts, rounding=rounding)

    def part_of(self, feature: str, number: int) -> str:
        """What the part is called that a face, an edge or a vertex belongs to.

        Parameters
        ----------
        feature : {"face", "edge", "vertex"}
        number : int
            As ``feature_a`` and ``feature_b`` of contacts have it.

        Returns
        -------
        str
            Several names, of what lies between parts, are joined by " + "; empty if it belongs to none.
        """
        count = (self.n_faces, self.n_edges, self.n_vertices)[
            FEATURES.index(check_choice(feature, "feature", FEATURES))
        ]
        return labels_of(self, feature, as_int_array([number], "number", low=0, high=count))[0]

    def prepare(
        self, *, near: bool | None = None, precision: Precision = "mixed", progress: Any = None
    ) -> Mesh:
        """Make ahead what the first query with this mesh would make: the tree of its faces, its patches, and
        what the overlap test and the screen read.

        Made once for a mesh, whatever queries, backends and other meshes it meets; kept as long as the mesh
        lives, and left out of pickles: where one is read, it is made once in each process. Any thread may
        call. Queries do the same by themselves, so results are the same with and without it.

        Parameters
        ----------
        near : bool, optional
            With what queries for near faces need. Default: if the mesh is so large that ``features="auto"``
            of `collide` looks at near faces.
        precision : {"mixed", "double", "single"}, optional
            Precision of the queries to come. All but what is read in the type that culls serves every one.
        progress : callable, optional
            Called as ``progress(done, total)`` after each of `total` steps, once with both equal at the end.

        Returns
        -------
        Mesh
            This mesh.

        Raises
        ------
        TypeError, ValueError
            A `near` that is no bool, an unknown `precision`, a `progress` that cannot be called. What
            `progress` raises comes through; what was made by then is kept.

        Notes
        -----
        A mesh of a million faces takes 1.7 s of processor time, and keeps 400 MB.

        Examples
        --------
        >>> import gpu_collide as gc
        >>> ball = gc.shapes.icosphere(3).prepare()
        """
        if near is not None:
            near = check_bool(near, "near")
        check_choice(precision, "precision", tuple(declarations.PRECISIONS))
        if progress is not None and not callable(progress):
            raise TypeError(f"progress: expected a callable or None, got {type(progress).__name__}")
        prepared.prepare(self, near, precision, progress)
        return self

    @property
    def digest(self) -> str:
        """SHA-256 of all that the mesh is but its report, in 64 hexadecimal digits: vertices, loops, sides,
        names of parts, and what of the caller's each is from. The same on every machine, with every version
        of NumPy."""
        return pickled.digest_of(self)

    def __reduce_ex__(self, protocol: Any) -> Any:
        """What makes the mesh travels. It comes out as the mesh of the same content that the process already
        has, with what was prepared for it, or is made anew."""
        if type(self) is not Mesh:
            return super().__reduce_ex__(protocol)
        return pickled.reduced(self, protocol)

    def __repr__(self) -> str:
        kind = "closed" if self.closed else "open"
        sides = ", two-sided" if self.two_sided else ""
        odd = f", {how_many(len(self.report), 'remark')} in .report" if len(self.report) else ""
        counts = f"{how_many(self.n_vertices, 'vertex', 'vertices')}, {how_many(self.n_edges, 'edge')}"
        counts += f", {how_many(self.n_faces, 'face')}"
        if self.rounding:
            odd = f", rounding {self.rounding:g}{odd}"
        if self.ends is not None:
            low, high = self.ends
            return (
                f"Mesh(cylinder, radius {low:g})"
                if low == high
                else f"Mesh(cone, radii {low:g} and {high:g})"
            )
        if self.thin:
            return f"Mesh({'sphere' if self.n_vertices == 1 else 'capsule'}{odd})"
        return f"Mesh({counts}, {kind}{sides}{odd})"
