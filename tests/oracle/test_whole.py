"""The judges of whole-number motion: each against another, and each shown to see what it is there for."""

import dataclasses

import numpy as np
import pytest

import gpu_collide as gc
from tests import oracle
from tests.acceptance import whole_numbers
from tests.oracle import matching, scenes
from tests.oracle.scenes_whole import WHOLE
from tests.oracle.separation import first_overlap, translation_interval
from tests.oracle.solid import Solid, apply, relative, rotation_matrix

mp = pytest.importorskip("mpmath")


def poses_of(scene, pair):
    i, j = scene.pairs[pair]
    return [(x[[k]], q[[k]]) for k in (i, j) for x, q in (scene.start, scene.end)]


@pytest.mark.parametrize("family", ["drill", "exact_half_turn", "hinge", "whole_translation"])
def test_exponential_of_matrices_and_the_twist_are_one_motion(family):
    """The brute force's closed form of the motion against matrix exponentials in fifty digits."""
    from tests.oracle.extended import DIGITS, Extended

    scene = WHOLE[family](8, 2)
    worst = 0.0
    for pair in range(2):
        judge = Extended(scene, pair)
        twist, axes = relative(judge.a, judge.b, *poses_of(scene, pair))
        at = np.array([0])
        for t in (0.0, 0.3, 1.0):
            x = judge.b.v[:2] + judge.b.center
            turned = [twist.rotate(at, np.array([t]), apply(axes[0], v)[None])[0] for v in judge.b.v[:2]]
            mine = twist.centre(at, np.array([t]))[0] + np.array(turned) + judge.a.center
            with mp.workdps(DIGITS):
                m = np.array(judge.at(t).tolist(), float)
            worst = max(worst, np.abs(x @ m[:3, :3].T + m[:3, 3] - mine).max())
    assert worst < 1e-14  # 2e-15 measured


def test_fifty_digits_know_a_contact_from_none():
    """Contacts of the brute force hold; the same features a little earlier do not."""
    from tests.oracle.extended import Extended

    scene = WHOLE["whole_motion"](4, 12)
    expected = oracle.expect(scene)
    atoms = expected.atoms[expected.atoms["state"] == oracle.REQUIRED][:2]
    assert len(atoms) == 2
    for a in atoms:
        judge = Extended(scene, a["pair"])
        features = int(a["kind"]), int(a["feature_a"]), int(a["feature_b"])
        tau = float(expected.tau[a["pair"]])
        margins = judge.margins(*features, float(a["time"]))
        assert margins.state(tau) == "contact"
        assert abs(margins.time - a["time"]) * abs(a["normal_speed"]) < 1e-14  # 1e-15 measured
        assert abs(margins.inside - a["inside"]) < 1e-13
        assert judge.margins(*features, float(a["time"]) - 1e-3).state(tau) == "none"


def test_translations_of_whole_numbers_are_exact():
    """First times of unturned boxes between points of a grid, as fractions: the nearest float is found."""
    scene = WHOLE["whole_translation"](5, 60)
    found = gc.collide(scene.bodies(), scene.pairs, backend="cpu")
    solids = [Solid(m) for m in scene.meshes]
    compared = 0
    for p, (i, j) in enumerate(scene.pairs):
        turn = rotation_matrix(scene.start[1][i]).T.round(12)
        way = [turn @ (x[j] - x[i]) for x in (scene.start[0], scene.end[0])]
        interval = translation_interval(solids[scene.shape[i]], solids[scene.shape[j]], *way)
        if interval is None:
            assert found.status[p] == gc.Status.MISS
        elif interval[0] > 0 and interval[1] > interval[0]:  # apart at first, and more than a touch
            assert abs(found.toi[p] - float(interval[0])) < 2e-15  # 4.5e-16 measured
            compared += 1
    assert compared > 10


@pytest.mark.parametrize("family", ["random_boxes", "drill"])
def test_separating_axes_and_the_brute_force_agree(family):
    """First contacts of convex bodies that start apart, by a principle without features."""
    scene = scenes.FAMILIES[family](31, 40)
    convex = [k for k, m in enumerate(scene.meshes) if is_convex(Solid(m))]
    both = np.isin(scene.shape[scene.pairs], convex).all(axis=1)
    first = first_overlap(scene, only=np.flatnonzero(both))
    expected = oracle.expect(scene)
    atoms = expected.atoms[(expected.atoms["state"] > 0) & (expected.atoms["properness"] >= -0.1)]
    toi = np.full(len(scene.pairs), np.inf)
    np.minimum.at(toi, atoms["pair"], atoms["time"])
    assert first.sure.sum() > 20 and np.isfinite(first.time[first.sure]).sum() > 10
    assert np.array_equal(np.isinf(toi[first.sure]), np.isinf(first.time[first.sure]))
    hit = first.sure & np.isfinite(first.time)
    assert np.abs(toi[hit] - first.time[hit]).max() < 1e-9  # 1e-12 measured


def is_convex(solid):
    return all((solid.v - solid.v[loop[0]] @ np.eye(3)).dot(n).max() < 1e-9 for loop, n in
               zip(solid.loops, solid.normal, strict=True))  # fmt: skip


def test_what_is_lost_late_or_bent_is_counted(monkeypatch):
    """A collider that loses the first contact of a pair, one that is late, one with a long normal."""
    collide = gc.collide

    def changed(change):
        def fake(*args, **more):
            found = collide(*args, **more)
            return dataclasses.replace(found, **change(found))

        monkeypatch.setattr(gc, "collide", fake)
        return whole_numbers.run("whole_motion", 20, seed=3, digits=3)

    def lose(found):
        keep = found.pair != found.pair[np.argmax(np.diff(found.contact_start)[found.pair] == 1)]
        fields = {f.name: getattr(found, f.name) for f in dataclasses.fields(found)}
        names = [name for name, value in fields.items() if value is not None and len(value) == len(found)]
        out = {n: getattr(found, n)[keep] for n in names if n not in ("status", "toi", "pairs", "info")}
        toi = np.full(found.n_pairs, np.inf)
        np.minimum.at(toi, out["pair"], out["time"])
        start = np.searchsorted(out["pair"], np.arange(found.n_pairs + 1))
        return dict(out, toi=toi, status=(toi < np.inf).astype(np.uint8), contact_start=start)

    def late(found):
        return {"time": found.time + 1e-7, "time_end": found.time_end + 1e-7, "toi": found.toi + 1e-7}

    def long(found):
        return {"normal": found.normal * 1.2}

    assert whole_numbers.run("whole_motion", 20, seed=3).bad == 0
    lost = changed(lose)
    assert lost.missed > 0
    assert changed(late).bad > 2
    assert changed(long).bad_normals > 4


def alone(family, seed, pair):
    """One pair of a family's block as a scene of its own."""
    scene = WHOLE[family]([whole_numbers.SEED, seed], 2000)
    return dataclasses.replace(scene, pairs=scene.pairs[[pair]])


def changed(found, k, **fields):
    """Contacts as arrays with some fields of one of them changed."""
    out = {name: np.array(value) for name, value in matching.as_arrays(found).items()}
    for name, value in fields.items():
        out[name][k] = value
    return out


@pytest.mark.parametrize("seed, pair, sine", [(25, 1618, 5.3e-5), (46, 967, 3.5e-5)])
def test_the_normal_of_nearly_parallel_edges_is_worth_their_time(seed, pair, sine):
    """While one edge turns by d, their common normal turns by d / sin. The time of such edges is the rounding
    of the poses over sin, 1e-11 of a step here, and their normals lose 5e-8: right, and called wrong once."""
    scene = alone("thin_and_tiny", seed, pair)
    found = gc.collide(scene.bodies(), scene.pairs, backend="cpu").to_numpy()
    expected = oracle.expect(scene)
    report = oracle.check(found, scene, expected=expected)
    assert report.ok, report
    k = int(np.flatnonzero(found.kind == oracle.EE)[0])
    atom = expected.atoms[np.argmin(np.abs(expected.atoms["time"] - found.time[k]))]
    assert abs(atom["sine"] / sine - 1) < 0.02
    assert np.abs(found.normal[k] - atom["normal"]).max() > 1e-8
    # the same normal at the true time is not forgiven, nor one turned by 1e-5
    right = changed(found, k, time=atom["time"], time_end=atom["time"], normal=found.normal[k])
    tilted = changed(found, k, normal=found.normal[k] + 1e-5)
    for wrong in (right, tilted):
        assert "normal" in {row["field"] for row in oracle.compare(wrong, expected, structure=False).wrong}


def test_what_the_inside_test_leaves_free_of_an_end():
    """Edges that leave each other along a rim of slope 2e-5 are within 1e-11 of each other's ends for 1.2e-7
    of the step: any end in that time is right, an earlier or a later one is not."""
    scene = alone("thin_and_tiny", 44, 674)
    found = gc.collide(scene.bodies(), scene.pairs, backend="cpu").to_numpy()
    expected = oracle.expect(scene)
    report = oracle.check(found, scene, expected=expected)
    assert not report.wrong and not report.missed, report
    atoms = expected.atoms[expected.atoms["state"] == oracle.REQUIRED]
    atom = atoms[(atoms["kind"] == oracle.EE) & (atoms["feature_a"] == 1) & (atoms["feature_b"] == 9)][0]
    assert 2.2e-7 < atom["end_slack"] < 2.5e-7 and atom["begin_slack"] < 1e-11
    k = int(np.flatnonzero((found.kind == 2) & (found.feature_a == 1) & (found.feature_b == 9))[0])
    for off in (-3e-7, 3e-7):
        report = oracle.compare(
            changed(found, k, time_end=found.time_end[k] + off), expected, structure=False
        )
        assert report.wrong or report.missed


def test_fifty_digits_grant_a_slow_meeting_its_doubt():
    """A unit box turns past a rim of 1e-5: the gap closes at 1.6e-5 a step, the place moves at 4.4. That w is
    6e-17 and not 0 at half a turn moves it by 4e-11: which edge it meets there is on the border."""
    from tests.oracle.extended import Extended

    judge = Extended(alone("thin_and_tiny", 25, 611), 0)
    slow = judge.margins(oracle.EE, 6, 3, 0.5000000000207788)
    assert slow.inside < -3e-11 and slow.state(1e-9) == "border"
    # a doubt, no licence: as far outside at an ordinary speed is no contact
    assert slow.doubt < 1e-8
    assert dataclasses.replace(slow, doubt=1e-14).state(1e-9) == "none"
    assert dataclasses.replace(slow, inside=-2e-8).state(1e-9) == "none"


@pytest.mark.slow
@pytest.mark.parametrize("family", WHOLE)
def test_two_thousand_pairs_of_each_family(family, backend):
    """The everyday sample is the matrix's; a hundred thousand: `python -m tests.acceptance.whole_numbers`."""
    tally = whole_numbers.run(family, 2000, backend.kind)
    assert tally.bad == 0, str(tally) + "\n" + "\n".join(tally.notes)
    assert tally.hits > 200
