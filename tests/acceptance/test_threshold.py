"""The threshold is a filter: contacts at a threshold are those of a lower one that reach it, bit for bit.

Once a coincidence was resolved among what the threshold had left: a tip on an edge was reported as a vertex
contact of -0.09 at -1, and at 0 as two edge contacts of 0.1, so that `collide(-1)` and then
"properness >= 0" lost a first contact. See docs/decisions/0016.
"""

import numpy as np
import pytest

import gpu_collide as gc
from tests.acceptance import matrix
from tests.oracle import scenes
from tests.oracle.matching import FIELDS
from tests.support import structured
from tests.support.shares import share

pytestmark = pytest.mark.shared_bits("tests/acceptance/test_stored_bits.py")

KINDS = {"halves": 0, "slides": 1, "turns": 2, "same place": 3, "corners": 4}
THRESHOLDS = (-0.5, -0.1, -1e-12, 0.0, 1e-12, 0.1, 0.5, 1.0)


def differing(scene, thresholds=THRESHOLDS, **options):
    """Fields in which contacts at a threshold are not those of -1 that reach it; and these."""
    bodies, options = scene.bodies(), {"check_start": False, **options}  # HIT by contacts alone
    lowest = gc.collide(bodies, scene.pairs, min_properness=-1.0, **options)
    properness = np.asarray(lowest.properness)
    bad = []
    # values that occur are the thresholds at which a comparison can go wrong
    for threshold in (
        *thresholds,
        *np.unique(properness)[:: max(1, len(np.unique(properness)) // 6)].tolist(),
    ):
        found = gc.collide(bodies, scene.pairs, min_properness=threshold, **options)
        reach = properness >= threshold
        bad += [
            (threshold, name)
            for name in FIELDS
            if np.asarray(getattr(found, name)).tobytes()
            != np.asarray(getattr(lowest, name))[reach].tobytes()
        ]
        first = np.full(len(scene.pairs), np.inf)
        np.minimum.at(first, np.asarray(lowest.pair)[reach], np.asarray(lowest.time)[reach])
        bad += [(threshold, "toi")] * (not np.array_equal(first, found.toi))
        # what overlaps at the start does so at every threshold
        status = np.where(first < np.inf, gc.Status.HIT, gc.Status.MISS)
        status = np.where(lowest.status > gc.Status.HIT, lowest.status, status)
        bad += [(threshold, "status")] * (not np.array_equal(found.status, status))
    return bad, lowest


@pytest.mark.parametrize("kind", KINDS)
def test_structured_scenes(kind, backend):
    for seed in (1, 2)[: share(backend, 2, of=2)]:
        bad, lowest = differing(structured.scene(seed, 150, [KINDS[kind]]), backend=backend.kind)
        assert not bad and len(lowest) > 300


@pytest.mark.parametrize("family", ["random_nonconvex", "lattice", "resting", "open_meshes", "exact_axis"])
def test_families(family, backend):
    bad, lowest = differing(matrix.make(family, 60), backend=backend.kind)
    assert not bad and len(lowest) > 100


@pytest.mark.parametrize(
    "options",
    [
        dict(refine="segments"),
        dict(refine="pixels"),
        dict(precision="single"),
        dict(tuning=gc.Tuning(candidates="raster"), resolution=3),
    ],
    ids=lambda options: "-".join(map(str, options.values())),
)
def test_other_settings(options, backend):
    for scene in (structured.scene(3, 100), matrix.make("random_cars", 60)):
        bad, lowest = differing(scene, (-0.1, 0.0), backend=backend.kind, **options)
        assert not bad and len(lowest) > 100


def test_reference():
    bad, lowest = differing(structured.scene(7, 4, [0, 3, 4]), (0.0,), backend="reference")
    assert not bad and len(lowest) > 20


def test_a_tip_on_an_edge_is_one_contact_at_every_threshold(backend):
    """An octahedron's tip comes down on a roof whose sides are flatter than its own edges are steep: no
    vertex contact is proper, an edge of the tip with the ridge is."""
    roof, tip = (
        gc.Mesh(m.vertices, structured.loops(m)) for m in (structured.tent(), structured.octahedron())
    )
    turn = [np.cos(0.3), 0, 0, np.sin(0.3)]
    start = gc.Poses.from_quat_wxyz([[0, 0, 0], [0.25, 0, 2.5]], [[1, 0, 0, 0], turn])
    end = gc.Poses.from_quat_wxyz([[0, 0, 0], [0.25, 0, 1.0]], [[1, 0, 0, 0], turn])
    bodies = gc.Bodies([roof, tip], [0, 1], start, end)
    for name in (backend.kind, "reference"):
        found = [
            gc.collide(bodies, [[0, 1]], min_properness=x, backend=name) for x in (-1.0, -0.1, 0.0, 0.05)
        ]
        for contacts in found:
            first = np.asarray(contacts.time) < contacts.toi[0] + 1e-9
            assert first.sum() == 1 and contacts.toi[0] == found[0].toi[0]
            assert contacts.properness[0] == found[0].properness[0] > 0.05


@pytest.mark.parametrize("kind", KINDS)
def test_first_is_the_beginning_of_all(kind, backend):
    scene = structured.scene(5, 100, [KINDS[kind]])
    bodies = scene.bodies()
    for threshold in (-1.0, 0.0):
        every, first = (
            gc.collide(
                bodies, scene.pairs, min_properness=threshold, contacts=x, backend=backend.kind
            ).to_numpy()
            for x in ("all", "first")
        )
        keep = np.asarray(every.time) == np.asarray(every.toi)[np.asarray(every.pair)]
        assert all(np.array_equal(getattr(first, f), np.asarray(getattr(every, f))[keep]) for f in FIELDS)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_many_structured_scenes(seed, backend):
    bad, _ = differing(structured.scene(100 + seed, 2000), backend=backend.kind)
    assert not bad


@pytest.mark.slow
@pytest.mark.parametrize("family", scenes.FAMILIES)
def test_all_families(family, backend):
    bad, _ = differing(matrix.make(family, matrix.SAMPLE[family]), backend=backend.kind)
    assert not bad
