"""Boxes that are made together have the bits of boxes that are made and prepared by themselves."""

from dataclasses import fields, is_dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gpu_collide as gc
from gpu_collide.geometry import boxes as module
from gpu_collide.geometry.boxes import boxes, size_of_box
from gpu_collide.geometry.preparation import prepared
from gpu_collide.pipeline.mesh_tables.layout import pieces_of, sizes_of

SIDES = st.one_of(
    st.integers(1, 8).map(float), st.integers(1, 40).map(lambda n: n / 10), st.floats(1e-3, 1e3),
    st.floats(1.0, 20.0),
)  # fmt: skip
SIZES = st.lists(st.tuples(SIDES, SIDES, SIDES), min_size=1, max_size=6)


def bits(value):
    """What can be compared: arrays by type, shape, bits and layout, through whatever holds them."""
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes(), value.flags.c_contiguous, value.flags.writeable
    if is_dataclass(value):
        return {field.name: bits(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, dict):
        return {name: bits(of) for name, of in value.items()}
    if isinstance(value, (tuple, list)):
        return [bits(of) for of in value]
    return value


def all_of(mesh):
    """All that is made of a mesh for queries, and the mesh."""
    own = {name: bits(value) for name, value in vars(mesh).items() if name != "report"}
    made = {f"pieces {near}": bits(pieces_of(mesh, near, "mixed")) for near in (False, True)}
    made |= {f"sizes {near}": bits(sizes_of(mesh, near)) for near in (False, True)}
    asks = prepared.measures_of, prepared.edge_lengths_of, prepared.solids_of, prepared.tree_of
    asks += prepared.patches_of, prepared.is_solid, prepared.is_convex
    made |= {ask.__name__: bits(ask(mesh)) for ask in asks}
    return own | made | {"report": tuple(mesh.report), "digest": mesh.digest}


def differences(sizes):
    """What differs, by name, between boxes made together and one by one."""
    together = boxes(np.array(sizes, float).reshape(-1, 3))
    told = [(all_of(mesh), all_of(gc.shapes.box(size))) for mesh, size in zip(together, sizes, strict=True)]
    return sorted({name for one, other in told for name in one.keys() | other if one[name] != other[name]})


@settings(deadline=None, max_examples=60)
@given(SIZES)
def test_all_arrays_have_the_same_bits(sizes):
    assert differences(sizes) == []


@pytest.mark.parametrize(
    "sizes",
    [
        [],
        [(1, 1, 1)],
        [(2, 1, 1), (1, 2, 1), (1, 1, 2), (4, 2, 1), (1, 2, 4)],  # halves that equal other sides
        [(3, 3, 1), (3, 1, 3), (1, 3, 3)],
        [(1e6, 1e6, 1e3), (1e-6, 1e-6, 1e-3), (1e-3, 1.0, 1.0)],  # the last that are made together
        [(1e7, 1.0, 1.0), (1e-7, 1e-7, 1e-7), (1e-9, 1.0, 1.0), (4.5, 1.8, 1.5)],  # made by themselves
        [(4.5, 1.8, 1.5)] * 3,
    ],
)  # fmt: skip
def test_sizes_by_hand(sizes):
    assert differences(sizes) == []


def test_in_the_other_precisions():
    for precision in ("single", "double"):
        one, other = boxes(np.array([[4.5, 1.8, 1.5]])) + [gc.shapes.box((4.5, 1.8, 1.5))]
        assert bits(pieces_of(one, True, precision)) == bits(pieces_of(other, True, precision))


def test_usual_sizes_are_made_together(monkeypatch):
    boxes(np.array([[4.5, 1.8, 1.5]]))  # the template
    monkeypatch.setattr(module, "box", lambda size: pytest.fail("made by itself"))
    assert len(boxes(np.array([[4.6, 1.8, 1.5], [5.0, 2.0, 1.75]]))) == 2


def test_a_box_is_known_by_its_size():
    (mesh,) = boxes(np.array([[4.5, 1.8, 1.5]]))
    assert size_of_box(mesh).tolist() == [4.5, 1.8, 1.5]
    assert size_of_box(gc.shapes.box(2.0)).tolist() == [2.0, 2.0, 2.0]
    others = [
        gc.shapes.icosphere(0), mesh.flip(), gc.Mesh(mesh.vertices, mesh.faces, two_sided=True),
        gc.Mesh(mesh.vertices + [0, 0, 1], mesh.faces), gc.Mesh(-mesh.vertices, mesh.flip().faces),
    ]  # fmt: skip
    assert [size_of_box(other) for other in others] == [None] * len(others)
