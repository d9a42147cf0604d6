"""``gpu-collide demo``: the main job on a scene that needs no files."""

from __future__ import annotations

import argparse
import importlib.util
import os
import time
from typing import TYPE_CHECKING

import numpy as np

from gpu_collide.cli.files import POSE_NAMES, UserError
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
    from gpu_collide.geometry.mesh import Mesh
    from gpu_collide.results.contacts import Contacts

DESCRIPTION = """\
Collide many pairs of moving bodies and say what was found. Both bodies of a pair move: they are clear of each
other at the start, the relative turn is up to 45 degrees, and about half of the pairs touch. Then draw one of
the pairs on the collision screen, and its contacts in space.
"""

EPILOG = """\
examples:
  gpu-collide demo
  gpu-collide demo --shape torus --pairs 2000
  gpu-collide demo --save-input              also write shape and poses as files, to try: gpu-collide run
"""

PAIRS, REFERENCE_PAIRS = 100_000, 500  # by default; the NumPy backend is too slow for the former
SAVED_PAIRS = 1000  # poses written by --save-input: enough to try the other commands on


def add_parser(commands: Any) -> None:
    """Add the command to the subparsers."""
    parser = add_command(
        commands,
        "demo",
        demo,
        help="100,000 pairs of cars: table, speed, two pictures",
        description=DESCRIPTION,
        epilog=EPILOG,
    )
    parser.add_argument(
        "--pairs", type=positive_int, metavar="N", help=f"how many pairs (default: {PAIRS:,})"
    )
    parser.add_argument("--shape", choices=["car", "cube", "torus"], default="car", help="default: car")
    parser.add_argument(
        "--seed", type=whole_number, default=1, help="seed of the scene, from 0 up (default: 1)"
    )
    parser.add_argument(
        "-o",
        "--output",
        default="gpu-collide-demo",
        metavar="FOLDER",
        help="folder of the pictures (default: gpu-collide-demo)",
    )
    parser.add_argument("--no-pictures", action="store_true", help="only the table")
    parser.add_argument("--save-input", action="store_true", help="write shape and poses as files, too")
    add_machine_options(parser)
    add_output_options(parser)


def demo(options: argparse.Namespace, terminal: Terminal) -> None:
    """Make the scene, collide it, print the tables, draw the pictures."""
    import gpu_collide as gc
    from gpu_collide.scenes import random_impacts

    if options.save_input or not (options.no_pictures or importlib.util.find_spec("matplotlib") is None):
        make_folder(options.output)  # before the work, to fail early
    mesh = {"car": gc.shapes.car, "cube": gc.shapes.box, "torus": gc.shapes.torus}[options.shape]()
    query = query_arguments(options)
    begin = time.perf_counter()
    # Compiles the kernels on the first run, loads them later; and shows which backend it will be.
    first = gc.collide(*random_impacts(mesh, mesh, 64, seed=options.seed), **query)
    terminal.note(f"kernels ready after {time.perf_counter() - begin:.2f} s")
    slow = first.info["backend"] == "reference"
    n_pairs = options.pairs or (REFERENCE_PAIRS if slow else PAIRS)
    if slow and not options.pairs:
        terminal.note(f"{n_pairs} pairs only: the NumPy backend is slow (see: gpu-collide devices)")
    bodies, pairs = random_impacts(mesh, mesh, n_pairs, seed=options.seed)

    with terminal.progress("colliding") as update:
        begin = time.perf_counter()
        contacts = gc.collide(bodies, pairs, progress=update, **query).to_numpy()
        seconds = time.perf_counter() - begin
    terminal.say(
        f"{n_pairs:,} pairs of {options.shape}s ({mesh.n_vertices} vertices, "
        f"{mesh.n_edges} edges, {mesh.n_faces} faces each), seed {options.seed}"
    )
    print_summary(terminal, contacts, seconds)
    if options.save_input:
        save_input(mesh, bodies, pairs[:SAVED_PAIRS], options.output, terminal)
    if not options.no_pictures:
        draw_best(bodies, pairs, contacts, options.output, terminal)


def draw_best(bodies: Bodies, pairs: Array, contacts: Contacts, folder: str, terminal: Terminal) -> None:
    """Draw the pair that shows most."""
    if importlib.util.find_spec("matplotlib") is None:
        terminal.say('no pictures: they need matplotlib: pip install "gpu-collide[view]"')
        return
    i = telling_pair(contacts)
    if i is None:
        terminal.say("no pictures: no pair has a contact")
        return
    make_folder(folder)
    screen_path, space_path = (os.path.join(folder, name) for name in ("screen.png", "contacts.png"))
    save_pictures(bodies, pairs[i], contacts.of_pair(i), screen_path, space_path)
    terminal.say(f"pair {i} on the collision screen: {screen_path}")
    terminal.say(f"pair {i} and its contacts in space: {space_path}")


def telling_pair(contacts: Contacts, among: int = 5000) -> int | None:
    """The pair to show: all kinds of contact, spread over the step, several but not too many.

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


def save_input(mesh: Mesh, bodies: Bodies, pairs: Array, folder: str, terminal: Terminal) -> None:
    """Write shape and poses in the form that ``gpu-collide run`` reads."""
    make_folder(folder)
    mesh_path, poses_path = os.path.join(folder, "shape.obj"), os.path.join(folder, "poses.npz")
    with open(mesh_path, "w", encoding="ascii") as file:
        file.writelines("v {!r} {!r} {!r}\n".format(*map(float, vertex)) for vertex in mesh.vertices)
        file.writelines("f " + " ".join(str(v + 1) for v in loop) + "\n" for loop in mesh.faces)
    arrays = {}
    for name in POSE_NAMES:
        when, who = name.split("_")
        poses = getattr(bodies, when)[pairs[:, "ab".index(who)]]
        arrays[f"{name}_position"], arrays[f"{name}_quat_wxyz"] = poses.position, poses.quat_wxyz
    np.savez(poses_path, **arrays)
    terminal.say(
        f"wrote {mesh_path} and {poses_path}; try:\n"
        f"  gpu-collide run {mesh_path} {mesh_path} {poses_path} -o {os.path.join(folder, 'contacts.npz')}"
    )


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
