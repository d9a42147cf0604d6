"""Sines, cosines and angles: right to the last place, and the same bits with every NumPy and C library."""

import hashlib

import numpy as np
import pytest
from mpmath import mp, mpf

import gpu_collide as gc
from gpu_collide.bodies.quaternion import between, multiply, turn_vector, turned_by
from gpu_collide.geometry.arrays.angles import angle_of, sine_cosine

RNG = np.random.default_rng(0)
ANGLES = {
    "small": RNG.uniform(-1, 1, 3000) * 10.0 ** RNG.uniform(-12, 0, 3000),
    "turns": RNG.uniform(-7, 7, 3000),
    "many turns": RNG.uniform(-1.6e6, 1.6e6, 3000),
    "quarters": np.arange(-300, 300) * (np.pi / 2),
    "beside quarters": np.nextafter(np.arange(-300, 300) * (np.pi / 2), 9),
    "degrees": np.radians(np.arange(-720, 721)),
}

QUATS = RNG.normal(size=(2, 500, 4))


def places(found, exact):
    """By how many units in the last place numbers are off, at most."""
    with mp.workprec(160):
        unit = [mpf(float(np.spacing(abs(float(e))))) for e in exact]
        off = [abs(mpf(float(f)) - e) / u for f, e, u in zip(found, exact, unit, strict=True)]
        return float(max(off))


@pytest.mark.parametrize("name", ANGLES)
def test_within_one_unit_in_the_last_place(name):
    """Measured: 0.77, of 40,000 up to a turn; 0.75 of 20,000 up to a million radians."""
    x = ANGLES[name]
    sine, cosine = sine_cosine(x)
    with mp.workprec(160):
        exact = [(mp.sin(mpf(float(v))), mp.cos(mpf(float(v)))) for v in x]
    assert places(sine, [s for s, _ in exact]) < 1 and places(cosine, [c for _, c in exact]) < 1


def test_ends():
    sine, cosine = sine_cosine(np.array([0.0, -0.0, np.nan, np.inf, -np.inf, 1e9, 2.0**1000]))
    assert sine[:2].tolist() == [0, 0] and cosine[:2].tolist() == [1, 1]
    assert np.isnan(sine[2:5]).all() and np.isnan(cosine[2:5]).all()
    assert abs(sine[5] - 0.5458434494486996) < 1e-15 and np.isfinite(sine[6]) and np.isfinite(cosine[6])
    half, none = sine_cosine(np.pi / 6)
    assert half.shape == none.shape == () and abs(half - 0.5) < 1e-16
    assert sine_cosine(np.zeros((0, 3)))[0].shape == (0, 3)


def test_angles_of_sines_and_cosines():
    """Measured: 3.6 units in the last place."""
    x = RNG.uniform(0, np.pi / 2, 3000)
    sine, cosine = np.sin(x) * 10.0 ** RNG.uniform(-9, 0, 3000), np.cos(x) * 10.0 ** RNG.uniform(-9, 0, 3000)
    with mp.workprec(160):
        exact = [mp.atan2(mpf(float(s)), mpf(float(c))) for s, c in zip(sine, cosine, strict=True)]
    assert places(angle_of(sine, cosine), exact) < 5
    ends = angle_of(np.array([0.0, 0.0, 1.0]), np.array([0.0, 1.0, 0.0]))
    assert ends[:2].tolist() == [0, 0] and abs(ends[2] - np.pi / 2) < 1e-15


def test_turns_lead_from_one_orientation_to_the_other():
    a, b = (gc.Poses.from_quat_wxyz(np.zeros((500, 3)), q / np.sqrt((q * q).sum(1))[:, None]) for q in QUATS)
    turn = turn_vector(a.unit_wxyz, b.unit_wxyz)
    led = multiply(turned_by(turn), a.unit_wxyz)
    assert np.abs(np.abs((led * b.unit_wxyz).sum(axis=1)) - 1).max() < 1e-15
    half = between(a.unit_wxyz, b.unit_wxyz, 0.5)
    assert np.abs(turn_vector(a.unit_wxyz, half) - 0.5 * turn).max() < 2e-15
    assert turned_by(np.zeros((1, 3))).tolist() == [[1, 0, 0, 0]]


def test_the_same_bits_everywhere():
    """What NumPy's own sine made of a turn's angle differed from NumPy 1.24 to 2.4, and so did contacts."""
    made = list(sine_cosine(np.arange(-9999, 9999) / 1024.0))
    made += [gc.shapes.torus().vertices, gc.shapes.star().vertices]
    turned = gc.Poses.from_screw([1, 2, 3], [0.5, 0, 0.25], np.arange(64) / 8, pitch=0.5)
    made += [turned.position, turned.quat_wxyz, turn_vector(turned.unit_wxyz[:-1], turned.unit_wxyz[1:])]
    sha = hashlib.sha256(b"".join(np.ascontiguousarray(x).tobytes() for x in made))
    assert sha.hexdigest()[:16] == "add4a36b60a205bd"
