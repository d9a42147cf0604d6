"""Whichever way a pair is looked at, the same bits: hostile scenes on copies of the library in which small
scenes take the ways of large ones, run out of room, and have their walks given up."""

import json

import numpy as np
import pytest

import gpu_collide as gc
from tests.acceptance import ways
from tests.support import lowered

#: What has to have happened on a copy, or it has shown nothing.
TAKEN = {
    "tiny": ("walks", "walks worn", "b05_features", "b06_gather",
             "given up", "not given up"),
    "hulls": ("walks", "screen_hulls", "b05_features", "asked hulls", "given up", "not given up"),
    "deep": ("walks", "b05_features", "b06_gather"),
    "none": ("screen",),
}  # fmt: skip
#: Repeated with more room: launches for, and times asked.
ROOM = {
    "tiny": (("filled candidates", "asked candidates"), ("filled patches", "asked patches"),
             ("worked off nodes", "todo nodes")),
    "hulls": (("filled hulls", "asked hulls"), ("filled candidates", "asked candidates")),
    "deep": (("filled patches", "asked patches"), ("worked off nodes", "todo nodes")),
    "none": (),
}  # fmt: skip


def on_copy(folder, kind, *arguments, seconds):
    """What `ways` finds on a copy."""
    lowered.copy(folder, kind)
    file = folder / "found.json"
    told = lowered.run(folder, "tests.acceptance.ways", str(file), *arguments, seconds=seconds)
    assert str(folder) in told
    return json.loads(file.read_text(encoding="utf-8"))


def check(found, wanted, kind):
    assert not found["bad"], "\n".join(found["bad"])
    shared = found["digests"].keys() & wanted["digests"].keys()
    assert len(shared) == len(wanted["digests"]) > 0
    assert not [way for way in sorted(shared) if found["digests"][way] != wanted["digests"][way]]
    n = found["counts"]
    assert not [name for name in TAKEN[kind] if not n.get(name)], n
    for launched, asked in ROOM[kind]:
        assert n[launched] > n[asked] > 0, (launched, n[launched], n[asked])


@pytest.mark.scale("copies of the library are built for the processor")
def test_low_thresholds_give_the_same_bits(tmp_path):
    """Walks that are given up, near faces of boxes, tiles and chords of short lists, no room anywhere."""
    wanted = ways.look([ways.SEED], "cpu", **ways.EVERYDAY)
    assert not wanted["bad"], "\n".join(wanted["bad"])
    assert not wanted["counts"].get("walks")
    check(on_copy(tmp_path, "tiny", "everyday", seconds=300), wanted, "tiny")


def test_a_vertex_that_shares_a_pixel_where_the_plane_leads_off_the_face(backend):
    """Its time was none of those at which the face passes: properness was judged then, and it was lost."""
    bodies, pairs = ways.scene("mixed", 0)
    asked = {"refine": "pixels", "resolution": 3.0, "min_properness": -0.1, "backend": backend.kind}
    whole, near, rows = (
        ways.ask(bodies, pairs[12:13], **asked, **more).to_numpy()
        for more in (
            {"tuning": gc.Tuning(features="all")},
            {"tuning": gc.Tuning(features="near")},
            {"tuning": gc.Tuning(candidates="raster")},
        )
    )
    assert ways.by_pair(whole) == ways.by_pair(near) == ways.by_pair(rows)
    k = np.flatnonzero((whole.feature_a == 435) & (whole.feature_b == 6))
    assert np.allclose(whole.time[k], [0.47675452364213944], atol=1e-9)


@pytest.mark.slow
@pytest.mark.scale("copies of the library are built for the processor")
@pytest.mark.parametrize("way", ["cpu", "littered", "opencl"])
@pytest.mark.parametrize("kind", lowered.KERNELS)
def test_many_scenes_have_the_same_bits(tmp_path, kind, way):
    seeds = range(1, 7)
    wanted = ways.look(seeds, "cpu")
    assert not wanted["bad"], "\n".join(wanted["bad"])
    found = on_copy(tmp_path, kind, str(seeds[0]), str(len(seeds)), way, seconds=3000)
    if way == "opencl":  # groups of many work-items have no heaps to walk by, and other room
        assert not found["bad"], "\n".join(found["bad"])
        assert found["digests"] == wanted["digests"]
    else:
        check(found, wanted, kind)
