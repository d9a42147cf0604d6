"""Pages for a browser: what is in them, for every kind of result. tests/view/test_browser.py opens them."""

import re

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide.cli import main
from gpu_collide.scenes import demo_race, random_impacts, worlds
from tests.view._pages import UP, floor, movers_over_a_floor, read_page, turning_cars, walkers


@pytest.fixture(scope="module")
def batch():
    car = gc.shapes.car()
    bodies, pairs = random_impacts(car, car, 60, seed=4)
    return gc.collide(bodies, pairs, backend="cpu"), bodies


@pytest.fixture(scope="module")
def race():
    recording = turning_cars()
    return recording.collide(backend="cpu"), recording


def test_a_page_is_one_file_that_asks_for_nothing(batch, tmp_path):
    gc.view.page(*batch, tmp_path / "page.html", title="<cars> & {{more}}")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "default-src 'none'" in text, "the browser refuses whatever it might ask for"
    assert not re.findall(r"https?://|@import|\bsrc=|\bhref=|fetch\(|import\(", text)
    assert "&lt;cars&gt; &amp; {{more}}" in text and "\\u003ccars>" in text


def test_a_pair_or_a_batch(batch, tmp_path):
    contacts, bodies = batch
    gc.view.page(contacts, bodies, tmp_path / "page.html")
    head, data = read_page(tmp_path / "page.html")
    hit = np.flatnonzero(np.diff(contacts.contact_start))
    assert head["pairs"] and len(head["groups"]) == len(hit) > 5
    assert head["groups"][0].startswith(f"pair {hit[0]}: bodies {contacts.pairs[hit[0], 0]} and")
    assert len(data["contact_time"]) == len(contacts)
    np.testing.assert_array_equal(data["contact_time"], contacts.time)
    place = data["contact_place"].reshape(-1, 3) + head["origin"]
    np.testing.assert_allclose(place, contacts.position, atol=1e-4)  # float32 of places up to 300 away
    poses = data["moving_pose"].reshape(2, -1, 7)
    mine = bodies.start.position[contacts.pairs[hit]].reshape(-1, 3) - head["origin"]
    np.testing.assert_allclose(poses[0, :, :3], mine, atol=1e-12)
    words = next(field for field in head["fields"] if field["name"] == "kind")
    assert [words["words"][k] for k in data[words["array"]]] == [gc.Kind(k).name for k in contacts.kind]
    unit = {field["name"]: field["unit"] for field in head["fields"]}
    assert unit["normal_speed"] == "length/step" and unit["position_x"] == "length"
    gc.view.page(contacts, bodies, tmp_path / "few.html", most=3)
    head, _ = read_page(tmp_path / "few.html")
    assert len(head["groups"]) == 3 and f"first 3 of {len(hit)} pairs" in head["note"]


def test_worlds(tmp_path):
    bodies, world = worlds(4, seed=3)
    contacts = gc.collide(bodies, world=world, backend="cpu")
    gc.view.page(contacts, bodies, tmp_path / "page.html", world=world)
    head, data = read_page(tmp_path / "page.html")
    assert head["groups"][1].startswith("world 1: ") and len(data["event_group"]) == len(contacts)
    starts = data["group_start"]
    for w in range(4):
        inside = data["number"][data["group_bodies"][starts[w] : starts[w + 1]]]
        assert set(inside.tolist()) == set(np.flatnonzero((world == w) | (world < 0)).tolist())
        for name in ("contact_a", "contact_b"):
            assert set(data["number"][data[name][data["event_group"] == w]].tolist()) <= set(inside.tolist())
    np.testing.assert_array_equal(data["number"][data["contact_a"]], contacts.pairs[contacts.pair, 0])
    assert len(data["still_mesh"]) >= (world < 0).sum(), "what stands still is there once"
    gc.view.page(contacts, bodies, tmp_path / "all.html", world=np.zeros(len(bodies), int))
    assert len(read_page(tmp_path / "all.html")[0]["groups"]) == 1


def test_a_recording(race, tmp_path):
    found, recording = race
    gc.view.page(found, recording, tmp_path / "page.html")
    head, data = read_page(tmp_path / "page.html")
    met = found.encounters()
    apart, met = met[met.contacts == 0], met[met.contacts > 0]
    assert len(apart) and f"{len(apart)} pairs are in each other without a contact" in head["note"]
    assert head["unit"] == "s" and head["up"] == 2 and len(data["event_start"]) == len(met) + 1 > 5
    first = data["contact_time"][data["event_start"][:-1]]
    assert met.in_touch.any() and (first >= met.first_time).all()
    np.testing.assert_array_equal(first[~met.in_touch], met.first_time[~met.in_touch])
    np.testing.assert_array_equal(data["contact_time"][data["event_hardest"]], met.hardest_time)
    np.testing.assert_array_equal(np.diff(data["event_start"]), met.contacts)
    for name in "ab":
        inside = getattr(met, f"body_{name}")
        np.testing.assert_array_equal(np.repeat(inside, met.contacts), data[f"contact_{name}"])
    assert data["group_frames"].tolist() == [0, 4, 5, 8]
    np.testing.assert_array_equal(data["event_group"], met.first_step > 4)
    place = data["moving_pose"].reshape(9, 12, 7)[..., :3] + head["origin"]
    np.testing.assert_allclose(place, recording.poses().position, atol=1e-12)
    jumps = recording.collide(backend="cpu", max_speed=6.0)
    assert len(jumps.skipped)
    gc.view.page(jumps, recording, tmp_path / "jumps.html")
    hold = read_page(tmp_path / "jumps.html")[1]["hold"].reshape(8, 12)
    assert set(zip(*np.nonzero(hold), strict=True)) == set(jumps.skipped[["step", "body"]].tolist())


def test_what_is_swept(tmp_path):
    rng = np.random.default_rng(2)
    start = rng.uniform([-3, -3, 2], [3, 3, 4], (30, 3))
    way = rng.normal(0, 0.5, (30, 3)) - [0, 0, 3]
    way[:5] = [0, 0, 1.0]
    for radii, query in (
        (0.25, gc.sweep.spheres),
        ([0.2, 0.3, 0.4], gc.sweep.ellipsoids),
        (None, lambda s, w, _, world, **o: gc.sweep.rays(s, w, world, **o)),
    ):
        hits = query(start, way, radii, floor(), backend="cpu")
        gc.view.page(hits, floor(), tmp_path / "page.html", start=start, displacement=way, radii=radii)
        head, data = read_page(tmp_path / "page.html")
        n = int(hits.hit.sum())
        assert len(data["stop"]) == len(data["contact_time"]) == n > 5
        np.testing.assert_array_equal(data["stop"], hits.time[hits.hit])
        poses = data["moving_pose"].reshape(2, n, 7)[..., :3] + head["origin"]
        np.testing.assert_allclose(poses[1] - poses[0], way[hits.hit], atol=1e-12)
        assert data["scale"].max() == pytest.approx(np.max(radii) if radii is not None else 0.0274, rel=0.3)
    every = gc.sweep.spheres(start, way, 0.25, floor(), hits="all", backend="cpu")
    gc.view.page(every, floor(), tmp_path / "all.html", start=start, displacement=way, radii=0.25)
    assert np.isinf(read_page(tmp_path / "all.html")[1]["stop"]).all(), "it goes on"


def test_characters(tmp_path):
    world, start, way, found = walkers()
    gc.view.page(found, world, tmp_path / "page.html", start=start, displacement=way, radii=[0.3, 0.3, 0.6])
    head, data = read_page(tmp_path / "page.html")
    poses = data["moving_pose"].reshape(len(found) + 1, 2, 7)[..., :3] + head["origin"]
    np.testing.assert_allclose(poses, [start, *(s.position for s in found)], atol=1e-12)
    told = [
        (int(data["contact_a"][c]), head["labels"][label])
        for c, label in zip(data["event_hardest"], data["event_label"], strict=True)
    ]
    assert told.count((0, "lands")) == told.count((1, "lands")) == 1
    assert (1, "leaves the ground") in told and (0, "leaves the ground") not in told
    landing = data["contact_place"].reshape(-1, 3)[told.index((0, "lands"))] + head["origin"]
    assert landing[2] == pytest.approx(0.5, abs=2e-3), "at its foot"


def test_movers(tmp_path):
    movers, found = movers_over_a_floor()
    for words, trace in found:
        gc.view.page(trace, floor(), tmp_path / "page.html", movers=movers, **words)
        head, data = read_page(tmp_path / "page.html")
        touched = np.flatnonzero(trace.kind > 0)
        assert len(touched) and len(data["stop"]) == 4 and head["clock"] == "of the motion"
        poses = data["moving_pose"].reshape(-1, 4, 7)
        done = trace.fraction + (trace.part if "end" in words else 0)
        np.testing.assert_array_equal(data["stop"], done)
        np.testing.assert_array_equal(data["contact_time"], done[touched])
        np.testing.assert_array_equal(data["contact_a"], touched)
        place = data["contact_place"].reshape(-1, 3) + head["origin"]
        np.testing.assert_allclose(place, trace.point[touched], atol=1e-6)
        assert {head["labels"][k] for k in data["event_label"]} <= {"vertex on face", "edge on edge"}
        for i in range(4):  # it stands where the query says
            k = min(int(np.searchsorted(data["times"], done[i], side="right")) - 1, len(poses) - 2)
            share = (done[i] - data["times"][k]) / (data["times"][k + 1] - data["times"][k])
            ends = [
                gc.Poses.from_quat_wxyz(p[None, :3] + head["origin"], p[None, 3:])
                for p in poses[[k, k + 1], i]
            ]
            at = ends[0].toward(ends[1], share)
            np.testing.assert_allclose(at.position[0], trace.position[i], atol=1e-9)
            np.testing.assert_allclose(abs(at.unit_wxyz[0] @ trace.quat_wxyz[i]), 1.0, atol=1e-12)
    points = [[0, 0, 3.0], [20, 0, 3]]
    rays = gc.pluecker.translate(points, floor(), [0, 0, -5], backend="cpu")
    gc.view.page(rays, floor(), tmp_path / "rays.html", movers=points, displacement=[0, 0, -5], most=1)
    head, data = read_page(tmp_path / "rays.html")
    assert data["stop"].tolist() == rays.fraction[:1].tolist() and "The first 1 of 2" in head["note"]
    trace = found[0][1]
    for words, text in (
        ({}, "movers: expected those that the query was given"),
        ({"movers": movers}, "displacement: expected the motion .* got None; pass displacement= of tra"),
        ({"movers": points, "displacement": [0, 0, 1]}, "movers: expected the 4 of the result, got 2"),
        ({"movers": movers, "displacement": [0, 0, 1], "angle": 1.0}, "displacement: expected one"),
        ({"movers": movers, "angle": 1.0}, "angle: expected angle, axis and origin together"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=text):
            gc.view.page(trace, floor(), tmp_path / "no.html", **words)


def test_what_cannot_be_a_page(batch, race, tmp_path):
    contacts, bodies = batch
    hits = gc.sweep.spheres([0, 0, 3], [1, 0, -4], 0.25, floor(), backend="cpu")
    path = tmp_path / "page.html"
    for arguments, options, error, text in (
        ((contacts, bodies, "page.png"), {}, ValueError, "path: expected a name ending in .html"),
        ((contacts, bodies, 3), {}, TypeError, "path: expected the name of a file, got int"),
        ((contacts, race[1], path), {}, TypeError, "scene: expected the Bodies of the query, got Recording"),
        ((race[0], bodies, path), {}, TypeError, "scene: expected the Recording of the contacts, got Bodies"),
        ((contacts, floor(), path), {}, ValueError, "scene: expected the bodies that the result"),
        ((race[0], turning_cars(frames=6), path), {}, ValueError, "scene: expected the recording that the"),
        ((hits, floor(), path), {}, ValueError, "start: expected the one that the query was given"),
        ((hits, floor(), path), {"start": [0, 0], "displacement": [0] * 3}, ValueError, "start: expected"),
        (([], floor(), path), {}, TypeError, "result: expected Contacts, TrajectoryContacts, Traf"),
        ((contacts, bodies, path), {"up": 3}, ValueError, "up: expected 0, 1 or 2, got 3"),
        ((contacts, bodies, path), {"world": [0]}, ValueError, "world: expected shape"),
    ):  # fmt: skip
        with pytest.raises(error, match=text):
            gc.view.page(*arguments, **options)
    assert not path.exists()


def test_nothing_to_see_is_a_page_too(tmp_path):
    far = gc.Poses.from_quat_wxyz([[0, 0, 0], [90.0, 0, 0]], [UP, UP])
    bodies = gc.Bodies(gc.shapes.box(), None, far, far)
    gc.view.page(gc.collide(bodies, [[0, 1]], backend="cpu"), bodies, tmp_path / "page.html")
    assert read_page(tmp_path / "page.html")[0]["groups"] == ["pair 0: bodies 0 and 1, 0 contacts"]
    gc.view.page(gc.collide(bodies, backend="cpu"), bodies, tmp_path / "none.html")
    recording = turning_cars(1, 9)
    gc.view.page(recording.collide(backend="cpu"), recording.with_static(None), tmp_path / "alone.html")


def test_the_commands(race, tmp_path, capsys):
    arrays = demo_race(2, stations=60, seconds=8.0)
    np.savez(tmp_path / "race.npz", **arrays)
    said = ["--plain", "-q"]
    words = ["race", tmp_path / "race.npz", "-o", tmp_path / "c.npz", "--page", tmp_path / "a.html", *said]
    assert main([*map(str, words), "--backend", "cpu"]) == 0
    words = ["view", tmp_path / "c.npz", tmp_path / "race.npz", "-o", tmp_path / "b.html", *said]
    assert main([*map(str, words)]) == 0
    assert (tmp_path / "a.html").read_text() == (tmp_path / "b.html").read_text()
    mesh = ["v 0 0 0", "v 1 0 0", "v 0 1 0", "v 0 0 1", "f 1 3 2", "f 1 2 4", "f 2 3 4", "f 3 1 4"]
    (tmp_path / "a.obj").write_text("\n".join(mesh))
    still, q = [[0.0, 0, 0]], [UP]
    poses = {
        f"{w}_{s}_{k}": v
        for w in ("start", "end")
        for s in "ab"
        for k, v in (("position", still), ("quat_wxyz", q))
    }
    poses["start_b_position"], poses["end_b_position"] = [[-3.0, 0.1, 0.1]], [[3.0, 0.1, 0.1]]
    np.savez(tmp_path / "poses.npz", **poses)
    files = [tmp_path / "a.obj", tmp_path / "a.obj", tmp_path / "poses.npz"]
    words = [
        "run",
        *files,
        "-o",
        tmp_path / "p.npz",
        "--page",
        tmp_path / "c.html",
        *said,
        "--backend",
        "cpu",
    ]
    assert main([*map(str, words)]) == 0
    words = ["view", tmp_path / "p.npz", *files, "-o", tmp_path / "d.html", *said]
    assert main([*map(str, words)]) == 0
    assert (tmp_path / "c.html").read_text() == (tmp_path / "d.html").read_text()
    hits = gc.sweep.spheres([0, 0, 3], [1, 0, -4], 0.25, floor(), backend="cpu")
    hits.save(tmp_path / "hits.npz")
    capsys.readouterr()
    for words, text in (
        (["p.npz", "race.npz"], "is of pairs: expected A, B and POSES behind it"),
        (["c.npz", "a.obj", "a.obj", "poses.npz"], "is of a recording: expected that one file behind it"),
        (["hits.npz", "a.obj"], "holds Hits, which cannot be shown from files: write it in Python"),
        (["a.obj", "a.obj"], "expected a result in .npz"), (["no.npz", "a.obj"], "cannot read"),
        (["c.npz", "race.npz", "-o", "page.png"], "expected the name of a page, ending in .html"),
        (["race.npz", "race.npz"], "it lacks"),
    ):  # fmt: skip
        words = [str(tmp_path / w) if "." in w else w for w in words]
        output = [] if "-o" in words else ["-o", str(tmp_path / "e.html")]
        assert main(["view", *words, *output]) == 2
        assert text in capsys.readouterr().err, text


def test_fifty_cars_on_a_large_track_are_a_small_file(tmp_path):
    """The poses of 50 cars in 600 frames and a track of 120,000 triangles: far below 30 MB."""
    rng = np.random.default_rng(0)
    n = 245
    x, y = np.meshgrid(np.linspace(-200, 200, n), np.linspace(-200, 200, n), indexing="ij")
    track = np.stack([x, y, rng.normal(0, 0.1, x.shape)], axis=-1).reshape(-1, 3)
    a = (np.arange(n - 1)[:, None] * n + np.arange(n - 1)).ravel()
    faces = np.concatenate([np.stack([a, a + n, a + n + 1], 1), np.stack([a, a + n + 1, a + 1], 1)])
    frames = 600
    position = rng.normal(0, 50, (frames, 50, 3)) + [0, 0, 20.0]
    quat = rng.normal(0, 1, (frames, 50, 4))
    arrays = {
        "time": np.arange(frames) / 10,
        "position": position,
        "quat_wxyz": quat / np.linalg.norm(quat, axis=-1, keepdims=True),
    }
    recording = gc.Recording.from_arrays(arrays, meshes=gc.shapes.car(), static=gc.Mesh(track, faces))
    assert len(faces) > 119_000
    short = recording.poses(0, 2)
    found = gc.collide_trajectories(gc.shapes.car(), None, short, [0.0, 0.1], backend="cpu")
    gc.view.page(found, recording, tmp_path / "page.html")
    assert (tmp_path / "page.html").stat().st_size < 8e6


def test_b_meets_a_where_the_contact_is(batch):
    """The formula of the page, here in Python: A by its own screw, B by the one relative to A."""
    contacts, bodies = batch
    for c in list(contacts)[:10]:
        a, b = contacts.pairs[c["pair"]].tolist()
        on_a = bodies.start[a : a + 1].toward(bodies.end[a : a + 1], c["time"]).apply(c["local_a"])
        np.testing.assert_allclose(on_a[0], c["position"], atol=1e-11)


@pytest.mark.parametrize("kind", ["screws", "spins"])
def test_bodies_on_their_own_motions(kind, tmp_path):
    """No body is drawn by the screw of its pair, and the page has what it needs of those that spin."""
    bodies, pairs = random_impacts(gc.shapes.car(), gc.shapes.car(), 20, seed=4)
    if kind == "spins":
        way = bodies.end.position - bodies.start.position
        bodies = bodies.spinning(bodies.start, way, [0, 1, 9], center=[0.1, 0, 0])
    contacts = gc.collide(bodies, pairs, motion="body", backend="cpu")
    for world in (None, np.zeros(len(bodies), int)):
        gc.view.page(contacts, bodies, tmp_path / "page.html", world=world)
        head, data = read_page(tmp_path / "page.html")
        assert head["own"] and "its own motion" in head["note"]
        numbers = data["number"][: len(data["moving_mesh"])]
        spins = bodies.spins
        if spins is None:
            assert not len(data["spins"])
            continue
        assert data["spins"].tolist() == [1] * len(numbers)
        rows = np.concatenate([spins.displacement, spins.rotation, spins.center], axis=1)[numbers]
        np.testing.assert_array_equal(data["spin"].reshape(-1, 9), rows)
    screws = gc.Bodies(bodies.meshes, bodies.shape, bodies.start, bodies.end)
    gc.view.page(gc.collide(screws, pairs, backend="cpu"), screws, tmp_path / "page.html")
    assert not read_page(tmp_path / "page.html")[0]["own"]
