"""A simulation loop: ``python examples/stepping.py [BOXES] [STEPS]``.

Boxes fly about in a room and bounce off its walls and off each other. In each step the scene is given the
places where they would be at its end if nothing were in the way; it tells where they come to touch, and on
which side. A real engine would do more with that than turn round what approaches.
"""

import argparse
import sys
import time

import numpy as np

import gpu_collide as gc

SIDE, STEP = 12.0, 1 / 60  # metres, seconds


def main(arguments):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("boxes", nargs="?", type=int, default=200, help="how many boxes (default: 200)")
    parser.add_argument(
        "steps", nargs="?", type=int, default=60, help="steps of the simulation (default: 60)"
    )
    asked = parser.parse_args(arguments)
    n, steps = asked.boxes, asked.steps
    rng = np.random.default_rng(0)
    position = rng.uniform(-0.4 * SIDE, 0.4 * SIDE, (n + 6, 3))
    quat = rng.normal(size=(n + 6, 4))
    speed, rate = rng.normal(0, 4.0, (n + 6, 3)), rng.normal(0, 1.0, (n + 6, 3))
    # the last six bodies are the walls: they stand still, and are never paired with each other
    position[n:] = 0.5 * (SIDE + 1) * np.concatenate([np.eye(3), -np.eye(3)])
    quat[n:], speed[n:], rate[n:] = [1, 0, 0, 0], 0, 0
    quat /= np.linalg.norm(quat, axis=1)[:, None]
    walls = [gc.shapes.box(tuple(np.where(np.arange(3) == k, 1.0, SIDE + 2))) for k in range(3)]
    shape = [0] * n + [1, 2, 3, 1, 2, 3]

    met, spent = 0, 0.0
    with gc.Scene([gc.shapes.box((0.5, 0.4, 0.3)), *walls], shape, (position, quat)) as scene:
        for _ in range(steps):
            position, quat = position + STEP * speed, turned(quat, STEP * rate)
            begun = time.perf_counter()
            scene.step((position, quat))
            contacts = scene.collide(contacts="first")
            spent += time.perf_counter() - begun
            met += int(np.isfinite(contacts.toi).sum())
            bounce(contacts, speed)
        print(scene, contacts, sep="\n")
        print(f"{met} meetings in {steps} steps, {1e3 * spent / steps:.2f} ms a step")
        last = scene.report
        print(f"last step: {last.pairs} of {last.possible} pairs, tree refitted: {last.refitted}")


def bounce(contacts, speed):
    """Turn round the part of both speeds along the normal, where two bodies approach. Changes `speed`."""
    pairs = contacts.pairs[contacts.pair]
    for (a, b), normal in zip(pairs, contacts.normal, strict=True):
        approach = float((speed[b] - speed[a]) @ normal)  # the normal points from A to B
        if approach < 0:
            weights = np.array([speed[a].any(), speed[b].any()], float)  # walls are too heavy to move
            share = 2 * approach / max(weights.sum(), 1)
            speed[a] += weights[0] * share * normal
            speed[b] -= weights[1] * share * normal


def turned(quat, angle):
    """Quaternions after a small turn by the vectors `angle`."""
    w, v = quat[:, :1], quat[:, 1:]
    quat = quat + 0.5 * np.concatenate(
        [-(angle * v).sum(axis=1, keepdims=True), w * angle + np.cross(angle, v)], 1
    )
    return quat / np.linalg.norm(quat, axis=1)[:, None]


if __name__ == "__main__":
    main(sys.argv[1:])
