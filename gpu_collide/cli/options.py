"""Options that several commands share, and their conversion to arguments of queries."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any, TypeVar

from gpu_collide._options import BACKENDS, CANDIDATES, MOTIONS, PRECISIONS, REFINE, Options, Tuning
from gpu_collide.recordings.table import NAMES

if TYPE_CHECKING:
    from collections.abc import Callable

N = TypeVar("N", int, float)

SUFFIXES = {"k": 10**3, "m": 10**6, "g": 10**9}


MOST_KEPT = 64 << 20  # bytes of meshes and poses that go into a result by themselves

SEVERAL: dict[str, Any] = {"action": "append", "default": []}  # of an option that may be given several times


def add_command(
    commands: Any, name: str, action: Callable[..., Any], help: str, description: str, epilog: str
) -> argparse.ArgumentParser:
    """Add a subcommand: a line on it, what its own help says, examples below, and what it does."""
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=help,
        description=description,
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(action=action)
    return parser


def parse_bytes(text: str) -> int:
    """Number of bytes from ``500M`` or ``2G`` (powers of 1000)."""
    number = text.strip().rstrip("bB")
    suffix = number[-1:].lower()
    if suffix in SUFFIXES:
        number = number[:-1]
    try:
        value = int(float(number) * SUFFIXES.get(suffix, 1))
    except (ValueError, OverflowError):
        value = 0
    if value <= 0:
        raise argparse.ArgumentTypeError(f"expected a size such as 500M or 2G, got {text!r}")
    return value


def positive_int(text: str) -> int:
    """A whole number above zero; thousands may be separated by commas or underscores."""
    plain = text.replace(",", "").replace("_", "")
    return _number(text, plain, int, lambda value: value > 0, "a whole number above 0")


def positive_float(text: str) -> float:
    """A finite number above zero."""
    return _number(text, text, float, lambda value: 0 < value < float("inf"), "a number above 0")


def whole_number(text: str) -> int:
    """A whole number from 0 up."""
    return _number(text, text, int, lambda value: value >= 0, "a whole number from 0 up")


def _number(
    text: str, plain: str, convert: Callable[[str], N], fits: Callable[[N], bool], expected: str
) -> N:
    """`plain` as a number, or the error that says what was expected in place of `text`."""
    try:
        value = convert(plain)
    except ValueError:
        value = None
    if value is None or not fits(value):
        raise argparse.ArgumentTypeError(f"expected {expected}, got {text!r}")
    return value


def add_query_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``gpu_collide.collide``."""
    group = parser.add_argument_group("query")
    group.add_argument(
        "--motion",
        choices=MOTIONS,
        default=Options.motion,
        help="relative: each pair on one screw, that of its relative poses; body: each body on its own screw "
        f"between its poses (default: {Options.motion})",
    )
    group.add_argument(
        "--refine",
        choices=REFINE,
        default=Options.refine,
        help="exact: to rounding error, nothing missed (default); segments, pixels: the answer of the raster",
    )
    group.add_argument(
        "--candidates",
        choices=CANDIDATES,
        default=Options.candidates,
        help="how candidates are found; the contacts are the same, the speed is not (default: auto)",
    )
    size = group.add_mutually_exclusive_group()
    size.add_argument("--resolution", type=float, metavar="ROWS", help="rows per typical short edge")
    size.add_argument(
        "--pixel-size", type=float, metavar="LENGTH", help="height of a row, unit of the meshes"
    )
    group.add_argument(
        "--min-properness",
        type=float,
        default=Options.min_properness,
        metavar="P",
        help="how well the surfaces must face each other: from 1, best, to -1, all (default: -0.1)",
    )
    group.add_argument("--first", action="store_true", help="only the earliest contacts of each pair")
    group.add_argument(
        "--check-start",
        action=argparse.BooleanOptionalAction,
        default=Options.check_start,
        help="mark pairs whose solids overlap at the start as INITIAL_OVERLAP (default: yes)",
    )
    group.add_argument(
        "--exit", action="store_true", help="also when the motion takes apart pairs that meet or overlap"
    )


def add_machine_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say where to compute."""
    group = parser.add_argument_group("where to compute")
    group.add_argument(
        "--backend",
        choices=BACKENDS,
        default=Options.backend,
        help="auto takes a GPU if there is one, else the CPU (see: gpu-collide devices)",
    )
    group.add_argument(
        "--precision",
        choices=PRECISIONS,
        default=Options.precision,
        help="mixed: float32 culls, float64 decides (default)",
    )
    group.add_argument("--max-bytes", type=parse_bytes, metavar="SIZE", help="memory to use, such as 2G")


def add_bodies_option(group: Any) -> None:
    """Whether results are written with the bodies they are of."""
    group.add_argument(
        "--bodies",
        action=argparse.BooleanOptionalAction,
        help="keep meshes and poses in the .npz file as well, so that gpu-collide view needs no other "
        f"(default: up to {MOST_KEPT >> 20} MB of them)",
    )


def add_output_options(parser: argparse.ArgumentParser) -> None:
    """Add the options about how the command talks."""
    group = parser.add_argument_group("output")
    group.add_argument("-q", "--quiet", action="store_true", help="no progress, no notes")
    group.add_argument("--plain", action="store_true", help="plain text even where rich is installed")
    group.add_argument("--traceback", action="store_true", help="show the whole Python traceback of an error")


def named_columns(text: str) -> dict[str, str]:
    """Names of columns, as keywords of `Recording.from_table`."""
    known = (*NAMES, "z", "height", "valid")
    named = dict(part.partition("=")[::2] for part in text.split(","))
    for name, column in named.items():
        if name not in known or not column:
            raise argparse.ArgumentTypeError(
                f"expected NAME=COLUMN with a name out of {', '.join(known)}, got {name!r}"
            )
    return named


def add_table_options(parser: argparse.ArgumentParser) -> None:
    """How a recording that is a table of vehicles is read."""
    group = parser.add_argument_group("tables of vehicles")
    group.add_argument(
        "--columns",
        type=named_columns,
        metavar="NAME=COLUMN,...",
        help="columns that have other names than id, time, x, y, z, yaw, length, width, height",
    )
    group.add_argument("--degrees", action="store_true", help="yaw is in degrees")
    group.add_argument(
        "--rate", type=positive_float, metavar="HZ", help="frames a second, where time is a count of frames"
    )
    group.add_argument(
        "--max-gap",
        type=positive_float,
        metavar="S",
        help="seconds from which on a vehicle without a row is away (default: as the clock says)",
    )


def table_arguments(options: argparse.Namespace) -> dict[str, Any] | None:
    """What `add_table_options` gathered, as `load_recording` takes it."""
    told = {name: getattr(options, name) for name in ("degrees", "rate", "max_gap")}
    told = {name: value for name, value in told.items() if value}
    return {**(options.columns or {}), **told} or None


def query_arguments(options: argparse.Namespace) -> dict[str, Any]:
    """Keyword arguments for ``gpu_collide.collide`` from parsed options."""
    names = ("motion", "refine", "resolution", "pixel_size", "min_properness", "check_start", "exit")
    query = {name: getattr(options, name) for name in names if hasattr(options, name)}
    if hasattr(options, "candidates"):
        query["tuning"] = Tuning(candidates=options.candidates)
    if getattr(options, "first", False):
        query["contacts"] = "first"
    return {
        **query,
        "backend": options.backend,
        "precision": options.precision,
        "max_bytes": options.max_bytes,
    }
