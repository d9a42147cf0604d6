"""Pairs that pass, graze, swing round and miss, and single filters run on them."""

from functools import lru_cache

import numpy as np

import gpu_collide as gc
from gpu_collide.backends import sources
from tests.acceptance import matrix
from tests.narrow_phase._launch import Stages
from tests.oracle import scenes
from tests.oracle.scenes_base import (
    impact,
    mixed,
    moving_world,
    random_axis,
    random_quat,
    relative_scene,
    turn_quat,
    unit4,
)
from tests.oracle.shapes import box
from tests.oracle.solid import RawMesh, apply, quat_mul, rotation_matrix
from tests.support.seeds import generator

KERNELS = {"spheres": "f01_spheres", "boxes": "f02_boxes", "plane": "f03_plane"}
#: Families of the matrix on which a filter could lose something; the others repeat these.
HARD = (
    "random_boxes", "random_cars", "random_nonconvex", "translations", "to_180", "far_away", "two_sided",
    "axis_through_a", "axis_through_b", "axis_through_both", "exact_axis", "half_turn", "passing",
    "tiny_angles", "grazing", "resting", "planar_driving", "lattice", "scales", "tangent",
)  # fmt: skip


def _meshes(rng):
    """Compact, long, flat and ring-shaped ones."""
    boxes = scenes.boxes(rng)
    return [*mixed(rng), boxes[2], boxes[3]]


def ball():
    """A ball of radius 1 with 320 faces."""
    mesh = gc.shapes.icosphere(2)
    return RawMesh(mesh.vertices, [f.tolist() for f in np.split(mesh.face_vertices, mesh.face_start[1:-1])])


def misses(seed, n, turn=np.pi, travel=2.0, spread=2.0):
    """Impacts aimed so far beside that most pairs miss, by little or by much; turns up to `turn`."""
    rng = generator(seed, 41)
    meshes = _meshes(rng)
    sa, sb = rng.integers(0, len(meshes), (2, n))
    p0, q0, p1, q1 = impact(rng, meshes, sa, sb, turn, travel, spread=spread)
    return relative_scene("misses", meshes, sa, sb, p0, q0, p1, q1, moving_world(rng, n))


def swings(seed, n, turn=np.pi, out=3.0):
    """B swings about an axis somewhere near both bodies, with or without a pitch: A may lie anywhere,
    also where only its copy a turn on is met."""
    rng = generator(seed, 43)
    meshes = _meshes(rng)
    sa, sb = rng.integers(0, len(meshes), (2, n))
    axis, angle = random_axis(rng, n), rng.uniform(0.0, turn, n)
    point = random_axis(rng, n) * rng.uniform(0.0, out, (n, 1))
    p0 = point + random_axis(rng, n) * rng.uniform(0.0, out, (n, 1))
    pitch = rng.uniform(-3, 3, (n, 1)) * rng.integers(0, 2, (n, 1))
    q0, dq = random_quat(rng, n), turn_quat(axis, angle)
    p1 = point + apply(rotation_matrix(dq), p0 - point) + pitch * axis
    q1 = unit4(quat_mul(dq, q0))
    return relative_scene("swings", meshes, sa, sb, p0, q0, p1, q1, moving_world(rng, n))


def stills(seed, n):
    """No relative motion at all, near and far."""
    rng = generator(seed, 47)
    meshes = _meshes(rng)
    sa, sb = rng.integers(0, len(meshes), (2, n))
    place, q = random_axis(rng, n) * rng.uniform(0.0, 4.0, (n, 1)), random_quat(rng, n)
    return relative_scene("stills", meshes, sa, sb, place, q, place, q, moving_world(rng, n))


def drills(seed, n):
    """B climbs half a turn round an axis from which A stands off on the other side, low: they can meet at the
    beginning, with A seen a whole turn on. A third are plates whose flat side faces the axis: these reach far
    round it without touching it; a third are balls of many faces close to it."""
    rng = generator(seed, 53)
    meshes = [box((2.0, 2.0, 0.1)), ball(), *_meshes(rng)]
    kind = rng.integers(0, 3, n)
    plates = kind == 0
    sa, sb = np.where(kind < 2, kind, rng.integers(2, len(meshes), (2, n)))
    angle, azimuth = rng.uniform(2.2, np.pi, n), rng.uniform(2.6, 3.6, n)
    near, far = np.array([0.1, 1.1, 0.4])[kind], np.array([0.8, 1.3, 1.6])[kind]
    radius = rng.uniform(near, far, (2, n))
    climb, low = rng.uniform(1.0, 7.0, n), rng.uniform(-0.8, 0.0, n)
    balls = kind == 1  # these meet only just
    angle, azimuth = np.where(balls, 2.9 + 0.2 * (angle > 2.7), angle), np.where(balls, 2.9, azimuth)
    low = np.where(balls, -0.4 + 0.3 * low, low)
    up = np.tile([0.0, 0, 1], (n, 1))

    def at(r, phi, z):
        return np.stack((r * np.cos(phi), r * np.sin(phi), z), 1)

    def facing(phi):
        """The short side of a plate along the radius at azimuth phi; others anyhow."""
        flat = quat_mul(turn_quat(up, phi), turn_quat(np.tile([0.0, 1, 0], (n, 1)), np.full(n, 0.5 * np.pi)))
        return np.where(plates[:, None], flat, random_quat(rng, n))

    a, qa = at(radius[0], azimuth, climb * low), facing(azimuth)
    back = qa * [1.0, -1, -1, -1]
    p0, p1 = (apply(rotation_matrix(back), at(radius[1], s * angle, s * climb) - a) for s in (-0.5, 0.5))
    q0 = facing(-0.5 * angle)
    q1 = quat_mul(turn_quat(up, angle), q0)
    q0, q1 = (unit4(quat_mul(back, q)) for q in (q0, q1))
    return relative_scene("drills", meshes, sa, sb, p0, q0, p1, q1, moving_world(rng, n))


OWN = {"misses": misses, "swings": swings, "stills": stills, "drills": drills}


@lru_cache(maxsize=64)
def scene(name, n):
    if name in OWN:
        return OWN[name](7, n)
    return matrix.make(name, n)


def every_contact(of, precision="mixed"):
    """The full test without any filter, improper contacts included."""
    return gc.collide(
        of.bodies(),
        of.pairs,
        tuning=gc.Tuning(filters="none"),
        min_properness=-1.0,
        backend="cpu",
        precision=precision,
    )


@lru_cache(maxsize=64)
def touching(name, n, precision="mixed"):
    """Which pairs of a scene have a contact at all."""
    return np.isfinite(every_contact(scene(name, n), precision).toi)


def keeps(filter_name, backend, of, precision="mixed", text=None, groups=None, state=None):
    """What the filter's kernel says of every pair: True may meet."""
    return keeps_of(filter_name, Stages(backend, of.bodies(), of.pairs, precision, text), groups, state)


def keeps_of(filter_name, stages, groups=None, state=None):
    be, n = stages.backend, stages.n
    common = stages.common()
    given = stages.state if state is None else np.asarray(state, np.int32)
    keep = be.fill(be.empty(n, np.uint8), 255)
    args = {"screw_in": common["screw_in"], "state_in": be.to_device(given)}
    if filter_name != "spheres":
        args |= stages.index | {"mesh_reals_in": stages.tables["mesh_reals_in"]}
    todo = np.arange(n, dtype=np.int32)[::-1].copy()  # any order of the pairs
    args |= {"n_todo": n, "todo_in": be.to_device(todo), "keep_out": keep}
    if filter_name == "plane":
        groups = min(n, be.max_groups) if groups is None else groups
        vertices = [len(m.vertices) for m in stages.bodies.meshes]
        reals = 8 * max(vertices) + 2 * be.group_size
        args |= {"headers_in": common["headers_in"], "vertices_in": stages.parts["vertices_in"],
                 "scratch_reals": be.empty(groups * reals, stages.raster), "reals_per_group": reals,
                 "scratch_ints": be.empty(groups * 2 * be.group_size, np.int32)}  # fmt: skip
        be.launch(stages.module.kernel("f03_plane"), groups, **args)
    else:
        stages.items(KERNELS[filter_name], n, groups, **args)
    answer = be.to_host(keep)
    assert set(answer.tolist()) <= {0, 1}
    return answer[::-1].astype(bool)


@lru_cache(maxsize=64)
def reference_keeps(module, name, n):
    """What the reference says of every pair of a scene."""
    of = scene(name, n)
    from gpu_collide.reference.narrow_phase.s01_screw import pose_arrays, screw_of_pair

    bodies = of.bodies()
    (p0, q0, _), (p1, q1, _) = pose_arrays(bodies.start), pose_arrays(bodies.end)
    answer = []
    for a, b in of.pairs:
        mesh_a, mesh_b = bodies.meshes[bodies.shape[a]], bodies.meshes[bodies.shape[b]]
        poses = [(p[k], q[k]) for k in (a, b) for p, q in ((p0, q0), (p1, q1))]
        answer.append(module.may_meet(screw_of_pair(mesh_a, mesh_b, *poses), mesh_a, mesh_b))
    return np.array(answer, bool)


def lost(filter_name, backend, name, n, precision="mixed", text=None):
    """Pairs of a scene that the filter settles although they touch."""
    settled = ~keeps(filter_name, backend, scene(name, n), precision, text)
    return np.flatnonzero(settled & touching(name, n, precision))


def mutant(filter_name, old, new):
    """The kernel of a filter and what it needs, with one place changed."""
    text = sources.joined(f"filters/{KERNELS[filter_name]}.c")
    assert text.count(old) == 1, f"{text.count(old)} places: {old}"
    return text.replace(old, new)
