"""s01_bodies: motions of pairs whose bodies move each on its own, and screws for pieces of them."""

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide.backends import sources
from gpu_collide.pipeline.narrow_phase import stages
from tests.acceptance.body_motion_runs import library_bodies
from tests.narrow_phase.test_s01_screw import Record
from tests.oracle.body_motion import poses
from tests.oracle.body_motion_families import FAMILIES

SCREW = sources.record("screw")
CURVED = ("tumbling", "drills", "spins", "spin_and_screw", "half_turns", "cars_2hz", "rolling", "thin")
FIELDS = ("status", "toi", "time", "time_end", "position", "normal", "properness", "normal_speed", "local_a",
          "local_b", "kind", "feature_a", "feature_b", "sustained", "contact_start")  # fmt: skip


def pieces_of(scene, backend, monkeypatch, **options):
    """Columns of the pieces of a scene, the record of each pair, and the pairs as they were asked about."""
    bodies, pairs = library_bodies(scene)
    seen = {}

    def cut(x):
        y = cut_as_ever(x)
        for name, width in (("piece", 1), ("span", 2), ("screw", SCREW.stride)):
            column = x.run.backend.to_host(y.buffers[f"{name}_in"])
            seen[name] = column.reshape(-1, width)[: y.pairs.n]
        return y

    cut_as_ever = stages.cut
    monkeypatch.setattr(stages, "cut", cut)
    gc.collide(bodies, pairs, motion="body", backend=backend, report=True, **options)
    return seen, bodies, pairs


def middles(bodies):
    return [0.5 * (m.vertices.min(axis=0) + m.vertices.max(axis=0)) for m in bodies.meshes]


def seen_from_a(scene, pair, times, centres):
    """B's axes and centre in A's axes from A's centre, at times (k,)."""
    a, b = (np.repeat(scene.bodies[[body]], len(times)) for body in scene.pairs[pair])
    (pa, ra), (pb, rb) = poses(a, times), poses(b, times)
    ca, cb = (centres[m] for m in scene.bodies["mesh"][scene.pairs[pair]])
    apart = pb - pa + rb @ cb - ra @ ca
    return np.einsum("nji,njk->nik", ra, rb), np.einsum("nji,nj->ni", ra, apart)


@pytest.mark.parametrize("family", CURVED)
def test_pieces_are_padded_for_how_far_true_motions_are_off_their_screws(family, monkeypatch):
    """Points of B's ball, their velocities and B's directions, at nine times of each piece; by the poses of
    the judge."""
    scene = FAMILIES[family](11, 12)
    seen, bodies, _ = pieces_of(scene, "cpu", monkeypatch)
    centres = middles(bodies)
    record, rng = Record(seen["screw"]), np.random.default_rng(1)
    column = {
        name: seen["screw"][:, SCREW[name]].reshape(-1)
        for name in ("pad", "slip", "tilt", "radius_b", "scale")
    }
    some = np.flatnonzero(column["pad"] > 0)
    assert len(some) > 8
    close = []
    for i in some:
        pair, h = seen["piece"][i, 0], np.ptp(seen["span"][i])
        s = np.linspace(-0.5, 0.5, 9)
        times = seen["span"][i].mean() + 0.5 + h * s
        unit = rng.normal(size=(24, 3))
        points = (
            unit
            / np.linalg.norm(unit, axis=1)[:, None]
            * column["radius_b"][i]
            * rng.choice([1.0, 0.5, 0.0], (24, 1))
        )
        small = 1e-5
        now, before, after = (seen_from_a(scene, pair, times + d * h, centres) for d in (0.0, -small, small))
        places = [
            axes @ points.T + centre[:, :, None] / column["scale"][i] for axes, centre in (now, before, after)
        ]
        frame, shift = record.ra[i], record.ta[i]
        x0 = points @ record.rb[i].T + record.tb[i]
        away = along = turned = 0.0
        for k in range(9):
            on_screw = (record.flow(i, x0, s[k]) - shift) @ frame
            away = max(away, np.linalg.norm(places[0][k].T - on_screw, axis=1).max())
            true = places[0][k].T @ frame.T + shift
            around = record.theta[i] * true
            flow = np.stack([record.w[i] + around[:, 2], np.full(24, record.g[i]), -around[:, 0]], 1) @ frame
            velocity = (places[2][k] - places[1][k]).T / (2 * small)
            along = max(along, np.linalg.norm(velocity - flow, axis=1).max())
            ends = record.flow(i, np.eye(3) @ record.rb[i].T + record.tb[i], s[k]) - record.flow(
                i, record.tb[i][None], s[k]
            )
            axes = now[0][k]
            cosine = 0.5 * (np.trace((ends @ frame) @ axes) - 1)
            turned = max(turned, 2 * np.arcsin(np.sqrt(max(0.5 * (1 - min(cosine, 1)), 0))))
        assert away <= column["pad"][i] * (1 + 1e-9) + 1e-9
        assert along <= column["slip"][i] * (1 + 1e-9) + 1e-6
        assert turned <= column["tilt"][i] * (1 + 1e-9) + 1e-7
        close.append(away / column["pad"][i])
    assert np.median(close) > 0.2, "bounds that bound nothing"


def test_pieces_cover_all_times_at_which_the_balls_may_meet(monkeypatch):
    scene = FAMILIES["tumbling"](3, 200)
    seen, bodies, _ = pieces_of(scene, "cpu", monkeypatch)
    centres = middles(bodies)
    radius = np.array([m.radius for m in bodies.meshes])[scene.bodies["mesh"]][scene.pairs].sum(axis=1)
    times = np.linspace(0, 1, 201)
    for pair in range(len(scene.pairs)):
        apart = np.linalg.norm(seen_from_a(scene, pair, times, centres)[1], axis=1)
        spans = seen["span"][seen["piece"][:, 0] == pair] + 0.5
        inside = ((times >= spans[:, :1] - 1e-6) & (times <= spans[:, 1:] + 1e-6)).any(axis=0)
        assert inside[apart < radius[pair]].all(), pair


@pytest.mark.parametrize("family", ["one_still", "translating"])
def test_motions_that_are_one_screw_have_the_bits_of_relative_motion(family, backend):
    bodies, pairs = library_bodies(FAMILIES[family](5, 200))
    own, relative = (gc.collide(bodies, pairs, motion=m, backend=backend.kind) for m in ("body", "relative"))
    assert (np.asarray(own.status) == gc.Status.HIT).sum() > 20
    for name in FIELDS:
        assert np.array_equal(np.asarray(getattr(own, name)), np.asarray(getattr(relative, name))), name


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_contacts_are_those_of_the_reference(family):
    """All pairs of features, times and places; the worst seen: 4e-14 of a step, 2e-13 of a length."""
    n = (
        1 if family == "rolling" or family.startswith("cars") else 4
    )  # these take the reference a second a pair
    bodies, pairs = library_bodies(FAMILIES[family](21, n))
    found, wanted = (gc.collide(bodies, pairs, motion="body", backend=b) for b in ("cpu", "reference"))
    assert np.array_equal(found.status, wanted.status)
    assert np.array_equal(found.contact_start, wanted.contact_start)
    # those of one time may stand in another order
    one, other = (
        np.lexsort((np.round(x.time, 6), x.feature_b, x.feature_a, x.kind, x.pair)) for x in (found, wanted)
    )
    for name in ("kind", "feature_a", "feature_b", "sustained"):
        assert np.array_equal(getattr(found, name)[one], getattr(wanted, name)[other]), name
    for name in FIELDS[2:10]:
        assert np.allclose(getattr(found, name)[one], getattr(wanted, name)[other], rtol=0, atol=1e-9), name


def test_backends_give_the_same_bits(backend):
    if backend.kind in ("reference", "cpu"):
        pytest.skip("cpu is what is compared with")
    for family in sorted(FAMILIES):
        bodies, pairs = library_bodies(FAMILIES[family](4, 30))
        found, wanted = (gc.collide(bodies, pairs, motion="body", backend=b) for b in (backend.kind, "cpu"))
        for name in FIELDS:
            one, other = (np.asarray(getattr(x, name)) for x in (found, wanted))
            assert np.array_equal(one, other), (family, name)


def test_the_bits_do_not_depend_on_who_proposes(backend):
    """Whole meshes or near faces, filters or none, much memory or little, few pairs or many."""
    if backend.kind == "reference":
        pytest.skip("it proposes all")
    scene = FAMILIES["tumbling"](8, 120)
    bodies, pairs = library_bodies(scene)
    whole = gc.collide(bodies, pairs, motion="body", backend=backend.kind)
    others = [
        {"tuning": gc.Tuning(features="near")},
        {"tuning": gc.Tuning(filters="none")},
        {"tuning": gc.Tuning(filters=("spheres", "boxes", "plane"))},
        {"max_bytes": 30 << 20},
    ]
    for options in others:
        found = gc.collide(bodies, pairs, motion="body", backend=backend.kind, **options)
        for name in FIELDS:
            assert np.array_equal(np.asarray(getattr(found, name)), np.asarray(getattr(whole, name))), (
                options,
                name,
            )
    few = gc.collide(bodies, pairs[:9], motion="body", backend=backend.kind)
    end = int(whole.contact_start[9])
    assert np.array_equal(few.time, np.asarray(whole.time)[:end]) and np.array_equal(few.toi, whole.toi[:9])
