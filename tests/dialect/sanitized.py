"""The kernels on `cpu` under the compiler's sanitizers: `python -m tests.dialect.sanitized`.

A sample of all stages on hostile and whole-number scenes, built with AddressSanitizer and
UndefinedBehaviorSanitizer; with --thread ThreadSanitizer instead, on more threads than processors. A read or
write outside a buffer, a float that does not fit an int, two threads that write to one place: the process
ends with a report that names our file and line. Needs gcc and its libraries; .ci/run calls it each time.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FLAGS = {
    "address": "-O1 -g -fsanitize=address,undefined,float-cast-overflow -fno-sanitize-recover=all",
    "thread": "-O1 -g -fsanitize=thread",
}
LIBRARY = {"address": "libasan.so", "thread": "libtsan.so"}


def environment(cache, kind="address"):
    """Environment of a process whose kernels a sanitizer watches; None if gcc has no library for it."""
    try:
        name = LIBRARY[kind]
        found = subprocess.run(["gcc", f"-print-file-name={name}"], capture_output=True, text=True)
    except FileNotFoundError:
        return None
    library = Path(found.stdout.strip()).resolve()
    if found.returncode or not library.is_file() or not library.is_absolute():
        return None
    return {
        **os.environ,
        "CC": "gcc",
        "LD_PRELOAD": str(library),
        "ASAN_OPTIONS": "detect_leaks=0",
        "TSAN_OPTIONS": "halt_on_error=1 exitcode=66",
        "PYTHONMALLOC": "malloc",
        "GPU_COLLIDE_CFLAGS": FLAGS[kind],
        "GPU_COLLIDE_CACHE": str(cache),
        "GPU_COLLIDE_TEST_BACKENDS": "cpu",
        "GPU_COLLIDE_BACKEND": "cpu",
        "GPU_COLLIDE_THREADS": "4" if kind == "thread" else "2",
        "PYTHONPATH": os.pathsep.join([str(ROOT), *(p for p in sys.path if p)]),
    }


def _prepare():
    """The kernels of preparation, on small meshes: by themselves large ones alone take them."""
    from gpu_collide.backends import get_backend
    from gpu_collide.geometry.preparation import compiled, prepared
    from tests.mesh._meshes import meshes

    compiled.FEW_FACES = 0
    for precision, dtype in (("mixed", "f4"), ("double", "f8")):
        get_backend("cpu").module("mesh", precision)
        for mesh in meshes():
            prepared.patches_of(mesh)
            prepared.nodes_of(mesh, dtype)


def _shared(precision):
    """A bolt in its nut: one launch makes its lists, others search; the walk for near faces is given up."""
    import gpu_collide as gc
    from bench import dense_shapes
    from gpu_collide.pipeline.narrow_phase import plan

    asked, limits = {"backend": "cpu", "precision": precision, "check_start": False}, plan.LIMITS
    bolts = dense_shapes.bolt_and_nut(4000)
    bodies = dense_shapes.steps_of("bolt in nut", bolts, "impact", 1)
    plan.LIMITS = limits._replace(heavy=0)
    try:
        found = [
            len(gc.collide(bodies, [[0, 1]], tuning=gc.Tuning(features=x), **asked))
            for x in ("auto", "near", "all")
        ]
    finally:
        plan.LIMITS = limits
    if len(set(found)) > 1 or not found[0]:
        raise AssertionError(f"expected the same contacts, some, in every way, got {found}")
    return sum(found)


def sample(size, precisions):
    """Every stage in each precision: exact by pairs and by rows, the other modes, trees, overlap, halving."""
    import gpu_collide as gc
    from tests.dialect import oclgrind
    from tests.oracle.scenes import FAMILIES
    from tests.support import worlds

    slow = ("random_tori", "random_small_tori")
    families = {k: f for k, f in FAMILIES.items() if k not in slow}
    choices = (
        dict(), dict(tuning=gc.Tuning(candidates="raster"), resolution=3),
        dict(refine="segments", resolution=4),
        dict(refine="pixels", resolution=4), dict(tuning=gc.Tuning(features="near"), check_start=True),
        dict(tuning=gc.Tuning(filters=("plane",)), contacts="first", min_properness=-1.0),
        dict(max_bytes=1 << 21),
    )  # fmt: skip
    calls = contacts = 0
    for precision in precisions:
        for number, make in enumerate(families.values()):
            scene = make(number, size)
            for choice in (choices[number % len(choices)], choices[(3 * number + 1) % len(choices)]):
                found = gc.collide(scene.bodies(), scene.pairs, backend="cpu", precision=precision, **choice)
                calls, contacts = calls + 1, contacts + len(found)
        scene = FAMILIES["random_small_tori"](5, 2)
        for choice in choices[:5]:
            contacts += len(
                gc.collide(scene.bodies(), scene.pairs, backend="cpu", precision=precision, **choice)
            )
        bodies = worlds.with_terrain(worlds.drift(1, 60, side=12.0, height=2.0), 16.0)
        contacts += len(
            gc.collide(bodies, backend="cpu", precision=precision, tuning=gc.Tuning(features="near"))
        )
        gc.find_pairs(bodies, backend="cpu", precision=precision)
        gc.clearance(bodies, max_distance=0.1, backend="cpu", precision=precision)
        contacts += _shared(precision)
        calls += 10
    gc.baselines.bisection(bodies, [[0, 1], [2, 3]], backend="cpu")
    contacts += len(gc.collide(bodies, target_distance=0.1, motion="body", backend="cpu"))
    for _, query in oclgrind.of_clearance(2):
        query("cpu")
    turning = gc.Bodies(
        gc.shapes.icosphere(2), None, gc.Poses.identity(1), gc.Poses.from_yaw([[0.2, 0, 0]], 2.0)
    )
    start, way = [[0.3, 0.1, 3.0], [-3.0, 0.9, 0.2], [0, 0, 0]], [[0, 0, -5.0], [6.0, 0, 0], [1.0, 1, 1]]
    for hits in ("first", "all"):
        gc.sweep.spheres(start, way, 0.3, turning, hits=hits, turning="exact", backend="cpu")
    calls += 6
    _prepare()
    print(f"{calls} calls, {contacts} contacts, {', '.join(precisions)}", flush=True)


def main(argv=None):
    parser = argparse.ArgumentParser(
        prog="python -m tests.dialect.sanitized", description=__doc__.splitlines()[0]
    )
    add = parser.add_argument
    add("--thread", action="store_true", help="ThreadSanitizer instead of address and undefined")
    add("--pairs", type=int, help="pairs of each family; default 4, with --thread 20")
    add(
        "--precision",
        action="append",
        choices=("mixed", "double", "single"),
        help="default: mixed and single",
    )
    add("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(argv)
    precisions = options.precision or ["mixed"]
    # races need enough work for two threads to meet: of 4 pairs a known one was not seen, of 20 it was
    options.pairs = options.pairs or (20 if options.thread else 4)
    if options.inside:
        sample(options.pairs, precisions)
        return 0
    kind, begin = "thread" if options.thread else "address", time.perf_counter()
    with tempfile.TemporaryDirectory() as cache:
        env = environment(cache, kind)
        if env is None:
            print(f"needs gcc with {LIBRARY[kind]} (Debian/Ubuntu: apt install gcc)", file=sys.stderr)
            return 2
        command = [sys.executable, "-m", "tests.dialect.sanitized", "--inside", "--pairs", str(options.pairs)]
        command += [x for p in precisions for x in ("--precision", p)]
        done = subprocess.run(command, env=env, cwd=ROOT, capture_output=True, text=True)
    print(done.stdout + done.stderr[-8000:], end="")
    print(f"{kind}: {'clean' if done.returncode == 0 else 'FAILED'}, {time.perf_counter() - begin:.0f} s")
    return 1 if done.returncode else 0


if __name__ == "__main__":
    sys.exit(main())
