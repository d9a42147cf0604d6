"""Families of hostile casts: seed and number to `Casts`. Whole numbers wherever a family is about borders."""

import numpy as np

from tests.oracle import shapes
from tests.oracle.passages import fan, hull, star
from tests.oracle.scenes_base import random_quat
from tests.oracle.solid import apply, quat_mul, rotation_matrix
from tests.oracle.sweep_casts import (
    Casts,
    cube,
    floor,
    inside_out,
    octahedron,
    placed,
    prism_of,
    slivers,
    steps,
    triangulated,
    whole_l,
)
from tests.support import seeds

FAMILIES = {}


def family(make):
    FAMILIES[make.__name__] = make
    return make


def _rng(seed):
    return seeds.generator(seed)


def _ways(rng, n, targets, distance, beyond=1.5):
    """Starts and paths towards targets from all around."""
    way = rng.normal(size=(n, 3))
    way /= np.linalg.norm(way, axis=1)[:, None]
    return targets - distance * way, beyond * distance * way


def _some_world(rng, spread=1.5):
    meshes = [hull(rng, 16), star(rng), whole_l(), shapes.sheet(), shapes.half_box()]
    meshes[2].vertices = meshes[2].vertices / 3
    m = 6
    return meshes, placed(
        meshes, rng.normal(size=(m, 3)) * spread, random_quat(rng, m), rng.integers(0, 5, m)
    )


def _through(rng, n, name, radius=None, **more):
    meshes, bodies = _some_world(rng)
    targets = bodies[1][rng.integers(0, len(bodies[1]), n)] + 0.6 * rng.normal(size=(n, 3))
    start, path = _ways(rng, n, targets, rng.uniform(0.5, 5, (n, 1)))
    return Casts(name, meshes, bodies, start, path, radius, **more)


@family
def rays(seed, n):
    return _through(_rng(seed), n, "rays")


@family
def rays_two_sided(seed, n):
    return _through(_rng(seed), n, "rays_two_sided", two_sided=True)


@family
def spheres(seed, n):
    rng = _rng(seed)
    return _through(rng, n, "spheres", 10 ** rng.uniform(-2, 0, n))


@family
def spheres_two_sided(seed, n):
    rng = _rng(seed)
    return _through(rng, n, "spheres_two_sided", 10 ** rng.uniform(-2, 0, n), two_sided=True)


@family
def ellipsoids(seed, n):
    rng = _rng(seed)
    return _through(rng, n, "ellipsoids", 10 ** rng.uniform(-1.5, 0, (n, 3)), turned=random_quat(rng, n))


@family
def needles(seed, n):
    """Flat and long ones, 1 : 1000."""
    rng = _rng(seed)
    radii = np.where(rng.random((n, 3)) < 0.5, 1e-3, 1.0) * rng.uniform(0.5, 1, (n, 3))
    return _through(rng, n, "needles", radii, turned=random_quat(rng, n))


@family
def clusters(seed, n):
    rng = _rng(seed)
    groups = []
    for _ in range(n):
        k = rng.integers(1, 6)
        groups.append((rng.normal(size=(k, 3)) * 0.3, rng.uniform(0.02, 0.3, k)))
    return _through(rng, n, "clusters", groups=groups)


@family
def moving(seed, n):
    """Bodies that are carried meanwhile, some as the balls are."""
    rng = _rng(seed)
    casts = _through(rng, n, "moving", 10 ** rng.uniform(-2, 0, n))
    casts.carried = rng.normal(size=(len(casts.bodies[0]), 3)) * 2
    casts.carried[0] = 0
    same = rng.random(n) < 0.2
    casts.path[same] = casts.carried[rng.integers(0, len(casts.carried), same.sum())]
    return casts


# ---- whole numbers: everything that can coincide does ----

WHOLE = (cube(4), whole_l(), octahedron(), triangulated(cube(4)), inside_out(cube(8)))


def _whole(rng, n, mesh, radius=True, reach=6):
    start, end = rng.integers(-reach, reach + 1, (2, n, 3))
    r = rng.integers(0, 5, n) / 2 if radius else None
    return start, end - start, r


def _whole_world(rng):
    mesh = WHOLE[rng.integers(len(WHOLE))]
    if rng.random() < 0.3:
        position = np.array([[0, 0, 0], [8, 0, 0], [4, 6, 0]])
        return [mesh], placed([mesh], position, shape=[0, 0, 0])
    return [mesh], placed([mesh])


@family
def whole_rays(seed, n):
    rng = _rng(seed)
    meshes, bodies = _whole_world(rng)
    start, path, _ = _whole(rng, n, meshes[0])
    return Casts("whole_rays", meshes, bodies, start, path, two_sided=rng.random() < 0.3)


@family
def whole_spheres(seed, n):
    rng = _rng(seed)
    meshes, bodies = _whole_world(rng)
    start, path, r = _whole(rng, n, meshes[0])
    return Casts("whole_spheres", meshes, bodies, start, path, r, two_sided=rng.random() < 0.3)


@family
def whole_ellipsoids(seed, n):
    rng = _rng(seed)
    meshes, bodies = _whole_world(rng)
    start, path, _ = _whole(rng, n, meshes[0])
    radii = 2.0 ** rng.integers(-2, 2, (n, 3))
    quarter = np.array([[1, 0, 0, 0], [1, 1, 0, 0], [1, 0, 1, 0], [1, 1, 1, 1], [0, 1, 0, 0]])
    quat = quarter[rng.integers(0, 5, n)].astype(float)
    quat /= np.linalg.norm(quat, axis=1)[:, None]
    return Casts("whole_ellipsoids", meshes, bodies, start, path, radii, quat)


@family
def whole_moving(seed, n):
    rng = _rng(seed)
    meshes, bodies = _whole_world(rng)
    start, path, r = _whole(rng, n, meshes[0])
    carried = rng.integers(-4, 5, (len(bodies[0]), 3)).astype(float)
    return Casts("whole_moving", meshes, bodies, start, path, r, carried=carried)


def borders(mesh, rng, n):
    """Corners, middles and other places of edges, exactly representable."""
    loops = [mesh.face_vertices[i:j] for i, j in zip(mesh.face_start, mesh.face_start[1:], strict=False)]
    edges = np.array([e for x in loops for e in zip(x, np.roll(x, -1), strict=True)])
    e = edges[rng.integers(0, len(edges), n)]
    share = rng.choice([0.0, 0.25, 0.5, 0.75, 1.0], n)[:, None]
    return mesh.vertices[e[:, 0]] * (1 - share) + mesh.vertices[e[:, 1]] * share


@family
def seams_rays(seed, n):
    """Aimed exactly at edges and corners."""
    rng = _rng(seed)
    meshes, bodies = [WHOLE[rng.integers(len(WHOLE))]], placed([cube()])
    target = borders(meshes[0], rng, n)
    way = rng.integers(-4, 5, (n, 3)).astype(float)
    return Casts("seams_rays", meshes, bodies, target - way, 2 * way)


@family
def seams(seed, n):
    """The centre goes exactly at an edge or a corner; radii down to nothing."""
    rng = _rng(seed)
    casts = seams_rays(seed, n)
    casts.name, casts.radius = "seams", rng.choice([0.0, 2.0**-30, 0.125, 0.5, 1.0], n)
    return casts


@family
def floor_seams(seed, n):
    """Down onto the edges and corners of a floor of triangles, and along it at exactly R."""
    rng = _rng(seed)
    mesh = floor(polygons=rng.random() < 0.5)
    r = rng.choice([0.0, 0.25, 1.0], n)
    start = np.column_stack((rng.integers(-8, 9, (n, 2)) / 4, r + rng.choice([0, 0.5, 2], n)))
    path = np.column_stack((rng.integers(-3, 4, (n, 2)), rng.choice([0, 0, -1, -3], n)))
    return Casts("floor_seams", [mesh], placed([mesh]), start, path, r)


@family
def in_planes(seed, n):
    """Paths within the plane of a face, or along it at exactly R, towards and past its edges."""
    rng = _rng(seed)
    mesh = [cube(4), whole_l(), triangulated(cube(4)), floor()][rng.integers(4)]
    r = rng.choice([0.0, 0.5, 1.0], n)
    axis, away = rng.integers(0, 3, n), rng.choice([0.0, 1.0], n)
    start = rng.integers(-6, 7, (n, 3)).astype(float)
    path = rng.integers(-8, 9, (n, 3)).astype(float)
    side = mesh.vertices[rng.integers(0, len(mesh.vertices), n), axis]
    rows = np.arange(n)
    start[rows, axis], path[rows, axis] = side + rng.choice([-1, 1], n) * away * r, 0
    return Casts("in_planes", [mesh], placed([mesh]), start, path, r, two_sided=rng.random() < 0.3)


@family
def along_edges(seed, n):
    """Paths along the line of an edge, or beside it at exactly R."""
    rng = _rng(seed)
    mesh = [cube(4), whole_l(), octahedron()][rng.integers(3)]
    place = borders(mesh, rng, n)
    loops = [mesh.face_vertices[i:j] for i, j in zip(mesh.face_start, mesh.face_start[1:], strict=False)]
    edges = np.array([e for x in loops for e in zip(x, np.roll(x, -1), strict=True)])
    e = edges[rng.integers(0, len(edges), n)]
    a, way = mesh.vertices[e[:, 0]], mesh.vertices[e[:, 1]] - mesh.vertices[e[:, 0]]
    r = rng.choice([0.0, 0.5, 1.0, 5.0], n)
    beside = rng.choice([0.0, 1.0], n)[:, None] * np.eye(3)[rng.integers(0, 3, n)] * r[:, None]
    start = a - rng.choice([0.0, 0.5, 2.0], n)[:, None] * way + beside * rng.choice([-1, 1], n)[:, None]
    del place
    return Casts("along_edges", [mesh], placed([mesh]), start, 3 * way * rng.choice([-1, 1], n)[:, None], r)


@family
def grazing(seed, n):
    """Past an edge or a corner, or over a face, at R and a little more or less."""
    rng = _rng(seed)
    mesh = [cube(4), octahedron(), whole_l(), hull(rng, 20)][rng.integers(4)]
    place = borders(mesh, rng, n)
    way = rng.normal(size=(n, 3))
    middle = mesh.vertices.mean(0)
    out = place - middle
    out -= (out * way).sum(1)[:, None] / (way * way).sum(1)[:, None] * way
    out /= np.linalg.norm(out, axis=1)[:, None]
    r = 10 ** rng.uniform(-2, 0.5, n)
    off = rng.choice([0, 1e-15, 1e-12, 1e-8, 1e-5], n) * rng.choice([-1, 1], n)
    return Casts(
        "grazing", [mesh], placed([mesh]), place + out * (r * (1 + off))[:, None] - 2 * way, 4 * way, r
    )


@family
def touching(seed, n):
    """Starts at exactly R, within, on the surface; ways in, along and out."""
    rng = _rng(seed)
    mesh = [cube(4), whole_l(), floor(), triangulated(cube(4))][rng.integers(4)]
    r = rng.choice([0.0, 0.5, 1.0, 3.0], n)
    place = borders(mesh, rng, n)
    rows, axis = np.arange(n), rng.integers(0, 3, n)
    place[rows, (axis + 1) % 3] += rng.integers(-2, 3, n) / 2
    place[rows, axis] += rng.choice([-1, 1], n) * rng.choice([1.0, 1.0, 0.5, 0.0], n) * r
    path = rng.integers(-3, 4, (n, 3)).astype(float)
    return Casts("touching", [mesh], placed([mesh]), place, path, r, two_sided=rng.random() < 0.3)


@family
def nowhere(seed, n):
    """Paths of no length, and of next to none; radii of nothing."""
    rng = _rng(seed)
    casts = touching(seed, n)
    casts.name = "nowhere"
    casts.path *= rng.choice([0.0, 1e-300, 1e-160, 1e-20], n)[:, None]
    casts.radius[rng.random(n) < 0.3] = 0
    return casts


@family
def tiny_radii(seed, n):
    rng = _rng(seed)
    return _through(rng, n, "tiny_radii", 10 ** rng.uniform(-9, -6, n))


@family
def huge_radii(seed, n):
    """Balls a million times the mesh."""
    rng = _rng(seed)
    meshes, bodies = _some_world(rng)
    r = 10 ** rng.uniform(3, 6, n)
    way = rng.normal(size=(n, 3))
    way /= np.linalg.norm(way, axis=1)[:, None]
    start = rng.normal(size=(n, 3)) - way * (r + rng.uniform(-1, 5, n))[:, None]
    aside = rng.normal(size=(n, 3)) * rng.choice([0, 1, 3], n)[:, None]
    return Casts("huge_radii", meshes, bodies, start, way * rng.uniform(1, 9, (n, 1)) + aside, r)


@family
def thin(seed, n):
    """Slivers, and triangles without any area."""
    rng = _rng(seed)
    mesh = slivers(rng, 16, 10 ** rng.uniform(-9, -3))
    start, path = _ways(rng, n, rng.uniform(-1, 1, (n, 3)), rng.uniform(0.5, 3, (n, 1)))
    r = 10 ** rng.uniform(-3, 0, n)
    return Casts("thin", [mesh], placed([mesh]), start, path, r, two_sided=rng.random() < 0.5)


@family
def far_away(seed, n):
    """All at a great distance from the origin."""
    rng = _rng(seed)
    casts = _through(rng, n, "far_away", 10 ** rng.uniform(-2, 0, n))
    away = np.round(rng.normal(size=3) * 10 ** rng.uniform(4, 7))
    casts.start += away
    shape, position, quat = casts.bodies
    casts.bodies = shape, position + away, quat
    return casts


@family
def polygons(seed, n):
    """Faces of 3 to 12 corners, turned."""
    rng = _rng(seed)
    meshes = [prism_of(k) for k in range(3, 13)]
    m = 4
    bodies = placed(meshes, rng.normal(size=(m, 3)), random_quat(rng, m), rng.integers(0, 10, m))
    start, path = _ways(rng, n, rng.normal(size=(n, 3)), rng.uniform(1, 5, (n, 1)))
    return Casts("polygons", meshes, bodies, start, path, rng.choice([0, 0.1, 1.0], n))


@family
def walls(seed, n):
    """Open, closed and reversed ones, from either side."""
    rng = _rng(seed)
    meshes = [cube(2), inside_out(cube(2)), floor(2), inside_out(floor(2)), fan(7), shapes.sheet()]
    m = 3
    bodies = placed(meshes, rng.integers(-2, 3, (m, 3)), shape=rng.integers(0, 6, m))
    start, path = _ways(rng, n, rng.normal(size=(n, 3)), rng.uniform(0.2, 4, (n, 1)))
    return Casts("walls", meshes, bodies, start, path, rng.choice([0.0, 0.1, 0.5], n))


def room(rng=None):
    """A closed room that is not convex: an L, its faces inwards, a block standing on its floor."""
    outer = inside_out(triangulated(whole_l()))
    block = cube(1)
    return [outer, block]


@family
def rooms(seed, n):
    """From within a closed room outwards: each must hit."""
    rng = _rng(seed)
    meshes = room()
    place = np.array([[0.0, 0, 0], [4.0, 1.0, -1.5]])
    start = np.column_stack((rng.uniform(0.3, 1.7, n), rng.uniform(0.3, 5.7, n), rng.uniform(-1.7, 1.7, n)))
    swap = rng.random(n) < 0.5
    start[swap] = start[swap][:, [1, 0, 2]]
    way = rng.normal(size=(n, 3))
    corner = rng.random(n) < 0.5  # half of them at corners and edges
    way[corner] = borders(meshes[0], rng, corner.sum()) - start[corner]
    way *= 30 / np.linalg.norm(way, axis=1)[:, None]
    return Casts("rooms", meshes, placed(meshes, place), start, way, rng.choice([0.0, 1e-9, 0.01, 0.25], n))


@family
def sunk(seed, n):
    """Balls that lie on floors, boxes and steps, sunk in by nothing to much, and go along, up, or down."""
    rng = _rng(seed)
    k = rng.integers(5)
    mesh = [floor(polygons=rng.random() < 0.5), cube(4), triangulated(cube(4)), bent_floor(rng), whole_l()][k]
    height = [0, 2, 2, 0, 2][k]
    r = rng.choice([0.25, 0.5, 1.0], n)
    start = np.column_stack((rng.uniform(-1.9, 1.9, (n, 2)), np.full(n, height)))
    start[::3, :2] = np.round(start[::3, :2] * 4) / 4
    start[:, 2] += r * (1 - rng.choice([0, 1e-15, 1e-9, 1e-9, 1e-6, 1e-2, 0.1], n))
    path = np.column_stack((rng.normal(size=(n, 2)) * 4, np.zeros(n)))
    path[::4, :2] = rng.integers(-3, 4, (len(path[::4]), 2))
    path[:, 2] = rng.choice([0, 0, 0, 1e-9, 1e-3, -1e-2], n)
    return Casts("sunk", [mesh], placed([mesh]), start, path, r)


def bent_floor(rng):
    """A floor of triangles whose corners lie higher and lower by a little."""
    mesh = floor(polygons=False)
    rise = 10.0 ** rng.uniform(-9, -1)
    mesh.vertices[:, 2] += np.where(np.abs(mesh.vertices[:, 0]) <= 1, 0, rise * rng.integers(-3, 4))
    mesh.vertices[:, 2] += rise * rng.integers(-2, 3, len(mesh.vertices)) * (rng.random() < 0.5)
    return mesh


@family
def stairs(seed, n):
    """Steep and flat ways at the edges of steps: where the rule of the nearest point fails."""
    rng = _rng(seed)
    mesh = steps()
    k = rng.integers(0, 4, n)
    edge = np.column_stack((k * 0.5, rng.uniform(-0.8, 0.8, n), (k + 1) * 0.25))
    way = np.column_stack((rng.uniform(0, 1, n), rng.normal(size=n) * 0.3, -(10 ** rng.uniform(-2, 1, n))))
    way /= np.linalg.norm(way, axis=1)[:, None]
    off = rng.normal(size=(n, 3)) * 0.1
    r = rng.choice([0.1, 0.3, 0.6], n)
    if rng.random() < 0.5:
        radii = np.column_stack((r, r, 2 * r))
        return Casts("stairs", [mesh], placed([mesh]), edge - 2 * way + off, 3 * way, radii)
    return Casts("stairs", [mesh], placed([mesh]), edge - 2 * way + off, 3 * way, r)


def turned_world(casts, quat, position):
    """The same casts in a world that is turned and shifted as a whole."""
    shape, p, q = casts.bodies
    turn = rotation_matrix(np.asarray(quat)[None])
    n = len(casts)
    whole = np.broadcast_to(quat, (len(q), 4))
    out = casts.take(np.arange(n))
    out.bodies = shape, apply(np.repeat(turn, len(p), 0), p) + position, quat_mul(whole, q)
    out.start = apply(np.repeat(turn, n, 0), casts.start) + position
    out.path = apply(np.repeat(turn, n, 0), casts.path)
    return out
