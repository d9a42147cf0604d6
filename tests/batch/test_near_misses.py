"""Near misses of many recordings: the rows of a loop, however recordings are bundled and cut."""

import json

import numpy as np
import pytest

from gpu_collide.batch.plan import Item
from gpu_collide.cli import main
from tests.batch import runs

pytest.importorskip("pyarrow", reason="batch runs write Parquet: pip install 'gpu-collide[batch]'")
pytestmark = pytest.mark.backends("cpu")

NEAR = {"max_distance": 0.4}


def test_near_misses_are_those_of_a_loop(tmp_path):
    """Small recordings, bundled, and a long one, cut in time: passes go over its seams."""
    inputs = runs.make(tmp_path / "in", 3, bodies=4)
    runs.write(inputs / "long.npz", runs.walk(11, frames=200, bodies=4))
    out = tmp_path / "out"
    summary = runs.run(inputs, out, max_speed=5.0, **NEAR)
    found, expected = (
        runs.rows_of(out, "near_misses"),
        runs.loop(inputs, "near_misses", max_speed=5.0, **NEAR),
    )
    assert summary.rows["near_misses"] == len(expected) > 40
    order = sorted(range(len(found)), key=lambda k: found.column("recording")[k].as_py())
    runs.same_rows(found.take(order), expected)
    plan = json.loads((out / "plan.json").read_text())
    items = [Item.from_dict(k, said) for k, said in enumerate(plan["items"])]
    seams = [items[k].steps[0] for item in items for k, _ in item.joins[1:]]
    rows = expected.to_pylist()
    assert seams and any(r["first_step"] < s <= r["last_step"] for r in rows for s in seams)
    for table in ("contacts", "encounters"):
        assert len(runs.rows_of(out, table)) == len(runs.loop(inputs, table, max_speed=5.0)) > 0
    with pytest.raises(ValueError, match=r"resume: max_distance is not .*0\.4, now 0\.5"):
        runs.run(inputs, out, resume=True, max_speed=5.0, max_distance=0.5)


def test_races_keep_their_ends_where_they_are_cut(tmp_path):
    (tmp_path / "in").mkdir()
    lengths = {"race_lengths": [40, 1, 39, 0, 40]}
    runs.write(tmp_path / "in" / "races.npz", {**runs.walk(5, frames=120), **lengths})
    runs.run(tmp_path / "in", tmp_path / "out", tables=["near_misses"], poses_per_item=40, **NEAR)
    expected = runs.loop(tmp_path / "in", "near_misses", **NEAR)
    assert len(expected) > 5
    runs.same_rows(runs.rows_of(tmp_path / "out", "near_misses"), expected)
    assert not (tmp_path / "out" / "contacts").exists()


@pytest.mark.parametrize("cut", ["worlds", "space"])
def test_bodies_cut_into_shares_find_the_same_rows(tmp_path, cut):
    """Some stand still for long, beside others that do, in one share or in two."""
    (tmp_path / "in").mkdir()
    arrays = runs.walk(21, frames=40, bodies=24)
    arrays["position"][:, :, :2] *= 4
    arrays["position"][10:15, 7] = np.nan
    for name in ("position", "quat_wxyz"):
        arrays[name][5:30, ::3] = arrays[name][5, ::3]
    runs.write(tmp_path / "in" / "many.npz", arrays)
    options = {"ignore": [[2, 9], [0, 24]], "max_speed": 40.0, "max_distance": 2.0}
    if cut == "worlds":
        options["world"] = np.arange(24) % 5
    out = tmp_path / "out"
    summary = runs.run(
        tmp_path / "in", out, tables=["near_misses"], cut=cut, parts=3, poses_per_item=100, **options
    )
    expected = runs.loop(tmp_path / "in", "near_misses", **options)
    assert summary.items > 6 and len(expected) > 40
    runs.same_rows(runs.rows_of(out, "near_misses"), expected)


@pytest.mark.parametrize(
    "options, said",
    [
        ({"max_distance": -1.0}, "max_distance: expected"),
        ({"max_distance": np.inf}, "max_distance: expected"),
        (
            {"tables": ["near_misses"]},
            "max_distance: expected a length with the table 'near_misses', got None",
        ),
        (
            {"tables": ["pairs"], **NEAR},
            "max_distance: expected None without the table 'near_misses', got 0.4",
        ),
    ],
)
def test_bad_arguments_raise_before_anything_is_written(tmp_path, options, said):
    inputs = runs.make(tmp_path / "in", 1)
    with pytest.raises(ValueError, match=said):
        runs.run(inputs, tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()


def test_the_command_writes_them(tmp_path, capsys):
    inputs = runs.make(tmp_path / "in", 2)
    mesh = tmp_path / "box.off"
    box = runs.GIVEN["meshes"]
    faces = "\n".join(f"{len(f)} " + " ".join(map(str, f)) for f in box.faces)
    corners = "\n".join(" ".join(map(str, x)) for x in box.vertices)
    mesh.write_text(f"OFF\n{len(box.vertices)} {box.n_faces} 0\n{corners}\n{faces}\n")
    words = ["batch", inputs, "-o", tmp_path / "out", "--car-mesh", mesh, "--max-distance", 1]
    assert main([str(word) for word in (*words, "--backend", "cpu", "--plain")]) == 0
    rows = runs.rows_of(tmp_path / "out", "near_misses")
    assert len(rows) and "near_misses" in capsys.readouterr().out
