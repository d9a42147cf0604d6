"""Results as tables: columns with units, files that read back, rows by slice, mask, body."""

import csv
import importlib.util
import json
import sys
from pathlib import Path

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide.errors import MissingExtraError
from gpu_collide.results import table_schema, tables
from gpu_collide.scenes import worlds
from tests.api._vehicles import two_cars

UP = [[1.0, 0, 0, 0]]
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def crowd():
    """Contacts of twenty worlds, and the worlds of their bodies."""
    bodies, world = worlds(20, seed=3)
    return gc.collide(bodies, world=world, backend="cpu"), np.asarray(world)


def falling(heights, **options):
    """A box of size 1 that goes up and down over a block whose top is at 1: they touch at 1.5."""
    position = [[[0.1, 0.2, h]] for h in heights]
    poses = gc.Poses.from_quat_wxyz(position, [UP] * len(heights))
    still = gc.Poses.identity(1)
    ground = gc.Bodies(gc.shapes.box((1, 1, 2)), None, still, still)
    times = np.arange(len(heights), dtype=float)
    options.setdefault("backend", "cpu")
    return gc.collide_trajectories(gc.shapes.box(), None, poses, times, static=ground, **options)


@pytest.fixture(scope="module")
def bounces():
    return falling([4.0, 3.0, 1.3, 3.0, 4.0, 5.0, 1.2, 4.0], min_properness=-1.0)


@pytest.fixture(scope="module")
def others():
    """A result of every class that is no list of contacts."""
    here, box = gc.Poses.identity(1), gc.shapes.box()
    floor = gc.Bodies(gc.shapes.box((9, 9, 1)), None, here, here)
    starts = gc.Poses.from_quat_wxyz([[0.2, 0, 3], [30.0, 0, 3]], UP * 2)
    movers = gc.Bodies(box, None, starts, starts)
    sweep = dict(backend="cpu")
    low = gc.Poses.from_quat_wxyz([[0.2, 0, 1.01]], UP)
    stand = gc.Poses.from_quat_wxyz([[0, 0, 0], [0.2, 0, 1.01]], UP * 2)
    resting = gc.Bodies([floor.meshes[0], box], [0, 1], stand, stand)
    return [
        gc.pluecker.translate(movers, floor, [0, 0, -5], backend="cpu"),
        gc.pluecker.contacts(gc.Bodies(box, None, low, low), floor, distance=0.02, backend="cpu"),
        gc.sweep.spheres([[0, 0, 3], [90, 0, 3]], [[1, 0, -4]] * 2, 0.25, floor, **sweep),
        gc.sweep.spheres([[0, 0, 3], [90, 0, 3]], [[1, 0, -4]] * 2, 0.25, floor, hits="all", **sweep),
        gc.sweep.slide(floor, [[0, 0, 1.1]], [0.3, 0.3, 0.6], [0.1, 0, 0], gravity=[0, 0, -0.2], **sweep),
        gc.clearance(gc.Bodies([box, box], [0, 1], *[starts] * 2), still_pairs=True, backend="cpu"),
        gc.contacts_at(resting, [[0, 1]], margin=0.02, backend="cpu").manifolds(),
        gc.check_motions(
            box, None, lambda m, t: starts[m][:, None], 2, max_acceleration=0, obstacles=floor, margin=99.0
        ),  # fmt: skip
        gc.events(gc.Recording.from_table(two_cars((3, 7))), backend="cpu"),
        gc.sweep.planes(floor, [[0, 0, 1.1]], [0.3, 0.3, 0.6], reach=0.1, **sweep),
    ]


def test_columns_are_the_fields(crowd, bounces, others):
    """Every field with a row for each contact, mover, query is in a table, under its name."""
    for result in (crowd[0], bounces, bounces.encounters(), *others):
        shown = {c.name for table in table_schema.TABLES[type(result).__name__].values() for c in table}
        internal = {"quat_wxyz": "quat", "hardest": "hardest_time"}
        missing = [n for n in result._rows if internal.get(n, n) not in shown]
        assert missing == []
        for name in table_schema.TABLES[type(result).__name__]:
            for part, column, values in tables.columns_of(result, name):
                assert values.ndim == 1 and column.what and part.startswith(column.name)
    one = tables.columns_of(crowd[0])
    values = {name: value for name, _, value in one}
    np.testing.assert_array_equal(values["position_z"], crowd[0].position[:, 2])
    np.testing.assert_array_equal(values["body_b"], crowd[0].pairs[crowd[0].pair, 1])


def test_pandas(crowd, bounces, others):
    pytest.importorskip("pandas", reason="pandas is not installed")
    contacts, world = crowd
    frame = contacts.to_pandas(world=world)
    assert len(frame) == len(contacts) > 10 and frame.columns[0] == "world"
    assert set(frame["world"]) <= set(world.tolist()) - {-1}, "what is in all worlds counts as the other's"
    names = [gc.Kind(k).name for k in contacts.kind]
    assert frame["kind"].tolist() == names and str(frame["kind"].dtype) == "category"
    assert frame.attrs["units"]["position_x"] == "length" and frame.attrs["units"]["time"] == "step"
    pairs = contacts.to_pandas("pairs")
    assert pairs["contacts"].sum() == len(contacts)
    np.testing.assert_array_equal(pairs["toi"].isna(), np.isinf(contacts.toi))
    frame["time"] = 0.0
    assert contacts.time.any(), "what is done to the frame is not done to the result"
    for result in (bounces, bounces.encounters(), *others):
        assert len(result.to_pandas()) == len(result)


def test_arrow(crowd):
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    table = crowd[0].to_arrow()
    assert table.num_rows == len(crowd[0])
    field = table.schema.field("normal_speed")
    assert field.metadata[b"unit"] == b"length/step" and b"approaches" in field.metadata[b"says"]
    assert table.column("kind").to_pylist()[0] == gc.Kind(int(crowd[0].kind[0])).name


def passing(heights):
    """Near misses of a box that goes up and down beside another."""
    position = [[[0, 0, 0], [0.1, 1.2, h]] for h in heights]
    arrays = {"time": range(len(heights)), "position": position, "quat_wxyz": [UP * 2] * len(heights)}
    recording = gc.Recording.from_arrays(arrays, meshes=gc.shapes.box())
    return gc.clearance(recording, max_distance=1.0, max_speed=50.0, backend="cpu")


def rows_and_none(crowd, bounces, others):
    """Of every class two results of the same kind of query, one with rows in every table and one without."""
    bodies, _ = worlds(20, seed=3)
    nobody = np.zeros((0, 2), int)
    jumps = falling([4.0, 3.0, 300.0, 3.0, 1.3, 1.2], max_speed=50.0)
    named = gc.Mesh(gc.shapes.box().vertices, gc.shapes.box().face_vertices.reshape(-1, 4), parts=["a"] * 6)
    to = gc.Poses.from_quat_wxyz([[0, 0, 0], [0.1, 0.2, 0]], UP * 2)
    apart = gc.Poses.from_quat_wxyz([[0, 0, 0], [9, 0.2, 0]], UP * 2)
    meets = gc.collide(gc.Bodies(named, None, apart, to), backend="cpu")
    misses = gc.collide(gc.Bodies(named, None, apart, apart), backend="cpu")
    clipped = gc.sweep.clip([[0, 0, -1.0]], others[-1].normal, others[-1].offsets, backend="cpu")
    never = falling([9.0, 8.0])
    yield crowd[0], gc.collide(bodies, nobody, backend="cpu")
    yield crowd[0], gc.collide(bodies, nobody, backend="cpu", precision="single")
    yield jumps, never
    yield bounces.encounters(), never.encounters()
    yield meets, misses
    yield passing([3.0, 0.1, 3.0, 300.0]), passing([9.0, 8.0])
    yield from ((result, result[:0]) for result in (*others, clipped))


def test_schemas_do_not_depend_on_rows(crowd, bounces, others, tmp_path):
    """Tables without rows have the types of those with rows: tables of several recordings concatenate."""
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    pytest.importorskip("pandas", reason="pandas is not installed")
    from pyarrow import parquet

    seen = set()
    for result, empty in rows_and_none(crowd, bounces, others):
        for name in table_schema.TABLES[type(result).__name__]:
            some, none = result.to_arrow(name), empty.to_arrow(name)
            assert some.schema.equals(none.schema, check_metadata=True), (type(result), name)
            assert not any(pyarrow.types.is_null(field.type) for field in none.schema)
            assert pyarrow.concat_tables([none, some, none]).num_rows == some.num_rows + 2 * none.num_rows
            assert result.to_pandas(name).dtypes.equals(empty.to_pandas(name).dtypes), (type(result), name)
            read = []
            for k, one in enumerate((result, empty)):
                one.save(tmp_path / f"{k}.parquet", table=name)
                read.append(parquet.read_schema(tmp_path / f"{k}.parquet"))
            assert read[0].equals(read[1])
            seen |= {(type(result).__name__, name, rows > 0) for rows in (some.num_rows, none.num_rows)}
    expected = {(kind, name) for kind, names in table_schema.TABLES.items() for name in names}
    assert {(kind, name) for kind, name, rows in seen if rows} == expected
    without = {(kind, name) for kind, name, rows in seen if not rows}
    assert expected - without == {("Hits", "queries")}, "which has a row for each query"


@pytest.mark.parametrize("suffix", [".csv", ".json", ".parquet"])
def test_files_read_back(suffix, crowd, bounces, others, tmp_path):
    if suffix == ".parquet":
        parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    for result in (crowd[0], bounces, bounces.encounters(), falling([9.0, 8.0]), *others):
        path = tmp_path / f"table{suffix}"
        result.save(path)
        expected = tables.columns_of(result)
        if suffix == ".csv":
            with open(path, newline="") as file:
                rows = list(csv.DictReader(file))
        elif suffix == ".json":
            schema = json.loads(path.read_text())
            rows = schema["data"]
            assert [f["name"] for f in schema["schema"]["fields"]] == [name for name, _, _ in expected]
        else:
            rows = parquet.read_table(path).to_pylist()
        assert len(rows) == len(result)
        for name, column, values in expected:
            told = [row[name] for row in rows]
            if column.words is not None:
                assert told == [column.words(v).name for v in values]
            elif values.dtype == bool:
                assert [str(v).lower() == "true" for v in told] == values.tolist()
            else:
                numbers = [np.nan if v in ("", None) else float(v) for v in told]
                np.testing.assert_array_equal(numbers, values, "every digit")


def test_pandas_reads_the_json(bounces, tmp_path):
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    bounces.save(tmp_path / "a.json")
    frame = pandas.read_json(tmp_path / "a.json", orient="table", precise_float=True)
    np.testing.assert_allclose(frame["time"], bounces.time, rtol=1e-15)


def test_what_cannot_be_a_table(crowd, others, tmp_path, monkeypatch):
    contacts, world = crowd
    with pytest.raises(ValueError, match="table: expected 'contacts' or 'pairs', .* got 'worlds'"):
        contacts.save(tmp_path / "a.csv", table="worlds")
    with pytest.raises(ValueError, match="world: expected none for .npz"):
        contacts.save(tmp_path / "a.npz", world=world)
    with pytest.raises(ValueError, match="world: expected a number for each body"):
        contacts.save(tmp_path / "a.csv", world=[0])
    with pytest.raises(ValueError, match="world: expected none, since this table has no column body_a"):
        others[0].save(tmp_path / "a.csv", world=world)
    for name in ("pandas", "pyarrow"):
        monkeypatch.setitem(sys.modules, name, None)
        with pytest.raises(MissingExtraError, match=rf"{name}.*gpu-collide\[data\]"):
            contacts.to_pandas() if name == "pandas" else contacts.to_arrow()


def test_rows_by_slice_mask_and_number(crowd, bounces, others, tmp_path):
    contacts = crowd[0]
    limit = np.median(contacts.properness)
    proper = contacts[contacts.properness > limit]
    assert 0 < len(proper) < len(contacts) and proper.n_pairs == contacts.n_pairs
    assert (proper.properness > limit).all()
    for i in range(proper.n_pairs):
        mine = contacts.of_pair(i)
        np.testing.assert_array_equal(proper.of_pair(i)["time"], mine["time"][mine["properness"] > limit])
    for result, keep in ((proper, slice(None)), (bounces[3:9], slice(None)), (bounces[[-1, 0, 0]], None)):
        result.save(tmp_path / "part.npz")  # what is read is checked: toi, status, order
        again = type(result).load(tmp_path / "part.npz")
        assert len(again) == len(result) > 0 and keep in (slice(None), None)
    np.testing.assert_array_equal(bounces[[-1, 0, 0]].time, bounces.time[[0, -1]])
    assert bounces[0]["time"] == bounces.time[0] and bounces[-1]["step"] == bounces.step[-1]
    assert len(list(bounces)) == len(bounces), "it can be gone through"
    assert len(contacts[np.zeros(len(contacts), bool)]) == 0
    for result in others:
        half = result[: (len(result) + 1) // 2]
        half.save(tmp_path / "part.npz")
        assert len(type(result).load(tmp_path / "part.npz")) == (len(result) + 1) // 2
    for bad, error in (
        (len(contacts), IndexError), ([0, len(contacts)], IndexError), ([True], ValueError),
        (True, TypeError), ("kind", TypeError), ([0.5], TypeError), ((0, 1), None),
    ):  # fmt: skip
        if error is None:
            assert len(contacts[bad]) == 2
            continue
        with pytest.raises(error, match=r"^(index:|row )"):
            contacts[bad]


def test_rows_of_bodies(crowd, bounces):
    contacts = crowd[0]
    a, b = contacts.pairs[contacts.pair[0]].tolist()
    one, two = contacts.of_bodies(a), contacts.of_bodies(b, a)
    assert len(one) >= len(two) == len(contacts.of_bodies(a, b)) > 0
    assert (contacts.pairs[two.pair] == [a, b]).all()
    assert (contacts.pairs[one.pair] == a).any(axis=1).all()
    assert len(bounces.of_bodies(0, 1)) == len(bounces) and len(bounces.of_bodies(7)) == 0
    with pytest.raises(TypeError, match="a: expected the number of a body, got str"):
        contacts.of_bodies("car")


def test_answers_of_each_world(crowd):
    contacts, world = crowd
    first, counts = contacts.by_world(world)
    assert len(first) == len(counts) == 20 and counts.sum() == len(contacts)
    of_pair = np.where(world[contacts.pairs[:, 0]] >= 0, *world[contacts.pairs].T)
    for w in range(20):
        assert first[w] == contacts.toi[of_pair == w].min(initial=np.inf)
        assert counts[w] == (of_pair[contacts.pair] == w).sum()
    more = np.where(world >= 0, world + 2, world)
    assert np.isinf(contacts.by_world(more)[0][:2]).all() and not contacts.by_world(more)[1][:2].any()
    with pytest.raises(ValueError, match="world: expected a number for each body"):
        contacts.by_world([0, 1])


def test_rows_print_as_a_table(crowd):
    pair = int(np.argmax(np.diff(crowd[0].contact_start)))
    rows = crowd[0].of_pair(pair)
    lines = repr(rows).splitlines()
    assert lines[0] == f"{len(rows)} contacts" and "normal_speed" in lines[1]
    assert gc.Kind(int(rows["kind"][0])).name in lines[2]
    assert type(rows["time"]) is np.ndarray and repr(rows[:0]) == "0 contacts"
    assert repr(rows[:1]).startswith("1 contact\n")
    assert repr(rows.view(np.ndarray)) == repr(np.array(rows.view(np.ndarray)))


def test_html_shows_the_first_rows(crowd, bounces, others):
    for result in (crowd[0], bounces, bounces.encounters(), *others):
        text = result._repr_html_()
        assert len(result) and text.count("<tr>") == 1 + min(len(result), 10) and "<pre>" in text
    assert "length/step" in crowd[0]._repr_html_() and "more rows" in crowd[0]._repr_html_()
    assert "<table>" not in falling([9.0, 8.0])._repr_html_()


def test_the_docs_list_the_columns():
    spec = importlib.util.spec_from_file_location("make_tables", ROOT / "docs" / "make_tables.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    page = module.PAGE.read_text(encoding="utf-8")
    assert module.with_tables(page) == page, "run: python docs/make_tables.py"
    assert "| `normal_speed` | length/s |" in page and "### Slides" in page
