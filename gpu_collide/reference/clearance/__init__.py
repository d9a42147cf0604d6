"""Clearance in NumPy float64: `clearance_reference`, one pair after the other."""

import numpy as np

from gpu_collide.reference.clearance import c01_clearance, c02_depth
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
    n, rows = len(pairs) * len(moments), []
    tables = [tables_of(mesh) for mesh in bodies.meshes]
    p0, q0, ok0 = s01_screw.pose_arrays(bodies.start)
    p1, q1, ok1 = s01_screw.pose_arrays(bodies.end)
    most = np.broadcast_to(asked.max_distance, len(pairs))
    for number, ((a, b), far) in enumerate(zip(pairs, most, strict=True)):
        mesh_a, mesh_b = bodies.meshes[bodies.shape[a]], bodies.meshes[bodies.shape[b]]
        pair = None
        if ok0[a] and ok1[a] and ok0[b] and ok1[b]:
            screw = s01_screw.screw_of_pair(
                mesh_a, mesh_b, (p0[a], q0[a]), (p1[a], q1[a]), (p0[b], q0[b]), (p1[b], q1[b])
            )
            pair = motions_of_pair(screw, bodies, a, b, motion)
        for moment in moments:
            if pair is None:
                told = [{"status": Status.INVALID_INPUT}]
            elif not pair[0].in_range:
                told = [{"status": Status.UNRESOLVED}]
            else:
                side_a = s02_facing.side_of(pair[0], tables[bodies.shape[a]], "a")
                side_b = s02_facing.side_of(pair[0], tables[bodies.shape[b]], "b")
                asked = asked._replace(max_distance=far)
                rounding = mesh_a.rounding, mesh_b.rounding
                told = _rows(pair[0], pair[1], side_a, side_b, asked, moment, rounding)
            rows += [{"pair": number, **row} for row in told]
        if progress is not None:
            progress((number + 1) * len(moments), n)
    kinds = {"pair": (np.int32, ()), **CLEARANCE_ROWS}
    found = {name: np.full((len(rows), *tail), _NOTHING.get(name, 0), d) for name, (d, tail) in kinds.items()}
    for k, row in enumerate(rows):
        for name, value in row.items():
            found[name][k] = value
    return found


def _rows(motion, world, a, b, asked, moment, rounding):
    """Fields of the rows of a pair: the least over the step, or at a moment, perhaps for each region."""
    start = -0.5 if moment is None else moment - 0.5
    if s09_overlap.overlap_at(motion, a, b, start):
        far = 0.0 if moment is None else 0.0 - sum(rounding)
        told = {"status": Status.INITIAL_OVERLAP, "time": start + 0.5, "distance": far, "lower_bound": far}
        deep = [] if moment is None else c02_depth.depths_at(motion, a, b, start)
        if deep and not asked.regions:
            deep = [c02_depth.deepest(deep, motion.size)]
        return [told | _depth(motion, world, place, moment, rounding) for place in deep] or [told]
    return [_row(motion, world, a, b, asked, moment, rounding)]


def _row(motion, world, a, b, asked, moment, rounding):
    """Fields of the row of a pair whose meshes do not overlap."""
    if asked.max_distance < 0.0:
        return {"status": Status.MISS}
    near = c01_clearance.nearest(motion, a, b, asked.tolerance, asked.max_distance, moment, sum(rounding))
    touch = near.distance + sum(rounding) <= c01_clearance.TOUCH * motion.size
    if moment is not None and touch and c02_depth.are_convex(a, b):
        for place in c02_depth.depths_at(motion, a, b, moment - 0.5):
            if place.depth > 0.0 or near.place is None or sum(rounding) > 0.0:
                fields = _depth(motion, world, place, moment, rounding)
                return {"status": near.status, "time": moment, **fields}
    told = {"lower_bound": near.bound, "status": near.status}
    if near.place is None:
        return told if np.isinf(near.distance) else {**told, "time": near.s + 0.5, "distance": near.distance}
    t = np.array(near.s + 0.5 if moment is None else moment)
    return {**told, "time": t, "distance": near.distance, **_placed(motion, world, near.place, t, rounding)}


def _depth(motion, world, place, moment, rounding):
    """Fields of a region."""
    far = 0.0 - (place.depth + sum(rounding))
    told = {"distance": far, "lower_bound": far}
    return told | _placed(motion, world, place, np.array(moment), rounding)


def _placed(motion, world, place, t, rounding):
    """Features, points on the surfaces and normal of a row."""
    normal = world.world_direction_of_a(motion.direction_to_a(place.normal), t)
    return {
        "kind": place.kind,
        "feature_a": place.feature_a,
        "feature_b": place.feature_b,
        "point_a": world.world_of_a(motion.to_a(place.on_a), t) + rounding[0] * normal,
        "point_b": world.world_of_a(motion.to_a(place.on_b), t) - rounding[1] * normal,
        "normal": normal,
    }
