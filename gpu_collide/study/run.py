"""The study: false and missed contacts, errors, work, time over resolution, mode, precision and backend."""

from __future__ import annotations

import csv
import io
import itertools
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import gpu_collide as gc
from gpu_collide import scenes
from gpu_collide.reference.narrow_phase.census import census
from gpu_collide.study.accuracy import missed_share, nearest_meetings, pixel_side

__all__ = ["MODES", "RESOLUTIONS", "SHAPES", "Study", "cost", "study"]

RESOLUTIONS = (1.0, 2.0, 3.0, 6.0, 12.0, 24.0, 48.0, 96.0)
MODES = ("exact", "segments", "pixels")
#: By name: what makes the mesh, and pairs by default: some thousand contacts each.
SHAPES: Mapping[str, tuple[Callable[[], gc.Mesh], int]] = {
    "cubes": (gc.shapes.box, 4000),
    "cars": (gc.shapes.car, 2000),
    "tori": (gc.shapes.torus, 60),
}
COUNTED = 8  # pairs whose records and candidates the reference counts, one after the other
#: Timings of a result, by the groups of stages that they are told in.
STAGES = {
    "screw": ("s01_",),
    "filters": ("f01_", "f02_", "f03_", "s09_"),
    "screen": ("screen", "candidates", "s02_", "s03_", "s04_", "s05_", "s06_"),
    "solve": ("s07_",),
    "contacts": ("s08_", "assemble"),
}


@dataclass
class Study:
    """What `study` returns.

    Attributes
    ----------
    rows : list of dict
        One for each setting; names and units of the columns are in `docs/study.md`.
    settings : dict
        What was asked: pairs, seed, threshold, repeats, version.
    """

    rows: list[dict[str, Any]] = field(default_factory=list)
    settings: dict[str, Any] = field(default_factory=dict)

    def csv(self) -> str:
        """All rows as CSV, behind comments with the settings."""
        out = io.StringIO()
        out.writelines(f"# {name}: {value}\n" for name, value in self.settings.items())
        writer = csv.DictWriter(out, list(self.rows[0]), lineterminator="\n")
        writer.writeheader()
        for row in self.rows:
            writer.writerow({k: f"{v:.6g}" if isinstance(v, float) else v for k, v in row.items()})
        return out.getvalue()


def study(
    meshes: Mapping[str, Sequence[gc.Mesh]] | None = None,
    *,
    pairs: int | None = None,
    resolutions: Sequence[float] = RESOLUTIONS,
    modes: Sequence[str] = MODES,
    precisions: Sequence[str] = ("mixed",),
    backends: Sequence[str] = ("auto",),
    min_properness: float = -0.1,
    seed: int = 1,
    repeat: int = 3,
    progress: Callable[[str], Any] = lambda what: None,
) -> Study:
    """Sweep the resolution and more over pairs that are about to meet.

    Parameters
    ----------
    meshes : mapping of str to sequence of Mesh, optional
        By name: a mesh for both bodies, or one for each. Default: `SHAPES`.
    pairs : int, optional
        Pairs of each; default: some thousand of simple ones, fewer of those with many edges.
    resolutions : sequence of float, optional
        Rows (pixels) per typical short edge.
    modes : sequence of {"exact", "segments", "pixels"}, optional
        ``"exact"`` by rows, too: the resolution changes its cost and nothing else.
    precisions, backends : sequence of str, optional
    min_properness : float, optional
    seed : int, optional
    repeat : int, optional
        Calls of which the fastest is told.
    progress : callable, optional
        Called with what is done next.

    Returns
    -------
    Study
    """
    if meshes is None:
        meshes = {name: (make(),) for name, (make, _) in SHAPES.items()}
    done = Study(settings={
        "version": gc.__version__, "scene": "random_impacts", "seed": seed, "repeat": repeat,
        "min_properness": min_properness,
    })  # fmt: skip
    for name, given in meshes.items():
        one, two = given[0], given[-1]
        n = pairs or _pairs_for(name, len(one.edges) + len(two.edges))
        bodies, listed = scenes.random_impacts(one, two, n, seed=seed)
        truth = _Truth(bodies, listed, min_properness, max(one.radius, two.radius))
        for backend, precision in itertools.product(backends, precisions):
            for mode, resolution in itertools.product(modes, resolutions):
                progress(f"{name}: {mode}, {resolution:g} rows, {precision}, {backend}")
                done.rows.append({"shape": name, **truth.row(mode, resolution, precision, backend, repeat)})
    return done


def cost(row: Mapping[str, Any]) -> float:
    """What a pair costs, microseconds: of the processor, all cores together, where that does the work, which
    others on the machine do not change; else on the clock."""
    return float(row["us_processor" if row["backend"] in ("cpu", "reference") else "us_per_pair"])


def _pairs_for(name: str, edges: int) -> int:
    """As many as take about as long as those of `SHAPES`."""
    return SHAPES[name][1] if name in SHAPES else int(np.clip(2e7 / edges**2, 20, 4000))


class _Truth:
    """A scene, and its exact contacts in double precision: above the threshold, and all."""

    def __init__(self, bodies: gc.Bodies, pairs: Any, threshold: float, size: float) -> None:
        self.bodies, self.pairs, self.threshold, self.size = bodies, pairs, threshold, size
        self.exact, self.every = (
            gc.collide(bodies, pairs, precision="double", min_properness=p).to_numpy()
            for p in (threshold, -1.0)
        )
        self._counted: dict[tuple, tuple[float, float]] = {}

    def row(self, mode: str, resolution: float, precision: str, backend: str, repeat: int) -> dict[str, Any]:
        """One row of the study."""

        def ask(threshold: float) -> gc.Contacts:
            words: Any = {"refine": mode, "precision": precision, "backend": backend}
            return gc.collide(
                self.bodies, self.pairs, tuning=gc.Tuning(candidates="raster"), resolution=resolution,
                min_properness=threshold, report=True, **words,
            ).to_numpy()  # fmt: skip

        found, every = ask(self.threshold), ask(-1.0)
        seconds = busy = np.inf
        timings: dict[str, float] = {}
        for _ in range(repeat):
            begin, worked = time.perf_counter(), time.process_time()
            again = ask(self.threshold)
            busy = min(busy, time.process_time() - worked)
            took = time.perf_counter() - begin
            if took < seconds:
                seconds, timings = took, again.info["timings"]
        n = len(self.pairs)
        records, candidates = self._work(mode, resolution)
        return {
            "mode": mode, "resolution": resolution, "precision": precision,
            "backend": found.info["backend"], "device": found.info["device"], "pairs": n,
            "contacts": len(found), "exact_contacts": len(self.exact),
            **self._errors(mode, resolution, found, every),
            "records_per_pair": records, "candidates_per_pair": candidates, "us_per_pair": 1e6 * seconds / n,
            "us_processor": 1e6 * busy / n,
            **{f"us_{name}": 1e6 * _spent(timings, heads) / n for name, heads in STAGES.items()},
        }  # fmt: skip

    def _errors(self, mode: str, resolution: float, found: Any, every: Any) -> dict[str, float]:
        known, late, away = nearest_meetings(found, self.every)
        pixel = pixel_side(self.bodies, self.pairs, resolution) if mode == "pixels" else None
        told = {
            "false": float(np.mean(~known)) if len(known) else 0.0,
            "missed": missed_share(every, self.exact, pixel),
        }
        for what, values in (("time", late), ("place", away / self.size)):
            some = len(values) > 0
            told[f"{what}_median"] = float(np.median(values)) if some else float("nan")
            told[f"{what}_95"] = float(np.quantile(values, 0.95)) if some else float("nan")
            told[f"{what}_worst"] = float(values.max()) if some else float("nan")
        return told

    def _work(self, mode: str, resolution: float) -> tuple[float, float]:
        """Records and candidates a pair, the mean of some."""
        key = mode != "exact", resolution
        if key not in self._counted:
            counts = np.array(census(self.bodies, np.asarray(self.pairs)[:COUNTED], resolution, key[0]))
            self._counted[key] = float(counts[:, 0].mean()), float(counts[:, 1].mean())
        return self._counted[key]


def _spent(timings: Mapping[str, float], heads: tuple[str, ...]) -> float:
    return sum(seconds for name, seconds in timings.items() if name.startswith(heads))
