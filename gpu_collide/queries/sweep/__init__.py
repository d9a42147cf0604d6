"""Points, spheres, ellipsoids and clusters of spheres on straight paths through a world: what they touch.

T. Schroeder, "Collision Detection Using Ray Casting"; K. Fauerby, "Collision detection & Response".
"""

from __future__ import annotations

from gpu_collide.bodies.casts import Cluster
from gpu_collide.queries.sweep.casts import clusters, ellipsoids, rays, spheres
from gpu_collide.results.hits import Feature, Hits

__all__ = ["Cluster", "Feature", "Hits", "clusters", "ellipsoids", "rays", "spheres"]
