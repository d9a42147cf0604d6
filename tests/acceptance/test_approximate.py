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
from bench.checks import missed_share, nearest_meetings, pixel_side
from gpu_collide.scenes import random_impacts

N = 5000


@functools.cache
def impacts(shape):
    mesh = getattr(gc.shapes, shape)()
    return random_impacts(mesh, mesh, N, seed=3)


@functools.cache
def exact(shape, backend):
    """The proper contacts, and all."""
    return [gc.collide(*impacts(shape), min_properness=p, backend=backend) for p in (-0.1, -1.0)]


@functools.cache
def errors(shape, backend, refine, resolution):
    """(false share, missed share, median error in time, in place) against the exact contacts."""
    (bodies, pairs), (proper, wide) = impacts(shape), exact(shape, backend)
    rough = {"refine": refine, "resolution": resolution, "backend": backend}
    found = gc.collide(bodies, pairs, **rough)
    everything = gc.collide(bodies, pairs, min_properness=-1.0, **rough)
    pixel = pixel_side(bodies, pairs, resolution) if refine == "pixels" else None
    known, apart, away = nearest_meetings(found, wide)
    edges = found.kind[known] == gc.Kind.EE
    missed = missed_share(everything, proper, pixel)
    return np.mean(~known), missed, np.median(apart[edges]), np.median(away[edges])


# Seen at 6 rows a short edge, boxes and cars: segments 0.34 and 0.08 % false, 0.28 and 0.08 % missed; pixels
# 37 and 24 % false, 0.16 and 0.43 % missed (by names alone it would be a sixth).
@pytest.mark.parametrize(
    "refine, false_most, missed_most", [("segments", 0.008, 0.012), ("pixels", 0.5, 0.008)]
)
@pytest.mark.parametrize("shape", ["box", "car"])
def test_shares_of_false_and_missed(refine, false_most, missed_most, shape, backend):
    false, missed, _, _ = errors(shape, backend.kind, refine, 6)
    assert false <= false_most and missed <= missed_most


@pytest.mark.parametrize("refine, gain", [("segments", 3.0), ("pixels", 1.5)])
@pytest.mark.parametrize("shape", ["box", "car"])
def test_errors_fall_with_the_pixel(refine, gain, shape, backend):
    """Four times the rows: edges' times and places better by `gain` at least. Seen: 8 to 13 (segments, whose
    error goes with the square of the row) and 2.8 to 3.9 (pixels, where it goes with the pixel)."""
    coarse, middle, fine = (errors(shape, backend.kind, refine, rows) for rows in (3, 12, 48))
    for a, b in ((coarse, middle), (middle, fine)):
        assert b[2] * gain < a[2] and b[3] * gain < a[3]
    if refine == "pixels":
        assert fine[0] < middle[0] < coarse[0]
