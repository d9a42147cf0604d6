"""`WorldQuery`: base of `MoverQuery` and `CastQuery`, the launches of one method on one backend."""

from gpu_collide.errors import MemoryLimitError
from gpu_collide.pipeline.launch.launcher import Launcher


class WorldQuery:
    """What the methods that ask a world have in common.

    Parameters
    ----------
    backend : Backend
        One with kernels.
    precision : str
    max_bytes : int
        Of the world and the buffers of a launch together.
    """

    def __init__(self, backend, precision, max_bytes):
        self.run = Launcher(backend, precision, max_bytes)
        self.backend, self.precision = backend, precision
        self.max_bytes = max_bytes

    def about(self):
        """Backend, device, precision and seconds by stage, as ``info`` tells them."""
        return {
            "backend": self.backend.name,
            "device": self.backend.device,
            "precision": self.precision,
            "timings": {"compile": 0.0, **self.run.take_timings()},
        }

    def leave_room_beside(self, held):
        """Let launches have what a world of `held` bytes leaves of the limit.

        Raises
        ------
        MemoryLimitError
            If it leaves nothing.
        """
        if held >= self.max_bytes:
            raise MemoryLimitError(
                f"max_bytes: expected room for the world, {held} bytes, and to work in, got "
                f"{self.max_bytes}; pass a larger max_bytes"
            )
        self.run.room.max_bytes = self.max_bytes - held
