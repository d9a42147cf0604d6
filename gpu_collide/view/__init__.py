"""Pictures of a pair, of its collision screen and of a track (matplotlib)."""

from gpu_collide.view.pair import plot_contacts, plot_screen, save

__all__ = ["plot_contacts", "plot_screen", "save"]
