"""Scenes of boxes in exact touch, named and random, and how answers differ from the judge's."""

from dataclasses import replace
from decimal import Decimal

import numpy as np

from tests.oracle import touching_boxes
from tests.oracle.kept import remembered
from tests.oracle.touching_boxes import SAME_PLACE, SAME_TIME, Contact, Pair, Scene, length

told = remembered("touching_boxes.py")(touching_boxes.told)

# Each failed once: kernels or reference told a contact too many, or lacked one. Sizes, place of B,
# velocities, spins, pivots, whether spins are quarter turns.
NAMED = {
    "slides_past_a_spinning_one": (
        ((1, 1, 1), (1, 1, 1)), (-0.5, 0, 1),
        ((0, 0, 0), (1, 0, 0)), ((0, 0, 1), (0, 0, 0)), ((0, 0, 0.5), (0, 0, 0)), True),
    "about_a_corner_of_the_other": (
        ((1, 1, 1), (1, 1, 1)), (0, 0.5, 1),
        ((0, 0, 0), (0, 0, 0)), ((0, 0, 0), (0, 0, 1)), ((0, 0, 0), (0.5, 0, -0.5)), True),
    "edges_that_come_into_line_at_the_end": (
        ((2, 2, 4), (4, 4, 2)), (1, 2, 3),
        ((0, 0, 0), (0, 0, 0)), ((0, 0, 2), (1, 0, 0)), ((-1, 0, 2), (0, 0, -1)), True),
    "passes_a_border_at_the_end": (
        ((2, 2, 2), (2, 2, 2)), (2, 2, 2),
        ((0, 0, 1), (0, 0, 0)), ((0, 1, 0), (0, 0, 0)), ((0, 0, 0), (1, -1, 1)), True),
    "about_a_corner_on_a_border": (
        ((4, 2, 2), (2, 4, 4)), (-1, -1, 3),
        ((0, 0, 0), (0, 0, 0)), ((0, 0, 0), (0, 0, -1)), ((-2, -1, -1), (-1, 0, -2)), True),
    "leaves_a_border_at_the_start": (
        ((2, 2, 2), (2, 2, 2)), (1, -2, -2),
        ((-2, 0, 0), (0, 0, 0)), ((0, 0, 0), (0, 0, -1)), ((0, 0, 0), (-1, -1, 0)), True),
    "rolls_off_at_the_start": (
        ((2, 4, 2), (4, 2, 2)), (2, 3, -2),
        ((-1, 0, 2), (-2, 0, 2)), ((0, 0, 0), (0, 2, 0)), ((-1, 0, 0), (-2, 1, 0)), True),
    "touches_along_an_edge_at_the_start": (
        ((4, 2, 2), (4, 2, 2)), (2, -2, -2),
        ((0, 0, 0), (0, 0, 0)), ((0, 0, 0), (0, 0, 1)), ((0, 0, 0), (-2, -1, -1)), True),
    "touches_a_border_half_way": (
        ((2, 4, 4), (4, 2, 4)), (3, -1, -1),
        ((0, 0, 0), (0, 0, 0)), ((-2, 0, 0), (0, 0, 0)), ((1, 2, 0), (0, 0, 0)), True),
    "fourfold_at_the_start": (
        ((2, 2, 2), (4, 2, 4)), (-2, -2, 2),
        ((-2, 0, 0), (2, -1, 2)), ((0, 0, 1), (0, -1, 0)), ((0, -1, -1), (0, 0, 0)), False),
    "parallel_as_it_ends": (
        ((4, 2, 4), (2, 4, 2)), (-3, 2, -1),
        ((0, 0, 0), (0, 0, 0)), ((2, 0, 0), (0, 0, 0)), ((-2, 1, 2), (0, 0, 0)), True),
    "vertices_that_touch_half_way": (
        ((2, 2, 2), (2, 2, 2)), (2, 2, -2),
        ((0, 0, 0), (0, 0, 0)), ((0, -2, 0), (-2, 0, 0)), ((0, 0, 0), (-1, 1, 1)), True),
    "leaves_two_borders_at_the_start": (
        ((2, 2, 4), (2, 2, 2)), (2, 0, 3),
        ((-1, 2, 0), (0, 1, 0)), ((0, 0, -1), (0, 0, 1)), ((0, 0, 0), (-1, 1, 1)), False),
    "passes_a_border_as_it_touches_another": (
        ((2, 2, 2), (2, 2, 4)), (2, -2, -1),
        ((0, 0, 0), (0, 0, 0)), ((0, 0, 0), (-2, 0, 0)), ((-1, -1, 1), (0, -1, 0)), True),
}  # fmt: skip
FAMILIES = ("slide", "flat", "whole", "edge", "roll", "vertex")


def named(name):
    return Scene(*NAMED[name])


def random_scene(rng, family):
    """Boxes of whole numbers in touch by faces (in `edge` and `vertex` by less) that slide and spin by
    quarter turns or whole radians, about the normal of their faces but in `whole` and `roll`; in `slide` one
    at most spins."""
    sizes = rng.choice([2, 4], (2, 3)) if rng.random() < 0.6 else np.full((2, 3), 2)
    quarters = bool(rng.random() < 0.8)
    up = int(rng.integers(0, 3))
    across = [i for i in range(3) if i != up]
    place = rng.integers(-2, 3, 3)
    beside = [up, *across[: {"edge": 1, "vertex": 2}.get(family, 0)]]
    place[beside] = rng.choice([-1, 1], len(beside)) * sizes[:, beside].sum(axis=0) // 2
    ways, spins, pivots = (np.zeros((2, 3), dtype=int) for _ in range(3))
    for k in (0, 1):
        if rng.random() < 0.6:
            ways[k] = rng.integers(-2, 3, 3)
            ways[k, up] *= family == "whole"
        if rng.random() < 0.75:
            free = family in ("whole", "roll") or (family in ("edge", "vertex") and rng.random() < 0.4)
            spins[k, int(rng.integers(0, 3)) if free else up] = rng.choice([-2, -1, 1, 2])
        if rng.random() < 0.6:
            pivots[k] = rng.integers(-1, 2, 3) * sizes[k] // 2
    if family == "slide":
        spins[rng.integers(0, 2)] = 0
    if not spins.any():
        spins[0, up] = 1
    rows = [tuple(map(tuple, x.tolist())) for x in (sizes, ways, spins, pivots)]
    return Scene(rows[0], tuple(place.tolist()), *rows[1:], quarters)


def differences(scene, turned_round, found):
    """Rows of `found` (contacts of one pair) that are not told, contacts that are missing, and how far off
    the times of the others are at most. One that coincides with a missing one stands for it."""
    columns = (found.kind, found.feature_a, found.feature_b, found.time, found.time_end, found.sustained)
    rows = [
        Contact(int(k), int(a), int(b), Decimal(float(s)), Decimal(float(e)), bool(lasts))
        for k, a, b, s, e, lasts in zip(*columns, strict=True)
    ]
    pair, missing, worst = Pair(scene, turned_round), [], 0.0
    for c in told(scene, turned_round):
        off = [
            (float(max(abs(c.start - r.start), abs(c.end - r.end))), i)
            for i, r in enumerate(rows)
            if (r.kind, r.a, r.b, r.lasts) == (c.kind, c.a, c.b, c.lasts)
        ]
        if off and min(off)[0] <= SAME_TIME:
            worst = max(worst, min(off)[0])
            rows.pop(min(off)[1])
        else:
            missing.append(c)
    for c in list(missing):
        for r in rows:
            if not c.lasts and not r.lasts and abs(c.start - r.start) <= SAME_TIME:
                at, there = pair.place(c, c.start), pair.place(replace(r, start=c.start), c.start)
                if at and there and max(length(x - y) for x, y in zip(at, there, strict=True)) <= SAME_PLACE:
                    missing.remove(c)
                    rows.remove(r)
                    break
    return rows, missing, worst
