"""Characters, bullets and triggers: ``python examples/arena.py [PEOPLE] [STEPS]``.

Two teams walk in a yard and shoot at each other. Groups and masks say who meets what: characters meet walls
and each other, bullets pass their shooter (`ignore`) and the zones on the ground, and zones are met by the
casts alone that ask who enters. Who is hit is switched off in the scene (`set_active`) until he comes back.
"""

import argparse

import numpy as np

import gpu_collide as gc

WALL, CHARACTER, BULLET, ZONE = 1, 2, 4, 8
RADII, YARD = np.array([0.3, 0.3, 0.85]), 9.0
SPEED, BULLET_SPEED, AWAY = 0.12, 2.5, 20  # of a step; steps that one who was hit is away
WALLS = np.array([[0, 0, -0.5], [-3, 2, 1], [3, -2, 1], [0, 5, 1], [0, -5, 1]])
ZONES = np.array([[-6.0, -6, 1], [6, 6, 1], [-6, 6, 1], [6, -6, 1]])


def body_of_character():
    """A ball of 80 faces around the ellipsoid: what others are stopped by is outside of it."""
    ball = gc.shapes.icosphere(1)
    inside = np.abs(ball.face_planes[:, 3]).min()  # how far its nearest face is from the middle
    loops = np.split(ball.face_vertices, ball.face_start[1:-1])
    return gc.Mesh(ball.vertices / inside * RADII, [loop.tolist() for loop in loops])


class Arena:
    """All that moves; person k is body ``first + k`` of the scene."""

    def __init__(self, people=40, backend="auto", seed=1):
        self.rng = np.random.default_rng(seed)
        meshes = [
            gc.shapes.box((30, 30, 1)),
            gc.shapes.box((2, 2, 2)),
            gc.shapes.box((4, 4, 2)),
            body_of_character(),
        ]
        self.first, self.n = len(WALLS) + len(ZONES), people
        shape = np.repeat([0, 1, 2, 3], [1, len(WALLS) - 1, len(ZONES), people])
        self.own = self.first + np.arange(people)
        side = np.ceil(np.sqrt(people)).astype(int)
        k = np.arange(people)
        self.place = np.c_[np.c_[k % side, k // side] * 1.5 - 0.75 * side, np.full(people, 1.0)]
        self.place[:, 1] += np.where(np.abs(self.place[:, 0]) > 1.2, 0.0, 12.0)  # not in a wall
        self.team, self.goal = k % 2, self.rng.uniform(-YARD, YARD, (people, 2))
        self.back = np.zeros(people, int)  # step at which one comes back; 0: is there
        group = np.repeat([WALL, ZONE, CHARACTER], [len(WALLS), len(ZONES), people])
        mask = np.repeat([-1, CHARACTER, -1], [len(WALLS), len(ZONES), people])
        self.scene = gc.Scene(meshes, shape, self.poses(self.place), group=group, mask=mask, backend=backend)
        self.bullets, self.shooter = np.zeros((0, 2, 3)), np.zeros(0, int)  # place and way
        self.hits, self.entered, self.stood_back = [], [], 0

    def poses(self, place):
        where = np.concatenate([WALLS, ZONES, place])
        return gc.Poses.from_quat_wxyz(where, np.tile([1.0, 0, 0, 0], (len(where), 1)))

    def walk(self, step):
        """Everybody at once: the others are obstacles that go where they want to."""
        there = np.flatnonzero(self.back == 0)
        head = self.goal - self.place[:, :2]
        far = np.linalg.norm(head, axis=1)
        other = (far < 0.5) | (self.rng.random(self.n) < 0.01)
        self.goal[other] = self.rng.uniform(-YARD, YARD, (int(other.sum()), 2))
        velocity = np.c_[SPEED * head / np.maximum(far, SPEED)[:, None], np.zeros(self.n)]
        velocity[self.back > 0] = 0.0
        self.scene.update(self.poses(self.place), self.poses(self.place + velocity))
        found = gc.sweep.slide(
            self.scene, self.place[there], RADII, velocity[there], gravity=[0, 0, -0.1], group=CHARACTER,
            mask=WALL | CHARACTER, ignore=self.own[there],
        )  # fmt: skip
        place = self.place.copy()
        place[there] = found.position
        return self.apart(place, there)

    def apart(self, place, there):
        """Who stopped early may be where another has come: both stay where they were, and so on. All were
        apart there, so this ends."""
        while True:
            way = (place[there][:, None] - place[there]) / RADII
            close = (way**2).sum(axis=2) < 4.0
            np.fill_diagonal(close, False)
            moved = (place[there] != self.place[there]).any(axis=1)
            back = there[close.any(axis=1) & moved]
            if not len(back):
                return place
            place[back] = self.place[back]
            self.stood_back += len(back)

    def shoot(self, step):
        """Now and then each shoots at the nearest of the others; from inside of his own body."""
        there = np.flatnonzero((self.back == 0) & (np.arange(self.n) % 12 == step % 12))
        for k in there:
            foes = np.flatnonzero((self.team != self.team[k]) & (self.back == 0))
            if len(foes):
                aim = self.place[foes] - self.place[k]
                aim = aim[np.linalg.norm(aim, axis=1).argmin()]
                new = np.stack([self.place[k], BULLET_SPEED * aim / np.linalg.norm(aim)])
                self.bullets = np.concatenate([self.bullets, new[None]])
                self.shooter = np.append(self.shooter, k)

    def fly(self, step):
        """Bullets through the yard while the characters move in it: the hits."""
        found = gc.sweep.rays(
            self.bullets[:, 0], self.bullets[:, 1], self.scene, group=BULLET, mask=WALL | CHARACTER,
            ignore=self.own[self.shooter],
        )  # fmt: skip
        person = found.body - self.first
        for shooter, victim in zip(self.shooter[person >= 0], person[person >= 0], strict=True):
            self.hits.append((step, int(shooter), int(victim)))
            self.back[victim] = step + AWAY
        self.bullets[:, 0] += self.bullets[:, 1]
        flies = ~found.hit & (np.abs(self.bullets[:, 0]).max(axis=1) < 2 * YARD)
        self.bullets, self.shooter = self.bullets[flies], self.shooter[flies]

    def enter(self, before, step):
        """Who came into a zone on his way; zones are there for these casts alone."""
        there = np.flatnonzero(self.back == 0)
        found = gc.sweep.ellipsoids(
            before[there], self.place[there] - before[there], RADII, self.scene, group=CHARACTER, mask=ZONE
        )
        for k, body in zip(there[found.hit], found.body[found.hit], strict=True):
            self.entered.append((step, int(k), int(body) - len(WALLS)))

    def step(self, step):
        back = np.flatnonzero((self.back > 0) & (self.back <= step))
        far = np.linalg.norm((self.place[back][:, None] - self.place) / RADII, axis=2)
        far[self.back[None, :].repeat(len(back), axis=0) > 0] = np.inf
        back = back[far.min(axis=1, initial=np.inf) > 2.0][:1]  # one at a time, where nobody stands
        self.back[back] = 0
        self.scene.set_active(self.own, self.back == 0)
        place, before = self.walk(step), self.place
        self.scene.update(self.poses(before), self.poses(place))
        self.place = place
        self.shoot(step)
        self.fly(step)
        self.enter(before, step)

    def closest(self):
        """How near two who are there come, in diameters: from 1 on they are apart."""
        there = self.place[self.back == 0] / RADII
        far = np.linalg.norm(there[:, None] - there, axis=2)
        np.fill_diagonal(far, np.inf)
        return 0.5 * far.min(initial=np.inf)


def main(people=40, steps=120, backend="auto"):
    arena = Arena(int(people), backend)
    nearest = arena.closest()
    for step in range(int(steps)):
        arena.step(step)
        nearest = min(nearest, arena.closest())
    print(f"{len(arena.hits)} hits, {sum(a == b for _, a, b in arena.hits)} of them by one himself")
    print(f"{len(arena.entered)} times somebody came into a zone")
    print(f"two were no nearer than {nearest:.4f} diameters; {arena.stood_back} times somebody stood back")
    arena.scene.close()
    return arena, nearest


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("people", nargs="?", type=int, default=40, help="how many people (default: 40)")
    parser.add_argument("steps", nargs="?", type=int, default=120, help="steps (default: 120)")
    asked = parser.parse_args()
    main(asked.people, asked.steps)
