"""Stage 6: a mesh joined from some of its patches, feature by feature, straight from the whole mesh.

The tables are those of ``kernels/common/gc_types.h``. A patch brings its vertices and edges in ascending
order of their numbers in the mesh, and its faces as they are listed. What several patches share is there
several times; the copy in the first patch of all that have it, listed or not, knows what is around it in the
mesh, the others know nothing. What is not in the list is replaced by the first of the row that is.
"""

import numpy as np

__all__ = ["joined"]


def joined(mesh, order, listed, masks=None, size=32):
    """Join patches of `mesh`.

    Parameters
    ----------
    mesh : Mesh
    order : (faces,) int
        Faces in the order of the patches, which are runs of `size` of them.
    listed : sequence of int
        Patches to join, ascending.
    masks : sequence of int, optional
        Bit k says whether face k of a patch is near; default all.

    Returns
    -------
    dict of name to array
        Index tables, ``source_*`` and ``near_faces`` as int64; ``vertices`` and ``normals`` (n, 3),
        ``inverse_length`` (n,) as float64, the vertices counted from the mesh's centre.
    """
    order = [int(f) for f in order]
    home = {f: place // size for place, f in enumerate(order)}
    parts = [_Patch(mesh, p, order[size * p : size * (p + 1)]) for p in listed]
    before = np.cumsum([[0, 0, 0]] + [[len(p.vertices), len(p.edges), len(p.faces)] for p in parts], axis=0)
    for part, (v, e, f) in zip(parts, before.tolist(), strict=False):
        part.vertex = {x: v + k for k, x in enumerate(part.vertices)}
        part.edge = {x: e + k for k, x in enumerate(part.edges)}
        part.face = {x: f + k for k, x in enumerate(part.faces)}
    whole = _Whole(mesh, home, {p.number: p for p in parts})
    lists: dict[str, list] = {name: [] for name in _CSR + _FLAT}
    lists |= {start: [0] for start in _STARTS}
    for k, part in enumerate(parts):
        _append(whole, part, -1 if masks is None else int(masks[k]), lists)
    out = {name: np.array(values, np.int64).reshape(-1) for name, values in lists.items()}
    out["vertices"] = mesh.vertices[out["source_vertices"]] - mesh.center
    out["normals"] = mesh.face_planes[out["source_faces"], :3]
    ends = mesh.vertices[mesh.edges[out["source_edges"]]]
    out["inverse_length"] = 1.0 / np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1)
    return out


_CSR = ("face_vertices", "face_edges", "edge_faces", "vertex_edges", "vertex_faces")
_STARTS = ("face_start", "edge_face_start", "vertex_edge_start", "vertex_face_start")
_FLAT = (
    "edges", "edge_flags", "vertex_flags", "source_vertices", "source_edges", "source_faces", "near_faces",
)  # fmt: skip


class _Patch:
    """The features of one patch, and where each is in the joined mesh."""

    def __init__(self, mesh, number, faces):
        start = mesh.face_start
        self.number = number
        self.faces = faces
        self.vertex: dict[int, int] = {}
        self.edge: dict[int, int] = {}
        self.face: dict[int, int] = {}
        self.corners = {f: mesh.face_vertices[start[f] : start[f + 1]].tolist() for f in faces}
        self.borders = {f: mesh.face_edges[start[f] : start[f + 1]].tolist() for f in faces}
        self.vertices = sorted({v for f in faces for v in self.corners[f]})
        self.edges = sorted({e for f in faces for e in self.borders[f]})


class _Whole:
    """What is around a feature in the mesh, as entries of the joined mesh."""

    def __init__(self, mesh, home, parts):
        self.mesh, self.home, self.parts = mesh, home, parts

    def _row(self, start, values, k):
        return getattr(self.mesh, values)[
            getattr(self.mesh, start)[k] : getattr(self.mesh, start)[k + 1]
        ].tolist()

    def edge_owner(self, e):
        return min(self.home[x >> 1] for x in self._row("edge_face_start", "edge_faces", e))

    def faces_of_edge(self, part, e):
        if self.edge_owner(e) != part.number:
            return []
        entries = [(x >> 1, x & 1) for x in self._row("edge_face_start", "edge_faces", e)]
        return _filled(
            [2 * self._face(f) + side if self._face(f) is not None else None for f, side in entries]
        )

    def faces_of_vertex(self, part, v):
        faces = self._row("vertex_face_start", "vertex_faces", v)
        if min(self.home[f] for f in faces) != part.number:
            return []
        return _filled([self._face(f) for f in faces])

    def edges_of_vertex(self, part, v):
        faces = self._row("vertex_face_start", "vertex_faces", v)
        if min(self.home[f] for f in faces) != part.number:
            return []
        row = []
        for e, end in ((x >> 1, x & 1) for x in self._row("vertex_edge_start", "vertex_edges", v)):
            there = part if e in part.edge else self.parts.get(self.edge_owner(e))
            row.append(None if there is None else 2 * there.edge[e] + end)
        return _filled(row)

    def _face(self, f):
        part = self.parts.get(self.home[f])
        return None if part is None else part.face[f]


def _filled(row):
    """The row with the first entry that there is in the place of those that there are not."""
    first = next(x for x in row if x is not None)
    return [first if x is None else x for x in row]


def _append(whole, part, mask, out):
    """The tables of one patch behind those of the others."""
    mesh = whole.mesh

    def row(values, start, entries):
        out[values] += entries
        if start:
            out[start].append(len(out[values]))

    for k, f in enumerate(part.faces):
        row("face_edges", None, [part.edge[e] for e in part.borders[f]])
        row("face_vertices", "face_start", [part.vertex[v] for v in part.corners[f]])
        out["near_faces"].append(mask >> k & 1)
    for e in part.edges:
        out["edges"].append([part.vertex[v] for v in mesh.edges[e].tolist()])
        row("edge_faces", "edge_face_start", whole.faces_of_edge(part, e))
        out["edge_flags"].append(mesh.edge_flags[e])
    for v in part.vertices:
        row("vertex_edges", "vertex_edge_start", whole.edges_of_vertex(part, v))
        row("vertex_faces", "vertex_face_start", whole.faces_of_vertex(part, v))
        out["vertex_flags"].append(mesh.vertex_flags[v])
    out["source_vertices"] += part.vertices
    out["source_edges"] += part.edges
    out["source_faces"] += part.faces
