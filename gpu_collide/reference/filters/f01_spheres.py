"""Filter 1: do the bounding balls meet during the step?

A point that moves along a screw has a constant speed, and on the motions of two bodies there is a bound of
it, so in an interval of time its distance from a still point is at least the distance half way less half the
way. Intervals are halved until that settles it.
Source: Blow, "The First Filters".
"""

import numpy as np

# In units of the size: bodies that come this close are left to the full test, whose own tolerance is 1e-11.
PAD = 1e-7
# Intervals looked at together; more come up only if the bodies stay just about in touch.
MOST = 4096
LEVELS = 48


def may_meet(screw, mesh_a, mesh_b):
    """False if the bounding balls of the two `Mesh` stay apart."""
    a, b = screw.from_a(np.asarray(mesh_a.center)), screw.from_b(np.asarray(mesh_b.center))
    reach = mesh_a.radius + mesh_b.radius + PAD * screw.size
    return within(screw, lambda s: np.linalg.norm(screw.flow(b, s) - a, axis=-1), speed_of(screw, b), reach)


def speed_of(screw, points):
    """Greatest speed of points (..., 3) of B as A sees them, per step."""
    return screw.fastest(points)


def within(screw, gap, speed, reach):
    """Whether ``gap(s)``, times (m,) to distances (m,), comes down to `reach` in the step. It changes
    by at most `speed`. Doubt counts as a yes."""
    middle, half = np.zeros(1), 0.5 + screw.tau
    for _ in range(LEVELS):
        distance = gap(middle)
        if (distance <= reach).any():
            return True
        middle = middle[distance - speed * half <= reach]
        if not len(middle):
            return False
        if len(middle) > MOST:
            return True
        half *= 0.5
        middle = np.concatenate([middle - half, middle + half])
    return True
