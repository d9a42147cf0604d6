"""Boxes that slide and spin above one another at a gap that stays, with `motion="body"`: in touch or not, and
never UNRESOLVED.

The contact equations are a small number that hardly changes. The bound of their third derivative for the
whole step made 1,024 pieces too few for gaps of 1e-11 to 2e-9 of the size.
"""

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide.bodies import quaternion as quat

TOUCH = 1e-11  # of the larger radius: docs/conventions.md
TABLE = (4.0, 4.0, 2.0)
# size, place across, angle of the upper box; its velocity; spins of both about the upright
SCENES = {
    "spins_and_slides_on_a_slow_table": ((1, 1, 1), (0.1, 0.2), 0.0, (1, 0, 0), 0.3, 1.5),
    "spins_by_a_revolution": ((1, 1, 1), (0.1, 0.2), 0.0, (1, 0.5, 0), 0.0, 6.0),
    "edges_that_cross": ((4, 4, 2), (0.1, 0.2), 0.4, (0.3, 0, 0), -1.0, 1.5),
    "edges_parallel_at_the_start": ((4, 4, 2), (1, 1), 0.0, (0.5, 0, 0), 1.0, -0.5),
    "whole_numbers": ((2, 2, 2), (1, 1), 0.0, (1, 0, 0), np.pi / 2, np.pi),
}  # fmt: skip
LEANS = {"upright": np.array([1.0, 0.0, 0.0, 0.0]), "leaning": np.array([0.8, 0.36, -0.48, 0.0])}


def collided(name, lean, gap, turned_round, backend):
    size, across, angle, way, spin_a, spin_b = SCENES[name]
    q = LEANS[lean]
    place = np.array([*across, TABLE[2] / 2 + size[2] / 2 + gap])
    turned = quat.multiply(q, np.array([np.cos(angle / 2), 0.0, 0.0, np.sin(angle / 2)]))
    up = quat.rotate(q, np.array([0.0, 0.0, 1.0]))
    bodies = gc.Bodies.from_velocities(
        [gc.shapes.box(TABLE), gc.shapes.box(size)],
        [0, 1],
        gc.Poses.from_quat_wxyz([(0, 0, 0), quat.rotate(q, place)], [q, turned]),
        [(0, 0, 0), quat.rotate(q, np.array(way, dtype=float))],
        [spin_a * up, spin_b * up],
    )
    radius = max(mesh.radius for mesh in bodies.meshes)
    return gc.collide(bodies, [[1, 0] if turned_round else [0, 1]], motion="body", backend=backend), radius


@pytest.mark.parametrize("turned_round", [False, True])
@pytest.mark.parametrize("lean", sorted(LEANS))
@pytest.mark.parametrize("name", sorted(SCENES))
@pytest.mark.parametrize("times", [0.5, 0.9, 1.1, 2, 3, 10, 33, 100, 1e3, 1e4, 1e5])
def test_a_gap_that_stays_is_touch_or_none(name, lean, times, turned_round, backend):
    radius = np.linalg.norm(TABLE) / 2
    found, size = collided(name, lean, times * TOUCH * radius, turned_round, backend.kind)
    assert size == pytest.approx(radius)
    assert found.status[0] == (gc.Status.HIT if times < 1 else gc.Status.MISS)


@pytest.mark.parametrize("lean", sorted(LEANS))
@pytest.mark.parametrize("name", sorted(SCENES))
def test_a_small_gap_has_the_contacts_of_none(name, lean, backend):
    """Half of the tolerance changes which contacts there are nowhere."""
    radius = np.linalg.norm(TABLE) / 2
    near, _ = collided(name, lean, 0.5 * TOUCH * radius, False, backend.kind)
    none, _ = collided(name, lean, 0.0, False, backend.kind)
    keys = [sorted(zip(f.kind, f.feature_a, f.feature_b, f.sustained, strict=True)) for f in (near, none)]
    assert keys[0] == keys[1]
