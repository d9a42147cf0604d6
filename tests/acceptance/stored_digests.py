"""Digests of inputs and results, and inputs that are the same on every machine."""

import hashlib

import numpy as np

import gpu_collide as gc

__all__ = ["by_stored_name", "digest", "level", "of_inputs", "rounded", "steady"]


def rounded(x):
    """Numbers, or those of poses, with 20 bits after the point, so that the last bit of a machine's sine does
    not matter."""
    if isinstance(x, gc.Poses):
        return gc.Poses.from_quat_wxyz(rounded(x.position), rounded(x.quat_wxyz))
    return _cut(np.asarray(x), 20)


def _cut(x, bits):
    """Numbers with so many bits after the point; what is next to nothing on either side becomes a zero."""
    cut = np.round(x * 2.0**bits) / 2.0**bits
    return np.where((cut == 0) & (x != 0), 0.0, cut)


def level(mesh):
    """The mesh with 36 bits after the point: far fewer than its faces may be uneven by, or its edges bent."""
    corners = _cut(mesh.vertices, 36)
    if (corners == mesh.vertices).all():
        return mesh
    faces = np.split(mesh.face_vertices, mesh.face_start[1:-1])
    return gc.Mesh(corners, [face.tolist() for face in faces], two_sided=mesh.two_sided)


def steady(bodies):
    meshes = [level(mesh) for mesh in bodies.meshes]
    return gc.Bodies(meshes, bodies.shape, rounded(bodies.start), rounded(bodies.end))


def digest(*arrays):
    """SHA-256 of dtypes, shapes and bytes, shortened."""
    sha = hashlib.sha256()
    for array in map(np.asarray, arrays):
        sha.update(f"{array.dtype.str}{array.shape}".encode())
        sha.update(np.ascontiguousarray(array).tobytes())
    return sha.hexdigest()[:24]


def by_stored_name(result, values):
    """Arrays of a result in the order in which its digest was stored."""
    old = {new: name for name, new in result._format.renamed.items()}
    return [values[name] for name in sorted(values, key=lambda name: old.get(name, name))]


def of_inputs(bodies, keywords):
    poses = [x for p in (bodies.start, bodies.end) for x in (p.position, p.quat_wxyz)]
    meshes = [x for m in bodies.meshes for x in (m.vertices, m.face_start, m.face_vertices)]
    return digest(*poses, bodies.shape, *meshes, *(v for _, v in sorted(keywords.items())))
