"""Command line of the benchmark: which cases, how large, on what, and where the results go."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from bench import cases as speed
from bench.report import ROOT
from bench.settings import BenchError, Settings
from gpu_collide._options import BACKENDS, PRECISIONS, REFINE, Options
from gpu_collide.errors import GpuCollideError

_EPILOG = """examples:
  python -m bench fcl                      beside python-fcl: cubes, cars, tori, with the ratios
  python -m bench cubes cars               every mode and resolution of two shapes
  python -m bench all --quick              everything once, small: does it work?
  python -m bench race RACE.npz            a recorded race on its track
  python -m bench -f cars --backend opencl --pairs 20000

Each result is checked before it is timed. Full runs are kept as CSV in bench/results/<device>/; a run with
--quick, --pairs, --resolution, --mode or fewer --faces is kept only if --results names a folder.
"""


def parser(cases=speed, prog="python -m bench") -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(
        prog=prog,
        description="Speed of gpu_collide." if cases is speed else cases.__doc__.splitlines()[0],
        epilog=_EPILOG if cases is speed else None,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    p.add_argument(
        "cases", nargs="*", metavar="CASE", help=f"{', '.join(cases.NAMES)}, or all; race takes a path"
    )
    p.add_argument("-f", "--filter", metavar="NAME", help="run the cases whose name contains NAME")
    p.add_argument("-l", "--list", action="store_true", help="list the cases and stop")
    p.add_argument("--backend", "--device", default=Options.backend, choices=BACKENDS)
    p.add_argument("--precision", default=Options.precision, choices=PRECISIONS)
    p.add_argument("--pairs", type=_positive, help="pairs of every case (default: each case's own number)")
    p.add_argument("--seed", type=_seed, default=0)
    p.add_argument("--repeat", type=_positive, default=5, help="timed runs after the warm-up (default 5)")
    p.add_argument("--mode", action="append", choices=REFINE, help="may be repeated")
    p.add_argument("--resolution", action="append", type=_rows, help="rows per short edge; may be repeated")
    p.add_argument(
        "--properness",
        type=_properness,
        default=Options.min_properness,
        help="threshold of properness (default -0.1)",
    )
    p.add_argument("--quick", action="store_true", help="a twentieth of the pairs, two timed runs")
    p.add_argument("--results", type=Path, help="folder for CSV files (default for full runs: bench/results)")
    p.add_argument("--no-save", action="store_true", help="write no CSV")
    p.add_argument("--figure", type=_figure, metavar="FILE", help="where studies and the case moves draw")
    p.add_argument(
        "--lines", type=_positive, nargs="?", const=40, default=0, metavar="N",
        help="counted: also the N (default 40) functions, and the N lines, that cost the most",
    )  # fmt: skip
    p.add_argument(
        "--faces", type=_positive, default=Settings.faces, metavar="N",
        help=f"dense: meshes of up to N faces (default {Settings.faces})",
    )  # fmt: skip
    return p


def main(argv: list[str] | None = None, cases=speed, prog: str = "python -m bench") -> int:
    """Run the cases that `argv` names out of `cases`: those of the bench, or another package made alike."""
    options = parser(cases, prog)
    arguments = options.parse_args(argv)
    if arguments.list:
        for name in cases.NAMES:
            print(f"{name:<12}{cases.load(name).HELP}")
        return 0
    names, paths = _select(arguments, cases, options.error)
    settings = _settings(arguments, paths)
    failed = []
    for name in names:
        try:
            cases.load(name).run(settings)
        except (BenchError, GpuCollideError, OSError) as error:
            print(f"{name}: {error}", file=sys.stderr)
            failed.append(name)
    return 1 if failed else 0


def _select(arguments, cases, refuse):
    """Names of the cases and the paths among the positional arguments."""
    paths = tuple(Path(word) for word in arguments.cases if word.endswith(".npz"))
    words = [word for word in arguments.cases if not word.endswith(".npz")]
    unknown = [word for word in words if word not in (*cases.NAMES, "all")]
    if unknown:
        refuse(f"no case {unknown[0]!r}; there are {', '.join(cases.NAMES)} and all")
    if arguments.filter:
        words += [name for name in cases.NAMES if arguments.filter in name]
        if not words:
            refuse(f"no case is named like {arguments.filter!r}; there are {', '.join(cases.NAMES)}")
    if not words and not paths:
        refuse("name a case, or all; --list shows them")
    if paths and "race" not in cases.NAMES:
        refuse(f"expected {', '.join(cases.NAMES)} or all, got the recording {paths[0]}")
    if not words:
        words = ["race"]
    if "all" in words:  # the race needs a recording, which does not come with the project
        words = [name for name in cases.NAMES if name != "race" or paths]
    return list(dict.fromkeys(words)), paths


def _settings(arguments, paths):
    changed = arguments.quick or arguments.pairs or arguments.resolution or arguments.mode
    changed = changed or arguments.faces < Settings.faces
    results = arguments.results or (None if changed else ROOT / "bench" / "results")
    modes = tuple(dict.fromkeys(arguments.mode or ("exact", "segments", "pixels")))
    return Settings(
        backend=arguments.backend,
        precision=arguments.precision,
        pairs=arguments.pairs,
        seed=arguments.seed,
        repeat=min(arguments.repeat, 2) if arguments.quick else arguments.repeat,
        quick=arguments.quick,
        refines=modes,
        resolutions=tuple(arguments.resolution) if arguments.resolution else None,
        min_properness=arguments.properness,
        paths=paths,
        results=None if arguments.no_save else results,
        figure=arguments.figure,
        lines=arguments.lines,
        faces=arguments.faces,
    )


def _number(text, kind, good, expected):
    """`text` as a number for which `good` holds."""
    try:
        value = kind(text)
    except ValueError:
        value = None
    if value is None or not good(value):
        raise argparse.ArgumentTypeError(f"expected {expected}, got {text!r}")
    return value


def _figure(text):
    path = Path(text)
    if path.suffix.lower() not in (".png", ".svg", ".pdf"):
        raise argparse.ArgumentTypeError(f"expected a name ending in .png, .svg or .pdf, got {text!r}")
    return path


def _positive(text):
    return _number(text, int, lambda n: 1 <= n < 2**31, "a whole number of at least 1")


def _seed(text):
    return _number(text, int, lambda n: 0 <= n < 2**63, "a whole number of at least 0")


def _rows(text):
    return _number(text, float, lambda x: 0 < x < float("inf"), "a number above 0")


def _properness(text):
    return _number(text, float, lambda x: -1 <= x <= 1, "a number from -1 to 1")
