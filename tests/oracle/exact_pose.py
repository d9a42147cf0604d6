"""Two bodies at rest, exactly: whether they touch, whether one goes into the other, how far they are apart.

float64 values with a bound of their error only say which pairs of features need no look.
"""

from fractions import Fraction

import numpy as np

from tests.oracle.exact import add, cross, dot, floats, sign, sub, times, together

SLACK = 1e-13  # of the largest coordinate to each power: an upper bound of the error of what is filtered with


class Couple:
    """Two bodies over one scale, with float64 copies about one place between them, for the filters."""

    def __init__(self, a, b, also=1):
        self.a, self.b = together(a, b, also=also)
        self.scale = self.a.scale
        origin = b.topology.vertices[0]
        origin = self.b.points[origin]
        self.fa, self.fb = (floats(p.points, self.scale, origin) for p in (self.a, self.b))
        self.ta, self.tb = a.topology, b.topology
        self.size = max(np.abs(self.fa).max(), np.abs(self.fb).max(), 1e-300)


def plane_sides(points, corners):
    """(points, triangles) six-fold volumes of a point over a triangle, from float64 arrays."""
    a, b, c = (corners[:, k] for k in range(3))
    normal = np.cross(b - a, c - a)
    return points @ normal.T - (normal * a).sum(1)


def segment_meets_triangle(p, q, t):
    """Whether the closed segment and the closed triangle (whole points) have a point in common."""
    n = cross(sub(t[1], t[0]), sub(t[2], t[0]))
    s, e = dot(n, sub(p, t[0])), dot(n, sub(q, t[0]))
    if sign(s) * sign(e) > 0:
        return False
    if s == e:  # both zero: in the plane
        return (
            point_in_triangle(p, 1, t, n)
            or point_in_triangle(q, 1, t, n)
            or any(segments_cross(p, q, t[k], t[k - 1], n) for k in range(3))
        )
    # the crossing is (q s - p e) / (s - e)
    w = s - e
    x = sub(times(s, q), times(e, p))
    return point_in_triangle(x if w > 0 else times(-1, x), abs(w), t, n)


def point_in_triangle(x, w, t, n):
    """Whether x / w (w > 0), in the plane of the triangle with normal n, is in it or on its border."""
    for k in range(3):
        a, b = t[k], t[(k + 1) % 3]
        if dot(n, cross(sub(b, a), sub(x, times(w, a)))) < 0:
            return False
    return True


def segments_cross(p, q, a, b, n):
    """Whether two closed segments in one plane of normal n meet at a point inside both, not along a line."""

    def side(u, v, x):
        return sign(dot(n, cross(sub(v, u), sub(x, u))))

    return (
        side(p, q, a) * side(p, q, b) <= 0
        and side(a, b, p) * side(a, b, q) <= 0
        and side(p, q, a) != side(p, q, b)
    )


def strictly_through(p, q, t):
    """Whether the inside of the segment goes through the inside of the triangle."""
    n = cross(sub(t[1], t[0]), sub(t[2], t[0]))
    s, e = dot(n, sub(p, t[0])), dot(n, sub(q, t[0]))
    if sign(s) * sign(e) >= 0:
        return False
    w = s - e
    x = sub(times(s, q), times(e, p))
    if w < 0:
        x, w = times(-1, x), -w
    return all(dot(n, cross(sub(t[(k + 1) % 3], t[k]), sub(x, times(w, t[k])))) > 0 for k in range(3))


def _edge_triangle(couple, mirrored, test):
    """Whether `test` holds for an edge of one body and a triangle of the other, float64 first."""
    one, two = (couple.b, couple.a) if mirrored else (couple.a, couple.b)
    f1, f2 = (couple.fb, couple.fa) if mirrored else (couple.fa, couple.fb)
    edges, triangles = one.topology.edges, two.topology.triangles
    if len(edges) == 0 or len(triangles) == 0:
        return False
    ends, corners = f1[edges], f2[triangles]
    pad = SLACK * couple.size
    low = (ends.min(1)[:, None] <= corners.max(1)[None] + pad).all(2)
    near = low & (ends.max(1)[:, None] >= corners.min(1)[None] - pad).all(2)
    rows, columns = np.nonzero(near)
    if len(rows) == 0:
        return False
    t = corners[columns]
    n = np.cross(t[:, 1] - t[:, 0], t[:, 2] - t[:, 0])
    s = ((ends[rows, 0] - t[:, 0]) * n).sum(1)
    e = ((ends[rows, 1] - t[:, 0]) * n).sum(1)
    err = 100 * SLACK * couple.size**3
    maybe = ~((np.minimum(s, e) > err) | (np.maximum(s, e) < -err))
    for i, j in zip(rows[maybe], columns[maybe], strict=True):
        p, q = (one.points[k] for k in edges[i])
        if test(p, q, [two.points[k] for k in triangles[j]]):
            return True
    return False


def touching(a, b):
    """Whether the surfaces have a point in common. A point is a surface of one point."""
    couple = a if isinstance(a, Couple) else Couple(a, b)
    for one, two in ((couple.a, couple.b), (couple.b, couple.a)):
        if len(one.topology.edges) == 0 and any(
            on_surface(one.points[i], two) for i in one.topology.vertices
        ):
            return True
    return _edge_triangle(couple, False, segment_meets_triangle) or _edge_triangle(
        couple, True, segment_meets_triangle
    )


def on_surface(x, body):
    """Whether the whole point lies in one of the body's closed triangles."""
    for tri in body.topology.triangles:
        t = [body.points[k] for k in tri]
        n = cross(sub(t[1], t[0]), sub(t[2], t[0]))
        if dot(n, sub(x, t[0])) == 0 and point_in_triangle(x, 1, t, n):
            return True
    return False


def inside(x, body):
    """Whether the whole point lies strictly inside the closed body (None: on its surface)."""
    if on_surface(x, body):
        return None
    reach = 2 * max(max(abs(c) for c in sub(p, x)) for p in body.points) + 1
    triangles = [[body.points[k] for k in tri] for tri in body.topology.triangles]
    for way in ((3, 5, 7), (-11, 2, 13), (17, -19, 5), (23, 29, -31), (-37, -41, 43), (101, 211, 307)):
        end, crossings = add(x, times(reach, way)), 0
        for t in triangles:
            if strictly_through(x, end, t):
                crossings += 1
            elif segment_meets_triangle(x, end, t):
                break  # through an edge or a corner: another way
        else:
            return crossings % 2 == 1
    raise ArithmeticError("every ray meets an edge")


def overlap_of_pieces(a, piece_a, b, piece_b):
    """Whether the insides of two convex pieces meet: no plane keeps them apart, by whole numbers."""
    ca, cb = [a.points[i] for i in piece_a.corners], [b.points[i] for i in piece_b.corners]

    def apart(n):
        at_a, at_b = [dot(n, x) for x in ca], [dot(n, x) for x in cb]
        return max(at_a) <= min(at_b) or max(at_b) <= min(at_a)

    for body, piece in ((a, piece_a), (b, piece_b)):
        for t in piece.triangles:
            p, q, r = (body.points[i] for i in t)
            if apart(cross(sub(q, p), sub(r, p))):
                return False
    for i, j in piece_a.edges:
        along = sub(a.points[j], a.points[i])
        for k, m in piece_b.edges:
            n = cross(along, sub(b.points[m], b.points[k]))
            if any(n) and apart(n):
                return False
    return True


def penetrating(a, b):
    """Whether the bodies go into each other by more than touching.

    Closed bodies with convex pieces: whether their insides have a point in common. Others: whether an edge of
    one goes through the inside of a triangle of the other, or a corner of one is inside the other.
    """
    couple = a if isinstance(a, Couple) else Couple(a, b)
    a, b = couple.a, couple.b
    pad = SLACK * couple.size
    if (couple.fa.min(0) > couple.fb.max(0) + pad).any() or (couple.fb.min(0) > couple.fa.max(0) + pad).any():
        return False
    if a.topology.pieces and b.topology.pieces:
        return any(overlap_of_pieces(a, x, b, y) for x in a.topology.pieces for y in b.topology.pieces)
    if _edge_triangle(couple, False, strictly_through) or _edge_triangle(couple, True, strictly_through):
        return True
    for one, two in ((a, b), (b, a)):
        if two.topology.solid and any(inside(one.points[i], two) for i in one.topology.vertices[:1]):
            return True
    return False


def point_triangle2(x, t):
    """Squared distance of a whole point to a closed triangle, a fraction."""
    n = cross(sub(t[1], t[0]), sub(t[2], t[0]))
    square = dot(n, n)
    if square and all(dot(n, cross(sub(t[(k + 1) % 3], t[k]), sub(x, t[k]))) >= 0 for k in range(3)):
        return Fraction(dot(n, sub(x, t[0])) ** 2, square)
    return min(point_segment2(x, t[k], t[(k + 1) % 3]) for k in range(3))


def point_segment2(x, a, b):
    w, y = sub(b, a), sub(x, a)
    length, along = dot(w, w), dot(w, y)
    if along <= 0 or length == 0:
        return Fraction(dot(y, y))
    if along >= length:
        z = sub(x, b)
        return Fraction(dot(z, z))
    m = cross(w, y)
    return Fraction(dot(m, m), length)


def segment_segment2(p, q, a, b):
    """Squared distance of two closed segments, a fraction."""
    u, v, r = sub(q, p), sub(b, a), sub(a, p)
    n = cross(u, v)
    square = dot(n, n)
    if square:
        # p + x u and a + y v are nearest at x = (r x v).n / n.n, y = (r x u).n / n.n
        x, y = dot(cross(r, v), n), dot(cross(r, u), n)
        if 0 <= x <= square and 0 <= y <= square:
            return Fraction(dot(r, n) ** 2, square)
    return min(
        point_segment2(p, a, b), point_segment2(q, a, b), point_segment2(a, p, q), point_segment2(b, p, q)
    )


def distance2(a, b, known_apart=False):
    """Squared distance of the surfaces, a fraction; 0 if they touch or cross."""
    couple = a if isinstance(a, Couple) else Couple(a, b)
    if not known_apart and touching(couple, None):
        return Fraction(0)
    best = None
    for bound, *feature in sorted(_near_features(couple)):
        if best is not None and bound > best[0]:
            break
        exact = feature_distance2(couple, feature)
        if best is None or exact < best[1]:
            best = (np.sqrt(float(exact)), exact)
    return best[1]


def feature_distance2(couple, feature):
    """Squared distance, a fraction, of a pair of features (kind, feature, feature)."""
    kind, i, j = feature
    a, b = couple.a, couple.b
    if kind == 2:
        exact = segment_segment2(*(a.points[k] for k in i), *(b.points[k] for k in j))
    else:
        one, two = (a, b) if kind == 0 else (b, a)
        exact = point_triangle2(one.points[i], [two.points[k] for k in j])
    return exact / couple.scale**2


def features_within(couple, reach):
    """Pairs of features (kind, feature, feature) at most `reach` apart."""
    square = Fraction(reach) ** 2
    near = [feature for _, *feature in _near_features(couple, reach)]
    return [x for x in near if feature_distance2(couple, x) <= square]


def _near_features(couple, reach=None):
    """Pairs of features that may be the nearest, or within reach: (lower bound of their distance, kind,
    feature, feature)."""
    a, b = couple.ta, couple.tb
    jobs = [(0, a.vertices, b.triangles), (1, b.vertices, a.triangles), (2, a.edges, b.edges)]
    jobs = [job for job in jobs if len(job[1]) and len(job[2])]
    if not jobs:  # two points
        return [(0.0, 2, (a.vertices[0],) * 2, (b.vertices[0],) * 2)]
    found, least = [], np.inf
    flat = couple.fa[a.vertices], couple.fb[b.vertices]
    if reach is None:  # no farther than two corners are
        most = np.sqrt(np.min([((flat[1] - x) ** 2).sum(1).min() for x in flat[0]]))
    else:
        most = reach
    most += 4e-6 * couple.size
    for kind, one, two in jobs:
        one = one[_in_reach((couple.fb if kind == 1 else couple.fa)[one], flat[kind != 1], most)]
        two = two[_in_reach((couple.fa if kind == 1 else couple.fb)[two], flat[kind == 1], most)]
        if len(one) == 0 or len(two) == 0:
            continue
        if kind == 2:
            d, doubt = segment_distances(couple.fa[one], couple.fb[two])
        else:
            f1, f2 = (couple.fa, couple.fb) if kind == 0 else (couple.fb, couple.fa)
            d, doubt = point_distances(f1[one], f2[two]), 1e-9
        doubt = np.broadcast_to(doubt * couple.size, d.shape)
        least = min(least, (d + doubt).min())
        found.append((kind, one, two, d - doubt))
    least = least if reach is None else reach
    return [
        (low[i, j], kind, tuple(one[i]) if kind == 2 else int(one[i]), tuple(two[j]))
        for kind, one, two, low in found
        for i, j in zip(*np.nonzero(low <= least), strict=True)
    ]


def _in_reach(features, others, most):
    """Which features (m, corners, 3), or points (m, 3), have a box that is near that of the other corners."""
    low, high = (features, features) if features.ndim == 2 else (features.min(1), features.max(1))
    gap = np.maximum(low - others.max(0), others.min(0) - high).clip(0)
    return (gap * gap).sum(1) <= most * most


def point_distances(x, t):
    """(points, triangles) distances in float64."""
    a, b, c = (t[None, :, k] for k in range(3))
    n = np.cross(b - a, c - a)
    length = np.sqrt((n * n).sum(-1))
    y = x[:, None] - a
    within = np.ones(y.shape[:2], bool)
    best = np.full(y.shape[:2], np.inf)
    for p, q in ((a, b), (b, c), (c, a)):
        w, z = q - p, x[:, None] - p
        within &= (np.cross(w, z) * n).sum(-1) >= 0
        along = np.clip((w * z).sum(-1) / (w * w).sum(-1), 0, 1)
        gap = z - along[..., None] * w
        best = np.minimum(best, np.sqrt((gap * gap).sum(-1)))
    over = np.abs((y * n).sum(-1)) / np.where(length > 0, length, 1)
    return np.where(within & (length > 0), np.minimum(best, over), best)


def segment_distances(one, two):
    """(segments, segments) distances in float64, and what they may be wrong by, in sizes: ends to segments,
    and the lines' own distance where they are nearest inside both and not nearly parallel."""
    p, q = one[:, None, 0], one[:, None, 1]
    a, b = two[None, :, 0], two[None, :, 1]
    best = np.full((len(one), len(two)), np.inf)
    for x, s, e in ((p, a, b), (q, a, b), (a, p, q), (b, p, q)):
        w, z = e - s, x - s
        along = np.clip((w * z).sum(-1) / np.maximum((w * w).sum(-1), 1e-300), 0, 1)
        gap = z - along[..., None] * w
        best = np.minimum(best, np.sqrt((gap * gap).sum(-1)))
    u, v, r = q - p, b - a, a - p
    n = np.cross(u, v)
    square = (n * n).sum(-1)
    safe = np.where(square > 0, square, 1.0)
    x, y = (np.cross(r, v) * n).sum(-1) / safe, (np.cross(r, u) * n).sum(-1) / safe
    lines = np.abs((r * n).sum(-1)) / np.sqrt(safe)
    edge = 1e-6  # nearly inside counts: the exact distance decides
    clear = square > 1e-12 * (u * u).sum(-1) * (v * v).sum(-1)
    ok = clear & (x >= -edge) & (x <= 1 + edge) & (y >= -edge) & (y <= 1 + edge)
    return np.where(ok, np.minimum(best, lines), best), np.where(clear, 1e-9, 3e-6)
