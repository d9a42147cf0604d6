"""`segments` and `pixels`: how far they are from the exact answer, and that finer rows bring them nearer.

False is a reported contact whose features have no exact contact in the step, missed the reverse. With pixels
contacts at the pixel of a vertex stand for each other (docs/decisions/0015), so there a contact of the pair
within three pixels on both bodies is as good. A rough time turns directions a little, and properness with
them, so each side is looked up among all contacts of the other, whatever their properness.
`python -m bench sweep` draws more scenes by the same helpers (docs/images/sweep.png).
"""

import functools

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide.checks.bits import same_bits
from gpu_collide.scenes import random_impacts
from gpu_collide.study.accuracy import missed_share, nearest_meetings, pixel_side
from tests.acceptance import matrix

N = 5000  # for shares below one in a hundred
FEW = 2000  # for medians


@functools.cache
def impacts(shape, n):
    mesh = getattr(gc.shapes, shape)()
    return random_impacts(mesh, mesh, n, seed=3)


@functools.cache
def exact(shape, n, min_properness):
    return gc.collide(*impacts(shape, n), min_properness=min_properness, backend="cpu")


def errors(shape, n, refine, resolution):
    """(false share, median error in time, in place) against the exact contacts."""
    found = gc.collide(*impacts(shape, n), refine=refine, resolution=resolution, backend="cpu")
    known, apart, away = nearest_meetings(found, exact(shape, n, -1.0))
    edges = found.kind[known] == gc.Kind.EE
    return np.mean(~known), np.median(apart[edges]), np.median(away[edges])


def missed(shape, n, refine, resolution):
    """Share of the proper contacts that are missed."""
    rough = {"refine": refine, "resolution": resolution, "min_properness": -1.0, "backend": "cpu"}
    pixel = pixel_side(*impacts(shape, n), resolution) if refine == "pixels" else None
    return missed_share(gc.collide(*impacts(shape, n), **rough), exact(shape, n, -0.1), pixel)


# Seen at 6 rows a short edge, boxes and cars: segments 0.34 and 0.08 % false, 0.28 and 0.08 % missed; pixels
# 37 and 24 % false, 0.16 and 0.43 % missed (by names alone it would be a sixth).
@pytest.mark.parametrize(
    "refine, false_most, missed_most", [("segments", 0.008, 0.012), ("pixels", 0.5, 0.008)]
)
@pytest.mark.parametrize("shape", ["box", "car"])
@pytest.mark.backends("cpu")  # the others have its bits, as the last test shows
def test_shares_of_false_and_missed(refine, false_most, missed_most, shape, backend):
    assert errors(shape, N, refine, 6)[0] <= false_most
    assert missed(shape, N, refine, 6) <= missed_most


@pytest.mark.backends("cpu")
@pytest.mark.parametrize("refine, gain", [("segments", 3.0), ("pixels", 1.5)])
@pytest.mark.parametrize("shape", ["box", "car"])
def test_errors_fall_with_the_pixel(refine, gain, shape, backend):
    """Four times the rows: edges' times and places better by `gain` at least. Seen: 8 to 13 (segments, whose
    error goes with the square of the row) and 2.8 to 3.9 (pixels, where it goes with the pixel)."""
    coarse, middle, fine = (errors(shape, FEW, refine, rows) for rows in (3, 12, 48))
    for a, b in ((coarse, middle), (middle, fine)):
        assert b[1] * gain < a[1] and b[2] * gain < a[2]
    if refine == "pixels":
        assert fine[0] < middle[0] < coarse[0]


@pytest.mark.parametrize("refine", ["segments", "pixels"])
@pytest.mark.parametrize("shape", ["box", "car"])
@pytest.mark.backends("opencl", "cuda")
def test_the_bits_of_cpu(refine, shape, backend):
    for rows in (3, 6, 12, 48):
        rough = {"refine": refine, "resolution": rows, "min_properness": -1.0}
        one, two = (gc.collide(*impacts(shape, 300), backend=b, **rough) for b in ("cpu", backend.kind))
        assert len(one) and not matrix.same_bits(one, two)


@pytest.mark.parametrize("rows", [{"pixel_size": 1e40}, {"pixel_size": 1e300}, {"resolution": 1e-305}])
@pytest.mark.parametrize("refine", ["segments", "pixels"])
def test_pixels_of_any_size_lose_nothing(refine, rows, backend):
    """Squares of heights above 1e154 are infinite: pixels of 1e100 made each pair a MISS."""
    rng = np.random.default_rng(0)
    start = rng.integers(-3, 4, (20, 3))
    poses = [
        gc.Poses.from_quat_wxyz(p, [[1, 0, 0, 0]] * 20) for p in (start, start + rng.integers(-4, 5, (20, 3)))
    ]
    bodies = gc.Bodies(gc.shapes.car(), None, *poses)
    pairs = [(i, j) for i in range(20) for j in range(i)]
    wide, endless = (
        gc.collide(bodies, pairs, refine=refine, backend=backend.kind, **size).to_numpy()
        for size in ({"pixel_size": 1e4}, rows)
    )
    assert len(wide) > 10
    for name in ("pair", "kind", "feature_a", "feature_b", "status"):
        assert np.array_equal(getattr(wide, name), getattr(endless, name)), name


@pytest.mark.parametrize("refine", ["segments", "pixels"])
@pytest.mark.parametrize("rows", [1, 12])
def test_boxes_and_rows_propose_the_same(refine, rows, backend):
    """`candidates="pairs"` was refused with these modes. They answer for the two features alone, whoever
    proposes them: boxes (`pairs`, and what `auto` takes of meshes this small) or rows."""
    rough = {"refine": refine, "resolution": rows, "min_properness": -1.0, "backend": backend.kind}
    for shape, n in (("box", 60), ("car", 60), ("torus", 6)):
        if backend.kind == "reference":
            n = min(n, 4)
        found = [
            gc.collide(*impacts(shape, n), tuning=gc.Tuning(candidates=way), **rough)
            for way in ("auto", "pairs", "raster")
        ]
        assert len(found[0]) > 0
        assert [same_bits(found[0], other) for other in found[1:]] == [[], []]
