"""Proofs of `Robot.edges` and `check_motions` against poses: ``python -m tests.acceptance.motion_proofs``.

Arms of boxes among boxes (tests/oracle/arm_of_boxes.py), straight edges in joint space; the judge looks at
many poses of each edge by separating axes. Exit 1 if a pose collides before the end of what is proved free,
or if a time that is told does not collide.
"""

import argparse
import sys
import time

import numpy as np

import gpu_collide as gc
from tests.oracle.arm_of_boxes import AXES, Arm, overlaps

JOINTS = 5


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--edges", type=int, default=2000)
    parser.add_argument("--poses", type=int, default=256)
    parser.add_argument("--turn", type=float, default=1.0, help="length of an edge in joint space, radians")
    parser.add_argument("--width", type=float, default=0.06, help="width of the links")
    parser.add_argument(
        "--half", type=float, nargs=3, default=(0.12, 0.12, 0.12), help="half the sides of an obstacle"
    )
    parser.add_argument(
        "--by", choices=("robot", "acceleration"), default="robot", help="what bounds the arms"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--backend", default="auto")
    given = parser.parse_args()
    rng, wrong, told = np.random.default_rng(given.seed), 0, np.zeros(5, int)
    seconds, pieces = 0.0, 0
    for begin in range(0, given.edges, 500):
        n = min(500, given.edges - begin)
        way = rng.normal(size=(n, JOINTS))
        q0 = rng.uniform(-1.3, 1.3, (n, JOINTS))
        q1 = q0 + given.turn * way / np.linalg.norm(way, axis=1, keepdims=True)
        arm = Arm(q0, q1, 0.3, given.width)
        places = rng.uniform([-0.8, -0.8, 0.1], [0.8, 0.8, 1.5], (6, 3))
        clock = time.process_time()
        found = checked(arm, places, np.array(given.half), given.backend, given.by)
        seconds += time.process_time() - clock
        pieces += found.pieces.sum()
        told += np.bincount(found.status, minlength=5)
        wrong += judged(arm, places, np.array(given.half), found, given.poses)
    names = ", ".join(f"{told[s]} {s.name}" for s in gc.Status if told[s])
    print(f"{given.edges} edges: {names}; {wrong} wrong beside {given.poses} poses")
    print(
        f"{1e6 * seconds / given.edges:.0f} us of processor time, {pieces / given.edges:.1f} pieces an edge"
    )
    return wrong > 0


def checked(arm, places, half, backend, by):
    """What the library says."""
    if by == "robot":
        obstacles = gc.Bodies(gc.shapes.box(2 * half), None, *[gc.Poses.from_matrix(shifts(places))] * 2)
        return as_robot(arm).edges(arm.q0, arm.q1, obstacles, self_collisions=False, backend=backend)
    at = gc.Poses.from_quat_wxyz(places, np.tile([1.0, 0, 0, 0], (len(places), 1)))

    def poses_at(motion, moment):
        middle, axes = arm.at(motion, moment)
        matrix = np.zeros((*middle.shape[:2], 4, 4))
        matrix[..., :3, :3], matrix[..., :3, 3], matrix[..., 3, 3] = axes, middle, 1.0
        return gc.Poses.from_matrix(matrix)

    return gc.check_motions(
        gc.shapes.box(2 * arm.halves()), np.zeros(arm.links, int), poses_at, arm.n,
        max_acceleration=arm.accelerations(), obstacles=gc.Bodies(gc.shapes.box(2 * half), None, at, at),
        backend=backend,
    )  # fmt: skip


def shifts(places):
    """(k, 4, 4): matrices that move to places (k, 3)."""
    matrix = np.tile(np.eye(4), (len(places), 1, 1))
    matrix[:, :3, 3] = places
    return matrix


def as_robot(arm):
    """The arm as a robot of the library."""
    up, middle = shifts(np.array([[0, 0, arm.length], [0, 0, arm.length / 2]]))
    link = gc.shapes.box(2 * arm.halves()), middle
    names = ["base", *(f"link {k}" for k in range(arm.links))]
    joints = [
        gc.Joint(f"joint {k}", "continuous", names[k], names[k + 1], up if k else None, AXES[k % 2])
        for k in range(arm.links)
    ]
    return gc.Robot(joints, {name: link for name in names[1:]})


def judged(arm, places, half, found, poses):
    """How many edges are judged wrongly."""
    bad, still, rows = np.zeros(arm.n, bool), np.tile(np.eye(3), (arm.n, 1, 1)), np.arange(arm.n)
    for moment in np.linspace(0, 1, poses):
        middle, axes = arm.at(rows, np.full(arm.n, moment))
        free = (found.status == gc.Status.MISS) | (moment < found.free_fraction)
        for link in range(arm.links):
            for place in places:
                gap = overlaps(
                    middle[:, link], axes[:, link], arm.halves(), np.tile(place, (arm.n, 1)), still, half
                )
                bad |= free & (gap < 0)
    met = np.flatnonzero(np.isfinite(found.time))
    middle, axes = arm.at(met, found.time[met])
    at = np.arange(len(met)), found.link[met]
    gap = overlaps(middle[at], axes[at], arm.halves(), places[found.other[met]], still[: len(met)], half)
    bad[met] |= gap > 1e-11
    return int(bad.sum())


if __name__ == "__main__":
    sys.exit(main())
