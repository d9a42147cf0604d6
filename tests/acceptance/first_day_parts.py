"""What `first_day` runs in processes of their own: `python -m tests.acceptance.first_day_parts PART`.

A part that is interrupted, since its time is over, says what it has done so far.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import shutil
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor

import numpy as np

import gpu_collide as gc
from gpu_collide.backends import get_backend, nvrtc, sources
from gpu_collide.errors import BackendUnavailableError
from gpu_collide.scenes import random_impacts
from tests.acceptance import stored_bits
from tests.acceptance.first_day import NOTHING, SECONDS
from tests.oracle.scenes import FAMILIES
from tests.pluecker import _crowds
from tests.ptx import install
from tests.support.worlds import drift, with_terrain

FAMILIES_SHARE = 0.6  # of the time there is for bits; what comes before it takes the rest
MOST_BUILDERS = 16  # processes, each of which has some hundred MB of the GPU
CHUNK = 2000  # pairs that are made and compared at a time
OPTIONS = (
    {}, {"precision": "double", "tuning": gc.Tuning(candidates="raster"), "resolution": 6.0},
    {"precision": "single"},
    {"tuning": gc.Tuning(features="near", filters="none")}, {"refine": "segments", "resolution": 6.0},
    {"refine": "pixels", "resolution": 6.0}, {"contacts": "first", "tuning": gc.Tuning(filters=("plane",))},
)  # fmt: skip


def device(options):
    """What is there, and all programs built."""
    backend = get_backend("cuda")  # raises with the reason if there is none
    import cupy

    print(f"{backend.device}; CuPy {cupy.__version__}, NVRTC {nvrtc.version()}, NumPy {np.__version__}, "
          f"Python {sys.version.split()[0]}, {os.cpu_count()} processors")  # fmt: skip
    try:
        asked = ["nvidia-smi", "--query-gpu=name,driver_version,memory.total,clocks.max.sm,power.limit",
                 "--format=csv,noheader"]  # fmt: skip
        print(subprocess.run(asked, capture_output=True, text=True, timeout=30).stdout.strip())
    except (OSError, subprocess.TimeoutExpired) as error:
        print(f"nvidia-smi: {error}")
    for found in gc.devices():
        print(f"  {found}")
    sys.stdout.flush()
    precisions = ("mixed",) if options.small else ("mixed", "double", "single")
    _build_all(precisions)
    for precision in precisions:
        begun = time.perf_counter()
        for program in sources.PROGRAMS:
            backend.module(program, precision)
        print(
            f"all {len(sources.PROGRAMS)} programs in {precision} loaded: {time.perf_counter() - begun:.1f} s"
        )
    print(f"groups of {backend.group_size} and {backend.item_group_size}, "
          f"{backend.reserved_bytes >> 20} MB of stack reserved")  # fmt: skip
    return 0


def _build_all(precisions):
    """Build what is not kept yet, in a process for each processor: one after the other they take minutes."""
    begun = time.perf_counter()
    wanted = [(name, precision) for precision in precisions for name in sources.PROGRAMS]
    wanted.sort(key=lambda what: -len(sources.program(what[0])))  # the longest first
    processors = min(os.cpu_count() or 1, MOST_BUILDERS, len(wanted))
    with ProcessPoolExecutor(processors, multiprocessing.get_context("spawn"), _begin) as pool:
        seconds = list(pool.map(_build, wanted))
    longest = max(zip(seconds, wanted, strict=True))
    print(f"{len(wanted)} programs built in {time.perf_counter() - begun:.1f} s by {processors} processes, "
          f"{sum(seconds):.1f} s in all; the longest: {' in '.join(longest[1])}, {longest[0]:.1f} s",
          flush=True)  # fmt: skip


def _begin():
    if install.wanted():
        install.install()


def _build(what):
    """Seconds that a program takes to be built and kept."""
    begun = time.perf_counter()
    get_backend("cuda").module(*what)
    return time.perf_counter() - begun


def bits(options):
    """Stored results, then families of random pairs and moves, on `cuda` and on `cpu`."""
    chosen = dict(list(stored_bits.SHAPES.items())[:1]) if options.small else None
    differ, other, seen = _stored("cuda", chosen)
    print(f"stored results: {seen} compared, {len(differ)} differ ({', '.join(differ) or 'none'}), "
          f"{len(other)} have other inputs here", flush=True)  # fmt: skip
    try:
        get_backend("cpu")
    except BackendUnavailableError as error:
        print(f"random pairs: nothing to compare with: {error}")
        return 1
    rows = Rows(options.seconds / (len(FAMILIES) + 2))
    try:
        for number, name in enumerate(FAMILIES):
            rows.family(name, number, 8 if options.small else CHUNK, bool(options.small))
        rows.compare("worlds", _world(8 if options.small else 400))
        rows.compare("movers", _moves(6 if options.small else 2000))
    except KeyboardInterrupt:
        rows.bad.append("ended before all families were done")
    print(f"{rows.pairs:,} pairs, {rows.contacts:,} contacts and moves compared, {len(rows.bad)} wrong"
          f"{': ' + '; '.join(rows.bad) if rows.bad else ''}")  # fmt: skip
    return 1 if rows.bad or differ or not seen else 0


def _stored(backend, chosen=None):
    """As `stored_bits.compare`; of chosen shapes alone, if any."""
    if chosen is None:
        return stored_bits.compare(backend)
    stored = json.loads(stored_bits.STORED.read_text())
    differ, other, seen = [], [], 0
    for name, inputs, query in stored_bits.cases():
        if name.split(" ")[0] in chosen:
            if stored[name]["inputs"] != inputs:
                other.append(name)
                continue
            seen += 1
            if query(backend) != stored[name]["result"]:
                differ.append(name)
    return differ, other, seen


class Rows:
    """Lines of the page, a family each. `seconds` is what a family may take."""

    def __init__(self, seconds):
        self.seconds, self.pairs, self.contacts, self.bad = seconds, 0, 0, []
        print(f"{'family':<20}{'pairs':>10}{'contacts':>12}{'differ':>8}", flush=True)

    def family(self, name, number, chunk, once):
        """Random pairs of a family, chunk by chunk, with one set of options after the other."""
        begun, k, pairs, contacts, differ = time.monotonic(), 0, 0, 0, []
        while k == 0 or (not once and time.monotonic() - begun < self.seconds):
            scene = FAMILIES[name](1000 * k + number, chunk)
            bodies, asked = scene.bodies(), OPTIONS[k % len(OPTIONS)]
            found, want = (
                gc.collide(bodies, scene.pairs, backend=b, results="host", **asked) for b in ("cuda", "cpu")
            )
            if wrong := differing(found, want):
                differ.append(f"{name} {asked}: {', '.join(wrong)}")
            pairs, contacts, k = pairs + len(scene.pairs), contacts + len(want), k + 1
        self._row(name, pairs, contacts, differ)

    def compare(self, name, both):
        """A row of several queries: what each is, its arrays that differ, how many results it had."""
        both = list(both)
        differ = [f"{name} {what}: {', '.join(wrong)}" for what, wrong, _ in both if wrong]
        self._row(name, 0, sum(n for *_, n in both), differ)

    def _row(self, name, pairs, contacts, differ):
        if not contacts and name in ("worlds", "movers"):
            differ = [*differ, f"{name}: nothing was found"]
        self.pairs, self.contacts, self.bad = self.pairs + pairs, self.contacts + contacts, self.bad + differ
        print(f"{name:<20}{pairs:>10,}{contacts:>12,}{len(differ):>8}", flush=True)


def differing(found, want, fields=None):
    """Names of the arrays of two results that differ in any bit."""
    names = fields or [name for name, value in vars(want).items() if isinstance(value, np.ndarray)]
    return [k for k in names if np.asarray(getattr(found, k)).tobytes() != getattr(want, k).tobytes()]


def _world(n):
    """Bodies over a terrain: broad phase and near faces."""
    bodies = with_terrain(drift(1, n, side=4.0 * n ** (1 / 3), height=2.0), 3.0 * n ** (1 / 3))
    for what, asked in (
        ("all", {}),
        ("near", {"tuning": gc.Tuning(features="near")}),
        ("rows", {"tuning": gc.Tuning(candidates="raster")}),
    ):
        found, want = (gc.collide(bodies, backend=b, results="host", **asked) for b in ("cuda", "cpu"))
        yield what, differing(found, want), len(want)
    found, want = (gc.find_pairs(bodies, backend=b) for b in ("cuda", "cpu"))
    yield "pairs", [] if found.tobytes() == want.tobytes() else ["pairs"], len(want)


def _moves(n):
    """Movers in a still world: translations, rotations and places where they are near."""
    from gpu_collide.queries.pluecker import contacts, rotate, translate

    movers, world, way, turn = _crowds.crowd(
        1, n=n, movers=(_crowds.CAR, _crowds.BOX, _crowds.TORUS), bodies=12
    )
    asked = {
        "translate": lambda b: translate(movers, world, way, backend=b),
        "rotate": lambda b: rotate(movers, world, *turn, backend=b),
    }
    for what, query in asked.items():
        yield what, differing(query("cuda"), query("cpu"), _crowds.FIELDS), n
    found, want = (contacts(movers, world, 0.05, backend=b) for b in ("cuda", "cpu"))
    yield "contacts", differing(found, want, _crowds.POINT_FIELDS), len(want)


def opencl(options):
    """Stored results on the OpenCL that GPU_COLLIDE_OPENCL_DEVICE names."""
    try:
        backend = get_backend("opencl")
    except BackendUnavailableError as error:
        print(str(error).splitlines()[0])
        return NOTHING
    differ, other, seen = stored_bits.compare("opencl")
    print(f"{backend.device}: {seen} stored results compared, {len(differ)} differ "
          f"({', '.join(differ) or 'none'}), {len(other)} have other inputs here")  # fmt: skip
    return 1 if differ or not seen else 0


def few(options):
    """A few pairs of each kind of work, every buffer an allocation of its own: for compute-sanitizer."""
    backend = get_backend("cuda")
    if not install.wanted():
        import cupy

        cupy.cuda.set_allocator(None)  # what CuPy's pool hands out are parts of one allocation
    names = [name for name in FAMILIES if name != "random_tori"]
    begun, calls = time.perf_counter(), 0
    try:
        for number, asked in enumerate(OPTIONS):
            scene = FAMILIES[names[5 * number % len(names)]](number, 4)
            gc.collide(scene.bodies(), scene.pairs, backend="cuda", **asked)
            calls += 1
            print(f"{calls} calls, {time.perf_counter() - begun:.0f} s on {backend.device}", flush=True)
        for what, _, _ in (*_world(8), *_moves(6)):
            print(f"{what}, {time.perf_counter() - begun:.0f} s on {backend.device}", flush=True)
    except KeyboardInterrupt:
        return 1
    return 0


NCU = (
    "--csv", "--section", "SpeedOfLight", "--section", "Occupancy", "--section", "LaunchStats",
    "--section", "MemoryWorkloadAnalysis", "--section", "WarpStateStats",
)  # fmt: skip
HOT = (
    "screen|screen_small|s01_screw|s07_find|s07_test|s08_contacts|b04_fill|b05_features|p02_translate|"
    "p03_rotate"
)
NOT_ALLOWED = "ERR_NVGPUCTRPERM"  # what ncu says where the driver keeps its counters for administrators


def profile(options):
    """The hot kernels in ncu, if it is there and may read the counters: a few launches of each."""
    command = shutil.which("ncu")
    if command is None:
        print("there is no ncu on PATH")
        return NOTHING
    launches = ("--kernel-name", f"regex:^({HOT})$", "--launch-count", "40")
    done = subprocess.run(
        [command, *NCU, *launches, sys.executable, "-m", "tests.acceptance.first_day_parts", "hot"],
        capture_output=True, text=True, errors="replace",
    )  # fmt: skip
    print(done.stdout + done.stderr, flush=True)
    if NOT_ALLOWED in done.stdout + done.stderr:
        print(f"ncu may not read the GPU's counters ({NOT_ALLOWED}): an administrator can let it")
        return NOTHING
    rows = sum(line.startswith('"') for line in done.stdout.splitlines())
    print(f"{max(rows - 1, 0)} figures of ncu")
    return 1 if done.returncode or rows < 2 else 0


def hot(options):
    """Batches that fill a GPU, once each, for ncu."""
    mesh = {name: getattr(gc.shapes, name)() for name in ("box", "car", "torus")}
    for name, pairs in (("box", 200_000), ("car", 100_000), ("torus", 10_000)):
        found = gc.collide(*random_impacts(mesh[name], mesh[name], pairs, seed=1), backend="cuda")
        print(f"{pairs:,} pairs of {name}: {len(found):,} contacts", flush=True)
    for what, _, n in _moves(2000):
        print(f"{what}: {n:,}", flush=True)
    return 0


PARTS = {"device": device, "bits": bits, "opencl": opencl, "few": few, "profile": profile, "hot": hot}


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m tests.acceptance.first_day_parts")
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--small", action="store_true")
    there = FAMILIES_SHARE * float(os.environ.get(SECONDS, "100"))
    parser.add_argument("--seconds", type=float, default=there, help="of all families together")
    options = parser.parse_args(argv)
    if install.wanted():
        install.install()
    return PARTS[options.part](options)


if __name__ == "__main__":
    sys.exit(main())
