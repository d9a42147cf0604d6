"""Robots: links and joints, read from URDF; where the links are, and which motions are free of collisions."""
