"""Particles dropped on a race track, and a car of spheres along it: ``python examples/drop.py [PARTICLES]``.

A million points fall on the triangles of a made-up circuit, blown sideways by some wind; then a car made of
eight spheres stands at many places and orientations over the same track, and is let down onto it. Both are
one call of `gc.sweep`.
"""

import argparse
import time

import numpy as np

import gpu_collide as gc
from gpu_collide.scenes import demo_race


def track():
    """The track as a world at rest, prepared once."""
    race = demo_race()
    mesh = gc.Mesh(race["track_vertices"], race["track_faces"], two_sided=True)
    return gc.Scene(mesh, None, gc.Poses.identity(1)), mesh


def car():
    """A car as a cluster: four spheres along each side."""
    x, y = np.meshgrid([-1.5, -0.5, 0.5, 1.5], [-0.5, 0.5])
    return gc.sweep.Cluster(np.c_[x.ravel(), y.ravel(), np.zeros(8)], 0.5)


def above(mesh, n, rng, height):
    """Places over the track's faces."""
    corner = mesh.vertices[rng.integers(0, len(mesh.vertices), n)]
    return corner + np.c_[rng.normal(0, 2, (n, 2)), height + rng.uniform(0, 1, n)]


def told(what, found, begun):
    seconds = time.perf_counter() - begun
    kinds = np.bincount(found.feature, minlength=4)
    words = ", ".join(f"{kinds[f]} {f.name.lower()}" for f in gc.sweep.Feature if kinds[f])
    print(f"{len(found)} {what}: {words}; {len(found) / seconds / 1e6:.2f} million a second")


def main(n=1_000_000):
    rng = np.random.default_rng(0)
    world, mesh = track()
    start, fall = above(mesh, n, rng, 5.0), np.array([3.0, 1.0, -12.0])
    gc.sweep.rays(start[:1], fall, world)  # so that compiling is not in the time
    begun = time.perf_counter()
    told("particles", gc.sweep.rays(start, fall, world), begun)

    k = max(n // 50, 1)
    start, angle = above(mesh, k, rng, 2.0), rng.uniform(0, 2 * np.pi, k)
    quat = np.c_[np.cos(angle / 2), np.zeros((k, 2)), np.sin(angle / 2)]
    begun = time.perf_counter()
    found = gc.sweep.clusters(car(), start, [0, 0, -8.0], world, orientation=quat, buffer=0.01)
    told("cars", found, begun)
    stands = start + found.time[:, None] * [0, 0, -8.0]
    again = gc.sweep.clusters(car(), stands, [0, 0, -1e-3], world, orientation=quat)
    print(f"let down by another millimetre, {again.hit.sum()} of them touch: those that began in the track")
    return found, again


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "particles", nargs="?", type=int, default=1_000_000, help="how many particles (default: 1,000,000)"
    )
    main(parser.parse_args().particles)
