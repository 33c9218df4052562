"""The report of lint, and its formats."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from symbcast.core.guesses import Guessable
from symbcast.errors import ShapeTypeError
from symbcast.linting.codes import CODES, EQUAL, STRETCHED
from symbcast.linting.findings import Checked, Finding

if TYPE_CHECKING:
    from symbcast.answers.report.formats import Format
    from symbcast.answers.report.outcomes import Level, Outcome

FORMAT = "symbcast.lint-report"
VERSION = 1
"""It is incremented when a key changes its meaning or is removed."""


class LintReport(Guessable):
    """What lint found in some files.

    Attributes:
        files: The files that were read.
        functions: What was found out about each function with shape annotations, in order.
    """

    def __init__(self, files: Sequence[str], functions: Sequence[Checked]) -> None:
        self.files = tuple(files)
        self.functions = tuple(functions)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All findings, by file and line."""
        found = [f for c in self.functions for f in c.findings]
        return tuple(sorted(found, key=lambda f: (f.path, f.line, f.column, f.code)))

    @property
    def counts(self) -> dict[str, int]:
        """How many functions have each status, in order of `Status`."""
        found = Counter(c.status for c in self.functions if c.function)
        return {s: found[s] for s in ("proved", "partly", "finding", "unknown", "skipped")}

    @property
    def summary(self) -> str:
        """The counts in one line."""
        count, found = sum(self.counts.values()), len(self.findings)
        parts = ", ".join(f"{n} {_WORDS[s]}" for s, n in self.counts.items() if n)
        said = f": {parts}" if parts else ""
        return f"{count} annotated function{'s' * (count != 1)}{said}; {found} finding{'s' * (found != 1)}"

    @property
    def unproved(self) -> tuple[str, ...]:
        """A line for each function without findings that is not proved for all that its annotations allow, and why."""
        left = [c for c in self.functions if c.function and c.status in ("partly", "unknown", "skipped")]
        return tuple(f"{c.path}:{c.line}: {c.function}: {_WORDS[c.status]}{c.reason and f': {c.reason}'}" for c in left)

    def report(self, format: Format = "text") -> str:
        """Return the findings in a format: ``"text"``, ``"json"``, ``"sarif"`` or ``"github"``.

        Text has one line for each finding. Raises `ShapeTypeError` for any other format.
        """
        match format:
            case "text":
                return "\n".join(map(str, self.findings))
            case "json":
                return json.dumps(self.to_dict(), indent=2)
            case "sarif":
                from symbcast.answers.report.sarif import document

                return json.dumps(document(list(self._outcomes())), indent=2)
            case "github":
                from symbcast.answers.report.github import commands

                return "\n".join(line for outcome in self._outcomes() for line in commands(outcome))
        raise ShapeTypeError(format, "a format", "write one of text, json, sarif, github")

    def to_dict(self) -> dict[str, Any]:
        """Return the report as data for JSON."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "files": list(self.files),
            "counts": self.counts,
            "findings": [f.to_dict() for f in self.findings],
            "functions": [c.to_dict() for c in self.functions],
        }

    def _outcomes(self) -> list[Outcome]:
        from symbcast.answers.report.outcomes import Kind, Line, Notice, Outcome

        kinds = {c.id: Kind(c.id, c.description, _level(c.id)) for c in CODES}
        notices = (
            Notice(kinds[f.code], _level(f.code), f.function, f.code, f.message, Line.of(f.path, f.line, f.column))
            for f in self.findings
        )
        return [Outcome("", notices=tuple(notices), subject="a file")]

    def __repr__(self) -> str:
        return f"<LintReport: {self.summary}>"


_WORDS = {
    "proved": "proved",
    "partly": "proved in part",
    "finding": "with findings",
    "unknown": "unknown",
    "skipped": "not traced",
}


def _level(code: str) -> Level:
    return "warning" if code in (EQUAL.id, STRETCHED.id) else "error"
