"""From impact to impact: ``python examples/impacts.py [BODIES] [FRAMES]``.

Cubes, tetrahedra, octahedra and icosahedra fall into a room, tumble, roll and come to rest on each other.
Each flies straight on and spins at a constant rate: their inertia is the same about every axis. One call
tells when the first two meet; all go there, what meets gets an impulse, and the rest of the frame is asked
for again. Bodies are never pushed apart: there is nothing to push. Whether that is so is measured in another
way, by planes that separate them, and so is that no impact adds energy.
"""

import argparse
import sys
import time
from functools import lru_cache

import numpy as np

import gpu_collide as gc

ROOM, WALL, STEP = 3.0, 0.5, 1 / 60  # metres, seconds
GRAVITY, RESTITUTION, FRICTION = 9.81, 0.5, 0.4
BEFORE = 1e-9  # so much of a step before the impact all bodies stop
TOGETHER = 1e-6  # what meets within so much of a step gets its impulses at once
GRAZES = 1e-9  # metres a step: slower is no approach
LEAST = 1e-3  # least restitution: so that what has met parts
LATELY = 0.05  # what met so much of a step ago gets impulses too: cubes land on one corner after the other
MOST = 60  # impacts in a frame; of what would be more than that, time stops until the next


class World:
    """Solids with the same inertia about every axis, in a room of six walls that stand."""

    def __init__(
        self, n, seed=0, gravity=GRAVITY, restitution=RESTITUTION, friction=FRICTION, speed=2.0, rate=4.0
    ):
        rng = np.random.default_rng(seed)
        self.gravity, self.restitution, self.friction, self.n = gravity, restitution, friction, n
        solids = [solid(name, 0.35) for name in ("cube", "tetrahedron", "octahedron", "icosahedron")]
        walls = [gc.shapes.box(tuple(np.where(np.arange(3) == k, WALL, ROOM + 2 * WALL))) for k in range(3)]
        self.meshes = [mesh for mesh, _ in solids] + walls
        self.shape = np.r_[np.arange(n) % len(solids), [4, 5, 6, 4, 5, 6]]
        side = max(int(np.ceil(n ** (1 / 3))), 3)
        cells = rng.permutation(side**3)[:n]
        at = (np.stack(np.unravel_index(cells, (side,) * 3), 1) + 0.5) * (ROOM / side) - ROOM / 2
        self.position = np.r_[at, 0.5 * (ROOM + WALL) * np.r_[np.eye(3), -np.eye(3)]]
        quat = rng.normal(size=(n, 4))
        self.quat = np.r_[quat / np.linalg.norm(quat, axis=1)[:, None], np.tile([1.0, 0, 0, 0], (6, 1))]
        self.velocity, self.spin = np.zeros((n + 6, 3)), np.zeros((n + 6, 3))
        self.velocity[:n], self.spin[:n] = rng.normal(0, speed, (n, 3)), rng.normal(0, rate, (n, 3))
        self.light = np.r_[np.ones(n), np.zeros(6)]  # 1 / mass; walls are too heavy to move
        self.agile = np.r_[[1 / solids[k][1] for k in self.shape[:n]], np.zeros(6)]  # 1 / inertia
        self.impacts = self.calls = self.touching = 0
        self.lost, self.added, self.least = 0.0, 0.0, np.inf
        self.recent, self.now = [], 0.0
        self.sunk = []  # pairs that the library finds overlapping: never any

    def energy(self):
        """Of all motion."""
        heavy = [1 / w[: self.n] for w in (self.light, self.agile)]
        return 0.5 * sum(
            m @ (v[: self.n] ** 2).sum(1) for m, v in zip(heavy, (self.velocity, self.spin), strict=True)
        )

    def frame(self):
        """A frame: gravity, then from impact to impact."""
        self.velocity[: self.n, 2] -= self.gravity * STEP
        left = STEP
        for _ in range(MOST):
            left -= self.advance(left)
            if left <= 0:
                return
        self.lost += left

    def advance(self, left):
        """To the first impact of what is left of the frame, or to its end; how long that took."""
        poses = gc.Poses.from_quat_wxyz(self.position, self.quat)
        bodies = gc.Bodies.from_velocities(self.meshes, self.shape, poses, self.velocity, self.spin, left)
        found = gc.collide(bodies, contacts="first", motion="body")
        self.calls += 1
        self.sunk += found.pairs[found.status == gc.Status.INITIAL_OVERLAP].tolist()
        if (found.normal_speed > GRAZES).any():  # edges that touch and part: what else do these pairs do?
            found = gc.collide(bodies, found.pairs, motion="body")
        comes = found.normal_speed <= GRAZES
        first = found.time[comes].min(initial=np.inf)
        when = max(first - BEFORE, 0.0) if np.isfinite(first) else 1.0
        there = bodies.poses_at(when)
        self.position, self.quat = there.position.copy(), there.quat_wxyz.copy()
        if np.isfinite(first):
            self.touching += first == 0
            self.now += left * when
            self.impulses(found, np.flatnonzero(comes & (found.time <= first + TOGETHER)))
            self.impacts += 1
            return left * when
        self.now += left
        return left

    def impulses(self, found, rows):
        """At places of contact, new and just left, against what approaches there."""
        before = self.energy()
        new = [(*found.pairs[found.pair[k]], found.position[k], found.normal[k]) for k in rows]
        for contact in new:
            self.impulse(*contact, self.restitution)
        for a, b in found.pairs[found.pair[rows[found.normal_speed[rows] >= -GRAZES]]]:
            self.spin[[a, b]] *= 0.5  # no speed to turn round, and it may still be on its way in
        self.recent = [(t, c) for t, c in self.recent if t > self.now - LATELY * STEP][-8 * self.n :]
        self.recent += [(self.now, c) for c in new]
        for _ in range(10):
            for _, contact in self.recent:
                self.impulse(*contact, LEAST)
        self.added = max(self.added, self.energy() / before - 1)

    def impulse(self, a, b, place, normal, restitution):
        arms = [place - self.position[i] for i in (a, b)]
        approach = self.flow(a, b, arms) @ normal  # the normal points from A to B
        if approach >= 0:
            return
        restitution = restitution if approach < -0.2 else LEAST
        push = -(1 + restitution) * approach / self.yields(a, b, arms, normal)
        self.push(a, b, arms, push * normal)
        slide = self.flow(a, b, arms)
        slide -= (slide @ normal) * normal
        speed = np.linalg.norm(slide)
        if speed > 1e-12:
            along = slide / speed
            self.push(a, b, arms, -min(self.friction * push, speed / self.yields(a, b, arms, along)) * along)

    def flow(self, a, b, arms):
        """Velocity of B past A at a place."""
        va, vb = (self.velocity[i] + np.cross(self.spin[i], arm) for i, arm in zip((a, b), arms, strict=True))
        return vb - va

    def yields(self, a, b, arms, along):
        """Change of that velocity by an impulse of 1 along a direction."""
        return sum(
            self.light[i] + self.agile[i] * (np.cross(arm, along) ** 2).sum()
            for i, arm in zip((a, b), arms, strict=True)
        )

    def push(self, a, b, arms, impulse):
        for i, arm, sign in zip((a, b), arms, (-1, 1), strict=True):
            self.velocity[i] += sign * self.light[i] * impulse
            self.spin[i] += sign * self.agile[i] * np.cross(arm, impulse)

    def gaps(self):
        """Gap of each near pair along the best normal of a face or, below a centimetre, of two edges: from 0
        on they are apart."""
        rotations = gc.Poses.from_quat_wxyz(self.position, self.quat).to_matrix()[:, :3, :3]
        places, axes = [], []
        for i, k in enumerate(self.shape):
            points, normals, edges = separating(self.meshes[k])
            places.append(points @ rotations[i].T + self.position[i])
            axes.append((normals @ rotations[i].T, edges @ rotations[i].T))
        reach = [np.linalg.norm(p - c, axis=1).max() for p, c in zip(places, self.position, strict=True)]
        found = []
        for a in range(self.n):
            for b in range(a + 1, len(places)):
                if b < self.n and np.linalg.norm(self.position[a] - self.position[b]) > reach[a] + reach[b]:
                    continue
                gap = apart(places[a], places[b], np.concatenate([axes[a][0], axes[b][0]]))
                if gap < 0.01:
                    crossed = np.cross(axes[a][1][:, None], axes[b][1][None]).reshape(-1, 3)
                    length = np.linalg.norm(crossed, axis=1)
                    crossed = crossed[length > 1e-6] / length[length > 1e-6, None]
                    gap = max(gap, apart(places[a], places[b], crossed)) if len(crossed) else gap
                found.append(gap)
        return np.array(found)


def apart(a, b, along):
    """The largest gap between two sets of points along unit vectors."""
    pa, pb = a @ along.T, b @ along.T
    return np.maximum(pb.min(0) - pa.max(0), pa.min(0) - pb.max(0)).max()


def solid(name, radius):
    """A regular solid about the origin as a mesh, and its inertia at mass 1."""
    golden = (1 + 5**0.5) / 2
    if name == "cube":
        points = [(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
    elif name == "tetrahedron":
        points = [(1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1)]
    elif name == "octahedron":
        points = np.r_[np.eye(3), -np.eye(3)]
    else:
        points = [np.roll((0, y, z * golden), k) for k in range(3) for y in (-1, 1) for z in (-1, 1)]
    points = np.array(points, float)
    mesh = gc.shapes.convex_hull(points * (radius / np.linalg.norm(points[0])))
    return mesh, 0.4 * (0.7 * radius) ** 2  # near that of a ball; any that is the same about each axis serves


@lru_cache(maxsize=32)
def separating(mesh):
    """Corners, normals of faces, directions of edges; of a kind of shape once."""
    points = np.asarray(mesh.vertices)
    normals, edges = [], []
    for loop in mesh.faces:
        p = points[loop]
        normal = np.cross(p[1] - p[0], p[2] - p[0])
        normals.append(normal / np.linalg.norm(normal))
        edges.extend(np.roll(p, -1, axis=0) - p)
    edges = np.array(edges) / np.linalg.norm(edges, axis=1)[:, None]
    return points, np.array(normals), _lines(edges)


def _lines(directions):
    """Each direction once, whichever way it points."""
    kept = []
    for d in directions:
        if all(abs(d @ other) < 1 - 1e-9 for other in kept):
            kept.append(d)
    return np.array(kept)


def main(arguments):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("bodies", nargs="?", type=int, default=24, help="how many solids (default: 24)")
    parser.add_argument(
        "frames", nargs="?", type=int, default=60, help="of a sixtieth of a second (default: 60)"
    )
    asked = parser.parse_args(arguments)
    world = World(asked.bodies)
    began = time.perf_counter()
    for _ in range(asked.frames):
        world.frame()
    spent = time.perf_counter() - began
    gap = world.gaps().min(initial=np.inf)
    each = 1e3 * spent / max(world.calls, 1)
    print(f"{asked.frames} frames, {world.calls} calls, {world.impacts} impacts, {each:.2f} ms a call")
    print(f"least gap at the end {gap:.1e} m, {len(world.sunk)} pairs overlapped")
    print(f"most energy that an impact added: {world.added:.0e} of all")
    print(f"time stopped for {1e3 * world.lost:.2f} ms of {1e3 * asked.frames * STEP:.0f}")


if __name__ == "__main__":
    main(sys.argv[1:])
