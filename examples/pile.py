"""A toy world without forces: ``python examples/pile.py [BOXES] [ROUNDS] [PICTURE]``.

Boxes fall into a tray and come to rest on each other: in each round every box tries some ways, and some turns
about the places where it touches something, all in one call each, and takes the one that brings it lowest.
Then all are pushed to a side. Only `gc.pluecker` keeps them out of each other: no impulses, no springs, no
corrections. Whether it does is measured in another way, by gaps along separating axes.
"""

import argparse
import sys
import time

import numpy as np

import gpu_collide as gc

TRAY, WALL, HEIGHT = 3.0, 0.3, 2.0
STILL = [1.0, 0, 0, 0]
TRIES = 24  # of a box in a call
TOP = 3.0  # of the picture


class Pile:
    """Boxes in a tray."""

    def __init__(self, n, seed=0):
        self.rng = np.random.default_rng(seed)
        self.sides = self.rng.uniform(0.35, 0.9, (n, 3))
        slab, side = (TRAY + 2 * WALL, TRAY + 2 * WALL, WALL), 0.5 * (TRAY + WALL)
        self.sides = np.r_[self.sides, [slab], [[WALL, slab[1], HEIGHT]] * 2, [[slab[0], WALL, HEIGHT]] * 2]
        middle = 0.5 * HEIGHT
        walls = [
            [0, 0, -0.5 * WALL],
            [side, 0, middle],
            [-side, 0, middle],
            [0, side, middle],
            [0, -side, middle],
        ]
        drop = np.c_[self.rng.uniform(-0.8, 0.8, (n, 2)), 1.5 + 1.1 * np.arange(n)]
        self.position = np.r_[drop, walls]
        turn = self.rng.normal(size=(n, 4))
        self.quat = np.r_[turn / np.linalg.norm(turn, axis=1, keepdims=True), [STILL] * 5]
        self.meshes = [gc.shapes.box(tuple(sides)) for sides in self.sides]
        self.n, self.moves = n, 0
        self.scene = gc.Scene(self.meshes, np.arange(n + 5), (self.position, self.quat))

    def box(self, k, n=1):
        """Box k, as often as it is to try something."""
        rows = np.full(n, k)
        poses = gc.Poses.from_quat_wxyz(self.position[rows], self.quat[rows])
        return gc.Bodies(self.meshes[k], None, poses, poses)

    def ways(self, k, wind):
        """Where box k comes to by some ways downwards, long and short."""
        way = self.rng.normal(size=(TRIES, 3)) * self.rng.choice([0.3, 0.1, 0.02], (TRIES, 1))
        way[:, 2] = -np.abs(way[:, 2])
        way[0] = [0, 0, -0.5] + wind
        way[1:4] += wind
        return gc.pluecker.translate(self.box(k, TRIES), self.scene, way, exclude_body=np.full(TRIES, k))

    def turns(self, k):
        """Where it comes to if it tips over what it touches; None if that is nothing."""
        held = gc.pluecker.contacts(self.box(k), self.scene, 1e-6, exclude_body=[k]).point
        if not len(held):
            return None
        held = np.r_[held, [held.mean(axis=0)]][self.rng.integers(0, len(held) + 1, TRIES)]
        axis = np.cross(self.position[k] - held, [0, 0, -1.0]) + self.rng.normal(0, 0.1, (TRIES, 3))
        angle = self.rng.choice([0.3, 0.1, 0.02], TRIES) * self.rng.choice([1, 1, -1], TRIES)
        return gc.pluecker.rotate(
            self.box(k, TRIES), self.scene, angle, axis, held, exclude_body=np.full(TRIES, k)
        )

    def round(self, wind):
        """Every box tries, the lowest first, and takes what brings it lowest, or farthest with the wind."""
        for k in np.argsort(self.position[: self.n, 2]):
            for found in (self.ways(k, wind), self.turns(k)):
                if found is not None:
                    gain = (self.position[k] - found.position) @ np.array([-4 * wind[0], -4 * wind[1], 1.0])
                    best = np.argmax(gain)
                    if gain[best] > 1e-7:
                        self.position[k], self.quat[k] = found.position[best], found.quat_wxyz[best]
                        self.scene.update((self.position, self.quat))
                    self.moves += TRIES

    def gaps(self):
        """Least gap between two bodies, along the best of 15 axes for each pair: above 0, all are apart."""
        at, r = self.position, gc.Poses.from_quat_wxyz(self.position, self.quat).to_matrix()[:, :3, :3]
        a, b = np.triu_indices(len(at), 1)
        a, b = a[a < self.n], b[a < self.n]
        axes = [r[a][:, :, k] for k in range(3)] + [r[b][:, :, k] for k in range(3)]
        axes += [np.cross(r[a][:, :, j], r[b][:, :, k]) for j in range(3) for k in range(3)]
        best = np.full(len(a), -np.inf)
        for axis in axes:
            length = np.linalg.norm(axis, axis=1)
            axis = axis / np.where(length > 1e-4, length, 1)[:, None]
            reach = 0.5 * sum(
                self.sides[body][:, k] * np.abs(np.einsum("ij,ij->i", r[body][:, :, k], axis))
                for body in (a, b) for k in range(3)
            )  # fmt: skip
            gap = np.abs(np.einsum("ij,ij->i", at[b] - at[a], axis)) - reach
            best = np.maximum(best, np.where(length > 1e-4, gap, -np.inf))
        return best


def draw(pile, axes, title):
    """The pile, without the two walls in front."""
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    light = np.array([0.35, -0.5, 0.8])
    polygons, colours = [], []
    for k in [*range(pile.n + 1), pile.n + 2, pile.n + 3]:
        pose = gc.Poses.from_quat_wxyz(pile.position[k], pile.quat[k])
        hue = np.array([0.82, 0.84, 0.88]) if k >= pile.n else np.random.default_rng(k).uniform(0.35, 0.95, 3)
        corners = pose.apply(pile.meshes[k].vertices)
        if corners[:, 2].max() > TOP:
            continue  # it is still above the picture
        for loop in pile.meshes[k].faces:
            p = corners[loop]
            normal = np.cross(p[1] - p[0], p[2] - p[0])
            polygons.append(p)
            colours.append(np.clip(hue * (0.62 + 0.38 * (normal @ light) / np.linalg.norm(normal)), 0, 1))
    axes.add_collection3d(
        Poly3DCollection(polygons, facecolors=colours, edgecolors=(0, 0, 0, 0.45), linewidths=0.4)
    )
    axes.set(xlim=(-2, 2), ylim=(-2, 2), zlim=(-0.4, TOP), title=title)
    axes.set_box_aspect((4, 4, 3.4))
    axes.view_init(28, -50)
    axes.set_axis_off()


def main(arguments):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("boxes", nargs="?", type=int, default=18, help="how many boxes (default: 18)")
    parser.add_argument(
        "rounds", nargs="?", type=int, default=60, help="how often each box may move (default: 60)"
    )
    parser.add_argument(
        "picture", nargs="?", help="file of the picture, .png or .svg; without it none is drawn"
    )
    asked = parser.parse_args(arguments)
    n, rounds = asked.boxes, asked.rounds
    pile, begun, least, pictures = Pile(n), time.perf_counter(), np.inf, []
    if asked.picture:
        import matplotlib.pyplot as plt

        figure, pictures = plt.subplots(1, 3, figsize=(15, 5.4), subplot_kw={"projection": "3d"})
    phases = ((rounds // 3, [0, 0, 0], "falling"), (rounds // 3, [0, 0, 0], "at rest"),
              (rounds - 2 * (rounds // 3), [0.2, 0.1, 0], "pushed"))  # fmt: skip
    for k, (count, wind, title) in enumerate(phases):
        for _ in range(count):
            pile.round(np.array(wind))
            least = min(least, pile.gaps().min())
        if len(pictures):
            draw(pile, pictures[k], title)
    gaps = pile.gaps()
    spent = time.perf_counter() - begun
    print(f"{pile.moves} moves of {n} boxes, {1e6 * spent / pile.moves:.0f} us each")
    print(f"least gap between any two bodies at any time: {least:.3g}")
    print(f"{(gaps < 1e-6).sum()} pairs touch, their gaps at most {gaps[gaps < 1e-6].max(initial=0):.3g}")
    if len(pictures):
        figure.subplots_adjust(0, 0, 1, 0.94, 0, 0)
        figure.savefig(asked.picture, dpi=80)
    if least <= 0:
        raise SystemExit("bodies went into each other")


if __name__ == "__main__":
    main(sys.argv[1:])
