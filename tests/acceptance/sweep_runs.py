"""The library's answers to a family of casts, and the same from a slow stand-in."""

import math

import numpy as np

from tests.acceptance.pluecker_runs import library_mesh
from tests.acceptance.sweep import Answer
from tests.acceptance.sweep_places import lies, matrix, unit

KINDS = {"face": 1, "edge": 2, "vertex": 3}


def world_of(casts):
    """`gpu_collide.Bodies` of a family's world."""
    import gpu_collide as gc

    shape, position, quat = casts.bodies
    start = gc.Poses.from_quat_wxyz(position, quat)
    end = start
    if casts.carried is not None:
        end = gc.Poses.from_quat_wxyz(position + casts.carried, quat)
    return gc.Bodies([library_mesh(m) for m in casts.meshes], shape, start, end)


def run(casts, **options):
    """The `Answer` of `gpu_collide.sweep` to the casts, and its own `Hits`."""
    import gpu_collide as gc

    world = options.pop("world", None) or world_of(casts)
    options.setdefault("two_sided", casts.two_sided)
    if casts.kind == "rays":
        hits = gc.sweep.rays(casts.start, casts.path, world, **options)
    elif casts.kind == "spheres":
        hits = gc.sweep.spheres(casts.start, casts.path, casts.radius, world, **options)
    elif casts.kind == "ellipsoids":
        hits = gc.sweep.ellipsoids(
            casts.start, casts.path, casts.radius, world, orientation=casts.turned, **options
        )
    else:
        groups = [gc.sweep.Cluster(x, r) for x, r in casts.groups]
        hits = gc.sweep.clusters((groups, np.arange(len(casts))), casts.start, casts.path, world, **options)
    every = options.get("hits") == "all"
    answer = answer_of(hits, every)
    answer.face = _given(world, answer.body, answer.face)
    return answer, hits


def _given(world, body, face):
    """Faces as they were given: degenerate ones have no number in a mesh."""
    given = np.where(body >= 0, face, -1).astype(int)
    shape = np.where(body >= 0, np.asarray(world.shape)[body], -1)
    for k, mesh in enumerate(world.meshes):
        rows = np.flatnonzero((shape == k) & (given >= 0) & (given < len(mesh.source_face)))
        given[rows] = np.asarray(mesh.source_face)[given[rows]]
    return given


def answer_of(hits, every=False):
    names = {"FACE": 1, "EDGE": 2, "VERTEX": 3}
    from gpu_collide import sweep

    feature = np.zeros(len(hits.time), int)
    for name, k in names.items():
        feature[np.asarray(hits.feature) == int(getattr(sweep.Feature, name))] = k
    hit = np.ones(len(hits.time), bool) if every else np.asarray(hits.hit)
    fields = (hit, hits.time, hits.point, hits.normal, hits.body, hits.face)
    return Answer(*(np.asarray(x) for x in fields), feature, np.asarray(hits.query) if every else None)


def stand_in(casts):
    """What a right library says of the first hits: exact, then rounded."""
    n = len(casts)
    out = Answer(
        np.zeros(n, bool), np.ones(n), np.zeros((n, 3)), np.zeros((n, 3)), np.full(n, -1), np.full(n, -1),
        np.zeros(n, int),
    )  # fmt: skip
    for i in range(n):
        best = None
        for b, body, p in casts.passes(i):
            for f in p.faces_near(1e-9):
                near, time = p.near(f, p.c, 1), None
                if near.square <= p.r * p.r:
                    if p.r == 0:
                        time = _pierces_at_start(p, near, f)
                    elif (
                        near.nearer > 0
                        and near.away
                        and (p.two_sided or p.front(near.feature, f, p.c, 1) > 0)
                        and not lies(p, near.feature, p.c, 1, 0)
                    ):
                        time = 0
                else:
                    touch = p.first(f)
                    if touch and touch.time <= 1 and (p.two_sided or touch.front > 0 or p.r == 0):
                        time = touch.time
                        if p.r and lies(p, touch.feature, *p.place(time), 0):
                            time = None
                if time is None and p.r:
                    time = _onto(p, f)
                if time is not None and (best is None or time < best[0]):
                    best = time, b, body, p, f
        if best is not None:
            _fill(out, casts, i, *best)
    return out


def _onto(p, face):
    """When a ball that has sunk in comes onto a face that it approaches."""
    found = p.onto(face)
    if found is None or found[3] <= 0 or (found[2] <= 0 and not p.two_sided):
        return None
    return found[0] if abs(found[2]) < p.r / p.scale else None


def _pierces_at_start(p, near, face):
    there = p.surface.at[near.feature] if near.feature is not None else p.surface.of_face[face]
    paces = [-float(unit(p.normal(t)) @ p.way) for t in there if any(p.normal(t))]
    return 0 if p.speed and paces and (max(paces) > 0 or (p.two_sided and min(paces) < 0)) else None


def _fill(out, casts, i, time, b, body, p, face):
    place, den = p.place(time)
    near = p.near(face, place, den)
    _, radius, turned = casts.balls(i)[b]
    radii = np.full(3, 1.0) if np.ndim(radius) == 0 else np.asarray(radius, float)
    axes = np.eye(3) if turned is None else matrix(turned)
    out.hit[i], out.time[i] = True, float(time)
    out.body[i], out.face[i], out.feature[i] = body, face, KINDS[near.kind]
    start = casts.balls(i)[b][0]
    out.point[i] = start + float(time) * casts.path[i] - axes @ (near.toward * radii)
    if p.r and near.away:
        out.normal[i] = unit(axes @ (near.toward / near.away / radii))
        return
    paces = [-(unit(p.normal(t)) @ p.way) for t in p.surface.of_face[face] if any(p.normal(t))]
    normals = [unit(p.normal(t)) for t in p.surface.of_face[face] if any(p.normal(t))]
    there = () if near.feature is None else p.surface.at[near.feature]
    normals += [unit(p.normal(t)) for t in there if any(p.normal(t))]
    paces = [-(x @ p.way) for x in normals]
    k = int(np.argmax(np.abs(paces) if p.two_sided else paces))
    out.normal[i] = math.copysign(1, paces[k]) * normals[k]
