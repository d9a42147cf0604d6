"""`rays`, `spheres`, `ellipsoids` and `clusters`: the public queries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpu_collide._calls import renamed
from gpu_collide.queries.sweep.arguments import (
    OBSTACLES,
    answer,
    cluster_casts,
    ellipsoid_casts,
    sphere_casts,
)
from gpu_collide.queries.sweep.residency import CastRules

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal

    from gpu_collide._types import ArrayLike, BackendName, HitsWanted, Precision, ResultsOn
    from gpu_collide.bodies.bodies import Bodies
    from gpu_collide.bodies.casts import Cluster
    from gpu_collide.queries.scene import Scene
    from gpu_collide.results.hits import Hits

__all__ = ["clusters", "ellipsoids", "rays", "spheres"]


@renamed(path="displacement", world=OBSTACLES)
def rays(
    start: ArrayLike,
    displacement: ArrayLike,
    obstacles: Scene | Bodies,
    *,
    hits: HitsWanted = "first",
    two_sided: bool = False,
    buffer: float = 0.0,
    group: ArrayLike | None = None,
    mask: ArrayLike | None = None,
    ignore: ArrayLike | None = None,
    world: ArrayLike | None = None,
    turning: Literal["refuse", "chord", "exact"] = "refuse",
    precision: Precision | None = None,
    backend: BackendName | None = None,
    max_bytes: int | None = None,
    results: ResultsOn = "auto",
) -> Hits:
    """Cast points along straight paths; what each touches.

    Parameters
    ----------
    start : (n, 3) or (3,) array_like
        Where each begins, in the world.
    displacement : (n, 3) or (3,) array_like
        Where it goes from there, in the unit of lengths: a ray ends there.
    obstacles : Scene or Bodies
        What is met: bodies at rest, or with a start and an end, which they move between while the points go
        along their paths. Of the rules of a scene, groups and masks apply, and worlds to casts that are
        in one.
    hits : {"first", "any", "all"}, optional
        The first touch of each; whether there is one, and whichever was found first; or all that there would
        be if nothing stopped it.
    two_sided : bool, optional
        Faces are met from behind as well. By default only from the front, unless the mesh is ``two_sided``.
    buffer : float, optional
        Distance to be kept: `Hits.time` is earlier, by as much as the point needs to be this far from the
        plane of contact, but not before 0. It does not make hits of what is only passed near.
    group, mask : int or (n,) array_like of int, optional
        Bits, 32 of them, as `gpu_collide.collide` has them for bodies: a cast meets a body if
        ``group & mask_of_body`` and ``mask & group_of_body``, those of the `Scene`. Default: all ones, as
        bodies have that are in no scene with groups or masks.
    ignore : int or (n,) array_like of int, optional
        A body that each passes, such as the one from which it was shot; -1: none.
    world : int or (n,) array_like of int, optional
        The world that each is in: it meets bodies of this number, and those that are in all (-1). Numbers are
        those of the `Scene`, or of poses of shape (worlds, n). Default: casts meet bodies of all worlds.
    turning : {"refuse", "chord", "exact"}, optional
        What to do with bodies that turn: refuse them; take for straight the paths that those bodies see
        (``chord``), of which ``info["turning"]`` is a bound on the error; or move each body as
        ``motion="body"`` of `gpu_collide.collide` does (``exact``), on the screw between its poses or, made
        by `Bodies.from_velocities`, straight on and spinning, by at most 1000 rad. Exact times are those of
        the true curves, to rounding.
    precision, backend, max_bytes
        As in `gpu_collide.collide`. With a `Scene` as obstacles, those of the scene; they are not to be given
        then.
    results : {"auto", "host", "device"}, optional
        Where the arrays of the result are: ``device`` is where the backend computes, which on `cuda` is the
        GPU; ``auto`` is the GPU if all arrays with a row for each query came on it, else the host
        (docs/devices.md). `Hits.to_numpy` copies to the host.

    Returns
    -------
    Hits
        A row for each query; with ``hits="all"``, for each touch.

    Raises
    ------
    TypeError, ValueError
        Arguments of the wrong kind, before anything is computed, but lengths and numbers that lie on a GPU
        when they are known (docs/devices.md); bodies that turn, or turn too far for ``turning="exact"``.
    MemoryLimitError
        The obstacles, or what one query touches, does not fit `max_bytes`.
    BackendUnavailableError
        The backend is not available.

    Warns
    -----
    RuntimeWarning
        Obstacles with invalid poses; they are not there.

    Notes
    -----
    A point meets faces only; an edge or a corner it meets as part of a face, and none lets it pass, since
    sides of shared edges are exact. A mesh with a rounding radius it meets as a sphere of that radius does
    the mesh inside, of which face and number are told; bodies of each radius are asked alone. A point on
    a face, within rounding, is in front of it.
    ``docs/sweep.md`` has the formulas, and what is said of bodies that turn.

    References
    ----------
    .. [1] T. Schroeder, "Collision Detection Using Ray Casting", Game Developer, 2001.

    Examples
    --------
    >>> import gpu_collide as gc
    >>> here = gc.Poses.identity(1)
    >>> still = gc.Bodies(gc.shapes.box(), None, here, here)
    >>> found = gc.sweep.rays([[0, 0, 3], [5, 0, 3]], [0, 0, -5], still)
    >>> found.time.tolist(), found.hit.tolist(), found.normal[0].tolist()
    ([0.5, 1.0], [True, False], [0.0, 0.0, 1.0])
    """
    rules = CastRules(group, mask, ignore, world)
    casts = sphere_casts(start, displacement, None, results, rules)
    return answer(
        casts, obstacles, hits, two_sided, buffer, turning, precision, backend, max_bytes, results, rules
    )


@renamed(path="displacement", world=OBSTACLES)
def spheres(
    start: ArrayLike,
    displacement: ArrayLike,
    radius: ArrayLike,
    obstacles: Scene | Bodies,
    *,
    hits: HitsWanted = "first",
    two_sided: bool = False,
    buffer: float = 0.0,
    group: ArrayLike | None = None,
    mask: ArrayLike | None = None,
    ignore: ArrayLike | None = None,
    world: ArrayLike | None = None,
    turning: Literal["refuse", "chord", "exact"] = "refuse",
    precision: Precision | None = None,
    backend: BackendName | None = None,
    max_bytes: int | None = None,
    results: ResultsOn = "auto",
) -> Hits:
    """Cast spheres along straight paths; what each touches.

    Parameters
    ----------
    start, displacement
        As in `rays`, of the centres.
    radius : float or (n,) array_like
        Zero or more.
    obstacles, hits, two_sided, buffer, group, mask, ignore, world, turning
        As in `rays`.
    precision, backend, max_bytes, results
        As in `rays`.

    Returns
    -------
    Hits

    Raises
    ------
    TypeError, ValueError, MemoryLimitError, BackendUnavailableError
        As in `rays`; a negative radius.

    Notes
    -----
    Touched is the first face, edge or vertex that comes within the radius while it is approached. What is
    within the radius at the start is touched at time 0 if it is approached, else not at all: what has sunk in
    may leave. Edges and vertices count only if the centre is in front of one of their faces when they are
    touched.

    References
    ----------
    .. [1] T. Schroeder, see `rays`; the quadratic of the edge, the inside test and the clip fraction as
       ``docs/sweep.md`` has them.

    Examples
    --------
    >>> import gpu_collide as gc
    >>> here = gc.Poses.identity(1)
    >>> still = gc.Bodies(gc.shapes.box(), None, here, here)
    >>> found = gc.sweep.spheres([[0, 0, 3], [0.9, 0, 3]], [0, 0, -4], 0.5, still)
    >>> found.time.round(6).tolist(), [gc.sweep.Feature(f).name for f in found.feature]
    ([0.5, 0.55], ['FACE', 'EDGE'])
    """
    rules = CastRules(group, mask, ignore, world)
    casts = sphere_casts(start, displacement, radius, results, rules)
    return answer(
        casts, obstacles, hits, two_sided, buffer, turning, precision, backend, max_bytes, results, rules
    )


@renamed(path="displacement", world=OBSTACLES)
def ellipsoids(
    start: ArrayLike,
    displacement: ArrayLike,
    radii: ArrayLike,
    obstacles: Scene | Bodies,
    *,
    orientation: ArrayLike | None = None,
    hits: HitsWanted = "first",
    two_sided: bool = False,
    buffer: float = 0.0,
    group: ArrayLike | None = None,
    mask: ArrayLike | None = None,
    ignore: ArrayLike | None = None,
    world: ArrayLike | None = None,
    turning: Literal["refuse", "chord"] = "refuse",
    precision: Precision | None = None,
    backend: BackendName | None = None,
    max_bytes: int | None = None,
    results: ResultsOn = "auto",
) -> Hits:
    """Cast ellipsoids along straight paths, without turning; what each touches.

    Parameters
    ----------
    start, displacement
        As in `rays`, of the centres.
    radii : (3,) or (n, 3) array_like
        Along the ellipsoid's own axes, above zero.
    obstacles
        As in `rays`.
    orientation : (n, 4) or (4,) array_like, optional
        Unit quaternions wxyz, from the ellipsoid's axes to the world's. Default: they are the same.
    hits, two_sided, buffer, group, mask, ignore, world, turning, precision, backend, max_bytes, results
        As in `rays`.

    Returns
    -------
    Hits
        A row whose orientation is no unit quaternion has the status INVALID_INPUT.

    Raises
    ------
    TypeError, ValueError, MemoryLimitError, BackendUnavailableError
        As in `rays`; radii that are not above zero.

    Notes
    -----
    Lengths along each axis of the ellipsoid are divided by its radius, which makes it a sphere, wherever the
    bodies of the world lie; normals come back by the inverse transpose. Which of several features is nearest
    is told in these lengths.

    References
    ----------
    .. [1] K. Fauerby, "Collision detection & Response", 2000, which divides in the obstacle's axes.

    Examples
    --------
    >>> import gpu_collide as gc
    >>> here = gc.Poses.identity(1)
    >>> still = gc.Bodies(gc.shapes.box(), None, here, here)
    >>> gc.sweep.ellipsoids([0, 0, 3], [0, 0, -4], [0.2, 0.2, 1.0], still).time.tolist()
    [0.375]
    """
    rules = CastRules(group, mask, ignore, world)
    casts = ellipsoid_casts(start, displacement, radii, orientation, results, rules=rules)
    return answer(
        casts, obstacles, hits, two_sided, buffer, turning, precision, backend, max_bytes, results, rules
    )


@renamed(path="displacement", world=OBSTACLES)
def clusters(
    clusters: Cluster | tuple[Sequence[Cluster], ArrayLike],
    start: ArrayLike,
    displacement: ArrayLike,
    obstacles: Scene | Bodies,
    *,
    orientation: ArrayLike | None = None,
    hits: HitsWanted = "first",
    two_sided: bool = False,
    buffer: float = 0.0,
    group: ArrayLike | None = None,
    mask: ArrayLike | None = None,
    ignore: ArrayLike | None = None,
    world: ArrayLike | None = None,
    turning: Literal["refuse", "chord", "exact"] = "refuse",
    precision: Precision | None = None,
    backend: BackendName | None = None,
    max_bytes: int | None = None,
    results: ResultsOn = "auto",
) -> Hits:
    """Cast clusters of spheres along straight paths, without turning; what each touches.

    Parameters
    ----------
    clusters : Cluster, or (list of Cluster, (n,) array_like of int)
        One for all queries, or a list and which of it each query has.
    start, displacement
        As in `rays`, of the cluster's origin.
    obstacles
        As in `rays`.
    orientation : (n, 4) or (4,) array_like, optional
        Unit quaternions wxyz, from the cluster's axes to the world's. Default: they are the same.
    hits, two_sided, buffer, group, mask, ignore, world, turning, precision, backend, max_bytes, results
        As in `rays`.

    Returns
    -------
    Hits
        `Hits.sphere` says which sphere of the cluster touches.

    Raises
    ------
    TypeError, ValueError, MemoryLimitError, BackendUnavailableError
        As in `rays`; something else than clusters, or a number that is none of the list's.

    Examples
    --------
    >>> import gpu_collide as gc
    >>> here = gc.Poses.identity(1)
    >>> still = gc.Bodies(gc.shapes.box(), None, here, here)
    >>> car = gc.sweep.Cluster([[-1, 0, 0], [1, 0, 0]], [0.5, 0.6])
    >>> found = gc.sweep.clusters(car, [[0, 0, 3]], [0, 0, -4], still)
    >>> round(float(found.time[0]), 6), int(found.sphere[0])
    (0.542084, 1)
    """
    rules = CastRules(group, mask, ignore, world)
    casts = cluster_casts(clusters, start, displacement, orientation, results, rules)
    return answer(
        casts, obstacles, hits, two_sided, buffer, turning, precision, backend, max_bytes, results, rules
    )
