"""``hits="first"`` is the first row of ``hits="all"``: with buffers, for spheres that are hardly more than
points, and from so far away that all lengths are rounding."""

import numpy as np
import pytest

import gpu_collide as gc
from tests.acceptance import sweep_order
from tests.sweep._scenes import BOX, still, sweeps

pytestmark = pytest.mark.shared_bits("tests/acceptance/test_stored_bits.py")

NAMES = ("time", "point", "normal", "body", "face", "feature", "number", "sphere")


def same_first(function, *args, **options):
    """Asserts that it is; returns how many are touched."""
    first = function(*args, **options)
    every = function(*args, hits="all", **options)
    assert (first.status == every.status).all()
    at = every.offsets[:-1][first.hit]
    for name in NAMES:
        assert (getattr(every, name)[at] == getattr(first, name)[first.hit]).all(), name
    return len(at)


@pytest.mark.parametrize("buffer", [0.0, 0.001, 0.05, 1.0, 1e6])
@pytest.mark.parametrize("two_sided", [False, True])
def test_with_a_buffer_what_is_touched_first_is_first(backend, buffer, two_sided):
    """A later touch at a slant has the earlier time less the buffer: rows were in the order of those."""
    rng = np.random.default_rng(3)
    start = rng.normal(size=(2000, 3)) * 2
    path = (rng.uniform(-0.6, 0.6, (2000, 3)) - start) * 2
    world = still(BOX, [0, 0, 0])
    options = {"buffer": buffer, "two_sided": two_sided}
    told = same_first(gc.sweep.spheres, start, path, 0.1, world, backend=backend.kind, **options)
    some = start[:200], path[:200], 0.1, world
    same_first(gc.sweep.spheres, *some, backend="reference", **options)
    assert told > 1900
    ours, theirs = (
        gc.sweep.spheres(*some, hits="all", backend=kind, **options) for kind in (backend.kind, "reference")
    )
    assert (ours.number == theirs.number).all() and np.abs(ours.time - theirs.time).max() < 1e-9


@pytest.mark.parametrize("precision", ["mixed", "single"])
def test_all_forms_with_a_buffer(backend, precision):
    for function, (*args, world), options in sweeps(11, 60):
        for buffer in (0.02, 0.5):
            same_first(
                function, *args, world, buffer=buffer, precision=precision, backend=backend.kind, **options
            )


def test_times_with_a_buffer_are_those_without_less_what_it_takes(backend):
    """Down onto a floor at a slant: the face is touched at 0.5, and kept away from along its normal."""
    world = still(gc.shapes.box((8, 8, 2)), [0, 0, 0])
    plain, kept = (
        gc.sweep.spheres([0, 0, 3.0], [1.0, 0, -2], 1.0, world, buffer=b, hits="all", backend=backend.kind)
        for b in (0.0, 0.25)
    )
    assert len(plain) == len(kept) == 1
    assert np.abs([plain.time[0] - 0.5, kept.time[0] - 0.375]).max() < 1e-15
    assert (plain.point == kept.point).all()


@pytest.mark.parametrize("buffer", sweep_order.BUFFERS)
@pytest.mark.parametrize("family", ["spheres", "whole_spheres", "clusters", "moving", "sunk", "tiny_radii"])
def test_families_with_buffers_of_all_sizes(backend, family, buffer):
    for precision in ("mixed", "single"):
        tally = sweep_order.Tally()
        casts = sweep_order.FAMILIES[family]([3, 1], 100)
        sweep_order.compare(casts, tally, buffer, precision, backend=backend.kind)
        assert not tally.wrong, tally


def test_the_report_would_see_another_order(monkeypatch, backend):
    """Rows in the order of their times less the buffer."""
    plain = sweep_order.run

    def other(casts, hits, **options):
        answer, found = plain(casts, hits=hits, **options)
        if hits == "all":
            order = np.lexsort([found.time, found.query])
            rows = {n: getattr(found, n)[order] for n in (*NAMES, "query")}
            found = gc.sweep.Hits(status=found.status, offsets=found.offsets, **rows)
        return answer, found

    monkeypatch.setattr(sweep_order, "run", other)
    tally = sweep_order.Tally()
    casts = sweep_order.FAMILIES["spheres"]([3, 1], 200)
    sweep_order.compare(casts, tally, 0.05, "mixed", backend=backend.kind)
    assert tally.other > 0


def _aimed(mesh, rng, n, far, on):
    """Paths from afar at faces; `on` below 1: at their corners and edges."""
    corners = np.array([mesh.vertices[list(face)] for face in mesh.faces])[rng.integers(mesh.n_faces, size=n)]
    target = (corners * rng.dirichlet(np.full(corners.shape[1], on), n)[:, :, None]).sum(axis=1)
    way = rng.normal(size=(n, 3))
    start = target + far * way / np.linalg.norm(way, axis=1)[:, None]
    return start, (target - start) * 1.5


@pytest.mark.parametrize("radius", [0.0, 1e-6, 2e-5, 5e-5])
def test_of_points_in_single_precision_the_least_of_all_is_first(backend, radius):
    """A sphere that is hardly more than a point was told to touch a face before it was over it; a tree left
    that out where another one came first."""
    rng, mesh = np.random.default_rng(5), gc.shapes.torus()
    start, path = _aimed(mesh, rng, 4000, 6.0, 0.05)
    told = same_first(
        gc.sweep.spheres, start, path, radius, still(mesh, [0, 0, 0]), precision="single", two_sided=True,
        backend=backend.kind,
    )  # fmt: skip
    assert told > 3000


@pytest.mark.parametrize("precision", ["mixed", "double"])
@pytest.mark.parametrize("far", [1e9, 1e12, 1e13])
def test_from_so_far_that_lengths_are_rounding_the_least_of_all_is_first(backend, precision, far):
    rng, mesh = np.random.default_rng(5), gc.shapes.torus()
    for radius in (0.0, 1e-3):
        start, path = _aimed(mesh, rng, 4000, far, 1.0)
        told = same_first(
            gc.sweep.spheres, start, path, radius, still(mesh, [0, 0, 0]), precision=precision,
            backend=backend.kind,
        )  # fmt: skip
        assert told > 3000
