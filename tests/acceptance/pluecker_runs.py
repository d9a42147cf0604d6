"""The library's answers to a family of moves, and the same from a slow stand-in."""

import numpy as np

from tests.acceptance.pluecker import Answer, true_touch
from tests.oracle.scenes_base import turn_quat
from tests.oracle.solid import apply, quat_mul, rotation_matrix


def library_mesh(mesh):
    import gpu_collide as gc

    start = mesh.face_start
    loops = [mesh.face_vertices[i:j].tolist() for i, j in zip(start, start[1:], strict=False)]
    return gc.Mesh(mesh.vertices, loops, two_sided=mesh.two_sided)


def library_bodies(meshes, bodies):
    import gpu_collide as gc

    shape, position, quat = bodies
    poses = gc.Poses.from_quat_wxyz(position, quat)
    return gc.Bodies(meshes, shape, poses, poses)


def run(passages, **options):
    """The `Answer` of `gpu_collide.pluecker` to the moves."""
    import gpu_collide as gc

    points = len(passages.meshes[0].vertices) == 1  # then all movers are points
    meshes = [library_mesh(m) for m in passages.meshes[points:]]
    shape, *place = passages.still
    still = library_bodies(meshes, (shape - points, *place))
    movers = passages.mover[1] if points else library_bodies(meshes, passages.mover)
    n = len(passages)
    if options.get("precision") != "single":  # its own zone is thicker than what families ask for
        options.setdefault("expel", passages.expel)
    if passages.each:
        options["pairs"] = np.column_stack((np.arange(n), np.arange(n))).astype(np.int32)
    if passages.turns:
        turn = passages.angle, passages.axis, passages.origin
        trace = gc.pluecker.rotate(movers, still, *turn, **options)
    else:
        trace = gc.pluecker.translate(movers, still, passages.vector, **options)
    pose = trace.poses.position, trace.poses.quat_wxyz
    expel = np.broadcast_to(trace.expel, n)
    rounding = 2.0 ** (-23 if options.get("precision") == "single" else -52)
    hit = trace.kind != 0
    return Answer(
        trace.fraction, hit, expel, pose, trace.normal, trace.point, trace.status, rounding, trace.kind
    ), trace


def stand_in(passages, expel=1e-6):
    """What a right library might say: the exact touch, less the zone along the normal of contact."""
    n = len(passages)
    fraction, hit = np.ones(n), np.zeros(n, bool)
    for i in range(n):
        best, _ = true_touch(passages, i)
        if best is None or best[2].kind == 0:
            continue
        time, motion, event, _ = best
        speed = motion.pace(event)
        touch = float(motion.fraction(time))
        fraction[i] = max(0.0, touch - expel / speed if speed > 0 else 0.0)
        hit[i] = True
    return Answer(fraction, hit, np.full(n, expel), reached(passages, fraction))


def reached(passages, fraction):
    """The poses at the shares given, in float64."""
    _, position, quat = passages.mover
    if not passages.turns:
        return position + fraction[:, None] * passages.vector, quat
    axis = passages.axis / np.linalg.norm(passages.axis, axis=1)[:, None]
    turn = turn_quat(axis, fraction * passages.angle)
    moved = apply(rotation_matrix(turn), position - passages.origin) + passages.origin
    return moved, quat_mul(turn, quat)
