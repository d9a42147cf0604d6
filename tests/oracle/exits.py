"""Whether two bodies are apart at a time, and from when on: judges that share nothing with the library.

Boxes: separating axes. Closed meshes: the distance of their surfaces, and winding numbers of vertices, as
what is inside of another is not apart from it. Open meshes: the distance of surfaces alone.
"""

import itertools

import numpy as np

from tests.oracle.clearance import Passage
from tests.oracle.gaps import triangles_of

ROUNDING = 2e-8  # of the least gap: what touches is at times 1e-15 of the size apart

__all__ = ["apart_boxes", "apart_surfaces", "judged"]


def apart_boxes(passage, t):
    """How far two boxes are apart along the best of the 15 axes; 0 where none has a gap."""
    r, p = passage.pose(t)
    a, b = passage.a.vertices, passage.b.vertices @ r.T + p
    axes = [*np.eye(3), *r.T]
    axes += [np.cross(x, y) for x, y in itertools.product(axes[:3], axes[3:])]
    axes = np.array([x / np.linalg.norm(x) for x in axes if np.linalg.norm(x) > 1e-9])
    on_a, on_b = a @ axes.T, b @ axes.T
    gaps = np.maximum(on_b.min(axis=0) - on_a.max(axis=0), on_a.min(axis=0) - on_b.max(axis=0))
    return max(gaps.max(), 0.0)


def apart_surfaces(passage, t):
    """The distance of two surfaces; 0 also where a vertex of one is inside the other."""
    d = passage.distance(t)
    r, p = passage.pose(t)
    if d > 0.0:
        inside = _winding(passage.a, passage.b.vertices[:1] @ r.T + p)
        inside |= _winding(passage.b, (passage.a.vertices[:1] - p) @ r)
        if inside.any():
            return 0.0
    return d


def _winding(mesh, points):
    """Which points (n, 3) a mesh goes around, by the solid angles of its faces; none of an open one."""
    if not mesh.closed:
        return np.zeros(len(points), bool)
    a, b, c = np.moveaxis(mesh.vertices[triangles_of(mesh)][None] - points[:, None, None], 2, 0)
    la, lb, lc = (np.linalg.norm(x, axis=-1) for x in (a, b, c))
    volume = (a * np.cross(b, c)).sum(axis=-1)
    below = la * lb * lc + (a * b).sum(-1) * lc + (b * c).sum(-1) * la + (c * a).sum(-1) * lb
    return np.abs(np.arctan2(volume, below).sum(axis=-1)) > np.pi


def judged(bodies, pair, motion, begin, end, apart=apart_surfaces, samples=96, slack=1e-6, least=1e-7):
    """Raise unless a pair is together from `begin` to `end` and apart right behind it. Returns how far the
    end is from that of bisection, nan where this does not tell.

    A sample within `slack` of the step of an end does not count, nor does a gap below `least`.
    """
    passage = Passage.of(bodies, *pair, motion)
    last = min(end, 1.0)
    t = np.linspace(begin, last, samples + 1)
    t = t[(t > begin + slack) & (t < last - slack)]
    early = [x for x in t if apart(passage, x) > least]
    assert not early, (pair, begin, end, early[:3])
    if end + slack > 1.0:
        return np.nan
    assert apart(passage, end + slack) > 0.0, (pair, begin, end)
    low, high = end - slack, end + slack
    if low < begin or apart(passage, low) > 0.0:
        return np.nan  # it grazes, or has been in touch
    while True:
        middle = 0.5 * (low + high)
        if middle in (low, high):
            return abs(high - end)
        low, high = (low, middle) if apart(passage, middle) > ROUNDING * least else (middle, high)
