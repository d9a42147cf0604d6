"""Edges as they lie on the screen (gc_chords.h): nothing is lost by it, and little left of what misses."""

import functools

import numpy as np
import pytest

import gpu_collide as gc
from bench.dense_shapes import bolt_and_nut, bumpy, steps_of
from gpu_collide.checks.bits import same_bits
from gpu_collide.pipeline.narrow_phase import stages
from gpu_collide.scenes import random_impacts
from gpu_collide.scenes.turns import axis_angle

Z = np.array([[0.0, 0.0, 1.0]])
IDENTITY = np.array([[1.0, 0.0, 0.0, 0.0]])


def moved(a, b, start, last, turn, swap=False):
    """B goes from `start` to `last` and turns by `turn` about z, beside A at rest; or the other way round."""
    still, turned = (np.zeros(3), IDENTITY[0]), axis_angle(Z, np.array([turn]))[0]
    ways = [(still, still), ((start, IDENTITY[0]), (last, turned))]
    shapes = [a, b]
    if swap:
        ways, shapes = ways[::-1], shapes[::-1]
    ends = [
        gc.Poses.from_quat_wxyz(np.array([w[k][0] for w in ways], float), np.array([w[k][1] for w in ways]))
        for k in (0, 1)
    ]
    return gc.Bodies(shapes, np.array([0, 1]), *ends), np.array([[0, 1]])


def bolt(swap, forth, turn):
    a, b = bolt_and_nut(5200)
    return moved(b, a, (0, 0, 0), (0, 0, forth), turn, swap)


def ring(turn, last=(0.0, 0.0, -0.1)):
    """A bar whose ends are spokes turns about its own line and runs into a ring of bumps."""
    bar = bolt_and_nut(5200)[0]
    wide = gc.Mesh(bar.vertices * [0.8, 0.8, 1.0], bar.faces)
    return moved(bumpy(5200), wide, (0, 0, -1.0), last, turn)


def passing(turn, seed):
    return random_impacts(gc.shapes.icosphere(5), bumpy(5200), n=3, seed=seed, max_turn=turn)


SCENES = {
    "bolt": lambda: bolt(False, 0.13, 0.9),
    "nut": lambda: bolt(True, 0.13, 0.9),
    "half a turn": lambda: bolt(False, 0.2, np.pi),
    "turned only": lambda: bolt(False, 0.0, 1.5),
    "pushed only": lambda: bolt(False, 0.2, 0.0),
    "ring": lambda: ring(2.0),
    "ring aside": lambda: ring(1.0, (0.2, 0.1, 0.1)),
    "passing": lambda: passing(0.0, 1),
    "turning": lambda: passing(3.1, 2),
}


@functools.cache
def scene(name):
    return SCENES[name]()


@pytest.mark.parametrize("threshold", [-1.0, -0.1])
@pytest.mark.parametrize("name", SCENES)
def test_contacts_are_those_of_rows(name, threshold):
    bodies, pairs = scene(name)
    asked = {
        "min_properness": threshold,
        "check_start": False,
        "backend": "cpu",
    }
    one, other = (
        gc.collide(bodies, pairs, tuning=gc.Tuning(candidates=way, features="all"), **asked)
        for way in ("pairs", "raster")
    )
    assert one.time.size > 10
    assert not same_bits(one, other)


@pytest.mark.slow
@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.parametrize("name", ["half a turn", "ring aside", "passing"])
def test_in_other_precisions(name, precision):
    bodies, pairs = scene(name)
    asked = {
        "precision": precision,
        "check_start": False,
        "backend": "cpu",
    }
    one, other = (
        gc.collide(bodies, pairs, tuning=gc.Tuning(candidates=way, features="all"), **asked)
        for way in ("pairs", "raster")
    )
    assert one.time.size > 10
    assert not same_bits(one, other)


def test_few_candidates_are_no_contacts(monkeypatch):
    counts, search = [], stages.search

    def counted(*args):
        found = search(*args)
        counts.append(found.n)
        return found

    monkeypatch.setattr(stages, "search", counted)
    meshes = bolt_and_nut(5200)
    bodies = steps_of("bolt in nut", meshes, "impact", 2)
    found = gc.collide(bodies, np.array([[0, 1], [0, 2]]), backend="cpu", check_start=False)
    # 30 before edges were looked at as they lie on the screen
    assert sum(counts) < 9 * found.time.size
