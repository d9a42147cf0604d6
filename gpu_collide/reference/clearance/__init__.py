"""Clearance in NumPy float64: `clearance_reference`, one pair after the other."""

import numpy as np

from gpu_collide.reference.clearance import c01_clearance
from gpu_collide.reference.narrow_phase import s01_screw, s02_facing, s09_overlap
from gpu_collide.reference.narrow_phase._one_screw import motions_of_pair
from gpu_collide.reference.narrow_phase._tables import tables_of
from gpu_collide.results.clearance import CLEARANCE_ROWS
from gpu_collide.results.enums import Kind, Status

__all__ = ["clearance_reference"]

_NOTHING = {"time": np.inf, "distance": np.inf, "kind": Kind.NONE, "feature_a": -1, "feature_b": -1}


def clearance_reference(bodies, pairs, asked, motion, progress=None):
    """Fields of `Clearance` beside its pairs, a row for each pair, or for each pair and time.

    Parameters
    ----------
    bodies : Bodies
    pairs : (p, 2) int array
        Checked by the caller.
    asked : gpu_collide.queries.clearance.Asked
    motion : str
    progress : callable, optional
        Called as ``progress(rows_done, rows)``.
    """
    moments = [None] if asked.at is None else list(asked.at)
    n = len(pairs) * len(moments)
    found = {
        name: np.full((n, *tail), _NOTHING.get(name, 0), d) for name, (d, tail) in CLEARANCE_ROWS.items()
    }
    tables = [tables_of(mesh) for mesh in bodies.meshes]
    p0, q0, ok0 = s01_screw.pose_arrays(bodies.start)
    p1, q1, ok1 = s01_screw.pose_arrays(bodies.end)
    row = 0
    for a, b in pairs:
        mesh_a, mesh_b = bodies.meshes[bodies.shape[a]], bodies.meshes[bodies.shape[b]]
        pair = None
        if ok0[a] and ok1[a] and ok0[b] and ok1[b]:
            screw = s01_screw.screw_of_pair(
                mesh_a, mesh_b, (p0[a], q0[a]), (p1[a], q1[a]), (p0[b], q0[b]), (p1[b], q1[b])
            )
            pair = motions_of_pair(screw, bodies, a, b, motion)
        for moment in moments:
            if pair is None:
                found["status"][row] = Status.INVALID_INPUT
            elif not pair[0].in_range:
                found["status"][row] = Status.UNRESOLVED
            else:
                side_a = s02_facing.side_of(pair[0], tables[bodies.shape[a]], "a")
                side_b = s02_facing.side_of(pair[0], tables[bodies.shape[b]], "b")
                for name, value in _row(pair[0], pair[1], side_a, side_b, asked, moment).items():
                    found[name][row] = value
            row += 1
        if progress is not None:
            progress(row, n)
    return found


def _row(motion, world, a, b, asked, moment):
    """Fields of one row: the least over the step, or at a moment."""
    start = -0.5 if moment is None else moment - 0.5
    if s09_overlap.overlap_at(motion, a, b, start):
        return {"status": Status.INITIAL_OVERLAP, "time": start + 0.5, "distance": 0.0}
    near = c01_clearance.nearest(motion, a, b, asked.tolerance, asked.max_distance, moment)
    told = {"lower_bound": near.bound, "status": near.status}
    if near.place is None:
        return told if np.isinf(near.distance) else {**told, "time": near.s + 0.5, "distance": near.distance}
    t = np.array(near.s + 0.5 if moment is None else moment)
    place = near.place
    return {
        **told,
        "time": t,
        "distance": near.distance,
        "kind": place.kind,
        "feature_a": place.feature_a,
        "feature_b": place.feature_b,
        "point_a": world.world_of_a(motion.to_a(place.on_a), t),
        "point_b": world.world_of_a(motion.to_a(place.on_b), t),
        "normal": world.world_direction_of_a(motion.direction_to_a(place.normal), t),
    }
