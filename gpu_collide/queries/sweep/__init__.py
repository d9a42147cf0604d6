"""Points, spheres, ellipsoids and clusters of spheres on straight paths through a world: what they touch.

T. Schroeder, "Collision Detection Using Ray Casting"; K. Fauerby, "Collision detection & Response".
"""

from __future__ import annotations

from gpu_collide._calls import old_names
from gpu_collide.bodies.casts import Cluster
from gpu_collide.queries.sweep.casts import clusters, ellipsoids, rays, spheres
from gpu_collide.queries.sweep.characters import planes, slide
from gpu_collide.queries.sweep.clipping import clip
from gpu_collide.results.hits import Feature, Hits
from gpu_collide.results.slides import ClippedVelocities, Planes, Slides

__all__ = [
    "ClippedVelocities", "Cluster", "Feature", "Hits", "Planes", "Slides", "clip", "clusters", "ellipsoids",
    "planes", "rays", "slide", "spheres",
]  # fmt: skip

__getattr__ = old_names("gpu_collide.sweep", {"Clipped": ClippedVelocities})
