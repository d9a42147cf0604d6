"""gpu_collide: every contact between many moving rigid bodies during a step."""

from . import _command  # noqa: F401, I001  first: Ctrl-C while the command imports the rest
from . import baselines, shapes
from .backends import devices
from .broad_phase import BroadPhase, find_pairs
from .collide import collide
from .contacts import Contacts, Kind, Status
from .io import load_mesh
from .mesh import Mesh
from .poses import Bodies, Poses
from .recordings import Recording, load_recording
from .report import FilterReport
from .trajectories import collide_trajectories
from .trajectory_contacts import TrajectoryContacts

__version__ = "0.1.0"

__all__ = [
    "Bodies", "BroadPhase", "Contacts", "FilterReport", "Kind", "Mesh", "Poses", "Recording", "Status",
    "TrajectoryContacts", "baselines", "collide", "collide_trajectories", "devices", "find_pairs",
    "load_mesh", "load_recording", "screw_motion", "shapes",
]  # fmt: skip


def __getattr__(name):
    # the reference is only loaded when asked for
    if name == "screw_motion":
        from .reference.screw import screw_motion

        return screw_motion
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
