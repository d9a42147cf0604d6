"""The elementary functions behind all stages: error against 50 digits, and the same bits everywhere."""

from decimal import Decimal, getcontext

import numpy as np
import pytest

from tests.narrow_phase._launch import C, cpu, new, probe, types

getcontext().prec = 50


def series(u, first, ratio):
    """sum of first * prod(-u / ratio(k)) in 50 digits."""
    term, total, k = Decimal(first), Decimal(first), 1
    while abs(term) > Decimal(10) ** -45:
        term *= -u / ratio(k)
        total += term
        k += 1
    return total


def arctan(x):
    """arctangent of a Decimal in [0, 1]: halved twice, then the series."""
    for _ in range(2):
        x = x / (1 + (1 + x * x).sqrt())
    total, power, k = Decimal(0), x, 0
    while abs(power) > Decimal(10) ** -48:
        total += (-1) ** k * power / (2 * k + 1)
        power *= x * x
        k += 1
    return 4 * total


def ulps(got, exact):
    unit = np.spacing(np.abs(np.array([float(e) for e in exact])).astype(got.dtype))
    error = [float(abs(Decimal(float(g)) - e)) for g, e in zip(got, exact, strict=True)]
    return np.max(np.array(error) / unit)


def real_functions(backend, precision, a, b):
    real, _ = types(precision)
    out = {k: new(backend, len(a), real) for k in ("sinc_out", "verc_out", "angle_out")}
    a, b = (backend.to_device(x.astype(real)) for x in (a, b))
    backend.launch_items(probe(backend, precision, "probe_real"), a.size, n=a.size, a_in=a, b_in=b, **out)
    return [backend.to_host(x) for x in out.values()]


@pytest.mark.parametrize("precision", ["double", "single"])
def test_sinc_and_verc(precision, backend):
    """Worst error seen on |a| <= 1.58: 1.04 ulp in float64, 0.81 in float32."""
    real, _ = types(precision)
    u = np.concatenate(
        [[0, 1e-300 if precision == "double" else 1e-37, 1e-12], np.linspace(0, 1.58, 81) ** 2]
    )
    u = u.astype(real)
    sinc, verc, _ = real_functions(backend, precision, u, np.ones(len(u)))
    exact = [Decimal(float(x)) for x in u]
    assert ulps(sinc, [series(x, 1, lambda k: (2 * k) * (2 * k + 1)) for x in exact]) < 2
    assert ulps(verc, [series(x, Decimal("0.5"), lambda k: (2 * k + 1) * (2 * k + 2)) for x in exact]) < 2
    assert (sinc[0], verc[0]) == (1, 0.5)


@pytest.mark.parametrize("precision", ["double", "single"])
def test_angle(precision, backend):
    """Angles from sine and cosine. Worst error seen: 2.2 ulp."""
    real, _ = types(precision)
    true = np.concatenate([10.0 ** np.arange(-15, 0), np.linspace(1e-3, np.pi / 2, 80)])
    s, c = np.sin(true).astype(real), np.cos(true).astype(real)
    c[-1] = 0
    _, _, angle = real_functions(backend, precision, s, c)
    half_pi = 2 * arctan(Decimal(1))
    exact = []
    for x, y in zip(s, c, strict=True):
        x, y = Decimal(float(x)), Decimal(float(y))
        exact.append(arctan(x / y) if x <= y else half_pi - arctan(y / x))
    assert ulps(angle, exact) < 5


SIZES = {"arc_out": 1, "rho_out": 1, "both_out": 2, "turn_out": 2}


def raster_functions(backend, precision, x, z, kappa):
    _, raster = types(precision)
    n = len(x)
    out = {k: new(backend, n * w, raster) for k, w in SIZES.items()}
    args = {
        k: backend.to_device(v.astype(raster)) for k, v in (("x_in", x), ("z_in", z), ("kappa_in", kappa))
    }
    backend.launch_items(probe(backend, precision, "probe_raster"), n, n=n, **args, **out)
    return [backend.to_host(v) for v in out.values()]


def points(rng, n, raster):
    """Points of the screw frame about one size from its origin, at curvatures down to none; rounded."""
    kappa = np.where(rng.random(n) < 0.1, 0.0, 10.0 ** rng.uniform(-14, 0, n)).astype(raster)
    x, z = rng.uniform(-3, 3, (2, n)).astype(raster)
    return x, z, kappa


def exact_arc(x, z, kappa):
    x, z, kappa = (np.asarray(v, np.longdouble) for v in (x, z, kappa))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(kappa > 0, np.arctan2(kappa * x, 1 + kappa * z) / kappa, x).astype(float)


def exact_rho(x, z, kappa):
    x, z, kappa = (np.asarray(v, np.longdouble) for v in (x, z, kappa))
    return ((kappa * (x * x + z * z) + 2 * z) / (1 + np.hypot(1 + kappa * z, kappa * x))).astype(float)


@pytest.mark.parametrize("precision", ["mixed", "double"])
def test_arc_and_rho_stay_inside_their_pad(precision, backend):
    """Screen coordinates, each by itself and both by one division, against long double, times the radius (the
    pad grows as 1/r). Worst seen: arc 7.5e-7 and rho 6.6e-7 in float32, 5.4e-12 and 9e-16 in float64;
    the pads are 6e-6 and 1e-9."""
    _, raster = types(precision)
    x, z, kappa = points(np.random.default_rng(1), 20000, raster)
    kr = np.hypot(1 + kappa.astype(float) * z, kappa.astype(float) * x)
    arc, rho, both, _ = raster_functions(backend, precision, x, z, kappa)
    arcs, rhos = np.column_stack((arc, both[0::2])).T, np.column_stack((rho, both[1::2])).T
    arc_error = np.abs(arcs - exact_arc(x, z, kappa))
    # opposite the frame's origin the arc jumps by a turn
    turn = np.where(kappa > 0, 2 * np.pi / np.maximum(kappa.astype(float), 1e-300), np.inf)
    arc_error = np.minimum(arc_error, np.abs(arc_error - turn))
    far = kr > C["GC_CULL_AXIS"]
    pad = C["GC_CULL_PAD"] if precision == "double" else 6e-6
    assert (arc_error * np.minimum(kr, 1))[:, far].max() < (pad / 4 if precision == "mixed" else pad / 40)
    assert np.abs(rhos - exact_rho(x, z, kappa)).max() < pad / 4


@pytest.mark.parametrize("precision", ["mixed", "double"])
def test_places_on_the_axis_are_numbers(precision, backend):
    """Where there is no azimuth, and beside it: an arc within a turn, and the rho of the axis."""
    _, raster = types(precision)
    steps = np.array([0, 1e-45, -1e-45, 1e-38, 1e-30, -1e-20, 1e-10, 1e-7, -1e-7])
    x, dz = (v.reshape(-1).astype(raster) for v in np.meshgrid(steps, steps))
    for kappa in (1.0, 0.5, 0.25):
        z = dz - np.array(1 / kappa, raster)
        arc, rho, both, _ = raster_functions(backend, precision, x, z, np.full(len(x), kappa))
        for arcs, rhos in ((arc, rho), (both[0::2], both[1::2])):
            assert (np.abs(arcs) <= 1.000001 * np.pi / kappa).all()
            assert np.abs(rhos + 1 / kappa - np.hypot(x, z + 1 / kappa)).max() < 1e-6


@pytest.mark.parametrize("precision", ["mixed", "double"])
def test_turned_directions(precision, backend):
    """Worst error of sine and cosine over half a turn: 1.5e-7 in float32, 7e-8 in float64 (the series
    ends)."""
    angle = np.linspace(-np.pi / 2, np.pi / 2, 1001)
    _, _, _, turned = raster_functions(backend, precision, angle, 0 * angle, 0 * angle)
    x, z = turned.reshape(-1, 2).T
    assert np.abs(x - np.cos(angle)).max() < 4e-7 and np.abs(z + np.sin(angle)).max() < 4e-7


@pytest.mark.parametrize("precision", ["mixed", "double", "single"])
def test_functions_have_the_same_bits_on_every_backend(precision, backend):
    rng = np.random.default_rng(2)
    real, raster = types(precision)
    t = rng.uniform(0, np.pi / 2, 5000)
    xz = points(rng, 5000, raster)
    mine, theirs = (
        [
            x.tobytes()
            for x in real_functions(be, precision, np.sin(t), np.cos(t))
            + raster_functions(be, precision, *xz)
        ]
        for be in (backend, cpu())
    )
    assert mine == theirs
