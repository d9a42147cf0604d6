"""The verbs of `gpu_collide.pipeline.movers.moves.MoverQuery`: every mover against every body, in turn."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gpu_collide.bodies.quaternion import multiply, rotate
from gpu_collide.reference.pluecker._features import features_of, joined, parted
from gpu_collide.reference.pluecker.p02_translate import first_on_the_way
from gpu_collide.reference.pluecker.p03_rotate import first_in_the_turn
from gpu_collide.reference.pluecker.p04_contacts import BEYOND, near_of, near_points

__all__ = ["Reference"]


class World(NamedTuple):
    """Bodies, their rules, and what positions count from: nothing."""

    bodies: object
    rules: object
    shift: np.ndarray


class Reference:
    """NumPy in float64, whatever the precision asked for; without trees, and without a limit of memory."""

    precision = "double"

    def about(self):
        """Backend, device and precision, as ``info`` tells them."""
        return {"backend": "reference", "device": "NumPy", "precision": "double", "timings": {}}

    def world(self, bodies, rules, resident=None, paired=False):
        """The world of some bodies at their start."""
        return World(bodies, rules, np.zeros(3))

    def trace(self, world, movers, way, turns):
        """How far movers go; as `Pluecker.trace`."""
        n = len(movers.position)
        found = {
            "kind": np.zeros(n, np.uint8), "turns": np.zeros(n, np.int32), "fraction": np.ones(n),
            "body": np.full(n, -1, np.int32), "feature_a": np.full(n, -1, np.int32),
            "feature_b": np.full(n, -1, np.int32), "point": np.zeros((n, 3)), "normal": np.zeros((n, 3)),
            "position": movers.position.copy(), "quat": movers.quat.copy(),
        }  # fmt: skip
        for i in np.flatnonzero(movers.moves):
            if way is not None:
                hit = self._first(
                    world, movers, i, found, lambda m, o, *e, i=i: first_on_the_way(m, o, way[i], *e)
                )
                found["position"][i] += way[i] * _write(found, i, hit)
            for turn in turns:
                if turn.turns[i] and not found["kind"][i]:
                    self._turn(world, movers, i, turn, found)
        return found

    def _turn(self, world, movers, i, turn, found):
        """One turn of mover i."""
        pivot = found["position"][i].copy() if turn.pivot is None else turn.pivot[i]
        angle = 2.0 * np.arctan2(*turn.half[i])
        about = angle, turn.axis[i], pivot - found["position"][i]
        hit = self._first(world, movers, i, found, lambda m, o, *e: first_in_the_turn(m, o, about, *e))
        done = 0.5 * angle * _write(found, i, hit)
        q = np.array([np.cos(done), *(np.sin(done) * turn.axis[i])])
        found["position"][i] = rotate(q, found["position"][i] - pivot) + pivot
        found["quat"][i] = multiply(q, found["quat"][i])
        found["turns"][i] += 1

    def _first(self, world, movers, i, found, look):
        """The least touch of mover i, where it is now, and any body; None if there is none."""
        here, best = found["position"][i], None
        mesh = None if movers.meshes is None else movers.meshes[movers.shape[i]]
        mover = features_of(mesh, np.zeros(3), found["quat"][i])
        for obstacle in _obstacles(world, movers, i, here):
            for fraction, kind, a, b, point, normal in look(mover, obstacle, movers.zone[i], movers.doubt[i]):
                body, b = parted(b)
                if best is None or (fraction, kind, a, body, b) < best[:5]:
                    best = fraction, kind, a, body, b, point + here, normal
        return best

    def contacts(self, world, movers, distance):
        """All places where movers at rest are near something; as `Pluecker.contacts`."""
        rows = []
        for i in np.flatnonzero(movers.moves):
            here = movers.position[i]
            mesh = None if movers.meshes is None else movers.meshes[movers.shape[i]]
            mover = features_of(mesh, np.zeros(3), movers.quat[i])
            near = near_of(distance[i][0], distance[i][1], movers.zone[i], movers.doubt[i])
            zero = np.zeros(3)
            for obstacle in _obstacles(world, movers, i, here):
                for body in np.unique(parted(obstacle.vertices)[0]):  # all are asked who is inside them
                    rows.append((i, 0, 0, int(body), 0, zero, zero, 0.0))
                for kind, a, b, point, normal, gap in near_points(mover, obstacle, near):
                    rows.append((i, kind, a, *parted(b), point + here, normal, gap))
        rows.sort(key=lambda row: (row[0], row[1] % BEYOND, *row[2:5]))
        names = ("mover", "kind", "feature_a", "body", "feature_b", "point", "normal", "distance")
        columns = zip(*rows, strict=True) if rows else [[]] * len(names)
        found = {name: np.array(column) for name, column in zip(names, columns, strict=True)}
        for name in names[:5]:
            found[name] = found[name].astype(np.int32)
        for name in names[5:7]:
            found[name] = found[name].reshape(-1, 3).astype(np.float64)
        return found


def _obstacles(world, movers, i, here):
    """Bodies that mover i may meet, as seen from where it is, joined as far as they may be."""
    bodies = world.bodies
    groups: dict = {}
    among = np.arange(len(bodies)) if movers.body[i] < 0 else movers.body[i : i + 1]
    if movers.body[i] < 0:
        mine = (np.repeat(getattr(movers, name)[i], len(among)) for name in ("rank", "group", "mask", "own"))
        among = among[world.rules.meet(*mine, among)]
    for body in among:
        if bodies.start.valid[body]:
            mesh, pose = bodies.meshes[bodies.shape[body]], bodies.start
            seen = features_of(mesh, pose.position[body] - here, pose.unit_wxyz[body])
            groups.setdefault(mesh.two_sided, []).append((int(body), seen))
    return map(joined, groups.values())


def _write(found, i, hit):
    """Write what was hit; the fraction."""
    if hit is None:
        found["fraction"][i] = 1.0
        return 1.0
    names = ("fraction", "kind", "feature_a", "body", "feature_b", "point", "normal")
    for name, value in zip(names, hit, strict=True):
        found[name][i] = value
    return hit[0]
