"""Movers in a still world in NumPy float64, by angles and linear systems where the kernels go by sides."""
