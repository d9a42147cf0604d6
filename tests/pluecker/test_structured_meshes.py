"""Meshes in which edges are not alike: edges of three faces, of none that count, single faces, blades."""

import numpy as np
import pytest

import gpu_collide as gc
from tests.pluecker._crowds import at, still
from tests.support.seeds import everyday

BOOK = [[0, 0, 0], [0, 0, 1], [1, 0, 0], [-1, 1, 0], [-1, -1, 0]]
PAGES = [[0, 1, 2], [0, 1, 3], [0, 1, 4]]
SQUARE = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]
TRIANGLE = np.eye(3)
SOLID = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
SIDES = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]]


def two_cells():
    """Two unit cells that share an edge, of which there are four faces."""
    box = gc.shapes.box()
    faces = np.array(box.faces)
    far = box.vertices + [1, 1, 0]
    points, number = np.unique(np.concatenate([box.vertices, far]), axis=0, return_inverse=True)
    number = number.reshape(-1)
    return gc.Mesh(points, [*number[faces].tolist(), *number[faces + 8].tolist()])


MESHES = {
    "box": gc.shapes.box(),
    "cells at an edge": two_cells(),
    "book": gc.Mesh(BOOK, PAGES),
    "book of two sides": gc.Mesh(BOOK, PAGES, two_sided=True),
    "triangle": gc.Mesh(TRIANGLE, [[0, 1, 2]]),
    "triangle of two sides": gc.Mesh(TRIANGLE, [[0, 1, 2]], two_sided=True),
    "blade": gc.Mesh(TRIANGLE, [[0, 1, 2], [0, 2, 1]]),
    "twice the same": gc.Mesh(TRIANGLE, [[0, 1, 2], [0, 1, 2]]),
    "apart": gc.Mesh(np.concatenate([TRIANGLE, TRIANGLE + 2]), [[0, 1, 2], [3, 4, 5]], two_sided=True),
    "at a corner": gc.Mesh([*SQUARE, [-1, 0, 0], [0, -1, 1]], [[0, 1, 2, 3], [0, 4, 5]]),
    "turned over": gc.Mesh(SQUARE, [[0, 1, 2], [0, 3, 2]]),
    "every edge of four faces": gc.Mesh(SOLID, SIDES * 2, two_sided=True),
}


def asked(movers, ends, near, world):
    """All three verbs, and what is near."""
    p, down = gc.pluecker, [0, 0, -8]
    yield "translate", lambda kind: p.translate(movers, world, down, check_start=True, backend=kind)
    yield "rotate", lambda kind: p.rotate(movers, world, 3.0, [0, 1, 0.2], [3, 0, 2], backend=kind)
    if ends is not None:
        yield "move", lambda kind: p.move(ends, world, backend=kind)
        yield "contacts", lambda kind: p.contacts(near, world, 0.1, backend=kind)


@pytest.mark.parametrize("part", everyday(1, 3))
@pytest.mark.parametrize("name", [*MESHES, "points"])
def test_the_reference_takes_what_the_kernels_take(name, part):
    """It asked for edges of which no face counts with an array that has no such shape. Every day each mesh
    moves against a third of the others, and a third moves against it."""
    start, turned = [0.2, 0.3, 4], [[0.8, 0.6, 0, 0]]
    first = (part - [*MESHES, "points"].index(name)) % 3
    for other, obstacle in [*MESHES.items()][first::3]:
        if name == "points":
            movers, ends, near = np.array([start]), None, None
        else:
            mesh = MESHES[name]
            movers, near = still(mesh, start), still(mesh, [0, 0, 1.001])
            ends = gc.Bodies(mesh, None, movers.start, at([0.2, 0.1, -4], turned))
        for verb, ask in asked(movers, ends, near, still(obstacle, [0.0, 0, 0])):
            one, two = ask("cpu"), ask("reference")
            assert np.array_equal(one.status, two.status), (other, verb)
            if verb == "contacts":
                assert len(one.kind) == len(two.kind), other
            else:
                assert np.abs(one.fraction - two.fraction).max() < 1e-9, (other, verb)  # measured: 3e-15
