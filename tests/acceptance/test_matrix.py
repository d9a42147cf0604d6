"""Nothing missed, nothing invented: `collide` against the oracle, family by family.

The everyday sample is here; the whole matrix is marked slow and is also a command (`python -m
tests.matrix_report`).
"""

import functools

import pytest

import gpu_collide as gc
from tests import oracle
from tests.acceptance import matrix
from tests.oracle import scenes


@functools.cache
def family_run(family):
    scene = matrix.make(family, matrix.SAMPLE[family])
    return scene, scene.bodies(), matrix.expected(family, matrix.SAMPLE[family])


@functools.cache
def first_run(family, backend):
    scene, bodies, _ = family_run(family)
    return gc.collide(bodies, scene.pairs, backend=backend).to_numpy()


@pytest.mark.parametrize("family", scenes.FAMILIES)
def test_sample_against_the_oracle(family, backend):
    scene, _, answer = family_run(family)
    report = oracle.check(first_run(family, backend.kind), scene, expected=answer)
    assert report.ok, report
    assert report.required + report.groups > 0


@pytest.mark.parametrize(
    "setting",
    [
        dict(precision="double"),
        dict(tuning=gc.Tuning(candidates="pairs")),
        dict(tuning=gc.Tuning(candidates="raster"), resolution=1),
        dict(tuning=gc.Tuning(candidates="raster"), resolution=12, precision="double"),
    ],
    ids=["double", "pairs", "raster-1", "raster-12-double"],
)
@pytest.mark.shared_bits("tests/acceptance/test_invariance.py")
@pytest.mark.parametrize("family", scenes.FAMILIES)
def test_same_bits_whatever_proposes_the_candidates(family, setting, backend):
    scene, bodies, answer = family_run(family)
    found = gc.collide(bodies, scene.pairs, backend=backend.kind, **setting).to_numpy()
    differ = matrix.same_bits(first_run(family, backend.kind), found)
    assert not differ, (differ, str(oracle.check(found, scene, expected=answer)))


@pytest.mark.parametrize(
    "family", ["random_boxes", "lattice", "resting", "axis_through_a", "to_180", "tiny_angles"]
)
def test_reference_against_the_oracle(family):
    """The slow second opinion inside the library, on as many pairs as seconds allow."""
    scene, answer = matrix.part(family, 20), matrix.expected_of_part(family, 20)
    found = gc.collide(scene.bodies(), scene.pairs, backend="reference")
    report = oracle.check(found, scene, expected=answer)
    assert report.ok, report


@pytest.mark.parametrize("family", ["random_cars", "random_nonconvex", "lattice", "open_meshes", "two_sided"])
def test_every_contact_however_improper(family, backend):
    """With the threshold at -1 nothing is filtered: every contact that facing allows is there."""
    scene = matrix.make(family, 80)
    found = gc.collide(scene.bodies(), scene.pairs, backend=backend.kind, min_properness=-1.0).to_numpy()
    report = oracle.check(found, scene, expected=matrix.expected(family, 80, min_properness=-1.0))
    assert report.ok, report


@pytest.mark.slow
@pytest.mark.parametrize("family", scenes.FAMILIES)
def test_whole_matrix(family, backend):
    report, _, differing = matrix.run_family(family, matrix.FULL[family], [backend.kind])
    assert report.ok, report
    assert not differing, differing
