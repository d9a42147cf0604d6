"""Hostile meshes of a seeded generator: soups, slivers, fans, doubles, sheets, far offsets, extreme sizes."""

import numpy as np

import gpu_collide as gc
from tests.oracle import shapes
from tests.oracle.scenes_whole import tent


def triangles(rng, n, whole):
    v = rng.integers(-2, 3, (3 * n, 3)).astype(float) if whole else rng.normal(size=(3 * n, 3))
    return v, np.arange(3 * n).reshape(-1, 3)


def soup(rng):
    return triangles(rng, rng.integers(1, 20), rng.random() < 0.5)


def shared(rng):
    """Faces that share vertices as chance will have it: non-manifold, open, crossing itself."""
    whole = rng.random() < 0.5
    n = rng.integers(4, 20)
    v = rng.integers(-1, 2, (n, 3)).astype(float) if whole else rng.normal(size=(n, 3))
    return v, rng.integers(0, n, (rng.integers(1, 40), 3))


def doubled(rng):
    """Every face twice, and once more turned round."""
    v, f = triangles(rng, rng.integers(1, 8), rng.random() < 0.5)
    return v, np.concatenate([f, f, f[:, ::-1]])


def slivers(rng):
    v, f = triangles(rng, rng.integers(1, 10), False)
    share, width = rng.uniform(0, 1, (len(f), 1)), 10.0 ** rng.uniform(-13, -3)
    v[2::3] = v[0::3] + (v[1::3] - v[0::3]) * share + width * rng.normal(size=(len(f), 3))
    return v, f


def fan(rng):
    """Many faces around one edge."""
    k = rng.integers(1, 12)
    angle = rng.uniform(0, 2 * np.pi, k) if rng.random() < 0.5 else np.arange(k) * np.pi / 6
    ring = np.stack([np.cos(angle), np.sin(angle), 0 * angle], 1)
    v = np.concatenate([[[0, 0, -1.0], [0, 0, 1.0]], ring])
    return v, np.stack([np.zeros(k, int), np.ones(k, int), np.arange(2, k + 2)], 1)


def flat(rng):
    v, f = triangles(rng, rng.integers(1, 10), rng.random() < 0.5)
    v[:, 2] = 0
    return v, f


def denormal(rng):
    v, f = triangles(rng, rng.integers(1, 8), True)
    return np.where(v == 0, rng.choice([0.0, -0.0, 5e-324, -5e-324, 1e-310, 1e-200], v.shape), v), f


def needle(rng):
    v = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 10.0 ** rng.uniform(-8, 8)]])
    return v, np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])


def outlier(rng):
    v, f = triangles(rng, rng.integers(1, 8), False)
    v[0] *= 10.0 ** rng.uniform(0, 8)
    return v, f


def solid(rng):
    """A shape of the oracle, as it is, inside out, or with sides of very different lengths."""
    kind = rng.integers(0, 8)
    mesh = (
        shapes.box, shapes.car, shapes.l_block, shapes.pit, lambda: shapes.star(rng),
        lambda: shapes.hull(rng, 8), lambda: shapes.torus(n_major=6, n_minor=4),
        lambda: shapes.box(tuple(10.0 ** rng.uniform(-6, 2, 3))),
    )[kind]()  # fmt: skip
    faces = np.split(mesh.face_vertices, mesh.face_start[1:-1])
    if rng.random() < 0.15:
        faces = [loop[::-1] for loop in faces]
    return mesh.vertices, [loop.tolist() for loop in faces]


def sheet(rng):
    mesh = tent(float(rng.integers(-1, 2)), rng.random() < 0.5)
    return mesh.vertices, [loop.tolist() for loop in np.split(mesh.face_vertices, mesh.face_start[1:-1])]


KINDS = (soup, shared, doubled, slivers, fan, flat, denormal, needle, outlier, solid, solid, solid, sheet)


def hostile(rng):
    """A mesh that `Mesh` accepts; what it refuses is drawn again."""
    for _ in range(50):
        v, f = KINDS[rng.integers(0, len(KINDS))](rng)
        v, chance = np.asarray(v, float), rng.random()
        if chance < 0.25:
            v = v * 10.0 ** rng.uniform(-17.5, 17.5)
        elif chance < 0.3:
            v = v * 10.0 ** rng.choice([-18.0, -17.9, 17.0, 17.5])
        elif chance < 0.4:
            v = v + 10.0 ** rng.uniform(0, 9)
        elif chance < 0.45:
            v = v.astype(np.float32)
        options = {
            "two_sided": bool(rng.random() < 0.3), "merge_vertices": bool(rng.random() < 0.3),
            "merge_coplanar": bool(rng.random() < 0.2), "triangulate": bool(rng.random() < 0.2),
        }  # fmt: skip
        try:
            with np.errstate(all="ignore"):
                return gc.Mesh(v, f, **options)
        except ValueError:
            continue
    return gc.shapes.box()
