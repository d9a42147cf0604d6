"""What the chord of an edge says of it (gc_chords.h) holds of the edge itself, in 50 digits."""

import mpmath as mp
import numpy as np
import pytest

from gpu_collide.backends import sources
from tests.narrow_phase._launch import probe, types
from tests.narrow_phase.test_chords_hostile import KINDS, edge

pytestmark = pytest.mark.shared_bits("tests/acceptance/test_stored_bits.py")

SCREW, CHORD = sources.record("screw"), sources.record("chord")
#: Places along an edge: its ends, its middle, and where a parabola and a chord of an arc part most.
PLACES = (0.0, 1e-6, 0.147, 0.25, 0.5, 0.75, 0.853, 1.0)
#: theta, kappa and pitch: none of any, nearly none, half a turn, an axis near and far, more way than turn.
MOTIONS = (
    (0.0, 0.0, 0.0), (1e-12, 1e-12, 0.0), (1e-12, 0.7, 0.3), (1e-3, 1e-3, 1e-9), (0.03, 0.61, 0.02),
    (np.pi, 1.0, 0.0), (np.pi, 0.93, 300.0), (1.0, 1e-8, 0.0), (2.0, 1.9, -1.0),
)  # fmt: skip


def chords(backend, precision, motion, ends, parts):
    """Chords of edges (n, 6), of their parts (n, 2); and the pad there is."""
    real, raster = types(precision)
    theta, kappa, pitch = motion
    n, w = len(ends), theta / kappa if kappa else 1.0
    speed = np.hypot(w, pitch)
    screw = np.zeros(SCREW.stride, real)
    given = {"theta": theta, "w": w, "g": pitch, "kappa": kappa, "speed": speed, "size": 1.0}
    for name, value in given.items():
        screw[SCREW[name]] = value
    box = np.zeros((n, sources.record("list").stride), raster)
    box[:, -2:] = parts
    out = backend.fill(backend.empty(n * CHORD.stride, raster), np.nan)
    backend.launch_items(
        probe(backend, precision, "probe_chords"),
        n,
        n=n,
        screw_in=backend.to_device(screw),
        ends_in=backend.to_device(ends.reshape(-1)),
        topology_in=backend.to_device(np.arange(2, dtype=np.int32)),
        id=backend.to_device(np.tile(np.array([0, 0, 1], np.int32), n)),
        box=backend.to_device(box.reshape(-1)),
        placed=backend.empty(8 * n, raster),
        rho=backend.empty(2 * n, raster),
        chord_out=out,
    )
    pad = sources.constants(precision)["GC_CULL_PAD"] * (1 + speed)
    return backend.to_host(out).reshape(n, -1).astype(float), pad, speed


def on_screen(motion, start, point):
    """rho, eta and lambda of a point, its azimuth taken the short way from that of `start`."""
    theta, kappa, pitch = map(mp.mpf, motion)
    w = theta / kappa if kappa else mp.mpf(1)
    speed = mp.sqrt(w * w + pitch * pitch)
    x, y, z = point
    s0, c0 = kappa * start[0], 1 + kappa * start[2]
    s, c = kappa * x, 1 + kappa * z
    rho = (kappa * (x * x + z * z) + 2 * z) / (1 + mp.sqrt(s * s + c * c))
    psi = x
    if kappa:
        psi = (mp.atan2(s0, c0) + mp.atan2(s * c0 - c * s0, c * c0 + s * s0)) / kappa
    return rho, (w * y - pitch * psi) / speed, (pitch * y + w * psi) / speed


def least_margin(motion, ends, part, chord, pad, ways):
    """The least by which a bound is more than what it bounds, in pads."""
    c = {name: mp.mpf(float(chord[at])) for name, at in CHORD.offsets.items()}
    first, last = ([mp.mpf(float(x)) for x in end] for end in (ends[:3], ends[3:]))
    from_, way = mp.mpf(float(part[0])), mp.mpf(float(part[1])) - mp.mpf(float(part[0]))
    along = [b - a for a, b in zip(first, last, strict=True)]
    start = [a + from_ * d for a, d in zip(first, along, strict=True)]
    _, eta0, lambda0 = on_screen(motion, start, start)
    wn, gn = (mp.mpf(float(x)) for x in ways)
    turns = 0  # on the cut of the angle the kernel may be on its other side
    if motion[1]:
        period = 2 * mp.pi / mp.mpf(motion[1])
        turns = mp.nint((wn * (c["l"] - lambda0) - gn * (c["h"] - eta0)) / period) * period
    least = mp.inf
    for u in map(mp.mpf, PLACES):
        point = [a + (from_ + u * way) * d for a, d in zip(first, along, strict=True)]
        rho, eta, lam = on_screen(motion, start, point)
        off = {
            "er": rho - (c["r"] + u * c["dr"] - 4 * c["dip"] * u * (1 - u)),
            "eh": eta - gn * turns - (c["h"] + u * c["dh"]),
            "el": lam + wn * turns - (c["l"] + u * c["dl"]),
        }
        least = min(least, *((c[name] - abs(value)) / pad for name, value in off.items()))
    return float(least)


def edges_about(rng, kappa, n):
    """Ends of edges about the axis at z = -1/kappa, or beside the origin if that is far."""
    ends = []
    for kind in rng.choice(KINDS, n):
        a, b = (0.5 * np.clip(x, -1, 1) for x in edge(rng, kind, 10 ** rng.choice([0.0, -0.5, -2.0])))
        shift = np.array([0, 0, -1 / kappa if kappa > 0.5 else 0.0])
        ends.append(np.concatenate([a + shift, b + shift]))
    return np.array(ends)


@pytest.mark.backends("cpu", "opencl")
@pytest.mark.parametrize("motion", MOTIONS, ids=lambda m: "turn {:g} kappa {:g} pitch {:g}".format(*m))
@pytest.mark.parametrize("precision", ["mixed", "double"])
def test_an_edge_is_where_its_chord_says(precision, motion, backend):
    """Least that a climb towards it found: 0.65 of a pad, with ends that were off by their rounding."""
    rng = np.random.default_rng(5)
    n = 24
    ends = edges_about(rng, motion[1], n).astype(types(precision)[1])
    parts = np.tile([0.0, 1.0], (n, 1))
    parts[::4] = np.sort(rng.uniform(0, 1, (len(parts[::4]), 2)), axis=1)
    parts = parts.astype(types(precision)[1])
    found, pad, speed = chords(backend, precision, motion, ends, parts)
    w = motion[0] / motion[1] if motion[1] else 1.0
    ways = w / speed, motion[2] / speed
    have = np.flatnonzero(found[:, CHORD["er"]] >= 0)
    assert len(have) > n / 4 and not np.isnan(found[have]).any()
    with mp.workdps(50):
        margins = [least_margin(motion, ends[i], parts[i], found[i], pad, ways) for i in have]
    assert min(margins) > 0.5
