"""`page`: a result and its bodies in one file that a browser opens on its own."""

from __future__ import annotations

import base64
import dataclasses
import html
import json
import os
import zlib
from importlib import resources
from typing import TYPE_CHECKING

import numpy as np

from gpu_collide._calls import renamed
from gpu_collide.bodies.bodies import Bodies
from gpu_collide.bodies.compound import refuse_compounds
from gpu_collide.bodies.spins import Spins
from gpu_collide.geometry.mesh.mesh import Mesh
from gpu_collide.queries.trajectories import as_static
from gpu_collide.recordings.recording import Recording
from gpu_collide.results.contacts import Contacts
from gpu_collide.results.events import TrafficEvents
from gpu_collide.results.hits import Hits
from gpu_collide.results.npz import check_folder
from gpu_collide.results.slides import Slides
from gpu_collide.results.trace import Trace
from gpu_collide.results.trajectory_contacts import TrajectoryContacts
from gpu_collide.view.page.moves import scene_of_movers
from gpu_collide.view.page.steps import (
    scene_of_events,
    scene_of_pairs,
    scene_of_recording,
    scene_of_worlds,
)
from gpu_collide.view.page.sweeps import scene_of_characters, scene_of_hits

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gpu_collide._types import Array, ArrayLike, StrPath
    from gpu_collide.bodies.poses import Poses
    from gpu_collide.results.result import Result
    from gpu_collide.view.page.scene import PageScene

__all__ = ["QueryArguments", "page", "page_scene"]

SCRIPTS = ("motion.js", "scene.js", "draw.js", "panel.js")
MOST = {"pairs": 500, "worlds": 100, "swept": 500}
LINES = 20_000  # edges of a mesh that are drawn
FEW = 20_000  # contacts that are told with all their digits


@renamed(way="displacement")
def page(
    result: Result | Sequence[Slides],
    scene: Bodies | Recording | Mesh,
    path: StrPath,
    *,
    world: ArrayLike | None = None,
    start: ArrayLike | None = None,
    displacement: ArrayLike | None = None,
    radii: ArrayLike | None = None,
    orientation: ArrayLike | None = None,
    movers: Bodies | ArrayLike | None = None,
    angle: ArrayLike | None = None,
    axis: ArrayLike | None = None,
    origin: ArrayLike | None = None,
    end: Poses | None = None,
    up: int | None = None,
    title: str | None = None,
    most: int | None = None,
) -> None:
    """Write a page for a browser: bodies that move, a time bar, and a list of contacts to click on.

    The page is one file that needs no network: all data and its program are inside. Contacts light up when
    they happen and stay listed; a click on one, in the list or in the picture, shows its data and jumps to
    it.

    Parameters
    ----------
    result : Contacts, TrajectoryContacts, TrafficEvents, Hits, Trace, Slides or sequence of Slides
        Of a batch of pairs or of worlds; along a recording (contacts, or events); of what is swept; of
        movers; of characters, in one step or in several that follow each other.
    scene : Bodies, Recording or Mesh
        What the query was about: its bodies; the recording; the world of movers or of what is swept (a Mesh:
        at the world's origin).
    path : str or path-like
        A name that ends in ``.html``.
    world : (n,) array_like of int, optional
        World of each body, as the query was given: the page lets a world be chosen, else a pair. All zero
        shows all bodies at once. Default: that of bodies whose poses have the shape ``(worlds, n)``.
    start, displacement : (n, 3) array_like, optional
        Of what is swept: where it starts, and its displacement. Of characters: where they start, and the
        velocity that each step was given, so that the page can tell what was in their way.
    radii : float, (n,), (3,) or (n, 3) array_like, optional
        Of spheres, ellipsoids or characters; default: points.
    orientation : (4,) or (n, 4) array_like, optional
        Of ellipsoids, w first.
    movers : Bodies or (n, 3) array_like, optional
        Of a `Trace`: what moves, as the query was given it.
    displacement, angle, axis, origin, end : optional
        Of a `Trace`: its motion. `displacement` is that of `gpu_collide.pluecker.translate`; angle, axis and
        origin are those of `rotate`; end is that of `move`, by default the end poses of the movers.
    up : int, optional
        Axis that points up; default: of recordings the one along which they are flattest, else z.
    title : str, optional
    most : int, optional
        At most so many pairs (default 500), worlds (100), movers or swept things (500) are in the page, those
        that touch something first; the page says so.

    Raises
    ------
    TypeError, ValueError
        A result that cannot be shown, one that does not belong to `scene`, or arguments that are missing.

    Notes
    -----
    Each body moves by its own motion, as A does in `Contacts`. Unless the result was asked for with
    ``motion="body"``, B of a pair, and of the bodies of a contact that is chosen, moves along the screw
    relative to A, so that the two touch where the contact is.
    """
    name = os.fspath(path) if isinstance(path, (str, os.PathLike)) else None
    if name is None:
        raise TypeError(f"path: expected the name of a file, got {type(path).__name__}")
    if not str(name).lower().endswith((".html", ".htm")):
        raise ValueError(f"path: expected a name ending in .html, got {name!r}")
    check_folder(str(name))
    query = QueryArguments(world, start, displacement, radii, orientation, movers, angle, axis, origin, end)
    shown = page_scene(result, scene, query, most)
    if title is not None:
        shown.title = title
    if up is None:
        up = _up(scene) if isinstance(scene, Recording) else 2
    if up not in (0, 1, 2):
        raise ValueError(f"up: expected 0, 1 or 2, got {up!r}")
    text = _html(shown, up)
    with open(name, "w", encoding="utf-8") as file:
        file.write(text)


@dataclasses.dataclass(frozen=True)
class QueryArguments:
    """What a query was given beside its bodies, as far as a page needs it; `page` says what each is."""

    world: Any = None
    start: Any = None
    displacement: Any = None
    radii: Any = None
    orientation: Any = None
    movers: Any = None
    angle: Any = None
    axis: Any = None
    origin: Any = None
    end: Any = None


def page_scene(result: Any, scene: Any, query: QueryArguments, most: int | None = None) -> PageScene:
    """What a page shows of a result, with the arguments of `page`; raises what it says there."""
    if isinstance(result, Trace):
        among = as_static(_checked_bodies(scene))
        assert among is not None
        rotation = query.angle, query.axis, query.origin
        return scene_of_movers(
            result, among, query.movers, query.displacement, rotation, query.end, most or MOST["swept"]
        )
    if isinstance(result, (TrajectoryContacts, TrafficEvents)):
        if not isinstance(scene, Recording):
            raise TypeError(f"scene: expected the Recording of the contacts, got {type(scene).__name__}")
        if isinstance(result, TrafficEvents):
            return scene_of_events(result, scene)
        return scene_of_recording(result, scene)
    bodies = as_static(_checked_bodies(scene))
    assert bodies is not None
    if isinstance(result, Contacts):
        world = bodies.world if query.world is None else query.world
        if world is not None:
            return scene_of_worlds(result.to_numpy(), bodies, world, most or MOST["worlds"])
        return scene_of_pairs(result.to_numpy(), bodies, most or MOST["pairs"])
    swept = query.start, query.displacement, query.radii, query.orientation, most or MOST["swept"]
    if isinstance(result, Hits):
        return scene_of_hits(result, bodies, *swept)
    steps = [result] if isinstance(result, Slides) else result
    if isinstance(steps, (list, tuple)) and steps and all(isinstance(step, Slides) for step in steps):
        return scene_of_characters(steps, bodies, *swept)
    raise TypeError(
        "result: expected Contacts, TrajectoryContacts, TrafficEvents, Hits, Slides, a list of Slides or "
        "Trace, got "
        f"{type(result).__name__}"
    )


def _checked_bodies(scene: Any) -> Bodies | Mesh:
    if not isinstance(scene, (Bodies, Mesh)):
        raise TypeError(f"scene: expected the Bodies of the query, got {type(scene).__name__}")
    if isinstance(scene, Bodies):
        refuse_compounds(scene, "scene", "the viewer")
    return scene


def _up(recording: Recording) -> int:
    """The axis along which a recording is flattest."""
    static = recording.static
    if static is None:
        points = recording.poses().position.reshape(-1, 3)
    else:
        parts = [static.start[i : i + 1].apply(static.meshes[s].vertices) for i, s in enumerate(static.shape)]
        points = np.concatenate(parts)
    points = points[np.isfinite(points).all(axis=1)]
    return int(np.argmin(np.ptp(points, axis=0))) if len(points) else 2


class _Packed:
    """Arrays behind each other, each at a multiple of eight bytes."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self.where: dict[str, tuple[str, int, int]] = {}
        self.size = 0

    def add(self, name: str, values: Any, kind: str) -> None:
        values = np.ascontiguousarray(values, dtype="<" + kind).reshape(-1)
        raw = values.tobytes()
        self.where[name] = kind, self.size, len(values)
        self.parts.append(raw + bytes(-len(raw) % 8))
        self.size += len(self.parts[-1])

    def text(self) -> str:
        return base64.b64encode(zlib.compress(b"".join(self.parts), 6)).decode("ascii")


def _html(scene: PageScene, up: int) -> str:
    packed, cast, events = _Packed(), scene.cast, scene.events
    places = cast.places
    origin = 0.5 * (places.min(axis=0) + places.max(axis=0)) if len(places) else np.zeros(3)
    used = np.unique(np.concatenate([cast.moving_mesh, cast.still_mesh]).astype(int))
    again = np.full(len(cast.meshes), -1)
    again[used] = np.arange(len(used))
    meshes = [_add_mesh(packed, k, cast.meshes[i]) for k, i in enumerate(used)]
    shift = np.concatenate([origin, np.zeros(4)])
    moving = cast.moving_pose - shift
    packed.add("times", scene.times, "f8")
    packed.add("moving_mesh", again[cast.moving_mesh], "i4")
    packed.add("moving_pose", moving, "f8")
    packed.add("still_mesh", again[cast.still_mesh], "i4")
    packed.add("still_pose", cast.still_pose - shift, "f8")
    packed.add("number", cast.number, "i4")
    packed.add("scale", cast.scale, "f4")
    packed.add("stop", cast.stop, "f8")
    packed.add("hold", cast.hold, "u1")
    spins = Spins.none(0) if cast.spins is None else cast.spins
    packed.add("spins", spins.kind, "u1")
    packed.add("spin", np.concatenate([spins.displacement, spins.rotation, spins.center], axis=1), "f8")
    sizes = [len(bodies) for bodies in scene.group_bodies]
    packed.add("group_start", np.concatenate([[0], np.cumsum(sizes)]), "i4")
    packed.add("group_bodies", np.concatenate(scene.group_bodies), "i4")
    packed.add("group_frames", scene.group_frames, "i4")
    _add_ways(packed, moving, scene.group_frames if scene.unit == "s" else scene.group_frames[:1], cast)
    for name, kind in (("start", "i4"), ("group", "i4"), ("hardest", "i4"), ("speed", "f4"), ("label", "i4")):
        packed.add(f"event_{name}", getattr(events, name), kind)
    for name, kind in (("time", "f8"), ("normal", "f4"), ("a", "i4"), ("b", "i4")):
        packed.add(f"contact_{name}", getattr(events, name), kind)
    packed.add("contact_place", events.place - origin, "f4")
    reach = max((np.linalg.norm(pose[:3] - origin) + cast.meshes[k].radius
                 for pose, k in zip(cast.still_pose, cast.still_mesh, strict=True)), default=0.0)  # fmt: skip
    head = {
        "title": scene.title, "note": scene.note, "unit": scene.unit, "clock": scene.clock,
        "what": scene.what, "up": up, "pairs": scene.pairs, "own": scene.own, "groups": scene.groups,
        "names": cast.names, "labels": events.labels, "origin": origin.tolist(),
        "reach": float(reach), "meshes": meshes,
        "fields": [_add_field(packed, k, about, len(events.time)) for k, about in enumerate(events.fields)],
    }  # fmt: skip
    head["arrays"] = packed.where
    return _filled(
        {
            "title": html.escape(scene.title),
            "unit": "time, s" if scene.unit == "s" else html.escape(scene.unit or "time"),
            "speed_name": html.escape(scene.speed[0]),
            "speed_what": html.escape(scene.speed[1]),
            "style": _asset("page.css"),
            "script": "\n".join(_asset(name) for name in SCRIPTS),
            "head": json.dumps(head, separators=(",", ":")).replace("<", "\\u003c"),
            "packed": packed.text(),
        }
    )


def _filled(parts: dict[str, str]) -> str:
    """The page with all its parts, none of which is looked into for the places of others."""
    text = []
    for piece in _asset("page.html").split("{{"):
        name, found, rest = piece.partition("}}")
        text.append(parts[name] + rest if found else piece)
    return "".join(text)


def _asset(name: str) -> str:
    return resources.files("gpu_collide.view.page").joinpath(name).read_text(encoding="utf-8")


def _add_mesh(packed: _Packed, k: int, mesh: Mesh) -> dict[str, Any]:
    """Vertices, triangles, and edges unless there are too many to be seen."""
    about = {"radius": float(mesh.radius), "center": mesh.center.tolist()}
    mesh = mesh._seen()
    sides = np.diff(mesh.face_start)
    first = np.repeat(mesh.face_start[:-1], sides - 2)
    number = np.arange(len(first)) - np.repeat(np.cumsum(sides - 2) - (sides - 2), sides - 2)
    corners = mesh.face_vertices
    loops = np.stack([corners[first], corners[first + number + 1], corners[first + number + 2]], axis=1)
    packed.add(f"vertices_{k}", mesh.vertices, "f4")
    packed.add(f"triangles_{k}", loops, "u4")
    packed.add(f"lines_{k}", mesh.edges if mesh.n_edges <= LINES else np.zeros((0, 2)), "u4")
    return about


def _add_ways(packed: _Packed, moving: Array, frames: Array, cast: Any) -> None:
    """The places of each moving body as a line, race by race."""
    points, starts, owners = [np.zeros((0, 3))], [0], []
    for first, last in frames.tolist():
        for body in range(moving.shape[1]):
            line = moving[first : last + 1, body, :3]
            line = line[np.isfinite(line).all(axis=1)]
            if len(line) > 1 and np.ptp(line, axis=0).any():
                points.append(line)
                starts.append(starts[-1] + len(line))
                owners.append(body)
    packed.add("ways", np.concatenate(points), "f4")
    packed.add("way_start", starts, "i4")
    packed.add("way_body", owners, "i4")


def _add_field(packed: _Packed, k: int, about: dict[str, Any], count: int) -> dict[str, Any]:
    values, name = about["values"], f"field_{k}"
    kind = {"f": "f8" if count <= FEW else "f4", "b": "u1"}.get(values.dtype.kind, "i4")
    packed.add(name, values, kind)
    told = {key: value for key, value in about.items() if key != "values"}
    return {**told, "array": name, "truth": values.dtype.kind == "b"}
