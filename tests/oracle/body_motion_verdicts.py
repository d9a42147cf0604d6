"""What the judge of motions of their own says of an answer: missed, invented, late, or not for it to decide.

An answer is arrays: of each pair `overlap` (the solids overlap at the start) and `toi` (inf: none); of each
contact `pair`, `kind`,
`feature_a`, `feature_b`, `time`. Undecided is what lies within the tolerances of docs/conventions.md of a
border: see `states`.
"""

from dataclasses import dataclass, field

import numpy as np

from tests.oracle import body_motion as bm

TIME = 1e-9  # of a length: |dt| times the speed of approach, in sizes
INSIDE = 1e-9  # of the size: nearer to a border, another feature may tell the same meeting
FACING = 4e-9  # of both speeds
PROPERNESS = 1e-8
TAU = 1e-8  # of the step: nearer to its ends a contact may be told or not
WINDOW = 4e-7  # of the step: as near as the judge knows the time of a touch
PLACE = 1e-9  # of the size, and of the speed
STEEP = 3e-5  # of both speeds: what crosses more slowly may be one touch instead of two roots, or none
AFTER = 1e-6  # of the step: so long after its end a contact that lasted is seen to be over
REJECTED, UNDECIDED, REQUIRED = -1, 0, 1


@dataclass
class Verdict:
    """Counts of batches; `rows` lists some pairs of each kind of fault, counted on from `before`."""

    pairs: int = 0
    before: int = 0
    counts: dict = field(default_factory=dict)
    worst: dict = field(default_factory=dict)
    rows: dict = field(default_factory=dict)

    def note(self, name, rows):
        rows = np.flatnonzero(rows) if np.asarray(rows).dtype == bool else np.asarray(rows)
        self.counts[name] = self.counts.get(name, 0) + len(rows)
        if len(rows):
            self.rows.setdefault(name, []).extend((rows[:20] + self.before).tolist())

    def least(self, name, values):
        if len(values):
            self.worst[name] = max(self.worst.get(name, 0.0), float(np.max(values)))

    def faults(self):
        wrong = ("missed", "invented", "late", "early", "status", "unexplained", "wrong")
        return sum(v for k, v in self.counts.items() if k.startswith(wrong))


def states(scene, found, min_properness=-0.1):
    """REQUIRED, UNDECIDED or REJECTED for each CONTACT, and the reason of what is not required."""
    ends = scene.pairs[found["pair"]]
    radius = np.array([np.linalg.norm(m.vertices, axis=1).max() for m in scene.meshes])
    body = scene.bodies
    size = radius[body["mesh"]][ends].max(1)
    speed = speeds(scene)[found["pair"]]
    two = np.array([m.two_sided for m in scene.meshes])[body["mesh"]][ends].any(1)
    slope = np.abs(found["slope"])
    with np.errstate(divide="ignore"):
        band = INSIDE * size + 1e-13 * (size + speed) * speed / np.maximum(slope, 1e-300)
    flat = found["what"] != bm.ROOT
    slow = slope < STEEP * speed * np.maximum(found["sine"], 1e-9)
    reasons = [
        ("outside", found["inside"] < -np.where(flat, INSIDE * size + WINDOW * speed, band), REJECTED),
        ("faces away", (found["facing"] < -np.where(slow, STEEP, FACING) * speed) & ~flat, REJECTED),
        ("improper", (found["properness"] < min_properness - PROPERNESS) & ~flat, REJECTED),
        ("may vanish or touch", flat, UNDECIDED),
        ("slow", slow, UNDECIDED),
        ("border", found["inside"] < band, UNDECIDED),
        ("limit of facing", found["facing"] < FACING * speed, UNDECIDED),
        ("limit of properness", found["properness"] < min_properness + PROPERNESS, UNDECIDED),
        ("reflex corner", (found["doubtful"] == 1) & (found["properness"] > -min_properness), UNDECIDED),
        ("ends of the step", np.minimum(found["time"], 1 - found["time"]) < TAU, UNDECIDED),
        ("parallel edges", found["sine"] < 1e-8, UNDECIDED),
        ("side of a sheet", two & (np.abs(found["normal_speed"]) < 1e-8 * speed), UNDECIDED),
    ]
    state, reason = np.full(len(found), REQUIRED), np.full(len(found), "", dtype=object)
    for name, where, what in reversed(reasons):
        state[where], reason[where] = what, name
    return state, reason


def speeds(scene):
    """Bounds on the speeds of both bodies of each pair, together."""
    radius = np.array([np.linalg.norm(m.vertices, axis=1).max() for m in scene.meshes])
    b = scene.bodies
    dot = np.abs((b["quat"] * b["turn"]).sum(1))
    angle = np.where(
        b["spin"] == 1, np.linalg.norm(b["turn"][:, :3], axis=1), 2 * np.arccos(np.minimum(dot, 1))
    )
    way = np.where(b["spin"][:, None] == 1, b["to"], b["to"] - b["place"])
    each = np.linalg.norm(way, axis=1) * np.where(b["spin"] == 1, 1, np.pi / 2) + angle * radius[b["mesh"]]
    return each[scene.pairs].sum(1)


def judge_first(scene, overlap, toi, told=None, verdict=None, min_properness=-0.1):
    """Times of impact and INITIAL_OVERLAP against first touches by distance; what grazes or touches at the
    start, by all contacts."""
    v = verdict or Verdict()
    first = bm.first_touches(scene)
    status, size = first["status"].copy(), first["size"]
    with np.errstate(invalid="ignore", divide="ignore"):
        v.pairs += len(first)
        hit = np.isfinite(toi)
        near = (status == bm.MISSES) & (first["least"] < 1e-8 * size)
        status[near] = bm.GRAZES
        miss, touch = status == bm.MISSES, status == bm.TOUCHES
        v.note("sure misses", miss)
        v.note("sure touches", touch)
        v.note("overlaps", status == bm.OVERLAPS)
        v.note("invented: touches nothing", miss & hit)
        v.note("missed: no contact", touch & ~hit)
        pace = np.abs(first["approach"])
        dt = np.where(touch & hit, toi - first["time"], 0.0)
        room = TIME * size / np.maximum(np.maximum(pace, STEEP * first["speed"]), 1e-300) + 1e-12
        v.note("late: a first touch was passed", dt > room)
        v.note("early: before the first touch", dt < -room)
        good = touch & hit & (np.abs(dt) <= room)
        v.least("dt", np.abs(dt[good]))
        v.least("dt * pace / size", np.abs(dt[good]) * pace[good] / size[good])
        v.note("status: overlap not told", (status == bm.OVERLAPS) & ~overlap)
        v.note("status: overlap invented", (miss | touch) & overlap)
    rest = np.flatnonzero(~(miss | touch))
    _rest(scene, rest, toi[rest], told, v, min_properness)
    return v, first


def _rest(scene, rows, toi, told, v, min_properness):
    """Pairs whose first contact is a matter of facing: no later than a required contact, and itself not
    rejected."""
    if not len(rows):
        return
    found = bm.all_contacts(scene.take(rows))
    state, _ = states(scene.take(rows), found, min_properness)
    due = np.full(len(rows), np.inf)
    required = state == REQUIRED
    np.minimum.at(due, found["pair"][required], found["time"][required])
    allowed = np.zeros(len(rows), bool)
    usable = found[state >= UNDECIDED]
    for p, lo, hi, what in usable[["pair", "time", "time_end", "what"]]:
        slack = 1e-7 if what == bm.ROOT else 1e-4
        allowed[p] |= lo - slack <= toi[p] <= hi + slack
    if told is not None:
        good = _together(scene, told, np.arange(len(told["time"])), min_properness) == 0
        allowed |= np.isin(rows, told["pair"][good])
    late = toi > due + 1e-7
    v.note("by all contacts", rows)
    v.note("missed: by all contacts", rows[late & ~np.isfinite(toi)])
    v.note("late: by all contacts", rows[late & np.isfinite(toi)])
    v.note("unexplained first contact", rows[np.isfinite(toi) & ~allowed & ~late])


def _keys(pair, kind, fa, fb):
    return ((pair.astype(np.int64) * 3 + kind) * 100000 + fa) * 100000 + fb


def judge_all(scene, told, verdict=None, min_properness=-0.1):
    """All contacts: each required one has to be told once, each told one has to be there. `told`: arrays
    pair, kind, feature_a,
    feature_b, time; with position, normal, normal_speed, properness, local_a and local_b these are judged
    too."""
    v = verdict or Verdict()
    v.pairs += len(scene)
    found = bm.all_contacts(scene)
    state, reason = states(scene, found, min_properness)
    size, speed = _sizes(scene)[found["pair"]], speeds(scene)[found["pair"]]
    ours, theirs = (
        _keys(*(np.asarray(x[k]) for k in ("pair", "kind", "feature_a", "feature_b"))) for x in (found, told)
    )
    slope = np.abs(found["slope"]) / np.maximum(found["sine"], 1e-9)
    allowed = TIME * size / np.maximum(np.maximum(slope, STEEP * speed), 1e-300)
    room = np.where(found["what"] == bm.ROOT, np.minimum(allowed, 1e-3) + 1e-9, 1e-4)
    order = np.argsort(theirs, kind="stable")
    low, high = (np.searchsorted(theirs[order], ours, side=s) for s in ("left", "right"))
    best, which = np.full(len(found), np.inf), np.full(len(found), -1)
    used = np.full(len(theirs), REJECTED - 1)
    why = np.full(len(theirs), "", dtype=object)
    for k in range(int((high - low).max(initial=0))):
        i = np.flatnonzero(low + k < high)
        j = order[low[i] + k]
        t = told["time"][j]
        dt = np.where(
            found["what"][i] == bm.LASTING,
            np.maximum(np.maximum(found["time"][i] - t, t - found["time_end"][i]), 0),
            np.abs(t - found["time"][i]),
        )
        nearer = dt < best[i]
        best[i[nearer]], which[i[nearer]] = dt[nearer], j[nearer]
        fits = dt <= room[i]
        better = fits & (state[i] > used[j])
        used[j[better]], why[j[better]] = state[i[better]], reason[i[better]]
    due = state == REQUIRED
    v.note("required", found["pair"][due])
    v.note("missed", found["pair"][due & (best > room)])
    got = due & (best <= room)
    v.least("dt", best[got])
    v.least("dt * slope / size", best[got] * slope[got] / size[got])
    v.note("told", told["pair"])
    v.note("told, at a border or a limit", told["pair"][used == UNDECIDED])
    for name in ("faces away", "improper", "outside"):
        v.note(f"invented: {name}", told["pair"][(used == REJECTED) & (why == name)])
    _unknown(scene, told, np.flatnonzero(used < REJECTED), v, min_properness)
    if "position" in told:
        _places(scene, told, np.flatnonzero(used == REQUIRED), v)
    if "time_end" in told:
        _lasting(scene, told, v)
    return v, found, state


def _places(scene, told, rows, v):
    """Places, normals and numbers of contacts beyond doubt, and both local points carried to the contact's
    time."""
    told = {k: x[rows] for k, x in told.items()}
    there, _ = bm.described(scene, *(told[k] for k in ("pair", "kind", "feature_a", "feature_b", "time")))
    pair = told["pair"]
    size, speed = _sizes(scene)[pair], speeds(scene)[pair]

    def apart(x, y):
        return np.abs(x - y).max(axis=tuple(range(1, x.ndim)), initial=0)

    off = {"place": apart(told["position"], there["place"]) / size}
    for k, name in enumerate(("local_a", "local_b")):
        at, axes = bm.poses(scene.bodies[scene.pairs[pair, k]], told["time"])
        off[name] = apart(at + np.einsum("nij,nj->ni", axes, told[name]), there["place"]) / size
    off["normal"] = apart(told["normal"], there["normal"])
    off["normal_speed"] = apart(told["normal_speed"], there["normal_speed"]) / speed
    off["properness"] = np.where(there["doubtful"] == 1, 0, apart(told["properness"], there["properness"]))
    for name, x in off.items():
        bound = {"normal": 1e-8, "properness": 1e-8}.get(name, PLACE)
        v.note(f"wrong {name}", pair[x > bound])
        v.least(name, x[x <= bound])


def _lasting(scene, told, v):
    """Contacts that last: features stay together and within their borders from `time` to `time_end`, and no
    longer than that."""
    rows = np.flatnonzero(told["sustained"])
    names = [told[k][rows] for k in ("pair", "kind", "feature_a", "feature_b")]
    begin, end = told["time"][rows], told["time_end"][rows]
    size = _sizes(scene)[told["pair"][rows]]
    left = np.zeros(len(rows), bool)
    v.note("lasting", told["pair"][rows])
    for t in np.linspace(0, 1, 9):
        there, distance = bm.described(scene, *names, begin + t * (end - begin))
        good = there["sine"] > 1e-6
        left |= good & (there["inside"] < -INSIDE * size)
        left |= good & (np.abs(distance) > 1e-10 * (size + speeds(scene)[told["pair"][rows]]))
    v.note("wrong: does not last", told["pair"][rows[left]])
    for t, over in ((begin - AFTER, begin > AFTER), (end + AFTER, end < 1 - AFTER)):
        there, _ = bm.described(scene, *names, t)
        v.note("wrong: lasts longer", told["pair"][rows[over & (there["inside"] > INSIDE * size)]])


def _sizes(scene):
    radius = np.array([np.linalg.norm(m.vertices, axis=1).max() for m in scene.meshes])
    return radius[scene.bodies["mesh"]][scene.pairs].max(1)


def _unknown(scene, told, rows, v, min_properness):
    """Contacts that no root explains: are the features together then, facing and proper?"""
    if not len(rows):
        return
    why = _together(scene, told, rows, min_properness)
    for k, name in enumerate(("apart", "outside", "faces away", "improper"), 1):
        v.note(f"invented: {name}", told["pair"][rows[why == k]])
    v.note("told, touching", told["pair"][rows[why == 0]])


def _together(scene, told, rows, min_properness):
    """0 where features are together at a contact's time, face each other and are proper; else why not."""
    names = ("pair", "kind", "feature_a", "feature_b", "time")
    there, distance = bm.described(scene, *(np.asarray(told[k])[rows] for k in names))
    pair = there["pair"]
    size, speed = _sizes(scene)[pair], speeds(scene)[pair]
    whys = (
        np.abs(distance) > 1e-9 * (size + 1e-3 * speed) * np.maximum(there["sine"], 1e-9),
        there["inside"] < -1e-8 * size,
        there["facing"] < -1e-6 * speed,
        there["properness"] < min_properness - 1e-6,
    )
    out = np.zeros(len(rows), int)
    for k in (3, 2, 1, 0):
        out[whys[k]] = k + 1
    return out
