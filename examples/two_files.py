"""Shapes from mesh files, motions from arrays: a car drives past a torus that turns.

    python examples/two_files.py [A.obj B.obj]

Without arguments two small files are made first, in a temporary folder.
"""

import argparse
import sys
import tempfile
from pathlib import Path

import numpy as np

import gpu_collide as gc


def write_obj(path, mesh):
    """A mesh as an OBJ file, polygons as they are."""
    lines = [f"v {x!r} {y!r} {z!r}" for x, y, z in mesh.vertices.tolist()]
    lines += ["f " + " ".join(str(v + 1) for v in loop) for loop in mesh.faces]
    path.write_text("\n".join(lines) + "\n")


def main(arguments):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "files", nargs="*", metavar="FILE", help="mesh files of A and of B: OBJ, PLY, OFF, STL, GLB"
    )
    files = parser.parse_args(arguments).files
    if len(files) not in (0, 2):
        parser.error(f"expected two mesh files, or none, got {len(files)}")
    with tempfile.TemporaryDirectory() as folder:
        if not files:
            files = [Path(folder) / "torus.obj", Path(folder) / "car.obj"]
            write_obj(files[0], gc.shapes.torus())
            write_obj(files[1], gc.shapes.car())
        mesh_a, mesh_b = (gc.load_mesh(path) for path in files)
    print(mesh_a, mesh_b, sep="\n")

    # 100 lanes side by side. A turns about its own z axis by 0 to 60 degrees, B drives along x.
    n = 100
    lane = np.linspace(-1.5, 1.5, n) * (mesh_a.radius + mesh_b.radius)
    reach = 2 * (mesh_a.radius + mesh_b.radius)
    turn = np.radians(np.linspace(0, 60, n)) / 2
    zero = np.zeros(n)
    still = np.tile([1.0, 0, 0, 0], (n, 1))
    turned = np.stack([np.cos(turn), zero, zero, np.sin(turn)], axis=1)

    start = gc.Poses.from_quat_wxyz(
        np.concatenate([np.zeros((n, 3)), np.stack([zero - reach, lane, zero], axis=1)]),
        np.concatenate([still, still]),
    )
    end = gc.Poses.from_quat_wxyz(
        np.concatenate([np.zeros((n, 3)), np.stack([zero + reach, lane, zero], axis=1)]),
        np.concatenate([turned, still]),
    )
    bodies = gc.Bodies([mesh_a, mesh_b], np.repeat([0, 1], n), start, end)
    pairs = np.stack([np.arange(n), n + np.arange(n)], axis=1)

    contacts = gc.collide(bodies, pairs).to_numpy()
    print(contacts)
    hits = np.flatnonzero(np.isfinite(contacts.toi))
    if len(hits):
        first = hits[np.argmin(contacts.toi[hits])]
        print(f"lane {first} is hit first, at t = {contacts.toi[first]:.6f}:")
        for c in contacts.of_pair(first)[:3]:
            what = f"{gc.Kind(c['kind']).name} of {c['feature_a']} and {c['feature_b']}"
            print(f"  {what} at {c['position'].round(4)}, t = {c['time']:.6f}")


if __name__ == "__main__":
    main(sys.argv[1:])
