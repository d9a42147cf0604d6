"""Found contacts, at a threshold of -1, against the atoms of the exact judge of whole-number shifts."""

from collections import defaultdict

import numpy as np

TIME = (
    2e-10  # of the step: what lasts may begin where its border is within GC_TOL_INSIDE; else 5e-16 were seen
)
PLACE = 1e-9
EDGES = 2  # kind of the meeting of two edges
VALUE = 1e-9  # of properness; seen: 1e-12 (it is given in steps of 2^-40)


def features(rows, a, b):
    return zip(rows.pair.tolist(), rows.kind.tolist(), a.tolist(), b.tolist(), strict=True)


def differences(found, atoms):
    """Pairs and sentences about what is missed, invented, wrong or told twice."""
    of_key = defaultdict(list)
    for k, key in enumerate(features(atoms, atoms.a, atoms.b)):
        of_key[key].append(k)
    atom_of, bad = np.full(len(found.pair), -1), []
    for j, key in enumerate(features(found, found.feature_a, found.feature_b)):
        off = [
            (max(abs(atoms.begin[k] - found.time[j]), abs(atoms.end[k] - found.time_end[j])), k)
            for k in of_key[key]
        ]
        if off and min(off)[0] <= TIME:
            atom_of[j] = min(off)[1]
        else:
            when = f"{found.time[j]:.17g}..{found.time_end[j]:.17g}"
            bad.append((key[0], f"invented {key[1:]} at {when}, off by {[x for x, _ in off]}"))
    known = np.flatnonzero(atom_of >= 0)
    of = atom_of[known]
    told = np.zeros(len(atoms.pair), bool)
    told[of] = True
    twice = [k for k in np.unique(of) if (of == k).sum() > 1]
    bad += [(int(atoms.pair[k]), f"told twice: {describe(atoms, k)}") for k in twice]
    return bad + wrong_fields(found, atoms, known, of) + missed(found, atoms, told, known, of)


def wrong_fields(found, atoms, known, of):
    """Properness, place and speed of contacts `known`, which are the atoms `of`."""
    sure, size = atoms.sure[of], np.abs(atoms.properness[of])
    value = found.properness[known]
    expected = np.where(sure < 0, -size, atoms.properness[of])
    speed, pace = found.normal_speed[known], atoms.speed[of]
    room = VALUE * (1 + np.abs(pace))
    errors = {
        "properness": np.where(sure == 0, np.abs(np.abs(value) - size), np.abs(value - expected)) > VALUE,
        "place": np.abs(found.local_a[known] - atoms.place[of, 0]).max(1, initial=0) > PLACE,
        # of the normal of two edges, whose signs may be as proper as each other, only the size is known
        "normal speed": (np.abs(speed - pace) > room)
        & ((np.abs(speed + pace) > room) | (atoms.kind[of] != EDGES)),
    }
    return [
        (int(atoms.pair[of[m]]), f"{name} {value[m]:.12g}, {speed[m]:.12g}: {describe(atoms, of[m])}")
        for name, off in errors.items()
        for m in np.flatnonzero(off)
    ]


def missed(found, atoms, told, known, of):
    """Atoms that are not told and that nothing told covers, or nothing as proper."""
    bad, at = [], defaultdict(list)
    for j, k in zip(known.tolist(), of.tolist(), strict=True):
        if atoms.margin[k].any():
            at[int(atoms.pair[k])].append((j, k))
    for k in np.flatnonzero(~told).tolist():
        pair = int(atoms.pair[k])
        over = [j for j, other in at[pair] if on_border(atoms, k) and covers(atoms, other, k)]
        best = max((found.properness[j] for j in over), default=-np.inf)
        least = -abs(atoms.properness[k]) if atoms.sure[k] <= 0 else atoms.properness[k]
        if best < least - VALUE:
            bad.append((pair, f"missed, told there {best:.6g}: {describe(atoms, k)}"))
    return bad


def on_border(atoms, k):
    """Whether an atom is on borders of its features all the time."""
    return atoms.margin[k, 1] if atoms.end[k] > atoms.begin[k] else atoms.margin[k, 0]


def covers(atoms, j, i):
    """Whether atom j lasts as long as i, at the same places, on borders."""
    if atoms.begin[j] > atoms.begin[i] + PLACE or atoms.end[j] < atoms.end[i] - PLACE:
        return False
    for end, t in ((0, atoms.begin[i]), (1, atoms.end[i])):
        if np.abs(place_at(atoms, j, t) - atoms.place[i, end]).max() > PLACE:
            return False
    if atoms.end[i] > atoms.begin[i]:
        return bool(atoms.margin[j, 1])
    t, (first, always, last) = atoms.begin[i], atoms.margin[j]
    return bool(
        always or (first and abs(t - atoms.begin[j]) < PLACE) or (last and abs(t - atoms.end[j]) < PLACE)
    )


def place_at(atoms, k, t):
    width = atoms.end[k] - atoms.begin[k]
    share = (t - atoms.begin[k]) / width if width > 0 else 0.0
    return (1 - share) * atoms.place[k, 0] + share * atoms.place[k, 1]


def describe(atoms, k):
    kind = ("FV", "VF", "EE")[atoms.kind[k]]
    return (
        f"{kind} {atoms.a[k]} {atoms.b[k]} at {atoms.begin[k]:.17g}..{atoms.end[k]:.17g}, on borders "
        f"{atoms.margin[k].astype(int).tolist()}, properness {atoms.properness[k]:.6g} ({atoms.sure[k]}), "
        f"place {atoms.place[k, 0].tolist()}, speed {atoms.speed[k]:.3g}"
    )
