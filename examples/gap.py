"""The gap between two cars over a pass: ``python examples/gap.py [PICTURE]``.

The same pass three times, from aside to right through: how near the cars come, or from when until when they
are in each other, and how deep. Draws a picture if it is told where to (that takes matplotlib).
"""

import argparse

import numpy as np

import gpu_collide as gc

CAR = gc.shapes.box((4.4, 1.8, 1.4))
COLORS = "#2860b0", "#3c8d5a", "#c8202f"
ASIDE = 3.2, 2.2, 1.2  # metres between the lanes


def passes(aside=ASIDE):
    """For each distance between the lanes a car that stands, and one that goes by and skids."""
    n = len(aside)
    place, velocity, spin = (np.zeros((n, 2, 3)) for _ in range(3))
    place[:, 1, 0], place[:, 1, 1] = -9.0, aside
    velocity[:, 1], spin[:, 1, 2] = [18.0, 0.3, 0.0], -0.8
    start = gc.Poses.from_yaw(place, np.tile([0.0, 0.35], (n, 1)))
    return gc.Bodies.from_velocities(CAR, None, start, velocity, spin)


def measured(bodies, samples=201):
    """What `clearance` and `collide` say of each pass, and the gap at some times, (passes, samples)."""
    pairs = np.arange(len(bodies)).reshape(-1, 2)
    near = gc.clearance(bodies, pairs, motion="body")
    met = gc.collide(bodies, pairs, motion="body", exit=True)
    times = np.linspace(0, 1, samples)
    gap = gc.clearance(bodies, pairs, at=times, motion="body").distance.reshape(-1, samples)
    return near, met, times, gap


def picture(bodies, near, met, times, gap, path):
    """Left the cars where they are nearest or deepest, right the gap over the step."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), width_ratios=(1, 1.4), layout="constrained")
    corners = CAR.vertices[np.abs(CAR.vertices[:, 2] - CAR.vertices[:, 2].max()) < 1e-9]
    corners = corners[np.argsort(np.arctan2(corners[:, 1], corners[:, 0]))]
    right.axhline(0, color="#b9bec6", lw=1)
    for k, color in enumerate(COLORS[: len(gap)]):
        low = int(np.argmin(gap[k]))
        hit = np.isfinite(met.exit[k])
        when = times[low] if hit else near.time[k]
        poses = bodies.poses_at(when)
        for body, ink in ((2 * k, "#333333"), (2 * k + 1, color)):
            left.fill(*poses[body].apply(corners)[:, :2].T, fill=False, ec=ink, lw=1.4)
        right.plot(times, gap[k], color=color, lw=1.4)
        right.plot(when, gap[k, low] if hit else near.distance[k], "o", color=color, ms=5)
        if hit:
            right.plot([met.toi[k], met.exit[k]], [0, 0], "|", color=color, ms=14, mew=2)
            text = f"in each other from {met.toi[k]:.3f} to {met.exit[k]:.3f}, {-gap[k, low]:.2f} deep"
        else:
            text = f"least gap {near.distance[k]:.3f} at {when:.3f}"
            ends = np.stack([near.point_a[k], near.point_b[k]])
            left.plot(*ends[:, :2].T, color=color, lw=1.6)
        right.plot([], [], color=color, label=text)
    right.legend(loc="upper center", frameon=False, fontsize=9)
    right.set(xlabel="share of the step", ylabel="gap in metres; below 0: depth", xlim=(0, 1))
    left.set(aspect="equal", title="nearest, or deepest")
    left.set_axis_off()
    right.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=110, metadata={"Software": None} if str(path).endswith(".png") else None)
    plt.close(figure)


def main(path=None):
    bodies = passes()
    near, met, times, gap = measured(bodies)
    for k, aside in enumerate(ASIDE):
        if np.isfinite(met.exit[k]):
            print(f"{aside} m aside: in each other from {met.toi[k]:.6f} to {met.exit[k]:.6f} of the step")
        else:
            print(f"{aside} m aside: {near.distance[k]:.6f} m apart at {near.time[k]:.6f}, proved")
    if path:
        picture(bodies, near, met, times, gap, path)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("picture", nargs="?", help="file of the picture; without it none is drawn")
    main(parser.parse_args().picture)
