"""`Options`: every error word for word, the defaults, and the verbs of both engines."""

import inspect
import re
from dataclasses import FrozenInstanceError, fields

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide import _options, backends
from gpu_collide._options import Options
from gpu_collide.bodies.rules import check_rules
from gpu_collide.pipeline.engine import Pipeline
from gpu_collide.queries.engine import engine_on
from gpu_collide.reference.engine import Reference
from tests.support.tuning import keywords

FILTERS = "filters: expected 'auto', 'none' or a tuple of 'spheres', 'boxes', 'plane', got "
CHOICES = {
    "broad_phase": "'hierarchy', 'off'",
    "motion": "'relative', 'body'",
    "refine": "'exact', 'segments', 'pixels'",
    "candidates": "'auto', 'raster', 'pairs'",
    "features": "'auto', 'near', 'all'",
    "contacts": "'all', 'first'",
    "precision": "'mixed', 'double', 'single'",
    "backend": "'auto', 'cpu', 'opencl', 'cuda', 'reference'",
    "results": "'auto', 'host', 'device'",
}
BAD = [
    *((ValueError, {k: "no"}, f"{k}: expected one of {what}, got 'no'") for k, what in CHOICES.items()),
    *((TypeError, {k: 1}, f"{k}: expected one of {what}, got int") for k, what in CHOICES.items()),
    (ValueError, {"filters": "boxes"}, FILTERS + "'boxes'; one filter is ('boxes',)"),
    (ValueError, {"filters": "fast"}, FILTERS + "'fast'"),
    (ValueError, {"filters": ("boxes", "fast")}, FILTERS + "'fast'"),
    (ValueError, {"filters": ["plane", "plane"]}, "filters: expected each once, got 'plane' twice"),
    (TypeError, {"filters": None}, FILTERS + "NoneType"),
    (TypeError, {"filters": ("boxes", 2)}, FILTERS + "tuple with int"),
    (ValueError, {"features": "near", "candidates": "raster"},
     "features: expected 'auto' or 'all' with candidates='raster', whose rows need whole meshes, got 'near'"),
    (ValueError, {"features": "near", "candidates": "raster", "refine": "pixels"},
     "features: expected 'auto' or 'all' with candidates='raster', whose rows need whole meshes, got 'near'"),
    (ValueError, {"motion": "body", "refine": "pixels"},
     "refine: expected 'exact' with motion='body', where pairs have no screw to make a screen of, got "
     "'pixels'; motion='relative' has it"),
    (ValueError, {"motion": "body", "candidates": "raster"},
     "candidates: expected 'auto' or 'pairs' with motion='body', where pairs have no screw to make rows of, "
     "got 'raster'; motion='relative' has it"),
    (ValueError, {"resolution": 2, "pixel_size": 1},
     "pixel_size: expected None when resolution is given (they are two units of one thing)"),
    (ValueError, {"resolution": 0}, "resolution: expected a positive number, got 0"),
    (ValueError, {"pixel_size": np.nan}, "pixel_size: expected a positive number, got nan"),
    (TypeError, {"resolution": "2"}, "resolution: expected a positive number or None, got str"),
    (TypeError, {"pixel_size": True}, "pixel_size: expected a positive number or None, got bool"),
    (ValueError, {"max_bytes": 0}, "max_bytes: expected a positive integer, got 0"),
    (TypeError, {"max_bytes": 1e9}, "max_bytes: expected a positive integer or None, got float"),
    (TypeError, {"min_properness": True}, "min_properness: expected a number, got bool"),
    (TypeError, {"min_properness": "0"}, "min_properness: expected a number, got str"),
    (ValueError, {"min_properness": -1.5}, "min_properness: expected a number in [-1, 1], got -1.5"),
    (ValueError, {"min_properness": np.nan}, "min_properness: expected a number in [-1, 1], got nan"),
    (ValueError, {"target_distance": 1.0, "refine": "pixels"},
     "refine: expected 'exact' with target_distance above 0, where features share no pixel, got 'pixels'; "
     "target_distance=0 has it"),
    (TypeError, {"check_start": 1}, "check_start: expected a bool, got int; pass True or False"),
    (TypeError, {"report": "yes"}, "report: expected a bool, got str; pass True or False"),
]  # fmt: skip


def box(n=2):
    start = gc.Poses.from_quat_wxyz([[3.0 * k, 0, 0] for k in range(n)], [[1, 0, 0, 0]] * n)
    end = gc.Poses.from_quat_wxyz([[0.1 * k, 0, 0] for k in range(n)], [[1, 0, 0, 0]] * n)
    return gc.Bodies(gc.shapes.box(), None, start, end)


@pytest.mark.parametrize("kind, given, text", BAD, ids=lambda x: "-".join(x) if isinstance(x, dict) else "")
def test_every_error(kind, given, text):
    with pytest.raises(kind, match=re.escape(text) + "$"):
        Options.checked(**keywords(**given))
    with pytest.raises(kind, match=re.escape(text) + "$"):
        gc.collide(box(), **keywords(**given))


@pytest.mark.parametrize("stream", [False, True])
def test_trajectories_refuse_the_same_before_anything_is_computed(stream, monkeypatch):
    """In a stream too, and without asking any engine about nothing."""
    monkeypatch.setattr(Pipeline, "collide", lambda *_: pytest.fail("something was computed"))
    monkeypatch.setattr(Reference, "collide", lambda *_: pytest.fail("something was computed"))
    poses = gc.Poses.from_quat_wxyz(np.zeros((2, 1, 3)), [[[1, 0, 0, 0]]] * 2)
    for kind, given, text in BAD:
        with pytest.raises(kind, match=re.escape(text) + "$"):
            gc.collide_trajectories(gc.shapes.box(), None, poses, [0, 1], stream=stream, **keywords(**given))
    with pytest.raises(TypeError, match="^speed: collide_trajectories and collide have no such option$"):
        gc.collide_trajectories(gc.shapes.box(), None, poses, [0, 1], stream=stream, speed=1)
    with pytest.raises(TypeError, match="^pairs: expected no pairs, since the broad phase"):
        gc.collide_trajectories(gc.shapes.box(), None, poses, [0, 1], stream=stream, pairs=[[0, 1]])


def test_every_option_has_an_error_above():
    assert {name for _, given, _ in BAD for name in given} == {field.name for field in fields(Options)}


def test_the_value_never_changes():
    options = Options.checked()
    with pytest.raises(FrozenInstanceError):
        options.refine = "pixels"
    assert options == Options.checked() and hash(options) == hash(Options.checked())


def test_what_is_left_out_and_what_is_meant():
    assert Options.checked() == Options(resolution=2.0)
    assert Options.checked(refine="pixels").resolution == 12.0
    rows = Options.checked(refine="pixels", pixel_size=0.5)
    assert rows.resolution is None and rows.pixel_size == 0.5
    assert Options.checked(tuning=gc.Tuning(filters="none")).filters == ()
    assert Options.checked(tuning=gc.Tuning(filters=["plane", "boxes"])).filters == ("plane", "boxes")
    assert Options.checked(max_bytes=1 << 80).max_bytes == 1 << 62
    exact = Options.checked(min_properness=np.float32(0.5), check_start=np.False_)
    assert type(exact.min_properness) is float and exact.check_start is False


@pytest.mark.parametrize(
    "function", [Options.checked, gc.collide, gc.find_pairs, gc.BroadPhase.__init__, gc.baselines.bisection]
)
def test_defaults_are_the_same_everywhere(function):
    """What a public function takes of the options has the same default there."""
    own = Options.checked()
    taken = inspect.signature(function).parameters
    named = [name for name in ("tuning", *(field.name for field in fields(Options))) if name in taken]
    assert len(named) >= 3
    for name in named:
        assert Options.checked(**{name: taken[name].default}) == own, name


def test_names_are_those_of_the_backends():
    assert set(_options.BACKENDS) == {"auto", *backends.NAMES}
    assert set(_options.AUTO_FILTERS) <= set(_options.FILTERS)


def verbs(engine):
    return {
        name: [(p.name, p.kind, p.default) for p in inspect.signature(value).parameters.values()]
        for name, value in inspect.getmembers(engine, callable)
        if not name.startswith("_")
    }


def test_both_engines_have_the_same_verbs(backend):
    options = Options.checked(backend=backend.kind)
    one = engine_on(backend, options)
    two = engine_on(backends.get_backend("reference"), options)
    assert isinstance(one, Pipeline) and isinstance(two, Reference)
    assert verbs(one) == verbs(two)
    names = "collide clearance search bisection chain_motions tree_bytes about hold"
    assert set(names.split()) == set(verbs(one))
    assert one.options is two.options is options
    assert one.about().keys() == two.about().keys()


def test_both_engines_answer_alike(backend):
    """The same kinds of things come back: what the queries read of either must be there in both."""
    bodies, rules = box(3), check_rules(3)
    told = []
    for place in (backend, backends.get_backend("reference")):
        engine = engine_on(place, Options.checked(report=True))
        found = engine.search(bodies, rules)
        of_search = engine.collide(bodies, found)
        of_pairs = engine.collide(bodies, np.concatenate(list(found.blocks(100))))
        status, apart, meet, tests, seconds = engine.bisection(bodies, of_search.pairs, 4, 8)
        assert isinstance(of_search, gc.Contacts) and isinstance(seconds, dict)
        assert np.array_equal(of_search.pairs, of_pairs.pairs) and of_search.pairs.dtype == np.int32
        assert {"backend", "device", "precision", "tolerances", "timings", "report"} <= set(of_pairs.info)
        assert found.complete and found.total == len(found) == found.starts[-1] == found.report.pairs
        told.append((found.total, of_search.status.tolist(), status.tolist(), tests.tolist()))
        told[-1] += (np.round(apart, 6).tolist(), np.round(meet, 6).tolist(), engine.tree_bytes(0) >= 0)
    assert told[0] == told[1] and told[0][0] == 3 and gc.Status.HIT in told[0][1]
