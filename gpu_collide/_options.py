"""The options of a query, checked once and handed as one value to whichever engine answers.

The words and defaults of the public functions stand here, and nowhere else.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, get_args

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
from gpu_collide._validate import check_bool, check_bytes, check_choice, check_positive

if TYPE_CHECKING:
    from typing import Any

__all__ = [
    "AUTO_FILTERS", "BACKENDS", "BROAD_PHASES", "CANDIDATES", "CONTACTS", "DEFAULT_BYTES", "FEATURES",
    "FILTERS", "HITS", "MOTIONS", "Options", "PRECISIONS", "REFINE", "RESULTS",
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

_DEFAULT_RESOLUTION = {"exact": 2.0, "segments": 12.0, "pixels": 12.0}


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options of the public functions, under their names there; made by `checked`.

    A function that has only some of them leaves the others at their defaults, which it does not look at.

    Attributes
    ----------
    filters : tuple of str
        Names out of `FILTERS`, in the order in which they run.
    resolution, pixel_size : float or None
        At most one of them; both None only where the options were not made by `checked`.
    """

    broad_phase: BroadPhaseName = "hierarchy"
    filters: tuple[FilterName, ...] = AUTO_FILTERS
    features: Features = "auto"
    report: bool = False
    motion: MotionName = "relative"
    refine: Refine = "exact"
    candidates: Candidates = "auto"
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
        broad_phase: BroadPhaseName = "hierarchy",
        filters: Filters = "auto",
        features: Features = "auto",
        report: bool = False,
        motion: MotionName = "relative",
        refine: Refine = "exact",
        candidates: Candidates = "auto",
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
        check_choice(broad_phase, "broad_phase", BROAD_PHASES)
        filters = _check_filters(filters)
        check_choice(motion, "motion", MOTIONS)
        check_choice(refine, "refine", REFINE)
        check_choice(candidates, "candidates", CANDIDATES)
        check_choice(features, "features", FEATURES)
        check_choice(contacts, "contacts", CONTACTS)
        check_choice(precision, "precision", PRECISIONS)
        check_choice(backend, "backend", BACKENDS)
        check_choice(results, "results", RESULTS)
        _check_rows(candidates, features)
        _check_motion(motion, refine, candidates)
        resolution, pixel_size = _check_resolution(refine, resolution, pixel_size)
        max_bytes = check_bytes(max_bytes, DEFAULT_BYTES)
        _check_properness(min_properness)
        return cls(
            broad_phase=broad_phase,
            filters=filters,
            features=features,
            report=check_bool(report, "report"),
            motion=motion,
            refine=refine,
            candidates=candidates,
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
    def first_only(self) -> bool:
        """Are only the contacts at the earliest time of each pair wanted?"""
        return self.contacts == "first"

    def for_info(self) -> dict[str, Any]:
        """What ``Contacts.info`` says of the options."""
        return {**self._told, "filters": list(self.filters)}

    @cached_property
    def _told(self) -> dict[str, Any]:
        names = ("refine", "candidates", "resolution", "pixel_size", "min_properness", "check_start",
                 "contacts", "features", "motion")  # fmt: skip
        return {name: getattr(self, name) for name in names}


def _check_filters(filters: Any) -> tuple[FilterName, ...]:
    """The names that the option `filters` stands for, in the order given."""
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


def _check_rows(candidates: str, features: str) -> None:
    """Refuse near faces with rows, which are made of whole meshes."""
    if features == "near" and candidates == "raster":
        raise ValueError(
            "features: expected 'auto' or 'all' with candidates='raster', whose rows need whole meshes, got "
            "'near'"
        )


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
