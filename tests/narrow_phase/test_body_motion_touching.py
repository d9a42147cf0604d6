"""Boxes in exact touch that slide while a body turns, with `motion="body"`: places by 40 digits judge.

All numbers are whole. Borders of faces vanish for the whole step, or have a fourfold root at its start,
and change their signs by rounding alone: the kernels said UNRESOLVED.
"""

import functools

import mpmath as mp
import numpy as np
import pytest

import gpu_collide as gc

# sizes of A and B, place of B, velocity of B, spins of A and B, the points about which they turn
SCENES = {
    "fourfold_root": (
        (2, 4, 2), (4, 4, 4), (1, 4, 1), (-2, 0, 0), (0, 0, 0), (0, -2, 0), (0, 0, 0), (0, 0, 0)),
    "fourfold_root_on_a_table": (
        (4, 4, 4), (4, 4, 2), (0, 4, -1), (0, 0, -1), (0, -1, 0), (0, 0, 0), (0, 0, 0), (0, 0, 0)),
    "about_a_common_edge": (
        (4, 2, 4), (4, 2, 4), (4, 1, 0), (0, 0, 0), (0, 0, 6), (0, 0, -2), (2, 1, 0), (-2, 0, 0)),
    "along_a_common_edge": (
        (2, 2, 2), (2, 4, 4), (2, 1, 1), (0, 2, 0), (0, 6, 0), (0, 1, 0), (1, -1, -1), (-1, -2, -2)),
    "against_each_other": (
        (2, 2, 2), (4, 2, 4), (3, 0, 1), (0, 0, 2), (0, 0, 4), (0, 0, -2), (1, 1, 0), (-2, 1, -1)),
    "on_top": ((4, 2, 4), (2, 4, 4), (1, 1, 4), (0, 2, 0), (0, 5, 0), (0, 1, 0), (2, 1, 2), (1, 0, -2)),
    "at_a_corner": (
        (2, 2, 2), (2, 2, 2), (2, 0, -1), (0, 0, -1), (0, 0, 6), (0, 0, 1), (1, -1, -1), (-1, -1, 0)),
}  # fmt: skip
TOUCH = mp.mpf("1e-11")


def bodies_of(scene):
    size_a, size_b, place, way, spin_a, spin_b, about_a, about_b = scene
    poses = gc.Poses.from_quat_wxyz([(0, 0, 0), place], [(1, 0, 0, 0)] * 2)
    return gc.Bodies.from_velocities(
        [gc.shapes.box(size_a), gc.shapes.box(size_b)], [0, 1], poses, [(0, 0, 0), way], [spin_a, spin_b],
        center=[about_a, about_b],
    )  # fmt: skip


def turned(x, spin, t):
    """x about one of the axes, by Rodrigues' formula in columns of whole numbers."""
    rate = sum(abs(s) for s in spin)
    if rate == 0:
        return mp.matrix(x)
    x, k = mp.matrix(x), mp.matrix([mp.mpf(s) / rate for s in spin])
    across = mp.matrix([k[1] * x[2] - k[2] * x[1], k[2] * x[0] - k[0] * x[2], k[0] * x[1] - k[1] * x[0]])
    along = k * (k.T * x)[0]
    return along + (x - along) * mp.cos(rate * t) + across * mp.sin(rate * t)


def inside(scene, vertex, body, t):
    """How far a vertex (3,) of `body` is inside the other's box at time t; 0 in one of its faces."""
    size_a, size_b, place, way, spin_a, spin_b, about_a, about_b = scene
    a, b = (size_a, (0, 0, 0), (0, 0, 0), spin_a, about_a), (size_b, place, way, spin_b, about_b)
    (_, *one), (size, *other) = (a, b) if body == 0 else (b, a)

    def pivot(place, way, about):
        return mp.matrix([mp.mpf(p) + mp.mpf(w) * t + c for p, w, c in zip(place, way, about, strict=True)])

    x = pivot(one[0], one[1], one[3]) + turned(
        [v - c for v, c in zip(vertex, one[3], strict=True)], one[2], t
    )
    back = turned(list(x - pivot(other[0], other[1], other[3])), [-s for s in other[2]], t)
    return min(mp.mpf(n) / 2 - abs(back[i] + other[3][i]) for i, n in enumerate(size))


@functools.cache
@mp.workdps(40)
def intervals(scene, vertex, body, samples=60):
    """Intervals, longer than a sample, in which a vertex is in a face of the other box."""

    def on(t):
        return abs(inside(scene, vertex, body, t)) <= TOUCH

    found, times = [], [mp.mpf(i) / samples for i in range(samples + 1)]
    flags = [on(t) for t in times]
    begin = times[0] if flags[0] else None
    for i in range(samples):
        if flags[i] == flags[i + 1]:
            continue
        low, high = times[i], times[i + 1]
        while high - low > mp.mpf("1e-13"):
            middle = (low + high) / 2
            low, high = (middle, high) if on(middle) == flags[i] else (low, middle)
        if flags[i]:
            found.append((begin, low))
        else:
            begin = high
    if flags[-1]:
        found.append((begin, times[-1]))
    return [(float(x), float(y)) for x, y in found if y - x > mp.mpf(1) / samples]


@pytest.mark.parametrize("turned_round", [False, True])
@pytest.mark.parametrize("name", sorted(SCENES))
def test_faces_that_slide_in_touch_while_a_body_turns(name, turned_round, backend):
    """Ends of lasting contacts; the worst error seen: 1.2e-11 of a step."""
    scene, pair = SCENES[name], [1, 0] if turned_round else [0, 1]
    bodies = bodies_of(scene)
    found = gc.collide(bodies, [pair], motion="body", backend=backend.kind)
    assert found.status[0] == gc.Status.HIT
    wanted = {
        (body, v): intervals(scene, tuple(bodies.meshes[body].vertices[v].tolist()), body)
        for body in (0, 1)
        for v in range(8)
    }
    told = {key: [] for key in wanted}
    for kind, a, b, lasts, start, end in zip(
        found.kind, found.feature_a, found.feature_b, found.sustained, found.time, found.time_end, strict=True
    ):
        if lasts and end > start + 0.01 and kind != gc.Kind.EE:
            of_a = kind == gc.Kind.VF
            told[pair[0 if of_a else 1], int(a if of_a else b)].append((start, end))
    worst = 0.0
    for key, spans in told.items():
        for span in spans:
            worst = max(worst, min(np.abs(np.subtract(span, x)).max() for x in wanted[key]))
    assert worst <= 1e-9


def contacts_of(bodies, pair, kind):
    """Features with the sustained flag, sorted, and start and end of each."""
    found = gc.collide(bodies, [pair], motion="body", backend=kind)
    assert found.status[0] == gc.Status.HIT
    rows = sorted(
        zip(
            found.kind.tolist(), found.feature_a.tolist(), found.feature_b.tolist(), found.sustained.tolist(),
            found.time.tolist(), found.time_end.tolist(), strict=True,
        )
    )  # fmt: skip
    return [row[:4] for row in rows], np.array([row[4:] for row in rows])


@pytest.mark.shared_bits("tests/narrow_phase/test_body_motion.py")
@pytest.mark.parametrize("turned_round", [False, True])
@pytest.mark.parametrize("name", sorted(SCENES))
def test_no_contact_of_faces_in_touch_is_missing(name, turned_round, backend):
    """The contacts are those of the reference; the worst difference seen: 6.5e-15 of a step."""
    bodies, pair = bodies_of(SCENES[name]), [1, 0] if turned_round else [0, 1]
    features, times = contacts_of(bodies, pair, backend.kind)
    wanted_features, wanted_times = contacts_of(bodies, pair, "reference")
    assert features == wanted_features
    assert np.abs(times - wanted_times).max() <= 1e-12
