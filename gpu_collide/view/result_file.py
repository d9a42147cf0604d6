"""`save_result`: a result and its scene in one file; `load_result` and ``gpu-collide view`` read it again.

The file is that of ``result.save`` with more arrays behind it, so whatever reads results reads these too.
What the arrays make up is told by a tree, in JSON, whose leaves are names of arrays, with their checksums.
"""

from __future__ import annotations

import io
import json
import os
import zipfile
from typing import TYPE_CHECKING

import numpy as np

from gpu_collide._calls import renamed
from gpu_collide._validate import as_numpy
from gpu_collide.bodies.bodies import Bodies, with_spins
from gpu_collide.bodies.poses import Poses
from gpu_collide.bodies.spins import FIELDS as SPINS
from gpu_collide.bodies.spins import Spins
from gpu_collide.geometry.arrays.parts import Parts
from gpu_collide.geometry.mesh.mesh import Mesh
from gpu_collide.recordings.recording import Recording
from gpu_collide.results.contacts import Contacts
from gpu_collide.results.hits import Hits
from gpu_collide.results.npz import check_folder, checksums, open_npz, save_name
from gpu_collide.results.slides import Slides
from gpu_collide.results.trace import Trace
from gpu_collide.results.trajectory_contacts import TrajectoryContacts
from gpu_collide.view.page.write import QueryArguments, page_scene

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from gpu_collide._types import Array, ArrayLike, StrPath
    from gpu_collide.results.npz import NpzReader
    from gpu_collide.results.result import Result

__all__ = ["load_result", "save_result"]

FORMAT = 2  # of what stands behind the result; 2: displacement, which 1 calls way
OLD = {"way": "displacement"}  # in files of format 1
RESULTS = {of.__name__: of for of in (Contacts, TrajectoryContacts, Hits, Slides, Trace)}
NONE_KEPT = (
    "holds a result alone, and not the bodies it was found among: name the files that it was made from as "
    "well, or have it written by gpu_collide.view.save_result"
)


@renamed(way="displacement")
def save_result(
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
) -> None:
    """Write a result and its bodies to one ``.npz`` file, which ``gpu-collide view FILE`` turns into a page.

    Parameters
    ----------
    result, scene
        As for `page`.
    path : str or path-like
        A name that ends in ``.npz``, or has no suffix: then ``.npz`` is added.
    world, start, displacement, radii, orientation, movers, angle, axis, origin, end : optional
        As for `page`.

    Raises
    ------
    TypeError, ValueError
        As from `page`: what is written can be shown.

    Notes
    -----
    ``load`` of the result's class reads the result alone, as from a file of ``save``. Numbers are kept with
    all their digits; meshes keep vertices, faces, names of parts and sides, and not which faces of a file
    they were made from.
    """
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"path: expected the name of a file, got {type(path).__name__}")
    name = save_name(path)
    if not name.endswith(".npz"):
        raise ValueError(f"path: expected a name ending in .npz, got {name!r}; tables hold no bodies")
    check_folder(name)
    query = QueryArguments(world, start, displacement, radii, orientation, movers, angle, axis, origin, end)
    page_scene(result, scene, query)  # raises if it cannot be shown
    alone = hasattr(result, "save")
    steps: list[Any] = [result] if alone else list(result)
    writer = _Writer()
    tree = {
        "format": FORMAT,
        "list": not alone,
        "steps": [writer.bytes_of(step) for step in steps[1:]],
        "scene": writer.node(scene),
        "how": {key: writer.node(value) for key, value in vars(query).items() if value is not None},
        "meshes": writer.meshes,
    }
    tree["checksums"] = json.loads(checksums(writer.arrays))
    steps[0].save(name)
    with zipfile.ZipFile(name, "a", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for key, array in {**writer.arrays, "scene": np.array(json.dumps(tree))}.items():
            with archive.open(f"{key}.npy", "w", force_zip64=True) as file:
                np.lib.format.write_array(file, np.asanyarray(array), allow_pickle=False)


def load_result(path: StrPath) -> tuple[Any, Any, dict[str, Any]]:
    """What `save_result` wrote, so that ``page(result, scene, "page.html", **how)`` shows it.

    Parameters
    ----------
    path : str or path-like

    Returns
    -------
    result : Contacts, TrajectoryContacts, Hits, Trace, Slides or list of Slides
    scene : Bodies, Recording or Mesh
    how : dict
        The other arguments, as `save_result` was given them.

    Raises
    ------
    OSError
        There is no such file, or it may not be read.
    ValueError
        The file is damaged, is no result, holds none but that, or was written by a newer version.
    """
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"path: expected the name of a file, got {type(path).__name__}")
    with open_npz(path, "a .npz file written by gpu_collide.view.save_result") as reader:
        kind = str(reader.read("format_kind")) if "format_kind" in reader.names else "Contacts"
        if kind not in RESULTS:
            raise ValueError(f"path: {path} holds {kind}, which pages cannot show")
        if "scene" not in reader.names:
            if "info" not in reader.names:
                raise ValueError(
                    f"path: {path} was not written by gpu_collide.view.save_result: it holds no result"
                )
            raise ValueError(f"path: {path} {NONE_KEPT}")
        tree = _tree(reader)
        try:
            made = _Reader(reader, tree)
            scene = made.value(tree["scene"])
            how = {OLD.get(key, key): made.value(node) for key, node in tree["how"].items()}
            steps = [RESULTS[kind].load(io.BytesIO(made.array(step).tobytes())) for step in tree["steps"]]
        except (KeyError, IndexError, TypeError, AttributeError, ValueError) as error:
            if str(error).startswith("path: "):
                raise
            raise reader.damaged("scene", error) from error
    first = RESULTS[kind].load(path)
    return ([first, *steps] if tree.get("list") else first), scene, how


def _tree(reader: NpzReader) -> dict[str, Any]:
    """What the arrays make up, of a format that is known here."""
    try:
        tree = json.loads(str(reader.read("scene")))
        found = tree["format"]
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise reader.damaged("scene", f"expected JSON, got {error}") from error
    if found not in (1, FORMAT):
        raise ValueError(
            f"path: {reader.path} keeps its bodies in format {found}, this version reads 1 to {FORMAT}; a "
            "newer gpu_collide reads newer files, and load of the result's class the result alone"
        )
    return tree


class _Writer:
    """Values as nodes of the tree, and the arrays that they name."""

    def __init__(self) -> None:
        self.arrays: dict[str, Array] = {}
        self.meshes: list[dict[str, Any]] = []
        self._known: dict[int, int] = {}

    def array(self, values: Any) -> str:
        name = f"scene_{len(self.arrays)}"
        values = as_numpy(values, name)
        if values.dtype.kind not in "fiub":
            raise TypeError(f"expected numbers to keep, got an array of {values.dtype}")
        self.arrays[name] = values
        return name

    def bytes_of(self, result: Result) -> str:
        """A whole result as its file."""
        file = io.BytesIO()
        result.save(file)
        return self.array(np.frombuffer(file.getvalue(), np.uint8))

    def node(self, value: Any) -> Any:
        if isinstance(value, Mesh):
            return {"mesh": self.mesh(value)}
        if isinstance(value, Poses):
            return {"poses": self.poses(value)}
        if isinstance(value, Bodies):
            return {"bodies": self.bodies(value)}
        if isinstance(value, Recording):
            return {
                "recording": {
                    "time": self.array(value.times),
                    "poses": self.poses(value.poses()),
                    "race_lengths": self.array(value.race_lengths),
                    "meshes": [self.mesh(mesh) for mesh in value.meshes],
                    "shape": None if value.shape is None else self.array(value.shape),
                    "static": None if value.static is None else self.bodies(value.static),
                    "there": self.array(value.there()),
                    **value._ids_in_info,
                }
            }
        return {"array": self.array(value)}

    def poses(self, poses: Poses) -> list[Any]:
        return [self.array(getattr(poses, name)) for name in ("position", "quat_wxyz", "valid")]

    def bodies(self, bodies: Bodies) -> dict[str, Any]:
        start = self.poses(bodies.start)
        return {
            "meshes": [self.mesh(mesh) for mesh in bodies.meshes],
            "shape": self.array(bodies.shape),
            "start": start,
            "end": start if bodies.end is bodies.start else self.poses(bodies.end),
            "worlds": bodies.worlds,
            "spins": None if bodies.spins is None
            else [self.array(getattr(bodies.spins, name)) for name in SPINS],
        }  # fmt: skip

    def mesh(self, mesh: Mesh) -> int:
        if id(mesh) not in self._known:
            parts = mesh.parts
            self._known[id(mesh)] = len(self.meshes)
            self.meshes.append(
                {
                    "vertices": self.array(mesh.vertices),
                    "start": self.array(mesh.face_start),
                    "corners": self.array(mesh.face_vertices),
                    "two_sided": bool(mesh.two_sided),
                    "rounding": 0.0 if mesh.ends else mesh.rounding,
                    "ends": mesh.ends,
                    "parts": None if parts is None
                    else [list(parts.names), self.array(parts.start), self.array(parts.members)],
                }
            )  # fmt: skip
        return self._known[id(mesh)]


class _Reader:
    """Nodes of the tree as values."""

    def __init__(self, reader: NpzReader, tree: dict[str, Any]) -> None:
        self._reader, self._sums = reader, tree["checksums"]
        self._meshes: dict[int, Mesh] = {}
        self._nodes = tree["meshes"]

    def array(self, name: str) -> Array:
        try:
            values = self._reader.read(name)
        except TypeError as error:
            raise self._reader.damaged(name, f"expected numbers, got {error}") from error
        if json.loads(checksums({name: values}))[name] != self._sums[name]:
            raise self._reader.damaged(name, "it is not what was saved: its checksum differs")
        return values

    def value(self, node: dict[str, Any]) -> Any:
        ((kind, of),) = node.items()
        made: dict[str, Callable[[Any], Any]] = {
            "mesh": self.mesh, "poses": self.poses, "bodies": self.bodies, "recording": self.recording,
            "array": lambda name: self.array(name)[()],
        }  # fmt: skip
        return made[kind](of)

    def poses(self, names: list[str]) -> Poses:
        return Poses(*(self.array(name) for name in names))

    def bodies(self, of: dict[str, Any]) -> Bodies:
        start = self.poses(of["start"])
        end = start if of["end"] == of["start"] else self.poses(of["end"])
        shape = self.array(of["shape"])
        if of["worlds"] is not None:
            worlds = tuple(of["worlds"])
            rows = np.arange(len(shape)).reshape(worlds)
            still = end is start
            start = start[rows]
            end, shape = start if still else end[rows], shape.reshape(worlds)
        bodies = Bodies([self.mesh(k) for k in of["meshes"]], shape, start, end)
        spins = of.get("spins")
        return bodies if spins is None else with_spins(bodies, Spins(*(self.array(name) for name in spins)))

    def recording(self, of: dict[str, Any]) -> Recording:
        poses = self.poses(of["poses"])
        arrays = {
            "time": self.array(of["time"]), "position": poses.position, "quat_wxyz": poses.quat_wxyz,
            "race_lengths": self.array(of["race_lengths"]),
        }  # fmt: skip
        if "there" in of:  # files of earlier versions have neither
            arrays["valid"] = self.array(of["there"])
        if "ids" in of:
            arrays["id"] = of["ids"]
        return Recording.from_arrays(
            arrays,
            meshes=[self.mesh(k) for k in of["meshes"]],
            shape=None if of["shape"] is None else self.array(of["shape"]),
            static=None if of["static"] is None else self.bodies(of["static"]),
        )

    def mesh(self, k: int) -> Mesh:
        if k not in self._meshes:
            of = self._nodes[k]
            start, corners = self.array(of["start"]), self.array(of["corners"])
            parts = of["parts"]
            points, rounding = self.array(of["vertices"]), of.get("rounding", 0.0)
            faces = np.split(corners, start[1:-1]) if len(points) > 2 else []
            self._meshes[k] = Mesh(
                points, faces, two_sided=of["two_sided"], rounding=rounding, ends=of.get("ends"),
                parts=None if parts is None else Parts(parts[0], *(self.array(name) for name in parts[1:])),
            )  # fmt: skip
            if self._meshes[k].n_faces != len(start) - 1:
                raise ValueError(f"mesh {k}: expected {len(start) - 1} faces, got {self._meshes[k].n_faces}")
        return self._meshes[k]
