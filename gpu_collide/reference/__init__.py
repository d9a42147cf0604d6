"""NumPy float64 reference of the pipelines: written for clarity, independent of the kernels.

Every method has a package here with one module per stage, named like the kernel file of the same
stage. The reference is the second opinion that the compiled backends are checked against; it shares
definitions with them (docs/conventions.md), but no algorithm and no code.
"""
