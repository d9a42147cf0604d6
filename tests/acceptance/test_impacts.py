"""The promise of a loop (`examples/impacts.py`): at the first contact of a scene no two bodies overlap.

The judge is the example's own, planes that separate two solids, which shares nothing with the kernels.
At each state, also between frames, the least gap is at most the touch tolerance below 0: 1e-11 of the
larger radius, 3e-11 m for walls of 3 m. Seen: -1.1e-11 m in piles, -8e-12 m in flight.
"""

import runpy
from pathlib import Path

import numpy as np
import pytest

import gpu_collide as gc

IMPACTS = Path(__file__).resolve().parents[2] / "examples" / "impacts.py"
TOUCH = 3e-11


@pytest.fixture(scope="module")
def world():
    return runpy.run_path(str(IMPACTS))["World"]


def run(world, frames):
    """Least gap of all states."""
    least, advance = [], world.advance

    def looked_at(left):
        took = advance(left)
        least.append(world.gaps().min(initial=np.inf))
        return took

    world.advance = looked_at
    for _ in range(frames):
        world.frame()
    assert world.sunk == [], "what touches is touching, no INITIAL_OVERLAP"
    assert world.added <= 1e-14, "an impact adds no energy: 2.3e-16 seen"
    return min(least)


FLIGHT = dict(gravity=0.0, friction=0.0, restitution=1.0, rate=20.0, speed=3.0)


def test_tumbling(world):
    """Up to a third of a radian a step, elastic: nothing is lost on the way."""
    w = world(8, 2, **FLIGHT)
    before = w.energy()
    assert run(w, 30) >= -TOUCH
    assert w.impacts > 10 and w.lost == 0 and w.energy() == pytest.approx(before, rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_tumbling_for_long(world, seed):
    w = world(20, seed, **FLIGHT)
    assert run(w, 600) >= -TOUCH
    assert w.impacts > 1000 and w.lost == 0


def test_the_first_contact_of_a_scene_is_free_of_overlap(world):
    """One call, many turns by velocity: cubes at their first contact, and what a step from there tells."""
    for seed in range(4):
        w = world(12, seed, gravity=0.0, rate=600.0, speed=20.0)
        poses = gc.Poses.from_quat_wxyz(w.position, w.quat)
        bodies = gc.Bodies.from_velocities(w.meshes, w.shape, poses, w.velocity, w.spin, 1 / 60)
        found = gc.collide(bodies, contacts="first", motion="body")
        k = int(found.toi.argmin())
        first = float(found.toi[k])
        assert 0 < first < 1
        there = bodies.poses_at(first)
        w.position, w.quat = there.position, there.quat_wxyz
        assert w.gaps().min() >= -TOUCH
        after = gc.Bodies.from_velocities(w.meshes, w.shape, there, w.velocity, w.spin, (1 - first) / 60)
        again = gc.collide(after, found.pairs[k : k + 1], contacts="first", motion="body")
        assert again.status[0] == gc.Status.HIT and again.toi[0] <= 1e-8


@pytest.mark.slow
def test_piles(world):
    """Solids that fall, with friction: what rests on something touches it at the start of every step."""
    w = world(6, 3)
    assert run(w, 30) >= -TOUCH
    assert w.impacts > 10


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_piles_for_long(world, seed):
    w = world(12, seed)
    assert run(w, 200) >= -TOUCH
    assert w.impacts > 1000


@pytest.mark.parametrize("depth", [0.0, 1e-15, 1e-13, 5e-12])
@pytest.mark.parametrize("approach", [1e-8, 1e-6, 1e-4])
def test_what_touches_at_the_start_and_comes_slowly_is_told(depth, approach):
    """A corner on a floor, a rounding inside, that comes at 1e-8 of the spin's speed: its equation has its
    root as far as 5e-4 of a step before the start."""
    quat = np.array([0.88, 0.33, 0.27, 0.2])
    quat /= np.linalg.norm(quat)
    cube = gc.shapes.box()
    arms = gc.Poses.from_quat_wxyz([0, 0, 0], quat).apply(cube.vertices)
    arm = arms[arms[:, 2].argmin()]
    along = np.array([arm[0], arm[1], 0]) / np.hypot(*arm[:2])
    spin = 0.5 * along - [0, 0, 3]  # draws the corner into the floor
    place = [[0, 0, 0], [0, 0, 0.5 - arm[2] - depth]]
    poses = gc.Poses.from_quat_wxyz(place, [[1, 0, 0, 0], quat])
    speed = [[0, 0, 0], [0.3, 0.1, -np.cross(spin, arm)[2] - approach]]
    bodies = gc.Bodies.from_velocities(
        [gc.shapes.box((8, 8, 1)), cube], [0, 1], poses, speed, [[0, 0, 0], spin]
    )
    found = gc.collide(bodies, [[0, 1]], motion="body")
    assert found.status[0] == gc.Status.HIT and found.toi[0] < 1e-8
