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
RADIUS = np.linalg.norm(TABLE) / 2
# size, place across, angle of the upper box; its velocity; spins of both about the upright
SCENES = {
    "spins_and_slides_on_a_slow_table": ((1, 1, 1), (0.1, 0.2), 0.0, (1, 0, 0), 0.3, 1.5),
    "spins_by_a_revolution": ((1, 1, 1), (0.1, 0.2), 0.0, (1, 0.5, 0), 0.0, 6.0),
    "edges_that_cross": ((4, 4, 2), (0.1, 0.2), 0.4, (0.3, 0, 0), -1.0, 1.5),
    "edges_parallel_at_the_start": ((4, 4, 2), (1, 1), 0.0, (0.5, 0, 0), 1.0, -0.5),
    "whole_numbers": ((2, 2, 2), (1, 1), 0.0, (1, 0, 0), np.pi / 2, np.pi),
}  # fmt: skip
LEANS = {"upright": np.array([1.0, 0.0, 0.0, 0.0]), "leaning": np.array([0.8, 0.36, -0.48, 0.0])}


def collided(name, lean, gaps, backend):
    """Contacts of pairs at each of the gaps: first the table as A, then all with the table as B."""
    size, across, angle, way, spin_a, spin_b = SCENES[name]
    q, n = LEANS[lean], len(gaps)
    place = np.array([[*across, TABLE[2] / 2 + size[2] / 2 + gap] for gap in gaps])
    turned = quat.multiply(q, np.array([np.cos(angle / 2), 0.0, 0.0, np.sin(angle / 2)]))
    up = quat.rotate(q, np.array([0.0, 0.0, 1.0]))
    upper = quat.rotate(np.broadcast_to(q, (n, 4)), place)
    bodies = gc.Bodies.from_velocities(
        [gc.shapes.box(TABLE), gc.shapes.box(size)],
        [0] + [1] * n,
        gc.Poses.from_quat_wxyz([(0, 0, 0), *upper], [q, *[turned] * n]),
        [(0, 0, 0), *[quat.rotate(q, np.array(way, dtype=float))] * n],
        [spin_a * up, *[spin_b * up] * n],
    )
    assert max(mesh.radius for mesh in bodies.meshes) == pytest.approx(RADIUS)
    pairs = [(0, k) for k in range(1, n + 1)]
    return gc.collide(bodies, pairs + [(b, a) for a, b in pairs], motion="body", backend=backend)


@pytest.mark.parametrize("lean", sorted(LEANS))
@pytest.mark.parametrize("name", sorted(SCENES))
def test_a_gap_that_stays_is_touch_or_none(name, lean, backend):
    times = np.array([0.5, 0.9, 1.1, 2, 3, 10, 33, 100, 1e3, 1e4, 1e5])
    found = collided(name, lean, times * TOUCH * RADIUS, backend.kind)
    due = np.where(times < 1, gc.Status.HIT, gc.Status.MISS)
    assert found.status.tolist() == np.tile(due, 2).tolist()


@pytest.mark.parametrize("lean", sorted(LEANS))
@pytest.mark.parametrize("name", sorted(SCENES))
def test_a_small_gap_has_the_contacts_of_none(name, lean, backend):
    """Half of the tolerance changes which contacts there are nowhere."""
    found = collided(name, lean, [0.5 * TOUCH * RADIUS, 0.0], backend.kind)
    keys = [[], [], [], []]
    rows = (found.pair, found.kind, found.feature_a, found.feature_b, found.sustained)
    for pair, *key in zip(*(x.tolist() for x in rows), strict=True):
        keys[pair].append(key)
    assert sorted(keys[0]) == sorted(keys[1]) != [] and sorted(keys[2]) == sorted(keys[3]) != []
