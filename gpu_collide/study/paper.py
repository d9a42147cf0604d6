"""Numbers of S. R. Buss, "Collision Detection with Relative Screw Motion" (2005), to compare with."""

from __future__ import annotations

import math

from gpu_collide.bodies.motion import chord_error

__all__ = ["ESTIMATES", "RESOLUTIONS", "TIMES", "estimates"]

#: Section 9.1: pixels per typical short edge at its low, medium and high resolution.
RESOLUTIONS = {"low": 6.0, "medium": 12.0, "high": 24.0}
#: Section 9.1: microseconds a pair on a Pentium IV of 2.4 GHz, at those.
TIMES = {
    "cubes": (56.0, 63.0, 77.0),
    "cars": (109.0, 128.0, 170.0),
    "tori": (2040.0, 2560.0, 3480.0),
}
#: Section 4.3: degrees to the error as printed. It is a fraction, although the column says percent, and the
#: first should be 0.128.
ESTIMATES = {60: 0.173, 45: 0.097, 30: 0.065, 20: 0.044, 10: 0.022, 5: 0.011}


def estimates() -> list[tuple[int, float, float]]:
    """The table of section 4.3: degrees, the error by formula (5), and as printed."""
    return [(degrees, float(chord_error(math.radians(degrees))), said) for degrees, said in ESTIMATES.items()]
