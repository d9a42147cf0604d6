"""`verify` finds nothing wrong where nothing is, and each of several bugs planted into the kernels, on each
backend."""

import numpy as np
import pytest

import gpu_collide as gc
import gpu_collide.backends as backends
from gpu_collide.backends import sources
from gpu_collide.checks import verify as checks
from gpu_collide.checks.families import FAMILIES
from gpu_collide.errors import BackendUnavailableError

#: Program, what is put in place of what, a family that must see it, and what is said of it.
BUGS = {
    "ends of edges are lost": (
        "solve", "c.inside = GC_MIN(a_in, b_in);", "c.inside = GC_MIN(a_in, b_in) - GC_R(0.05) * k->size;",
        "boxes", "brute force is sure of a contact that is missing",
    ),
    "places are off": (
        "solve", "c.local_a = on_face;",
        "c.local_a = gc_add(on_face, gc_scale(n_local, GC_R(1e-6) * k->size));",
        "cars", "the features touch elsewhere",
    ),
    "directions are off": (
        "solve", "n = gc_unit(cr.cross, gc_make(GC_R(0.0), GC_R(0.0), GC_R(0.0)));",
        "n = gc_unit(gc_add(cr.cross, gc_scale(x.d, GC_R(1e-4))), gc_make(GC_R(0.0), GC_R(0.0), GC_R(0.0)));",
        "cars", "another normal than the reference's",
    ),
    "features are numbered wrongly": (
        "solve", "r.vertex = fv ? fb : fa;", "r.vertex = fv ? (fb > 0 ? fb - 1 : fb) : fa;",
        "boxes", "a contact of the reference is missing",
    ),
    "rows forget records": (
        "screen", "if (!gc_records_meet(q, ra, i, rb, j)) return;",
        "if ((i & 3) == 3 || !gc_records_meet(q, ra, i, rb, j)) return;",
        "boxes", "with candidates='raster', resolution=2.0 other bits",
    ),
    "pairs are not found": (
        "bvh", "if (still && q->still && !s->still_pairs) return 0;",
        "if (still && (leaf & 1)) return 0;",
        "worlds", "the pairs are not those of the reference",
    ),
    "movers go too far": (
        "translate", "*fraction = left > GC_R(0.0) ? left / k : GC_R(0.0);",
        "*fraction = left > GC_R(0.0) ? left / k + GC_R(1e-5) : GC_R(0.0);",
        "translate", "it went into what brute force is sure of",
    ),
    "turns go too far": (
        "rotate", "else if (root - b > GC_R(0.0)) *r = c / (root - b);",
        "else if (root - b > GC_R(0.0)) *r = c / (root - b) * GC_R(1.0001);",
        "rotate", "it went into what brute force is sure of",
    ),
    "spheres sink in": (
        "sweep", "lo = GC_MAX((d - v->radius) / k, GC_R(0.0));",
        "lo = GC_MAX((d - GC_R(0.999) * v->radius) / k, GC_R(0.0));",
        "spheres", "it stops at 0.999",
    ),
    "rays slip through": (
        "sweep", "int some = (before | across | after) != 0;",
        "int some = (before | across | after) != 0 && k != corner + 2;",
        "rays", "it went through a face",
    ),
}  # fmt: skip


@pytest.fixture
def planted(monkeypatch):
    """Plant a bug: ``planted(program, old, new)``; backends are opened anew, before and behind."""
    monkeypatch.setattr(backends, "_open", {})
    monkeypatch.setenv("GPU_COLLIDE_CHECK", "0")  # or that would find some of them first
    monkeypatch.setenv(
        "GPU_COLLIDE_CFLAGS", "-O1"
    )  # each is a build of its own, which -O3 makes twice as long
    real = sources.program

    def plant(program, old, new):
        text = real(program)
        assert old in text, f"{program} has {old!r} no more: choose another place"
        # in every program that has it: stages share functions
        monkeypatch.setattr(sources, "program", lambda name: real(name).replace(old, new))

    return plant


@pytest.mark.shared_bits("tests/acceptance/test_stored_bits.py")
def test_nothing_is_wrong(backend):
    """All families, small; what they ask is not nothing."""
    done = checks.verify(pairs=6, seed=1, backends=[backend.kind])
    assert done.ok, done.wrong
    assert [line.family for line in done.lines] == list(FAMILIES)
    sure = {line.family.name: line.judged.sure for line in done.lines}
    found = {line.family.name: line.judged.found for line in done.lines}
    assert sum(sure.values()) > 100 and sum(n > 0 for n in found.values()) > 16, (sure, found)


#: Each bug is a build of its own: these are planted every day, the others in slow runs.
EVERYDAY = ("ends of edges are lost", "movers go too far", "spheres sink in")


def _bugs(everyday):
    return [name if name in everyday else pytest.param(name, marks=pytest.mark.slow) for name in BUGS]


def _found(name, backend, planted):
    program, old, new, family, said = BUGS[name]
    planted(program, old, new)
    done = checks.verify(pairs=40, seed=2, backends=[backend.kind], families=[family])
    assert not done.ok and done.lines[0].verdicts[backend.kind] != "right"
    assert any(said in text and f"{family} on {backend.kind}" in text for text in done.wrong), done.wrong


@pytest.mark.backends("cpu", "cuda")
@pytest.mark.parametrize("name", _bugs(EVERYDAY))
def test_a_planted_bug_is_found(name, backend, planted):
    _found(name, backend, planted)


@pytest.mark.backends("opencl")
@pytest.mark.parametrize("name", _bugs(()))
def test_a_planted_bug_is_found_through_a_driver(name, backend, planted):
    _found(name, backend, planted)


@pytest.mark.backends("opencl")
def test_bits_of_one_backend_alone_are_seen(backend, monkeypatch):
    """An answer that both judges would pass, an ulp away, has other bits than the first backend's."""
    real = gc.collide

    def nudged(*args, **words):
        found = real(*args, **words).to_numpy()
        if words.get("backend") == "opencl":
            object.__setattr__(found, "properness", np.nextafter(found.properness, 2.0))
        return found

    monkeypatch.setattr(gc, "collide", nudged)
    done = checks.verify(pairs=10, seed=1, backends=["cpu", "opencl"], families=["boxes"])
    assert done.lines[0].verdicts == {"cpu": "right", "opencl": "1 wrong"}
    assert "other bits than cpu in properness" in done.wrong[0]


def test_what_fails_does_not_stop_the_others(monkeypatch):
    def broken(*args, **words):
        if words.get("backend") == "cpu":
            raise RuntimeError("the driver is lost")
        return real(*args, **words)

    real = gc.sweep.rays
    monkeypatch.setattr(gc.sweep, "rays", broken)
    done = checks.verify(pairs=4, backends=["cpu"], families=["rays", "spheres"])
    assert [line.verdicts["cpu"] for line in done.lines] == ["1 wrong", "right"]
    assert "RuntimeError: the driver is lost" in done.wrong[0]


def test_the_page_says_what_is_wrong_and_how_to_repeat_it(monkeypatch):
    done = checks.verify(pairs=4, seed=3, backends=["cpu"], families=["rays"])
    assert "all right." in checks.page(done) and "| rays | points | 4 |" in checks.page(done)
    done.wrong.append("rays on cpu: a sentence")
    assert "**1 things are wrong.**" in checks.page(done) and "- rays on cpu: a sentence" in checks.page(done)


def test_words_that_are_none():
    with pytest.raises(ValueError, match="family must be one of boxes, .* got 'cubes'"):
        checks.verify(families=["cubes"], backends=["cpu"])


def test_nothing_to_verify(monkeypatch):
    def lost(name):
        raise BackendUnavailableError(f"{name} is lost")

    monkeypatch.setattr(backends, "get_backend", lost)
    with pytest.raises(BackendUnavailableError, match="nothing to verify: cpu is lost.*gpu-collide doctor"):
        checks.present()
    with pytest.raises(BackendUnavailableError, match="opencl is lost"):
        checks.present(["opencl"])


def test_devices_without_float64_are_left_out_and_said_to_be(monkeypatch):
    class Small:
        device, has_float64 = "a phone", False

    monkeypatch.setattr(backends, "get_backend", lambda name: Small())
    with pytest.raises(BackendUnavailableError, match="a phone has no float64"):
        checks.present()
