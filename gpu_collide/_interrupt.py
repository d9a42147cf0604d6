"""Ctrl-C while the command is still importing: one line and the exit code 130, no traceback.

The package imports this first. It does nothing unless this process is the command itself, and itself imports
only what Python has loaded already: the module ``signal`` takes its time.
"""

import _signal as signal  # type: ignore[import-not-found]  # has no stub
import os
import sys

__all__ = ["obey_later", "obey_now"]


def _is_command():
    name = os.path.splitext(os.path.basename(sys.argv[0] if sys.argv else ""))[0]
    given = getattr(sys, "orig_argv", [])
    module = given[given.index("-m") + 1 :][:1] if "-m" in given else []
    return name == "gpu-collide" or module in (["gpu_collide.cli"], ["gpu_collide.cli.main"])


def _end(*_):
    os.write(2, b"gpu-collide: error: interrupted\n")
    os._exit(130)


def obey_now():
    """From here on Ctrl-C ends the process, which has nothing to tidy up."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        try:
            signal.signal(signal.SIGINT, _end)
        except ValueError:
            pass  # not the main thread, which alone gets signals


def obey_later():
    """From here on Ctrl-C is a KeyboardInterrupt again."""
    if signal.getsignal(signal.SIGINT) is _end:
        try:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        except ValueError:
            pass


if _is_command():
    obey_now()
