"""Which bodies may be paired: worlds, groups and masks, ignored pairs, bodies at rest."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from gpu_collide._validate import as_int_array, as_numpy, check_bool, first_few, how_many, read_only

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    from gpu_collide._types import Array, BoolArray
    from gpu_collide.bodies.bodies import Bodies

__all__ = [
    "EVERYWHERE",
    "LARGEST_WORLD",
    "Rules",
    "cast_rules",
    "cast_worlds",
    "check_active",
    "check_rules",
    "still_bodies",
]

EVERYWHERE = -1  # the world of bodies that are in every world
LARGEST_WORLD = 1 << 62
BITS = (-(1 << 31), 1 << 32)  # numbers that are read as 32 bits


@dataclass(frozen=True, eq=False)
class Rules:
    """Checked rules for `n` bodies; None means that the rule leaves nothing out.

    Attributes
    ----------
    n : int
    world : (n,) int64 or None
        -1: in every world.
    group, mask : (n,) uint32 or None
    ignore : (k,) int64
        ``a * n + b`` of the pairs never made, a < b, rising, each once.
    still_pairs : bool
        Are two bodies that both stand still a pair?
    """

    n: int
    world: NDArray[np.int64] | None
    group: NDArray[np.uint32] | None
    mask: NDArray[np.uint32] | None
    ignore: NDArray[np.int64]
    still_pairs: bool

    def arguments(self) -> dict[str, Any]:
        """What `check_rules` makes the same rules of again, by the names of the public arguments."""
        pairs = np.stack(np.divmod(self.ignore, max(self.n, 1)), axis=1)
        return {"world": self.world, "group": self.group, "mask": self.mask, "ignore": pairs,
                "still_pairs": self.still_pairs}  # fmt: skip

    @cached_property
    def bits(self) -> NDArray[np.int32]:
        """(n, 2) int32: group and mask of each body, all bits where there are none."""
        bits = np.full((self.n, 2), -1, np.int32)
        for column, which in enumerate((self.group, self.mask)):
            if which is not None:
                bits[:, column] = which.view(np.int32)
        return bits

    @cached_property
    def unmet(self) -> BoolArray | None:
        """(n,) bool: bodies without a bit in their group or mask, which meet nothing; None: all have some."""
        unmet = [which == 0 for which in (self.group, self.mask) if which is not None]
        found = unmet[0] if len(unmet) == 1 else unmet[0] | unmet[1] if unmet else None
        return found if found is not None and found.any() else None

    @cached_property
    def among_still(self) -> Rules:
        """The same rules, by which two bodies that both stand still are a pair."""
        return self if self.still_pairs else replace(self, still_pairs=True)

    def only(self, active: BoolArray) -> Rules:
        """The same rules for bodies of which those not `active`, (n,) bool, meet nothing: their mask is 0."""
        if active.all():
            return self
        every = np.uint32(0xFFFFFFFF) if self.mask is None else self.mask
        return replace(self, mask=read_only(np.where(active, every, np.uint32(0))))

    def same_tree(self, other: Rules) -> bool:
        """Does a tree built under `other` serve these rules? (Only worlds decide how leaves are ordered.)"""
        if self.n != other.n or self.world is None or other.world is None:
            return self.n == other.n and self.world is other.world
        return self.world is other.world or np.array_equal(self.world, other.world)

    def ranks(self) -> tuple[Array | None, int]:
        """World of each body as a small number, 0 for -1, or None if all share one; and how many numbers."""
        if self.world is None:
            return None, 2
        top = int(self.world.max(initial=0))
        if top <= 2 * self.n + 64:
            return (self.world + 1).astype(np.int32), top + 2
        worlds, rank = np.unique(self.world, return_inverse=True)
        shift = 0 if len(worlds) and worlds[0] == EVERYWHERE else 1
        return (rank.reshape(-1) + shift).astype(np.int32), len(worlds) + shift

    def rank_of(self, number: Array) -> Array:
        """Ranks, as `ranks` has them, of worlds by number (-1: every world); one without bodies is a rank of
        its own."""
        if self.world is None:
            return np.zeros(len(number), np.int32)
        ranks, n_ranks = self.ranks()
        order = np.argsort(self.world, kind="stable")
        at = np.minimum(np.searchsorted(self.world, number, sorter=order), self.n - 1)
        known = self.world[order[at]] == number if self.n else np.zeros(len(number), bool)
        rank = np.full(len(number), n_ranks, np.int32)
        if ranks is not None and self.n:
            rank[known] = ranks[order[at]][known]
        return np.where(number == EVERYWHERE, np.int32(0), rank)

    def possible(self, valid: BoolArray, still: BoolArray) -> int:
        """Pairs of valid bodies that share a world, before `group`, `mask` and `ignore`.

        Parameters
        ----------
        valid, still : (n,) bool
        """
        total = self._in_worlds(valid)
        return total if self.still_pairs else total - self._in_worlds(valid & still)

    def meet(self, rank: Array, group: Array, mask: Array, own: Array, body: Array) -> BoolArray:
        """Whether what has these rules for its own, all (k,), may meet each `body`.

        Parameters
        ----------
        rank, group, mask, own, body : (k,) int32
            `own` is the body that it is, or -1.
        """
        ranks, _ = self.ranks()
        theirs = np.zeros(len(body), np.int32) if ranks is None else ranks[body]
        kept = (body != own) & ((theirs == rank) | (theirs == 0) | (rank == 0))
        if self.mask is not None:
            kept &= (group.view(np.uint32) & self.mask[body]) != 0
        if self.group is not None:
            kept &= (mask.view(np.uint32) & self.group[body]) != 0
        if len(self.ignore):
            key = np.minimum(own, body).astype(np.int64) * self.n + np.maximum(own, body)
            at = np.minimum(np.searchsorted(self.ignore, key), len(self.ignore) - 1)
            kept &= (own < 0) | (self.ignore[at] != key)
        return kept

    def _in_worlds(self, among: BoolArray) -> int:
        ranks, n_ranks = self.ranks()
        if ranks is None:
            counts = [0, int(among.sum())]
        else:
            counts = np.bincount(ranks[among], minlength=n_ranks).tolist()
        shared, others = counts[0], sum(counts[1:])
        return sum(c * (c - 1) // 2 for c in counts) + shared * others


def check_rules(
    n: int,
    world: Any = None,
    group: Any = None,
    mask: Any = None,
    ignore: Any = None,
    still_pairs: Any = False,
) -> Rules:
    """`Rules` from a caller's arguments.

    Parameters
    ----------
    n : int
        Number of bodies.
    world : (n,) array_like of int, optional
        Bodies meet only bodies of the same world; -1 is in every world. Default: all in one.
    group, mask : (n,) array_like of int, optional
        Bits, 32 of them. A pair is kept if ``group[a] & mask[b]`` and ``group[b] & mask[a]``. Default: all
        ones.
    ignore : (k, 2) array_like of int, optional
        Pairs that are never made, in either order.
    still_pairs : bool, optional

    Raises
    ------
    TypeError, ValueError
        Naming the argument.
    """
    if world is not None:
        expected = "-1 (every world) or a number from 0 on, below 2**62"
        world = _per_body(world, "world", n, EVERYWHERE, LARGEST_WORLD, expected)
    if group is not None:
        group = _bits(group, "group", n)
    if mask is not None:
        mask = _bits(mask, "mask", n)
    still_pairs = check_bool(still_pairs, "still_pairs")
    return Rules(n, world, group, mask, _ignored(ignore, n), still_pairs)


def cast_rules(
    group: Any, mask: Any, ignore: Any, world: Any, n: int, n_bodies: int
) -> NDArray[np.int32] | None:
    """Which bodies each of n casts meets: (n, 4) int32, group, mask, body to ignore and rank of its world;
    None: all of them.

    Parameters
    ----------
    group, mask : int or (n,) array_like of int, optional
        Bits, as `check_rules` has them. Default: all ones.
    ignore : int or (n,) array_like of int, optional
        A body that it passes; -1: none.
    world : int or (n,) array of int, optional
        What `cast_worlds` gives. Default: all worlds.

    Raises
    ------
    TypeError, ValueError
        Naming the argument.
    """
    given = {"group": (group, *BITS, "32 bits a cast, a number from 0 to 4294967295"),
             "mask": (mask, *BITS, "32 bits a cast, a number from 0 to 4294967295"),
             "ignore": (ignore, -1, n_bodies, f"bodies from 0 to {n_bodies - 1}, or -1")}  # fmt: skip
    if world is None and all(values is None for values, *_ in given.values()):
        return None
    rows = np.full((n, 4), -1, np.int32)
    rows[:, 3] = 0 if world is None else world
    for column, (name, (values, low, high, expected)) in enumerate(given.items()):
        if values is not None:
            rows[:, column] = _per_cast(values, name, n, low, high, expected)
    return rows


def cast_worlds(world: Any, n: int, places: Rules | None) -> Array:
    """Ranks of the worlds that n casts are in, () or (n,), by numbers that bodies have under `places`.

    Raises
    ------
    TypeError, ValueError
        Naming the argument; bodies without worlds.
    """
    if places is None or places.world is None:
        raise ValueError(
            "world: expected obstacles in worlds, got some without; give their numbers as Scene(world=), or "
            "poses of shape (worlds, n)"
        )
    expected = "one world for all casts or one for each, numbers from 0 up, below 2**62"
    array = _one_or_each(
        as_int_array(world, "world", low=0, high=LARGEST_WORLD, expected=expected), "world", n
    )
    return np.asarray(places.rank_of(array.reshape(-1)).reshape(array.shape))


def _per_cast(values: Any, name: str, n: int, low: int, high: int, expected: str) -> NDArray[np.int32]:
    array = _one_or_each(as_int_array(values, name, low=low, high=high, expected=expected), name, n)
    return (array & 0xFFFFFFFF).astype(np.uint32).view(np.int32)


def _one_or_each(array: Array, name: str, n: int) -> Array:
    if array.shape not in ((), (n,)):
        raise ValueError(f"{name}: expected a number, or shape ({n},), got {array.shape}")
    return array


def check_active(before: BoolArray, bodies: Any, active: Any) -> BoolArray:
    """Which bodies take part, (n,) bool, once some are switched on or off.

    Raises
    ------
    TypeError, ValueError
        No bodies, or something else than a bool for all or for each of them.
    """
    which = as_int_array(bodies, "bodies", low=0, high=len(before))
    if which.ndim > 1:
        raise ValueError(f"bodies: expected a number or shape (k,), got {which.shape}")
    given = as_numpy(active, "active")
    if given.dtype != bool:
        raise TypeError(f"active: expected bool, got {given.dtype}")
    if given.shape not in ((), which.shape):
        raise ValueError(f"active: expected a bool or shape {which.shape}, got {given.shape}")
    after = before.copy()
    after[which] = given
    return read_only(after)


#: What integers of bools would mean.
_OF_BOOLS = {
    "world": "numpy.asarray(world, dtype=int) are the worlds 0 and 1",
    "group": "numpy.asarray(group, dtype=int) has the lowest bit for True, and bodies of False in no pair",
    "mask": "numpy.asarray(mask, dtype=int) has the lowest bit for True, and bodies of False in no pair",
    "ignore": "numpy.argwhere(ignore) are the rows of a table of all pairs, without its diagonal",
}


def _integers(values: Any, name: str) -> Array:
    """`values` as an array of integers, without rounding or guessing."""
    array = as_numpy(values, name)
    if array.size == 0 and not isinstance(values, np.ndarray) and array.dtype.kind == "f":
        return array.astype(np.int64)  # NumPy calls [] a float array
    if array.dtype.kind in "iu":
        return array
    remedy = _OF_BOOLS[name] if array.dtype.kind == "b" else f"pass numpy.asarray({name}, dtype=int)"
    raise TypeError(f"{name}: expected integers, got {array.dtype}; {remedy}")


def _per_body(values: Any, name: str, n: int, low: int, high: int, expected: str) -> Array:
    array = _integers(values, name)
    array = as_int_array(array, name, shape=(None,), low=low, high=high, expected=expected)
    if len(array) != n:
        raise ValueError(f"{name}: expected one number per body, {n}, got {len(array)}")
    return read_only(array)


def _bits(values: Any, name: str, n: int) -> Array:
    expected = "32 bits a body, a number from 0 to 4294967295 (or -2147483648 to -1, read as int32)"
    array = _per_body(values, name, n, *BITS, expected)
    return read_only((array & 0xFFFFFFFF).astype(np.uint32))


def _ignored(ignore: Any, n: int) -> Array:
    if ignore is None:
        return np.zeros(0, np.int64)
    pairs = as_numpy(ignore, "ignore")
    if pairs.shape == (0,) and not isinstance(ignore, np.ndarray):
        return np.zeros(0, np.int64)
    pairs = as_int_array(_integers(pairs, "ignore"), "ignore", shape=(None, 2), low=0, high=n)
    itself = np.flatnonzero(pairs[:, 0] == pairs[:, 1])
    if itself.size:
        raise ValueError(
            f"ignore: expected two different bodies in each row, got a body with itself in "
            f"{how_many(itself.size, 'row')}, first: {first_few(itself)}"
        )
    return np.unique(pairs.min(axis=1) * n + pairs.max(axis=1))


def still_bodies(bodies: Bodies) -> BoolArray:
    """(n,) bool: start and end pose are the same, to the bit; quaternions up to their sign. Of bodies given
    by velocities: these are zero (whole turns end where they began)."""
    start, end = bodies.start, bodies.end
    same = _columns(start.position == end.position)
    if same.any():
        turned = _columns(start.unit_wxyz == end.unit_wxyz)
        same &= turned | _columns(start.unit_wxyz == -end.unit_wxyz)
    if bodies.spins is not None:
        rests = _columns(bodies.spins.displacement == 0) & _columns(bodies.spins.rotation == 0)
        same = np.where(bodies.spins.spinning, rests, same)
    return same


def _columns(equal: BoolArray) -> BoolArray:
    """``equal.all(axis=1)``, which takes several times as long."""
    first, *others = equal.T
    whole = first.copy()
    for column in others:
        whole &= column
    return whole
