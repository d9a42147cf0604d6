"""Pictures: that they can be drawn for every kind of pair, and that what they show is where it should be."""

import sys

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib", reason="pictures need matplotlib")
matplotlib.use("agg")

import gpu_collide as gc  # noqa: E402
from gpu_collide import view  # noqa: E402
from gpu_collide.errors import MissingExtraError  # noqa: E402
from gpu_collide.results.contacts import CONTACT_DTYPE  # noqa: E402
from gpu_collide.scenes import random_impacts  # noqa: E402
from gpu_collide.view import pair as pair_view  # noqa: E402
from gpu_collide.view.screen import on_screen, rasterize, screw_of  # noqa: E402
from tests.support.reference import collide_reference  # noqa: E402

UNIT = [1.0, 0.0, 0.0, 0.0]


@pytest.fixture(autouse=True)
def close_figures():
    yield
    matplotlib.pyplot.close("all")


def cubes(start_b, end_b, quat_end_b=UNIT):
    """Bodies of a cube at rest at the origin and one that moves."""
    start = gc.Poses.from_quat_wxyz([[0.0, 0, 0], start_b], [UNIT, UNIT])
    end = gc.Poses.from_quat_wxyz([[0.0, 0, 0], end_b], [UNIT, quat_end_b])
    return gc.Bodies(gc.shapes.box(), None, start, end)


def contacts_of(bodies, pair=(0, 1)):
    return collide_reference(bodies, [pair]).of_pair(0)


CASES = {
    "translation": cubes([-3, 0.1, 0.2], [3, 0.1, 0.2]),
    "turn": cubes([-3, 0.1, 0.2], [3, 0.3, 0.2], [0.8, 0, 0, 0.6]),
    "axis through both": cubes([0.9, 0, 0.2], [0.9, 0, 0.2], [0.8, 0, 0, 0.6]),
    "half turn": cubes([-3, 0.1, 0.2], [1, 0.1, 0.2], [0, 0, 0, 1]),
    "no contact": cubes([-3, 5, 0.2], [3, 5, 0.2]),
    "far apart": cubes([-3, 50, 0.2], [3, 50, 0.2], [0.8, 0, 0, 0.6]),
}


@pytest.mark.parametrize("name", CASES)
def test_both_pictures_of_every_kind_of_motion(name, tmp_path):
    bodies = CASES[name]
    contacts = contacts_of(bodies)
    for draw in (view.plot_screen, view.plot_contacts):
        path = tmp_path / "picture.png"
        view.save(draw(bodies, (0, 1), contacts), path, dpi=40)
        assert path.read_bytes().startswith(b"\x89PNG")
    assert not matplotlib.pyplot.get_fignums(), "save closes the figure"


def test_bodies_at_rest_have_no_screen_but_a_picture_in_space():
    bodies = cubes([0.5, 0, 1.0], [0.5, 0, 1.0])
    with pytest.raises(ValueError, match="no relative motion"):
        view.plot_screen(bodies, (0, 1), contacts_of(bodies))
    view.plot_contacts(bodies, (0, 1), contacts_of(bodies))


def test_an_invalid_pose_is_named():
    bodies = cubes([-3, 0, 0], [np.nan, 0, 0])
    for draw in (view.plot_screen, view.plot_contacts):
        with pytest.raises(ValueError, match="end pose of body 1"):
            draw(bodies, (0, 1), np.zeros(0, CONTACT_DTYPE))


def test_contacts_are_found_when_left_out():
    figure = view.plot_contacts(CASES["translation"], (0, 1))
    assert "contacts, first at t = 0.3333" in " ".join(text.get_text() for text in figure.texts)


@pytest.fixture(scope="module")
def impact():
    """A pair of cars with contacts: bodies, pair, contacts."""
    car = gc.shapes.car()
    bodies, pairs = random_impacts(car, car, 60, seed=4)
    found = collide_reference(bodies, pairs)
    i = int(np.argmax(np.diff(found.contact_start)))
    return bodies, pairs[i], found.of_pair(i)


def test_b_is_drawn_where_it_touches_a(impact):
    bodies, pair, contacts = impact
    assert len(contacts) > 2
    screw = screw_of(bodies, pair)
    for c in contacts:
        place = pair_view.place_b(screw, c["local_b"][None], c["time"])[0]
        np.testing.assert_allclose(place, c["local_a"], atol=1e-11)  # worst seen: 9e-16, radius 2.2


def test_normals_are_drawn_as_the_faces_stand():
    bodies, pairs = random_impacts(gc.shapes.car(), n=60, seed=4)
    found, seen = collide_reference(bodies, pairs), 0
    planes = bodies.meshes[0].face_planes
    for i, pair in enumerate(pairs):
        contacts = found.of_pair(i)
        screw = screw_of(bodies, pair)
        for c in contacts[contacts["kind"] == gc.Kind.FV]:
            drawn = pair_view.seen_by_a(screw, c["normal"], c["time"])
            np.testing.assert_allclose(drawn, planes[c["feature_a"], :3], atol=1e-12)
            seen += 1
    assert seen > 5


def test_points_that_meet_share_a_place_on_the_screen(impact):
    bodies, pair, contacts = impact
    screw = screw_of(bodies, pair)
    places = []
    for points in (screw.from_a(contacts["local_a"]), screw.from_b(contacts["local_b"])):
        places.append(on_screen(screw, points, screw.cylinder(points)[1]))
    np.testing.assert_allclose(*places, atol=1e-11)


def test_a_contact_lies_on_a_pixel_of_both_bodies(impact):
    bodies, pair, contacts = impact
    edge_edge = contacts[contacts["kind"] == gc.Kind.EE]
    assert len(edge_edge)
    screen = rasterize(bodies, pair, resolution=6.0)
    at = screen.screw.from_a(edge_edge["local_a"])
    h, r = on_screen(screen.screw, at, screen.screw.cylinder(at)[1]).T
    column = np.floor((h - screen.left) / screen.height).astype(int)
    row = np.floor((r - screen.bottom) / screen.height).astype(int)
    assert screen.taken[:, row, column].all()


def test_finer_rows_take_a_smaller_share_of_the_screen(impact):
    bodies, pair, _ = impact
    coarse, fine = (rasterize(bodies, pair, resolution=n) for n in (6, 24))
    assert fine.height == pytest.approx(coarse.height / 4)
    assert fine.taken.mean() < 0.5 * coarse.taken.mean()


def demo_pairs():
    """What ``gpu-collide demo --save-input --pairs 1000`` saves."""
    car = gc.shapes.car()
    return random_impacts(car, car, 1000, seed=1)


def check_screen(bodies, pair):
    screen = rasterize(bodies, pair, 6.0)
    assert all(len(curves) for curves in screen.curves) and np.isfinite(screen.left + screen.height)


def test_pairs_whose_turns_do_not_meet_have_a_screen():
    """16 of the demo's 1,000 pairs, pair 7 among them, ended in numpy.concatenate of nothing."""
    bodies, pairs = demo_pairs()
    for k in (7, 24, 92, 100, 111, 394, 455, 479, 540, 635, 644, 819, 870, 977, 979, 997):
        check_screen(bodies, pairs[k])
    assert view.plot_screen(bodies, pairs[7]).axes


@pytest.mark.slow
def test_every_pair_of_the_demo_has_a_screen():
    bodies, pairs = demo_pairs()
    for pair in pairs:
        check_screen(bodies, pair)
        matplotlib.pyplot.close(view.plot_screen(bodies, pair))


@pytest.mark.parametrize("resolution", [1e4, 1e9])
def test_a_picture_of_too_many_pixels_is_refused(resolution):
    """A resolution of 1e9 took memory and time without end."""
    with pytest.raises(ValueError, match="resolution: expected a picture of at most .* lower resolution"):
        view.plot_screen(CASES["turn"], (0, 1), resolution=resolution)


def test_a_pair_without_a_face_that_can_be_hit_has_a_screen(tmp_path):
    sheet = gc.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])
    start = gc.Poses.from_quat_wxyz([[0, 0, 0], [0, 0, 1]], [UNIT] * 2)
    end = gc.Poses.from_quat_wxyz([[0, 0, 0], [0, 0, -1]], [UNIT] * 2)
    for bodies in (gc.Bodies(sheet, None, start, end), gc.Bodies(sheet, None, end, start)):
        view.save(view.plot_screen(bodies, (0, 1)), tmp_path / "screen.png", dpi=40)


def collision_course(speeds=(1.0, -1.0)):
    """Two boxes that drive along x over a ground, into each other and into a wall."""
    boxes = gc.shapes.box((1, 1, 1)), gc.shapes.box((2, 1, 1)), gc.shapes.box((40, 40, 1))
    here = gc.Poses.from_quat_wxyz([[0, 0, -1.2], [9.5, 0, 0]], [UNIT] * 2)
    still = gc.Bodies([boxes[2], gc.shapes.box((1, 9, 1))], [0, 1], here, here)
    t = np.arange(12.0)
    x = np.stack([speeds[0] * t - 5.0, speeds[1] * t + 4.0], axis=1)
    position = np.stack([x, 0 * x, 0 * x], axis=-1)
    turned = np.broadcast_to(UNIT, (12, 2, 4))
    arrays = {"time": t, "position": position, "quat_wxyz": turned}
    return gc.Recording.from_arrays(arrays, meshes=boxes[:2], shape=[0, 1], static=still)


@pytest.fixture(scope="module")
def course():
    recording = collision_course()
    return recording, recording.collide(backend="cpu")


def legend_of(figure):
    legends = [*figure.legends, *(ax.get_legend() for ax in figure.axes if ax.get_legend())]
    return [text.get_text() for legend in legends for text in legend.get_texts()]


def test_a_track_tells_bodies_and_kinds_of_contact_apart(course):
    recording, found = course
    figure = view.plot_track(recording, found)
    words = legend_of(figure)
    assert words[:2] == ["body 0", "body 1"] and "contact of two bodies" in words
    stars = [c for c in figure.axes[0].collections if type(c).__name__ == "PathCollection"]
    met = found.encounters()
    assert sum(len(c.get_offsets()) for c in stars) == len(met) > 0
    lines = [c for c in figure.axes[0].collections if type(c).__name__ == "LineCollection"]
    assert len({tuple(c.get_colors()[0]) for c in lines if len(c.get_segments())}) == 2
    driven = collision_course((1.5, 1.5))
    words = legend_of(view.plot_track(driven, driven.collide(backend="cpu")))
    assert "contact with what stands still" in words and "contact of two bodies" not in words


def test_colours_of_many_bodies_differ():
    from gpu_collide.view.track import body_colors

    for count in (0, 1, 8, 50):
        assert len(set(body_colors(count))) == count


def test_skipped_steps_leave_a_gap():
    recording = collision_course((1.0, -1.0))
    found = recording.collide(backend="cpu", max_speed=0.5)
    words = legend_of(view.plot_track(recording, found))
    assert "skipped: teleport" in words


def test_bodies_of_a_step_are_those_of_the_contacts(course):
    recording, found = course
    step = int(found.step[0])
    bodies = recording.bodies(step)
    assert len(bodies) == 4 and bodies.meshes[bodies.shape[1]] is recording.meshes[1]
    a, b = int(found.body_a[0]), int(found.body_b[0])
    again = gc.collide(bodies, [[a, b]], backend="cpu")
    mine = found[(found.step == step) & (found.body_a == a) & (found.body_b == b)]
    np.testing.assert_array_equal(again.position, mine.position)
    np.testing.assert_array_equal(again.time, mine.fraction)
    for step in (-1, 11, 100):
        with pytest.raises(IndexError, match=f"step {step} is none"):
            recording.bodies(step)
    with pytest.raises(TypeError, match="step: expected an integer"):
        recording.bodies(0.5)


def test_an_event_is_drawn_where_it_is(course, tmp_path):
    recording, found = course
    encounter = found.encounters()[0]
    figure = view.plot_contacts(recording, encounter)
    words = legend_of(figure)
    assert "A: body 0" in words and "normal, from A to B" in words
    texts = " ".join(text.get_text() for text in figure.texts)
    assert f"in step {encounter['hardest_step']}" in texts and "contacts in this step" in texts
    for ax in figure.axes[:2]:  # the contact is the origin, and in the picture
        low, high = np.array([ax.get_xlim(), ax.get_ylim(), ax.get_zlim()]).T
        assert (low < 0).all() and (high > 0).all() and (high - low < 12).all()
    view.save(view.plot_contacts(recording, found[0]), tmp_path / "event.png", dpi=40)
    with pytest.raises(TypeError, match="event: expected a row of Encounters"):
        view.plot_contacts(recording, (0, 1))
    with pytest.raises(ValueError, match="up: expected none for a pair"):
        view.plot_contacts(recording.bodies(0), (0, 1), up=2)


def test_polygons_are_cut_at_a_cube():
    from gpu_collide.view.event import clipped

    triangle = np.array([[-9.0, -9, 0], [9, -9, 0], [0, 9, 0]])
    cut = clipped(triangle, 1.0)
    area = 0.5 * np.linalg.norm(np.cross(cut[1:-1] - cut[0], cut[2:] - cut[0]).sum(axis=0))
    assert (np.abs(cut) <= 1 + 1e-12).all() and area == pytest.approx(4.0)
    assert len(clipped(triangle + [0, 0, 2], 1.0)) == 0


def test_poses_along_a_screw():
    """Against poses made with the axis given: what is found is the same screw, at any share of it."""
    rng = np.random.default_rng(3)
    n = 200
    start = gc.Poses.from_quat_wxyz(rng.normal(0, 5, (n, 3)), _units(rng, n))
    axis, point = rng.normal(0, 1, (n, 3)), rng.normal(0, 5, (n, 3))
    angle, pitch = rng.uniform(0, 3.1, n), rng.normal(0, 2, n)
    angle[:20], angle[20:40] = 0.0, 10.0 ** rng.uniform(-12, -3, 20)
    end = gc.Poses.from_screw(axis, point, angle, pitch, start)
    share = rng.uniform(0, 1, n)
    found = start.toward(end, share)
    expected = gc.Poses.from_screw(axis, point, share * angle, share * pitch, start)
    points = rng.normal(0, 1, (n, 3))
    # worst seen: 2e-14, where the turn is 1e-12 and its axis far away 1e-9 of that
    np.testing.assert_allclose(found.apply(points), expected.apply(points), atol=1e-12)
    for share, exact in ((0.0, start), (1.0, end)):
        np.testing.assert_allclose(start.toward(end, share).apply(points), exact.apply(points), atol=1e-13)
    bad = gc.Poses.from_quat_wxyz([[np.nan, 0, 0]], [UNIT])
    assert not bad.toward(start[:1], 0.5).valid.any()


def _units(rng, n):
    quat = rng.normal(0, 1, (n, 4))
    return quat / np.linalg.norm(quat, axis=1, keepdims=True)


def test_half_turns_go_the_way_of_the_contacts():
    """Of two screws the one that `collide` takes: a contact lies on A where A is at that time."""
    rng, seen = np.random.default_rng(8), 0
    for _ in range(40):
        first, axis = _units(rng, 1)[0], rng.normal(0, 1, 3)
        start = gc.Poses.from_quat_wxyz([rng.normal(0, 0.5, 3), [1.0, 1.2, 0.3]], [first, UNIT])
        end = gc.Poses.from_screw(axis, rng.normal(0, 1, 3), np.pi, 0.5, start[:1])
        still = gc.Poses.from_quat_wxyz(
            np.concatenate([end.position, start.position[1:]]), np.concatenate([end.quat_wxyz, [UNIT]])
        )
        bodies = gc.Bodies(gc.shapes.box((3, 1, 1)), None, start, still)
        for c in collide_reference(bodies, [(0, 1)]).of_pair(0):
            at = start[:1].toward(end, c["time"]).apply(c["local_a"])
            np.testing.assert_allclose(at[0], c["position"], atol=1e-9)  # worst seen: 3e-15
            seen += 1
    assert seen > 8


def test_a_notebook_shows_a_figure_once(monkeypatch, course):
    monkeypatch.setattr(matplotlib, "get_backend", lambda: "module://matplotlib_inline.backend_inline")
    bodies = CASES["turn"]
    for draw in (
        lambda: view.plot_screen(bodies, (0, 1), contacts_of(bodies)),
        lambda: view.plot_contacts(bodies, (0, 1), contacts_of(bodies)),
        lambda: view.plot_track(*course),
        lambda: view.plot_contacts(course[0], course[1][0]),
    ):
        assert draw().axes and not matplotlib.pyplot.get_fignums()


def test_view_is_there_without_an_import_of_its_own(monkeypatch):
    assert gc.view.plot_contacts is view.plot_contacts and "plot_track" in dir(gc.view)
    with pytest.raises(AttributeError, match="no attribute 'plot_nothing'"):
        _ = gc.view.plot_nothing
    for name in [n for n in sys.modules if n.startswith(("matplotlib", "mpl_toolkits", "gpu_collide.view."))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delattr(gc.view, "pictures", raising=False)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(MissingExtraError, match=r"gpu-collide\[view\]"):
        _ = gc.view.plot_contacts
