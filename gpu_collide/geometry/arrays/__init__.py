"""The arrays of a mesh and what follows from them: edges, planes, names of parts, what was repaired."""
