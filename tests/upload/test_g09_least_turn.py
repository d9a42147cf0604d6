"""g09_least_turn: the bits of `Bodies.end` on the host, and the shape where its own judge has it."""

import numpy as np

import gpu_collide as gc
from gpu_collide.bodies.least_turn import NO_TURN
from gpu_collide.bodies.quaternion import multiply, turned_by
from gpu_collide.pipeline.launch.poses import pose_arrays
from gpu_collide.reference.upload import g09_least_turn

MESHES = [
    gc.shapes.cylinder(0.5, 1.0), gc.shapes.sphere(0.5), gc.shapes.box(),
    gc.Mesh([[1, 2, 3], [2, -1, 4]], [], rounding=0.2), gc.Mesh([[3, 4, 0]], [], rounding=1.0),
    gc.Mesh([[0.3, -0.6, 0.9], [1, -2, 3]], [], ends=[1, 0]),
]  # fmt: skip


def hostile(n, seed=3):
    """Bodies of all shapes that turn at random, about their axis alone, by half a turn, or not at all."""
    rng = np.random.default_rng(seed)
    shape, q0 = np.arange(n) % len(MESHES), rng.normal(size=(n, 4))
    q0[: n // 4] = np.eye(4)[rng.integers(0, 4, n // 4)]
    q0 /= np.linalg.norm(q0, axis=1)[:, None]
    way = np.array([m.vertices[-1] - m.vertices[0] for m in MESHES])[shape]
    way = np.where(way.any(axis=1)[:, None], way, [0, 0, 1]) / np.maximum(
        np.linalg.norm(way, axis=1)[:, None], 1e-9
    )
    spin = rng.choice([0.0, 0.5, np.pi, -3.0], n)[:, None] * way
    tilt = np.cross(way, rng.normal(size=(n, 3)))
    tilt *= rng.choice([0.0, 1e-12, 0.7, np.pi], n)[:, None] / np.linalg.norm(tilt, axis=1)[:, None]
    q1 = multiply(multiply(q0, turned_by(tilt)), turned_by(spin))
    q1[::7] = -q1[::7]
    p0, p1 = rng.normal(size=(2, n, 3))
    q1[5, 0], p1[11, 2] = np.nan, np.inf
    start, end = gc.Poses.from_quat_wxyz(p0, q0), gc.Poses.from_quat_wxyz(p1, q1)
    return gc.Bodies(MESHES, shape, start, end)


def test_the_bits_of_the_host(backend):
    bodies = hostile(300)
    wanted, n = pose_arrays(bodies), len(bodies)
    given = pose_arrays(bodies.again(np.full(n, 2, np.int32), bodies.start, bodies.given_end))
    buffers = {
        name: backend.to_device(np.array(given[f"{name}_in"], np.float64).reshape(-1))
        for name in ("start_quat", "end_position", "end_quat")
    }
    kernel = backend.module("upload", "mixed")["g09_least_turn"]
    backend.launch_items(
        kernel, n, n=n, no_turn=NO_TURN, shape_in=backend.to_device(bodies.shape),
        revolution_in=backend.to_device(bodies.revolved.reshape(-1)),
        valid_in=backend.to_device(bodies.valid.view(np.uint8)), start_quat_in=buffers["start_quat"],
        end_position_out=buffers["end_position"], end_quat_out=buffers["end_quat"],
    )  # fmt: skip
    for name in ("end_position", "end_quat"):
        found = backend.to_host(buffers[name])
        assert found.tobytes() == wanted[f"{name}_in"].tobytes(), name


def test_the_reference_agrees():
    """Worst seen: 4e-15, of axes through the origin but for rounding; half turns of an axis have no least."""
    bodies = hostile(300, 4)
    matrix = bodies.end.to_matrix()
    for i in np.flatnonzero(bodies.valid & (bodies.shape != 2)):
        mesh = MESHES[bodies.shape[i]]
        place, rotation = g09_least_turn.least_turned(
            bodies.start.unit_wxyz[i], bodies.given_end.position[i], bodies.given_end.unit_wxyz[i],
            mesh.vertices[0], mesh.vertices[-1],
        )  # fmt: skip
        ends = mesh.vertices @ rotation.T + place
        assert np.abs(bodies.end[i : i + 1].apply(mesh.vertices) - ends).max() < 3e-14
        way = mesh.vertices[-1] - mesh.vertices[0]
        cosine = (matrix[i, :3, :3] @ way) @ (bodies.start[i : i + 1].to_matrix()[0, :3, :3] @ way)
        if cosine > (1e-6 - 1) * (way @ way):
            assert np.abs(matrix[i, :3, :3] - rotation).max() < 1e-9
