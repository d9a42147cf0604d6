"""Encounters: who met whom, when; also of bodies that only overlap, and of blocks of steps put together."""

import dataclasses

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import gpu_collide as gc
from tests.api.test_tables import UP, falling
from tests.support.seeds import everyday

SHAPE = [0, 1, 0, 1, 0, 0]
BOX, BLOCK = gc.shapes.box(), gc.shapes.box((2, 2, 2))


def along(position, *, shape=None, times=None, **options):
    """Contacts of boxes without turning, `position` (t, n, 3)."""
    position = np.asarray(position, float)
    poses = gc.Poses.from_quat_wxyz(position, np.broadcast_to(UP[0], (*position.shape[:2], 4)))
    times = np.arange(float(len(position))) if times is None else times
    options.setdefault("backend", "cpu")
    return gc.collide_trajectories(BOX if shape is None else [BOX, BLOCK], shape, poses, times, **options)


def wandering(seed, frames=14, n=6):
    """Boxes of two sizes on whole and half numbers: they touch, rest, creep in each other, meet at frames."""
    rng = np.random.default_rng(seed)
    steps = rng.choice([-1.0, -0.5, 0.0, 0.0, 0.0, 0.125, 0.5, 1.0], size=(frames, n, 3))
    steps[0] = rng.integers(-2, 3, size=(n, 3))
    way = np.cumsum(steps * np.where(rng.uniform(size=(frames, n, 1)) < 0.5, 1, [1, 0.25, 0]), axis=0)
    return 2 - np.abs(way % 8 - 4)  # within [-2, 2]


def by_definition(found):
    """Encounters one by one, in plain Python, from the tables of pairs and of contacts."""
    together = {}
    for row, pair in enumerate(found.pairs):
        mine = range(found.contact_start[row], found.contact_start[row + 1])
        if len(mine) or pair["status"] == gc.Status.INITIAL_OVERLAP:
            together[pair["body_a"], pair["body_b"], pair["step"]] = (mine, pair["status"])
    told = []
    for a, b, step in together:
        if (a, b, step - 1) in together:
            continue
        last = step
        while (a, b, last + 1) in together:
            last += 1
        rows = [c for k in range(step, last + 1) for c in together[a, b, k][0]]
        seen = [(found.time[c], found.time_end[c]) for c in rows]
        for k in range(step, last + 1):
            if together[a, b, k][1] == gc.Status.INITIAL_OVERLAP:
                seen.append((found.step_start[k - found.first_step],) * 2)
        first = min(begin for begin, _ in seen)
        mine, status = together[a, b, step]
        at_first = [c for c in mine if found.time[c] == first]
        in_touch = status == gc.Status.INITIAL_OVERLAP or all(found.normal_speed[c] > 0 for c in at_first)
        hardest = min(rows, key=lambda c: (found.normal_speed[c], c), default=-1)
        told.append((first, a, b, step, last, max(end for _, end in seen), len(rows), in_touch, hardest))
    return sorted(told)


def same_bits(got, want):
    for name in ("body_a", *type(want)._rows):
        one, two = getattr(got, name), getattr(want, name)
        assert one.dtype == two.dtype and one.tobytes() == two.tobytes(), name
    assert got.parts == want.parts
    assert (got.part_a is None) == (want.part_a is None)
    if want.part_a is not None:
        assert got.part_a.tobytes() + got.part_b.tobytes() == want.part_a.tobytes() + want.part_b.tobytes()


def test_of_a_bouncing_box():
    bounces = falling([4.0, 3.0, 1.3, 3.0, 4.0, 5.0, 1.2, 4.0], min_properness=-1.0)
    met = bounces.encounters()
    assert isinstance(met, gc.Encounters) and len(met) == 2
    assert met.contacts.sum() == len(bounces)
    assert met.first_step.tolist() == [1, 5] and met.last_step.tolist() == [2, 6]
    np.testing.assert_allclose(met.first_time, [1 + 1.5 / 1.7, 5 + 3.5 / 3.8], rtol=1e-12)
    np.testing.assert_allclose(met.last_time, [2 + 0.2 / 1.7, 6 + 0.3 / 2.8], rtol=1e-12)
    assert met.approach.argmax() == 1 and met.approach[1] == pytest.approx(3.8)
    assert not met.in_touch.any()
    np.testing.assert_array_equal(met.position, bounces.position[met.hardest])
    assert "2 of 1 pairs" in repr(met) and len(falling([9.0, 8.0]).encounters()) == 0


def test_who_only_separates_was_in_touch_already():
    """A box that begins in another and comes out of it: the first contact separates."""
    met = falling([1.3, 3.0, 5.0], min_properness=-1.0).encounters()
    assert len(met) == 1 and met.in_touch.all() and met.approach[0] < 0 and met.first_time[0] == 0
    assert falling([4.0, 1.3, 3.0], min_properness=-1.0).encounters().in_touch.tolist() == [False]


def test_steps_of_overlap_join_what_is_before_and_behind():
    """In touch for three steps, of which the one in the middle has no contact."""
    sunk = falling([4.0, 1.4, 1.3, 4.0], min_properness=-1.0)
    assert set(sunk.step.tolist()) == {0, 2}, "or this tests nothing"
    met = sunk.encounters()
    assert len(met) == 1 and (met.first_step[0], met.last_step[0]) == (0, 2)


def test_who_creeps_in_another_has_a_row_without_contacts(tmp_path):
    """One box creeps in another from the first frame on: neither surface goes through more of the other."""
    times = np.array([10.0, 10.5, 11.0, 12.0, 12.25])
    position = np.zeros((5, 3, 3))
    position[:, 1, 0] = [0.5, 0.52, 0.54, 0.56, 0.58]
    position[:, 2] = [50, 0, 0]
    found = along(position, times=times)
    assert len(found) == 0 and (found.pairs["status"] == gc.Status.INITIAL_OVERLAP).sum() == 4
    met = found.encounters()
    assert len(met) == 1 and (met.body_a[0], met.body_b[0], met.contacts[0]) == (0, 1, 0)
    assert (met.first_step[0], met.last_step[0]) == (0, 3) and met.in_touch[0]
    assert (met.first_time[0], met.last_time[0]) == (10.0, 12.0), "the starts of the first and the last step"
    assert met.hardest[0] == met.hardest_step[0] == -1
    assert met.hardest_time[0] == np.inf and met.approach[0] == -np.inf
    assert not met.position.any() and not met.normal.any()
    assert "hardest" not in repr(met) and "1 of 1 pairs" in repr(met)
    met.save(tmp_path / "met.npz")
    same_bits(gc.Encounters.load(tmp_path / "met.npz"), met)
    met.save(tmp_path / "met.csv")
    head, row = (tmp_path / "met.csv").read_text().splitlines()
    told = dict(zip(head.split(","), row.split(","), strict=True))
    assert told["approach"] == told["hardest_time"] == "" and told["first_time"] == "10.0"


def test_an_encounter_ends_when_the_two_are_last_seen_in_each_other():
    """A box that has fallen into another stays there without further contacts, then is gone."""
    found = falling([4.0, 1.4, 1.39, 1.38, 1.37, np.nan], min_properness=-1.0)
    assert set(found.step.tolist()) == {0}, "or this tests nothing"
    met = found.encounters()
    assert (
        len(met) == 1 and met.last_step[0] == 3 and met.last_time[0] == 3.0 and met.contacts[0] == len(found)
    )


def test_bodies_that_part_and_meet_again_meet_twice():
    position = np.zeros((8, 2, 3))
    position[:, 1, 0] = [0.5, 0.51, 5, 5, 5, 0.5, 0.51, 0.52]
    met = along(position).encounters()
    assert len(met) == 2 and met.first_step.tolist() == [0, 4] and met.last_step.tolist() == [1, 6]


@pytest.mark.parametrize("seed", everyday(4, 12))
def test_against_the_definition_one_by_one(seed):
    found = along(wandering(seed), shape=SHAPE, min_properness=-1.0)
    met = found.encounters()
    want = by_definition(found)
    names = [
        "first_time", "body_a", "body_b", "first_step", "last_step", "last_time", "contacts", "in_touch",
        "hardest",
    ]  # fmt: skip
    assert [tuple(getattr(met, name)[k] for name in names) for k in range(len(met))] == want
    assert met.contacts.sum() == len(found) and len(met) > 3
    some = met.contacts > 0
    rows = met.hardest[some]
    for name, of in (
        ("position", "position"),
        ("normal", "normal"),
        ("hardest_time", "time"),
        ("hardest_step", "step"),
    ):
        np.testing.assert_array_equal(getattr(met, name)[some], getattr(found, of)[rows])
    np.testing.assert_array_equal(met.approach[some], -found.normal_speed[rows])


def test_what_the_definition_is_tried_on_has_all_cases():
    found = [along(wandering(seed), shape=SHAPE, min_properness=-1.0) for seed in range(12)]
    met = [one.encounters() for one in found]
    contacts = np.concatenate([m.contacts for m in met])
    in_touch = np.concatenate([m.in_touch for m in met])
    long = np.concatenate([m.last_step - m.first_step for m in met])
    assert (contacts == 0).any() and (in_touch & (contacts > 0)).any() and (~in_touch).any()
    assert (long > 3).any() and any((one.fraction == 1).any() and (one.fraction == 0).any() for one in found)


@given(
    seed=st.integers(0, 1 << 16), seams=st.sets(st.integers(1, 12), max_size=12),
    nested=st.integers(0, 13), proper=st.sampled_from([-1.0, -0.1]),
)  # fmt: skip
@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow], deadline=None)
def test_blocks_cut_anywhere_join_to_the_bits_of_one_piece(seed, seams, nested, proper):
    """Blocks of steps that share one frame, each asked for by itself; joined at once and in two halves."""
    position, ask = wandering(seed), {"shape": SHAPE, "min_properness": proper}
    times = np.cumsum(np.random.default_rng(seed).uniform(0.1, 1.0, len(position)))
    ends = [0, *sorted(seams), len(position) - 1]
    blocks = [
        along(position[first : stop + 1], times=times[first : stop + 1], **ask).shifted(first)
        for first, stop in zip(ends[:-1], ends[1:], strict=True)
    ]
    want = along(position, times=times, **ask).encounters()
    parts = [block.encounters() for block in blocks]
    same_bits(gc.TrajectoryContacts.concatenate(blocks).encounters(), want)
    same_bits(gc.Encounters.concatenate(parts), want)
    halves = [half for half in (parts[:nested], parts[nested:]) if half]
    same_bits(gc.Encounters.concatenate(map(gc.Encounters.concatenate, halves)), want)


def test_seams_where_neither_side_has_a_contact():
    """The pair is together over the seam, and both steps beside it have no contact: still one encounter."""
    position, times = np.zeros((9, 2, 3)), np.arange(9.0)
    position[:, 1, 0] = [3, 1.5, 0.5, 0.51, 0.52, 0.53, 0.54, 2, 3]
    position[:, 1, 1:] = [0.1, 0.2]  # no face slides along another
    whole = along(position, min_properness=-1.0)
    assert not {3, 4} & set(whole.step.tolist()) and len(whole), "or this tests nothing"
    blocks = [
        along(position[k : k + 5], times=times[k : k + 5], min_properness=-1.0).shifted(k) for k in (0, 4)
    ]
    met = gc.Encounters.concatenate(block.encounters() for block in blocks)
    assert len(met) == 1 and met.contacts[0] == len(whole)
    same_bits(met, whole.encounters())


def test_at_the_time_of_a_seam_the_step_before_says_how_they_met():
    """Faces meet exactly at a frame: told at the end of its step and at the start of the next."""
    position, times = np.zeros((5, 2, 3)), np.arange(5.0)
    position[:, 1, 0] = [3, 2, 1, 0.5, 0.25]
    whole = along(position, min_properness=-1.0)
    assert {1, 2} <= set(whole.step[whole.time == 2.0].tolist()), "or this tests nothing"
    blocks = [
        along(position[k : k + 3], times=times[k : k + 3], min_properness=-1.0).shifted(k) for k in (0, 2)
    ]
    met = gc.Encounters.concatenate(block.encounters() for block in blocks)
    assert len(met) == 1 and met.first_time[0] == 2.0 and not met.in_touch[0]
    same_bits(met, whole.encounters())


def test_names_of_parts_are_joined():
    """Blocks number the names of parts each for itself."""
    named = gc.Mesh(BOX.vertices, BOX.face_vertices.reshape(-1, 4), parts=list("abcabc"))
    frames = gc.Poses.from_quat_wxyz(wandering(3), np.broadcast_to(UP[0], (14, 6, 4)))
    times = np.arange(14.0)

    def ask(first, stop):
        taken = frames[first : stop + 1], times[first : stop + 1]
        return gc.collide_trajectories(named, None, *taken, backend="cpu", min_properness=-1.0).shifted(first)

    want = ask(0, 13).encounters()
    assert want.part_a is not None and (want.part_a >= 0).any()
    same_bits(gc.Encounters.concatenate(ask(k, k + 1).encounters() for k in range(13)), want)


def test_parts_that_do_not_follow_each_other_are_refused():
    position = np.zeros((3, 2, 3))
    position[:, 1, 0] = [0.1, 0.2, 0.3]
    met = along(position).encounters()
    assert len(met)
    for parts, kind, text in (
        (
            [met, met],
            ValueError,
            "expected parts in the order of their steps, got part 1 with one from step 0",
        ),
        ([], ValueError, "parts: expected at least one Encounters, got none"),
        ([met, 3], TypeError, "parts: expected Encounters, got int as part 1"),
        (met, TypeError, "parts: expected a sequence of Encounters, got a single Encounters; put it into a"),
        (None, TypeError, "parts: expected a sequence of Encounters, got a single NoneType"),
    ):
        with pytest.raises(kind, match=text):
            gc.Encounters.concatenate(parts)
    empty = along(np.zeros((3, 1, 3))).encounters()
    assert len(empty) == 0 == len(gc.Encounters.concatenate([empty, empty]))
    same_bits(gc.Encounters.concatenate([empty, met, empty]), met)


def test_of_files_without_the_starts_of_steps():
    """Those of earlier versions: who only overlaps has no time there, and no row; the others have theirs."""
    position = np.zeros((6, 3, 3))
    position[:, 1, 0] = [0.5, 0.51, 0.52, 0.53, 0.54, 0.55]
    position[:, 1, 1:] = [0.1, 0.2]
    position[:, 2] = np.transpose([[0.3] * 6, [4, 1.2, 0.3, 0.31, 4, 5], [0.4] * 6])
    found = along(position, min_properness=-1.0)
    old = dataclasses.replace(found, step_start=None)
    assert np.isnan(old.step_start).all() and len(found.encounters()) == 3
    met = old.encounters()
    assert met.contacts.sum() == len(found) and (met.contacts > 0).all() and len(met) == 2


def told(found, status=gc.Status.INITIAL_OVERLAP):
    return found.pairs[found.pairs["status"] == status]


def test_two_parked_in_each_other_have_a_row():
    """Neither moves, so that no step tests the pair: they are in each other all the same, all the time."""
    position = np.zeros((6, 3, 3))
    position[:, 1] = [0.5, 0.1, 0.2]
    position[:, 2] = [9, 0, 0]
    found = along(position)
    met = found.encounters()
    assert len(found) == 0 and (found.step_pairs == 0).all()
    assert len(met) == 1 and (met.body_a[0], met.body_b[0]) == (0, 1)
    assert (met.first_step[0], met.last_step[0]) == (0, 4) and (met.first_time[0], met.last_time[0]) == (0, 4)
    assert along(position, check_start=False).encounters().contacts.size == 0
    assert len(along(position, ignore=[[1, 0]]).encounters()) == 0
    assert len(along(position, world=[0, 1, 0]).encounters()) == 0
    assert len(along(position, group=[1, 2, 1], mask=[1, 1, 1]).encounters()) == 0


def test_who_stops_in_another_stays_one_encounter():
    """A box drives into a parked one, stops in it for a while, and goes on: one encounter, not two."""
    position = np.zeros((10, 2, 3))
    position[:, 1, 0] = [3, 0.9, 0.6, 0.6, 0.6, 0.6, 0.5, 0.4, 3, 3]
    position[:, 1, 1:] = [0.1, 0.2]
    met = along(position, min_properness=-1.0).encounters()
    assert len(met) == 1 and (met.first_step[0], met.last_step[0]) == (0, 7)


@pytest.mark.parametrize("seed", everyday(3, 8))
@pytest.mark.parametrize("options", [{}, {"world": [0, 0, 1, 1, 0, 1, -1]}, {"ignore": [[0, 6], [2, 1]]}])
def test_overlaps_at_rest_are_those_of_still_pairs(seed, options):
    """The same rows as with all pairs tested; contacts stay; in batches of any size."""
    position = wandering(seed)
    position[4:9, :3] = position[4, :3]
    static = gc.Bodies(BLOCK, None, *[gc.Poses.from_quat_wxyz([[0.5, 0.25, 0.0]], UP)] * 2)
    ask = {"shape": SHAPE, "min_properness": -1.0, "static": static, **options}
    found, tested = along(position, **ask), along(position, still_pairs=True, **ask)
    who = ["step", "body_a", "body_b"]  # those that touch beside have a time only where they are tested
    assert told(found)[who].tolist() == told(tested)[who].tolist()
    plain = found.pairs[np.diff(found.contact_start) > 0]
    assert set(plain.tolist()) <= set(tested.pairs.tolist())
    for size in (1, 3):
        again = along(position, frames_per_batch=size, **ask)
        assert again.pairs.tobytes() == found.pairs.tobytes()
        same_bits(again.encounters(), found.encounters())


def test_what_overlaps_at_rest_is_tried_on_has_such(seeds=range(8)):
    still = 0
    for seed in seeds:
        position = wandering(seed)
        position[4:9, :3] = position[4, :3]
        found = along(position, shape=SHAPE)
        rows = told(found)
        rows = rows[(rows["step"] >= 4) & (rows["step"] < 8)]
        still += int(((rows["body_a"] < 3) & (rows["body_b"] < 3)).sum())
    assert still > 8
