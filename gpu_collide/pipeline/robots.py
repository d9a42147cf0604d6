"""Motions of chains and trees of joints, by kernels: where links are, and how far they may be from screws."""

from __future__ import annotations

import numpy as np

from gpu_collide.backends import sources
from gpu_collide.reference.robots.r01_frames import Frames

__all__ = ["ChainMotions"]

#: Chains whose tables are kept on a backend.
MOST_CHAINS = 8


class ChainMotions:
    """Edges in joint space of a chain; `gpu_collide.reference.robots` has the same verbs.

    Parameters
    ----------
    run : Launcher
    chain : Chain
    curves : Curves
    """

    def __init__(self, run, chain, curves):
        run.build("robots")
        self.run = run
        self.n_joints, self.n_links = len(chain.parent), len(chain.carrier)
        kept = run.backend.kept.setdefault("chains", {})
        of, tables = kept.get((id(chain), run.precision), (None, {}))
        if of is not chain:
            kept[id(chain), run.precision] = chain, (tables := _tables(run, chain))
            if len(kept) > MOST_CHAINS:
                kept.pop(next(iter(list(kept))), None)
        coefficients = np.stack([curves.start, curves.rate, curves.square, curves.cube], axis=1)
        self.buffers = tables | {
            "curve_in": run.to_device(coefficients, run.real),
            "n_joints": self.n_joints, "n_links": self.n_links,
        }  # fmt: skip

    def frames(self, motion, time):
        """Frames (k, links) in the world, of edges at times."""
        run, be, k = self.run, self.run.backend, len(motion)
        out = [be.empty(max(1, k * self.n_links * width), run.real) for width in (3, 4)]
        if k:
            run.launch(
                "r01_frames", k, self.buffers, n=k, motion_in=run.to_device(motion, np.int32),
                time_in=run.to_device(time, run.real), position_out=out[0], quat_out=out[1],
                frame_out=be.empty(max(1, 7 * k * self.n_joints), run.real),
            )  # fmt: skip
        position, quat = (be.to_host(one)[: k * self.n_links * w] for one, w in zip(out, (3, 4), strict=True))
        shape = k, self.n_links
        return Frames(position.reshape(*shape, 3).astype(float), quat.reshape(*shape, 4).astype(float))

    def deviations(self, motion, begin, end, first, last):
        """(k, links): how far links may be from the screws between their frames at both ends of pieces."""
        n = len(motion) * self.n_links
        return self._found(n, None, motion, begin, end, first, last)[0].reshape(-1, self.n_links)

    def relative(self, rows, motion, begin, end, first, last):
        """The same of rows, (r,) each: a piece, a link, and another that its joint carries, in the first
        one's frame; and frames (r, 2) of the second in it, at both ends."""
        bound, frames = self._found(len(rows[0]), rows, motion, begin, end, first, last)
        frames = frames.reshape(-1, 2, 7)
        return bound, Frames(frames[..., :3], frames[..., 3:])

    def _found(self, n, rows, motion, begin, end, first, last):
        run, be = self.run, self.run.backend
        given_rows = rows is not None
        bound, frames = be.empty(max(1, n), run.real), be.empty(14 * (n if given_rows else 1) or 1, run.real)
        if n:
            given = {
                "begin_in": begin, "end_in": end,
                "first_position_in": first.position, "first_quat_in": first.quat,
                "last_position_in": last.position, "last_quat_in": last.quat,
            }  # fmt: skip
            given = {name: run.to_device(array, run.real) for name, array in given.items()}
            listed = zip(
                ("piece_in", "of_in", "row_link_in"), rows if given_rows else [np.zeros(1)] * 3, strict=True
            )
            run.launch(
                "r02_deviations", n, self.buffers, given,
                {name: run.to_device(array, np.int32) for name, array in listed},
                n=n, relative=int(given_rows), motion_in=run.to_device(motion, np.int32),
                bound_out=bound, frame_out=frames,
            )  # fmt: skip
        bound, frames = be.to_host(bound)[:n].astype(float), be.to_host(frames).astype(float)
        return np.where(bound >= 0.0, bound, np.inf), frames[: 14 * n if given_rows else 0]


def _tables(run, chain):
    """The chain as the kernels read it, on a backend."""
    n = len(chain.parent)
    joint = np.zeros((n, sources.record("chain_joint").stride))
    link = np.zeros((len(chain.carrier), sources.record("chain_link").stride))
    at = sources.record("chain_joint")
    joint[:, at["offset"]], joint[:, at["turn"]], joint[:, at["axis"]] = chain.offset, chain.turn, chain.axis
    joint[:, at["length"]] = np.sqrt((chain.offset**2).sum(axis=1))
    joint[:, at["slides"]] = chain.prismatic
    at = sources.record("chain_link")
    link[:, at["place"]], link[:, at["rest"]] = chain.place, chain.rest
    link[:, at["middle"]] = 0.5 * (chain.low + chain.high)
    link[:, at["extent"]] = 0.5 * (chain.high - chain.low)
    link[:, at["reach"]] = chain.reach
    carried = chain.before + np.eye(n) > 0  # by the first, the second
    path = np.zeros((n, n))
    for j in range(n):
        above = np.flatnonzero(carried[:, j])
        path[j, : len(above)] = above
    whole = {
        "parent_in": chain.parent, "carrier_in": chain.carrier,
        "depth_in": carried.sum(axis=0) - 1, "path_in": path,
    }  # fmt: skip
    numbers = {"joint_in": joint, "link_in": link, "base_in": np.concatenate(chain.base)}
    none = np.zeros(1)
    return {
        name: run.to_device(array if array.size else none, kind)
        for kind, tables in ((np.int32, whole), (run.real, numbers))
        for name, array in tables.items()
    }
