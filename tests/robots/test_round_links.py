"""`Robot.edges` of links that are spheres and capsules, beside dense poses and closed forms."""

import numpy as np
import pytest

import gpu_collide as gc

POSES = 120


def shifted(x=0.0, y=0.0, z=0.0):
    m = np.eye(4)
    m[:3, 3] = x, y, z
    return m


def arm(joints=5, exact=True):
    """Links of a capsule along z and two spheres, the one above the other, that turn about z, y, z, ..."""
    shapes = [(gc.shapes.capsule(0.05, 0.25), shifted(z=0.15)), (gc.shapes.sphere(0.08), shifted(z=0.3)),
              (gc.shapes.sphere(0.06), shifted(0.1, 0.0, 0.1))]  # fmt: skip
    if not exact:
        shapes = [(mesh.to_polyhedron(), at) for mesh, at in shapes]
    made = [
        gc.Joint(f"j{k}", "continuous", f"l{k - 1}" if k else "base", f"l{k}", shifted(z=0.3 if k else 0.0),
                 [0, 1, 0] if k % 2 else [0, 0, 1])
        for k in range(joints)
    ]  # fmt: skip
    return gc.Robot(made, {"base": [], **{f"l{k}": shapes for k in range(joints)}})


def edges(n, joints, seed):
    rng = np.random.default_rng(seed)
    q0, way = rng.uniform(-1.5, 1.5, (n, joints)), rng.normal(size=(n, joints))
    q1 = q0 + rng.choice([0.05, 0.7, 2.0], (n, 1)) * way / np.linalg.norm(way, axis=1, keepdims=True)
    return q0, q1, rng.uniform([-0.8, -0.8, 0.1], [0.8, 0.8, 1.4], (6, 3))


def gaps(robot, q0, q1, boxes, half, balls, radius):
    """Least gap of each edge at many poses: balls and segments of links to boxes (points along the segment,
    within 3e-5 of its length squared over a gap) and balls, by hand."""
    share = np.linspace(0, 1, POSES)
    at = robot.forward((q0[:, None] + share[:, None] * (q1 - q0)[:, None]).reshape(-1, q0.shape[1]))
    matrix = at.to_matrix()[:, 1:]
    local = np.concatenate([[[0, 0, z] for z in np.linspace(0.025, 0.275, 17)], [[0, 0, 0.3], [0.1, 0, 0.1]]])
    own = np.array([0.05] * 17 + [0.08, 0.06])
    points = np.einsum("plij,kj->plki", matrix[..., :3, :3], local) + matrix[..., None, :3, 3]
    least = np.full(points.shape[:3], np.inf)
    for box in boxes:
        least = np.minimum(least, np.linalg.norm(np.maximum(np.abs(points - box) - half, 0), axis=-1))
    for ball in balls:
        least = np.minimum(least, np.linalg.norm(points - ball, axis=-1) - radius)
    return (least - own).reshape(len(q0), -1).min(axis=1)


@pytest.mark.parametrize("margin", [0.0, 0.02])
def test_no_edge_is_free_that_dense_poses_see_collide(backend, margin):
    robot, (q0, q1, places) = arm(), edges(50, 5, 1)
    boxes, balls, half, radius = places[:3], places[3:], 0.1, 0.12
    at = gc.Poses.from_quat_wxyz(places, np.tile([1.0, 0, 0, 0], (6, 1)))
    world = gc.Bodies([gc.shapes.box(2 * half), gc.shapes.sphere(radius)], [0] * 3 + [1] * 3, at, at)
    found = robot.edges(
        q0, q1, world, self_collisions=False, margin=margin, backend=backend.kind, max_pieces=4096
    )
    seen = gaps(robot, q0, q1, boxes, half, balls, radius)
    free = found.status == gc.Status.MISS
    assert 10 < free.sum() < 40 and (found.status != gc.Status.UNRESOLVED).all()
    assert seen[free].min() > margin - 1e-12
    assert seen[~free].max() < margin + 2e-3  # what 120 poses and 17 points of a segment leave: 2e-4 seen
    # the meshes around them collide wherever these do
    coarse = arm(exact=False).edges(q0, q1, world, self_collisions=False, margin=margin, backend=backend.kind)
    assert not (coarse.status == gc.Status.MISS)[~free].any()
    assert (coarse.status != gc.Status.MISS).sum() >= (~free).sum()
