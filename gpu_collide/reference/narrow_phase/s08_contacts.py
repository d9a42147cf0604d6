"""Stage 8: report every meeting once, order, and describe the contacts in the world.

Input: the `Meetings` of one pair. Output: rows of `gpu_collide.Contacts`. A vertex on a border or an edge at
its end meets several features at once (VV, EV, VE). Of entries that are at the margin of their features, at
the same time, and at the same place of either body, the one of greatest properness is reported; an entry that
lasts is only covered by one that lasts as long and coincides with it all the while. What is clear of every
border is never left out. Since the one that is reported reaches every threshold that the others reach, it
makes no difference whether a threshold comes before or after.

Sources: Buss, end of section 5; docs/decisions/0016.
"""

from dataclasses import replace

import numpy as np

from gpu_collide.bodies.quaternion import cross
from gpu_collide.reference.narrow_phase.s07_solve import EE, FV, TOUCH, VF, crossing, edge_doubt, place_doubt

# Of what an entry lasts, the shares at which it is compared with others: no likely symmetric moments.
SHARES = (0.29, 0.61, 0.83)
# Sine below which the place of a crossing is looked for so long before or after, in steps.
NEARLY_PARALLEL = 1e-6
BESIDE = 1e-7


def resolve(motion, a, b, meetings, min_properness, points=None):
    """Meetings with every coincidence reported once, all at or above ``min_properness``, ordered. ``points``
    tells what coincides; default: features that touch at one point."""
    meetings = meetings.take(np.nonzero(meetings.properness >= min_properness)[0])
    # Features that pass each other at their ends while they stay in contact do not last; what holds for half
    # a step does, even where the whole step is too slow to separate two times.
    brief = min(2 * motion.tau, 0.5) if motion.moves else 0.0
    lasts = meetings.sustained & (meetings.s_end - meetings.s > brief)
    begin = np.clip(meetings.s, -0.5, 0.5)
    end = np.where(lasts, np.clip(meetings.s_end, -0.5, 0.5), begin)
    meetings = replace(meetings, sustained=lasts, s=begin, s_end=end)
    meetings = meetings.take(_reported(motion, a, b, meetings, points or _Points))
    time = meetings.s + 0.5
    return meetings.take(np.lexsort((meetings.feature_b, meetings.feature_a, meetings.kind, time)))


def _reported(motion, a, b, m, points_of):
    """Which meetings are not covered by a better one."""
    slack = 2 * motion.tau
    # From the best to the least; what is left out may itself cover others.
    ranked = m.take(np.lexsort((m.s, m.feature_b, m.feature_a, m.kind, ~m.sustained, -m.properness)))
    points = points_of(motion, a, b, ranked)
    reported = np.ones(len(m), dtype=bool)
    for i in range(1, len(m)):
        better = slice(0, i)
        within = (ranked.s[better] <= ranked.s[i] + slack) & (ranked.s_end[better] >= ranked.s_end[i] - slack)
        within &= ranked.sustained[better] | (np.abs(ranked.s[better] - ranked.s[i]) <= slack)
        rows = np.nonzero(within)[0]
        same = np.ones(len(rows), dtype=bool)
        for name in ("kind", "feature_a", "feature_b"):
            same &= getattr(ranked, name)[rows] == getattr(ranked, name)[i]
        reported[i] = not (same.any() or any(points.coincide(i, j) for j in rows))
    return np.lexsort((m.s, m.feature_b, m.feature_a, m.kind, ~m.sustained, -m.properness))[reported]


class _Points:
    """Where meetings touch, as either body sees it."""

    def __init__(self, motion, a, b, m):
        self.motion, self.a, self.b, self.m = motion, a, b, m
        self.near = TOUCH * motion.size
        self.seen = {}

    def coincide(self, i, j):
        """Whether meeting i is at the places of meeting j, both at the margin of their features, for as long
        as i lasts."""
        m = self.m
        shares = SHARES if m.sustained[i] else (0.0,)
        for share in shares:
            s = m.s[i] + share * (m.s_end[i] - m.s[i])
            mine = self.at(i, s)
            if mine is None:
                return False
            other_s = min(max(s, m.s[j]), m.s_end[j])
            theirs = self.at(j, other_s)
            if theirs is None:
                return False
            reach = 4 * self.near + mine[2] + theirs[2] + abs(s - other_s) * self.motion.speed
            if max(np.linalg.norm(mine[k] - theirs[k]) for k in (0, 1)) > reach:
                return False
        return True

    def at(self, i, s):
        """Points of A and of half-way B that meet at ``s`` and their doubt, or None where they are clear of
        every border."""
        if (i, s) not in self.seen:
            self.seen[i, s] = self._edges_at(i, s) if self.m.kind[i] == EE else self._vertex_at(i, s)
        return self.seen[i, s]

    def _vertex_at(self, i, s):
        """A vertex and its place on the face."""
        face_of_a = self.m.kind[i] == FV
        face_side, vertex_side = (self.a, self.b) if face_of_a else (self.b, self.a)
        face, vertex = (x[i] for x in (self.m.feature_a, self.m.feature_b)[:: 1 if face_of_a else -1])
        corner = vertex_side.points[vertex]
        x = self.motion.carry(corner, s, face_side.sign)
        # What lasts is found by its borders: nothing of its place is in doubt.
        rate = face_side.normals[face] @ self.motion.field(x, s, face_side.sign)
        doubt = 0.0
        if not self.m.sustained[i]:
            doubt = float(place_doubt(self.motion, x, rate, s, face_side.sign))
        loop = face_side.tables.loops[face]
        used = loop >= 0
        distance = np.sum(face_side.inward[face][used] * (x - face_side.points[loop[used]]), axis=-1)
        if distance.min() > self.near + doubt:
            return None
        return (x, corner, doubt) if face_of_a else (corner, x, doubt)

    def _edges_at(self, i, s):
        """The corners at which edges meet: they say better than nearly parallel edges where that is."""
        edge_a, edge_b, s = (np.full(1, x) for x in (self.m.feature_a[i], self.m.feature_b[i], s))
        beside, off = s, 0.0
        d = self.motion.turn(self.b.unit[edge_b], s)
        sine = np.linalg.norm(cross(self.a.unit[edge_a], d), axis=1)[0]
        if self.m.sustained[i] and sine < NEARLY_PARALLEL:
            # Where their contact begins or ends they touch at the corner near which they cross within.
            begin, end = self.m.s[i], self.m.s_end[i]
            off = min(BESIDE, 0.5 * (end - begin))
            beside = s + off if s[0] - begin < end - s[0] else s - off
        along_a, along_b = crossing(self.motion, self.a, self.b, edge_a, edge_b, beside)
        doubt = 0.0
        if not self.m.sustained[i]:
            doubt = float(edge_doubt(self.motion, self.a, self.b, edge_a, edge_b, s, along_a)[0])
        on_a = self._end(self.a, edge_a[0], along_a[0], doubt + 4.0 * off * self.motion.speed)
        on_b = self._end(self.b, edge_b[0], along_b[0], doubt + 4.0 * off * self.motion.speed)
        if on_a is None and on_b is None:
            return None
        if on_b is None:
            on_b = self.motion.carry(on_a, s[0], self.b.sign)
        if on_a is None:
            on_a = self.motion.carry(on_b, s[0], self.a.sign)
        return on_a, on_b, doubt

    def _end(self, side, edge, along, doubt):
        """The end of an edge near a place along it, or None."""
        rest = side.tables.length[edge] - along
        if not min(along, rest) <= self.near + doubt:
            return None
        return side.points[side.tables.edges[edge, 0 if along <= rest else 1]]


def describe(motion, m, own, apart=False, round_a=0.0, round_b=0.0):
    """Per-contact fields of `gpu_collide.Contacts` (a dict without ``pair``) for the meetings of one pair, in
    the world as ``own`` moves A there; ``apart``: at a distance, where each body has a point of its own, on
    the mesh or outside of it by its rounding."""
    time = m.s + 0.5
    # A vertex is exactly itself in its own body; the other body's point is the vertex carried over.
    carried_a = motion.carry(m.on_b, m.s, -1.0)
    carried_b = motion.carry(m.on_a, m.s, 1.0)
    on_a = np.where((m.kind == FV)[:, None] & (not apart), carried_a, m.on_a)
    on_b = np.where((m.kind == VF)[:, None] & (not apart), carried_b, m.on_b)
    if apart and (round_a or round_b):
        on_a = on_a + round_a * m.normal
        on_b = on_b - round_b * motion.carry_direction(m.normal, m.s, 1.0)
    local_a = motion.to_a(on_a)
    direction = motion.direction_to_a(m.normal)
    return dict(
        kind=m.kind,
        feature_a=m.feature_a,
        feature_b=m.feature_b,
        time=time,
        position=own.world_of_a(local_a, time),
        normal=own.world_direction_of_a(direction, time),
        properness=m.properness,
        local_a=local_a,
        local_b=motion.to_b(on_b),
        normal_speed=m.normal_speed,
        sustained=m.sustained,
        time_end=m.s_end + 0.5,
    )
