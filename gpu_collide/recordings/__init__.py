"""Recorded trajectories from files: load one, then query its contacts."""

from gpu_collide.recordings.recording import Recording, load_recording

__all__ = ["Recording", "load_recording"]
