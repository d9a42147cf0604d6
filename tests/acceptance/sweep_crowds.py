"""Does a ball ever get through a closed wall? `python -m tests.acceptance.sweep_crowds`, millions of a kind.

The bodies are convex, so that it is decided by their planes alone: along the part of its path that an answer
leaves free a centre that starts outside must never be inside all planes, and one that starts within a room
never outside of any. Kinds: aimed at shared edges and corners, grazing them, in the plane of a face, from a
start in touch, between whole numbers. With `--kept FILE` what was done is written there block by block, and a
later run goes on from it.
"""

import argparse
import json
import os
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from tests.acceptance.sweep_runs import run
from tests.oracle.sweep_casts import Casts, cube, inside_out, octahedron, placed, triangulated
from tests.oracle.sweep_families import borders
from tests.support.seeds import generator

SEED = 20261122
KINDS = ("seams", "grazing", "in_plane", "in_touch", "whole")
BLOCK = 200_000
DEEP = {"single": 4e-5, "mixed": 1e-12, "double": 1e-12}  # of a path and a size of about 10


@dataclass
class Tally:
    casts: int = 0
    hits: int = 0
    through: int = 0  # centres that went into a solid, or out of the room
    deepest: float = 0.0  # of all, in units of the scene: the part of a rounding is no passage
    example: str = ""


def shape(rng, inside):
    mesh = [triangulated(cube(4)), octahedron(), cube(4)][rng.integers(3)]
    return inside_out(mesh) if inside else mesh


def planes(mesh):
    """Outward unit normals of the solid, and how far out all planes are."""
    start, flat = mesh.face_start.tolist(), mesh.face_vertices.tolist()
    corners = np.array([mesh.vertices[flat[i : i + 3]] for i in start[:-1]])
    n = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    n /= np.linalg.norm(n, axis=1)[:, None]
    out = (n * corners[:, 0]).sum(1)
    turn = np.sign(out)[:, None]  # the origin is inside
    return np.unique(np.round(n * turn, 14), axis=0), float(np.abs(out)[0])  # as far for all of these


def casts_of(kind, rng, n, inside):
    """Casts that start outside of a solid, or (`inside`) within a room."""
    mesh = shape(rng, inside)
    normals, out = planes(mesh)
    target = borders(mesh, rng, n)
    way = rng.normal(size=(n, 3))
    whole = rng.random(n) < 0.5
    way[whole] = rng.integers(-3, 4, (whole.sum(), 3))
    r = rng.choice([0.0, 0.0, 2.0**-20, 0.25, 0.5], n)
    if kind == "in_plane":
        axis = rng.integers(0, 3, n)
        way[np.arange(n), axis] = 0
    start = target - way
    if inside:
        start = rng.integers(-4, 5, (n, 3)) / 4 * rng.choice([1.0, 0.3], n)[:, None]
        way = target - start
    if kind == "grazing":
        aside = np.cross(way, rng.normal(size=(n, 3)))
        aside /= np.maximum(np.linalg.norm(aside, axis=1), 1e-9)[:, None]
        start += aside * (r * (1 + rng.choice([0, 1e-15, -1e-15, 1e-9, -1e-6], n)))[:, None]
    if kind == "whole":
        start, target = rng.integers(-7, 8, (2, n, 3)).astype(float)
        way, r = target - start, rng.integers(0, 3, n) / 2
    if kind == "in_touch":
        start = target + normals[rng.integers(0, len(normals), n)] * r[:, None] * (-1 if inside else 1)
    away = start @ normals.T - out  # in front of each plane of the solid
    if inside:
        ok = (away <= -1e-9).all(1) | ((kind == "in_touch") & (away <= 0).all(1))
    else:
        ok = (away > 1e-9).any(1) | ((kind == "in_touch") & (away >= 0).any(1))
    ok &= (way != 0).any(1)
    start, way, r = start[ok], way[ok], r[ok]
    return Casts(kind, [mesh], placed([mesh]), start, 2.5 * way, r), normals, out


def depth(casts, normals, out, time_free, inside):
    """How deep each centre gets while it is free (0 or less: never in)."""
    if inside:
        ends = casts.start + time_free[:, None] * casts.path
        return (ends @ normals.T - out).max(1)
    # when behind each plane by a rounding; a row is looked at more closely if that is so of all at once
    d, rate = casts.start @ normals.T - out, casts.path @ normals.T
    with np.errstate(divide="ignore", invalid="ignore"):
        at = (-1e-15 - d) / rate
    low = np.where(rate < 0, at, np.where((rate == 0) & (d >= -1e-15), np.inf, 0.0)).max(1)
    high = np.where(rate > 0, at, 1.0).min(1)
    rows = np.flatnonzero(np.maximum(low, 0) < np.minimum(high, time_free))
    deep = np.zeros(len(casts))
    low, high = np.maximum(low[rows], 0), np.minimum(high[rows], time_free[rows])
    for share in np.linspace(0, 1, 33):
        t = low + share * (high - low)
        deep[rows] = np.maximum(deep[rows], -(d[rows] + t[:, None] * rate[rows]).max(1))
    return deep


def block_of(kind, k, size, seed, precision, **options):
    """`Tally` of one block of casts; the odd ones are within rooms."""
    rng = generator(seed, KINDS.index(kind), k)
    inside = bool(k % 2)
    casts, normals, out = casts_of(kind, rng, size, inside)
    answer, _ = run(casts, precision=precision, **options)
    deep = depth(casts, normals, out, np.where(answer.hit, answer.time, 1.0), inside)
    bad = np.flatnonzero(deep > DEEP[precision])
    tally = Tally(len(casts), int(answer.hit.sum()), len(bad), float(deep.max(initial=0.0)))
    if len(bad):
        i = bad[0]
        what = casts.start[i].tolist(), casts.path[i].tolist(), casts.radius[i].item()
        tally.example = f"block {k} cast {i}: {what} by {deep[i]:.3g}, hit {bool(answer.hit[i])}"
    return tally


def crowd(kind, count, seed=SEED, block=BLOCK, precision="mixed", kept=None, **options):
    """`Tally` of about `count` casts; those of this kind that the file `kept` has are not run again."""
    tally, k = Tally(), 0
    done = _read(kept, kind, seed, block, precision, options)
    while tally.casts < count:
        if k not in done:
            size = block if kept else min(block, 2 * (count - tally.casts) + 100)
            done[k] = block_of(kind, k, size, seed, precision, **options)
            if kept:
                key = _key(kind, seed, block, precision, options)
                with Path(kept).open("a") as file:
                    file.write(json.dumps({"key": key, "block": k, **asdict(done[k])}) + "\n")
        part = done[k]
        k += 1
        tally.casts += part.casts
        tally.hits += part.hits
        tally.through += part.through
        tally.deepest = max(tally.deepest, part.deepest)
        tally.example = tally.example or part.example
    return tally


def _key(kind, seed, block, precision, options):
    return [kind, seed, block, precision, options.get("backend", "")]


def _read(kept, kind, seed, block, precision, options):
    """Blocks that a file has of this kind, by number."""
    if kept is None or not Path(kept).exists():
        return {}
    rows = [json.loads(line) for line in Path(kept).read_text().splitlines()]
    key = _key(kind, seed, block, precision, options)
    fields = Tally.__dataclass_fields__
    return {row["block"]: Tally(**{f: row[f] for f in fields}) for row in rows if row["key"] == key}


def main(argv=None):
    parser = argparse.ArgumentParser(
        prog="python -m tests.acceptance.sweep_crowds", description=__doc__.splitlines()[0]
    )
    add = parser.add_argument
    add("--casts", type=int, default=10_000_000, help="casts of each kind")
    add("--kind", action="append", choices=KINDS)
    add("--backend", default="cpu")
    add("--precision", choices=tuple(DEEP), default="mixed")
    add("--seed", type=int, default=SEED)
    add("--kept", help="file in which blocks that were run are kept, to go on from")
    options = parser.parse_args(argv)
    os.environ["GPU_COLLIDE_CHECK"] = "0"
    wrong, begin = 0, time.perf_counter()
    print("| kind | casts | hits | through | deepest |\n|---|---|---|---|---|")
    for kind in options.kind or KINDS:
        tally = crowd(
            kind, options.casts, options.seed, precision=options.precision, kept=options.kept,
            backend=options.backend,
        )  # fmt: skip
        print(
            f"| {kind} | {tally.casts} | {tally.hits} | {tally.through} | {tally.deepest:.2g} |", flush=True
        )
        if tally.example:
            print(tally.example)
        wrong += tally.through
    print(f"\n{wrong} through; {time.perf_counter() - begin:.0f} s")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
