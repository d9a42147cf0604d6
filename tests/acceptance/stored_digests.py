"""Digests of inputs and results, and inputs that are the same on every machine."""

import hashlib

import numpy as np

import gpu_collide as gc

__all__ = ["digest", "of_inputs", "rounded", "steady"]


def rounded(x):
    """Numbers, or those of poses, with 20 bits after the point, so that the last bit of a machine's sine does
    not matter."""
    if isinstance(x, gc.Poses):
        return gc.Poses.from_quat_wxyz(rounded(x.position), rounded(x.quat_wxyz))
    return np.round(x * 2.0**20) / 2.0**20


def steady(bodies):
    return gc.Bodies(bodies.meshes, bodies.shape, rounded(bodies.start), rounded(bodies.end))


def digest(*arrays):
    """SHA-256 of dtypes, shapes and bytes, shortened."""
    sha = hashlib.sha256()
    for array in map(np.asarray, arrays):
        sha.update(f"{array.dtype.str}{array.shape}".encode())
        sha.update(np.ascontiguousarray(array).tobytes())
    return sha.hexdigest()[:24]


def of_inputs(bodies, keywords):
    poses = [x for p in (bodies.start, bodies.end) for x in (p.position, p.quat_wxyz)]
    meshes = [x for m in bodies.meshes for x in (m.vertices, m.face_start, m.face_vertices)]
    return digest(*poses, bodies.shape, *meshes, *(v for _, v in sorted(keywords.items())))
