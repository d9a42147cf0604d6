"""The classic way beside ours: poses sampled and halved in time, over the number of samples."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import gpu_collide as gc
from bench.report import Report
from bench.settings import BenchError, Settings
from bench.timing import measure_in_turn
from gpu_collide import scenes

NAME = "bisection"
HELP = "what sampling and halving in time misses, its errors and its cost, from 1 to 256 samples"

SAMPLES = (1, 2, 4, 8, 16, 32, 64, 128, 256)
ITERATIONS = 30

#: shape, generator, pairs
SHAPES = (
    ("cubes", lambda: gc.shapes.box(), 20000),
    ("cars", lambda: gc.shapes.car(), 10000),
)


def run(settings: Settings) -> None:
    report = Report(NAME, settings)
    report.note(
        "compared on pairs that are apart at the start and have a contact of positive properness that "
        "approaches, where the solids begin to overlap; late: found, but at a later overlap; times in steps"
    )
    for shape, make, full in SHAPES:
        mesh = make()
        n = settings.size(full)
        bodies, pairs = scenes.random_impacts(mesh, mesh, n, seed=settings.seed)
        options = {"precision": settings.precision, "backend": settings.backend}

        def exact(check_start=False, bodies=bodies, pairs=pairs, options=options):
            return gc.collide(
                bodies, pairs, check_start=check_start, min_properness=settings.min_properness, **options
            ).to_numpy()

        def bisection(samples, bodies=bodies, pairs=pairs, options=options):
            return gc.baselines.bisection(bodies, pairs, samples=samples, iterations=ITERATIONS, **options)

        contacts = exact(check_start=True)
        report.set_device(contacts)
        found = [bisection(samples) for samples in SAMPLES]
        errors = [_errors(one, contacts, k) for one, k in zip(found, SAMPLES, strict=True)]
        calls = [exact] + [lambda k=k, call=bisection: call(k) for k in SAMPLES]
        ours, *theirs = measure_in_turn(calls, settings.repeat)
        for k, one, error, timing in zip(SAMPLES, found, errors, theirs, strict=True):
            report.add(
                hide=("pairs", "overlapping", "time_99", "spread"),
                shape=shape,
                samples=k,
                pairs=n,
                **error,
                tests_per_pair=one.tests / n,
                bisection_per_s=n / timing.best,
                ours_per_s=n / ours.best,
                ratio=timing.best / ours.best,
                spread=timing.spread,
            )
    written = report.write()
    if settings.figure is not None or written:
        draw(report.rows, report.device, settings.figure or written[0].with_suffix(".png"))


def first_overlap(contacts) -> np.ndarray:
    """Time (p,) at which the solids of each pair begin to overlap, by its contacts; inf if they do not.

    That is the first contact of positive properness (the solids lie on different sides of its plane) at which
    they approach; what slides, grazes or parts there is touch.
    """
    enters = (contacts.properness > 0.0) & (contacts.normal_speed < 0.0)
    time = np.full(contacts.n_pairs, np.inf)
    np.minimum.at(time, contacts.pair[enters], contacts.time[enters])
    return time


def _errors(found, contacts, samples) -> dict[str, float]:
    """How a `BisectionResult` compares with exact contacts.

    Raises
    ------
    BenchError
        It reports an overlap of a pair without any contact.
    """
    apart = contacts.status != int(gc.Status.INITIAL_OVERLAP)
    truth = first_overlap(contacts)
    true = apart & np.isfinite(truth)
    false = found.hit & apart & ~np.isfinite(contacts.toi)
    if false.any():
        raise BenchError(
            f"{false.sum()} overlaps of pairs without a contact, first: pair {np.flatnonzero(false)[0]}"
        )
    both = true & found.hit
    error = np.abs(found.time[both] - truth[both])
    return {
        "overlapping": int(true.sum()),
        "missed": float((true & ~found.hit).sum() / max(true.sum(), 1)),
        "late": float((error > 1.0 / samples).sum() / max(true.sum(), 1)),
        "false": float(false.mean()),
        "time_median": float(np.median(error)) if both.any() else float("nan"),
        "time_99": float(np.quantile(error, 0.99)) if both.any() else float("nan"),
        "time_worst": float(error.max(initial=0.0)),
    }


def draw(rows: list[dict], device: str, path: Path) -> None:
    """Two panels over the number of samples: the share of overlaps missed, and the rate beside ours."""
    try:
        import matplotlib
    except ImportError as error:
        raise BenchError("the figure needs matplotlib: python -m pip install matplotlib") from error
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    import matplotlib.ticker

    figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 4.2), layout="constrained")
    for i, shape in enumerate(dict.fromkeys(row["shape"] for row in rows)):
        line = [row for row in rows if row["shape"] == shape]
        samples = [row["samples"] for row in line]
        missed = [100.0 * row["missed"] for row in line]
        style = {"color": f"C{i}", "marker": "o", "markersize": 4}
        left.plot(samples, missed, label=f"{shape}, {line[0]['overlapping']:,} overlaps", **style)
        right.plot(samples, [row["bisection_per_s"] for row in line], label=f"bisection, {shape}", **style)
        ours = line[0]["ours_per_s"]
        right.plot(samples, [ours] * len(samples), "--", color=f"C{i}", label=f"collide, {shape}")
    left.set_title("What sampling misses", fontsize=11)
    left.set_ylabel("overlaps missed, share of those collide finds")
    left.set_yscale("log")
    left.yaxis.set_major_formatter(lambda value, _: f"{value:g} %")
    both = "bisection finds none\nthat collide does not"
    left.text(0.03, 0.05, both, transform=left.transAxes, fontsize=9, color="0.3")
    right.set_title("What it costs", fontsize=11)
    right.set_ylabel("pairs a second")
    right.set_yscale("log")
    right.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    right.set_ylim(bottom=0.2 * min(row["bisection_per_s"] for row in rows))  # room for the legend
    for axis in (left, right):
        axis.set_xscale("log", base=2)
        axis.set_xlabel("samples a step")
        axis.set_xticks(SAMPLES, [str(k) for k in SAMPLES])
        axis.yaxis.set_major_locator(matplotlib.ticker.LogLocator(subs=(1.0, 2.0, 5.0)))
        axis.grid(True, alpha=0.3)
        axis.legend(fontsize=8, loc="upper right" if axis is left else "lower left")
    what = f"Bisection ({ITERATIONS} halvings, first overlap) beside collide (exact, all contacts)"
    figure.suptitle(f"{what}\nrandom impacts, {device}", fontsize=10)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    plt.close(figure)
    print(f"written: {path}")
