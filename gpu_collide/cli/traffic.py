"""``gpu-collide traffic``: meetings and near misses in a table of vehicles."""

from __future__ import annotations

import argparse
import math
import os
import time
from typing import TYPE_CHECKING

import numpy as np

from gpu_collide.cli.batch import how_far, rows_of_run
from gpu_collide.cli.files import UserError, check_output, check_page
from gpu_collide.cli.options import (
    add_command,
    add_machine_options,
    add_output_options,
    add_table_options,
    positive_float,
    positive_int,
    table_arguments,
)
from gpu_collide.results.enums import EventKind, Side

if TYPE_CHECKING:
    from typing import Any

    from gpu_collide.cli.terminal import Terminal
    from gpu_collide.recordings.recording import Recording
    from gpu_collide.results.events import TrafficEvents

EPILOG = """\
the table:
  A .csv or .parquet file with a row for each vehicle at each time, and the columns id, time, x, y, yaw,
  length, width and, if there are any, z and height. Columns of other names are found if they have one of the
  usual ones (track_id or trackId, timestamp or t, heading or psi_rad, ...), else told by --columns. With
  --rate the time is a count of frames (frame, frame_id, ...).

other files:
  CommonRoad scenarios (.xml) and OSI ground truth (.mcap, .osi), with the extra traffic, and
  NN_tracks.csv of drone recordings laid out as inD, rounD, exiD or highD, with its meta files beside it.

the result:
  -o events.parquet, .csv or .json: a row for each meeting and each near miss, with ids, times, place, sides,
  speeds, least gap, time to collision and post-encroachment time; docs/tables.md lists the columns with their
  units. events.npz is read by gpu_collide.TrafficEvents.load.

  Of several files, or folders, -o DIR is a folder: DIR/events/*.parquet is read as one table, with the name
  of the file in its first column; DIR/errors has the files that could not be read. The run may be stopped at
  any time, and the same command with --resume goes on.

examples:
  gpu-collide traffic tracks.csv -o events.parquet --page page.html
  gpu-collide traffic tracks.csv --columns id=trackId,yaw=psi_rad --rate 25
  gpu-collide traffic USA_US101-1_1_T-1.xml --page page.html
  gpu-collide traffic scenarios/ -o out --engine processes
"""

USUAL = {
    "id": ("track_id", "trackId", "vehicle_id", "vehicleId", "agent_id", "object_id", "track"),
    "time": ("t", "timestamp", "time_s", "seconds"),
    "x": ("center_x", "xCenter", "x_center", "position_x", "pos_x"),
    "y": ("center_y", "yCenter", "y_center", "position_y", "pos_y"),
    "yaw": ("heading", "psi_rad", "psi", "theta", "orientation"),
    "length": ("l", "size_x"),
    "width": ("w", "size_y"),
}
FRAMES = ("frame_id", "frameId", "frame_number", "frameNumber", "time_step")  # of time, with --rate
FIRST = 8  # rows of each table on the terminal


def add_parser(commands: Any) -> None:
    """Add the command to the subparsers."""
    parser = add_command(
        commands,
        "traffic",
        traffic,
        help="meetings and near misses in a table of vehicles",
        description="Find who hits whom and who nearly does in a table of vehicles.",
        epilog=EPILOG,
    )
    parser.add_argument(
        "tables",
        metavar="FILE",
        nargs="+",
        help=".csv, .parquet, .xml, .mcap (see below); several of them, or folders, are a batch run",
    )
    add_table_options(parser)
    group = parser.add_argument_group("near misses")
    group.add_argument(
        "--max-distance", type=positive_float, default=1.0, metavar="L", help="nearer than this (default: 1)"
    )
    group.add_argument(
        "--max-ttc", type=positive_float, default=1.5, metavar="S", help="time to collision (default: 1.5 s)"
    )
    group.add_argument(
        "--max-pet",
        type=positive_float,
        default=5.0,
        metavar="S",
        help="post-encroachment times up to this (default: 5 s)",
    )
    group = parser.add_argument_group("steps that are no motion")
    group.add_argument("--max-speed", type=positive_float, metavar="V", help="skip steps faster than this")
    group.add_argument("--max-turn", type=positive_float, metavar="DEG", help="skip steps that turn further")
    group = parser.add_argument_group("result")
    group.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="where the events go (.parquet, .csv, ...); of many files a folder",
    )
    group.add_argument("--page", metavar="FILE", help="a page for a browser, with a time bar (.html)")
    group = parser.add_argument_group("many files")
    group.add_argument("--resume", action="store_true", help="go on with the run in -o DIR")
    group.add_argument(
        "--engine",
        choices=["serial", "processes", "ray"],
        default="serial",
        help="this process (default), processes of this machine, or a Ray cluster",
    )
    group.add_argument("--workers", type=positive_int, metavar="N", help="default: the GPUs, else the cores")
    add_machine_options(parser)
    add_output_options(parser)


def traffic(options: argparse.Namespace, terminal: Terminal) -> int:
    """Read the table, look for events, say what was found, write; or run over many."""
    from gpu_collide import view
    from gpu_collide.recordings.events import events

    if len(options.tables) > 1 or os.path.isdir(options.tables[0]):
        return run_over_many(options, terminal)
    if options.resume:
        raise UserError("--resume: expected several files, or a folder")
    path = options.tables[0]
    output = None if options.output is None else check_output(options.output, (path,))
    if options.page is not None:
        check_page(options.page, (path,))
    recording = read_table(path, options)
    begin = time.perf_counter()
    found = events(recording, **query(options))
    seconds = time.perf_counter() - begin
    name = os.path.basename(path)
    terminal.table(f"Traffic: {name}", ["", ""], summary(recording, found, seconds))
    met, near = np.flatnonzero(found.met), np.flatnonzero(~found.met)
    hardest = met[np.argsort(-found.closing_speed[met], kind="stable")][:FIRST]
    nearest = near[np.lexsort([found.gap[near], found.ttc[near]])][:FIRST]
    for title, rows in (("Meetings, the hardest", hardest), ("Near misses, the most urgent", nearest)):
        if len(rows):
            terminal.table(title, COLUMNS, [row_of(found, i) for i in rows.tolist()])
    if output:
        found.save(output)
        terminal.say(f"wrote {output}")
    if options.page:
        view.page(found, recording, options.page, title=name)
        terminal.say(f"wrote {options.page}")
    return 0


def query(options: argparse.Namespace) -> dict[str, Any]:
    """What `events` is asked with."""
    names = ("max_distance", "max_ttc", "max_pet", "max_speed", "backend", "precision", "max_bytes")
    turn = math.radians(options.max_turn) if options.max_turn else None
    return {**{name: getattr(options, name) for name in names}, "max_turn": turn}


def run_over_many(options: argparse.Namespace, terminal: Terminal) -> int:
    """A batch run; columns are found in the first file."""
    from gpu_collide import batch
    from gpu_collide.batch.traffic import recordings_in

    if options.output is None or options.page is not None:
        wrong = "--page: expected one file" if options.page else "-o: expected a folder for the events"
        raise UserError(f"{wrong}, since several files are a batch run")
    try:
        first = recordings_in(options.tables, options.output)[0].path
    except (ValueError, OSError) as error:
        raise UserError(str(error)) from error
    with terminal.progress("looking for events", unit="items") as update:
        try:
            summary = batch.events(
                options.tables, options.output, columns=columns_of(first, options), resume=options.resume,
                engine=options.engine, workers=options.workers,
                progress=lambda done: update(done.items_done, done.items, how_far(done)), **query(options),
            )  # fmt: skip
        except KeyboardInterrupt:
            terminal.note(f"{options.output} has what is done; the same command with --resume goes on")
            raise
    terminal.table(f"Traffic: {options.output}", ["", ""], rows_of_run(summary))
    return 2 if summary.failed else 0


def columns_of(path: str, options: argparse.Namespace) -> dict[str, Any]:
    """Columns that are told, and those found in a file by their usual names."""
    from gpu_collide.recordings.drone import is_drone_recording
    from gpu_collide.recordings.parquet import columns_of_file, read_rows

    suffix = os.path.splitext(path)[1].lower()
    given = table_arguments(options) or {}
    if suffix in (".csv", ".parquet") and not is_drone_recording(path):
        names = read_rows(path).column_names if suffix == ".csv" else columns_of_file(path)
        for column, usual in USUAL.items():
            own = column
            if column == "time" and options.rate:
                own, usual = "frame", FRAMES
            there = [name for name in usual if name in names]
            if column not in given and own not in names and len(there) == 1:
                given[column] = there[0]
    return given


def read_table(path: str, options: argparse.Namespace) -> Recording:
    """The recording of the table, with columns found by their usual names where none are told."""
    from gpu_collide.recordings import load_recording
    from gpu_collide.recordings.files import TRAFFIC_SUFFIXES

    if os.path.splitext(path)[1].lower() not in TRAFFIC_SUFFIXES:
        raise UserError(f"{path}: expected a table, {', '.join(TRAFFIC_SUFFIXES)}")
    if not os.path.exists(path):
        raise UserError(f"there is no file {path}")
    try:
        return load_recording(path, columns=columns_of(path, options))
    except ValueError as error:
        raise UserError(str(error).replace("; say which by ", "; say which by --columns ")) from error


def summary(recording: Recording, found: TrafficEvents, seconds: float) -> list[tuple[str, str]]:
    """Rows (what, value) about all of it."""
    kinds = [int((found.kind == kind).sum()) for kind in EventKind]
    ids = recording.ids
    return [
        ("lasted", f"{recording.seconds:.1f} s in {len(recording.times):,} frames"),
        ("vehicles", f"{len(ids):,}" + (f", {ids[0]} to {ids[-1]}" if len(ids) else "")),
        ("collisions", f"{kinds[0]:,}"),
        ("in touch when first seen", f"{kinds[1]:,}"),
        ("  missed by a test of the frames", f"{int(found.missed_by_frames.sum()):,}"),
        ("near misses", f"{kinds[2]:,}"),
        ("wall time", f"{seconds:.3f} s"),
    ]


COLUMNS = ["time", "vehicles", "sides", "speed", "gap", "depth", "ttc", "pet"]


def row_of(found: TrafficEvents, i: int) -> tuple[str, ...]:
    """A row for ``COLUMNS``."""
    sides = " ".join(str(Side(of[i]).name).lower() for of in (found.side_a, found.side_b))
    late = [f"{of[i]:.2f}" if np.isfinite(of[i]) else "" for of in (found.ttc, found.pet)]
    return (
        f"{found.time[i]:.3f}", f"{found.id_a[i]}, {found.id_b[i]}", sides, f"{found.closing_speed[i]:.2f}",
        f"{found.gap[i]:.3f}", f"{found.depth[i]:.3f}", *late,
    )  # fmt: skip
