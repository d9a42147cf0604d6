"""`gpu-collide verify`: does this machine compute correct results?"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from gpu_collide.cli.files import check_writable
from gpu_collide.cli.options import SEVERAL, add_command, add_output_options, positive_int, whole_number

if TYPE_CHECKING:
    from typing import Any

    from gpu_collide.cli.terminal import Terminal

EPILOG = """\
Ends with 0 if all is right, else with 1. What is wrong is told with the options that repeat it alone.

examples:
  gpu-collide verify                                     a minute; what to run first on a new GPU
  gpu-collide verify --pairs 2000 --seed 7 -o page.md    longer, and kept
  gpu-collide verify --backend cuda --family resting     one family on one backend
"""


def add_parser(commands: Any) -> None:
    """Add the command to the subparsers."""
    parser = add_command(
        commands,
        "verify",
        verify,
        help="every family of scenes against the reference and brute force, on all backends",
        description="Pairs, movers and casts of every family of scenes, on all backends that are here: "
        "against the NumPy reference and brute force, and bit by bit against each other.",
        epilog=EPILOG,
    )
    add = parser.add_argument
    add("--pairs", type=positive_int, default=100, metavar="N", help="of the largest families (default: 100)")
    add("--seed", type=whole_number, default=0, help="seed of all scenes, from 0 up (default: 0)")
    more = "only this one; may be given several times"
    names = ("cpu", "opencl", "cuda")
    add("--backend", choices=names, **SEVERAL, help=f"{more} (default: all that are here)")
    add("--family", metavar="NAME", **SEVERAL, help=more)
    add("-o", "--output", metavar="FILE", help="also write the page there (Markdown)")
    add_output_options(parser)


def verify(options: argparse.Namespace, terminal: Terminal) -> int:
    """Verify, print the page, and return the exit status."""
    from gpu_collide.checks import verify as checks

    output = options.output
    if output is not None:
        check_writable(output)
    done = checks.verify(options.pairs, options.seed, options.backend, options.family, terminal.note)
    rows = []
    for line in done.lines:
        j = line.judged
        rows.append((line.family.name, line.family.what, f"{j.asked:,}", f"{j.found:,}", f"{j.sure:,}",
                     f"{j.worst:.0e}", *line.verdicts.values()))  # fmt: skip
    columns = ["family", "what", "asked", "found", "brute force", "worst", *done.devices]
    terminal.table(f"Verified: seed {done.seed}, {done.seconds:.0f} s", columns, rows)
    for name, device in done.devices.items():
        terminal.say(f"{name}: {device}")
    for why in done.left_out:
        terminal.say(f"not asked: {why}")
    for text in done.wrong:
        terminal.say(f"WRONG: {text}")
    terminal.say(
        "all right" if done.ok else f"{len(done.wrong)} things are wrong: please report them with this page"
    )
    if output is not None:
        with open(output, "w", encoding="utf-8") as file:
            file.write(checks.page(done))
        terminal.say(f"wrote {output}")
    return 0 if done.ok else 1
