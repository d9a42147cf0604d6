"""A serial arm whose links are boxes, among boxes, by plain formulas: its poses, a bound of the accelerations
of its points, and whether boxes overlap at a pose, by separating axes. Nothing of the library is in it."""

import numpy as np

__all__ = ["Arm", "overlaps"]

AXES = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0]])


def turned(axis, angle):
    """(k, 3, 3) rotations about a coordinate axis."""
    c, s, o, one = np.cos(angle), np.sin(angle), 0 * angle, 1 + 0 * angle
    rows = [[c, -s, o], [s, c, o], [o, o, one]] if axis[2] else [[c, o, s], [o, one, o], [-s, o, c]]
    return np.moveaxis(np.array(rows), -1, 0)


class Arm:
    """Joints that turn about z, y, z, y, ... in the link's own axes; each link is a box along its z.

    `q0`, `q1` (n, links): joint angles at the start and at the end of each motion, linear between.
    """

    def __init__(self, q0, q1, length, width):
        self.q0, self.q1, self.length, self.width = np.asarray(q0), np.asarray(q1), length, width
        self.n, self.links = self.q0.shape

    def at(self, motion, time):
        """Middles (k, links, 3) and axes (k, links, 3, 3) of the links."""
        q = self.q0[motion] + np.asarray(time)[:, None] * (self.q1 - self.q0)[motion]
        axes, end = np.tile(np.eye(3), (len(q), 1, 1)), np.zeros((len(q), 3))
        middles, all_axes = [], []
        for j in range(self.links):
            axes = axes @ turned(AXES[j % 2], q[:, j])
            middles.append(end + axes[:, :, 2] * (self.length / 2))
            all_axes.append(axes)
            end = end + axes[:, :, 2] * self.length
        return np.stack(middles, axis=1), np.stack(all_axes, axis=1)

    def accelerations(self):
        """(n, links). A point's acceleration is a sum over pairs of joints of the products of their speeds,
        each times the distance of the point from the farther joint at most: w_j x (w_k x r)."""
        speed = np.abs(self.q1 - self.q0)
        most = np.zeros((self.n, self.links))
        for i in range(self.links):
            for j in range(i + 1):
                for k in range(i + 1):
                    reach = (i - max(j, k)) * self.length + np.hypot(self.length, self.width / np.sqrt(2))
                    most[:, i] += speed[:, j] * speed[:, k] * reach
        return most

    def speeds(self):
        """(n, links): no point of a link moves faster: a joint's speed times how far the point can be from
        it, summed over joints."""
        speed, far = np.abs(self.q1 - self.q0), np.hypot(self.length, self.width / np.sqrt(2))
        reach = np.array(
            [[max(i - j, -1) * self.length + far for i in range(self.links)] for j in range(self.links)]
        )
        return speed @ np.triu(reach)

    def halves(self):
        return np.array([self.width, self.width, self.length]) / 2


def overlaps(middle_a, axes_a, half_a, middle_b, axes_b, half_b):
    """(k,) signed: the greatest gap along any of the 15 axes of two boxes; above 0 they are apart."""
    d = middle_b - middle_a
    n = [axes_a[:, :, i] for i in range(3)] + [axes_b[:, :, i] for i in range(3)]
    n += [np.cross(axes_a[:, :, i], axes_b[:, :, j]) for i in range(3) for j in range(3)]
    n = np.stack(n, axis=1)
    size = np.linalg.norm(n, axis=2, keepdims=True)
    n = np.where(size > 1e-6, n / np.maximum(size, 1e-6), 0.0)
    reach = (
        np.abs(np.einsum("kji,knj->kni", axes_a, n)) @ half_a
        + np.abs(np.einsum("kji,knj->kni", axes_b, n)) @ half_b
    )
    gap = np.abs(np.einsum("kj,knj->kn", d, n)) - reach
    return np.where(size[..., 0] > 1e-6, gap, -np.inf).max(axis=1)
