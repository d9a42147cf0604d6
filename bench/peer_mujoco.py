"""Contact points of pairs of boxes, beside MuJoCo: ``python -m bench.peer_mujoco [PAIRS] [SECONDS]``.

The same boxes at the same poses, on one core, in turns: MuJoCo's collision driver (`mj_collision`) on a model
with that many pairs of geoms, `gc.contacts_at` of the same pairs, and `manifolds` of its result. It needs
``pip install mujoco``, which the project does not.
"""

from __future__ import annotations

import os
import sys
import time

import numpy as np

import gpu_collide as gc


def scene(n: int, seed: int = 1):
    """n pairs of unit cubes, B on A: shifted by up to half a side, turned about the vertical by any angle,
    tilted by up to 0.01, most of them sunk in; each pair far from all others."""
    rng = np.random.default_rng(seed)
    side = int(np.ceil(np.sqrt(n)))
    first = np.column_stack([4.0 * (np.arange(n) % side), 4.0 * (np.arange(n) // side), np.zeros(n)])
    shift = np.column_stack([rng.uniform(-0.5, 0.5, (n, 2)), 0.999 + rng.uniform(0, 0.005, n)])
    angles = np.column_stack([rng.uniform(-np.pi, np.pi, n), rng.uniform(-0.01, 0.01, (n, 2))])
    second = gc.Poses.from_euler(first + shift, "ZYX", angles)
    return gc.Poses.concatenate([gc.Poses.from_quat_wxyz(first, [[1.0, 0, 0, 0]] * n), second])


def model_of(poses, margin: float):
    """A model with a geom at each pose; A and B of a pair may touch, and no other."""
    import mujoco

    n = len(poses) // 2
    geom = '<geom name="g{}" type="box" size=".5 .5 .5" contype="0" conaffinity="0"/>'
    bodies = "".join(f'<body mocap="true">{geom.format(k)}</body>' for k in range(2 * n))
    pairs = "".join(f'<pair geom1="g{k}" geom2="g{k + n}" margin="{margin}"/>' for k in range(n))
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><size memory="512M"/><worldbody>{bodies}</worldbody><contact>{pairs}</contact></mujoco>'
    )
    data = mujoco.MjData(model)
    data.mocap_pos[:], data.mocap_quat[:] = poses.position, poses.quat_wxyz
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    return mujoco, model, data


def main(n: int = 500, seconds: float = 10.0) -> None:
    margin = 0.01
    poses = scene(n)
    mujoco, model, data = model_of(poses, margin)
    mesh, pairs = gc.shapes.box(), np.column_stack([np.arange(n), n + np.arange(n)])
    backend = gc.Scene(mesh, np.zeros(2 * n, int), backend="cpu")
    backend.update(poses, poses)
    found = gc.contacts_at(backend, pairs, margin=margin)

    def of_mujoco():
        mujoco.mj_collision(model, data)
        return data.ncon

    kinds = {
        "MuJoCo mj_collision": of_mujoco,
        "contacts_at": lambda: len(gc.contacts_at(backend, pairs, margin=margin)),
        "manifolds": lambda: len(found.manifolds()),
        "match": lambda: len(points.match(points).kept),
    }
    points = found.manifolds()
    best = dict.fromkeys(kinds, np.inf)
    counts = {name: ask() for name, ask in kinds.items()}
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for name, ask in kinds.items():
            begun = time.process_time()
            ask()
            best[name] = min(best[name], time.process_time() - begun)
    print(f"{n} pairs of cubes, least processor time of one core in turns, load {os.getloadavg()[0]:.1f}")
    for name, least in best.items():
        print(
            f"{name:22s} {1e6 * least / n:8.2f} us a pair {n / least:12,.0f} pairs/s {counts[name]:6d} rows"
        )


if __name__ == "__main__":
    main(*(kind(x) for kind, x in zip((int, float), sys.argv[1:], strict=False)))
