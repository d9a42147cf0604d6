"""A crowd that walks: ``python examples/crowd.py [PICTURE] [PEOPLE] [STEPS]``.

Ellipsoids as high as people walk over hills, up stairs onto a gallery, ride a lift up to it, and are carried
around by a turntable. Each heads for places of its own, one after the other; all of them are one call of
`gc.sweep.slide` a step. Gives a picture of their ways if it is told where to (that takes matplotlib).
"""

import argparse

import numpy as np

import gpu_collide as gc

RADII = np.array([0.25, 0.25, 0.85])
HALL, HIGH = 12.0, 2.4  # half the side of the ground; how high the gallery is
GRAVITY, SPEED, STEP = -0.02, 0.09, 0.35
LIFT, TABLE = np.array([5.0, -5.0]), np.array([-5.0, -5.0])
PERIOD = 240  # steps of the lift, up and down
TURN = 0.03  # of the table, each step
GALLERY, STAIRS, LIFTED, TURNED = 1, 2, 3, 4  # bodies; 0 is the ground


def terrain(cells=48):
    """Hills towards +y, level in front; its borders rise to walls."""
    line = np.linspace(-HALL, HALL, cells + 1)
    x, y = np.meshgrid(line, line, indexing="ij")
    z = 0.9 * np.sin(x * 0.9) * np.cos(y * 0.7) * np.clip((y - 1.0) / 3.0, 0.0, 1.0)
    z[0], z[-1], z[:, 0], z[:, -1] = 4.0, 4.0, 4.0, 4.0
    k = np.arange((cells + 1) ** 2).reshape(cells + 1, cells + 1)
    a, b, c, d = k[:-1, :-1].ravel(), k[1:, :-1].ravel(), k[1:, 1:].ravel(), k[:-1, 1:].ravel()
    return gc.Mesh(np.c_[x.ravel(), y.ravel(), z.ravel()], np.r_[np.c_[a, b, c], np.c_[a, c, d]])


def stairs(count=8, tread=0.45, width=3.0):
    """Up along x to the height of the gallery, as boxes that stand in each other."""
    parts = []
    for k in range(count):
        high, long = HIGH * (k + 1) / count, tread * (count - k)
        box = gc.shapes.box((long, width, high))
        parts.append((box.vertices + [tread * k + long / 2, 0, high / 2], box))
    faces, first = [], 0
    for _, box in parts:
        loops = np.split(box.face_vertices, box.face_start[1:-1])
        faces += [(loop + first).tolist() for loop in loops]
        first += len(box.vertices)
    return gc.Mesh(np.concatenate([v for v, _ in parts]), faces)


MESHES = [
    terrain(), gc.shapes.box((6, 4, 0.3)), stairs(), gc.shapes.box((2.4, 2.4, 0.3)),
    gc.shapes.box((5, 5, 0.2)),
]  # fmt: skip


def poses(step):
    """Where the bodies are."""
    lift = 0.5 - 0.5 * np.cos(2 * np.pi * step / PERIOD)
    lift = np.clip(1.6 * lift - 0.3, 0.0, 1.0)  # it waits at both ends
    place = np.zeros((5, 3))
    place[GALLERY] = 3.2, -1.8, HIGH - 0.15
    place[STAIRS] = -3.4, -1.8, 0.0
    place[LIFTED] = *LIFT, 0.02 + lift * (HIGH - 0.04) - 0.15
    place[TURNED] = *TABLE, 0.05
    quat = np.tile([1.0, 0, 0, 0], (5, 1))
    quat[TURNED, [0, 3]] = np.cos(step * TURN / 2), np.sin(step * TURN / 2)
    return gc.Poses.from_quat_wxyz(place, quat)


def walk(people=60, steps=600, backend="auto"):
    """Places of all people after each step (steps + 1, people, 3), and the bodies that they stood on."""
    rng = np.random.default_rng(1)
    place = np.c_[rng.uniform(-9, 9, (people, 2)), np.full(people, 4.5)]
    goal, fall, on = rng.uniform(-9, 9, (people, 2)), np.zeros((people, 3)), np.full(people, -1)
    ways, stood = [place], [on]
    scene = gc.Scene(MESHES, np.arange(5), poses(0), backend=backend)
    for step in range(steps):
        scene.step(poses(step + 1))
        head = goal - place[:, :2]
        away = np.linalg.norm(head, axis=1)
        # who stands on the lift or the table stays for the ride; now and then somebody changes their mind
        stays = (on == LIFTED) & (place[:, 2] < HIGH) | (on == TURNED) & (rng.random(people) < 0.97)
        other = (away < 0.5) | (rng.random(people) < 0.004)
        goal[other] = _goals(rng, int(other.sum()))
        velocity = np.c_[head / np.maximum(away, SPEED)[:, None] * SPEED, np.zeros(people)]
        velocity[stays] = 0.0
        fall = fall + [0, 0, GRAVITY]
        found = gc.sweep.slide(
            scene, place, RADII, velocity, gravity=fall, up=[0, 0, 1], step_height=STEP, riding=on,
            turning="chord", skin=0.02,
        )  # fmt: skip
        place, fall, on = found.position, found.fall_velocity, found.ground_body
        ways.append(place)
        stood.append(on)
    scene.close()
    return np.array(ways), np.array(stood)


def _goals(rng, n):
    """On the ground, the gallery, the lift or the table."""
    spots = np.array([[4.5, -1.8], [2.0, -1.8], LIFT, TABLE, [-4.5, -1.8]])
    return np.where(
        rng.random(n)[:, None] < 0.6, spots[rng.integers(0, len(spots), n)], rng.uniform(-9, 9, (n, 2))
    ) + rng.normal(0, 0.3, (n, 2))  # fmt: skip


def picture(ways, stood, path):
    """The world from the side, and each way in the colour of what bore it."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from mpl_toolkits.mplot3d.art3d import Line3DCollection, Poly3DCollection

    figure = plt.figure(figsize=(11, 7.5))
    axes = figure.add_subplot(projection="3d", computed_zorder=False)
    last = poses(len(ways) - 1)
    for body, color in enumerate(("#c9d8b6", "#d8cfc0", "#d8cfc0", "#e0a35a", "#8fb3d9")):
        mesh = MESHES[body]
        corners = last[[body]].apply(mesh.vertices[None])[0]
        loops = np.split(mesh.face_vertices, mesh.face_start[1:-1])
        inside = [q for q in (corners[loop] for loop in loops) if body or q[:, 2].max() < 2.0]
        axes.add_collection3d(Poly3DCollection(inside, facecolor=color, edgecolor="#00000020", zorder=body))
    feet = ways - [0, 0, RADII[2]]
    names = {0: "#3c6e2f", GALLERY: "#7a5230", STAIRS: "#7a5230", LIFTED: "#d04a02", TURNED: "#1f5fa8"}
    lines, colors = [], []
    for k in range(1, len(feet)):
        seen = stood[k] >= 0
        lines += list(np.stack((feet[k - 1][seen], feet[k][seen]), axis=1))
        colors += [names[int(b)] for b in stood[k][seen]]
    axes.add_collection3d(Line3DCollection(lines, colors=colors, linewidths=0.8, zorder=9))
    u, v = np.meshgrid(np.linspace(0, 2 * np.pi, 9), np.linspace(0, np.pi, 7))
    for x, y, z in ways[-1]:
        shape = np.cos(u) * np.sin(v), np.sin(u) * np.sin(v), np.cos(v)
        axes.plot_surface(
            *(r * s + c for r, s, c in zip(RADII, shape, (x, y, z), strict=True)), color="#333333", zorder=10
        )
    axes.set(xlim=(-10, 10), ylim=(-10, 10), zlim=(-2, 5))
    axes.set_box_aspect((20, 20, 7), zoom=1.2)
    axes.view_init(34, -70)
    axes.set_axis_off()
    axes.set_title(
        "Ways in green on the ground, brown on stairs and gallery, orange on the lift, blue on the table"
    )
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    plt.close(figure)


def main(path=None, people=60, steps=600):
    ways, stood = walk(int(people), int(steps))
    for body, name in ((STAIRS, "stairs"), (GALLERY, "gallery"), (LIFTED, "lift"), (TURNED, "turntable")):
        print(f"{np.any(stood == body, axis=0).sum():4} of {ways.shape[1]} stood on the {name}")
    low = (ways[..., 2] - RADII[2]).min()
    print(f"lowest feet {low:.2f}, highest {(ways[-1, :, 2] - RADII[2]).max():.2f} at the end")
    if path:
        picture(ways, stood, path)
    return ways, stood


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "picture", nargs="?", help="file of the picture, .png or .svg; without it none is drawn"
    )
    parser.add_argument("people", nargs="?", type=int, default=60, help="how many people (default: 60)")
    parser.add_argument("steps", nargs="?", type=int, default=600, help="steps of the walk (default: 600)")
    asked = parser.parse_args()
    main(asked.picture, asked.people, asked.steps)
