"""The kernels' answers to the queries' verbs; `gpu_collide.reference.engine` has the same ones."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np

from gpu_collide.backends import sources
from gpu_collide.pipeline import bisection, screw
from gpu_collide.pipeline import pairs as broad_phase
from gpu_collide.pipeline.bvh import BodyTree
from gpu_collide.pipeline.few import FewPairs
from gpu_collide.pipeline.resident import Resident, scene_too_large
from gpu_collide.pipeline.run import Run
from gpu_collide.results.contacts import Contacts, sealed

__all__ = ["Pipeline"]


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

    Raises
    ------
    PrecisionUnavailableError
        The backend has no kernels in this precision.
    """

    def __init__(self, backend, options, resident=None):
        self.backend, self.options, self.resident = backend, options, resident
        self.kind = backend.kind
        self.run = Run(backend, options.precision, options.max_bytes)
        self._tolerances = tolerances(options.precision)
        self._asked, self._few = None, None  # pairs of the call before, and what is kept for them

    def about(self):
        """Backend, device and precision, as ``info`` tells them."""
        return {
            "backend": self.backend.name,
            "device": self.backend.device,
            "precision": self.options.precision,
        }

    def tree_bytes(self, n):
        """Bytes of the tree over `n` bodies."""
        return BodyTree.bytes_needed(n, self.run.real.itemsize, self.run.raster.itemsize)

    def search(self, bodies, rules, tree=None, most=None):
        """The pairs that may meet, counted; see `gpu_collide.pipeline.pairs.search`."""
        everything = self.options.broad_phase == "off"
        placed = None if self.resident is None else self.resident.place(bodies)
        return broad_phase.search(
            self.run, bodies, rules, everything=everything, tree=tree, most=most, placed=placed
        )

    def hold(self, meshes, shape):
        """What a scene of bodies with these shapes keeps on the backend, for engines of this precision."""
        return Resident(self.backend, self.options.precision, meshes, shape)

    def collide(self, bodies, pairs, progress=None):
        """`Contacts` of pairs, (p, 2) int32, or of a search, whose blocks are taken one after the other."""
        run, few = self.run, self._kept_for(pairs)
        if few is not None:
            fields, report = few.collide(bodies.start, bodies.end), None
            if progress is not None and len(pairs):
                progress(len(pairs), len(pairs))
            return sealed(fields, self._info())
        if self.resident is None:
            prepared = screw.prepare(run, bodies.meshes, self.options)
        else:
            prepared = self.resident.prepare(run, bodies, self.options)
            self._keep_for(prepared, bodies, pairs)
            run.room.max_bytes = self.options.max_bytes - self.resident.nbytes - self.nbytes
            if run.room.max_bytes <= 0:
                raise scene_too_large(self.resident.nbytes, self.options.max_bytes)
        fields, report = screw.collide(run, self.options, prepared, bodies, pairs, progress)
        info = self._info()
        if report is not None:
            info["report"] = report.to_dict()
        return Contacts(**fields, info=info)

    @property
    def nbytes(self):
        """Bytes that it keeps itself, for the pairs that it was asked about twice."""
        return 0 if self._few is None else self._few.nbytes

    def _info(self):
        """What results tell of this engine and of its launches since the last one."""
        timings = {"compile": 0.0, **self.run.take_timings()}
        return {**self.about(), "tolerances": dict(self._tolerances), "timings": timings}

    def _kept_for(self, pairs):
        """`FewPairs` for these pairs, if there is one."""
        if self._few is None or self._asked is None or not isinstance(pairs, np.ndarray):
            return None
        return self._few if np.array_equal(self._asked, pairs) else None

    def _keep_for(self, prepared, bodies, pairs):
        """Make `FewPairs` for the next call, if this one asks about the same pairs as the last one."""
        if not isinstance(pairs, np.ndarray):
            return
        again = self._asked is not None and np.array_equal(self._asked, pairs)
        self._asked, self._few = pairs, None
        if again and FewPairs.serves(prepared, self.options, pairs):
            alone = replace(prepared, placed=None)  # it binds the poses of each call itself
            self._few = FewPairs(self.run, alone, self.options, bodies.shape, pairs)

    def bisection(self, bodies, pairs, samples, iterations):
        """Status, last time apart, time of overlap and tests of each pair, and seconds by stage."""
        found = bisection.bisection(self.run, bodies, pairs, samples, iterations)
        return *found, {"compile": 0.0, **self.run.take_timings()}
