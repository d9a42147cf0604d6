"""When the motion takes apart what meets or overlaps: `Contacts.exit`, for ``collide(..., exit=True)``.

Two bodies come together and apart only at contacts: of the motion, and of the motion run backwards, whose
contacts are where they leave each other. Between two of these times nothing changes. So the clearance
half-way between them says, in their order, whether the two are apart from the earlier one on.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from gpu_collide._options import Distances, Options
from gpu_collide._validate import as_numpy, check_bool
from gpu_collide.backends import get_backend, sources
from gpu_collide.bodies.bodies import Bodies, with_spins
from gpu_collide.bodies.poses import Poses
from gpu_collide.bodies.refusals import refuse_ends, refuse_ends_in
from gpu_collide.bodies.spins import Spins
from gpu_collide.geometry.mesh.mesh import Mesh
from gpu_collide.queries.clearance_arguments import FINEST, PROGRAMS, Asked
from gpu_collide.queries.engine_cache import engines_of
from gpu_collide.results.enums import Status

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gpu_collide._types import Array
    from gpu_collide.results.contacts import Contacts

__all__ = ["check_exit", "with_exits"]

#: Share of a `target_distance` beyond which two bodies are farther apart than that; and of the size, from
#: where on nobody needs to know how far.
_BEYOND = 1e-9
#: Cosine of half the turn of a body below which its way back is made of two pieces: of half a turn either way
#: round is the shorter one.
_HALF = 1e-6
_KNOWN = (Status.MISS, Status.HIT, Status.INITIAL_OVERLAP)


def check_exit(exit: Any, options: Options, meshes: Sequence[Mesh] = ()) -> bool:
    """The checked argument of this name. Raises ``ValueError`` where contacts are not exact, so that nothing
    is said of what is between them, where each pair has a distance of its own, or of cylinders and cones
    among `meshes`."""
    exit = check_bool(exit, "exit")
    if exit and options.refine != "exact":
        raise ValueError(
            f"refine: expected 'exact' with exit=True, got {options.refine!r}; leave out one of them"
        )
    if exit and options.target_distance is Distances.EACH:
        raise ValueError(
            "target_distance: expected one length with exit=True, got one for each pair; ask for the pairs "
            "of each length in a call of their own"
        )
    if exit:
        refuse_ends(meshes, "bodies", "exit=True")
    return exit


def with_exits(found: Contacts, bodies: Bodies, options: Options) -> Contacts:
    """The same result, on the host, with `Contacts.exit`.

    Parameters
    ----------
    found : Contacts
    bodies : Bodies
        Those of the query.
    options : Options
        Those of the query.
    """
    found = found.to_numpy()
    exits = np.full(found.n_pairs, np.nan)
    rows = np.flatnonzero(np.isin(found.status, (Status.HIT, Status.INITIAL_OVERLAP)))
    if len(rows):
        pairs = as_numpy(found.pairs, "pairs")[rows]
        refuse_ends_in(bodies, pairs, "bodies", "exit=True")
        first = np.where(found.status[rows] == Status.HIT, found.toi[rows], 0.0)
        exits[rows] = _exits(_alone(bodies, pairs, options), first, options)
    return dataclasses.replace(found, exit=exits)


def _alone(bodies: Bodies, pairs: Array, options: Options) -> Bodies:
    """A and B of each pair by themselves, one behind the other, each on its own motion; on the relative screw
    A stands at the origin."""
    own = bodies.take(pairs.reshape(-1))
    if options.motion == "body":
        return own
    poses = []
    for end in (own.start, own.end):
        a, b = end[::2], end[1::2]
        turn = Poses(np.zeros_like(a.position), a.quat_wxyz, a.valid)
        seen = turn.inverse() @ Poses(b.position - a.position, b.quat_wxyz, b.valid)
        both = np.zeros((len(own), 3)), np.tile([1.0, 0.0, 0.0, 0.0], (len(own), 1))
        both[0][1::2], both[1][1::2] = seen.position, seen.quat_wxyz
        poses.append(Poses(*both))
    return own.moved(*poses)


def _exits(own: Bodies, first: Array, options: Options) -> Array:
    """(p,) the time from which on each pair is apart, not before `first`: inf, never; nan, not known."""
    asked = Options.checked(
        motion=options.motion, target_distance=options.target_distance, check_start=False,
        precision=options.precision, backend=options.backend, max_bytes=options.max_bytes,
    )  # fmt: skip
    engines = engines_of(get_backend(asked.backend, asked.precision, ("screw", *PROGRAMS)))
    pair, time, known = _events(engines, asked, own, first)
    order = np.lexsort([time, pair])
    pair, time = pair[order], time[order]
    last = np.append(pair[1:] != pair[:-1], True)
    after = np.where(last, 1.0, np.append(time[1:], 1.0))
    some = np.flatnonzero(after > time + _shortest(asked))
    pair, time, middle = pair[some], time[some], 0.5 * (time + after)[some]
    begin = np.searchsorted(pair, np.arange(len(first)))
    stop = np.searchsorted(pair, np.arange(len(first)), "right")
    exits = np.where(known, np.inf, np.nan)
    width = 1
    open_ = np.flatnonzero(known & (begin < stop))
    while len(open_):  # of each pair the next few moments
        count = np.minimum(stop[open_] - begin[open_], width)
        at = np.repeat(begin[open_] - np.cumsum(count) + count, count) + np.arange(count.sum())
        apart, sure = _apart(engines, asked, own, pair[at], middle[at])
        np.minimum.at(exits, pair[at[apart]], time[at[apart]])
        doubt = at[~sure]
        doubt = doubt[time[doubt] < exits[pair[doubt]]]
        exits[pair[doubt]] = np.nan
        begin[open_] += count
        open_ = open_[(exits[open_] == np.inf) & (begin[open_] < stop[open_])]
        width *= 2
    return exits


def _shortest(asked: Options) -> float:
    """Share of the step for which nobody is apart: times of one event may differ by it."""
    c = sources.constants("double" if asked.backend == "reference" else asked.precision)
    return float(max(c["GC_TAU_TIME"], c["GC_TAU_LENGTH"]))


def _events(engines: Any, asked: Options, own: Bodies, first: Array) -> tuple[Array, Array, Array]:
    """Pair and time of all that happens from `first` on, which is an event too, and which pairs are known."""
    own, every = _with_both_sides(own), np.arange(len(first))
    turned = np.abs((own.start.unit_wxyz * own.end.unit_wxyz).sum(axis=1)) < _HALF
    if own.spins is not None:
        turned &= ~own.spins.spinning
    cut = np.flatnonzero(turned.reshape(-1, 2).any(axis=1))
    whole = np.setdiff1d(every, cut)
    there = own.poses_at(0.5) if len(cut) else own.start
    steps = [
        (every, own.start, own.end, 0.0, 1.0), (whole, own.end, own.start, 1.0, 0.0),
        (cut, own.end, there, 1.0, 0.5), (cut, there, own.start, 0.5, 0.0),
    ]  # fmt: skip
    moved = []
    for rows, start, end, begin, stop in steps:
        both = (2 * rows[:, None] + (0, 1)).reshape(-1)
        part = own.take(both).moved(start[both], end[both])
        if own.spins is not None:
            spins, share = own.spins.of(both), stop - begin
            spins = Spins(spins.kind, share * spins.displacement, share * spins.rotation, spins.center)
            part = with_spins(part, spins)
        moved.append(part)
    whole_way = Bodies.concatenate(moved)
    engine = engines.take(whole_way.meshes, asked)
    found = engine.collide(whole_way, np.arange(len(whole_way), dtype=np.int32).reshape(-1, 2)).to_numpy()
    engines.give(whole_way.meshes, engine)
    of, begins, ends = (
        np.concatenate([np.full(len(step[0]), step[k]) if k else step[0] for step in steps])
        for k in (0, 3, 4)
    )
    row = found.pair
    times = [begins[row] + (ends - begins)[row] * t for t in (found.time, found.time_end)]
    pair = np.concatenate([of[row], of[row], every])
    time = np.concatenate([*times, first])
    keep = time >= first[pair]
    known = np.ones(len(first), bool)
    known[of[~np.isin(found.status, _KNOWN)]] = False
    return pair[keep], time[keep], known


def _with_both_sides(bodies: Bodies) -> Bodies:
    """The same bodies, but of meshes that are not closed, or inside out, both sides: what comes in at the
    front leaves at the back."""
    outside = [mesh.two_sided or (mesh.closed and mesh.volume > 0) for mesh in bodies.meshes]
    if all(outside):
        return bodies
    meshes = [
        mesh if out else Mesh(mesh.vertices, mesh.faces, two_sided=True, rounding=mesh.rounding)
        for mesh, out in zip(bodies.meshes, outside, strict=True)
    ]
    other = Bodies(meshes, bodies.shape, bodies.start, bodies.end)
    return other if bodies.spins is None else with_spins(other, bodies.spins)


def _apart(engines: Any, asked: Options, own: Bodies, pair: Array, time: Array) -> tuple[Array, Array]:
    """Whether pairs are apart at one moment each, and whether that is known."""
    both = (2 * pair[:, None] + (0, 1)).reshape(-1)
    some = own.take(both)
    there = some.poses_at(np.repeat(time, 2))
    still = some.moved(there, there)
    radius = np.array([mesh.radius for mesh in own.meshes])[still.shape].reshape(-1, 2).max(axis=1)
    near = float(cast("float", asked.target_distance)) * (1.0 + _BEYOND)
    wanted = Asked(tolerance=FINEST, max_distance=2.0 * near + _BEYOND * radius, at=np.zeros(1), enough=0.0)
    engine = engines.take(still.meshes, asked)
    fields, _ = engine.clearance(still, np.arange(len(both), dtype=np.int32).reshape(-1, 2), wanted)
    engines.give(still.meshes, engine)
    status = fields["status"]
    return (status == Status.MISS) & (fields["distance"] > near), np.isin(status, _KNOWN)
