"""The content of a page, whatever result it is made from: bodies with poses at times, and events with
contacts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from gpu_collide._validate import as_numpy
from gpu_collide.bodies.rules import still_bodies
from gpu_collide.results.tables import columns_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gpu_collide._types import Array
    from gpu_collide.bodies.bodies import Bodies
    from gpu_collide.bodies.poses import Poses
    from gpu_collide.bodies.spins import Spins
    from gpu_collide.geometry.mesh.mesh import Mesh
    from gpu_collide.results.result import Result

__all__ = ["Cast", "Events", "PageScene", "fields_of", "poses_of", "stands_still"]


def poses_of(poses: Poses) -> Array:
    """Places and unit quaternions (..., 7); not a number where there is no pose."""
    rows = np.concatenate([poses.position, poses.unit_wxyz], axis=-1)
    return np.where(poses.valid[..., None], rows, np.nan)


def stands_still(bodies: Bodies) -> Array:
    """(n,) bool: which do not move."""
    return still_bodies(bodies) & bodies.valid


@dataclass
class Cast:
    """The bodies of a page, those that move first.

    Attributes
    ----------
    meshes : list of Mesh
    moving_mesh : (m,) int
    moving_pose : (t, m, 7) float
        At each frame, not a number where there is none.
    still_mesh : (s,) int
    still_pose : (s, 7) float
    number : (m + s,) int
        What the bodies are called in the result.
    scale : (m, 3) float
    stop : (m,) float
        Time at which a body stays where it is.
    hold : (t - 1, m) bool
        Steps in which it stays, since its motion is not known.
    names : dict
        Of some bodies by position here; others are told by number.
    spins : Spins or None
        Of the moving ones, in a scene of one step: how those move that do not go along a screw.
    """

    meshes: Sequence[Mesh]
    moving_mesh: Array
    moving_pose: Array
    number: Array
    still_mesh: Array = field(default_factory=lambda: np.zeros(0, int))
    still_pose: Array = field(default_factory=lambda: np.zeros((0, 7)))
    scale: Array | None = None
    stop: Array | None = None
    hold: Array | None = None
    names: dict[int, str] = field(default_factory=dict)
    spins: Spins | None = None

    def __post_init__(self) -> None:
        frames, moving = self.moving_pose.shape[:2]
        if self.scale is None:
            self.scale = np.ones((moving, 3))
        if self.stop is None:
            self.stop = np.full(moving, np.inf)
        if self.hold is None:
            self.hold = np.zeros((max(frames - 1, 0), moving), bool)

    @property
    def places(self) -> Array:
        """(k, 3): where bodies are, of those that move if any does."""
        places = self.moving_pose[..., :3] if len(self.moving_mesh) else self.still_pose[:, :3]
        places = places.reshape(-1, 3)
        return places[np.isfinite(places).all(axis=1)]


@dataclass
class Events:
    """Contacts, in order of the events that they belong to.

    Attributes
    ----------
    start : (e + 1,) int
        Contacts ``start[i]:start[i + 1]`` are those of event i, by time.
    group : (e,) int
    hardest : (e,) int
        The contact that stands for it.
    speed : (e,) float
        How hard it is.
    label : (e,) int
        Position in `labels`, or -1: then its speed is shown.
    time, place, normal, a, b
        Of each contact; a and b are positions in the `Cast`, b is -1 for none.
    fields : list of dict
        What the page tells of a contact: ``name``, ``unit``, ``what``, ``values``, and ``words`` for numbers
        that stand for words.
    """

    start: Array
    group: Array
    hardest: Array
    speed: Array
    label: Array
    time: Array
    place: Array
    normal: Array
    a: Array
    b: Array
    fields: list[dict[str, Any]]
    labels: list[str] = field(default_factory=list)

    @classmethod
    def single(cls, group: Array, speed: Array, label: Array | None = None, **contacts: Any) -> Events:
        """Each contact an event of its own."""
        count = len(group)
        label = np.full(count, -1) if label is None else label
        return cls(np.arange(count + 1), group, np.arange(count), speed, label, **contacts)


@dataclass
class PageScene:
    """All that a page shows.

    Attributes
    ----------
    groups : list of str
        What can be chosen: pairs, worlds, races.
    group_bodies : list of (k,) int
        Positions in the cast.
    group_frames : (g, 2) int
        First and last frame.
    times : (t,) float
    unit : str
        "s", or "" for fractions of a step.
    what : str
        What events are called.
    speed : tuple of str
        Name and meaning of the number that is listed for each event.
    pairs : bool
        Each group is a pair, and B moves as A sees it.
    clock : str
        What times are shares of, if they have no unit.
    own : bool
        Each body is drawn on its own motion, also where a contact is told.
    """

    title: str
    note: str
    cast: Cast
    events: Events
    times: Array
    groups: list[str]
    group_bodies: list[Array]
    group_frames: Array
    unit: str = ""
    what: str = "contacts"
    speed: tuple[str, str] = ("approach", "speed along the normal, length per step")
    pairs: bool = False
    clock: str = "of the step"
    own: bool = False


def fields_of(result: Result, rows: Array, table: str | None = None) -> list[dict[str, Any]]:
    """The columns of a result's table, of some rows, as the page tells them."""
    fields = []
    for name, column, values in columns_of(result, table):
        about: dict[str, Any] = {"name": name, "unit": column.unit, "what": column.what}
        about["values"] = as_numpy(values, name)[rows]
        if about["values"].dtype.kind == "U":
            about["words"], about["values"] = np.unique(about["values"], return_inverse=True)
            about["words"] = about["words"].tolist()
        if column.words is not None:
            members = {member.value: member.name for member in column.words}
            about["words"] = [members.get(k, "") for k in range(max(members) + 1)]
        fields.append(about)
    return fields
