"""Other methods, for comparison: what they find, what they miss, and what they cost.

Only `collide` is meant for use; these answer the same question in the classic ways, on the same motion.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from gpu_collide._calls import within_memory
from gpu_collide._options import Options
from gpu_collide._validate import check_pairs, check_positive, read_only
from gpu_collide.backends import get_backend
from gpu_collide.bodies.bodies import Bodies, check_bodies
from gpu_collide.bodies.refusals import check_motion, refuse_rounded
from gpu_collide.queries.engine import engine_on
from gpu_collide.results.contacts import Status

if TYPE_CHECKING:
    from typing import Any

    from gpu_collide._types import ArrayLike, BackendName, MotionName, Precision

__all__ = ["BisectionResult", "bisection"]

MOST_SAMPLES = 1_000_000


@dataclass(frozen=True, eq=False, repr=False)
class BisectionResult:
    """What `bisection` found, one row a pair.

    Attributes
    ----------
    status : (p,) uint8
        `Status`: MISS, HIT, INITIAL_OVERLAP, INVALID_INPUT for a pose that is not rigid or not finite,
        UNRESOLVED for a motion beyond all bounds.
    hit : (p,) bool
        An overlap was found, at the start or later.
    start_overlap : (p,) bool
        The solids overlap at the start; the pair was not examined any further.
    time : (p,) float64
        Fraction of the step, in [0, 1]: the last time found apart before the overlap; 0 with `start_overlap`,
        inf without a hit.
    tests : int
        Number of overlap tests.
    info : dict
        ``backend``, ``device``, ``precision``, ``samples``, ``iterations``, ``motion``, ``timings`` in
        seconds.
    """

    status: np.ndarray
    hit: np.ndarray
    start_overlap: np.ndarray
    time: np.ndarray
    tests: int
    info: dict = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("status", "hit", "start_overlap", "time"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    def __len__(self) -> int:
        return len(self.status)

    def __repr__(self) -> str:
        named = ", ".join(f"{(self.status == s).sum()} {s.name}" for s in Status if (self.status == s).any())
        lines = ["BisectionResult", f"  pairs     {len(self)}: {named or 'none'}"]
        if self.hit.any():
            first = int(np.argmin(self.time))
            lines.append(f"  earliest  t = {self.time[first]:.9g} in pair {first}")
        lines.append(f"  tests     {self.tests}")
        made = [str(self.info[key]) for key in ("backend", "device", "precision") if self.info.get(key)]
        made += [f"{self.info[key]} {key}" for key in ("samples", "iterations") if key in self.info]
        return "\n".join([*lines, "  made by   " + ", ".join(made)] if made else lines)


@within_memory
def bisection(
    bodies: Bodies,
    pairs: ArrayLike,
    *,
    samples: int = 16,
    iterations: int = 30,
    motion: MotionName = "relative",
    precision: Precision = "mixed",
    backend: BackendName = "auto",
    max_bytes: int | None = None,
) -> BisectionResult:
    """First overlap of each pair by sampling and bisection in time: the classic method, for comparison.

    The solids are tested for overlap at the start and at `samples` equally spaced times after it, the last of
    them the end of the step. From the first sample that overlaps, binary search in time goes back to the last
    time the solids were apart. The motion is that of `collide`.

    Parameters
    ----------
    bodies : Bodies
        Shapes and start and end poses.
    pairs : (p, 2) array_like of int
        Rows (A, B) of body numbers; duplicates are fine.
    samples : int, optional
        Samples after the start, at most 1,000,000.
    iterations : int, optional
        Halvings of the time between the first sample that overlaps and the one before. They stop
        when no number is left in between, usually after some 50.
    motion : {"relative", "body"}, optional
        How bodies move, as in `collide`: the pair along one screw, or each body on its own.
    precision : {"mixed", "double", "single"}, optional
        ``mixed`` and ``double`` are the same: float64 throughout. ``single`` is float32.
    backend : {"auto", "cpu", "opencl", "cuda", "reference"}, optional
        As in `collide`.
    max_bytes : int, optional
        Limit of the working memory; the batch is cut into pieces that fit, with the same result. Default 2
        GiB.

    Returns
    -------
    BisectionResult

    Raises
    ------
    TypeError, ValueError
        Wrong arguments, before anything is computed.
    MemoryLimitError
        A single pair does not fit `max_bytes`.
    BackendUnavailableError
        The backend is not available; the message says what to install.

    Notes
    -----
    What the method cannot do, and `collide` does:

    - **It misses what passes between two samples**, without a sign that it did. A hit is certain only if the
      overlap lasts longer than ``1 / samples`` of the step, so fast and thin bodies need many samples, and
      there is no number that suffices for all.
    - It finds one time, not the contacts: no place, no normal, no features, and nothing after the first
      overlap. If the solids overlap, come apart and overlap again between two samples, the time found may
      belong to the later overlap.
    - A touch is no overlap. Solids overlap if they go deeper than about 1e-7 of the size (``single``: 1e-4),
      so a contact that slides or grazes is not found, and the time found lies that depth behind the contact,
      less at most ``2**-iterations / samples`` for the halving. At sharp tips the depth may be as much too
      early.
    - Open meshes have no inside: a body wholly within one counts only while an edge of one passes through a
      face of the other.

    The overlap test compares edges of one body with all faces of the other, once their bounding spheres and
    the boxes along their own axes meet; for large meshes a tree over the faces would cost less.

    Examples
    --------
    >>> import gpu_collide as gc
    >>> start = gc.Poses.from_quat_wxyz([[0, 0, 0], [-3, 0.1, 0.2]], [[1, 0, 0, 0]] * 2)
    >>> end = gc.Poses.from_quat_wxyz([[0, 0, 0], [3, 0.1, 0.2]], [[1, 0, 0, 0]] * 2)
    >>> bodies = gc.Bodies(gc.shapes.box(), None, start, end)
    >>> found = gc.baselines.bisection(bodies, [[0, 1]])
    >>> round(float(found.time[0]), 6), found.tests
    (0.333333, 37)
    >>> bool(gc.baselines.bisection(bodies, [[0, 1]], samples=1).hit[0])  # apart at both ends of the step
    False
    """
    check_bodies(bodies)
    refuse_rounded(bodies.meshes, "bodies", "bisection")
    given = check_pairs(pairs, len(bodies))
    samples = _check_samples(samples)
    iterations = check_positive(iterations, "iterations", integer=True)
    options = Options.checked(motion=motion, precision=precision, backend=backend, max_bytes=max_bytes)
    check_motion(bodies, options.motion)
    engine = engine_on(get_backend(options.backend, options.precision, ("screw", "overlap")), options)
    status, apart, meet, tests, timings = engine.bisection(bodies, given, samples, iterations)
    hit = meet < np.inf
    return BisectionResult(
        status=status.astype(np.uint8),
        hit=hit,
        start_overlap=meet == 0.0,
        time=np.where(hit, apart, np.inf),
        tests=int(tests.sum(dtype=np.int64)),
        info={
            "samples": samples,
            "iterations": iterations,
            "motion": options.motion,
            **engine.about(),
            "timings": timings,
        },
    )


def _check_samples(samples: Any) -> int:
    if check_positive(samples, "samples", integer=True) > MOST_SAMPLES:
        raise ValueError(
            f"samples: expected at most {MOST_SAMPLES}, got {samples}, each of which tests all pairs; take "
            "fewer, or collide, which misses nothing"
        )
    return int(samples)
