"""Many recordings as one run: ``python examples/many_recordings.py [RECORDINGS] [--engine processes]``.

In each recording, a file of its own, four cars drive in circles in a yard with walls and pillars, for 12
seconds. The run asks all of them who hit whom. Stop it (Ctrl-C, or worse) and start it again: it goes on
where it was, and the tables have the same bytes as if it had never been stopped.
"""

import argparse
import sys
from pathlib import Path

import numpy as np

import gpu_collide as gc

CARS, FRAMES, RATE, SIDE = 4, 120, 10.0, 40.0


def write_recordings(folder, count, seed=0):
    """Write so many recordings; the same seed and number give the same file."""
    folder.mkdir(parents=True, exist_ok=True)
    time = np.arange(FRAMES) / RATE
    for k in range(count):
        rng = np.random.default_rng([seed, k])
        middle = rng.uniform(-0.25 * SIDE, 0.25 * SIDE, (CARS, 2))
        radius, speed = rng.uniform(3, 10, CARS), rng.uniform(2, 9, CARS) * rng.choice([-1, 1], CARS)
        angle = rng.uniform(0, 2 * np.pi, CARS) + time[:, None] * speed / radius
        outward = np.stack([np.cos(angle), np.sin(angle)], axis=-1)
        heading = angle + np.sign(speed) * np.pi / 2
        position = np.concatenate(
            [middle + radius[:, None] * outward, np.full((FRAMES, CARS, 1), 0.8)], axis=-1
        )
        quat = np.stack([np.cos(heading / 2), 0 * angle, 0 * angle, np.sin(heading / 2)], axis=-1)
        # One file is as good as another, but it should not be half there when the next run begins.
        part = folder / f"part-{k}"
        with open(part, "wb") as file:
            np.savez(file, time=time, position=position.astype("f4"), quat_wxyz=quat.astype("f4"))
        part.rename(folder / f"yard-{k:05d}.npz")


def yard():
    """Walls around a square, and pillars in it: bodies that stand still."""
    wall, pillar = gc.shapes.box((SIDE, 1.0, 3.0)), gc.shapes.box((1.0, 1.0, 3.0))
    half, turned = SIDE / 2, [np.sqrt(0.5), 0, 0, np.sqrt(0.5)]
    place = [
        [0, half, 0],
        [0, -half, 0],
        [half, 0, 0],
        [-half, 0, 0],
        [7, 7, 0],
        [-7, 7, 0],
        [-7, -7, 0],
        [7, -7, 0],
    ]
    quat = [[1, 0, 0, 0]] * 2 + [turned] * 2 + [[1, 0, 0, 0]] * 4
    poses = gc.Poses.from_quat_wxyz(place, quat)
    return gc.Bodies([wall, pillar], [0] * 4 + [1] * 4, poses, poses)


def main(arguments):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("recordings", nargs="?", type=int, default=200, help="how many (default: 200)")
    parser.add_argument(
        "--folder", type=Path, default=Path("many-recordings"), help="where they and the tables go"
    )
    parser.add_argument("--engine", default="serial", help="serial, processes or ray (default: serial)")
    parser.add_argument("--workers", type=int, help="how many at a time (default: the cores, or the GPUs)")
    parser.add_argument("--seed", type=int, default=0, help="of the recordings (default: 0)")
    options = parser.parse_args(arguments)
    drives, out = options.folder / "drives", options.folder / "tables"
    there = len(list(drives.glob("*.npz")))
    if there < options.recordings:
        write_recordings(drives, options.recordings, options.seed)

    summary = gc.batch.collide(
        drives, out, meshes=gc.shapes.car(), static=yard(), resume=True,
        engine=options.engine, workers=options.workers, progress=lambda done: print(f"\r{done}", end=""),
    )  # fmt: skip
    print(f"\r{summary}, in {summary.seconds:.1f} s")

    # The tables are Parquet files: any program reads all parts of one as a single table.
    import pyarrow.dataset as dataset

    met = dataset.dataset(out / "encounters").to_table().sort_by([("approach", "descending")])
    print("\nThe hardest encounters:")
    for row in met.slice(0, 8).to_pylist():
        a, b = (
            f"car {k}" if k < CARS else "wall" if k < CARS + 4 else "pillar"
            for k in (row["body_a"], row["body_b"])
        )
        print(f"  {row['recording']}  {row['hardest_time']:7.3f} s  {a} and {b}: {row['approach']:.1f} m/s")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
