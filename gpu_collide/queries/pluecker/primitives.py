"""The tests that the queries are made of, on arrays: sides of lines, vertices and polygons, edges and edges.

Arrays in, arrays out, on any backend, to check a device with, to build on, or to see what a query sees.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpu_collide._calls import renamed, within_memory
from gpu_collide._options import Options
from gpu_collide.backends import get_backend
from gpu_collide.pipeline.movers.primitives import PROGRAM, Primitives
from gpu_collide.queries.pluecker import features

if TYPE_CHECKING:
    from typing import Any

    from gpu_collide._types import ArrayLike, BackendName, FloatArray, Precision

__all__ = [
    "edge_edge_rotation", "edge_edge_translation", "line", "side",
    "vertex_polygon_rotation", "vertex_polygon_translation",
]  # fmt: skip


@within_memory
def line(
    a: ArrayLike, b: ArrayLike, *, precision: Precision = "mixed", backend: BackendName = "auto"
) -> FloatArray:
    """Pluecker coordinates of the directed lines through pairs of points.

    Parameters
    ----------
    a, b : (..., 3) array_like
        First and second point of each line, in any unit; broadcast against each other.
    precision : {"mixed", "double", "single"}, optional
    backend : {"auto", "cpu", "opencl", "cuda", "reference"}, optional
        As in `gpu_collide.collide`.

    Returns
    -------
    (..., 6) float64 ndarray
        ``(ax by - bx ay, ax bz - bx az, ax - bx, ay bz - by az, az - bz, by - ay)``: three products (unit
        squared) and the direction, its components mixed and of two signs. All zero if a is b.

    Raises
    ------
    TypeError, ValueError
        Something else than finite numbers, or shapes that do not broadcast.

    Notes
    -----
    [1]_, section 2.1. A point `a` that moves by `v` has the line through `a` and ``a + v``.

    References
    ----------
    .. [1] J. M. P. van Waveren, "Robust continuous collision detection between arbitrary polyhedra using
       trajectory parameterization of polyhedral features".

    Examples
    --------
    >>> import gpu_collide as gc
    >>> gc.pluecker.line([0, 0, 1], [1, 0, 1]).tolist()
    [0.0, -1.0, -1.0, 0.0, 0.0, 0.0]
    """
    options = Options.checked(precision=precision, backend=backend)
    points = {"a": features.rows(a, "a", 3), "b": features.rows(b, "b", 3)}
    features.check_broadcast(points)
    return _engine(options).line(points["a"], points["b"])


@within_memory
def side(
    p: ArrayLike, q: ArrayLike, *, precision: Precision = "mixed", backend: BackendName = "auto"
) -> FloatArray:
    """On which side of each other two directed lines pass.

    Parameters
    ----------
    p, q : (..., 6) array_like
        Lines as `line` makes them, broadcast against each other.
    precision, backend
        As in `line`.

    Returns
    -------
    (...,) float64 ndarray
        ``p0 q4 + p1 q5 + p2 q3 + p4 q0 + p5 q1 + p3 q2``: six times the volume of the tetrahedron of the
        lines' points with its sign, that is their distance times the sine of their angle times the distances
        of their points. 0 if they meet or are parallel. Reversed lines have exactly the negative.

    Raises
    ------
    TypeError, ValueError
        As in `line`.

    Notes
    -----
    The paper (see `line`), section 2.1; it equals the determinant of the four points with a column of ones.
    From lines far from the origin it has few digits; the other tests take differences of points first.

    Examples
    --------
    >>> import gpu_collide as gc
    >>> p, q = gc.pluecker.line([[0, 0, 0], [0, 0, 1]], [[1, 0, 0], [0, 1, 1]])
    >>> float(gc.pluecker.side(p, q))
    1.0
    """
    options = Options.checked(precision=precision, backend=backend)
    lines = {"p": features.rows(p, "p", 6), "q": features.rows(q, "q", 6)}
    features.check_broadcast(lines)
    return _engine(options).side(lines["p"], lines["q"])


@renamed(vector="displacement")
def vertex_polygon_translation(
    vertex: ArrayLike,
    displacement: ArrayLike,
    polygon: ArrayLike,
    *,
    expel: float | None = 0.0,
    precision: Precision = "mixed",
    backend: BackendName = "auto",
) -> FloatArray:
    """How far vertices can be translated before still polygons stop them.

    Parameters
    ----------
    vertex, displacement : (..., 3) array_like
        Where each vertex starts and by what it is moved; same frame and unit.
    polygon : (..., corners, 3) array_like
        Corners of convex planar polygons, counter-clockwise seen from the front, which alone stops anything.
        Axes before the last one (`vertex`, `displacement`) or two (`polygon`) are broadcast against each
        other.
    expel : float, optional
        Thickness of the zone in front of a polygon that is not entered; in it, only what leads out is
        allowed. A quarter of it beside a polygon's border still belongs to the polygon. None:
        `default_expel` of the largest coordinate given. Default 0: the exact test.
    precision, backend
        As in `line`.

    Returns
    -------
    (...,) float64 ndarray
        The fraction of the displacement done when the vertex is `expel` before the polygon, 0 to 1; ``inf``
        if it is not stopped: it misses the polygon, does not reach it, leaves it, moves along it, or starts
        behind it by more than `expel`. Polygons without area stop nothing.

    Raises
    ------
    TypeError, ValueError
        Something else than finite numbers, shapes that do not broadcast, fewer than three corners, or a
        negative `expel`.

    Notes
    -----
    The paper (see `line`), sections 2.2 and 3.1, with a lower bound on the distance, closed borders, and
    signs that rounding leaves in doubt computed in twice the digits: a vertex that meets the edge between two
    polygons meets at least one of them, with any `expel`. ``docs/pluecker.md`` has the formulas.

    Examples
    --------
    >>> import gpu_collide as gc
    >>> square = [[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]]
    >>> vertices = [[0, 0, 2], [3, 0, 2], [1, 1, 2], [0, 0, -2]]
    >>> gc.pluecker.vertex_polygon_translation(vertices, [0, 0, -4], square).tolist()
    [0.5, inf, 0.5, inf]
    """
    given = {"vertex": features.rows(vertex, "vertex", 3), "polygon": features.polygons(polygon)}
    return _asked("vertex_polygon_translation", given, features.rows(displacement, "displacement", 3), expel,
                  precision, backend)  # fmt: skip


@within_memory
def vertex_polygon_rotation(
    vertex: ArrayLike,
    angle: ArrayLike,
    axis: ArrayLike,
    origin: ArrayLike,
    polygon: ArrayLike,
    *,
    expel: float | None = 0.0,
    precision: Precision = "mixed",
    backend: BackendName = "auto",
) -> FloatArray:
    """How far vertices can rotate before still polygons stop them.

    Parameters
    ----------
    vertex : (..., 3) array_like
        Where each vertex starts.
    angle : (...,) array_like
        Radians, right-handed about the axis, from -pi to pi.
    axis : (..., 3) array_like
        Direction of the axis, of any length but zero.
    origin : (..., 3) array_like
        A point on the axis.
    polygon : (..., corners, 3) array_like
        As in `vertex_polygon_translation`. Axes before those named are broadcast against each other.
    expel, precision, backend
        As in `vertex_polygon_translation`.

    Returns
    -------
    (...,) float64 ndarray
        The fraction of the angle done when the vertex must stop; ``inf`` if it need not. In the zone it may
        move out and come back to its surface; if it never comes out, up to where it is furthest away. A path
        that comes nearer to the polygon's plane than a quarter of the zone counts as meeting it.

    Raises
    ------
    TypeError, ValueError
        As in `vertex_polygon_translation`; an axis of no length; an angle beyond half a turn.

    Notes
    -----
    The paper (see `line`), sections 2.4 and 3.3. Of the two angles at which a circle meets a plane only the
    one counts at which it goes from the front to behind. ``docs/pluecker.md`` has the formulas.

    Examples
    --------
    >>> import gpu_collide as gc
    >>> wall = [[0, 0, -1], [0, 2, -1], [0, 2, 1], [0, 0, 1]]
    >>> f = gc.pluecker.vertex_polygon_rotation([1, 0, 0], [3.0, -3.0], [0, 0, 1], [0, 0, 0], wall)
    >>> [round(float(x) * 3, 6) for x in f]
    [1.570796, inf]
    """
    given = {"vertex": features.rows(vertex, "vertex", 3), "polygon": features.polygons(polygon)}
    turn = features.turn(angle, axis, origin)
    return _asked("vertex_polygon_rotation", given, turn, expel, precision, backend)


@renamed(vector="displacement")
def edge_edge_translation(
    edge: ArrayLike,
    displacement: ArrayLike,
    still: ArrayLike,
    *,
    edge_normals: ArrayLike | None = None,
    still_normals: ArrayLike | None = None,
    expel: float | None = 0.0,
    precision: Precision = "mixed",
    backend: BackendName = "auto",
) -> FloatArray:
    """How far edges can be translated before still edges stop them.

    Parameters
    ----------
    edge, still : (..., 2, 3) array_like
        Both ends of the moving edges and of the still ones; same frame and unit.
    displacement : (..., 3) array_like
        By what each edge is moved.
    edge_normals, still_normals : (..., faces, 3) array_like, optional
        Outward normals of the faces at each edge, one (a border) or two: first that of the face whose corners
        go from the first end to the second, counter-clockwise seen from its front. They say which side of the
        edge is free. None: the edge is a thin rod, stopped from all around.
    expel, precision, backend
        As in `vertex_polygon_translation`. The zone is measured along the normal of both edges.

    Returns
    -------
    (...,) float64 ndarray
        The fraction of the displacement done when the lines of both edges are `expel` apart; ``inf`` if
        nothing stops the edge. Parallel edges do not stop each other: what they hit, their ends hit.

    Raises
    ------
    TypeError, ValueError
        As in `vertex_polygon_translation`; a normal of no length; more than two of an edge.

    Notes
    -----
    The paper (see `line`), sections 2.3 and 3.2. The normal stays the same during a translation, so that the
    zone is exactly as thick as said. Nearly parallel edges are computed in twice the digits.

    Examples
    --------
    >>> import gpu_collide as gc
    >>> x, y = [[-1, 0, 0], [1, 0, 0]], [[0, -1, 2], [0, 1, 2]]
    >>> gc.pluecker.edge_edge_translation(y, [[0, 0, -4], [0, 0, 4]], x).tolist()
    [0.5, inf]
    """
    given = {"edge": features.rows(edge, "edge", 2, 3), "still": features.rows(still, "still", 2, 3)}
    return _asked("edge_edge_translation", given, features.rows(displacement, "displacement", 3), expel,
                  precision, backend, edge=edge_normals, still=still_normals)  # fmt: skip


@within_memory
def edge_edge_rotation(
    edge: ArrayLike,
    angle: ArrayLike,
    axis: ArrayLike,
    origin: ArrayLike,
    still: ArrayLike,
    *,
    edge_normals: ArrayLike | None = None,
    still_normals: ArrayLike | None = None,
    expel: float | None = 0.0,
    precision: Precision = "mixed",
    backend: BackendName = "auto",
) -> FloatArray:
    """How far edges can rotate before still edges stop them.

    Parameters
    ----------
    edge, still, edge_normals, still_normals
        As in `edge_edge_translation`; the normals of `edge` are those at the start.
    angle, axis, origin
        As in `vertex_polygon_rotation`.
    expel, precision, backend
        As in `vertex_polygon_translation`. The zone ends at the still edge, moved outwards by `expel` along
        the normal that both edges have where they would meet.

    Returns
    -------
    (...,) float64 ndarray
        The fraction of the angle done when the edge must stop; ``inf`` if it need not.

    Raises
    ------
    TypeError, ValueError
        As in `edge_edge_translation` and `vertex_polygon_rotation`.

    Notes
    -----
    The paper (see `line`), sections 2.5 and 3.4, with the root that goes from outside to inside only. If both
    lines meet the axis in one point, or lie in one plane across it, or are parallel to it, they have no
    crossing of their own: what they hit, their ends hit.

    Examples
    --------
    >>> import gpu_collide as gc
    >>> hand, post = [[0, 0, 1], [2, 0, 1]], [[0, 1, 0], [0, 1, 2]]
    >>> f = gc.pluecker.edge_edge_rotation(hand, [3.0, -1.0], [0, 0, 1], [0, 0, 0], post)
    >>> [round(float(x) * 3, 6) for x in f]
    [1.570796, inf]
    """
    given = {"edge": features.rows(edge, "edge", 2, 3), "still": features.rows(still, "still", 2, 3)}
    return _asked("edge_edge_rotation", given, features.turn(angle, axis, origin), expel, precision, backend,
                  edge=edge_normals, still=still_normals)  # fmt: skip


def _asked(
    name: str, given: dict[str, Any], moved: Any, expel: Any, precision: Any, backend: Any, **normals: Any
) -> Any:
    """The test `name` of what moves and what stands still, `given` in this order; `moved` is a displacement,
    or a turn: angles, axes, origins. `normals`: those of edges."""
    options = Options.checked(precision=precision, backend=backend)
    (what, still), turns = given, isinstance(moved, tuple)
    given = given | {"origin": moved[2]} if turns else {what: given[what], "displacement": moved} | given
    sides = {edge: features.normals(normal, f"{edge}_normals") for edge, normal in normals.items()}
    zone = features.zone(given, expel, options, turns=turns)
    features.check_broadcast(given | ({"angle": moved[0][..., None]} if turns else {}))
    moved = (*moved[:2], given["origin"]) if turns else given["displacement"]
    one, other = (
        features.with_normals(given, x, sides[x]) if x in sides else given[x] for x in (what, still)
    )
    return getattr(_engine(options), name)(one, moved, other, *zone)


def _engine(options: Options) -> Any:
    """Who computes: launches on a backend, or the reference's functions."""
    backend = get_backend(options.backend, options.precision, (PROGRAM,))
    if backend.kind == "reference":
        from gpu_collide.reference.pluecker import p01_primitives

        return p01_primitives
    return Primitives(backend, options.precision)
