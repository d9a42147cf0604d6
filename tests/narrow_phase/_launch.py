"""Single stages of the screw method through the backend's verbs, on scenes of the oracle.

Every output is filled before the launch with NaN (numbers) or -1 (integers), so that a place no kernel wrote
shows.
"""

from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

import numpy as np
import pytest

from gpu_collide.backends import get_backend, sources
from gpu_collide.errors import BackendUnavailableError
from gpu_collide.pipeline.mesh_tables.tables import build_tables, short_edges
from tests.acceptance import matrix
from tests.narrow_phase._lanes import LanesBackend
from tests.oracle.judge import NOMINAL
from tests.support.probes import Kernels, with_probes

C = sources.constants("double")
STRIDE = sources.record("screw").stride
NO_HIT = int(C["GC_HIT_NO_HIT"])
RASTER, PAIRS = int(C["GC_CANDIDATES_RASTER"]), int(C["GC_CANDIDATES_PAIRS"])
FV, VF, EE = (int(C[k]) for k in ("GC_FV", "GC_VF", "GC_EE"))
GUARD = 4096  # elements behind the scratch that nobody may touch
PROBES = sorted(Path(__file__).parent.glob("probe_*.c"))
FIELDS = {
    "pair": ("i4", 1), "kind": ("u1", 1), "feature_a": ("i4", 1), "feature_b": ("i4", 1), "time": (None, 1),
    "position": (None, 3), "normal": (None, 3), "properness": (None, 1), "local_a": (None, 3),
    "local_b": (None, 3), "normal_speed": (None, 1), "sustained": ("u1", 1), "time_end": (None, 1),
}  # fmt: skip


def types(precision):
    """dtypes of gc_real and gc_raster."""
    return np.dtype("f4" if precision == "single" else "f8"), np.dtype(
        "f8" if precision == "double" else "f4"
    )


@lru_cache(maxsize=1)
def probe_text():
    """The entry points of the probe files, behind what they need."""
    return with_probes(PROBES)


def probe(backend, precision, name):
    return backend.compile(probe_text(), precision).kernel(name)


def new(backend, shape, dtype):
    dtype = np.dtype(dtype)
    return backend.fill(
        backend.empty(shape, dtype), np.nan if dtype.kind == "f" else 255 if dtype == "u1" else -1
    )


def cpu():
    """The backend whose bits the others must have."""
    try:
        return get_backend("cpu")
    except BackendUnavailableError as error:
        pytest.skip(f"nothing to compare with: {error}")


@dataclass
class Found:
    """What the screen kernel wrote."""

    rows: np.ndarray  # (k, 4) pair, kind, feature of A, feature of B
    brackets: np.ndarray  # (k, 2) s
    no_room: np.ndarray  # pairs whose scratch was too small
    need: np.ndarray
    count: int
    spilled: bool  # something was written behind the scratch

    def set(self):
        return set(map(tuple, self.rows.tolist()))

    def bits(self):
        """Candidates with their brackets in an order of their own."""
        table = np.rec.fromarrays([*self.rows.T, *self.brackets.T])
        return np.sort(table).tobytes()


@dataclass
class Hits:
    """What s07 wrote, or hits made by hand for s08."""

    hit: np.ndarray  # (k, 4) pair, kind and bits, features
    value: np.ndarray  # (k, 3) s, s at the end, properness
    pair_hits: np.ndarray
    state: np.ndarray

    def table(self):
        return np.unique(np.rec.fromarrays([*self.hit.T, *self.value.T]))

    def take(self, rows):
        hit = self.hit[rows]
        return Hits(hit, self.value[rows], np.bincount(hit[:, 0], minlength=len(self.pair_hits)), self.state)


class Stages:
    """The stages for the pairs of `bodies`, one launch each.

    `groups` is the number of groups of a launch, as the backend likes if None; `text` replaces the kernels.
    """

    def __init__(self, backend, bodies, pairs, precision="mixed", text=None):
        self.backend, self.bodies, self.precision = backend, bodies, precision
        self.pairs = np.ascontiguousarray(pairs, np.int32)
        self.n = len(self.pairs)
        self.real, self.raster = types(precision)
        self.module = Kernels(backend, precision, text)
        tables = build_tables(bodies.meshes, backend, precision)
        self.tables, self.parts = tables.buffers, tables.screen
        valid = bodies.start.valid & bodies.end.valid
        poses = {
            "start_position_in": bodies.start.position,
            "start_quat_in": bodies.start.unit_wxyz,
            "end_position_in": bodies.end.position,
            "end_quat_in": bodies.end.unit_wxyz,
        }
        clean = {k: np.where(valid[:, None], x, 0.0).astype(self.real).reshape(-1) for k, x in poses.items()}
        self.poses = {k: backend.to_device(x) for k, x in clean.items()}
        self.index = {
            "pairs_in": backend.to_device(self.pairs.reshape(-1)),
            "shape_in": backend.to_device(np.ascontiguousarray(bodies.shape, np.int32)),
        }
        self.valid = backend.to_device(valid.astype(np.uint8))
        self.screw_buffer = self.state = None

    def items(self, name, n, groups, **args):
        kernel = self.module.kernel(name)
        if groups is None:
            self.backend.launch_items(kernel, n, **args)
        else:
            self.backend.launch(kernel, groups, self.backend.item_group_size, **args)

    def some(self, name, n, groups, given):
        """`items` with those of the arguments `given` that the kernel takes; the first is their number."""
        first, *others = (arg.name for arg in self.module.kernel(name).args)
        self.items(name, n, groups, **{first: n}, **{other: given[other] for other in others})

    def s01(self, groups=None):
        """Screw records (n, STRIDE) and states (n,)."""
        be, t = self.backend, self.tables
        self.screw_buffer, state = new(be, self.n * STRIDE, self.real), new(be, self.n, "i4")
        self.items(
            "s01_screw",
            self.n,
            groups,
            n_pairs=self.n,
            valid_in=self.valid,
            screw_out=self.screw_buffer,
            mesh_reals_in=t["mesh_reals_in"],
            state_out=state,
            **self.index,
            **self.poses,
        )
        if not be.serial_groups:
            given = {"state_out": state, **self.index, **self.poses, **t}
            self.some("s01_long", self.n, groups, given)
        self.state = be.to_host(state).copy()
        return be.to_host(self.screw_buffer).reshape(self.n, STRIDE).copy(), self.state

    def common(self):
        if self.screw_buffer is None:
            self.s01()
        t = self.tables
        tables = {k: t[k] for k in ("headers_in", "topology_in")}
        return {**self.index, **tables, "screw_in": self.screw_buffer}

    def solver(self):
        return {k: self.tables[k] for k in ("mesh_reals_in", "vertices_in", "planes_in")}

    def heights(self, resolution):
        """Row heights for so many rows a short edge."""
        a, b = self.bodies.shape[self.pairs].T
        return short_edges(self.bodies.meshes, a, b) / resolution

    def screen(
        self,
        candidates=PAIRS,
        resolution=2.0,
        groups=None,
        room=(1 << 18, 1 << 18),
        capacity=1 << 18,
        refine=0,
        min_properness=-0.1,
        todo=None,
        state=None,
        small=False,
    ):
        """Stages s02 to s06 in one launch, without the second try of the pipeline; `small`: as they are for
        small meshes, which knows neither rows nor another refine than 0."""
        be = self.backend
        self.common()
        items = np.column_stack([np.arange(self.n), self.bodies.shape[self.pairs]]).astype(np.int32)
        groups = min(be.max_groups, self.n) if groups is None else groups
        todo = np.arange(self.n) if todo is None else np.asarray(todo)
        state = be.to_device(self.state if state is None else state)
        need, count, no_room = be.zeros(2, "i4"), be.zeros(1, "i4"), be.zeros(self.n, "i4")
        rows, brackets = new(be, capacity * 4, "i4"), new(be, capacity * 2, self.raster)
        scratch = [be.zeros(groups * r + GUARD, d) for r, d in zip(room, (self.raster, "i4"), strict=True)]
        scratch[1] = be.fill(scratch[1], -7)
        kernel = self.module.kernel("screen_small" if small else "screen")
        own = (
            {"refine": refine}
            if small
            else {"refine": refine, "candidates": candidates, "walked": 0, "shares": 0}
        )
        if not small:
            own["row_height_in"] = be.to_device(self.heights(resolution).astype(self.real))
        taken = {name for name, *_ in kernel.args}
        be.launch(
            kernel,
            groups,
            n_todo=len(todo),
            todo_in=be.to_device(todo.astype(np.int32)),
            items_in=be.to_device(items.reshape(-1)),
            screw_in=self.screw_buffer,
            **{name: table for name, table in self.parts.items() if name in taken},
            **own,
            min_properness=min_properness,
            scratch_reals=scratch[0],
            scratch_ints=scratch[1],
            reals_per_group=room[0],
            ints_per_group=room[1],
            capacity=capacity,
            state_in=state,
            no_room_out=no_room,
            need_out=need,
            n_candidates_out=count,
            candidates_out=rows,
            brackets_out=brackets,
        )
        found = int(be.item(count, 0))
        k = min(found, capacity)
        out = be.to_host(rows).reshape(-1, 4)[:k].copy(), be.to_host(brackets).reshape(-1, 2)[:k].copy()
        spilled = be.to_host(scratch[0])[-GUARD:].any() or (be.to_host(scratch[1])[-GUARD:] != -7).any()
        return Found(*out, np.flatnonzero(be.to_host(no_room)), be.to_host(need).copy(), found, bool(spilled))

    def s07(
        self, found, refine=0, min_properness=-0.1, groups=None, capacity=None, resolution=12.0, apart=None
    ):
        """Hits of candidates: a `Found`, or (rows, brackets). With another refine than 0 by the screen, with
        so many rows a short edge. `apart`: in three launches, as queries do among many work-items."""
        be, common = self.backend, self.common()
        rows, brackets = (found.rows, found.brackets) if isinstance(found, Found) else found
        capacity = max(256, 8 * len(rows)) if capacity is None else capacity
        hit, value = new(be, capacity * 4, "i4"), new(be, capacity * 3, self.real)
        count, pair_hits, state = be.zeros(1, "i4"), be.zeros(self.n, "i4"), be.to_device(self.state)
        rough = {}
        if refine:
            height = be.to_device(self.heights(resolution).astype(self.real))
            rough = {"refine": refine, "row_height_in": height}
        out = dict(
            capacity=capacity, pair_hits_out=pair_hits, n_hits_out=count, hit_out=hit, value_out=value,
            min_properness=min_properness, state_out=state, first_only=0, shut_out=state,
            candidates_in=be.to_device(np.ascontiguousarray(rows, np.int32).reshape(-1)),
            brackets_in=be.to_device(np.ascontiguousarray(brackets, self.raster).reshape(-1)),
            **common, **self.solver(), **rough,
        )  # fmt: skip
        apart = not refine and not be.serial_groups if apart is None else apart
        if len(rows) and apart:
            out |= {"lasting_out": new(be, len(rows), "i4"), "n_lasting_out": be.zeros(1, "i4")}
            out["lasting_in"] = out["lasting_out"]
            self.some("s07_find", len(rows), groups, out)
            k = int(be.item(count, 0))
            assert capacity >= k
            if k:
                self.some("s07_test", k, groups, out)
            last = int(be.item(out["n_lasting_out"], 0))
            if last:
                self.some("s07_last", last, groups, out)
        elif len(rows):
            self.some("s07_answer" if refine else "s07_solve", len(rows), groups, out)
        k = int(be.item(count, 0))
        assert capacity >= k
        hit, value = be.to_host(hit).reshape(-1, 4), be.to_host(value).reshape(-1, 3)
        assert (hit[k:] == -1).all() and np.isnan(value[k:]).all()
        live = np.flatnonzero(hit[:k, 0] != NO_HIT)
        return Hits(hit[live], value[live], be.to_host(pair_hits).copy(), be.to_host(state).copy())

    def everything(self):
        """All feature pairs of all pairs as candidates over the whole step: what no screen can add to."""
        parts = []
        for i, (a, b) in enumerate(self.bodies.shape[self.pairs]):
            ma, mb = self.bodies.meshes[a], self.bodies.meshes[b]
            counts = [(len(m.vertices), len(m.face_planes), len(m.edges)) for m in (ma, mb)]
            (va, fa, ea), (vb, fb, eb) = counts
            for kind, na, nb in ((FV, fa, vb), (VF, va, fb), (EE, ea, eb)):
                x, y = np.divmod(np.arange(na * nb), nb)
                parts.append(np.stack([np.full(na * nb, i), np.full(na * nb, kind), x, y], axis=1))
        rows = np.concatenate(parts).astype(np.int32)
        return rows, np.tile([-0.5, 0.5], (len(rows), 1))

    def s08(self, hits, first_only=0, refine=0, groups=None):
        """Contacts of hits: a dict of the fields of the result, with status, toi and contact_start."""
        be, common, solver, n = self.backend, self.common(), self.solver(), self.n
        k = len(hits.hit)
        pair_hits = np.bincount(hits.hit[:, 0], minlength=n).astype(np.int32)
        start = be.exclusive_scan(be.to_device(pair_hits))
        hit = be.to_device(np.ascontiguousarray(hits.hit, np.int32).reshape(-1))
        value = be.to_device(np.ascontiguousarray(hits.value, self.real).reshape(-1))
        order = new(be, max(k, 1), "i4")
        if k:
            self.items(
                "s08_place",
                k,
                groups,
                n_hits=k,
                hit_in=hit,
                hit_start_in=start,
                cursor=be.zeros(n, "i4"),
                order_out=order,
            )
            assert np.array_equal(np.sort(be.to_host(order)), np.arange(k))
        kept, status, toi = new(be, n, "i4"), new(be, n, "u1"), new(be, n, self.real)
        self.items(
            "s08_resolve",
            n,
            groups,
            n_pairs=n,
            hit_start_in=start,
            state_in=be.to_device(hits.state),
            row_height_in=be.to_device(np.full(n, 0.1, self.real)),
            value_in=value,
            refine=refine,
            first_only=first_only,
            hit_out=hit,
            order_out=order,
            kept_out=kept,
            status_out=status,
            toi_out=toi,
            **common,
            **solver,
        )
        contact_start = be.exclusive_scan(kept)
        total = int(be.item(contact_start))
        out = {f: new(be, max(total, 1) * w, d or self.real) for f, (d, w) in FIELDS.items()}
        if total:
            self.items(
                "s08_contacts",
                n,
                groups,
                n_pairs=n,
                hit_start_in=start,
                contact_start_in=contact_start,
                hit_in=hit,
                value_in=value,
                order_in=order,
                first_pair=0,
                corners_in=self.tables["corners_in"],
                spins_in=new(be, 1, np.uint8),  # not read: nobody spins
                spin_in=self.poses["start_position_in"],
                **self.poses,
                **common,
                **solver,
                **{f"{f}_out": buf for f, buf in out.items()},
            )
        got = {f: be.to_host(buf)[: total * FIELDS[f][1]].copy() for f, buf in out.items()}
        for f, (_, width) in FIELDS.items():
            got[f] = got[f].reshape(-1, 3) if width == 3 else got[f]
            assert not (got[f].dtype.kind == "f" and np.isnan(got[f]).any()), f"{f} has a place not written"
        got["status"], got["toi"] = be.to_host(status).copy(), be.to_host(toi).copy()
        got["contact_start"] = be.to_host(contact_start).copy()
        return got


@cache
def scene_of(family, n):
    """Pairs of the everyday sample, whose answers there are, as far as it reaches."""
    return matrix.part(family, n) if n <= matrix.SAMPLE[family] else matrix.make(family, n)


@cache  # two files ask for the same sixty on each backend
def stages_of(backend, family, n, precision="mixed"):
    scene = scene_of(family, n)
    return Stages(backend, scene.bodies(), scene.pairs, precision)


@cache
def screened(backend, family, n, precision="mixed", candidates=PAIRS, resolution=2.0):
    """Candidates of a scene, kept for the tests that look at them from different sides."""
    found = stages_of(backend, family, n, precision).screen(candidates, resolution)
    assert not found.need.any() and found.count == len(found.rows)
    return found


def uncovered(found, family, n, kinds, slack=1e-6):
    """Contacts of the oracle that no candidate holds: wrong features, or a bracket beside its time."""
    atoms = matrix.expected_of_part(family, n).atoms
    # coincident groups list members below the threshold too
    proper = atoms["properness"] > -0.1 + 2 * atoms["properness_band"]
    atoms = atoms[(atoms["state"] >= NOMINAL) & proper & np.isin(atoms["kind"], kinds)]
    spans = {}
    for row, (s0, s1) in zip(found.rows.tolist(), found.brackets.tolist(), strict=True):
        lo, hi = spans.get(tuple(row), (np.inf, -np.inf))
        spans[tuple(row)] = min(lo, s0), max(hi, s1)
    missing = []
    for a in atoms:
        key = tuple(int(a[k]) for k in ("pair", "kind", "feature_a", "feature_b"))
        lo, hi = spans.get(key, (np.inf, -np.inf))
        if not (lo - slack <= a["time"] - 0.5 and a["time_end"] - 0.5 <= hi + slack):
            missing.append((key, float(a["time"]), float(a["time_end"]), lo, hi))
    return missing, len(atoms)


@lru_cache(maxsize=1)
def _lanes():
    return LanesBackend()


def sharing(backend):
    """A backend like this one whose groups have several work-items, which share a pair behind real
    barriers."""
    if backend.kind == "cpu":
        return _lanes()
    if backend.serial_groups:
        # PoCL 3.1 takes 30 s to build them and then corrupts its own heap; under ASan and TSan the same text
        # as threads is clean
        pytest.skip(
            "groups are one work-item on this device; cpu runs the same text with threads as work-items"
        )
    return backend


def time_errors(hits, atoms):
    """How far each atom that has a hit is from the nearest of its hits, in shares of the step."""
    times = {}
    for row, s in zip(hits.hit.tolist(), hits.value[:, 0] + 0.5, strict=True):
        times.setdefault((row[0], row[1] & 3, *row[2:]), []).append(s)
    keys = [tuple(int(a[k]) for k in ("pair", "kind", "feature_a", "feature_b")) for a in atoms]
    return [
        min(abs(t - a["time"]) for t in times[key])
        for a, key in zip(atoms, keys, strict=True)
        if key in times
    ]
