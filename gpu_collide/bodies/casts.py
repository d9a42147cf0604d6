"""`Casts`: points, spheres, ellipsoids or clusters of spheres, each on a straight path."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from gpu_collide._validate import Frozen, as_float_array

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from numpy.typing import NDArray

    from gpu_collide._types import Array, ArrayLike, BoolArray
    from gpu_collide.bodies.bodies import Bodies

__all__ = ["CLUSTERS", "ELLIPSOIDS", "SPHERES", "Casts", "Cluster", "GivenCasts", "turning"]

#: Forms of what is swept, as the kernels number them (``kernels/sweep/gc_cast.h``).
SPHERES, ELLIPSOIDS, CLUSTERS = 0, 1, 2


#: Orientations whose numbers differ by no more than this are one.
SAME_TURN = 4 * np.finfo(np.float64).eps


def turning(bodies: Bodies) -> BoolArray:
    """Which bodies turn between their start and their end; (n,) bool."""
    if bodies.start is bodies.end:
        return np.zeros(len(bodies), bool)
    a, b = bodies.start.unit_wxyz, bodies.end.unit_wxyz
    apart = np.minimum(np.abs(a - b).max(axis=1, initial=0.0), np.abs(a + b).max(axis=1, initial=0.0))
    return np.asarray(apart > SAME_TURN)


class Cluster(Frozen):
    """An object made of spheres that moves as one.

    Parameters
    ----------
    centers : (k, 3) array_like
        In the object's own frame.
    radii : (k,) array_like or float
        Zero or more.

    Attributes
    ----------
    centers : (k, 3) float64
    radii : (k,) float64

    Raises
    ------
    TypeError, ValueError
        No spheres, numbers that are not finite, negative radii, or shapes that do not fit.

    Examples
    --------
    >>> import gpu_collide as gc
    >>> gc.sweep.Cluster([[-1, 0, 0], [1, 0, 0]], 0.5)
    Cluster(2 spheres)
    """

    centers: NDArray[np.float64]
    radii: NDArray[np.float64]

    def __init__(self, centers: ArrayLike, radii: ArrayLike) -> None:
        places = as_float_array(centers, "centers", shape=(None, 3))
        given = as_float_array(radii, "radii")
        if not len(places):
            raise ValueError("centers: expected at least one sphere, got none")
        if given.shape not in ((), (len(places),)):
            raise ValueError(
                f"radii: expected a number or shape ({len(places)},), one of each center, got {given.shape}"
            )
        sizes = np.array(np.broadcast_to(given, (len(places),)))
        for name, array in (("centers", places), ("radii", sizes)):
            if not np.isfinite(array).all():
                raise ValueError(f"{name}: expected finite numbers, got NaN or infinity")
        if (sizes < 0).any():
            raise ValueError(f"radii: expected lengths, zero or more, got {sizes.min()}")
        for array in (places, sizes):
            array.flags.writeable = False
        self.__dict__.update(centers=places, radii=sizes)

    def __len__(self) -> int:
        return len(self.radii)

    def __repr__(self) -> str:
        return f"Cluster({len(self)} sphere{'s' * (len(self) != 1)})"


@dataclass(frozen=True)
class Casts:
    """A row for each query.

    Attributes
    ----------
    form : int
        `SPHERES`, `ELLIPSOIDS` or `CLUSTERS`.
    start, path : (n, 3) float64
        Of the centre, or of the cluster's origin, in the world.
    radius : float64
        Of spheres (n,), of ellipsoids (n, 3), of all balls of the clusters (balls,).
    quat : (n, 4) float64
        Orientations, unit; (0, 4) for spheres.
    balls : (balls, 3) float64
        Centres of all balls of the clusters.
    cluster : (n,) int32
        Of each query.
    begin : (clusters + 1,) int32
        First ball of each cluster.
    moves : (n,) bool
        Is it swept at all? The others have path zero.
    rules : (n, 4) int32 or None
        Group, mask, body to ignore and rank of the world of each (`gpu_collide.bodies.rules.cast_rules`).
    reach : float
        No start, path and radius of spheres is together larger; infinite where that is not known, or some
        are not swept.
    """

    form: int
    start: Array
    path: Array
    radius: Array
    quat: Array
    balls: Array
    cluster: Array
    begin: Array
    moves: Array
    reach: float = math.inf
    rules: Array | None = None

    def __len__(self) -> int:
        return len(self.start)

    @property
    def every(self) -> bool:
        """Are all of them swept?"""
        return self.reach < math.inf or bool(self.moves.all())

    def take(self, rows: Any) -> Casts:
        """Some of them; ellipsoids."""
        names = ("start", "path", "radius", "quat", "cluster", "moves", "rules")
        some = {name: getattr(self, name) for name in names}
        return replace(self, **{name: array[rows] for name, array in some.items() if array is not None})


@dataclass(frozen=True)
class GivenCasts:
    """Casts some of whose arrays lie on a GPU, or whose results are to stay on one: shapes and dtypes are
    checked, and nobody has looked at the numbers.

    Attributes
    ----------
    form : int
    n : int
    start, path, radius, quat, cluster : array or None
        As they were given, by CuPy or NumPy: with a row for each query, or one for all. None: not given, or
        not in this form.
    balls, begin : ndarray
        As `Casts` has them; of clusters `radius` is that of all balls, and a host array.
    device : int or None
        Number of the GPU on which arrays lie; None: all are on the host, -1: they are on several.
    whole : bool
        All arrays with a row for each query lie there, and there is one.
    host : callable
        Makes `Casts` of the same, with all that is checked of values.
    rules : tuple of (array or None), or None
        Groups, masks and bodies to ignore as they were given, and ranks of worlds, a number or a row for each
        query; None: none of them was.
    """

    form: int
    n: int
    start: Any
    path: Any
    radius: Any
    quat: Any
    cluster: Any
    balls: Array
    begin: Array
    device: int | None
    whole: bool
    host: Callable[[], Casts]
    rules: tuple[Any, Any, Any, Any] | None = None

    def __len__(self) -> int:
        return self.n
