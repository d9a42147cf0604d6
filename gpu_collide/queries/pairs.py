"""`find_pairs` and `BroadPhase`: which bodies may meet during a step, among all of them."""

from __future__ import annotations

import threading
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from gpu_collide._calls import renamed, warn_caller, within_memory
from gpu_collide._options import OLD_TUNING, Options
from gpu_collide._validate import first_few, how_many
from gpu_collide.backends import get_backend
from gpu_collide.backends.fork import renew_after_fork
from gpu_collide.backends.host import host_memory_free, host_memory_lately
from gpu_collide.bodies.bodies import Bodies, check_bodies
from gpu_collide.bodies.poses import what_is_wrong
from gpu_collide.bodies.refusals import check_motion
from gpu_collide.bodies.rules import check_rules
from gpu_collide.errors import MemoryLimitError
from gpu_collide.pipeline.broad_phase.pairs import KeptTree
from gpu_collide.pipeline.broad_phase.trees import MOST_LEAVES
from gpu_collide.pipeline.launch.launcher import MemoryBudget
from gpu_collide.queries.compounds import for_compounds
from gpu_collide.queries.engine import engine_on
from gpu_collide.results.report import PairReport

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    from gpu_collide._options import Tuning
    from gpu_collide._types import Array, ArrayLike, BackendName, MotionName, Precision
    from gpu_collide.bodies.rules import Rules

__all__ = [
    "BroadPhase",
    "PairReport",
    "all_pairs",
    "check_count",
    "find_pairs",
    "gathered",
    "open_search",
    "warn_of_invalid",
]

RESULT_BYTES = (
    25 + 8
)  # of the result for one pair without contacts: status, toi, contact_start, pairs; and to join
PAIR_BYTES = 8
MOST_PAIRS = (1 << 31) - 1  # contacts number their pair with an int32
MANY_PAIRS = 20_000_000  # beyond which collide warns: a crowd, or rules that were forgotten
_BLOCK = 1 << 24  # pairs filled at a time


@for_compounds
@renamed(broad_phase=OLD_TUNING["broad_phase"])
def find_pairs(
    bodies: Bodies,
    *,
    world: ArrayLike | None = None,
    group: ArrayLike | None = None,
    mask: ArrayLike | None = None,
    ignore: ArrayLike | None = None,
    still_pairs: bool = False,
    motion: MotionName = "relative",
    tuning: Tuning | None = None,
    precision: Precision = "mixed",
    backend: BackendName = "auto",
    max_bytes: int | None = None,
) -> NDArray[np.int32]:
    """Pairs of bodies that may meet during the step: a superset of those that do.

    Parameters
    ----------
    bodies : Bodies
        n bodies. Those with an invalid pose are in no pair; a warning names the first few.
    world : (n,) array_like of int, optional
        Bodies meet only bodies of the same world. -1: in every world, such as a track that all share.
        Default: that of the bodies, if their poses have the shape ``(worlds, n)``, else one world.
    group, mask : (n,) array_like of int, optional
        Bits, 32 of them. A pair is kept if ``group[a] & mask[b]`` and ``group[b] & mask[a]`` are not zero.
        Default: all ones.
    ignore : (k, 2) array_like of int, optional
        Pairs never made, in either order.
    still_pairs : bool, optional
        Also pair bodies that both stand still: equal positions, and equal unit quaternions up to their sign,
        at start and end.
    motion : {"relative", "body"}, optional
        How bodies move, as in `collide`: pairs for one need not hold those that meet by the other.
    tuning : Tuning, optional
        Its `broad_phase` counts: a tree of bounding volumes, or all pairs that the rules above allow.
    precision : {"mixed", "double", "single"}, optional
        Of the bounds, which are padded by their own rounding; ``single`` is for devices without float64.
    backend : {"auto", "cpu", "opencl", "cuda", "reference"}, optional
        As in `collide`. ``reference`` looks at every pair.
    max_bytes : int, optional
        Limit of the memory, the pairs included. Default 2 GiB.

    Returns
    -------
    (p, 2) int32 ndarray
        Rows (a, b) with a < b, in lexicographic order. The same on the backends ``cpu``, ``opencl`` and
        ``cuda``.

    Raises
    ------
    TypeError, ValueError
        Wrong arguments.
    MemoryLimitError
        There are more pairs than `max_bytes` holds.

    Notes
    -----
    With ``motion="body"`` the boxes that both sweep must meet.

    Else the motion of a pair is the screw motion of one body seen from the other. If one stands still, that
    is the other's own motion, and the boxes that both sweep must meet. If both move, their swept boxes say
    nothing:
    two bodies far apart that both turn half round pass through each other's place, seen from one another.
    Then the straight paths of both centres must come near each other, the nearer the less the bodies turn;
    bodies that turn by a quarter and more in a step are hardly ever separated.
    ``gpu_collide.reference.broad_phase.b04_pairs`` has the bound and its proof.

    Examples
    --------
    >>> import gpu_collide as gc
    >>> still = [[1, 0, 0, 0]] * 3
    >>> start = gc.Poses.from_quat_wxyz([[0, 0, 0], [-3, 0, 0], [0, 9, 0]], still)
    >>> end = gc.Poses.from_quat_wxyz([[0, 0, 0], [3, 0, 0], [1, 9, 0]], still)
    >>> gc.find_pairs(gc.Bodies(gc.shapes.box(), None, start, end)).tolist()
    [[0, 1]]
    """
    check_bodies(bodies)
    return BroadPhase(
        len(bodies), world=bodies.world if world is None else world, group=group, mask=mask, ignore=ignore,
        still_pairs=still_pairs, motion=motion, tuning=tuning, precision=precision, backend=backend,
        max_bytes=max_bytes,
    ).find_pairs(bodies)  # fmt: skip


class BroadPhase:
    """A broad phase that keeps its tree from step to step.

    The first `find_pairs` builds the tree. Later ones only give it new boxes, unless another set of bodies
    has valid poses, or the bodies have moved so far from their places in the tree that it costs half as much
    again. The answer does not depend on that.

    Parameters
    ----------
    n_bodies : int
    world, group, mask, ignore, still_pairs, motion, tuning, precision, backend, max_bytes
        As in `find_pairs`.

    Attributes
    ----------
    rules : Rules
    report : PairReport or None
        What the last step did, in its attributes `broad_phase`; `bodies`, their number; `invalid_bodies`, the
        numbers of those with invalid poses; `possible`, pairs of valid bodies that share a world; `pairs`,
        those that were found; `tests`, nodes and bodies visited; `refitted`, whether the tree was kept;
        `seconds_build` for the tree and `seconds_search`.

    Examples
    --------
    >>> import gpu_collide as gc
    >>> phase = gc.BroadPhase(2)
    >>> for step in range(3):
    ...     start = gc.Poses.from_quat_wxyz([[step, 0, 0], [3.5, 0, 0]], [[1, 0, 0, 0]] * 2)
    ...     end = gc.Poses.from_quat_wxyz([[step + 1, 0, 0], [3.5, 0, 0]], [[1, 0, 0, 0]] * 2)
    ...     print(len(phase.find_pairs(gc.Bodies(gc.shapes.box(), None, start, end))), phase.report.refitted)
    0 False
    0 True
    1 True
    """

    @renamed(broad_phase=OLD_TUNING["broad_phase"])
    def __init__(
        self,
        n_bodies: int,
        *,
        world: ArrayLike | None = None,
        group: ArrayLike | None = None,
        mask: ArrayLike | None = None,
        ignore: ArrayLike | None = None,
        still_pairs: bool = False,
        motion: MotionName = "relative",
        tuning: Tuning | None = None,
        precision: Precision = "mixed",
        backend: BackendName = "auto",
        max_bytes: int | None = None,
    ) -> None:
        if isinstance(n_bodies, (bool, np.bool_)) or not isinstance(n_bodies, (int, np.integer)):
            raise TypeError(f"n_bodies: expected a number of bodies, got {type(n_bodies).__name__}")
        if n_bodies < 0:
            raise ValueError(f"n_bodies: expected a number of bodies, got {n_bodies}")
        check_count(int(n_bodies), "n_bodies")
        self._rules = check_rules(int(n_bodies), world, group, mask, ignore, still_pairs)
        options = Options.checked(
            motion=motion, tuning=tuning, precision=precision, backend=backend, max_bytes=max_bytes
        )
        self._engine = engine_on(get_backend(options.backend, options.precision, ("bvh",)), options)
        self._tree_bytes = self._engine.tree_bytes(self._rules.n)
        self._kept, self._report = KeptTree(), None
        self._after_fork()
        renew_after_fork(self)

    def _after_fork(self) -> None:
        self._lock = threading.Lock()  # kernels of two steps must not work on one tree

    def __reduce__(self) -> Any:
        """Copies, and what comes out of a pickle, are searches of their own, with no tree yet."""
        options = self._engine.options
        names = ("motion", "tuning", "precision", "backend", "max_bytes")
        keywords = {**self._rules.arguments(), **{name: getattr(options, name) for name in names}}
        return partial(type(self), **keywords), (self._rules.n,)

    @property
    def rules(self) -> Rules:
        """Which bodies may be paired."""
        return self._rules

    @property
    def report(self) -> PairReport | None:
        """What the last step did; None before there was one."""
        return self._report

    def __repr__(self) -> str:
        count, kind = how_many(self._rules.n, "body", "bodies"), self._engine.options.broad_phase
        made = f"BroadPhase({count}, {kind!r}, {self._engine.kind}"
        report = self.report
        if report is None:
            return f"{made}, no step yet)"
        tree = ", tree refitted" if report.refitted else ""
        return f"{made}, last step: {report.pairs} of {how_many(report.possible, 'pair')}{tree})"

    @within_memory
    def find_pairs(self, bodies: Bodies) -> NDArray[np.int32]:
        """Pairs of the bodies that may meet during the step; see `gpu_collide.find_pairs`."""
        check_bodies(bodies)
        check_motion(bodies, self._engine.options.motion)
        if len(bodies) != self._rules.n:
            raise ValueError(f"bodies: expected {self._rules.n} bodies, got {len(bodies)}")
        if bodies.worlds is not None and self._rules.world is None:
            raise ValueError(
                "world: expected the worlds of the bodies, whose poses are those of "
                f"{bodies.worlds[0]} worlds, got None; make the BroadPhase with world=bodies.world"
            )
        with self._lock:
            pairs, report = all_pairs(self._engine, bodies, self._rules, self._kept)
            self._report = report
        warn_of_invalid(bodies, report.invalid_bodies)
        return pairs


def all_pairs(engine: Any, bodies: Bodies, rules: Rules, kept: Any, held: int = 0) -> Any:
    """Pairs of `bodies`, and the report of the search for them.

    Parameters
    ----------
    engine : Pipeline or Reference
    bodies : Bodies
    rules : Rules
    kept : KeptTree
        Of the step before; has that of this one afterwards.
    held : int
        Bytes that the caller holds besides.

    Raises
    ------
    MemoryLimitError
    """
    max_bytes, held = engine.options.max_bytes, held + engine.tree_bytes(rules.n)
    if held > max_bytes:
        raise _no_room_for_tree(rules.n, held, max_bytes)
    most = MemoryBudget(max_bytes).fits(PAIR_BYTES, held=held)
    found = engine.search(bodies, rules, kept.take(), most=most)
    if not found.complete or found.total + min(found.total, _BLOCK) > most:
        _refuse(found, rules.n, held, max_bytes)
    pairs = gathered(found)
    kept.keep(found)
    return pairs, found.report


def _refuse(found: Any, n: int, held: int, max_bytes: int) -> None:
    more, about = ("", "") if found.complete else ("more than ", f" (about {found.likely} in all)")
    total = found.total if found.complete else max(found.total, found.likely)
    need = held + PAIR_BYTES * (total + min(total, _BLOCK))
    roughly = "" if found.complete else "about "
    raise MemoryLimitError(
        f"max_bytes: expected room for {more}{found.total} pairs of {n} bodies{about}, which "
        f"need {roughly}{need} bytes, got {max_bytes}; pass a larger max_bytes, or "
        "part the bodies by world, group and mask"
    )


def open_search(
    engine: Any, bodies: Bodies, rules: Rules, tree: Any = None, margin: float | Array = 0.0
) -> Any:
    """The counted pairs of `bodies` that may come within `margin`, one or one a body, for a query that takes
    them block by block.

    Refuses more pairs than the machine has memory for a result of, warns of very many and of invalid bodies.
    `tree` is that of a step before, if there is one.
    """
    check_count(rules.n, "bodies")
    need, max_bytes = engine.tree_bytes(rules.n), engine.options.max_bytes
    if need > max_bytes:
        raise _no_room_for_tree(rules.n, need, max_bytes)
    free = host_memory_free() if tree is None else host_memory_lately()
    most = min(free // RESULT_BYTES, MOST_PAIRS)
    found = engine.search(bodies, rules, tree, most=most, margin=margin)
    if not found.complete or found.total > most:
        more, about = ("", "") if found.complete else ("more than ", f" (about {found.likely} in all)")
        raise MemoryLimitError(
            f"bodies: expected at most {most} pairs, for whose results there is memory, got "
            f"{more}{found.total} pairs of {rules.n} bodies{about}; part the bodies by world, group and "
            "mask, or find the pairs by find_pairs and hand them over a share at a time"
        )
    warn_of_invalid(bodies, found.report.invalid_bodies)
    if found.total > MANY_PAIRS:
        warn_caller(
            f"the broad phase found {found.total} pairs of {rules.n} bodies, which are now looked at block "
            f"by block: that takes long, and their result at least {25 * found.total} bytes. If so many are "
            "not meant, part the bodies by world, group and mask, or take shorter steps; if they are, "
            "find_pairs finds them to be handed over a share at a time"
        )
    return found


def check_count(n: int, name: str) -> None:
    if n > MOST_LEAVES:
        raise ValueError(
            f"{name}: expected at most {MOST_LEAVES} bodies, which is what a tree holds, got {n}; part them, "
            "as by world, over several calls"
        )


def _no_room_for_tree(n: int, need: int, max_bytes: int) -> MemoryLimitError:
    return MemoryLimitError(
        f"max_bytes: expected room for the tree of {n} bodies, which needs {need} bytes, got {max_bytes}; "
        "pass a larger max_bytes"
    )


def gathered(found: Any) -> Array:
    """All pairs of a search in one array."""
    if found.total <= _BLOCK:
        return next(iter(found.blocks(_BLOCK)), np.zeros((0, 2), np.int32))
    pairs, at = np.empty((found.total, 2), np.int32), 0
    for block in found.blocks(_BLOCK):
        pairs[at : at + len(block)] = block
        at += len(block)
    return pairs


def warn_of_invalid(
    bodies: Bodies,
    invalid: Array,
    fate: tuple[str, str] = ("is in no pair", "are in no pair"),
) -> None:
    """Warn once of bodies whose poses are none: which, what becomes of one or of many, and why the first
    is."""
    if len(invalid):
        first = int(invalid[0])
        name, reason = next(
            (name, reason)
            for name in ("start", "end")
            if (reason := what_is_wrong(getattr(bodies, name), first)) is not None
        )
        if bodies.body is not None:  # rows of compounds
            invalid = np.unique(bodies.body[invalid])
            first = int(invalid[0])
        warn_caller(
            f"{how_many(len(invalid), 'body has', 'bodies have')} an invalid pose and "
            f"{fate[len(invalid) > 1]}, first: {first_few(invalid)} (body {first} at its {name}: {reason})"
        )
