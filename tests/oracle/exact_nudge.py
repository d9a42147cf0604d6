"""Whether a body that touches another goes into it by more than rounding: by whole numbers.

Where a body is placed exactly at another, the roundings of its pose decide whether it stands in it by a
1e-16 or beside it, and so whether the exact path leads through the other's edge. What is sure either way: the
path leads in by at most `depth` if there is one step of this length, of the other body, after which the same
path does not lead in at all.
"""

from itertools import combinations

import numpy as np

from tests.oracle.exact import Placed, add, times, whole
from tests.oracle.exact_motion import Rotation, Translation, first_through
from tests.oracle.exact_pose import Couple, penetrating

MOST = 60  # steps that are tried


def stepped(body, step):
    """A `Placed`, carried by `step` (float64) exactly."""
    numbers, shift = whole(step)
    points = [add(times(1 << shift, x), times(body.scale, tuple(numbers))) for x in body.points]
    return Placed(body.topology, points, body.scale << shift)


def steps_from(couple, depth, reach):
    """Steps of length `depth` out of the way of the first body: along the normals of faces, those of pairs of
    edges within `reach` of each other, and sums of two of them; what parts the bodies best comes first."""
    normals = []
    for sign, points, topology in ((-1, couple.fb, couple.tb), (1, couple.fa, couple.ta)):
        if len(topology.triangles):
            c = points[topology.triangles]
            normals.extend(sign * np.cross(c[:, 1] - c[:, 0], c[:, 2] - c[:, 0]))
    p, c = couple.fa[couple.ta.edges], couple.fb[couple.tb.edges]
    if len(p) and len(c):
        across = np.cross((p[:, 1] - p[:, 0])[:, None], (c[:, 1] - c[:, 0])[None])
        length = np.linalg.norm(across, axis=2)
        gap = np.abs((across * (c[None, :, 0] - p[:, None, 0])).sum(2))
        near = across[(gap <= reach * length) & (length > 1e-6 * length.max())]
        normals.extend(near)
        normals.extend(-near)
    unique: list = []
    for n in normals:
        length = np.linalg.norm(n)
        if length and not any(np.abs(n / length - m).max() < 1e-9 for m in unique):
            unique.append(n / length)
    # the still body is on the back of a plane that parts them
    order = sorted(unique, key=lambda n: (couple.fa @ n).max() - (couple.fb @ n).min())
    both = [a + b for a, b in combinations(order[:8], 2) if np.linalg.norm(a + b) > 0.1]
    return [depth * n / np.linalg.norm(n) for n in [*order, *both]][:MOST]


def in_by_at_most(motion, share, depth):
    """Whether the mover's path, up to `share` of it, leads into the still body by no more than `depth`."""
    a, b = motion.couple.a, motion.couple.b
    for step in steps_from(motion.couple, depth, 1e3 * depth):
        moved = stepped(b, step)
        other = (
            Translation(a, moved, motion.fv)
            if isinstance(motion, Translation)
            else Rotation(a, moved, *motion.asked)
        )
        time = first_through(other)
        if time is None or time >= other.time(share):
            return True
    return False


def overlap_at_most(a, b, depth):
    """Whether two bodies at rest are in each other by no more than `depth`."""
    couple = Couple(a, b)
    return any(not penetrating(a, stepped(b, step)) for step in steps_from(couple, depth, 1e3 * depth))
