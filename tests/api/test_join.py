"""`Mesh.join`: several shapes at their places as one body, whose parts keep their names."""

import numpy as np
import pytest

import gpu_collide as gc

BOX = gc.shapes.box()
HANDLE, HEAD = gc.shapes.box((0.1, 0.1, 1)), gc.shapes.box((0.5, 0.2, 0.2))
ONE = [1.0, 0, 0, 0]


def poses(*positions, quat=ONE):
    return gc.Poses.from_quat_wxyz(np.array(positions, float), [quat] * len(positions))


def hammer(at=0.6, names=("handle", "head")):
    return gc.Mesh.join([HANDLE, HEAD], poses([0, 0, 0], [0, 0, at]), names=names)


def test_vertices_and_faces_stand_mesh_by_mesh():
    made = hammer()
    assert made.closed and (made.n_vertices, made.n_faces, made.n_edges) == (16, 12, 24)
    assert np.array_equal(made.vertices[8:], HEAD.vertices + [0, 0, 0.6])
    assert np.isclose(made.volume, HANDLE.volume + HEAD.volume)
    assert [made.part_of("face", k) for k in (0, 5, 6, 11)] == ["handle", "handle", "head", "head"]
    assert made.part_of("vertex", 8) == "head" and made.part_of("edge", 0) == "handle"
    turned = gc.Mesh.join([HEAD], poses([1, 2, 3], quat=[np.sqrt(0.5), 0, 0, np.sqrt(0.5)]))
    assert np.allclose(np.ptp(turned.vertices, axis=0), [0.2, 0.5, 0.2])
    assert turned.parts is None and np.allclose(turned.center, [1, 2, 3])
    assert gc.Mesh.join([BOX]).digest == BOX.digest


def test_names_of_parts_are_nested():
    arm = gc.Mesh.join([hammer(), BOX], poses([0, 0, 0], [5, 0, 0]), names=["tool", ""])
    assert arm.parts.names == ("tool/handle", "tool/head")
    assert arm.part_of("face", 12) == ""


@pytest.mark.parametrize("at", [0.6, 0.55])  # the head touches the handle, or goes around its end
def test_contacts_are_those_of_the_part_that_touches(backend, at):
    upside_down = [0, 1.0, 0, 0]
    for z in (-0.001, 0.001):
        places = [[0, 0, -0.5], [0, 0, at + 0.1 + z]]
        here = gc.Poses.from_quat_wxyz(places, [ONE, upside_down])
        bodies = gc.Bodies([gc.shapes.box((2, 2, 1)), hammer(at)], [0, 1], here, here)
        found = gc.contacts_at(bodies, [[0, 1]], margin=0.01, backend=backend.kind).manifolds()
        assert np.allclose(found.distance, z, atol=1e-15) and len(found) == 4  # worst seen 2e-16
        assert {bodies.meshes[1].part_of("vertex", v) for v in found.feature_b} == {"head"}


def test_distances_are_the_least_of_the_parts(backend):
    """Parts are as far away as if they were bodies of their own."""
    rng, n = np.random.default_rng(5), 60
    q = rng.normal(size=(2 * n, 4))
    here = gc.Poses.from_quat_wxyz(0.5 * rng.normal(size=(2 * n, 3)), q / np.linalg.norm(q, axis=1)[:, None])
    pairs, turn = np.arange(2 * n).reshape(2, n).T, here.to_matrix()[:, :3, :3]

    def least(mesh, local):
        at = here.position.copy()
        at[n:] += turn[n:] @ local
        there = gc.Poses.from_quat_wxyz(at, here.quat_wxyz)
        bodies = gc.Bodies([BOX, mesh], np.repeat([0, 1], n), there, there)
        found = gc.contacts_at(bodies, pairs, margin=9.0, backend=backend.kind)
        least = np.full(n, np.inf)
        np.minimum.at(least, found.pair, found.distance)
        return least

    whole = least(hammer(), [0, 0, 0])
    parts = np.minimum(least(HANDLE, [0, 0, 0]), least(HEAD, [0, 0, 0.6]))
    apart = parts > 0
    assert 20 < apart.sum() < n - 5 and np.array_equal(whole > 0, apart)
    assert np.allclose(whole[apart], parts[apart], rtol=0, atol=1e-13)  # worst seen 1.1e-15


@pytest.mark.parametrize(
    ("arguments", "kind", "words"),
    [
        (([],), ValueError, "at least one Mesh"),
        (([BOX, 3],), TypeError, "got int at place 1"),
        (([BOX, BOX.rounded(0.1)],), ValueError, "one rounding for all parts.*0.1 at place 1"),
        (([BOX, gc.shapes.sphere(1.0)],), ValueError, r"got Mesh\(sphere, rounding 1\) at place 1"),
        (([BOX, gc.Mesh(BOX.vertices, BOX.faces, two_sided=True)],), ValueError, "one two_sided"),
        (([BOX, BOX], poses([0, 0, 0])), ValueError, "a valid pose for each of 2 meshes"),
        (([BOX], [[0, 0, 0]]), TypeError, "expected gpu_collide.Poses, got list"),
    ],
)
def test_what_cannot_be_joined_is_refused(arguments, kind, words):
    with pytest.raises(kind, match=words):
        gc.Mesh.join(*arguments)


def test_names_are_one_for_each():
    with pytest.raises(ValueError, match="a name for each of 2 meshes, got 1"):
        gc.Mesh.join([BOX, BOX], names=["a"])
    with pytest.raises(TypeError, match="names: expected str, got int"):
        gc.Mesh.join([BOX], names=[1])


def test_the_link_of_a_robot_is_a_body():
    at = np.eye(4)
    at[2, 3] = 0.6
    joints = [gc.Joint("wrist", "revolute", "base", "tool", axis=[0, 0, 1])]
    robot = gc.Robot(joints, {"base": [], "tool": [HANDLE, (HEAD, at)]})
    made = robot.link_mesh("tool")
    assert made.parts.names == ("tool/0", "tool/1") and np.array_equal(made.vertices, hammer().vertices)
    for link, words in (("base", "which has none"), ("hand", "expected one of base, tool")):
        with pytest.raises(ValueError, match=words):
            robot.link_mesh(link)
