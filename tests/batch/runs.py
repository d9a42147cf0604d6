"""Recordings for tests of batch runs, the loop that they agree with, and runs in processes of their own."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np

import gpu_collide as gc
from gpu_collide import batch

ROOT = Path(__file__).parents[2]
GIVEN = {"meshes": gc.shapes.box((1.0, 2.0, 1.0)), "static": gc.shapes.box((20.0, 20.0, 1.0))}
POSES = 200  # an item: some recordings of 24 frames of two bodies
ENVIRONMENT = {**os.environ, "GPU_COLLIDE_BACKEND": "cpu", "PYTHONPATH": str(ROOT)}


def walk(seed, frames=24, bodies=2):
    """Bodies that walk about on the ground at random, through each other and it; some stay in one place."""
    rng = np.random.default_rng(seed)
    step = rng.normal(size=(frames, bodies, 3)) * [0.2, 0.2, 0]
    step[:, 1:2] *= seed % 2
    position = np.cumsum(step, axis=0) + rng.uniform(-1, 1, (bodies, 3)) * [1, 1, 0.1] + [0, 0, 1.2]
    position[..., 2] += 0.15 * rng.normal(size=(frames, bodies))
    turn = np.cumsum(rng.normal(size=(frames, bodies, 4)) * 0.05, axis=0) + rng.normal(size=(bodies, 4))
    return {
        "time": np.arange(frames) * 0.1,
        "position": position,
        "quat_wxyz": turn / np.linalg.norm(turn, axis=-1, keepdims=True),
    }


def make(folder, n=8, **size):
    """Folder of recordings, all written at one time of the clock."""
    folder.mkdir(parents=True)
    for k in range(n):
        write(folder / f"r{k}.npz", walk(k, **size))
    return folder


def write(path, arrays):
    np.savez(path, **arrays)
    os.utime(path, ns=(10**18, 10**18))


def run(inputs, out, **options):
    return batch.collide(inputs, out, **{**GIVEN, "poses_per_item": POSES, "backend": "cpu", **options})


def tree(folder):
    """Digest of every file in a folder, by its name."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(Path(folder).rglob("*"))
        if path.is_file()
    }


def rows_of(out, table):
    """All rows of a table of a run, in the order of the items that found them."""
    import pyarrow
    import pyarrow.parquet as parquet

    return pyarrow.concat_tables(
        [parquet.read_table(path) for path in sorted((out / table).glob("*.parquet"))]
    )


def loop(folder, table, names=None, **options):
    """Rows of a table of each recording in turn."""
    import pyarrow

    parts = []
    for path in sorted(folder.rglob("*.npz")) if names is None else [folder / name for name in names]:
        recording = gc.load_recording(path, **GIVEN)
        if table == "near_misses":
            parts.append(gc.clearance(recording, backend="cpu", **options).to_arrow())
            continue
        found = recording.collide(backend="cpu", **options)
        of = found.encounters() if table == "encounters" else found
        parts.append(of.to_arrow(table))
    return pyarrow.concat_tables(parts)


def same_rows(table, expected):
    """Bit for bit the same, apart from the column ``recording``: words as words, numbers as bytes."""
    assert table.column_names == ["recording", *expected.column_names]
    for name in expected.column_names:
        a, b = (rows.column(name).to_pandas() for rows in (table, expected))
        if a.dtype.kind == "f":
            assert a.to_numpy().tobytes() == b.to_numpy().tobytes(), name
        else:
            assert a.astype(object).tolist() == b.astype(object).tolist(), name


def other_process(inputs, out, *, fault=None, flag=None, limit=None, **options):
    """A run in a process of its own, where `fault` may happen; its exit code and what it said."""
    told = json.dumps({"inputs": str(inputs), "out": str(out), "limit": limit, "options": options})
    ended = subprocess.run(
        [sys.executable, "-m", "tests.batch.one_run", told],
        env=faulty(fault, flag),
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
    )
    return ended.returncode, ended.stderr


def faulty(fault, flag):
    """Environment in which faults of `tests/batch/faults` happen, each once if there is a `flag`."""
    if fault is None:
        return ENVIRONMENT
    faults = str(Path(__file__).parent / "faults")
    return {
        **ENVIRONMENT,
        "PYTHONPATH": os.pathsep.join([faults, str(ROOT)]),
        "GPU_COLLIDE_TEST_FAULT": fault,
        "GPU_COLLIDE_TEST_FLAG": "" if flag is None else str(flag),
    }
