"""Points, spheres, ellipsoids and clusters on straight paths (stages w01, w02), launched from arrays of the
host."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gpu_collide.bodies.casts import CLUSTERS, SPHERES
from gpu_collide.pipeline.launch.world_query import FEW, WorldQuery
from gpu_collide.pipeline.mesh_tables.cast_tables import cast_tables_for, key_bits, obstacles_for, part_rows
from gpu_collide.pipeline.sweep import stages
from gpu_collide.pipeline.sweep.stages import ALL, FIRST, first_rows, in_lists, ruled, touching

__all__ = ["CastQuery", "CastWorld"]

#: From so many queries and numbers of nodes on they are put in order: below, all lies in caches.
MANY, LARGE = 2048, 1 << 15


class CastWorld(NamedTuple):
    """A world on a backend.

    Attributes
    ----------
    buffers : dict
        By the names of kernel arguments.
    shift : (3,) float64
        What positions count from.
    shifted : bool
        Is that not 0?
    held : int
        Bytes that it takes, where no scene keeps it.
    variant : str
        Behind the names of kernels that cast through it: ``_body`` where bodies turn on their own motions.
    n_bodies : int
    slack : float or None
        Chords of paths are off by no more.
    """

    buffers: dict
    shift: np.ndarray
    shifted: bool
    held: int
    variant: str = ""
    n_bodies: int = 0
    slack: float | None = None
    parted: bool = False
    tree: None = None


class CastQuery(WorldQuery):
    """Launches on one backend; `gpu_collide.reference.sweep.Reference` has the same verbs."""

    programs: tuple[str, ...] = ("sweep",)

    def world(self, bodies, resident=None, exact=False, rules=None, slack=None, parted=False):
        """`CastWorld` of bodies; of a scene, if `resident` is what it keeps. `exact`: some turn, and are seen
        on their own motions, not along chords; `rules`: those of the scene, which never change for these
        bodies; `slack`: no chord is off by more; `parted`: casts are in worlds."""
        made, variant = self._known(bodies), "_body" if exact else ""
        if made is None or (made.variant, made.slack, made.parted) != (variant, slack, parted):
            for program in self.programs:
                self.run.build(program + variant)
            if resident is None:
                tables = cast_tables_for(bodies.meshes, self.backend, self.precision)
                stand = obstacles_for(bodies, self.backend, self.precision, exact, slack, rules, parted)
            else:
                tables, stand = resident.grounds, resident.obstacles(bodies, exact, rules, slack, parted)
            buffers, held = {**tables.buffers, **stand.buffers}, tables.nbytes + stand.nbytes
            shifted = bool(stand.more.any())
            made = self._keep(
                bodies, CastWorld(buffers, stand.more, shifted, held, variant, len(bodies), slack, parted)
            )
        self.leave_room_beside(made.held if resident is None else resident.nbytes)
        return made

    def part(self, world, bodies):
        """The same world over a part of its step: of `bodies` nothing but the poses is other."""
        rows = part_rows(bodies, self.backend, self.precision, world.shift)
        return world._replace(buffers={**world.buffers, "bodies_in": rows})

    def first(self, world, casts, two_sided, buffer, any_hit):
        """What each first touches, or anything that it touches with `any_hit`.

        Parameters
        ----------
        world : CastWorld
        casts : Casts
        two_sided : bool
        buffer : float
        any_hit : bool

        Returns
        -------
        dict of str to ndarray
            ``time``, ``point``, ``normal``, ``body``, ``face``, ``feature``, ``number``, ``sphere`` of each.
        """
        n, run, be = len(casts), self.run, self.backend
        numbers = {"any": int(any_hit), **touching(two_sided, buffer, casts.rules)}
        found: dict[str, Any] = {}

        def some(at, stop):
            part, k = slice(at, stop), stop - at
            piece = self.piece(FIRST, k, world.buffers, self._given(world, casts, part), casts.form)
            if not piece.more:
                piece.more = self._more(world, casts, piece.given, k)
            piece.launch(FIRST.kernel + world.variant, k, n=k, **numbers)
            rows = first_rows(k, *be.to_hosts(piece.made.values()))
            if world.shifted:
                point = rows["point"]
                np.add(point, world.shift, out=point, where=(rows["feature"] > 0)[:, None])
            if k == n:
                found.update({name: array.copy() for name, array in rows.items()} if n <= FEW else rows)
                return
            for name, array in rows.items():
                whole = found.get(name)
                if whole is None:
                    whole = found[name] = np.empty((n, *array.shape[1:]), array.dtype)
                whole[part] = array

        size = run.room.fits(7 * run.real.itemsize + FIRST.nbytes(run.real) + 12)
        run.room.pieces(
            n, min(max(1, size), stages.PIECE_IN_CACHES if be.serial_groups else stages.PIECE), some
        )
        return found or first_rows(0, np.zeros(0, np.uint8), np.zeros((4, 0), np.int32), np.zeros(0))

    def all(self, world, casts, two_sided, buffer):
        """All that each touches, in the order of `ALL`: without a buffer that of the times.

        Returns
        -------
        dict of str to ndarray
            ``query`` and what `first` returns, of each touch.
        """

        def arguments(part):
            given = self._placed(self._given(world, casts, part))
            return given | self._more(world, casts, given, part.stop - part.start)

        return self._lists(ALL, world, len(casts), touching(two_sided, buffer, casts.rules), arguments)

    def _lists(self, stage, world, n, numbers, arguments):
        """What each of `n` queries has, ordered; ``arguments(part)`` are those of some."""

        def queries(at, stop):
            return arguments(slice(at, stop)), None

        found = [rows for rows, *_ in in_lists(self, world, stage, n, queries, numbers)]
        if not found:
            found = [stage.rows(np, np.zeros(0, np.int32), np.zeros(0), 0, 0, world.shift)]
        return {name: np.concatenate([piece[name] for piece in found]) for name in found[0]}

    def launch(self, fill, name, n, /, *bound, **args):
        """Launch, and wait."""
        self.run.launch(name, n, *bound, **args)

    def total(self, sums):
        """The last of some sums."""
        return int(self.backend.item(sums))

    def listed(self, stage, world, ints, reals, n, at):
        """A list on the host."""
        ints, reals = self.backend.to_hosts((ints, reals))
        return stage.rows(np, ints, reals, n, at, world.shift)

    def _placed(self, given):
        return {name: self.backend.to_device(array, copy=False) for name, array in given.items()}

    def _given(self, world, casts, part):
        """Arrays of some queries, flat, as kernels read them."""
        real, n = self.run.real, part.stop - part.start
        ways = np.empty((n, 6), real)
        ways[:, :3] = casts.start[part] - world.shift if world.shifted else casts.start[part]
        ways[:, 3:] = casts.path[part]
        radius = casts.radius if casts.form == CLUSTERS else casts.radius[part]
        if casts.form == SPHERES and radius.strides[0] == 0:
            radius = radius[:1]
        if real != np.float64:
            with np.errstate(over="ignore"):  # of lengths that float32 has not; these are not swept
                radius = radius.astype(real)
        given = {"ways_in": ways.reshape(-1), "radius_in": np.ascontiguousarray(radius).reshape(-1)}
        given |= ruled(casts, part)
        if casts.form != SPHERES:
            given["turned_in"] = np.ascontiguousarray(casts.quat[part], real).reshape(-1)
        if casts.form == CLUSTERS:
            given |= {
                "balls_in": np.ascontiguousarray(casts.balls, real).reshape(-1),
                "cluster_in": np.ascontiguousarray(casts.cluster[part], np.int32),
                "cluster_start_in": casts.begin,
            }
        return given

    def _more(self, world, casts, given, n):
        """Arguments beside those, of the same form and number of queries."""
        run = self.run
        none = run.to_device(np.zeros(0, run.real)), run.to_device(np.zeros(0, np.int32))
        apart = int(given["radius_in"].size != 1 or casts.form != SPHERES or n == 1)
        unused = {"turned_in": none[0], "balls_in": none[0], "cluster_in": none[1],
                  "cluster_start_in": none[1]}  # fmt: skip
        return {name: x for name, x in unused.items() if name not in given} | {
            "form": casts.form, "apart": apart, "todo_in": self.order(world, given["ways_in"], n)
        }  # fmt: skip

    def order(self, world, ways, n, ahead=False):
        """In which order queries are worked off: neighbours along a curve, if that pays. `ahead`: nothing is
        waited for, and nothing comes from the host."""
        run, be = self.run, self.backend
        if n < MANY or world.buffers["nodes_in"].size < LARGE:
            if ahead:
                return be.arrays.arange(n, dtype=np.int32)
            return run.to_device(np.arange(n, dtype=np.int32))
        keys, launch = be.empty(n, np.int32), run.launch_noted if ahead else run.launch
        launch("w01_keys", n, world.buffers, n=n, ways_in=ways, keys_out=keys)
        return be.argsort(keys, key_bits(be))
