"""Contacts that last, of bodies that slide and turn on each other, against plane geometry; overlaps at the
start of less than a millionth of the size.

A lies on the ground plane and B on A, and both move in the plane: in complex numbers, seen from A, a point
of B is at exp(-i phi_A) (c_B + exp(i phi_B) r - c_A). When it is above A, and when two edges cross, are
signs of functions of time that need nothing of the library's or of the judge's. The whole is tilted and
shifted at random.
"""

import numpy as np
import pytest

import gpu_collide as gc
from tests.support import seeds

pytestmark = pytest.mark.shared_bits("tests/narrow_phase/test_body_motion.py")

A, B = (2.0, 2.0, 1.0), (3.0, 0.5, 0.6)  # a table and a bar
SAMPLES, SHORT = 2001, 2e-3  # shorter ones may lie between samples
NEAR = 1e-11  # lengths from a border, where an interval begins or ends: 5e-12 seen in 16,453


def planar(rng, kind):
    """A body's motion in the plane: angle and place as functions of time, and what the library is given."""
    phi, omega = rng.uniform(0, 2 * np.pi), rng.uniform(-2.5, 2.5) * (kind != "sliding")
    c, way = complex(*rng.uniform(-0.6, 0.6, 2)), complex(*rng.uniform(-2, 2, 2))
    if kind == "rolling":  # without slip along a wall at unit distance
        way = omega * np.exp(1j * rng.uniform(0, 2 * np.pi))
    if kind == "screw":
        pole = c + way / (1 - np.exp(1j * omega))

        def place(t):
            return pole + np.exp(1j * omega * t) * (c - pole)
    else:

        def place(t):
            return c + way * t

    return (lambda t: phi + omega * t), place, (way, omega, kind)


def seen(points, own, other):
    """Points of one body in the axes of another, as functions of time."""
    (phi, place, _), (phi_other, place_other, _) = own, other
    return [
        lambda t, x=x: np.exp(-1j * phi_other(t)) * (place(t) + np.exp(1j * phi(t)) * x - place_other(t))
        for x in points
    ]


def within(size):
    return lambda z: np.minimum(size[0] / 2 - np.abs(z.real), size[1] / 2 - np.abs(z.imag))


def crossing(p, q, x, y):
    """How far inside both segments p q and x y the place is where their lines cross, as a length."""

    def cross(a, b):
        return (np.conj(a) * b).imag

    d, e, gap = q - p, y - x, x - p
    with np.errstate(divide="ignore", invalid="ignore"):
        alpha, beta = cross(gap, e) / cross(d, e), cross(gap, d) / cross(d, e)
        one, other = (np.minimum(s, 1 - s) * np.abs(f) for s, f in ((alpha, d), (beta, e)))
        return np.nan_to_num(np.minimum(one, other), nan=-1.0, neginf=-1.0, posinf=-1.0)


def intervals(inside):
    """Where a function of time is above 0, by signs at samples and halving."""
    t = np.linspace(0, 1, SAMPLES)
    signs = inside(t) > 0
    cuts = []
    for k in np.flatnonzero(signs[1:] != signs[:-1]):
        low, high = t[k], t[k + 1]
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if (inside(np.array(middle)) > 0) == signs[k] else (low, middle)
        cuts.append(low)
    ends = [0.0] * bool(signs[0]) + cuts + [1.0] * bool(signs[-1])
    return np.array(ends).reshape(-1, 2)


def expected(a, b, meshes):
    """By kind and features, the function that says how far inside both they are."""
    (va, top), (vb, low) = (level(mesh, side) for mesh, side in zip(meshes, (1, -1), strict=True))
    found = {}
    fa, fb = (face_of(mesh, side) for mesh, side in zip(meshes, (1, -1), strict=True))
    for k, z in zip(low, seen(vb[low], b, a), strict=True):
        found[int(gc.Kind.FV), fa, k] = lambda t, z=z: within(A)(z(t))
    for k, z in zip(top, seen(va[top], a, b), strict=True):
        found[int(gc.Kind.VF), k, fb] = lambda t, z=z: within(B)(z(t))
    for i, (p, q) in edges_of(meshes[0], top):
        for j, ends in edges_of(meshes[1], low):
            x, y = seen(vb[list(ends)], b, a)
            found[int(gc.Kind.EE), i, j] = lambda t, p=va[p], q=va[q], x=x, y=y: crossing(p, q, x(t), y(t))
    return found


def level(mesh, side):
    """Vertices as complex numbers, and those at the top (1) or at the bottom (-1)."""
    v = np.asarray(mesh.vertices)
    return v[:, 0] + 1j * v[:, 1], [int(k) for k in np.flatnonzero(side * v[:, 2] > 0)]


def face_of(mesh, side):
    z = np.asarray(mesh.vertices)[:, 2]
    return next(i for i, loop in enumerate(mesh.faces) if (side * z[np.asarray(loop)] > 0).all())


def edges_of(mesh, level):
    rows = np.asarray(mesh.edges).tolist()
    return [(i, (p, q)) for i, (p, q) in enumerate(rows) if p in level and q in level]


def scenes(rng, n, kinds):
    """Pairs of motions in the plane, and all of them as the library takes them, tilted and shifted."""
    meshes = [gc.shapes.box(A), gc.shapes.box(B)]
    pairs = [[planar(rng, kind) for kind in rng.choice(kinds, 2)] for _ in range(n)]
    tilt = gc.Poses.from_quat_wxyz(rng.normal(size=3), unit(rng.normal(size=4))).to_matrix()
    height = (A[2] + B[2]) / 2
    parts = []
    for k, (phi, place, (way, omega, kind)) in ((k, m) for pair in pairs for k, m in enumerate(pair)):
        start, end = (tilt @ pose(place(t), phi(t), k * height) for t in (0.0, 1.0))
        if kind == "screw":
            parts.append(gc.Bodies(meshes, [k], *(gc.Poses.from_matrix(m[None]) for m in (start, end))))
        else:
            along, up = (tilt[:3, :3] @ x for x in ([way.real, way.imag, 0], [0, 0, omega]))
            poses = gc.Poses.from_matrix(start[None])
            parts.append(gc.Bodies.from_velocities(meshes, [k], poses, along[None], up[None]))
    return pairs, meshes, gc.Bodies.concatenate(parts), np.arange(2 * n).reshape(-1, 2)


def pose(place, phi, height):
    c, s = np.cos(phi), np.sin(phi)
    return np.array([[c, -s, 0, place.real], [s, c, 0, place.imag], [0, 0, 1, height], [0, 0, 0, 1]])


def unit(q):
    return q / np.linalg.norm(q)


def differences(pairs, meshes, found):
    """What the library says of contacts that last and plane geometry does not, or the other way; how far from
    a border their intervals begin and end, at most; how many are due."""
    wrong, worst, n = [], 0.0, 0
    lasting = np.asarray(found.sustained)
    keys = np.stack([np.asarray(getattr(found, k)) for k in ("pair", "kind", "feature_a", "feature_b")], 1)[
        lasting
    ]
    ends = np.stack([np.asarray(found.time), np.asarray(found.time_end)], 1)[lasting]
    for i, (a, b) in enumerate(pairs):
        theirs = {}
        for key, span in zip(keys[keys[:, 0] == i], ends[keys[:, 0] == i], strict=True):
            theirs.setdefault(tuple(key[1:].tolist()), []).append(span)
        for key, inside in expected(a, b, meshes).items():
            due, told = intervals(inside), np.sort(np.array(theirs.pop(key, [])).reshape(-1, 2), axis=0)
            at = told[(told > 0) & (told < 1)]
            worst = max(worst, float(np.abs(inside(at)).max(initial=0)))
            due, told = (x[x[:, 1] - x[:, 0] > SHORT] for x in (due, told))
            n += len(due)
            if due.shape != told.shape or np.abs(due - told).max(initial=0) > SHORT:
                wrong.append((i, key, due.tolist(), told.tolist()))
        wrong += [(i, key, "no such pair lies in one plane", told) for key, told in theirs.items()]
    return wrong, worst, n


@pytest.mark.parametrize("kinds", [["spin"], ["screw"], ["spin", "screw", "rolling", "sliding"]])
def test_contacts_last_as_long_as_plane_geometry_says(kinds, backend):
    pairs, meshes, bodies, rows = scenes(seeds.generator(31, len(kinds)), 20, kinds)
    found = gc.collide(bodies, rows, motion="body", backend=backend.name)
    wrong, worst, n = differences(pairs, meshes, found.to_numpy())
    assert wrong == []
    assert worst < NEAR and n > 150


def pushed_in(rng, n, depth):
    """A cube on a cube, by a face, an edge or a corner, `depth` of the radius inside it; both move."""
    cube = gc.shapes.box((2, 2, 2))
    kind = rng.integers(0, 3, n)
    matrices = []
    for k in kind:
        spin = turn_about([0, 0, 1], rng.uniform(0, 6))
        about = [1, 0, 0] if k == 1 else rng.normal(size=3)
        lean = turn_about(about, rng.uniform(0.3, 1.2)) if k else np.eye(3)
        axes = spin @ lean
        v = np.asarray(cube.vertices) @ axes.T
        low = v[v[:, 2] < v[:, 2].min() + 1e-9].mean(0)  # what is pushed in
        place = [*rng.uniform(-0.1, 0.1, 2), 1 - depth * cube.radius] - low
        for m, x in ((np.eye(3), [0, 0, 0]), (axes, place)):
            matrices.append(np.block([[m, np.array(x)[:, None]], [0, 0, 0, 1]]))
    tilt = gc.Poses.from_quat_wxyz(rng.normal(size=3), unit(rng.normal(size=4))).to_matrix()
    start = gc.Poses.from_matrix(tilt @ np.array(matrices))
    spun = gc.Bodies.from_velocities(
        cube, None, start, rng.normal(size=(2 * n, 3)), rng.normal(size=(2 * n, 3))
    )
    by_poses = gc.Bodies(cube, None, start, spun.end)
    return gc.Bodies.concatenate([spun, by_poses]), np.arange(4 * n).reshape(-1, 2), np.tile(kind, 2)


def turn_about(axis, angle):
    q = np.r_[np.cos(angle / 2), np.sin(angle / 2) * unit(np.array(axis, float))]
    return gc.Poses.from_quat_wxyz([0, 0, 0], q).to_matrix()[:3, :3]


@pytest.mark.parametrize(
    "depth, told", [(9e-7, True), (1.2e-7, True), (2e-8, False), (1e-12, False), (-1e-9, False)]
)
def test_overlaps_at_the_start_by_less_than_a_millionth_of_the_size(depth, told, backend):
    """The promise is 1e-7 of the size (`GC_OVERLAP_DEPTH`): deeper is told, less is touch."""
    bodies, pairs, kind = pushed_in(seeds.generator(32), 60, depth)
    found = gc.collide(bodies, pairs, motion="body", backend=backend.name).to_numpy()
    overlap = found.status == int(gc.Status.INITIAL_OVERLAP)
    assert set(kind[overlap != told]) == set()
