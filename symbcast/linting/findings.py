"""The codes of lint, its findings, what was found out about each function, and the report with its formats."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from symbcast.answers.outcomes import CheckOutcome, CodeLine, Level, Notice, NoticeKind, github_commands, sarif_document
from symbcast.core.advice import Guessable
from symbcast.core.structs import NamedTuple
from symbcast.errors import ShapeTypeError

if TYPE_CHECKING:
    from symbcast.answers.program_report import Format

# Codes of findings; each has a section in the README of this folder.


class Code(NamedTuple):
    """A code: its identifier, its name, what a finding of this code says, in a sentence, and how bad that is."""

    id: str
    name: str
    description: str
    level: Level = "error"

    @property
    def both(self) -> tuple[str, str]:
        """The texts that select or ignore it."""
        return self.id, self.name


# All codes.
CODES: list[Code] = []


def declare_code(id: str, name: str, description: str, level: Level = "error") -> Code:
    """Declare a code."""
    declared = Code(id, name, description, level)
    CODES.append(declared)
    CODES.sort()
    return declared


PROMISE = declare_code("SYM101", "broken-promise", "A function must return the shapes that its annotation promises.")
FAILS = declare_code("SYM102", "failing-sizes", "A function must work for all sizes that its annotations allow.")
NEVER = declare_code("SYM103", "never-holds", "An annotation must hold for some sizes.")
STRETCHED = declare_code("SYM104", "paired-size", "A broadcast must not put one size on two axes unnoticed.", "warning")
EQUAL = declare_code("SYM105", "equal-names", "Axes that must always have equal sizes must have one name.", "warning")
SPACES = declare_code("SYM106", "divided-expression", "An expression in an annotation must not contain spaces.")
DESCRIBED = declare_code(
    "SYM107", "described-shape", "A function must have the shapes that comments and docstrings say."
)
ANNOTATION = declare_code("SYM203", "unreadable-annotation", "An annotation must be valid when it is evaluated.")
DIED = declare_code("SYM201", "killed-process", "A function must not kill the process that runs it.")
IMPORT = declare_code("SYM202", "not-imported", "A file with annotated functions must be importable.")


# The findings of lint, and what was found out about each function, as plain data.


CheckStatus: TypeAlias = Literal["proved", "partly", "finding", "unknown", "skipped"]


class Edit(NamedTuple):
    """A change of text within one line: from a column to another one, counted in bytes from 1, and the new text."""

    line: int
    column: int
    end: int
    text: str


class Fix(NamedTuple):
    """What to change so that a finding is gone, in words and as edits of its file."""

    title: str
    edits: tuple[Edit, ...]


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
        fix: A change after which the annotations hold; None if none is known.
    """

    path: str
    line: int
    column: int
    code: str
    message: str
    function: str = ""
    sizes: Mapping[str, int] = field(default_factory=dict, hash=False)
    called: str = ""
    fix: Fix | None = None

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}: {self.code} {self.message}"

    def to_dict(self) -> dict[str, Any]:
        """Return the finding as data for JSON."""
        fix = self.fix and {"title": self.fix.title, "edits": [e._asdict() for e in self.fix.edits]}
        return {**vars(self), "sizes": dict(self.sizes), "fix": fix}

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> Finding:
        """Return what `to_dict` returned as data."""
        fix = data["fix"] and Fix(data["fix"]["title"], tuple(Edit(**e) for e in data["fix"]["edits"]))
        return Finding(**{**data, "fix": fix})


class AssignedShape(NamedTuple):
    """A variable of a function and its shape, or the size that it is.

    ``line`` and ``column``, from 1, are the end of its name; columns count bytes, as Python's do.
    """

    line: int
    column: int
    name: str
    text: str


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
        shapes: The shapes of the variables that it assigns; empty if they were not asked for.
    """

    path: str
    function: str
    line: int
    status: CheckStatus
    reason: str = ""
    forms: int = 0
    seconds: float = 0.0
    findings: tuple[Finding, ...] = ()
    shapes: tuple[AssignedShape, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return it as data for JSON."""
        shapes = [s._asdict() for s in self.shapes]
        return {**vars(self), "findings": [f.to_dict() for f in self.findings], "shapes": shapes}

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> Checked:
        """Return what `to_dict` returned as data."""
        findings = tuple(map(Finding.from_dict, data["findings"]))
        return Checked(**{**data, "findings": findings, "shapes": tuple(AssignedShape(**s) for s in data["shapes"])})


# The report of lint, and its formats.


FORMAT = "symbcast.lint-report"
# It is incremented when a key changes its meaning or is removed.
VERSION = 1


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
        findings = [f for c in self.functions for f in c.findings]
        return tuple(sorted(findings, key=lambda f: (f.path, f.line, f.column, f.code)))

    @property
    def counts(self) -> dict[str, int]:
        """How many functions have each status, in order of `Status`."""
        statuses = Counter(c.status for c in self.functions if c.function)
        return {s: statuses[s] for s in ("proved", "partly", "finding", "unknown", "skipped")}

    @property
    def summary(self) -> str:
        """The counts in one line."""
        count, findings = sum(self.counts.values()), len(self.findings)
        parts = ", ".join(f"{n} {WORDS[s]}" for s, n in self.counts.items() if n)
        said = f": {parts}" if parts else ""
        return f"{count} annotated function{'s' * (count != 1)}{said}; {findings} finding{'s' * (findings != 1)}"

    @property
    def unproved(self) -> tuple[str, ...]:
        """A line for each function without findings that is not proved for all that its annotations allow, and why."""
        left = [c for c in self.functions if c.function and c.status in ("partly", "unknown", "skipped")]
        return tuple(f"{c.path}:{c.line}: {c.function}: {WORDS[c.status]}{c.reason and f': {c.reason}'}" for c in left)

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
                return json.dumps(sarif_document(list(self._outcomes())), indent=2)
            case "github":
                return "\n".join(line for outcome in self._outcomes() for line in github_commands(outcome))
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

    def _outcomes(self) -> list[CheckOutcome]:

        levels = {c.id: c.level for c in CODES}
        kinds = {c.id: NoticeKind(c.id, c.description, c.level) for c in CODES}
        notices = (
            Notice(kinds[f.code], levels[f.code], f.function, f.code, f.message, CodeLine.of(f.path, f.line, f.column))
            for f in self.findings
        )
        return [CheckOutcome("", notices=tuple(notices), subject="a file")]

    def __repr__(self) -> str:
        return f"<LintReport: {self.summary}>"


WORDS = {
    "proved": "proved",
    "partly": "proved in part",
    "finding": "with findings",
    "unknown": "unknown",
    "skipped": "not traced",
}
