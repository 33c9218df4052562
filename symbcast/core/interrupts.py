"""How the command's process ends: at once, after an answer as after Ctrl-C, with the status that shells expect.

An interrupt ends the process from the first import on: raised as an exception, it could surface at any line, in the
middle of an import or where Python can only print it. Registered cleanup runs before the end: see `CleanupOnInterrupt`.
While our own processes are working, the interrupt is raised instead, and whoever started them ends them: see
`RaiseFirstInterrupt`.

None of this happens in a process that is not the command's, or where interrupts are already ignored or handled. This
module is imported before all others, and imports only modules that Python itself has already loaded.
"""

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found] # `signal` takes ten times as long to load
import atexit
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType
    from typing import NoReturn

# 128 and the number of the signal, as shells have it.
STATUS = 130
CONSOLE_SCRIPTS = ("symbcast", "symbcast.exe", "symbcast-script.py")

_cleanups: list[Callable[[], object]] = []


def is_command() -> bool:
    """Return whether this process was started as the command, by its script or by ``python -m symbcast``."""
    started = sys.argv[0] if getattr(sys, "argv", None) else ""
    if started == "-m":  # while ``-m`` is still importing the package
        flag = sys.orig_argv.index("-m") if "-m" in sys.orig_argv else -1
        return flag >= 0 and sys.orig_argv[flag + 1 : flag + 2] == ["symbcast"]
    return os.path.basename(started) in CONSOLE_SCRIPTS  # noqa: PTH119 - pathlib is not loaded yet


def begin() -> None:
    """Make interrupts end this process from now on."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        try:
            signal.signal(signal.SIGINT, _end)
        except ValueError:  # not in the main thread
            return


def leave() -> NoReturn:
    """End the process as an interrupt does: run the registered undo steps, which end its child processes."""
    for undo in reversed(_cleanups):
        _quietly(undo)
    os._exit(STATUS)


def end(status: int) -> NoReturn:
    """End the process with a status; that of the command at once, once its output is written.

    Other threads, profilers and debuggers need Python's own end.
    """
    threads = sys.modules.get("threading")
    is_alone = threads is None or threads.active_count() == 1
    if _is_command and is_alone and not (sys.flags.inspect or sys.gettrace() or sys.getprofile()):
        end_at_once(status)
    sys.exit(status)


def end_at_once(status: int) -> NoReturn:
    """End the process after the functions registered with `atexit`, with its output written.

    Python would then free each module and object, which the operating system does anyway: that is a sixth of the time
    of a command. If the output cannot be written, that is left to Python too.
    """
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):
        sys.exit(status)
    os._exit(status)


def _quietly(function: Callable[[], object]) -> None:
    try:
        function()
    except Exception:
        return


def _end(number: int, frame: FrameType | None) -> None:
    leave()


def _raise(number: int, frame: FrameType | None) -> None:
    signal.signal(signal.SIGINT, _end)
    raise KeyboardInterrupt


_is_command = is_command()
if _is_command:
    begin()


class CleanupOnInterrupt:
    """A context whose cleanup function is called if an interrupt ends the process."""

    def __init__(self, undo: Callable[[], object]) -> None:
        self._undo = undo

    def __enter__(self) -> None:
        _cleanups.append(self._undo)

    def __exit__(self, *error: object) -> None:
        _cleanups.remove(self._undo)


class RaiseFirstInterrupt:
    """A context that raises the first interrupt, so that its caller can end child processes; a second one ends all."""

    def __enter__(self) -> None:
        self._is_ours = signal.getsignal(signal.SIGINT) is _end
        if self._is_ours:
            signal.signal(signal.SIGINT, _raise)

    def __exit__(self, *error: object) -> None:
        if self._is_ours:
            signal.signal(signal.SIGINT, _end)


class BlockInterrupts:
    """A context in which new threads and processes receive no interrupts; one that arrives is handled afterwards."""

    def __enter__(self) -> None:
        self._before = None
        if hasattr(signal, "pthread_sigmask"):  # not on Windows
            self._before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})

    def __exit__(self, *error: object) -> None:
        if self._before is not None:
            signal.pthread_sigmask(signal.SIG_SETMASK, self._before)
