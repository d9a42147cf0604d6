"""The poses of a `Scene` from step to step, and which of its bodies are on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpu_collide._calls import within_memory
from gpu_collide.bodies.poses import Poses, as_poses
from gpu_collide.bodies.refusals import check_motion
from gpu_collide.bodies.rules import check_active, check_rules

if TYPE_CHECKING:
    import threading
    from collections.abc import Sequence
    from typing import Any

    from gpu_collide._options import Options
    from gpu_collide._types import ArrayLike, BoolArray
    from gpu_collide.bodies.bodies import Bodies
    from gpu_collide.bodies.rules import Rules

__all__ = ["ScenePoses"]


class ScenePoses:
    """The methods of `Scene` that move its bodies and switch them on and off."""

    _lock: threading.RLock
    _made: Any
    _bodies: Bodies | None
    _rules: Rules
    _all_rules: Rules
    _active: BoolArray

    @property
    def options(self) -> Options:
        """Motion, precision, backend and memory that it was made with."""
        raise NotImplementedError

    def __len__(self) -> int:
        raise NotImplementedError

    def _now(self) -> Bodies:
        raise NotImplementedError

    def _check_open(self) -> None:
        raise NotImplementedError

    @within_memory
    def update(
        self, poses: Poses | Sequence[ArrayLike], end: Poses | Sequence[ArrayLike] | None = None
    ) -> None:
        """New poses of all bodies: at rest, or at the start and at the end of a step.

        Parameters
        ----------
        poses : Poses of shape (n,), or (position, quat_wxyz)
        end : Poses of shape (n,), or (position, quat_wxyz), optional
            Left out, the bodies are at rest at `poses`.

        Raises
        ------
        TypeError, ValueError
            No poses, or those of another number of bodies; the scene is closed.
        """
        start = self._checked(poses, "poses")
        stop = start if end is None else self._checked(end, "end")
        with self._lock:
            self._check_open()
            self._bodies = self._made = self._made.moved(start, stop)

    @within_memory
    def update_velocities(
        self,
        poses: Poses | Sequence[ArrayLike],
        linear_velocity: ArrayLike,
        angular_velocity: ArrayLike,
        duration: float = 1.0,
        *,
        center: ArrayLike | None = None,
    ) -> None:
        """New poses of all bodies at the start of a step, and velocities that they keep over it.

        The scene is one of ``motion="body"``.

        Parameters
        ----------
        poses : Poses of shape (n,), or (position, quat_wxyz)
        linear_velocity, angular_velocity, duration, center
            As in `Bodies.from_velocities`: in the world, length and radians per unit of time; time; body
            coordinates.

        Raises
        ------
        TypeError, ValueError
            As in `update`; velocities of other shapes, or a scene whose pairs move on relative screws.
        """
        start = self._checked(poses, "poses")
        with self._lock:
            self._check_open()
            given = linear_velocity, angular_velocity, duration
            bodies = self._made.spinning(start, *given, center=center)
            check_motion(bodies, self.options.motion)
            self._bodies = self._made = bodies

    @within_memory
    def step(self, poses: Poses | Sequence[ArrayLike]) -> None:
        """The next step: the end of the last one is its start, and `poses` are its end.

        Parameters
        ----------
        poses : Poses of shape (n,), or (position, quat_wxyz)

        Raises
        ------
        TypeError, ValueError
            As in `update`; also if the scene has no poses yet from which to step.
        """
        end = self._checked(poses, "poses")
        with self._lock:
            self._now()
            self._bodies = self._made = self._made.moved(self._made.end, end)

    def set_active(self, bodies: ArrayLike, active: ArrayLike = True) -> None:
        """Switch bodies on, or off as if they were not there: they are in no pair, and nothing meets them.

        So bodies join a scene and leave it: make it with as many as there may be at a time. Numbers and poses
        of the others stay, and nothing but groups and masks is made anew.

        Parameters
        ----------
        bodies : int or (k,) array_like of int
            Their numbers. All are on at first.
        active : bool or (k,) array_like of bool, optional

        Raises
        ------
        TypeError, ValueError
            Numbers that are none of the scene's bodies; no bools; the scene is closed.

        Notes
        -----
        A body that is off has the mask 0, whatever its own is. As all rules, this is not for pairs that the
        caller names himself.

        Examples
        --------
        >>> import gpu_collide as gc
        >>> here = [[0, 0, 0], [0.5, 0, 0]], [[1, 0, 0, 0]] * 2
        >>> with gc.Scene(gc.shapes.box(), None, here, still_pairs=True) as scene:
        ...     scene.set_active(1, False)
        ...     print(len(scene.find_pairs()))
        ...     scene.set_active(1)
        ...     print(len(scene.find_pairs()))
        0
        1
        """
        with self._lock:
            self._check_open()
            self._activate(check_active(self._active, bodies, active))

    def _activate(self, active: BoolArray) -> None:
        """Which bodies are on, and the rules of queries for that."""
        self._active, self._rules = active, self._all_rules.only(active)
        to = self._made.expansion
        if to is not None:
            self._rules = check_rules(len(to.body), **to.rules(self._rules.arguments()))

    def _checked(self, poses: Any, name: str) -> Poses:
        """`poses` of all bodies."""
        poses = as_poses(poses, name)
        if poses.shape not in ((len(self),), self._made.worlds if self._made is not None else None):
            raise ValueError(
                f"{name}: expected poses of the scene's {len(self)} bodies, shape ({len(self)},), got "
                f"{poses.shape}; for other bodies make another Scene"
            )
        return poses
