"""Contacts become manifolds: regions, the corners of their patches, and few of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gpu_collide.reference.clearance._patches import (
    ALIGNED,
    TIE,
    WITHIN,
    Corners,
    Frames,
    corners_of,
    stands_out,
)
from gpu_collide.results.enums import Kind
from gpu_collide.results.manifolds import tangents_of
from gpu_collide.results.point_identity import keys_of

if TYPE_CHECKING:
    from typing import Any

    from gpu_collide._types import Array
    from gpu_collide.bodies.bodies import Bodies

__all__ = ["manifolds_reference"]


def manifolds_reference(contacts: Any, bodies: Bodies, max_points: int) -> dict[str, Array]:
    """Columns of `Manifolds` beside its pairs, of contacts at a pose, a `Clearance`, of bodies that are there
    at its time of the step. Keys of several points may be the same."""
    frames = Frames.of(bodies, contacts.info["at"], contacts.pairs)
    # cylinders and cones are not rounded, and their contacts are points already
    can = np.array([mesh.ends is not None for mesh in bodies.meshes], bool)
    can = can[frames.mesh_a] | can[frames.mesh_b]
    rounding = np.array([mesh.rounding if mesh.ends is None else 0.0 for mesh in bodies.meshes])
    rounding = np.column_stack([rounding[frames.mesh_a], rounding[frames.mesh_b]])
    rows = _told(contacts, frames)
    _move(rows, rows["normal"], -rounding[rows["pair"]])  # onto the meshes, whose faces are cut
    radius = np.array([mesh.radius for mesh in bodies.meshes])
    size = np.maximum(radius[frames.mesh_a], radius[frames.mesh_b])
    rows = _without_ghosts(bodies, frames, rows, size, can)
    pair, normal = rows["pair"], rows["normal"]
    leader = _leaders(pair, normal)
    first, region = np.unique(leader, return_inverse=True)
    region = region.reshape(-1)
    least = rows["distance"][first] - TIE * size[pair[first]]
    has = np.flatnonzero((rows["kind"] >= 0) & ~can[pair])
    corners, covered = corners_of(
        bodies, frames, {name: values[has] for name, values in rows.items()}, region[has], pair[first],
        normal[first], least, contacts.info["margin"] + rounding[pair[first]].sum(axis=1),
    )  # fmt: skip
    alone = np.ones(len(pair), bool)
    alone[has[covered]] = False
    alone[first] = True  # nothing is deeper than what the contacts tell
    points = _joined(rows, region, alone, corners, normal[first])
    of = pair[first][points["region"]]
    shapes = np.column_stack([frames.mesh_a[of], frames.mesh_b[of]])
    key = keys_of(contacts.pairs[of], shapes, points["kind"], points["feature_a"], points["feature_b"])
    order = np.lexsort([np.arange(len(key)), key, points["kind"] == Kind.EE, points["region"]])
    once = np.ones(len(key), bool)
    once[1:] = (key[order][1:] != key[order][:-1]) | (np.diff(points["region"][order]) != 0)
    order = order[once]
    points, key, of = {name: values[order] for name, values in points.items()}, key[order], of[order]
    kept = _chosen(points, normal[first], size[of], max_points)
    points, key, of = {name: values[kept] for name, values in points.items()}, key[kept], of[kept]
    _move(points, points["normal"], rounding[of])
    local = {}
    for name, turn, offset in (
        ("a", frames.rotation_a, np.zeros_like(frames.offset)), ("b", frames.rotation_b, frames.offset)
    ):  # fmt: skip
        local[f"local_{name}"] = np.einsum("nji,nj->ni", turn[of], points[f"point_{name}"] - offset[of])
        points[f"point_{name}"] = points[f"point_{name}"] + frames.origin[of]
    return {"pair": of, "key": key, **points, **local}


def _told(contacts: Any, frames: Frames) -> dict[str, Array]:
    """The contacts that tell a place, by pair and the nearest first, relative to A."""
    told = (contacts.kind >= 0) | (contacts.distance < 0)
    some = np.flatnonzero(np.isfinite(contacts.distance) & told & contacts.normal.any(axis=1))
    some = some[np.lexsort([some, contacts.distance[some], contacts.pair[some]])]
    names = ("pair", "kind", "feature_a", "feature_b", "distance", "point_a", "point_b", "normal")
    rows = {name: np.asarray(getattr(contacts, name))[some] for name in names}
    for name in ("point_a", "point_b"):
        rows[name] = rows[name] - frames.origin[rows["pair"]]
    return rows


def _move(points: dict[str, Array], normal: Array, by: Array) -> None:
    """Moves the points of A by lengths along the normal and those of B against it, (n, 2)."""
    points["distance"] = points["distance"] - by.sum(axis=1)
    points["point_a"] = points["point_a"] + by[:, :1] * normal
    points["point_b"] = points["point_b"] - by[:, 1:] * normal


def _without_ghosts(
    bodies: Bodies, frames: Frames, rows: dict[str, Array], size: Array, can: Array
) -> dict[str, Array]:
    """Of pairs that overlap or touch, without places that are there only because they do; of cylinders and
    cones all.

    A box that is sunk into another and stands over its side a little has corners beside that side. They would
    hold it from sliding, and are gone when it is out again.
    """
    meets = np.zeros(len(frames.origin), bool)
    meets[rows["pair"][rows["distance"] < 0.0]] = True
    touch = rows["distance"] <= WITHIN * size[rows["pair"]]
    touching = np.zeros_like(meets)
    touching[rows["pair"][touch]] = True
    some = np.flatnonzero((rows["distance"] >= 0.0) & touching[rows["pair"]] & ~can[rows["pair"]])
    out = stands_out(bodies, frames, {name: values[some] for name, values in rows.items()})
    meets[rows["pair"][some[out & touch[some]]]] = True  # it touches elsewhere, too
    ghost = some[~out & meets[rows["pair"][some]]]
    return {name: np.delete(values, ghost, axis=0) for name, values in rows.items()}


def _leaders(pair: Array, normal: Array) -> Array:
    """Of each contact the one whose region it is in: the nearest of its pair, or of those whose normals are
    farther from the normals of all leaders before."""
    leader = np.full(len(pair), -1)
    of_pair = np.zeros(int(pair.max(initial=-1)) + 1, int)
    left = np.arange(len(pair))
    while len(left):
        pairs, place = np.unique(pair[left], return_index=True)
        of_pair[pairs] = left[place]
        lead = of_pair[pair[left]]
        same = (normal[left] * normal[lead]).sum(axis=1) >= ALIGNED
        same |= lead == left
        leader[left[same]] = lead[same]
        left = left[~same]
    return leader


def _joined(
    rows: dict[str, Array], region: Array, alone: Array, corners: Corners, normal: Array
) -> dict[str, Array]:
    """Contacts that stay as they are, and then corners."""
    from_rows = {**{name: values[alone] for name, values in rows.items()}, "region": region[alone]}
    found = {**corners._asdict(), "normal": normal[corners.region]}
    return {name: np.concatenate([from_rows[name], values]) for name, values in found.items()}


def _chosen(points: dict[str, Array], normal: Array, size: Array, most: int) -> Array:
    """Which points of each region are kept, (m,) rising by region, the deepest first.

    First the deepest, of equal ones that farthest from the middle; then the farthest from it; then what makes
    the largest triangle with both, and the largest quadrilateral; then, twice, each but the first is
    exchanged for what makes it larger.
    """
    region = points["region"]
    if not len(region):
        return np.zeros(0, int)
    t1, t2 = tangents_of(normal)
    middle = 0.5 * (points["point_a"] + points["point_b"])
    place = np.stack([(middle * t[region]).sum(axis=1) for t in (t1, t2)], axis=1)
    choice = _Choice(region, place, size)
    off = place - choice.mean(place)[region]
    deep = np.where(choice.best(-points["distance"])[1], 0.0, -np.inf)
    slots = [choice.first(deep + np.sqrt((off * off).sum(axis=1)))]
    if most > 1:
        slots.append(choice.first(choice.apart(slots[0]), slots))
    for _ in range(2, most):
        slots.append(choice.first(choice.area(slots), slots))
    if most == 4:
        for slot in (1, 2, 3) * 2:
            others = slots[:slot] + slots[slot + 1 :]
            better = choice.better(choice.area(others), slots[slot])
            slots[slot] = np.where(slots[3] >= 0, better, slots[slot])
    kept = np.stack(slots, axis=1).reshape(-1)
    return kept[kept >= 0]


class _Choice:
    """Of points in regions, in their order, one of each region by a value."""

    def __init__(self, region: Array, place: Array, size: Array) -> None:
        self.region, self.place = region, place
        self.begin = np.flatnonzero(np.diff(region, prepend=-1))
        self.size = size[self.begin]

    def mean(self, values: Array) -> Array:
        count = np.diff(self.begin, append=len(self.region))
        return np.add.reduceat(values, self.begin, axis=0) / count[:, None]

    def best(self, value: Array, power: int = 1) -> tuple[Array, Array]:
        """The largest of each region, and which points have as much, but for a tie."""
        most = np.maximum.reduceat(value, self.begin)
        return most, value >= (most - TIE * self.size**power)[self.region]

    def first(self, value: Array, taken: list[Array] | None = None) -> Array:
        """The first point of each region with the largest value. Where some are taken, -1 if that adds
        nothing, or if they miss one."""
        most, tied = self.best(value, 1 if taken is None or len(taken) == 1 else 2)
        n = len(value)
        found = np.minimum.reduceat(np.where(tied, np.arange(n), n), self.begin)
        if taken is not None:
            base = self.base(taken)
            power = 1 if len(taken) == 1 else 2
            found = np.where((most > base + TIE * self.size**power) & (taken[-1] >= 0), found, -1)
        return found

    def better(self, value: Array, present: Array) -> Array:
        """The first point with the largest value, where that is more than what is present has."""
        most, tied = self.best(value, 2)
        n = len(value)
        found = np.minimum.reduceat(np.where(tied, np.arange(n), n), self.begin)
        return np.where((present >= 0) & (most > value[present] + TIE * self.size**2), found, present)

    def base(self, taken: list[Array]) -> Array:
        """The area of what is taken: 0, unless it is a triangle."""
        if len(taken) < 3:
            return np.zeros(len(self.begin))
        a, b, c = (self.place[t] for t in taken)
        return 0.5 * np.abs(_turn(b - a, c - a))

    def apart(self, slot: Array) -> Array:
        away = self.place - self.place[slot][self.region]
        return np.sqrt((away * away).sum(axis=1))

    def area(self, taken: list[Array]) -> Array:
        """Of each point the area of its hull with two or three others."""
        corners = [self.place[t][self.region] for t in taken]
        p = self.place
        if len(taken) == 2:
            return 0.5 * np.abs(_turn(corners[1] - corners[0], p - corners[0]))
        a, b, c = corners
        halves = [  # of a convex quadrilateral one of the first three is its area, and the largest
            _turn(b - a, c - p), _turn(c - a, b - p), _turn(p - a, c - b),
            _turn(b - a, c - a), _turn(b - a, p - a), _turn(c - a, p - a), _turn(c - b, p - b),
        ]  # fmt: skip
        return 0.5 * np.abs(halves).max(axis=0)


def _turn(a: Array, b: Array) -> Array:
    return a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]
