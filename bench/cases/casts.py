"""First contacts of bodies that turn, beside what other libraries have for them, and how often each is wrong.

Unit cubes and cars fly at each other and tumble, turning by up to so many degrees in the step about any
axis; about half of the pairs meet. In rows `one` A stands and B flies straight on and spins, as engines
integrate: parry and Bullet are given exactly that. In rows `both` each body is on the screw between its
poses: python-fcl is given exactly that. bench/peer_casts.py says what each is given, and why. What is true
is known by a judge that shares nothing with any (tests/oracle/body_motion.py). Processor time a pair, all
cores together, the least of rounds that go by turns; of peers it holds a few microseconds of Python a call.
"""

from __future__ import annotations

import time

import numpy as np

import gpu_collide as gc
from bench import peer_fcl
from bench.cases.motions import scene
from bench.peer_casts import peers, rotation_vectors
from bench.report import Report
from bench.settings import BenchError, Settings
from tests.oracle import body_motion as judge

NAME = "casts"
HELP = "first contacts of bodies that turn, beside parry, Bullet and python-fcl: time, misses, inventions"

SHAPES = {
    "cubes": (gc.shapes.box, peer_fcl.prisms_of_box, 20000),
    "cars": (gc.shapes.car, peer_fcl.prisms_of_mirrored, 10000),
}
TURNS = (10, 20, 45)
ROUNDS = 3


def run(settings: Settings) -> None:
    if judge.missing():
        raise BenchError(f"case '{NAME}' needs its judge: {judge.missing()}")
    report = Report(NAME, settings)
    for shape, (make, split, most) in SHAPES.items():
        mesh = make()
        others = peers(split(mesh))
        for moving in ("one", "both"):
            for degrees in TURNS:
                n = settings.size(most)
                bodies = moving_bodies(mesh, n, np.radians(degrees), moving == "both", settings.seed)
                tools = ours(settings, report) | others
                least, toi = timed(tools, bodies, 1 if settings.quick else ROUNDS)
                truth = verdicts(mesh, bodies)
                for name in tools:
                    report.add(
                        shape=shape, moving=moving, turn=degrees, pairs=n, tool=name, us=least[name],
                        ratio=least[name] / least["body"], **wrong(truth, toi[name]),
                    )  # fmt: skip
    report.write()


def moving_bodies(mesh: gc.Mesh, n: int, turn: float, both: bool, seed: int) -> gc.Bodies:
    """The pairs of `motions` with B moved aside; unless `both` move, A stands, and B spins and has the way of
    both."""
    pairs = scene(mesh, n, turn, False, seed)
    start, end = pairs.start, pairs.end
    place, to = np.array(start.position), np.array(end.position)
    rng, apart = np.random.default_rng(seed), place[1::2] - place[::2]
    aside = np.cross(apart, rng.normal(size=(n, 3)))
    aside *= (rng.uniform(0, 2.2, n) * mesh.radius / np.linalg.norm(aside, axis=1))[:, None]
    place[1::2] += aside
    to[1::2] += aside
    begin = gc.Poses.from_quat_wxyz(place, start.quat_wxyz)
    if both:
        return gc.Bodies(mesh, pairs.shape, begin, gc.Poses.from_quat_wxyz(to, end.quat_wxyz))
    way, spin = to - place, rotation_vectors(start.quat_wxyz, end.quat_wxyz)
    way[1::2] -= way[::2]
    way[::2] = spin[::2] = 0
    return gc.Bodies.from_velocities(mesh, pairs.shape, begin, way, spin)


def ours(settings: Settings, report: Report) -> dict:
    """`motion="body"`, and one relative screw from pose to pose: times of first contacts."""
    options = {"contacts": "first", "backend": settings.backend, "precision": settings.precision}

    def body(bodies, pairs):
        found = gc.collide(bodies, pairs, motion="body", **options)
        report.set_device(found)
        return found.to_numpy().toi

    def relative(bodies, pairs):
        by_poses = gc.Bodies(bodies.meshes, bodies.shape, bodies.start, bodies.end)
        return gc.collide(by_poses, pairs, **options).to_numpy().toi

    return {"body": body, "relative": relative}


def timed(tools: dict, bodies: gc.Bodies, rounds: int):
    """Least microseconds of processor time a pair, and the times of first contacts, of each tool."""
    pairs = np.arange(len(bodies)).reshape(-1, 2)
    for tool in tools.values():  # builds, and finds out how much room all takes
        tool(bodies, pairs)
    least, toi = dict.fromkeys(tools, np.inf), {}
    for _ in range(rounds):
        for name, tool in tools.items():
            begun = time.process_time()
            toi[name] = tool(bodies, pairs)
            least[name] = min(least[name], 1e6 * (time.process_time() - begun) / len(pairs))
    return least, toi


def verdicts(mesh: gc.Mesh, bodies: gc.Bodies):
    """The judge's rows, of pairs that are apart at the start and do not merely graze."""
    rows = np.zeros(len(bodies), judge.BODY)
    rows["place"], rows["quat"] = bodies.start.position, bodies.start.quat_wxyz
    if bodies.spins is None:
        rows["to"], rows["turn"] = bodies.end.position, bodies.end.quat_wxyz
    else:
        rows["spin"], rows["to"], rows["turn"][:, :3] = 1, bodies.spins.displacement, bodies.spins.rotation
    return judge.first_touches(judge.Motions(NAME, [mesh], rows, np.arange(len(rows)).reshape(-1, 2)))


def wrong(truth, toi) -> dict:
    """Shares of touching pairs missed, and of others invented, in percent; and how far times are off, as what
    the bodies come nearer in that time over the size, median and most."""
    touch, miss, hit = truth["status"] == judge.TOUCHES, truth["status"] == judge.MISSES, np.isfinite(toi)
    both = touch & hit
    off = np.abs(toi[both] - truth["time"][both]) * np.abs(truth["approach"][both]) / truth["size"][both]
    return {
        "touch": int(touch.sum()), "missed": 100 * float((touch & ~hit).sum() / max(touch.sum(), 1)),
        "invented": 100 * float((miss & hit).sum() / max(miss.sum(), 1)),
        "off": float(np.median(off)) if len(off) else 0.0, "off_most": float(off.max(initial=0)),
    }  # fmt: skip
