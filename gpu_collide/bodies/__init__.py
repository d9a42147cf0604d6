"""Poses and bodies, and which pairs of bodies may meet at all."""
