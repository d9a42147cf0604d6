"""Pages in a browser without a window: bodies are where they should be, a click on a contact jumps to it."""

import shutil

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide.scenes import random_impacts
from tests.view._pages import floor, movers_over_a_floor, read_page, turning_cars, walkers

# No GPU is needed: WebGL by the processor.
ARGUMENTS = ["--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--no-sandbox"]


@pytest.fixture(scope="module")
def browser():
    play = pytest.importorskip("playwright.sync_api", reason="pages are opened by playwright")
    with play.sync_playwright() as driver:
        installed = [shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome")]
        for path in (None, *filter(None, installed)):
            try:
                opened = driver.chromium.launch(executable_path=path, args=ARGUMENTS)
            except play.Error:
                continue
            yield opened
            opened.close()
            return
        pytest.skip("no browser: playwright install chromium, or apt install chromium")


@pytest.fixture
def open_page(browser, tmp_path):
    """A function that writes a page and opens it; whatever the browser complains of fails the test."""
    tabs, complaints = [], []

    def opened(*arguments, **options):
        path = tmp_path / f"page{len(tabs)}.html"
        gc.view.page(*arguments, path, **options)
        tab = browser.new_page(viewport={"width": 800, "height": 460})
        tabs.append(tab)
        tab.on("pageerror", lambda error: complaints.append(str(error)))
        tab.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
        tab.on(
            "request",
            lambda asked: (
                complaints.append(asked.url)
                if not asked.url.startswith(("file:", "blob:", "data:"))
                else None
            ),
        )
        tab.goto(path.as_uri())
        tab.wait_for_selector("body[data-ready=yes]", timeout=60000)
        return tab, *read_page(path)

    yield opened
    for tab in tabs:
        tab.close()
    assert complaints == []


@pytest.fixture(scope="module")
def batch():
    car = gc.shapes.car()
    bodies, pairs = random_impacts(car, car, 40, seed=4)
    return gc.collide(bodies, pairs, backend="cpu"), bodies


def test_pairs_meet_where_their_contacts_are(open_page, batch):
    contacts, bodies = batch
    tab, head, _ = open_page(contacts, bodies)
    rows = np.flatnonzero(contacts.pair >= 0)
    points = [[contacts.local_a[c].tolist(), contacts.local_b[c].tolist()] for c in rows]
    got = tab.evaluate(
        """points => points.map(([a, b], c) => {
            const s = viewer.scene, t = s.data.contact_time[c];
            s.choose(s.data.event_group[c]);
            return [apply(s.shown(s.bodies[0], t), a), apply(s.shown(s.bodies[1], t), b)];
        })""",
        points,
    )
    expected = np.repeat((contacts.position - head["origin"])[:, None], 2, axis=1)
    np.testing.assert_allclose(got, expected, atol=1e-10)  # worst seen: 2e-13, places up to 100 away


def test_bodies_move_along_their_screws(open_page):
    recording = turning_cars()
    tab, head, _ = open_page(recording.collide(backend="cpu"), recording)
    assert head["groups"] == ["race 0: 5 frames", "race 1: 4 frames"]
    times = np.random.default_rng(1).uniform(0, 1, 40)
    got = tab.evaluate(
        "times => times.map(t => viewer.scene.bodies.map(b => viewer.scene.pose(b, t)))", times.tolist()
    )
    got = np.array(got)[:, :12]
    for t, poses in zip(times, got, strict=True):
        k = int(t / 0.25)
        start, end = recording.poses()[k], recording.poses()[k + 1]
        expected = start.toward(end, (t - recording.times[k]) / 0.25)
        np.testing.assert_allclose(poses[:, :3] + head["origin"], expected.position, atol=1e-12)
        sign = np.sign((poses[:, 3:] * expected.unit_wxyz).sum(axis=1))[:, None]
        np.testing.assert_allclose(sign * poses[:, 3:], expected.unit_wxyz, atol=1e-13)


def test_a_half_turn_takes_the_same_way(open_page, batch):
    tab, _, _ = open_page(*batch[:2], most=1)
    start = gc.Poses.from_quat_wxyz([[1.0, 2, 3]], [[0.6, 0, 0.8, 0]])
    for axis in ([1.0, 2, 3], [-1.0, 0.3, 0.1], [0, 0, -1.0], [0, -2.0, 1]):
        end = gc.Poses.from_screw(axis, [1, 0, 0], np.pi, 0.3, start)
        ends = [np.concatenate([p.position[0], p.unit_wxyz[0]]).tolist() for p in (start, end)]
        got = tab.evaluate("([a, b]) => alongScrew(a, b, 0.3)", ends)
        np.testing.assert_allclose(got[:3], start.toward(end, 0.3).position[0], atol=1e-12)


def test_a_click_shows_the_data_and_jumps(open_page, batch):
    contacts, bodies = batch
    tab, head, data = open_page(contacts, bodies)
    count = data["event_group"].tolist().count(0)
    assert tab.text_content("#count") == f"0 of {count} contacts" and tab.is_hidden("#data")
    assert tab.locator(".row.ahead").count() == count
    tab.click(".row >> nth=0")
    first = int(np.flatnonzero(data["event_group"] == 0)[0])
    assert tab.evaluate("viewer.now") == contacts.time[first]
    told = dict(
        zip(*[iter(tab.locator("#fields td").all_text_contents()[k::3]) for k in (0, 1)], strict=True)
    )
    assert told["kind"] == gc.Kind(int(contacts.kind[first])).name
    assert float(told["time"]) == pytest.approx(contacts.time[first], rel=1e-5)
    assert tab.evaluate("viewer.camera.target") == pytest.approx(
        (contacts.position[first] - head["origin"]).tolist(), abs=1e-4
    )
    assert tab.locator(".row.ahead").count() == count - 1 and tab.is_visible("#data")
    tab.keyboard.press("Escape")
    assert tab.is_hidden("#data")
    tab.evaluate("viewer.seek(1)")
    assert tab.locator(".row.ahead").count() == 0, "what happened stays listed"
    box = tab.locator("#canvas").bounding_box()
    tab.wait_for_timeout(200)
    x, y = tab.evaluate(f"viewer.drawing.pixel(viewer.scene.at({first}))")
    tab.mouse.click(box["x"] + x, box["y"] + y)
    assert tab.is_visible("#data") and tab.evaluate("viewer.now") == 1
    tab.select_option("#group", "2")
    assert tab.is_hidden("#data") and tab.evaluate("viewer.now") == 0


def test_it_plays_and_contacts_light_up(open_page):
    recording = turning_cars()
    found = recording.collide(backend="cpu")
    tab, _, _ = open_page(found, recording)
    first = float(found.time.min())
    lit = "viewer.lit(viewer.now, viewer.fade).size"
    tab.evaluate(f"viewer.seek({first} - 1e-6)")
    assert tab.evaluate(lit) == 0
    tab.evaluate(f"viewer.seek({first})")
    assert tab.evaluate(lit) >= 2 and tab.locator(".row.fresh").count() >= 1
    tab.evaluate("viewer.seek(0)")
    tab.keyboard.press(" ")
    for _ in range(100):  # not wait_for_function, whose eval the page forbids
        if tab.evaluate("viewer.now") > 0.05:
            break
        tab.wait_for_timeout(50)
    assert tab.evaluate("viewer.now") > 0.05
    assert tab.text_content("#play") == "❚❚"
    tab.evaluate("viewer.play(false)")
    tab.click("#behind")
    assert tab.evaluate("viewer.chosen") is not None
    pixels = tab.screenshot()
    assert len(pixels) > 10000


def test_touched_things_stop_and_characters_walk(open_page):
    hits = gc.sweep.spheres([[0, 0, 3], [0, 1, 3]], [[1, 0, -4]] * 2, 0.25, floor(), backend="cpu")
    options = {"start": [[0, 0, 3], [0, 1, 3]], "displacement": [[1, 0, -4]] * 2, "radii": 0.25}
    tab, head, _ = open_page(hits, floor(), **options)
    at = np.array(tab.evaluate("viewer.scene.pose(0, 1)"))[:3] + head["origin"]
    np.testing.assert_allclose(at, [0.5625, 0, 0.75], atol=1e-12)
    world, start, way, found = walkers()
    tab, head, _ = open_page(found, world, start=start, displacement=way, radii=[0.3, 0.3, 0.6])
    at = np.array(tab.evaluate("viewer.scene.pose(1, 3.5)"))[:3] + head["origin"]
    np.testing.assert_allclose(at, 0.5 * (found[2].position[1] + found[3].position[1]), atol=1e-12)
    tab.click(".row >> nth=0")
    assert "lands" in tab.text_content(".row.chosen")


def test_movers_stop_where_they_touch(open_page):
    movers, found = movers_over_a_floor()
    for words, trace in found:
        tab, head, _ = open_page(trace, floor(), movers=movers, **words)
        for i in range(4):
            at = np.array(tab.evaluate(f"viewer.scene.pose({i}, viewer.scene.end)"))
            np.testing.assert_allclose(at[:3] + head["origin"], trace.position[i], atol=1e-9)
            np.testing.assert_allclose(abs(at[3:] @ trace.quat_wxyz[i]), 1.0, atol=1e-12)
        tab.click(".row >> nth=0")
        assert "mover" in tab.text_content(".row.chosen") and "body 0" in tab.text_content(".row.chosen")
        assert "fraction" in tab.text_content("#fields")
        assert "of the motion" in tab.text_content("#clock")


def test_the_list_follows_the_time_and_shows_what_is_chosen(open_page):
    """What happens now, and what the arrow keys choose, is among the rows that are seen."""
    recording = turning_cars(40, frames=41)
    found = recording.collide(backend="cpu")
    tab, head, data = open_page(found, recording)
    count = int((data["event_group"] == 0).sum())
    assert count > 60 and tab.text_content("#last") == "n"
    seen = """n => { const list = $("list"), top = n.offsetTop - list.scrollTop;
        return top >= -1 && top + 30 <= list.clientHeight + 1; }"""
    tab.evaluate("viewer.seek(0.9 * viewer.scene.end)")
    tab.wait_for_timeout(100)
    happened = int(tab.evaluate("viewer.happened()"))
    assert tab.evaluate("$('list').scrollTop") > 0 and 0 < tab.locator(".row.ahead").count()
    last = tab.locator(".row:not(.ahead) >> nth=-1")
    assert last.evaluate(seen) and tab.text_content("#count").startswith(f"{happened:,} of {count:,} ")
    tab.evaluate("viewer.seek(0)")
    tab.wait_for_timeout(100)
    assert tab.evaluate("$('list').scrollTop") == 0
    for _ in range(40):
        tab.keyboard.press("ArrowRight")
    tab.wait_for_timeout(100)
    assert tab.locator(".row.chosen").count() == 1 and tab.locator(".row.chosen").evaluate(seen)
    assert tab.evaluate("$('list').scrollTop") > 0


def test_everything_is_in_the_picture_at_first(open_page, batch):
    """All balls around bodies along their ways, of pairs far from each other and of a recording."""
    recording = turning_cars()
    for arguments in (batch, (recording.collide(backend="cpu"), recording)):
        tab, head, _ = open_page(*arguments)
        tab.wait_for_timeout(200)
        worst = tab.evaluate(
            """() => { const s = viewer.scene, c = viewer.drawing.canvas; let low = 1e9, high = -1e9;
            for (const b of s.bodies) if (b < s.moving) for (let k = 0; k <= 8; k++) {
              const p = s.pose(b, s.begin + k / 8 * (s.end - s.begin)); if (!p) continue;
              const [x, y] = viewer.drawing.pixel(place(p)), u = x / c.clientWidth, v = y / c.clientHeight;
              low = Math.min(low, u, v); high = Math.max(high, u, v);
            } return [low, high]; }"""
        )
        assert worst[0] > 0.02 and worst[1] < 0.98, worst


def test_bodies_that_spin_are_where_they_are(open_page):
    """`alongSpin` is `Bodies.poses_at`; measured: 2e-15."""
    bodies, pairs = random_impacts(gc.shapes.car(), gc.shapes.car(), 6, seed=4)
    way = bodies.end.position - bodies.start.position
    bodies = bodies.spinning(bodies.start, way, [0.5, 1, 9], center=[0.1, 0.2, 0])
    tab, head, data = open_page(gc.collide(bodies, pairs, motion="body", backend="cpu"), bodies)
    body, other = data["number"][data["group_bodies"][:2]]
    for t in (0.0, 0.3, 1.0):
        got = tab.evaluate("t => viewer.scene.bodies.map(b => viewer.scene.shown(b, t))", t)
        expected = bodies.poses_at(t)
        for pose, k in zip(got, (body, other), strict=True):
            np.testing.assert_allclose(np.array(pose[:3]) + head["origin"], expected.position[k], atol=1e-12)
            sign = np.sign(np.dot(pose[3:], expected.unit_wxyz[k]))
            np.testing.assert_allclose(sign * np.array(pose[3:]), expected.unit_wxyz[k], atol=1e-13)
