"""NVIDIA Warp on the same work, in single precision; on the GPU if there is one and `cuda` was asked for.

Warp has meshes, and queries of them by rays and points. Timed are kernels as one writes them with these:

- `WarpTrack`: rays are a query of its own. A sphere goes as far as the nearest point of the mesh lets it,
  again and again.
- `WarpPoses`: pairs of bodies at poses along their relative screw, equally spaced in time: the way simulators
  on GPUs look at a step, but given the right motion. At each pose at which the bounding spheres meet, the
  edges of each body are rays among the faces of the other. The first pose with a hit is the answer.

Faces are seen from both sides. There is no future import here: Warp reads annotations of kernels as values.
"""

import numpy as np

_ROUNDS = 64  # that a sphere goes at most
_NEAR = 1e-4  # metres at which it has arrived
_STRAIGHT = (
    1e-6  # sine of half a turn below which the motion counts as straight: 1e-6 radii off, single's own error
)


def device_for(backend: str) -> str:
    """Warp's name of the device to use beside our `backend`."""
    wp = _warp()
    return "cuda:0" if backend == "cuda" and wp.get_cuda_device_count() else "cpu"


def _warp():
    import warp as wp

    wp.config.log_level = wp.LOG_ERROR
    wp.init()
    return wp


def _mesh(wp, vertices, triangles):
    return wp.Mesh(
        points=wp.array(np.asarray(vertices, np.float32), dtype=wp.vec3),
        indices=wp.array(np.asarray(triangles, np.int32).reshape(-1), dtype=wp.int32),
    )


class WarpTrack:
    """A still mesh of triangles."""

    def __init__(self, vertices, faces, device: str = "cpu"):
        self._wp, self.device = _warp(), device
        with self._wp.ScopedDevice(device):
            self._mesh = _mesh(self._wp, vertices, faces)
        self._march, self._trace = _marching(self._wp), _tracing(self._wp)

    def first_hits(self, start, way, radius) -> np.ndarray:
        """Share of each way (n, 3) that is free for a sphere, or for a ray if `radius` is 0; (n,)."""
        wp = self._wp
        with wp.ScopedDevice(self.device):
            starts = wp.array(np.asarray(start, np.float32), dtype=wp.vec3)
            ways = wp.array(np.asarray(way, np.float32), dtype=wp.vec3)
            free = wp.empty(len(start), dtype=wp.float32)
            more = [float(radius), _NEAR, _ROUNDS] if radius else []
            kernel = self._march if radius else self._trace
            wp.launch(kernel, dim=len(start), inputs=[self._mesh.id, starts, ways, *more, free])
            return free.numpy()


class WarpPoses:
    """Two bodies of which many pairs move, each from one pose of B in A's frame to another."""

    def __init__(self, mesh_a, mesh_b, device: str = "cpu"):
        self._wp, self.device = _warp(), device
        with self._wp.ScopedDevice(device):
            self._a, self._b = (_Body(self._wp, mesh) for mesh in (mesh_a, mesh_b))
        self._kernel = _sampling(self._wp)

    def put(self, position0, quat0, position1, quat1):
        """Poses of B in A's frame, (n, 3) and (n, 4) w x y z, as arrays on the device."""
        wp, turn = self._wp, [1, 2, 3, 0]  # Warp has w last
        kinds = (
            (position0, wp.vec3),
            (quat0[:, turn], wp.quat),
            (position1, wp.vec3),
            (quat1[:, turn], wp.quat),
        )
        with wp.ScopedDevice(self.device):
            return [wp.array(np.ascontiguousarray(x, np.float32), dtype=kind) for x, kind in kinds]

    def launch(self, placed, samples: int):
        """Look at the poses of times 1/samples, 2/samples to 1: what `first_contacts` has, on the device."""
        wp, a, b = self._wp, self._a, self._b
        with wp.ScopedDevice(self.device):
            times = wp.empty(len(placed[0]), dtype=wp.float32)
            bodies = [
                x
                for body in (a, b)
                for x in (body.mesh.id, body.vertices, body.edges, body.centre, body.radius)
            ]
            wp.launch(self._kernel, dim=len(placed[0]), inputs=[*bodies, *placed, samples, times])
            wp.synchronize_device(self.device)
            return times

    def first_contacts(self, position0, quat0, position1, quat1, samples: int) -> np.ndarray:
        """Time of the first pose at which the surfaces cross, (n,); inf if there is none."""
        return self.launch(self.put(position0, quat0, position1, quat1), samples).numpy().astype(float)


class _Body:
    """A mesh for rays, its edges as pairs of vertices, and a sphere around it."""

    def __init__(self, wp, mesh):
        vertices = np.asarray(mesh.vertices)
        start, corner = np.asarray(mesh.face_start), np.asarray(mesh.face_vertices)
        loops = [corner[start[f] : start[f + 1]] for f in range(len(start) - 1)]
        fans = [(loop[0], loop[k], loop[k + 1]) for loop in loops for k in range(1, len(loop) - 1)]
        edges = {tuple(sorted(side)) for loop in loops for side in zip(loop, np.roll(loop, -1), strict=True)}
        middle = (vertices.min(axis=0) + vertices.max(axis=0)) / 2
        self.mesh = _mesh(wp, vertices, fans)
        self.vertices = wp.array(vertices.astype(np.float32), dtype=wp.vec3)
        self.edges = wp.array(np.array(sorted(edges), np.int32), dtype=wp.vec2i)
        self.centre = wp.vec3(*map(float, middle))
        self.radius = float(np.linalg.norm(vertices - middle, axis=1).max())


def _tracing(wp):
    def trace(
        mesh: wp.uint64,
        start: wp.array(dtype=wp.vec3),
        way: wp.array(dtype=wp.vec3),
        free: wp.array(dtype=float),
    ):
        i = wp.tid()
        length = wp.length(way[i])
        found = wp.mesh_query_ray(mesh, start[i], way[i] / length, length)
        free[i] = wp.where(found.result, found.t / length, 1.0)

    return wp.kernel(trace)


def _marching(wp):
    def march(
        mesh: wp.uint64, start: wp.array(dtype=wp.vec3), way: wp.array(dtype=wp.vec3), radius: float,
        near: float, rounds: int, free: wp.array(dtype=float),
    ):  # fmt: skip
        i = wp.tid()
        length = wp.length(way[i])
        at = float(0.0)  # noqa: UP018  # a variable, for Warp
        for _ in range(rounds):
            place = start[i] + way[i] * (at / length)
            found = wp.mesh_query_point_no_sign(mesh, place, length - at + radius)
            if not found.result:
                at = length
                break
            gap = wp.length(wp.mesh_eval_position(mesh, found.face, found.u, found.v) - place) - radius
            if gap < near:
                break
            at = at + gap
            if at >= length:
                break
        free[i] = wp.min(at / length, 1.0)

    return wp.kernel(march)


def _sampling(wp):
    straight = wp.constant(_STRAIGHT)

    @wp.func
    def crosses(
        mesh: wp.uint64, centre: wp.vec3, radius: float, vertices: wp.array(dtype=wp.vec3),
        edges: wp.array(dtype=wp.vec2i), position: wp.vec3, turn: wp.quat,
    ):  # fmt: skip
        """Does an edge of the body at this pose go through a face of `mesh`?"""
        for e in range(edges.shape[0]):
            start = wp.quat_rotate(turn, vertices[edges[e][0]]) + position
            way = wp.quat_rotate(turn, vertices[edges[e][1]]) + position - start
            length = wp.length(way)
            along = wp.clamp(wp.dot(centre - start, way) / (length * length), 0.0, 1.0)
            if wp.length(start + along * way - centre) <= radius:
                if wp.mesh_query_ray(mesh, start, way / length, length).result:
                    return True
        return False

    def sample(
        mesh_a: wp.uint64, vertices_a: wp.array(dtype=wp.vec3), edges_a: wp.array(dtype=wp.vec2i),
        centre_a: wp.vec3, radius_a: float,
        mesh_b: wp.uint64, vertices_b: wp.array(dtype=wp.vec3), edges_b: wp.array(dtype=wp.vec2i),
        centre_b: wp.vec3, radius_b: float,
        position0: wp.array(dtype=wp.vec3), quat0: wp.array(dtype=wp.quat),
        position1: wp.array(dtype=wp.vec3), quat1: wp.array(dtype=wp.quat),
        samples: int, times: wp.array(dtype=float),
    ):  # fmt: skip
        i = wp.tid()
        turn = quat1[i] * wp.quat_inverse(quat0[i])
        if turn[3] < 0.0:
            turn = -turn
        axis = wp.vec3(turn[0], turn[1], turn[2])
        sine = wp.length(axis)
        half = wp.atan2(sine, turn[3])
        chord = position1[i] - position0[i]
        across = wp.vec3(0.0, 0.0, 0.0)
        if sine > straight:
            axis = axis / sine
            across = chord - wp.dot(chord, axis) * axis
        times[i] = wp.inf
        for k in range(1, samples + 1):
            t = float(k) / float(samples)
            position = position0[i] + t * chord
            quat = quat0[i]
            if sine > straight:
                # what goes round the axis: a chord of the circle, for the share t of the turn
                round = wp.quat_rotate(wp.quat_from_axis_angle(axis, (t - 1.0) * half), across)
                position = position + wp.sin(t * half) / sine * round - t * across
                quat = wp.quat_from_axis_angle(axis, 2.0 * t * half) * quat
            if wp.length(wp.quat_rotate(quat, centre_b) + position - centre_a) <= radius_a + radius_b:
                back = wp.quat_inverse(quat)
                if crosses(mesh_a, centre_a, radius_a, vertices_b, edges_b, position, quat):
                    times[i] = t
                    break
                if crosses(
                    mesh_b, centre_b, radius_b, vertices_a, edges_a, wp.quat_rotate(back, -position), back
                ):
                    times[i] = t
                    break

    return wp.kernel(sample)
