"""The state of a scene on a backend: tables of its meshes, poses of its bodies, the tree over them."""

from __future__ import annotations

import operator
import time
import weakref
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gpu_collide.backends import declarations
from gpu_collide.bodies.bodies import all_valid
from gpu_collide.errors import MemoryLimitError
from gpu_collide.pipeline.broad_phase.pairs import KeptTree, fitted
from gpu_collide.pipeline.broad_phase.trees import mesh_bounds
from gpu_collide.pipeline.launch.launcher import Launcher
from gpu_collide.pipeline.launch.poses import NAMES, pose_arrays, positions_and_turns, take_given
from gpu_collide.pipeline.mesh_tables.cast_tables import build_cast_tables, obstacles
from gpu_collide.pipeline.mesh_tables.mover_tables import build_mover_tables
from gpu_collide.pipeline.mesh_tables.tables import build_tables
from gpu_collide.pipeline.narrow_phase.context import Prepared
from gpu_collide.pipeline.narrow_phase.plan import decide

if TYPE_CHECKING:
    from gpu_collide.bodies.bodies import Bodies

__all__ = ["PreparedScene", "DeviceScene", "scene_too_large"]


_nbytes = operator.attrgetter("nbytes")


def scene_too_large(need, max_bytes):
    """The error of a scene for which there is no room."""
    return MemoryLimitError(
        f"max_bytes: expected room for what the scene keeps, {need} bytes, and to work in, got {max_bytes}; "
        "pass a larger max_bytes, or part the bodies over several scenes"
    )


@dataclass(frozen=True)
class PreparedScene:
    """What methods beside the screw need of a scene's bodies, as it lies on the backend. For our own use.

    It holds while nobody asks the scene anything: the next step writes to the same buffers.

    Attributes
    ----------
    backend : Backend
    precision : str
    bodies : Bodies
    tables : MeshTables or None
        Of the meshes, with their patches and the trees of their faces. None on the backend ``reference``, as
        what follows.
    tree : BodyTree or None
        Over the bodies, in `bodies`' places. Those that stand still are in the boxes ``GC_CROWD_STILL`` of
        its nodes.
    placed : dict or None
        Buffers of poses and shapes by the names of kernel arguments; None in single precision, where they
        are made for the pairs of each query.
    """

    backend: object
    precision: str
    bodies: Bodies
    tables: object
    tree: object
    placed: dict | None


class DeviceScene:
    """Bodies of unchanging shapes, on one backend in one precision. Not for two threads at once.

    All that launches read of bodies has a place here that outlasts them: the same buffers hold each step's
    poses. Methods beside the screw take from it what they need.

    Parameters
    ----------
    backend : Backend
        One with kernels.
    precision : str
    meshes : tuple of Mesh
    shape : (n,) int32

    Attributes
    ----------
    kept, grown : KeptTree
        Over the bodies of the last search, in the order of an earlier one; over bodies that a margin makes
        larger.
    sets : WeakSet of RecordedBatch
        Those that engines keep for it.
    """

    def __init__(self, backend, precision, meshes, shape):
        self.backend, self.precision = backend, precision
        self.meshes, self.shape = meshes, shape
        self.real, self.raster = declarations.dtypes(precision)
        self.kept, self.grown = KeptTree(), KeptTree()
        self.sets: weakref.WeakSet = weakref.WeakSet()
        self._tables = {}
        self._placed, self._bodies, self._all_valid = None, None, False
        self._forms: Any = None
        self._grounds: Any = None
        self._obstacles: Any = None, None, None
        self._shifted: Any = None, None, {}

    @property
    def nbytes(self):
        """Bytes that it holds."""
        held = [*self._tables.values(), self._forms, self._grounds, self._obstacles[1]]
        held += [self.kept.tree, self.grown.tree]
        held += [*self._shifted[2].values(), *(self._placed or {}).values(), *self.sets]
        return sum(map(_nbytes, [x for x in held if x is not None]))

    def left(self, max_bytes):
        """Bytes that are left of `max_bytes` to work in."""
        return max_bytes - self.nbytes

    @property
    def set_bytes(self):
        """Bytes of what engines keep for few pairs."""
        return sum(map(_nbytes, self.sets))

    def forget(self):
        """Take nothing for placed: whoever was at it did not get to the end."""
        self._bodies = None

    def tables(self, trees=True):
        """`MeshTables` of the meshes, with the trees of their faces if they are wanted."""
        if trees not in self._tables:
            # not those of `tables_for`: here they are let go of when the scene says so
            self._tables[trees] = build_tables(self.meshes, self.backend, self.precision, trees)
        return self._tables[trees]

    @property
    def forms(self):
        """Tables of the meshes for movers, made when first asked for."""
        if self._forms is None:
            self._forms = build_mover_tables(self.meshes, self.backend, self.precision)
        return self._forms

    @property
    def grounds(self):
        """Tables of the meshes for casts, made when first asked for."""
        if self._grounds is None:
            self._grounds = build_cast_tables(self.meshes, self.backend, self.precision)
        return self._grounds

    def obstacles(self, bodies, exact=False, rules=None, slack=None, parted=False):
        """Tables for casts of the bodies as they are now; `exact`: on their own motions where they turn;
        `rules`: their groups and masks; `slack`: no chord is off by more; `parted`: casts are in worlds."""
        known, _, how = self._obstacles
        if known is not bodies or how != (exact, slack, parted):
            made = obstacles(bodies, self.backend, self.precision, exact, rules, slack, parted)
            self._obstacles = bodies, made, (exact, slack, parted)
        return self._obstacles[1]

    def stands(self, bodies, tree):
        """Where the bodies of a still world stand, as the kernels for movers read it: ``position_in``,
        ``quat_in``, ``shape_in``, positions counted from the `shift` of `tree`, which stands over
        `bodies`."""
        placed = self.place(bodies)
        if placed is not None:
            names = {"position_in": "start_position_in", "quat_in": "start_quat_in", "shape_in": "shape_in"}
            return {name: placed[own] for name, own in names.items()}
        if self._shifted[0] is not bodies or not np.array_equal(self._shifted[1], tree.shift):
            arrays, to_device = pose_arrays(bodies), self.backend.to_device
            position = (arrays["start_position_in"].reshape(-1, 3) - tree.shift).astype(self.real)
            made = {
                "position_in": to_device(position.reshape(-1), copy=False),
                "quat_in": to_device(arrays["start_quat_in"].astype(self.real).reshape(-1), copy=False),
                "shape_in": to_device(arrays["shape_in"]),
            }
            self._shifted = bodies, tree.shift, made
        return self._shifted[2]

    def place(self, bodies):
        """Buffers with the poses of all bodies, by the names of kernel arguments, and ``mesh_bounds_in``.

        None in single precision, where positions count from those of each pair.
        """
        if self.real == np.float32 or self._bodies is bodies:
            return self._placed
        self._bodies = None  # what is interrupted is done anew
        if self._placed is not None and bodies.on_device:
            self._all_valid = False  # the host does not look at them
            if take_given(Launcher(self.backend, self.precision, 0), bodies, self._placed) is not None:
                self._bodies = bodies
                return self._placed
        valid = all_valid(bodies)
        if self._placed is None:
            placed = {name: self.backend.to_device(array) for name, array in pose_arrays(bodies).items()}
            placed["mesh_bounds_in"] = self.backend.to_device(mesh_bounds(self.meshes).reshape(-1))
            self._placed = placed
        else:
            arrays = zip(NAMES, positions_and_turns(bodies, valid), strict=True)
            self.backend.write_all([(self._placed[name], array) for name, array in arrays])
            if not (valid and self._all_valid):
                self._all_valid = False  # until the buffer is known to say so
                self.backend.write(self._placed["valid_in"], bodies.valid.view(np.uint8))
        self._all_valid = valid
        self._bodies = bodies
        return self._placed

    def prepare(self, run, bodies, options):
        """`Prepared` for a query with these options about `bodies`, whose poses are placed."""
        plan = decide(self.meshes, options, run.backend)
        run.build(*plan.programs)
        begun = time.perf_counter()
        prepared = Prepared(plan, self.tables(plan.trees), self.place(bodies))
        run.spent("prepare", begun)
        return prepared

    def tree(self, bodies, rules):
        """`BodyTree` over `bodies`, fitted to their poses."""
        run = Launcher(self.backend, self.precision, 0)  # building a tree guesses no sizes
        placed, tree = self.place(bodies), self.kept.take()
        self.kept.tree, _ = fitted(run, bodies, rules, tree, placed)
        return self.kept.tree
