"""Ctrl-C while the command is still importing: one line and the exit code 130, no traceback.

The package imports this first. It does nothing unless this process is the command itself.
"""

import os
import signal
import sys
import threading

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
    if threading.current_thread() is threading.main_thread():
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, _end)


def obey_later():
    """From here on Ctrl-C is a KeyboardInterrupt again."""
    if signal.getsignal(signal.SIGINT) is _end:
        signal.signal(signal.SIGINT, signal.default_int_handler)


if _is_command():
    obey_now()
