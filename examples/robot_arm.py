"""An arm that finds its way past boxes: ``python examples/robot_arm.py [EDGES] [--urdf FILE] [--page FILE]``.

A roadmap in joint space: random configurations, edges to those nearby, all edges proved free or not in one
call of `gc.Robot.edges`, and the shortest way along free ones between the two that are farthest apart.
Nothing of that way comes to a box, between its knots either. With ``--urdf`` the arm of a file, and
with ``--srdf`` which of its links may touch; with ``--page`` a page for a browser, of the arm as it moves.
"""

import argparse
import heapq
import time

import numpy as np

import gpu_collide as gc

NEAR = 8  # edges from each configuration


def shifted(z):
    matrix = np.eye(4)
    matrix[2, 3] = z
    return matrix


def arm(links=6, length=0.3, width=0.06):
    """Boxes one above the other; joints turn about z, y, z, ..."""
    box = gc.shapes.box((width, width, 0.9 * length)), shifted(length / 2)
    joints = [
        gc.Joint(f"joint {k}", "revolute", f"link {k - 1}" if k else "base", f"link {k}",
                 shifted(length if k else 0.0), [0, 1, 0] if k % 2 else [0, 0, 1], (-2.0, 2.0))
        for k in range(links)
    ]  # fmt: skip
    return gc.Robot(joints, {"base": [], **{f"link {k}": box for k in range(links)}})


def boxes(rng, count=12):
    around = rng.uniform(0, 2 * np.pi, count)
    far = rng.uniform(0.5, 1.0, count)
    places = np.stack([far * np.cos(around), far * np.sin(around), rng.uniform(0.2, 1.4, count)], axis=1)
    at = gc.Poses.from_quat_wxyz(places, np.tile([1.0, 0, 0, 0], (count, 1)))
    return gc.Bodies(gc.shapes.box((0.2, 0.2, 0.2)), None, at, at)


def way(n, edges, lengths, first, last):
    """Knots of the shortest way from `first` to `last` along the edges (e, 2), after Dijkstra, or None."""
    beside = [[] for _ in range(n)]
    for (a, b), length in zip(edges.tolist(), lengths, strict=True):
        beside[a].append((b, length))
        beside[b].append((a, length))
    best, before, queue = {first: 0.0}, {}, [(0.0, first)]
    while queue:
        far, at = heapq.heappop(queue)
        if at == last:
            knots = [last]
            while knots[-1] != first:
                knots.append(before[knots[-1]])
            return knots[::-1]
        for other, length in beside[at] if far <= best[at] else ():
            if far + length < best.get(other, np.inf):
                best[other], before[other] = far + length, at
                heapq.heappush(queue, (far + length, other))
    return None


def show(robot, obstacles, knots, path):
    """A page for a browser: the arm along the way, sixteen poses from knot to knot, and the boxes."""
    share = np.linspace(0, 1, 16, endpoint=False)[:, None]
    q = [a + share * (b - a) for a, b in zip(knots[:-1], knots[1:], strict=True)]
    recording = robot.recording(np.concatenate([*q, knots[-1:]]), static=obstacles)
    links = [k for k, _ in enumerate(recording.ids)]
    beside = [(a, b) for a in links for b in links if a < b]  # links were proved apart, or share a joint
    gc.view.page(recording.collide(ignore=beside), recording, path, title="An arm on a way proved free")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("edges", nargs="?", type=int, default=1000, metavar="EDGES")
    parser.add_argument("--urdf", help="the arm of this file (takes the extra `robot`)")
    parser.add_argument("--srdf", help="which of its links may touch each other")
    parser.add_argument("--seed", type=int, default=2)
    parser.add_argument("--page", metavar="FILE", help="write a page of the way for a browser")
    given = parser.parse_args()
    rng = np.random.default_rng(given.seed)
    robot = gc.Robot.from_urdf(given.urdf, srdf=given.srdf) if given.urdf else arm()
    obstacles = boxes(rng)
    print(robot)

    n = max(4, 2 * given.edges // NEAR)
    low, high = np.clip(robot.limits.T, -np.pi, np.pi)
    q = rng.uniform(low, high, (n, len(low)))
    alone = robot.edges(q, q, obstacles)  # edges that stay where they are: which knots are free
    q = q[alone.status == gc.Status.MISS]
    apart = np.linalg.norm(q[:, None] - q[None], axis=-1)
    near = np.argsort(apart, axis=1)[:, 1 : NEAR + 1]
    pairs = np.stack([np.repeat(np.arange(len(q)), near.shape[1]), near.reshape(-1)], axis=1)
    pairs = np.unique(np.sort(pairs, axis=1), axis=0)
    begun = time.process_time()
    found = robot.edges(q[pairs[:, 0]], q[pairs[:, 1]], obstacles, first=False)
    took = 1e6 * (time.process_time() - begun) / len(pairs)
    print(f"{len(pairs)} edges between {len(q)} of {n} knots, {took:.0f} us of processor time each")
    for status, count in zip(*np.unique(found.status, return_counts=True), strict=True):
        print(f"  {count:6} {gc.Status(status).name}")
    hit = np.flatnonzero(np.isfinite(found.time))
    if len(hit):
        k = hit[0]
        other = robot.link_names[found.other[k]] if found.other_is_link[k] else f"box {found.other[k]}"
        print(f"edge {k}: {robot.link_names[found.link[k]]} meets {other} at {found.time[k]:.3f} of it")
    free = found.status == gc.Status.MISS
    ends = np.unravel_index(np.argmax(apart), apart.shape)
    knots = way(len(q), pairs[free], apart[tuple(pairs[free].T)], *map(int, ends))
    if knots is None:
        print("no way between the two knots that are farthest apart")
        return
    print(f"a way of {len(knots) - 1} edges, all of them proved free")
    if given.page:
        show(robot, obstacles, q[knots], given.page)


if __name__ == "__main__":
    main()
