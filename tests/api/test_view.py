"""Pictures: that they can be drawn for every kind of pair, and that what they show is where it should be."""

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib", reason="pictures need matplotlib")
matplotlib.use("agg")

import gpu_collide as gc  # noqa: E402
from gpu_collide import view  # noqa: E402
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
