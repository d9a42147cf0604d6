"""Who hits whom, and who nearly does, in a table of vehicles: ``python examples/traffic.py [VEHICLES]``.

A town of cars, vans and buses that drive on arcs, each with a size and an id of its own; they come and go,
and now and then the tracker loses one. The table has a row for each vehicle at each tenth of a second in
which it is seen. It is a DataFrame if pandas is installed, else a dict of arrays. ``--page town.html`` writes
a page for a browser.
"""

import argparse
import sys
import time

import numpy as np

import gpu_collide as gc

KINDS = {"car": (4.5, 1.8, 1.5), "van": (5.9, 2.0, 2.5), "bus": (12.0, 2.5, 3.1)}
SHARES = (0.8, 0.15, 0.05)
LOST = 0.01  # of all rows


def town(vehicles=200, seconds=30.0, rate=10.0, side=400.0, seed=0):
    """Columns of a table; the same seed gives the same."""
    rng = np.random.default_rng(seed)
    frames = np.arange(round(seconds * rate)) / rate
    begin = rng.uniform(-0.5, 0.7, vehicles) * seconds
    kind = rng.choice(len(KINDS), vehicles, p=SHARES)
    size = np.array(list(KINDS.values()))[kind] * rng.uniform(0.92, 1.08, (vehicles, 3))
    speed, curve = rng.uniform(4, 17, vehicles), rng.normal(0, 0.02, vehicles)  # m/s, 1/m
    heading, middle = rng.uniform(-np.pi, np.pi, vehicles), rng.uniform(-0.5, 0.5, (vehicles, 2)) * side
    t = frames[:, None]
    way = speed * (t - seconds / 2)
    # along an arc of curvature c by s: the chord is as long as sin(c s / 2) / (c / 2), half way round
    chord = np.sinc(curve * way / (2 * np.pi)) * way
    x, y = (middle[:, k] + chord * f(heading + curve * way / 2) for k, f in enumerate((np.cos, np.sin)))
    seen = (
        (t >= begin)
        & (t <= begin + rng.uniform(0.5, 1.5, vehicles) * seconds)
        & (rng.uniform(size=x.shape) >= LOST)
    )
    names = np.array([f"{list(KINDS)[of]} {number}" for number, of in enumerate(kind)])
    columns = {
        "id": names, "time": t, "x": x, "y": y, "yaw": heading + curve * way,
        "length": size[:, 0], "width": size[:, 1], "height": size[:, 2],
    }  # fmt: skip
    return {name: np.broadcast_to(values, x.shape)[seen] for name, values in columns.items()}


def who_hits_whom(table, motion="body"):
    """The recording of a table, and the meetings and near misses in it."""
    recording = gc.Recording.from_table(table)
    return recording, gc.events(recording, motion=motion)


def main(arguments):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("vehicles", nargs="?", type=int, default=200, help="how many (default: 200)")
    parser.add_argument("--seconds", type=float, default=30.0, help="of the recording (default: 30)")
    parser.add_argument("--motion", choices=["body", "relative"], default="body")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--page", metavar="FILE", help="write a page for a browser (.html)")
    asked = parser.parse_args(arguments)
    table = town(asked.vehicles, asked.seconds, seed=asked.seed)
    try:
        import pandas
    except ImportError:
        pass
    else:
        table = pandas.DataFrame(table)
    who_hits_whom(town(4, 1.0), asked.motion)  # the first call builds kernels
    begin = time.perf_counter()
    recording, found = who_hits_whom(table, asked.motion)
    print(f"{len(table['id']):,} rows, {recording}: {time.perf_counter() - begin:.2f} s\n{found}")
    for e in found[found.kind == gc.EventKind.COLLISION][:10]:
        sides = " on ".join(gc.Side(e[name]).name.lower() for name in ("side_a", "side_b"))
        speed = f"{e['closing_speed']:5.1f} m/s"
        print(f"{e['time']:6.2f} s  {e['id_a']:>8} and {e['id_b']:<8} close at {speed}, {sides}")
    if asked.page:
        gc.view.page(found, recording, asked.page)


if __name__ == "__main__":
    main(sys.argv[1:])
