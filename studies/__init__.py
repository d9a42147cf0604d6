"""Accuracy over what it costs: one study, one file, each with ``NAME``, ``HELP`` and ``run(settings)``.

`python -m studies resolution` and `python -m studies bisection`; they take the options of `python -m bench`.
"""

import importlib

#: In the order of ``python -m studies all``.
NAMES = ("resolution", "bisection")


def load(name: str):
    """The module of a study; imported when asked for, since its figure needs matplotlib."""
    return importlib.import_module(f"studies.{name}")
