"""``gpu-collide run``: two mesh files and a poses file in, all contacts out."""

from __future__ import annotations

import argparse
import time
import warnings
from typing import TYPE_CHECKING

from gpu_collide.cli.files import (
    check_output,
    check_page,
    check_poses,
    pair_up,
    read_mesh,
    read_poses,
    write_found,
)
from gpu_collide.cli.options import (
    add_bodies_option,
    add_command,
    add_machine_options,
    add_output_options,
    add_query_options,
    query_arguments,
)
from gpu_collide.cli.summary import print_summary

if TYPE_CHECKING:
    from typing import Any

    from gpu_collide.cli.terminal import Terminal

EPILOG = """\
the poses file:
  An .npz file with eight arrays, one row per pair:
    start_a_position (n, 3)   start_a_quat_wxyz (n, 4)   where A is at the start of the step
    end_a_position            end_a_quat_wxyz            ... and at its end
    start_b_position          start_b_quat_wxyz          the same for B
    end_b_position            end_b_quat_wxyz
  A single row stands for all pairs: a still body needs its pose only once. To make one in Python:

    import numpy as np
    still, q = [[0.0, 0, 0]], [[1.0, 0, 0, 0]]
    np.savez("poses.npz",
             start_a_position=still, start_a_quat_wxyz=q, end_a_position=still, end_a_quat_wxyz=q,
             start_b_position=[[-3.0, 0, 0]], start_b_quat_wxyz=q,
             end_b_position=[[3.0, 0, 0]], end_b_quat_wxyz=q)

the result:
  contacts.npz, to be read with gpu_collide.Contacts.load("contacts.npz") or numpy.load. The contacts of pair
  i are the rows contact_start[i] to contact_start[i + 1]; toi[i] is the time of its first one. contacts.csv,
  .json and .parquet are tables with a row for each contact; docs/tables.md lists their columns with units.

examples:
  gpu-collide run a.obj b.obj poses.npz -o contacts.npz
  gpu-collide view contacts.npz -o page.html                                    to look at it
  gpu-collide run a.stl b.ply poses.npz -o contacts.npz --min-properness -1     improper contacts as well
  gpu-collide run a.obj track.glb poses.npz -o hits.npz --first --two-sided b   first contacts, open mesh B
"""


def add_mesh_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the two mesh files, the poses file, and how to read the meshes."""
    parser.add_argument("mesh_a", metavar="A", help="mesh file of A: OBJ, STL, PLY, OFF, GLB")
    parser.add_argument("mesh_b", metavar="B", help="mesh file of B")
    parser.add_argument("poses", metavar="POSES", help="poses of the pairs (.npz, see below)")
    group = parser.add_argument_group("meshes")
    group.add_argument(
        "--two-sided", choices=["a", "b", "both"], help="do not cull faces of this mesh: for open sheets"
    )
    group.add_argument(
        "--keep-triangles", action="store_true", help="do not merge coplanar triangles into polygons"
    )


def read_scene(options: argparse.Namespace, terminal: Terminal) -> Any:
    """Meshes and poses that the command names, as bodies and pairs.

    Returns
    -------
    bodies : gpu_collide.Bodies
    pairs : (n, 2) int64 ndarray
    """
    poses = read_poses(options.poses)
    check_poses(poses, options.poses, terminal)
    meshes = []
    for name, path in (("a", options.mesh_a), ("b", options.mesh_b)):
        two_sided = options.two_sided in (name, "both")
        mesh = read_mesh(path, two_sided=two_sided, keep_triangles=options.keep_triangles)
        terminal.note(f"{name.upper()}: {path}: {mesh!r}")
        if len(mesh.report):
            terminal.note(repr(mesh.report))
        if not (mesh.closed or two_sided):
            terminal.note(
                f"  {name.upper()} is open: a face is hit on the side from which its corners run "
                f"counter-clockwise; --two-sided {name} takes both sides"
            )
        meshes.append(mesh)
    return pair_up(meshes[0], meshes[1], poses)


def add_parser(commands: Any) -> None:
    """Add the command to the subparsers."""
    parser = add_command(
        commands,
        "run",
        run,
        help="find all contacts of two meshes over a file of motions",
        description="Find all contacts of two meshes over a file of motions, and write them to a file.",
        epilog=EPILOG,
    )
    add_mesh_arguments(parser)
    parser.add_argument(
        "-o",
        "--output",
        required=True,
        metavar="FILE",
        help="where the contacts go (.npz; as a table: .csv, .json, .parquet)",
    )
    add_bodies_option(parser)
    parser.add_argument("--page", metavar="FILE", help="a page for a browser as well (.html)")
    add_query_options(parser)
    add_machine_options(parser)
    add_output_options(parser)


def run(options: argparse.Namespace, terminal: Terminal) -> None:
    """Read, collide, write, and say what was found."""
    import gpu_collide as gc

    output = check_output(options.output, inputs=(options.mesh_a, options.mesh_b, options.poses))
    if options.page is not None:
        check_page(options.page, inputs=(options.mesh_a, options.mesh_b, options.poses))
    bodies, pairs = read_scene(options, terminal)
    # Invalid poses the command has already reported in terms of the file.
    warnings.filterwarnings("ignore", message=".* ha(s|ve) an invalid pose", category=RuntimeWarning)
    with terminal.progress("colliding") as update:
        begin = time.perf_counter()
        contacts = gc.collide(bodies, pairs, progress=update, **query_arguments(options)).to_numpy()
        seconds = time.perf_counter() - begin
    print_summary(terminal, contacts, seconds)
    write_found(contacts, bodies, output, options.bodies, terminal)
    if options.page:
        gc.view.page(contacts, bodies, options.page)
        terminal.say(f"wrote {options.page}")
