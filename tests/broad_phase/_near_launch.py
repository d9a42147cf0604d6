"""Stages b05 and b06 by themselves, and what they are compared with."""

from dataclasses import dataclass

import numpy as np

from gpu_collide._options import Options
from gpu_collide.backends import sources
from gpu_collide.pipeline.launch.launcher import Launcher
from gpu_collide.pipeline.mesh_tables.tables import build_tables
from gpu_collide.pipeline.narrow_phase.immediate import Immediate
from gpu_collide.pipeline.narrow_phase.near_faces import lots_of
from gpu_collide.pipeline.narrow_phase.plan import decide
from gpu_collide.reference.narrow_phase.s01_screw import pose_arrays, screw_of_pair
from tests.narrow_phase._launch import GUARD, Stages, new

#: Columns of a mesh's header that say where a table begins, and how many entries it has: a number of nv, ne,
#: nf, or the name of a table whose last entry says it.
TABLES = {
    "face_start": "nf+1", "face_vertices": "face_start", "face_edges": "face_start", "edges": "2ne",
    "edge_face_start": "ne+1", "edge_faces": "edge_face_start", "vertex_edge_start": "nv+1",
    "vertex_edges": "vertex_edge_start", "vertex_face_start": "nv+1", "vertex_faces": "vertex_face_start",
    "edge_flags": "ne", "vertex_flags": "nv", "source_vertices": "nv", "source_edges": "ne",
    "source_faces": "nf", "near_faces": "nf",
}  # fmt: skip
MESH, TREE = sources.record("mesh"), sources.record("tree")
SEEN_STRIDE = sources.record("seen").stride
NEAR_INTS = sources.constants()["GC_NEAR_INTS"]


@dataclass
class Parts:
    """Host copies of the tables of many parts."""

    headers: np.ndarray
    topology: np.ndarray
    vertices: np.ndarray
    normals: np.ndarray
    inverse_length: np.ndarray
    edge0: np.ndarray

    @classmethod
    def of(cls, backend, buffers):
        names = ("headers", "topology", "vertices", "normals", "inverse_length", "edge0")
        host = {k: backend.to_host(buffers[f"{k}_in"]).copy() for k in names}
        host["headers"] = host["headers"].reshape(-1, MESH.stride)
        return cls(**host)

    def table(self, part, name):
        """One index table of a part, or None where it has none."""
        size = TABLES[name]
        nv, ne, nf = (int(self.headers[part, MESH[k]]) for k in ("nv", "ne", "nf"))
        sizes = {"nf+1": nf + 1, "ne+1": ne + 1, "nv+1": nv + 1, "2ne": 2 * ne, "nv": nv, "ne": ne, "nf": nf}
        n = sizes[size] if size in sizes else int(self.table(part, size)[-1])
        at = int(self.headers[part, MESH[name]])
        return None if at < 0 else self.topology[at : at + n]

    def rasters(self, part):
        """Vertices (nv, 3), normals (nf, 3) and inverse lengths (ne,) of a part."""
        nv, ne, nf, v0, f0 = (
            int(self.headers[part, MESH[k]]) for k in ("nv", "ne", "nf", "vertex0", "face0")
        )
        e0 = int(self.edge0[part])
        return (
            self.vertices[3 * v0 : 3 * (v0 + nv)].reshape(3, nv).T,
            self.normals[3 * f0 : 3 * (f0 + nf)].reshape(3, nf).T,
            self.inverse_length[e0 : e0 + ne],
        )


@dataclass
class Listed:
    """What b05 wrote."""

    rows: np.ndarray  # (k, 3) 2 pair + side, part, bits
    count: int
    need: int
    no_room: np.ndarray  # pairs
    spilled: bool
    whole: np.ndarray  # pairs left to whole meshes

    def table(self):
        return sorted(map(tuple, self.rows.tolist()))


class Near:
    """The pairs of a scene up to the search for near faces, on one backend."""

    def __init__(self, backend, scene, precision="mixed", text=None):
        self.backend, self.scene = backend, scene
        self.bodies = scene.bodies()
        self.stages = Stages(backend, self.bodies, scene.pairs, precision, text)
        self.stages.s01()
        self.tables = build_tables(self.bodies.meshes, backend, precision, near=True)
        self.parts = Parts.of(backend, self.tables.screen)
        self.trees = backend.to_host(self.tables.buffers["trees_in"]).reshape(-1, TREE.stride).copy()
        self.n = self.stages.n
        self.shapes = self.bodies.shape[self.stages.pairs]

    def order(self, k):
        """Face of each leaf of mesh k."""
        first, n = int(self.trees[k, TREE["patch"]]), -(-int(self.trees[k, TREE["faces"]]) // 32)
        return np.concatenate([self.parts.table(p, "source_faces") for p in range(first, first + n)])

    def features(self, room=4096, capacity=1 << 16, groups=None, todo=None, state=None,
                 min_properness=-1.0, refine=0, heights=None, gives_up=0):  # fmt: skip
        """One launch of b05, without the second try of the pipeline; `heights` of rows, in user units."""
        be, s = self.backend, self.stages
        groups = min(be.max_groups, self.n) if groups is None else groups
        todo = np.arange(self.n) if todo is None else np.asarray(todo)
        reals, ints = groups * 2 * room * SEEN_STRIDE, groups * (NEAR_INTS * room + 8)
        scratch = [be.zeros(reals + GUARD, s.raster), be.fill(be.empty(ints + GUARD, "i4"), -7)]
        rows = be.fill(be.empty(3 * capacity + GUARD, "i4"), -7)
        need, count = be.zeros(1, "i4"), be.zeros(1, "i4")
        no_room, whole = be.zeros(self.n, "i4"), be.zeros(self.n, "i4")
        be.launch(
            s.module.kernel("b05_features"), groups, n_todo=len(todo),
            todo_in=be.to_device(todo.astype(np.int32)), screw_in=s.screw_buffer, **s.index,
            state_in=be.to_device(s.state if state is None else np.asarray(state, np.int32)),
            **{k: self.tables.buffers[k] for k in ("trees_in", "nodes_in")}, scratch_reals=scratch[0],
            scratch_ints=scratch[1], room=room, gives_up=gives_up, capacity=capacity, need_out=need,
            no_room_out=no_room, whole_out=whole, n_out=count, list_out=rows,
            min_properness=min_properness, refine=refine,
            row_height_in=be.to_device(np.zeros(self.n, s.real) if heights is None else heights),
        )  # fmt: skip
        found = int(be.item(count, 0))
        out = be.to_host(rows)
        written = 3 * min(found, capacity)
        spilled = (
            be.to_host(scratch[0])[-GUARD:].any()
            or (be.to_host(scratch[1])[-GUARD:] != -7).any()
            or (out[written:] != -7).any()
        )
        return Listed(
            out[:written].reshape(-1, 3).copy(), found, int(be.item(need, 0)),
            np.flatnonzero(be.to_host(no_room)), bool(spilled), np.flatnonzero(be.to_host(whole)),
        )  # fmt: skip

    def masks(self, listed, pair, side):
        """{patch number within the mesh: bits} of one side, bits beyond the last face left out."""
        k = int(self.shapes[pair, side])
        faces, first = (int(self.trees[k, TREE[name]]) for name in ("faces", "patch"))
        out = {}
        for _, part, bits in listed.rows[listed.rows[:, 0] == 2 * pair + side]:
            patch = int(part) - first
            inside = (1 << min(32, faces - 32 * patch)) - 1
            out[patch] = out.get(patch, 0) | int(bits) & inside
        return out

    def screw(self, pair):
        """The reference's motion of a pair."""
        (p0, q0, _), (p1, q1, _) = pose_arrays(self.bodies.start), pose_arrays(self.bodies.end)
        a, b = self.stages.pairs[pair]
        poses = [(p[k], q[k]) for k in (a, b) for p, q in ((p0, q0), (p1, q1))]
        return screw_of_pair(*(self.bodies.meshes[k] for k in self.shapes[pair]), *poses)

    def executor(self, buffers, max_bytes=1 << 30, guesses=None):
        """What the pipeline's stages launch with."""
        options = Options(
            features="near", filters=(), resolution=2.0, check_start=False, precision=self.stages.precision,
            max_bytes=max_bytes,
        )  # fmt: skip
        run = Launcher(self.backend, options.precision, max_bytes)
        run.kernel = self.stages.module.kernel  # the tests' own kernels, where they are asked for
        run.room.guesses |= guesses or {}
        plan = decide(self.bodies.meshes, options, self.backend)
        x = Immediate(run, plan, self.tables, self.shapes, buffers)
        x.buffers |= buffers
        return x

    def items(self, todo=None, **more):
        """Items of the pairs, as the pipeline makes them."""
        todo = np.arange(self.n, dtype=np.int32) if todo is None else todo
        state = self.backend.to_device(self.stages.state)
        buffers = {"screw_in": self.stages.screw_buffer, "state_in": state, **self.stages.index}
        buffers["row_height_in"] = self.backend.zeros(self.n, self.stages.real)
        x = self.executor(buffers, **more)
        (lot,) = lots_of(x, x.listed(todo), x.plan.classes)
        return lot

    def new(self, shape, dtype):
        return new(self.backend, shape, dtype)
