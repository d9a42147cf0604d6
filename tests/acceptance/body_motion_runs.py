"""The library's answers to pairs whose bodies each move on a motion of their own, and how far one relative
screw is from them."""

import numpy as np

from tests.oracle.body_motion import BODY, Motions, poses
from tests.oracle.solid import apply

_made: dict = {}


def library_mesh(mesh):
    import gpu_collide as gc

    if id(mesh) not in _made:
        loops = np.split(mesh.face_vertices, mesh.face_start[1:-1])
        _made[id(mesh)] = mesh, gc.Mesh(mesh.vertices, [x.tolist() for x in loops], two_sided=mesh.two_sided)
    return _made[id(mesh)][1]


def library_bodies(scene):
    """`Bodies`, and their pairs: those given by velocities come after those given by poses."""
    import gpu_collide as gc

    meshes = [library_mesh(m) for m in scene.meshes]
    b = scene.bodies
    spin = b["spin"] == 1
    parts = []
    if not spin.all():
        p = b[~spin]
        start, end = (gc.Poses.from_quat_wxyz(p[x], p[q]) for x, q in (("place", "quat"), ("to", "turn")))
        parts.append(gc.Bodies(meshes, p["mesh"], start, end))
    if spin.any():
        p = b[spin]
        start = gc.Poses.from_quat_wxyz(p["place"], p["quat"])
        parts.append(
            gc.Bodies.from_velocities(
                meshes, p["mesh"], start, p["to"], p["turn"][:, :3], center=p["reference"]
            )
        )
    bodies = parts[0] if len(parts) == 1 else gc.Bodies.concatenate(parts)
    number = np.where(spin, (~spin).sum() + np.cumsum(spin) - 1, np.cumsum(~spin) - 1)
    return bodies, number[scene.pairs].astype(np.int32)


def run(scene, **options):
    import gpu_collide as gc

    bodies, pairs = library_bodies(scene)
    return gc.collide(bodies, pairs, **options)


def answer(found):
    """`overlap`, `toi`, and the arrays of the contacts, as the judge reads them."""
    import gpu_collide as gc

    overlap = np.asarray(found.status) == int(gc.Status.INITIAL_OVERLAP)
    told = {
        k: np.asarray(getattr(found, k)).astype(np.int64) for k in ("pair", "kind", "feature_a", "feature_b")
    }
    names = "time position normal normal_speed properness local_a local_b sustained time_end"
    for k in names.split():
        told[k] = np.asarray(getattr(found, k))
    return overlap, np.asarray(found.toi), told


def in_pieces(scene, pieces, **options):
    """Times of impact (inf: none) of `collide` with the step cut into pieces, each on one relative screw
    between true poses."""
    import gpu_collide as gc

    meshes = [library_mesh(m) for m in scene.meshes]
    n = len(scene.bodies)
    toi, open_ = np.full(len(scene), np.inf), np.arange(len(scene))
    for k in range(pieces):
        if not len(open_):
            break
        ends = []
        for t in (k / pieces, (k + 1) / pieces):
            place, axes = poses(scene.bodies, np.full(n, t))
            matrix = np.zeros((n, 4, 4))
            matrix[:, :3, :3], matrix[:, :3, 3], matrix[:, 3, 3] = axes, place, 1
            ends.append(gc.Poses.from_matrix(matrix))
        bodies = gc.Bodies(meshes, scene.bodies["mesh"], *ends)
        asked = {"contacts": "first", "check_start": False, "motion": "relative", **options}
        found = gc.collide(bodies, scene.pairs[open_], **asked)
        t = np.asarray(found.toi)
        toi[open_] = (k + t) / pieces
        open_ = open_[~np.isfinite(t)]
    return toi


def chord_off(scene, rows=None):
    """Most that a corner of B, seen from A, is off the true motion on the screw between the relative poses
    (lengths)."""
    pairs = scene.pairs if rows is None else scene.pairs[rows]
    a, b = (scene.bodies[pairs[:, i]] for i in (0, 1))
    relative = np.zeros(len(pairs), BODY)

    def seen(t):
        (pa, ra), (pb, rb) = (poses(x, np.full(len(x), t)) for x in (a, b))
        into = np.swapaxes(ra, 1, 2)
        return apply(into, pb - pa), into @ rb

    for place, quat, t in (("place", "quat", 0.0), ("to", "turn", 1.0)):
        relative[place], axes = seen(t)
        relative[quat] = _quat(axes)
    worst = np.zeros(len(pairs))
    for t in np.arange(1, 16) / 16:
        (p, r), (q, s) = seen(t), poses(relative, np.full(len(pairs), t))
        for shape in np.unique(b["mesh"]):
            i = np.flatnonzero(b["mesh"] == shape)
            v = scene.meshes[shape].vertices
            off = (p - q)[i, None] + np.einsum("nij,kj->nki", (r - s)[i], v)
            worst[i] = np.maximum(worst[i], np.linalg.norm(off, axis=2).max(1))
    return worst


def _quat(axes):
    """Quaternions w, x, y, z of rotation matrices, by the largest of the four."""
    m = axes
    trace = m[:, 0, 0] + m[:, 1, 1] + m[:, 2, 2]
    squares = np.stack((1 + trace, *(1 + 2 * m[:, i, i] - trace for i in range(3))), 1)
    k = squares.argmax(1)
    anti = [m[:, 2, 1] - m[:, 1, 2], m[:, 0, 2] - m[:, 2, 0], m[:, 1, 0] - m[:, 0, 1]]
    both = [m[:, 0, 1] + m[:, 1, 0], m[:, 0, 2] + m[:, 2, 0], m[:, 1, 2] + m[:, 2, 1]]
    s = [squares[:, i] for i in range(4)]
    table = [
        [s[0], *anti],
        [anti[0], s[1], both[0], both[1]],
        [anti[1], both[0], s[2], both[2]],
        [anti[2], both[1], both[2], s[3]],
    ]
    rows = np.array(table).transpose(2, 0, 1)[np.arange(len(m)), k]
    return rows / np.linalg.norm(rows, axis=1)[:, None]


def same_bits(scene, **options):
    """Names of what differs between `motion="body"` and `motion="relative"`."""
    one, two = (run(scene, motion=m, **options) for m in ("body", "relative"))
    names = "status toi contact_start pair kind feature_a feature_b time position normal properness".split()
    names += "local_a local_b normal_speed sustained time_end".split()
    return [
        k for k in names
        if np.asarray(getattr(one, k)).tobytes() != np.asarray(getattr(two, k)).tobytes()
    ]  # fmt: skip


def scene_of_cubes(rng, scenes, turn, count=8):
    """Scenes of unit cubes that tumble towards each other from places apart; `Motions` with all pairs of
    each scene."""
    from tests.oracle.body_motion_families import bodies_of
    from tests.oracle.scenes_base import random_axis, random_quat, turn_quat, unit4
    from tests.oracle.shapes import box
    from tests.oracle.solid import quat_mul

    n = scenes * count
    spots = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)][:count], float)
    place = np.tile(spots, (scenes, 1)) * 1.0 + rng.uniform(-0.1, 0.1, (n, 3))
    quat, axis, angle = random_quat(rng, n), random_axis(rng, n), rng.uniform(0, turn, n)
    to = place + random_axis(rng, n) * rng.uniform(0, 1.2, n)[:, None] - 0.3 * place
    b = bodies_of(np.zeros(n, int), place, quat, to, unit4(quat_mul(turn_quat(axis, angle), quat)))
    i, j = np.triu_indices(count, 1)
    base = (np.arange(scenes) * count)[:, None]
    pairs = np.stack((base + i, base + j), -1).reshape(-1, 2)
    return Motions(f"scenes of cubes, {turn}", [box()], b, pairs), np.repeat(np.arange(scenes), len(i))
