"""(A, B) and (B, A): the same contacts, mirrored.

Exempt are half turns, which two screws fit, and world places, for which A's own motion counts.
"""

import numpy as np

from tests.oracle.matching import as_arrays

KIND = np.array([1, 0, 2])  # FV and VF change places


def differences(there, back, size, *, coincident=False):
    """Sentences about where the answer of the swapped pairs is not the mirror of the other; none if it is.

    Parameters
    ----------
    there, back : Contacts or dict of arrays
        Of pairs (A, B), and of the same pairs as (B, A).
    size : float or (p,) array
        Of the pairs: what times and places are compared by.
    coincident : bool
        Whether features coincide exactly: then either body's vertex may stand for the contact, and only
        statuses and first times are compared.
    """
    there, back = as_arrays(there), as_arrays(back)
    if not np.array_equal(there["status"], back["status"]):
        k = np.flatnonzero(there["status"] != back["status"])
        return [f"status of {len(k)} pairs, first: pair {k[0]}"]
    size = np.broadcast_to(size, len(there["status"]))
    if coincident:
        hit = there["toi"] < np.inf
        late = np.abs(there["toi"][hit] - back["toi"][hit])
        return [f"toi by {late.max()}"] if late.max(initial=0) >= 1e-8 else []
    plain = np.lexsort((there["time"], there["feature_b"], there["feature_a"], there["kind"], there["pair"]))
    kind = KIND[back["kind"]]
    order = np.lexsort((back["time"], back["feature_a"], back["feature_b"], kind, back["pair"]))
    for one, two in (
        (there["pair"], back["pair"]), (there["kind"], kind), (there["feature_a"], back["feature_b"]),
        (there["feature_b"], back["feature_a"]), (there["sustained"], back["sustained"]),
    ):  # fmt: skip
        if not np.array_equal(one[plain], two[order]):
            return ["which features meet"]
    size = size[there["pair"]][plain]
    slope = np.abs(there["normal_speed"][plain]) / size
    bad = []
    late = np.abs(there["time"][plain] - back["time"][order]) * slope
    if late.max(initial=0) >= 1e-9:
        bad.append(f"times by {late.max()}")
    # local points move with the time error, which is large where the surfaces hardly approach
    steep = slope > 1e-3
    for mine, theirs, unit in (
        ("local_a", "local_b", size), ("local_b", "local_a", size), ("properness", "properness", 1.0),
    ):  # fmt: skip
        off = np.abs(there[mine][plain] - back[theirs][order]).reshape(len(plain), -1).max(axis=1) / unit
        if off[steep].max(initial=0) >= 1e-9:
            bad.append(f"{mine} by {off[steep].max()}")
    return bad
