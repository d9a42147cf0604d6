"""The oracle's entry points: contacts of pairs of two meshes, and of whole scenes."""

from dataclasses import dataclass

import numpy as np

from tests.oracle.judge import ATOM, atoms_of
from tests.oracle.roots import Scene
from tests.oracle.solid import Solid, relative

CHUNK = 400_000  # feature pairs at once


def _unit(q):
    q = np.atleast_2d(np.asarray(q, float))
    return q / np.sqrt((q * q).sum(1))[:, None]


def _pose(pose):
    position, quat = pose
    return np.atleast_2d(np.asarray(position, float)), _unit(quat)


def contacts(
    mesh_a, mesh_b, start_a, end_a, start_b, end_b, min_properness=-0.1, *, pair_ids=None, flip=None
):
    """All atoms of p pairs of the same two meshes.

    Parameters
    ----------
    mesh_a, mesh_b : Mesh, RawMesh or Solid
    start_a, end_a, start_b, end_b : tuple of (p, 3) positions and (p, 4) quaternions w, x, y, z
        (or one position and one quaternion). Poses in the world.
    min_properness : float
    pair_ids : (p,) int, optional
        Numbers to write into `pair`; 0, 1, ... if left out.
    flip : (p,) bool, optional
        Take the other screw of a half-turn.

    Returns
    -------
    atoms : structured array, dtype `ATOM`
    info : dict of (p,) arrays size, speed, tau, half_turn
    """
    a = mesh_a if isinstance(mesh_a, Solid) else Solid(mesh_a)
    b = mesh_b if isinstance(mesh_b, Solid) else Solid(mesh_b)
    poses = [_pose(x) for x in (start_a, end_a, start_b, end_b)]
    p = len(poses[0][0])
    ids = np.arange(p) if pair_ids is None else np.asarray(pair_ids)
    each = len(a.normal) * len(b.v) + len(a.v) * len(b.normal) + len(a.edges) * len(b.edges)
    step = max(1, CHUNK // each)
    parts, infos = [], []
    for first in range(0, p, step):
        part = slice(first, min(p, first + step))
        sa, ea, sb, eb = ((x[part], q[part]) for x, q in poses)
        twist, axes = relative(a, b, sa, ea, sb, eb, None if flip is None else flip[part])
        scene = Scene(a, b, twist, axes)
        parts.append(atoms_of(scene, min_properness, (sa, ea), ids[part]))
        still = scene.still
        infos.append(
            (np.full(scene.n, scene.size), scene.speed, scene.tau, np.abs(twist.w), scene.rounding, still)
        )
    if not parts:
        return np.zeros(0, ATOM), {k: np.zeros(0) for k in ("size", "speed", "tau", "w", "rounding", "still")}
    names = ("size", "speed", "tau", "w", "rounding", "still")
    return np.concatenate(parts), dict(zip(names, map(np.concatenate, zip(*infos, strict=True)), strict=True))


@dataclass
class Expected:
    """Atoms of all pairs of a scene, ordered by pair and time, and the lengths that the tolerances refer
    to."""

    atoms: np.ndarray
    size: np.ndarray
    speed: np.ndarray
    tau: np.ndarray
    w: np.ndarray
    rounding: np.ndarray
    still: np.ndarray
    min_properness: float

    @property
    def n_pairs(self):
        return len(self.size)

    def first(self, n):
        """Of the first `n` pairs alone."""
        fields = {k: v[:n] for k, v in self.__dict__.items() if k not in ("atoms", "min_properness")}
        return Expected(self.atoms[self.atoms["pair"] < n], min_properness=self.min_properness, **fields)

    def save(self, path):
        np.savez_compressed(path, **self.__dict__)

    @classmethod
    def load(cls, path):
        with np.load(path) as data:
            return cls(**{k: (float(data[k]) if k == "min_properness" else data[k]) for k in data.files})


def expect(scene, min_properness=-0.1, only=None, flip=None):
    """Expected contacts of a scene (see scenes.py): meshes, shape, start, end (position, quaternion), pairs.

    `only` (k,) restricts to these pair numbers; the result keeps the numbering of the whole scene.
    """
    pairs = np.asarray(scene.pairs)
    solids = [Solid(m) for m in scene.meshes]
    shape = np.asarray(scene.shape)
    n = len(pairs)
    chosen = np.arange(n) if only is None else np.asarray(only)
    out = {k: np.zeros(n) for k in ("size", "speed", "tau", "w", "rounding", "still")}
    out["still"] = np.zeros(n, bool)
    parts = [np.zeros(0, ATOM)]
    kinds = shape[pairs[chosen]]
    for sa, sb in np.unique(kinds, axis=0):
        ids = chosen[(kinds[:, 0] == sa) & (kinds[:, 1] == sb)]
        i, j = pairs[ids].T
        poses = [(x[k], q[k]) for k in (i, j) for x, q in (scene.start, scene.end)]
        atoms, info = contacts(
            solids[sa],
            solids[sb],
            *poses,
            min_properness,
            pair_ids=ids,
            flip=None if flip is None else flip[ids],
        )
        parts.append(atoms)
        for k, values in info.items():
            out[k][ids] = values
    atoms = np.concatenate(parts)
    return Expected(atoms[np.lexsort((atoms["time"], atoms["pair"]))], min_properness=min_properness, **out)
