"""Copies of the library with other thresholds, in which small scenes take the ways of large ones.

Which of many ways a pair is looked at follows from constants of the kernels and of `gpu_collide/pipeline/`;
everyday scenes reach few of them. None of them may change a bit of any result.
"""

import os
import re
import shutil
import sys
from pathlib import Path

from tests.support import processes

ROOT = Path(__file__).resolve().parents[2]
HUGE = 2_000_000_000
#: Where guesses of room are, and what makes them all too small.
NO_ROOM = {
    "launch/launcher.py": {"SPARE, SPARE_NEXT": "1.0, 1.0"},
    "narrow_phase/recorded_batch.py": {"FIRST_EACH, FIRST_LEAST": "1, 1", "SPARE_PAIRS": "0"},
    "narrow_phase/plan.py": {
        "    walk_alone: int": "168",
        "    walk_each: int": "1",
        "    walk_spare: int": "168",
    },
    "narrow_phase/scratch.py": {
        "NODES, MORE_NODES, ALL_NODES, GROWS": "8, 8, 1 << 19, 1.5",
        "MANY": "1",
        "FIRST": '{"hulls": (0.1, 1), "candidates": (0.1, 1), "hits": (1.0, 1024), "patches": (0.1, 1)}',
    },
}
#: Constants of `kernels/common/gc_constants.h`, by the name of a set.
KERNELS = {
    # all walks begin and are given up soon, everything is near, tiled, chorded and sorted by a heap
    "tiny": dict(
        TILED=2, CHORDED=1, AUTO_NEAR_FACES=4, AUTO_NEAR_ALWAYS=16, AUTO_NEAR_LARGE=16, AUTO_NEAR_WIDER=0,
        FIRST_FACE_PRODUCT=16, NEAR_LOOKS="GC_F(0.3)",
        FIRST_LOOKS="GC_F(0.2)", KEPT_PAGES=2,
        HULLS_ALONE_PRODUCT=HUGE, HULLS_FACE_PRODUCT=HUGE, NEAR_PAIRS=2, NEAR_MEETS=8, NEAR_FINE=2,
        SORT_BY_HEAP=4, MANY_HITS=1,
    ),
    # ... and hulls first, with room for next to nothing; near faces only of what is wider
    "hulls": dict(
        TILED=5, CHORDED=HUGE, AUTO_NEAR_FACES=6, AUTO_NEAR_ALWAYS=60, AUTO_NEAR_LARGE=60, AUTO_NEAR_WIDER=1,
        NEAR_LOOKS="GC_F(0.1)", FIRST_FACE_PRODUCT=3000, FIRST_LOOKS="GC_F(2.0)",
        KEPT_PAGES=1, HULLS_ALONE_PRODUCT=1, HULLS_FACE_PRODUCT=1,
        HULLS_TIMES=1, SLAB_ROOM=8, SLAB_MET=4, NEAR_MEETS=0,
        NEAR_FINE=0, SORT_BY_HEAP=16, MANY_HITS=6,
    ),
    # all walks go on to their end
    "deep": dict(
        TILED=12, CHORDED=300, AUTO_NEAR_FACES=1, AUTO_NEAR_ALWAYS=4, AUTO_NEAR_LARGE=4, AUTO_NEAR_WIDER=0,
        FIRST_FACE_PRODUCT=1, NEAR_WHOLE=0,
        FIRST_LOOKS="GC_F(1e5)", KEPT_PAGES=4, HULLS_ALONE_PRODUCT=HUGE,
        HULLS_FACE_PRODUCT=HUGE, NEAR_MEETS=HUGE, NEAR_FINE=0, MANY_HITS=0,
    ),
    # no way but the screen over whole meshes
    "none": dict(
        TILED=HUGE, AUTO_NEAR_FACES=HUGE, AUTO_NEAR_ALWAYS=HUGE // 4, AUTO_NEAR_LARGE=HUGE // 4,
        FIRST_FACE_PRODUCT=HUGE,
        HULLS_ALONE_PRODUCT=HUGE, HULLS_FACE_PRODUCT=HUGE, SORT_BY_HEAP=HUGE, MANY_HITS=HUGE,
    ),
}  # fmt: skip


def _put(path, pattern, text):
    """Replace the one place of a file that matches; there has to be one."""
    old = path.read_text(encoding="utf-8")
    new, n = re.subn(pattern, lambda _: text, old, flags=re.M)
    assert n == 1, (path.name, pattern, n)
    path.write_text(new, encoding="utf-8")


def copy(folder, kind):
    """The library in `folder`, with the constants of a set of `KERNELS`; guesses of room are next to nothing
    in all but "none"."""
    skip = shutil.ignore_patterns("__pycache__")
    for name in ("gpu_collide", "kernels"):
        shutil.copytree(ROOT / name, folder / name, ignore=skip)
    for name, value in KERNELS[kind].items():
        _put(
            folder / "kernels/common/gc_constants.h", rf"^#define GC_{name} .*$", f"#define GC_{name} {value}"
        )
    if kind == "none":
        return
    # lists that are taken as they are do not know their copies, which chords need: all are below GC_TILED
    _put(
        folder / "kernels/narrow_phase/screen/screen.c",
        r"!rows && !w->wraps &&",
        "!rows && !q->chords_a && !w->wraps &&",
    )
    pipeline = folder / "gpu_collide/pipeline"
    for file, values in NO_ROOM.items():
        for name, value in values.items():
            _put(pipeline / file, rf"^{name} = .*$", f"{name} = {value}")


def run(folder, *arguments, seconds):
    """Output of a command of the tests, ``python -m`` and these arguments, on the copy in `folder`.

    Kernels are built in a hurry, of which the bits are the same, and results are not looked at beside."""
    paths = os.pathsep.join((str(folder), str(ROOT)))
    hurry = {"GPU_COLLIDE_CFLAGS": "-O1", "GPU_COLLIDE_CHECK": "0"}
    environment = {**os.environ, "PYTHONPATH": paths, **hurry}
    code, text = processes.run([sys.executable, "-m", *arguments], seconds, folder, environment)
    assert code == 0, text
    return text
