"""What a run of the bench was asked for; every case reads the same few fields."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


class BenchError(RuntimeError):
    """A result failed its check, so it was not timed; or something the case needs is missing."""


@dataclass(frozen=True)
class Settings:
    """Choices of the command line.

    `pairs` is None where a case should take its own size; `quick` makes that size about twenty times smaller,
    which is enough to see that a case works and too little to quote. `lines`: of how many functions and
    lines of the kernels to say what they cost, where that is counted. `faces`: of how many faces a dense mesh
    has at most.
    """

    backend: str = "auto"
    precision: str = "mixed"
    pairs: int | None = None
    seed: int = 0
    repeat: int = 3
    quick: bool = False
    refines: tuple[str, ...] = ("exact", "segments", "pixels")
    resolutions: tuple[float, ...] | None = None
    min_properness: float = -0.1
    paths: tuple[Path, ...] = ()
    results: Path | None = None
    figure: Path | None = None
    lines: int = 0
    faces: int = 100_000

    def size(self, full: int) -> int:
        """Number of pairs for a case whose usual number is `full`."""
        if self.pairs is not None:
            return self.pairs
        return max(full // 20, 8) if self.quick else full
