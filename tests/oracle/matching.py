"""Found contacts against the oracle's atoms: what is missed, what is invented, how far off the rest is."""

from dataclasses import dataclass, field

import numpy as np

from tests.oracle.judge import NOMINAL, REQUIRED
from tests.oracle.kept import kept
from tests.oracle.roots import EE
from tests.oracle.solid import Solid, dot, norm

KINDS = ("FV", "VF", "EE")
TIME = 1e-9  # of the size: |dt| * |normal_speed| (what is promised)


@dataclass
class Report:
    """Result of a comparison. `ok` when nothing is missed, invented or wrong."""

    pairs: int = 0
    found: int = 0
    required: int = 0
    groups: int = 0  # coincident groups of which at least one contact is demanded
    optional: int = 0  # found contacts that only the tolerance band explains
    missed: list = field(default_factory=list)
    missed_groups: list = field(default_factory=list)
    invented: list = field(default_factory=list)
    wrong: list = field(default_factory=list)  # found and expected, but a field is off
    structure: list = field(default_factory=list)
    worst: dict = field(default_factory=dict)  # worst errors of matched contacts, by field

    @property
    def ok(self):
        return not (self.missed or self.missed_groups or self.invented or self.wrong or self.structure)

    def bad_pairs(self):
        lists = (self.missed, self.missed_groups, self.invented, self.wrong)
        return np.unique([x["pair"] for y in lists for x in y]).astype(int)

    def merge(self, other):
        for name in ("pairs", "found", "required", "groups", "optional"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for name in ("missed", "missed_groups", "invented", "wrong", "structure"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for key, value in other.worst.items():
            self.worst[key] = max(value, self.worst.get(key, 0.0))
        return self

    def __str__(self):
        counts = ("missed", "missed_groups", "invented", "wrong", "structure")
        lines = [
            f"{self.pairs} pairs, {self.found} contacts found ({self.optional} only in the tolerance band), "
            f"{self.required} required, {self.groups} coincident groups: "
            + ", ".join(f"{len(getattr(self, name))} {name}" for name in counts),
            "worst: " + ", ".join(f"{k} {v:.2g}" for k, v in sorted(self.worst.items())),
        ]
        for name in ("structure", "missed", "missed_groups", "invented", "wrong"):
            rows = getattr(self, name)
            lines += [f"{name}: {_row(r)}" for r in rows[:6]]
            if len(rows) > 6:
                lines.append(f"{name}: ... {len(rows) - 6} more")
        return "\n".join(lines)


def _row(r):
    if isinstance(r, str):
        return r
    return ", ".join(f"{k}={v:.6g}" if isinstance(v, float) else f"{k}={v}" for k, v in r.items())


def _describe(a, **more):
    """An atom as a small dict with its margins."""
    keys = ("time", "inside", "facing", "in_time", "properness", "normal_speed", "sine")
    out = dict(pair=int(a["pair"]), kind=KINDS[a["kind"]], a=int(a["feature_a"]), b=int(a["feature_b"]))
    out.update({k: float(a[k]) for k in keys}, sustained=bool(a["sustained"]), state=int(a["state"]))
    out.update(more)
    return out


def _found_row(f, k, **more):
    return dict(
        pair=int(f["pair"][k]), kind=KINDS[f["kind"][k]], a=int(f["feature_a"][k]), b=int(f["feature_b"][k]),
        time=float(f["time"][k]), properness=float(f["properness"][k]),
        normal_speed=float(f["normal_speed"][k]),
        sustained=bool(f["sustained"][k]), **more,
    )  # fmt: skip


FIELDS = (
    "pair", "kind", "feature_a", "feature_b", "time", "position", "normal", "properness", "local_a",
    "local_b",
    "normal_speed", "sustained", "time_end",
)  # fmt: skip


def as_arrays(found):
    """Fields of a Contacts (on any device) or of a mapping as NumPy arrays."""
    if isinstance(found, dict):
        return {k: np.asarray(v) for k, v in found.items()}
    if hasattr(found, "to_numpy"):
        found = found.to_numpy()
    if isinstance(found, dict):
        return found
    return {k: np.asarray(getattr(found, k)) for k in (*FIELDS, "status", "toi", "contact_start")}


def check_structure(f, n_pairs):
    """Promises about the result's form that need no oracle. Returns a list of sentences."""
    bad = []
    n = len(f["pair"])
    for k in FIELDS:
        if len(f[k]) != n:
            bad.append(f"{k} has {len(f[k])} rows, pair has {n}")
        elif np.asarray(f[k]).dtype.kind == "f" and not np.isfinite(f[k]).all():
            bad.append(f"{k} holds a value that is not finite")
    start = f["contact_start"]
    if len(start) != n_pairs + 1 or not np.array_equal(
        start, np.searchsorted(f["pair"], np.arange(n_pairs + 1))
    ):
        bad.append("contact_start is not the CSR of pair")
    keys = (f["feature_b"], f["feature_a"], f["kind"], f["time"], f["pair"])
    if not np.array_equal(np.lexsort(keys), np.arange(n)):
        bad.append("contacts are not ordered by (pair, time, kind, features)")
    toi = np.full(n_pairs, np.inf)
    np.minimum.at(toi, f["pair"], f["time"])
    if not np.array_equal(toi, f["toi"]):
        bad.append("toi is not the earliest time of the pair")
    if n and ((f["time"] < 0).any() or (f["time"] > 1).any() or (f["time_end"] < f["time"]).any()):
        bad.append("a time lies outside [0, 1] or ends before it begins")
    status = np.asarray(f["status"]).astype(int)
    if ((status == 1) & (toi == np.inf)).any() or ((status == 0) & (toi < np.inf)).any():
        bad.append("status HIT or MISS contradicts the contacts")
    if n and np.abs(np.linalg.norm(f["normal"], axis=1) - 1).max() > 1e-12:
        bad.append("a normal is not a unit vector")
    return bad


def compare(found, expected, *, min_properness=None, structure=True, scene=None):
    """Match found contacts one to one with the atoms of `expected` (an `Expected`).

    Every REQUIRED atom has to be found, with its kind, features and time; of each group of coincident
    NOMINAL atoms
    at least one; every found contact has to be an atom. Nothing is forgiven beyond the bands of judge.py.
    With `scene` a group may also be represented by edges that go on meeting at its place.
    """
    f = as_arrays(found)
    atoms, thr = expected.atoms, expected.min_properness if min_properness is None else min_properness
    report = Report(pairs=expected.n_pairs, found=len(f["pair"]))
    if structure:
        report.structure = check_structure(f, expected.n_pairs)
    report.required = int((atoms["state"] == REQUIRED).sum())
    low = f["properness"] < thr
    report.invented += [_found_row(f, k, why="properness below the threshold") for k in np.nonzero(low)[0]]

    owner = np.full(len(f["pair"]), -1)  # atom of each found contact
    taken = np.full(len(atoms), -1)
    by_key = {}
    for i, key in enumerate(zip(*(atoms[k].tolist() for k in FIELDS[:4]), strict=True)):
        by_key.setdefault(key, []).append(i)
    keys = list(zip(*(f[k].tolist() for k in FIELDS[:4]), strict=True))
    choices = []
    for k, key in enumerate(keys):
        for i in by_key.get(key, ()):
            if f["sustained"][k] and not _lasts(atoms[i], float(f["time_end"][k]), expected):
                continue
            cost = _time_cost(atoms[i], float(f["time"][k]), expected)
            if cost <= 1:
                # demanded atoms first, so that a neighbour in the band does not take their contact
                choices.append((atoms[i]["state"] != REQUIRED, cost, k, i))
    for _, _, k, i in sorted(choices):
        if owner[k] < 0 and taken[i] < 0:
            owner[k], taken[i] = i, k

    for k in np.nonzero(owner < 0)[0]:
        near = [_describe(atoms[i]) for i in by_key.get(keys[k], ())]
        report.invented.append(_found_row(f, k, near=near[:2]))
    for i in np.nonzero((atoms["state"] == REQUIRED) & (taken < 0))[0]:
        report.missed.append(_describe(atoms[i]))
    report.optional = int((atoms["state"][owner[owner >= 0]] != REQUIRED).sum())
    _groups(f, owner, expected, thr, report, scene)
    for i in np.nonzero((atoms["state"] == REQUIRED) & (taken >= 0))[0]:
        _fields(f, int(taken[i]), atoms[i], expected, report)
    return report


def _time_cost(a, t, expected):
    """Time error in units of what is allowed."""
    p = a["pair"]
    size, tau = expected.size[p], expected.tau[p]
    if a["sustained"]:
        allowed = 3 * tau + 1e-8 * size / max(a["pace"], 1e-300) if not expected.still[p] else 1e-9
        if a["state"] != REQUIRED and a["time"] - allowed <= t <= a["time_end"] + allowed:
            return 0.5
        return _beyond(t - a["time"], a["begin_slack"]) / allowed
    allowed = TIME * size / max(abs(a["normal_speed"]), 1e-300)
    if a["state"] != REQUIRED:
        allowed = allowed + 3 * tau
        lo, hi = np.clip((a["time_lo"], a["time_hi"]), 0, 1)
        return max(0.0, lo - t, t - hi) / allowed
    return abs(t - a["time"]) / (allowed + 4e-16)


def _beyond(late, slack):
    """How far an end of a lasting contact is off what the inside test leaves free of it."""
    return max(-late, late - slack, 0.0)


def _close(a, b, expected):
    """Same place and time, within what resolving coincidences may blur."""
    p = a["pair"]
    slack = 4 * expected.tau[p] + 2e-10
    gap = max(0.0, a["time_lo"] - b["time_hi"], b["time_lo"] - a["time_hi"])
    width = max(a["time_hi"] - a["time_lo"], b["time_hi"] - b["time_lo"])
    reach = 1e-8 * expected.size[p] + a["pace"] * (slack + width)
    # where edges that begin nearly parallel cross is worth a rounding over their sine
    reach += expected.rounding[p] / max(min(a["sine"], b["sine"]), 1e-9)
    return gap <= slack and np.abs(a["place"] - b["place"]).max() <= reach


def _lasts(a, end, expected):
    """Whether the atom goes on until `end`."""
    p = a["pair"]
    return a["sustained"] and end <= a["time_end"] + 3 * expected.tau[p] + 1e-7 * expected.size[p] / max(
        a["pace"], 1e-7 * expected.size[p]
    )


def _groups(f, owner, expected, thr, report, scene):
    """Each coincident group of NOMINAL atoms whose resolved contact is proper enough has at least one
    contact."""
    atoms = expected.atoms
    nominal = atoms["state"] == NOMINAL
    start = np.searchsorted(atoms["pair"], np.arange(expected.n_pairs + 1))
    f_start = np.searchsorted(f["pair"], np.arange(expected.n_pairs + 1))
    for p in np.unique(atoms["pair"][nominal]):
        mine = np.arange(start[p], start[p + 1])
        theirs = np.arange(f_start[p], f_start[p + 1])
        hit = [atoms[owner[k]] for k in theirs if owner[k] >= 0]
        done = np.zeros(len(mine), bool)
        for x, i in enumerate(mine):
            if not nominal[i] or done[x]:
                continue
            group = [
                y
                for y, j in enumerate(mine)
                if atoms[j]["state"] > 0 and _close(atoms[i], atoms[j], expected)
            ]
            done[group] = True
            members = atoms[mine[group]]
            # of a meeting the properest is reported, vertex or edges: it reaches each threshold that any does
            best = members[int(np.argmax(members["properness"]))]
            if best["properness"] <= thr + best["properness_band"]:
                continue
            report.groups += 1
            if any(_close(atoms[i], h, expected) for h in hit):
                continue
            if any(_during(h, atoms[i]) for h in hit):
                continue
            if scene is not None and any(_slides_through(h, atoms[i], scene, expected) for h in hit):
                continue
            report.missed_groups.append(_describe(best, members=len(members), near=best["local_a"].tolist()))


def _during(held, a):
    """A reported lasting contact of the same vertex that goes on at the time of `a`."""
    if not held["sustained"] or not held["time"] - 1e-9 <= a["time"] <= held["time_end"] + 1e-9:
        return False
    same_kind = held["kind"] == a["kind"]
    return bool(
        (same_kind and held["feature_a"] == a["feature_a"] and held["feature_b"] == a["feature_b"])
        or (held["vertex_a"] >= 0 and held["vertex_a"] == a["vertex_a"])
        or (held["vertex_b"] >= 0 and held["vertex_b"] == a["vertex_b"])
    )


def _slides_through(held, a, scene, expected):
    """Whether a reported pair of edges that meet for some time meet where and when `a` does.

    A corner that comes to the border of a sheet while an edge of its body slides along that border: the edges
    are reported from before (decision 0016), the coincidence at the corner is the end of them. Both edges
    then go through the point of `a`, each in the frame of its own body; nothing of their motion is needed.
    """
    if not held["sustained"] or held["kind"] != EE:
        return False
    p = a["pair"]
    # within the time in which meetings are one: edges that turn out of one line begin once their sine is 1e-9
    slack = 4 * expected.tau[p] + 2e-10
    if not held["time"] - slack <= a["time"] <= held["time_end"] + slack:
        return False
    width = a["time_hi"] - a["time_lo"]
    reach = 1e-8 * expected.size[p] + a["pace"] * (slack + width)
    reach += expected.rounding[p] / max(a["sine"], 1e-9)
    kinds = np.asarray(scene.shape)[np.asarray(scene.pairs)[p]]
    solids = [Solid(scene.meshes[k]) for k in kinds]
    edges = (held["feature_a"], held["feature_b"])
    points = (a["local_a"], a["local_b"])
    return all(_off_edge(s, e, x) <= reach for s, e, x in zip(solids, edges, points, strict=True))


def _off_edge(solid, edge, point):
    """Distance of a point, in the frame of the mesh, from an edge."""
    w = point - solid.center - solid.edge_mid[edge]
    along = float(dot(w, solid.edge_dir[edge]))
    half = float(solid.edge_half[edge])
    return float(norm(w - np.clip(along, -half, half) * solid.edge_dir[edge]))


def _fields(f, k, a, expected, report):
    """Errors of a matched contact against what its time error and its conditioning explain."""
    p = a["pair"]
    size, rounding = expected.size[p], expected.rounding[p]
    dt = free = abs(float(f["time"][k]) - a["time"])
    if a["sustained"]:
        free = _beyond(float(f["time"][k]) - a["time"], a["begin_slack"])
    soft = 10 * rounding / max(a["sine"], 1e-9)
    if a["sustained"]:
        soft += 1e-8 * size
    world = 4e-15 * np.abs(a["position"]).max()
    # The normal of two edges is across both: while one of them turns by d, the normal turns by up to d / sin.
    # (The time of edges nearly parallel is itself worth only rounding / sin; so their normals lose digits
    # as 1 / sin^2: at sin 5e-5, 1e-11 of a step is the rounding of the poses and 5e-8 of a normal.) What a
    # sustained contact slides on keeps its normal.
    steep = 1.0 if a["sustained"] else 1.0 / max(a["sine"], 1e-9)
    # the crossing of two edges runs along them at the speed across over sin
    moved = 1e-12 * size + soft + a["pace"] * dt / max(a["sine"], 1e-9)
    # and the normal speed changes by both, as the normal turns and the crossing runs
    slide = 0.0 if a["sustained"] else 2 * np.pi * a["pace"] * steep * dt
    rows = [
        (
            "time",
            free * (a["pace"] if a["sustained"] else abs(a["normal_speed"])) / size,
            1e-8 if a["sustained"] else TIME,
        ),
        ("local_a", _gap(f["local_a"][k], a["local_a"]), moved),
        ("local_b", _gap(f["local_b"][k], a["local_b"]), moved),
        (
            "properness",
            abs(f["properness"][k] - a["properness"]),
            1e-10 + a["properness_band"] + 10 * steep * dt,
        ),
        (
            "normal_speed",
            abs(f["normal_speed"][k] - a["normal_speed"]),
            1e-9 * expected.speed[p] + soft + slide,
        ),
    ]
    if a["sustained"]:
        end = _beyond(a["time_end"] - float(f["time_end"][k]), a["end_slack"])
        rows.append(("time_end", end, 3 * expected.tau[p] + 1e-8 * size / max(a["pace"], 1e-300)))
    else:
        rows.append(("time_end", abs(float(f["time_end"][k]) - float(f["time"][k])), 0.0))
    if a["world_sure"]:
        rows.append(("position", _gap(f["position"][k], a["position"]), moved + world + a["carry"] * dt))
        if a["normal_sure"]:
            turn = 1e-12 + 4e-15 / max(a["sine"], 1e-9) + (a["carry"] / size + np.pi + np.pi * steep) * dt
            rows.append(("normal", _gap(f["normal"][k], a["normal"]), turn))
    if bool(f["sustained"][k]) != bool(a["sustained"]):
        report.wrong.append(_describe(a, field="sustained", found=bool(f["sustained"][k])))
    for name, error, allowed in rows:
        # as a share of what is allowed, except times, whose unit is the size
        shown = error if name == "time" else error / max(allowed, 1e-300)
        report.worst[name] = max(report.worst.get(name, 0.0), float(shown) if error else 0.0)
        if not error <= allowed:
            report.wrong.append(_describe(a, field=name, error=float(error), allowed=float(allowed)))


def _gap(x, y):
    return float(np.abs(np.asarray(x) - y).max())


def check(found, scene, min_properness=-0.1, expected=None, **more):
    """Compare with a scene; pairs at a half-turn, where two screws fit within rounding, may follow either."""
    expected = kept(scene, min_properness) if expected is None else expected
    report = compare(found, expected, scene=scene, **more)
    bad = report.bad_pairs()
    free = bad[(expected.w[bad] > 0) & (expected.w[bad] < 1e-14)]
    if len(free):
        other = kept(scene, min_properness, only=free, flip=np.ones(expected.n_pairs, bool))
        again = compare(restrict(found, free), other, structure=False, scene=scene)
        settled = np.setdiff1d(free, again.bad_pairs())
        for name in ("missed", "missed_groups", "invented", "wrong"):
            setattr(report, name, [x for x in getattr(report, name) if x["pair"] not in settled])
    return report


def restrict(found, pairs):
    """Contacts of some pairs only, with the numbering kept."""
    f = as_arrays(found)
    keep = np.isin(f["pair"], pairs)
    return {k: (v[keep] if k in FIELDS else v) for k, v in f.items()}
