"""Pairs in pieces that fit the memory limit, for queries whose pairs all need the same."""

from gpu_collide.errors import MemoryLimitError

__all__ = ["pair_pieces"]


def pair_pieces(run, n, per_pair, work, progress=None):
    """Have ``work(at, stop)`` do `n` pairs, as many at a time as fit.

    Parameters
    ----------
    run : Launcher
    n : int
    per_pair : int
        Bytes that a pair needs, beside what grows with its shapes.
    work : callable
        As `Room.pieces` takes it.
    progress : callable, optional
        Called as ``progress(stop)``.

    Raises
    ------
    MemoryLimitError
        One pair alone does not fit.
    """

    def refusal(_, need):
        return (
            f"max_bytes: expected room for one pair, which needs at least {run.room.told(need)} bytes, got "
            f"{run.room.asked}; pass a larger max_bytes"
        )

    most = run.room.fits(per_pair)
    if not most:
        raise MemoryLimitError(refusal(0, per_pair))
    size = min(1 << (20 if run.backend.kind == "cuda" else 16), most)
    run.room.pieces(n, size, work, refusal=refusal, progress=progress)
