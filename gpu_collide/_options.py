"""The options of a query, checked once and handed as one value to whichever engine answers.

The words and defaults of the public functions stand here, and nowhere else.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import Enum
from functools import cached_property
from types import NoneType
from typing import TYPE_CHECKING, TypedDict, get_args

import numpy as np

from gpu_collide._types import (
    BackendName,
    BroadPhaseName,
    Candidates,
    ContactsWanted,
    Features,
    FilterName,
    Filters,
    HitsWanted,
    MotionName,
    Precision,
    Refine,
    ResultsOn,
)
from gpu_collide._validate import check_bool, check_bytes, check_choice, check_distance, check_positive

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gpu_collide._types import ArrayLike

__all__ = [
    "AUTO_FILTERS", "BACKENDS", "BROAD_PHASES", "CANDIDATES", "CONTACTS", "DEFAULT_BYTES", "Distances",
    "FEATURES", "FILTERS", "HITS", "MOTIONS", "OLD_TUNING", "Options", "PRECISIONS", "QueryOptions", "REFINE",
    "RESULTS", "StepOptions", "Tuning",
]  # fmt: skip

BACKENDS: tuple[BackendName, ...] = get_args(BackendName)
PRECISIONS: tuple[Precision, ...] = get_args(Precision)
REFINE: tuple[Refine, ...] = get_args(Refine)
CANDIDATES: tuple[Candidates, ...] = get_args(Candidates)
RESULTS: tuple[ResultsOn, ...] = get_args(ResultsOn)
HITS: tuple[HitsWanted, ...] = get_args(HitsWanted)
FEATURES: tuple[Features, ...] = get_args(Features)
MOTIONS: tuple[MotionName, ...] = get_args(MotionName)
CONTACTS: tuple[ContactsWanted, ...] = get_args(ContactsWanted)
BROAD_PHASES: tuple[BroadPhaseName, ...] = get_args(BroadPhaseName)
#: In the order in which they cost.
FILTERS: tuple[FilterName, ...] = get_args(FilterName)
#: What ``filters="auto"`` runs: those that earn their time (docs/decisions/0010).
AUTO_FILTERS: tuple[FilterName, ...] = ("spheres", "boxes")
#: Working memory where the caller names none.
DEFAULT_BYTES = 2 << 30


class Distances(Enum):
    """What `Options` say of a target distance that is no number."""

    EACH = "each pair has its own, which comes with the pairs"


_DEFAULT_RESOLUTION = {"exact": 2.0, "segments": 12.0, "pixels": 12.0}


@dataclass(frozen=True, kw_only=True)
class Tuning:
    """How a query works. None of it ever changes a result: contacts, pairs and statuses have the same bits.

    A query that does not do a part of it does not look at what is said of that.

    Parameters
    ----------
    broad_phase : {"hierarchy", "off"}, optional
        ``hierarchy``: pairs come from a tree of bounding volumes. ``off``: all pairs that the rules allow.
        `find_pairs` itself then gives all of these, which is a larger superset.
    filters : {"auto", "none"} or tuple of {"spheres", "boxes", "plane"}, optional
        Quick tests that run before the full one, in the order given, each on the pairs left by those before
        it: swept bounding spheres, swept boxes, a separating plane. They settle pairs that cannot touch.
        ``auto`` runs those that pay off.
    features : {"auto", "near", "all"}, optional
        ``near`` tests only faces of a mesh that come close to the other body during the step, found
        through bounding-volume trees on both sides; ``all`` whole meshes. ``auto`` is ``near`` for a pair of
        which a mesh has more than 3,072 faces (with ``refine="pixels"`` twice as many; on ``cuda`` more than
        8,192), or more than 1,024 and is about four times as wide as the other; and ``all`` where the search
        for near faces turns out to cost more than it saves, as for a bolt in its nut. ``near`` does not go
        with ``candidates="raster"``, whose rows are made of whole meshes.
    candidates : {"auto", "raster", "pairs"}, optional
        How pairs of features are proposed: ``pairs`` compares their boxes on the collision screen, ``raster``
        goes through rows of pixels. ``auto`` compares boxes.

    Raises
    ------
    TypeError, ValueError
        A word that is none of these; ``near`` with ``raster``.

    Examples
    --------
    >>> import gpu_collide as gc
    >>> gc.Tuning(filters=["plane"]).filters, gc.Tuning().filters
    (('plane',), ('spheres', 'boxes'))
    """

    broad_phase: BroadPhaseName = "hierarchy"
    filters: Filters = "auto"
    features: Features = "auto"
    candidates: Candidates = "auto"

    def __post_init__(self) -> None:
        check_choice(self.broad_phase, "broad_phase", BROAD_PHASES)
        object.__setattr__(self, "filters", _check_filters(self.filters))
        check_choice(self.candidates, "candidates", CANDIDATES)
        check_choice(self.features, "features", FEATURES)
        if self.features == "near" and self.candidates == "raster":
            raise ValueError(
                "features: expected 'auto' or 'all' with candidates='raster', whose rows need whole meshes, "
                "got 'near'"
            )


#: Keywords of earlier versions, as `renamed` takes them.
OLD_TUNING: Any = {field.name: ("tuning", Tuning) for field in fields(Tuning)}


@dataclass(frozen=True, kw_only=True)
class Options(Tuning):
    """Options of the public functions, under their names there, with those of their `Tuning`; made by
    `checked`.

    A function that has only some of them leaves the others at their defaults, which it does not look at.

    Attributes
    ----------
    filters : tuple of str
        Names out of `FILTERS`, in the order in which they run.
    resolution, pixel_size : float or None
        At most one of them; both None only where the options were not made by `checked`.
    """

    filters: tuple[FilterName, ...] = AUTO_FILTERS
    report: bool = False
    motion: MotionName = "relative"
    target_distance: float | Distances = 0.0
    refine: Refine = "exact"
    resolution: float | None = None
    pixel_size: float | None = None
    min_properness: float = -0.1
    contacts: ContactsWanted = "all"
    check_start: bool = True
    precision: Precision = "mixed"
    backend: BackendName = "auto"
    max_bytes: int = DEFAULT_BYTES
    results: ResultsOn = "auto"

    @classmethod
    def checked(
        cls,
        *,
        tuning: Tuning | None = None,
        report: bool = False,
        motion: MotionName = "relative",
        target_distance: float | Distances = 0.0,
        refine: Refine = "exact",
        resolution: float | None = None,
        pixel_size: float | None = None,
        min_properness: float = -0.1,
        contacts: ContactsWanted = "all",
        check_start: bool = True,
        precision: Precision = "mixed",
        backend: BackendName = "auto",
        max_bytes: int | None = None,
        results: ResultsOn = "auto",
    ) -> Options:
        """Options from a caller's keywords.

        Raises
        ------
        TypeError, ValueError
            Naming the keyword, what was expected and what came.
        """
        if not isinstance(tuning, (Tuning, NoneType)):
            raise TypeError(f"tuning: expected gpu_collide.Tuning or None, got {type(tuning).__name__}")
        check_choice(motion, "motion", MOTIONS)
        check_choice(refine, "refine", REFINE)
        check_choice(contacts, "contacts", CONTACTS)
        check_choice(precision, "precision", PRECISIONS)
        check_choice(backend, "backend", BACKENDS)
        check_choice(results, "results", RESULTS)
        _check_motion(motion, refine, "auto" if tuning is None else tuning.candidates)
        resolution, pixel_size = _check_resolution(refine, resolution, pixel_size)
        max_bytes = check_bytes(max_bytes, DEFAULT_BYTES)
        _check_properness(min_properness)
        if not isinstance(target_distance, Distances):
            target_distance = check_distance(target_distance, "target_distance")
        if target_distance != 0.0:
            candidates = "auto" if tuning is None else tuning.candidates
            _check_at_distance(refine, precision, candidates, "target_distance above 0", "target_distance=0")
        return cls(
            **vars(Tuning() if tuning is None else tuning),
            report=check_bool(report, "report"),
            motion=motion,
            target_distance=target_distance,
            refine=refine,
            resolution=resolution,
            pixel_size=pixel_size,
            min_properness=float(min_properness),
            contacts=contacts,
            check_start=check_bool(check_start, "check_start"),
            precision=precision,
            backend=backend,
            max_bytes=max_bytes,
            results=results,
        )

    @property
    def tuning(self) -> Tuning:
        """That part of them."""
        return Tuning(**{field.name: getattr(self, field.name) for field in fields(Tuning)})

    def check_meshes(self, meshes: Sequence[Any], of_step: bool = True) -> None:
        """Raise ``ValueError`` if contacts of meshes with a rounding radius cannot be asked for so;
        `of_step`: those during a step."""
        if any(mesh.rounding > 0.0 for mesh in meshes):
            have = "meshes that have a rounding radius", "a mesh without one"
            if any(mesh.ends is not None for mesh in meshes):
                have = "cylinders and cones", "mesh.to_polyhedron(tolerance)"
            _check_at_distance(self.refine, self.precision, self.candidates, *have)
        if of_step and not self.first_only and any(mesh.ends is not None for mesh in meshes):
            raise ValueError(
                f"contacts: expected 'first' with cylinders and cones, got {self.contacts!r}; "
                "mesh.to_polyhedron(tolerance) has them all"
            )

    @property
    def at_distance(self) -> bool:
        """May contacts be asked for at a distance?"""
        return self.target_distance != 0.0

    @property
    def first_only(self) -> bool:
        """Are only the contacts at the earliest time of each pair wanted?"""
        return self.contacts == "first"

    @cached_property
    def told(self) -> dict[str, Any]:
        """What ``Contacts.info`` says of the options, beside the list of ``filters``."""
        names = ("refine", "candidates", "resolution", "pixel_size", "min_properness", "check_start",
                 "contacts", "features", "motion", "target_distance")  # fmt: skip
        return {name: getattr(self, name) for name in names}


def _check_filters(filters: Any) -> tuple[FilterName, ...]:
    """The names that `filters` stands for, in the order given."""
    what = f"'auto', 'none' or a tuple of {', '.join(map(repr, FILTERS))}"
    if isinstance(filters, str):
        if filters not in ("auto", "none"):
            hint = f"; one filter is ({filters!r},)" if filters in FILTERS else ""
            raise ValueError(f"filters: expected {what}, got {filters!r}{hint}")
        return AUTO_FILTERS if filters == "auto" else ()
    if not isinstance(filters, (tuple, list)) or not all(isinstance(name, str) for name in filters):
        got = type(filters).__name__
        if isinstance(filters, (tuple, list)):
            got += " with " + next(type(name).__name__ for name in filters if not isinstance(name, str))
        raise TypeError(f"filters: expected {what}, got {got}")
    for name in filters:
        if name not in FILTERS:
            raise ValueError(f"filters: expected {what}, got {name!r}")
        if list(filters).count(name) > 1:
            raise ValueError(f"filters: expected each once, got {name!r} twice")
    return tuple(filters)


def _check_motion(motion: str, refine: str, candidates: str) -> None:
    """Refuse what needs the screen of one screw where each body has its own."""
    if motion == "body" and refine != "exact":
        raise ValueError(
            f"refine: expected 'exact' with motion='body', where pairs have no screw to make a screen of, "
            f"got {refine!r}; motion='relative' has it"
        )
    if motion == "body" and candidates == "raster":
        raise ValueError(
            "candidates: expected 'auto' or 'pairs' with motion='body', where pairs have no screw to make "
            "rows of, got 'raster'; motion='relative' has it"
        )


def _check_at_distance(refine: str, precision: str, candidates: str, having: str, other: str) -> None:
    """Refuse what takes features for points of one screen, and what has no digits for a gap."""
    if refine != "exact":
        raise ValueError(
            f"refine: expected 'exact' with {having}, where features share no pixel, got {refine!r}; {other} "
            "has it"
        )
    if candidates == "raster":
        raise ValueError(
            f"candidates: expected 'auto' or 'pairs' with {having}, where features share no rows, got "
            f"'raster'; {other} has it"
        )
    if precision == "single":
        raise ValueError(
            f"precision: expected 'mixed' or 'double' with {having}, whose roots float32 does not resolve, "
            f"got 'single'; {other} has it"
        )


def _check_resolution(refine: Refine, resolution: Any, pixel_size: Any) -> tuple[float | None, float | None]:
    if resolution is not None and pixel_size is not None:
        raise ValueError(
            "pixel_size: expected None when resolution is given (they are two units of one thing)"
        )
    resolution = check_positive(resolution, "resolution", none_ok=True)
    pixel_size = check_positive(pixel_size, "pixel_size", none_ok=True)
    if resolution is None and pixel_size is None:
        resolution = _DEFAULT_RESOLUTION[refine]
    return resolution, pixel_size


def _check_properness(min_properness: Any) -> None:
    if isinstance(min_properness, (bool, np.bool_)) or not isinstance(
        min_properness, (int, float, np.number)
    ):
        raise TypeError(f"min_properness: expected a number, got {type(min_properness).__name__}")
    if not -1.0 <= min_properness <= 1.0:
        raise ValueError(f"min_properness: expected a number in [-1, 1], got {min_properness}")


class QueryOptions(TypedDict, total=False):
    """Options of ``collide`` that ``collide_trajectories`` hands on."""

    tuning: Tuning | None
    motion: MotionName
    target_distance: float
    refine: Refine
    resolution: float | None
    pixel_size: float | None
    min_properness: float
    contacts: ContactsWanted
    check_start: bool
    precision: Precision
    backend: BackendName
    max_bytes: int | None


class StepOptions(QueryOptions, total=False):
    """Options of ``collide_trajectories`` that ``Recording.collide`` hands on."""

    world: ArrayLike | None
    group: ArrayLike | None
    mask: ArrayLike | None
    ignore: ArrayLike | None
    still_pairs: bool
    max_speed: float | None
    max_turn: float | None
    frames_per_batch: int | None
    exit: bool
    report: bool
