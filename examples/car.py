"""Cars as clusters of spheres on a race track: ``python examples/car.py [PICTURE] [CARS] [STEPS]``.

The body of a car is eight spheres, which are swept as one object; it slides along the walls that it meets.
Four more spheres are let down for its wheels, which bear it and say how it leans. The track is made up, open,
and not even. All cars together take a few calls of `gc.sweep` a step. Gives a picture of where they went if
it is told where to (that takes matplotlib).
"""

import argparse

import numpy as np

import gpu_collide as gc
from gpu_collide.scenes import demo_race

STEP, GRAVITY, SPEED = 1 / 30, 9.81, 17.0  # seconds, metres
BODY = gc.sweep.Cluster(
    [[x, y, 0.0] for x in (-1.5, -0.5, 0.5, 1.5) for y in (-0.45, 0.45)], [0.45] * 4 + [0.45, 0.45, 0.4, 0.4]
)
MOUNTS = np.array([[x, y, 0.1] for x in (-1.3, 1.3) for y in (-0.45, 0.45)])  # of the wheels
WHEEL, TRAVEL, REST = 0.3, 0.9, 0.35  # radius; how far it is let down, and how far if the car stands


def track():
    """The middle of a made-up road, closed, its mesh, and the world."""
    race = demo_race(2, stations=240)
    sections = race["track_vertices"].reshape(240, -1, 3)
    mesh = gc.Mesh(race["track_vertices"], race["track_faces"], two_sided=True)
    return sections[:, sections.shape[1] // 2], mesh, gc.Scene(mesh, None, gc.Poses.identity(1))


def frames(ahead, up):
    """Matrices (n, 3, 3) whose columns are forwards, left and up, and their quaternions wxyz."""
    left = np.cross(up, ahead)
    left /= np.linalg.norm(left, axis=1)[:, None]
    matrix = np.stack((np.cross(left, up), left, up), axis=2)
    here = np.tile(np.eye(4), (len(up), 1, 1))
    here[:, :3, :3] = matrix
    return matrix, gc.Poses.from_matrix(here).unit_wxyz


def swept(world, place, way, quat):
    """Bodies go along their ways and slide along what they meet, of which what is steep is a wall that nobody
    climbs: where they come to, and who met something."""
    met = np.zeros(len(place), bool)
    for _ in range(3):
        found = gc.sweep.clusters(BODY, place, way, world, orientation=quat, buffer=0.01)
        place = place + found.time[:, None] * way
        normal = np.where(found.normal[:, 2:] < 0.8, found.normal * [1, 1, 0], found.normal)
        normal /= np.maximum(np.linalg.norm(normal, axis=1), 1e-9)[:, None]
        into = np.minimum((way * normal).sum(1), 0.0)
        way = (1 - found.time)[:, None] * (way - into[:, None] * normal)
        met |= found.hit
        if not found.hit.any():
            break
    return place, met


def wheels(world, place, matrix):
    """How far wheels come down (n, 4), and whether they stand on ground."""
    mounts = place[:, None] + np.einsum("nij,kj->nki", matrix, MOUNTS)
    down = np.repeat(-TRAVEL * matrix[:, None, :, 2], 4, axis=1)
    found = gc.sweep.spheres(mounts.reshape(-1, 3), down.reshape(-1, 3), WHEEL, world)
    ground = found.hit & (found.normal[:, 2] > 0.8)
    return mounts, found.time.reshape(-1, 4) * TRAVEL, ground.reshape(-1, 4)


def drive(cars=24, steps=240):
    """Places of the cars after each step (steps + 1, cars, 3), who slid along something in it, their last
    quaternions, and the track."""
    rng = np.random.default_rng(4)
    line, mesh, world = track()
    at = np.arange(cars) * len(line) // cars
    place = line[at] + [0, 0, 0.9]
    aside = rng.uniform(-7, 7, cars)  # of the line that they aim at: some aim beyond the wall
    ahead, up, fall = line[(at + 1) % len(line)] - line[at], np.tile([0, 0, 1.0], (cars, 1)), np.zeros(cars)
    ahead /= np.linalg.norm(ahead, axis=1)[:, None]
    ways, scraped = [place], []
    matrix, quat = frames(ahead, up)
    for _ in range(steps):
        near = np.linalg.norm(line[None] - place[:, None], axis=2).argmin(1)
        goal = line[(near + 4) % len(line)]
        level = np.cross([0, 0, 1.0], goal - line[near])
        level /= np.maximum(np.linalg.norm(level, axis=1), 1e-9)[:, None]
        head = goal + aside[:, None] * level - place
        head /= np.linalg.norm(head, axis=1)[:, None]
        ahead = ahead + 0.12 * head
        ahead /= np.linalg.norm(ahead, axis=1)[:, None]
        matrix, quat = frames(ahead, up)
        ahead = matrix[:, :, 0]
        fall = fall - GRAVITY * STEP * STEP
        place, met = swept(world, place, ahead * SPEED * STEP, quat)
        mounts, low, stands = wheels(world, place, matrix)
        borne = stands.sum(1) >= 2
        lift = np.where(borne, np.clip(0.5 * (REST - np.sort(low, axis=1)[:, :3].mean(1)), -0.08, 0.2), fall)
        fall[borne] = 0.0
        place, _ = swept(world, place, lift[:, None] * np.where(borne[:, None], up, [0, 0, 1.0]), quat)
        feet = mounts - low[:, :, None] * matrix[:, None, :, 2]
        tilt = np.cross(feet[:, 3] - feet[:, 0], feet[:, 1] - feet[:, 2])
        tilt *= np.sign(tilt[:, 2:])
        tilt /= np.linalg.norm(tilt, axis=1)[:, None]
        up = up + 0.3 * np.where(stands.all(1)[:, None], tilt - up, 0.0)
        up /= np.linalg.norm(up, axis=1)[:, None]
        ways.append(place)
        scraped.append(met)
    return np.array(ways), np.array(scraped), quat, mesh


def picture(ways, scraped, quat, mesh, path):
    """The track, ways in blue, in red where a body slid along a wall; the spheres of some cars, from near."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from mpl_toolkits.mplot3d.art3d import Line3DCollection, Poly3DCollection

    figure = plt.figure(figsize=(13, 6))
    corners = mesh.vertices[mesh.face_vertices.reshape(-1, 3)]
    steep = np.abs(mesh.face_planes[:, 2]) < 0.7
    lines = np.stack((ways[:-1], ways[1:]), axis=2).reshape(-1, 2, 3)
    colors = np.where(scraped.reshape(-1), "#c8202f", "#2860b0")
    chosen = int(np.argmax(scraped[-40:].sum(0)))
    middle, size = ways[-1, chosen], 8.0
    for k, (extent, angle) in enumerate((((-150, 150), (60, -90)), ((-size, size), (28, -60)))):
        axes = figure.add_subplot(1, 2, k + 1, projection="3d", computed_zorder=False)
        centre = middle if k else np.zeros(3)
        shown = np.abs(corners[:, :, :2].mean(1) - centre[:2]).max(1) < extent[1] * 1.02
        faces = Poly3DCollection(corners[shown], edgecolor="#00000018", zorder=0)
        faces.set_facecolor(np.where(steep[shown], "#b9a98f", "#dcdcd6").tolist())
        axes.add_collection3d(faces)
        seen = np.abs(lines.mean(1)[:, :2] - centre[:2]).max(1) < extent[1]
        axes.add_collection3d(Line3DCollection(lines[seen], colors=colors[seen], linewidths=1.2, zorder=5))
        if k:
            _spheres(axes, ways[-1], quat, middle, size)
        axes.set(xlim=centre[0] + np.array(extent), ylim=centre[1] + np.array(extent))
        axes.set_zlim(centre[2] - extent[1] * 0.2, centre[2] + extent[1] * 0.2)
        axes.set_box_aspect((10, 10, 2), zoom=1.3)
        axes.view_init(*angle)
        axes.set_axis_off()
    figure.suptitle("Cars of eight spheres: ways in blue, in red where one slid along a wall")
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    plt.close(figure)


def _spheres(axes, place, quat, middle, size):
    """Bodies and wheels of the cars near the middle."""
    u, v = np.meshgrid(np.linspace(0, 2 * np.pi, 13), np.linspace(0, np.pi, 9))
    ball = np.cos(u) * np.sin(v), np.sin(u) * np.sin(v), np.cos(v)
    for i in np.flatnonzero(np.abs(place - middle)[:, :2].max(1) < size):
        pose = gc.Poses.from_quat_wxyz(place[i], quat[i])
        parts = [(c, r, "#3d7a4c") for c, r in zip(BODY.centers, BODY.radii, strict=True)]
        parts += [(c - [0, 0, REST], WHEEL, "#333333") for c in MOUNTS]
        for centre, radius, color in parts:
            at = pose.apply(centre)
            axes.plot_surface(
                *(radius * s + c for s, c in zip(ball, at, strict=True)), color=color, zorder=10
            )


def main(path=None, cars=24, steps=240):
    ways, scraped, quat, mesh = drive(int(cars), int(steps))
    gone = np.linalg.norm(np.diff(ways, axis=0), axis=2).sum(0)
    print(f"{len(gone)} cars drove {gone.mean():.0f} m each; {scraped.any(0).sum()} slid along a wall")
    if path:
        picture(ways, scraped, quat, mesh, path)
    return ways, scraped, mesh


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "picture", nargs="?", help="file of the picture, .png or .svg; without it none is drawn"
    )
    parser.add_argument("cars", nargs="?", type=int, default=24, help="how many cars (default: 24)")
    parser.add_argument("steps", nargs="?", type=int, default=240, help="steps of the drive (default: 240)")
    asked = parser.parse_args()
    main(asked.picture, asked.cars, asked.steps)
