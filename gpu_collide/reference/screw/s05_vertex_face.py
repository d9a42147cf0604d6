"""Stage 5: vertices of one body on faces of the other, on the screen.

`candidates` gives every (face, vertex) whose span and point meet in a row within the step: a superset of the
exact contacts. `on_screen` gives the answer of ``refine="segments"`` and ``"pixels"``:

- segments: the vertex is in the face if the horizontal line rho = rho_vertex, crossed with the boundary
  records taken as straight, has the vertex between an odd crossing and the next; the time between the two
  crossings is interpolated, then polished by two Newton steps (a face is curved on the screen however small
  the rows are);
- pixels: the vertex's pixel lies between the first and the last pixel of the face in the row; the time comes
  from Newton steps along the vertex's line to the point of the face with the same (r, h), as in Buss, section
  9.
"""

import numpy as np

from .s03_project import shift_of_copy
from .s04_sort import overlaps

NEWTON_STEPS = 20


def candidates(screw, rows, spans, start_spans, dots, start_dots, shifts, faces_are_a):
    """(face, vertex) pairs (m, 2), each once, whose records meet for any of A's copies ``shifts``."""
    found = []
    for k in shifts:
        shift_h, shift_t = shift_of_copy(screw, rows, np.arange(rows.count), k)
        if faces_are_a:
            pairs = overlaps(spans, start_spans, dots, start_dots, shift_h, shift_t, 0.5 + screw.tau)
        else:
            pairs = overlaps(dots, start_dots, spans, start_spans, shift_h, shift_t, 0.5 + screw.tau)[:, ::-1]
        found.append(np.stack([spans.face[pairs[:, 0]], dots.vertex[pairs[:, 1]]], axis=-1))
    return np.unique(np.concatenate(found), axis=0) if found else np.zeros((0, 2), dtype=np.int64)


def on_screen(screw, rows, refine, regions, dots, functions, shifts, faces_are_a):
    """Approximate meetings of vertices with faces.

    Parameters
    ----------
    regions : list of Records of the boundaries of one region a face, each sorted by row
    dots : Dots of the vertices, without pad
    functions : callable (faces, vertices) -> ScrewFunctions, the distance to the plane
    shifts : copies of A

    Returns
    -------
    faces, vertices (m,) int and s (m,) f8, times - 1/2
    """
    found = [np.zeros((0, 3))]
    inside = _segments if refine == "segments" else _pixels
    for records in regions:
        by_row = np.searchsorted(records.row, np.arange(rows.count + 1))
        # Vertices on the axis have no place on the screen.
        for i in np.nonzero(np.isfinite(dots.h_max))[0]:
            row = dots.row[i]
            here = np.arange(by_row[row], by_row[row + 1])
            for k in shifts if len(here) else ():
                dh, dt = (float(x) for x in shift_of_copy(screw, rows, np.array(row), k))
                if not faces_are_a:
                    dh, dt = -dh, -dt
                # The vertex as seen from the faces' side: A's copy moves either the faces or the vertex.
                h, t = 0.5 * (dots.h_min[i] + dots.h_max[i]) - dh, 0.5 * (dots.t_min[i] + dots.t_max[i]) - dt
                faces, times = inside(rows, records, here, dots.rho[i], h)
                s = times - t if faces_are_a else t - times
                found.append(np.stack([faces, np.full(len(faces), dots.vertex[i]), s], axis=-1))
    found = np.concatenate(found)
    faces, vertices, s = found[:, 0].astype(np.int64), found[:, 1].astype(np.int64), found[:, 2]
    f = functions(faces, vertices)
    s, converged = _newton(f, s, 2 if refine == "segments" else NEWTON_STEPS)
    good = np.abs(s) <= 0.5 + screw.tau
    if refine == "pixels":
        good &= converged
    return _once(faces[good], vertices[good], s[good])


def _segments(rows, records, here, rho, h):
    """Faces around (rho, h) by the horizontal line, and their interpolated times."""
    del rows
    low, high = records.rho0[here], records.rho1[here]
    # Half open, so that a corner of the boundary counts once; level pieces never count.
    crossed = (np.minimum(low, high) <= rho) & (rho < np.maximum(low, high))
    here = here[crossed]
    u = (rho - records.rho0[here]) / (records.rho1[here] - records.rho0[here])
    at_h = records.h0[here] + u * (records.h1[here] - records.h0[here])
    at_t = records.t0[here] + u * (records.t1[here] - records.t0[here])
    owner = records.owner[here]
    order = np.lexsort((at_h, owner))
    owner, at_h, at_t = owner[order], at_h[order], at_t[order]
    begin = (
        np.nonzero(np.concatenate([[True], owner[1:] != owner[:-1]]))[0] if len(owner) else np.zeros(0, int)
    )
    if len(begin) == 0:
        return np.zeros(0), np.zeros(0)
    count = np.diff(np.append(begin, len(owner)))
    before = np.add.reduceat((at_h <= h).astype(np.int64), begin)
    on_border = np.minimum.reduceat(np.abs(at_h - h), begin) <= 1e-12
    inside = (count >= 2) & ((before % 2 == 1) | on_border)
    right = (begin + np.minimum(np.maximum(before, 1), count - 1))[inside]
    gap = at_h[right] - at_h[right - 1]
    share = np.where(gap > 0, np.clip((h - at_h[right - 1]) / np.where(gap > 0, gap, 1.0), 0.0, 1.0), 0.5)
    return owner[right].astype(np.float64), at_t[right - 1] + share * (at_t[right] - at_t[right - 1])


def _pixels(rows, records, here, rho, h):
    """Faces with pixels on both sides of the vertex's pixel in its row, and the times half way between
    them."""
    del rho
    owner = records.owner[here]
    faces, inverse = np.unique(owner, return_inverse=True)
    low, high = np.full(len(faces), np.inf), np.full(len(faces), -np.inf)
    np.minimum.at(low, inverse, records.h_min[here])
    np.maximum.at(high, inverse, records.h_max[here])
    pixel = np.floor(h / rows.delta)
    good = (np.floor(low / rows.delta) <= pixel) & (pixel <= np.floor(high / rows.delta))
    ends = 0.5 * (records.t0[here] + records.t1[here])
    early, late = np.full(len(faces), np.inf), np.full(len(faces), -np.inf)
    np.minimum.at(early, inverse, ends)
    np.maximum.at(late, inverse, ends)
    return faces[good].astype(np.float64), 0.5 * (early + late)[good]


def _newton(functions, s, steps):
    """Newton steps on the distance from the plane; the second result says where they settled within the
    screen."""
    change = np.full(len(s), np.inf)
    for _ in range(steps):
        f, slope, _ = functions(s)
        with np.errstate(divide="ignore", invalid="ignore"):
            change = f / slope
        change = np.where(np.isfinite(change), np.clip(change, -0.5, 0.5), 0.0)
        s = np.clip(s - change, -2.0, 2.0)
    return s, np.abs(change) <= 1e-6


def _once(faces, vertices, s):
    """One of the meetings that differ by rounding only (rows and copies can name one twice)."""
    order = np.lexsort((s, vertices, faces))
    faces, vertices, s = faces[order], vertices[order], s[order]
    new = np.ones(len(s), dtype=bool)
    new[1:] = (faces[1:] != faces[:-1]) | (vertices[1:] != vertices[:-1]) | (np.diff(s) > 1e-9)
    return faces[new], vertices[new], s[new]
