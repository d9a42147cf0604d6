"""`Scene`: bodies for repeated queries, prepared once."""

from __future__ import annotations

import threading
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from gpu_collide._calls import renamed, within_memory
from gpu_collide._options import OLD_TUNING, Options, Tuning
from gpu_collide._validate import (
    as_int_array,
    check_callable,
    check_pairs,
    device_pairs,
    how_many,
    read_only,
)
from gpu_collide.backends import get_backend
from gpu_collide.backends.fork import renew_after_fork
from gpu_collide.bodies.bodies import Bodies
from gpu_collide.bodies.poses import Poses, as_poses
from gpu_collide.bodies.refusals import refuse_ends_in
from gpu_collide.bodies.rules import check_rules
from gpu_collide.queries.clearance_arguments import checked, measured
from gpu_collide.queries.collide import answer, answer_pairs, check_distances, warn_of_invalid_in
from gpu_collide.queries.compounds import for_compounds
from gpu_collide.queries.exits import check_exit, with_exits
from gpu_collide.queries.input_warnings import warn_of_bodies
from gpu_collide.queries.pairs import all_pairs, check_count, gathered, warn_of_invalid
from gpu_collide.queries.scene_cache import SceneCache
from gpu_collide.queries.scene_poses import ScenePoses

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from numpy.typing import NDArray
    from typing_extensions import Self

    from gpu_collide._types import (
        ArrayLike,
        BackendName,
        BoolArray,
        ContactsWanted,
        MotionName,
        Precision,
        Progress,
        Refine,
        ResultsOn,
    )
    from gpu_collide.bodies.rules import Rules
    from gpu_collide.geometry.mesh.mesh import Mesh
    from gpu_collide.results.clearance import Clearance
    from gpu_collide.results.contacts import Contacts
    from gpu_collide.results.report import PairReport

__all__ = ["Scene"]

LOOKS = 100  # questions of a scene whose bodies are looked at for what can hardly be meant


class Scene(ScenePoses):
    """Bodies with fixed shapes and changing poses: what a simulation queries in every step.

    Everything that does not change is made once and kept on one backend: tables of the meshes, rules,
    buffers, and the tree over the bodies, which only gets new boxes from step to step. The answers are those
    of `collide` and `find_pairs`, bit for bit.

    Parameters
    ----------
    meshes : Mesh or sequence of Mesh
        The different shapes, as `Bodies` takes them: compounds too.
    shape : (n,) array_like of int or None
        Which mesh each body has; None if there is a single mesh and poses say how many bodies there are.
    poses : Poses of shape (n,) or (worlds, n), or (position, quat_wxyz), optional
        Where the bodies start, in each of many worlds as `Bodies` takes them. Without it, `update` says so
        later.
    end : Poses of shape (n,), or (position, quat_wxyz), optional
        Where they end. Left out, they are at rest at `poses`, and the scene is prepared at once for all
        that may be asked of bodies at rest.
    world, group, mask, ignore, still_pairs
        Which bodies may be paired, as in `collide`. ``world`` numbers the worlds in which bodies meet only
        each other: it has nothing to do with the scene, which may hold thousands of worlds.
    motion : {"relative", "body"}, optional
        How bodies move between their poses, as in `collide`: of all that is asked of the scene.
    precision, backend, max_bytes
        As in `collide`. What the scene keeps, `nbytes`, counts in `max_bytes`.

    Attributes
    ----------
    bodies : Bodies or None
        The bodies with their poses of now; None before there are any.
    rules : Rules
    report : PairReport or None
        What the last search for pairs did, as in `BroadPhase`.

    Raises
    ------
    TypeError, ValueError
        Wrong arguments.
    MemoryLimitError
        What is to be kept does not fit `max_bytes`.
    BackendUnavailableError
        The backend is not available.

    Notes
    -----
    Any thread may use a scene; what several ask is answered one after the other. Memory is given back by
    `close`, at the end of a ``with`` block, or when the scene is no longer referred to. Results do not depend
    on it: they stay. Copies, by `copy` or `pickle`, are scenes of their own, prepared anew.

    Examples
    --------
    >>> import gpu_collide as gc
    >>> still = [[1, 0, 0, 0]] * 2
    >>> with gc.Scene(gc.shapes.box(), None, ([[0, 0, 0], [4, 0.1, 0.2]], still)) as scene:
    ...     for x in (3, 2, 0.5):
    ...         scene.step(([[0, 0, 0], [x, 0.1, 0.2]], still))
    ...         print(scene.collide().toi)
    []
    []
    [0.66666667]
    """

    def __init__(
        self,
        meshes: Mesh | Sequence[Mesh],
        shape: ArrayLike | None,
        poses: Poses | Sequence[ArrayLike] | None = None,
        end: Poses | Sequence[ArrayLike] | None = None,
        *,
        world: ArrayLike | None = None,
        group: ArrayLike | None = None,
        mask: ArrayLike | None = None,
        ignore: ArrayLike | None = None,
        still_pairs: bool = False,
        motion: MotionName = "relative",
        precision: Precision = "mixed",
        backend: BackendName = "auto",
        max_bytes: int | None = None,
    ) -> None:
        options = Options.checked(motion=motion, precision=precision, backend=backend, max_bytes=max_bytes)
        if poses is None and end is not None:
            raise ValueError("poses: expected the start poses where end is given, got None; pass both")
        if poses is None and shape is None:
            raise ValueError(
                "shape: expected (n,) mesh indices where no poses say how many bodies there are, got None"
            )
        if poses is None:
            start = Poses.identity(len(as_int_array(shape, "shape", shape=(None,))))
        else:
            start = as_poses(poses, "poses")
        made = Bodies(meshes, shape, start, start if end is None else as_poses(end, "end"))
        check_count(len(made.rows), "shape" if poses is None else "poses")
        if world is None:
            world = made.world
        self._all_rules = check_rules(len(made), world, group, mask, ignore, still_pairs)
        self._made: Any = made
        self._activate(read_only(np.ones(len(made), bool)))
        self._bodies: Bodies | None = None if poses is None else made
        self._report: Any = None
        self._kept = SceneCache(get_backend(options.backend, options.precision), options, made.rows)
        self._closed, self._looks = False, LOOKS
        self._lock = threading.RLock()
        renew_after_fork(self)
        if poses is not None and end is None:
            _ = self.prepared  # bodies at rest: for all that may be asked of them

    def _after_fork(self) -> None:
        self._lock = threading.RLock()
        self._kept.after_fork()

    # -- questions -------------------------------------------------------------------------------------------
    @for_compounds
    @renamed(broad_phase=OLD_TUNING["broad_phase"])
    def find_pairs(self, *, tuning: Tuning | None = None) -> NDArray[np.int32]:
        """Pairs of the bodies that may meet during the step, as `gpu_collide.find_pairs` has them.

        Parameters
        ----------
        tuning : Tuning, optional

        Returns
        -------
        (p, 2) int32 ndarray
            Rows (a, b) with a < b, in lexicographic order.

        Raises
        ------
        TypeError, ValueError
            The scene has no poses yet, or is closed.
        MemoryLimitError
            There are more pairs than `max_bytes` holds beside the scene.
        """
        with self._lock:
            bodies, engine = self._now(), self._kept.engines.of(tuning=tuning)
            with self._kept.work:
                pairs, self._report = all_pairs(
                    engine, bodies, self._rules, self._kept.tree, self._kept.beside_tree
                )
            invalid = self._report.invalid_bodies
        warn_of_invalid(bodies, invalid)
        return pairs

    @for_compounds
    @renamed(**OLD_TUNING)
    def collide(
        self,
        pairs: ArrayLike | None = None,
        *,
        tuning: Tuning | None = None,
        report: bool = False,
        target_distance: ArrayLike = 0.0,
        refine: Refine = "exact",
        resolution: float | None = None,
        pixel_size: float | None = None,
        min_properness: float = -0.1,
        contacts: ContactsWanted = "all",
        check_start: bool = True,
        exit: bool = False,
        results: ResultsOn = "auto",
        progress: Progress | None = None,
    ) -> Contacts:
        """Every contact between the bodies during the step, as `gpu_collide.collide` has it for `bodies`.

        Parameters
        ----------
        pairs : (p, 2) array_like of int, optional
            Bodies to look at; the rules of the scene do not apply to them. Default: those of the broad phase.
        tuning, report, target_distance, refine, resolution, pixel_size, min_properness, contacts, \
check_start, exit, results, progress
            As in `gpu_collide.collide`. `progress` may not ask the scene.

        Returns
        -------
        Contacts
            The same bits as those of ``gpu_collide.collide(scene.bodies, ...)`` with the scene's rules,
            motion, precision and backend.

        Raises
        ------
        TypeError, ValueError
            Arguments of the wrong kind; the scene has no poses yet, or is closed.
        MemoryLimitError
            As in `gpu_collide.collide`, where `max_bytes` has what the scene keeps as well.

        Warns
        -----
        RuntimeWarning
            As in `gpu_collide.collide`; of bodies that can hardly be meant so in its first hundred questions.
        """
        with self._lock:
            bodies, kept = self._now(), self._kept
            asked: Any = None
            if pairs is not None:
                asked = None if type(pairs) is np.ndarray else device_pairs(pairs)
                asked = kept.pairs.of(pairs) if asked is None else asked
            target_distance, distances = check_distances(
                target_distance, None if asked is None else len(asked)
            )
            engine = kept.engines.of(
                tuning=tuning, report=report, target_distance=target_distance, refine=refine,
                resolution=resolution, pixel_size=pixel_size, min_properness=min_properness,
                contacts=contacts, check_start=check_start, results=results,
            )  # fmt: skip
            engine.options.check_meshes(bodies.meshes)
            if progress is not None:
                check_callable(progress, "progress")
            exit = check_exit(exit, engine.options)
            if asked is not None:
                with kept.work:
                    found = answer_pairs(engine, bodies, asked, progress, distances)
            else:
                with kept.work:
                    search = kept.search(engine, bodies, self._rules, engine.options.target_distance)
                    self._report = search.report
                    found = answer(engine, bodies, search, progress)
            looks, self._looks = self._looks, self._looks - 1
        if looks > 0:  # what is meant wrongly is so from the first step on
            warn_of_bodies(bodies, found.pairs, found.status)
        return with_exits(found, bodies, engine.options) if exit else found

    @for_compounds
    @within_memory
    def clearance(
        self,
        pairs: ArrayLike | None = None,
        *,
        max_distance: ArrayLike = np.inf,
        at: ArrayLike | None = None,
        regions: bool = False,
        tolerance: float = 1e-9,
        progress: Progress | None = None,
    ) -> Clearance:
        """How near the bodies come to each other during the step, as `gpu_collide.clearance` has it for
        `bodies`.

        Parameters
        ----------
        pairs : (p, 2) array_like of int, optional
            Bodies to look at; the rules of the scene do not apply to them. Default: with a finite
            `max_distance` those of the broad phase, else all that the rules allow.
        max_distance, at, regions, tolerance, progress
            As in `gpu_collide.clearance`. `progress` may not ask the scene.

        Returns
        -------
        Clearance
            The same bits as those of ``gpu_collide.clearance(scene.bodies, ...)`` with the scene's rules,
            motion, precision and backend.

        Raises
        ------
        TypeError, ValueError, MemoryLimitError
            As `collide`.
        """
        with self._lock:
            bodies, kept = self._now(), self._kept
            pairs = None if pairs is None else check_pairs(pairs, len(bodies))
            n_pairs = None if pairs is None else len(pairs)
            asked = checked(max_distance, at, regions, tolerance, progress, n_pairs)
            everything = pairs is None and asked.max_distance == np.inf
            engine = kept.engines.of(tuning=Tuning(broad_phase="off") if everything else None)
            engine.options.check_meshes(bodies.meshes, of_step=False)
            with kept.work:
                if pairs is None:
                    margin = 0.0 if everything else asked.max_distance
                    search = kept.search(engine, bodies, self._rules, margin)
                    self._report, some = search.report, gathered(search)
                else:
                    some = pairs
                    warn_of_invalid_in(bodies, some)
                refuse_ends_in(bodies, some, "scene", "clearance")
                return measured(engine, bodies, some, asked, progress)

    def _now(self) -> Bodies:
        """The bodies with their poses, as queries work with them, if there are any to ask about."""
        self._check_open()
        if self._bodies is None:
            raise ValueError(
                "poses: expected poses of the bodies before anything is asked, got none; call "
                "update(poses) or update(poses, end) first"
            )
        return self._bodies.rows

    # -- what is kept ----------------------------------------------------------------------------------------
    @property
    def prepared(self) -> Any:
        """`PreparedScene`: all that is kept, made where it is not there yet."""
        with self._lock, self._kept.work:
            return self._kept.prepared(self._now(), self._rules)

    def hold(self, still: bool = False) -> tuple[Bodies, Any, SceneCache]:
        """The bodies, the rules, and what is kept, for a method of its own; nobody else asks the scene
        anything until `let_loose`.

        Raises
        ------
        ValueError
            The scene has no poses yet, is closed, or moves though it has to be `still`.
        """
        self._lock.acquire()
        try:
            bodies, kept = self._now(), self._kept
            if still and bodies.start is not bodies.end:
                raise ValueError(
                    "obstacles: expected a Scene at rest, got one that moves; call its update(poses) "
                    "without end"
                )
            kept.work.__enter__()
        except BaseException:
            self._lock.release()
            raise
        return bodies, self._rules, kept

    def let_loose(self) -> None:
        """The end of `hold`."""
        self._kept.work.__exit__()
        self._lock.release()

    @property
    def bodies(self) -> Bodies | None:
        """The bodies with their poses of now; None before there are any."""
        return self._bodies

    @property
    def expansion(self) -> Any:
        """Of bodies with compounds the rows that they are for queries, `Expansion`; else None."""
        return None if self._made is None else self._made.expansion

    @property
    def rules(self) -> Rules:
        """Which bodies may be paired."""
        return self._rules if self.expansion is None else self._all_rules.only(self._active)

    @property
    def active(self) -> BoolArray:
        """(n,) bool: which bodies are on, as `set_active` says."""
        return self._active

    @property
    def report(self) -> PairReport | None:
        """What the last search for pairs did."""
        return self._report

    @property
    def backend(self) -> Any:
        """Where the scene is kept."""
        return self._kept.backend

    @property
    def options(self) -> Options:
        """Motion, precision, backend and memory that it was made with."""
        return self._kept.options

    @property
    def nbytes(self) -> int:
        """Bytes that the scene keeps on its backend: tables of the meshes, trees and buffers."""
        with self._lock:
            return self._kept.nbytes

    def close(self) -> None:
        """Let go of all that is kept. The scene cannot be asked any more; closing it again does nothing."""
        with self._lock:
            if not self._closed:
                with self._kept.work:
                    self._closed = True
                    self._kept.let_go()
                    self._made = self._bodies = None

    def _check_open(self) -> None:
        if self._closed:
            raise ValueError("scene: expected an open Scene, got one that was closed; make a new one")

    def __enter__(self) -> Self:
        self._check_open()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __len__(self) -> int:
        return self._all_rules.n

    def __repr__(self) -> str:
        count = how_many(len(self), "body", "bodies")
        if not self._lock.acquire(blocking=False):  # a debugger must not wait for another thread's query
            return f"Scene({count}, {self.backend.kind}, at work)"
        try:
            if self._closed:
                return f"Scene({count}, {self.backend.kind}, closed)"
            bodies, meshes = self._bodies, how_many(len(self._made.meshes), "mesh", "meshes")
            state = (
                "no poses yet" if bodies is None else "at rest" if bodies.start is bodies.end else "moving"
            )
            return f"Scene({count}, {meshes}, {self.backend.kind}, {state}, {self.nbytes} bytes)"
        finally:
            self._lock.release()

    def __reduce__(self) -> Any:
        """Copies, and what comes out of a pickle, are scenes of their own: prepared anew, where they are."""
        with self._lock:
            self._check_open()
            made, moves = self._made, self._made.start is not self._made.end
            poses: Any = () if self._bodies is None else (made.start, made.end) if moves else (made.start,)
            shape = made.shape
            if made.worlds is not None:
                shape = shape.reshape(made.worlds)
                poses = tuple(each[np.arange(len(made)).reshape(made.worlds)] for each in poses)
            keywords = {**self._all_rules.arguments(), **self._kept.fixed}
            arguments = made.meshes, shape, *poses
            return (
                partial(type(self), **keywords),
                arguments,
                (None if made.spins is None else made, self._active),
            )

    def __setstate__(self, state: tuple[Bodies | None, BoolArray]) -> None:
        """Of a copy: how its bodies spin, of which their poses do not tell, and which are on."""
        if state[0] is not None:
            self._bodies = self._made = state[0]
        self._activate(state[1])
