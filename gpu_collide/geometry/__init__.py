"""Shapes: meshes, what they are read from, and what is known of them: edges, neighbours, planes."""
