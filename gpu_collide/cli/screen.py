"""``gpu-collide screen``: pictures of one pair of a poses file."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING

from gpu_collide.cli.files import UserError, check_writable
from gpu_collide.cli.options import add_command, add_machine_options, add_output_options, positive_float
from gpu_collide.cli.run import add_mesh_arguments, read_scene

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gpu_collide.bodies.bodies import Bodies
    from gpu_collide.cli.terminal import Terminal

EPILOG = """\
The collision screen is spanned by r, the distance from the axis of the relative screw motion, and h, the
distance across the flow. Points of A and B can only meet where they share a place on the screen, so every
contact of the step lies where the drawings of A and B cross. Those that are marked passed the tests of time
and properness.

The poses file is the one of "gpu-collide run" (see: gpu-collide run --help).

examples:
  gpu-collide screen a.obj b.obj poses.npz --pair 7 -o screen.png
  gpu-collide screen a.obj b.obj poses.npz --pair 7 -o screen.png --resolution 24 --space contacts.png
"""


def add_parser(commands: Any) -> None:
    """Add the command to the subparsers."""
    parser = add_command(
        commands,
        "screen",
        draw,
        help="draw a pair on the collision screen",
        description="Draw one pair of a poses file on the collision screen.",
        epilog=EPILOG,
    )
    add_mesh_arguments(parser)
    parser.add_argument("--pair", type=int, default=0, metavar="N", help="row of the poses file (default: 0)")
    parser.add_argument("-o", "--output", default="screen.png", metavar="FILE", help="default: screen.png")
    parser.add_argument("--space", metavar="FILE", help="also draw the contacts in space, into this file")
    parser.add_argument(
        "--resolution",
        type=positive_float,
        default=6.0,
        metavar="ROWS",
        help="rows per typical short edge (default: 6)",
    )
    parser.add_argument(
        "--min-properness", type=float, default=-0.1, metavar="P", help="contacts to mark (default: -0.1)"
    )
    add_machine_options(parser)
    add_output_options(parser)


def save_pictures(
    bodies: Bodies,
    pair: Sequence[int],
    contacts: Any,
    screen_path: str | None = None,
    space_path: str | None = None,
    resolution: float = 6.0,
) -> None:
    """Write the picture of the screen and the one in space.

    Parameters
    ----------
    bodies : gpu_collide.Bodies
    pair : sequence of two int
        The bodies A and B.
    contacts : structured ndarray
        Contacts of this pair (``Contacts.of_pair``).
    screen_path, space_path : str, optional
        Files to write; a picture without a path is not drawn.
    resolution : float
        Rows of the screen per typical short edge.

    Raises
    ------
    UserError
        If matplotlib is not installed.
    """
    try:
        import matplotlib

        # Files only: a window system need not be there, and the user's own choice is not touched.
        matplotlib.use("agg", force=False)
        from gpu_collide import view
    except ImportError as error:
        raise UserError(f'pictures need matplotlib: pip install "gpu-collide[view]" ({error})') from error
    if screen_path:
        view.save(view.plot_screen(bodies, pair, contacts, resolution=resolution), screen_path)
    if space_path:
        view.save(view.plot_contacts(bodies, pair, contacts), space_path)


def check_picture_type(path: str) -> None:
    """Complain before the work if matplotlib is missing or cannot write this type of file."""
    try:
        from matplotlib.backend_bases import FigureCanvasBase
    except ImportError as error:
        raise UserError(f'pictures need matplotlib: pip install "gpu-collide[view]" ({error})') from error
    known = sorted(FigureCanvasBase.get_supported_filetypes())
    suffix = os.path.splitext(path)[1].lower()
    if suffix and suffix[1:] not in known:  # without one matplotlib adds .png
        raise UserError(f"cannot write {path}: expected a name ending in one of {', '.join(known)}")


def draw(options: argparse.Namespace, terminal: Terminal) -> None:
    """Collide the one pair and draw it."""
    import gpu_collide as gc

    inputs = (options.mesh_a, options.mesh_b, options.poses)
    for path in (path for path in (options.output, options.space) if path is not None):
        check_writable(path, inputs)
        check_picture_type(path)
    if options.space is not None and os.path.abspath(options.space) == os.path.abspath(options.output):
        raise UserError(f"--space: expected another file than -o, got {options.space} for both")
    bodies, pairs = read_scene(options, terminal)
    if not 0 <= options.pair < len(pairs):
        raise UserError(f"--pair {options.pair}: the poses file has the pairs 0 to {len(pairs) - 1}")
    pair = pairs[options.pair]
    contacts = gc.collide(
        bodies,
        pair[None],
        min_properness=options.min_properness,
        backend=options.backend,
        precision=options.precision,
        max_bytes=options.max_bytes,
    ).to_numpy()
    terminal.say(repr(contacts))
    save_pictures(bodies, pair, contacts.of_pair(0), options.output, options.space, options.resolution)
    terminal.say("wrote " + " and ".join(filter(None, (options.output, options.space))))
