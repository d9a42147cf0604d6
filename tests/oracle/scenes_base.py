"""What the scene families are made of: the scene itself, random rotations, relative poses, shape lists."""

from dataclasses import dataclass, field, replace

import numpy as np

from tests.oracle.shapes import box, car, hull, l_block, star, torus
from tests.oracle.solid import apply, quat_mul, rotation_matrix, unit


@dataclass
class SceneData:
    name: str
    meshes: list
    shape: np.ndarray
    start: tuple  # position (n, 3), quaternion w, x, y, z (n, 4)
    end: tuple
    pairs: np.ndarray
    _library: list = field(
        default_factory=list, repr=False
    )  # of the meshes, shared by scenes out of this one

    def bodies(self):
        """The same bodies as `gpu_collide.Bodies`."""
        import gpu_collide as gc

        if not self._library:
            for m in self.meshes:
                loops = np.split(m.face_vertices, m.face_start[1:-1])
                made = gc.Mesh(m.vertices, [loop.tolist() for loop in loops], two_sided=m.two_sided)
                self._library.append(made)
        poses = [gc.Poses.from_quat_wxyz(*x) for x in (self.start, self.end)]
        return gc.Bodies(self._library, self.shape, *poses)

    def moved(self, position, quat):
        """The whole scene carried by one rigid motion."""
        matrix = rotation_matrix(quat)

        def carry(pose):
            return apply(matrix, pose[0]) + position, quat_mul(np.broadcast_to(quat, pose[1].shape), pose[1])

        return replace(self, start=carry(self.start), end=carry(self.end))

    def take(self, rows):
        return replace(self, pairs=self.pairs[rows])

    def fixed(self):
        """This scene, whose arrays nobody can change any more."""
        for array in (self.shape, *self.start, *self.end, self.pairs):
            array.flags.writeable = False
        return self


def random_quat(rng, n):
    return unit4(rng.normal(size=(n, 4)))


def unit4(q):
    return q / np.sqrt((q * q).sum(1))[:, None]


def turn_quat(axis, angle):
    half = np.asarray(angle, float)[..., None] / 2
    return np.concatenate((np.cos(half), np.sin(half) * axis), -1)


def random_axis(rng, n):
    return unit(rng.normal(size=(n, 3)))


IDENTITY = np.array([1.0, 0, 0, 0])


def relative_scene(name, meshes, sa, sb, p0, q0, p1, q1, world):
    """n pairs (2i, 2i + 1) whose B starts and ends at (p0, q0), (p1, q1) in A's body frame; `world` = poses
    of A."""
    (pa0, qa0), (pa1, qa1) = world
    n = len(p0)
    position, quat = [], []
    for (pa, qa), p, q in (((pa0, qa0), p0, q0), ((pa1, qa1), p1, q1)):
        both = np.stack((pa, pa + apply(rotation_matrix(qa), p)), 1).reshape(2 * n, 3)
        position.append(both)
        quat.append(unit4(np.stack((qa, quat_mul(qa, q)), 1).reshape(2 * n, 4)))
    shape = np.stack((np.broadcast_to(sa, n), np.broadcast_to(sb, n)), 1).reshape(2 * n).astype(np.int32)
    pairs = np.arange(2 * n).reshape(n, 2)
    return SceneData(name, meshes, shape, (position[0], quat[0]), (position[1], quat[1]), pairs)


def resting_world(n):
    zero = (np.zeros((n, 3)), np.tile(IDENTITY, (n, 1)))
    return zero, zero


def moving_world(rng, n, reach=2.0, turn=np.pi / 4, far=0.0):
    start = rng.uniform(-1, 1, (n, 3)) * reach + far * random_axis(rng, n)
    q = random_quat(rng, n)
    step = quat_mul(turn_quat(random_axis(rng, n), rng.uniform(0, turn, n)), q)
    return (start, q), (start + rng.normal(size=(n, 3)) * reach, step)


def impact(rng, meshes, sa, sb, max_turn, travel=3.0, min_turn=0.0, spread=1.0):
    """Relative poses of random impacts: at a random moment the bounding spheres overlap deeply."""
    n = len(sa)
    radius = np.array([np.linalg.norm(m.vertices, axis=1).max() for m in meshes])
    r = radius[sa] + radius[sb]
    axis, angle = random_axis(rng, n), rng.uniform(min_turn, max_turn, n)
    q0, dq = random_quat(rng, n), turn_quat(axis, angle)
    q1 = unit4(quat_mul(dq, q0))
    meet = random_axis(rng, n) * (rng.uniform(0.0, spread, n) * r)[:, None]
    way = random_axis(rng, n) * (rng.uniform(0.2, travel, n) * r)[:, None]
    share = rng.uniform(0, 1, n)[:, None]
    return meet - share * way, q0, meet + (1 - share) * way, q1


def mixed(rng):
    return [box(), car(), hull(rng, 9), l_block(), star(rng), torus(n_major=8, n_minor=5)]
