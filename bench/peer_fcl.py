"""python-fcl on the same pairs: screw motion, conservative advancement, convex parts, first contact.

What it takes to get right answers from it:

- Convex parts. On triangle meshes conservative advancement misses most hits, so every shape is split by hand
  into prisms (`prisms_of_box`, `prisms_of_mirrored`, `prisms_of_ring`) and all pairs of parts are tried.
- The relative motion. ``CCDM_SCREW`` moves each body by its own screw, which is the true relative screw only
  when the other body is fixed: so A stays at the identity and B gets the relative poses.
- The faster of its two GJK solvers (``GST_INDEP``, by about 15 %) and the primitive ``Box`` for a box.

Two rates are of interest: the plain loop over all pairs of parts, and the same loop after a cull that
python-fcl does not have but that anybody would write around it (`cull=True`): parts whose swept bounding
spheres never meet are skipped, by one vectorised NumPy test over the whole batch.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from bench.relative import rotate


@dataclass(frozen=True)
class Part:
    """A convex part in body coordinates: a prism between two corresponding rings, (k, 3) each."""

    low: np.ndarray
    high: np.ndarray

    @property
    def vertices(self):
        return np.concatenate([self.low, self.high])

    @property
    def faces(self):
        """Loops of indices into `vertices`, counter-clockwise from outside."""
        k = len(self.low)
        sides = [[i, (i + 1) % k, k + (i + 1) % k, k + i] for i in range(k)]
        loops = [list(range(k))[::-1], list(range(k, 2 * k)), *sides]
        # The rings may run either way round: turn all loops if the first points inwards.
        corners = self.vertices[loops[0]]
        normal = np.cross(corners[1] - corners[0], corners[2] - corners[1])
        inwards = normal @ (corners[0] - self.vertices.mean(axis=0)) < 0
        return [loop[::-1] for loop in loops] if inwards else loops

    @property
    def is_box(self):
        lengths = np.ptp(self.vertices, axis=0)
        on_corner = np.isclose(np.abs(self.vertices - self.centre), 0.5 * lengths)
        return len(self.low) == 4 and bool(on_corner.all())

    @property
    def centre(self):
        return 0.5 * (self.vertices.min(axis=0) + self.vertices.max(axis=0))

    @property
    def radius(self):
        return float(np.linalg.norm(self.vertices - self.centre, axis=1).max())


def prisms_of_box(mesh) -> list[Part]:
    """A box is one prism between the rings of its two faces across z."""
    v = np.asarray(mesh.vertices)
    rings = []
    for z in (v[:, 2].min(), v[:, 2].max()):
        ring = v[np.isclose(v[:, 2], z)]
        middle = ring.mean(axis=0)
        rings.append(ring[np.argsort(np.arctan2(*(ring - middle)[:, 1::-1].T))])
    return [Part(*rings)]


def prisms_of_mirrored(mesh) -> list[Part]:
    """A shape that is its own mirror image (the car): one prism from each face of one side to its image."""
    v = np.asarray(mesh.vertices)
    start, corner = np.asarray(mesh.face_start), np.asarray(mesh.face_vertices)
    loops = [corner[start[f] : start[f + 1]] for f in range(len(start) - 1)]
    places = {tuple(row) for row in np.round(v, 9).tolist()}
    for axis in range(3):
        image = v.copy()
        image[:, axis] *= -1.0
        if (v[:, axis] == 0.0).any() or {tuple(row) for row in np.round(image, 9).tolist()} != places:
            continue
        side = [loop for loop in loops if (v[loop, axis] < 0.0).all()]
        # A single face on the side is the end of a convex body: look for the plane across the profile.
        if len(side) > 1:
            return [Part(v[loop], image[loop]) for loop in side]
    raise ValueError("prisms_of_mirrored: expected a shape that is symmetric across a coordinate plane")


def prisms_of_ring(mesh) -> list[Part]:
    """A torus: one prism between every two neighbouring rings of vertices around its axis of symmetry."""
    v = np.asarray(mesh.vertices) - np.asarray(mesh.center)
    axis = int(np.argmin(np.ptp(v, axis=0)))
    i, j = (k for k in range(3) if k != axis)
    azimuth = np.round(np.arctan2(v[:, j], v[:, i]) % (2.0 * math.pi), 9) % round(2.0 * math.pi, 9)
    rings = []
    for a in np.unique(azimuth):
        ring = np.flatnonzero(azimuth == a)
        out = np.hypot(v[ring, i], v[ring, j])
        minor = np.arctan2(v[ring, axis], out - 0.5 * (out.min() + out.max()))
        rings.append(np.asarray(mesh.vertices)[ring[np.argsort(np.round(minor, 9))]])
    if len({len(ring) for ring in rings}) != 1:
        raise ValueError(f"prisms_of_ring: rings of unequal size {sorted({len(r) for r in rings})}")
    return [Part(rings[k - 1], rings[k]) for k in range(len(rings))]


class FclPeer:
    """Times of first contact by python-fcl for the pairs of two shapes given as convex parts."""

    def __init__(self, parts_a: list[Part], parts_b: list[Part], *, cull: bool = False):
        import fcl

        self._fcl = fcl
        self._a, self._b = parts_a, parts_b
        self._geometry_a = [self._geometry(part) for part in parts_a]
        self._geometry_b = [self._geometry(part) for part in parts_b]
        self.cull = cull
        self.version = getattr(fcl, "__version__", None) or fcl.version.__version__

    def _geometry(self, part):
        """(shape, offset of its own frame in the body): a Box is centred in its frame, a Convex is not."""
        if part.is_box:
            return self._fcl.Box(*np.ptp(part.vertices, axis=0)), part.centre
        flat = [x for loop in part.faces for x in (len(loop), *loop)]
        convex = self._fcl.Convex(part.vertices.copy(), len(part.faces), np.array(flat, np.int32))
        return convex, np.zeros(3)

    def first_contacts(self, position0, quat0, position1, quat1) -> np.ndarray:
        """Time of first contact (n,), inf where there is none, for B's poses (n, 3), (n, 4) in A's frame."""
        fcl = self._fcl
        request = fcl.ContinuousCollisionRequest(
            ccd_motion_type=fcl.CCDMotionType.CCDM_SCREW,
            gjk_solver_type=fcl.GJKSolverType.GST_INDEP,
            ccd_solver_type=fcl.CCDSolverType.CCDC_CONSERVATIVE_ADVANCEMENT,
        )
        n = len(position0)
        starts, ends = [], []  # per part of B: positions of the part's own frame
        for _, offset in self._geometry_b:
            starts.append(position0 + rotate(quat0, offset) if offset.any() else position0)
            ends.append(position1 + rotate(quat1, offset) if offset.any() else position1)
        fixed = [fcl.Transform(offset) for _, offset in self._geometry_a]
        objects_a = [fcl.CollisionObject(g, t) for (g, _), t in zip(self._geometry_a, fixed, strict=True)]
        objects_b = [fcl.CollisionObject(g, fcl.Transform()) for g, _ in self._geometry_b]
        todo = self._near(position0, quat0, position1, quat1) if self.cull else None
        toi = np.full(n, np.inf)
        for k in range(n):
            first = np.inf
            for j, object_b in enumerate(objects_b):
                if todo is not None and not todo[k, j].any():
                    continue
                object_b.setTransform(fcl.Transform(quat0[k], starts[j][k]))
                end = fcl.Transform(quat1[k], ends[j][k])
                for i, object_a in enumerate(objects_a):
                    if todo is not None and not todo[k, j, i]:
                        continue
                    result = fcl.ContinuousCollisionResult()
                    fcl.continuousCollide(object_a, fixed[i], object_b, end, request, result)
                    if result.is_collide and result.time_of_contact < first:
                        first = result.time_of_contact
            toi[k] = first
        return toi

    def _near(self, position0, quat0, position1, quat1):
        """(n, parts of B, parts of A): the bounding spheres come together somewhere on the way.

        The path of a part's centre stays within half the chord times tan(turn / 4) of its chord (the height
        of a circular arc over its chord; the part along the axis adds none).
        """
        dot = np.abs((quat0 * quat1).sum(axis=1)).clip(0.0, 1.0)
        bulge = 0.5 * np.tan(0.5 * np.arccos(dot))  # tan(turn / 4) / 2
        centres_a = np.array([part.centre for part in self._a])
        radii_a = np.array([part.radius for part in self._a])
        near = np.empty((len(position0), len(self._b), len(self._a)), bool)
        for j, part in enumerate(self._b):
            p = position0 + rotate(quat0, part.centre)
            chord = position1 + rotate(quat1, part.centre) - p
            length = np.linalg.norm(chord, axis=1)
            to = centres_a - p[:, None]  # (n, parts of A, 3)
            along = (to * chord[:, None]).sum(axis=2) / np.maximum(length**2, 1e-300)[:, None]
            gap = np.linalg.norm(to - along.clip(0.0, 1.0)[:, :, None] * chord[:, None], axis=2)
            near[:, j] = gap <= radii_a + part.radius + (bulge * length)[:, None]
        return near
