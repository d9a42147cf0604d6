"""Resolution against accuracy and cost: pixels and segments from 1 to 24 rows per short edge."""

from __future__ import annotations

from pathlib import Path

import gpu_collide as gc
from bench.checks import compare_with_exact, hit_share
from bench.report import Report
from bench.settings import BenchError, Settings
from bench.timing import measure
from gpu_collide import scenes
from gpu_collide.study.accuracy import pixel_side

NAME = "resolution"
HELP = "false and missed contacts, errors and cost of pixels and segments over the resolution"

RESOLUTIONS = (1.0, 2.0, 3.0, 6.0, 12.0, 24.0)

#: shape, generator, pairs: some tens of thousands of contacts each.
SHAPES = (
    ("cubes", lambda: gc.shapes.box(), 20000),
    ("cars", lambda: gc.shapes.car(), 10000),
    ("tori", lambda: gc.shapes.torus(), 300),
)


def run(settings: Settings) -> None:
    report = Report(NAME, settings)
    refines = [refine for refine in settings.refines if refine != "exact"] or ["segments", "pixels"]
    for shape, make, full in SHAPES:
        mesh = make()
        n = settings.size(full)
        bodies, pairs = scenes.random_impacts(mesh, mesh, n, seed=settings.seed)

        def call(refine, resolution, threshold, bodies=bodies, pairs=pairs):
            return gc.collide(
                bodies,
                pairs,
                refine=refine,
                tuning=gc.Tuning(candidates="auto" if refine == "exact" else "raster"),
                resolution=resolution,
                min_properness=threshold,
                precision=settings.precision,
                backend=settings.backend,
            ).to_numpy()

        exact = call("exact", None, settings.min_properness)
        every_exact = call("exact", None, -1.0)
        report.set_device(exact)
        for refine in refines:
            for resolution in settings.resolutions or RESOLUTIONS:
                found = call(refine, resolution, settings.min_properness)
                every = call(refine, resolution, -1.0)

                def timed(refine=refine, resolution=resolution, call=call):
                    return call(refine, resolution, settings.min_properness)

                pixel = pixel_side(bodies, pairs, resolution) if refine == "pixels" else None
                errors = compare_with_exact(found, (every, every_exact), exact, pixel=pixel)
                timing = measure(timed, settings.repeat)
                report.add(
                    hide=("pairs", "exact_contacts", "hit_share"),
                    shape=shape,
                    refine=refine,
                    resolution=resolution,
                    pairs=n,
                    hit_share=hit_share(found),
                    contacts=len(found),
                    exact_contacts=len(exact),
                    us_per_pair=1e6 * timing.best / n,
                    **{k: v / mesh.radius if k.startswith("place") else v for k, v in errors.items()},
                )
    written = report.write()
    if settings.figure is not None or written:
        draw(report.rows, settings.figure or written[0].with_suffix(".png"))


def draw(rows: list[dict], path: Path) -> None:
    """Panels over the resolution: false, missed, errors in time and place; a line per shape and mode."""
    try:
        import matplotlib
    except ImportError as error:
        raise BenchError("the figure needs matplotlib: python -m pip install matplotlib") from error
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    panels = (
        ("false", "false contacts (share)"),
        ("missed", "missed contacts (share)"),
        ("time_median", "median error in time (steps)"),
        ("place_median", "median error in place (body radii)"),
    )
    figure, axes = plt.subplots(2, 2, figsize=(9.0, 6.5), sharex=True, layout="constrained")
    shapes = list(dict.fromkeys(row["shape"] for row in rows))
    resolutions = sorted({row["resolution"] for row in rows})
    for axis, (column, title) in zip(axes.flat, panels, strict=True):
        for row_key in dict.fromkeys((row["shape"], row["refine"]) for row in rows):
            line = [row for row in rows if (row["shape"], row["refine"]) == row_key]
            axis.plot(
                [row["resolution"] for row in line],
                [row[column] for row in line],
                color=f"C{shapes.index(row_key[0])}",
                linestyle="-" if row_key[1] == "segments" else "--",
                marker="o",
                markersize=3,
                label=f"{row_key[0]}, {row_key[1]}",
            )
        axis.set_title(title, fontsize=10)
        axis.set_xscale("log", base=2)
        if min(row[column] for row in rows) > 0.0:
            axis.set_yscale("log")
        else:  # exactly zero has no place on a log axis: linear near zero
            axis.set_yscale("symlog", linthresh=1e-4)
            axis.set_ylim(bottom=0.0)
        axis.set_xticks(resolutions, [f"{r:g}" for r in resolutions])
        axis.grid(True, alpha=0.3)
    for axis in axes[1]:
        axis.set_xlabel("rows per short edge")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=8)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    plt.close(figure)
    print(f"written: {path}")
