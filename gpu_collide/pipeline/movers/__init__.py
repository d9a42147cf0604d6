"""Movers in a still world: what is launched, and with which buffers."""
