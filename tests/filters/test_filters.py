"""All filters together: the same contacts whichever run."""

import itertools

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import gpu_collide as gc
from gpu_collide import scenes
from gpu_collide._options import AUTO_FILTERS
from gpu_collide.backends import declarations, sources
from gpu_collide.pipeline.narrow_phase.plan import FILTERS
from tests.acceptance import matrix
from tests.filters import _cases
from tests.narrow_phase._launch import cpu
from tests.support.shares import in_turn

pytestmark = pytest.mark.shared_bits("tests/acceptance/test_stored_bits.py")

CHOICES = ["auto", ("spheres",), ("boxes",), ("plane",), ("plane", "boxes", "spheres")]


def run(of, backend, **options):
    return gc.collide(of.bodies(), of.pairs, backend=backend, **options).to_numpy()


@pytest.mark.parametrize("name", ("misses", "swings", "drills", "stills", "axis_through_both", "lattice"))
def test_contacts_have_the_same_bits_whichever_filters_run(name, backend):
    of = _cases.scene(name, 2000 if name in _cases.OWN else 120)
    of = of.take(np.arange(120))
    for options in ({}, {"precision": "single"}, {"min_properness": -1.0, "check_start": True}):
        plain = run(of, "cpu", tuning=gc.Tuning(filters="none"), **options)
        for filters in CHOICES:
            found = run(of, backend.kind, tuning=gc.Tuning(filters=filters), **options)
            assert not matrix.same_bits(plain, found), (filters, options)


@pytest.mark.parametrize("which", FILTERS)
@pytest.mark.parametrize("name", (*_cases.HARD, *_cases.OWN))
def test_settles_nothing_that_touches(name, which, backend):
    n = 2000 if name in _cases.OWN else 120
    for precision in in_turn(backend, ("mixed", "double", "single"), len(name)):
        assert not len(_cases.lost(which, backend, name, n, precision)), precision


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    seed=st.integers(0, 2**32 - 1),
    turn=st.sampled_from([0.0, 1e-9, 1e-3, 0.3, 1.5, np.pi]),
    spread=st.floats(0.0, 3.0),
    out=st.floats(0.0, 6.0),
)
def test_settles_nothing_that_touches_at_random(seed, turn, spread, out, backend):
    for of in (_cases.misses(seed, 12, turn, spread=spread), _cases.swings(seed, 12, turn, out)):
        hit = np.isfinite(_cases.every_contact(of).toi)
        for which in FILTERS:
            assert not (hit & ~_cases.keeps(which, backend, of)).any(), which


@pytest.mark.parametrize("refine", ["segments", "pixels"])
def test_approximate_contacts_have_the_same_bits(refine, backend):
    of = _cases.misses(5, 60, turn=0.5)
    plain = run(of, backend.kind, tuning=gc.Tuning(filters="none"), refine=refine)
    assert len(plain)
    for filters in CHOICES:
        assert not matrix.same_bits(
            plain, run(of, backend.kind, tuning=gc.Tuning(filters=filters), refine=refine)
        )


def test_pieces_have_the_same_bits_and_the_same_counts(backend):
    of = _cases.misses(6, 400, turn=0.5)
    names = ("spheres", "boxes", "plane")
    whole = run(of, backend.kind, tuning=gc.Tuning(filters=names), report=True)
    pieces = run(of, backend.kind, tuning=gc.Tuning(filters=names), report=True, max_bytes=6 << 20)
    assert not matrix.same_bits(whole, pieces)
    for one, two in zip(whole.report, pieces.report, strict=True):
        assert (one.name, one.got, one.settled, one.hits) == (two.name, two.got, two.settled, two.hits)


def test_invalid_pairs_pass_through(backend):
    of = _cases.misses(8, 40, turn=0.5)
    bodies = of.bodies()
    position = np.array(bodies.start.position)
    position[of.pairs[::5, 1]] = np.nan
    bad = gc.Bodies(
        bodies.meshes, bodies.shape, gc.Poses.from_quat_wxyz(position, bodies.start.unit_wxyz), bodies.end
    )
    plain = gc.collide(bad, of.pairs, tuning=gc.Tuning(filters="none"), backend=backend.kind).to_numpy()
    assert (plain.status == gc.Status.INVALID_INPUT).sum() == 8
    for filters in CHOICES:
        assert not matrix.same_bits(
            plain,
            gc.collide(bad, of.pairs, tuning=gc.Tuning(filters=filters), backend=backend.kind).to_numpy(),
        )


def test_the_rows_of_a_report_hang_together(backend):
    """What one test leaves the next one gets, in the order asked for; those that touch come through."""
    of = _cases.misses(9, 300, turn=0.5)
    hits = int((run(of, backend.kind).toi < np.inf).sum())
    for names in itertools.permutations(FILTERS):
        report = run(of, backend.kind, tuning=gc.Tuning(filters=names), report=True).report
        assert [row.name for row in report] == [*names, "narrow phase"]
        assert report.rows[0].got == 300
        for one, two in itertools.pairwise(report):
            assert one.passed == two.got >= hits
        last = report["narrow phase"]
        assert (last.settled, last.hits) == (last.got, hits)


def test_the_farther_apart_the_more_is_settled(backend):
    shares = []
    for touch in (0.4, 0.1, 0.02):
        bodies, pairs = scenes.random_impacts(gc.shapes.car(), n=400, seed=1, touch_share=touch)
        found = gc.collide(bodies, pairs, report=True, backend=backend.kind).to_numpy()
        left = found.report["narrow phase"].got
        shares.append(1 - left / 400)
        assert left <= 2.5 * found.report["narrow phase"].hits + 4
    assert shares == sorted(shares) and shares[0] > 0.2 and shares[2] > 0.9


def test_empty_batches(backend):
    of = _cases.misses(9, 3)
    found = gc.collide(of.bodies(), np.zeros((0, 2), int), backend=backend.kind, report=True).to_numpy()
    assert len(found) == 0 and all(row.got == 0 for row in found.report)


def test_the_reference_gives_the_same_with_its_own_filters():
    of = _cases.misses(10, 12, turn=1.0)
    plain = run(of, "reference", tuning=gc.Tuning(filters="none"), check_start=True)
    for filters in CHOICES:
        found = run(of, "reference", tuning=gc.Tuning(filters=filters), check_start=True, report=True)
        assert not matrix.same_bits(plain, found)
        assert found.report["narrow phase"].got < 12


def test_each_filter_is_a_stage_with_an_entry_point():
    stages = sorted(path.stem for path in (sources.kernels_dir() / "filters").glob("f[0-9][0-9]_*.c"))
    assert list(FILTERS.values()) == stages and set(AUTO_FILTERS) <= set(FILTERS)
    assert set(stages) <= set(declarations.parse(sources.source()))


@pytest.mark.backends("opencl", "cuda")
@pytest.mark.parametrize("precision", ["mixed", "double", "single"])
def test_backends_have_the_same_bits(backend, precision):
    for name in (*_cases.OWN, "random_cars", "axis_through_both", "lattice"):
        of = _cases.scene(name, 60)
        for each in ("spheres", "boxes", "plane"):
            one, other = (_cases.keeps(each, b, of, precision) for b in (backend, cpu()))
            assert np.array_equal(one, other), (each, name)
