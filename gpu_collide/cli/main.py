"""The argument parser, and how errors are reported."""

from __future__ import annotations

import argparse
import sys
import warnings
from typing import TYPE_CHECKING

from gpu_collide import _interrupt
from gpu_collide.cli import batch, demo, devices, doctor, race, run, screen, study, traffic, verify, view
from gpu_collide.cli.files import UserError
from gpu_collide.cli.terminal import Terminal

if TYPE_CHECKING:
    from collections.abc import Sequence

DESCRIPTION = """\
Every contact between moving rigid bodies during a step: when, where, between which features,
with which normal, and how properly the surfaces face each other.
"""

EPILOG = """\
start here:
  gpu-collide demo                                      100,000 pairs of cars, a table and two pictures
  gpu-collide doctor                                    what this machine has, and what to install
  gpu-collide verify                                    whether all it computes on computes rightly
  gpu-collide demo a.obj b.obj                          your own shapes, on motions that are made up
  gpu-collide run a.obj b.obj poses.npz -o contacts.npz your own shapes and motions
  gpu-collide view contacts.npz -o page.html            what was found, in a browser
  gpu-collide screen a.obj b.obj poses.npz --pair 7     look at one of them
  gpu-collide race --demo --picture track.png           a recorded race on its track
  gpu-collide race --demo --page page.html              the same in a browser, with a time bar
  gpu-collide traffic tracks.csv -o events.parquet      who hits whom in a table of vehicles
  gpu-collide batch drives/ -o out --engine processes   thousands of recordings, on all cores

Each command explains itself: gpu-collide run --help
"""


def build_parser() -> argparse.ArgumentParser:
    """The parser of the whole command.

    Returns
    -------
    argparse.ArgumentParser
    """
    from gpu_collide import __version__

    parser = argparse.ArgumentParser(
        prog="gpu-collide",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"gpu-collide {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    for module in (demo, run, race, traffic, batch, view, screen, devices, doctor, verify, study):
        module.add_parser(commands)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    argv : sequence of str, optional
        Arguments without the program's name; default ``sys.argv[1:]``.

    Returns
    -------
    int
        0 on success, 2 if the input (of `batch`: some of it) cannot be used, 1 if the machine cannot do it
        (or `doctor` or `verify` found something wrong), 130 on interruption.
    """
    parser = build_parser()
    options = parser.parse_args(argv)
    if options.command is None:
        parser.print_help()
        return 0
    terminal = Terminal(quiet=options.quiet, plain=options.plain)
    try:
        _interrupt.obey_later()
        with warnings.catch_warnings():
            # The sentence alone: the line of code that warned is none of the user's.
            warnings.showwarning = lambda message, *_: terminal.warn(message)
            code = options.action(options, terminal)
    except KeyboardInterrupt:
        _interrupt.obey_now()
        terminal.error("interrupted")
        return 130
    except BrokenPipeError:  # `gpu-collide ... | head` is not an error
        sys.stderr.close()
        return 0
    except (UserError, ValueError, TypeError, IndexError) as error:
        return _fail(options, terminal, error, 2)
    except (RuntimeError, OSError, ImportError, MemoryError) as error:
        return _fail(options, terminal, error, 1)
    return code or 0


def _fail(options: argparse.Namespace, terminal: Terminal, error: BaseException, code: int) -> int:
    if options.traceback:
        raise error
    terminal.error(str(error))
    return code
