"""Bisection in time, one pair after the other: the plain loop that `baselines.bisection` runs in batches."""

import numpy as np

from gpu_collide.reference.narrow_phase import s01_screw, s02_facing, s09_overlap
from gpu_collide.reference.narrow_phase._one_screw import motions_of_pair
from gpu_collide.reference.narrow_phase._tables import tables_of
from gpu_collide.results.contacts import Status


def bisection_reference(bodies, pairs, samples, iterations, motion):
    """`Status`, time found apart, time found overlapping and number of tests of each pair, (p,) each.

    Parameters
    ----------
    bodies : Bodies
    pairs : (p, 2) int array
        Checked by the caller.
    samples, iterations : int
    motion : str
    """
    tables = [tables_of(mesh) for mesh in bodies.meshes]
    p0, q0, ok0 = s01_screw.pose_arrays(bodies.start)
    p1, q1, ok1 = s01_screw.pose_arrays(bodies.end)
    status, tests = np.zeros(len(pairs), np.uint8), np.zeros(len(pairs), np.int64)
    apart, meet = np.zeros(len(pairs)), np.full(len(pairs), np.inf)
    for i, (a, b) in enumerate(pairs):
        if not (ok0[a] and ok1[a] and ok0[b] and ok1[b]):
            status[i] = Status.INVALID_INPUT
            continue
        mesh_a, mesh_b = bodies.meshes[bodies.shape[a]], bodies.meshes[bodies.shape[b]]
        screw = s01_screw.screw_of_pair(
            mesh_a, mesh_b, (p0[a], q0[a]), (p1[a], q1[a]), (p0[b], q0[b]), (p1[b], q1[b])
        )
        screw, _ = motions_of_pair(screw, bodies, a, b, motion)
        side_a = s02_facing.side_of(screw, tables[bodies.shape[a]], "a")
        side_b = s02_facing.side_of(screw, tables[bodies.shape[b]], "b")
        asked: list[float] = []

        def overlap(t, screw=screw, a=side_a, b=side_b, asked=asked):
            asked.append(t)
            return s09_overlap.overlap_at(screw, a, b, t - 0.5)

        first = next((k for k in range(samples + 1) if overlap(k / samples)), None)
        if first == 0:
            status[i], apart[i], meet[i] = Status.INITIAL_OVERLAP, 0.0, 0.0
        elif first is not None:
            status[i] = Status.HIT
            apart[i], meet[i] = _halve(overlap, (first - 1) / samples, first / samples, iterations)
        tests[i] = len(asked)
    return status, apart, meet, tests


def _halve(overlap, low, high, iterations):
    for _ in range(iterations):
        middle = 0.5 * (low + high)
        if not low < middle < high:
            break
        low, high = (low, middle) if overlap(middle) else (middle, high)
    return low, high
