"""A user's program as a type checker sees it. It is checked by mypy (`test_types.py`, `.ci/run`), not run.

Where a line is marked, the call is wrong and has to be an error: a mark without an error is an error, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

import gpu_collide as gc

if TYPE_CHECKING:
    from typing_extensions import assert_type


def right_calls(path: str) -> None:
    box = gc.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
    loaded = gc.load_mesh(path, merge_coplanar=1e-7)
    start = gc.Poses.from_quat_wxyz(np.zeros((2, 3), np.float32), [[1, 0, 0, 0]] * 2)
    bodies = gc.Bodies([box, loaded], np.array([0, 1]), start, gc.Poses.identity(2))
    found = gc.collide(
        bodies, [[0, 1]], refine="exact", tuning=gc.Tuning(filters=("spheres", "plane")), backend="cpu"
    )
    assert_type(found, gc.Contacts)
    found.time.sum()
    found.of_pair(0)["time"]
    found.save(path)
    assert_type(gc.Contacts.load(path), gc.Contacts)
    gc.collide(
        bodies,
        world=[0, 0],
        tuning=gc.Tuning(filters="none", features="near"),
        contacts="first",
        progress=print,
    )
    gc.find_pairs(bodies, tuning=gc.Tuning(broad_phase="off"), precision="double").max()
    gc.BroadPhase(2, still_pairs=True).find_pairs(bodies)
    report = found.report
    if report is not None:
        report["spheres"].settled + 1


def trajectories(poses: gc.Poses, path: str) -> None:
    box, times = gc.shapes.box((1, 2, 3)), np.arange(3.0)
    assert_type(gc.collide_trajectories(box, None, poses, times, refine="segments"), gc.TrajectoryContacts)
    parts = gc.collide_trajectories(box, None, iter([poses]), times, stream=True)
    assert_type(parts, Iterator[gc.TrajectoryContacts])
    for part in parts:
        part.step[0], part.pairs["toi"]
    recording = gc.load_recording(path, meshes=box)
    assert_type(recording.collide(max_speed=70.0, precision="single"), gc.TrajectoryContacts)


def wrong_calls(bodies: gc.Bodies, poses: gc.Poses) -> None:
    gc.collide(bodies, refine="exakt")  # type: ignore[arg-type]
    gc.collide(bodies, backend="gpu")  # type: ignore[arg-type]
    gc.collide(bodies, precision="float32")  # type: ignore[arg-type]
    gc.collide(bodies, tuning=gc.Tuning(filters=("balls",)))  # type: ignore[arg-type]
    gc.collide(bodies, contacts="one")  # type: ignore[arg-type]
    gc.collide(bodies, tuning=gc.Tuning(candidates="rows"))  # type: ignore[arg-type]
    gc.collide(bodies, tuning=gc.Tuning(features=True))  # type: ignore[arg-type]
    gc.collide(bodies, tuning=gc.Tuning(broad_phase=False))  # type: ignore[arg-type]
    gc.collide(bodies, resolution="6")  # type: ignore[arg-type]
    gc.collide(bodies, check_begin=True)  # type: ignore[call-arg]
    gc.find_pairs(bodies, refine="exact")  # type: ignore[call-arg]
    gc.Bodies(3, None, poses, poses)  # type: ignore[arg-type]
    gc.collide_trajectories(gc.shapes.box(), None, poses, [0.0], refine="exakt")  # type: ignore[call-overload]
    print(gc.collide(bodies).times)  # type: ignore[attr-defined]
