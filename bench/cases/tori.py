"""Random impacts of tori, in every mode and resolution."""

from __future__ import annotations

import gpu_collide as gc
from bench.screw_rates import rate_shape
from bench.settings import Settings

NAME = "tori"
HELP = "random impacts of two tori: exact, segments and pixels at 6, 12 and 24 rows per short edge"


def run(settings: Settings) -> None:
    rate_shape(NAME, gc.shapes.torus(), settings, full=2000, sample=100, by_reference=2)
