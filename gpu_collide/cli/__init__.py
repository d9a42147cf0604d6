"""The command ``gpu-collide``."""

from gpu_collide.cli.main import main

__all__ = ["main"]
