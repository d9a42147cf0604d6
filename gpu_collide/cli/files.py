"""Reading the files of the user: meshes and poses. Every complaint says what was expected."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np

from gpu_collide.cli.options import MOST_KEPT

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gpu_collide._types import Array, StrPath
    from gpu_collide.bodies.bodies import Bodies
    from gpu_collide.bodies.poses import Poses
    from gpu_collide.cli.terminal import Terminal
    from gpu_collide.geometry.mesh.mesh import Mesh

EXAMPLES = "check the name, or have files written to try: gpu-collide demo --save-input"
POSE_NAMES = ("start_a", "end_a", "start_b", "end_b")
POSE_KEYS = tuple(f"{name}_{part}" for name in POSE_NAMES for part in ("position", "quat_wxyz"))


class UserError(Exception):
    """Something about the command or its files; the message is all the user needs."""


def read_mesh(path: StrPath, *, two_sided: bool = False, keep_triangles: bool = False) -> Mesh:
    """Load a mesh file.

    Parameters
    ----------
    path : str
        OBJ, STL, PLY, OFF or GLB file, in the body's own frame.
    two_sided : bool
        Make contacts on both sides of every face.
    keep_triangles : bool
        Do not merge coplanar triangles into polygons.

    Returns
    -------
    gpu_collide.Mesh

    Raises
    ------
    UserError
        If the file is absent, unreadable, or does not hold a usable mesh.
    """
    import gpu_collide as gc

    if not os.path.isfile(path):
        raise UserError(f"no such mesh file: {path}; {EXAMPLES}")
    try:
        return gc.load_mesh(path, two_sided=two_sided, merge_coplanar=not keep_triangles)
    except ImportError as error:  # its message names the package and the extra that brings it
        raise UserError(str(error)) from error
    except Exception as error:  # the readers behind raise whatever they like on a broken file
        reason = str(error).removeprefix("path: ")  # an argument's name, no word of the user's
        raise UserError(f"{path}: not a mesh that can be used: {reason}") from error


def read_poses(path: StrPath) -> Any:
    """Read the poses of the pairs.

    Parameters
    ----------
    path : str
        NumPy .npz file with the arrays of ``POSE_KEYS``: positions (n, 3), in world units, and quaternions
        (n, 4), in the order w, x, y, z. One row stands for all pairs: a still body needs its pose only once.

    Returns
    -------
    tuple of gpu_collide.Poses
        start_a, end_a, start_b, end_b, each of length n.

    Raises
    ------
    UserError
        If the file is absent or broken, or if arrays are missing or disagree.
    """
    import gpu_collide as gc

    arrays = _read_npz(path)
    rows = {key: len(value) for key, value in arrays.items()}
    counts = sorted({n for n in rows.values() if n != 1}) or [1]
    if len(counts) > 1:
        listing = ", ".join(f"{key}: {n}" for key, n in rows.items())
        raise UserError(f"{path}: the arrays have different numbers of rows ({listing})")
    full = {key: np.broadcast_to(value, (counts[0], value.shape[1])) for key, value in arrays.items()}
    try:
        return tuple(
            gc.Poses.from_quat_wxyz(full[f"{name}_position"], full[f"{name}_quat_wxyz"])
            for name in POSE_NAMES
        )
    except (TypeError, ValueError) as error:
        raise UserError(f"{path}: {error}") from error


def is_numpy_file(path: StrPath) -> bool:
    """True if the file begins like an .npz or .npy file; NumPy takes anything else for a pickle."""
    with open(path, "rb") as file:
        head = file.read(6)
    return head[:4] in (b"PK\x03\x04", b"PK\x05\x06") or head == b"\x93NUMPY"


def _read_npz(path: StrPath) -> Any:
    if not os.path.isfile(path):
        raise UserError(f"no such poses file: {path}; {EXAMPLES}")
    if not is_numpy_file(path):
        raise UserError(
            f"{path}: not a readable .npz file. Expected what numpy.savez writes, with arrays named "
            f"{POSE_KEYS[0]}, {POSE_KEYS[1]}, ... (see: gpu-collide run --help)"
        )
    from gpu_collide.results.npz import open_npz

    try:
        with open_npz(path, "named arrays") as reader:
            present = set(reader.names)
            missing = [key for key in POSE_KEYS if key not in present]
            if missing:
                raise UserError(
                    f"{path}: missing {', '.join(missing)}.\n"
                    "  Expected arrays: position (n, 3) and quat_wxyz (n, 4) for each of "
                    f"{', '.join(POSE_NAMES)}, named {POSE_KEYS[0]}, {POSE_KEYS[1]}, ...\n"
                    f"  Found: {', '.join(sorted(present)) or 'nothing'}"
                )
            arrays = {key: reader.read(key) for key in POSE_KEYS}
    except (TypeError, ValueError, OSError) as error:
        raise UserError(f"{path}: not a readable .npz file: {str(error).removeprefix('path: ')}") from error
    for key, value in arrays.items():
        width = 3 if key.endswith("position") else 4
        if value.ndim == 1 and value.shape[0] == width:
            arrays[key] = value = value[None]
        if value.ndim != 2 or value.shape[1] != width:
            raise UserError(f"{path}: {key} should have the shape (n, {width}), got {value.shape}")
        if value.dtype.kind not in "fiu":
            raise UserError(f"{path}: {key} should hold numbers, got dtype {value.dtype}")
    return arrays


def check_poses(poses: Any, path: StrPath, terminal: Terminal) -> None:
    """Say which rows hold no pose, and why.

    Raises
    ------
    UserError
        If no row is left whose four poses can all be used.
    """
    from gpu_collide.bodies.poses import what_is_wrong

    usable = np.logical_and.reduce([p.valid for p in poses])
    if usable.all():
        return
    row = int(np.flatnonzero(~usable)[0])
    name, reason = next(
        (name, reason)
        for name, p in zip(POSE_NAMES, poses, strict=True)
        if (reason := what_is_wrong(p, row)) is not None
    )
    bad = int((~usable).sum())
    text = (
        f"{path}: {bad:,} of {len(usable):,} rows hold poses that cannot be used; row {row}, {name}: {reason}"
    )
    if bad == len(usable):
        raise UserError(text)
    terminal.warn(f"{text}. Their pairs are INVALID_INPUT")


def pair_up(mesh_a: Mesh, mesh_b: Mesh, poses: Any) -> tuple[Bodies, Array]:
    """Bodies and pairs for n poses of A and of B: body i is A in pair i, body n + i is B.

    Parameters
    ----------
    mesh_a, mesh_b : gpu_collide.Mesh
    poses : tuple of gpu_collide.Poses
        start_a, end_a, start_b, end_b, each of length n.

    Returns
    -------
    bodies : gpu_collide.Bodies
    pairs : (n, 2) int64 ndarray
    """
    import gpu_collide as gc

    start_a, end_a, start_b, end_b = poses
    n = len(start_a)

    def joined(a: Poses, b: Poses) -> Poses:
        # Quaternions as given, so that a bad row is still recognised as bad.
        quat = np.concatenate([a.quat_wxyz, b.quat_wxyz])
        return gc.Poses.from_quat_wxyz(np.concatenate([a.position, b.position]), quat)

    bodies = gc.Bodies([mesh_a, mesh_b], np.repeat([0, 1], n), joined(start_a, start_b), joined(end_a, end_b))
    return bodies, np.stack([np.arange(n), n + np.arange(n)], axis=1)


def write_found(found: Any, scene: Any, path: str, wanted: bool | None, terminal: Terminal) -> None:
    """Write a result, into ``.npz`` with what it was found among, and say so.

    Parameters
    ----------
    found : Contacts or TrajectoryContacts
    scene : Bodies or Recording
    path : str
        As `check_output` gives it.
    wanted : bool, optional
        Whether meshes and poses are to be kept; None: unless they are many.
    terminal : Terminal
    """
    from gpu_collide import view

    size = bytes_of_scene(scene)
    if not path.endswith(".npz") or wanted is False or (wanted is None and size > MOST_KEPT):
        found.save(path)
        left_out = path.endswith(".npz") and wanted is None
        why = f", without its meshes and poses of {size >> 20:,} MB; --bodies keeps them" if left_out else ""
        terminal.say(f"wrote {path}{why}")
        return
    view.save_result(found, scene, path)
    terminal.say(f"wrote {path}; to look at it: gpu-collide view {quoted(path)} -o page.html")


def quoted(path: str) -> str:
    """A path as a shell takes it."""
    import shlex

    return path if os.name == "nt" else shlex.quote(path)


def bytes_of_scene(scene: Any) -> int:
    """About how many bytes the meshes and poses of bodies or of a recording take."""
    still = getattr(scene, "static", None)
    size = 0 if still is None else bytes_of_scene(still)
    poses = len(scene.times) * scene.n_bodies if hasattr(scene, "times") else 2 * len(scene)
    return size + 56 * poses + sum(24 * m.n_vertices + 4 * len(m.face_vertices) for m in scene.meshes)


def check_output(path: StrPath, inputs: Sequence[Any] = (), option: str = "-o") -> str:
    """The file that results go to, checked before the work; ``.npz`` is added if it has no suffix.

    Raises
    ------
    UserError
        If the name is empty or has another suffix, or the file cannot be written, or is one of `inputs`; or
        if the package that writes it is not installed.
    """
    from gpu_collide.errors import MissingExtraError
    from gpu_collide.results.npz import save_name
    from gpu_collide.results.tables import check_suffix

    try:
        path = save_name(path)
    except ValueError as error:
        raise UserError(f"{option}: {str(error).removeprefix('path: ')}") from error
    try:
        check_suffix(path)
    except MissingExtraError as error:
        raise UserError(f"{option}: {error}") from error
    check_writable(path, inputs)
    return path


def check_writable(path: StrPath, inputs: Sequence[Any] = ()) -> None:
    """Complain before the work rather than after it if ``path`` cannot be written.

    Raises
    ------
    UserError
        If the name is empty, the folder does not exist or may not be written to, or the file is one of
        `inputs`, the files that the command reads.
    """
    if not os.path.basename(path):
        raise UserError(f"cannot write {path!r}: expected the name of a file")
    folder = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(folder):
        raise UserError(f"cannot write {path}: no such folder: {folder}; make it first")
    if os.path.isdir(path) or not os.access(path if os.path.exists(path) else folder, os.W_OK):
        raise UserError(f"cannot write {path}")
    for given in filter(None, inputs):
        if os.path.exists(path) and os.path.exists(given) and os.path.samefile(path, given):
            raise UserError(f"cannot write {path}: it is an input of this command; choose another name")


def check_page(path: StrPath, inputs: Sequence[Any] = ()) -> None:
    """Complain before the work if a page cannot be written to `path`.

    Raises
    ------
    UserError
        As `check_writable`; or the name does not end in .html.
    """
    if not str(path).lower().endswith((".html", ".htm")):
        raise UserError(f"cannot write {path!r}: expected the name of a page, ending in .html")
    check_writable(path, inputs)
