"""gc_node_distance.h: the bounds of a node hold every point of its faces, during the whole step."""

from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

from gpu_collide.backends import sources
from gpu_collide.geometry.preparation.patches import entries
from gpu_collide.reference.narrow_phase.s01_screw import Screw
from tests.broad_phase import _near
from tests.broad_phase._near_launch import SEEN_STRIDE, Near
from tests.narrow_phase._launch import STRIDE
from tests.support.probes import with_probes

pytestmark = pytest.mark.shared_bits("tests/acceptance/test_stored_bits.py")

SCREW, SEEN = sources.record("screw"), sources.record("seen")
TIMES = np.linspace(-0.5, 0.5, 9)
KINDS = (*_near.MOTIONS, "wheels", "slides")


@lru_cache(maxsize=1)
def text():
    return with_probes([Path(__file__).parent / "probe_near.c"])


@lru_cache(maxsize=32)
def scene(kind, n, scale=1.0):
    if kind in ("wheels", "slides"):
        return getattr(_near, kind)(n, 1)
    if kind == "slope":
        return _near.slope(scale, 1)
    return _near.scene(kind, n, 5, scale=scale)


def nodes_of(near, rng, per_pair=6):
    """Random nodes of all levels: (pair, side, node) for the kernel, and the faces of each."""
    items, faces = [], []
    for pair in range(near.n):
        for side in (0, 1):
            k = int(near.shapes[pair, side])
            n, first, _, height = (int(x) for x in near.trees[k])
            order = near.order(k)
            for level in rng.integers(0, height + 1, per_pair):
                j = int(rng.integers(0, -(-n >> level)))
                at = first + sum(-(-n >> h) for h in range(level)) + j
                items.append((pair, side, at))
                faces.append(order[j << level : (j + 1) << level])
    return np.array(items, np.int32), faces


def points_of(mesh, faces, rng, n=24):
    """Corners of the faces and points inside them, from the mesh's centre."""
    index, _ = entries(mesh.face_start, np.asarray(faces))
    corners = mesh.vertices[mesh.face_vertices[index]]
    some = mesh.face_start[rng.choice(faces, n)][:, None] + np.array([0, 1, 2])
    share = rng.dirichlet([0.5, 0.5, 0.5], n)
    inner = np.einsum("ij,ijk->ik", share, mesh.vertices[mesh.face_vertices[some]])
    return np.concatenate([corners, inner]) - mesh.center


def probe(backend, near, items, times=None, other=None):
    """Screw records in the near frame, nodes, views, and the times left of `times` in which the nodes `other`
    of the other side are in the nodes' slabs."""
    s, n = near.stages, len(items)
    times = np.tile([-0.5, 0.5], (n, 1)) if times is None else times
    other = items[:, 2] if other is None else other
    out = [
        near.new(n * k, d)
        for k, d in ((STRIDE, s.real), (SEEN_STRIDE, s.raster), (4, s.raster), (2, s.raster))
    ]
    asked = np.column_stack([items, other]).astype(np.int32)
    kernel = backend.compile(text(), s.precision).kernel("probe_near")
    backend.launch_items(
        kernel, n, n=n, item_in=backend.to_device(asked.reshape(-1)),
        times_in=backend.to_device(times.astype(s.raster).reshape(-1)), screw_in=s.screw_buffer,
        nodes_in=near.tables.buffers["nodes_in"], screw_out=out[0], near_out=out[1], view_out=out[2],
        times_out=out[3],
    )  # fmt: skip
    return [backend.to_host(x).reshape(n, -1).astype(float) for x in out]


def motion_of(record):
    """The flow of a screw record, with the reference's formulas."""
    blank = dict.fromkeys(Screw.__dataclass_fields__)
    return Screw(**{**blank, "theta": record[0], "W": record[1], "kappa": record[3], "g": record[2]})


def placed(record, side, x):
    """Points of the centred mesh in the near frame."""
    at = 20 if side else 8
    return record[32] * x @ record[at : at + 9].reshape(3, 3).T + record[at + 9 : at + 12]


@pytest.mark.parametrize(
    ("kind", "scale"),
    [(kind, 1.0) for kind in KINDS]
    + [(kind, k) for kind in ("turns", "axis") for k in (1e-4, 1e4)]
    + [("slope", 1e-4)],
)
def test_bounds_hold_every_point(backend, kind, scale):
    rng = np.random.default_rng(1)
    near = Near(backend, scene(kind, 6, scale))
    items, faces = nodes_of(near, rng)
    records, nodes, views, _ = probe(backend, near, items)
    for (pair, side, _), part, record, node, view in zip(items, faces, records, nodes, views, strict=True):
        mesh = near.bodies.meshes[near.shapes[pair, side]]
        x = points_of(mesh, part, rng)
        there = placed(record, side, x)
        on_screen(there, node, view)
        in_space(record, side, there, node)


def fields(node, names):
    """Columns of a node's record, such as "x0 y0 z0"."""
    return node[[SEEN[name] for name in names.split()]]


def on_screen(x, node, view):
    """Ranges of rho, eta and lambda, on some turn round the axis."""
    wn, gn, kappa, period = view
    r0, r1, h0, h1, l0, l1, p0, p1, full = fields(node, "r0 r1 h0 h1 l0 l1 p0 p1 full")
    if kappa > 0:
        r = np.hypot(x[:, 0], x[:, 2] + 1 / kappa)
        rho, psi = r - 1 / kappa, np.arctan2(x[:, 0], x[:, 2] + 1 / kappa) / kappa
    else:
        rho, psi = x[:, 2], x[:, 0]
    slack = 1e-9 * np.abs(x).max()  # of this test's own arctangent, where the axis is far
    if kappa > 1e-6 or kappa == 0:
        assert (rho >= r0).all() and (rho <= r1).all()
    else:
        return  # 1/kappa leaves float64 no digits here
    if full:
        return
    turns = np.array([-1, 0, 1]) * (period if period < 1e14 else 0.0)
    psi = psi[:, None] + turns
    eta, lam = wn * x[:, 1:2] - gn * psi, gn * x[:, 1:2] + wn * psi
    inside = (eta >= h0 - slack) & (eta <= h1 + slack) & (lam >= l0 - slack) & (lam <= l1 + slack)
    inside &= (psi >= p0 - 0.01 * (1 + p1 - p0)) & (psi <= p1 + 0.01 * (1 + p1 - p0))
    assert inside.any(axis=1).all()


def in_space(record, side, x, node):
    """Ball, box and slab half way, and how much the motion bends."""
    middle, n, half = (fields(node, k) for k in ("x y z", "nx ny nz", "hx hy hz"))
    radius, bend, d0, d1, e0, e1 = fields(node, "radius bend d0 d1 e0 e1")
    slack = 1e-6 * (1 + np.abs(x).max())  # of the middle, in float32; the walk's pads are wider
    along, off = x @ n, x - middle
    assert (along >= d0).all() and (along <= d1).all()
    assert (off @ n >= e0 - slack).all() and (off @ n <= e1 + slack).all()
    assert np.linalg.norm(off, axis=1).max() <= radius + slack
    rot = record[SCREW["rb" if side else "ra"]].reshape(3, 3)
    assert (np.abs(off @ rot) <= half + slack).all()
    theta, w = record[0], record[1]
    assert theta * np.hypot(w + theta * middle[2], theta * middle[0]) <= bend * 1.001 + 1e-6


@pytest.mark.parametrize("kind", KINDS)
def test_times_in_slabs_hold_every_point(backend, kind):
    """Whenever a point of the other node is between the least and the greatest of a node's points along its
    normal, the time is one of those left; at whatever part of the step one begins."""
    rng = np.random.default_rng(3)
    near = Near(backend, scene(kind, 6))
    items, faces = nodes_of(near, rng, 16)
    number = {side: np.flatnonzero(items[:, 1] == side) for side in (0, 1)}
    partner = [rng.choice(np.flatnonzero((items[:, 0] == i[0]) & (items[:, 1] != i[1]))) for i in items]
    times = np.sort(rng.choice(np.linspace(-0.5, 0.5, 17), (len(items), 2)), axis=1)
    records, nodes, _, left = probe(backend, near, items, times, items[partner, 2])
    inside = out = 0
    assert all(len(k) for k in number.values())
    for i, (pair, side, _) in enumerate(items):
        meshes = [near.bodies.meshes[k] for k in near.shapes[pair]]
        x = placed(records[i], side, points_of(meshes[side], faces[i], rng))
        y = placed(records[i], 1 - side, points_of(meshes[1 - side], faces[partner[i]], rng))
        along, flow = x @ fields(nodes[i], "nx ny nz"), motion_of(records[i])
        for s in np.linspace(*times[i], 9):
            there = flow.flow(y, np.full(len(y), s if side == 0 else -s)) @ fields(nodes[i], "nx ny nz")
            meets = ((there >= along.min()) & (there <= along.max())).any()
            assert not meets or left[i, 0] <= s <= left[i, 1]
            inside += meets
            out += not left[i, 0] <= s <= left[i, 1]
    assert inside and (out or kind in ("still", "tiny", "slides"))


@pytest.mark.parametrize("kind", KINDS)
def test_the_near_frame_moves_as_the_reference_does(backend, kind):
    """Distances between points of both bodies, at all times."""
    rng = np.random.default_rng(2)
    near = Near(backend, scene(kind, 12, 0.01) if kind not in ("wheels", "slides") else scene(kind, 12))
    items = np.array([(p, 0, 0) for p in range(near.n)], np.int32)
    records, *_ = probe(backend, near, items)
    for pair, record in enumerate(records):
        screw, flow = near.screw(pair), motion_of(record)
        meshes = [near.bodies.meshes[k] for k in near.shapes[pair]]
        xa, xb = (m.vertices[rng.integers(0, len(m.vertices), 20)] for m in meshes)
        a, b = (
            placed(record, k, x - m.center) for k, (x, m) in enumerate(zip((xa, xb), meshes, strict=True))
        )
        for s in TIMES:
            t = np.full(20, s)
            here = np.linalg.norm(a - flow.flow(b, t), axis=1) / record[32]
            there = np.linalg.norm(screw.from_a(xa) - screw.flow(screw.from_b(xb), t), axis=1)
            assert np.abs(here - there).max() <= 1e-12 * (screw.size + screw.speed)
