"""Stage 5: vertices of one body on faces of the other, on the screen.

`candidates` gives every (face, vertex) whose span and point meet in a row within the step: a superset of the
exact contacts. `on_pixels` gives the answer of ``refine="pixels"``: the vertex's pixel lies between the first
and the last pixel of the face in the row; the time comes from Newton steps along the vertex's line to the
point of the face with the same (r, h), as in Buss, section 9. In a pixel of a side of the face the vertex may
be beyond the face, and its time stays within those that the face's records have in the row.
"""

import numpy as np

from gpu_collide.reference.narrow_phase.s03_project import pixel, shift_of_copy
from gpu_collide.reference.narrow_phase.s04_sort import overlaps

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


def on_pixels(screw, rows, regions, dots, functions, shifts, faces_are_a):
    """Approximate meetings of vertices with faces.

    Parameters
    ----------
    regions : list of Records of the boundaries of one region a face, each sorted by row
    dots : Dots of the vertices, without pad
    functions : callable (faces, vertices) -> ScrewFunctions, the distance to the plane
    shifts : copies of A

    Returns
    -------
    faces, vertices (m,) int, s (m,) f8 times - 1/2, border (m,) bool: in a pixel of a side of the face
    """
    parts = [np.zeros((0, 5))]
    for records in regions:
        by_row = np.searchsorted(records.row, np.arange(rows.count + 1))
        # Vertices on the axis have no place on the screen.
        for i in np.nonzero(np.isfinite(dots.h_max))[0]:
            row = dots.row[i]
            here = np.arange(by_row[row], by_row[row + 1])
            for k in shifts if len(here) else ():
                dh, dt = (float(x) for x in shift_of_copy(screw, rows, np.array(row), k))
                # A's copy moves either the faces or the vertex.
                df, dv = (dh, 0.0) if faces_are_a else (0.0, dh)
                h, t = 0.5 * (dots.h_min[i] + dots.h_max[i]) + dv, 0.5 * (dots.t_min[i] + dots.t_max[i])
                faces, early, late, border = _pixels(rows, records, here, df, h)
                s = (early - t + dt, late - t + dt) if faces_are_a else (t + dt - late, t + dt - early)
                vertex = np.full(len(faces), dots.vertex[i])
                parts.append(np.stack([faces, vertex, *s, border], axis=-1))
    found = np.concatenate(parts)
    faces, vertices, border = found[:, 0].astype(np.int64), found[:, 1].astype(np.int64), found[:, 4] > 0
    s, settled = _newton(functions(faces, vertices), 0.5 * (found[:, 2] + found[:, 3]), NEWTON_STEPS)
    s = np.where(border, np.clip(s, found[:, 2], found[:, 3]), s)
    good = (np.abs(s) <= 0.5 + screw.tau) & (settled | border)
    return _once(faces[good], vertices[good], np.clip(s[good], -0.5, 0.5), border[good])


def _pixels(rows, records, here, shift, h):
    """Faces with pixels on both sides of the one of ``h`` in its row, the range of their times there, and
    whether the pixel is that of a side."""
    owner = records.owner[here]
    faces, inverse = np.unique(owner, return_inverse=True)
    first, last = np.sort(np.stack([records.h0[here], records.h1[here]]), axis=0) + shift
    times = np.sort(np.stack([records.t0[here], records.t1[here]]), axis=0)
    low, high, early, late = (np.full(len(faces), x) for x in (np.inf, -np.inf, np.inf, -np.inf))
    np.minimum.at(low, inverse, first)
    np.maximum.at(high, inverse, last)
    np.minimum.at(early, inverse, times[0])
    np.maximum.at(late, inverse, times[1])
    at = pixel(rows, h)
    border = np.zeros(len(faces), dtype=bool)
    # A silhouette is no side: nothing meets it.
    side = (records.edge[here] >= 0) & (pixel(rows, first) <= at) & (at <= pixel(rows, last))
    border[inverse[side]] = True
    good = (pixel(rows, low) <= at) & (at <= pixel(rows, high))
    return faces[good].astype(np.float64), early[good], late[good], border[good]


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


def _once(faces, vertices, s, border):
    """One of the meetings that differ by rounding only (rows and copies can name one twice)."""
    order = np.lexsort((s, vertices, faces))
    faces, vertices, s, border = faces[order], vertices[order], s[order], border[order]
    new = np.ones(len(s), dtype=bool)
    new[1:] = (faces[1:] != faces[:-1]) | (vertices[1:] != vertices[:-1]) | (np.diff(s) > 1e-9)
    return faces[new], vertices[new], s[new], border[new]
