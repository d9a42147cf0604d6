"""gpu_collide: every contact between many moving rigid bodies during a step."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from gpu_collide import (
    _interrupt,  # noqa: F401, I001  first: Ctrl-C while the command imports the rest
    view,
)
from gpu_collide._options import Tuning
from gpu_collide._version import __version__ as __version__
from gpu_collide.backends import devices
from gpu_collide.bodies.bodies import Bodies
from gpu_collide.bodies.compound import Compound
from gpu_collide.bodies.motion import chord_error
from gpu_collide.bodies.motion_difference import motion_difference
from gpu_collide.bodies.poses import Poses
from gpu_collide.geometry import shapes
from gpu_collide.geometry.io.files import load_mesh
from gpu_collide.geometry.mesh.mesh import Mesh
from gpu_collide.queries import bisection as baselines
from gpu_collide.queries import pluecker, sweep
from gpu_collide.queries.check_motions import check_motions
from gpu_collide.queries.clearance import clearance
from gpu_collide.queries.collide import collide
from gpu_collide.queries.contacts_at import contacts_at
from gpu_collide.queries.manifolds import manifolds_of as _  # noqa: F401  Clearance.manifolds
from gpu_collide.queries.pairs import BroadPhase, find_pairs
from gpu_collide.queries.scene import Scene
from gpu_collide.queries.trajectories import collide_trajectories
from gpu_collide.recordings import Recording, load_recording
from gpu_collide.recordings.events import events
from gpu_collide.recordings.together import events_of
from gpu_collide.results.clearance import Clearance
from gpu_collide.results.contacts import Contacts, Kind, Status
from gpu_collide.results.encounters import Encounters
from gpu_collide.results.enums import EventKind, Side
from gpu_collide.results.events import TrafficEvents
from gpu_collide.results.manifolds import Manifolds, PointMatch
from gpu_collide.results.motion_checks import MotionChecks
from gpu_collide.results.near_misses import NearMisses
from gpu_collide.results.report import FilterReport
from gpu_collide.results.trajectory_contacts import TrajectoryContacts
from gpu_collide.robots.joints import Joint
from gpu_collide.robots.robot import Robot

if TYPE_CHECKING:
    from typing import Any

    from gpu_collide import batch

__all__ = [
    "Bodies", "BroadPhase", "Clearance", "Compound", "Contacts", "Encounters", "EventKind", "FilterReport",
    "Joint", "Kind", "Manifolds", "Mesh", "MotionChecks", "NearMisses", "PointMatch", "Poses", "Recording",
    "Robot", "Scene", "Side", "Status",
    "TrafficEvents", "TrajectoryContacts", "Tuning", "baselines", "batch", "check_motions", "chord_error",
    "clearance", "collide", "collide_trajectories", "contacts_at", "devices", "events", "events_of",
    "find_pairs", "load_mesh", "load_recording", "motion_difference", "pluecker",
    "screw_motion", "shapes", "sweep", "view",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    # what few programs ask for is only loaded when it is asked for
    if name == "batch":
        return importlib.import_module("gpu_collide.batch")
    if name == "screw_motion":
        from gpu_collide.reference.narrow_phase import screw_motion

        return screw_motion
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
