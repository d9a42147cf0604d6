"""Bits of a stored set of results: `python -m tests.acceptance.stored_bits` compares, `--write` stores.

Each case is a scene with a set of options. Stored are a digest of its inputs and one of every field of its
result.
Results are the same bits on every backend, so one digest stands for all of them. A change that is to change
no result leaves the file as it is; one that changes results on purpose writes it anew, and says so.
"""

import argparse
import json
import sys
from pathlib import Path

import numpy as np

import gpu_collide as gc
from gpu_collide.scenes import demo_race, random_impacts, spins, worlds
from tests.acceptance import matrix, stored_worlds
from tests.acceptance.stored_digests import by_stored_name, digest, level, of_inputs, rounded, steady
from tests.support.worlds import drift, with_terrain

STORED = Path(__file__).with_name("stored_bits.json")
SHAPES = {"box": gc.shapes.box, "car": gc.shapes.car, "torus": gc.shapes.torus, "star": gc.shapes.star}
FAMILIES = (
    "planar_driving", "resting", "lattice", "exact_axis", "drill", "hinge", "exact_half_turn", "whole_motion",
    "whole_sheets", "same_place", "thin_and_tiny",
)  # fmt: skip
OPTIONS = {
    "exact": {},
    "raster": {"tuning": gc.Tuning(candidates="raster"), "resolution": 3.0, "precision": "double"},
    "near": {"tuning": gc.Tuning(features="near", filters="none")},
    "first": {"contacts": "first", "check_start": False},
    "proper": {"min_properness": 0.0, "tuning": gc.Tuning(filters=("plane",))},
    "segments": {"refine": "segments"},
    "pixels": {"refine": "pixels", "resolution": 6.0},
    "single": {"precision": "single"},
}


def scenes():
    """Yield name, bodies, keywords that make a `collide`."""
    for name, n in (("box", 400), ("car", 120), ("torus", 3), ("star", 60)):
        mesh = SHAPES[name]()
        bodies, pairs = random_impacts(mesh, mesh, n, seed=5)
        yield name, steady(bodies), {"pairs": pairs}
    bodies, pairs = spins(gc.shapes.box(), gc.shapes.car(), 60, seed=2)
    yield "spins", steady(bodies), {"pairs": pairs}
    for family in FAMILIES:
        scene = matrix.make(family, 60, 3)
        yield family, steady(scene.bodies()), {"pairs": scene.pairs}
    bodies, world = worlds(6, 12, seed=4)
    yield "worlds", steady(bodies), {"world": world}
    yield "hills", steady(with_terrain(drift(3, 60))), {}


def of_contacts(found):
    """Digest of every field of `Contacts` or `TrajectoryContacts` that is an array."""
    found = found.to_numpy() if hasattr(found, "to_numpy") else found
    values = {k: v for k, v in vars(found).items() if isinstance(v, np.ndarray)}
    assert len(values) > 10, sorted(values)
    return digest(*by_stored_name(found, values))


def cases():
    """Yield name of a case, digest of its inputs, and what computes its digest on a backend."""
    for name, bodies, keywords in scenes():
        inputs = of_inputs(bodies, keywords)
        for kind, options in OPTIONS.items():
            yield f"{name} {kind}", inputs, _collide(bodies, keywords | options)
        if "pairs" not in keywords:
            yield f"{name} find_pairs", inputs, _find(bodies, keywords)
        else:
            yield f"{name} bisection", inputs, _bisect(bodies, keywords)
    race = demo_race(3, stations=60, seconds=12.0)
    poses = rounded(gc.Poses.from_quat_xyzw(race["position"], race["quaternion_xyzw"]))
    track = level(gc.Mesh(race["track_vertices"], race["track_faces"]))
    times = np.round(race["time"] * 1024) / 1024
    inputs = digest(poses.position, poses.quat_wxyz, track.vertices, times)
    frames = gc.Poses.from_quat_wxyz(poses.position[:, None], poses.quat_wxyz[:, None])
    yield "race trajectories", inputs, _race(frames, times, track)
    yield from stored_worlds.cases()


def _collide(bodies, keywords):
    return lambda backend: of_contacts(gc.collide(bodies, backend=backend, **keywords))


def _find(bodies, keywords):
    return lambda backend: digest(gc.find_pairs(bodies, backend=backend, **keywords))


def _bisect(bodies, keywords):
    def run(backend):
        found = gc.baselines.bisection(bodies, keywords["pairs"], backend=backend)
        return digest(found.status, found.start_overlap, found.time)

    return run


def _race(frames, times, track):
    def run(backend):
        found = gc.collide_trajectories(gc.shapes.car(), None, frames, times, static=track, backend=backend)
        return of_contacts(found)

    return run


def compare(backend):
    """Names of cases whose bits differ from the stored ones, and of those whose inputs do here."""
    stored = json.loads(STORED.read_text())
    differ, other, seen = [], [], 0
    for name, inputs, run in cases():
        if stored[name]["inputs"] != inputs:
            other.append(name)
            continue
        seen += 1
        if run(backend) != stored[name]["result"]:
            differ.append(name)
    return differ, other, seen


def main(argv=None):
    parser = argparse.ArgumentParser(
        prog="python -m tests.acceptance.stored_bits", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--backend", action="append", help="default: cpu and opencl")
    parser.add_argument("--write", action="store_true", help="store the results of the first backend")
    options = parser.parse_args(argv)
    backends = options.backend or ["cpu", "opencl"]
    if options.write:
        rows = {name: {"inputs": inputs, "result": run(backends[0])} for name, inputs, run in cases()}
        STORED.write_text(json.dumps(rows, indent=0) + "\n")
    bad = 0
    for backend in backends:
        differ, other, seen = compare(backend)
        print(f"{backend}: {seen} cases compared, {len(differ)} differ, {len(other)} have other inputs here")
        for name in differ:
            print(f"  {name}")
        bad += len(differ)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
