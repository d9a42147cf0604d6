"""Keywords of a query, of which those of `gpu_collide.Tuning` become one value."""

from dataclasses import fields

import gpu_collide as gc

NAMES = {field.name for field in fields(gc.Tuning)}


def keywords(**given):
    """The same, with ``tuning`` in the place of what belongs to it."""
    parts = {name: value for name, value in given.items() if name in NAMES}
    rest = {name: value for name, value in given.items() if name not in NAMES}
    return rest | {"tuning": gc.Tuning(**parts)} if parts else rest
