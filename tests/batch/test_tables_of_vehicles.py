"""Recordings with ids in a run: tables of vehicles, cut in time and by bodies, beside a single result."""

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide import batch

pa = pytest.importorskip("pyarrow", reason="needs pyarrow")
import pyarrow.parquet as pq  # noqa: E402


def write(path, names, seed):
    """Some vehicles that cross each other's way, each away now and then."""
    rng, t = np.random.default_rng(seed), 0.1 * np.arange(30)
    rows = {name: [] for name in ("id", "time", "x", "y", "yaw", "length", "width")}
    for name in names:
        middle, speed = rng.uniform(-4, 4, 2), rng.uniform(-9, 9, 2)
        here = t[rng.uniform(size=30) < 0.95]
        way = middle + speed * (here[:, None] - 1.5)
        yaw = np.full(len(here), np.arctan2(speed[1], speed[0]))
        for column, values in zip(rows.values(), ([name] * len(here), here, *way.T, yaw), strict=False):
            column += list(values)
        rows["length"] += [4.0] * len(here)
        rows["width"] += [1.8] * len(here)
    pq.write_table(pa.table(rows), path)


def key(row):
    """All of a row but which row of the contacts is the hardest, in an order of its own."""
    return str(sorted((name, value) for name, value in row.items() if name != "hardest"))


@pytest.mark.parametrize("options", [{}, {"poses_per_item": 40}, {"cut": "space", "parts": 2}])
def test_ids_are_in_all_tables(tmp_path, options):
    folder = tmp_path / "drives"
    folder.mkdir()
    write(folder / "a.parquet", ["ego", "van", "bus", "bike"], 1)
    write(folder / "b.parquet", [40, 7, 1000, 3], 2)
    batch.collide(folder, tmp_path / "out", backend="cpu", max_speed=1000.0, **options)
    assert not pq.read_table(tmp_path / "out" / "errors").num_rows
    for name in ("contacts", "pairs", "encounters"):
        told = pq.read_table(tmp_path / "out" / name).to_pylist()
        expected = []
        for file in ("a.parquet", "b.parquet"):
            found = gc.load_recording(folder / file).collide(backend="cpu", max_speed=1000.0)
            rows = (found.encounters() if name == "encounters" else found).to_arrow(
                None if name == "encounters" else name
            )
            for row in rows.to_pylist():
                ids = {k: str(row[k]) for k in ("id_a", "id_b")}
                expected.append({"recording": file, **row, **ids})
        assert sorted(map(key, told)) == sorted(map(key, expected)) and expected


def test_recordings_with_and_without_ids_in_one_run(tmp_path):
    folder = tmp_path / "drives"
    folder.mkdir()
    write(folder / "a.parquet", ["ego", "van", "bus"], 1)
    quat = np.tile([1.0, 0, 0, 0], (2, 2, 1))
    np.savez(folder / "b.npz", time=[0.0, 1], position=[[[0.0, 0, 0], [3, 0, 0]], [[4.0, 0, 0], [3, 0, 0]]],
             quat_wxyz=quat, car_vertices=gc.shapes.box().vertices,
             car_faces=[loop[[0, k, k + 1]] for loop in gc.shapes.box().faces for k in (1, 2)])  # fmt: skip
    batch.collide(folder, tmp_path / "out", backend="cpu")
    assert not pq.read_table(tmp_path / "out" / "errors").num_rows
    told = pq.read_table(tmp_path / "out" / "encounters").to_pylist()
    assert {row["id_a"] is None for row in told} == {True, False}
