"""What the matrix runs: families with their sizes, the oracle's answers, and the runs of one family."""

import itertools
from functools import lru_cache

import numpy as np

import gpu_collide as gc
from tests import oracle
from tests.oracle import scenes
from tests.oracle.kept import kept
from tests.oracle.matching import FIELDS

RESOLUTIONS = (1, 2, 3, 6, 12, 24)
SEED = 20261120

# pairs per family: the whole matrix (at least 20,000 random pairs of boxes, cars, hulls and non-convex
# shapes, 300
# tori), and the everyday sample
FULL = dict.fromkeys(scenes.FAMILIES, 1000) | {
    "random_boxes": 5000, "random_cars": 5000, "random_hulls": 5000, "random_nonconvex": 5000,
    "random_tori": 300,
    "random_small_tori": 500,
}  # fmt: skip
SAMPLE = dict.fromkeys(scenes.FAMILIES, 60) | {
    "random_boxes": 120, "random_nonconvex": 120, "random_cars": 120, "random_small_tori": 24,
    "random_tori": 3,
}  # fmt: skip
SAMPLE |= dict.fromkeys(scenes.WHOLE, 40)  # 100,000 of each by `python -m tests.acceptance.whole_numbers`


@lru_cache(maxsize=256)
def make(family, n, seed=SEED):
    """A scene of n pairs; the same object for all that ask, so that its meshes are prepared once."""
    return scenes.FAMILIES[family](seed, n).fixed()


def expected(family, n, seed=SEED, min_properness=-0.1):
    """The oracle's answer."""
    return kept(make(family, n, seed), min_properness)


def part(family, n):
    """The first `n` pairs of the everyday sample."""
    assert n <= SAMPLE[family], f"the sample has {SAMPLE[family]} pairs of {family}"
    return make(family, SAMPLE[family]).take(np.arange(n))


def expected_of_part(family, n):
    """The oracle's answer for `part`, out of that for the sample: no pair is solved twice by brute force."""
    return expected(family, SAMPLE[family]).first(n)


def same_bits(one, two):
    """Names of the fields in which two results differ in any bit."""
    return [
        k
        for k in (*FIELDS, "status", "toi", "contact_start")
        if np.asarray(getattr(one, k)).tobytes() != np.asarray(getattr(two, k)).tobytes()
    ]


def settings(precisions=("mixed", "double"), resolutions=RESOLUTIONS, pairs=True):
    """Keyword sets of the runs that must give the same bits."""
    for precision in precisions:
        for resolution in resolutions:
            yield dict(precision=precision, tuning=gc.Tuning(candidates="raster"), resolution=resolution)
        if pairs:
            yield dict(precision=precision, tuning=gc.Tuning(candidates="pairs"))
            yield dict(precision=precision, tuning=gc.Tuning(features="near"))
            yield dict(precision=precision, tuning=gc.Tuning(filters="none"))
            yield dict(precision=precision, tuning=gc.Tuning(filters=("plane",)))


def run_family(family, n, backends, precisions=("mixed", "double"), resolutions=RESOLUTIONS, seed=SEED):
    """All runs of a family: the first against the oracle, the others against its bits.

    Returns
    -------
    report : oracle.Report
        Of the first run, and of every run whose bits differ from it.
    runs : int
        Number of runs.
    differing : list of (dict, list of str)
        Runs whose bits differ from the first, and in which fields.
    """
    import gpu_collide as gc

    scene, answer = make(family, n, seed), expected(family, n, seed)
    bodies = scene.bodies()
    first, report, runs, differing = None, oracle.Report(), 0, []
    for backend, setting in itertools.product(backends, settings(precisions, resolutions)):
        found = gc.collide(bodies, scene.pairs, backend=backend, **setting)
        runs += 1
        if first is None:
            first = found
            report = oracle.check(found, scene, expected=answer)
            continue
        fields = same_bits(first, found)
        if fields:
            differing.append((dict(backend=backend, **setting), fields))
            report.merge(oracle.check(found, scene, expected=answer))
    return report, runs, differing
