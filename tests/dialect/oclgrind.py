"""The OpenCL text in Oclgrind's simulator: `python -m tests.dialect.oclgrind`.

A sample of all stages, in groups of 8 and of 64 work-items, where barriers count: data races, barriers that a
group meets apart, accesses outside a buffer, and what depends on memory that was never written. Results must
have the bits of `cpu`. Anything that Oclgrind says is a failure. Needs Oclgrind (Debian/Ubuntu: apt install
oclgrind) and PyOpenCL. Why it is asked as it is: docs/decisions/0044-oclgrind.md.
"""

import argparse
import functools
import os
import re
import shutil
import sys
import tempfile
import time
from pathlib import Path

from tests.support import processes

ROOT = Path(__file__).resolve().parents[2]
SIZES = (8, 64)
LIMIT = 3000.0  # seconds of a group size
# -cl-opt-disable: the simulator does not know all that Clang's optimiser writes. One thread: reports of a run
# are in its order.
OPTIONS = (
    "--build-options", "-cl-opt-disable", "--data-races", "--uniform-writes", "--uninitialized",
    "--num-threads", "1",
)  # fmt: skip
# Tests of kernels that no query on OpenCL launches, or not alone.
TESTS = ("tests/upload", "tests/dialect/test_every_macro.py", "tests/mesh/test_m01_patches.py",
         "tests/mesh/test_m02_nodes.py", "tests/mesh/test_m03_cones.py", "tests/mesh/test_m04_order.py",
         "tests/pluecker/test_twofold.py")  # fmt: skip
# Those of many work-items, as groups have in the simulator; on `cpu` one launch takes their place.
OF_MANY = ("s01_long", "s07_find", "s07_test", "s07_last")
# What neither launches: for many bodies at one place, many rays, and screens that OpenCL does not take.
NOT_LOOKED_AT = ("b04_row", "w01_keys", "screen_first", "screen_small")


def found():
    """Path of Oclgrind's command, or None."""
    return shutil.which("oclgrind")


def simulated(command, size, seconds=LIMIT):
    """Exit code, output and Oclgrind's report of a Python command in the simulator."""
    environment = {
        **os.environ,
        "GPU_COLLIDE_TEST_BACKENDS": "opencl",
        "GPU_COLLIDE_REQUIRE_BACKENDS": "opencl",
        "GPU_COLLIDE_OPENCL_DEVICE": "oclgrind",
        "GPU_COLLIDE_CHECK": "0",
        "OCLGRIND_GROUP": str(size),
        "PYTHONPATH": os.pathsep.join([str(ROOT), *(p for p in sys.path if p)]),
    }
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "log")
        whole = [found(), *OPTIONS, "--log", str(log), sys.executable, *command]
        code, text = processes.run(whole, seconds, ROOT, environment)
        return code, text, log.read_text(errors="replace").strip() if log.is_file() else ""


def pytest_configure():
    """As a plugin of pytest, in the simulator."""
    prepare(int(os.environ["OCLGRIND_GROUP"]))


def prepare(size):
    """Groups of `size` work-items, and two ways round what Oclgrind 21.10 does not follow: it takes a buffer
    that was filled for one never written, and so most of one that has an address of another before."""
    import numpy as np
    import pyopencl

    from gpu_collide.backends import opencl

    def fill(backend, buffer, value):
        return backend.write(buffer, np.full(buffer.shape, value, buffer.dtype))

    opencl.OpenclBackend.fill = fill
    opencl.OpenclBackend = functools.partial(opencl.OpenclBackend, group_size=size)
    make, held = pyopencl.Buffer, []

    def kept(*arguments, **keywords):
        held.append(make(*arguments, **keywords))
        return held[-1]

    pyopencl.Buffer = kept


def queries(pairs):
    """Yield name and a function of the backend's name: every stage that queries launch."""
    import gpu_collide as gc
    from tests.acceptance.stored_bits import of_contacts
    from tests.oracle.scenes import FAMILIES
    from tests.support import worlds

    choices = {
        "exact": dict(),
        "own": dict(motion="body"),
        "distance": dict(target_distance=0.1),
        "rows": dict(tuning=gc.Tuning(candidates="raster"), resolution=3),
        "segments": dict(refine="segments", resolution=4, precision="single"),
        "pixels": dict(refine="pixels", resolution=4, precision="double"),
        "near": dict(tuning=gc.Tuning(features="near"), check_start=True),
        "first": dict(tuning=gc.Tuning(filters=("plane",)), contacts="first", min_properness=-1.0),
    }
    names = [name for name in FAMILIES if "tori" not in name]
    for number, (name, options) in enumerate(choices.items()):
        for family in names[number :: len(choices)]:
            scene = FAMILIES[family](number, pairs)

            def collide(backend, scene=scene, options=options):
                return of_contacts(gc.collide(scene.bodies(), scene.pairs, backend=backend, **options))

            yield f"{family} {name}", collide
    bodies = worlds.with_terrain(worlds.drift(1, 24, side=8.0, height=2.0), 10.0)
    yield (
        "terrain",
        lambda backend: of_contacts(gc.collide(bodies, tuning=gc.Tuning(features="near"), backend=backend)),
    )
    yield (
        "bisection",
        lambda backend: gc.baselines.bisection(bodies, [[0, 1], [2, 3]], backend=backend).time.tobytes(),
    )
    yield from of_clearance(pairs)
    yield from _of_hulls(pairs)
    yield from _of_movers(pairs)
    yield from _of_sweeps(pairs)
    yield from _of_primitives(pairs)


def _of_primitives(pairs):
    """Lines, and single features that meet."""
    import numpy as np

    from gpu_collide import pluecker
    from tests.acceptance.stored_worlds import primitives

    a, b = np.random.default_rng(3).normal(size=(2, 4 * pairs, 3))
    yield "line", lambda backend: pluecker.line(a, b, backend=backend).tobytes()
    lines = pluecker.line(a, b, backend="cpu")
    yield "side", lambda backend: pluecker.side(lines, lines[::-1], backend=backend).tobytes()
    for name, _, query in primitives(4 * pairs):
        yield name, query


def _arrays(result):
    """The bytes of all arrays of a result."""
    return [(name, value.tobytes()) for name, value in vars(result).items() if hasattr(value, "tobytes")]


def of_clearance(pairs):
    """The least distance of pairs, and the depth of some that overlap: convex, not convex, clean through."""
    import numpy as np

    import gpu_collide as gc
    from gpu_collide.scenes import random_impacts
    from tests.acceptance.stored_bits import of_contacts

    shapes = [gc.shapes.box(), gc.shapes.l_block(), gc.shapes.box((6.0, 0.2, 0.2))]
    upright = np.tile([1.0, 0, 0, 0], (len(shapes), 1))
    heap = gc.Poses.from_quat_wxyz([[0, 0, 0], [0.6, 0.1, 0.2], [0.2, 0.3, 0.1]], upright)
    bodies = gc.Bodies(shapes, [0, 1, 2], heap, heap)
    asked = [[0, 1], [0, 2], [1, 2]]
    yield "depth", lambda backend: _arrays(gc.clearance(bodies, asked, at=0.0, regions=True, backend=backend))
    passing = random_impacts(shapes[0], shapes[1], pairs, seed=5)
    for motion in ("relative", "body"):

        def clearance(backend, motion=motion):
            return _arrays(gc.clearance(*passing, motion=motion, backend=backend))

        yield f"clearance {motion}", clearance
    yield "far", lambda backend: _arrays(gc.clearance(*passing, max_distance=0.1, backend=backend))
    yield (
        "manifolds",
        lambda backend: _arrays(gc.contacts_at(bodies, margin=0.1, backend=backend).manifolds()),
    )
    balls = random_impacts(gc.shapes.sphere(0.5), gc.shapes.sphere(0.3), pairs, seed=6)
    yield "spheres", lambda backend: of_contacts(gc.collide(*balls, backend=backend))
    frusta = random_impacts(gc.shapes.cylinder(0.5, 1.0), gc.shapes.cone(0.5, 1.0), pairs, seed=7)
    yield "frusta", lambda backend: of_contacts(gc.collide(*frusta, contacts="first", backend=backend))
    mixed = gc.Bodies(
        [shapes[1], gc.shapes.cylinder(0.5, 1.0), gc.shapes.cone(0.5, 1.0)], [0, 1, 2], heap, heap
    )
    yield (
        "frusta at a pose",
        lambda backend: _arrays(gc.contacts_at(mixed, margin=0.1, backend=backend).manifolds()),
    )
    at = np.eye(4) + np.outer([0, 0, 0.3, 0], [0, 0, 0, 1])
    box = gc.shapes.box((0.1, 0.1, 0.2)), at
    joints = [gc.Joint("a", "revolute", "base", "one", axis=[0, 0, 1])]
    joints += [
        gc.Joint("b", "prismatic", "one", "two", at, [1, 0, 0]),
        gc.Joint("c", "revolute", "two", "three", at),
    ]
    robot = gc.Robot(joints, {"base": box, "one": box, "two": box, "three": box})
    yield "edges", lambda backend: _arrays(robot.edges([[0, 0, 0]], [[1, 0.2, 2]], backend=backend))


def _of_hulls(pairs):
    """First contacts between hulls, also of boxes, and of trees of vertices."""
    import gpu_collide as gc
    from gpu_collide.pipeline.narrow_phase import plan
    from gpu_collide.scenes import random_impacts
    from tests.acceptance.stored_bits import of_contacts

    ball, round_, box = gc.shapes.icosphere(1), gc.shapes.icosphere(2), gc.shapes.box()
    for name, a, b in (("balls", ball, ball), ("ball and box", ball, box), ("large", round_, ball)):
        bodies, asked = random_impacts(a, b, pairs, seed=5)

        def collide(backend, bodies=bodies, asked=asked):
            limits = plan.LIMITS
            plan.LIMITS = limits._replace(hulls_alone=0, hulls=0)  # small ones, too
            try:
                return of_contacts(gc.collide(bodies, asked, contacts="first", backend=backend))
            finally:
                plan.LIMITS = limits

        yield f"hulls of {name}", collide


def _of_sweeps(pairs):
    """Casts, the planes around characters, their ways clipped, and their steps."""
    import numpy as np

    import gpu_collide as gc
    from tests.sweep import _scenes
    from tests.sweep.test_w03_planes import world

    for function, (*given, scene), more in _scenes.sweeps(5, 2 * pairs, bodies=3):
        for hits in ("first", "all") if function.__name__ == "spheres" else ("first",):

            def cast(backend, function=function, given=given, scene=scene, more=more, hits=hits):
                return _arrays(function(*given, scene, hits=hits, backend=backend, **more))

            yield f"{function.__name__} {hits}", cast
    rng = np.random.default_rng(7)
    room = world(gc.shapes.box((8, 8, 8)).flip(), gc.shapes.box((1, 1, 0.5)), to=[[0, 0, 0], [0.2, 0, 0]])
    place, radii = rng.uniform(-2, 2, (2 * pairs, 3)), rng.uniform(0.2, 0.5, (2 * pairs, 3))
    way, gravity = rng.normal(size=(2 * pairs, 3)), {"gravity": [0, 0, -2.5], "step_height": 0.25}
    yield "planes", lambda backend: _arrays(gc.sweep.planes(room, place, radii, 1.5, backend=backend))
    yield (
        "slide",
        lambda backend: _arrays(gc.sweep.slide(room, place, radii, way, backend=backend, **gravity)),
    )
    normal, offsets = rng.normal(size=(4 * pairs, 3)), np.arange(2 * pairs + 1) * 2
    normal /= np.linalg.norm(normal, axis=1)[:, None]
    yield "clip", lambda backend: _arrays(gc.sweep.clip(way, normal, offsets, backend=backend))


def _of_movers(pairs):
    from gpu_collide.queries import pluecker
    from tests.pluecker import _crowds

    movers, world, way, turn = _crowds.crowd(7, n=2 * pairs, bodies=3, spread=2.0)

    def bits(trace, fields=_crowds.FIELDS):
        return [getattr(trace, name).tobytes() for name in fields]

    yield "translate", lambda backend: bits(pluecker.translate(movers, world, way, backend=backend))
    yield "rotate", lambda backend: bits(pluecker.rotate(movers, world, *turn, backend=backend))
    near = _crowds.still(_crowds.BOX, [[0.2, 0.3, 1.001], [0.1, 0.9, -0.2]][:pairs])
    points = _crowds.POINT_FIELDS
    yield "contacts", lambda backend: bits(pluecker.contacts(near, world, 0.5, backend=backend), points)


def inside(size, pairs, only=""):
    """In the simulator: the queries, whose bits must be those of `cpu`."""
    prepare(size)
    bad = []
    for name, query in queries(pairs):
        if not re.search(only, name):
            continue
        begun = time.perf_counter()
        if query("opencl") != query("cpu"):
            bad.append(name)
        print(f"{name}: {time.perf_counter() - begun:.1f} s", flush=True)
    print(f"{len(bad)} queries have other bits than on cpu{': ' + ', '.join(bad) if bad else ''}", flush=True)
    return 1 if bad else 0


def main(argv=None):
    parser = argparse.ArgumentParser(
        prog="python -m tests.dialect.oclgrind", description=__doc__.splitlines()[0]
    )
    add = parser.add_argument
    add("--size", type=int, action="append", help="work-items a group; default 8 and 64")
    add("--pairs", type=int, default=2, help="pairs of each family; default 2")
    add("--only", default="", help="a pattern: queries whose names have it, and no tests")
    add("--inside", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args(argv)
    if options.inside:
        return inside(options.inside, options.pairs, options.only)
    if found() is None:
        print("needs oclgrind (Debian/Ubuntu: apt install oclgrind)", file=sys.stderr)
        return 2
    bad = False
    for size in options.size or SIZES:
        own = [
            "-m",
            "tests.dialect.oclgrind",
            "--inside",
            str(size),
            "--pairs",
            str(options.pairs),
            "--only",
            options.only,
        ]
        tests = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "tests.dialect.oclgrind",
                 "-k", "opencl", *TESTS]  # fmt: skip
        for what, command in (("queries", own), ("tests", tests))[: 1 if options.only else 2]:
            begun = time.perf_counter()
            code, text, report = simulated(command, size)
            wrong = code != 0 or report
            bad = bad or bool(wrong)
            print(text[-6000:] + report[:6000] if wrong else text.strip().splitlines()[-1])
            print(f"groups of {size}, {what}: {'FAILED' if wrong else 'clean'}, "
                  f"{time.perf_counter() - begun:.0f} s", flush=True)  # fmt: skip
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
