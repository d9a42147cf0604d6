"""The reference's answers to the queries' verbs; `gpu_collide.pipeline.engine` has the same ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gpu_collide.reference.bisection import bisection_reference
from gpu_collide.reference.broad_phase import ReferenceSearch
from gpu_collide.reference.clearance import clearance_reference
from gpu_collide.reference.narrow_phase import collide_reference
from gpu_collide.reference.robots import ChainMotions

__all__ = ["Reference"]


class Reference:
    """NumPy in float64, whatever the precision of `options`; it does not look at their ``max_bytes``.

    Parameters
    ----------
    options : Options
    """

    kind = "reference"
    invalid = None

    def __init__(self, options):
        self.options = options
        self.resident = None

    def about(self):
        """Backend, device and precision, as ``info`` tells them."""
        return {"backend": "reference", "device": "NumPy", "precision": "double"}

    def tree_bytes(self, n):
        """Bytes of the tree over `n` bodies: there is none."""
        return 0

    def search(self, bodies, rules, tree=None, most=None, margin=0.0):
        """The pairs that may meet, or come within `margin`, counted; all of them, whatever `most` is, without
        any tree."""
        return ReferenceSearch(bodies, rules, self.options.broad_phase, self.options.motion, margin)

    def hold(self, meshes, shape):
        """What a scene of bodies with these shapes keeps: nothing."""
        return None

    def collide(self, bodies, pairs, progress=None, distances=None):
        """`Contacts` of pairs, (p, 2) int32, or of a search; `distances` (p,) of pairs that each have their
        own."""
        if not isinstance(pairs, np.ndarray):
            blocks = list(pairs.blocks(1 << 20))
            pairs = np.concatenate(blocks) if blocks else np.zeros((0, 2), np.int32)
        found = collide_reference(bodies, pairs, self.options, progress, distances)
        return replace(found, pairs=pairs, info={**self.about(), **found.info})

    def chain_motions(self, chain, curves):
        """Edges in joint space of a chain of joints."""
        return ChainMotions(chain, curves)

    def clearance(self, bodies, pairs, asked, progress=None):
        """Fields of `Clearance` beside its pairs; no seconds are taken."""
        return clearance_reference(bodies, pairs, asked, self.options.motion, progress), {}

    def bisection(self, bodies, pairs, samples, iterations):
        """Status, last time apart, time of overlap and tests of each pair; no seconds are taken."""
        return *bisection_reference(bodies, pairs, samples, iterations, self.options.motion), {}
