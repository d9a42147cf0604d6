"""Contact points of pairs of simple shapes, beside MuJoCo and Coal: ``python -m bench.peer_mujoco [PAIRS]
[SECONDS]``.

The same shapes at the same poses, on one core, in turns: MuJoCo's collision driver (`mj_collision`) on a
model with that many pairs of geoms, `gc.contacts_at` of the same pairs, `manifolds` of its result, and Coal,
if it is installed, which is called once for each pair, from Python. It needs ``pip install mujoco``, and for
Coal ``pip install coal``, which the project does not.
"""

from __future__ import annotations

import os
import sys
import time

import numpy as np

import gpu_collide as gc

MARGIN = 0.01
BOX, BALL, ROD = gc.shapes.box(), gc.shapes.sphere(0.5), gc.shapes.capsule(0.3, 0.6)
GEOMS = {
    BOX: 'type="box" size=".5 .5 .5"', BALL: 'type="sphere" size=".5"', ROD: 'type="capsule" size=".3 .3"'
}  # fmt: skip
#: Of each kind A and B, and how far B's middle is above A's where they touch.
KINDS = {
    "box-box": (BOX, BOX, 1.0), "sphere-box": (BOX, BALL, 1.0), "sphere-sphere": (BALL, BALL, 1.0),
    "capsule-capsule": (ROD, ROD, 1.2),
}  # fmt: skip


def scene(n: int, seed: int = 1, above: float = 1.0, aside: float = 0.5):
    """n pairs, B on A: shifted by up to half a side, turned about the vertical by any angle, tilted by up to
    0.01, most of them sunk in; each pair far from all others."""
    rng = np.random.default_rng(seed)
    side = int(np.ceil(np.sqrt(n)))
    first = np.column_stack([4.0 * (np.arange(n) % side), 4.0 * (np.arange(n) // side), np.zeros(n)])
    high = above - 0.001 + rng.uniform(0, 0.005, n)
    shift = np.column_stack([aside * rng.uniform(-1, 1, (n, 2)), high])
    angles = np.column_stack([rng.uniform(-np.pi, np.pi, n), rng.uniform(-0.01, 0.01, (n, 2))])
    second = gc.Poses.from_euler(first + shift, "ZYX", angles)
    return gc.Poses.concatenate([gc.Poses.from_quat_wxyz(first, [[1.0, 0, 0, 0]] * n), second])


def model_of(poses, a: str, b: str):
    """A model with a geom at each pose; A and B of a pair may touch, and no other."""
    import mujoco

    n = len(poses) // 2
    geom = '<geom name="g{}" {} contype="0" conaffinity="0"/>'
    bodies = "".join(f'<body mocap="true">{geom.format(k, a if k < n else b)}</body>' for k in range(2 * n))
    pairs = "".join(f'<pair geom1="g{k}" geom2="g{k + n}" margin="{MARGIN}"/>' for k in range(n))
    memory = 64 + 12 * n * n // 1_000_000  # it has a byte for each two geoms
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><size memory="{memory}M"/><worldbody>{bodies}</worldbody>'
        f"<contact>{pairs}</contact></mujoco>"
    )
    data = mujoco.MjData(model)
    data.mocap_pos[:], data.mocap_quat[:] = poses.position, poses.quat_wxyz
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)

    def ask():
        mujoco.mj_collision(model, data)
        return data.ncon

    return ask


def coal_of(poses, a, b):
    """Coal's contacts of each pair, or None."""
    try:
        import coal
    except ImportError:
        return None
    made = {
        BOX: lambda: coal.Box(1, 1, 1),
        BALL: lambda: coal.Sphere(0.5),
        ROD: lambda: coal.Capsule(0.3, 0.6),
    }
    n, shapes = len(poses) // 2, (made[a](), made[b]())
    matrix = poses.to_matrix()
    at = [coal.Transform3s(np.ascontiguousarray(m[:3, :3]), m[:3, 3].copy()) for m in matrix]
    request, result = coal.CollisionRequest(), coal.CollisionResult()
    request.num_max_contacts, request.security_margin = 4, MARGIN

    def ask():
        found = 0
        for k in range(n):
            result.clear()
            found += coal.collide(shapes[0], at[k], shapes[1], at[k + n], request, result)
        return found

    return ask


def measured(kind: str, n: int, seconds: float) -> None:
    """One kind of pairs, in turns, printed."""
    a, b, above = KINDS[kind]
    poses = scene(n, above=above, aside=0.5 if kind == "box-box" else 0.05)
    pairs, shape = np.column_stack([np.arange(n), n + np.arange(n)]), np.repeat([0, 1], n)
    world = gc.Scene([a, b], shape, backend="cpu")
    world.update(poses, poses)
    found = gc.contacts_at(world, pairs, margin=MARGIN)
    points = found.manifolds()
    asked = {
        "MuJoCo mj_collision": model_of(poses, GEOMS[a], GEOMS[b]),
        "Coal collide": coal_of(poses, a, b),
        "contacts_at": lambda: len(gc.contacts_at(world, pairs, margin=MARGIN)),
        "manifolds": lambda: len(found.manifolds()),
        "match": lambda: len(points.match(points).kept),
    }
    asked = {name: ask for name, ask in asked.items() if ask is not None}
    best = dict.fromkeys(asked, np.inf)
    counts = {name: ask() for name, ask in asked.items()}
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for name, ask in asked.items():
            begun = time.process_time()
            ask()
            best[name] = min(best[name], time.process_time() - begun)
    print(f"{n} pairs {kind}, least processor time of one core in turns, load {os.getloadavg()[0]:.1f}")
    for name, least in best.items():
        print(
            f"{name:22s} {1e6 * least / n:8.2f} us a pair {n / least:12,.0f} pairs/s {counts[name]:6d} rows",
            flush=True,
        )


def main(n: int = 500, seconds: float = 10.0) -> None:
    for kind in KINDS:
        measured(kind, n, seconds)


if __name__ == "__main__":
    main(*(kind(x) for kind, x in zip((int, float), sys.argv[1:], strict=False)))
