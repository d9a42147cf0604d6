"""How far a contact normal may deviate from the normal of a face, at any of its features, if the contact is
proper.

For each face a *double cone* about its normal: it holds the line of every contact normal at which the face,
an edge of it or a vertex of it can make a contact of properness ``GC_CONE_PROPERNESS`` or more. Nodes of the
tree have the same of all their faces, and two nodes whose double cones share no line make no such contact
(``kernels/narrow_phase/near/gc_near.h``; proof in ``docs/decisions/0049-cones-of-contact-normals.md``).
Only lines count,
no sides, so that winding, reflex features, pits and two-sided sheets need no rules of their own. Where a
feature leaves the normal free (borders, corners, edges of three faces and more) the cone is everything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gpu_collide.backends import sources
from gpu_collide.geometry.arrays.soa import blocks, columns, cross, dot, length

if TYPE_CHECKING:
    from typing import Any

    from gpu_collide._types import Array
    from gpu_collide.geometry.arrays.surface import Surface

__all__ = ["ROUNDED", "SLOPE", "face_cones"]

#: Sine by which an edge that leaves a feature may rise over the plane of contact, and a little.
SLOPE = 1e-4 - float(sources.constants()["GC_CONE_PROPERNESS"])
#: The same for rounding, in radii of the mesh over the length of an edge: in single precision vertices are
#: float32.
ROUNDED = 1e-6
#: An edge that leaves its face's plane by more leaves the normal free: faces are planar within a share of the
#: mesh's size only.
FLAT = 1e-3


def face_cones(mesh: Surface) -> Array:
    """Double cones of all faces, and how far the normals of their neighbours are off their own.

    Parameters
    ----------
    mesh : Mesh

    Returns
    -------
    (2, faces) float64
        Cosine of the half angle of each face's double cone; cosine of the angle about its normal that holds
        the normals of all faces that share a vertex with it. 0 where it is everything.
    """
    normals = columns(mesh.face_planes)
    edge_free, edge_cos, edge_slope, unit = _edges(mesh, normals)
    axis, vertex_cos, about = _vertices(mesh, normals, unit, edge_free, edge_slope)
    edge_slope = np.minimum(edge_slope, 1.0)
    edge_cos = _sum_of_angles(edge_cos, np.sqrt(1.0 - edge_slope * edge_slope))
    out = np.zeros((2, len(mesh.face_planes)))
    start = mesh.face_start
    for some in blocks(out.shape[1]):
        first, end = start[some.start], start[some.stop]
        sizes = np.diff(start[some.start : some.stop + 1])
        v, e = mesh.face_vertices[first:end], mesh.face_edges[first:end]
        n = [np.repeat(x[some], sizes) for x in normals]
        off = dot(n, [x[v] for x in axis])
        least = np.minimum(edge_cos[e], _sum_of_angles(off, vertex_cos[v]))
        out[0, some] = np.minimum.reduceat(least, start[some] - first)
        if not mesh.two_sided:
            out[1, some] = np.minimum.reduceat(_sum_of_angles(off, about[v]), start[some] - first)
    return out


def _sum_of_angles(a: Any, b: Any) -> Array:
    """Cosine of the sum of two angles given by their cosines; 0 where it is not below a right angle."""
    a, b = np.clip(a, 0.0, 1.0), np.clip(b, 0.0, 1.0)
    both = a * b - np.sqrt(1.0 - a * a) * np.sqrt(1.0 - b * b)
    return np.where((a > 0.0) & (b > 0.0), np.maximum(both, 0.0), 0.0)


def _edges(mesh: Surface, normals: Any) -> Any:
    """Of each edge: whether it leaves the normal free, cosine of the angle between its faces, its slope, and
    its direction."""
    points, ends = columns(mesh.vertices), columns(mesh.edges, 2)
    unit = [x[ends[1]] - x[ends[0]] for x in points]
    long = length(unit)
    # lengths of nothing, or too short for their squares, leave the normal free
    free = ~(long > 0.0)
    unit, long = [np.where(free, 0.0, x) for x in unit], np.where(free, 1.0, long)
    unit = [x / long for x in unit]
    with np.errstate(over="ignore"):
        slope = np.where(free, 1.0, SLOPE + ROUNDED * (mesh.radius / long))
    pair = mesh.edge_face_start[:-1]
    free = (np.diff(mesh.edge_face_start) != 2) | ~(slope < 1.0)
    pair = np.where(free, 0, pair)
    one, other = mesh.edge_faces[pair], mesh.edge_faces[np.minimum(pair + 1, len(mesh.edge_faces) - 1)]
    free |= (one ^ other) & 1 == 0  # wound against each other
    one, other = one >> 1, other >> 1
    m, n = [x[one] for x in normals], [x[other] for x in normals]
    free |= ~((np.abs(dot(m, unit)) < FLAT) & (np.abs(dot(n, unit)) < FLAT))
    # across the edge, so that what is left of the plane's error does not count
    m, n = cross(unit, m), cross(unit, n)
    with np.errstate(divide="ignore", invalid="ignore"):
        cos = dot(m, n) / (length(m) * length(n))
    return free, np.where(free, 0.0, cos), np.where(free, 1.0, slope), unit


def _vertices(mesh: Surface, normals: Any, unit: Any, edge_free: Any, edge_slope: Any) -> Any:
    """Of each vertex an axis, the cosine of the half angle of the double cone of contact normals about it, 0
    where they are free, and that of the angle about it that holds its faces' normals."""
    n = len(mesh.vertices)
    start, v, e = mesh.face_start, mesh.face_vertices, mesh.face_edges
    sizes = np.diff(start)
    axis = [np.bincount(v, np.repeat(x, sizes), n) for x in normals]
    long = length(axis)
    with np.errstate(divide="ignore", invalid="ignore"):
        axis = [np.where(long > 1e-3, x / long, 0.0) for x in axis]
    free = ~(long > 1e-3)
    rise, wedge, slope, about = np.zeros(n), np.ones(n), np.zeros(n), np.ones(n)
    for some in blocks(len(sizes)):
        first, end = start[some.start], start[some.stop]
        at, count = start[some] - first, sizes[some]
        corner, out = v[first:end], e[first:end]
        last = np.arange(end - first) - 1
        last[at] = at + count - 1
        back = out[last]  # the edge on which the face comes to the corner
        up = [x[corner] for x in axis]
        leave, came = _from(mesh, unit, corner, out), _from(mesh, unit, corner, back)
        rise_out, rise_back = dot(leave, up), dot(came, up)
        with np.errstate(divide="ignore", invalid="ignore"):
            flat_out = _unit_or_nan([x - rise_out * y for x, y in zip(leave, up, strict=True)])
            flat_back = _unit_or_nan([x - rise_back * y for x, y in zip(came, up, strict=True)])
        turns = dot(up, cross(flat_out, flat_back)) >= 0.0
        half = np.sqrt(np.maximum(0.5 + 0.5 * dot(flat_out, flat_back), 0.0))
        own = [np.repeat(x[some], count) for x in normals]
        np.minimum.at(about, corner, dot(up, own))
        np.maximum.at(rise, corner, np.maximum(np.abs(rise_out), np.abs(rise_back)))
        np.minimum.at(wedge, corner, np.where(turns, half, 0.0))
        np.maximum.at(slope, corner, np.maximum(edge_slope[out], edge_slope[back]))
    open_ends = mesh.edges[edge_free]
    free[open_ends.reshape(-1)] = True
    near = wedge * np.sqrt(np.maximum(1.0 - rise * rise, 0.0))
    reach = np.sqrt(near * near + rise * rise)
    free |= ~((wedge > 0.0) & (slope < reach))
    with np.errstate(divide="ignore", invalid="ignore"):
        sine = slope / reach
        cos = np.sqrt(np.maximum(1.0 - sine * sine, 0.0)) * (near / reach) - sine * (rise / reach)
    return axis, np.where(free, 0.0, np.maximum(cos, 0.0)), np.maximum(about, 0.0)


def _from(mesh: Surface, unit: Any, vertex: Any, edge: Any) -> Any:
    """Directions of edges away from a vertex of theirs."""
    sign = np.where(mesh.edges[edge, 0] == vertex, 1.0, -1.0)
    return [sign * x[edge] for x in unit]


def _unit_or_nan(x: Any) -> Any:
    long = length(x)
    return [y / long for y in x]
