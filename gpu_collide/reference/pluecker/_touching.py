"""Starts in touch: whether a plane separates all that two bodies have where they touch.

The kernels look for a plane through two directions to corners; here it is that of a face, or lies along an
edge of either body.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gpu_collide.backends import sources
from gpu_collide.bodies.quaternion import cross, dot
from gpu_collide.reference.pluecker._features import Features, parted

__all__ = ["Start"]

_STEEP = float(sources.constants()["GC_TOUCH_STEEP"])
_REACH = float(sources.constants()["GC_ZONE_REACH"])


class Start(NamedTuple):
    """A mover and obstacles at the start, and how the mover goes on.

    Attributes
    ----------
    mover, obstacle : Features
    expel, doubt : float
    velocity : callable
        Of the mover at a place.
    turns : bool
    angle : float
        By which it turns.
    """

    mover: Features
    obstacle: Features
    expel: float
    doubt: float
    velocity: Any
    turns: bool
    angle: float = 0.0

    def let_go(self, when, distance, place, body):
        """`when` (v, k) as it is, without stops at the start of what touches, but leaves.

        Parameters
        ----------
        distance : (v, k) float64
            How far apart the features begin.
        place, body : callable
            Where features v and k touch, and the body of the obstacle's.
        """
        with np.errstate(invalid="ignore"):
            touch = np.isfinite(when) & (np.abs(distance) <= self.doubt)
        for v, k in np.argwhere(touch):
            if self._at_start(when[v, k], place(v, k)) and self._separated(place(v, k), body(v, k)):
                when[v, k] = np.inf
        return when

    def edges(self, when, ends, still, theirs):
        """`let_go` of edges (v, 2, 3) and still ones (k, 2, 3) of these numbers."""
        u, w = ends[:, 1] - ends[:, 0], still[:, 1] - still[:, 0]
        out = cross(u[:, None], w[None])
        length, from_ = np.linalg.norm(out, axis=-1), ends[:, None, 0] - still[None, :, 0]
        wide = np.linalg.norm(u, axis=1)[:, None] * np.linalg.norm(w, axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            # nearly parallel edges touch at no place in particular
            distance = np.where(length > _STEEP * wide, dot(out, from_) / length, np.inf)

        def place(a, b):
            share = dot(cross(from_[a, b], u[a]), out[a, b]) / -dot(out[a, b], out[a, b])
            return still[b, 0] + np.clip(share, 0, 1) * w[b]

        return self.let_go(when, distance, place, lambda _, b: parted(theirs[b])[0])

    def _at_start(self, share, place):
        """Has a place gone no farther than rounding by then? Turning along a plane, it may rise first."""
        return share == 0 or share * self.angle * np.linalg.norm(self.velocity(place)) <= self.doubt

    def _separated(self, place, body):
        """Is there a plane through the place with the mover's faces there before it and the body's behind it,
        to which the mover does not go down?"""
        near = 0.5 * self.doubt
        mine, mine_normals, mine_sides = self._at(place, self.mover, None)
        if not len(mine):
            return False  # a point: behind a plane it may be in the solid, in a fold that opens inwards
        theirs, normals, sides = self._at(place, self.obstacle, body)
        across = cross(mine_sides[:, None], sides[None]).reshape(-1, 3)
        planes = np.concatenate([-mine_normals, normals, across, -across])
        planes = planes[planes.any(axis=1)]
        length = np.linalg.norm(planes, axis=1)
        rays = np.concatenate([mine, -theirs])
        rises = planes @ rays.T
        good = (rises >= -near * length[:, None]).all(axis=1) & (rises > 4 * near * length[:, None]).any(
            axis=1
        )
        planes, length, v = planes[good], length[good], self.velocity(place)
        if not self.turns:
            return bool((planes @ v >= 0).any())
        far = rays[np.abs(rays).max(axis=1) > near]
        middle = (planes / length[:, None]).sum(axis=0)
        clear = far @ middle > _STEEP * np.linalg.norm(middle) * np.linalg.norm(far, axis=1)
        return bool((planes @ v > _STEEP * length * np.linalg.norm(v)).any() and clear.all())

    def _at(self, place, features, body):
        """Of the faces at a place, of one body: corners from there, areas, and sides."""
        reach, corners, normals, sides = _REACH * self.expel, [], [], []
        for numbers, loops, _ in features.polygons.values():
            along = np.roll(loops, -1, axis=1) - loops
            area = cross(loops[:, 1:-1] - loops[:, :1], loops[:, 2:] - loops[:, :1]).sum(axis=1)
            normal = area / np.linalg.norm(area, axis=1, keepdims=True)
            inward = cross(normal[:, None], along)
            inward = inward / np.linalg.norm(inward, axis=-1, keepdims=True)
            off = place - loops
            here = (np.abs(dot(normal, off[:, 0])) <= reach) & (dot(inward, off) >= -reach).all(axis=1)
            if body is not None:
                here = here & (parted(numbers)[0] == body)
            corners.append(-off[here].reshape(-1, 3))
            normals.append(area[here])  # of whole numbers, as its sides are
            sides.append(along[here].reshape(-1, 3))
        none = np.zeros((0, 3))
        return tuple(np.concatenate([none, *parts]) for parts in (corners, normals, sides))
