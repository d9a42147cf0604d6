"""``gpu-collide view``: a page for a browser, of a result and the files that it was made from."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from gpu_collide.cli.files import UserError, check_page, is_numpy_file
from gpu_collide.cli.options import add_command, add_output_options, add_table_options, positive_int
from gpu_collide.cli.race import numbers, read_recording
from gpu_collide.cli.run import read_scene

if TYPE_CHECKING:
    from typing import Any

    from gpu_collide.cli.terminal import Terminal

EPILOG = """\
The page is one file that a browser opens without any other: bodies that move, a time bar, and a list of
contacts to click on. RESULT is the .npz file that "run" or "race" wrote, or in Python
gpu_collide.view.save_result: of pairs, worlds, a recording, movers, what is swept, characters. A file
that holds contacts alone (of Contacts.save, or written with --no-bodies) takes the files that it was made
from behind it.

examples:
  gpu-collide run a.obj b.obj poses.npz -o contacts.npz
  gpu-collide view contacts.npz -o page.html
  gpu-collide race --demo -o race.npz
  gpu-collide view race.npz -o race.html --up z
  gpu-collide view old.npz a.obj b.obj poses.npz -o page.html      contacts alone, of pairs
  gpu-collide view old.npz race.npz -o page.html                   ... of a recording
"""


def add_parser(commands: Any) -> None:
    """Add the command to the subparsers."""
    parser = add_command(
        commands,
        "view",
        view,
        help="a page for a browser: bodies that move, contacts to click on",
        description="Make a page for a browser of a result.",
        epilog=EPILOG,
    )
    parser.add_argument("result", metavar="RESULT", help="as run, race or view.save_result wrote it (.npz)")
    parser.add_argument(
        "inputs",
        metavar="FILE",
        nargs="*",
        help="of contacts alone what they were made from; of run: A, B and POSES; of race: the RECORDING",
    )
    parser.add_argument("-o", "--output", default="page.html", metavar="FILE", help="default: page.html")
    parser.add_argument(
        "--most", type=positive_int, metavar="N", help="at most so many pairs with contacts (default: 500)"
    )
    parser.add_argument("--up", choices="xyz", help="axis of the world that points up")
    group = parser.add_argument_group("meshes of a recording that the file does not hold")
    group.add_argument("--car-mesh", metavar="FILE", action="append", help="of the moving bodies")
    group.add_argument("--shapes", type=numbers, metavar="K,K,...", help="which --car-mesh each body has")
    group.add_argument("--track-mesh", metavar="FILE", help="of what stands still")
    add_table_options(parser)
    add_output_options(parser)
    parser.set_defaults(two_sided=False, keep_triangles=False, demo=False, tile=1, mesh_a=None, mesh_b=None)


def view(options: argparse.Namespace, terminal: Terminal) -> None:
    """Read the result and its bodies, and write the page."""
    import gpu_collide as gc

    check_page(options.output, (options.result, *options.inputs))
    up = None if options.up is None else "xyz".index(options.up)
    if not options.inputs:
        result, scene, how = read_kept(options.result)
        gc.view.page(result, scene, options.output, up=up, most=options.most, **how)
        terminal.say(f"wrote {options.output}")
        return
    result = read_result(options.result)
    if isinstance(result, gc.TrajectoryContacts):
        if len(options.inputs) != 1:
            raise UserError(f"{options.result} is of a recording: expected that one file behind it")
        options.recording = options.inputs[0]
        scene, _ = read_recording(options)
    else:
        if len(options.inputs) != 3:
            raise UserError(f"{options.result} is of pairs: expected A, B and POSES behind it")
        options.mesh_a, options.mesh_b, options.poses = options.inputs
        options.two_sided = None
        scene, pairs = read_scene(options, terminal)
        if len(pairs) != result.n_pairs:
            raise UserError(
                f"{options.poses}: expected the poses of the {result.n_pairs:,} pairs of {options.result}, "
                f"got {len(pairs):,}"
            )
    gc.view.page(result, scene, options.output, up=up, most=options.most)
    terminal.say(f"wrote {options.output}")


def read_kept(path: str) -> tuple[Any, Any, dict[str, Any]]:
    """What `view.save_result` wrote, or the complaint that says what to name as well."""
    from gpu_collide import view

    try:
        return view.load_result(path)
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror or error}") from error
    except ValueError as error:
        text = str(error).removeprefix("path: ")
        if "holds a result alone" in text:
            text = (
                f"{path} holds a result alone: name what it was made from behind it, as in gpu-collide view "
                f"{path} A B POSES (of run) or gpu-collide view {path} RECORDING (of race); what Python "
                "writes by gpu_collide.view.save_result holds all that a page shows"
            )
        raise UserError(text) from error


def read_result(path: str) -> Any:
    """The contacts in a file."""
    import gpu_collide as gc
    from gpu_collide.results.npz import open_npz

    try:
        if not is_numpy_file(path):
            raise UserError(f"{path}: expected a result in .npz, as run and race write it with -o")
        with open_npz(path, "a result in .npz") as reader:
            kind = str(reader.read("format_kind")) if "format_kind" in reader.names else "Contacts"
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror or error}") from error
    except (TypeError, ValueError) as error:
        text = str(error).removeprefix("path: ")
        raise UserError(f"{path}: not a result that can be read: {text}") from error
    if kind not in ("Contacts", "TrajectoryContacts"):
        raise UserError(
            f"{path} holds {kind}, which cannot be shown from files: write it in Python by "
            "gpu_collide.view.save_result"
        )
    try:
        return getattr(gc, kind).load(path)
    except ValueError as error:
        raise UserError(str(error).removeprefix("path: ")) from error
