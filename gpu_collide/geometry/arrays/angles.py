"""Sines, cosines and angles with the same bits on every machine.

NumPy's own differ in the last bit between its versions, between processors and between C libraries, and what
is made of them (a turn about an axis, a torus) would differ with them. These are sums, products, quotients
and square roots in a fixed order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from gpu_collide._types import Array

__all__ = ["angle_of", "sine_cosine"]

_BLOCK = 8192  # angles at a time, whose intermediate results stay in the cache
_MOST = 1.6e6  # radians: products of so many quarters of a turn with the first two parts below are exact
# a quarter of a turn in three parts, the first two of 33 bits
_QUARTER = (1.5707963267341256, 6.077100506303966e-11, 2.0222662487959506e-21)
# (sin(r) - r)/r^3 and (cos(r) - 1 + r^2/2)/r^4 in powers of r^2: Taylor, 1e-19 off at an eighth of a turn
_SINE = (-1 / 6, 1 / 120, -1 / 5040, 1 / 362880, -1 / 39916800, 1 / 6227020800, -1 / 1307674368000,
         1 / 355687428096000)  # fmt: skip
_COSINE = (1 / 24, -1 / 720, 1 / 40320, -1 / 3628800, 1 / 479001600, -1 / 87178291200, 1 / 20922789888000,
           -1 / 6402373705728000)  # fmt: skip
# arctan(r)/r in powers of r^2 up to tan(pi/8), as kernels have it (gc_angle): 1.3e-18 off at most
_ARC = (0.999999999999999999, -0.333333333333331209, 0.199999999999408373, -0.142857142792449685,
        0.111111107446570996, -0.0909089680147281344, 0.0769204519456148147, -0.0666295024603679127,
        0.0584686675227513898, -0.0503504979531243932, 0.037963903161110833,
        -0.0178038963948125632)  # fmt: skip


def sine_cosine(angle: ArrayLike) -> tuple[Array, Array]:
    """Sine and cosine of angles in radians, (...) float64 both, within 1 unit in the last place.

    Beyond some 1.6 million radians they are NumPy's, and NaN of what is not finite.
    """
    x = np.asarray(angle, np.float64)
    flat, sine, cosine = x.ravel(), np.empty(x.size), np.empty(x.size)
    for at in range(0, x.size, _BLOCK):
        block = slice(at, at + _BLOCK)
        sine[block], cosine[block] = _some(flat[block])
    return sine.reshape(x.shape), cosine.reshape(x.shape)


def _some(x: Array) -> tuple[Array, Array]:
    far = ~(np.abs(x) < _MOST)
    if far.any():
        with np.errstate(invalid="ignore"):
            sine, cosine = np.sin(x), np.cos(x)
        sine[~far], cosine[~far] = _some(x[~far])
        return sine, cosine
    quarters = np.rint(x * (2 / np.pi))
    # what is left of the angle, and what its rounding left out; the products are exact
    one, two = x - quarters * _QUARTER[0], quarters * _QUARTER[1]
    left = one - two
    lost = ((one - left) - two) - quarters * _QUARTER[2]
    r = left + lost
    low = (left - r) + lost
    u = r * r
    half = 0.5 * u
    sine = r + (r * u * _sum(_SINE, u) + low * (1.0 - half))
    rest = 1.0 - half
    cosine = rest + ((((1.0 - rest) - half) + u * u * _sum(_COSINE, u)) - r * low)
    turned = quarters.astype(np.int64) & 3
    odd = (turned & 1).astype(bool)
    return (
        np.where(odd, cosine, sine) * np.array([1.0, 1.0, -1.0, -1.0])[turned],
        np.where(odd, sine, cosine) * np.array([1.0, -1.0, -1.0, 1.0])[turned],
    )


def angle_of(sine: Array, cosine: Array) -> Array:
    """The angle in [0, pi/2] of two numbers >= 0 in the ratio of its sine and cosine, within 4 units in the
    last place; 0 if both are 0."""
    reach = np.sqrt(sine * sine + cosine * cosine)
    none = reach == 0
    t = sine / np.where(none, 1.0, cosine + reach)
    r = t / (1.0 + np.sqrt(1.0 + t * t))
    return 4.0 * r * _sum(_ARC, r * r)


def _sum(factors: tuple[float, ...], u: Array) -> Array:
    total = np.full_like(u, factors[-1])
    for factor in factors[-2::-1]:
        total = total * u + factor
    return total
