"""Poses and pairs of a query on a GPU: those on the host are uploaded in pieces, each while the piece
before is computed."""

from __future__ import annotations

import weakref
from typing import Any, NamedTuple

import numpy as np

from gpu_collide.pipeline.launch.launcher import Launcher
from gpu_collide.pipeline.launch.poses import NAMES, pose_arrays, take_given

__all__ = ["AsyncUpload", "Given", "Inputs"]


class Given(NamedTuple):
    """Pairs that lie on the device, and that nobody has looked at.

    Attributes
    ----------
    rows : (p, 2) int64 device array
        Of the library's own.
    """

    rows: Any

    def __len__(self):
        return self.rows.shape[0]


class AsyncUpload:
    """Host arrays of as many rows each, on their way to buffers.

    Parameters
    ----------
    backend : Backend
        ``cuda``.
    lane : gpu_collide.backends.transfer_stream.Lane
    arrays : dict of str to (n, ...) array
        Nobody may write to them until all is sent.
    """

    def __init__(self, backend, lane, arrays):
        self._backend, self._lane = backend, lane
        self._arrays = {name: np.ascontiguousarray(array).reshape(-1) for name, array in arrays.items()}
        self._n = len(next(iter(arrays.values())))
        self._buffers = {name: backend.empty(x.size, x.dtype) for name, x in self._arrays.items()}
        each = sum(array.nbytes for array in self._arrays.values()) // max(self._n, 1)
        self._step = max(1, lane.nbytes // max(each, 1))
        self._sent: list = []  # up to which row, and the event behind it

    def send(self, stop):
        """Send the rows up to this one, without waiting for them."""
        stop = min(stop, self._n)
        while (at := self._sent[-1][0] if self._sent else 0) < stop:
            end = min(at + self._step, stop)
            arrays, buffers = ([*self._of(held, at, end).values()] for held in (self._arrays, self._buffers))
            self._sent.append((end, self._backend.send(self._lane, arrays, buffers)))

    def rows(self, stop, start=0):
        """The buffers' rows from `start` to `stop`, which what the current stream is given next can use."""
        self.send(stop)
        stop = min(stop, self._n)
        event = next((event for end, event in self._sent if end >= stop), None)
        if event is not None:
            self._backend.behind(event)
        return self._of(self._buffers, start, stop)

    def _of(self, held, start, stop):
        n = max(self._n, 1)
        return {name: x[start * (x.size // n) : stop * (x.size // n)] for name, x in held.items()}


class Inputs:
    """What the pieces of a block of pairs read, on the device.

    Parameters
    ----------
    query : Query
    bodies : Bodies
    pairs : Given, or (p, 2) int32 array of pairs that need no check, on the host or on the device

    Attributes
    ----------
    given : Given or None
        The pairs, if they are such.
    pairs : (p, 2) int32 device array
        Filled piece by piece.
    wrong : (2,) int32 buffer
        Rows that are no pair, and pairs with a body without poses.
    single : bool
        In single precision each pair gets its own two bodies (g04).
    """

    def __init__(self, query, bodies, pairs):
        run, be = query.run, query.run.backend
        self._backend, self._run, self.n = be, run, len(pairs)
        self.single = run.real == np.float32
        # poses come in float64 then, and are made float32 pair by pair
        self._whole = Launcher(be, "mixed", 0) if self.single else run
        self.given: Any = pairs if isinstance(pairs, Given) else None
        self._host = pairs if isinstance(pairs, np.ndarray) else None
        self.pairs, self.wrong = be.empty((self.n, 2), np.int32), be.zeros(2, np.int32)
        if self._host is None:
            self._rows = pairs.astype(np.int64) if self.given is None else pairs.rows
        self._poses, self._lane = query.prepared.placed, None
        if self._poses is None:
            self._poses = self._take(bodies)
        if self._poses is None or self._host is not None:
            self._lane = be.lane()
        if self._poses is None:
            self._bodies = AsyncUpload(be, self._lane, pose_arrays(bodies))
        if self._host is not None:
            self._arriving = AsyncUpload(be, self._lane, {"pairs": self._host})
        if self._lane is not None:
            be.begin(self._lane)
        self._n_bodies = len(bodies)

    def piece(self, at, stop):
        """Poses, by the names of kernel arguments, and the pairs from `at` to `stop`, flat int64."""
        if self._host is None:
            rows = self._rows[at:stop].reshape(-1)
        else:
            rows = self._arriving.rows(stop, at)["pairs"].astype(np.int64)
        return self._poses or self._bodies.rows(self._reach(at, stop)), rows

    def ahead(self, at, stop):
        """Send what the pairs from `at` to `stop` need, while others are worked on."""
        if self._host is None or at >= min(stop, self.n):
            return
        self._arriving.send(stop)
        if self._poses is None:
            self._bodies.send(self._reach(at, stop))

    def end(self):
        """Be done with it: the lane is another call's."""
        if self._lane is not None:
            self._backend.give_lane(self._lane)
            self._lane = None

    def apart(self, poses, pairs):
        """Poses and pairs in float32, each pair with its own two bodies, and the pairs as their numbers."""
        be, n = self._backend, pairs.size // 2
        kinds = {"pairs": np.int32, "shape": np.int32, "valid": np.uint8}
        widths = {"pairs": 1, "shape": 1, "valid": 1} | {
            name.removesuffix("_in"): 4 if "quat" in name else 3 for name in NAMES
        }
        made = {k: be.empty(2 * n * width, kinds.get(k, np.float32)) for k, width in widths.items()}
        self._whole.launch_ahead("g04_apart", n, poses, n_pairs=n, pairs_in=pairs,
                                 **{f"{name}_out": buffer for name, buffer in made.items()})  # fmt: skip
        return {f"{name}_in": buffer for name, buffer in made.items()}

    def origins(self, poses, at, stop, pair):
        """World positions at the start of the A of each of the numbers `pair`, counted from `at`."""
        place = poses["start_position_in"].reshape(-1, 3)
        return place[self.pairs[at:stop, 0][pair]]

    def _reach(self, at, stop):
        """How many bodies, from the first on, these pairs are of."""
        if self._host is None:
            return self._n_bodies
        return int(self._host[at:stop].max(initial=-1)) + 1

    def _take(self, bodies):
        """Poses from the device on which they were given; None if they were not given on this one."""
        poses = take_given(self._whole, bodies)
        return None if poses is None else poses | {"shape_in": self._shapes(bodies)}

    def _shapes(self, bodies):
        """Which mesh each body has, kept for the array that says so: bodies that move keep theirs."""
        be, shape = self._backend, bodies.shape
        if len(bodies.meshes) == 1:
            return be.zeros(len(shape), np.int32)
        kept = be.kept.setdefault("shapes", {})
        known, buffer = kept.get(id(shape), (None, None))
        if known is None or known() is not shape:
            key, buffer = id(shape), self._run.to_device(shape, np.int32)
            kept[key] = weakref.ref(shape, lambda _: kept.pop(key, None)), buffer
        return buffer
