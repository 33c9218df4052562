"""A progress bar on stderr for long commands, if stderr is a terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from types import TracebackType
from typing import TYPE_CHECKING

from symbcast.batch.interrupts import Undone

if TYPE_CHECKING:
    from rich.progress import Progress


_SHOW_CURSOR = b"\r\x1b[2K\x1b[?25h"


def _take_away() -> None:
    """Clear the line of a bar, and show the cursor that the bar hides."""
    with suppress(OSError):
        os.write(sys.stderr.fileno(), _SHOW_CURSOR)


class Bar:
    """A progress bar over ``total`` steps; it is shown if stderr is a terminal and there are several."""

    def __init__(self, total: int, what: str) -> None:
        self._progress: Progress | None = None
        self._held = ExitStack()
        if total > 1 and sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

            columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
            self._progress = Progress(*columns, console=Console(stderr=True), transient=True)
            self._task = self._progress.add_task(what, total=total)

    def __enter__(self) -> Bar:
        if self._progress is not None:
            self._held.enter_context(Undone(_take_away))
            self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._progress is not None:
            self._progress.stop()
        self._held.close()

    def advance(self) -> None:
        """Advance the bar by one step."""
        if self._progress is not None:
            self._progress.advance(self._task)

    @contextmanager
    def away(self) -> Iterator[None]:
        """Hide the bar while other output is printed."""
        if self._progress is None:
            yield
            return
        self._progress.stop()
        try:
            yield
            sys.stdout.flush()
        finally:
            self._progress.start()
