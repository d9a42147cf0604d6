"""The kernels' answers to the queries' verbs; `gpu_collide.reference.engine` has the same ones."""

from __future__ import annotations

import operator
import weakref
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any

import numpy as np

from gpu_collide._validate import check_pairs
from gpu_collide.backends import sources
from gpu_collide.pipeline import bisection, clearance
from gpu_collide.pipeline.broad_phase import pairs as broad_phase
from gpu_collide.pipeline.broad_phase.trees import BodyTree, mesh_bounds
from gpu_collide.pipeline.device_scene import DeviceScene, scene_too_large
from gpu_collide.pipeline.launch.launcher import Launcher
from gpu_collide.pipeline.launch.poses import take_given
from gpu_collide.pipeline.narrow_phase import device_batches, plan, query
from gpu_collide.pipeline.narrow_phase.recorded_batch import KEPT_SHARE, MOST_PAIRS, RecordedBatch
from gpu_collide.pipeline.robots import ChainMotions
from gpu_collide.results.contacts import Contacts

__all__ = ["Pipeline"]

#: The share of a scene's bodies that pairs asked about twice running may have, and not all poses are placed.
MOST_PLACED = 4
#: Pairs of a call outside of a scene that may be launched as one of its kind before, and the bytes of what is
#: kept for that.
AGAIN_PAIRS, AGAIN_BYTES = 64, 8 << 20


@lru_cache(maxsize=4)
def tolerances(precision):
    """The tolerances that ``info`` tells, of the kernels in this precision."""
    c = sources.constants(precision)
    return {name: float(value) for name, value in c.items() if name.startswith(("GC_TOL_", "GC_TAU_"))}


class Pipeline:
    """Launches on one backend, for one `Options` value.

    What its queries learn of the room that they need serves the later ones. Not for two threads at once.

    Parameters
    ----------
    backend : Backend
        One with kernels.
    options : Options
    resident : Resident, optional
        What a scene keeps here: bodies are then those that were placed in it.

    Attributes
    ----------
    invalid : int or None
        Pairs of the last `collide` with a body without poses, where somebody counted them.
    again : bool
        It is kept from call to call: few pairs are launched as those of the call before.

    Raises
    ------
    PrecisionUnavailableError
        The backend has no kernels in this precision.
    """

    def __init__(self, backend, options, resident=None):
        self.backend, self.options, self.resident = backend, options, resident
        self.kind = backend.kind
        self.run = Launcher(backend, options.precision, options.max_bytes)
        self._tolerances = tolerances(options.precision)
        self._about = {"backend": backend.name, "device": backend.device, "precision": options.precision}
        self.invalid, self.again = None, False
        self._prepared: Any = None  # of a scene, or of the meshes of the call before
        self._meshes: Any = ()
        self._asked: Any = None  # pairs of the call before that were given
        self._any: Any = None  # what is kept for any few pairs
        self._few: Any = None  # for those of the call before, if they were asked about twice running

    def about(self):
        """Backend, device and precision, as ``info`` tells them."""
        return dict(self._about)

    def tree_bytes(self, n):
        """Bytes of the tree over `n` bodies."""
        return BodyTree.bytes_needed(n, self.run.real.itemsize, self.run.raster.itemsize)

    def search(self, bodies, rules, tree=None, most=None, margin=0.0):
        """The pairs that may meet, or come within `margin`, counted; see
        `gpu_collide.pipeline.broad_phase.pairs.search`."""
        everything = self.options.broad_phase == "off"
        placed = self._given(bodies, margin) if self.resident is None else self.resident.place(bodies)
        if self.resident is not None and margin and placed is not None:
            placed = placed | {
                "mesh_bounds_in": self.run.to_device(mesh_bounds(bodies.meshes, margin), self.run.real)
            }
        return broad_phase.search(
            self.run,
            bodies,
            rules,
            everything=everything,
            own=self.options.motion == "body",
            tree=tree,
            most=most,
            placed=placed,
            margin=margin,
        )

    def _given(self, bodies, margin):
        """What the tree reads of bodies whose poses are on the device already; None of others."""
        run = self.run
        placed = take_given(run, bodies) if bodies.on_device else None
        if placed is not None:
            placed["shape_in"] = run.to_device(bodies.shape, np.int32)
            placed["mesh_bounds_in"] = run.to_device(mesh_bounds(bodies.meshes, margin), run.real)
        return placed

    def hold(self, meshes, shape):
        """What a scene of bodies with these shapes keeps on the backend, for engines of this precision."""
        return DeviceScene(self.backend, self.options.precision, meshes, shape)

    def collide(self, bodies, pairs, progress=None, distances=None):
        """`Contacts` of pairs, (p, 2) int32 or `Given`, or of a search, whose blocks are taken one after the
        other; `distances` (p,) float64 of pairs that each have their own (`Distances.EACH`).

        Pairs that a scene asks about are those of an array that nobody can write to.
        """
        if self.kind != "cuda":
            return self._collide(bodies, pairs, progress, distances)
        with self.backend.current():
            return self._collide(bodies, pairs, progress, distances)

    def _collide(self, bodies, pairs, progress, distances):
        run, few, self.invalid = self.run, None, None
        if self.resident is None:
            few, pairs = self._again_for(bodies, pairs)
        elif self.kind != "cuda":  # where all pairs are recorded (`device_batches`)
            few, pairs = self._few_for(bodies, pairs)
        fields = None if few is None else few.collide(bodies, pairs, distances)
        if fields is not None:
            if progress is not None and len(pairs):
                progress(len(pairs), len(pairs))
            return Contacts.sealed(self._info(), **fields)
        stay = self._stays(bodies, pairs)
        if self.resident is None:
            prepared = self._prepare(bodies.meshes)
            run.room.limit(self.options.max_bytes, self.backend.reserved_bytes)
        else:
            prepared = self._placed(bodies)
            self._leave_room()
        if isinstance(pairs, device_batches.Given) and not device_batches.serves(
            self.backend, bodies, prepared.plan.asks_heights
        ):
            pairs = check_pairs(self.backend.to_host(pairs.rows), len(bodies))
        fields, asked = query.collide(run, prepared, bodies, pairs, progress, stay, distances)
        info, self.invalid = self._info(), asked.invalid
        if asked.report is not None:
            info["report"] = asked.report.to_dict()
        return Contacts(**fields, info=info)

    def _stays(self, bodies, pairs):
        """Do the arrays of the result stay on the device?"""
        if self.kind != "cuda" or self.options.results == "host":
            return False
        return self.options.results == "device" or (bodies.on_device and not isinstance(pairs, np.ndarray))

    def _info(self):
        """What results tell of this engine and of its launches since the last one."""
        timings = {"compile": 0.0, **self.run.take_timings()}
        return {**self._about, "tolerances": dict(self._tolerances), "timings": timings}

    def _prepare(self, meshes):
        """What is prepared for these meshes, which are mostly those of the call before."""
        if not self._prepared_for(meshes):
            self._any = None
            self._prepared = query.prepare(self.run, meshes, self.options)
            self._meshes = [weakref.ref(mesh, self._lose) for mesh in meshes]
        elif self._any is not None:
            self._any.let_go()  # what it kept is room for others
        return self._prepared

    def _prepared_for(self, meshes):
        """Is what is prepared for these very meshes?"""
        kept = self._prepared
        same = kept is not None and len(meshes) == len(self._meshes) and kept.plan.limits is plan.LIMITS
        return same and all(map(operator.is_, [ref() for ref in self._meshes], meshes))

    def _lose(self, _):
        """One of the meshes is gone, and with it what was made of it."""
        self._prepared = self._any = None

    def _again_for(self, bodies, pairs):
        """`RecordedBatch` for few pairs, if a call of this kind was before, outside of a scene; and the
        pairs."""
        kept = self._prepared
        given = isinstance(pairs, device_batches.Given)
        if not self.again or kept is None or len(pairs) > AGAIN_PAIRS or given:
            return None, pairs
        if not (self.backend.quick_sequences and kept.plan.may_record and self._prepared_for(bodies.meshes)):
            return None, pairs
        if not isinstance(pairs, np.ndarray):
            pairs = next(iter(pairs.blocks(AGAIN_PAIRS)), np.zeros((0, 2), np.int32))
        if kept.plan.may_share and not kept.plan.records(bodies.shape[pairs]):
            return None, pairs
        if self._any is None:
            left = min(self.options.max_bytes, KEPT_SHARE * AGAIN_BYTES)
            self._any = RecordedBatch(self.run, kept, left=lambda: left)
        return self._any, pairs

    def _placed(self, bodies):
        """What is prepared for a scene's bodies, with their poses placed."""
        if self._prepared is None:
            self._prepared = self.resident.prepare(self.run, bodies, self.options)
        else:
            self.resident.place(bodies)
        return self._prepared

    def _few_for(self, bodies, pairs):
        """`RecordedBatch` for these pairs, if they are worth it, with the poses where it expects them; and
        the pairs."""
        again = pairs is self._asked
        few = self._few if again else None
        if few is None or few is self._any:
            prepared = self._placed(bodies)
        if few is not None:
            return few, pairs
        given = isinstance(pairs, np.ndarray)
        if given:
            self._asked, self._few = pairs, None
        if len(pairs) > MOST_PAIRS or not prepared.plan.may_record:
            return None, pairs
        if given and prepared.plan.may_share and not prepared.plan.records(bodies.shape[pairs]):
            return None, pairs
        first = self._any is None
        if first:
            self._any = self._kept(prepared)
        if first or not (again or self.backend.quick_sequences):
            return None, pairs
        if not given:
            return self._any, next(iter(pairs.blocks(MOST_PAIRS)), np.zeros((0, 2), np.int32))
        if again:
            self._few = self._any
            if len(np.unique(pairs)) < len(bodies) // MOST_PLACED:
                # it binds the poses of these bodies itself
                self._few = self._kept(replace(prepared, placed=None))
        return self._few or self._any, pairs

    def _kept(self, prepared):
        """`RecordedBatch` whose bytes count."""
        left = partial(self.resident.left, self.options.max_bytes)
        few = RecordedBatch(self.run, prepared, left=left)
        self.resident.sets.add(few)
        return few

    def _leave_room(self):
        """Say what room there is beside all that is kept, of which what is kept for few pairs goes if it is
        much."""
        limit = self.options.max_bytes
        if self.resident.set_bytes > limit // KEPT_SHARE:
            for few in self.resident.sets:
                few.let_go()
        left = self.resident.left(limit)
        if left <= 0:
            raise scene_too_large(self.resident.nbytes, limit)
        self.run.room.limit(left, self.backend.reserved_bytes)

    def chain_motions(self, chain, curves):
        """Edges in joint space of a chain of joints."""
        return ChainMotions(self.run, chain, curves)

    def clearance(self, bodies, pairs, asked, progress=None):
        """Fields of `Clearance` beside its pairs, and seconds by stage."""
        if self.resident is None:
            self.run.room.limit(self.options.max_bytes, self.backend.reserved_bytes)
        else:
            self._leave_room()
        found = clearance.clearance(self.run, self.options, bodies, pairs, asked, progress)
        return found, {"compile": 0.0, **self.run.take_timings()}

    def bisection(self, bodies, pairs, samples, iterations):
        """Status, last time apart, time of overlap and tests of each pair, and seconds by stage."""
        found = bisection.bisection(self.run, self.options, bodies, pairs, samples, iterations)
        return *found, {"compile": 0.0, **self.run.take_timings()}
