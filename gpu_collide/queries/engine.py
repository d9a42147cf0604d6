"""Who answers a query: the pipeline on a backend with kernels, or the reference. Both have the same verbs.

An engine is made for one `Options` value, which it has as ``options``, and offers

- ``about()``: backend, device and precision, as ``info`` tells them;
- ``tree_bytes(n)``: bytes of a tree over `n` bodies;
- ``hold(meshes, shape)``: what a scene keeps where it works (a `DeviceScene`), or None;
- ``search(bodies, rules, tree=None, most=None)``: the pairs that may meet, counted, with ``total``,
  ``starts``, ``complete``, ``likely``, ``tree``, ``report`` and ``blocks``;
- ``collide(bodies, pairs, progress=None)``: `Contacts` of pairs, or of such a search;
- ``clearance(bodies, pairs, asked, progress=None)``: fields of `Clearance` beside its pairs, and the
seconds of
  each stage;
- ``bisection(bodies, pairs, samples, iterations)``: `Status`, last time apart, time of overlap and number of
  tests of each pair, and the seconds of each stage.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

    from gpu_collide._options import Options

__all__ = ["engine_on"]


def engine_on(backend: Any, options: Options, resident: Any = None) -> Any:
    """The engine for `options` on `backend`, each imported when it is used; of a scene, if `resident` is what
    it keeps there."""
    if backend.kind == "reference":
        from gpu_collide.reference.engine import Reference

        return Reference(options)
    from gpu_collide.pipeline.engine import Pipeline

    return Pipeline(backend, options, resident)
