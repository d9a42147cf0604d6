"""gpu_collide: every contact between many moving rigid bodies during a step."""

from . import shapes
from .contacts import Contacts, Kind, Status
from .io import load_mesh
from .mesh import Mesh
from .poses import Bodies, Poses

__all__ = ["Bodies", "Contacts", "Kind", "Mesh", "Poses", "Status", "load_mesh", "shapes"]
