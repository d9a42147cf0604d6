"""Roots of the screw functions on an interval, all of them, with touches.

A screw function is ``f(s) = p0 + p1 sigma + p2 nu + p3 s + s (q1 sigma + q2 nu)`` with sigma = sin(theta
s)/theta and nu = (1 - cos(theta s))/theta^2. The interval is cut into pieces on which f is monotone; a piece
with a change of sign holds one root, found by Newton steps kept inside a shrinking bracket. A *touch* is an
end of a piece with |f| <= tolerance beside which no piece has a root.

Without q the cuts are in closed form: with u = tan(theta s/2) 2/theta, f' is a quadratic in u. With q they
come from bisection: a piece is dropped when f cannot vanish in it, and kept when f' or f'' cannot (by a bound
on the third derivative).
"""

import numpy as np

# Bisection halves the step at most this often: 2^-40 of a step, far below the time tolerance.
# A piece that is left then is solved as it is, where the kernels make the pair UNRESOLVED.
MAX_DEPTH = 40
NEWTON_STEPS = 80
# Rounding of one value, in units of the sum of the coefficients. It only joins double roots; the kernels
# also drop pieces of the step by theirs, so that it has to cover a whole piece.
ROUNDING = 4e-16


class ScrewFunctions:
    """A batch of m screw functions; ``p`` (m, 4), ``q`` (m, 2), angle ``theta``."""

    def __init__(self, theta, p, q=None):
        self.theta = theta
        self.p = np.asarray(p, dtype=np.float64)
        self.q = np.zeros((len(self.p), 2)) if q is None else np.asarray(q, dtype=np.float64)

    def take(self, index):
        return ScrewFunctions(self.theta, self.p[index], self.q[index])

    def basis(self, s):
        th = self.theta
        sigma = s * np.sinc(th * s / np.pi)
        half = s * np.sinc(0.5 * th * s / np.pi)
        return sigma, 0.5 * half * half, np.cos(th * s)

    def __call__(self, s):
        """Values and first and second derivatives at ``s`` (m,)."""
        p, q, th2 = self.p.T, self.q.T, self.theta**2
        sigma, nu, c = self.basis(s)
        f = p[0] + p[1] * sigma + p[2] * nu + p[3] * s + s * (q[0] * sigma + q[1] * nu)
        d1 = p[1] * c + p[2] * sigma + p[3] + q[0] * (sigma + s * c) + q[1] * (nu + s * sigma)
        d2 = -p[1] * th2 * sigma + p[2] * c + q[0] * (2 * c - s * th2 * sigma) + q[1] * (2 * sigma + s * c)
        return f, d1, d2

    def rounding(self):
        """Rounding (m,) of a value."""
        return ROUNDING * (np.abs(self.p).sum(axis=1) + np.abs(self.q).sum(axis=1))

    def pieces(self, low, high, tolerance):
        """Pieces of [low, high] on which a function is monotone, all that may hold a root or a touch: which
        function, start and end, (k,) each."""
        curved = np.any(self.q != 0.0, axis=1)
        found = []
        for index, cutter in ((np.nonzero(~curved)[0], _cut_closed), (np.nonzero(curved)[0], _cut_bisect)):
            item, start, end = cutter(self.take(index), low, high, tolerance[index])
            found.append((index[item], start, end))
        return tuple(np.concatenate(columns) for columns in zip(*found, strict=True))

    def settled(self, s, tolerance):
        """Touches, and what is in doubt of their times: of one screw their extrema are in closed form."""
        del tolerance
        return s, np.zeros(len(s))

    def third_bound(self, reach):
        """Bound (m,) of |f'''| for |s| <= reach."""
        p, q, th = np.abs(self.p.T), np.abs(self.q.T), self.theta
        sigma = min(reach, 1.0 / th) if th > 0 else reach
        th2 = th * th
        return (
            p[1] * th2
            + p[2] * th2 * sigma
            + q[0] * (3 * th2 * sigma + reach * th2)
            + q[1] * (3 + reach * th2 * sigma)
        )


def find_roots(functions, low, high, tolerance):
    """All roots and touches of a batch on [low, high].

    Parameters
    ----------
    functions : ScrewFunctions or body_functions.Functions, m of them
    low, high : float
    tolerance : (m,) values up to which |f| counts as touching

    Returns
    -------
    item (k,) int, s (k,) f8, touch (k,) bool : ordered by item, then s
    """
    item, start, end = functions.pieces(low, high, tolerance)
    item, s, touch = _solve_pieces(functions, item, start, end, tolerance)
    s, touch = _join_double(functions.take(item), s, touch)
    same = np.full(len(s), 1e-12)
    i = np.flatnonzero(touch)
    s[i], doubt = functions.take(item[i]).settled(s[i], tolerance[item[i]])
    same[i] = np.maximum(same[i], doubt)
    order = np.lexsort((s, item))
    item, s, touch, same = item[order], s[order], touch[order], same[order]
    # One root found from both sides of a cut.
    new = np.ones(len(item), dtype=bool)
    new[1:] = (item[1:] != item[:-1]) | (s[1:] - s[:-1] > np.maximum(same[1:], same[:-1]))
    return item[new], s[new], touch[new]


def _join_double(part, s, touch):
    """Two roots that rounding cannot separate are one touch, at the extremum between them."""
    _, d1, d2 = part(s)
    double = d1 * d1 <= 8.0 * np.abs(d2) * part.rounding()
    return np.where(double, s - d1 / np.where(double & (d2 != 0), d2, 1.0), s), touch | double


def _cut_closed(functions, low, high, tolerance):
    """Pieces between the zeros of f'. With u = 2 tan(theta s/2)/theta and k = theta^2/4,
    (1 + k u^2) f' = (p1 + p3) + p2 u + k (p3 - p1) u^2."""
    del tolerance
    th, p = functions.theta, functions.p
    c, b, a = p[:, 1] + p[:, 3], p[:, 2], 0.25 * th * th * (p[:, 3] - p[:, 1])
    disc = b * b - 4 * a * c
    half = -0.5 * (b + np.where(b >= 0, 1.0, -1.0) * np.sqrt(np.maximum(disc, 0.0)))
    with np.errstate(divide="ignore", invalid="ignore"):
        u = np.stack([half / a, c / half], axis=1)
        s = u if th == 0 else 2.0 * np.arctan(0.5 * th * u) / th
    s = np.where((disc[:, None] >= 0) & np.isfinite(s), s, low)
    ends = np.sort(
        np.concatenate(
            [np.full((len(p), 1), low), np.clip(s, low, high), np.full((len(p), 1), high)], axis=1
        ),
        axis=1,
    )
    item = np.repeat(np.arange(len(p)), 3)
    return item, ends[:, :-1].ravel(), ends[:, 1:].ravel()


def _cut_bisect(functions, low, high, tolerance):
    """Monotone pieces by bisection; pieces in which |f| stays above the tolerance are left out."""
    reach = max(abs(low), abs(high))
    third = functions.third_bound(reach)
    item = np.arange(len(functions.p))
    start, end = np.full(len(item), low), np.full(len(item), high)
    done = []
    for depth in range(MAX_DEPTH + 1):
        if len(item) == 0:
            break
        middle, h = 0.5 * (start + end), 0.5 * (end - start)
        f, d1, d2 = functions.take(item)(middle)
        m3 = third[item]
        m2 = np.abs(d2) + m3 * h
        possible = np.abs(f) <= np.abs(d1) * h + 0.5 * m2 * h * h + tolerance[item]
        monotone = np.abs(d1) > m2 * h
        bent = ~monotone & (np.abs(d2) > m3 * h)
        # Or so flat that all of the piece touches: no use in cutting it further.
        last = (np.abs(f) + np.abs(d1) * h + 0.5 * m2 * h * h <= tolerance[item]) | (depth == MAX_DEPTH)
        keep = possible & (monotone | last)
        done.append((item[keep], start[keep], end[keep]))
        turn = possible & bent & ~last
        if turn.any():
            # f' is monotone here, so f has at most one extremum: cut there.
            i, a, b = item[turn], start[turn], end[turn]
            part = functions.take(i)
            x = bracket(lambda s, k=None, part=part: _slope(part, s, k), a, b)
            done.append((i, a, x))
            done.append((i, x, b))
        split = possible & ~monotone & ~bent & ~last
        i, a, m, b = item[split], start[split], middle[split], end[split]
        item, start, end = np.concatenate([i, i]), np.concatenate([a, m]), np.concatenate([m, b])
    empty = np.zeros(0, np.int64), np.zeros(0), np.zeros(0)
    return tuple(np.concatenate([piece[j] for piece in [empty, *done]]) for j in range(3))


def _slope(part, s, index):
    part = part if index is None else part.take(index)
    _, d1, d2 = part(s)
    return d1, d2


def _solve_pieces(functions, item, start, end, tolerance):
    part = functions.take(item)
    at_start, at_end = part(start)[0], part(end)[0]
    crosses = (at_start >= 0) != (at_end >= 0)
    i = np.nonzero(crosses)[0]
    inner = part.take(i)
    roots = bracket(lambda s, k=None: (inner if k is None else inner.take(k))(s)[:2], start[i], end[i])
    # Ends of pieces that touch zero, unless a root lies in a piece beside them.
    ends, values = np.concatenate([start, end]), np.concatenate([at_start, at_end])
    owner, taken = np.concatenate([item, item]), np.concatenate([crosses, crosses])
    near = np.nonzero(np.abs(values) <= tolerance[owner])[0]
    with_root = set(zip(owner[taken].tolist(), ends[taken].tolist(), strict=True))
    lone = np.array([j for j in near if (owner[j], ends[j]) not in with_root], dtype=np.int64)
    touch = np.repeat([False, True], [len(i), len(lone)])
    return np.concatenate([item[i], owner[lone]]), np.concatenate([roots, ends[lone]]), touch


def bracket(function, start, end):
    """Zeros in [start, end] of functions with a change of sign there: Newton steps, bisection where they
    leave the bracket.

    ``function(s, index)`` gives values and derivatives of the items ``index`` (None: all). Without a change
    of sign the end with the smaller value is returned.
    """
    a, b = start.copy(), end.copy()
    if len(a) == 0:
        return a
    fa, fb = function(a)[0], function(b)[0]
    result = np.where(np.abs(fa) <= np.abs(fb), a, b)
    active = np.nonzero((fa >= 0) != (fb >= 0))[0]
    rising = fb >= 0
    x = 0.5 * (a + b)
    for _ in range(NEWTON_STEPS):
        if len(active) == 0:
            break
        s = x[active]
        f, d = function(s, active)
        above = (f >= 0) == rising[active]
        b[active] = np.where(above, s, b[active])
        a[active] = np.where(above, a[active], s)
        with np.errstate(divide="ignore", invalid="ignore"):
            step = s - f / d
        lo, hi = a[active], b[active]
        middle = 0.5 * (lo + hi)
        nxt = np.where((step > lo) & (step < hi), step, middle)
        result[active] = s
        # The step has shrunk to rounding, or the bracket has.
        stop = (f == 0) | (np.abs(step - s) <= 2e-16 * np.abs(s) + 1e-17) | (hi - lo <= 2e-16)
        x[active] = nxt
        active = active[~stop]
    return result
