"""Enumerations of results: outcomes, and which features meet or are touched."""

import enum

__all__ = ["CONTACT_KINDS", "EventKind", "Feature", "Kind", "Side", "Status", "Touch"]


class Status(enum.IntEnum):
    """Outcome of a pair."""

    MISS = 0  #: no reported contact (perhaps some below ``min_properness``)
    HIT = 1  #: at least one reported contact
    #: the solids overlap at the start, or are nearer than ``target_distance``, unless ``check_start=False``;
    #: contacts are kept
    INITIAL_OVERLAP = 2
    INVALID_INPUT = 3  #: a pose that is not finite or not rigid; no contacts
    #: a cap of the solver was reached, and contacts may be missing; or the motion is too long for the
    #: precision, and there are none (docs/guide/limits.md has the reasons)
    UNRESOLVED = 4


class Kind(enum.IntEnum):
    """Which features meet, or are nearest to each other. Contacts are of the first three kinds, at a distance
    of the first six."""

    FV = 0  #: a face of A and a vertex of B
    VF = 1  #: a vertex of A and a face of B
    EE = 2  #: an edge of A and an edge of B
    EV = 3  #: an edge of A and a vertex of B
    VE = 4  #: a vertex of A and an edge of B
    VV = 5  #: a vertex of each
    NONE = -1  #: no place is told


#: What contacts of bodies that touch may be: at a meeting of others, one of these is there as well.
CONTACT_KINDS = (Kind.FV, Kind.VF, Kind.EE)


class Feature(enum.IntEnum):
    """Which feature of an obstacle is touched."""

    NONE = 0  #: nothing
    FACE = 1
    EDGE = 2
    VERTEX = 3


class Touch(enum.IntEnum):
    """Which features touch, the mover's first."""

    NONE = 0  #: nothing is touched
    VF = 1  #: a vertex of the mover and a face of the obstacle
    FV = 2  #: a face of the mover and a vertex of the obstacle
    EE = 3  #: an edge of each
    VE = 4  #: at rest: a vertex of the mover beside an edge of the obstacle
    EV = 5  #: at rest: an edge of the mover beside a vertex of the obstacle
    VV = 6  #: at rest: a vertex of each
    OVERLAP = 7  #: at rest: a region of overlap of which no features tell the depth; they are -1


class EventKind(enum.IntEnum):
    """What a row of `TrafficEvents` is."""

    COLLISION = 0  #: two bodies come to touch
    IN_TOUCH = 1  #: they overlap or touch already when they are first seen together
    NEAR_MISS = 2  #: they come near, or would meet as they move, and do not touch


class Side(enum.IntEnum):
    """Which side of a vehicle, whose x axis is ahead and z axis up."""

    NONE = 0  #: not known
    FRONT = 1
    LEFT = 2
    REAR = 3
    RIGHT = 4
    TOP = 5
    BOTTOM = 6
