"""`gpu-collide study`: the cost of resolution, and its benefit."""

from __future__ import annotations

import argparse
import os
import shlex
from typing import TYPE_CHECKING

from gpu_collide._options import BACKENDS, PRECISIONS, REFINE
from gpu_collide.cli.files import UserError, read_mesh
from gpu_collide.cli.options import (
    SEVERAL,
    add_command,
    add_output_options,
    positive_float,
    positive_int,
    whole_number,
)

if TYPE_CHECKING:
    from typing import Any

    from gpu_collide.cli.terminal import Terminal

EPILOG = """\
Writes study.csv, study.md and, if matplotlib is there, study.png into the folder, and of tori two figures
more; docs/study.md explains the columns. An option that may be given several times is swept.

examples:
  gpu-collide study                                            cubes, cars and tori, some minutes
  gpu-collide study --shape cars --pairs 500 --resolution 6 --resolution 24
  gpu-collide study a.obj b.obj --mode pixels --mode exact     two shapes of yours, in random impacts
  gpu-collide study --precision mixed --precision double --backend cpu --backend opencl
"""


def add_parser(commands: Any) -> None:
    """Add the command to the subparsers."""
    parser = add_command(
        commands,
        "study",
        study,
        help="resolution against errors and cost, in all modes: table, CSV and figure",
        description="Sweep the resolution of the collision screen over generated pairs or your own shapes: "
        "what is false and missed, errors in time and place, work and time.",
        epilog=EPILOG,
    )
    add = parser.add_argument
    add("meshes", nargs="*", metavar="MESH", help="one or two mesh files (default: cubes, cars and tori)")
    add(
        "--shape",
        choices=("cubes", "cars", "tori"),
        **SEVERAL,
        help="only this one; may be given several times",
    )
    add(
        "--pairs",
        type=positive_int,
        metavar="N",
        help="pairs of each shape (default: 60 tori to 4,000 cubes)",
    )
    add(
        "--resolution",
        type=positive_float,
        metavar="ROWS",
        **SEVERAL,
        help="rows per short edge (default: 1 to 96)",
    )
    add("--mode", choices=REFINE, **SEVERAL, help="default: all three")
    add("--precision", choices=PRECISIONS, **SEVERAL, help="default: mixed")
    add("--backend", choices=BACKENDS, **SEVERAL, help="default: auto")
    add("--min-properness", type=float, default=-0.1, metavar="P", help="default: -0.1")
    add("--seed", type=whole_number, default=1, help="seed of the scenes (default: 1)")
    add("--repeat", type=positive_int, default=3, help="calls of which the fastest counts (default: 3)")
    add("-o", "--output", default="gpu-collide-study", metavar="FOLDER", help="default: gpu-collide-study")
    add_output_options(parser)


def study(options: argparse.Namespace, terminal: Terminal) -> None:
    """Sweep, print the page's tables, write the files."""
    from gpu_collide.study import page as pages
    from gpu_collide.study import run

    meshes = _meshes(options)
    try:
        os.makedirs(options.output, exist_ok=True)
    except OSError as error:
        raise UserError(f"-o: cannot make the folder {options.output!r}: {error.strerror}") from error
    done = run.study(
        meshes,
        pairs=options.pairs,
        resolutions=options.resolution or run.RESOLUTIONS,
        modes=options.mode or run.MODES,
        precisions=options.precision or ("mixed",),
        backends=options.backend or ("auto",),
        min_properness=options.min_properness,
        seed=options.seed,
        repeat=options.repeat,
        progress=terminal.note,
    )
    columns = [name for name in pages.COLUMNS if not name.startswith("place_")]
    rows = [[f"{row[c]:.3g}" if isinstance(row[c], float) else row[c] for c in columns] for row in done.rows]
    terminal.table("Resolution, errors and cost", columns, rows)
    written = {"study.csv": done.csv()}
    picture = _picture(done, os.path.join(options.output, "study.png"), terminal)
    written["study.md"] = pages.page(done, _command(options), picture)
    for name, text in written.items():
        path = os.path.join(options.output, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        terminal.say(f"wrote {path}")


def _meshes(options: argparse.Namespace) -> Any:
    """What is swept over, by name; None for the usual shapes."""
    from gpu_collide.study.run import SHAPES

    if len(options.meshes) > 2:
        raise UserError(f"expected one mesh file or two, got {len(options.meshes)}")
    if options.meshes and options.shape:
        raise UserError("give mesh files or --shape, not both")
    if options.meshes:
        name = " and ".join(os.path.splitext(os.path.basename(path))[0] for path in options.meshes)
        return {name: [read_mesh(path) for path in options.meshes]}
    return {name: (SHAPES[name][0](),) for name in options.shape} or None


def _picture(done: Any, path: str, terminal: Terminal) -> str:
    """Name of the figure that was written; empty without matplotlib."""
    try:
        import matplotlib

        matplotlib.use("agg", force=False)
    except ImportError:
        terminal.say('no picture: it needs matplotlib: pip install "gpu-collide[view]"')
        return ""
    from gpu_collide.study import tori
    from gpu_collide.study.draw import draw

    drawn = {path: draw(done)}
    if any(row["shape"] == "tori" for row in done.rows):
        folder = os.path.dirname(path)
        drawn[os.path.join(folder, "tori.png")] = tori.draw_passage()
        drawn[os.path.join(folder, "tori_screen.png")] = tori.draw_screen()
    for name, figure in drawn.items():
        figure.savefig(name, dpi=110)
        terminal.say(f"wrote {name}")
    return os.path.basename(path)


def _command(options: argparse.Namespace) -> str:
    """The command with what of it changes the numbers."""
    words = ["gpu-collide", "study", *options.meshes]
    for name in ("shape", "resolution", "mode", "precision", "backend"):
        words += [word for value in getattr(options, name) for word in (f"--{name}", f"{value}")]
    words += ["--pairs", str(options.pairs)] if options.pairs else []
    words += ["--min-properness", str(options.min_properness)] if options.min_properness != -0.1 else []
    words += ["--seed", str(options.seed)] if options.seed != 1 else []
    return shlex.join(words)
