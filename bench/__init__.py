"""Benchmarks of gpu_collide: ``python -m bench --help``."""
