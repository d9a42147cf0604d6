"""Filter 2: do the meshes' own boxes meet during the step?

At one moment two boxes are apart by at least the widest gap along the normals of their faces and of pairs of
their edges. No point of B's box is faster than its fastest corner, so a gap also settles the times around it.
Source: Blow, "bounding box safety"; Gottschalk, Lin and Manocha, "OBB-Tree".
"""

import itertools

import numpy as np

from gpu_collide.reference.filters.f01_spheres import PAD, speed_of, within

_CORNERS = np.array(list(itertools.product((-1.0, 1.0), repeat=3)))


def may_meet(screw, mesh_a, mesh_b):
    """False if the boxes of the two `Mesh`, along the axes of their own coordinates, stay apart."""
    a, b = screw.from_a(np.asarray(mesh_a.center)), screw.from_b(np.asarray(mesh_b.center))
    sides_a = screw.direction_from_a(np.diag(np.abs(mesh_a.vertices - mesh_a.center).max(axis=0)))
    sides_b = screw.direction_from_b(np.diag(np.abs(mesh_b.vertices - mesh_b.center).max(axis=0)))

    def gap(s):
        """Widest gap (m,) at the times (m,)."""
        turned = np.stack([screw.turn(side, s) for side in sides_b], axis=1)
        still = np.broadcast_to(sides_a, turned.shape)
        both = np.concatenate([still, turned], axis=1)  # (m, 6, 3)
        axes = [np.cross(both[:, i], both[:, j]) for i, j in itertools.combinations(range(6), 2)]
        normals = np.stack(axes, axis=1)
        length = np.linalg.norm(normals, axis=-1, keepdims=True)
        normals = normals / np.where(length > 1e-12 * screw.size**2, length, np.inf)
        apart = np.abs(np.einsum("mnk,mk->mn", normals, screw.flow(b, s) - a))
        return (apart - np.abs(np.einsum("mnk,mjk->mnj", normals, both)).sum(axis=-1)).max(axis=-1)

    return within(screw, gap, speed_of(screw, b + _CORNERS @ sides_b), PAD * screw.size)
