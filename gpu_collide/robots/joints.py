"""`Joint`, and the `Chain` that joints between named links make."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gpu_collide._validate import as_float_array, check_choice, check_finite
from gpu_collide.bodies.poses import Poses
from gpu_collide.bodies.quaternion import multiply, rotate

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from gpu_collide._types import Array

__all__ = ["Joint", "Tree", "as_frame", "as_tree"]

KINDS = ("revolute", "continuous", "prismatic", "fixed")


@dataclass(frozen=True, eq=False)
class Joint:
    """A joint between two links of a `Robot`, as URDF describes it.

    Attributes
    ----------
    name : str
    kind : {"revolute", "continuous", "prismatic", "fixed"}
    parent, child : str
        Links: the child moves with the joint's frame.
    origin : (4, 4) array_like of float
        The joint's frame in that of the parent, where the joint's value is 0: a rigid motion.
    axis : (3,) array_like of float
        In the joint's frame, of any length but 0.
    limits : (float, float)
        Least and greatest value; nothing but `Robot.limits` reads them.
    mimic : (str, float, float), optional
        Another joint, a factor and an offset: the value is that of the other joint times the factor, plus the
        offset.
    """

    name: str
    kind: str
    parent: str
    child: str
    origin: Any = None
    axis: Any = (1.0, 0.0, 0.0)
    limits: tuple[float, float] = (-np.inf, np.inf)
    mimic: tuple[str, float, float] | None = None


@dataclass(frozen=True)
class Tree:
    """Joints that move, in the order in which they carry each other, and links.

    Attributes
    ----------
    parent, offset, turn, axis, prismatic
        As in `Chain`.
    carrier, place, rest : (n,), (n, 3), (n, 4)
        Of each link, as in `Chain`.
    names : tuple of str
        Of the joints that have a value of their own, in the order of the file.
    limits : (v, 2) float64
    factor, constant : (j, v), (j,)
        Values of all joints: ``factor @ q + constant``.
    """

    parent: Array
    offset: Array
    turn: Array
    axis: Array
    prismatic: Array
    carrier: Array
    place: Array
    rest: Array
    names: tuple[str, ...]
    limits: Array
    factor: Array
    constant: Array


def as_tree(joints: Sequence[Joint], links: tuple[str, ...]) -> Tree:
    """The joints of a robot checked, and put into the order in which they carry each other."""
    by_child: dict[str, Joint] = {}
    if not links:
        raise ValueError("shapes: expected a link, got none")
    for joint in joints:
        check_choice(joint.kind, f"joint {joint.name!r}", KINDS)
        for end in (joint.parent, joint.child):
            if end not in links:
                raise ValueError(f"joint {joint.name!r}: expected links of the robot, got {end!r}")
        if joint.child in by_child:
            raise ValueError(
                f"joint {joint.name!r}: expected links with one joint above each, got two above "
                f"{joint.child!r}"
            )
        by_child[joint.child] = joint
    if len({joint.name for joint in joints}) < len(joints):
        raise ValueError("joints: expected names that differ")
    return _walked(joints, links, by_child)


def _walked(joints: Sequence[Joint], links: tuple[str, ...], by_child: dict[str, Joint]) -> Tree:
    known: dict[str, tuple[int, Array, Array]] = {}
    parent: list[int] = []
    offset, turn, axis, moving = [], [], [], []
    for link in links:
        above, at = [], link
        while at not in known and at in by_child:
            if by_child[at] in above:
                raise ValueError(f"joints: expected a tree, got a circle through {at!r}")
            above.append(by_child[at])
            at = by_child[at].parent
        if at not in known:
            known[at] = (-1, np.zeros(3), np.array([1.0, 0, 0, 0]))
        for joint in reversed(above):
            carrier, place, rest = known[joint.parent]
            here, own = as_frame(joint.origin, f"joint {joint.name!r}: origin")
            place, rest = place + rotate(rest, here), multiply(rest, own)
            if joint.kind != "fixed":
                parent.append(carrier)
                offset.append(place)
                turn.append(rest)
                axis.append(_axis(joint))
                moving.append(joint)
                carrier, place, rest = len(moving) - 1, np.zeros(3), np.array([1.0, 0, 0, 0])
            known[joint.child] = (carrier, place, rest)
    roots = [link for link in links if link not in by_child]
    if len(roots) > 1:
        some = ", ".join(roots[:5])
        raise ValueError(f"links: expected one without a joint above it, got {len(roots)}: {some}")
    free = tuple(joint.name for joint in joints if joint.kind != "fixed" and joint.mimic is None)
    lines = [_line(joint, {j.name: j for j in joints}, free) for joint in moving]
    limits = {joint.name: joint.limits for joint in moving}
    where = [known[link] for link in links]
    return Tree(
        parent=np.array(parent, int),
        offset=np.array(offset).reshape(-1, 3),
        turn=np.array(turn).reshape(-1, 4),
        axis=np.array(axis).reshape(-1, 3),
        prismatic=np.array([joint.kind == "prismatic" for joint in moving], bool),
        carrier=np.array([one[0] for one in where], int),
        place=np.array([one[1] for one in where]),
        rest=np.array([one[2] for one in where]),
        names=free,
        limits=np.array([limits[name] for name in free], float).reshape(-1, 2),
        factor=np.array([line[0] for line in lines], float).reshape(len(moving), len(free)),
        constant=np.array([line[1] for line in lines], float),
    )


def as_frame(origin: Any, what: str) -> tuple[Array, Array]:
    """Position (3,) and unit quaternion (4,) of a (4, 4) matrix, or of None: the identity."""
    matrix = np.eye(4) if origin is None else as_float_array(origin, what, shape=(4, 4))
    pose = Poses.from_matrix(matrix[None])
    if not pose.valid.all():
        raise ValueError(f"{what}: expected a rigid motion, got {matrix.tolist()}")
    return pose.position[0], pose.unit_wxyz[0]


def _axis(joint: Joint) -> Array:
    axis = check_finite(as_float_array(joint.axis, "axis", shape=(3,)), "axis")
    length = float(np.sqrt((axis**2).sum()))
    if not length > 0:
        raise ValueError(f"joint {joint.name!r}: expected an axis of some length, got {axis.tolist()}")
    return axis / length


def _line(joint: Joint, by_name: dict[str, Joint], free: Iterable[str]) -> tuple[list[float], float]:
    """How the joint's value depends on those of the free ones."""
    factor, constant, seen = 1.0, 0.0, {joint.name}
    while joint.mimic is not None:
        other, times, plus = joint.mimic
        if other not in by_name or by_name[other].kind == "fixed" or other in seen:
            raise ValueError(f"joint {joint.name!r}: expected to mimic a joint that moves, got {other!r}")
        constant, factor = constant + factor * plus, factor * times
        joint = by_name[other]
        seen.add(other)
    return [factor * (name == joint.name) for name in free], constant
