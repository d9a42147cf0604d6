"""The screw method in NumPy float64: `collide_reference`, stage by stage."""

import time as clock

import numpy as np

from gpu_collide.reference.filters import keeps
from gpu_collide.reference.narrow_phase import (
    _pixels,
    _screen,
    body_contacts,
    body_motion,
    distance_contacts,
    revolved_contacts,
    revolved_gaps,
    s01_screw,
    s02_facing,
    s03_project,
    s07_solve,
    s08_contacts,
    s09_overlap,
)
from gpu_collide.reference.narrow_phase._one_screw import motions_of_pair
from gpu_collide.reference.narrow_phase._tables import tables_of
from gpu_collide.reference.narrow_phase.s01_screw import ScrewMotion, screw_motion
from gpu_collide.results.contacts import Contacts, Status
from gpu_collide.results.report import FilterReport

__all__ = ["collide_reference", "screw_motion", "ScrewMotion"]

# Edge pairs above which rows are faster than comparing all boxes with all boxes, in NumPy.
RASTER_ABOVE = 1_000_000
# Rows of the larger body's radius in exact mode: with a speck beside a large body its edges would ask
# for 1e12.
MOST_ROWS_TO_PROPOSE = 4096


def collide_reference(bodies, pairs, options, progress=None, distances=None):
    """Contacts of a batch of pairs, one pair after the other, by the reference.

    Parameters
    ----------
    bodies : Bodies
    pairs : (p, 2) int array
        Body numbers; checked by the caller.
    options : Options
        ``pixel_size`` goes before ``resolution``; without either the reference takes its own.
    progress : callable, optional
        Called as ``progress(pairs_done, pairs)``.
    distances : (p,) float array, optional
        At which the bodies of each pair are in contact; default: that of the options.

    Returns
    -------
    Contacts
        With a `FilterReport` in ``info`` if ``options.report``.
    """
    pairs = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
    tables = [tables_of(mesh) for mesh in bodies.meshes]
    p0, q0, ok0 = s01_screw.pose_arrays(bodies.start)
    p1, q1, ok1 = s01_screw.pose_arrays(bodies.end)
    valid = ok0 & ok1
    targets = np.full(len(pairs), options.target_distance) if distances is None else distances
    rounding = np.array([mesh.rounding for mesh in bodies.meshes])[bodies.shape[pairs]]
    distances = targets + rounding.sum(axis=1)
    # points of a frustum are on it, others of round shapes on the mesh inside
    sharp = np.array([mesh.ends is not None for mesh in bodies.meshes])[bodies.shape[pairs]]
    outside = np.where(sharp, 0.0, rounding)
    status = np.zeros(len(pairs), dtype=np.uint8)
    toi = np.full(len(pairs), np.inf)
    rows, counts = [], np.zeros(len(pairs), dtype=np.int64)
    timings: dict[str, float] = {}
    bounds = {}  # what the bodies sweep, by how far they are asked for
    report, left, begun = FilterReport() if options.report else None, 0, clock.perf_counter()
    for i, (ia, ib) in enumerate(pairs):
        if progress is not None:
            progress(i, len(pairs))
        if not (valid[ia] and valid[ib]):
            status[i] = Status.INVALID_INPUT
            continue
        shape_a, shape_b = bodies.shape[ia], bodies.shape[ib]
        mesh_a, mesh_b = bodies.meshes[shape_a], bodies.meshes[shape_b]
        screw = s01_screw.screw_of_pair(
            mesh_a, mesh_b, (p0[ia], q0[ia]), (p1[ia], q1[ia]), (p0[ib], q0[ib]), (p1[ib], q1[ib])
        )
        motion, world = motions_of_pair(screw, bodies, ia, ib, options.motion)
        if not motion.in_range:
            if targets[i] not in bounds:
                from gpu_collide.reference.broad_phase.b01_bounds import bounds_of
                from gpu_collide.reference.broad_phase.b04_pairs import may_meet

                bounds[targets[i]] = bounds_of(bodies, padded=False, margin=targets[i])
            # whose sweeps are apart is not doubtful, and not found by the broad phase either
            status[i] = (
                Status.UNRESOLVED
                if may_meet(bounds[targets[i]], np.array([ia]), np.array([ib]), options.motion)[0]
                else Status.MISS
            )
            continue
        a = s02_facing.side_of(motion, tables[shape_a], "a")
        b = s02_facing.side_of(motion, tables[shape_b], "b")
        apart = distance_contacts.at_distance(motion, distances[i])
        revolved = _revolved(motion, a, b, mesh_a, mesh_b, distances[i]) if apart else None
        if options.check_start and (
            s09_overlap.overlap_at(motion, a, b, -0.5)
            or (revolved is not None and revolved_contacts.nearer_at(revolved, -0.5))
            or (apart and not revolved and distance_contacts.nearer_at(motion, a, b, distances[i], -0.5))
        ):
            status[i] = Status.INITIAL_OVERLAP
        # the filters are about bodies that touch
        if not apart and not keeps(options.filters, motion, mesh_a, mesh_b, report):
            continue
        left += 1
        if revolved is None:
            met = _resolved(motion, a, b, options, timings, distances[i])
        else:
            met = revolved_contacts.revolved_meetings(revolved, options.min_properness)
        fields = s08_contacts.describe(motion, met, world, apart, *outside[i])
        if len(met):
            toi[i] = fields["time"].min()
            status[i] = max(status[i], Status.HIT)
            if options.first_only:
                first = fields["time"] == toi[i]
                fields = {name: value[first] for name, value in fields.items()}
        counts[i] = len(fields["kind"])
        rows.append(dict(fields, pair=np.full(counts[i], i)))
    if progress is not None:
        progress(len(pairs), len(pairs))
    extra = {}
    if report is not None:
        seconds = clock.perf_counter() - begun - sum(row.seconds for row in report)
        report.add("narrow phase", left, left, seconds, np.isfinite(toi).sum())
        extra["report"] = report.to_dict()
    return _assemble(
        status,
        toi,
        counts,
        rows,
        dict(
            timings=timings,
            notes=[],
            **extra,
            tolerances=dict(touch=s07_solve.TOUCH, facing=s07_solve.FACING, parallel=s07_solve.PARALLEL),
        ),
    )


def _revolved(motion, a, b, mesh_a, mesh_b, distance):
    """A pair with a cylinder or a cone, or None; what culls takes these for capsules."""
    ends = mesh_a.ends, mesh_b.ends
    if ends == (None, None):
        return None
    inside = sum(max(radii) for radii in ends if radii is not None)
    return revolved_gaps.Revolved(motion, a, b, *ends, distance - inside)


def _resolved(motion, a, b, options, timings, distance):
    """`Meetings` of one pair that are reported, in their order."""
    if distance_contacts.at_distance(motion, distance):
        return distance_contacts.meetings_at(motion, a, b, distance, options.min_properness)
    if isinstance(motion, body_motion.BodyMotion):
        spent = _Stopwatch(timings)
        met = body_contacts.meetings_of(motion, a, b)
        spent("s07_solve")
        return s08_contacts.resolve(motion, a, b, met, options.min_properness)
    met = _meetings(motion, a, b, options, timings)
    if options.refine == "pixels" and motion.moves:
        return _pixels.resolve(motion, a, b, met, options.min_properness, _pixel(a, b, options))
    return s08_contacts.resolve(motion, a, b, met, options.min_properness)


def _pixel(a, b, options):
    return s03_project.pixel_of(a.tables, b.tables, options.resolution, options.pixel_size, options.refine)


def _meetings(screw, a, b, options, timings):
    """All `Meetings` of one pair, unresolved. Bodies at relative rest have no screen: what touches is found
    by boxes."""
    spent, refine, candidates = _Stopwatch(timings), options.refine, options.candidates
    min_properness = options.min_properness
    body_a, body_b = _screen.Body(screw, a), _screen.Body(screw, b)
    spent("s02_facing")
    if candidates == "auto":
        candidates = "raster" if len(a.unit) * len(b.unit) > RASTER_ABOVE else "pairs"
    by_rows = screw.moves and (refine != "exact" or candidates == "raster")
    delta = _pixel(a, b, options)
    if refine == "exact":
        delta = max(delta, screw.size / MOST_ROWS_TO_PROPOSE)  # rows only propose, and none is nearer for it
    if by_rows:
        pad = s02_facing.POSITION_PAD * screw.size
        lists = _screen.Raster(screw, body_a, body_b, delta, pad).candidates()
    else:
        lists = _screen.box_candidates(screw, body_a, body_b)
    face_vertex, vertex_face, edge_edge = lists
    spent("candidates")
    if refine == "pixels" and screw.moves:
        found = [
            *_screen.off_screen_vertices(
                screw, body_a, body_b, face_vertex, vertex_face, min_properness, delta
            ),
            _screen.Raster(screw, body_a, body_b, delta, 0.0).pixels(body_a, body_b),
        ]
    else:
        # A vertex has one place on the screen and a face is flat: segments only draws the edges.
        found = [
            s07_solve.solve_vertex_face(screw, a, b, face_vertex[:, 0], face_vertex[:, 1], min_properness),
            s07_solve.solve_vertex_face(screw, b, a, vertex_face[:, 1], vertex_face[:, 0], min_properness),
        ]
        if refine == "segments" and screw.moves:
            drawn = _screen.Raster(screw, body_a, body_b, delta, 0.0, delta * delta / screw.size)
            found.append(drawn.crossings(body_a, body_b))
        else:
            found.append(s07_solve.solve_edge_edge(screw, a, b, edge_edge[:, 0], edge_edge[:, 1]))
    found = s07_solve.concatenate(found)
    spent("s07_solve")
    return found


class _Stopwatch:
    """Adds the time since the last call to ``timings[stage]``, seconds."""

    def __init__(self, timings):
        self.timings, self.last = timings, clock.perf_counter()

    def __call__(self, stage):
        now = clock.perf_counter()
        self.timings[stage] = self.timings.get(stage, 0.0) + now - self.last
        self.last = now


def _assemble(status, toi, counts, rows, info):
    """`Contacts` from the rows of every pair."""
    names = (
        "pair",
        "kind",
        "feature_a",
        "feature_b",
        "time",
        "position",
        "normal",
        "properness",
        "local_a",
        "local_b",
        "normal_speed",
        "sustained",
        "time_end",
    )
    types = dict(pair=np.int32, kind=np.uint8, feature_a=np.int32, feature_b=np.int32, sustained=bool)
    vectors = ("position", "normal", "local_a", "local_b")
    columns = {}
    for name in names:
        empty = np.zeros((0, 3) if name in vectors else 0)
        columns[name] = np.concatenate([empty] + [row[name] for row in rows]).astype(
            types.get(name, np.float64)
        )
    return Contacts(
        status=status, toi=toi, contact_start=np.concatenate([[0], np.cumsum(counts)]), **columns, info=info
    )
