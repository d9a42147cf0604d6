"""Contact points of pairs of simple shapes, beside MuJoCo, Bullet, Coal and FCL:
``python -m bench.peer_mujoco [PAIRS] [SECONDS] [FILE.csv]``.

The same shapes at the same poses, on one core, in turns: MuJoCo's collision driver (`mj_collision`) on a
model with that many pairs of geoms, Bullet's (`performCollisionDetection` by PyBullet) on a world with that
many pairs of bodies, `gc.contacts_at` of the same pairs, `manifolds` of its result, and Coal and FCL, which
are called once for each pair, from Python. Those that are not installed are left out: ``pip install mujoco
pybullet coal python-fcl``. Bullet adds points of later calls to those of earlier ones and keeps four; the
first call, when it has none, takes four times as long.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

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
    """Coal's contacts of each pair."""
    import coal

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


def bullet_of(poses, a, b):
    """Bullet's contacts of the whole world, each pair far from all others."""
    import pybullet

    client = pybullet.connect(pybullet.DIRECT)
    made = {
        BOX: lambda: pybullet.createCollisionShape(
            pybullet.GEOM_BOX, halfExtents=[0.5] * 3, physicsClientId=client
        ),
        BALL: lambda: pybullet.createCollisionShape(pybullet.GEOM_SPHERE, radius=0.5, physicsClientId=client),
        ROD: lambda: pybullet.createCollisionShape(
            pybullet.GEOM_CAPSULE, radius=0.3, height=0.6, physicsClientId=client
        ),
    }
    n, shapes = len(poses) // 2, (made[a](), made[b]())
    xyzw = poses.quat_wxyz[:, [1, 2, 3, 0]].tolist()
    for k, (place, quat) in enumerate(zip(poses.position.tolist(), xyzw, strict=True)):
        mass, shape = (0, shapes[0]) if k < n else (1, shapes[1])
        pybullet.createMultiBody(
            mass, shape, basePosition=place, baseOrientation=quat, physicsClientId=client
        )

    def ask():
        pybullet.performCollisionDetection(physicsClientId=client)
        return n  # telling its points takes Python longer than finding them

    return ask


def fcl_of(poses, a, b):
    """FCL's contacts of each pair."""
    import fcl

    made = {BOX: lambda: fcl.Box(1, 1, 1), BALL: lambda: fcl.Sphere(0.5), ROD: lambda: fcl.Capsule(0.3, 0.6)}
    n, shapes = len(poses) // 2, (made[a](), made[b]())
    objects = [
        fcl.CollisionObject(shapes[int(k >= n)], fcl.Transform(quat, place))
        for k, (place, quat) in enumerate(zip(poses.position, poses.quat_wxyz, strict=True))
    ]
    request = fcl.CollisionRequest(num_max_contacts=4, enable_contact=True)

    def ask():
        found = 0
        for k in range(n):
            result = fcl.CollisionResult()
            found += fcl.collide(objects[k], objects[k + n], request, result)
        return found

    return ask


def measured(kind: str, n: int, seconds: float) -> list[str]:
    """One kind of pairs, in turns, printed; rows of a table."""
    a, b, above = KINDS[kind]
    poses = scene(n, above=above, aside=0.5 if kind == "box-box" else 0.05)
    pairs, shape = np.column_stack([np.arange(n), n + np.arange(n)]), np.repeat([0, 1], n)
    world = gc.Scene([a, b], shape, backend="cpu")
    world.update(poses, poses)
    found = gc.contacts_at(world, pairs, margin=MARGIN)
    points = found.manifolds()
    asked = {}
    for name, make in {
        "MuJoCo mj_collision": lambda: model_of(poses, GEOMS[a], GEOMS[b]),
        "Bullet performCollisionDetection": lambda: bullet_of(poses, a, b),
        "Coal collide": lambda: coal_of(poses, a, b),
        "FCL collide": lambda: fcl_of(poses, a, b),
    }.items():
        try:
            asked[name] = make()
        except ImportError:
            print(f"{name}: not installed")
    asked |= {
        "contacts_at": lambda: len(gc.contacts_at(world, pairs, margin=MARGIN)),
        "manifolds": lambda: len(found.manifolds()),
        "match": lambda: len(points.match(points).kept),
    }
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
            f"{name:32s} {1e6 * least / n:8.2f} us a pair {n / least:12,.0f} pairs/s {counts[name]:6d} rows",
            flush=True,
        )
    return [f"{kind},{n},{name},{1e6 * least / n:.3f},{counts[name]}" for name, least in best.items()]


def main(n: int = 500, seconds: float = 10.0, path: str | None = None) -> None:
    rows = [row for kind in KINDS for row in measured(kind, n, seconds)]
    if path is not None:
        head = f"# least processor time of one core in turns, load {os.getloadavg()[0]:.1f}"
        Path(path).write_text(
            "\n".join([head, "kind,pairs,tool,us_per_pair,rows", *rows]) + "\n", encoding="utf-8"
        )


if __name__ == "__main__":
    main(*(kind(x) for kind, x in zip((int, float, str), sys.argv[1:], strict=False)))
