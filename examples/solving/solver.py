"""A small solver that takes contacts from the library, which has no dynamics itself. `../stack.py` runs it.

Each step asks once for the contacts at the pose, makes manifolds of them, carries the impulses of the points
that were there before, and then takes some substeps: gravity, impulses that are soft where bodies overlap
("soft step", as Erin Catto's "Solver2D" has it and Box2D 3 uses it), positions, and impulses once more
without the push apart, so that this leaves no speed. Points are solved one after the other in a pair; pairs
without a common body at once. Pins hold a point of one body on a point of another: two of them are the axle
of a wheel.
"""

import numpy as np

import gpu_collide as gc

GRAVITY = 9.81
MARGIN = 0.02  # contacts are known before they touch, so that nothing is hit at full speed
HERTZ, DAMPING, PUSH = 30.0, 10.0, 3.0  # of the soft contacts; PUSH: how fast overlap is left, at most


class World:
    """Bodies with their velocities, whose frames are their middles. Those of mass 0 stand still.

    ``pins``: (body a, place on it, body b, place on it), in the frames of the bodies, which do not collide.
    """

    def __init__(self, meshes, shape, position, quat, mass, friction=0.6, pins=(), warm=True, backend="auto",
                 dt=1 / 60, substeps=8):  # fmt: skip
        self.position, self.quat = np.array(position, float), np.array(quat, float)
        self.mass, n = np.array(mass, float), len(mass)
        self.friction = np.broadcast_to(np.asarray(friction, float), (n,))
        self.velocity = np.zeros((n, 6))  # linear, angular
        self.moves = self.mass > 0
        self.light = np.where(self.moves, 1.0 / np.where(self.moves, self.mass, 1.0), 0.0)
        inertia = self.mass[:, None] * np.array([inertia_of(mesh) for mesh in meshes])[shape]
        self.turns = np.where(self.moves[:, None], 1.0 / np.where(inertia > 0, inertia, 1.0), 0.0)
        self.dt, self.substeps, self.warm, self.pins = dt, substeps, warm, pins
        self.points, self.impulse, self.groups, self.kept = None, np.zeros((0, 3)), None, np.nan
        # bits: what stands still meets what moves
        group, mask = np.where(self.moves, 2, 1), np.where(self.moves, 3, 2)
        ignore = [(a, b) for a, _, b, _ in pins] or None
        self.scene = gc.Scene(meshes, shape, group=group, mask=mask, ignore=ignore, backend=backend)
        self.turn_bodies()

    def step(self):
        """One step: contacts once, then substeps."""
        poses = gc.Poses.from_quat_wxyz(self.position, self.quat)
        self.scene.update(poses, poses)
        fastest = np.sqrt((self.velocity[:, :3] ** 2).sum(axis=1)).max(initial=0.0)
        points = gc.contacts_at(self.scene, margin=MARGIN + 1.5 * self.dt * fastest).manifolds()
        self.carry(points)
        h = self.dt / self.substeps
        self.prepare(h)
        for _ in range(self.substeps):
            self.velocity[self.moves, 2] -= h * GRAVITY
            self.rows.apply(self.velocity, self.impulse, once=False)
            self.hold(h)
            self.solve(self.gap + self.offset() - self.began, h, push=True)
            self.position += h * self.velocity[:, :3]
            spin = np.column_stack([np.zeros(len(self.quat)), self.velocity[:, 3:]])
            self.quat += 0.5 * h * product(spin, self.quat)
            self.turn_bodies()
            self.hold(np.inf)  # pins first, so that contacts have the last word
            self.solve(self.gap + self.offset() - self.began, h, push=False)

    def turn_bodies(self):
        self.quat /= np.linalg.norm(self.quat, axis=1, keepdims=True)
        self.turn = gc.Poses.from_quat_wxyz(self.position, self.quat).to_matrix()[:, :3, :3]

    def carry(self, points):
        """The impulses of the last step that go on."""
        if self.points is None:
            self.impulse = np.zeros((len(points), 3))
        else:
            # a corner that wanders from one edge to the next is another pair of features at the same place
            match = points.match(self.points, tolerance=0.01)
            self.kept = len(match.kept) / max(len(self.points), 1)
            self.impulse = match.carry(self.impulse) if self.warm else np.zeros((len(points), 3))
        if self.points is None or not np.array_equal(points.bodies, self.points.bodies):
            self.groups = groups_of(points.bodies, self.moves)
        self.points = points

    def prepare(self, h):
        """What stays the same over the substeps: directions, anchors, masses."""
        points = self.points
        a, b = points.bodies.T
        way = np.concatenate([points.normal[:, None], points.tangents], axis=1)  # (m, 3, 3)
        self.gap, self.began = points.distance.copy(), self.offset()
        self.rows, k = self.rows_of(a, points.local_a, b, points.local_b, way)
        self.normal_mass = 1.0 / k[:, 0, 0]
        # one number for both tangents: else friction at its limit would not point against the motion
        self.tangent_mass = 1.0 / np.linalg.eigvalsh(k[:, 1:, 1:])[:, 1:]
        self.grip = np.sqrt(self.friction[a] * self.friction[b])
        hertz = np.minimum(HERTZ, 0.25 / h) * np.where(self.moves[a] & self.moves[b], 1.0, 2.0)
        omega = 2 * np.pi * hertz
        a1 = 2 * DAMPING + h * omega
        a2 = h * omega * a1
        self.rate, self.stiff, self.leak = omega / a1, a2 / (1 + a2), 1 / (1 + a2)

    def rows_of(self, a, local_a, b, local_b, way):
        """`Rows` of pairs of anchors along three directions, and what impulses change there, (m, 3, 3)."""
        inertia = np.einsum("nij,nj,nkj->nik", self.turn, self.turns, self.turn)
        sides, k = [], np.zeros((len(a), 3, 3))
        for body, local, sign in ((a, local_a, -1.0), (b, local_b, 1.0)):
            arm = np.einsum("nij,nj->ni", self.turn[body], local)
            row = sign * np.concatenate([way, np.cross(arm[:, None], way)], axis=2)
            answer = np.concatenate(
                [self.light[body, None, None] * row[:, :, :3], row[:, :, 3:] @ inertia[body]], axis=2
            )
            k += row @ answer.transpose(0, 2, 1)
            sides.append((body, row, answer))
        return Rows(sides), k

    def between(self, a, local_a, b, local_b):
        """From places on A to places on B, in the world."""
        at_a, at_b = (
            self.position[body] + np.einsum("nij,nj->ni", self.turn[body], local)
            for body, local in ((a, local_a), (b, local_b))
        )
        return at_b - at_a

    def offset(self):
        """From the anchors on A to those on B, along the normals."""
        points = self.points
        a, b = points.bodies.T
        return (self.between(a, points.local_a, b, points.local_b) * points.normal).sum(axis=1)

    def hold(self, h):
        """Pins, one after the other, some times."""
        if not self.pins:
            return
        a, local_a, b, local_b = (np.array(x) for x in zip(*self.pins, strict=True))
        rows, k = self.rows_of(a, local_a, b, local_b, np.broadcast_to(np.eye(3), (len(a), 3, 3)))
        inverse, bias = np.linalg.inv(k), 0.2 / h * self.between(a, local_a, b, local_b)
        for _ in range(8):
            for i in range(len(a)):
                some = rows.some([i])
                some.apply(self.velocity, -(some.speed(self.velocity) + bias[i]) @ inverse[i])

    def solve(self, gap, h, push):
        """Impulses of all points, one group after the other."""
        ahead, soft = gap > 0, push & (gap <= 0)
        bias = np.where(ahead, gap / h, np.where(soft, np.maximum(self.rate * gap, -PUSH), 0.0))
        mass = self.normal_mass * np.where(soft, self.stiff, 1.0)
        leak = np.where(soft, self.leak, 0.0)
        for group in self.groups:
            rows, now = self.rows.some(group), self.impulse[group]
            speed = rows.speed(self.velocity)
            change = np.zeros_like(now)
            new = now[:, 0] - mass[group] * (speed[:, 0] + bias[group]) - leak[group] * now[:, 0]
            change[:, 0] = np.maximum(new, 0.0) - now[:, 0]
            rows.apply(self.velocity, change)
            now = now + change
            aside = now[:, 1:] - self.tangent_mass[group] * rows.speed(self.velocity)[:, 1:]
            most = self.grip[group] * now[:, 0]
            size = np.sqrt((aside**2).sum(axis=1))
            aside *= np.where(size > most, most / np.where(size > 0, size, 1.0), 1.0)[:, None]
            change = np.zeros_like(now)
            change[:, 1:] = aside - now[:, 1:]
            rows.apply(self.velocity, change)
            self.impulse[group] = now + change

    def energy(self):
        local = np.einsum("nij,ni->nj", self.turn, self.velocity[:, 3:])
        inertia = np.where(self.turns > 0, 1.0 / np.where(self.turns > 0, self.turns, 1.0), 0.0)
        moving = self.mass * (self.velocity[:, :3] ** 2).sum(axis=1) + (inertia * local**2).sum(axis=1)
        return float((0.5 * moving + self.mass * GRAVITY * self.position[:, 2]).sum())


class Rows:
    """Of both bodies of points: the body, velocity along three directions, and what an impulse changes."""

    def __init__(self, sides):
        self.sides = sides

    def some(self, rows):
        return Rows([[x[rows] for x in side] for side in self.sides])

    def speed(self, velocity):
        return sum(np.einsum("nij,nj->ni", row, velocity[body]) for body, row, _ in self.sides)

    def apply(self, velocity, impulse, once=True):
        """``once``: bodies that move are in it once, as in a group."""
        for body, _, answer in self.sides:
            change = np.einsum("nij,ni->nj", answer, impulse)
            if once:
                velocity[body] += change
            else:
                np.add.at(velocity, body, change)


def inertia_of(mesh):
    """Of a solid of mass 1 whose frame is its middle and whose axes are its own: of a sphere or a capsule, or
    of the pyramids on its faces."""
    if mesh.thin:
        size = np.ptp(mesh.vertices, axis=0)
        r, h = mesh.rounding, size.max()
        ball, rod = 4 / 3 * r, h  # volumes, but for pi r^2
        along = (0.4 * ball + 0.5 * rod) * r**2
        across = ball * (0.4 * r**2 + 0.375 * r * h + 0.25 * h**2) + rod * (0.25 * r**2 + h**2 / 12)
        return np.where(size > 0, along, across) / (ball + rod)
    start, corner = mesh.face_start, mesh.vertices[mesh.face_vertices]
    three = [(corner[i], corner[k], corner[k + 1]) for i, end in zip(start[:-1], start[1:], strict=True)
             for k in range(i + 1, end - 1)]  # fmt: skip
    a, b, c = np.array(three).transpose(1, 0, 2)
    volume = np.einsum("ni,ni->n", a, np.cross(b, c))
    squares = volume @ (a**2 + b**2 + c**2 + (a + b + c) ** 2) / (20 * volume.sum())
    return squares.sum() - squares


def product(a, b):
    """Of quaternions (w, x, y, z)."""
    w = a[:, 0] * b[:, 0] - (a[:, 1:] * b[:, 1:]).sum(axis=1)
    return np.column_stack([w, a[:, :1] * b[:, 1:] + b[:, :1] * a[:, 1:] + np.cross(a[:, 1:], b[:, 1:])])


def groups_of(bodies, moves):
    """Points that may be solved at once: of pairs without a common body that moves, the first of each pair,
    the second, and so on."""
    pairs, which = np.unique(bodies, axis=0, return_inverse=True)
    which = which.reshape(-1)
    colour, used = np.zeros(len(pairs), int), [0] * len(moves)
    for k, (a, b) in enumerate(pairs):
        taken = (used[a] if moves[a] else 0) | (used[b] if moves[b] else 0)
        colour[k] = (~taken & (taken + 1)).bit_length() - 1
        used[a] |= 1 << int(colour[k])
        used[b] |= 1 << int(colour[k])
    order = np.argsort(which, kind="stable")
    rank = np.empty(len(which), int)
    rank[order] = np.arange(len(which)) - np.searchsorted(which[order], which[order])
    label = colour[which] * (rank.max(initial=0) + 1) + rank
    return [np.flatnonzero(label == x) for x in np.unique(label)]
