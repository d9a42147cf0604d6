"""features="near" gives the bits of features="all", whatever the meshes, the motion and the options."""

import itertools
from functools import lru_cache
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import gpu_collide as gc
from bench import dense_shapes
from gpu_collide._options import Options
from gpu_collide.backends import sources
from gpu_collide.pipeline.engine import Pipeline
from gpu_collide.pipeline.narrow_phase.plan import near_bits
from tests.acceptance import lattice_scenes, matrix
from tests.broad_phase import _near
from tests.filters import _cases
from tests.narrow_phase._launch import sharing
from tests.oracle import scenes
from tests.oracle.scenes_base import resting_world, turn_quat, unit4
from tests.oracle.solid import apply, quat_mul, rotation_matrix
from tests.support.seeds import generator
from tests.support.shares import in_turn
from tests.support.tuning import keywords

pytestmark = pytest.mark.shared_bits("tests/acceptance/test_stored_bits.py")

PRECISIONS = ("mixed", "double", "single")
EXAMPLES = settings(
    deadline=None, max_examples=40, suppress_health_check=list(HealthCheck), derandomize=True, database=None
)


@lru_cache(maxsize=512)
def family(name, n):
    return _cases.OWN[name](7, n) if name in _cases.OWN else matrix.make(name, n)


@lru_cache(maxsize=512)
def many_faces(kind, n, seed=0, scale=1.0):
    special = {"slides": _near.slides, "wheels": _near.wheels}
    return special[kind](n, seed) if kind in special else _near.scene(kind, n, seed, scale=scale)


@lru_cache(maxsize=1024)  # asked for again by the tests of the next backend
def whole(make, args, precision="mixed", **options):
    """The answer of whole meshes, on the backend whose bits the others have."""
    scene = make(*args)
    return gc.collide(
        scene.bodies(), scene.pairs, tuning=gc.Tuning(features="all", filters="none"), backend="cpu",
        precision=precision,
        **options,
    )  # fmt: skip


def differing(backend, make, args, precision="mixed", given=(), **options):
    """Fields in which near faces give other bits than whole meshes, and the contacts of those."""
    scene = make(*args)
    answer = whole(make, args, "single" if precision == "single" else "mixed", **options)
    found = gc.collide(
        scene.bodies(), scene.pairs, backend=backend.kind, precision=precision,
        **keywords(features="near", **{"filters": "none", **options, **dict(given)}),
    ).to_numpy()  # fmt: skip
    return matrix.same_bits(answer, found), answer


@pytest.mark.parametrize("number, name", list(enumerate([*scenes.FAMILIES, *_cases.OWN])))
def test_scene_families(backend, name, number):
    for precision in in_turn(backend, PRECISIONS, number):
        fields, answer = differing(backend, family, (name, 8 if "tori" in name else 30), precision)
        assert not fields, precision
        assert len(answer) or name == "stills"


@pytest.mark.parametrize("number, kind", list(enumerate([*_near.MOTIONS, "slides"])))
def test_meshes_of_many_faces(backend, kind, number):
    for precision in in_turn(backend, PRECISIONS, number):
        fields, answer = differing(backend, many_faces, (kind, 12), precision, min_properness=-1.0)
        assert not fields, precision
        assert len(answer) or kind in ("still", "passing")
        assert not differing(backend, many_faces, (kind, 12, 1), precision)[0]


@pytest.mark.parametrize("precision", PRECISIONS)
def test_whole_turns(backend, precision):
    """What meets a whole turn on is found; without the copies of A these lose contacts, or get them wrong."""
    fields, answer = differing(backend, many_faces, ("wheels", 150, 1), precision)
    assert not fields
    assert len(answer)


@pytest.mark.parametrize(
    "scale", [1e-4, 1e4, *(pytest.param(x, marks=pytest.mark.slow) for x in (1e-2, 1e2))]
)
@pytest.mark.parametrize("kind", ["turns", "axis", "copies"])
def test_bodies_of_other_sizes(backend, kind, scale):
    for precision in ("mixed", "single"):
        args = kind, 8, 0, scale
        fields, answer = differing(backend, many_faces, args, precision, min_properness=-1.0)
        assert not fields


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 8))
@pytest.mark.parametrize("scale", [1e-4, 1e-2, 1.0, 1e2, 1e4])
@pytest.mark.parametrize("kind", _near.MOTIONS)
def test_many_more(backend, kind, scale, seed):
    for precision in PRECISIONS:
        more = {} if seed % 2 else {"min_properness": -1.0}
        assert not differing(backend, many_faces, (kind, 60, seed, scale), precision, **more)[0]


@pytest.mark.parametrize(
    "options",
    [
        {"check_start": True},
        {"contacts": "first"},
        {"min_properness": 0.3},
        {"contacts": "first", "check_start": True, "min_properness": -1.0},
    ],
    ids=lambda o: "-".join(o),
)
@pytest.mark.parametrize("kind", ["impact", "axis", "slides"])
def test_options(backend, kind, options):
    assert not differing(backend, many_faces, (kind, 24), **options)[0]


@pytest.mark.parametrize("filters", ["auto", ("boxes",), ("spheres", "boxes")])
def test_with_filters(backend, filters):
    for kind in ("impact", "copies", "passing"):
        assert not differing(backend, many_faces, (kind, 24), given={"filters": filters}.items())[0]


def test_pairs_that_are_not_valid_or_not_resolved(backend):
    """A pose that is not finite, and a way beyond all digits, have their status and no contacts."""
    scene = many_faces("impact", 24)
    bodies = scene.bodies()
    position = np.array(bodies.end.position)
    position[2, 0], position[7] = np.nan, 1e30
    end = gc.Poses.from_quat_wxyz(position, bodies.end.unit_wxyz)
    bodies = gc.Bodies(bodies.meshes, bodies.shape, bodies.start, end)
    answer, found = (
        gc.collide(bodies, scene.pairs, tuning=gc.Tuning(features=features), backend=backend.kind).to_numpy()
        for features in ("all", "near")
    )
    assert not matrix.same_bits(answer, found)
    assert found.status[1] == gc.Status.INVALID_INPUT and found.status[3] == gc.Status.UNRESOLVED


@pytest.mark.parametrize("kind", ["impact", "drill"])
def test_little_memory(backend, kind):
    """The same bits, or an error where a single pair does not fit: never fewer contacts, and no error that a
    neighbour in the batch is to blame for."""
    scene = many_faces(kind, 12)
    worked = []
    for max_bytes in (100_000, 150_000, 250_000, 500_000, 1 << 20, 1 << 22):
        given = {"max_bytes": max_bytes}

        def works(pairs, given=given):
            try:
                gc.collide(
                    scene.bodies(),
                    pairs,
                    tuning=gc.Tuning(features="near", filters="none"),
                    backend=backend.kind,
                    **given,
                )
            except gc.errors.MemoryLimitError:
                return False
            return True

        worked.append(all(works(scene.pairs[p : p + 1]) for p in range(12)))
        assert works(scene.pairs) == worked[-1], max_bytes
        if worked[-1]:
            assert not differing(backend, many_faces, (kind, 12), given=given.items())[0]
    assert worked[-1] and not worked[0]


@pytest.mark.backends("cpu", "opencl", "cuda")  # groups of several work-items are OpenCL's
def test_groups_that_share_a_pair(backend):
    """Work-items of a group, in any order, give the same bits."""
    many = Pipeline(sharing(backend), Options(features="near", filters=(), resolution=2.0, max_bytes=1 << 30))
    for kind in ("impact", "axis", "copies"):
        scene = many_faces(kind, 8)
        found = many.collide(scene.bodies(), scene.pairs.astype(np.int32))
        answer = whole(many_faces, (kind, 8))
        assert not matrix.same_bits(answer, found)


def test_a_batch_is_its_pairs(backend):
    """A pair alone has the contacts that it has in a batch, whatever the batch grew its buffers to."""
    scene = many_faces("axis", 24)
    found = gc.collide(
        scene.bodies(), scene.pairs, tuning=gc.Tuning(features="near"), backend=backend.kind
    ).to_numpy()
    for p in (0, 5, 23):
        alone = gc.collide(
            scene.bodies(), scene.pairs[p : p + 1], tuning=gc.Tuning(features="near"), backend=backend.kind
        ).to_numpy()
        rows = slice(found.contact_start[p], found.contact_start[p + 1])
        assert alone.time.tobytes() == found.time[rows].tobytes()
        assert alone.position.tobytes() == found.position[rows].tobytes()


@lru_cache(maxsize=1)
def large_and_small():
    """Pairs with a mesh of more than GC_AUTO_NEAR_FACES faces, far wider than the other, on either side;
    on both sides, and on none."""
    limit = sources.constants("mixed")["GC_AUTO_NEAR_FACES"]
    large, small = _near.terrain(26), _near.mesh("car", 0.1)
    assert large.n_faces > limit > small.n_faces and large.radius > 8 * small.radius
    rng = np.random.default_rng(8)
    sa, sb = np.array([0, 1, 0, 1] * 4), np.array([1, 0, 0, 1] * 4)
    poses = _near.motion("impact", rng, 16, [large, small], sa, sb)
    return _near.scene_of("large", [large, small], sa, sb, poses, resting_world(16))


def test_chosen_by_itself(backend):
    """features="auto" takes near faces for pairs with a large mesh, rows where asked: the same bits."""
    scene = large_and_small()
    answer = whole(large_and_small, ())
    for more in (
        {},
        {"tuning": gc.Tuning(candidates="raster")},
        {"tuning": gc.Tuning(filters="none"), "contacts": "all"},
    ):
        found = gc.collide(scene.bodies(), scene.pairs, backend=backend.kind, report=True, **more).to_numpy()
        assert not matrix.same_bits(answer, found)
        names = [row.name for row in found.report]
        assert ("near features" in names) == (more.get("tuning", gc.Tuning()).candidates != "raster")
    with pytest.raises(ValueError, match="features: expected 'auto' or 'all'"):
        gc.collide(
            scene.bodies(),
            scene.pairs,
            tuning=gc.Tuning(features="near", candidates="raster"),
            backend=backend.kind,
        )


unit = st.floats(-1, 1)
vector = st.tuples(unit, unit, unit).map(np.array)


@st.composite
def motions(draw):
    """Any screw, given by axis, place and size, of B near A."""
    axis = draw(vector)
    axis = axis / np.linalg.norm(axis) if np.linalg.norm(axis) > 1e-3 else _near.UP
    angle = draw(st.one_of(st.floats(0, np.pi), st.sampled_from([0.0, np.pi, np.pi / 2, 1e-9, np.pi - 1e-9])))
    point = 2 * draw(vector)
    pitch = draw(st.one_of(st.just(0.0), st.floats(-3, 3), st.sampled_from([30.0, -300.0])))
    middle, q = 1.5 * draw(vector), draw(st.tuples(unit, unit, unit, unit).map(np.array))
    q = q / np.linalg.norm(q) if np.linalg.norm(q) > 1e-3 else np.array([1.0, 0, 0, 0])
    scale = draw(st.sampled_from([1.0, 1.0, 0.03, 30.0]))
    return (
        axis,
        angle,
        point,
        pitch,
        middle,
        q,
        scale,
        draw(st.sampled_from(_near.SMALL)),
        draw(st.sampled_from(tuple(_near.MESHES))),
    )


def of_motion(axis, angle, point, pitch, middle, q, scale, a, b):
    def at(s):
        turn = turn_quat(axis[None], np.array([angle * s]))
        p = point + apply(rotation_matrix(turn), middle[None] - point) + pitch * s * axis
        return p, unit4(quat_mul(turn, q[None]))

    poses = *at(-0.5), *at(0.5)
    meshes = [_near.mesh(a), _near.mesh(b, scale)]
    return _near.scene_of("drawn", meshes, [0], [1], poses, resting_world(1))


@EXAMPLES
@given(drawn=motions(), min_properness=st.sampled_from([-0.1, -1.0]))
def test_any_motion(backend, drawn, min_properness):
    scene = of_motion(*drawn)
    for pairs in (scene.pairs, scene.pairs[:, ::-1].copy()):
        answer, found = (
            gc.collide(
                scene.bodies(), pairs, tuning=gc.Tuning(features=f, filters="none"),
                min_properness=min_properness,
                backend=backend.kind,
            ).to_numpy()
            for f in ("all", "near")
        )  # fmt: skip
        assert not matrix.same_bits(answer, found)


@lru_cache(maxsize=16)
def island(cell, n=12):
    """Flat ground of n x n cells of the given width, with its rim at x = 0, and a triangle a unit away."""
    u = np.arange(n + 1.0) * cell
    x, y = np.meshgrid(u, u, indexing="ij")
    flat = np.stack([x, y, 0 * x], axis=-1).reshape(-1, 3)
    far = np.array([[1.0, 0.0, -1.0], [1.0, cell, -1.0], [1.0 + cell, 0.0, -1.0]])
    quads = _near.grid(n, n)
    loops = [*quads.tolist(), [len(flat), len(flat) + 1, len(flat) + 2]]
    return gc.Mesh(np.concatenate([flat, far]), loops)


@lru_cache(maxsize=16)
def speck(size):
    """A small box with the faces of a larger one."""
    block = _near.block(3)
    return gc.Mesh(block.vertices * size, [f.tolist() for f in block.faces])


@lru_cache(maxsize=64)
def hovering(ratio, gap, aside, way):
    """A small box over ground whose faces are as small, in a mesh that is far larger: `gap` above it and with
    two corners `aside` beyond its rim, in sizes of the large mesh; it comes down, slides along or turns."""
    ground, cell = island(0.3 * ratio), 0.3 * ratio
    small = speck(ratio)
    size = ground.radius
    start = np.array([[0.5 * ratio - aside * size, 1.03 * ratio, 0.5 * ratio + gap * size]])
    end = start.copy()
    if way == "along":
        end = end + [0.0, 5 * cell, 0.0]
    elif way == "down":
        start = start + [0.0, 0.0, ratio]
    q = np.array([[1.0, 0, 0, 0]])
    turned = q if way != "turning" else turn_quat(_near.UP[None], np.array([0.4]))
    return _near.scene_of("hover", [ground, small], [0], [1], (start, q, end, turned), resting_world(1))


@pytest.mark.parametrize("number, way", list(enumerate(["still", "along", "down", "turning"])))
def test_what_only_the_tolerances_let_touch(backend, number, way):
    """Tolerances of the solver are shares of the larger body: seen from a body far smaller they are large."""
    for precision in in_turn(backend, PRECISIONS, number):
        _touches_by_tolerance(backend, precision, way)


def _touches_by_tolerance(backend, precision, way):
    tol = 1e-11 if precision != "single" else 2e-6
    touching = 0
    for ratio in (1e-2, 1e-7 if precision == "mixed" else 1e-4):
        for gap in (0.0, 0.6 * tol):
            for aside in (-0.1 * ratio, 0.6 * tol):
                args = ratio, gap, aside, way
                answer = whole(hovering, args, precision, min_properness=-1.0)
                fields, _ = differing(backend, hovering, args, precision, min_properness=-1.0)
                assert not fields, (args, len(answer))
                touching += len(answer) > 0
    assert touching >= 4


@pytest.mark.parametrize("ratio", [1e-2, 1e-4, 1e-6])
def test_faces_far_larger_than_the_other_body(backend, ratio):
    """Whether a face faces the right way is computed at its corners, where numbers are large and rounded."""
    for seed in range(4):
        fields, answer = differing(backend, _near.slope, (ratio, seed))
        assert not fields
        assert len(answer)


def test_what_an_earlier_pair_left_is_not_near(backend):
    """Of these plates most pairs have no face that could be proper: their walk ends before it begins, and
    nothing of the pair before it in the same scratch may be listed. Calls leave their marks for the next."""
    a, b, start, end = lattice_scenes.dense(796, 20, int(generator(796, 75).integers(3, 10)))
    bodies, pairs = lattice_scenes.beside(a.mesh(), b.mesh(), start, end)
    common = {"backend": backend.name, "min_properness": 0.0, "check_start": False}
    whole = gc.collide(bodies, pairs, tuning=gc.Tuning(features="all", filters="none"), **common)
    first = gc.collide(bodies, pairs, tuning=gc.Tuning(features="all"), contacts="first", **common)
    for precision, order in itertools.product(("mixed", "double"), (slice(None), slice(None, None, -1))):
        near = gc.collide(
            bodies, pairs[order], tuning=gc.Tuning(features="near"), precision=precision, **common
        )
        assert np.array_equal(near.toi[order], whole.toi)
        assert len(near) == len(whole)
        early = gc.collide(
            bodies, pairs, tuning=gc.Tuning(features="near"), contacts="first", precision=precision, **common
        )
        assert not matrix.same_bits(first, early)
    assert not matrix.same_bits(whole, gc.collide(bodies, pairs, tuning=gc.Tuning(features="near"), **common))


# By segments and pixels (docs/decisions/0079): what is reported need not be near to less than a row's height.
ROUGH = [(refine, rows) for refine in ("segments", "pixels") for rows in (1, 3, 24)]


@pytest.mark.parametrize("number, name", list(enumerate([*scenes.FAMILIES, *_cases.OWN])))
def test_rough_answers_of_scene_families(backend, name, number):
    thresholds = itertools.cycle((-1.0, -0.1, 0.0, 0.5))
    for k, ((refine, rows), threshold) in enumerate(zip(ROUGH, thresholds, strict=False)):
        args = family, (name, 4 if "tori" in name else 12), PRECISIONS[(number + k) % 3]
        assert not differing_rough(backend, *args, refine, rows, threshold), (refine, rows, threshold)


@pytest.mark.parametrize("number, kind", list(enumerate([*_near.MOTIONS, "slides", "wheels"])))
def test_rough_answers_of_many_faces(backend, kind, number):
    for k, (refine, rows) in enumerate(ROUGH):
        args = many_faces, (kind, 8), PRECISIONS[(number + k) % 3]
        assert not differing_rough(backend, *args, refine, rows, (-1.0, -0.1)[k % 2]), (refine, rows)


@pytest.mark.parametrize("name", dense_shapes.PAIRS)
def test_rough_answers_of_dense_shapes(backend, name):
    """Here trees of faces are deep, and most of both is far from what meets."""
    meshes = dense_shapes.PAIRS[name](1280)
    bodies = dense_shapes.steps_of(name, meshes, "touch", 2, 3)
    for k, (refine, rows) in enumerate(ROUGH):
        asked = {
            "refine": refine,
            "resolution": rows,
            "contacts": ("all", "first")[k % 2],
        }
        near, all_ = (
            gc.collide(
                bodies,
                dense_shapes.pairs_of(2),
                tuning=gc.Tuning(features=how, filters="none"),
                backend=backend.kind,
                **asked,
            )
            for how in ("near", "all")
        )
        assert not matrix.same_bits(all_.to_numpy(), near.to_numpy()), (refine, rows)
        assert len(near)


@pytest.mark.parametrize("seed", range(3))
def test_rough_answers_of_whole_numbers(backend, seed):
    """Rows and pixels on whose borders everything could lie."""
    a, b, start, end = lattice_scenes.dense(seed, 4, 4)
    bodies, pairs = lattice_scenes.beside(a.mesh(), b.mesh(), start, end)
    for refine, rows in ROUGH:
        asked = {
            "refine": refine,
            "resolution": rows,
            "min_properness": -1.0,
        }
        near, all_ = (
            gc.collide(
                bodies, pairs, tuning=gc.Tuning(features=how, filters="none"), backend=backend.kind, **asked
            )
            for how in ("near", "all")
        )
        assert not matrix.same_bits(all_.to_numpy(), near.to_numpy()), (refine, rows)


def differing_rough(backend, make, args, precision, refine, rows, threshold):
    """Fields in which near faces give other bits than whole meshes."""
    scene = make(*args)
    asked = {"refine": refine, "resolution": rows, "min_properness": threshold}
    near = gc.collide(
        scene.bodies(), scene.pairs, tuning=gc.Tuning(features="near", filters="none"), precision=precision,
        backend=backend.kind, **asked,
    )  # fmt: skip
    return matrix.same_bits(whole(make, args, precision, **asked).to_numpy(), near.to_numpy())


@pytest.mark.parametrize("refine, times", [("exact", 1), ("segments", 1), ("pixels", 2)])
@pytest.mark.parametrize("gives_up, faces", [(True, 3072), (False, 8192)])
def test_who_looks_at_near_faces(gives_up, faces, refine, times):
    """Above so many faces all, above 1,024 those far wider than the other; rows of whole meshes never."""
    faces, options = times * faces, Options(refine=refine)
    meshes = {n: [SimpleNamespace(face_planes=range(n), radius=1.0)] for n in (1024, faces, faces + 1, 99999)}
    looks = {n: near_bits(meshes[n], options, gives_up).any() for n in (1024, faces, faces + 1)}
    assert looks == {1024: False, faces: True, faces + 1: True}
    wide, always = (sources.constants()[f"GC_LOOK_{name}"] for name in ("WIDE", "NEAR"))
    bits = [near_bits(meshes[n], options, gives_up)[0] for n in (faces, faces + 1)]
    assert [x & wide > 0 for x in bits] == [True, True] and [x & always > 0 for x in bits] == [False, True]
    whole = Options(refine=refine, candidates="raster")
    assert not near_bits(meshes[99999], whole).any()
