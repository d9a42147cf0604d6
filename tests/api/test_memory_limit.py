"""A pair that does not fit `max_bytes`: the message names what helps in the mode asked for."""

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide.reference.engine import Reference
from tests.narrow_phase._first import same_bits
from tests.support.tuning import keywords

ONE = [1.0, 0, 0, 0]


@pytest.mark.parametrize(
    "options, remedy",
    [
        (dict(), "pass a larger max_bytes, or tuning=gc.Tuning(features='near')"),
        (dict(candidates="pairs"), "pass a larger max_bytes, or tuning=gc.Tuning(features='near')"),
        (dict(features="near"), "pass a larger max_bytes"),
        (dict(candidates="raster"), "pass a larger max_bytes"),
        (dict(refine="segments"), "pass a larger max_bytes, or tuning=gc.Tuning(features='near')"),
        (dict(refine="pixels"), "pass a larger max_bytes, or tuning=gc.Tuning(features='near')"),
        (dict(refine="pixels", features="near"), "pass a larger max_bytes"),
    ],
)
def test_remedy_for_a_pair_that_is_too_large(options, remedy, backend):
    poses = [gc.Poses.from_quat_wxyz(np.array([[0, 0, 0], [x, 0.1, 0.2]]), [ONE] * 2) for x in (-4.0, 0.0)]
    bodies = gc.Bodies(gc.shapes.torus(), None, *poses)
    with pytest.raises(gc.errors.MemoryLimitError) as caught:
        gc.collide(
            bodies,
            [[0, 1]],
            max_bytes=20_000,
            backend=backend.kind,
            **keywords(filters="none", **options),
        )
    assert str(caught.value).startswith("max_bytes: expected room for pair 0, which needs at least ")
    assert str(caught.value).endswith(f" bytes, got 20000; {remedy}")


def test_memory_that_comes_to_an_end_within_a_query(monkeypatch):
    """What Python or NumPy say of it names no remedy."""

    def full(*_):
        raise MemoryError("Unable to allocate 3.7 TiB")

    monkeypatch.setattr(Reference, "collide", full)
    poses = gc.Poses.identity(2)
    with pytest.raises(gc.errors.MemoryLimitError, match=r"no memory left \(Unable .*\); ask for a share at"):
        gc.collide(gc.Bodies(gc.shapes.box(), None, poses, poses), [[0, 1]], backend="reference")


def in_a_box(mesh, times, to, turn):
    """A mesh that moves and turns within a hollow box so many times as wide."""
    box = gc.shapes.box(2 * times * mesh.radius * np.ones(3))
    box = gc.Mesh(box.vertices, [face[::-1] for face in box.faces])
    turned = np.array([np.cos(turn / 2), 0, 0, np.sin(turn / 2)])
    start = gc.Poses.from_quat_wxyz(np.zeros((2, 3)), [ONE, ONE])
    return gc.Bodies([mesh, box], [0, 1], start, gc.Poses.from_quat_wxyz([to, [0, 0, 0]], [turned, ONE]))


@pytest.mark.parametrize("contacts", ["all", "first"])
@pytest.mark.parametrize("fits", ["all", "near"])
def test_auto_is_refused_only_where_near_faces_and_whole_meshes_are(fits, contacts, backend):
    """Nearly all of a ball is near its box, and its faces joined from patches take more than the ball. The
    search in a torus is given up, and the whole torus takes more than its near faces. (On cuda near faces are
    looked at from more faces on, and no search is given up: there the torus shows that they are.)"""
    late = backend.kind == "cuda"
    if fits == "all":
        bodies = in_a_box(gc.shapes.icosphere(5 if late else 4), 1.01, [0.1, 0, 0], 2.5)
    else:
        torus = gc.shapes.torus(1.0, 0.4, 132 if late else 126, 66 if late else 63)
        bodies = in_a_box(torus, 1.01, [3, 0, 0], 0.0 if late else 3.0)
    pairs = np.array([[0, 1], [1, 0]])
    asked = dict(contacts=contacts, candidates="pairs", backend=backend.kind)

    def found(max_bytes, some=pairs[:1], **more):
        try:
            return gc.collide(bodies, some, max_bytes=max_bytes, **keywords(**asked, **more))
        except gc.errors.MemoryLimitError:
            return None

    low, high = 1 << 20, 1 << 28
    while high > 1.05 * low:
        middle = int((low * high) ** 0.5)
        if found(middle, features=fits) is None:
            low = middle
        else:
            high = middle
    other = "near" if fits == "all" else "all"
    assert found(high, features=other) is None, "the scene shows nothing"
    expected = gc.collide(bodies, pairs, **keywords(features="all", **asked))
    same_bits(expected.to_numpy(), found(high, pairs, report=True).to_numpy())
    assert len(expected.time)
