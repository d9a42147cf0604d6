"""The broad phase in NumPy float64: every pair is tested, by the rules of the kernels but none of their
code.

The stages are those of ``kernels/broad_phase/``. Stages b02 and b03 have no part in the answer here; they
are what
the kernels' order and boxes are compared with.
"""

from gpu_collide.reference.broad_phase.b04_pairs import ReferenceSearch

__all__ = ["ReferenceSearch"]
