"""Boxes at rest, by a small solver: ``python examples/stack.py [SCENE] [STEPS] [PICTURE]``.

The library finds contacts, and has no dynamics: this is how a solver takes them. Each step asks once for the
contacts at the pose, makes manifolds of them, carries the impulses of the points that were there before, and
then takes some substeps: gravity, impulses that are soft where bodies overlap ("soft step", as Erin Catto's
"Solver2D" has it and Box2D 3 uses it), positions, and impulses once more without the push apart, so that this
leaves no speed. Points are solved one after the other in a pair; pairs without a common body at once.

Scenes: ``stack`` of ten boxes, ``pyramid``, ``ramp`` with a box that holds and one that slides. Each is run
warm and cold, that is, without carrying impulses.
"""

import argparse
import sys

import numpy as np

import gpu_collide as gc

GRAVITY = 9.81
MARGIN = 0.02  # contacts are known before they touch, so that nothing is hit at full speed
HERTZ, DAMPING, PUSH = 30.0, 10.0, 3.0  # of the soft contacts; PUSH: how fast overlap is left, at most
FLOOR, BOX = gc.shapes.box((40, 40, 1)), gc.shapes.box()


class World:
    """Bodies with their velocities. Those of mass 0 stand still."""

    def __init__(self, meshes, shape, position, quat, mass, friction=0.6, warm=True, backend="auto"):
        self.position, self.quat = np.array(position, float), np.array(quat, float)
        self.mesh = [meshes[k] for k in shape]
        self.mass, n = np.array(mass, float), len(mass)
        self.friction = np.broadcast_to(np.asarray(friction, float), (n,))
        self.velocity = np.zeros((n, 6))  # linear, angular
        self.moves = self.mass > 0
        self.light = np.where(self.moves, 1.0 / np.where(self.moves, self.mass, 1.0), 0.0)
        sides = np.array([np.ptp(mesh.vertices, axis=0) for mesh in self.mesh])
        inertia = self.mass[:, None] * ((sides**2).sum(axis=1, keepdims=True) - sides**2) / 12
        self.turns = np.where(self.moves[:, None], 1.0 / np.where(inertia > 0, inertia, 1.0), 0.0)
        self.warm, self.points, self.impulse, self.groups = warm, None, np.zeros((0, 3)), None
        group, mask = (
            np.where(self.moves, 2, 1),
            np.where(self.moves, 3, 2),
        )  # bits: what stands still meets what moves
        self.scene = gc.Scene(meshes, shape, group=group, mask=mask, backend=backend)
        self.kept = np.nan
        self.turn = gc.Poses.from_quat_wxyz(self.position, self.quat).to_matrix()[:, :3, :3]

    def step(self, dt=1 / 60, substeps=4):
        """One step: contacts once, then substeps."""
        poses = gc.Poses.from_quat_wxyz(self.position, self.quat)
        self.scene.update(poses, poses)
        points = gc.contacts_at(self.scene, margin=MARGIN).manifolds()
        self.carry(points)
        h = dt / substeps
        self.prepare(h)
        for _ in range(substeps):
            self.velocity[self.moves, 2] -= h * GRAVITY
            self.apply_all(self.impulse)
            gap = self.gaps()
            self.solve(gap, h, push=True)
            self.advance(h)
            self.solve(self.gaps(), h, push=False)

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
        self.a, self.b = points.bodies.T
        way = np.concatenate([points.normal[:, None], points.tangents], axis=1)  # (m, 3, 3)
        self.turn = gc.Poses.from_quat_wxyz(self.position, self.quat).to_matrix()[:, :3, :3]
        self.gap = points.distance.copy()
        self.anchor = points.local_a, points.local_b
        self.began = self.offset()
        self.rows = []  # of both bodies: velocity along the ways, and what an impulse along them changes
        inertia = np.einsum("nij,nj,nkj->nik", self.turn, self.turns, self.turn)
        k = np.zeros((len(points), 3, 3))
        for body, local, sign in ((self.a, points.local_a, -1.0), (self.b, points.local_b, 1.0)):
            arm = np.einsum("nij,nj->ni", self.turn[body], local)
            row = sign * np.concatenate([way, np.cross(arm[:, None], way)], axis=2)
            answer = np.concatenate(
                [self.light[body, None, None] * row[:, :, :3], row[:, :, 3:] @ inertia[body]], axis=2
            )
            k += row @ answer.transpose(0, 2, 1)
            self.rows.append((body, row, answer))
        self.normal_mass = 1.0 / k[:, 0, 0]
        # one number for both tangents: else friction at its limit would not point against the motion
        self.tangent_mass = 1.0 / np.linalg.eigvalsh(k[:, 1:, 1:])[:, 1:]
        self.grip = np.sqrt(self.friction[self.a] * self.friction[self.b])
        hertz = np.minimum(HERTZ, 0.25 / h) * np.where(self.moves[self.a] & self.moves[self.b], 1.0, 2.0)
        omega = 2 * np.pi * hertz
        a1 = 2 * DAMPING + h * omega
        a2 = h * omega * a1
        self.rate, self.stiff, self.leak = omega / a1, a2 / (1 + a2), 1 / (1 + a2)

    def offset(self):
        """From the anchor on A to that on B, along the normal."""
        a, b = (
            self.position[body] + np.einsum("nij,nj->ni", self.turn[body], local)
            for body, local in zip((self.a, self.b), self.anchor, strict=True)
        )
        return ((b - a) * self.points.normal).sum(axis=1)

    def gaps(self):
        return self.gap + self.offset() - self.began

    def solve(self, gap, h, push):
        """Impulses of all points, one group after the other."""
        if not len(gap):
            return
        ahead, soft = gap > 0, push & (gap <= 0)
        bias = np.where(ahead, gap / h, np.where(soft, np.maximum(self.rate * gap, -PUSH), 0.0))
        mass = self.normal_mass * np.where(soft, self.stiff, 1.0)
        leak = np.where(soft, self.leak, 0.0)
        for rows in self.groups:
            now = self.impulse[rows]
            speed = self.speed(rows)
            change = np.zeros_like(now)
            new = now[:, 0] - mass[rows] * (speed[:, 0] + bias[rows]) - leak[rows] * now[:, 0]
            change[:, 0] = np.maximum(new, 0.0) - now[:, 0]
            self.apply(rows, change)
            now = now + change
            aside = now[:, 1:] - self.tangent_mass[rows] * self.speed(rows)[:, 1:]
            most = self.grip[rows] * now[:, 0]
            size = np.sqrt((aside**2).sum(axis=1))
            aside *= np.where(size > most, most / np.where(size > 0, size, 1.0), 1.0)[:, None]
            change = np.zeros_like(now)
            change[:, 1:] = aside - now[:, 1:]
            self.apply(rows, change)
            self.impulse[rows] = now + change

    def speed(self, rows):
        return sum(
            np.einsum("nij,nj->ni", row[rows], self.velocity[body[rows]]) for body, row, _ in self.rows
        )

    def apply(self, rows, impulse):
        for body, _, answer in self.rows:  # bodies that move are in a group once
            self.velocity[body[rows]] += np.einsum("nij,ni->nj", answer[rows], impulse)

    def apply_all(self, impulse):
        for body, _, answer in self.rows:
            np.add.at(self.velocity, body, np.einsum("nij,ni->nj", answer, impulse))

    def advance(self, h):
        self.position += h * self.velocity[:, :3]
        spin = np.column_stack([np.zeros(len(self.quat)), self.velocity[:, 3:]])
        self.quat += 0.5 * h * product(spin, self.quat)
        self.quat /= np.linalg.norm(self.quat, axis=1, keepdims=True)
        self.turn = gc.Poses.from_quat_wxyz(self.position, self.quat).to_matrix()[:, :3, :3]

    def energy(self):
        local = np.einsum("nij,ni->nj", self.turn, self.velocity[:, 3:])
        inertia = np.where(self.turns > 0, 1.0 / np.where(self.turns > 0, self.turns, 1.0), 0.0)
        moving = 0.5 * self.mass * (self.velocity[:, :3] ** 2).sum(axis=1) + 0.5 * (inertia * local**2).sum(
            axis=1
        )
        return float((moving + self.mass * GRAVITY * self.position[:, 2]).sum())


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


def stack(n=10, **how):
    at = np.column_stack([np.zeros((n + 1, 2)), np.r_[-0.5, 0.5 + np.arange(n)]])
    return World([FLOOR, BOX], [0] + [1] * n, at, [[1.0, 0, 0, 0]] * (n + 1), [0] + [1] * n, **how)


def pyramid(base=6, **how):
    at = [[1.05 * (k - 0.5 * (n - 1)), 0, 0.5 + base - n] for n in range(base, 0, -1) for k in range(n)]
    n = len(at)
    return World(
        [FLOOR, BOX], [0] + [1] * n, [[0, 0, -0.5], *at], [[1.0, 0, 0, 0]] * (n + 1), [0] + [1] * n, **how
    )


SLOPE = np.radians(20.0)


def ramp(**how):
    """Two boxes on a slope of 20 degrees: the grip of one is 0.6, and it holds, of the other 0.2."""
    quat = [np.cos(SLOPE / 2), 0, np.sin(SLOPE / 2), 0]  # down along x
    up = np.array([np.sin(SLOPE), 0, np.cos(SLOPE)])
    at = [-0.5 * up, 0.5 * up + [0, 2, 0], 0.5 * up - [0, 2, 0]]
    return World([FLOOR, BOX], [0, 1, 1], at, [quat] * 3, [0, 1, 1], friction=[1.0, 0.36, 0.04], **how)


SCENES = {"stack": stack, "pyramid": pyramid, "ramp": ramp}


def run(world, steps, dt=1 / 60):
    """Of each step: the largest depth, the energy gained, how far a body is from where it began, the largest
    speed, and the share of points that were kept."""
    told = {name: np.zeros(steps) for name in ("depth", "energy", "drift", "speed", "kept")}
    began, energy = world.position.copy(), world.energy()
    for k in range(steps):
        world.step(dt)
        told["depth"][k] = max(0.0, -world.points.distance.min(initial=0.0))
        told["energy"][k] = world.energy() - energy
        told["drift"][k] = np.linalg.norm(world.position - began, axis=1).max()
        told["speed"][k] = np.abs(world.velocity).max()
        told["kept"][k] = world.kept
    return told


def draw(told, path, title, dt=1 / 60):
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 2, figsize=(12, 7), sharex=True)
    units = {"depth": "largest depth [m]", "energy": "energy gained [J]",
             "drift": "farthest from the start [m]", "speed": "largest speed [m/s, rad/s]"}  # fmt: skip
    for axis, (name, label) in zip(axes.flat, units.items(), strict=True):
        for how, values in told.items():
            shown = values[name]
            axis.plot(
                dt * np.arange(1, len(shown) + 1), shown, label=how, lw=1, ls="-" if how == "warm" else "--"
            )
        axis.set_ylabel(label)
        axis.grid(alpha=0.3)
        if name == "speed":
            axis.set_yscale("log")
    axes[0, 0].legend()
    for axis in axes[1]:
        axis.set_xlabel("time [s]")
    figure.suptitle(title)
    figure.tight_layout()
    figure.savefig(path, dpi=90)


def main(arguments):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("scene", nargs="?", default="stack", choices=SCENES)
    parser.add_argument("steps", nargs="?", type=int, default=300, help="of 1/60 s (default: 300)")
    parser.add_argument(
        "picture", nargs="?", help="file of the picture, .png or .svg; without it none is drawn"
    )
    asked = parser.parse_args(arguments)
    told = {}
    for name, warm in (("warm", True), ("cold", False)):
        world = SCENES[asked.scene](warm=warm)
        told[name] = run(world, asked.steps)
        rest = told[name]["speed"][-max(asked.steps // 10, 1) :].max()
        depth, drift, energy, kept = (told[name][x] for x in ("depth", "drift", "energy", "kept"))
        print(f"{name}: largest depth {depth.max():.2g}, drift {drift[-1]:.2g}, energy", end=" ")
        print(f"{energy.max():+.2g} at most, speed {rest:.2g} in the last tenth,", end=" ")
        print(f"{100 * np.nanmean(kept):.2f} % of the points kept", flush=True)
        if asked.scene == "ramp" and warm:
            way = world.position[2] @ [np.cos(SLOPE), 0, -np.sin(SLOPE)]
            want = 0.5 * GRAVITY * (np.sin(SLOPE) - 0.2 * np.cos(SLOPE)) * (asked.steps / 60) ** 2
            print(f"the one that slides came {way:.3f} m down, without steps it would be {want:.3f} m")
    if asked.picture:
        draw(told, asked.picture, f"{asked.scene}, {asked.steps} steps of 1/60 s with 4 substeps")


if __name__ == "__main__":
    main(sys.argv[1:])
