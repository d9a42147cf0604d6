"""The command ``gpu-collide``."""

from .main import main

__all__ = ["main"]
