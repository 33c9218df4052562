"""The findings of lint, and what was found out about each function, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

Status: TypeAlias = Literal["proved", "partly", "finding", "unknown", "skipped"]


@dataclass(frozen=True)
class Finding:
    """A finding: where it is, its code, and what is wrong.

    Attributes:
        path: The file.
        line: The line, from 1.
        column: The column, from 1.
        code: The identifier of its code, such as ``"SYM101"``.
        message: What is wrong, in one line.
        function: The qualified name of the function.
        sizes: The sizes at which a call confirms it; empty if the annotation itself is wrong.
        called: What the call at these sizes did.
    """

    path: str
    line: int
    column: int
    code: str
    message: str
    function: str = ""
    sizes: Mapping[str, int] = field(default_factory=dict, hash=False)
    called: str = ""

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}: {self.code} {self.message}"

    def to_dict(self) -> dict[str, Any]:
        """Return the finding as data for JSON."""
        return {**vars(self), "sizes": dict(self.sizes)}


@dataclass(frozen=True)
class Checked:
    """What was found out about one function.

    Attributes:
        path, function, line: The function.
        status: ``"proved"`` if its annotations hold for all sizes that they allow; ``"partly"`` if that was proved for
            the forms of arguments that were traced, or where the function does not refuse its arguments itself;
            ``"finding"``; ``"unknown"``; ``"skipped"`` if it was not traced.
        reason: Why it is not proved.
        forms: How many forms of its arguments were traced.
        seconds: The time that it took in processor seconds, without imports and the start of the process.
        findings: Its findings.
    """

    path: str
    function: str
    line: int
    status: Status
    reason: str = ""
    forms: int = 0
    seconds: float = 0.0
    findings: tuple[Finding, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return it as data for JSON."""
        return {**vars(self), "findings": [f.to_dict() for f in self.findings]}

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> Checked:
        """Return what `to_dict` returned as data."""
        return Checked(**{**data, "findings": tuple(Finding(**f) for f in data["findings"])})
