"""Commands in processes of their own, which end when their time is over."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

__all__ = ["OUT_OF_TIME", "run"]

OUT_OF_TIME = 124  # the exit code of timeout(1)


def run(command: Sequence[str], seconds: float, folder: Path, environment: Mapping[str, str] | None = None):
    """Exit code and output (both streams) of a command, which is ended after `seconds` with all that it
    started; its code is `OUT_OF_TIME` then."""
    group = {"start_new_session": True} if os.name == "posix" else {}
    process = subprocess.Popen(
        command, env=environment, cwd=folder, text=True, errors="replace",
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **group,
    )  # fmt: skip
    try:
        text, _ = process.communicate(timeout=seconds)
        return process.returncode, text
    except BaseException as error:
        _end(process, bool(group))
        text, _ = process.communicate()
        if isinstance(error, subprocess.TimeoutExpired):
            return OUT_OF_TIME, f"{text}\nended after {seconds:.0f} s"
        raise


def _end(process, group: bool) -> None:
    try:
        if group:
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    except ProcessLookupError:
        pass
