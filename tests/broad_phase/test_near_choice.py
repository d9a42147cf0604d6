"""Which pairs look at near faces by themselves: with a mesh of very many faces, or of many and far wider."""

from types import SimpleNamespace

import numpy as np

import gpu_collide as gc
from gpu_collide.backends import sources
from gpu_collide.pipeline.narrow_phase.plan import KINDS, LIMITS, Plan, kinds_of, near_bits, near_pairs

ALL = np.stack(np.meshgrid(np.arange(5), np.arange(5), indexing="ij"), axis=-1).reshape(-1, 2)


class Options:
    features, candidates, refine, precision = "auto", "auto", "exact", "mixed"


def some():
    """A box, a ball of many faces, a box far smaller, a ball of very many faces, a box four times as wide."""
    box, ball = gc.shapes.box(), gc.shapes.icosphere(3)
    dense = gc.shapes.torus(n_major=100, n_minor=90)
    return [box, ball, gc.shapes.box(0.1), dense, gc.shapes.box(8.0)]


def test_pairs_by_faces_and_width():
    near = near_bits(some(), Options)
    found = near_pairs(near, ALL).reshape(5, 5)
    expected = np.zeros((5, 5), bool)
    expected[3] = expected[:, 3] = True
    expected[1, 2] = expected[2, 1] = True
    assert np.array_equal(found, expected)
    few = near_bits([some()[0], some()[2]], Options)
    assert not few.any() and not near_pairs(few, ALL[:2] % 2).any()


def test_options_that_settle_it():
    class Asked(Options):
        features = "near"

    class Rows(Options):
        candidates = "raster"

    assert near_pairs(near_bits(some(), Asked), ALL).all()
    assert not near_pairs(near_bits(some(), Rows), ALL).any()


def test_devices_choose_the_same(backend):
    """g05_near, which chooses where data stay on a device; of whole meshes it knows the small ones too."""
    near = near_bits(some(), Options)
    small = np.array([True, False, True, True, True])  # as if the fourth were: its pairs look at near faces
    item = np.concatenate([np.arange(len(ALL))[:, None], ALL], axis=1).astype(np.int32)
    todo = np.append(np.arange(len(ALL), dtype=np.int32), np.int32(-1))
    out = {kind: backend.fill(backend.empty(len(todo), np.uint8), 7) for kind in KINDS}
    kernel = backend.module(sources.program_of("g05_near"), "mixed").kernel("g05_near")
    backend.launch_items(
        kernel, len(todo), n_todo=len(todo), todo_in=backend.to_device(todo), small_out=out["small"],
        near_out=out["near"], whole_out=out["whole"], items_in=backend.to_device(item.reshape(-1)),
        near_in=backend.to_device(near), small_in=backend.to_device(small.astype(np.uint8)),
    )  # fmt: skip
    chosen = near_pairs(near, ALL)
    both = small[ALL].all(axis=1) & ~chosen
    assert 0 < both.sum() < (~chosen).sum()
    assert backend.to_host(out["near"]).tolist() == [*chosen, 0]
    assert backend.to_host(out["small"]).tolist() == [*both, 0]
    assert backend.to_host(out["whole"]).tolist() == [*~(chosen | both), 0]


def test_kinds_that_there_may_be():
    """Of all pairs of these meshes; a list is made for no other kind."""
    cars = [gc.shapes.car(), gc.shapes.box()]
    wanted = {
        ("small",): cars, ("near",): [some()[3]], ("whole",): [some()[1]],
        ("small", "whole"): [*cars, some()[1]], ("small", "near"): [*cars, some()[3]], KINDS: some(),
    }  # fmt: skip
    for kinds, meshes in wanted.items():
        assert kinds_of(near_bits(meshes, Options), np.array([len(m.faces) <= 32 for m in meshes])) == kinds


#: Meshes by edges and faces.
SIZES = ((10, 4), (400_000, 1000), (10, 131068), (10, 131069))


def plan_of():
    edges, faces = np.array(SIZES, np.int64).T
    counts, none = np.stack([edges, edges, faces], axis=1), np.zeros(len(edges), np.uint8)
    options = SimpleNamespace(features="auto", candidates="auto", refine="exact", precision="mixed")
    return Plan(
        options,
        LIMITS,
        counts,
        np.ones(len(edges)),
        none,
        none,
        False,
        False,
        False,
        True,
        1,
        None,
        False,
        True,
    )


def test_whose_walks_may_be_given_up():
    """Not those of meshes of too many faces."""
    asked = np.array([(1, 1), (0, 1), (0, 2), (2, 0), (0, 3)])
    assert plan_of().may_give_up(asked).tolist() == [True] * 4 + [False]
