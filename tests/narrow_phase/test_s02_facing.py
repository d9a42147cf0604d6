"""s02_facing: which features can meet, and boxes of rho, eta and lambda that hold them."""

from types import SimpleNamespace

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide.backends import sources
from gpu_collide.scenes import random_impacts
from tests.narrow_phase._launch import (
    EE,
    FV,
    PAIRS,
    RASTER,
    VF,
    C,
    Stages,
    cpu,
    new,
    probe_text,
    scene_of,
    screened,
    sharing,
    stages_of,
    uncovered,
)
from tests.narrow_phase.test_functions import exact_arc, exact_rho
from tests.narrow_phase.test_s01_screw import Record

LIST = sources.record("list")
FAMILIES = (
    "random_cars",
    "random_nonconvex",
    "axis_through_both",
    "to_180",
    "tiny_angles",
    "passing",
    "two_sided",
)


# ---- boxes


class Boxes:
    """The lists of boxes that s02 makes for the pairs of a scene."""

    def __init__(self, backend, family, n, precision, room=400, text=None):
        self.scene, be = scene_of(family, n), backend
        stages = Stages(be, self.scene.bodies(), self.scene.pairs, precision, probe_text())
        self.record = Record(stages.s01()[0].astype(float))
        raster, groups, scratch = stages.raster, min(be.max_groups, n), 1 << 16
        need, state = be.zeros(2, "i4"), be.to_device(stages.state)
        fields = LIST.stride
        out = {
            "view_out": new(be, n * 8, raster),
            "count_out": new(be, n * 6, "i4"),
            "id_out": new(be, n * 6 * room, "i4"),
            "copy_out": new(be, n * 6 * room, "i4"),
            "box_out": new(be, n * 6 * room * fields, raster),
        }
        t = stages.parts
        be.launch(
            stages.module.kernel("probe_boxes"),
            groups,
            n_pairs=n,
            vertices_in=t["vertices_in"],
            normals_in=t["normals_in"],
            min_properness=-0.1,
            scratch_reals=be.empty(groups * scratch, raster),
            scratch_ints=be.empty(groups * scratch, "i4"),
            reals_per_group=scratch,
            ints_per_group=scratch,
            room=room,
            need_out=need,
            state_out=state,
            **stages.common(),
            **out,
        )
        assert not be.to_host(need).any()
        self.view = be.to_host(out["view_out"]).reshape(n, 8).astype(float)
        self.count = be.to_host(out["count_out"]).reshape(n, 6)
        assert 0 <= self.count.min() and self.count.max() <= room
        self.id, self.copy = (be.to_host(out[k]).reshape(n, 6, room) for k in ("id_out", "copy_out"))
        # places nobody fills hold whatever scratch held, NaN of any kind included
        with np.errstate(invalid="ignore"):
            self.box = be.to_host(out["box_out"]).reshape(n, 6, room, fields).astype(float)
        self.meshes = self.scene.bodies().meshes

    def points(self, i, side):
        """Vertices of A (side 0) or of B half-way (1) of pair i in the screw frame, float64."""
        k, mesh = self.record, self.meshes[self.scene.shape[self.scene.pairs[i][side]]]
        rot, shift = ((k.ra, k.ta), (k.rb, k.tb))[side]
        return mesh, (mesh.vertices - mesh.center) * k.shrink[i] @ rot[i].T + shift[i]


def samples(mesh, x, kind, feature, box, rng):
    """Points (k, 3) of a feature: all of it, for an edge the part it keeps."""
    if kind == 0:
        return x[feature][None]
    if kind == 1:
        a, b = x[mesh.edges[feature]]
        u = box.u0 + (box.u1 - box.u0) * np.linspace(0, 1, 9)[:, None]
        return a + u * (b - a)
    loop = mesh.face_vertices[mesh.face_start[feature] : mesh.face_start[feature + 1]]
    share = rng.dirichlet(np.ones(len(loop)), 12)
    return np.concatenate([x[loop], share @ x[loop]])


@pytest.mark.shared_bits("tests/narrow_phase/test_s02_facing.py")
@pytest.mark.parametrize("precision", ["mixed", "double"])
@pytest.mark.parametrize("family", FAMILIES)
def test_boxes_hold_their_features(family, precision, backend):
    """Every point of a listed feature is in its box, on the copy it is listed for."""
    rng = np.random.default_rng(3)
    boxes = Boxes(backend, family, 25, precision)
    seen = outside = 0
    for i in range(25):
        wn, gn, kappa, period = boxes.view[i, :4]
        for c in range(6):
            mesh, x = boxes.points(i, c // 3)
            for j in range(boxes.count[i, c]):
                box = SimpleNamespace(**dict(zip(LIST.offsets, boxes.box[i, c, j], strict=True)))
                p = samples(mesh, x, c % 3, boxes.id[i, c, j], box, rng)
                rho, psi = exact_rho(p[:, 0], p[:, 2], kappa), exact_arc(p[:, 0], p[:, 2], kappa)
                outside += np.sum((rho < box.r0) | (rho > box.r1))
                seen += len(p)
                if box.p1 - box.p0 > 2 * period:
                    continue
                psi += np.round((0.5 * (box.p0 + box.p1) - psi) / period) * period
                h, l = wn * p[:, 1] - gn * psi, gn * p[:, 1] + wn * psi
                outside += np.sum((h < box.h0) | (h > box.h1) | (l < box.l0) | (l > box.l1))
    assert seen > 1000 and outside == 0


def test_lists_hold_no_feature_twice_on_one_copy(backend):
    for family in FAMILIES:
        boxes = Boxes(backend, family, 25, "mixed")
        for i in range(25):
            for c in range(6):
                n = boxes.count[i, c]
                keys = list(zip(boxes.id[i, c, :n], boxes.copy[i, c, :n], strict=True))
                assert len(set(keys)) == n
                assert c < 3 or not boxes.copy[i, c, :n].any()  # B has no copies
                assert np.abs(boxes.copy[i, c, :n]).max(initial=0) <= 2


def test_only_the_side_that_looks_the_other_way_is_listed(backend):
    """A box comes along x: A offers the face at -x and its corners, B the one at +x."""
    import gpu_collide as gc

    box = gc.shapes.box()
    start = gc.Poses.from_quat_wxyz(np.array([[0.0, 0, 0], [-3, 0.1, 0.2]]), np.tile([1.0, 0, 0, 0], (2, 1)))
    end = gc.Poses.from_quat_wxyz(np.array([[0.0, 0, 0], [0, 0.1, 0.2]]), np.tile([1.0, 0, 0, 0], (2, 1)))
    found = Stages(backend, gc.Bodies(box, None, start, end), [[0, 1]]).screen()
    low, high = np.nonzero(box.vertices[:, 0] < 0)[0], np.nonzero(box.vertices[:, 0] > 0)[0]
    faces = [int(np.argmax(sign * box.face_planes[:, 0])) for sign in (-1, 1)]
    for pair, kind, fa, fb in found.rows:
        assert pair == 0
        if kind == C["GC_FV"]:
            # the faces beside it are at the border of facing, and stay for the solver to judge
            assert fb in high and box.face_planes[fa, 0] < 0.5
        elif kind == C["GC_VF"]:
            assert fa in low and box.face_planes[fb, 0] > -0.5
        else:
            assert np.isin(box.edges[fa], low).any() and np.isin(box.edges[fb], high).any()
    assert (0, C["GC_FV"], faces[0]) in {tuple(r[:3]) for r in found.rows.tolist()}


def test_pairs_that_cannot_meet_have_no_candidates(backend):
    """Past each other sideways, along the axis, at another radius, and behind."""
    import gpu_collide as gc

    one = [1.0, 0, 0, 0]
    quarter = [np.sqrt(0.5), 0, 0, np.sqrt(0.5)]
    cases = [
        ([-5, 3, 0], one, [5, 3, 0], one),
        ([-5, 0, 0], one, [-4, 0, 0], one),
        ([2, 0, 9], one, [0, 2, 9], quarter),
        ([9, 0, 0], one, [0, 9, 0], quarter),
    ]
    position = np.array([[[0, 0, 0], c[k]] for c in cases for k in (0, 2)], float).reshape(-1, 2, 2, 3)
    quat = np.array([[one, c[k]] for c in cases for k in (1, 3)]).reshape(-1, 2, 2, 4)
    poses = [
        gc.Poses.from_quat_wxyz(position[:, k].reshape(-1, 3), quat[:, k].reshape(-1, 4)) for k in (0, 1)
    ]
    bodies = gc.Bodies(gc.shapes.box(), None, *poses)
    stages = Stages(backend, bodies, np.arange(8).reshape(4, 2))
    for candidates in (C["GC_CANDIDATES_PAIRS"], C["GC_CANDIDATES_RASTER"]):
        assert stages.screen(candidates).count == 0


def test_invalid_pairs_are_passed_over(backend):
    stages = stages_of(backend, "random_cars", 40)
    whole = screened(backend, "random_cars", 40)
    state = stages.s01()[1].copy()
    state[::2] |= int(C["GC_PAIR_INVALID"])
    odd = stages.screen(state=state)
    assert not len(odd.no_room)
    assert odd.set() == {r for r in whole.set() if r[0] % 2}


# ---- scratch and shares


@pytest.mark.parametrize("candidates", ["GC_CANDIDATES_PAIRS", "GC_CANDIDATES_RASTER"])
@pytest.mark.parametrize("precision", ["mixed", "double"])
def test_scratch_that_is_too_small_says_what_it_needs(candidates, precision, backend):
    """Without room a pair emits nothing and asks; rows are asked for in three steps, each with what it
    knows."""
    kind = int(C[candidates])
    stages = stages_of(backend, "random_cars", 30, precision)
    whole = screened(backend, "random_cars", 30, precision, kind)
    room, todo, rows, asked = (1, 1), np.arange(30), [], []
    for _ in range(4):
        # one group, so that a write behind its scratch meets the guard and no neighbour
        found = stages.screen(kind, room=room, todo=todo, groups=1)
        rows.append(found.rows)
        waiting = found.no_room
        assert np.isin(waiting, todo).all() and not np.isin(found.rows[:, 0], waiting).any()
        assert (found.need > 0).any() == (len(waiting) > 0)
        if not len(waiting):
            break
        assert (found.need > room).any()
        room, todo = tuple(np.maximum(found.need, room).tolist()), waiting
        asked.append(room)
    assert not len(waiting)
    assert 1 <= len(asked) <= (1 if kind == C["GC_CANDIDATES_PAIRS"] else 3)
    assert sorted(map(tuple, np.concatenate(rows).tolist())) == sorted(map(tuple, whole.rows.tolist()))


def test_nothing_is_written_behind_the_scratch(backend):
    """The integers that s02 asked for and not one more: the rows then need more, and say so before they
    write."""
    stages = stages_of(backend, "random_cars", 30)
    need = stages.screen(RASTER, room=(1, 1), groups=1).need
    found = stages.screen(RASTER, room=(1 << 18, int(need[1])), groups=1)
    assert len(found.no_room)
    assert not found.spilled


def test_candidates_beyond_the_capacity_are_counted(backend):
    stages = stages_of(backend, "random_cars", 30)
    whole = screened(backend, "random_cars", 30)
    for capacity in (1, whole.count - 1, whole.count):
        found = stages.screen(capacity=capacity)
        assert found.count == whole.count
        assert found.set() <= whole.set() and (found.rows >= 0).all()


@pytest.mark.parametrize("groups", [1, 2, 7])
@pytest.mark.parametrize("family", ["random_cars", "axis_through_both"])
def test_groups_change_no_candidate(family, groups, backend):
    stages = stages_of(backend, family, 30)
    for kind in ("GC_CANDIDATES_PAIRS", "GC_CANDIDATES_RASTER"):
        whole = screened(backend, family, 30, candidates=int(C[kind]))
        assert stages.screen(int(C[kind]), groups=groups).bits() == whole.bits()


@pytest.mark.parametrize("family", ["random_cars", "axis_through_both"])
def test_work_items_that_share_a_pair_change_no_record(family, backend):
    """Groups of more than one work-item, with real barriers between the stages. The lists come in another
    order, the candidates of rows and their brackets are the same."""
    other = sharing(backend)
    whole = screened(backend, family, 30, candidates=RASTER)
    scene = scene_of(family, 30)
    for groups in (1, 7):
        found = Stages(other, scene.bodies(), scene.pairs, text=probe_text()).screen(RASTER, groups=groups)
        assert found.bits() == whole.bits()


@pytest.mark.parametrize("family", ["random_cars", "axis_through_both", "random_nonconvex", "two_sided"])
def test_work_items_that_share_a_pair_lose_nothing(family, backend):
    """Without rows they look at whole edges: other candidates, the same whatever the groups. Each contact of
    the oracle is in the bracket of one, and the hits have the same bits."""
    other, n = sharing(backend), 30
    alone = stages_of(backend, family, n)
    stages = Stages(other, alone.bodies, alone.pairs, text=probe_text())
    found, again = (stages.screen(PAIRS, groups=groups) for groups in (1, 7))
    assert found.bits() == again.bits() and not len(found.no_room)
    missing, seen = uncovered(found, family, n, (FV, VF, EE))
    assert seen and not missing
    assert _hits(alone, found) == _hits(alone, screened(backend, family, n))


def _hits(stages, found):
    """What the solver makes of candidates, each hit once."""
    return stages.s07(found).table().tobytes()


@pytest.mark.parametrize("straight", [False, True])
def test_boxes_of_long_lists_are_found_by_bits(straight, backend):
    """Lists so long that work-items that share a pair look into rows of bits instead of at boxes: the same
    hits."""
    bodies, pairs = random_impacts(gc.shapes.torus(), n=6, seed=1)
    if straight:
        end = gc.Poses(bodies.end.position, bodies.start.quat_wxyz)
        bodies = gc.Bodies(bodies.meshes, bodies.shape, bodies.start, end)
    alone, many = (Stages(be, bodies, pairs, text=probe_text()) for be in (backend, sharing(backend)))
    whole, found = (s.screen(PAIRS, room=(1 << 19, 1 << 18)) for s in (alone, many))
    assert whole.count > 10 and not len(found.no_room)
    assert whole.set() <= found.set() and _hits(alone, found) == _hits(alone, whole)


@pytest.mark.parametrize("precision", ["mixed", "double"])
@pytest.mark.parametrize("kind", ["GC_CANDIDATES_PAIRS", "GC_CANDIDATES_RASTER"])
def test_backends_find_the_same_candidates(kind, precision, backend):
    for family in ("random_nonconvex", "to_180"):
        mine, theirs = (screened(be, family, 30, precision, int(C[kind])) for be in (backend, cpu()))
        if backend.group_size == 1:
            assert mine.bits() == theirs.bits()
        else:  # many work-items look for them in other ways, with bounds of their own: the same hits
            one, other = (stages_of(be, family, 30, precision) for be in (backend, cpu()))
            assert _hits(one, mine) == _hits(other, theirs)
