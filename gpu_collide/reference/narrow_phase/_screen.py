"""The collision screen of one pair: rows, records of both bodies, and what stages 5 and 6 find on it."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from gpu_collide.reference.narrow_phase import (
    s02_facing,
    s03_project,
    s04_sort,
    s05_vertex_face,
    s06_edge_edge,
    s07_solve,
)


class Body:
    """What stage 2 gives for one body: edge parts, face boundaries, facing vertices, and their boxes."""

    def __init__(self, screw, side):
        self.side = side
        self.parts = s02_facing.edge_parts(screw, side)
        parts = ("facing", "away") if side.tables.two_sided and screw.moves else ("facing",)
        # A two-sided face is two regions of the screen, one on either side of its silhouette.
        self.boundaries = [s02_facing.face_boundaries(screw, side, part) for part in parts]
        outline = s02_facing.face_boundaries(screw, side, "whole") if len(parts) > 1 else self.boundaries[0]
        self.vertices = s02_facing.facing_vertices(screw, side)
        self.part_boxes = s02_facing.segment_boxes(screw, self.parts.p0, self.parts.p1)
        self.face_boxes = s02_facing.face_boxes(screw, side, outline)
        self.point_boxes = s02_facing.point_boxes(screw, side.points[self.vertices])

    @property
    def boxes(self):
        return [self.part_boxes, self.face_boxes, self.point_boxes]


def box_candidates(screw, a, b):
    """Feature pairs (m, 2) as (A's, B's) whose boxes in (rho, psi, y, time) meet: FV, VF, EE."""
    face_vertex = s02_facing.box_pairs(screw, a.face_boxes, b.point_boxes)
    vertex_face = s02_facing.box_pairs(screw, a.point_boxes, b.face_boxes)
    edge_edge = s02_facing.box_pairs(screw, a.part_boxes, b.part_boxes)
    face_vertex[:, 1] = b.vertices[face_vertex[:, 1]]
    vertex_face[:, 0] = a.vertices[vertex_face[:, 0]]
    edge_edge = np.stack([a.parts.owner[edge_edge[:, 0]], b.parts.owner[edge_edge[:, 1]]], axis=-1)
    return face_vertex, vertex_face, np.unique(edge_edge, axis=0)


class Sorted(NamedTuple):
    """What a body puts on the rows, in their order: records or spans, and where each row begins."""

    edges: tuple[s03_project.Records, np.ndarray]
    regions: list[s03_project.Records]  # of each face's facing part
    spans: tuple[s03_project.Spans, np.ndarray]
    dots: tuple[s03_project.Dots, np.ndarray]


class Raster:
    """Rows and sorted records of a pair. ``pad`` > 0 makes supersets, 0 the records of the approximate
    answers."""

    def __init__(self, screw, a, b, delta, pad, bend=None):
        self.bend = bend
        self.screw, self.rows = screw, s03_project.rows_of(screw, delta, a.boxes, b.boxes, pad)
        if self.rows is None:
            return
        self.shifts = self._copies(a, b)
        self.sides: tuple[Sorted, Sorted] = (self._project(a, pad), self._project(b, pad))

    def _copies(self, a, b):
        found = [s02_facing.copies(self.screw, x, y) for x in a.boxes for y in b.boxes]
        return np.unique(np.concatenate(found))

    def _project(self, body, pad):
        screw, rows, side = self.screw, self.rows, body.side
        far = s02_facing.far_ends(screw, body.parts.p0, body.parts.p1)
        edges = s03_project.project(screw, rows, body.parts, far, pad, self.bend)
        centres = s02_facing.face_centres(side)
        regions = [s03_project.project(screw, rows, x, centres[x.owner], pad) for x in body.boundaries]
        spans = s03_project.join(
            [s03_project.spans_of(screw, rows, x, body.face_boxes, pad) for x in regions]
        )
        dots = s03_project.dots_of(screw, rows, body.vertices, side.points[body.vertices], pad)
        regions = [s04_sort.by_row(x, rows.count)[0] for x in regions]
        return Sorted(
            s04_sort.by_row(edges, rows.count),
            regions,
            s04_sort.by_row(spans, rows.count),
            s04_sort.by_row(dots, rows.count),
        )

    def candidates(self):
        """The same three lists as `box_candidates`, from the rows."""
        if self.rows is None:
            return [np.zeros((0, 2), dtype=np.int64)] * 3
        (edges_a, _, spans_a, dots_a), (edges_b, _, spans_b, dots_b) = self.sides
        screw, rows = self.screw, self.rows
        face_vertex = s05_vertex_face.candidates(screw, rows, *spans_a, *dots_b, self.shifts, True)
        vertex_face = s05_vertex_face.candidates(screw, rows, *spans_b, *dots_a, self.shifts, False)[:, ::-1]
        edge_edge = s06_edge_edge.candidates(screw, rows, *edges_a, *edges_b, self.shifts)
        return face_vertex, vertex_face, edge_edge

    def crossings(self, a, b):
        """`Meetings` of edges by ``refine="segments"``."""
        if self.rows is None:
            return _described(self.screw, a, b, *[np.zeros(0)] * 5)
        (edges_a, _, _, _), (edges_b, _, _, _) = self.sides
        found = s06_edge_edge.on_screen(
            self.screw, self.rows, *edges_a, *edges_b, self.shifts, a.parts, b.parts
        )
        return _described(self.screw, a, b, *found)

    def pixels(self, a, b):
        """`Meetings` by ``refine="pixels"``, but for those of `off_screen_vertices`."""
        if self.rows is None:
            return _described(self.screw, a, b, *[np.zeros(0)] * 5)
        (edges_a, regions_a, _, dots_a), (edges_b, regions_b, _, dots_b) = self.sides
        screw, rows = self.screw, self.rows
        shared = s06_edge_edge.on_pixels(screw, rows, *edges_a, *edges_b, self.shifts)
        found = [_described(screw, a, b, *shared)]
        for face_body, vertex_body, regions, dots in (
            (a, b, regions_a, dots_b),
            (b, a, regions_b, dots_a),
        ):
            faces, vertices = face_body.side, vertex_body.side

            def functions(f, v, faces=faces, vertices=vertices):
                return s07_solve.vertex_face_functions(screw, faces, vertices, f, v)

            flat = [x.take(~face_body.face_boxes.full[x.owner]) for x in regions]
            f, v, s, border = s05_vertex_face.on_pixels(
                screw, rows, flat, dots[0], functions, self.shifts, faces is a.side
            )
            brief = ~s07_solve.lasting_vertices(screw, faces, vertices, f, v)
            for some, along in ((brief & border, 0.0), (brief & ~border, np.nan)):
                part = s07_solve.describe_vertices(screw, faces, vertices, f[some], v[some], s[some])
                mark = np.full(len(part), along)
                found.append(replace(part, along_a=mark, along_b=mark))
        return s07_solve.concatenate(found)


def _described(screw, a, b, ea, eb, s, u_a, u_b):
    ea, eb = ea.astype(int), eb.astype(int)
    along_a, along_b = u_a * a.side.tables.length[ea], u_b * b.side.tables.length[eb]
    return s07_solve.describe_edges(screw, a.side, b.side, ea, eb, np.clip(s, -0.5, 0.5), along_a, along_b)


def off_screen_vertices(screw, a, b, face_vertex, vertex_face, min_properness, pixel):
    """Exact meetings of those vertex-face candidates that have no place on the screen: faces through which
    the axis goes, vertices on the axis, and vertices that slide in the plane of a face. Within ``pixel`` of
    the border of the face they count as on it (``along`` is 0), unless they last."""
    found = []
    for faces, vertices, f, v in (
        (a, b, face_vertex[:, 0], face_vertex[:, 1]),
        (b, a, vertex_face[:, 1], vertex_face[:, 0]),
    ):
        special = faces.face_boxes.full[f]
        special |= np.isin(v, vertices.vertices[vertices.point_boxes.full])
        special |= s07_solve.lasting_vertices(screw, faces.side, vertices.side, f, v)
        m = s07_solve.solve_vertex_face(
            screw, faces.side, vertices.side, f[special], v[special], min_properness
        )
        of_a = faces is a
        at = m.on_a if of_a else m.on_b
        depth = s07_solve.inside(faces.side, m.feature_a if of_a else m.feature_b, at)
        mark = np.where((depth <= pixel) & ~m.sustained, 0.0, np.nan)
        found.append(replace(m, along_a=mark, along_b=mark))
    return found
