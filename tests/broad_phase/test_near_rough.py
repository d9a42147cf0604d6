"""Stage b05 with refine = segments and pixels: what is reported lies on listed faces, though features may be
apart by what a row is worth; and how far apart they may be (docs/decisions/0079)."""

from functools import cache, lru_cache

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide.pipeline.narrow_phase.plan import REFINE
from gpu_collide.reference.narrow_phase import b05_features as reference
from tests.broad_phase import _near
from tests.broad_phase._near_launch import Near

pytestmark = pytest.mark.shared_bits("tests/acceptance/test_stored_bits.py")

KINDS = ("impact", "axis", "turns", "copies", "passing")
#: Heights of rows, in radii of the larger body: up to as high as the bodies are large.
HEIGHTS = (0.01, 0.1, 0.5, 2.0)


@lru_cache(maxsize=32)
def scene(kind):
    return _near.scene(kind, 4, 3, _near.SMALL)


@lru_cache(maxsize=32)
def height_of(kind, share):
    return share * max(m.radius for m in scene(kind).bodies().meshes)


@lru_cache(maxsize=64)
def reported(kind, refine, share):
    one = scene(kind)
    return gc.collide(
        one.bodies(), one.pairs, tuning=gc.Tuning(features="all", filters="none"), refine=refine,
        pixel_size=height_of(kind, share),
        min_properness=-1.0, check_start=False, backend="cpu",
    )  # fmt: skip


def faces_around(mesh, what, feature):
    """The faces of a face, of an edge, of a vertex: (faces,) bool."""
    if what == "face":
        return np.arange(mesh.n_faces) == feature
    corners = [feature] if what == "vertex" else mesh.edges[feature]
    owner = np.repeat(np.arange(mesh.n_faces), np.diff(mesh.face_start))
    return np.bincount(owner[np.isin(mesh.face_vertices, corners)], minlength=mesh.n_faces) == len(corners)


def missing(near, listed, found):
    """Contacts around whose features some face is not listed."""
    there = {(pair, side): near.masks(listed, pair, side) for pair in range(near.n) for side in range(2)}
    order = {int(k): near.order(int(k)) for k in np.unique(near.shapes)}
    sides = {gc.Kind.VF: ("vertex", "face"), gc.Kind.FV: ("face", "vertex"), gc.Kind.EE: ("edge", "edge")}

    @cache
    def needed(k, what, feature):
        return reference.patch_masks(order[k], faces_around(near.bodies.meshes[k], what, feature))

    lost = 0
    columns = (x.tolist() for x in (found.pair, found.kind, found.feature_a, found.feature_b))
    for pair, kind, *features in zip(*columns, strict=True):
        for side, what in enumerate(sides[kind]):
            masks = needed(int(near.shapes[pair, side]), what, features[side])
            lost += any(bits & ~there[pair, side].get(patch, 0) for patch, bits in masks.items())
    return lost


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("refine", ["segments", "pixels"])
def test_what_is_reported_lies_on_listed_faces(backend, refine, kind):
    near = Near(backend, scene(kind))
    for share in HEIGHTS:
        heights = np.full(near.n, height_of(kind, share), near.stages.real)
        listed = near.features(refine=REFINE[refine], heights=heights)
        assert not missing(near, listed, reported(kind, refine, share)), share


@pytest.mark.backends("cpu")
def test_faces_that_meet_are_not_enough(backend):
    """Without the height of the rows some of what pixels report is lost."""
    lost = 0
    for kind in KINDS:
        near = Near(backend, scene(kind))
        listed = near.features()
        lost += sum(missing(near, listed, reported(kind, "pixels", share)) for share in HEIGHTS)
    assert lost


@pytest.mark.parametrize("refine", ["segments", "pixels"])
def test_higher_rows_list_more(backend, refine):
    """What is listed grows with the height of the rows, and at next to none it is that of exact answers."""
    counts = []
    for share in (None, 1e-4, 0.5):
        bits = 0
        for kind in ("impact", "passing"):
            near = Near(backend, _near.scene(kind, 12, 5))
            height = np.full(near.n, 0.0 if share is None else height_of(kind, share), near.stages.real)
            listed = near.features(refine=0 if share is None else REFINE[refine], heights=height)
            masks = (near.masks(listed, pair, side) for pair in range(near.n) for side in range(2))
            bits += sum(mask.bit_count() for there in masks for mask in there.values())
        counts.append(bits)
    exact, fine, coarse = counts
    assert exact <= fine < coarse
    assert refine == "pixels" or fine == exact


@pytest.mark.backends("cpu")
@pytest.mark.parametrize("share", HEIGHTS)
def test_chords_that_cross_are_near_edges(backend, share):
    """Edges at the time at which segments cross are no farther apart than b05 takes for granted."""
    most, seen = 0.0, 0
    for kind in KINDS:
        near, found = Near(backend, scene(kind)), reported(kind, "segments", share)
        for pair in np.unique(found.pair[found.kind == gc.Kind.EE]):
            screw, height = near.screw(pair), height_of(kind, share)
            a, b = (near.bodies.meshes[k] for k in near.shapes[pair])
            at = (found.pair == pair) & (found.kind == gc.Kind.EE)
            fixed = screw.from_a(a.vertices)[a.edges[found.feature_a[at]]]
            moving = screw.from_b(b.vertices)[b.edges[found.feature_b[at]]]
            there = screw.flow(moving, found.time[at][:, None] - 0.5)
            apart = reference._segments(fixed[:, 0], fixed[:, 1], there[:, 0], there[:, 1])
            far = max(np.linalg.norm(x.reshape(-1, 3), axis=1).max() for x in (fixed, moving))
            bound = 4.0 * height * height / screw.size * (2.0 + screw.kappa * far) + 1e-9 * screw.size
            assert (apart <= bound).all(), (kind, pair)
            most, seen = max(most, (apart / bound).max()), seen + len(apart)
    assert seen > 20
    assert most > 1e-3 or share > 0.5  # rows as high as the bodies bound nothing
