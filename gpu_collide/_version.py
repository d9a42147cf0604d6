"""The version of the package, as ``pyproject.toml`` says it."""

__version__ = "0.1.0"
