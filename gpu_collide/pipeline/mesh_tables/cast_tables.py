"""Tables of what spheres are swept against: meshes, bodies with their motion, and the tree over them
(``kernels/sweep/gc_cast_mesh.h``)."""

from __future__ import annotations

import weakref

import numpy as np

from gpu_collide.backends import declarations, sources
from gpu_collide.bodies.casts import turning
from gpu_collide.bodies.quaternion import rotate, turn_vector
from gpu_collide.geometry.preparation import morton, prepared
from gpu_collide.geometry.preparation.bvh8 import WIDE, build_bvh8, widened
from gpu_collide.pipeline.mesh_tables.flat import Flat, Placed
from gpu_collide.pipeline.mesh_tables.tables import sets_of

__all__ = [
    "build_cast_tables",
    "cast_tables_for",
    "key_bits",
    "motions_for",
    "obstacles",
    "obstacles_for",
    "part_rows",
]

HEAD, SIZE, OBSTACLE, OBSTACLE_INT, COURSE = (
    sources.record(name) for name in ("cast_mesh", "cast_mesh_size", "obstacle", "obstacle_int", "cast_scene")
)
#: Bodies without borders: those that turn, where chords are taken, are looked at always.
FAR = 1e30
#: ``turns`` of a body that spins (``GC_OBSTACLE_SPINS``).
SPINS = sources.constants("mixed", "sweep/gc_cast_mesh.h")["GC_OBSTACLE_SPINS"]
#: Leaves of bodies that are in all worlds, at most, where each world has its own.
MOST_LEAVES = 1 << 20
#: Bits of a Morton code on each axis.
BITS = 21
#: Cells of the keys that order queries, along an axis (``GC_CAST_CELLS``), and bits of a key.
CELLS, KEY_BITS = 1024, 30


def build_cast_tables(meshes, backend, precision):
    """`Placed` tables of meshes."""
    real, raster = declarations.dtypes(precision)
    heads = np.zeros((len(meshes), HEAD.stride), np.int32)
    sizes = np.zeros((len(meshes), SIZE.stride))
    ints, reals, nodes = Flat(np.int32), Flat(real), Flat(raster)
    for mesh, head, size in zip(meshes, heads, sizes, strict=True):
        g, measures = prepared.cast_features_of(mesh), prepared.measures_of(mesh)
        head[HEAD["two_sided"]], head[HEAD["faces"]] = mesh.two_sided, len(g.source)
        ints.add(head, HEAD, {
            "face": g.faces, "source": g.source, "edge": g.edges, "vertex": g.vertices, "around": g.around,
            "kid": g.tree.kids,
        })  # fmt: skip
        reals.add(head, HEAD, {"loop": g.loops, "side": g.sides, "tip": g.tips})
        nodes.add(head, HEAD, {"node": widened(g.tree.boxes, raster)})
        size[SIZE["centre"]], size[SIZE["scale"]], size[SIZE["shrink"]] = (
            measures[:3], measures[4], 1.0 / measures[4],
        )  # fmt: skip
        size[SIZE["low"]], size[SIZE["high"]] = g.low, g.high
    host = {"heads_in": heads, "sizes_in": sizes.astype(real), "ints_in": ints.joined(),
            "reals_in": reals.joined(), "nodes_in": nodes.joined()}  # fmt: skip
    return Placed.of(host, backend)


def cast_tables_for(meshes, backend, precision):
    """`build_cast_tables`, kept for the last few sets of meshes, as `tables_for` keeps tables."""
    return sets_of(backend, "cast tables", build_cast_tables).get(meshes, backend, precision)


def _rows(bodies):
    """(n, `OBSTACLE`) rows of bodies, positions as given, and how each turns (``turns``)."""
    rows = np.zeros((len(bodies), OBSTACLE.stride))
    start, end = (np.where(bodies.valid[:, None], x.position, 0.0) for x in (bodies.start, bodies.end))
    quat, quat_end = bodies.start.unit_wxyz, bodies.end.unit_wxyz
    turns = turning(bodies).astype(np.int32)
    turn, pivot = np.zeros((2, len(bodies), 3))
    which = np.flatnonzero(turns)
    turn[which] = turn_vector(quat[which], quat_end[which])
    way, spins = end - start, bodies.spins
    if spins is not None:
        spinning = spins.spinning & bodies.valid & (spins.rotation != 0.0).any(axis=1)
        turns[spinning] = SPINS
        way[spinning], turn[spinning] = spins.displacement[spinning], spins.rotation[spinning]
        pivot[spinning] = spins.center[spinning]
    rows[:, OBSTACLE["start"]], rows[:, OBSTACLE["quat"]] = start, quat
    rows[:, OBSTACLE["way"]], rows[:, OBSTACLE["end"]] = way, quat_end
    rows[:, OBSTACLE["spin"]], rows[:, OBSTACLE["pivot"]] = turn, pivot
    return rows, turns


def _placed_rows(rows, real, shift):
    """Rows in the precision of kernels, positions counted from `shift`, with quaternions made units in it as
    `gc_quat_unit` does it: once here, and not for each query. Those of bodies that are not there stay
    whatever they are."""
    rows = rows.copy()
    rows[:, OBSTACLE["start"]] -= shift
    rows = rows.astype(real, copy=False)
    for name in ("quat", "end"):
        w, x, y, z = rows[:, OBSTACLE[name]].T
        with np.errstate(all="ignore"):
            f = 1 / np.sqrt(w * w + x * x + y * y + z * z)
            rows[:, OBSTACLE[name]] *= f[:, None]
    return rows


def part_rows(bodies, backend, precision, shift):
    """``bodies_in`` of bodies over a part of a step that has tables: all else stays, the tree too."""
    rows = _placed_rows(_rows(bodies)[0], declarations.dtypes(precision)[0], shift)
    return backend.to_device(rows.reshape(-1), copy=False)


def obstacles(bodies, backend, precision, exact=False, rules=None, slack=None, parted=False):
    """`Placed` tables of bodies, of which those whose poses are none are not there; `more`: what positions
    count from. `exact`: those that turn are seen on their own motions, not along chords. `rules`: their
    groups and masks. `slack`: no chord is off by more; None: nobody knows. `parted`: casts are in
    worlds, those of the rules, each of which has a cell of its own in the tree."""
    real, raster = declarations.dtypes(precision)
    valid = np.flatnonzero(bodies.valid)
    rows, turns = _rows(bodies)
    start, turn, way, pivot = (rows[:, OBSTACLE[name]] for name in ("start", "spin", "way", "pivot"))
    end = np.where(bodies.valid[:, None], bodies.end.position, 0.0)
    boxes = _boxes(bodies, start, end, turns > 0)
    if exact:
        boxes[turns > 0] = _swept_boxes(bodies, start, end, turn, way, pivot, turns == SPINS)[turns > 0]
    elif slack is not None:
        boxes[turns > 0] = _turned_boxes(bodies, start, end, slack)[turns > 0]
    boxes = boxes[valid]
    finite = np.abs(boxes).max(axis=1, initial=0.0) < FAR
    ends = low, high = _ends(boxes, finite)
    shift = 0.5 * low + 0.5 * high if real == np.float32 else np.zeros(3)
    frame, place = np.zeros(COURSE.stride), valid
    cell = np.full(len(valid), -1)
    if parted:
        (rank, n_ranks), apart = rules.ranks(), np.maximum(1.25 * (high - low)[:2], np.finfo(float).tiny)
        place, cell, boxes, finite, cells = _in_cells(valid, rank, n_ranks + 1, apart, boxes, finite)
        frame[COURSE["apart"]], frame[COURSE["cells"]] = apart, cells
        low, high = _ends(boxes, finite)
    middle, half = 0.5 * low + 0.5 * high, 0.5 * np.max(high - low)
    shrink = 2.0 ** -int(np.frexp(half)[1]) if half > 0 else 1.0
    frame[COURSE["middle"]], frame[COURSE["shrink"]] = middle - shift, shrink
    inner = (np.array(ends) - middle) * shrink
    local = boxes.copy()
    local[finite] = (boxes[finite] - np.tile(middle, 2)) * shrink
    frame[COURSE["alone"]] = len(place) == 1
    order = _order(local, finite)
    if len(place):
        tree = build_bvh8(local[order])
        frame[COURSE["low"]], frame[COURSE["high"]] = local[:, :3].min(axis=0), local[:, 3:].max(axis=0)
        crowds, kids = widened(tree.boxes, raster), tree.kids
    else:  # a root without children
        frame[COURSE["low"]], frame[COURSE["high"]] = 1.0, -1.0
        none = np.repeat([np.inf, -np.inf], 3 * WIDE).reshape(1, 6, WIDE)
        crowds, kids = widened(none, raster), np.full(WIDE, -1, np.int32)
    ints = np.zeros((len(bodies), OBSTACLE_INT.stride), np.int32)
    ints[:, OBSTACLE_INT["shape"]], ints[:, OBSTACLE_INT["turns"]] = bodies.shape, turns
    bits = (-1, -1) if rules is None else rules.bits.T
    ints[:, OBSTACLE_INT["group"]], ints[:, OBSTACLE_INT["mask"]] = bits
    host = {
        "bodies_in": _placed_rows(rows, real, shift),
        "body_ints_in": ints,
        "crowds_in": crowds,
        "crowd_kids_in": kids,
        "order_in": np.stack([place, cell], axis=1)[order].astype(np.int32),
        "frame_in": frame.astype(real),
        "rules_in": np.zeros(0, np.int32),  # where queries have none
    }
    if slack is None:  # it is of characters alone, who are worked off as they come
        per_length, spread = morton.spread(inner[1] - inner[0], key_bits(backend), CELLS)
        host |= {"cells_in": np.concatenate([*inner, per_length]).astype(real), "spread_in": spread}
    return Placed.of(host, backend, shift)


def _ends(boxes, finite):
    """Least and greatest corner of all boxes that have one."""
    if not finite.any():
        return np.zeros(3), np.zeros(3)
    return boxes[finite, :3].min(axis=0), boxes[finite, 3:].max(axis=0)


def _in_cells(valid, rank, n, apart, boxes, finite):
    """Bodies as leaves of a tree in which each of n worlds has a cell beside the others, along x and y: of
    each leaf its body, cell (-1: all), box, and whether that is finite; and how many cells there are along x.
    What is in all worlds has a leaf in each, or, if these are too many, one without borders."""
    cells = int(np.ceil(np.sqrt(n)))
    own, shared = (np.flatnonzero(finite & some) for some in (rank[valid] > 0, rank[valid] == 0))
    many = len(shared) * n > MOST_LEAVES
    rest = np.flatnonzero(~finite) if not many else np.concatenate([np.flatnonzero(~finite), shared])
    copies = 0 if many else n
    leaf = np.concatenate([own, rest, np.repeat(shared, copies)])
    ranks = rank[valid]
    cell = np.concatenate([ranks[own], ranks[rest], np.tile(np.arange(n), len(shared) * (copies > 0))])
    shift = np.zeros((len(leaf), 3))
    shift[:, 0], shift[:, 1] = (cell % cells) * apart[0], (cell // cells) * apart[1]
    boxes, everywhere = boxes[leaf] + np.tile(shift, 2), np.zeros(len(leaf), bool)
    everywhere[len(own) : len(own) + len(rest)] = True
    pad = 4 * np.finfo(float).eps * np.abs(boxes)
    boxes = boxes + np.concatenate([-pad[:, :3], pad[:, 3:]], axis=1)
    boxes[everywhere] = np.repeat([-FAR, FAR], 3)
    return valid[leaf], np.where(everywhere & (cell == 0), -1, cell), boxes, ~everywhere, cells


def obstacles_for(bodies, backend, precision, exact=False, slack=None, rules=None, parted=False):
    """`obstacles`, kept for the bodies that were asked for last as long as they live: bodies never change."""
    name = f"obstacles {precision} {exact} {slack} {parted}"
    rules = rules if parted else None
    made = lambda: obstacles(bodies, backend, precision, exact, rules, slack, parted)  # noqa: E731
    return _kept_for(bodies, backend, name, made)


def motions_for(bodies, backend):
    """How far bodies go in their step, (bodies, 3) float64 in a flat buffer; those without poses stay. Kept
    as `obstacles_for` keeps."""

    def made():
        there = bodies.start.valid & bodies.end.valid
        motion = np.where(there[:, None], bodies.end.position - bodies.start.position, 0.0)
        return backend.to_device(motion.reshape(-1))

    return _kept_for(bodies, backend, "motions", made)


def _kept_for(bodies, backend, what, make):
    kept = backend.kept.setdefault("of bodies", {})
    known = kept.get(what)
    if known is None or known[0]() is not bodies:

        def gone(ref):
            if kept.get(what, (None,))[0] is ref:
                kept.pop(what, None)

        known = kept[what] = weakref.ref(bodies, gone), make()
    return known[1]


def key_bits(backend):
    """Bits of the keys by which queries are put in order; a processor sorts 16 fastest."""
    return 16 if backend.serial_groups else KEY_BITS


def _boxes(bodies, start, end, turns):
    """(n, 6) boxes of what bodies fill on their ways, in the world, rounded outwards."""
    measures = np.array([prepared.measures_of(mesh) for mesh in bodies.meshes])[bodies.shape]
    quat = bodies.start.unit_wxyz
    middle = rotate(quat, measures[:, :3])
    axes = np.stack([rotate(quat, np.tile(np.eye(3)[k], (len(quat), 1))) for k in range(3)], axis=2)
    half = np.einsum("nij,nj->ni", np.abs(axes), measures[:, 5:8])
    with np.errstate(over="ignore", invalid="ignore"):
        ends = start + middle, end + middle
        pad = half + 1e-12 * (half + np.maximum(np.abs(start), np.abs(end)) + np.abs(middle))
        boxes = np.concatenate([np.minimum(*ends) - pad, np.maximum(*ends) + pad], axis=1)
        wild = turns | ~(np.abs(boxes).max(axis=1, initial=0.0) < FAR)
    return np.where(wild[:, None], np.repeat([-FAR, FAR], 3), boxes)


def _swept_boxes(bodies, start, end, turn, way, pivot, spins):
    """(n, 6) boxes of what bodies fill that turn on their own motions, rounded outwards.

    What spins stays within a ball about its pivot, which goes straight on. On a screw by the angle a the
    middle of the mesh is off its chord by no more than a quarter of the angle's tangent times half the
    chord.
    """
    measures = np.array([prepared.measures_of(mesh) for mesh in bodies.meshes])[bodies.shape]
    ends = (start, bodies.start.unit_wxyz), (end, bodies.end.unit_wxyz)
    radius = np.linalg.norm(measures[:, 5:8], axis=1)
    from_, to = (
        place + rotate(quat, np.where(spins[:, None], pivot, measures[:, :3])) for place, quat in ends
    )
    to = np.where(spins[:, None], from_ + way, to)
    bow = (
        0.5 * np.linalg.norm(to - from_, axis=1) * np.tan(np.minimum(np.linalg.norm(turn, axis=1), np.pi) / 4)
    )
    arm = np.linalg.norm(measures[:, :3] - pivot, axis=1)
    with np.errstate(over="ignore", invalid="ignore"):
        pad = (radius + np.where(spins, arm, bow))[:, None]
        pad = pad + 1e-12 * (pad + np.maximum(np.abs(start), np.abs(end)) + np.abs(from_) + np.abs(to))
        boxes = np.concatenate([np.minimum(from_, to) - pad, np.maximum(from_, to) + pad], axis=1)
        wild = ~(np.abs(boxes).max(axis=1, initial=0.0) < FAR)
    return np.where(wild[:, None], np.repeat([-FAR, FAR], 3), boxes)


def _turned_boxes(bodies, start, end, slack):
    """(n, 6) boxes of what bodies fill that turn about their origins, which go straight on: where they reach,
    twice as far as they do, so that it holds for those as well whom others push meanwhile."""
    measures = np.array([prepared.measures_of(mesh) for mesh in bodies.meshes])[bodies.shape]
    reach = np.linalg.norm(measures[:, :3], axis=1) + np.linalg.norm(measures[:, 5:8], axis=1)
    with np.errstate(over="ignore", invalid="ignore"):
        pad = (2.0 * reach + slack)[:, None]
        pad = pad + 1e-12 * (pad + np.maximum(np.abs(start), np.abs(end)))
        boxes = np.concatenate([np.minimum(start, end) - pad, np.maximum(start, end) + pad], axis=1)
        wild = ~(np.abs(boxes).max(axis=1, initial=0.0) < FAR)
    return np.where(wild[:, None], np.repeat([-FAR, FAR], 3), boxes)


def _order(boxes, finite):
    """Bodies along a Morton curve."""
    centres = [np.where(finite, 0.5 * (boxes[:, k] + boxes[:, 3 + k]), 0.0) for k in range(3)]
    if len(boxes) <= 1:
        return np.arange(len(boxes))
    chosen = morton.sample(len(boxes))
    origin, side = morton.cube(np.stack([x[chosen] for x in centres], axis=1), BITS)
    return np.argsort(morton.codes(centres, BITS, origin, side), kind="stable")
