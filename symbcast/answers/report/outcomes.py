"""The outcome of checking a program or a file, as plain data that passes between processes and into formats.

The formats do not depend on the kind of subject: a front end puts everything into notices, each with its kind.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from symbcast.core.characters import listed, sizes_text
from symbcast.core.reasons import JOIN, ONTO, REQUIRED_FORMULA
from symbcast.core.verdicts import Verdict

if TYPE_CHECKING:
    from symbcast.answers.report.findings import Finding

Level: TypeAlias = Literal["error", "warning", "note"]


class Kind(NamedTuple):
    """A kind of notices, such as a rule of SARIF.

    Attributes:
        id: The identifier that programs match on.
        description: The requirement or the statement of notices of this kind: a sentence.
        level: The default level of these notices.
        together: The title of a single notice that replaces all notices of this kind about a source, if those would be
            too many to read; else empty.
    """

    id: str
    description: str
    level: Level = "warning"
    together: str = ""


class Line(NamedTuple):
    """A line of the user's code: a file, relative if it is under the working directory, and its number from 1 on.

    ``column`` is a character of the line, from 1 on; 0 if the whole line is meant.
    """

    file: str
    number: int
    column: int = 0

    @staticmethod
    def of(file: str, number: int, column: int = 0) -> Line:
        """Return a line of a file, whose path can be absolute."""
        path, here = PurePath(file), Path.cwd()
        return Line(str(path.relative_to(here) if path.is_relative_to(here) else path), number, column)


class Notice(NamedTuple):
    """A notice about an operation, or about the whole subject if ``operation`` is empty.

    ``operator`` is the operation's kind, such as ``"matmul"``; the first line of ``text`` is a complete summary.
    ``line`` is the operation's source line, if known.
    """

    kind: Kind
    level: Level
    operation: str
    operator: str
    text: str
    line: Line | None = None


class Problem(NamedTuple):
    """Why something could not be checked, and what to do."""

    problem: str
    hint: str = ""

    def __str__(self) -> str:
        return f"{self.problem}; {self.hint}" if self.hint else self.problem


@dataclass(frozen=True)
class Outcome:
    """The outcome of one check.

    Attributes:
        source: The file or name of the subject; empty if it has none.
        verdict: The value of a `Verdict`; empty if it could not be checked at all.
        problem: Why it could not be checked, or the error that followed.
        notices: The notices.
        subject: What was checked, in words.
    """

    source: str
    verdict: str = ""
    problem: Problem | None = None
    notices: tuple[Notice, ...] = ()
    subject: str = "the program"


_BROADCAST_CODES = frozenset({JOIN.code, ONTO.code})


def kind_of(finding: Finding, broadcast: Kind, undecided: Kind) -> Kind:
    """Return the kind of a finding: ``broadcast`` for the reasons of broadcasts, else one named after the operator."""
    if finding.code in _BROADCAST_CODES or finding.kind == broadcast.id:
        return broadcast
    if not finding.kind:
        return undecided
    return Kind(finding.kind, f"The requirements of {finding.kind} on the sizes of its operands must hold.")


def lines(finding: Finding, required: str, operands: Iterable[str] = ()) -> Iterator[str]:
    """Yield the lines of a finding: the requirement, the reason, the operands that meet, and where it fails."""
    yield f"{required} {finding.words}"
    if finding.code == REQUIRED_FORMULA.code:
        yield finding.reason
    elif finding.reason:
        yield f"{finding.rule or finding.kind} asks: {finding.reason}"
    if finding.is_joint:
        yield f"together with {listed([o for o in finding.origins if o != finding.operation], limit=4)}"
    shown = list(operands)
    if shown:
        yield f"operands: {', '.join(shown)}"
    if finding.counterexample:
        there = f": {finding.sizes_there}" if finding.sizes_there else ""
        yield f"fails at {sizes_text(finding.counterexample)}{there}{stopping(finding)}"


def stopping(finding: Finding) -> str:
    """Return where a run stops at a finding's counterexample, if that is not the operation that requires it.

    Empty for operations that clash: their findings name each other.
    """
    elsewhere = finding.stops_at not in ("", finding.operation) and finding.verdict is not Verdict.NEVER
    return f"; the run stops at {finding.stops_at}" if elsewhere else ""
