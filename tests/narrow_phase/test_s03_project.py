"""s03_project: edges as records in rows, and the facing boundary of faces."""

import numpy as np
import pytest

import gpu_collide as gc
from tests.narrow_phase._launch import (
    RASTER,
    C,
    Stages,
    new,
    probe,
    probe_text,
    scene_of,
    screened,
    uncovered,
)
from tests.narrow_phase.test_functions import exact_arc, exact_rho
from tests.narrow_phase.test_s01_screw import ONE, about

MOTIONS = {
    "translation": ([-1, 0.3, 0.2], ONE, [1.5, 0.1, 0.3], ONE),
    "screw": ([1, 0, 0], ONE, [0.4, 0.9, 0.7], about([0, 0, 1], 0.9)),
    "turn": ([0.2, 0, 0], ONE, [0.2, 0, 0], about([0.6, 0, 0.8], 2.5)),
    "tiny": ([0.2, 0, 0], ONE, [0.2, 0, 1e-3], about([0.6, 0, 0.8], 1e-7)),
}


def one_screw(backend, motion, precision):
    """Stages of one pair of boxes, with s01 done, and the fields of its record."""
    p0, q0, p1, q1 = MOTIONS[motion]
    start = gc.Poses.from_quat_wxyz(np.array([[0.0, 0, 0], p0]), np.array([ONE, q0]))
    end = gc.Poses.from_quat_wxyz(np.array([[0.0, 0, 0], p1]), np.array([ONE, q1]))
    stages = Stages(backend, gc.Bodies(gc.shapes.box(), None, start, end), [[0, 1]], precision, probe_text())
    return stages, stages.s01()[0][0]


# ---- known answers


def walk(backend, places, facing, two_sided=0, motion="translation"):
    """Segments (k, 8) of the facing boundary of each polygon (n, corners, 3)."""
    stages, _ = one_screw(backend, motion, "double")
    n, corners, _ = places.shape
    count, out = new(backend, n, "i4"), new(backend, n * (corners + 1) * 8, "f8")
    topology = np.concatenate([[0, corners], np.arange(corners)]).astype(np.int32)
    backend.launch_items(
        probe(backend, "double", "probe_boundary"),
        n,
        n=n,
        corners=corners,
        screw_in=stages.screw_buffer,
        place=backend.to_device(places.transpose(0, 2, 1).reshape(-1)),
        facing=backend.to_device(np.asarray(facing, float).reshape(-1)),
        placed=new(backend, n * corners * 4, "f8"),
        turned=new(backend, n * 8, "f8"),
        topology_in=backend.to_device(topology),
        two_sided=two_sided,
        zero=backend.zeros(1, "i4"),
        count_out=count,
        segment_out=out,
    )
    count, out = backend.to_host(count), backend.to_host(out).reshape(n, corners + 1, 8)
    assert np.isnan(out[np.arange(corners + 1) >= count[:, None]]).all()
    # what does not face the right way comes as an empty range
    return [rows[:k][rows[:k, 6] <= rows[:k, 7]] for rows, k in zip(out, count, strict=True)]


SQUARE = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]])


def test_a_face_that_faces_is_all_boundary(backend):
    (kept,) = walk(backend, SQUARE[None], [[1, 0, 0]])
    assert len(kept) == 4 and (kept[:, 6] == 0).all() and (kept[:, 7] == 1).all()
    assert np.array_equal(kept[:, :3], np.roll(SQUARE, 1, axis=0)) and np.array_equal(kept[:, 3:6], SQUARE)


def test_a_face_that_looks_away_has_none(backend):
    (kept,) = walk(backend, SQUARE[None], [[-1, 0, 0]])
    assert len(kept) == 0
    (kept,) = walk(backend, SQUARE[None], [[-1, 0, 0]], two_sided=1)
    assert len(kept) == 4


def test_the_silhouette_is_a_virtual_edge(backend):
    """Facing is x - 1/4: the square keeps three quarters, closed by an edge at x = 1/4."""
    (kept,) = walk(backend, SQUARE[None], [[-0.25, 1, 0]])
    assert len(kept) == 4  # two sides in part, one whole, the virtual one
    virtual = kept[-1]
    assert np.array_equal(virtual[[0, 3]], [0.25, 0.25]) and sorted(virtual[[1, 4]]) == [0, 1]
    assert np.linalg.norm(kept[:, 3:6] - kept[:, :3], axis=1).sum() == pytest.approx(0.75 * 2 + 2)


# ---- invariants


def test_the_kept_boundary_is_the_clipped_polygon(backend):
    """Random convex polygons, cut by random silhouettes: the ends of the segments are the corners of the
    clipped polygon, each met twice, and the boundary closes."""
    rng = np.random.default_rng(4)
    n, corners = 300, 7
    angle = np.sort(rng.uniform(0, 2 * np.pi, (n, corners)), axis=1)
    places = np.stack([np.cos(angle), rng.normal(size=(n, 1)) + 0 * angle, np.sin(angle)], axis=2)
    facing = rng.normal(size=(n, 3)) * [0.5, 1, 1]
    cut = 0
    for x, g, kept in zip(places, facing, walk(backend, places, facing), strict=True):
        value = g[0] + x[:, 0] * g[1] + x[:, 2] * g[2]
        expected = [x[i] for i in range(corners) if value[i] >= 0]
        for i in range(corners):
            j = (i + 1) % corners
            if (value[i] >= 0) != (value[j] >= 0):
                expected.append(x[i] + value[i] / (value[i] - value[j]) * (x[j] - x[i]))
                cut += 1
        ends = np.concatenate([kept[:, :3], kept[:, 3:6]]) if len(kept) else np.zeros((0, 3))
        assert len(ends) == 2 * len(expected)
        for p in expected:
            assert np.sum(np.abs(ends - p).max(axis=1) < 1e-12) == 2
    assert cut > 100


@pytest.mark.shared_bits("tests/narrow_phase/test_s02_facing.py")
@pytest.mark.parametrize("precision", ["mixed", "double"])
@pytest.mark.parametrize("height", [0.37, 0.05])
@pytest.mark.parametrize("motion", MOTIONS)
def test_records_hold_their_segments(motion, height, precision, backend):
    """Every point of a segment is in a record of its row, in eta and in lambda."""
    stages, screw = one_screw(backend, motion, precision)
    rng = np.random.default_rng(5)
    theta, w, g, kappa = screw[:4]
    n, base = 400, -1.0
    n_rows = int(2.2 / height)
    segments = rng.uniform(-1, 1, (n, 6)).astype(stages.raster)
    segments[: n // 8, 3:] = segments[: n // 8, :3] + rng.normal(size=(n // 8, 3)) * 1e-3  # short ones
    segments[n // 8 : n // 4, 5] = segments[n // 8 : n // 4, 2]  # flat ones
    rows_out, span_out = new(backend, n * 4, "i4"), new(backend, n * 2 * n_rows * 4, stages.raster)
    backend.launch_items(
        probe(backend, precision, "probe_spans"),
        n,
        n=n,
        screw_in=stages.screw_buffer,
        base=base,
        height=height,
        segment_in=backend.to_device(segments.reshape(-1)),
        n_rows=n_rows,
        rows_out=rows_out,
        span_out=span_out,
    )
    rows = backend.to_host(rows_out).reshape(n, 2, 2)
    span = backend.to_host(span_out).reshape(n, 2, n_rows, 4).astype(float)
    speed = np.hypot(w, g)
    wn, gn = w / speed, g / speed
    step = stages.raster.type(height)
    u = np.linspace(0, 1, 201)[:, None]
    checked = 0
    for i in range(n):
        p, q = segments[i, :3].astype(float), segments[i, 3:].astype(float)
        x = p + u * (q - p)
        if kappa > 0 and np.hypot(kappa * x[:, 0], 1 + kappa * x[:, 2]).min() < 0.05:
            continue  # too near the axis for a row: s02 gives those all of it
        rho, psi = exact_rho(x[:, 0], x[:, 2], kappa), exact_arc(x[:, 0], x[:, 2], kappa)
        psi = np.unwrap(psi, period=2 * np.pi / kappa) if kappa > 1e-6 else psi
        h, l = wn * x[:, 1] - gn * psi, gn * x[:, 1] + wn * psi
        row = np.floor((rho - base) / step).astype(int)
        inside = (row >= 0) & (row < n_rows)
        held = np.zeros(len(u), bool)
        for branch in range(2):
            lo, hi = rows[i, branch]
            if lo < 0:
                assert np.isnan(span[i, branch]).all()
                continue
            s = span[i, branch, np.clip(row, 0, n_rows - 1)]
            with np.errstate(invalid="ignore"):
                held |= (s[:, 0] <= h) & (h <= s[:, 1]) & (s[:, 2] <= l) & (l <= s[:, 3])
        assert held[inside].all()
        checked += inside.sum()
    assert checked > 20000


@pytest.mark.shared_bits("tests/narrow_phase/test_s02_facing.py")
@pytest.mark.parametrize("resolution", [0.5, 2.0, 12.0])
@pytest.mark.parametrize("precision", ["mixed", "double"])
@pytest.mark.parametrize("family", ["random_cars", "random_nonconvex", "axis_through_both", "to_180"])
def test_rows_of_any_height_lose_nothing_and_add_nothing(family, precision, resolution, backend):
    """Row candidates hold every contact of the oracle, and are among those of the boxes. Touching edges share
    a row by rounding alone, so finer rows may still drop a pair that coarse ones propose, never a contact."""
    n = 50
    boxes = screened(backend, family, n, precision)
    rows = screened(backend, family, n, precision, RASTER, resolution)
    missing, expected = uncovered(rows, family, n, (C["GC_FV"], C["GC_VF"], C["GC_EE"]))
    assert not missing and expected > 20
    # many work-items look at boxes in another way, with bounds of their own
    assert rows.set() <= boxes.set() or backend.group_size > 1


def test_rows_so_fine_that_no_scratch_could_hold_them_are_made_higher(backend):
    """Two tori in rows so fine that their records would count 2**31 numbers and more: the height only changes
    the speed, so that rows are made higher until there are a few records a feature, and the answers of
    segments, whose rows are never stored, stay those that were asked for."""
    scene = scene_of("random_tori", 4)
    stages = Stages(backend, scene.bodies(), scene.pairs, "double")
    refine = int(C["GC_REFINE_SEGMENTS"])
    for resolution in (1e4, 4e5):
        found = stages.screen(RASTER, resolution, refine=refine, groups=1, room=(1 << 22, 1 << 22), todo=[2])
        assert not len(found.no_room) and not found.spilled
        exact = stages.s07(found).table()
        drawn = stages.s07(found, refine, resolution=resolution).table()
        assert len(drawn) == len(exact) > 0
        assert np.abs(np.sort(drawn.f4) - np.sort(exact.f4)).max() < 1e-6
