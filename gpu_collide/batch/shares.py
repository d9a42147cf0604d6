"""A recording cut by bodies, by worlds or in space by home cells: each pair of bodies is in one share."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gpu_collide.recordings.pieces import numbered, some_bodies, some_steps

if TYPE_CHECKING:
    from collections.abc import Callable

    from gpu_collide._types import Array
    from gpu_collide.recordings.recording import Recording

__all__ = ["CUTS", "check_cut", "share_of"]

CUTS = ("worlds", "space")

# Groups and masks of a share in space: bodies at home meet each other and all else; what is not at home (the
# halo, and what stands still) meets those at home alone.
_HOME, _OTHERS = (1, 3), (2, 1)


def check_cut(cut: Any, parts: Any, options: dict[str, Any]) -> tuple[str, int] | None:
    """How each recording is cut beside time, checked; None if it is not."""
    if cut is None:
        return None
    if cut not in CUTS:
        raise ValueError(f"cut: expected None or one of {', '.join(map(repr, CUTS))}, got {cut!r}")
    if cut == "worlds" and options.get("world") is None:
        raise ValueError("cut: 'worlds' needs the world of each body; give world=")
    taken = [name for name in ("group", "mask") if options.get(name) is not None]
    if cut == "space" and taken:
        raise ValueError(
            f"{taken[0]}: expected None with cut='space', which says by groups and masks which pairs belong "
            "to which share; use world or ignore, or cut by 'worlds'"
        )
    return cut, parts


def share_of(
    recording: Recording,
    steps: tuple[int, int] | None,
    cut: tuple[str, int, int],
    options: dict[str, Any],
    answer: Callable[[Recording, dict[str, Any]], Any],
    reach: float | None = 0.0,
) -> Any:
    """What share k of so many finds in some steps: what the whole finds of its pairs, in its numbers.

    Parameters
    ----------
    recording : Recording
    steps, cut
        As in `Item`.
    options : dict
        Of the question, some of which speak of bodies.
    answer : callable
        From a recording and options to the result.
    reach : float
        How far apart bodies may be that it is about.
    """
    kind, k, parts = cut
    n = recording.n_bodies
    if kind == "worlds":
        home = _of_worlds(options["world"], n, parts)
    else:
        home = _cells(recording.poses(0, 1).position[0], parts)
    piece = recording if steps is None else some_steps(recording, *steps)
    rows = np.flatnonzero(home == k)
    if kind == "space":
        rows = np.flatnonzero((home == k) | _halo(piece, home, k, reach or 0.0))
    n_static = 0 if recording.static is None else len(recording.static)
    asked = _for_rows(options, np.concatenate([rows, n + np.arange(n_static)]), n, n + n_static)
    if kind == "space":
        bits = np.array([_OTHERS, _HOME])[np.append(home[rows] == k, np.zeros(n_static, bool)).astype(int)]
        asked |= {"group": bits[:, 0], "mask": bits[:, 1]}
    found = numbered(answer(some_bodies(piece, rows), asked), rows, recording)
    return replace(found, skipped=found.skipped[home[found.skipped["body"]] == k])


def _of_worlds(world: Any, n: int, parts: int) -> Array:
    """Share of each moving body: whole worlds, in the order of their numbers."""
    mine = np.asarray(world)[:n]
    if (mine < 0).any():
        raise ValueError(
            f"world: expected moving bodies in one world each with cut='worlds', got {(mine < 0).sum()} that "
            "are in all of them"
        )
    names, rank = np.unique(mine, return_inverse=True)
    return rank * parts // max(len(names), 1)


def _cells(position: Array, parts: int) -> Array:
    """Home cell of each body by its first place: all are cut in two along the longest axis, and again."""
    cell = np.zeros(len(position), np.int64)
    place = np.nan_to_num(position, nan=0.0, posinf=0.0, neginf=0.0)

    def cut(rows: Array, first: int, cells: int) -> None:
        if cells == 1 or not len(rows):
            cell[rows] = first
            return
        order = rows[np.argsort(place[rows, np.argmax(np.ptp(place[rows], axis=0))], kind="stable")]
        at = len(rows) * (cells // 2) // cells
        cut(order[:at], first, cells // 2)
        cut(order[at:], first + cells // 2, cells - cells // 2)

    cut(np.arange(len(place)), 0, parts)
    return cell


def _halo(piece: Recording, home: Array, k: int, more: float) -> Array:
    """Bodies of higher cells whose swept box comes as near as `more` to the box around all that cell `k`
    sweeps."""
    low, high = np.full((len(home), 3), np.inf), np.full((len(home), 3), -np.inf)
    reach = np.array([np.linalg.norm(mesh.vertices, axis=1).max(initial=0) for mesh in piece.meshes])
    radius = reach[np.zeros(len(home), int) if piece.shape is None else piece.shape]
    last = None
    for block in piece.blocks():
        place = block.position if last is None else np.concatenate([last, block.position])
        place = np.where(np.isfinite(place), place, np.nan)
        # A screw motion leaves the straight way by half its length at most (a turn is half a circle at most).
        way = np.linalg.norm(np.diff(place, axis=0), axis=-1) if len(place) > 1 else np.zeros((1, len(home)))
        aside = 0.51 * np.fmax.reduce(way, axis=0, initial=0.0)
        pad = (radius + aside + 0.5 * more + 1e-6 * np.fmax.reduce(np.abs(place), axis=(0, 2), initial=1.0))[
            :, None
        ]
        low = np.fmin(low, np.fmin.reduce(place, axis=0) - pad)
        high = np.fmax(high, np.fmax.reduce(place, axis=0) + pad)
        last = place[-1:]
    mine = home == k
    if not mine.any():
        return np.zeros(len(home), bool)
    meets = (low <= high[mine].max(axis=0)) & (high >= low[mine].min(axis=0))
    return (home > k) & meets.all(axis=1)


def _for_rows(options: dict[str, Any], kept: Array, n: int, total: int) -> dict[str, Any]:
    """Options that speak of bodies, for some of them; `kept` are moving ones and then all static ones."""
    asked = dict(options)
    for name in ("world", "group", "mask"):
        if asked.get(name) is not None:
            values = np.asarray(asked[name])
            asked[name] = values[kept[: np.searchsorted(kept, n)] if len(values) == n != total else kept]
    if asked.get("ignore") is not None and np.size(asked["ignore"]):
        place = np.full(total, -1)
        place[kept] = np.arange(len(kept))
        pairs = place[np.asarray(asked["ignore"])]
        asked["ignore"] = pairs[(pairs >= 0).all(axis=1)]
    return asked
