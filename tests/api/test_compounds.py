"""`Compound`: several shapes of any kind as one body, against its parts as bodies of their own."""

import copy
import pickle

import numpy as np
import pytest

import gpu_collide as gc

BOX = gc.shapes.box()
HANDLE, HEAD = gc.shapes.box((0.1, 0.1, 1)), gc.shapes.box((0.5, 0.2, 0.2))
BALL = gc.shapes.sphere(0.3)
ONE = [1.0, 0, 0, 0]
KINDS = [BOX, BALL, gc.shapes.capsule(0.2, 1.0), gc.shapes.rounded_box(0.8, 0.2), gc.shapes.l_block(0.7)]


def poses(*positions, quat=ONE):
    return gc.Poses.from_quat_wxyz(np.array(positions, float), [quat] * len(positions))


def random_poses(rng, n, spread=1.0):
    quat = rng.normal(size=(n, 4))
    return gc.Poses.from_quat_wxyz(
        spread * rng.normal(size=(n, 3)), quat / np.linalg.norm(quat, axis=1)[:, None]
    )


def hammer(at=0.6, names=("handle", "head"), head=HEAD):
    return gc.Compound([HANDLE, head], poses([0, 0, 0], [0, 0, at]), names=names)


def crowd(rng, kinds, n, per_body=3, spread=3.0):
    """Bodies of random parts, and the parts as bodies of their own: the pairs of each pair of bodies."""
    compounds, meshes, places, body = [], [], [], []
    for k in range(n):
        chosen = [kinds[i] for i in rng.integers(len(kinds), size=per_body)]
        at = random_poses(rng, per_body, 0.6)
        compounds.append(gc.Compound(chosen, at))
        meshes += [gc.Compound([part]) for part in chosen]  # so that balls turn as their poses say
        places.append(at)
        body += [k] * per_body
    start, end = random_poses(rng, n, spread), random_poses(rng, n, spread)
    return compounds, start, end, (meshes, gc.Poses.concatenate(places), np.array(body))


def least_of(values, rows, body, pairs):
    """The least of the values of pairs of parts, of each pair of bodies."""
    key = {tuple(pair): k for k, pair in enumerate(pairs.tolist())}
    least = np.full(len(pairs), np.inf)
    np.minimum.at(least, [key[tuple(body[row])] for row in rows.tolist()], values)
    return least


@pytest.mark.parametrize("motion", ["relative", "body", "spins"])
def test_compounds_meet_and_come_near_as_their_parts_do(backend, motion):
    """The parts as bodies of their own, each on the motion that its own poses or velocities say."""
    rng, n = np.random.default_rng(len(motion)), 9
    compounds, start, end, (meshes, places, body) = crowd(rng, KINDS, n, spread=2.0)
    how = {"motion": "relative" if motion == "relative" else "body", "backend": backend.kind}
    each, every = np.arange(n), np.arange(len(body))
    if motion == "spins":
        speed = 2 * rng.normal(size=(2, n, 3))
        center = rng.normal(size=(n, 3))
        whole = gc.Bodies.from_velocities(compounds, each, start, *speed, center=center)
        own = places.inverse().apply(center[body])
        parts = gc.Bodies.from_velocities(meshes, every, start[body] @ places, *speed[:, body], center=own)
        # the velocity is that of the same point of the body
    else:
        whole = gc.Bodies(compounds, each, start, end)
        parts = gc.Bodies(meshes, every, start[body] @ places, end[body] @ places)
    pairs = np.stack(np.triu_indices(n, 1), axis=1)
    rows = np.stack(np.triu_indices(len(body), 1), axis=1)
    rows = rows[body[rows[:, 0]] != body[rows[:, 1]]]
    found, judge = gc.collide(whole, pairs, contacts="first", **how), gc.collide(parts, rows, **how)
    toi = least_of(judge.toi, judge.pairs, body, pairs)
    assert 4 < np.isfinite(toi).sum() < len(pairs) and np.array_equal(
        np.isfinite(found.toi), np.isfinite(toi)
    )
    met = np.isfinite(toi)
    assert np.allclose(found.toi[met], toi[met], rtol=0, atol=1e-12)  # worst seen 4e-14, 6,480 pairs
    assert (found.time == found.toi[found.pair]).all()
    overlap = least_of(-(judge.status == gc.Status.INITIAL_OVERLAP).astype(float), judge.pairs, body, pairs)
    assert np.array_equal(found.status == gc.Status.INITIAL_OVERLAP, overlap < 0)

    near, judge = gc.clearance(whole, pairs, **how), gc.clearance(parts, rows, **how)
    least = least_of(judge.distance, judge.pairs, body, pairs)
    assert np.allclose(near.distance, least, rtol=0, atol=1e-12)  # worst seen 2e-14
    assert (near.lower_bound <= near.distance).all()
    at = [0.0, 0.3, 0.3, 1.0]
    near = gc.clearance(whole, pairs, at=at, **how)
    judge = gc.clearance(parts, rows, at=at, **how).distance.reshape(-1, 4)
    least = np.stack([least_of(judge[:, k], rows, body, pairs) for k in range(4)], axis=1)
    apart = least > 0  # depths are those of regions: of parts that overlap each other they differ
    assert np.array_equal(near.distance.reshape(-1, 4) > 0, apart) and 5 < (~apart).sum() < apart.sum()
    assert np.allclose(near.distance.reshape(-1, 4)[apart], least[apart], rtol=0, atol=1e-12)  # 5e-14
    assert (np.diff(near.distance.reshape(-1, 4)[:, 1:3]) == 0).all()


def test_round_parts_go_round_with_their_body(backend):
    """A ball and a wheel on the end of an arm that turns by a right angle: they meet posts on their arc."""
    shapes = [gc.shapes.box((2, 0.1, 0.1)), gc.shapes.sphere(0.25), gc.shapes.cylinder(0.25, 0.1)]
    arm = gc.Compound(shapes, poses([1, 0, 0], [2, 0, 0], [-2, 0, 0]), names=["arm", "ball", "wheel"])
    angle, half = 1.0, np.pi / 4
    out = 2 * np.array([np.cos(angle), np.sin(angle), 0])
    posts = gc.Poses.from_quat_wxyz([out, -out], [ONE, ONE])
    start = gc.Poses.concatenate([poses([0, 0, 0]), posts])
    turned = gc.Poses.from_quat_wxyz([[0, 0, 0]], [[np.cos(half), 0, 0, np.sin(half)]])
    end = gc.Poses.concatenate([turned, posts])
    bodies = gc.Bodies([arm, gc.shapes.sphere(0.25)], [0, 1, 1], start, end)
    late = (angle - 2 * np.arcsin(0.5 / 4)) / (
        np.pi / 2
    )  # when centers on a circle of radius 2 are 0.5 apart
    for motion in ("relative", "body"):
        found = gc.collide(bodies, [[0, 1], [0, 2]], contacts="first", motion=motion, backend=backend.kind)
        assert np.allclose(found.toi, late, rtol=0, atol=1e-13)  # worst seen 3e-16
        assert found.part_names("part_a").tolist() == ["ball", "wheel"]


def test_features_and_points_are_those_of_the_part_that_is_named(backend):
    """Contacts of cylinders and balls, by their numbers in the compound."""
    can = gc.shapes.cylinder(0.2, 0.6)
    shapes = [HANDLE, BALL, can, HEAD]
    where = poses([0, 0, 0], [0, 0, 0.7], [0, 0, -0.8], [2, 0, 0])
    made = gc.Compound([*shapes], where, names=["handle", "ball", "can", "head"])
    assert [mesh.n_faces for mesh in made.meshes] == [12, 1, 1] and (made.n_faces, made.n_edges) == (14, 26)
    assert [made.part_of("face", k) for k in (0, 6, 12, 13)] == ["handle", "head", "ball", "can"]
    assert [made.part_of("vertex", k) for k in (0, 8, 16, 17, 18)] == ["handle", "head", "ball", "can", "can"]
    assert [made.part_of("edge", k) for k in (0, 12, 24, 25)] == ["handle", "head", "ball", "can"]
    with pytest.raises(ValueError, match="number"):
        made.part_of("face", 14)
    start = poses([0, 0, 0], [0, 0, 3.0], [0, 0, -3], [2, 3, 0])
    end = poses([0, 0, 0], [0, 0, 0.5], [0, 0, -0.5], [2, 0, 0])
    bodies = gc.Bodies([made, BOX], [0, 1, 1, 1], start, end)
    pairs = [[0, 1], [2, 0], [0, 3]]
    found = gc.collide(bodies, pairs, contacts="first", backend=backend.kind)
    assert np.allclose(found.toi, [(2.5 - 1.0) / 2.5, (2.5 - 1.1) / 2.5, (3 - 0.6) / 3], atol=1e-12)
    first = found.contact_start[:-1]
    told = zip(found.part_names("part_a")[first], found.part_names("part_b")[first], strict=True)
    assert list(told) == [("ball", ""), ("", "can"), ("head", "")]
    assert set(found.of_part("head").pair) == {2} and gc.Contacts is type(found[first])


def test_order_of_parts_and_nesting_change_no_distance(backend):
    rng = np.random.default_rng(3)
    at, there = random_poses(rng, 5, 0.6), random_poses(rng, 2, 2.0)
    order = rng.permutation(5)
    one = gc.Compound(KINDS, at)
    two = gc.Compound([KINDS[k] for k in order], at[order])
    inner = gc.Compound(KINDS[:2], at[2].inverse().broadcast_to(2) @ at[:2], names=["x", ""])
    three = gc.Compound([inner, *KINDS[2:]], at[[2, 2, 3, 4]])
    assert three.names == ("0/x", "0", "1", "2", "3")
    found = [
        gc.clearance(
            gc.Bodies([made, BOX, BALL], [0, 1, 2], *[gc.Poses.concatenate([poses([0, 0, 0]), there])] * 2),
            at=0.0, still_pairs=True, backend=backend.kind,
        ).distance
        for made in (one, two, three)
    ]  # fmt: skip
    assert np.ptp(found, axis=0).max() < 1e-14  # worst seen 4e-16


def test_polyhedra_of_one_kind_are_a_mesh():
    made = hammer()
    mesh = gc.Bodies(made, None, *[poses([0, 0, 0])] * 2).meshes[0]
    assert isinstance(mesh, gc.Mesh) and mesh.closed
    assert (mesh.n_vertices, mesh.n_faces, mesh.n_edges) == (16, 12, 24)
    assert np.array_equal(mesh.vertices[8:], HEAD.vertices + [0, 0, 0.6])
    assert [made.part_of("face", k) for k in (0, 5, 6, 11)] == ["handle", "handle", "head", "head"]
    assert mesh.part_of("vertex", 8) == "head" == made.part_of("vertex", 8)
    turned = gc.Compound([HEAD], poses([1, 2, 3], quat=[np.sqrt(0.5), 0, 0, np.sqrt(0.5)]), names=[""])
    assert np.allclose(np.ptp(turned.meshes[0].vertices, axis=0), [0.2, 0.5, 0.2]) and turned.parts is None
    assert gc.Compound([BOX], names=[""]).meshes[0].digest == BOX.digest
    arm = gc.Compound([made, BOX], poses([0, 0, 0], [5, 0, 0]), names=["tool", ""])
    assert arm.parts.names == ("tool/handle", "tool/head") and arm.part_of("face", 12) == ""


@pytest.mark.parametrize("head", [HEAD, gc.shapes.rounded_box((0.5, 0.2, 0.2), 0.05)])
@pytest.mark.parametrize("at", [0.6, 0.55])  # the head touches the handle, or goes around its end
def test_points_for_solvers_are_those_of_the_part_that_touches(backend, at, head):
    upside_down, seen = [0, 1.0, 0, 0], []
    made = hammer(at, head=head)
    for z in (-0.001, 0.001):
        here = gc.Poses.from_quat_wxyz([[0, 0, -0.5], [0, 0, at + 0.1 + z]], [ONE, upside_down])
        bodies = gc.Bodies([gc.shapes.box((2, 2, 1)), made], [0, 1], here, here)
        found = gc.contacts_at(bodies, margin=0.01, backend=backend.kind)
        assert np.allclose(found.distance.min(), z, atol=1e-15) and found.pairs.tolist() == [[0, 1]]
        points = found.manifolds()
        assert np.allclose(points.distance, z, atol=1e-15) and len(points) == 4  # worst seen 2e-16
        assert {made.part_of("vertex", v) for v in points.feature_b} == {"head"}
        assert np.array_equal(points.key, found[1:].manifolds().key) or len(found) != 5
        seen.append(points)
    assert np.array_equal(np.sort(seen[0].key), np.sort(seen[1].key)) and len(set(seen[0].key)) == 4
    assert sorted(seen[1].match(seen[0]).before) == [0, 1, 2, 3]


def table():
    """A top with round feet: points of several parts with the floor, at once."""
    feet = [[x, y, -0.4] for x in (-0.8, 0.8) for y in (-0.8, 0.8)]
    names = ["top", *(f"foot {k}" for k in range(4))]
    shapes = [gc.shapes.box((2, 2, 0.1)), *[gc.shapes.capsule(0.1, 0.6)] * 4]
    return gc.Compound(shapes, poses([0, 0, 0], *feet), names=names)


def test_a_table_stands_on_its_feet(backend):
    floor = gc.shapes.box((9, 9, 1))
    here = poses([0, 0, -0.5], [0, 0, 0.8], [9, 0, 0.8 - 0.01], [3, 0, 0.81])
    bodies = gc.Bodies([floor, table()], [0, 1, 1, 1], here, here)
    near = gc.contacts_at(bodies, [[0, 1], [2, 0], [0, 3], [0, 1]], margin=0.02, backend=backend.kind)
    status = [near.status[near.pair == k][0] for k in range(4)]
    assert status == [gc.Status.HIT, gc.Status.MISS, gc.Status.MISS, gc.Status.HIT]
    points = near.manifolds()
    assert np.bincount(points.pair, minlength=4).tolist() == [4, 0, 4, 4]  # the second is beside the floor
    assert np.allclose(points.distance[points.pair == 2], 0.01, atol=1e-15)
    parts = [table().part_of("vertex", k) for k in points.feature_b[points.pair == 0]]
    assert sorted(parts) == [f"foot {k}" for k in range(4)]
    assert len(set(points.region[points.pair == 0])) == 4 and (np.diff(points.region) >= 0).all()
    regions = gc.clearance(
        gc.Bodies([floor, table()], [0, 1], *[poses([0, 0, -0.5], [0, 0, 0.78])] * 2), [[0, 1]],
        at=[0.0, 1.0], regions=True, backend=backend.kind,
    )  # fmt: skip
    assert len(regions) == 8 and np.allclose(regions.distance, -0.02, atol=1e-12)
    assert regions.time.tolist() == [0.0] * 4 + [1.0] * 4 and (regions.status == 2).all()


def test_scenes_answer_as_bodies_do(backend):
    """Contacts, distances, pairs and casts of a scene with compounds, through steps, switches and copies."""
    rng, n = np.random.default_rng(8), 7
    compounds, start, end, _ = crowd(rng, KINDS, n, 2, spread=1.5)
    rules = {"group": [1, 1, 1, 3, 1, 2, 1], "ignore": [[0, 1], [6, 2]]}
    with gc.Scene(compounds, range(n), start, backend=backend.kind, **rules) as scene:
        scene.step(end)
        for state in (scene, copy.copy(scene), pickle.loads(pickle.dumps(scene))):
            bodies = state.bodies
            assert len(bodies) == len(state) == n and state.rules.n == n
            same(state.collide(), gc.collide(bodies, backend=backend.kind, **rules))
            same(
                state.clearance(max_distance=0.3),
                gc.clearance(bodies, max_distance=0.3, backend=backend.kind, **rules),
            )
            same(
                gc.contacts_at(state, margin=0.1),
                gc.contacts_at(bodies, margin=0.1, backend=backend.kind, **rules),
            )
            pairs = gc.find_pairs(bodies, backend=backend.kind, **rules)
            assert np.array_equal(state.find_pairs(), pairs) and [0, 1] not in pairs.tolist()
            state.set_active([2, 3], False)
            assert not np.isin(state.find_pairs(), [2, 3]).any() and len(state.find_pairs())
            state.set_active([2, 3])
        some = [[4, 0], [1, 0], [4, 0]]
        near = scene.collide(some, target_distance=[0.0, 0.1, 0.2])
        same(near, gc.collide(scene.bodies, some, target_distance=[0.0, 0.1, 0.2], backend=backend.kind))
        scene.update(end)
        at = 4 * rng.normal(size=(200, 3))
        for hits in ("first", "all"):
            found = gc.sweep.spheres(at, -2 * at, 0.1, scene, hits=hits)
            same(found, gc.sweep.spheres(at, -2 * at, 0.1, scene.bodies, hits=hits, backend=backend.kind))
            assert len(set(found.body.tolist())) > 5
            rows = scene.bodies.rows
            plain = gc.sweep.spheres(at, -2 * at, 0.1, rows, hits=hits, backend=backend.kind)
            assert np.array_equal(found.body, np.append(rows.body, -1)[plain.body])
            for k in np.flatnonzero(found.feature == gc.sweep.Feature.FACE)[:40]:
                made, piece = compounds[found.body[k]], plain.body[k] - list(rows.body).index(found.body[k])
                before = sum(mesh.n_faces for mesh in made.meshes[:piece])
                assert found.number[k] - plain.number[k] == before and found.face[k] == found.number[k]
    worlds = gc.Poses.from_quat_wxyz(np.stack([end.position] * 2), np.stack([end.quat_wxyz] * 2))
    both = gc.Bodies(compounds, range(n), worlds, worlds)
    found = gc.collide(both, still_pairs=True, backend=backend.kind)
    assert (found.pairs // n == found.pairs[:, :1] // n).all() and len(found.by_world()[0]) == 2


def same(one, two):
    assert len(one)
    for name in one._format.fields:
        assert np.array_equal(getattr(one, name), getattr(two, name)), name


def test_results_are_saved_and_loaded(tmp_path):
    here = poses([0, 0, 0], [0, 0, 0.9])
    bodies = gc.Bodies([hammer(head=BALL), BOX], [0, 1], here, here)
    found = gc.collide(bodies, [[0, 1]])
    found.save(tmp_path / "contacts")
    assert gc.Contacts.load(tmp_path / "contacts").parts == ("handle", "head")
    near = gc.contacts_at(bodies)
    near.save(tmp_path / "near")
    read = gc.Clearance.load(tmp_path / "near")
    same(near, read)
    with pytest.raises(ValueError, match="compounds"):
        read.manifolds(bodies=bodies)
    made = pickle.loads(pickle.dumps(hammer(head=BALL)))
    assert made.names == ("handle", "head") and made.part_of("vertex", 8) == "head"


def test_parts_of_odd_kinds(backend):
    """One part, the same part twice, a ball alone, parts in one place, bodies of poses that are none."""
    here = poses([0, 0, 0], [0, 0, 1.0])
    for made in (gc.Compound([BALL]), gc.Compound([BALL, BALL]), gc.Compound([gc.Compound([BALL])])):
        found = gc.clearance(
            gc.Bodies([made, BOX], [0, 1], here, here), [[0, 1]], at=0.0, backend=backend.kind
        )
        assert abs(found.distance[0] - 0.2) < 1e-15 and found.feature_a[0] == 0
    odd = gc.Poses.from_quat_wxyz([[0, 0, 0], [np.nan, 0, 0], [0, 0, 0.7]], [ONE] * 3)
    bodies = gc.Bodies([hammer(head=BALL), BOX], [0, 0, 1], odd, odd)
    with pytest.warns(RuntimeWarning, match="1 body has an invalid pose.*first: 1"):
        found = gc.collide(bodies, [[0, 1], [0, 2]], backend=backend.kind)
    assert found.status.tolist() == [gc.Status.INVALID_INPUT, gc.Status.INITIAL_OVERLAP]
    with pytest.warns(RuntimeWarning, match="1 body has an invalid pose"):
        found = gc.collide(bodies, still_pairs=True, backend=backend.kind)
    assert found.pairs.tolist() == [[0, 2]] and list(found.info["invalid_bodies"]) == [1]


@pytest.mark.parametrize(
    ("arguments", "kind", "words"),
    [
        (([],), ValueError, "at least one Mesh or Compound"),
        ((BOX,), TypeError, "a sequence of Mesh or Compound, got Mesh"),
        (([BOX, 3],), TypeError, "got int at place 1"),
        (([BOX, BOX], poses([0, 0, 0])), ValueError, "a valid pose for each of 2 shapes"),
        (([BOX], poses([np.nan, 0, 0])), ValueError, "a valid pose"),
        (([BOX], [[0, 0, 0]]), TypeError, "expected gpu_collide.Poses, got list"),
        (([BALL, BOX, HEAD], poses([0, 0, 0], [0, 0, 0], [1e18, 0, 0])), ValueError, "poses: .*shapes 1, 2"),
    ],
)
def test_what_is_no_compound_is_refused(arguments, kind, words):
    with pytest.raises(kind, match=words):
        gc.Compound(*arguments)


def test_names_are_one_for_each():
    with pytest.raises(ValueError, match="a name for each of 2 shapes, got 1"):
        gc.Compound([BOX, BOX], names=["a"])
    with pytest.raises(TypeError, match="names: expected str, got int"):
        gc.Compound([BOX], names=[1])


HERE = poses([0, 0, 0], [0, 0, 3])
MIXED = gc.Bodies([hammer(head=BALL), BOX], [0, 1], HERE, HERE)
PLAIN = gc.Bodies(BOX, None, HERE, HERE)


@pytest.mark.parametrize(
    "ask",
    [
        lambda: gc.BroadPhase(2).find_pairs(MIXED),
        lambda: gc.motion_difference(MIXED, [[0, 1]]),
        lambda: gc.pluecker.translate(PLAIN, MIXED, [0, 0, 1]),
        lambda: gc.pluecker.translate(MIXED, PLAIN, [0, 0, 1]),
        lambda: gc.pluecker.translate(PLAIN, gc.Scene(MIXED.meshes, MIXED.shape, HERE), [0, 0, 1]),
        lambda: gc.view.page(gc.collide(MIXED), MIXED, "no.html"),
        lambda: gc.Recording.from_arrays({"time": [0, 1], "position": np.zeros((2, 1, 3)),
                                          "quat_wxyz": np.tile(ONE, (2, 1, 1))}, meshes=MIXED.meshes[0]),
        lambda: gc.collide_trajectories(BOX, None, poses([0, 0, 0]).broadcast_to((2, 1)), [0, 1],
                                        static=MIXED),
    ],
)  # fmt: skip
def test_queries_that_know_no_compounds_refuse_them(ask):
    with pytest.raises(ValueError, match="expected no compounds of several meshes"):
        ask()


def test_what_is_not_known_of_compounds_is_refused():
    with pytest.raises(ValueError, match="exit: expected False of bodies with compounds"):
        gc.collide(MIXED, exit=True)
    with pytest.raises(ValueError, match="at: expected different times"):
        gc.clearance(MIXED, [[0, 1]], at=[0.5, 0.5], regions=True)
    with pytest.raises(ValueError, match="ignore: expected None among compounds"):
        gc.sweep.rays([0, 0, 9], [0, 0, -9], MIXED, ignore=0)


def test_the_link_of_a_robot_is_a_body():
    at = np.eye(4)
    at[2, 3] = 0.6
    joints = [gc.Joint("wrist", "revolute", "base", "tool", axis=[0, 0, 1])]
    robot = gc.Robot(joints, {"base": [], "tool": [HANDLE, (BALL, at)]})
    made = robot.link_shape("tool")
    assert made.names == ("tool/0", "tool/1") and np.array_equal(made.meshes[1].vertices, [[0, 0, 0.6]])
    for link, words in (("base", "which has none"), ("hand", "expected one of base, tool")):
        with pytest.raises(ValueError, match=words):
            robot.link_shape(link)
    post = gc.Bodies([hammer(head=BALL), BOX], [0, 1], *[poses([0.5, 0, 0.6], [5, 0, 0])] * 2)
    found = robot.edges([[0.0]], [[0.1]], post, clearance=np.inf)
    assert found.gap_other.tolist() == [0] and found.other.tolist() == [-1]
    found = robot.edges([[0.0]], [[0.1]], post, margin=float(found.gap[0]) + 0.01)
    assert found.other.tolist() == [0] and found.status.tolist() != [gc.Status.MISS]
