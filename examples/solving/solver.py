"""A small solver that takes contacts from the library, which has no dynamics itself. `../stack.py` runs it.

Each step asks once for the contacts at the pose, makes manifolds of them, carries the impulses of the points
that were there before, and then takes some substeps: gravity, impulses that are soft where bodies overlap
("soft step", as Erin Catto's "Solver2D" has it and Box2D 3 uses it), positions, and impulses once more
without the push apart, so that this leaves no speed. All points of a pair are solved together, so that
none of them comes first and a box is not tilted by their order, and pairs without a common body at once.
Each other pass over pairs goes backwards: a pyramid sways if the same ones always have the last word. Pins
hold a point of one body on a point of another: two of them are the axle of a wheel.
"""

from types import SimpleNamespace

import numpy as np

import gpu_collide as gc

GRAVITY = 9.81
MARGIN = 0.02  # contacts are known before they touch, so that nothing is hit at full speed
HERTZ, DAMPING, PUSH = 30.0, 10.0, 3.0  # of the soft contacts; PUSH: how fast overlap is left, at most
INNER = 8  # rounds over the points of a pair


class World:
    """Bodies with their velocities, whose frames are their middles. Those of mass 0 stand still.

    ``pins``: (body a, place on it, body b, place on it), in the frames of the bodies, which do not collide.
    """

    def __init__(self, meshes, shape, position, quat, mass, friction=0.6, pins=(), warm=True, backend="auto",
                 dt=1 / 60, substeps=4):  # fmt: skip
        self.position, self.quat = np.array(position, float), np.array(quat, float)
        self.mass, n = np.array(mass, float), len(mass)
        self.friction = np.broadcast_to(np.asarray(friction, float), (n,))
        self.velocity = np.zeros((n, 6))  # linear, angular
        self.moves = self.mass > 0
        self.light = np.where(self.moves, 1.0 / np.where(self.moves, self.mass, 1.0), 0.0)
        inertia = self.mass[:, None] * np.array([inertia_of(mesh) for mesh in meshes])[shape]
        self.turns = np.where(self.moves[:, None], 1.0 / np.where(inertia > 0, inertia, 1.0), 0.0)
        self.dt, self.substeps, self.warm, self.pins = dt, substeps, warm, pins
        self.points, self.impulse, self.kept = None, np.zeros((0, 3)), np.nan
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
        blocks = self.blocks(h)
        for _ in range(self.substeps):
            self.velocity[self.moves, 2] -= h * GRAVITY
            for block in blocks:
                self.push(block, block.impulse)
            self.passes(blocks, h, True)
            self.position += h * self.velocity[:, :3]
            spin = np.column_stack([np.zeros(len(self.quat)), self.velocity[:, 3:]])
            self.quat += 0.5 * h * product(spin, self.quat)
            self.turn_bodies()
            for block in blocks:
                block.gap += h * self.speed(block)[:, : block.gap.shape[1]]
            blocks.reverse()
            self.passes(blocks, h, False)
        for block in blocks:
            rows = block.impulse.reshape(len(block.slot), 3, -1).transpose(0, 2, 1)
            self.impulse[block.slot[block.real]] = rows[block.real]

    def passes(self, blocks, h, push):
        """Pins first, so that contacts have the last word. Several times, where a light wheel under a heavy
        body learns only some of its load each time, and where impulses begin at 0: of those of n bodies on
        each other a pass leaves out cos(pi / (n + 1))^2, and a stack that is not held tips over."""
        for _ in range(4 if self.pins or not self.warm else 1):
            self.hold(h if push else np.inf)
            for block in blocks:
                self.solve(block, h, push)

    def turn_bodies(self):
        self.quat /= np.linalg.norm(self.quat, axis=1, keepdims=True)
        self.turn = gc.Poses.from_quat_wxyz(self.position, self.quat).to_matrix()[:, :3, :3]

    def carry(self, points):
        """The impulses of the last step that go on."""
        old, before, self.points = self.impulse, self.points, points
        self.impulse = np.zeros((len(points), 3))
        if before is not None:
            match = points.match(before)
            self.kept = len(match.kept) / max(len(before), 1)
            self.impulse = match.carry(old) if self.warm else self.impulse

    def blocks(self, h):
        """Pairs that are solved at once, with all of their points, and what stays the same over the substeps:
        vectors of the points' rows are along the normals, then both tangents. Pairs of fewer points are
        filled up with some that do nothing."""
        points, blocks = self.points, []
        pairs, first, count = np.unique(points.pair, return_index=True, return_counts=True)
        colour = colours_of(points.pairs[pairs], self.moves)
        way, inertia = np.concatenate([points.normal[:, None], points.tangents], axis=1), self.inertia()
        for some in (np.flatnonzero(colour == c) for c in range(colour.max(initial=-1) + 1)):
            m = count[some].max()
            real = np.arange(m) < count[some, None]
            slot = first[some, None] + np.where(real, np.arange(m), 0)
            a, b = points.pairs[pairs[some]].T
            sides, k = [], 0.0
            for body, local, sign in ((a, points.local_a, -1.0), (b, points.local_b, 1.0)):
                arm = np.einsum("nij,nmj->nmi", self.turn[body], local[slot])
                row = np.concatenate([way[slot], np.cross(arm[:, :, None], way[slot])], axis=3)
                row = (sign * real[:, :, None, None] * row).transpose(0, 2, 1, 3).reshape(len(some), -1, 6)
                answer = np.concatenate(
                    [self.light[body, None, None] * row[..., :3], row[..., 3:] @ inertia[body]], axis=2
                )
                k = k + row @ answer.transpose(0, 2, 1)
                sides.append((body, row, answer))
            omega = 2 * np.pi * min(HERTZ, 0.25 / h) * np.where(self.moves[a] & self.moves[b], 1.0, 2.0)
            stiff = h * omega * (2 * DAMPING + h * omega)
            blocks.append(SimpleNamespace(
                slot=slot, real=real, sides=sides, k=k,
                rate=(omega / (2 * DAMPING + h * omega))[:, None],
                soft=np.einsum("nii->ni", k)[:, :m] / stiff[:, None],
                # rounds converge by these sums; one number for both tangents: else friction at its limit
                # would not point against the motion
                ahead=np.abs(k[:, :m, :m]).sum(axis=2) + ~real,
                aside=np.tile(np.maximum(*np.split(np.abs(k[:, m:, m:]).sum(axis=2), 2, axis=1)) + ~real, 2),
                grip=np.sqrt(self.friction[a] * self.friction[b])[:, None],
                gap=np.where(real, points.distance[slot], 1.0),
                impulse=self.impulse[slot].transpose(0, 2, 1).reshape(len(some), -1) * np.tile(real, 3),
            ))  # fmt: skip
        return blocks

    def speed(self, block):
        return sum(times(row, self.velocity[body]) for body, row, _ in block.sides)

    def push(self, block, impulse):
        for body, _, answer in block.sides:  # those that move are there once
            self.velocity[body] += times(answer.transpose(0, 2, 1), impulse)

    def solve(self, block, h, push):
        """Impulses of the points of pairs, all of a pair at once, in rounds."""
        m = block.gap.shape[1]
        inside = push & (block.gap <= 0)
        ahead = np.maximum(block.gap, 0.0) / h
        bias = np.where(inside, np.maximum(block.rate * block.gap, -PUSH), ahead)
        soft = np.where(inside, block.soft, 0.0)
        speed, new = self.speed(block), block.impulse.copy()
        most = new[:, :m]
        for _ in range(INNER):
            before = new.copy()
            new[:, :m] -= (speed[:, :m] + bias + soft * most) / (block.ahead + soft)
            np.maximum(most, 0.0, out=most)
            speed += times(block.k[:, :, :m], most - before[:, :m])
            new[:, m:] -= speed[:, m:] / block.aside
            size = np.hypot(new[:, m : 2 * m], new[:, 2 * m :])
            held = np.minimum(1.0, block.grip * most / np.where(size > 0, size, 1.0))
            new[:, m:] *= np.tile(held, 2)
            speed += times(block.k[:, :, m:], new[:, m:] - before[:, m:])
        self.push(block, new - block.impulse)
        block.impulse = new

    def hold(self, h):
        """Pins, all at once, so that what is apart comes nearer by a fifth within h."""
        if not self.pins:
            return
        a, local_a, b, local_b = (np.array(x) for x in zip(*self.pins, strict=True))
        n, apart = len(a), 0.0
        row = np.zeros((n, 3, len(self.mass), 6))
        for body, local, sign in ((a, local_a, -1.0), (b, local_b, 1.0)):
            arm = np.einsum("nij,nj->ni", self.turn[body], local)
            row[np.arange(n), :, body, :3] += sign * np.eye(3)
            row[np.arange(n), :, body, 3:] += sign * np.cross(arm[:, None], np.eye(3))
            apart = apart + sign * (self.position[body] + arm)
        row = row.reshape(3 * n, -1, 6)
        answer = np.concatenate(
            [self.light[:, None] * row[..., :3], np.einsum("rnj,njk->rnk", row[..., 3:], self.inertia())],
            axis=2,
        )
        row, answer = row.reshape(3 * n, -1), answer.reshape(3 * n, -1)
        off = row @ self.velocity.reshape(-1) + 0.2 / h * apart.reshape(-1)
        # two pins of an axle hold its length twice: what is all but held already would take huge impulses
        impulse = np.linalg.lstsq(row @ answer.T, -off, rcond=1e-4)[0]
        self.velocity += (impulse @ answer).reshape(-1, 6)

    def inertia(self):
        """What a moment changes, in the world."""
        return np.einsum("nij,nj,nkj->nik", self.turn, self.turns, self.turn)

    def energy(self):
        local = np.einsum("nij,ni->nj", self.turn, self.velocity[:, 3:])
        inertia = np.where(self.turns > 0, 1.0 / np.where(self.turns > 0, self.turns, 1.0), 0.0)
        moving = self.mass * (self.velocity[:, :3] ** 2).sum(axis=1) + (inertia * local**2).sum(axis=1)
        return float((0.5 * moving + self.mass * GRAVITY * self.position[:, 2]).sum())


def times(matrix, vector):
    return (matrix @ vector[:, :, None])[:, :, 0]


def inertia_of(mesh):
    """Of a solid of mass 1 whose frame is its middle and whose axes are its own: of a cylinder, a sphere or a
    capsule, or of the pyramids on its faces."""
    if mesh.thin:
        size = np.ptp(mesh.vertices, axis=0)
        r, h = mesh.rounding, size.max()
        if mesh.ends is not None:
            return np.where(size > 0, 0.5 * r**2, 0.25 * r**2 + h**2 / 12)
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


def colours_of(pairs, moves):
    """Of each pair a number, so that those of the same number have no body that moves in common."""
    colour, used = np.zeros(len(pairs), int), [0] * len(moves)
    for k, (a, b) in enumerate(pairs.tolist()):
        taken = (used[a] if moves[a] else 0) | (used[b] if moves[b] else 0)
        colour[k] = (~taken & (taken + 1)).bit_length() - 1
        used[a] |= 1 << int(colour[k])
        used[b] |= 1 << int(colour[k])
    return colour
