"""Recorded trajectories from files, tables and arrays: load one, then query its contacts."""

from gpu_collide.recordings.files import load_recording
from gpu_collide.recordings.recording import Recording

__all__ = ["Recording", "load_recording"]
