"""What movers and worlds are: arguments of the queries checked, and made into arrays of one row for each
answer."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gpu_collide._validate import as_float_array, as_int_array, as_numpy, first_few, how_many
from gpu_collide.backends import sources
from gpu_collide.bodies.bodies import Bodies
from gpu_collide.bodies.compound import refuse_compounds
from gpu_collide.bodies.movers import Movers
from gpu_collide.bodies.refusals import refuse_ends, refuse_rounded
from gpu_collide.bodies.rules import EVERYWHERE, LARGEST_WORLD
from gpu_collide.geometry.mesh.mesh import Mesh
from gpu_collide.geometry.preparation import prepared
from gpu_collide.queries.scene import Scene

if TYPE_CHECKING:
    from gpu_collide._types import Array
    from gpu_collide.bodies.rules import Rules

__all__ = ["check_expel", "check_movers", "check_moving", "internal", "movers_on", "per_mover", "reach_of"]

#: Keywords of earlier versions, as `renamed` takes them.
OLD: Any = {"world": ("obstacles", (Bodies, Scene)), "own": "exclude_body", "in_world": "world"}
#: Coordinates beyond this, or scenes within less, leave no room for the products of the kernels.
MOST = {"mixed": 1e40, "double": 1e40, "single": 1e6}
LEAST = {"mixed": 0.0, "double": 0.0, "single": 1e-7}
#: A zone may be this share of the bound on the error of where a mover stands, and no thinner: that of a trace
#: always is thicker, however its mover was turned, for which a coordinate may grow by the square root of 3.
ROOM = 0.5
#: Among bodies that move no zone is thinner than this share of the sizes: a thousand times what `collide`
#: takes for touch. To tell a gap that stays as it is from a touch takes work that grows as the gap shrinks.
MOVING = 1e-8


def check_movers(
    movers: Any,
    exclude_body: Any,
    world: Any,
    pairs: Any,
    bodies: Bodies,
    rules: Rules,
    rounded: bool = False,
) -> Movers:
    """`Movers` of the caller's arguments, with a row for each of them, or for each of `pairs`."""
    if isinstance(movers, Bodies):
        refuse_compounds(movers, "movers", "this query")
        refuse = refuse_ends if rounded else refuse_rounded
        refuse(movers.meshes, "movers", "this query")
        poses = movers.start
        n, meshes, shape = len(movers), movers.meshes, movers.shape
        position = np.where(poses.valid[:, None], poses.position, 0.0)
        quat, valid = poses.unit_wxyz, poses.valid
    else:
        position = _points(movers)
        n, meshes, shape = len(position), None, np.zeros(len(position), np.int32)
        valid = np.asarray(np.isfinite(position).all(axis=1))
        position = np.where(valid[:, None], position, 0.0)
        quat = np.tile([1.0, 0.0, 0.0, 0.0], (n, 1))
    rows, body, leave = np.arange(n, dtype=np.int32), np.full(n, -1, np.int32), np.full(n, -1, np.int32)
    if exclude_body is not None:
        leave = as_int_array(
            exclude_body, "exclude_body", shape=(n,), low=-1, high=len(bodies), dtype=np.int32,
            expected=f"bodies of the obstacles from 0 to {len(bodies) - 1}, or -1",
        )  # fmt: skip
    if pairs is not None:
        if exclude_body is not None:
            raise ValueError(
                "exclude_body: expected nothing when pairs are given, since they say which bodies a mover "
                "meets; leave exclude_body out, or pairs"
            )
        if world is not None:
            raise ValueError(
                "world: expected nothing when pairs are given, since they say which bodies a mover meets; "
                "leave world out, or pairs"
            )
        rows, body = _checked_pairs(pairs, n, len(bodies)).T
        leave, valid = leave[rows], valid[rows] & bodies.valid[body]
        shape, position, quat = shape[rows], position[rows], quat[rows]
        rank, (group, mask) = np.zeros(len(rows), np.int32), np.full((2, len(rows)), -1, np.int32)
    else:
        rank, group, mask = _meetings(world, leave, rules)
    return Movers(n, meshes, shape, position, quat, valid, rows, body, leave, rank, group, mask, valid,
                  np.zeros(len(rows)), np.zeros(len(rows)))  # fmt: skip


def _meetings(world: Any, leave: Array, rules: Rules) -> tuple[Array, Array, Array]:
    """Rank of the world, group and mask of each mover: those of the body that it is, if it is one."""
    n, is_body = len(leave), leave >= 0
    group, mask = (
        np.full(n, -1, np.int32) if which is None else np.append(which.view(np.int32), np.int32(-1))[leave]
        for which in (rules.group, rules.mask)
    )
    if world is not None:
        if rules.world is None:
            raise ValueError(
                "world: expected nothing where the obstacles have no world numbers, got "
                f"{type(world).__name__}; give the Scene its world=, or leave world out"
            )
        given = as_int_array(
            world, "world", shape=() if np.ndim(world) == 0 else (n,), low=EVERYWHERE,
            high=LARGEST_WORLD, dtype=np.int64, expected="-1 (every world) or a number from 0 on",
        )  # fmt: skip
        return rules.rank_of(np.broadcast_to(given, (n,))), group, mask
    if rules.world is None:
        return np.zeros(n, np.int32), group, mask
    if not is_body.all():
        none = np.flatnonzero(~is_body)
        raise ValueError(
            "world: expected the world's number of each mover, since the Scene has such numbers, got "
            f"None, and no body of the Scene in exclude_body for {how_many(none.size, 'mover')}, first: "
            f"{first_few(none)}; pass world (-1: every world), exclude_body, or pairs"
        )
    return rules.rank_of(rules.world[leave]), group, mask


def _points(movers: Any) -> Array:
    """Points that a caller gave as movers."""
    if isinstance(movers, Scene):
        raise TypeError("movers: expected gpu_collide.Bodies or points (n, 3), got Scene; pass scene.bodies")
    try:
        return as_float_array(movers, "movers", shape=(None, 3))
    except TypeError as error:
        got = type(movers).__name__
        raise TypeError(
            f"movers: expected gpu_collide.Bodies or points (n, 3), got {got} ({error})"
        ) from None


def check_moving(movers: Any, precision: str) -> None:
    """Raise for what cannot be asked where obstacles move: points, and single precision."""
    if not isinstance(movers, Bodies):
        raise TypeError(
            "movers: expected gpu_collide.Bodies where obstacles move, got points; gc.sweep.rays casts "
            "points among bodies that move, and obstacles.moved(obstacles.start, obstacles.start) stand still"
        )
    if precision == "single":
        raise ValueError(
            "precision: expected 'mixed' or 'double' where obstacles move, got 'single', whose contacts of "
            "bodies that turn are off by more than movers may be"
        )


def _checked_pairs(pairs: Any, n_movers: int, n_bodies: int) -> Array:
    """Rows (mover, body of the world)."""
    array = as_numpy(pairs, "pairs")
    if array.shape == (0, 2) or (array.shape == (0,) and not isinstance(pairs, np.ndarray)):
        return np.zeros((0, 2), np.int32)
    array = as_int_array(array, "pairs", shape=(None, 2), dtype=np.int64)
    for column, (what, n) in enumerate((("movers", n_movers), ("bodies of the world", n_bodies))):
        bad = np.flatnonzero((array[:, column] < 0) | (array[:, column] >= n))
        if bad.size:
            raise ValueError(
                f"pairs: expected {what} from 0 to {n - 1} in column {column}, got {array[bad[0], column]} "
                f"({how_many(bad.size, 'row')} out of range, first: {first_few(bad)})"
            )
    return array.astype(np.int32)


def per_mover(value: Any, name: str, movers: Movers, n: int, width: int | None = 3) -> Array:
    """A vector (or with `width` None a number) for each answer, from one for all or one for each of n
    movers."""
    tail = () if width is None else (width,)
    array = as_float_array(value, name)
    if array.shape not in (tail, (n, *tail)):
        raise ValueError(f"{name}: expected shape {tail} or {(n, *tail)}, got {array.shape}")
    return np.broadcast_to(array, (n, *tail))[movers.mover]


def reach_of(movers: Movers, bodies: Bodies) -> float:
    """How far features of a mover and of a body may be from both their origins, along an axis of either."""
    size = [
        max((prepared.collidable_features_of(m).reach for m in meshes), default=0.0)
        for meshes in (movers.meshes or (), bodies.meshes)
    ]
    with np.errstate(over="ignore"):
        return float(np.sqrt(3.0) * (size[0] + 2.0 * size[1]))


def check_expel(
    expel: Any,
    movers: Movers,
    far: tuple[Array, Array],
    turns: bool,
    bodies: Bodies,
    precision: str,
    moving: bool = False,
) -> Movers:
    """The movers with the thickness of their zones: the bound on the error of all that takes part in the way,
    or `expel` if that is more. It may be less, since what follows a way may lead farther than the way that
    its zone was made for, but not so little that where they stand is in doubt.

    Parameters
    ----------
    expel : float, (n,) array_like or None
    far : ((k,) float64, (k,) float64)
        Greatest coordinate of where each stands, from where positions count; the same with its way.
    turns : bool
        A turn rounds what it turns, and begins where a way has ended; a way alone is exact where it begins.
    moving : bool
        Bodies move: no zone is thinner than a share of the sizes.
    """
    key = "mixed" if precision == "reference" else precision
    c = sources.constants(key)
    wide = reach_of(movers, bodies)
    with np.errstate(over="ignore", invalid="ignore"):
        largest = far[1] + wide
        stands, least = (c["GC_ZONE_DEFAULT"] * c["GC_ROUNDING"] * (x + wide) for x in far)
    if moving:
        least = np.maximum(least, MOVING * wide)
    inside = np.isfinite(largest) & (largest <= MOST[key]) & ((largest >= LEAST[key]) | (largest == 0.0))
    zone = least = np.where(inside, least, 0.0)
    if expel is not None:
        given = per_mover(expel, "expel", movers, movers.count, None)
        thinnest = ROOM * np.where(inside, stands, 0.0)
        thin = np.flatnonzero(~(given >= thinnest) & movers.moves)
        if thin.size or not np.isfinite(given).all():
            row = int(thin[0]) if thin.size else int(np.flatnonzero(~np.isfinite(given))[0])
            raise ValueError(
                f"expel: expected a finite length of at least {thinnest[row]:.3g} for mover "
                f"{movers.mover[row]}, half the bound on the error of where it stands, got {given[row]:.3g}; "
                "pass one that thick, or None"
            )
        zone = np.where(inside, np.maximum(given, least), 0.0)
    doubt = c["GC_ZONE_SURE"] * np.where(inside, least if turns else stands, 0.0)
    return replace(movers, zone=zone, doubt=doubt, moves=movers.moves & inside)


def internal(mesh: Mesh) -> tuple[int, int]:
    """Edges and vertices of a mesh that can never be the first to touch anything.

    Parameters
    ----------
    mesh : Mesh

    Returns
    -------
    edges, vertices : int
        Edges at which two faces fold inwards, or lie in one plane; vertices that have no other edges. Queries
        skip them, except as borders of faces.

    Raises
    ------
    TypeError
        No mesh.

    Examples
    --------
    >>> import gpu_collide as gc
    >>> gc.pluecker.internal(gc.shapes.box()), gc.pluecker.internal(gc.shapes.torus())
    ((0, 0), (140, 0))
    """
    if not isinstance(mesh, Mesh):
        raise TypeError(f"mesh: expected gpu_collide.Mesh, got {type(mesh).__name__}")
    wedges = prepared.collidable_features_of(mesh)
    return wedges.internal_edges, wedges.internal_vertices


def movers_on(where: Any, precision: Any, max_bytes: Any) -> Any:
    """Who answers: the kernels on a backend, or the reference, which has the same verbs."""
    if where.kind == "reference":
        from gpu_collide.reference.pluecker import Reference

        return Reference()
    from gpu_collide.pipeline.movers.moves import MoverQuery

    return MoverQuery(where, precision, max_bytes)
