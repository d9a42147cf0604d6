"""Casts and characters: what is launched, and with which buffers."""
