"""`collide_trajectories`: every contact between bodies whose poses are given at many times."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import fields, replace
from typing import TYPE_CHECKING, overload

import numpy as np

from gpu_collide._calls import renamed
from gpu_collide._options import OLD_TUNING, Options
from gpu_collide._validate import (
    as_float_array,
    as_int_array,
    check_bool,
    check_callable,
    check_finite,
    check_positive,
    first_few,
    how_many,
)
from gpu_collide.backends import get_backend
from gpu_collide.bodies.bodies import Bodies
from gpu_collide.bodies.compound import refuse_compounds
from gpu_collide.bodies.poses import Poses
from gpu_collide.bodies.rules import check_rules, still_bodies
from gpu_collide.geometry.mesh.mesh import Mesh
from gpu_collide.queries.engine import engine_on
from gpu_collide.queries.exits import check_exit
from gpu_collide.queries.trajectory_batches import Participants, TrajectoryBatches, check_block, windows
from gpu_collide.results.trajectory_contacts import TrajectoryContacts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any, Literal, TypeVar

    from numpy.typing import NDArray
    from typing_extensions import Unpack

    from gpu_collide._options import QueryOptions, StepOptions
    from gpu_collide._types import ArrayLike, Progress
    from gpu_collide.queries.trajectory_batches import StepBatches

    _Batches = TypeVar("_Batches", bound=StepBatches)

__all__ = ["as_static", "check_step_options", "collide_trajectories", "step_batches"]


@overload
def collide_trajectories(
    meshes: Mesh | Sequence[Mesh],
    shape: ArrayLike | None,
    poses: Poses | Iterable[Poses] | Iterable[tuple[Poses, ArrayLike | None]],
    times: ArrayLike,
    *,
    there: ArrayLike | None = None,
    static: Bodies | Mesh | None = None,
    stream: Literal[False] = False,
    progress: Progress | None = None,
    **options: Unpack[StepOptions],
) -> TrajectoryContacts: ...


@overload
def collide_trajectories(
    meshes: Mesh | Sequence[Mesh],
    shape: ArrayLike | None,
    poses: Poses | Iterable[Poses] | Iterable[tuple[Poses, ArrayLike | None]],
    times: ArrayLike,
    *,
    there: ArrayLike | None = None,
    static: Bodies | Mesh | None = None,
    stream: Literal[True],
    progress: Progress | None = None,
    **options: Unpack[StepOptions],
) -> Iterator[TrajectoryContacts]: ...


@renamed(**OLD_TUNING)
def collide_trajectories(
    meshes: Mesh | Sequence[Mesh],
    shape: ArrayLike | None,
    poses: Poses | Iterable[Poses] | Iterable[tuple[Poses, ArrayLike | None]],
    times: ArrayLike,
    *,
    there: ArrayLike | None = None,
    static: Bodies | Mesh | None = None,
    world: ArrayLike | None = None,
    group: ArrayLike | None = None,
    mask: ArrayLike | None = None,
    ignore: ArrayLike | None = None,
    still_pairs: bool = False,
    max_speed: float | None = None,
    max_turn: float | None = None,
    frames_per_batch: int | None = None,
    exit: bool = False,
    stream: bool = False,
    progress: Progress | None = None,
    report: bool = False,
    **options: Unpack[QueryOptions],
) -> TrajectoryContacts | Iterator[TrajectoryContacts]:
    """Every contact along trajectories: n bodies whose poses are known at t times.

    Step k leads from frame k to frame k + 1, and between the two bodies move as in `collide`: each pair on
    the screw between its relative poses, or with ``motion="body"`` each body on its own. Many steps go
    through one call of `collide` together, as worlds that do not meet; static bodies are shared by all of
    them.

    Parameters
    ----------
    meshes : Mesh or sequence of Mesh
        The different shapes of the moving bodies.
    shape : (n,) array_like of int or None
        Which mesh each moving body has; None if there is a single mesh.
    poses : Poses of shape (t, n), or iterable of Poses of shape (k, n)
        Pose of every body at every time. Blocks of frames, whose lengths k add up to t, are taken one by one
        and may come from a generator: trajectories need not fit in memory. A block may be a pair of Poses and
        what `there` is for it.
    times : (t,) array_like of float
        Seconds, strictly increasing.
    there : (t, n) array_like of bool, optional
        Whether each body is there at each time. One that is not takes part in no step that begins or ends
        then, its pose is not looked at, and nothing is told of it. Default: all are. With `poses` in blocks
        it comes in the blocks.
    static : Bodies or Mesh, optional
        Bodies that stand still, with meshes of their own: numbers n, n + 1, ...  Their end poses must equal
        their start poses. Two of them never make a pair. A Mesh is one body at the world's origin.
    world : (n,) or (n + static,) array_like of int, optional
        Bodies meet only bodies of the same world; -1 is in every world. Static bodies are in all worlds
        unless given one. Default: one world.
    group, mask : (n,) or (n + static,) array_like of int, optional
        32 bits each: a pair is kept if ``group[a] & mask[b]`` and ``group[b] & mask[a]``. Default: all ones.
    ignore : (k, 2) array_like of int, optional
        Pairs of bodies that are never tested.
    still_pairs : bool, optional
        Also test pairs of bodies that both do not move in a step. Without it only those of them that overlap
        are told, in ``pairs``; static bodies among each other never are.
    max_speed : float, optional
        A body whose position changes faster than this, length per second, has jumped: it is skipped in that
        step with the reason "teleport".
    max_turn : float, optional
        A body that turns by more than this in one step, radians, is skipped with the reason "turn"; at most
        pi. Between two poses the shorter way round is taken, so what turns by more than pi in a step is
        turned the wrong way.
    frames_per_batch : int, optional
        Steps in one call of `collide`. The result has the same bits whatever it is. Default: what keeps to
        65,536 bodies and a quarter of `max_bytes`. Where there are several worlds, and a moving body is in
        all of them or a static one in one, it is always 1.
    exit : bool, optional
        Also find out when the motion of a step takes apart pairs that meet or overlap in it:
        `TrajectoryContacts.exit`, as in `collide`. Those pairs take about four times as long.
    stream : bool, optional
        Return an iterator of results, batch after batch, instead of one.
    progress : callable, optional
        Called as ``progress(steps_done, steps)``; within a batch the steps done are an estimate.
    report : bool, optional
        Count what the broad phase and the filters let through: ``.report`` of the result.
    **options
        Handed to `collide`: ``motion``, ``target_distance``, ``min_properness``, ``contacts``, ``tuning``,
        ``backend``, ``max_bytes``, ...

    Returns
    -------
    TrajectoryContacts, or an iterator of them
        Ordered by (step, body_a, body_b, time, kind, features).

    Raises
    ------
    TypeError, ValueError
        Wrong arguments, before anything is computed, with ``stream=True`` as well; blocks of
        poses when they come.
    Others
        As `collide`.

    Warns
    -----
    RuntimeWarning
        Before the work: eight or more moving bodies, all within their own radius of one place, or one ten
        times as large as all that stands still, which is what meshes in millimetres beside poses in metres
        look like. Each pair of large overlapping bodies can take milliseconds in every step.

    Notes
    -----
    Nothing is skipped in silence: a body that jumped, turned too far, or whose pose is invalid at either end
    of a step takes part in no pair of that step, and is listed in ``skipped``. One that `there` says is away
    is listed nowhere.

    Each step is a problem of its own. A contact that lasts beyond the end of its step is reported again in
    the next one, ``sustained`` from its beginning, and one at exactly the time of a frame may be reported by
    both of its steps. Bodies that overlap at the start of a step, as they mostly do in the step after they
    met unless something keeps them apart, are listed in ``pairs`` as INITIAL_OVERLAP in each such step, with
    those contacts that the step has: none, while neither surface goes through a further part of the other.
    ``check_start=False`` leaves such pairs out where they have no contact.

    Held in memory are: `poses` as given (of blocks: the frames of one batch and one block), the pairs and
    contacts of one batch, and with ``stream=False`` all that was found.

    Examples
    --------
    >>> import gpu_collide as gc
    >>> position = [[[0, 0, 3.0]], [[0, 0, 1.5]], [[0, 0, 0.5]]]  # a box falls on another
    >>> poses = gc.Poses.from_quat_wxyz(position, [[[1, 0, 0, 0]]] * 3)
    >>> still = gc.Poses.identity(1)
    >>> ground = gc.Bodies(gc.shapes.box(), None, still, still)
    >>> found = gc.collide_trajectories(gc.shapes.box(), None, poses, [10, 12, 14], static=ground)
    >>> set(found.step.tolist()), float(found.pairs["toi"][0])
    ({1}, 13.0)
    """
    check_bool(stream, "stream")
    sweep, parts = step_batches(
        TrajectoryBatches, meshes, shape, poses, times, there=there, static=static, world=world, group=group,
        mask=mask, ignore=ignore, still_pairs=still_pairs, max_speed=max_speed, max_turn=max_turn,
        frames_per_batch=frames_per_batch, exit=exit, progress=progress, report=report, **options,
    )  # fmt: skip
    sweep.exit = check_exit(exit, sweep.engine.options, sweep.crew.meshes)
    batches = (sweep.batch(first, window) for first, window in parts)
    return batches if stream else TrajectoryContacts.concatenate(batches)


def step_batches(
    kind: Callable[..., _Batches],
    meshes: Any,
    shape: Any,
    poses: Any,
    times: Any,
    *,
    there: Any = None,
    static: Any = None,
    progress: Any = None,
    programs: tuple[str, ...] | None = None,
    **options: Any,
) -> tuple[_Batches, Iterator[tuple[int, Any]]]:
    """A query along trajectories, its arguments checked: the `kind` of `StepBatches` that answers it, and the
    windows of frames that it takes.

    Parameters
    ----------
    kind : class
    meshes, shape, poses, times, there, static, progress, **options
        As in `collide_trajectories`.
    programs : tuple of str, optional
        Kernels that the backend has to have; default: those of `collide`.
    """
    blocks, n, frames = _check_poses(poses, there)
    times = _check_times(times, frames)
    movers = Bodies(meshes, shape, Poses.identity(n), Poses.identity(n))
    still = _check_static(static)
    check_callable(progress, "progress")
    max_speed, max_turn, frames_per_batch, checked = check_step_options(**options)
    total = n + (0 if still is None else len(still))
    still_pairs = options.get("still_pairs", False)
    worlds = check_numbers(options.get("world"), "world", n, total, -1)
    groups = check_numbers(options.get("group"), "group", n, total, 0xFFFFFFFF)
    masks = check_numbers(options.get("mask"), "mask", n, total, 0xFFFFFFFF)
    left_out = check_ignore(options.get("ignore"), total)
    check_rules(total, worlds, groups, masks, left_out, still_pairs)
    needed: Any = {} if programs is None else {"programs": programs}
    engine = engine_on(get_backend(checked.backend, checked.precision, **needed), checked)
    if programs is None:
        checked.check_meshes((*movers.meshes, *(() if still is None else still.meshes)))
    crew = Participants(movers, still, worlds, groups, masks, left_out)
    size = 1 if crew.alone else frames_per_batch or crew.usual_batch(checked.max_bytes)
    sweep = kind(crew, times, max_speed, max_turn, progress, size, bool(still_pairs), engine)
    return sweep, windows(blocks, size, len(times), n)


def check_step_options(
    still_pairs: bool = False,
    max_speed: float | None = None,
    max_turn: float | None = None,
    frames_per_batch: int | None = None,
    exit: bool = False,
    report: bool = False,
    world: Any = None,
    group: Any = None,
    mask: Any = None,
    ignore: Any = None,
    **options: Any,
) -> tuple[float | None, float | None, int | None, Options]:
    """Options that are no matter of the bodies, checked: how fast, how far, and those of `collide`."""
    known = {"tuning", *(field.name for field in fields(Options))} - OLD_TUNING.keys()
    for name in options:
        if name == "pairs":
            raise TypeError(
                "pairs: expected no pairs, since the broad phase finds them anew in every step; say which "
                "bodies may meet by world, group, mask and ignore"
            )
        if name not in known:
            raise TypeError(f"{name}: collide_trajectories and collide have no such option")
    check_bool(report, "report")
    check_bool(still_pairs, "still_pairs")
    checked = _on_host(Options.checked(**options, report=report))
    check_exit(exit, checked, ())
    return (
        check_positive(max_speed, "max_speed", none_ok=True),
        _check_turn(max_turn),
        check_positive(frames_per_batch, "frames_per_batch", none_ok=True, integer=True),
        checked,
    )


def _check_poses(poses: Any, there: Any) -> Any:
    """Blocks of frames, the number of bodies, and the number of frames (None: not known yet)."""
    if isinstance(poses, Poses):
        if len(poses.shape) != 2:
            one = "; of a single body pass poses[:, None]" if len(poses.shape) == 1 else ""
            raise ValueError(f"poses: expected Poses of shape (t, n), got {poses.shape}{one}")
        check_block((poses, there), None)
        return [(poses, there)], poses.shape[1], poses.shape[0]
    if there is not None:
        raise ValueError(
            "there: expected None with poses in blocks, got an array; make each block a pair (poses, there)"
        )
    if not isinstance(poses, Iterable) or isinstance(poses, (str, bytes, dict, np.ndarray)):
        raise TypeError(
            f"poses: expected Poses of shape (t, n) or blocks of them, got {type(poses).__name__}"
        )
    rest = iter(poses)
    first = next(rest, None)
    if first is None:
        raise ValueError("poses: expected at least one block of frames, got none")
    return _chain(first, rest), check_block(first, None)[0].shape[1], None


def _chain(first: Any, rest: Iterator[Any]) -> Iterator[Any]:
    yield first
    yield from rest


def _check_times(times: Any, frames: int | None) -> NDArray[np.float64]:
    times = check_finite(as_float_array(times, "times", shape=(None,)), "times")
    if frames is not None and len(times) != frames:
        raise ValueError(f"times: expected one time per frame of poses, {frames}, got {len(times)}")
    late = np.flatnonzero(np.diff(times) <= 0)
    if len(late):
        k = int(late[0])
        raise ValueError(
            f"times: expected strictly increasing times, got {times[k]} and then {times[k + 1]} at frame "
            f"{k + 1} ({len(late)} such frames, first: {first_few(late + 1)}); call once for each recording"
        )
    return times


def _on_host(options: Options) -> Options:
    """The options with results on the host, where those of many steps are put together."""
    if options.results == "device":
        raise ValueError(
            "results: expected 'auto' or 'host' in collide_trajectories, which puts the results of many "
            "steps together on the host, got 'device'"
        )
    return replace(options, results="host")


def _check_turn(max_turn: Any) -> float | None:
    max_turn = check_positive(max_turn, "max_turn", none_ok=True)
    if max_turn is not None and max_turn > math.pi * (1 + 1e-6):  # pi in float32 is a little more than pi
        raise ValueError(
            f"max_turn: expected at most pi, since no turn from pose to pose is more, got {max_turn:g}: "
            f"radians? {max_turn:g} degrees are math.radians({max_turn:g})"
        )
    return max_turn


def as_static(static: Bodies | Mesh | None) -> Bodies | None:
    """Bodies of what stands still; a Mesh is one body at the world's origin."""
    if isinstance(static, Bodies):
        refuse_compounds(static, "static", "a recording")
    if static is None or isinstance(static, Bodies):
        return static
    if not isinstance(static, Mesh):
        raise TypeError(f"static: expected Bodies, a Mesh or None, got {type(static).__name__}")
    return Bodies(static, None, Poses.identity(1), Poses.identity(1))


def _check_static(static: Any) -> Bodies | None:
    static = as_static(static)
    if static is None:
        return None
    bad = np.flatnonzero(~static.valid)
    if len(bad):
        raise ValueError(
            f"static: expected valid poses, got {len(bad)} that are not, first: {first_few(bad)}"
        )
    bad = np.flatnonzero(~still_bodies(static))
    if len(bad):
        raise ValueError(
            f"static: expected bodies whose end pose equals their start pose, got {len(bad)} that move, "
            f"first: {first_few(bad)}; moving bodies belong into poses"
        )
    return static


def check_ignore(ignore: Any, total: int) -> Any:
    if ignore is None or np.size(ignore) == 0:
        return None
    ignore = as_int_array(ignore, "ignore", shape=(None, 2), low=0, high=total)
    bad = np.flatnonzero(ignore[:, 0] == ignore[:, 1])
    if len(bad):
        raise ValueError(
            f"ignore: expected two different bodies in each row, got a body with itself in "
            f"{how_many(len(bad), 'row')}, first: {first_few(bad)}"
        )
    return ignore


def check_numbers(values: Any, name: str, n: int, total: int, fill: int) -> Any:
    """Integers of the moving bodies or of all, as an array for all or None; `fill` is for the static ones."""
    if values is None:
        return None
    values = as_int_array(values, name, shape=(None,))
    if len(values) == total:
        return values
    if len(values) != n:
        either = f"{n}" if n == total else f"{n} (moving bodies) or {total} (all)"
        raise ValueError(f"{name}: expected {either} numbers, got {len(values)}")
    return np.concatenate([values, np.full(total - n, fill, values.dtype)])
