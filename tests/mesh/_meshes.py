"""Meshes that have something of everything: to be cut into patches and put into trees."""

import numpy as np

import gpu_collide as gc
from tests.api._meshes import grid


def soup(n=110):
    """Triangles between random points: edges and vertices of many faces, parts anywhere."""
    rng = np.random.default_rng(5)
    return gc.Mesh(rng.normal(size=(40, 3)), [rng.choice(40, 3, replace=False) for _ in range(n)])


def fan():
    """Forty faces around one edge."""
    points = np.random.default_rng(6).normal(size=(42, 3))
    return gc.Mesh(points, [[0, 1, k] for k in range(2, 42)] + [[0, k, 1] for k in range(2, 20)])


def prism(n=50):
    """Two large polygons and many quads; a vertex of no face."""
    turn = 2 * np.pi * np.arange(n) / n
    ring = np.column_stack([np.cos(turn), np.sin(turn), 0 * turn])
    sides = [[k, (k + 1) % n, n + (k + 1) % n, n + k] for k in range(n)]
    faces = [list(range(n))[::-1], list(range(n, 2 * n)), *sides]
    return gc.Mesh(np.concatenate([ring, ring + [0, 0, 1], [[0, 0, 3]]]), faces)


def meshes():
    wavy = gc.Mesh(*grid(9, lambda x, y: np.sin(x) + 0.3 * y), two_sided=True)
    return [gc.shapes.box(), soup(), gc.shapes.icosphere(2), fan(), wavy, prism(), gc.shapes.car()]
