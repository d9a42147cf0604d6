"""Commands in processes of their own, which end when their time is over."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

__all__ = ["OUT_OF_TIME", "run"]

OUT_OF_TIME = 124  # the exit code of timeout(1)
PATIENCE = 10.0  # seconds that a killed process has until it is gone


def run(
    command: Sequence[str],
    seconds: float,
    folder: Path,
    environment: Mapping[str, str] | None = None,
    grace: float = 0.0,
) -> tuple[int, str]:
    """Exit code and output (both streams) of a command, which is ended after `seconds` with all that it
    started; its code is `OUT_OF_TIME` then. With `grace` it is interrupted first, as by Ctrl-C, and has so
    many seconds to say what it did."""
    group = {"start_new_session": True} if os.name == "posix" else {}
    process = subprocess.Popen(
        command, env=environment, cwd=folder, text=True, errors="replace",
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **group,
    )  # fmt: skip
    try:
        text, _ = process.communicate(timeout=seconds)
        return process.returncode, text
    except BaseException as error:
        late = isinstance(error, subprocess.TimeoutExpired)
        text = _ended(process, grace if late else 0.0)
        if late:
            return OUT_OF_TIME, f"{text}\nended after {seconds:.0f} s"
        raise


def _ended(process, grace: float) -> str:
    """The output of a process that is told to end, and after `grace` seconds ended."""
    if grace:
        process.send_signal(signal.SIGINT)
        try:
            return process.communicate(timeout=grace)[0]
        except subprocess.TimeoutExpired:
            pass
    try:
        if os.name == "posix":
            os.killpg(process.pid, signal.SIGKILL)  # its group is its own
        else:
            process.kill()
    except ProcessLookupError:
        pass
    try:
        return process.communicate(timeout=PATIENCE)[0]
    except subprocess.TimeoutExpired as error:  # it waits for a device, or its pipe is held
        said = error.stdout or ""
        said = said.decode(errors="replace") if isinstance(said, bytes) else said
        return f"{said}\nit does not end, and was left behind"
