"""Scenes for pages, and what is in a page that was written."""

import base64
import json
import re
import zlib

import numpy as np

import gpu_collide as gc

UP = [1.0, 0, 0, 0]
TYPES = {"f8": "<f8", "f4": "<f4", "i4": "<i4", "u4": "<u4", "u1": "u1"}


def read_page(path):
    """Head and arrays of a page."""
    text = path.read_text(encoding="utf-8")
    head = json.loads(re.search(r'id="head">(.*?)</script>', text, re.S)[1])
    packed = re.search(r'id="packed">(.*?)</script>', text, re.S)[1]
    raw = zlib.decompress(base64.b64decode(packed))
    return head, {
        name: np.frombuffer(raw, TYPES[kind], count, offset)
        for name, (kind, offset, count) in head["arrays"].items()
    }


def turning_cars(n=12, frames=9, seed=4):
    """Cars that turn about each other over a ground, as a recording of two races."""
    rng = np.random.default_rng(seed)
    t = np.arange(frames) * 0.25
    phase, radius = rng.uniform(0, 6, n), rng.uniform(3.0, 9.0, n)
    angle = phase + t[:, None] * rng.uniform(-1.5, 1.5, n)
    position = np.stack([radius * np.cos(angle), radius * np.sin(angle), np.full_like(angle, 0.62)], axis=-1)
    heading = 0.5 * (angle + 1.2 * t[:, None])
    quat = np.stack([np.cos(heading), 0 * heading, 0 * heading, np.sin(heading)], axis=-1)
    ground = gc.shapes.box((40, 40, 0.2))
    arrays = {"time": t, "position": position, "quat_wxyz": quat, "race_lengths": [frames - 4, 4]}
    return gc.Recording.from_arrays(arrays, meshes=gc.shapes.car(), static=ground)


def floor():
    still = gc.Poses.identity(1)
    return gc.Bodies(gc.shapes.box((9, 9, 1)), None, still, still)


def walkers(steps=12):
    """Characters that fall on a floor and walk off it: world, starts, way, results."""
    place = start = np.array([[0.0, 0, 1.5], [3.5, 0, 1.5]])
    way, found = np.array([[0.0, 0.1, 0], [0.3, 0, 0]]), []
    for _ in range(steps):
        found.append(
            gc.sweep.slide(floor(), place, [0.3, 0.3, 0.6], way, gravity=[0, 0, -0.2], backend="cpu")
        )
        place = found[-1].position
    return floor(), start, way, found


def movers_over_a_floor():
    """Boxes over a floor that go down, turn about an axis, and go to other poses: movers, then keywords of
    the page with what was found."""
    rng = np.random.default_rng(3)
    place = np.array([[-3.0, 0, 2.5], [0, 0, 2.5], [3, 0, 2.5], [0, 3, 2.5]])
    quat = rng.normal(size=(4, 4))
    start = gc.Poses.from_quat_wxyz(place, quat / np.linalg.norm(quat, axis=1, keepdims=True))
    movers = gc.Bodies(gc.shapes.box(), None, start, start)
    way = np.array([[0.3, 0, -4.0], [0, 0, -1.0], [0, 0, -4], [0, 0, 2]])
    turn = {"angle": np.array([5.0, -6.0, 1.0, 0.5]), "axis": [0, 1.0, 0.2], "origin": [0, 0, 2.0]}
    end = gc.Poses.from_quat_wxyz(place - [0, 0, 1.2], np.tile([0.6, 0, 0.8, 0], (4, 1)))
    world, here = floor(), {"backend": "cpu"}
    return movers, [
        ({"displacement": way}, gc.pluecker.translate(movers, world, way, **here)),
        (turn, gc.pluecker.rotate(movers, world, **turn, **here)),
        ({"end": end}, gc.pluecker.move(movers, world, end, **here)),
    ]
