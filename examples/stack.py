"""Bodies that come to rest, roll and pour: ``python examples/stack.py [SCENE] [STEPS] [PICTURE]``.

Scenes of the solver in `solving/solver.py`: ``stack`` of ten boxes, ``pyramid``, ``ramp`` with a box that
holds and one that slides, ``balls`` that roll down it, ``cans`` among them, ``car`` on four cylinders that
rolls into boxes, ``race``, a car that drives where a recorded one did and then brakes, ``bowl`` into which
bodies are poured. Each is run warm and cold, that is, without carrying impulses.
"""

import argparse
import sys
from pathlib import Path

import numpy as np

import gpu_collide as gc

sys.path.insert(0, str(Path(__file__).resolve().parent / "solving"))
from solver import GRAVITY, World, product  # noqa: E402  in the folder beside

FLOOR, BOX = gc.shapes.box((40, 40, 1)), gc.shapes.box()


ONE = [1.0, 0, 0, 0]


def stack(n=10, **how):
    at = np.column_stack([np.zeros((n + 1, 2)), np.r_[-0.5, 0.5 + np.arange(n)]])
    return World([FLOOR, BOX], [0] + [1] * n, at, [ONE] * (n + 1), [0] + [1] * n, **how)


def pyramid(base=6, **how):
    at = [[1.05 * (k - 0.5 * (n - 1)), 0, 0.5 + base - n] for n in range(base, 0, -1) for k in range(n)]
    n = len(at)
    return World([FLOOR, BOX], [0] + [1] * n, [[0, 0, -0.5], *at], [ONE] * (n + 1), [0] + [1] * n, **how)


SLOPE = np.radians(20.0)
TILT = [np.cos(SLOPE / 2), 0, np.sin(SLOPE / 2), 0]  # down along x
UP, DOWN = np.array([np.sin(SLOPE), 0, np.cos(SLOPE)]), np.array([np.cos(SLOPE), 0, -np.sin(SLOPE)])


def ramp(**how):
    """Two boxes on a slope of 20 degrees: the grip of one is 0.6, and it holds, of the other 0.2."""
    at = [-0.5 * UP, 0.5 * UP + [0, 2, 0], 0.5 * UP - [0, 2, 0]]
    return World([FLOOR, BOX], [0, 1, 1], at, [TILT] * 3, [0, 1, 1], friction=[1.0, 0.36, 0.04], **how)


def yard(side=9.0, thick=1.0):
    """A slope that ends in a floor with walls around it: meshes, shapes, positions, quaternions."""
    wall, far = gc.shapes.box((side + 2 * thick, thick, 3)), 0.5 * (side + thick)
    across = (np.array([1, 0, 0, 1]) * np.sqrt(0.5)).tolist()
    at = [[0, 0, -0.5 * thick], [0, far, 1.5], [0, -far, 1.5], [far, 0, 1.5], [-far - 5, 0, 1.5]]
    slope = np.array([-0.5 * side, 0, 0.0]) - 2.8 * DOWN - 0.5 * UP
    return (
        [FLOOR, wall, gc.shapes.box((6, 9, 1))],
        [0, 1, 1, 1, 1, 2],
        [*at, slope],
        [ONE, ONE, ONE, across, across, TILT],
    )


def balls(n=12, radius=0.3, cans=0, **how):
    """Balls, of which some are cylinders, that roll down a slope into a yard."""
    meshes, shape, at, quat = yard()
    top = np.asarray(at[-1]) + (0.5 + radius) * UP - 2.2 * DOWN
    ball = [top + 0.8 * (k // 6) * DOWN + [0, 1.1 * (k % 6 - 2.5) + 0.2 * (k // 6), 0] for k in range(n)]
    is_can = (np.arange(n) * cans // n != np.arange(1, n + 1) * cans // n).astype(int)
    return World([*meshes, gc.shapes.sphere(radius), gc.shapes.cylinder(radius, 0.8)],
                 shape + (3 + is_can).tolist(), at + ball, quat + [ALONG_Y] * n, [0] * len(at) + [1] * n,
                 **how)  # fmt: skip


def cans(**how):
    return balls(cans=6, **how)


def car(place, quat, at=(), wheel=0.35):
    """A box on four wheels: meshes, shapes, positions, quaternions, masses, and pins, after bodies `at`."""
    frame, size = gc.Poses.from_quat_wxyz([place], [quat]), wheel / 0.35
    body = gc.shapes.box((1.8 * size, size, 0.4 * size))
    wheels = product(np.tile(quat, (4, 1)), np.tile(ALONG_Y, (4, 1)))
    return ([body, gc.shapes.cylinder(wheel, 0.3 * size)], [0, 1, 1, 1, 1],
            [place, *frame.apply(size * AXLES)], [quat, *wheels], [4] + [0.5] * 4,
            pins(len(at), size))  # fmt: skip


ALONG_Y = [np.sqrt(0.5), -np.sqrt(0.5), 0, 0]  # a cylinder's axis
AXLES = np.array([[x, y, -0.25] for x in (-0.6, 0.6) for y in (-0.85, 0.85)])


def pins(first, size, steer=0.0):
    """Both ends of the axle of each wheel; those of the front are turned."""
    side = np.array([0, 0.2, 0])
    ways = [side, side, *[0.2 * np.array([-np.sin(steer), np.cos(steer), 0])] * 2]
    return [(first, size * (place + sign * way), first + 1 + k, size * sign * np.array([0, 0, 0.2]))
            for k, (place, way) in enumerate(zip(AXLES, ways, strict=True)) for sign in (-1, 1)]  # fmt: skip


def crash(**how):
    """A car rolls down a slope into a yard in which a wall of boxes stands."""
    meshes, shape, at, quat = yard()
    place = np.asarray(at[-1]) + (0.5 + 0.35 + 0.25) * UP - 0.5 * DOWN
    bricks = [[2.5, 0.85 * k - 1.7 + 0.4 * (row % 2), 0.25 + 0.5 * row] for row in range(3) for k in range(4)]
    more, kinds, places, quats, mass, axles = car(place, TILT, at)
    n = len(bricks)
    return World([*meshes, *more, gc.shapes.box((0.4, 0.8, 0.5))], shape + [3 + k for k in kinds] + [5] * n,
                 [*at, *places, *bricks], quat + quats + [ONE] * n, [0] * len(at) + mass + [0.4] * n,
                 pins=axles, **how)  # fmt: skip


class Race(World):
    """A car that drives along a line for some seconds, by torques on its wheels, and then brakes."""

    line, near, left, steer, wheel = np.zeros((0, 3)), 0, 0.0, 0.0, 0.2

    def step(self):
        self.left -= self.dt
        ahead = self.line[self.near :] - self.position[1]
        away = np.linalg.norm(ahead, axis=1)
        self.near += away[:6].argmin()
        way = self.turn[1].T @ ahead[np.argmax(away > 3.0)]
        want = np.clip(np.arctan2(way[1], way[0]), -0.5, 0.5)
        self.steer += np.clip(want - self.steer, -2 * self.dt, 2 * self.dt)  # at once it would throw the car
        self.pins = pins(1, self.wheel / 0.35, self.steer)
        super().step()

    def passes(self, blocks, h, push):
        axle = self.turn[2:, :, 2]
        more = (5.0 / self.wheel if self.left > 0 else 0.0) - (self.velocity[2:, 3:] * axle).sum(axis=1)
        most = (50.0 if self.left > 0 else 1000.0) * h
        self.velocity[2:, 3:] += np.clip(more, -most, most)[:, None] * axle
        super().passes(blocks, h, push)


def race(file=None, seconds=80.0, **how):
    """A car on a recorded track, whose open mesh is a sheet 0.1 thick: else nothing tells how deep it is."""
    if file is None:
        raise SystemExit("race: expected a file with a track and a drive, got none; pass --race FILE")
    with np.load(file) as recorded:
        turn = np.array([[1, 0, 0], [0, 0, -1], [0, 1, 0]])  # y up to z up
        line = recorded["position"] @ turn.T
        track = gc.Mesh(recorded["track_vertices"] @ turn.T, recorded["track_faces"], rounding=0.05)
    angle = np.arctan2(*(line[10] - line[0])[1::-1])
    quat = [np.cos(angle / 2), 0, 0, np.sin(angle / 2)]
    meshes, shape, at, quats, mass, axles = car(line[0] + [0, 0, 0.25], quat, [0], Race.wheel)
    world = Race([track, *meshes], [0] + [1 + k for k in shape], [[0, 0, 0], *at], [ONE, *quats], [0, *mass],
                 friction=0.8, pins=axles, **how)  # fmt: skip
    world.line, world.left = line, seconds
    return world


def basin(radius=1.9, thick=0.3, rings=6, sides=20):
    """Half of a hollow ball, open at the top, of trapezoids."""
    tilt, turn = np.linspace(0, np.pi / 2, rings + 1)[1:], 2 * np.pi * np.arange(sides) / sides
    points, faces = [], []
    for r, way in ((radius, 1), (radius + thick, -1)):
        first = len(points)
        ring = np.column_stack([np.cos(turn), np.sin(turn)])
        points += [[*(r * np.sin(t) * xy), -r * np.cos(t)] for t in tilt for xy in ring]
        faces.append([first + k for k in range(sides)][::way])
        for k in range((rings - 1) * sides):
            a, b = first + k, first + k - k % sides + (k + 1) % sides
            faces.append([a, a + sides, b + sides, b][::way])
    inner, outer = (rings - 1) * sides, (2 * rings - 1) * sides
    faces += [[inner + k, outer + k, outer + (k + 1) % sides, inner + (k + 1) % sides] for k in range(sides)]
    return gc.Mesh(points, faces)


def bowl(n=1000, seed=1, **how):
    """Balls, boxes and rods, poured into a bowl."""
    rng = np.random.default_rng(seed)
    shapes = [gc.shapes.sphere(0.1), gc.shapes.box((0.18, 0.15, 0.12)), gc.shapes.capsule(0.05, 0.12)]
    which = rng.integers(0, 3, n)
    k = np.arange(n)
    at = np.column_stack([0.26 * (k % 9 - 4), 0.26 * (k // 9 % 9 - 4), 0.26 * (k // 81) - 0.6])
    quat = rng.normal(size=(n, 4))
    at += 0.01 * rng.normal(size=(n, 3))
    how = {"dt": 1 / 120, "substeps": 4, **how}
    return World([basin(), *shapes], np.append(0, 1 + which), np.concatenate([[[0, 0, 0]], at]),
                 np.concatenate([[ONE], quat]), np.append(0, np.ones(n)), **how)  # fmt: skip


SCENES = {
    "stack": stack,
    "pyramid": pyramid,
    "ramp": ramp,
    "balls": balls,
    "cans": cans,
    "car": crash,
    "race": race,
    "bowl": bowl,
}


def run(world, steps):
    """Of each step: the largest depth, the energy gained, how far a body is from where it began, the largest
    speed, and the share of points that were kept."""
    told = {name: np.zeros(steps) for name in ("depth", "energy", "drift", "speed", "kept")}
    began, energy = world.position.copy(), world.energy()
    for k in range(steps):
        world.step()
        told["depth"][k] = max(0.0, -world.points.distance.min(initial=0.0))
        told["energy"][k] = world.energy() - energy
        told["drift"][k] = np.linalg.norm(world.position - began, axis=1).max()
        told["speed"][k] = np.abs(world.velocity).max()
        told["kept"][k] = world.kept
    return told


def draw(told, path, title, dt):
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 2, figsize=(12, 7), sharex=True)
    units = {"depth": "largest depth [m]", "energy": "energy gained [J]",
             "drift": "farthest from the start [m]", "speed": "largest speed [m/s, rad/s]"}  # fmt: skip
    for axis, (name, label) in zip(axes.flat, units.items(), strict=True):
        for how, values in told.items():
            shown = values[name]
            axis.plot(
                dt * np.arange(1, len(shown) + 1), shown, label=how, lw=1, ls="-" if how == "warm" else "--"
            )
        axis.set_ylabel(label)
        axis.grid(alpha=0.3)
        if name == "speed":
            axis.set_yscale("log")
    axes[0, 0].legend()
    for axis in axes[1]:
        axis.set_xlabel("time [s]")
    figure.suptitle(title)
    figure.tight_layout()
    figure.savefig(path, dpi=90)


def main(arguments):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("scene", nargs="?", default="stack", choices=SCENES)
    parser.add_argument("steps", nargs="?", type=int, default=300, help="of 1/60 s (default: 300)")
    parser.add_argument(
        "picture", nargs="?", help="file of the picture, .png or .svg; without it none is drawn"
    )
    parser.add_argument("--race", metavar="FILE", help="track and drive of the scene race, .npz")
    asked = parser.parse_args(arguments)
    more = {"file": asked.race} if asked.scene == "race" else {}
    told = {}
    for name, warm in (("warm", True), ("cold", False)):
        world = SCENES[asked.scene](warm=warm, **more)
        told[name] = run(world, asked.steps)
        last = slice(-max(asked.steps // 10, 1), None)
        depth, energy, drift, speed, kept = told[name].values()
        print(f"{name}: largest depth {depth.max():.2g}, drift {drift[-1]:.2g}, energy", end=" ")
        print(f"{energy.max():+.2g} at most, speed {speed[last].max():.2g} in the last tenth,", end=" ")
        share = 100 * np.nanmean(kept), 100 * kept[last].mean()
        print(f"{share[0]:.2f} % of the points kept, {share[1]:.2f} there", flush=True)
        if asked.scene == "ramp" and warm:
            way = world.position[2] @ DOWN
            want = 0.5 * GRAVITY * (np.sin(SLOPE) - 0.2 * np.cos(SLOPE)) * (asked.steps * world.dt) ** 2
            print(f"the one that slides came {way:.3f} m down, without steps it would be {want:.3f} m")
    if asked.picture:
        title = f"{asked.scene}, {asked.steps} steps of 1/{1 / world.dt:.0f} s with {world.substeps} substeps"
        draw(told, asked.picture, title, world.dt)


if __name__ == "__main__":
    main(sys.argv[1:])
