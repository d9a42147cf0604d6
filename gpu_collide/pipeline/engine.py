"""The kernels' answers to the queries' verbs; `gpu_collide.reference.engine` has the same ones."""

from __future__ import annotations

from gpu_collide.backends import sources
from gpu_collide.pipeline import bisection, pairs, screw
from gpu_collide.pipeline.bvh import BodyTree

__all__ = ["Pipeline"]


class Pipeline:
    """Launches on one backend, for one `Options` value.

    Parameters
    ----------
    backend : Backend
        One with kernels.
    options : Options

    Raises
    ------
    PrecisionUnavailableError, KernelCompileError
        The backend has no kernels in this precision.
    """

    def __init__(self, backend, options):
        self.backend, self.options = backend, options
        self.kind = backend.kind
        backend.module(options.precision)

    def about(self):
        """Backend, device and precision, as ``info`` tells them."""
        return {
            "backend": self.backend.name,
            "device": self.backend.device,
            "precision": self.options.precision,
        }

    def tree_bytes(self, n):
        """Bytes of the tree over `n` bodies."""
        real, raster = (dtype.itemsize for dtype in sources.dtypes(self.options.precision))
        return BodyTree.bytes_needed(n, real, raster)

    def search(self, bodies, rules, tree=None, most=None):
        """The pairs that may meet, counted; see `gpu_collide.pipeline.pairs.search`."""
        return pairs.search(bodies, rules, self.backend, self.options, tree=tree, most=most)

    def collide(self, bodies, pairs, progress=None):
        """`Contacts` of pairs, (p, 2) int32, or of a search, whose blocks are taken one after the other."""
        return screw.collide(bodies, pairs, self.backend, self.options, self.about(), progress)

    def bisection(self, bodies, pairs, samples, iterations):
        """Status, last time apart, time of overlap and tests of each pair, and seconds by stage."""
        return bisection.run(bodies, pairs, samples, iterations, self.backend, self.options)
