"""Random impacts of cubes, in every mode and resolution."""

from __future__ import annotations

import gpu_collide as gc
from bench.screw_rates import rate_shape
from bench.settings import Settings

NAME = "cubes"
HELP = "random impacts of two cubes: exact, segments and pixels at 6, 12 and 24 rows per short edge"


def run(settings: Settings) -> None:
    rate_shape(NAME, gc.shapes.box(), settings, full=100000, sample=2000, by_reference=100)
