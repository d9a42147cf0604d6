"""Random impacts of cars, in every mode and resolution."""

from __future__ import annotations

import gpu_collide as gc
from bench.screw_rates import rate_shape
from bench.settings import Settings

NAME = "cars"
HELP = "random impacts of two cars: exact, segments and pixels at 6, 12 and 24 rows per short edge"


def run(settings: Settings) -> None:
    rate_shape(NAME, gc.shapes.car(), settings, full=100000, sample=2000, by_reference=50)
