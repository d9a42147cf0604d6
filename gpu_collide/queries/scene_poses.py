"""The poses of a `Scene` from step to step."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpu_collide._calls import within_memory
from gpu_collide.bodies.bodies import check_motion
from gpu_collide.bodies.poses import Poses, as_poses

if TYPE_CHECKING:
    import threading
    from collections.abc import Sequence
    from typing import Any

    from gpu_collide._options import Options
    from gpu_collide._types import ArrayLike
    from gpu_collide.bodies.bodies import Bodies

__all__ = ["ScenePoses"]


class ScenePoses:
    """The methods of `Scene` that move its bodies."""

    _lock: threading.RLock
    _made: Any
    _bodies: Bodies | None

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
            bodies = self._now()
            self._bodies = self._made = bodies.moved(bodies.end, end)

    def _checked(self, poses: Any, name: str) -> Poses:
        """`poses` of all bodies."""
        poses = as_poses(poses, name)
        if poses.shape not in ((len(self),), self._made.worlds if self._made is not None else None):
            raise ValueError(
                f"{name}: expected poses of the scene's {len(self)} bodies, shape ({len(self)},), got "
                f"{poses.shape}; for other bodies make another Scene"
            )
        return poses
