"""Ctrl-C while the command is still importing: one line and exit code 130, no traceback.

The package imports this first. It does nothing unless this process is the command itself, and itself imports
only what Python has loaded already: the module ``signal`` takes its time.
"""

import _signal as signal  # type: ignore[import-not-found]  # has no stub
import _thread
import os
import sys
import time

__all__ = ["AtOnce", "obey_later", "obey_now"]


def _is_command():
    name = os.path.splitext(os.path.basename(sys.argv[0] if sys.argv else ""))[0]
    given = getattr(sys, "orig_argv", [])
    module = given[given.index("-m") + 1 :][:1] if "-m" in given else []
    return name == "gpu-collide" or module in (["gpu_collide.cli"], ["gpu_collide.cli.main"])


def _end(*_):
    os.write(2, b"gpu-collide: error: interrupted\n")
    os._exit(130)


def _raise(*_):
    # What is interrupted half made may fail in its destructor (pytools 2025: a lock that is not there
    # yet), and Python would show each such failure with a traceback.
    sys.unraisablehook = _unheard
    raise KeyboardInterrupt


def _unheard(failure):
    if failure.exc_type is KeyboardInterrupt:  # in a destructor, where nobody hears of it: say it again
        _thread.start_new_thread(_again, ())


def _again():
    time.sleep(0.01)  # the hook has returned: an exception inside it would be shown, too
    _thread.interrupt_main()


def _change(before, after):
    if signal.getsignal(signal.SIGINT) is not before:
        return False
    try:
        signal.signal(signal.SIGINT, after)
    except ValueError:  # not the main thread, which alone gets signals
        return False
    return True


def obey_now():
    """From here on Ctrl-C ends the command, which has nothing to tidy up."""
    _change(_raise, _end)


def obey_later():
    """From here on Ctrl-C is a KeyboardInterrupt again."""
    _change(_end, _raise)


class AtOnce:
    """While this is entered Ctrl-C ends the command: the imports of others may take an exception for a defect
    of theirs, and say so (nanobind)."""

    def __enter__(self):
        self._changed = _change(_raise, _end)

    def __exit__(self, *_):
        if self._changed:
            _change(_end, _raise)


if _is_command():
    _change(signal.default_int_handler, _end)
