"""Shapes: meshes, the files they are read from, and their derived data: edges, neighbours, planes."""
