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
        wrong += judged(arm, places, half, found, given.poses, special, more.get("self_collisions", False))
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


def judged(arm, places, half, found, poses, special, with_links):
    """How many edges are judged wrongly by so many poses of each, and by those at times `special` (n, k)."""
    end = np.where(found.status == gc.Status.MISS, np.inf, found.free_fraction)
    pairs = [(link, place) for link in range(arm.links) for place in places]
    if with_links:
        pairs += [(link, other) for other in range(arm.links) for link in range(other - 1)]
    bad = collides(arm, pairs, half, end, poses)
    rows, at = np.nonzero(special < end[:, None])
    links = arm.at(rows, special[rows, at])
    for pair in pairs:
        bad[rows[gap(arm, links, pair, half) < 0]] = True
    met = np.flatnonzero(np.isfinite(found.time))
    link, other, moves = found.link[met], found.other[met], found.other_is_link[met]
    for pair in set(zip(link.tolist(), other.tolist(), moves.tolist(), strict=True)):
        some = met[(link == pair[0]) & (other == pair[1]) & (moves == pair[2])]
        pair = pair[0], pair[1] if pair[2] else places[pair[1]]
        bad[some] |= gap(arm, arm.at(some, found.time[some]), pair, half) > 1e-11
    return int(bad.sum())


def collides(arm, pairs, half, end, poses):
    """(n,) bool: do any of the pairs overlap at one of so many poses, before the times `end`? Of 64 poses in
    a row the middle one is looked at: a pair that is farther apart there than both bodies move until the last
    of these is apart at all of them. What is left is divided by eight, and again."""
    moves = arm.speeds() / (poses - 1)
    speed = np.array([moves[:, a] + (0.0 if np.ndim(b) else moves[:, b]) for a, b in pairs])
    stride, bad = 64, np.zeros(len(end), bool)
    which, edge, index = (
        grid.reshape(-1)
        for grid in np.meshgrid(range(len(pairs)), range(len(end)), range(0, poses, stride), indexing="ij")
    )
    while True:
        some = (index < poses) & (index < end[edge] * (poses - 1)) & ~bad[edge]
        which, edge, index = which[some], edge[some], index[some]
        middle = index + stride // 2
        here, row = np.unique(edge * 2 * poses + middle, return_inverse=True)
        links = arm.at(here // (2 * poses), here % (2 * poses) / (poses - 1))
        apart = np.zeros(len(which))
        for k, pair in enumerate(pairs):
            mine = which == k
            apart[mine] = gap(arm, [part[row[mine]] for part in links], pair, half)
        if stride == 1:
            bad[edge[apart < 0]] = True
            return bad
        near = apart < speed[which, edge] * (stride // 2) * (1 + 1e-9) + 1e-9
        stride //= 8
        which, edge = np.repeat(which[near], 8), np.repeat(edge[near], 8)
        index = (index[near, None] + stride * np.arange(8)).reshape(-1)


def gap(arm, links, pair, half):
    """(k,) signed: how far a link and another, or a box at a place, are apart at poses of all links."""
    (middle, axes), (link, other) = links, pair
    if np.ndim(other):
        place, still = np.tile(other, (len(middle), 1)), np.tile(np.eye(3), (len(middle), 1, 1))
        there = place, still, half
    else:
        there = middle[:, other], axes[:, other], arm.halves()
    return overlaps(middle[:, link], axes[:, link], arm.halves(), *there)


if __name__ == "__main__":
    sys.exit(main())
