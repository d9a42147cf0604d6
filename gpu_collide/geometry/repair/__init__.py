"""Repair of corners, polygons and coplanar faces."""
