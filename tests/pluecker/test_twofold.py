"""Twice the digits (gc_twofold.h): sums and products without an error, the rest nearly so."""

from fractions import Fraction
from functools import lru_cache
from pathlib import Path

import mpmath as mp
import numpy as np
import pytest

from tests.pluecker import _exact as judge
from tests.support.probes import with_probes

pytestmark = pytest.mark.shared_bits("tests/acceptance/test_stored_bits.py")

PROBE = Path(__file__).parent / "probe_twofold.c"


@lru_cache(maxsize=1)
def text():
    return with_probes([PROBE])


def real(precision):
    return np.dtype("f4" if precision == "single" else "f8")


def run(backend, precision, name, inputs, outputs):
    n = len(next(iter(inputs.values())))
    dtype = real(precision)
    buffers = {k: backend.to_device(np.ascontiguousarray(a, dtype).reshape(-1)) for k, a in inputs.items()}
    out = {k: backend.fill(backend.empty(n * width, dtype), np.nan) for k, width in outputs.items()}
    kernel = backend.compile(text(), precision).kernel(name)
    backend.launch_items(kernel, n, n=n, **buffers, **out)
    return {k: backend.to_host(buffer).astype(float).reshape(n, -1) for k, buffer in out.items()}


def pairs(rng, n, dtype):
    """Numbers of two parts, of many sizes, some of them nearly opposite or with few digits."""
    hi = rng.uniform(-1, 1, (2, n)) * 2.0 ** rng.integers(-12, 13, (2, n))
    hi[:, ::5] = np.round(hi[:, ::5])
    hi[1, ::7] = -hi[0, ::7] * (1 + rng.integers(-3, 4, hi[0, ::7].shape) * np.finfo(dtype).eps)
    hi = hi.astype(dtype)
    hi[1][hi[1] == 0] = 1
    lo = rng.uniform(-0.5, 0.5, (2, n)) * np.spacing(np.abs(hi).astype(dtype))
    return np.stack([hi, lo.astype(dtype)], axis=-1).astype(float)


@pytest.mark.parametrize("precision", ["mixed", "single"])
def test_arithmetic(precision, backend):
    """Worst errors seen, in squares of the unit of rounding, of 20,000 each: sums 0.52 of the larger operand,
    products 0.78, roots 0.73; ratios 0.50 units."""
    dtype = real(precision)
    n = 400
    a, b = pairs(np.random.default_rng(1), n, dtype)
    got = run(backend, precision, "probe_twofold", {"a_in": a, "b_in": b}, {"exact_out": 4, "result_out": 10})
    square = Fraction(float(np.finfo(dtype).eps)) ** 2
    for k in range(n):
        x, y = (sum(map(Fraction, pair)) for pair in (a[k], b[k]))
        p, q = Fraction(a[k, 0]), Fraction(b[k, 0])
        total, product = (sum(map(Fraction, pair)) for pair in got["exact_out"][k].reshape(2, 2))
        assert total == p + q and product == p * q
        add, less, times, root, ratio = (
            sum(map(Fraction, pair)) for pair in got["result_out"][k].reshape(5, 2)
        )
        most = max(abs(x), abs(y)) * square
        assert abs(add - (x + y)) <= 2 * most and abs(less - (x - y)) <= 2 * most
        assert abs(times - x * y) <= 4 * square * abs(x * y)
        assert abs(root - abs(x)) <= 4 * square * abs(x)
        assert abs(ratio - x / y) <= Fraction(float(np.finfo(dtype).eps)) * abs(x / y)


@pytest.mark.parametrize("precision", ["mixed", "single"])
def test_vectors(precision, backend):
    """A side that is almost zero has its digits, a unit vector has length one, slivers have normals.

    Worst seen, of 6,000 each: side 1.0 and length 4.6 squares of the unit of rounding; normals 1.2 units."""
    dtype = real(precision)
    rng = np.random.default_rng(2)
    n = 200
    eps = float(np.finfo(dtype).eps)
    a = rng.uniform(-1, 1, (n, 3)).astype(dtype)
    b = rng.uniform(-1, 1, (n, 3)).astype(dtype)
    c = rng.normal(size=(n, 3))
    c = (c / np.linalg.norm(c, axis=1, keepdims=True)).astype(dtype)
    outputs = {"side_out": 2, "unit_out": 6, "normal_out": 3}
    got = run(backend, precision, "probe_vectors", {"a_in": a, "b_in": b, "c_in": c}, outputs)
    for k in range(n):
        x, y, z = (judge.exact(v[k]) for v in (a, b, c))
        r = judge.sub(y, x)
        side = judge.dot(r, judge.along(judge.cross(r, z), judge.cross(x, z), 1))
        assert abs(sum(map(Fraction, got["side_out"][k])) - side) <= 8 * Fraction(eps) ** 2
        unit = [sum(map(Fraction, pair)) for pair in got["unit_out"][k].reshape(3, 2)]
        assert abs(judge.dot(unit, unit) - 1) <= 16 * Fraction(eps) ** 2
    with mp.workdps(judge.DIGITS):
        for height in (1, 1e-3, 1e3 * eps):
            d = (a + 0.4 * (b - a) + height * np.cross(b - a, c)).astype(dtype)
            normal = run(backend, precision, "probe_vectors", {"a_in": a, "b_in": b, "c_in": d}, outputs)[
                "normal_out"
            ]
            for k in range(0, n, 7):
                x, y, z = (judge.number(v[k]) for v in (a, b, d))
                true = judge.cross(judge.sub(y, x), judge.sub(z, x))
                off = judge.sub(judge.number(normal[k]), [t / judge.length(true) for t in true])
                assert max(abs(t) for t in off) <= 2 * eps
    none = run(backend, precision, "probe_vectors", {"a_in": a, "b_in": b, "c_in": b}, outputs)["normal_out"]
    assert (none == 0).all()
