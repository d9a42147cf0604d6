"""Trees over bodies, and the pairs of bodies that may meet."""
