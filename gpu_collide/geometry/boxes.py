"""Boxes of many sizes at once, prepared for queries.

A table of traffic has a box for every vehicle. All that a query needs of a box but some numbers is the same
for all boxes whose sides compare alike, so it is made once, of a template, and the numbers of all boxes in a
few array operations. They have the bits of a box that is made and prepared by itself: tests compare the two
array by array.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gpu_collide._validate import owned
from gpu_collide.geometry.arrays.soa import length
from gpu_collide.geometry.mesh.mesh import Mesh
from gpu_collide.geometry.preparation import prepared
from gpu_collide.geometry.preparation.face_tree import FaceTree
from gpu_collide.geometry.preparation.nodes import halved, slabs, unit_or_zero
from gpu_collide.geometry.preparation.solids import SHARE, Solids
from gpu_collide.geometry.shapes import BOX_CORNERS, box

if TYPE_CHECKING:
    from typing import Any

    from gpu_collide._types import Array

__all__ = ["boxes", "size_of_box"]

#: Sides, and ratios of two sides, up to which, and down to whose inverse, boxes are made together: no area or
#: angle comes near a threshold of `Mesh`, and no product over- or underflows.
MOST_SIDE, MOST_RATIO = 1e6, 1e3
_templates: dict[bytes, Mesh] = {}


def boxes(sizes: Array) -> list[Mesh]:
    """`gpu_collide.shapes.box` of each of some sizes.

    Parameters
    ----------
    sizes : (k, 3) float64
        Positive full lengths along x, y and z.

    Returns
    -------
    list of Mesh
        With what queries in mixed and single precision need of them.
    """
    sizes = np.asarray(sizes, np.float64).reshape(-1, 3)
    least, most = sizes.min(axis=1, initial=np.inf), sizes.max(axis=1, initial=0.0)
    usual = (least >= 1.0 / MOST_SIDE) & (most <= MOST_SIDE) & (most <= MOST_RATIO * least)
    made: list[Any] = [None if ok else box(size) for ok, size in zip(usual.tolist(), sizes, strict=True)]
    some = np.flatnonzero(usual)
    for alike in _alike(sizes[some]):
        for k, mesh in zip(some[alike].tolist(), _of_template(sizes[some[alike]]), strict=True):
            made[k] = mesh
    return made


def size_of_box(mesh: Mesh) -> Array | None:
    """Full lengths (3,) of a mesh that `box` makes, with its bits; None of others."""
    if mesh.vertices.shape != (8, 3) or mesh.two_sided or mesh.parts is not None or mesh.rounding:
        return None
    size = 2.0 * mesh.vertices[-1]
    template = _template(np.ones(3))
    same = np.array_equal(mesh.face_vertices, template.face_vertices)
    same = same and np.array_equal(mesh.face_start, template.face_start) and bool((size > 0).all())
    return size if same and np.array_equal(BOX_CORNERS * size, mesh.vertices) else None


def _key(sizes: Array) -> Array:
    """How the sides of boxes, and their halves, compare with each other, (k, 9): what the order of the leaves
    of their trees depends on."""
    ahead = np.roll(sizes, 1, axis=1)
    signs = [np.sign(a - b) for a, b in ((sizes, ahead), (sizes, 2.0 * ahead), (2.0 * sizes, ahead))]
    return np.concatenate(signs, axis=1).astype(np.int8)


def _alike(sizes: Array) -> list[Array]:
    """Rows of the boxes that have one template, for each."""
    if not len(sizes):
        return []
    of = np.unique(_key(sizes), axis=0, return_inverse=True)[1].reshape(-1)
    return [np.flatnonzero(of == k) for k in range(int(of.max()) + 1)]


def _template(size: Array) -> Mesh:
    """A box of sides that compare as those of `size` do; one for all."""
    key = _key(size[None]).tobytes()
    mesh = _templates.get(key)
    return _templates.setdefault(key, box(size)) if mesh is None else mesh


def _of_template(sizes: Array) -> list[Mesh]:
    """Boxes of sides that all compare alike."""
    template = _template(sizes[0])
    corners = BOX_CORNERS * sizes[:, None]
    half = 0.5 * sizes
    radius = length(half.T)
    scaled = half / radius[:, None]
    axis, sign = _axes(template)
    planes = np.where(template.face_planes == 0.0, template.face_planes, 0.0)[None].repeat(len(sizes), axis=0)
    area = _areas(2.0 * scaled)[:, axis]
    normal = (1.0 / area) * area
    rows = np.arange(len(axis))
    planes[:, rows, axis] = sign * normal
    planes[:, :, 3] = -(normal * scaled[:, axis]) * radius[:, None]
    made = _prepared(template, sizes, corners, planes, radius)
    shared = vars(template)
    corners, planes = owned(corners), owned(planes)
    out = []
    for k, of_one in enumerate(zip(*made.values(), strict=True)):
        mesh = object.__new__(Mesh)
        vars(mesh).update(shared, vertices=corners[k], face_planes=planes[k], radius=float(radius[k]))
        prepared.keep_alike(mesh, template, dict(zip(made, of_one, strict=True)))
        out.append(mesh)
    return out


def _axes(template: Mesh) -> tuple[Array, Array]:
    """The axis that each face is across, and its side of it."""
    normals = template.face_planes[:, :3]
    axis = np.abs(normals).argmax(axis=1)
    return axis, np.sign(normals[np.arange(len(axis)), axis])


def _areas(sides: Array) -> Array:
    """Areas (k, 3) of the faces across each axis."""
    return np.stack([sides[:, (k + 1) % 3] * sides[:, (k + 2) % 3] for k in range(3)], axis=1)


def _prepared(
    template: Mesh, sizes: Array, corners: Array, planes: Array, radius: Array
) -> dict[str, list[Any]]:
    """What is kept with each box, by its name there."""
    half, edge_axis = 0.5 * sizes, _edge_axes(template)
    count = len(sizes)
    tree = prepared.tree_of(template)
    at = template.face_vertices.reshape(-1, 4)
    sides = np.concatenate([corners[:, at].min(axis=2), corners[:, at].max(axis=2)], axis=2)[:, tree.order]
    per_length = 1.0 / sizes[:, edge_axis]
    blocks = [x.transpose(0, 2, 1) for x in (corners, planes[:, :, :3])]
    screen = [x.astype(np.float32) for x in (*blocks, per_length)]
    patch = prepared.patches_of(template).tables
    order = [patch[f"source_{what}"] for what in ("vertices", "faces", "edges")]
    patches = [x[..., of] for x, of in zip(screen, order, strict=True)]
    nodes = _nodes(sides, corners[:, at[tree.order]], planes[:, tree.order, :3])
    return {
        "measures": list(_measures(half, radius)),
        "edge lengths": list(_rows(np.sort(sizes[:, edge_axis], axis=1))),
        "tree": [FaceTree(tree.order, x) for x in _rows(sides)],
        "solids": _solids(template, sizes, planes),
        "screen f": list(zip(*(_rows(x.reshape(count, -1)) for x in screen), strict=True)),
        "patches f": list(zip(*(_rows(x.reshape(count, -1)) for x in patches), strict=True)),
        "nodes f": list(nodes),
    }


def _rows(values: Array) -> Array:
    """The same, so that what it has of each box lies together."""
    return np.ascontiguousarray(values)


def _edge_axes(template: Mesh) -> Array:
    """The axis along which each edge lies."""
    along = template.vertices[template.edges[:, 1]] - template.vertices[template.edges[:, 0]]
    return np.abs(along).argmax(axis=1)


def _measures(half: Array, radius: Array) -> Array:
    """As `prepared.measures_of`, (k, 12)."""
    mantissa, exponent = np.frexp(radius)
    power = np.ldexp(1.0, np.where(mantissa == 0.5, exponent - 1, exponent))
    across = [length([0.0 if j == k else half[:, j] for j in range(3)]) for k in range(3)]
    reach = np.maximum(np.maximum(across[0], across[1]), across[2])
    none = np.zeros_like(radius)
    return np.column_stack([np.zeros_like(half), radius, power, half, reach, none, none - 1.0, none - 1.0])


def _solids(template: Mesh, sizes: Array, planes: Array) -> list[Solids]:
    """As `prepared.solids_of`: vertices shrink along the diagonals, by a share of the thickness."""
    like = prepared.solids_of(template)
    scale = sizes.max(axis=1)
    within = sizes / scale[:, None]
    x, y, z = _areas(within).T
    volume = ((z * within[:, 2] + y * within[:, 1]) + x * within[:, 0]) / 3.0
    surface = ((((z + z) + y) + y) + x) + x
    thickness = 3.0 * np.abs(volume) / surface * scale
    axis, sign = _axes(template)
    normal = planes[:, axis.argsort(kind="stable")[1::2], [0, 1, 2]]  # of the faces in front, of each axis
    normal = np.abs(normal)
    outward = normal / np.linalg.norm(normal, axis=-1, keepdims=True)
    insets = np.empty((len(sizes), 8, 4))
    insets[:, :, :3] = np.sign(BOX_CORNERS) * outward[:, None]
    insets[:, :, 3] = (SHARE * thickness)[:, None]
    return [Solids(like.witness, like.codes, x, like.closed) for x in insets]


def _nodes(sides: Array, corners: Array, normals: Array) -> Array:
    """As `prepared.nodes_of` in float32, (k, 12, GC_NODE_STRIDE), of boxes (k, 6, 6), corners (k, 6, 4, 3)
    and normals (k, 6, 3) of faces in the order of the tree. No cone is less than everything: an edge is a
    right angle."""
    count = len(sides)
    box_of = [x.T for x in np.moveaxis(sides, -1, 0)]
    normal = [x.T for x in np.moveaxis(normals, -1, 0)]
    points = [np.ascontiguousarray(x.reshape(count, -1).T) for x in np.moveaxis(corners, -1, 0)]
    first, levels = np.arange(6) * 4, []
    while True:
        slab = slabs(points, first, unit_or_zero(normal), box_of)
        levels.append(np.concatenate([np.stack(box_of, axis=1), slab], axis=1))
        if len(first) == 1:
            break
        box_of = [halved(np.minimum if k < 3 else np.maximum, x) for k, x in enumerate(box_of)]
        normal, first = [halved(np.add, x) for x in normal], first[::2]
    held = np.concatenate(levels).transpose(2, 0, 1)
    out = np.zeros((*held.shape[:2], held.shape[2] + 2), np.float32)
    out[:, :, : held.shape[2]] = held
    return out
