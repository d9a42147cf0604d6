"""Digests of hostile scenes looked at in many ways; and those ways against each other, pair by pair.

``python -m tests.acceptance.ways FILE FIRST_SEED SEEDS [BACKEND]`` writes the digests and what was launched;
with ``littered`` for a backend all scratch is litter before each launch.
"""

import itertools
import json
import sys
import warnings
from collections import Counter

import numpy as np

import gpu_collide as gc
from gpu_collide import backends
from gpu_collide.pipeline.launch import launcher
from gpu_collide.pipeline.narrow_phase import first_contact, near_faces, recorded_batch
from tests.acceptance import lattice_scenes as lattice
from tests.acceptance.stored_digests import digest
from tests.backends.littered import Littered
from tests.fuzz.meshes import hostile
from tests.oracle.scenes import FAMILIES
from tests.support.seeds import generator
from tests.support.tuning import keywords

ROWS = (
    "kind", "feature_a", "feature_b", "time", "position", "normal", "properness", "local_a", "local_b",
    "normal_speed", "sustained", "time_end",
)  # fmt: skip
CHOICES = [
    dict(features=f, contacts=c, refine=r)
    for f in ("auto", "near", "all")
    for c in ("all", "first")
    for r in ("exact", "segments", "pixels")
]
#: Families whose scenes are slow for what they are.
HEAVY = ("random_tori", "random_small_tori")


def mixed(rng, n=14):
    """Bodies of small, dense, thin, open and hostile meshes on the grid, and some of their pairs."""
    meshes = [
        gc.shapes.box(), gc.shapes.car(), gc.shapes.torus(1.5, 0.5, 12, 8), gc.shapes.icosphere(2),
        lattice.any_shape(rng, 40).mesh(), lattice.dense_shape(rng, int(rng.integers(3, 6))).mesh(),
        hostile(rng),
    ]  # fmt: skip
    shape = rng.integers(0, len(meshes), n)
    p0 = rng.integers(-3, 4, (n, 3)).astype(float)
    p1 = p0 + rng.integers(-3, 4, (n, 3))
    q0, q1 = rng.choice(lattice.QUATS, n), rng.choice(lattice.QUATS, n)
    still = rng.random(n) < 0.4
    q1[still] = q0[still]
    poses = gc.Poses.from_quat_wxyz(p0, q0), gc.Poses.from_quat_wxyz(p1, q1)
    pairs = np.array(list(itertools.permutations(range(n), 2)))
    return gc.Bodies(meshes, shape, *poses), pairs[rng.permutation(len(pairs))[:40]]


def scene(kind, seed):
    """Bodies and pairs."""
    rng = generator(seed, 5)
    if kind == "mixed":
        return mixed(rng)
    if kind == "dense":
        a, b, start, end = lattice.dense(seed, 8, int(rng.integers(3, 7)))
        return lattice.beside(a.mesh(), b.mesh(), start, end)
    data = FAMILIES[kind](seed, 10)
    return data.bodies(), data.pairs


def kinds(seed):
    """The kinds of scenes that a seed has."""
    names = [name for name in FAMILIES if name not in HEAVY]
    return "mixed", "dense", names[seed % len(names)]


def by_pair(found):
    """What a result has of each pair: its status and first time, and the bytes of its contacts."""
    c = found.to_numpy()
    columns = [getattr(c, name) for name in ROWS]
    rows = [b"".join(column[k].tobytes() for column in columns) for k in range(len(c.time))]
    start = c.contact_start
    return [
        (int(c.status[k]), c.toi[k].tobytes(), rows[start[k] : start[k + 1]]) for k in range(len(c.status))
    ]


def first_of(some, rows):
    """Can `some` of a pair be the first contacts of all its `rows`?"""
    return some[:2] == rows[:2] and bool(some[2]) == bool(rows[2]) and set(some[2]) <= set(rows[2])


def ask(bodies, pairs, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return gc.collide(bodies, pairs, **keywords(**options))


def differences(bodies, pairs, rng, backend, common):
    """Names of ways whose pairs differ from those asked for all at once; and the digest of each way."""
    bad, digests = [], {}

    def same(name, got, wanted):
        if got != wanted:
            bad.append(
                f"{name}: pairs {[k for k, (x, y) in enumerate(zip(got, wanted, strict=True)) if x != y]}"
            )

    def told(name, found):
        c = found.to_numpy()
        digests[name] = digest(c.status, c.toi, c.contact_start, c.pair, *(getattr(c, x) for x in ROWS))
        return found

    of_pairs = {}
    for choice in CHOICES:
        options = {**common, **choice} | ({} if choice["refine"] == "exact" else {"resolution": 3.0})
        found = told(" ".join(choice.values()), ask(bodies, pairs, backend=backend, **options))
        key = choice["contacts"], choice["refine"]
        same(f"features={choice['features']} {key}", by_pair(found), of_pairs.setdefault(key, by_pair(found)))
    for refine in ("exact", "segments", "pixels"):
        some, rows = (of_pairs[contacts, refine] for contacts in ("first", "all"))
        lost = [k for k, (x, y) in enumerate(zip(some, rows, strict=True)) if not first_of(x, y)]
        bad += [f"first of all, {refine}: pairs {lost}"] if lost else []
    for contacts in ("all", "first"):
        options = {**common, "contacts": contacts, "backend": backend}
        wanted = of_pairs[contacts, "exact"]
        for more in ({"candidates": "raster", "resolution": 2.0}, {"candidates": "pairs"}):
            found = told(f"{contacts} {more['candidates']}", ask(bodies, pairs, **options, **more))
            same(f"{contacts} {more}", by_pair(found), wanted)
        order = rng.permutation(len(pairs))
        same(f"{contacts} order", by_pair(ask(bodies, pairs[order], **options)), [wanted[k] for k in order])
        some = order[: max(1, len(order) // 3)]
        same(f"{contacts} some", by_pair(ask(bodies, pairs[some], **options)), [wanted[k] for k in some])
        for k in order[:2]:
            same(f"{contacts} alone {k}", by_pair(ask(bodies, pairs[k : k + 1], **options)), [wanted[k]])
        for most in (1 << 20, 4 << 20):
            try:
                found = ask(bodies, pairs, **options, max_bytes=most)
            except gc.errors.MemoryLimitError:
                continue
            same(f"{contacts} {most} bytes", by_pair(found), wanted)
        same(f"{contacts} report", by_pair(ask(bodies, pairs, **options, report=True)), wanted)
        same(f"{contacts} kept", *kept(bodies, pairs, wanted, rng, options))
    return bad, digests


def kept(bodies, pairs, wanted, rng, options):
    """A `Scene` that is asked again and again, for few pairs, other pairs, then all: what it answers, and
    what it should."""
    options = {k: v for k, v in options.items() if k not in ("precision", "backend")} | {
        "scene": {k: options[k] for k in ("precision", "backend") if k in options}
    }
    got, should = [], []
    with gc.Scene(bodies.meshes, bodies.shape, bodies.start, bodies.end, **options.pop("scene")) as world:
        for step in range(6):
            some = rng.permutation(len(pairs))[: (1, 1, 3, 3, len(pairs), len(pairs))[step]]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)
                for _ in range(2):  # the second time on launches that are kept
                    got += by_pair(world.collide(pairs[some], **options))
                    should += [wanted[k] for k in some]
            world.update(bodies.start, bodies.end)
    return got, should


class Counted:
    """What was launched and repeated since it was entered."""

    def __enter__(self):
        n = self.n = Counter()
        room, of_run = launcher.MemoryBudget, launcher.Launcher
        filled, worked_off, launched = room.filled, room.worked_off, of_run._launch
        grown, down = recorded_batch.RecordedBatch._grown, first_contact._given_up
        near_patches = near_faces._patches

        def count_filled(self, name, n_things, fill, **more):
            def counted(capacity):
                n[f"filled {name}"] += 1
                return fill(capacity)

            n[f"asked {name}"] += 1
            return filled(self, name, n_things, counted, **more)

        def count_worked(self, todo, scratch, launch, **more):
            def counted(*args):
                n[f"worked off {scratch[0].name}"] += 1
                return launch(*args)

            n[f"todo {scratch[0].name}"] += len(todo) > 0
            return worked_off(self, todo, scratch, counted, **more)

        def count_launch(self, verb, name, *args, **more):
            n[name] += 1
            return launched(self, verb, name, *args, **more)

        def count_grown(self, lacks):
            n["kept launches repeated"] += 1
            return grown(self, lacks)

        def count_down(x, todo, *more):
            worn = down(x, todo, *more)
            n["walks"] += len(todo)
            n["walks worn"] += len(worn)
            return worn

        def count_near(x, todo):
            listed, left = near_patches(x, todo)
            if x.reads and x.plan.may_give_up(x.shapes[todo.read]).any():
                n["given up"] += len(left)
                n["not given up"] += todo.n - len(left)
            return listed, left

        self._old = [
            (room, "filled", filled), (room, "worked_off", worked_off), (of_run, "_launch", launched),
            (recorded_batch.RecordedBatch, "_grown", grown), (first_contact, "_given_up", down),
            (near_faces, "_patches", near_patches),
        ]  # fmt: skip
        new = count_filled, count_worked, count_launch, count_grown, count_down, count_near
        for (where, name, _), f in zip(self._old, new, strict=True):
            setattr(where, name, f)
        return self

    def __exit__(self, *_):
        for where, name, f in self._old:
            setattr(where, name, f)


def options_of(rng):
    """What all ways of a scene have in common."""
    return {
        "min_properness": float(rng.choice([-1.0, -0.1, 0.0, 0.5])),
        "check_start": bool(rng.integers(2)),
        "precision": str(rng.choice(["mixed", "mixed", "double", "single"])),
    }


def look(seeds, backend="cpu", which=kinds, common=None):
    """Digests by scene and way, ways that differ, and counts, of some seeds."""
    digests, bad = {}, []
    with Counted() as counted:
        for seed in seeds:
            for kind in which(seed):
                rng = generator(seed, 9)
                bodies, pairs = scene(kind, seed)
                some = common or options_of(rng)
                try:
                    wrong, found = differences(bodies, pairs, rng, backend, some)
                except Exception as error:  # told with its scene; a scene that raises is a finding
                    wrong, found = [f"{type(error).__name__}: {error}"], {}
                bad += [f"{kind} {seed} {some}: {text}" for text in wrong]
                digests |= {f"{kind} {seed} {way}": text for way, text in found.items()}
    return {"digests": digests, "bad": bad, "counts": dict(counted.n)}


#: What the everyday test asks for, of one seed.
SEED = 1
EVERYDAY = {
    "which": lambda _: ("mixed", "dense"),
    "common": {"precision": "mixed", "min_properness": -0.1, "check_start": True},
}


def main(arguments):
    if arguments[1] == "everyday":
        seeds, backend, more = [SEED], "cpu", EVERYDAY
    else:
        first, n = map(int, arguments[1:3])
        seeds, backend, more = range(first, first + n), (*arguments, "cpu")[3], {}
    if backend == "littered":
        backends._open["cpu"], backend = Littered(seeds[0]), "cpu"
    found = look(seeds, backend, **more)
    with open(arguments[0], "w", encoding="utf-8") as file:
        json.dump(found, file, indent=1)
    print(gc.__file__, f"{len(found['digests'])} digests", f"{len(found['bad'])} differ", sep="\n")
    print(*found["bad"][:20], sep="\n")


if __name__ == "__main__":
    main(sys.argv[1:])
