"""What the exact judge of whole-number scenes knows of a shape: edges, faces around features, formulas.

Made from corners and loops alone; nothing is shared with the library or with the other judges.
"""

import numpy as np

PAD = -1


def padded(rows):
    """Lists of numbers as a rectangle, short rows filled with PAD."""
    out = np.full((len(rows), max(map(len, rows))), PAD)
    for k, row in enumerate(rows):
        out[k, : len(row)] = row
    return out


def unit(x):
    length = np.sqrt((x * x).sum(-1, keepdims=True))
    return x / np.where(length > 0, length, 1)


class Topology:
    """Edges, normals and neighbours of a `Shape`, whose corners may be turned by a whole matrix first."""

    def __init__(self, shape, turn=None):
        self.two_sided = shape.two_sided
        self.v = shape.vertices if turn is None else shape.vertices @ np.asarray(turn).T
        self.loops = [np.array(loop) for loop in shape.loops]
        self.corner = self.v[[loop[0] for loop in self.loops]]
        self.normal = np.array([self.newell(loop) for loop in self.loops])
        self.unit_normal = unit(self.normal.astype(float))
        pairs = {}
        for f, loop in enumerate(self.loops):
            for p, q in zip(loop, np.roll(loop, -1), strict=True):
                pairs.setdefault((min(p, q), max(p, q)), []).append((f, p < q))
        self.edges = np.array(sorted(pairs))
        beside = [pairs[tuple(e)] for e in self.edges.tolist()]
        self.edge_faces = padded([[f for f, _ in row] for row in beside])
        self.origin = self.v[self.edges[:, 0]]
        self.along = self.v[self.edges[:, 1]] - self.origin
        at = [[] for _ in self.v]
        for f, loop in enumerate(self.loops):
            for v in loop:
                at[v].append(f)
        self.vertex_faces = padded([sorted(set(row)) for row in at])
        self._sides()
        self._formulas(beside, at)

    def newell(self, loop):
        """Of a planar polygon, twice its area long, whole."""
        x = self.v[loop] - self.v[loop[0]]
        return np.cross(x, np.roll(x, -1, 0)).sum(0)

    def _sides(self):
        """Inward directions in the plane of each face, whole; a row of zeros where a loop is shorter."""
        most = max(map(len, self.loops))
        self.side = np.zeros((len(self.loops), most, 3), np.int64)
        self.side_at = np.zeros((len(self.loops), most), np.int64)
        for f, loop in enumerate(self.loops):
            ends = self.v[np.roll(loop, -1)] - self.v[loop]
            inward = np.cross(np.broadcast_to(self.normal[f], ends.shape), ends)
            self.side[f, : len(loop)] = inward
            self.side_at[f, : len(loop)] = (inward * self.v[loop]).sum(1)

    def _formulas(self, beside, at):
        """Directions that properness is made of, and where its sign is sure to be that of the formula."""
        n, most = len(self.edges), self.edge_faces.shape[1]
        self.lean = np.zeros((n, most, 3))  # in each face beside an edge, away from it at right angles
        self.plain = np.zeros(n, int)  # 1 convex or flat, -1 reflex, 0 not to be told from two faces
        for e, row in enumerate(beside):
            for k, (f, forth) in enumerate(row):
                inward = np.cross(self.normal[f], self.along[e] * (1 if forth else -1))
                self.lean[e, k] = unit(inward.astype(float))
            if self.two_sided or len(row) == 1:
                self.plain[e] = 1
            elif len(row) == 2 and row[0][1] != row[1][1]:
                self.plain[e] = -1 if self.lean[e, 0] @ self.unit_normal[row[1][0]] > 1e-12 else 1
        spokes = [[] for _ in self.v]
        for e, (p, q) in enumerate(self.edges):
            spokes[p].append(self.along[e])
            spokes[q].append(-self.along[e])
        self.spokes = np.zeros((len(self.v), max(1, max(map(len, spokes))), 3))
        self.has_spoke = np.zeros(self.spokes.shape[:2], bool)
        plain = np.ones(len(self.v), bool)
        for e, ends in enumerate(self.edges):
            plain[ends] &= self.plain[e] == 1
        for v, row in enumerate(spokes):
            self.has_spoke[v, : len(row)] = True
            if row:
                self.spokes[v, : len(row)] = unit(np.array(row, float))
        self.plain_vertex = plain | self.two_sided

    def facing(self, table, numbers, d, sign):
        """Whether some face of `table[numbers]` has sign * normal . d >= 0; d one vector a row."""
        faces = table[numbers]
        value = (self.normal[faces] * d[:, None, :]).sum(-1) * sign
        return self.two_sided | ((value >= 0) & (faces != PAD)).any(1)
