"""Seeded scenes for demo, benchmarks and tests: pairs about to meet, a race, worlds of traffic."""

from gpu_collide.scenes.impacts import fast_pass, mean_shadow_area, random_impacts, spins, translations
from gpu_collide.scenes.track import demo_race, tiled
from gpu_collide.scenes.traffic import BARRIER, CAR, GROUND, WALL, ground, worlds

__all__ = [
    "BARRIER", "CAR", "GROUND", "WALL", "demo_race", "fast_pass", "ground", "mean_shadow_area",
    "random_impacts", "spins", "tiled", "translations", "worlds",
]  # fmt: skip
