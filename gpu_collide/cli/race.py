"""``gpu-collide race``: every contact of recorded bodies with their track, and a picture of it."""

from __future__ import annotations

import argparse
import math
import os
import time
from typing import TYPE_CHECKING

import numpy as np

from gpu_collide.cli.files import UserError, check_output, check_page, check_writable, read_mesh, write_found
from gpu_collide.cli.options import (
    add_bodies_option,
    add_command,
    add_machine_options,
    add_output_options,
    add_query_options,
    add_table_options,
    positive_float,
    positive_int,
    query_arguments,
    table_arguments,
    whole_number,
)
from gpu_collide.cli.screen import check_picture_type
from gpu_collide.cli.summary import status_text
from gpu_collide.results.enums import CONTACT_KINDS

if TYPE_CHECKING:
    from typing import Any

    from gpu_collide.cli.terminal import Terminal
    from gpu_collide.recordings.recording import Recording
    from gpu_collide.results.encounters import Encounters
    from gpu_collide.results.trajectory_contacts import TrajectoryContacts

EPILOG = """\
the recording:
  An .npz file (or a .zarr group) with the arrays
    time (t,)                              seconds
    position (t, 3)                        place of the car; of several cars (t, n, 3)
    quaternion_xyzw (t, 4)                 its orientation, or quat_wxyz with the scalar first
    car_vertices, car_faces                its mesh, triangles, in its own frame
    track_vertices, track_faces            the mesh of the track, in the world
    race_lengths (races,)                  optional: how many of the t rows belong to each race
  or a .parquet file with the columns frame, time, body, x, y, z, qw, qx, qy, qz. Meshes that the file does
  not hold are given by --car-mesh and --track-mesh.

  A table of vehicles is a .parquet or .csv file with the columns id, time, x, y, yaw, length, width and, if
  there are any, z and height: a row for each vehicle at each time, which is a box if no --car-mesh is given.
  Other names are told by --columns. Results have the ids.

the result:
  contacts.npz, to be read with gpu_collide.TrajectoryContacts.load("contacts.npz") or numpy.load: absolute
  times, places, normals, speeds per second, and the steps that were skipped. contacts.csv, .json or .parquet
  is a table with a row for each contact, and --encounters writes one with a row for each encounter: contacts
  of two bodies in consecutive steps. docs/tables.md lists the columns with their units.

examples:
  gpu-collide race --demo --picture track.png
  gpu-collide race race.npz -o contacts.npz
  gpu-collide view contacts.npz -o page.html
  gpu-collide race race.npz --max-speed 60 -o contacts.npz --picture track.png
  gpu-collide race drive.parquet --car-mesh car.obj --track-mesh track.glb --two-sided
  gpu-collide race tracks.csv --columns id=trackId,time=t,yaw=heading --degrees --motion body -o hits.csv
  gpu-collide race two.npz --car-mesh car.obj --car-mesh truck.obj --shapes 0,1,1 --track-mesh track.glb
"""

FIRST = 8  # encounters in the table, of the first and of the hardest ones
DEMO_MAX_SPEED = 70.0  # the demo's car is put back onto the road once
MOST_FACES = 10_000_000  # of a tiled track: some 10 GB of mesh


def degrees_of_turn(text: str) -> float:
    """Degrees of a turn from one pose to the next."""
    value = positive_float(text)
    if value > 180:
        raise argparse.ArgumentTypeError(
            f"expected at most 180 degrees, since no turn from pose to pose is more, got {text!r}"
        )
    return value


def numbers(text: str) -> list[int]:
    """Whole numbers from 0 up, separated by commas."""
    return [whole_number(part) for part in text.split(",")]


def add_parser(commands: Any) -> None:
    """Add the command to the subparsers."""
    parser = add_command(
        commands,
        "race",
        race,
        help="all contacts along a recording, and the track from above",
        description="Find all contacts of recorded bodies with their track and with each other.",
        epilog=EPILOG,
    )
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument(
        "recording", metavar="RECORDING", nargs="?", help=".npz, .zarr, .parquet or .csv (see below)"
    )
    source.add_argument("--demo", action="store_true", help="a made-up race that needs no file")
    parser.add_argument(
        "--seed", type=whole_number, default=1, help="seed of the demo, from 0 up (default: 1)"
    )
    add_table_options(parser)
    group = parser.add_argument_group("meshes")
    group.add_argument(
        "--car-mesh", metavar="FILE", action="append", help="mesh file of the moving bodies; may be repeated"
    )
    group.add_argument(
        "--shapes",
        type=numbers,
        metavar="K,K,...",
        help="which --car-mesh each body has, from 0 up (default: the only one, or that of its number)",
    )
    group.add_argument("--track-mesh", metavar="FILE", help="mesh file of what stands still")
    group.add_argument("--two-sided", action="store_true", help="meet the back of car and track as well")
    group.add_argument(
        "--tile", type=positive_int, default=1, metavar="K", help="K copies of the track side by side"
    )
    group = parser.add_argument_group("steps that are no motion")
    group.add_argument(
        "--max-speed", type=positive_float, metavar="V", help="skip steps faster than this, length per second"
    )
    group.add_argument(
        "--max-turn",
        type=degrees_of_turn,
        metavar="DEG",
        help="skip steps that turn further, degrees up to 180",
    )
    group = parser.add_argument_group("result")
    group.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="where the contacts go (.npz; as a table: .csv, .json, .parquet)",
    )
    add_bodies_option(group)
    group.add_argument("--encounters", metavar="FILE", help="where the encounters go (.csv, .json, ...)")
    group.add_argument(
        "--picture", metavar="FILE", help="the track from above, with the contacts (.png, ...)"
    )
    group.add_argument("--page", metavar="FILE", help="a page for a browser, with a time bar (.html)")
    group.add_argument(
        "--up",
        choices="xyz",
        help="axis of the world that points up: the picture looks down along it (default: the one along "
        "which the track is flattest)",
    )
    group.add_argument(
        "--table",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="show what broad phase and filters let through (default: yes)",
    )
    add_query_options(parser)
    add_machine_options(parser)
    add_output_options(parser)


def race(options: argparse.Namespace, terminal: Terminal) -> None:
    """Read, collide, say what was found, write and draw."""
    inputs = (options.recording, *(options.car_mesh or ()), options.track_mesh)
    output = None if options.output is None else check_output(options.output, inputs)
    table = None if options.encounters is None else check_output(options.encounters, inputs, "--encounters")
    if options.picture is not None:
        check_writable(options.picture, inputs)
        check_picture_type(options.picture)
    if options.page is not None:
        check_page(options.page, inputs)
    recording, name = read_recording(options)
    query = query_arguments(options)
    query["max_speed"] = options.max_speed or (DEMO_MAX_SPEED if options.demo else None)
    query["max_turn"] = math.radians(options.max_turn) if options.max_turn else None
    ready = prepare(recording, query)
    terminal.note(f"kernels and meshes ready after {ready:.2f} s")
    with terminal.progress("colliding", unit="steps") as update:
        begin = time.perf_counter()
        found = recording.collide(progress=update, report=True, **query)
        seconds = time.perf_counter() - begin
    terminal.table(f"Race: {name}", ["", ""], race_rows(recording, found, seconds))
    remark = odd(recording, found)
    if remark:
        terminal.say(f"{remark}\n")
    if options.table and found.report is not None:
        terminal.say(f"\n{found.report}\n")
    met = found.encounters()
    if len(met):
        print_encounters(terminal, met)
    if len(found.skipped):
        terminal.table("Skipped", ["reason", "steps", "first at"], skipped_rows(recording, found))
    if output:
        write_found(found, recording, output, options.bodies, terminal)
    if table:
        met.save(table)
        terminal.say(f"wrote {table}")
    if options.picture:
        draw(recording, found, options)
        terminal.say(f"wrote {options.picture}")
    if options.page:
        from gpu_collide import view

        up = None if options.up is None else "xyz".index(options.up)
        view.page(found, recording, options.page, up=up)
        terminal.say(f"wrote {options.page}")


def read_recording(options: argparse.Namespace) -> tuple[Recording, str]:
    """The recording that the command names, and what to call it."""
    from gpu_collide.recordings import Recording, load_recording
    from gpu_collide.scenes import demo_race, tiled

    sides = options.two_sided
    meshes = [read_mesh(path, two_sided=sides) for path in options.car_mesh or ()]
    static = read_mesh(options.track_mesh, two_sided=sides) if options.track_mesh else None
    given = {"meshes": meshes[0] if meshes else None, "static": static, "two_sided": sides}
    if options.demo:
        recording, name = (
            Recording.from_arrays(demo_race(options.seed), **given),
            f"demo, seed {options.seed}",
        )
    else:
        name, given["columns"] = options.recording, table_arguments(options)
        try:
            recording = load_recording(options.recording, **given)
            if len(meshes) > 1 or options.shapes is not None:
                given.update(meshes=meshes, shape=shapes_of(options.shapes, len(meshes), recording.n_bodies))
                recording = load_recording(options.recording, **given)
        except FileNotFoundError as error:
            raise UserError(str(error).removeprefix("path: ")) from error
        except ValueError as error:
            text = str(error).removeprefix("path: ")
            raise UserError(text.replace("pass meshes=", "give it with --car-mesh")) from error
    if options.tile > 1:
        if recording.static is None or len(recording.static) != 1:
            raise UserError("--tile: expected a recording with one track")
        faces = recording.static.meshes[0].n_faces
        if options.tile * faces > MOST_FACES:
            raise UserError(
                f"--tile: expected at most {max(MOST_FACES // faces, 1):,} copies of this track of {faces:,} "
                f"faces ({MOST_FACES:,} in all), got {options.tile:,}"
            )
        recording = recording.with_static(tiled(recording.static.meshes[0], options.tile))
    return recording, os.path.basename(str(name).rstrip("/"))


def shapes_of(shapes: list[int] | None, meshes: int, bodies: int) -> list[int]:
    """Which mesh each body has."""
    if not meshes:
        raise UserError("--shapes: expected --car-mesh as well, once for each shape")
    if shapes is None and meshes == bodies:
        return list(range(bodies))
    if shapes is None or len(shapes) != bodies or max(shapes) >= meshes:
        got = "none" if shapes is None else ",".join(map(str, shapes))
        raise UserError(
            f"--shapes: expected {bodies} numbers from 0 to {meshes - 1}, the --car-mesh of each body, got "
            f"{got}"
        )
    return shapes


def prepare(recording: Recording, query: dict[str, Any]) -> float:
    """Compile the kernels and pack the meshes, by a first step; returns the seconds that took."""
    from gpu_collide.queries.trajectories import collide_trajectories

    begin = time.perf_counter()
    stop = min(2, len(recording.times))
    first = recording.poses(0, stop)
    times = np.arange(stop, dtype=float)
    collide_trajectories(recording.meshes, recording.shape, first, times, static=recording.static, **query)
    return time.perf_counter() - begin


def race_rows(recording: Recording, found: TrajectoryContacts, seconds: float) -> list[tuple[str, str]]:
    """Rows (what, value) about the race as a whole."""
    import gpu_collide as gc

    steps, races = recording.n_steps, len(recording.race_lengths)
    faces = 0 if recording.static is None else sum(
        recording.static.meshes[s].n_faces for s in recording.static.shape
    )  # fmt: skip
    near = steps_near(found)
    hit = len(np.unique(found.step))
    rows = [("lasted", f"{recording.seconds:.1f} s" + (f" in {races} races" if races > 1 else ""))]
    if recording.n_bodies > 1:
        rows.append(("bodies", f"{recording.n_bodies:,}"))
    if recording._ids_in_info and recording.n_bodies:
        rows.append(("their ids", f"{recording.ids[0]} to {recording.ids[-1]}"))
    rows += [
        ("steps", f"{steps:,}"),
        ("faces of the track", f"{faces:,}"),
        (
            "faces of a body",
            ", ".join(f"{faces:,}" for faces in sorted({m.n_faces for m in recording.meshes})),
        ),
        ("steps with track or bodies near", _of(near, steps)),
        ("steps with contact", _of(hit, steps)),
        ("contacts", f"{len(found):,}"),
    ]
    for kind in CONTACT_KINDS:
        rows.append((f"  {kind.name}", f"{int(np.count_nonzero(found.kind == kind)):,}"))
    trouble = found.pairs["status"]
    for status in (gc.Status.INITIAL_OVERLAP, gc.Status.INVALID_INPUT, gc.Status.UNRESOLVED):
        if (trouble == status).any():
            rows.append((f"pairs {status_text(status)}", f"{int((trouble == status).sum()):,}"))
    rows.append(("bodies skipped in a step", f"{len(found.skipped):,}"))
    looked = steps_looked_at(recording, found)
    if looked < steps:
        rows.append(("steps looked at", _of(looked, steps)))
    rows.append(("backend", f"{found.info.get('backend', '?')} ({found.info.get('device', '?')})"))
    rows.append(("wall time", f"{seconds:.3f} s"))
    if looked and seconds > 0:
        rows.append(("time per step", f"{1e6 * seconds / steps:.1f} us"))
        rows.append(("faster than driven", f"{recording.seconds / seconds:,.1f} times"))
    return rows


def steps_near(found: TrajectoryContacts) -> Any:
    """Steps in which something comes near: near faces where they were counted, else boxes that meet."""
    one_pair = len(found.step_pairs) and found.step_pairs.max() <= 1
    if one_pair and found.report is not None and "near features" in found.report:
        return found.report["near features"].passed
    return int(np.count_nonzero(found.step_pairs))


def steps_looked_at(recording: Recording, found: TrajectoryContacts) -> int:
    """Steps in which at least one body was not skipped."""
    out = np.bincount(found.skipped["step"])
    return recording.n_steps - int(np.count_nonzero(out >= max(recording.n_bodies, 1)))


def odd(recording: Recording, found: TrajectoryContacts) -> str | None:
    """Why nothing can have been found, in a sentence or two, or None."""
    steps = recording.n_steps
    if not steps:
        frames = len(recording.times)
        return f"There was no step to look at: it takes two frames in a race, and the recording has {frames}."
    if not steps_looked_at(recording, found):
        reasons = [str(reason) for reason in np.unique(found.skipped["reason"])]
        remedies = {
            "invalid": "poses must be finite, with quaternions of length 1",
            "teleport": "is --max-speed in the recording's unit of length per second?",
            "turn": "is --max-turn in degrees?",
        }
        why = "; ".join(remedies[reason] for reason in reasons)
        return f"No step was looked at: all {steps:,} were skipped ({', '.join(reasons)}). Remedy: {why}"
    if recording.static is None and recording.n_bodies < 2:
        return "There was nothing to meet: the recording has no track (--track-mesh) and no second body."
    if not steps_near(found):
        what = "another body" if recording.static is None else "the track"
        return f"No body was ever near {what}: are they of one scale, in one unit and frame?"
    return None


ENCOUNTER_COLUMNS = ["from", "to", "steps", "bodies", "place", "approach", "contacts"]


def print_encounters(terminal: Terminal, met: Encounters) -> None:
    """The first encounters by time, and the hardest ones if there are more."""
    many = len(met) > FIRST
    title = f"Encounters, the first {FIRST} of {len(met):,}" if many else "Encounters"
    terminal.table(title, ENCOUNTER_COLUMNS, encounter_rows(met[:FIRST]))
    if many:
        hardest = np.argsort(-met.approach, kind="stable")[:FIRST]
        terminal.table("The hardest, by time", ENCOUNTER_COLUMNS, encounter_rows(met[hardest]))
    terminal.say("Place and approach (length per second along the normal) are those of the hardest contact.")
    if ((met.approach < 0) & (met.contacts > 0)).any():
        terminal.say("A negative approach: the bodies separate.")
    if (met.contacts == 0).any():
        terminal.say("Without contacts: they overlap all the time.")
    if met.in_touch.any():
        terminal.say("*: already in touch when it begins; the data do not show how they met.")
    terminal.say()


def encounter_rows(met: Encounters) -> list[Any]:
    """Rows for ``ENCOUNTER_COLUMNS``."""
    rows = []
    for e, a, b in zip(met, met.id_a.tolist(), met.id_b.tolist(), strict=True):
        a, b = (number if name is None else name for number, name in ((e["body_a"], a), (e["body_b"], b)))
        steps = f"{e['first_step']}" + (f"-{e['last_step']}" if e["last_step"] > e["first_step"] else "")
        begin = f"{e['first_time']:.3f}" + ("*" if e["in_touch"] else "")
        bodies, place, approach = f"{a}, {b}", "", ""
        if e["contacts"]:
            place, approach = ", ".join(f"{v:.1f}" for v in e["position"]), f"{e['approach']:.2f}"
        rows.append((begin, f"{e['last_time']:.3f}", steps, bodies, place, approach, f"{e['contacts']:,}"))
    return rows


def skipped_rows(recording: Recording, found: TrajectoryContacts) -> list[Any]:
    """Rows (reason, count, when first)."""
    reasons = found.skipped["reason"]
    rows = []
    for reason in np.unique(reasons):
        first = found.skipped["step"][reasons == reason][0]
        rows.append((str(reason), f"{int((reasons == reason).sum()):,}", f"{recording.times[first]:.3f} s"))
    return rows


def draw(recording: Recording, found: TrajectoryContacts, options: argparse.Namespace) -> None:
    """Write the picture of the track."""
    import matplotlib

    matplotlib.use("agg", force=False)  # files only: a window system need not be there
    from gpu_collide import view

    up = None if options.up is None else "xyz".index(options.up)
    view.save(view.plot_track(recording, found, up=up), options.picture, dpi=110)


def _of(count: int, total: int) -> str:
    return f"{count:,}" + (f" ({100 * count / total:.1f} %)" if total else "")
