"""``hits="all"``: rows that kernels and the reference do not share are ties, by exact arithmetic.

Each is a place where a path is tangent, goes exactly through a border, begins or ends exactly at something,
or where two touches have the same time; the exact judge holds both answers to be right.
"""

from dataclasses import dataclass

import numpy as np
import pytest

from tests.acceptance.sweep import Judge
from tests.acceptance.sweep_runs import run, world_of
from tests.oracle.sweep_casts import Casts, cube, placed
from tests.oracle.sweep_families import FAMILIES
from tests.oracle.sweep_hinges import KINDS, hinges

pytestmark = pytest.mark.shared_bits("tests/acceptance/test_stored_bits.py")

TIE = 1e-9  # a length, or a share of the path; others of these families are above 1e-5
TIED = ("whole_spheres", "whole_ellipsoids", "along_edges", "seams", "touching", "nowhere", "rooms")


@dataclass
class Tally:
    apart: int = 0  # rows of one answer alone
    exactly: int = 0  # of them those where something is 0 in exact numbers
    untied: list = None  # of them those without a tie
    wrong: list = None  # verdicts on casts with such rows
    shared: int = 0  # rows of both
    tied: int = 0


def rows_of(found, i):
    """{(body, feature, number, sphere): time} of query i."""
    part = slice(found.offsets[i], found.offsets[i + 1])
    names = ("body", "feature", "number", "sphere")
    keys = zip(*(getattr(found, name)[part].tolist() for name in names), strict=True)
    return dict(zip(keys, found.time[part].tolist(), strict=True))


def least(casts, world, i, row):
    """What a row most nearly hangs on: the least of its lengths."""
    body, kind, number, sphere = row
    p = next(p for ball, k, p in casts.passes(i) if (k, ball) == (body, max(sphere, 0)))
    mesh, feature, face = world.meshes[np.asarray(world.shape)[body]], None, 0
    if kind == 1:
        face = int(mesh.source_face[number])
    elif kind == 2:
        feature = tuple(sorted(mesh.edges[number].tolist()))
    else:
        feature = number
    return min(abs(float(x)) for _, x in hinges(p, KINDS[kind], feature, face))


def compared(family, n, seed, share=0):
    """`Tally` of so many casts; of the rows that both have those of the first `share` casts."""
    casts = FAMILIES[family](seed, n)
    world, judge = world_of(casts), Judge(casts)
    (a, one), (b, two) = (run(casts, hits="all", backend=k, world=world) for k in ("cpu", "reference"))
    tally = Tally(untied=[], wrong=[])
    for i in range(n):
        x, y = rows_of(one, i), rows_of(two, i)
        times = [*x.items(), *y.items()]
        for row in x.keys() ^ y.keys():
            time, length = x.get(row, y.get(row)), least(casts, world, i, row)
            tally.apart += 1
            tally.exactly += length < 1e-25
            if length > TIE and not any(other != row and abs(t - time) < TIE for other, t in times):
                tally.untied.append((i, row, length))
        for row in x.keys() & y.keys() if i < share else ():
            tally.shared += 1
            tally.tied += least(casts, world, i, row) <= TIE
        if x.keys() != y.keys():
            tally.wrong += [(i, v) for v in (judge.verdict(i, r, "all") for r in (a, b)) if not v.ok]
    return tally


@pytest.mark.backends("cpu")  # the others have its bits
@pytest.mark.parametrize("family", TIED)
def test_rows_that_kernels_and_reference_do_not_share_are_ties(backend, family):
    tally = compared(family, 100, [78, 0])
    assert not tally.untied and not tally.wrong, (tally.untied[:3], tally.wrong[:1])


@pytest.mark.slow
@pytest.mark.backends("cpu")
@pytest.mark.parametrize("family", FAMILIES)
def test_many_rows_that_are_not_shared_are_ties(backend, family):
    tally = compared(family, 600, [79, 1])
    assert not tally.untied and not tally.wrong, (tally.untied[:3], tally.wrong[:1])


@pytest.mark.backends("cpu")
def test_what_is_no_tie_is_seen_to_be_none(backend):
    """Rows of casts at random hang on nothing, those of whole numbers often do."""
    tally = compared("spheres_two_sided", 20, [78, 0], share=20)
    assert tally.apart == 0 and tally.shared > 20 and tally.tied == 0, tally
    tally = compared("nowhere", 100, [78, 0])
    assert tally.apart > 10 and tally.exactly > 10, tally
    tally = compared("seams", 40, [78, 0], share=40)
    assert tally.tied > 0.5 * tally.shared > 10, tally


@pytest.mark.parametrize("height, past", [(3.0, 0.0), (2.75, -0.25), (3.5, 0.5)])
def test_hinges_by_hand(height, past):
    """A ball of radius 1 that goes over an edge of a cube of 4, across it: tangent, deeper, and beside it."""
    mesh = cube(4)
    start, path = np.array([[-4, 0.5, height]]), np.array([[8.0, 0, 0]])
    p = next(Casts("spheres", [mesh], placed([mesh]), start, path, np.ones(1)).passes(0))[2]
    edges = [e for e in p.surface.at if isinstance(e, tuple)]
    edge = next(e for e in edges if (mesh.vertices[list(e)][:, [0, 2]] == [-2, 2]).all())
    found = [(name, float(length)) for name, length in hinges(p, "edge", edge, 0)]
    assert ("way", 8.0) in found and ("past it", past) in found and ("approach", 2.0) in found
    assert {1.5, 2.5} == {abs(length) for name, length in found if name in ("one end", "other end")}
    assert min(abs(length) for _, length in found) == abs(past)
