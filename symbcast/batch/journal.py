"""A file of results, one JSON line each, that can be continued after a stop.

Each result is written as it arrives. A stop leaves complete lines and at most one partial line at the end, which is
ignored.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, TextIO

from symbcast.batch.interrupts import Undone
from symbcast.batch.results import Stamp
from symbcast.errors import ExchangeError

FORMAT = "symbcast.results"
VERSION = 1
"""It is incremented when a key changes meaning or is removed."""


class Journal:
    """A file with the results of one question; ``question`` is JSON data that identifies it."""

    def __init__(self, path: Path, question: Mapping[str, Any]) -> None:
        self.path = path
        self._head = {"format": FORMAT, "version": VERSION, "question": json.loads(json.dumps(question))}
        self._stream: TextIO | None = None

    def resume(self, is_kept: Callable[[Mapping[str, Any]], bool]) -> dict[str, dict[str, Any]]:
        """Return the existing results to keep, by path, without their reports; the others are removed from the file.

        Results are kept if their files are unchanged and ``is_kept`` accepts them. Others are dropped.
        """
        self._check()
        kept: dict[str, dict[str, Any]] = {}
        draft = self.path.with_name(f".{self.path.name}.part")
        with Undone(lambda: draft.unlink(missing_ok=True)), draft.open("w", encoding="utf-8") as stream:
            stream.write(json.dumps(self._head) + "\n")
            for line, row in self._rows():
                if row["path"] not in kept and _is_as_it_was(row) and is_kept(row):
                    stream.write(line)
                    kept[row["path"]] = {**row, "report": _short(row.get("report"))}
        draft.replace(self.path)
        return kept

    def _check(self) -> None:
        """Raise `ExchangeError` if the file holds something else, so that it is not overwritten."""
        if self.path.exists() and self.path.stat().st_size:
            with self.path.open(encoding="utf-8", errors="replace") as stream:
                head = stream.readline()
            if head.endswith("\n") and (_read(head) or {}).get("format") != FORMAT:
                raise ExchangeError(str(self.path), "is not a results file", "name another one")

    def _rows(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the complete lines of the file if it is about the same question, with their contents."""
        if not self.path.exists():
            return
        with self.path.open(encoding="utf-8", errors="replace") as stream:
            if _read(stream.readline()) != self._head:
                return
            for line in stream:
                row = _read(line)
                if row is not None and isinstance(row.get("path"), str):
                    yield line, row

    def __enter__(self) -> Journal:
        is_new = not self.path.exists() or not self.path.stat().st_size
        self._stream = self.path.open("a", encoding="utf-8")
        if is_new:
            self._write(self._head)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._stream is not None:
            self._stream.close()

    def add(self, row: Mapping[str, Any]) -> None:
        """Write a result."""
        self._write(row)

    def _write(self, data: Mapping[str, Any]) -> None:
        assert self._stream is not None
        self._stream.write(json.dumps(data) + "\n")
        self._stream.flush()


def read_results(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the results in a file, in the order in which they were recorded."""
    with path.open(encoding="utf-8") as stream:
        next(stream, None)
        for line in stream:
            row = _read(line)
            if row is not None:
                yield row


def _read(line: str) -> dict[str, Any] | None:
    """Return the content of a line; None if it is incomplete."""
    if not line.endswith("\n"):
        return None
    try:
        found = json.loads(line)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _is_as_it_was(row: Mapping[str, Any]) -> bool:
    """Return whether a file still has the size and modification time recorded with its result."""
    return Stamp(row.get("size", -1), row.get("modified", -1)) == Stamp.of(row["path"])


def _short(report: Any) -> dict[str, Any] | None:
    """Return the part of a report that a table shows."""
    if not isinstance(report, dict):
        return None
    left = {u["node"] for u in report["unanalysed"]}
    short = {"verdict": report["verdict"], "findings": len(report["findings"]), "unanalysed": len(left)}
    return {**short, "confirmations": report.get("confirmations", [])}
