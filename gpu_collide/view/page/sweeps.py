"""Scenes of casts and of characters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gpu_collide._validate import as_float_array, how_many
from gpu_collide.geometry.mesh.mesh import Mesh
from gpu_collide.results.hits import Feature
from gpu_collide.results.result import Status
from gpu_collide.view.page.scene import Cast, Events, PageScene, fields_of, poses_of, stands_still

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gpu_collide._types import Array
    from gpu_collide.bodies.bodies import Bodies
    from gpu_collide.results.hits import Hits
    from gpu_collide.results.slides import Slides

__all__ = ["DOT", "ball", "rows_of", "scene_of_characters", "scene_of_hits"]

DOT = 0.004  # radius of a point that is drawn, in sizes of the scene


def ball(rings: int = 12) -> Mesh:
    """A sphere of radius 1, to be looked at."""
    polar = np.pi * np.arange(1, rings) / rings
    around = np.pi * np.arange(2 * rings) / rings
    ring = np.stack(
        [
            np.sin(polar)[:, None] * np.cos(around),
            np.sin(polar)[:, None] * np.sin(around),
            np.broadcast_to(np.cos(polar)[:, None], (rings - 1, 2 * rings)),
        ],
        axis=-1,
    )
    vertices = np.concatenate([ring.reshape(-1, 3), [[0, 0, 1.0], [0, 0, -1.0]]])
    n, top = 2 * rings, len(vertices) - 2
    i, j = np.meshgrid(np.arange(rings - 2) * n, np.arange(n), indexing="ij")
    a, b = (i + j).ravel(), (i + (j + 1) % n).ravel()
    k = np.arange(n)
    last = (rings - 2) * n
    faces = np.concatenate(
        [
            np.stack([a, a + n, b + n], axis=1),
            np.stack([a, b + n, b], axis=1),
            np.stack([np.full(n, top), k, (k + 1) % n], axis=1),
            np.stack([np.full(n, top + 1), last + (k + 1) % n, last + k], axis=1),
        ]
    )
    return Mesh(vertices, faces)


def _swept(radii: Any, count: int, size: float) -> Array:
    """Radii (n, 3) of what is drawn: of spheres, of ellipsoids, or of points as dots."""
    radii = np.zeros(1) if radii is None else as_float_array(radii, "radii")
    if radii.ndim < 2 and radii.shape != (3,):  # of spheres
        radii = radii.reshape(-1, 1)
    try:
        full = np.broadcast_to(radii, (count, 3))
    except ValueError:
        raise ValueError(
            f"radii: expected a number, (n,), (3,) or (n, 3) for n = {count}, got shape {radii.shape}"
        ) from None
    return np.where(full > 0, full, DOT * size)


def rows_of(value: Any, name: str, count: int) -> Array:
    """A vector for each of `count` things, from one for all or one for each."""
    if value is None:
        raise ValueError(f"{name}: expected the one that the query was given, got None; pass {name}=")
    value = as_float_array(value, name)
    try:
        return np.broadcast_to(value, (count, 3))
    except ValueError:
        raise ValueError(f"{name}: expected shape ({count}, 3) or (3,), got {value.shape}") from None


def _world(bodies: Bodies, frames: int) -> tuple[Array, Array, Array]:
    """Numbers of the bodies that move and of the others, and the poses (frames, m, 7) of the former."""
    still = stands_still(bodies) if frames == 2 else np.ones(len(bodies), bool)
    movers = np.flatnonzero(~still)
    poses = [poses_of(when)[movers] for when in (bodies.start, bodies.end)]
    return movers, np.flatnonzero(still), np.stack(poses) if frames == 2 else np.zeros((frames, 0, 7))


def _together(
    bodies: Bodies, places: Array, quat: Array, radii: Array, names: list[str], stop: Array | None
) -> tuple[Cast, Array]:
    """Cast of what is swept, places (t, n, 3), then of the bodies; and the position of each body in it."""
    frames, count = places.shape[:2]
    movers, others, poses = _world(bodies, frames)
    rows = np.concatenate([places, np.broadcast_to(quat, (frames, count, 4))], axis=-1)
    order = np.concatenate([movers, others])
    position = np.empty(len(bodies), int)
    position[order] = count + np.arange(len(order))
    mesh = len(bodies.meshes)
    cast = Cast(
        (*bodies.meshes, ball()),
        np.concatenate([np.full(count, mesh), bodies.shape[movers]]),
        np.concatenate([rows, poses], axis=1),
        np.concatenate([np.arange(count), order]),
        bodies.shape[others],
        poses_of(bodies.start)[others],
        scale=np.concatenate([radii, np.ones((len(movers), 3))]),
        stop=None if stop is None else np.concatenate([stop, np.full(len(movers), np.inf)]),
        names=dict(enumerate(names)),
    )
    return cast, position


def scene_of_hits(
    hits: Hits, bodies: Bodies, start: Any, way: Any, radii: Any, orientation: Any, most: int
) -> PageScene:
    """What is swept along straight paths, which ends at the first touch if that is what was asked."""
    n = len(hits.status)
    start, way = rows_of(start, "start", n), rows_of(way, "displacement", n)
    size = float(np.ptp(np.concatenate([start, start + way]), axis=0).max()) if n else 1.0
    touched = np.unique(hits.query[hits.feature != Feature.NONE])
    chosen = touched if len(touched) else np.arange(n)
    left_out = f" The first {most:,} of {len(chosen):,} that touch are here." if len(chosen) > most else ""
    chosen = chosen[:most]
    all_of = bool((np.diff(hits.offsets) != 1).any())
    rows = np.flatnonzero(np.isin(hits.query, chosen) & (hits.feature != Feature.NONE))
    at = np.searchsorted(chosen, hits.query[rows])
    stop = np.full(len(chosen), np.inf)
    if not all_of:
        np.minimum.at(stop, at, hits.time[rows])
    turned = np.array([1.0, 0, 0, 0]) if orientation is None else _turns(orientation, n)[chosen]
    words = "point" if radii is None else "swept"
    cast, position = _together(
        bodies, np.stack([start[chosen], (start + way)[chosen]]), turned, _swept(radii, n, size)[chosen],
        [f"{words} {i}" for i in chosen.tolist()], stop,
    )  # fmt: skip
    label = hits.feature[rows].astype(int)
    events = Events.single(
        np.zeros(len(rows), int), np.ones(len(rows)), label, a=at, b=position[hits.body[rows]],
        time=hits.time[rows], place=hits.point[rows], normal=-hits.normal[rows], fields=fields_of(hits, rows),
        labels=[feature.name.lower() for feature in Feature],
    )  # fmt: skip
    events.speed[:] = -(hits.normal[rows] * way[hits.query[rows]]).sum(axis=1)
    return PageScene(
        f"{how_many(n, 'path')}, {how_many(len(touched), 'of which touches', 'of which touch')}",
        f"Along straight paths{'' if all_of else ', up to the first touch'}.{left_out}",
        cast, events, np.array([0.0, 1.0]), ["all"], [np.arange(len(cast.number))], np.array([[0, 1]]),
        what="touches", speed=("touched", "what is touched"),
    )  # fmt: skip


def _turns(orientation: Any, count: int) -> Array:
    turned = as_float_array(orientation, "orientation", shape=(..., 4))
    return np.broadcast_to(turned / np.linalg.norm(turned, axis=-1, keepdims=True), (count, 4))


WORDS = ("lands", "leaves the ground", "in its way", "stuck")


def scene_of_characters(
    slides: Sequence[Slides], bodies: Bodies, start: Any, way: Any, radii: Any, orientation: Any, most: int
) -> PageScene:
    """Characters step after step; events are runs of steps in which the same happens to one of them."""
    n = len(slides[0])
    if any(len(step) != n for step in slides):
        raise ValueError("result: expected as many characters in every step")
    count = min(n, most)
    places = np.stack([rows_of(start, "start", n), *(step.position for step in slides)])[:, :count]
    size = float(np.ptp(places.reshape(-1, 3), axis=0).max()) if count else 1.0
    turned = np.array([1.0, 0, 0, 0]) if orientation is None else _turns(orientation, n)[:count]
    names, drawn = [f"character {i}" for i in range(count)], _swept(radii, n, size)[:count]
    cast, position = _together(bodies, places, turned, drawn, names, None)
    who, step, label = _happened(slides, None if way is None else rows_of(way, "displacement", n), count)
    fresh = np.ones(len(who), bool)
    fresh[1:] = (np.diff(who) != 0) | (np.diff(step) != 1) | (np.diff(label) != 0)
    begins = np.flatnonzero(fresh)

    def each(name: str) -> Array:
        return np.stack([getattr(s, name)[:count] for s in slides])[step, who]

    ground, normal = each("ground_body"), each("ground_normal")
    foot = drawn[who] ** 2 * normal / np.maximum(np.linalg.norm(drawn[who] * normal, axis=1), 1e-300)[:, None]
    tables = [fields_of(s, np.arange(count)) for s in slides]
    fields = [
        {**about, "values": np.stack([table[k]["values"] for table in tables])[step, who]}
        for k, about in enumerate(tables[0])
    ]
    there = (label == 0) & (ground >= 0)
    events = Events(
        np.append(begins, len(who)), np.zeros(len(begins), int), begins, np.ones(len(begins)), label[begins],
        step + 1.0, places[step + 1, who] - np.where(there[:, None], foot, 0.0), -normal, who,
        np.where(there, position[np.maximum(ground, 0)], -1), fields, list(WORDS),
    )  # fmt: skip
    left_out = f" The first {count:,} of {n:,} are here." if count < n else ""
    frames = len(slides)
    return PageScene(
        f"{how_many(n, 'character')}, {how_many(frames, 'step')}",
        f"Straight from the end of one step to the end of the next.{left_out}",
        cast, events, np.arange(frames + 1.0), ["all"], [np.arange(len(cast.number))],
        np.array([[0, frames]]), unit="steps", what="events",
        speed=("what", "lands on a body, leaves the ground, has something in its way, is stuck"),
    )  # fmt: skip


def _happened(slides: Sequence[Slides], way: Array | None, count: int) -> tuple[Array, Array, Array]:
    """Character, step and word (position in `WORDS`) of all that happens, by character and step.

    Something is in a character's way if less is left of its velocity than `way`, which all steps were given.
    """
    stuck = np.stack([s.status[:count] for s in slides]) == Status.UNRESOLVED
    ground = np.stack([s.ground_body[:count] for s in slides])
    before = np.concatenate([np.full((1, count), -1), ground[:-1]])
    changed = ground != before
    word = np.where(changed & (ground >= 0), 0, np.where(changed, 1, -1))
    if way is not None:
        left = np.stack([s.velocity[:count] for s in slides])
        slower = np.linalg.norm(left - way[:count], axis=-1) > 1e-9 * np.linalg.norm(way[:count], axis=-1)
        word = np.where((word < 0) & slower, 2, word)
    word = np.where(stuck, 3, word)
    who, step = np.nonzero(word.T >= 0)
    return who, step, word[step, who]
