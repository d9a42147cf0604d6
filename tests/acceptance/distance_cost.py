"""What contacts at a distance cost beside contacts: microseconds of one core a pair, by turns.

python -m tests.acceptance.distance_cost [--pairs 2000] [--repeats 3]
"""

import argparse
import time

import numpy as np

import gpu_collide as gc

TURN, SHARES = 0.5, (0.0, 0.05, 0.3)


def scene(mesh, n, rng):
    """Pairs of bodies that fly into each other, both turned at random, each turning by about `TURN`."""
    first = rng.normal(size=(2 * n, 4))
    first /= np.linalg.norm(first, axis=1)[:, None]
    axis = rng.normal(size=(2 * n, 3))
    axis *= np.sin(TURN / 2) / np.linalg.norm(axis, axis=1)[:, None]
    w, (x, y, z) = np.full(2 * n, np.cos(TURN / 2)), axis.T
    a, b, c, d = first.T
    last = np.stack(
        [
            w * a - x * b - y * c - z * d, w * b + x * a + y * d - z * c,
            w * c - x * d + y * a + z * b, w * d + x * c - y * b + z * a,
        ],
        axis=1,
    )  # fmt: skip
    way = rng.normal(size=(n, 3))
    way /= np.linalg.norm(way, axis=1)[:, None]
    aside = np.cross(way, rng.normal(size=(n, 3)))
    aside *= rng.uniform(0, 1.6 * mesh.radius, n)[:, None] / np.linalg.norm(aside, axis=1)[:, None]
    start, end = np.zeros((2, 2 * n, 3))
    start[1::2] = aside - 2.5 * mesh.radius * way
    end[1::2] = aside + mesh.radius * rng.uniform(0, 2.5, n)[:, None] * way
    poses = (gc.Poses.from_quat_wxyz(p, q) for p, q in ((start, first), (end, last)))
    return gc.Bodies(mesh, None, *poses), np.arange(2 * n).reshape(-1, 2)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=2000)
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args()
    rng = np.random.default_rng(3)
    for name, mesh, n in (
        ("cubes", gc.shapes.box(), args.pairs),
        ("cars", gc.shapes.car(), args.pairs),
        ("icospheres of 320", gc.shapes.icosphere(2), max(args.pairs // 100, 1)),
    ):
        bodies, pairs = scene(mesh, n, rng)
        for motion in ("relative", "body"):
            spent = np.full((args.repeats, len(SHARES)), np.inf)
            for row in spent:  # in turns
                for k, share in enumerate(SHARES):
                    begun = time.process_time()
                    gc.collide(
                        bodies, pairs, motion=motion, target_distance=share * mesh.radius, backend="cpu"
                    )
                    row[k] = (time.process_time() - begun) / n * 1e6
            told = ", ".join(f"{s:g} R: {t:,.0f} us" for s, t in zip(SHARES, spent.min(axis=0), strict=True))
            print(f"{name}, {motion}: {told}")


if __name__ == "__main__":
    main()
