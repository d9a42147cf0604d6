"""Boxes among boxes that move, and a judge of what stops them that shares nothing with the library: poses by
formulas of its own at dense times, and separating axes."""

from dataclasses import dataclass

import numpy as np

import gpu_collide as gc

SIZES = np.array([[1, 1, 1], [2, 0.5, 1], [0.7, 0.7, 0.7]])
#: The next world of a mover and its obstacles.
APART = 12.0


def unit(x):
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


def product(p, q):
    a, u, b, v = p[..., :1], p[..., 1:], q[..., :1], q[..., 1:]
    return np.concatenate([a * b - (u * v).sum(-1, keepdims=True), a * v + b * u + np.cross(u, v)], -1)


def matrices(q):
    w, x, y, z = np.moveaxis(q, -1, 0)
    rows = [[1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)]]  # fmt: skip
    return np.moveaxis(np.array(rows), (0, 1), (-2, -1))


def turned(rotation, q):
    angle = np.linalg.norm(rotation, axis=-1, keepdims=True)
    axis = rotation / np.where(angle > 0, angle, 1)
    return product(np.concatenate([np.cos(angle / 2), np.sin(angle / 2) * axis], -1), q)


@dataclass
class Motions:
    """n bodies: a point `arm` off the place, turning with the body, goes straight while the body turns."""

    place: np.ndarray
    quat: np.ndarray
    way: np.ndarray
    rotation: np.ndarray
    arm: np.ndarray

    def at(self, t):
        """Places and quaternions at times (n,)."""
        t = np.asarray(t)[..., None]
        quat = turned(t * self.rotation, self.quat)
        back = matrices(turned(t * self.rotation, np.eye(4)[np.zeros(len(t), int)]))
        place = self.place + self.arm + t * self.way - np.einsum("nij,nj->ni", back, self.arm)
        return place, quat

    def take(self, rows):
        return Motions(*(getattr(self, name)[rows] for name in ("place", "quat", "way", "rotation", "arm")))

    def part(self, begin, end):
        """The same over a part of the time."""
        place, quat = self.at(np.full(len(self.place), begin))
        arm = np.einsum("nij,nj->ni", matrices(turned(begin * self.rotation, np.eye(4)[[0] * len(place)])),
                        self.arm)  # fmt: skip
        share = end - begin
        return Motions(place, quat, share * self.way, share * self.rotation, arm)


def straight(place, quat, way):
    zero = np.zeros_like(place)
    return Motions(place, quat, way, zero, zero)


def about(place, quat, angle, axis, origin):
    """Turning about an axis: its point goes nowhere."""
    return Motions(place, quat, np.zeros_like(place), angle[:, None] * unit(axis), origin - place)


def gaps(half_a, a, half_b, b):
    """Of boxes: the widest gap along normals of faces and products of edges; negative: they overlap."""
    (pa, qa), (pb, qb) = a, b
    u, v = (np.swapaxes(matrices(q), -1, -2) for q in (qa, qb))
    axes = np.concatenate([u, v, np.cross(u[:, :, None], v[:, None]).reshape(len(pa), 9, 3)], 1)
    length = np.linalg.norm(axes, axis=-1)
    low = length < 1e-7
    axes = axes / np.where(low, 1, length)[..., None]
    reach = [np.einsum("nkj,nj->nk", np.abs(np.einsum("nki,nji->nkj", axes, w)), half)
             for w, half in ((u, half_a), (v, half_b))]  # fmt: skip
    return np.where(low, -np.inf, np.abs(np.einsum("nki,ni->nk", axes, pb - pa)) - sum(reach)).max(1)


@dataclass
class Crowd:
    """A mover in each of n places, `k` obstacles about each."""

    size: np.ndarray  # of movers
    movers: Motions
    sizes: np.ndarray  # of obstacles
    others: Motions
    screws: bool = False

    @property
    def of(self):
        """The mover beside each obstacle."""
        n = len(self.size)
        return np.repeat(np.arange(n), len(self.sizes) // n)

    def bodies(self):
        """Movers and obstacles for the library."""
        made = []
        for sizes, m in ((self.size, self.movers), (self.sizes, self.others)):
            kinds, shape = np.unique(sizes, axis=0, return_inverse=True)
            meshes = [gc.shapes.box(tuple(s)) for s in kinds]
            start = gc.Poses.from_quat_wxyz(m.place, m.quat)
            center = np.einsum("nji,nj->ni", matrices(m.quat), m.arm)
            bodies = gc.Bodies.from_velocities(meshes, shape.reshape(-1), start, m.way, m.rotation,
                                               center=center)  # fmt: skip
            made.append(bodies)
        movers = made[0].moved(made[0].start, made[0].start)
        return movers, made[1].moved(made[1].start, made[1].end) if self.screws else made[1]

    def gaps(self, share, poses=None):
        """Gaps of each obstacle and its mover at a share of the step for each mover."""
        of = self.of
        if self.screws:
            others = poses(share[of])
            others = others.position, others.quat_wxyz
        else:
            others = self.others.at(share[of])
        return gaps(0.5 * self.size[of], self.movers.take(of).at(share[of]), 0.5 * self.sizes, others)


def crowd(rng, n=60, k=2, speed=1.0, turn=1.0, sizes=SIZES, turns=False, whole=False, screws=False):
    """Movers that are shifted, or turned about something near, among obstacles that come towards them."""
    if whole:
        speed, turn = 1.5, 1.0
    cells = APART * np.stack([np.arange(n) % 8, np.arange(n) // 8, 0 * np.arange(n)], 1)
    of = np.repeat(np.arange(n), k)
    size, others = sizes[rng.integers(0, len(sizes), n)], sizes[rng.integers(0, len(sizes), n * k)]
    quat, quats = unit(rng.normal(size=(n, 4))), unit(rng.normal(size=(n * k, 4)))
    place = cells[of] + 2.2 * unit(rng.normal(size=(n * k, 3)))
    way, ways = rng.normal(0, speed, (n, 3)), rng.normal(0, speed, (n * k, 3)) + 0.6 * (cells[of] - place)
    rotation = rng.normal(0, turn, (n * k, 3))
    angle, axis, origin = rng.uniform(-6, 6, n), rng.normal(size=(n, 3)), cells + rng.normal(0, 0.7, (n, 3))
    if whole:
        quat[:], quats[:] = [1, 0, 0, 0], [1, 0, 0, 0]
        size[:], others[:] = 1, 1
        offset = np.rint(place - cells[of])
        offset[np.abs(offset).max(1) < 1] = [0, 0, 2]
        place, way, ways = cells[of] + offset, np.rint(way), np.rint(ways)
        rotation = np.pi / 2 * np.eye(3)[rng.integers(0, 3, n * k)] * rng.integers(-1, 2, n * k)[:, None]
        axis, origin = np.eye(3)[rng.integers(0, 3, n)], cells + 0.5 * np.rint(2 * (origin - cells))
        angle = np.pi / 2 * rng.integers(-3, 4, n)
    if screws:
        rotation = rotation * np.minimum(1.5 / np.linalg.norm(rotation, axis=1, keepdims=True).clip(1.0), 1.0)
    movers = about(cells, quat, angle, axis, origin) if turns else straight(cells, quat, way)
    return Crowd(size, movers, others, Motions(place, quats, ways, rotation, np.zeros_like(ways)), screws)


def ask(found_by, made, turns=False, **options):
    """The trace of a crowd, with its obstacles."""
    movers, others = made.bodies()
    m = made.movers
    if turns:
        angle = np.linalg.norm(m.rotation, axis=1)
        axis = np.where(angle[:, None] > 0, m.rotation, [0, 0, 1])
        return found_by.rotate(movers, others, angle, axis, m.place + m.arm, **options), others
    return found_by.translate(movers, others, m.way, **options), others


#: What is touch to the library.
DEEP = 1e-11


@dataclass
class Verdict:
    """How near movers come before they stop, how near where they stop, in zones, and how many do."""

    least: float
    stops: np.ndarray
    hits: int
    held: int
    unresolved: int


def judge(made, found, others, samples=128):
    """`Verdict` of a trace; raises if something is passed through, or stopped by nothing."""
    of, poses = made.of, others.poses_at
    begin = made.gaps(np.zeros(len(made.size)), poses)
    clear = begin > -DEEP
    told = ~np.isin(found.status, (gc.Status.UNRESOLVED,))
    least = np.inf
    for share in np.linspace(0, 1, samples):
        gap = made.gaps(share * found.fraction, poses)[clear & told[of]]
        least = min(least, gap.min(initial=np.inf))
    assert least > -DEEP, least
    hit = (found.status == gc.Status.HIT) & (found.fraction > 0)
    zone = found.expel[of]
    stopper = (found.body[of] == np.arange(len(of))) & hit[of] & clear
    outside = stopper & (begin > zone)
    there = made.gaps(found.fraction, poses) / zone
    # who goes on goes in
    deepest = np.full(len(of), np.inf)
    for more in np.geomspace(1e-10, 1, 80):
        share = np.minimum(found.fraction + more, 1)
        deepest = np.minimum(deepest, made.gaps(share, poses))
    assert (deepest[outside] < 2 * zone[outside]).all(), deepest[outside].max()
    return Verdict(least, there[outside], int((found.status == gc.Status.HIT).sum()),
                   int(((found.fraction == 0) & told).sum()), int((~told).sum()))  # fmt: skip


def goes_through(mesh, vertices, other, corners, deep=1e-9):
    """Does an edge of one mesh go through a face of another, convex ones, by more than `deep` all around?"""
    p, q = (vertices[mesh.edges[:, k]] for k in range(2))
    for first, last in zip(other.face_start[:-1], other.face_start[1:], strict=True):
        face = corners[other.face_vertices[first:last]]
        normal = unit(np.cross(face[1] - face[0], face[2] - face[0]))
        dp, dq = ((x - face[0]) @ normal for x in (p, q))
        through = (dp * dq < 0) & (np.minimum(abs(dp), abs(dq)) > deep)
        place = p + (dp / np.where(dp == dq, 1, dp - dq))[:, None] * (q - p)
        for a, b in zip(face, np.roll(face, -1, 0), strict=True):
            through &= (place - a) @ unit(np.cross(normal, b - a)) > deep
        if through.any():
            return True
    return False
