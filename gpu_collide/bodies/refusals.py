"""Refusals of bodies that a query does not take."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gpu_collide._validate import how_many

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gpu_collide._types import Array
    from gpu_collide.bodies.bodies import Bodies
    from gpu_collide.geometry.mesh.mesh import Mesh

__all__ = [
    "check_motion",
    "refuse_ends",
    "refuse_ends_in",
    "refuse_rounded",
    "refuse_spins",
]

POSE_TO_POSE = "Bodies(meshes, shape, bodies.start, bodies.end) moves them from pose to pose"


def check_motion(bodies: Bodies, motion: str) -> None:
    """Raise ``ValueError`` for bodies made from velocities that are asked of as if they had only poses."""
    if bodies.spins is not None and motion != "body":
        raise ValueError(
            f"motion: expected 'body' for bodies that spin (from_velocities), got {motion!r}; pass "
            f"motion='body', or {POSE_TO_POSE}"
        )


def refuse_ends(meshes: Sequence[Mesh] | None, name: str, what: str) -> None:
    """Raise ``ValueError`` if the argument `name` has cylinders or cones, which `what` does not take."""
    for k, mesh in enumerate(meshes or ()):
        if mesh.ends is not None:
            raise ValueError(
                f"{name}: expected no cylinders or cones, which {what} does not take, got one as mesh {k}; "
                "pass its to_polyhedron(tolerance), or ask for contacts (collide, contacts_at)"
            )


def refuse_ends_in(bodies: Bodies, pairs: Array, name: str, what: str) -> None:
    """Raise ``ValueError`` if one of `pairs` of the argument `name` has a cylinder or a cone, which `what`
    does not take."""
    ends = np.array([mesh.ends is not None for mesh in bodies.meshes], bool)
    if ends.any() and len(rows := np.flatnonzero(ends[bodies.shape[pairs]].any(axis=1))):
        a, b = pairs[rows[0]]
        raise ValueError(
            f"{name}: expected pairs without cylinders and cones, which {what} does not take, got "
            f"{how_many(len(rows), 'such pair')}, first: bodies {a} and {b}; give other pairs, pass "
            "to_polyhedron(tolerance) of these meshes, or ask for contacts at a pose (contacts_at)"
        )


def refuse_rounded(meshes: Sequence[Mesh] | None, name: str, what: str) -> None:
    """Raise ``ValueError`` if the argument `name` has meshes with a rounding radius, which `what` does not
    take, or cylinders or cones."""
    refuse_ends(meshes, name, what)
    for k, mesh in enumerate(meshes or ()):
        if mesh.rounding > 0.0:
            raise ValueError(
                f"{name}: expected meshes without a rounding radius, which {what} does not take, got "
                f"{mesh.rounding:g} of mesh {k}; mesh.to_polyhedron(tolerance) is one around it without"
            )


def refuse_spins(bodies: Bodies, name: str) -> None:
    """Raise ``ValueError`` if the argument `name` has bodies made from velocities, of which the query knows
    nothing."""
    if bodies.spins is not None:
        raise ValueError(
            f"{name}: expected bodies that move from pose to pose, got some that spin (from_velocities), "
            "which collide, find_pairs and Scene take with motion='body', and rays, spheres and clusters of "
            f"gc.sweep with turning='exact'; {POSE_TO_POSE}"
        )
