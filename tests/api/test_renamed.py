"""Names of earlier versions still work, warn once at the caller's line, and give the same."""

import io
import json
import warnings

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide.results.npz import checksums

BOX = gc.shapes.box()
HOW = {"backend": "cpu"}


def placed(*where):
    poses = gc.Poses.from_quat_wxyz(np.array(where, float), [[1, 0, 0, 0]] * len(where))
    return gc.Bodies(BOX, None, poses, poses)


MOVERS, STILL = placed([0, 0, 3]), placed([0, 0, 0], [0, 0, 1.2])
DOWN, UP = [[0, 0, -4.0]], [[0, 0, 5.0]]


def scene():
    return gc.Scene(BOX, [0, 0], STILL.start, world=[3, 4], backend="cpu")


def own(**names):
    return gc.pluecker.translate(STILL, STILL, [0, 0, -1.0], **names, **HOW)


def vertex(**names):
    square = [[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]]
    return gc.pluecker.vertex_polygon_translation([0, 0, 2], polygon=square, **names, **HOW)


def edge(**names):
    y, x = [[0, -1, 2], [0, 1, 2]], [[-1, 0, 0], [1, 0, 0]]
    return gc.pluecker.edge_edge_translation(y, still=x, **names, **HOW)


P, S = gc.pluecker, gc.sweep
CLUSTER = S.Cluster([[0, 0, 0]], [0.5])
HALF = [0.5, 0.5, 0.5]
PATHS = {"path": DOWN, "world": STILL}, {"displacement": DOWN, "obstacles": STILL}
WORLD = {"world": STILL}, {"obstacles": STILL}
#: The call, its keywords of before and of today.
KEYWORDS = {
    "translate": (lambda **n: P.translate(MOVERS, **n, **HOW), {"vector": DOWN, "world": STILL}, PATHS[1]),
    "rotate": (lambda **n: P.rotate(MOVERS, angle=1.0, axis=[0, 1, 0], origin=[3, 0, 3], **n, **HOW), *WORLD),
    "move": (lambda **n: P.move(MOVERS, end=placed([0, 0, 0]).start, **n, **HOW), *WORLD),
    "contacts": (lambda **n: P.contacts(MOVERS, distance=2.0, **n, **HOW), *WORLD),
    "own": (own, {"own": [0, 1]}, {"exclude_body": [0, 1]}),
    "vertices": (vertex, {"vector": DOWN}, {"displacement": DOWN}),
    "edges": (edge, {"vector": DOWN}, {"displacement": DOWN}),
    "rays": (lambda **n: S.rays(UP, **n, **HOW), *PATHS),
    "spheres": (lambda **n: S.spheres(UP, radius=0.5, **n, **HOW), *PATHS),
    "ellipsoids": (lambda **n: S.ellipsoids(UP, radii=HALF, **n, **HOW), *PATHS),
    "clusters": (lambda **n: S.clusters(CLUSTER, UP, **n, **HOW), *PATHS),
    "planes": (lambda **n: S.planes(position=[0, 0, 2.3], radii=HALF, reach=0.5, **n, **HOW), *WORLD),
    "slide": (lambda **n: S.slide(position=[0, 0, 3], radii=HALF, velocity=DOWN, **n, **HOW), *WORLD),
}  # fmt: skip


def warned(call, count):
    """What a call gives, and its warnings: so many, of old names, at a line of this file."""
    with warnings.catch_warnings(record=True) as got:
        warnings.simplefilter("always")
        found = call()
    assert [w.category for w in got] == [FutureWarning] * count
    assert all(w.filename == __file__ for w in got)
    return found, " ".join(str(w.message) for w in got)


def same(one, two):
    if isinstance(one, np.ndarray):
        assert one.tobytes() == two.tobytes()
        return
    for name in one._format.fields:
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))


@pytest.mark.parametrize("name", KEYWORDS)
def test_keywords(name):
    call, old, new = KEYWORDS[name]
    expected, _ = warned(lambda: call(**new), 0)
    found, text = warned(lambda: call(**old), len(old))
    assert all(f"is now called {word}=" in text for word in new)
    same(found, expected)
    before, today = next(zip(old, new, strict=True))
    with pytest.raises(TypeError, match=f"{today}: expected once, got {before}"):
        call(**old, **{today: new[today]})


def test_world_is_a_number_or_what_it_was():
    with scene() as there:
        expected, _ = warned(lambda: P.translate(MOVERS, there, DOWN, world=3), 0)
        found, text = warned(lambda: P.translate(MOVERS, displacement=DOWN, world=there, in_world=3), 2)
        same(found, expected)
        assert "translate(world=) is now called obstacles=" in text and "called world=" in text
        assert P.translate(MOVERS, there, DOWN, world=4).fraction[0] < found.fraction[0]


def test_pages_and_files(tmp_path):
    hits = S.spheres(UP, DOWN, 0.5, STILL, **HOW)
    given = {"start": UP, "radii": 0.5}
    gc.view.page(hits, STILL, tmp_path / "new.html", displacement=DOWN, **given)
    _, text = warned(lambda: gc.view.page(hits, STILL, tmp_path / "old.html", way=DOWN, **given), 1)
    assert "page(way=) is now called displacement=" in text
    assert (tmp_path / "old.html").read_bytes() == (tmp_path / "new.html").read_bytes()
    _, text = warned(lambda: gc.view.keep(hits, STILL, tmp_path / "old.npz", way=DOWN, **given), 2)
    assert "gpu_collide.view.keep is now called save_result" in text
    (again, _, how), text = warned(lambda: gc.view.kept(tmp_path / "old.npz"), 1)
    assert "gpu_collide.view.kept is now called load_result" in text
    same(again, hits)
    assert how.keys() == {"start", "displacement", "radii"}


def test_files_that_say_way(tmp_path):
    """Files of format 1 are read, and their arguments have the names of today."""
    hits, path = S.spheres(UP, DOWN, 0.5, STILL, **HOW), tmp_path / "hits.npz"
    gc.view.save_result(hits, STILL, path, start=UP, displacement=DOWN, radii=0.5)
    with np.load(path) as file:
        arrays = dict(file)
    tree = json.loads(str(arrays["scene"]))
    tree["how"] = {"way" if name == "displacement" else name: node for name, node in tree["how"].items()}
    np.savez(path, **arrays | {"scene": np.array(json.dumps(tree | {"format": 1}))})
    again, _, how = gc.view.load_result(path)
    same(again, hits)
    assert how["displacement"].tolist() == DOWN


def hop():
    """A box that falls on another one, along a trajectory."""
    frames = gc.Poses.from_quat_wxyz([[[0, 0, z]] for z in (3.0, 1.5, 0.5)], [[[1, 0, 0, 0]]] * 3)
    return gc.collide_trajectories(BOX, None, frames, [0.0, 1.0, 2.0], static=placed([0, 0, 0]), **HOW)


def slides():
    return S.slide(STILL, [0, 0, 3.0], HALF, DOWN, gravity=[0, 0, -0.1], **HOW)


def planes():
    return S.planes(STILL, [0, 0, 2.3], HALF, 0.5, **HOW)


def clipped():
    return S.clip(DOWN, [[0, 0, 1.0]], [0, 1], **HOW)


#: What makes a result, the old and the new name of its field, and the version and class of its old files.
FIELDS = {
    "TrajectoryContacts": (hop, "share", "fraction", 4, "TrajectoryContacts"),
    "Slides": (slides, "fall", "fall_velocity", 1, "Slides"),
    "Planes": (planes, "motion", "body_displacement", 1, "Planes"),
    "ClippedVelocities": (clipped, "bent", "active_planes", 1, "Clipped"),
}


@pytest.mark.parametrize("name", FIELDS)
def test_fields(name):
    make, old, new, *_ = FIELDS[name]
    result, _ = warned(make, 0)
    assert type(result).__name__ == name and len(result)
    there, text = warned(lambda: getattr(result, old), 1)
    assert there is getattr(result, new)
    assert text == f"{name}.{old} is now called {new}; the old name works in this version only"
    assert warned(lambda: hasattr(result, "nothing"), 0)[0] is False
    assert new in result[0].dtype.names and old not in result[0].dtype.names


@pytest.mark.parametrize("name", FIELDS)
def test_old_files(name):
    """Arrays under their old names, with checksums of these, and the old name of the class."""
    make, old, new, version, kind = FIELDS[name]
    result = make()
    result.save(file := io.BytesIO())
    file.seek(0)
    with np.load(file) as now:
        arrays = {old if key == new else key: now[key] for key in now.files if key != "checksums"}
    arrays |= {"format_version": np.int64(version), "format_kind": np.array(kind)}
    np.savez(file := io.BytesIO(), **arrays, checksums=np.array(checksums(arrays)))
    file.seek(0)
    again, _ = warned(lambda: type(result).load(file), 0)
    same(again, result)
    arrays[old] = arrays[old] + 1
    np.savez(
        file := io.BytesIO(), **arrays, checksums=np.array(checksums(arrays | {old: getattr(result, new)}))
    )
    file.seek(0)
    with pytest.raises(ValueError, match=f"damaged: {old}: it is not what was saved"):
        type(result).load(file)


def test_the_class_of_clipped_velocities():
    there, text = warned(lambda: S.Clipped, 1)
    assert there is S.ClippedVelocities and "is now called ClippedVelocities" in text
    with pytest.raises(AttributeError, match="has no attribute 'Bent'"):
        S.Bent  # noqa: B018


OLD_TUNING = {"broad_phase": "off", "filters": "none", "features": "all", "candidates": "pairs"}


@pytest.mark.parametrize("name", ["collide", "collide_trajectories", "Scene.collide"])
def test_keywords_that_became_a_tuning(name):
    bodies, asked = placed([0, 0, 0], [0, 0, 1.2]), {"still_pairs": True}
    at = gc.Poses.from_quat_wxyz([bodies.start.position] * 2, [bodies.start.quat_wxyz] * 2)
    call = {
        "collide": lambda **n: gc.collide(bodies, **asked, **n, **HOW),
        "collide_trajectories": lambda **n: gc.collide_trajectories(
            BOX, None, at, [0, 1], **asked, **n, **HOW
        ),
        "Scene.collide": lambda **n: gc.Scene(BOX, None, bodies.start, **asked, **HOW).collide(**n),
    }[name]
    expected, _ = warned(lambda: call(tuning=gc.Tuning(**OLD_TUNING)), 0)
    found, text = warned(lambda: call(**OLD_TUNING), 4)
    assert all(f"{name}({old}=) is now called tuning=gc.Tuning({old}=)" in text for old in OLD_TUNING)
    assert found.time.tobytes() == expected.time.tobytes()
    with pytest.raises(TypeError, match="tuning: expected all in one Tuning, got filters beside it"):
        call(filters="none", tuning=gc.Tuning())


def test_a_broad_phase_that_became_a_tuning():
    bodies = placed([0, 0, 0], [0, 0, 9.0])
    asked = {"still_pairs": True, **HOW}
    for tuned, old in (
        (lambda **n: gc.find_pairs(bodies, **asked, **n), "find_pairs"),
        (lambda **n: gc.BroadPhase(2, **asked, **n).find_pairs(bodies), "BroadPhase"),
        (lambda **n: gc.Scene(BOX, None, bodies.start, **asked).find_pairs(**n), "Scene.find_pairs"),
    ):
        assert len(tuned()) == 0
        expected, _ = warned(lambda tuned=tuned: tuned(tuning=gc.Tuning(broad_phase="off")), 0)
        found, text = warned(lambda tuned=tuned: tuned(broad_phase="off"), 1)
        assert text.startswith(f"{old}(broad_phase=) is now called tuning=gc.Tuning(broad_phase=)")
        assert found.tolist() == expected.tolist() == [[0, 1]]


def test_a_tuning_is_a_value_that_every_query_takes():
    bodies, pairs = placed([0, 0, 0], [0, 0, 1.2]), [[0, 1]]
    one, other = gc.Tuning(filters=["plane", "boxes"]), gc.Tuning(filters=("plane", "boxes"))
    assert one == other and hash(one) == hash(other) and one.filters == ("plane", "boxes")
    everything = gc.Tuning(broad_phase="off", filters="none")
    assert len(gc.collide(bodies, pairs, tuning=everything, **HOW).pairs) == 1, "pairs are those given"
    for wrong in ("off", {"filters": "none"}, 3):
        with pytest.raises(TypeError, match="tuning: expected gpu_collide.Tuning or None, got"):
            gc.collide(bodies, pairs, tuning=wrong, **HOW)
