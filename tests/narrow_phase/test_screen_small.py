"""screen_small: the screen of two small meshes among many work-items, against the oracle and the
other screen."""

from functools import cache

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide.backends import sources
from tests.narrow_phase._launch import EE, FV, VF, C, Stages, screened, sharing, stages_of, uncovered

FAMILIES = ("random_cars", "axis_through_both", "to_180", "tiny_angles", "passing", "two_sided")
N = 30


@cache
def _text():
    return sources.program("screen_small")


def _fits(mesh):
    counts = len(mesh.vertices), len(mesh.edges), mesh.n_faces
    return all(
        n <= C[f"GC_SMALL_{what}"] for n, what in zip(counts, ("VERTICES", "EDGES", "FACES"), strict=True)
    )


@cache
def _todo(backend, family):
    """Pairs of a scene with two small meshes."""
    stages = stages_of(backend, family, N)
    small = np.array([_fits(mesh) for mesh in stages.bodies.meshes])
    return np.flatnonzero(small[stages.bodies.shape[stages.pairs]].all(axis=1))


@cache
def _small(backend, family, groups=None, **options):
    """Candidates of the small screen by groups of many work-items."""
    alone = stages_of(backend, family, N)
    stages = Stages(sharing(backend), alone.bodies, alone.pairs, text=_text())
    return stages.screen(small=True, groups=groups, todo=_todo(backend, family), **options)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_contact_is_in_the_bracket_of_a_candidate(family, backend):
    found, todo = _small(backend, family), set(_todo(backend, family).tolist())
    assert not len(found.no_room) and found.count == len(found.rows) and not found.spilled
    missing, seen = uncovered(found, family, N, (FV, VF, EE))
    assert seen and todo and not [m for m in missing if m[0][0] in todo]


@pytest.mark.parametrize("family", FAMILIES)
def test_hits_are_those_of_the_other_screen(family, backend):
    stages = stages_of(backend, family, N)
    small, other = _small(backend, family), screened(backend, family, N)
    same = np.isin(other.rows[:, 0], _todo(backend, family))
    mine, theirs = stages.s07(small), stages.s07((other.rows[same], other.brackets[same]))
    assert mine.table().tobytes() == theirs.table().tobytes()
    assert len(small.rows) <= 4 * max(same.sum(), 1)  # it culls at all


@pytest.mark.parametrize("family", ["random_cars", "axis_through_both"])
def test_groups_change_no_candidate(family, backend):
    assert _small(backend, family, groups=1).bits() == _small(backend, family, groups=7).bits()


def test_scratch_that_is_too_small_says_what_it_needs(backend):
    whole = _small(backend, "random_cars")
    none = _small(backend, "random_cars", groups=1, room=(1, 1))
    assert none.count == 0 and len(none.no_room) and (none.need > 0).all()
    enough = _small(backend, "random_cars", groups=1, room=tuple(none.need.tolist()))
    assert not len(enough.no_room) and not enough.spilled
    assert enough.bits() == whole.bits()


def test_candidates_beyond_the_capacity_are_counted(backend):
    whole = _small(backend, "random_cars")
    found = _small(backend, "random_cars", capacity=5)
    assert found.count == whole.count and len(found.rows) == 5
    assert found.set() <= whole.set()


def _through():
    """Poses of one body that rests and of one that goes through it along z."""
    one = np.tile([1.0, 0, 0, 0], (2, 1))
    start = gc.Poses.from_quat_wxyz(np.array([[0.0, 0, 0], [0.1, 0.2, 2.0]]), one)
    return start, gc.Poses.from_quat_wxyz(np.array([[0.0, 0, 0], [0.2, 0.1, -2.0]]), one)


def test_more_meetings_than_it_notes_at_a_time(backend):
    """A fan goes through another: more meetings than there are notes for."""
    ring = np.linspace(0, 2 * np.pi, 24, endpoint=False)
    comb = np.column_stack([np.cos(ring), np.sin(ring), 0.3 * (np.arange(24) % 2)])
    faces = np.column_stack([np.zeros(22, int), np.arange(1, 23), np.arange(2, 24)])
    bodies = gc.Bodies(gc.Mesh(comb, faces, two_sided=True), None, *_through())
    alone = Stages(backend, bodies, [[0, 1]])
    stages = Stages(sharing(backend), bodies, alone.pairs, text=_text())
    small, other = stages.screen(small=True, min_properness=-1.0), alone.screen(min_properness=-1.0)
    assert (small.rows[:, 1] == EE).sum() > 256 and small.count == len(small.set())
    hits = [alone.s07(found, min_properness=-1.0).table().tobytes() for found in (small, other)]
    assert hits[0] == hits[1]
