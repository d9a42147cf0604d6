"""From roots to contacts: inside tests, facing, properness, and how far each decision is from flipping.

Every contact that a sound implementation may report becomes an *atom* with a state:

REQUIRED  every decision is clear of its border by more than rounding and the tolerances of
          docs/conventions.md can move it;
NOMINAL   a contact by the closed tests, but so near to a border that it may be reported as another
          feature there: at least one contact of its coincident group has to be there;
OPTIONAL  in the tolerance band: allowed, not demanded.
"""

import numpy as np

from tests.oracle.features import FACING, facing, geometry, local_of_b, properness
from tests.oracle.roots import EE, FV, VF, Items, find, world_pose
from tests.oracle.solid import apply, dot, norm

OPTIONAL, NOMINAL, REQUIRED = 0, 1, 2
PARALLEL = 1e-9
TOUCH = 1e-11  # of the size: inside tests are closed within this (GC_TOL_INSIDE)
BAND = 1e-10  # of the size: half width of the band around the inside tests

ATOM = np.dtype(
    [
        ("pair", "i4"), ("kind", "u1"), ("feature_a", "i4"), ("feature_b", "i4"), ("state", "u1"),
        ("time", "f8"), ("time_lo", "f8"), ("time_hi", "f8"), ("time_end", "f8"), ("sustained", "?"),
        ("position", "f8", 3), ("world_sure", "?"), ("local_a", "f8", 3), ("local_b", "f8", 3), ("place",
        "f8", 3),
        ("carry", "f8"), ("normal", "f8", 3), ("normal_sure", "?"), ("normal_speed", "f8"), ("pace", "f8"),
        ("properness", "f8"),
        ("properness_band", "f8"), ("inside", "f8"), ("facing", "f8"), ("in_time", "f8"), ("sine", "f8"),
        ("vertex_a", "i4"), ("vertex_b", "i4"), ("begin_slack", "f8"), ("end_slack", "f8"),
    ]
)  # fmt: skip
"""One contact. `inside` (of the size), `in_time` (of the step) and `facing` (of the speed) are signed
distances
to the border of the decision, positive where the contact counts; `place` is the point in A's centred frame;
`carry`
is the speed at which A itself takes the point through the world. `begin_slack` and `end_slack` (sustained
only) are how much later it begins, or earlier it ends, where the features have to be inside by the tolerance
and the rounding rather than not outside by it: what the closed inside test leaves free."""


def atoms_of(scene, min_properness, world_a, pair_ids):
    """All atoms of a scene. world_a = (start, end), each (position, unit quaternion) of A; pair_ids their
    numbers."""
    items = Items.make(scene, *scene.items())
    (ri, rt), (ti, tlo, thi), (fi, truly) = find(items)
    single = np.ones(len(ri), bool)
    # a root beside a touch of the same function belongs to it: two roots or none is a matter of rounding
    # there
    for k in range(len(ti)):
        width = 4 * (thi[k] - tlo[k]) + 1e-9
        near = (ri == ti[k]) & (rt >= tlo[k] - width) & (rt <= thi[k] + width)
        single &= ~near
        if near.any():
            tlo[k], thi[k] = min(tlo[k], rt[near].min()), max(thi[k], rt[near].max())
    ri, rt = ri[single], rt[single]
    parts = [judge(items[ri], rt, rt, rt, np.ones(len(ri), bool), min_properness)]
    if len(ti):
        sub = items[ti]
        best, gap, crosses = lowest(sub, tlo, thi)
        certain = crosses | (gap <= 1e-12 * scene.size)
        parts.append(judge(sub, best, tlo, thi, certain, min_properness, single=False))
    if len(fi):
        parts.append(sustained(items[fi], truly, min_properness))
    atoms = np.concatenate(parts)
    atoms = np.concatenate((atoms, resolved(scene, atoms, min_properness)))
    p = atoms["pair"]
    start, end = [(x[p], q[p]) for x, q in world_a]
    local = atoms["place"] + scene.a.center
    origin, axes, w, atoms["carry"] = world_pose(start, end, atoms["time"], local)
    atoms["local_a"], atoms["position"] = local, origin + apply(axes, local)
    atoms["normal"] = apply(axes, atoms["normal"])
    atoms["world_sure"] = w > 1e-9
    atoms["pair"] = pair_ids[p]
    return atoms[np.lexsort((atoms["time"], atoms["pair"]))]


def resolved(scene, atoms, min_properness):
    """What an edge-edge contact at an end of an edge may become: that vertex on a face beside the other edge.

    The vertex may slide on that face or leave it then, so that its own function has no single root there.
    """
    a, b = scene.a, scene.b
    rows = set()
    ends = (atoms["kind"] == EE) & (atoms["state"] < REQUIRED)
    for x in atoms[ends]:
        reach = 1e-8 * scene.size + x["pace"] * 4 * scene.tau[x["pair"]]
        place_b = x["local_b"] - b.center
        near_a = [v for v in a.edges[x["feature_a"]] if norm(a.v[v] - x["place"]) <= reach]
        near_b = [v for v in b.edges[x["feature_b"]] if norm(b.v[v] - place_b) <= reach]

        def faces(solid, edge, vertices):
            found = set(solid.edge_face[edge][solid.edge_side[edge] != 0])
            for v in vertices:
                found |= set(solid.vertex_face[v][solid.vertex_face[v] >= 0])
            return found

        key = (int(x["pair"]), float(x["time"]))
        rows |= {(*key, FV, f, v) for v in near_b for f in faces(a, x["feature_a"], near_a)}
        rows |= {(*key, VF, v, f) for v in near_a for f in faces(b, x["feature_b"], near_b)}
    known = {(int(x["pair"]), int(x["kind"]), int(x["feature_a"]), int(x["feature_b"])): [] for x in atoms}
    for x in atoms:
        if not x["sustained"]:
            key = (int(x["pair"]), int(x["kind"]), int(x["feature_a"]), int(x["feature_b"]))
            known[key].append((x["time_lo"], x["time_hi"]))
    slack = 4 * scene.tau + 1e-9
    rows = [
        r
        for r in sorted(rows)
        if not any(lo - slack[r[0]] <= r[1] <= hi + slack[r[0]] for lo, hi in known.get((r[0], *r[2:]), ()))
    ]
    if not rows:
        return atoms[:0]
    pair, t, kind, fa, fb = (np.array(c) for c in zip(*rows, strict=True))
    items = Items.make(scene, kind, pair, fa, fb)
    return judge(items, t, t, t, np.zeros(len(t), bool), min_properness)


def lowest(items, lo, hi):
    """In touching intervals: time of least |f|, its size (as a length), and whether f surely changes sign."""
    best, gap = (lo + hi) / 2, np.full(len(lo), np.inf)
    signs = []
    for x in np.linspace(0, 1, 33):
        t = lo + (hi - lo) * x
        f = items.value(t)[0] / np.maximum(items.sine(t), 1e-12)
        better = np.abs(f) < gap
        best, gap = np.where(better, t, best), np.where(better, np.abs(f), gap)
        signs.append(f)
    noise = items.scene.rounding[items.pair]
    return best, gap, (signs[0] * signs[-1] < 0) & (np.minimum(np.abs(signs[0]), np.abs(signs[-1])) > noise)


def judge(
    items, t, lo, hi, certain, min_properness, single=True, sustained_end=None, deepest=None, slack=None
):
    """Atoms of items that are zero at times t (somewhere in [lo, hi]); `certain`: the zero itself is beyond
    doubt.

    Sustained only: `deepest` is the greatest inside distance in the interval, `slack` (n, 2) what the inside
    test leaves free of its ends.
    """
    scene, m = items.scene, items.scene.m
    size = scene.size
    clamped = np.clip(t, 0.0, 1.0)
    place, place_b, inside, sine, u = geometry(items, clamped)
    p = items.pair
    tau, rounding = scene.tau[p], scene.rounding[p]
    flow = m.flow(p, place)
    pace = norm(flow)
    slope = np.abs(items.value(clamped)[1]) / np.maximum(sine, 1e-12)
    with np.errstate(all="ignore"):
        unsure = np.where(certain & single, np.minimum(10 * rounding / slope, 1.0), 0.0)
    unsure = np.where(np.isfinite(unsure), unsure, 0.0) + (hi - lo) / 2
    if sustained_end is not None:
        unsure = np.zeros(len(t))
    band = BAND * size + pace * (3 * tau + unsure) + 10 * rounding / np.maximum(sine, 1e-12)
    if sustained_end is not None:
        band = np.full(len(t), BAND * size)
        inside = deepest
    keep = (inside >= -band) & (sine >= 0.1 * PARALLEL)
    in_time = np.minimum(t, 1 - t)
    keep &= np.minimum(hi, 1 - lo) >= -2 * tau - unsure
    i = np.nonzero(keep)[0]
    items, t, clamped, lo, hi = items[i], t[i], clamped[i], lo[i], hi[i]
    place, place_b, inside, sine, u, p = place[i], place_b[i], inside[i], sine[i], u[i], p[i]
    tau, rounding, pace, unsure, band = tau[i], rounding[i], pace[i], unsure[i], band[i]
    in_time, certain = in_time[i], certain[i]
    face, flow = facing(items, clamped, place)
    speed = np.where(scene.still[p], 1.0, scene.speed[p])
    facing_band = 0.5 * FACING + rounding / speed + unsure * m.theta[p] * 2
    value, normal, sure = properness(items, clamped, u, flow)
    prop_band = 1e-9 + 3 * m.theta[p] * (unsure + tau) + 1e-14 / np.maximum(sine, 1e-14)
    good = (face >= -facing_band - FACING) & (value >= min_properness - prop_band)
    clear = (inside > band) & (face > facing_band) & (value > min_properness + prop_band) & certain
    clear &= (in_time > 2 * tau + unsure) & (sine > 10 * PARALLEL)
    apart = sine > 10 * PARALLEL
    if slack is not None:
        # edges that turn out of one line begin parallel: they count where they are clear of all doubt
        apart |= items.sine(clamped + slack[i, 0]) > 10 * PARALLEL
    # by the closed tests, with room for rounding only
    snug = 1e-12 * size + rounding / np.maximum(sine, 1e-12)
    # in a touch n.omega goes through zero: there the face is backward facing within the tolerance
    turned = face > (facing_band if single else -facing_band)
    nominal = (inside >= -snug) & turned & certain & (in_time >= -0.1 * tau)
    nominal &= apart & ((unsure * pace <= 1e-6 * size) | (inside > 2 * unsure * pace))
    if sustained_end is not None:
        long_enough = (sustained_end[i] - clamped) * pace > BAND * size
        # a sliding face has n.omega = 0, far inside the facing tolerance unless the motion itself is rounding
        facing_band = 0.5 * FACING + 1e-15 * size / speed
        clear = (inside > band) & (face > facing_band) & (value > min_properness + prop_band) & certain
        clear &= apart & (long_enough | scene.still[p])
    elif not single:
        clear[:] = False
    atoms = np.zeros(len(i), ATOM)
    atoms["state"] = np.where(clear, REQUIRED, np.where(nominal, NOMINAL, OPTIONAL))
    atoms["pair"], atoms["kind"] = p, items.kind
    atoms["feature_a"], atoms["feature_b"] = items.fa, items.fb
    atoms["time"], atoms["time_lo"], atoms["time_hi"] = clamped, lo - unsure, hi + unsure
    atoms["time_end"] = clamped if sustained_end is None else sustained_end[i]
    atoms["sustained"] = sustained_end is not None
    if slack is not None:
        atoms["begin_slack"], atoms["end_slack"] = slack[i].T
    atoms["place"], atoms["normal"], atoms["normal_sure"] = place, normal, sure
    atoms["local_b"] = local_of_b(scene, p, clamped, place_b) + scene.b.center
    fv = items.kind == FV
    atoms["local_b"][fv] = (scene.b.v + scene.b.center)[items.fb[fv]]
    atoms["normal_speed"], atoms["pace"] = dot(normal, flow), pace
    atoms["properness"], atoms["properness_band"] = value, prop_band
    atoms["inside"], atoms["facing"], atoms["in_time"] = inside / size, face, in_time
    atoms["sine"] = sine
    atoms["vertex_a"] = np.where(items.kind == VF, items.fa, -1)
    atoms["vertex_b"] = np.where(items.kind == FV, items.fb, -1)
    # of a coincident group the properest counts: there its members below the threshold are kept too
    return atoms[good | (nominal & (inside <= band))]


def sample_inside(items):
    """Times and inside distances of items that slide, dense enough to see every interval longer than 1e-6.

    Time is halved wherever a Lipschitz bound cannot decide between inside and outside. Returns items and
    times, ordered.
    """
    scene, p = items.scene, items.pair
    theta = scene.m.theta[p]
    pace = np.where(items.kind == VF, norm(scene.m.flow(p, items.ca)), items.pace)
    n, cells = len(items), 32
    k, lo = np.repeat(np.arange(n), cells), np.tile(np.arange(cells) / cells, n)
    h = 1.0 / cells
    ends = np.arange(n)
    out = [(np.concatenate((ends, ends)), np.repeat([0.0, 1.0], n))]
    for _ in range(17):
        if len(k) == 0:
            break
        mid = lo + h / 2
        out.append((k, mid))
        sub = items[k]
        _, _, inside, sine, _ = geometry(sub, mid)
        away = sub.value(mid)[2] + pace[k] * h
        # of edges, the crossing runs along them at the speed across over sin; sin changes by theta h / 2 at
        # most
        with np.errstate(all="ignore"):
            fast = 4 * (pace[k] + theta[k] * (away + sub.reach)) / sine
        turning = (sub.kind == EE) & ~(theta[k] * h < sine)
        slope = np.where(sub.kind == EE, fast, pace[k])
        near = turning | (np.abs(inside) <= slope * h / 2 + 1e-12 * scene.size)
        # a path along a border stays undecided everywhere: enough samples then
        many = np.bincount(k[near], minlength=n) > 64
        near &= ~many[k]
        k, lo = k[near], lo[near]
        k, lo, h = np.concatenate((k, k)), np.concatenate((lo, lo + h / 2)), h / 2
    k, t = (np.concatenate(c) for c in zip(*out, strict=True))
    order = np.lexsort((t, k))
    return k[order], t[order]


def sustained(items, truly, min_properness):
    """Intervals of [0, 1] in which items that vanish identically are inside."""
    scene, size = items.scene, items.scene.size
    # parallel edges have no crossing at all
    live = np.nonzero((items.sine(np.full(len(items), 0.3)) >= PARALLEL) | (scene.m.theta[items.pair] > 0))[0]
    items, truly = items[live], truly[live]

    def depth(k, t):
        """Inside distances, and what the tolerance and the rounding of a crossing leave in doubt of them."""
        _, _, inside, sine, _ = geometry(items[k], t)
        doubt = TOUCH * size + scene.rounding[items.pair[k]] / np.maximum(sine, PARALLEL)
        return np.where(sine >= PARALLEL, inside, -np.inf), doubt

    def moved(ends, room):
        """Where between `outside` and `inside` of ends (row, column, item, outside, inside) it is inside by
        `room` times the doubt; all (row, column) and the times."""
        row, column, which, outside, inside = (np.array(c) for c in zip(*ends, strict=True))
        for _ in range(56):
            mid = (inside + outside) / 2
            value, doubt = depth(which, mid)
            still_in = value >= room * doubt
            inside, outside = np.where(still_in, mid, inside), np.where(still_in, outside, mid)
        return (row, column), inside

    n = len(items)
    which, at = sample_inside(items)
    d, doubt = depth(which, at)
    first = np.searchsorted(which, np.arange(n + 1))
    rows, outer, inner = [], [], []  # (item, begin, end, deepest), and ends to be moved
    for item in range(n):
        own = slice(first[item], first[item + 1])
        times, dist, sure = at[own], d[own], d[own] >= doubt[own]
        inside = dist >= -TOUCH * size
        edge = np.diff(np.concatenate(([0], inside.astype(int), [0])))
        for a, b in zip(np.nonzero(edge == 1)[0], np.nonzero(edge == -1)[0] - 1, strict=True):
            clear = a + np.nonzero(sure[a : b + 1])[0]
            for column, step, end in ((1, -1, a), (2, 1, b)):
                if 0 <= end + step < len(times):
                    outer.append((len(rows), column, item, times[end + step], times[end]))
                if len(clear):
                    last = clear[0] if step < 0 else clear[-1]
                    beside = min(max(last + step, 0), len(times) - 1)
                    inner.append((len(rows), column, item, times[beside], times[last]))
            deepest = dist[a : b + 1].max() if len(clear) else min(dist[a : b + 1].max(), TOUCH * size)
            rows.append([item, times[a], times[b], deepest])
        if not inside.any() and dist.max() >= -1e-9 * size:  # only in the band
            best = int(np.argmax(dist))
            rows.append([item, times[best], times[best], dist[best]])
    if not rows:
        return np.zeros(0, ATOM)
    rows = np.array(rows)
    narrow = rows[:, :3].copy()
    narrow[:, 1:] = rows[:, 2:0:-1]  # where nothing is clear of the doubt all of it is free
    if outer:
        place, times = moved(outer, -1)
        rows[place] = times
    if inner:
        place, times = moved(inner, 1)
        narrow[place] = times
    which, begin, end, deepest = rows[:, 0].astype(int), rows[:, 1], rows[:, 2], rows[:, 3]
    slack = np.abs(narrow[:, 1:] - rows[:, 1:3])
    return judge(
        items[which], begin, begin, end, truly[which], min_properness, sustained_end=end,
        deepest=deepest, slack=slack,
    )  # fmt: skip
