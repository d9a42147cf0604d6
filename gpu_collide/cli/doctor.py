"""``gpu-collide doctor``: what this machine has, what is wrong with it, what to do."""

from __future__ import annotations

import argparse
import json
import math
from typing import TYPE_CHECKING

from gpu_collide.cli.options import add_command, add_output_options

if TYPE_CHECKING:
    from typing import Any

    from gpu_collide.checks.doctor import Examination
    from gpu_collide.cli.terminal import Terminal

EPILOG = """\
The state of each thing:
  taken      used, or it would be
  found      there, and not needed
  absent     not there; the text says how to have it
  rejected   there, and of no use; the text says why

Ends with 0 if a backend with kernels is taken, nothing that is there is broken and all self-tests are passed;
else with 1. `gpu-collide devices` is the short list of what to compute on, `gpu-collide verify` the long
test.
"""


def add_parser(commands: Any) -> None:
    """Add the command to the subparsers."""
    parser = add_command(
        commands,
        "doctor",
        doctor,
        help="what is installed, what was rejected and why, what to install; a self-test",
        description="What this machine has, what was rejected and why, what to install; and a self-test.",
        epilog=EPILOG,
    )
    parser.add_argument(
        "--no-test", action="store_true", help="only look: build and run nothing but a small kernel"
    )
    parser.add_argument("--json", action="store_true", help="all of it as JSON, for a program or a report")
    add_output_options(parser)


def doctor(options: argparse.Namespace, terminal: Terminal) -> int:
    """Examine, print, and return the exit status."""
    from gpu_collide.checks.doctor import examine

    found = examine(
        tests=not options.no_test, progress=lambda what: None if options.json else terminal.note(what)
    )
    if options.json:
        terminal.say(json.dumps(_finite(found.as_dict()), indent=1))
    else:
        _print(found, terminal)
    return 0 if found.ok else 1


def _print(found: Examination, terminal: Terminal) -> None:
    rows = [(f.area, f.name, f.state, _short(f.text)) for f in found.findings]
    terminal.table("What was looked for", ["", "", "state", "which, or why not"], rows)
    if found.tried:
        tried = [
            (
                t.backend,
                t.precision,
                f"{t.first:.2f}",
                f"{1e3 * t.again:.2f}",
                "yes" if t.right else "no",
                _short(t.why_not),
            )
            for t in found.tried
        ]
        columns = ["backend", "precision", "first call, s", "second, ms", "right", "why not"]
        terminal.table("Self-test: a box flies through another", columns, tried)
    for title, sentences in (("To be done", found.needed), ("Could be had besides", found.optional)):
        if sentences:
            terminal.say(f"{title}:")
            for sentence in sentences:
                terminal.say(f"  - {sentence}")
    terminal.say(f'backend "auto" takes: {found.auto or "none"}')
    terminal.say("everything is fine" if found.ok else "something is wrong; see above for what to do")


def _short(text: str) -> str:
    """The first line: a compiler's complaint goes on for pages, which --json has."""
    return text.splitlines()[0] if text else ""


def _finite(value: Any) -> Any:
    """JSON has no word for what is no number."""
    if isinstance(value, dict):
        return {key: _finite(v) for key, v in value.items()}
    if isinstance(value, list):
        return [_finite(v) for v in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
