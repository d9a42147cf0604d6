"""Corners, polygons and coplanar faces put in order."""
