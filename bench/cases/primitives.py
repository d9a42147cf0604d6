"""The primitives of the Pluecker method: tests a second, each feature against each."""

from __future__ import annotations

import time

import numpy as np

import gpu_collide as gc
from bench.report import Report, describe_device
from bench.settings import BenchError, Settings
from bench.timing import measure
from gpu_collide.backends import get_backend

NAME = "primitives"
HELP = "vertices against triangles and edges against edges, on ways and on turns: tests a second"

#: name, rows, columns
CASES = (
    ("vertex, way", 4000, 5000),
    ("vertex, turn", 2000, 1000),
    ("rods, way", 2000, 1000),
    ("edges, way", 2000, 1000),
    ("edges, turn", 1000, 1000),
    ("edges, small turn", 1000, 1000),
)

#: Million tests a second on two cores.
TARGET = {"vertex, way": 100.0}


class Scene:
    """Features in a cube: vertices or edges that move, and triangles or edges that are a tenth as large."""

    def __init__(self, name: str, rows: int, columns: int, seed: int):
        rng = np.random.default_rng(seed)
        self.name, self.rows, self.columns = name, rows, columns
        start, centre = rng.uniform(-1, 1, (rows, 1, 3)), rng.uniform(-1, 1, (columns, 3))
        self.vertex, self.vector = start, rng.uniform(-1, 1, (rows, 1, 3))
        self.polygon = centre[:, None] + rng.uniform(-0.1, 0.1, (columns, 3, 3))
        self.edge = start[:, :, None] + rng.uniform(-0.1, 0.1, (rows, 1, 2, 3))
        self.still = self.polygon[:, :2]
        most = 0.05 if "small" in name else np.pi
        self.turn = rng.uniform(-most, most, (rows, 1)), rng.normal(size=(rows, 1, 3)), np.zeros(3)
        self.faces = {
            "edge_normals": self._faces(rng, self.edge), "still_normals": self._faces(rng, self.still),
        }  # fmt: skip

    def rounded(self, to):
        """The same with all numbers rounded by a function, so that they are the same on every machine."""
        self.vertex, self.vector, self.polygon, self.edge, self.still = map(
            to, (self.vertex, self.vector, self.polygon, self.edge, self.still)
        )
        self.turn = tuple(map(to, self.turn))
        self.faces = {name: to(normals) for name, normals in self.faces.items()}
        return self

    @staticmethod
    def _faces(rng, ends):
        """Normals of the two faces of convex edges."""
        u = ends[..., 1, :] - ends[..., 0, :]
        one = np.cross(u, rng.normal(size=u.shape))
        one = one / np.linalg.norm(one, axis=-1, keepdims=True)
        into = np.cross(one, u) / np.linalg.norm(u, axis=-1, keepdims=True)
        other = one - into * rng.uniform(0.2, 2, (*u.shape[:-1], 1))  # falls away beyond the edge
        return np.stack([one, other], axis=-2)

    def ask(self, few: int | None = None, **options):
        """Fractions of all, or of the first few rows and columns."""
        p, how = gc.pluecker, {"expel": None, **options}
        rows, columns = slice(few), slice(few)
        turn = (self.turn[0][rows], self.turn[1][rows], self.turn[2])
        faces = {"edge_normals": self.faces["edge_normals"][rows],
                 "still_normals": self.faces["still_normals"][columns]}  # fmt: skip
        if "vertex, way" in self.name:
            return p.vertex_polygon_translation(
                self.vertex[rows], self.vector[rows], self.polygon[columns], **how
            )
        if "vertex" in self.name:
            return p.vertex_polygon_rotation(self.vertex[rows], *turn, self.polygon[columns], **how)
        if "rods" in self.name:
            return p.edge_edge_translation(self.edge[rows], self.vector[rows], self.still[columns], **how)
        if "way" in self.name:
            return p.edge_edge_translation(
                self.edge[rows], self.vector[rows], self.still[columns], **faces, **how
            )
        return p.edge_edge_rotation(self.edge[rows], *turn, self.still[columns], **faces, **how)


def run(settings: Settings) -> None:
    report = Report(NAME, settings)
    backend = get_backend(settings.backend, settings.precision, (NAME,))
    report.device = describe_device({"backend": backend.name, "device": backend.device})
    for name, rows, columns in CASES:
        rows = max(rows // 20, 8) if settings.quick else rows
        scene = Scene(name, rows, columns, settings.seed)
        options = {"precision": settings.precision, "backend": settings.backend}
        _check(scene, options, settings)
        spent = []

        def call(scene=scene, options=options, spent=spent):
            begun = time.process_time()
            found = scene.ask(**options)
            spent.append(time.process_time() - begun)
            return found

        stopped = np.isfinite(call()).mean()
        timing = measure(call, settings.repeat)
        tests = rows * columns
        rate, wanted = tests / timing.best / 1e6, TARGET.get(name)
        report.add(test=name, tests=tests, stopped=stopped, million_per_s=rate, target=wanted or "",
                   reached="" if wanted is None else "yes" if rate >= wanted else "no",
                   ns_cpu=1e9 * min(spent) / tests, million_per_core=tests / min(spent) / 1e6,
                   spread=timing.spread)  # fmt: skip
    report.write()


def _check(scene: Scene, options: dict, settings: Settings) -> None:
    """A part of it by the reference: the same are stopped, at the same fraction."""
    got = scene.ask(200, **options)
    want = scene.ask(200, backend="reference", precision="double")
    same = np.isfinite(got) == np.isfinite(want)
    both = np.isfinite(got) & np.isfinite(want)
    off = np.abs(got[both] - want[both])
    most = 1e-2 if settings.precision == "single" else 1e-9
    if (~same).sum() > same.size * 1e-4 or (off > most).any():
        raise BenchError(
            f"{scene.name}: {(~same).sum()} of {same.size} tests, or a fraction by "
            f"{off.max(initial=0):.1e}, differ from the reference; not timed"
        )
