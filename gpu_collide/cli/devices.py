"""`gpu-collide devices`: the devices of this machine that can be used."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING

from gpu_collide.cli.options import add_command, add_output_options
from gpu_collide.errors import DOCTOR

if TYPE_CHECKING:
    from typing import Any

    from gpu_collide.cli.terminal import Terminal

EPILOG = """\
A device counts as usable after a small kernel gave the right bits on it. The backend that "auto" takes is the
first usable one of: cuda, cpu, opencl, reference; the environment variable GPU_COLLIDE_BACKEND narrows it to
one name, or to several separated by commas.
"""


def add_parser(commands: Any) -> None:
    """Add the command to the subparsers."""
    parser = add_command(
        commands,
        "devices",
        list_devices,
        help="list the backends and devices, and why one is not usable",
        description="List the backends and devices of this machine, and why one is not usable.",
        epilog=EPILOG,
    )
    add_output_options(parser)


def list_devices(options: argparse.Namespace, terminal: Terminal) -> None:
    """Print the table of devices."""
    import gpu_collide as gc
    from gpu_collide.backends import get_backend

    devices = gc.devices()
    rows = [
        (d.backend, d.device or "-", "yes" if d.usable else "no", ", ".join(d.precision)) for d in devices
    ]
    terminal.table("Devices", ["backend", "device", "usable", "precision"], rows)
    for device in devices:
        if device.why_not:
            terminal.say(f"{device.backend} is not usable: {device.why_not}")
    if not all(device.usable for device in devices):
        terminal.say(DOCTOR)
    wanted = os.environ.get("GPU_COLLIDE_BACKEND", "")
    if wanted:
        terminal.say(f'GPU_COLLIDE_BACKEND={wanted} narrows what "auto" takes')
    terminal.say(f'backend "auto" takes: {get_backend().name}')
