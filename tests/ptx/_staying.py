"""Bodies on the simulated device, and what a call about them moves."""

import dataclasses

import numpy as np

import gpu_collide as gc
from tests.ptx.device import device

__all__ = ["FIELDS", "MESHES", "Moved", "lies", "made", "numbers", "same"]

MESHES = (gc.shapes.box(), gc.shapes.car(), gc.shapes.l_block())
#: What a result has only where it is asked for, or where parts of meshes have names.
NOT_THERE = ("info", "exit", "part_a", "part_b")
FIELDS = [field.name for field in dataclasses.fields(gc.Contacts) if field.name not in NOT_THERE]


def numbers(n, seed=1, spread=1.2, meshes=MESHES):
    """Arrays of poses at the start and at the end, shapes, and pairs of neighbours."""
    rng = np.random.default_rng(seed)
    quat = rng.normal(size=(2, n, 4))
    quat /= np.linalg.norm(quat, axis=2)[..., None]
    at = np.repeat(rng.normal(size=(n // 2, 3)) * 40, 2, axis=0)[:n]
    position = at + rng.normal(size=(2, n, 3)) * spread
    pairs = np.arange(n // 2 * 2).reshape(-1, 2)
    return position, quat, np.arange(n) % len(meshes), pairs


def made(position, quat, shape, where=np.asarray, meshes=MESHES):
    start, end = (gc.Poses.from_quat_wxyz(where(p), where(q)) for p, q in zip(position, quat, strict=True))
    return gc.Bodies(meshes, shape, start, end)


def same(found, wanted):
    found, wanted = found.to_numpy(), wanted.to_numpy()
    for name in FIELDS:
        a, b = getattr(found, name), getattr(wanted, name)
        assert a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes(), name


def lies(found, kind):
    """Are all arrays of a result of this class?"""
    return {type(getattr(found, name)) for name in FIELDS} == {kind}


class Moved:
    """What was copied, waited for and launched within a block."""

    def __init__(self, cupy):
        self.count = cupy.cuda.moved

    def __enter__(self):
        self.before, self.launches = dict(self.count), self._launches()
        return self

    def __exit__(self, *_):
        now = {name: self.count[name] - self.before.get(name, 0) for name in self.count}
        self.up, self.down, self.waits = (now.get(name, 0) for name in ("up", "down", "waits"))
        self.bytes_up, self.bytes_down = now.get("bytes up", 0), now.get("bytes down", 0)
        self.launches = self._launches() - self.launches

    @staticmethod
    def _launches():
        return sum(n for (_, what), n in device(0).totals.items() if what == "launches")
