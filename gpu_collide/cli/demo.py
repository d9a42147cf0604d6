"""`gpu-collide demo`: contacts of generated motions, with shapes from files or without any."""

from __future__ import annotations

import argparse
import importlib.util
import os
import time
from typing import TYPE_CHECKING

import numpy as np

from gpu_collide.cli.files import POSE_NAMES, UserError, quoted, read_mesh
from gpu_collide.cli.options import (
    add_command,
    add_machine_options,
    add_output_options,
    positive_int,
    query_arguments,
    whole_number,
)
from gpu_collide.cli.screen import save_pictures
from gpu_collide.cli.summary import print_summary

if TYPE_CHECKING:
    from typing import Any

    from gpu_collide._types import Array
    from gpu_collide.bodies.bodies import Bodies
    from gpu_collide.cli.terminal import Terminal
    from gpu_collide.geometry.mesh.mesh import Mesh
    from gpu_collide.results.contacts import Contacts

DESCRIPTION = """\
Collide many pairs of moving bodies and say what was found. Both bodies of a pair move: they are clear of each
other at the start, the relative turn is up to 45 degrees, and about half of the pairs touch. Then draw one of
the pairs on the collision screen, and its contacts in space, and make a page for a browser where they move.
Shapes of yours do as well as those that are there.
"""

EPILOG = """\
examples:
  gpu-collide demo
  gpu-collide demo --shape torus --pairs 2000
  gpu-collide demo mine.obj other.stl        two meshes of yours; of a single one, with itself
  gpu-collide demo --save-input              also write shape and poses as files, to try: gpu-collide run
"""

PAIRS, REFERENCE_PAIRS = 100_000, 500  # by default; the NumPy backend is too slow for the former
OWN_PAIRS = 1000  # of meshes from files, which may be large
ON_PAGE = 100  # pairs that the page shows
SAVED_PAIRS = 1000  # poses written by --save-input: enough to try the other commands on


def add_parser(commands: Any) -> None:
    """Add the command to the subparsers."""
    parser = add_command(
        commands,
        "demo",
        demo,
        help="100,000 pairs of cars, or your own two meshes: table, speed, pictures, page",
        description=DESCRIPTION,
        epilog=EPILOG,
    )
    parser.add_argument(
        "files", nargs="*", metavar="FILE", help="one or two mesh files: OBJ, STL, PLY, OFF, GLB"
    )
    parser.add_argument(
        "--pairs",
        type=positive_int,
        metavar="N",
        help=f"how many pairs (default: {PAIRS:,}; of meshes from files {OWN_PAIRS:,})",
    )
    parser.add_argument("--shape", choices=["car", "cube", "torus"], help="without files (default: car)")
    parser.add_argument(
        "--two-sided", action="store_true", help="do not cull faces of meshes from files: for open sheets"
    )
    parser.add_argument(
        "--seed", type=whole_number, default=1, help="seed of the scene, from 0 up (default: 1)"
    )
    parser.add_argument(
        "-o",
        "--output",
        default="gpu-collide-demo",
        metavar="FOLDER",
        help="folder of pictures and page (default: gpu-collide-demo)",
    )
    parser.add_argument("--no-pictures", action="store_true", help="only the table, and no page")
    parser.add_argument("--save-input", action="store_true", help="write shape and poses as files, too")
    add_machine_options(parser)
    add_output_options(parser)


def demo(options: argparse.Namespace, terminal: Terminal) -> None:
    """Make the scene, collide it, print the tables, draw the pictures."""
    import gpu_collide as gc
    from gpu_collide.scenes import random_impacts

    if len(options.files) > 2:
        raise UserError(f"expected one or two mesh files, got {len(options.files)}")
    if options.files and options.shape:
        raise UserError("--shape: expected none beside mesh files; leave it out")
    if options.save_input or not options.no_pictures:
        make_folder(options.output)  # before the work, to fail early
    meshes = shapes_of(options, terminal)
    shape = options.shape or "car"
    query = query_arguments(options)
    begin = time.perf_counter()
    # Compiles the kernels on the first run, loads them later; and shows which backend it will be.
    first = gc.collide(*random_impacts(*meshes, 64, seed=options.seed), **query)
    terminal.note(f"kernels ready after {time.perf_counter() - begin:.2f} s")
    slow = first.info["backend"] == "reference"
    n_pairs = options.pairs or (REFERENCE_PAIRS if slow else OWN_PAIRS if options.files else PAIRS)
    if slow and not options.pairs:
        terminal.note(f"{n_pairs} pairs only: the NumPy backend is slow (see: gpu-collide devices)")
    bodies, pairs = random_impacts(*meshes, n_pairs, seed=options.seed)

    with terminal.progress("colliding") as update:
        begin = time.perf_counter()
        contacts = gc.collide(bodies, pairs, progress=update, **query).to_numpy()
        seconds = time.perf_counter() - begin
    if options.files:
        who = " and ".join(
            f"{os.path.basename(p)} ({counts(m)})" for p, m in zip(options.files, meshes, strict=False)
        )
        terminal.say(f"{n_pairs:,} pairs of {who}, seed {options.seed}")
    else:
        terminal.say(f"{n_pairs:,} pairs of {shape}s ({counts(meshes[0])} each), seed {options.seed}")
    print_summary(terminal, contacts, seconds)
    if options.save_input:
        save_input(options.files, meshes, bodies, pairs[:SAVED_PAIRS], options.output, terminal)
    if not options.no_pictures:
        draw_best(bodies, pairs, contacts, options.output, terminal)
        path = os.path.join(options.output, "page.html")
        gc.view.page(contacts, bodies, path, most=ON_PAGE)
        terminal.say(f"pairs that move, to be opened by a browser: {path}")


def shapes_of(options: argparse.Namespace, terminal: Terminal) -> tuple[Mesh, Mesh]:
    """The meshes of A and of B."""
    import gpu_collide as gc

    if not options.files:
        made = {"car": gc.shapes.car, "cube": gc.shapes.box, "torus": gc.shapes.torus}
        mesh = made[options.shape or "car"]()
        return mesh, mesh
    meshes = [read_mesh(path, two_sided=options.two_sided) for path in options.files]
    for path, mesh in zip(options.files, meshes, strict=True):
        if not (mesh.closed or options.two_sided):
            terminal.note(
                f"{path} is open: a face is hit on the side from which its corners run counter-clockwise; "
                "--two-sided takes both sides"
            )
    return meshes[0], meshes[-1]


def counts(mesh: Mesh) -> str:
    """How much of what a mesh has."""
    return f"{mesh.n_vertices:,} vertices, {mesh.n_edges:,} edges, {mesh.n_faces:,} faces"


def draw_best(bodies: Bodies, pairs: Array, contacts: Contacts, folder: str, terminal: Terminal) -> None:
    """Draw the pair that shows most."""
    if importlib.util.find_spec("matplotlib") is None:
        terminal.say('no pictures: they need matplotlib: pip install "gpu-collide[view]"')
        return
    i = telling_pair(contacts, pairs_on_page(contacts))
    if i is None:
        terminal.say("no pictures: no pair has a contact")
        return
    make_folder(folder)
    screen_path, space_path = (os.path.join(folder, name) for name in ("screen.png", "contacts.png"))
    save_pictures(bodies, pairs[i], contacts.of_pair(i), screen_path, space_path)
    terminal.say(f"pair {i} on the collision screen: {screen_path}")
    terminal.say(f"pair {i} and its contacts in space: {space_path}")


def pairs_on_page(contacts: Contacts) -> int:
    """How many pairs, from the first, hold the `ON_PAGE` pairs with contacts that the page shows."""
    with_contacts = np.flatnonzero(np.diff(contacts.contact_start))[:ON_PAGE]
    return int(with_contacts[-1]) + 1 if len(with_contacts) else 0


def telling_pair(contacts: Contacts, among: int) -> int | None:
    """The pair to draw: all kinds of contact, spread over the step, several but not too many.

    Parameters
    ----------
    contacts : gpu_collide.Contacts
        With NumPy arrays.
    among : int
        How many pairs to look at, from the first.

    Returns
    -------
    int or None
        None if none of these pairs has a contact.
    """
    counts = np.diff(contacts.contact_start)[:among]
    if not counts.any():
        return None
    pair, kind, time = contacts.pair, contacts.kind, contacts.time
    mine = pair < len(counts)
    kinds = sum(
        (np.bincount(pair[mine & (kind == k)], minlength=len(counts)) > 0).astype(int) for k in range(3)
    )
    first, last = np.full(len(counts), np.inf), np.full(len(counts), -np.inf)
    np.minimum.at(first, pair[mine], time[mine])
    np.maximum.at(last, pair[mine], time[mine])
    spread = np.where(counts > 0, last - first, 0.0)
    score = 10.0 * kinds + np.minimum(counts, 6) - np.maximum(counts - 9, 0) + 20.0 * spread
    return int(np.argmax(np.where(counts > 0, score, -np.inf)))


def save_input(
    files: list[str], meshes: tuple[Mesh, Mesh], bodies: Bodies, pairs: Array, folder: str, terminal: Terminal
) -> None:
    """Write poses, and the shape unless it is from a file, in the form that ``gpu-collide run`` reads."""
    poses_path = os.path.join(folder, "poses.npz")
    save_poses(bodies, pairs, poses_path)
    given = list(files) * (2 // len(files)) if files else [save_shape(meshes[0], folder)] * 2
    wrote = poses_path if files else f"{given[0]} and {poses_path}"
    words = " ".join(map(quoted, (*given, poses_path)))
    terminal.say(
        f"wrote {wrote}; try:\n  gpu-collide run {words} -o {quoted(os.path.join(folder, 'contacts.npz'))}"
    )


def save_shape(mesh: Mesh, folder: str) -> str:
    """Write a mesh as OBJ."""
    mesh_path = os.path.join(folder, "shape.obj")
    with open(mesh_path, "w", encoding="ascii") as file:
        file.writelines("v {!r} {!r} {!r}\n".format(*map(float, vertex)) for vertex in mesh.vertices)
        file.writelines("f " + " ".join(str(v + 1) for v in loop) + "\n" for loop in mesh.faces)
    return mesh_path


def save_poses(bodies: Bodies, pairs: Array, path: str) -> None:
    """Write poses as ``gpu-collide run`` reads them."""
    arrays = {}
    for name in POSE_NAMES:
        when, who = name.split("_")
        poses = getattr(bodies, when)[pairs[:, "ab".index(who)]]
        arrays[f"{name}_position"], arrays[f"{name}_quat_wxyz"] = poses.position, poses.quat_wxyz
    np.savez(path, **arrays)


def make_folder(folder: str) -> None:
    """Create the folder unless it is there.

    Raises
    ------
    UserError
        If that is impossible.
    """
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise UserError(f"cannot make the folder {folder}: {error}") from error
