"""The collision screen of one pair as numbers, for pictures: the curves of the edges, and their pixels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gpu_collide.reference.narrow_phase._tables import tables_of
from gpu_collide.reference.narrow_phase.body_motion import body_of, motion_of_pair
from gpu_collide.reference.narrow_phase.s01_screw import Screw, pose_arrays, screw_of_pair
from gpu_collide.reference.narrow_phase.s02_facing import (
    azimuth_from,
    copies,
    edge_parts,
    face_boundaries,
    segment_boxes,
    side_of,
)
from gpu_collide.reference.narrow_phase.s03_project import pixel_of, project, rows_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gpu_collide._types import Array
    from gpu_collide.bodies.bodies import Bodies

__all__ = ["Screen", "on_screen", "rasterize", "screw_of"]

_SAMPLES = 65  # per curve
MOST_PIXELS = 10_000_000  # of a picture: more cannot be seen, and take long


@dataclass(frozen=True)
class Screen:
    """What A and B leave on the screen.

    Attributes
    ----------
    screw : Screw
        The screw frame of the pair.
    left, bottom : float
        Corner of pixel (row 0, column 0): h and r, as lengths; r counts from the reference radius.
    height : float
        Side of a pixel.
    taken : (2, rows, columns) bool ndarray
        Pixels that edges of A, of B take. There are rows only where both bodies are.
    curves : tuple of two (parts, samples, 2) float64 ndarray
        The facing parts of the edges of A, of B: h and r. What can be met on both sides of the axis is there
        twice.
    outlines : tuple of two (parts, samples, 2) float64 ndarray
        The virtual edges, where a face turns away.
    """

    screw: Screw
    left: float
    bottom: float
    height: float
    taken: np.ndarray
    curves: tuple
    outlines: tuple


def rasterize(bodies: Bodies, pair: Sequence[int], resolution: float) -> Screen:
    """Draw the facing edges of a pair on the pixels of the screen.

    Parameters
    ----------
    bodies : gpu_collide.Bodies
    pair : sequence of two int
    resolution : float
        Pixels per typical short edge, the 10th percentile of the edges of both bodies.

    Returns
    -------
    Screen

    Raises
    ------
    ValueError
        If a pose is invalid, there is no relative motion and so no screen, or it would have more than ten
        million pixels.
    """
    if not (np.isfinite(resolution) and resolution > 0):
        raise ValueError(f"resolution: expected a positive number, got {resolution!r}")
    screw = screw_of(bodies, pair)
    if not screw.moves:
        raise ValueError(f"pair {tuple(map(int, pair))}: no relative motion, so there is no collision screen")
    tables = [tables_of(bodies.meshes[bodies.shape[i]]) for i in pair]
    sides = [side_of(screw, table, name) for table, name in zip(tables, "ab", strict=True)]
    parts = [edge_parts(screw, side) for side in sides]
    boxes = [segment_boxes(screw, p.p0, p.p1) for p in parts]
    # Where no turn of A comes to where B is, it is drawn as it stands.
    turns = list(copies(screw, *boxes)) or [0]
    height = pixel_of(tables[0], tables[1], resolution, None, "pixels")

    silhouettes = []
    for side in sides:
        boundary = face_boundaries(screw, side)
        virtual = boundary.edge < 0
        silhouettes.append((boundary.p0[virtual], boundary.p1[virtual]))
    curves = [_curves(screw, p.p0, p.p1, k) for p, k in zip(parts, (turns, [0]), strict=True)]
    outlines = [_curves(screw, *ends, k) for ends, k in zip(silhouettes, (turns, [0]), strict=True)]
    seen = np.concatenate([c.reshape(-1, 2) for c in curves] or [np.zeros((1, 2))])
    left, right = (seen[:, 0].min(), seen[:, 0].max()) if len(seen) else (0.0, 0.0)
    columns = int((right - left) / height) + 1

    _check_size(curves, columns, height, resolution)
    rows = rows_of(screw, height, [boxes[0]], [boxes[1]], 0.0) if all(len(p.p0) for p in parts) else None
    taken = np.zeros((2, rows.count if rows else 0, columns), bool)
    for layer, part, shifts in zip(taken, parts, (turns, [0]), strict=True):
        if rows is None:
            continue
        records = project(screw, rows, part, 0.5 * (part.p0 + part.p1), 0.0)
        # A row measures h with its own radius; on the screen all rows share the one of the origin.
        scale = rows.L[records.row] / (rows.m[records.row] * screw.speed)
        for k in shifts:
            shift = -k * _turn(screw) - left
            low, high = (h * scale + shift for h in (records.h_min, records.h_max))
            first = np.floor(np.clip(low / height, 0, columns - 1)).astype(int)
            last = np.floor(np.clip(high / height, 0, columns - 1)).astype(int)
            for row, c0, c1 in zip(records.row, first, last, strict=True):
                layer[row, c0 : c1 + 1] = True
    bottom = rows.low if rows else 0.0
    return Screen(screw, float(left), float(bottom), height, taken, tuple(curves), tuple(outlines))


def _check_size(curves: Any, columns: Any, height: float, resolution: float) -> None:
    """Raise ``ValueError`` before too large a picture is begun; rows are only where both bodies are."""
    radii = [places[..., 1] for places in curves if len(places)]
    shared = min(r.max() for r in radii) - max(r.min() for r in radii) if len(radii) == 2 else 0.0
    rows = max(shared, 0.0) / height + 2
    if columns * rows > MOST_PIXELS:
        raise ValueError(
            f"resolution: expected a picture of at most {MOST_PIXELS:,} pixels, got {columns:,} columns by "
            f"{rows:,.0f} rows; a lower resolution than {resolution:g} makes fewer"
        )


def _turn(screw: Any) -> float:
    """How far one turn about the axis moves a point of A backwards in h."""
    return screw.g * screw.period / screw.speed if screw.kappa > 0 else 0.0


def _curves(screw: Any, p0: Array, p1: Array, turns: Any) -> Any:
    """Straight pieces with the ends (n, 3) on the screen, once per copy: (n * copies, samples, 2)."""
    u = np.linspace(0.0, 1.0, _SAMPLES)[:, None, None]
    points = p0 + u * (p1 - p0)
    psi = azimuth_from(screw, np.broadcast_to(0.5 * (p0 + p1), points.shape), points)
    once = on_screen(screw, points, psi).swapaxes(0, 1)
    return np.concatenate([once - [k * _turn(screw), 0.0] for k in turns])


def screw_of(bodies: Bodies, pair: Sequence[int]) -> Any:
    """The screw frame of a pair.

    Parameters
    ----------
    bodies : gpu_collide.Bodies
    pair : sequence of two int

    Returns
    -------
    Screw

    Raises
    ------
    ValueError
        If a pose is invalid.
    """
    _check_poses(bodies, pair)
    a, b = pair
    meshes = [bodies.meshes[bodies.shape[i]] for i in (a, b)]
    poses = []
    for i, when in ((a, bodies.start), (a, bodies.end), (b, bodies.start), (b, bodies.end)):
        position, quat, _ = pose_arrays(when[i : i + 1])
        poses.append((position[0], quat[0]))
    return screw_of_pair(*meshes, *poses)


def own_motion_of(bodies: Bodies, pair: Sequence[int]) -> Any:
    """The motions of a pair of which each body has its own, `BodyMotion`; otherwise as `screw_of`."""
    _check_poses(bodies, pair)
    meshes = [bodies.meshes[bodies.shape[i]] for i in pair]
    return motion_of_pair(*meshes, *(body_of(bodies, i) for i in pair))


def _check_poses(bodies: Bodies, pair: Sequence[int]) -> None:
    for i in pair:
        for name in ("start", "end"):
            if not getattr(bodies, name).valid[i]:
                raise ValueError(
                    f"pair {tuple(map(int, pair))}: the {name} pose of body {i} is not finite, or no rotation"
                )


def on_screen(screw: Any, points: Array, psi: Array) -> Array:
    """Places (..., 2) of points (..., 3) of the screw frame with the arcs psi (...): h and r."""
    h = (screw.W * points[..., 1] - screw.g * psi) / screw.speed
    return np.stack([h, screw.cylinder(points)[0]], axis=-1)
