"""The outcome of checking one of many files, as plain data passed between processes and written to JSON lines."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias, TypedDict

from symbcast.batch.endings import Ending

Status: TypeAlias = Literal["checked", "failed", "timed out", "died"]


class Stamp(NamedTuple):
    """The state of a file: its size in bytes and its modification time in nanoseconds; -1 if there is no file."""

    size: int = -1
    modified: int = -1

    @staticmethod
    def of(path: str) -> Stamp:
        """Return the current state of a file."""
        try:
            found = Path(path).stat()
        except OSError:
            return Stamp()
        return Stamp(found.st_size, found.st_mtime_ns)


class Row(TypedDict):
    """A result as JSON."""

    path: str
    size: int
    modified: int
    status: Status
    seconds: float
    problem: str
    report: dict[str, Any] | None


@dataclass(frozen=True)
class FileResult:
    """The outcome of checking one file.

    Attributes:
        path: The file.
        status: ``"checked"``; ``"failed"`` if it could not be checked: not a model, or the request does not fit it;
            ``"timed out"`` or ``"died"`` without an answer: its process exceeded the time limit or ended.
        seconds: The duration of the check in seconds; 0.0 if the process died.
        problem: Why there is no report; empty if there is one.
        report: The answer, as `symbcast.onnx.ModelReport.to_dict` returns it.
        stamp: The state of the file when it was checked.
    """

    path: str
    status: Status
    seconds: float = 0.0
    problem: str = ""
    report: dict[str, Any] | None = None
    stamp: Stamp = Stamp()  # noqa: RUF009 - a tuple, which nobody changes

    @property
    def verdict(self) -> str:
        """The verdict of the report; empty if there is no answer."""
        return "" if self.report is None else str(self.report["verdict"])

    def to_dict(self) -> Row:
        """Return the result as data for JSON."""
        return {
            "path": self.path,
            "size": self.stamp.size,
            "modified": self.stamp.modified,
            "status": self.status,
            "seconds": round(self.seconds, 6),
            "problem": self.problem,
            "report": self.report,
        }

    @staticmethod
    def of(ending: Ending[Any, FileResult], path: str, timeout: float | None) -> FileResult:
        """Return the outcome of a file whose job ended; without an answer, the file's state is its current one."""
        if ending.answer is not None:
            return ending.answer
        found = FileResult(path, "died", stamp=Stamp.of(path))
        if ending.kind == "timed out" and timeout is not None:
            return replace(found, status="timed out", seconds=timeout, problem=f"took more than {timeout:g} seconds")
        return replace(found, problem=f"the process that checked it ended with {ending.text}; is it too large?")
