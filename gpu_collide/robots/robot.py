"""`Robot`: links and joints, where they are, and which edges in joint space are free of collisions."""

from __future__ import annotations

import dataclasses
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from gpu_collide._validate import as_float_array, check_bool, check_finite
from gpu_collide.bodies.bodies import Bodies
from gpu_collide.bodies.compound import Compound
from gpu_collide.bodies.poses import Poses, as_poses
from gpu_collide.bodies.quaternion import multiply, rotate
from gpu_collide.geometry.mesh.mesh import Mesh
from gpu_collide.queries.check_motions import prove
from gpu_collide.recordings.recording import Recording
from gpu_collide.reference.robots.r01_frames import Chain
from gpu_collide.robots.curves import Curves
from gpu_collide.robots.edges import Edges, poses_of
from gpu_collide.robots.joints import Joint, as_frame, as_tree
from gpu_collide.robots.urdf import disabled_pairs, read_urdf

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from gpu_collide._types import Array, ArrayLike, BackendName, StrPath
    from gpu_collide.results.motion_checks import MotionChecks

__all__ = ["Robot"]


class Robot:
    """A robot: links with shapes, and joints between them, in a chain or a tree.

    `Robot.from_urdf` reads one from a file.

    Parameters
    ----------
    joints : sequence of Joint
    shapes : mapping of str to shapes
        Of each link its shapes in the link's frame: a `Mesh`, a pair of a `Mesh` and a (4, 4) matrix of where
        its frame is in the link's, or a sequence of such; empty for none. Every link of a joint is one, with
        shapes or without.
    ignore : iterable of (str, str), optional
        Pairs of links that may touch each other, besides those that share a joint.
    base : Poses of one pose, optional
        Where the root link is in the world. Default: the identity.

    Attributes
    ----------
    link_names : tuple of str
        All links.
    joint_names : tuple of str
        Joints with a value of their own, in the order of the file: not those that are fixed or mimic another.
    limits : (j, 2) float64
        Least and greatest value of each; infinite where there is none. `edges` does not look at them.
    link_pairs : (p, 2) int64
        Pairs of links, by number, that must not touch: all that have shapes and move relative to each other,
        without those that share a joint and those ignored.

    Raises
    ------
    TypeError, ValueError
        Joints that are no tree, names that are no links, an origin that is not rigid, an axis without length.

    Examples
    --------
    >>> import gpu_collide as gc
    >>> at = [[1, 0, 0, 1.0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
    >>> joints = [gc.Joint("shoulder", "revolute", "base", "upper", axis=[0, 0, 1]),
    ...           gc.Joint("elbow", "revolute", "upper", "lower", origin=at, axis=[0, 0, 1])]
    >>> half = [[1, 0, 0, 0.5], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
    >>> bar = (gc.shapes.box((1.0, 0.1, 0.1)), half)
    >>> robot = gc.Robot(joints, {"base": [], "upper": bar, "lower": bar})
    >>> robot.forward([[0.0, 0.0]]).position[0].tolist()
    [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [1.0, 0.0, 0.0]]
    >>> post = gc.Poses.from_quat_wxyz([[1.2, 1.1, 0]], [[1, 0, 0, 0]])
    >>> post = gc.Bodies(gc.shapes.box((0.3, 0.3, 0.3)), None, post, post)
    >>> found = robot.edges([[0, 0], [0, 0]], [[1.2, -0.8], [0.5, 0.2]], post)
    >>> [gc.Status(s).name for s in found.status], robot.link_names[found.link[0]]
    (['HIT', 'MISS'], 'lower')
    """

    def __init__(
        self,
        joints: Sequence[Joint],
        shapes: Mapping[str, Any],
        *,
        ignore: Iterable[tuple[str, str]] = (),
        base: Poses | None = None,
    ) -> None:
        joints = list(joints)
        for joint in joints:
            if not isinstance(joint, Joint):
                raise TypeError(f"joints: expected gpu_collide.Joint, got {type(joint).__name__}")
        named = [end for joint in joints for end in (joint.parent, joint.child)]
        self.link_names = tuple(dict.fromkeys([*shapes, *named]))
        self._tree = as_tree(joints, self.link_names)
        self.joint_names, self.limits = self._tree.names, self._tree.limits
        self._owner, self._bodies, frames = _shapes(shapes, self.link_names)
        self._frames = frames
        if base is None:
            base = Poses.identity(1)
        elif len(as_poses(base, "base").flat()) != 1 or not base.valid.all():
            raise ValueError(f"base: expected one valid pose, got shape {base.shape}")
        base = base.flat()
        self._base = base.position[0], base.unit_wxyz[0]
        self._chain = self._chain_of(frames)
        self.link_pairs = self._pairs(ignore)

    @classmethod
    def from_urdf(
        cls,
        path: StrPath,
        *,
        srdf: StrPath | None = None,
        ignore: Iterable[tuple[str, str]] = (),
        base: Poses | None = None,
        exact_cylinders: bool = False,
    ) -> Robot:
        """A robot from a URDF file: its joints, and the collision shapes of its links.

        Parameters
        ----------
        path : str or path-like
            URDF, read by yourdfpy (extra ``robot``). Meshes are found relative to the file, ``package://``
            names in the folder of their package that holds the file, or stands beside one that does; they
            are read by `load_mesh`. Joints are revolute, continuous, prismatic or fixed, and may
            mimic another.
        srdf : str or path-like, optional
            SRDF whose ``disable_collisions`` are pairs to ignore.
        ignore, base
            As in `Robot`.
        exact_cylinders : bool, optional
            Cylinders are cylinders (`shapes.cylinder`), for what takes these: first contacts of `link_shape`
            and `recording`. By default prisms of 32 sides around them, up to 0.49 % of the radius larger,
            which `edges` takes as well.

        Returns
        -------
        Robot
            Boxes and spheres are what they are.

        Raises
        ------
        MissingExtraError
            yourdfpy is not installed, or trimesh, which STL and glTF files need.
        FileNotFoundError, ValueError
            There is no such file, or it cannot be read; or joints of other kinds (floating, planar).
        """
        joints, shapes = read_urdf(path, check_bool(exact_cylinders, "exact_cylinders"))
        if not any(shapes.values()):
            raise ValueError(f"path: expected URDF with collision shapes, got none in {path!r}")
        disabled = [] if srdf is None else disabled_pairs(srdf)
        return cls(joints, shapes, ignore=[*disabled, *ignore], base=base)

    def forward(self, q: ArrayLike) -> Poses:
        """Poses of all links.

        Parameters
        ----------
        q : (n, j) array_like of float
            Values of the joints in `joint_names`: radians, or lengths of prismatic ones. Arrays of PyTorch
            and CuPy are copied to the host.

        Returns
        -------
        Poses
            Shape (n, links), in the world, in the order of `link_names`.
        """
        return poses_of(self._links.links(self._links.joints(self._values(self._free(q, "q")))))

    def link_shape(self, link: str) -> Compound:
        """All shapes of a link as one in the link's frame, for a solver that has one body for each link.

        Parameters
        ----------
        link : str
            One of `link_names`.

        Returns
        -------
        Compound
            Its parts are called as the bodies of `recording` are.

        Raises
        ------
        ValueError
            There is no such link, or it has no shapes.
        """
        if link not in self.link_names:
            raise ValueError(f"link: expected one of {', '.join(self.link_names)}, got {link!r}")
        mine = np.flatnonzero(self._owner == self.link_names.index(link))
        if not len(mine):
            raise ValueError(f"link: expected one with shapes, got {link!r}, which has none")
        names = [f"{link}/{k}" for k in range(len(mine))] if len(mine) > 1 else [link]
        position, quat = (np.stack([self._frames[k][i] for k in mine]) for i in (0, 1))
        meshes = [self._bodies.meshes[self._bodies.shape[k]] for k in mine]
        return Compound(meshes, Poses.from_quat_wxyz(position, quat), names=names)

    def recording(
        self, q: ArrayLike, times: ArrayLike | None = None, *, static: Bodies | Mesh | None = None
    ) -> Recording:
        """The robot's shapes along configurations, as a recording: for `gpu_collide.view.page`, and for all
        contacts between shapes that move from one pose to the next on screws.

        Parameters
        ----------
        q : (n, j) array_like of float
            Joint values of each frame.
        times : (n,) array_like of float, optional
            Default: 0, 1, 2, ...
        static : Bodies or Mesh, optional
            What stands still.

        Returns
        -------
        Recording
            A body for each shape, called as its link, or ``link/0``, ``link/1``, ... if it has several.
        """
        frames = self._chain.links(self._chain.joints(self._values(self._free(q, "q"))))
        many = np.bincount(self._owner, minlength=len(self.link_names))
        first = np.searchsorted(self._owner, self._owner)  # shapes of a link are together
        names = [
            self.link_names[link] + (f"/{k - first[k]}" if many[link] > 1 else "")
            for k, link in enumerate(self._owner)
        ]
        arrays = {
            "time": np.arange(float(len(frames.position))) if times is None else times,
            "position": frames.position,
            "quat_wxyz": frames.quat,
            "id": np.array(names),
        }
        return Recording.from_arrays(
            arrays, meshes=self._bodies.meshes, shape=self._bodies.shape, static=static
        )

    def edges(
        self,
        q0: ArrayLike,
        q1: ArrayLike,
        obstacles: Bodies | None = None,
        *,
        v0: ArrayLike | None = None,
        v1: ArrayLike | None = None,
        self_collisions: bool = True,
        margin: float = 0.0,
        max_pieces: int = 256,
        first: bool = True,
        places: bool = False,
        clearance: float | None = None,
        backend: BackendName = "auto",
        max_bytes: int | None = None,
    ) -> MotionChecks:
        """Which edges in joint space are free of collisions, proved; where the others collide.

        Parameters
        ----------
        q0, q1 : (n, j) array_like of float
            Joint values at both ends of each edge; in between they are linear in time. A joint turns as far
            as the values differ: a continuous one goes the short way only if its values say so.
        obstacles : Bodies, optional
            What the links must not touch, at rest.
        v0, v1 : (n, j) array_like of float, optional
            Derivatives of the joint values by the time of the edge, which lasts 1, at both ends: the values
            are then cubic in time. A spline is an edge for each of its pieces. Default: straight.
        self_collisions : bool, optional
            Links must not touch each other either, by `link_pairs`.
        margin, max_pieces, first, places, clearance, backend, max_bytes
            As in `check_motions`.

        Returns
        -------
        MotionChecks
            A row for each edge; `link` is a number of `link_names`, and `other` of the obstacles, or with
            `other_is_link` of `link_names`; so are `gap_link` and `gap_other`.

        Raises
        ------
        TypeError, ValueError
            Wrong arguments.
        MemoryLimitError, BackendUnavailableError
            As in `clearance`.

        Notes
        -----
        `check_motions` with a deviation that is proved for chains (docs/decisions/0122): of second order in
        the length of a piece, and 0 up to rounding where a single joint moves. A link is looked at in the
        frame of one that carries it (0142). An angle beyond 1.6 million radians makes its edge INVALID_INPUT.
        """
        start, end = self._free(q0, "q0"), self._free(q1, "q1")
        slopes = [None if v is None else self._free(v, name) for v, name in ((v0, "v0"), (v1, "v1"))]
        for array, name in zip([end, *slopes], ("q1", "v0", "v1"), strict=True):
            if array is not None and array.shape != start.shape:
                raise ValueError(f"{name}: expected the shape of q0, {start.shape}, got {array.shape}")
        if (v0 is None) != (v1 is None):
            raise TypeError("v0, v1: expected both or none")
        rate = self._tree.factor.T
        curves = Curves.between(
            self._values(start), self._values(end), *(None if v is None else v @ rate for v in slopes)
        )
        pairs = self._shape_pairs if check_bool(self_collisions, "self_collisions") else None
        if obstacles is None and pairs is None:
            raise TypeError("obstacles: expected Bodies, or self_collisions=True: there is nothing to hit")
        found = prove(
            self._bodies, len(start), lambda engine: Edges(engine, self._chain, curves), obstacles, pairs,
            margin=margin, max_pieces=max_pieces, first=first, places=places, clearance=clearance,
            backend=backend, max_bytes=max_bytes,
        )  # fmt: skip
        owner = np.append(self._owner, -1).astype(np.int32)

        def links(number: Array, are: Array) -> Array:
            return np.where(are, owner[np.where(are, number, -1)], number)

        return dataclasses.replace(
            found,
            link=owner[found.link],
            other=links(found.other, found.other_is_link),
            gap_link=owner[found.gap_link],
            gap_other=links(found.gap_other, found.gap_other_is_link),
            info={**found.info, "links": list(self.link_names)},
        )

    def __repr__(self) -> str:
        return (
            f"Robot(links={len(self.link_names)}, joints={len(self.joint_names)}, shapes={len(self._owner)}, "
            f"link_pairs={len(self.link_pairs)})"
        )

    def _free(self, q: ArrayLike, name: str) -> Array:
        return check_finite(as_float_array(q, name, shape=(None, len(self.joint_names))), name)

    def _values(self, q: Array) -> Array:
        """Values of all joints that move, (n, all)."""
        return q @ self._tree.factor.T + self._tree.constant

    def _chain_of(self, frames: list[tuple[Array, Array]]) -> Chain:
        """Of shapes; and `_links` of the links themselves."""
        t, n = self._tree, len(self.link_names)
        joints = t.parent, t.offset, t.turn, t.axis, t.prismatic
        self._links = Chain(
            *joints, t.carrier, t.place, t.rest, np.zeros((n, 3)), np.zeros((n, 3)), self._base
        )
        own = self._owner
        place = np.array([at for at, _ in frames]).reshape(-1, 3)
        turn = np.array([turn for _, turn in frames]).reshape(-1, 4)
        meshes = self._bodies.meshes
        rim = np.array([0.0 if mesh.ends is None else mesh.rounding for mesh in meshes])[:, None]
        low = np.array([mesh.vertices.min(axis=0) for mesh in meshes]) - rim  # balls are where centers are
        high = np.array([mesh.vertices.max(axis=0) for mesh in meshes]) + rim
        return Chain(
            *joints, t.carrier[own], t.place[own] + rotate(t.rest[own], place), multiply(t.rest[own], turn),
            low[self._bodies.shape], high[self._bodies.shape], self._base,
        )  # fmt: skip

    def _pairs(self, ignore: Iterable[tuple[str, str]]) -> Array:
        number = {name: k for k, name in enumerate(self.link_names)}
        skip = set()
        for pair in ignore:
            if isinstance(pair, str) or len(pair) != 2:
                raise ValueError(f"ignore: expected pairs of names of links, got {pair!r}")
            for name in pair:
                if name not in number:
                    raise ValueError(f"ignore: expected names of links, got {name!r}")
            skip.add(frozenset(number[name] for name in pair))
        carrier, parent = self._tree.carrier, np.append(self._tree.parent, -2)
        a, b = np.triu_indices(len(number), 1)
        solid = np.isin(np.arange(len(number)), self._owner)
        ca, cb = carrier[a], carrier[b]
        near = (ca == cb) | ((cb >= 0) & (parent[cb] == ca)) | ((ca >= 0) & (parent[ca] == cb))
        pairs = np.stack([a, b], axis=1)[solid[a] & solid[b] & ~near]
        kept = [frozenset(pair) not in skip for pair in pairs.tolist()]
        return pairs[np.array(kept, bool)]

    @cached_property
    def _shape_pairs(self) -> Array | None:
        """Pairs of shapes of the pairs of links, or None."""
        if not len(self.link_pairs):
            return None
        own = [np.flatnonzero(self._owner == k) for k in range(len(self.link_names))]
        return np.concatenate(
            [np.stack(np.meshgrid(own[a], own[b]), axis=-1).reshape(-1, 2) for a, b in self.link_pairs]
        )


def _shapes(
    shapes: Mapping[str, Any], links: tuple[str, ...]
) -> tuple[Array, Bodies, list[tuple[Array, Array]]]:
    """Of each shape its link; all as bodies that are nowhere; and the frame of each in that of its link."""
    owner, frames, which = [], [], []
    meshes: dict[int, Mesh] = {}
    for link, given in shapes.items():  # so that a link's shapes are together, and links in their order
        single = isinstance(given, Mesh) or (
            isinstance(given, tuple) and given and isinstance(given[0], Mesh)
        )
        for one in [given] if single else given:
            mesh, origin = (one, None) if isinstance(one, Mesh) else one
            if not isinstance(mesh, Mesh):
                raise TypeError(f"shapes: expected Mesh of link {link!r}, got {type(mesh).__name__}")
            owner.append(links.index(link))
            frames.append(as_frame(origin, f"shapes of link {link!r}"))
            meshes.setdefault(id(mesh), mesh)
            which.append(list(meshes).index(id(mesh)))
    if not owner:
        raise ValueError("shapes: expected a shape of some link, got none")
    nowhere = Poses.identity(len(owner))
    return np.array(owner), Bodies(list(meshes.values()), which, nowhere, nowhere), frames
