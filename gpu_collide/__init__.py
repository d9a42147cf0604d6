"""gpu_collide: every contact between many moving rigid bodies during a step."""

from . import shapes
from .backends import devices
from .collide import collide
from .contacts import Contacts, Kind, Status
from .io import load_mesh
from .mesh import Mesh
from .poses import Bodies, Poses

__version__ = "0.1.0"

__all__ = [
    "Bodies", "Contacts", "Kind", "Mesh", "Poses", "Status", "collide", "devices", "load_mesh",
    "screw_motion", "shapes",
]  # fmt: skip


def __getattr__(name):
    # the reference is only loaded when asked for
    if name == "screw_motion":
        from .reference.screw import screw_motion

        return screw_motion
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
