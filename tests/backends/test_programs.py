"""Programs: what is built when, once, side by side; and that C and Python agree about records."""

import threading

import numpy as np
import pytest

from gpu_collide.backends import declarations, sources
from gpu_collide.backends.builds import Builds
from gpu_collide.errors import KernelCompileError


def test_a_program_has_its_own_kernels_only(backend):
    module = backend.module("bvh", "mixed")
    assert set(module) == set(declarations.parse(sources.program("bvh")))
    assert backend.module("bvh", "mixed") is module and backend.module(("bvh",), "mixed") is module
    with pytest.raises(KeyError, match="no kernel named 's07_solve'; there are b01_bodies"):
        module.kernel("s07_solve")
    with pytest.raises(KeyError, match="no program named 'solver'"):
        backend.module("solver", "mixed")


def test_programs_together_are_built_once(backend, monkeypatch):
    texts, build = [], backend._build
    monkeypatch.setattr(backend, "_build", lambda text, *rest: texts.append(text) or build(text, *rest))
    both = backend.module(("bvh", "overlap"), "single")
    one, other = backend.module("bvh", "single"), backend.module("overlap", "single")
    assert dict(both) == {**one, **other} and set(one).isdisjoint(other)
    assert len(texts) == len(set(texts)) <= 2
    assert one.seconds() == other.seconds() == 0.0


def test_records_lie_in_c_where_python_has_them(backend):
    """Every column of every record, by a kernel that writes down its places."""
    places = [
        (f"GC_{name.upper()}_{column}", offset)
        for name, record in declarations.records(sources.source()).items()
        for column, offset in record.offsets.items()
    ]
    programs = [
        name
        for program in (
            "near_faces",
            "screen",
            "first_contact",
            "mesh",
            "translate",
            "rotate",
            "contacts",
            "sweep",
            "characters",
            "manifolds",
            "frusta",
            "robots",
        )  # fmt: skip
        for name in sources.PROGRAMS[program]
    ]
    files = sources.resolve(programs, sources.known())
    headers = [name for name in files if name.endswith(".h")]
    body = "".join(f"    out[{k}] = {place};\n" for k, (place, _) in enumerate(places))
    text = sources.joined(*headers, "tree/gc_bvh.h")
    text += f"GC_KERNEL void s00_places(int n, GC_GLOBAL int *out)\n{{\n    if (n < 1) return;\n{body}}}\n"
    out = backend.fill(backend.empty(len(places), "i4"), -1)
    backend.launch(backend.compile(text)["s00_places"], 1, 1, n=1, out=out)
    assert backend.to_host(out).tolist() == [offset for _, offset in places]
    assert len(places) > 150


def test_a_record_that_does_not_fit_its_stride_does_not_compile(backend):
    record = """
#define GC_TIGHT_STRIDE {}
#define GC_TIGHT_COLUMNS(ONE, MANY, X) ONE(X, a) MANY(X, b, 3)
GC_RECORD(GC_TIGHT)
GC_KERNEL void s00_tight(int n, GC_GLOBAL int *out)
{{
    out[0] = n;
}}
"""
    text = sources.joined("common/gc_types.h")
    assert backend.compile(text + record.format(4))["s00_tight"]
    with pytest.raises(KernelCompileError):
        backend.compile(text + record.format(3))


# ---- several at a time


def test_builds_run_side_by_side():
    both = threading.Barrier(2, timeout=20)
    builds = Builds(lambda name: (both.wait(), name)[1], at_once=2)
    assert builds.all([("a",), ("b",)]) == ["a", "b"]
    assert builds.missing([("a",), ("c",)]) == [("c",)] and sorted(builds.made()) == ["a", "b"]


def test_builds_run_one_by_one_unless_told_otherwise():
    threads = []
    builds = Builds(lambda name: threads.append(threading.current_thread()) or name)
    assert builds.all([("a",), ("b",), ("a",)]) == ["a", "b", "a"]
    assert threads == [threading.current_thread()] * 2


def test_all_who_ask_at_once_get_what_was_built_once():
    made, got = [], []
    builds = Builds(lambda k: made.append(k) or object(), at_once=3)
    keys = [(k,) for k in range(5)]
    threads = [threading.Thread(target=lambda: got.append(builds.all(keys))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(made) == list(range(5)) and all(x == got[0] for x in got) and len(got) == 8


@pytest.mark.parametrize("at_once", [1, 2, 4])
def test_what_fails_is_told_and_tried_anew(at_once):
    bad = {"b"}

    def make(name):
        if name in bad:
            raise KernelCompileError(f"{name} is wrong")
        return name

    builds, keys = Builds(make, at_once), [(k,) for k in "abcd"]
    with pytest.raises(KernelCompileError, match="b is wrong"):
        builds.all(keys)
    bad.clear()
    assert builds.all(keys) == list("abcd")


def test_results_do_not_depend_on_what_is_in_a_program(backend):
    """The same kernel out of its program and out of one text of everything it needs and more."""
    n = 300
    boxes = np.random.default_rng(1).normal(size=(n, 6))
    boxes = backend.to_device(
        np.concatenate([boxes[:, :3], boxes[:, :3] + np.abs(boxes[:, 3:])], axis=1).reshape(-1)
    )
    keys = []
    for module in (
        backend.module("bvh", "mixed"),
        backend.compile(sources.joined("broad_phase/b02_keys.c"), "mixed"),
    ):
        out = backend.empty(n, "i8")
        backend.launch_items(
            module["b02_keys"], n, n=n, bits=20, ranked=0, origin_x=-4.0, origin_y=-4.0, origin_z=-4.0,
            per_length=2.0**20 / 8, boxes_in=boxes, rank_in=backend.empty(1, "i4"), keys_out=out,
        )  # fmt: skip
        keys.append(backend.to_host(out))
    assert np.array_equal(*keys)
