"""Vehicles of a table: all collisions on the whole way, beside tests of samples by NumPy, shapely and
CommonRoad's drivability checker, as far as they are installed.

The town of examples/traffic.py, 200 vehicles for 30 s at 10 Hz, as it is (4 to 17 m/s) and three times as
fast. Samples are the rows themselves, and 25 and 100 a second on the same arcs, whose places are handed to
the peers and not counted. `missed` are meetings without a sample at which the two overlap, out of all
collisions; `late_ms` is by how much the first sample of the others comes after the first contact. All is
processor time, the least of the rounds.
"""

from __future__ import annotations

import importlib.util
import time

import numpy as np

import gpu_collide as gc
from bench.report import Report
from bench.settings import BenchError, Settings
from examples.traffic import town

NAME = "traffic"
HELP = "collisions of vehicles of a table, beside tests of samples by NumPy, shapely and CommonRoad"

VEHICLES, SECONDS, RATE, ROUNDS = 200, 30.0, 10.0, 3
SAMPLED = (10, 25, 100)


def table_of(vehicles: int, faster: float, seed: int) -> dict[str, np.ndarray]:
    """Rows of the town, of vehicles so many times as fast."""
    table = town(vehicles, SECONDS * faster, RATE / faster, seed=seed)
    return table | {"time": table["time"] / faster}


def run(settings: Settings) -> None:
    report = Report(NAME, settings)
    for name, faster in (("town", 1.0), ("fast", 3.0)):
        table = table_of(40 if settings.quick else VEHICLES, faster, settings.seed)
        recording, read = timed(lambda table=table: gc.Recording.from_table(table))
        contacts, took = timed(
            lambda recording=recording: recording.collide(motion="body", backend=settings.backend)
        )
        found, all_of_it = timed(lambda recording=recording: gc.events(recording, backend=settings.backend))
        report.set_device(contacts)
        met = found[found.kind == gc.EventKind.COLLISION]
        row = {
            "scene": name, "rows": len(table["time"]), "collisions": len(met), "read_s": read,
            "contacts_s": took, "events_s": all_of_it,
        }  # fmt: skip
        for rate in SAMPLED:
            samples = sampled(recording, rate)
            for peer, ask in peers().items():
                hits, spent = timed(lambda ask=ask, samples=samples: ask(*samples))
                missed, late, invented = compared(found, met, recording.times, samples[0], hits)
                if invented:
                    raise BenchError(f"{peer} at {rate} Hz has {invented} overlaps outside of all meetings")
                row |= {f"{peer}_{rate}_s": spent, f"{rate}_missed": missed, f"{rate}_late_ms": 1e3 * late}
        report.add(**row)
    report.write()


def timed(call):
    """What a call returns, and the least processor time of some."""
    took = np.inf
    for k in range(1 + ROUNDS):
        begun = time.process_time()
        told = call()
        took = min(took, time.process_time() - begun) if k else np.inf
    return told, took


def sampled(recording: gc.Recording, rate: int):
    """Times (s,), places (s, n, 2), headings (s, n), halves of sizes (n, 2), and who is there (s, n)."""
    poses, there = recording.poses(), recording.there()
    span = recording.times[-1] - recording.times[0]
    times = recording.times[0] + np.arange(int(np.floor(span * rate + 1e-6)) + 1) / rate
    step = np.clip(np.searchsorted(recording.times, times + 1e-9, "right") - 1, 0, len(poses) - 2)
    share = (times - recording.times[step]) / np.diff(recording.times)[step]
    share = np.where(np.abs(share - np.rint(share)) < 1e-6, np.rint(share), share)
    at = poses[step].toward(poses[step + 1], np.broadcast_to(share[:, None], (len(step), poses.shape[1])))
    here = np.where(share[:, None] == 0, there[step], there[step] & there[step + 1])
    here = np.where(share[:, None] == 1, there[step + 1], here)
    exact = share == 0
    position, quat = at.position.copy(), at.quat_wxyz.copy()
    position[exact], quat[exact] = poses.position[step[exact]], poses.quat_wxyz[step[exact]]
    last = share == 1
    position[last], quat[last] = poses.position[step[last] + 1], poses.quat_wxyz[step[last] + 1]
    half = np.array([mesh.vertices.max(axis=0) for mesh in recording.meshes])[recording.shape, :2]
    return times, position[..., :2], 2 * np.arctan2(quat[..., 3], quat[..., 0]), half, here


def peers():
    """Functions of samples that return (k, 3) of sample, low body, high body where two overlap."""
    found = {"numpy": by_numpy, "shapely": by_shapely, "commonroad_dc": by_commonroad}
    return {name: ask for name, ask in found.items() if importlib.util.find_spec(name)}


def by_numpy(times, place, heading, half, there):
    """Balls of all pairs, then separating axes."""
    radius, found = np.linalg.norm(half, axis=1), []
    for k in range(len(times)):
        some = np.flatnonzero(there[k])
        at, r = place[k, some], radius[some]
        off = at[:, None] - at
        i, j = np.nonzero((off**2).sum(axis=-1) <= (r[:, None] + r) ** 2)
        i, j = i[i < j], j[i < j]
        a, b = some[i], some[j]
        off, turn = at[j] - at[i], heading[k, b] - heading[k, a]
        cosine, sine = np.abs(np.cos(turn)), np.abs(np.sin(turn))
        hit = np.ones(len(i), bool)
        for one, own, other in ((heading[k, a], half[a], half[b]), (heading[k, b], half[b], half[a])):
            c, s = np.cos(one), np.sin(one)
            hit &= (
                np.abs(off[:, 0] * c + off[:, 1] * s) <= own[:, 0] + other[:, 0] * cosine + other[:, 1] * sine
            )
            hit &= (
                np.abs(off[:, 1] * c - off[:, 0] * s) <= own[:, 1] + other[:, 0] * sine + other[:, 1] * cosine
            )
        found.append(np.stack([np.full(hit.sum(), k), a[hit], b[hit]], axis=1))
    return np.concatenate(found)


def by_shapely(times, place, heading, half, there):
    """A tree of the rectangles of each sample."""
    import shapely

    signs, found = np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]]), []
    for k in range(len(times)):
        some = np.flatnonzero(there[k])
        own = half[some, None] * signs
        c, s = np.cos(heading[k, some])[:, None], np.sin(heading[k, some])[:, None]
        corners = place[k, some, None] + np.stack(
            [own[..., 0] * c - own[..., 1] * s, own[..., 0] * s + own[..., 1] * c], axis=-1
        )
        boxes = shapely.polygons(corners)
        i, j = shapely.STRtree(boxes).query(boxes, predicate="intersects")
        i, j = i[i < j], j[i < j]
        found.append(np.stack([np.full(len(i), k), some[i], some[j]], axis=1))
    return np.concatenate(found)


def by_commonroad(times, place, heading, half, there):
    """A checker of CommonRoad's for the rectangles of each sample, and those that each of them hits."""
    from commonroad_dc import pycrcc

    found = []
    for k in range(len(times)):
        some = np.flatnonzero(there[k])
        rows = np.column_stack([half[some], heading[k, some], place[k, some]])
        boxes = [pycrcc.RectOBB(*row) for row in rows.tolist()]
        number, checker = {box: i for i, box in enumerate(boxes)}, pycrcc.CollisionChecker()
        for box in boxes:
            checker.add_collision_object(box)
        hits = [
            (k, some[i], some[j])
            for i, box in enumerate(boxes)
            for j in map(number.get, checker.find_all_colliding_objects(box))
            if i < j
        ]
        found.append(np.array(hits, int).reshape(-1, 3))
    return np.concatenate(found)


def compared(found, met, frames, times, hits):
    """Collisions without a sample, how late the others are told in the mean, and overlaps in no meeting.

    A collision is over at the end of its last step: else it would go on in the next one.
    """
    n = 1 << 20
    key = hits[:, 1] * n + hits[:, 2]
    order = np.lexsort([hits[:, 0], key])
    key, at = key[order], times[hits[order, 0]]
    missed, late = 0, []
    for e in met:
        low, high = np.searchsorted(key, [own := int(e["body_a"]) * n + int(e["body_b"]), own + 1])
        mine = at[low:high]
        mine = mine[(mine >= e["time"] - 1e-6) & (mine <= frames[e["last_step"] + 1] + 1e-6)]
        missed += not len(mine)
        late += [mine[0] - e["time"]] if len(mine) else []
    pairs = np.unique(found.body_a.astype(np.int64)[found.met] * n + found.body_b[found.met])
    return missed, float(np.mean(late)) if late else 0.0, int((~np.isin(key, pairs)).sum())
