"""Robots from files that the tests write: joints and shapes of all kinds, SRDF; frames beside yourdfpy's."""

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide.robots.primitives import around_cylinder

URDF = """<?xml version="1.0"?>
<robot name="small">
  <link name="base"><collision><geometry><box size="0.4 0.4 0.1"/></geometry></collision></link>
  <link name="upper">
    <collision><origin xyz="0 0 0.25" rpy="0 0 0"/>
      <geometry><cylinder radius="0.05" length="0.5"/></geometry></collision>
    <collision><origin xyz="0 0 0.5"/><geometry><sphere radius="0.06"/></geometry></collision>
  </link>
  <link name="flange"/>
  <link name="lower"><collision><origin xyz="0.1 0 0.2" rpy="0.1 0.2 0.3"/>
    <geometry><mesh filename="{mesh}" scale="2 1 0.5"/></geometry></collision></link>
  <link name="slider"><collision><geometry><box size="0.1 0.1 0.1"/></geometry></collision></link>
  <link name="twin"><collision><geometry><box size="0.1 0.1 0.1"/></geometry></collision></link>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/>
    <origin xyz="0 0 0.1" rpy="0.3 -0.2 0.9"/><axis xyz="0 0.6 0.8"/>
    <limit lower="-1" upper="2" effort="1" velocity="1"/></joint>
  <joint name="weld" type="fixed"><parent link="upper"/><child link="flange"/>
    <origin xyz="0.1 0 0.5" rpy="1 0 0"/></joint>
  <joint name="elbow" type="continuous"><parent link="flange"/><child link="lower"/>
    <origin rpy="0 0.5 0"/><axis xyz="0 1 0"/></joint>
  <joint name="rail" type="prismatic"><parent link="lower"/><child link="slider"/><origin xyz="0 0.4 0"/>
    <axis xyz="1 0 0"/><limit lower="0" upper="0.3" effort="1" velocity="1"/></joint>
  <joint name="follow" type="revolute"><parent link="upper"/><child link="twin"/>
    <origin xyz="0 -0.3 0.2"/><axis xyz="0 0 1"/><limit lower="-9" upper="9" effort="1" velocity="1"/>
    <mimic joint="shoulder" multiplier="-2" offset="0.5"/></joint>
</robot>
"""
SRDF = '<robot name="small"><disable_collisions link1="twin" link2="lower" reason="Never"/></robot>'


@pytest.fixture
def files(tmp_path):
    pytest.importorskip("yourdfpy", reason="the extra `robot` brings it")
    corners = gc.shapes.box((0.1, 0.2, 0.3)).vertices
    faces = [[1, 3, 4, 2], [5, 6, 8, 7], [1, 2, 6, 5], [3, 7, 8, 4], [1, 5, 7, 3], [2, 4, 8, 6]]
    lines = [f"v {x} {y} {z}" for x, y, z in corners] + ["f " + " ".join(map(str, face)) for face in faces]
    (tmp_path / "meshes").mkdir()
    (tmp_path / "meshes" / "block.obj").write_text("\n".join(lines) + "\n")
    (tmp_path / "small.urdf").write_text(URDF.format(mesh="package://small/meshes/block.obj"))
    (tmp_path / "small.srdf").write_text(SRDF)
    return tmp_path / "small.urdf", tmp_path / "small.srdf"


@pytest.mark.parametrize("package, urdf, meshes", [
    ("robots", "robots/small/urdf", "robots/meshes"), ("shapes", "robots/urdf", "shapes/meshes"),
])  # fmt: skip
def test_meshes_of_a_package_above(package, urdf, meshes, files):
    """The package's folder holds the URDF file, or stands beside one that does."""
    base, wanted = files[0].parent, repr(gc.Robot.from_urdf(files[0]))
    for folder in (urdf, meshes):
        (base / folder).mkdir(parents=True)
    (base / "meshes" / "block.obj").rename(base / meshes / "block.obj")
    (base / urdf / "small.urdf").write_text(URDF.format(mesh=f"package://{package}/meshes/block.obj"))
    assert repr(gc.Robot.from_urdf(base / urdf / "small.urdf")) == wanted


def test_frames_are_those_of_yourdfpy(files):
    """Worst difference measured: 6e-16."""
    import yourdfpy

    robot = gc.Robot.from_urdf(files[0])
    assert robot.joint_names == ("shoulder", "elbow", "rail")
    assert robot.limits.tolist() == [[-1, 2], [-np.inf, np.inf], [0, 0.3]]
    other = yourdfpy.URDF.load(str(files[0]), load_meshes=False)
    rng = np.random.default_rng(1)
    q = rng.uniform(-3, 3, (20, 3))
    got = robot.forward(q).to_matrix()
    for k in range(20):
        other.update_cfg(dict(zip(robot.joint_names, q[k], strict=True)))
        for link, name in enumerate(robot.link_names):
            assert np.abs(got[k, link] - other.get_transform(name, "base")).max() < 1e-14


def test_pairs_of_links(files):
    """Neighbours are no pairs, nor are those with a fixed link between, nor what the SRDF disables."""
    told = [
        {frozenset(robot.link_names[k] for k in pair) for pair in robot.link_pairs.tolist()}
        for robot in (gc.Robot.from_urdf(files[0]), gc.Robot.from_urdf(files[0], srdf=files[1]))
    ]
    every = {("base", "lower"), ("base", "slider"), ("base", "twin"), ("upper", "slider"), ("lower", "twin"),
             ("slider", "twin")}  # fmt: skip
    assert told[0] == {frozenset(pair) for pair in every}
    assert told[0] - told[1] == {frozenset(("lower", "twin"))}


def test_shapes_are_where_the_file_says(files):
    """The block's mesh, scaled by 2, 1 and 1/2; and an edge on which it meets what stands in it half-way."""
    robot = gc.Robot.from_urdf(files[0])
    size = robot._bodies.meshes[robot._bodies.shape[list(robot._owner).index(3)]].vertices.max(axis=0)
    assert np.abs(size - [0.1, 0.1, 0.075]).max() < 1e-15
    q = np.array([[0.0, 0.3, 0.1]])
    at = gc.Poses.from_quat_wxyz(
        robot.forward(q).apply(np.tile([0.1, 0, 0.2], (1, 6, 1)))[0, 3:4], [[1, 0, 0, 0]]
    )
    post = gc.Bodies(gc.shapes.box(0.02), None, at, at)
    found = robot.edges(q - 0.4, q + 0.4, post, self_collisions=False)
    assert gc.Status(found.status[0]).name in ("HIT", "INITIAL_OVERLAP") and found.time[0] <= 0.5


def test_cylinders_are_inside_their_prisms():
    """Every side is outside of the cylinder, and no corner farther out than the docs say."""
    mesh, radius = around_cylinder(2.0, 6.0), 2.0
    corner = mesh.vertices[mesh.face_vertices[mesh.face_start[:-1]]]
    depth = (mesh.face_planes[:, :3] * corner).sum(axis=1)
    walls = np.abs(mesh.face_planes[:, 2]) < 0.5
    assert (depth[walls] >= radius).all() and mesh.closed and mesh.volume > 0
    assert (np.linalg.norm(mesh.vertices[:, :2], axis=1) <= radius * 1.0049).all()
    assert np.abs(mesh.vertices[:, 2]).max() == 3.0


def test_primitives_are_what_they_are(files):
    """Spheres always, cylinders if they are asked for; the link as one body either way."""
    robot, exact = (gc.Robot.from_urdf(files[0], exact_cylinders=how) for how in (False, True))
    upper = robot.link_shape("upper").shapes, exact.link_shape("upper").shapes
    assert [mesh.n_faces for mesh in upper[0]] == [34, 1]
    assert [(m.ends, m.rounding, m.n_vertices) for m in upper[1]] == [((0.05,) * 2, 0.05, 2), (None, 0.06, 1)]
    here = gc.Poses.from_quat_wxyz([[0, 0, 0], [0, 0, 1.0]], [[1, 0, 0, 0]] * 2)
    there = gc.Poses.from_quat_wxyz([[0, 0, 0], [0, 0, 0.0]], [[1, 0, 0, 0]] * 2)
    bodies = gc.Bodies([exact.link_shape("upper"), gc.shapes.box(0.2)], [0, 1], here, there)
    found = gc.collide(bodies, [[0, 1]], contacts="first")
    assert abs(found.toi[0] - (1.0 - 0.66)) < 1e-12 and found.part_names("part_a").tolist() == ["upper/1"]
    with pytest.raises(ValueError, match="no cylinders"):
        exact.edges([[0.0] * 3], [[0.1] * 3])
    with pytest.raises(TypeError, match="exact_cylinders"):
        gc.Robot.from_urdf(files[0], exact_cylinders=1)


def test_files_that_are_no_robots(tmp_path, files):
    with pytest.raises(FileNotFoundError, match="path: there is no file"):
        gc.Robot.from_urdf(tmp_path / "none.urdf")
    with pytest.raises(FileNotFoundError, match="srdf: there is no file"):
        gc.Robot.from_urdf(files[0], srdf=tmp_path / "none.srdf")
    (tmp_path / "bad.urdf").write_text("<robot")
    with pytest.raises(ValueError, match="path: cannot read a robot"):
        gc.Robot.from_urdf(tmp_path / "bad.urdf")
    (tmp_path / "planar.urdf").write_text(
        URDF.format(mesh="package://small/meshes/block.obj").replace("continuous", "planar")
    )
    with pytest.raises(ValueError, match="joint 'elbow'"):
        gc.Robot.from_urdf(tmp_path / "planar.urdf")


def test_without_yourdfpy_the_extra_is_named(tmp_path, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "yourdfpy", None)
    (tmp_path / "some.urdf").write_text("<robot name='r'><link name='l'/></robot>")
    with pytest.raises(ImportError, match=r"gpu-collide\[robot\]"):
        gc.Robot.from_urdf(tmp_path / "some.urdf")
