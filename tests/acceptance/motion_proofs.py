"""Proofs of `Robot.edges` and `check_motions` against poses: ``python -m tests.acceptance.motion_proofs``.

Arms of boxes among boxes (tests/oracle/arm_of_boxes.py), straight edges in joint space, at random and in
families that are hard to prove (motion_families.py); the judge looks at many poses of each edge by separating
axes. Every other block leaves an edge at any collision, or asks about links against each other as well. Exit
1 if a pose collides before the end of what is proved free, or if a time that is told does not collide.
"""

import argparse
import sys
import time

import numpy as np

import gpu_collide as gc
from tests.acceptance.motion_families import FAMILIES, block
from tests.oracle.arm_of_boxes import AXES, overlaps
from tests.support.seeds import generator

JOINTS = 5
#: Edges with the same obstacles: few where these are made to touch links of some of them.
BLOCK = {"random": 500, "rods": 500, "whole": 50, "radians": 100}
TOUCHING = 12


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--edges", type=int, default=2000, help="of each family")
    parser.add_argument("--families", nargs="+", choices=FAMILIES, default=list(FAMILIES))
    parser.add_argument("--poses", type=int, default=256)
    parser.add_argument(
        "--by", choices=("robot", "acceleration"), default="robot", help="what bounds the arms"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--backend", default="auto")
    given = parser.parse_args()
    return sum([_family(family, given) for family in given.families]) > 0


def _family(family, given):
    """How many edges of a family are wrong; prints a line."""
    rng, wrong, told = generator(given.seed, list(FAMILIES).index(family)), 0, np.zeros(5, int)
    seconds, pieces = 0.0, 0
    for number, begin in enumerate(range(0, given.edges, BLOCK.get(family, TOUCHING))):
        n = min(BLOCK.get(family, TOUCHING), given.edges - begin)
        arm, places, half, special = block(family, rng, n, JOINTS)
        more = {"first": number % 2 == 0}
        if given.by == "robot":
            more["self_collisions"] = number % 4 > 1
        clock = time.process_time()
        found = checked(arm, places, half, given.backend, given.by, **more)
        seconds += time.process_time() - clock
        pieces += found.pieces.sum()
        told += np.bincount(found.status, minlength=5)
        times = np.concatenate([np.tile(np.linspace(0, 1, given.poses), (n, 1)), special], axis=1)
        wrong += judged(arm, places, half, found, times, more.get("self_collisions", False))
    names = ", ".join(f"{told[s]} {s.name}" for s in gc.Status if told[s])
    print(
        f"{family}: {given.edges} edges: {names}; {wrong} wrong beside {given.poses} poses; "
        f"{1e6 * seconds / given.edges:.0f} us of processor time, {pieces / given.edges:.1f} pieces an edge",
        flush=True,
    )
    return wrong


def checked(arm, places, half, backend, by, **more):
    """What the library says."""
    if by == "robot":
        obstacles = gc.Bodies(gc.shapes.box(2 * half), None, *[gc.Poses.from_matrix(shifts(places))] * 2)
        return as_robot(arm).edges(arm.q0, arm.q1, obstacles, backend=backend, **more)
    at = gc.Poses.from_quat_wxyz(places, np.tile([1.0, 0, 0, 0], (len(places), 1)))

    def poses_at(motion, moment):
        middle, axes = arm.at(motion, moment)
        matrix = np.zeros((*middle.shape[:2], 4, 4))
        matrix[..., :3, :3], matrix[..., :3, 3], matrix[..., 3, 3] = axes, middle, 1.0
        return gc.Poses.from_matrix(matrix)

    return gc.check_motions(
        gc.shapes.box(2 * arm.halves()), np.zeros(arm.links, int), poses_at, arm.n,
        max_acceleration=arm.accelerations(), obstacles=gc.Bodies(gc.shapes.box(2 * half), None, at, at),
        backend=backend, **more,
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


def judged(arm, places, half, found, times, with_links):
    """How many edges are judged wrongly by poses at `times` (n, k) of each."""
    free = (found.status == gc.Status.MISS)[:, None] | (times < found.free_fraction[:, None])
    rows, at = np.nonzero(free)
    poses, met = arm.at(rows, times[rows, at]), np.zeros(len(rows), bool)
    for link in range(arm.links):
        for place in places:
            met |= touch(arm, poses, link, place, half)
        for other in range(link + 2, arm.links if with_links else 0):
            one, two = ([part[:, k] for part in poses] for k in (link, other))
            met |= overlaps(*one, arm.halves(), *two, arm.halves()) < 0
    bad = np.bincount(rows, met, arm.n) > 0
    for link in range(arm.links):
        for other in range(arm.links if with_links else 0):
            met = np.flatnonzero(
                np.isfinite(found.time) & (found.link == link) & (found.other == other) & found.other_is_link
            )
            middle, axes = arm.at(met, found.time[met])
            gap = overlaps(
                middle[:, link], axes[:, link], arm.halves(), middle[:, other], axes[:, other], arm.halves()
            )
            bad[met] |= gap > 1e-11
    met = np.flatnonzero(np.isfinite(found.time) & ~found.other_is_link)
    middle, axes = arm.at(met, found.time[met])
    at, still = (np.arange(len(met)), found.link[met]), np.tile(np.eye(3), (len(met), 1, 1))
    gap = overlaps(middle[at], axes[at], arm.halves(), places[found.other[met]], still, half)
    bad[met] |= gap > 1e-11
    return int(bad.sum())


def touch(arm, poses, link, place, half):
    """(k,) bool: does a link overlap a box? Only what is near enough is looked at by separating axes."""
    middle, axes = (part[:, link] for part in poses)
    far = np.linalg.norm(arm.halves()) + np.linalg.norm(half)
    near = np.flatnonzero(((middle - place) ** 2).sum(axis=1) < 1.01 * far**2)
    found = np.zeros(len(middle), bool)
    still = np.tile(np.eye(3), (len(near), 1, 1))
    at = np.tile(place, (len(near), 1))
    found[near] = overlaps(middle[near], axes[near], arm.halves(), at, still, half) < 0
    return found


if __name__ == "__main__":
    sys.exit(main())
