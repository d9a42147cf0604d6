"""``gpu-collide batch``: every contact along many recordings, as tables in a folder."""

from __future__ import annotations

import argparse
import math
from typing import TYPE_CHECKING

from gpu_collide.cli.files import read_mesh
from gpu_collide.cli.options import (
    add_command,
    add_machine_options,
    add_output_options,
    add_query_options,
    positive_float,
    positive_int,
    query_arguments,
    whole_number,
)
from gpu_collide.cli.race import degrees_of_turn, numbers

if TYPE_CHECKING:
    from typing import Any

    from gpu_collide.batch import BatchSummary
    from gpu_collide.cli.terminal import Terminal

EPILOG = """\
the recordings:
  .npz, .zarr or .parquet, as gpu-collide race reads them, and folders: then all recordings in them. Meshes
  that the files do not hold are given by --car-mesh and --track-mesh, the same for all.

the result:
  DIR/contacts, pairs, skipped, encounters, near_misses, errors: Parquet files, read as one table each by
  pandas.read_parquet("DIR/contacts"), for instance; the first column is the name of the recording. The same
  bytes whatever the engine and the number of workers.

  The run may be stopped at any time; the same command with --resume goes on. A recording that cannot be
  read is a row of errors, and the others go on. Exit code: 0 if all recordings are done, 2 if some failed,
  130 if it was cancelled.

examples:
  gpu-collide batch drives/ --car-mesh car.obj --track-mesh track.glb -o out --engine processes
  gpu-collide batch drives/ --car-mesh car.obj --track-mesh track.glb -o out --engine processes --resume
  gpu-collide batch drives/*.zarr --car-mesh car.obj -o out --engine ray --tables encounters
  gpu-collide batch drives/ --car-mesh car.obj -o out --max-distance 2           near misses as well
  gpu-collide batch --verify -o out                                   every file against its digest
"""


def add_parser(commands: Any) -> None:
    """Add the command to the subparsers."""
    parser = add_command(
        commands,
        "batch",
        batch,
        help="all contacts along many recordings, on many processors",
        description="Find all contacts along many recordings, and write them as tables to a folder.",
        epilog=EPILOG,
    )
    parser.add_argument("inputs", metavar="INPUT", nargs="*", help="recordings, or folders of them")
    parser.add_argument("-o", "--output", metavar="DIR", required=True, help="folder for the results")
    parser.add_argument("--resume", action="store_true", help="go on with the run in DIR")
    parser.add_argument("--verify", action="store_true", help="only check the files in DIR, by their digests")
    group = parser.add_argument_group("who works")
    group.add_argument(
        "--engine",
        choices=["serial", "processes", "ray"],
        default="serial",
        help="this process (default), processes of this machine (one for each GPU), or a Ray cluster",
    )
    group.add_argument("--workers", type=positive_int, metavar="N", help="default: the GPUs, else the cores")
    group.add_argument("--threads", type=positive_int, metavar="N", help="of each worker, on the CPU")
    group.add_argument(
        "--retries",
        type=whole_number,
        default=2,
        metavar="N",
        help="how often a part is begun again whose process ended (default: 2)",
    )
    group.add_argument(
        "--poses-per-item",
        type=positive_int,
        default=1 << 18,
        metavar="N",
        help="recordings are bundled and cut to items of so many poses (default: 262,144)",
    )
    group.add_argument("--stop-on-error", action="store_true", help="end the run at the first bad recording")
    group = parser.add_argument_group("meshes")
    group.add_argument(
        "--car-mesh", metavar="FILE", action="append", help="mesh file of the moving bodies; may be repeated"
    )
    group.add_argument(
        "--shapes", type=numbers, metavar="K,K,...", help="which --car-mesh each body has, from 0 up"
    )
    group.add_argument("--track-mesh", metavar="FILE", help="mesh file of what stands still")
    group.add_argument("--two-sided", action="store_true", help="meet the back of car and track as well")
    group = parser.add_argument_group("steps that are no motion")
    group.add_argument(
        "--max-speed", type=positive_float, metavar="V", help="skip steps faster than this, length per second"
    )
    group.add_argument(
        "--max-turn", type=degrees_of_turn, metavar="DEG", help="skip steps that turn further, degrees"
    )
    parser.add_argument(
        "--tables",
        metavar="NAME,NAME,...",
        type=lambda text: text.split(","),
        help="which tables: contacts, pairs, skipped, encounters, near_misses (default: all)",
    )
    parser.add_argument(
        "--max-distance",
        type=positive_float,
        metavar="LENGTH",
        help="the table near_misses: where bodies pass each other, or the track, as near as this",
    )
    add_query_options(parser)
    add_machine_options(parser)
    add_output_options(parser)


def batch(options: argparse.Namespace, terminal: Terminal) -> int:
    """Run, with progress, and say what came of it; or verify."""
    from gpu_collide import batch as runs

    if options.verify:
        return _verify(options.output, terminal)
    sides = options.two_sided
    meshes = [read_mesh(path, two_sided=sides) for path in options.car_mesh or ()]
    shapes = options.shapes or (list(range(len(meshes))) if len(meshes) > 1 else None)
    query = query_arguments(options)
    with terminal.progress("colliding", unit="items") as update:
        try:
            summary = runs.collide(
                options.inputs,
                options.output,
                meshes=meshes or None,
                shape=shapes,
                static=read_mesh(options.track_mesh, two_sided=sides) if options.track_mesh else None,
                two_sided=sides,
                engine=options.engine,
                workers=options.workers,
                threads_per_worker=options.threads,
                tables=options.tables,
                max_distance=options.max_distance,
                poses_per_item=options.poses_per_item,
                resume=options.resume,
                retries=options.retries,
                on_error="raise" if options.stop_on_error else "record",
                progress=lambda done: update(done.items_done, done.items, how_far(done)),
                max_speed=options.max_speed,
                max_turn=math.radians(options.max_turn) if options.max_turn else None,
                **query,
            )
        except KeyboardInterrupt:
            terminal.note(f"{options.output} has what is done; the same command with --resume goes on")
            raise
    terminal.table(f"Batch: {options.output}", ["", ""], rows_of_run(summary))
    return 2 if summary.failed else 0


def how_far(done: BatchSummary) -> str:
    """Rate, failures so far, time left."""
    rate = (done.items_done - done.items_found) / done.seconds if done.seconds else 0.0
    left = f"{done.seconds_left:,.0f} s left"
    return f"{done.recordings_done:,} recordings, {rate:.3g} items/s, {done.failed:,} failed, {left}"


def rows_of_run(summary: BatchSummary) -> list[tuple[str, str]]:
    items = f"{summary.items:,}"
    if summary.items_found:
        items += f", of which {summary.items_found:,} were done before"
    return [
        ("recordings", f"{summary.recordings_done:,}"),
        ("failed", f"{summary.failed:,}" + (" (see errors)" if summary.failed else "")),
        ("items", items),
        *((name, f"{rows:,} rows") for name, rows in summary.rows.items() if name != "errors"),
        ("seconds", f"{summary.seconds:.2f}"),
    ]


def _verify(folder: str, terminal: Terminal) -> int:
    from gpu_collide import batch as runs

    wrong = runs.verify(folder)
    for line in wrong[:20]:
        terminal.say(line)
    terminal.say(f"{len(wrong):,} faults" if wrong else f"{folder}: every file is what was written")
    return 1 if wrong else 0
