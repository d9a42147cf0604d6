"""What the kernels cost on a GPU, counted without one: NVRTC's PTX run on the processor, warp by warp.
In the cases about movers a pair is one of them, in `primitives` one of each of four tests.

Not a time: the numbers are the same on every machine with the same NVRTC, so that two versions of a kernel
can be compared without a GPU and without noise. The table is kept in bench/results/counted.csv.
"""

from __future__ import annotations

import csv
import datetime
from functools import cache
from pathlib import Path

import numpy as np

import gpu_collide as gc
from bench import lines
from bench.cases.moves import track, ways
from bench.cases.primitives import Scene as Features
from bench.report import ROOT, commit
from bench.settings import BenchError, Settings
from gpu_collide.backends import cuda, get_backend, nvrtc, sources
from gpu_collide.backends.cache import cached, digest
from gpu_collide.errors import BackendUnavailableError
from gpu_collide.scenes import random_impacts, worlds
from tests.ptx import cubin, install
from tests.ptx.counting import Counted, counting

NAME = "counted"
HELP = "instructions, lanes at work and bytes of each CUDA kernel a pair, counted without a GPU"

TABLE = ROOT / "bench" / "results" / "counted.csv"
ARCH, NVRTC = 90, 12  # what is compiled for, and by which major version
GROUPS = (32, 64)  # work-items of a group; kernels with an item a work-item have their own number
CHECKED = GROUPS[-1:]  # those that are compared alone, where nothing is written
SEED = 3
#: A kernel may cost this much more than the table has, with so little that it does not matter.
WORSE, SLIGHT = 1.02, {"instructions": 2.0, "local_bytes": 16.0, "sectors": 1.0}
KEYS = ("case", "group", "kernel")
PER_PAIR = ("instructions", "least", "executed", "single", "double", "whole", "special", "memory",
            "local_bytes", "shared_bytes", "global_bytes", "sectors", "barriers")  # fmt: skip
COLUMNS = (*KEYS, "pairs", "launches", *PER_PAIR, "use", "registers", "stack", "occupancy")


def run(settings: Settings) -> None:
    """Count, compare with the table, and write it. A run with ``--no-save`` is to compare alone: of one size
    of groups, and no registers.

    Raises
    ------
    BenchError
        NVRTC is missing; or, with ``--no-save``, a kernel is more than 2 % worse than in the table.
    """
    written = settings.results is not None
    rows = table(settings, groups=GROUPS if written else CHECKED, sizes=written)
    print(f"\n== {NAME}: NVRTC {nvrtc.version(NVRTC)}, sm_{ARCH}, {settings.precision}; per pair ==")
    _show(rows)
    about, stored = read(TABLE) if TABLE.is_file() else ({}, [])
    same = all(about.get(k) == v for k, v in _about(settings).items() if k in ("nvrtc", "precision"))
    worse = compare(rows, stored) if same else []
    for line in worse:
        print(line)
    if settings.results is not None:
        write(settings.results / TABLE.name, rows, settings)
    elif not same:
        raise BenchError(
            f"{TABLE.name} has NVRTC {about.get('nvrtc')}, {about.get('precision')}: nothing to compare with"
        )
    elif worse:
        raise BenchError(f"{len(worse)} numbers are more than 2 % worse than in {TABLE.name}")


def table(settings: Settings, cases=None, groups=GROUPS, sizes: bool = True) -> list[dict]:
    """Rows of all kernels of all cases, and of each case a sum called ``all``; with `sizes` also registers,
    stack and occupancy."""
    try:
        nvrtc.version(NVRTC)
    except BackendUnavailableError as error:
        raise BenchError(str(error)) from None
    rows = []
    with install.temporarily():
        backend = get_backend("cuda")
        usual = backend.group_size, backend.small_group_size
        try:
            for case, call in _cases(settings).items():
                for size in groups if cases is None or case in cases else ():
                    backend.group_size = backend.small_group_size = size
                    with counting():
                        call()  # so that sizes of buffers are known, and no launch is repeated
                    with counting() as counted:
                        pairs = call()
                    rows += _rows(case, backend, counted, pairs, settings.precision if sizes else None)
                    if settings.lines:
                        lines.show(case, backend.group_size, counted, pairs, settings.lines)
        finally:
            backend.group_size, backend.small_group_size = usual
    return rows


def _cases(settings):
    """By name, a call that collides and returns the number of its pairs."""
    options = {"backend": "cuda", "precision": settings.precision}

    def impacts(mesh, n, **more):
        bodies, pairs = random_impacts(mesh, n=n, seed=SEED)
        gc.collide(_steady(bodies), pairs, **more, **options)
        return n

    def traffic(n):
        bodies, world = worlds(n, 32, SEED)
        return gc.collide(_steady(bodies), world=world, **options).n_pairs

    def movers(mesh, n):
        """Moves over a hilly square: those of case `moves`, fewer."""
        rng = np.random.default_rng(SEED)
        vertices, faces, half = track(2_000, rng)
        start, way, quat = ways(rng, n, half)
        still = np.tile([1.0, 0, 0, 0], (n, 1))
        begin, end = (gc.Poses.from_quat_wxyz(*where) for where in ((start, still), (start + way, quat)))
        ground = gc.Bodies(
            gc.Mesh(_rounded(vertices), faces), None, gc.Poses.identity(1), gc.Poses.identity(1)
        )
        gc.pluecker.move(_steady(gc.Bodies(mesh, None, begin, end)), ground, **options)
        return n

    def points(n):
        """Rays over the square of `movers`, and turns of the same points through 20 degrees."""
        rng = np.random.default_rng(SEED)
        vertices, faces, half = track(2_000, rng)
        start, way, _ = map(_rounded, ways(rng, n, half))
        ground = _standing(gc.Mesh(_rounded(vertices), faces))
        gc.pluecker.translate(start, ground, way, **options)
        gc.pluecker.rotate(start, ground, 0.349066, _rounded(rng.normal(size=(n, 3))), start + way, **options)
        return n

    def resting(n):
        """Contacts of boxes that stand in the vertices of the square of `movers`, or nearly."""
        rng = np.random.default_rng(SEED)
        vertices, faces, half = track(2_000, rng)
        quat = ways(rng, n, half)[2]
        at = vertices[rng.integers(0, len(vertices), n)] + [0, 0, 0.5]
        here = gc.Poses.from_quat_wxyz(at, quat)
        boxes = _steady(gc.Bodies(gc.shapes.box(), None, here, here))
        gc.pluecker.contacts(boxes, _standing(gc.Mesh(_rounded(vertices), faces)), 0.25, **options)
        return n

    def primitives(rows, columns):
        """Each of the four tests of features, of `rows` against `columns`; a pair is one of each."""
        for name in ("vertex, way", "vertex, turn", "edges, way", "edges, turn"):
            Features(name, rows, columns, SEED).rounded(_rounded).ask(**options)
        return rows * columns

    def sweeps(n):
        """Rays and all touches of spheres over the square of `movers`."""
        rng = np.random.default_rng(SEED)
        vertices, faces, half = track(2_000, rng)
        start, way, _ = ways(rng, n, half)
        here = gc.Poses.identity(1)
        ground = gc.Bodies(gc.Mesh(_rounded(vertices), faces), None, here, here)
        gc.sweep.rays(_rounded(start), _rounded(way), ground, **options)
        gc.sweep.spheres(_rounded(start), _rounded(way), 0.25, ground, hits="all", **options)
        return n

    def characters(n):
        """Planes, clipped ways and steps of characters on the square of `movers`."""
        rng = np.random.default_rng(SEED)
        vertices, faces, half = track(2_000, rng)
        way = _rounded(ways(rng, n, half)[1])
        here = gc.Poses.identity(1)
        ground = gc.Bodies(gc.Mesh(_rounded(vertices), faces), None, here, here)
        radii = _rounded(rng.uniform(0.25, 0.5, (n, 3)))
        start = _rounded(vertices[rng.integers(0, len(vertices), n)] + radii * [0, 0, 1.2])
        near = gc.sweep.planes(ground, start, radii, 0.5, **options)
        gc.sweep.clip(way, near.normal, near.offsets, **options)
        gc.sweep.slide(ground, start, radii, way, gravity=[0, 0, -1.0], step_height=0.25, **options)
        return n

    return {
        "sweeps": lambda: sweeps(256),
        "characters": lambda: characters(64),
        "cars": lambda: impacts(gc.shapes.car(), 64),
        "tori": lambda: impacts(gc.shapes.torus(), 16),
        "cubes": lambda: impacts(gc.shapes.box(), 64),
        "turning_cars": lambda: impacts(gc.shapes.car(), 64, motion="body"),
        "turning_tori": lambda: impacts(gc.shapes.torus(), 16, motion="body"),
        "worlds": lambda: traffic(4),
        "moving_boxes": lambda: movers(gc.shapes.box((1.0, 1.6, 0.6)), 64),
        "moving_cars": lambda: movers(gc.shapes.car(), 64),
        "moving_points": lambda: points(256),
        "resting_boxes": lambda: resting(64),
        "primitives": lambda: primitives(64, 64),
    }


def _standing(mesh):
    here = gc.Poses.identity(1)
    return gc.Bodies(mesh, None, here, here)


def _steady(bodies):
    """The same with poses rounded, so that no count hangs on the last bit of this machine's sine."""
    start, end = (gc.Poses(_rounded(p.position), _rounded(p.quat_wxyz)) for p in (bodies.start, bodies.end))
    return gc.Bodies(bodies.meshes, bodies.shape, start, end)


def _rounded(x):
    return np.rint(x * 2.0**30) / 2.0**30


def _rows(case, backend, counted: Counted, pairs, precision):
    rows, sums = [], {}
    for kernel in counted.blocks:
        totals = counted.totals(kernel) | {"barriers": float(counted.barriers[kernel])}
        each = {name: totals[name] / pairs for name in PER_PAIR}
        row = {"case": case, "group": backend.group_size, "kernel": kernel, "pairs": pairs}
        row |= {"launches": counted.launches[kernel]} | each | {"use": totals["use"]}
        if precision:
            row |= _sizes(kernel, precision, counted.group_sizes[kernel])
        rows.append(row)
        for name in ("launches", *PER_PAIR):
            sums[name] = sums.get(name, 0) + row[name]
    lanes = sum(r["use"] * r["executed"] for r in rows)
    whole = {"case": case, "group": backend.group_size, "kernel": "all", "pairs": pairs}
    return [*rows, whole | sums | {"use": lanes / sums["executed"]}]


def _sizes(kernel, precision, group):
    needs = _needs(sources.program_of(kernel), precision)[kernel]
    return {
        "registers": needs.registers,
        "stack": needs.stack,
        "occupancy": cubin.occupancy(needs.registers, group, needs.shared),
    }


@cache
def _needs(program, precision):
    text = sources.program(program)
    name = f"{digest(text, precision, str(ARCH), nvrtc.version(NVRTC), 'counted')}.cubin"

    def make():
        return cuda.compile_only(ARCH, precision, text=text, major=NVRTC)

    return cached(name, make, lambda data: cubin.needs(bytes(data)))


# -- the table -----------------------------------------------------------------------------------------------
def read(path: Path) -> tuple[dict[str, str], list[dict]]:
    """A table: what it belongs to, and its rows, numbers as floats."""
    lines = path.read_text(encoding="utf-8").splitlines()
    about = dict(line[2:].split(": ", 1) for line in lines if line.startswith("# "))
    rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
    numbers = lambda r: {k: v if k in ("case", "kernel") else float(v or "nan") for k, v in r.items()}  # noqa: E731
    return about, [numbers(r) for r in rows]


def compare(rows, stored) -> list[str]:
    """What is worse than in a table, and what is not in it, in words."""
    known = {tuple(str(r[k]) if k != "group" else int(r[k]) for k in KEYS): r for r in stored}
    found = []
    for r in rows:
        key = tuple(r[k] for k in KEYS)
        if key not in known:
            found.append(f"{' '.join(map(str, key))}: not in the table; write it anew")
            continue
        for name, slight in SLIGHT.items():
            before, now = known[key][name], r[name]
            if now > before * WORSE + slight:
                found.append(f"{' '.join(map(str, key))}: {name} {before:,.1f} before, {now:,.1f} now")
    return found


def _about(settings):
    return {
        "nvrtc": nvrtc.version(NVRTC), "architecture": f"sm_{ARCH}", "precision": settings.precision,
        "commit": commit(), "gpu_collide": gc.__version__, "date": datetime.date.today().isoformat(),
        "seed": SEED,
    }  # fmt: skip


def write(path: Path, rows, settings: Settings) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", newline="", encoding="utf-8") as file:
        file.writelines(f"# {key}: {value}\n" for key, value in _about(settings).items())
        writer = csv.DictWriter(file, COLUMNS, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows({k: f"{v:.4g}" if k in ("use", "occupancy") else _plain(v) for k, v in r.items()}
                         for r in rows)  # fmt: skip
    print(f"written: {path}")


def _plain(value):
    return f"{value:.1f}" if isinstance(value, float) else value


def _show(rows):
    shown = ("instructions", "least", "double", "local_bytes", "global_bytes", "sectors", "use")
    shown += ("registers", "stack", "occupancy")
    print(f"{'case':<8}{'group':>6}  {'kernel':<14}" + "".join(f"{name:>14}" for name in shown))
    for r in rows:
        cells = (r.get(name, "") for name in shown)
        texts = (
            f"{c:.2f}" if isinstance(c, float) and c <= 1 else f"{c:,.0f}" if c != "" else "" for c in cells
        )
        print(f"{r['case']:<8}{r['group']:>6}  {r['kernel']:<14}" + "".join(f"{t:>14}" for t in texts))
