"""The import of arrays on a device, in NumPy float64 by other means than the kernels.

The host has `gpu_collide.bodies.Poses` and `gpu_collide._validate.check_pairs` for the same.
"""

__all__: list[str] = []
