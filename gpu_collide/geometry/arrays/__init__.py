"""The arrays of a mesh and what is derived from them: edges, planes, names of parts, repairs."""
