"""The outcome of a check as plain data, and as compiler messages, GitHub annotations and SARIF 2.1.0.

The formats do not depend on the kind of subject: a front end puts everything into notices, each with its kind.

The subject of the check is the artifact, and an operation in it is a logical location. If the source line of an
operation is known, it is the physical location, and the artifact is the analysis target. A subject that could not be
checked becomes a notification of the invocation.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, Literal, TypeAlias
from urllib.parse import quote

from symbcast.core import __version__
from symbcast.core.characters import prose_list, sizes_text, visible
from symbcast.core.rules.declaration import JOIN, ONTO, REQUIRED_FORMULA
from symbcast.core.structs import NamedTuple
from symbcast.core.verdicts import Verdict

if TYPE_CHECKING:
    from symbcast.answers.findings import Finding


Level: TypeAlias = Literal["error", "warning", "note"]


class NoticeKind(NamedTuple):
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


class CodeLine(NamedTuple):
    """A line of the user's code: a file, relative if it is under the working directory, and its number from 1 on.

    ``column`` is a character of the line, from 1 on; 0 if the whole line is meant.
    """

    file: str
    number: int
    column: int = 0

    @staticmethod
    def of(file: str, number: int, column: int = 0) -> CodeLine:
        """Return a line of a file, whose path can be absolute."""
        path, here = PurePath(file), Path.cwd()
        return CodeLine(str(path.relative_to(here) if path.is_relative_to(here) else path), number, column)


class Notice(NamedTuple):
    """A notice about an operation, or about the whole subject if ``operation`` is empty.

    ``operator`` is the operation's kind, such as ``"matmul"``; the first line of ``text`` is a complete summary.
    ``line`` is the operation's source line, if known.
    """

    kind: NoticeKind
    level: Level
    operation: str
    operator: str
    text: str
    line: CodeLine | None = None


class Problem(NamedTuple):
    """Why something could not be checked, and what to do."""

    problem: str
    hint: str = ""

    def __str__(self) -> str:
        return f"{self.problem}; {self.hint}" if self.hint else self.problem


@dataclass(frozen=True)
class CheckOutcome:
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


def kind_of(finding: Finding, broadcast: NoticeKind, undecided: NoticeKind) -> NoticeKind:
    """Return the kind of a finding: ``broadcast`` for the reasons of broadcasts, else one named after the operator."""
    if finding.code in _BROADCAST_CODES or finding.kind == broadcast.id:
        return broadcast
    if not finding.kind:
        return undecided
    return NoticeKind(finding.kind, f"The requirements of {finding.kind} on the sizes of its operands must hold.")


def lines(finding: Finding, required: str, operands: Iterable[str] = ()) -> Iterator[str]:
    """Yield the lines of a finding: the requirement, the reason, the operands that meet, and where it fails."""
    yield f"{required} {finding.words}"
    if finding.code == REQUIRED_FORMULA.code:
        yield finding.reason
    elif finding.reason:
        yield f"{finding.rule or finding.kind} requires: {finding.reason}"
    if finding.is_joint:
        yield f"together with {prose_list([o for o in finding.origins if o != finding.operation], limit=4)}"
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


# Outcomes in the style of compiler messages: place, level, message; with the evidence indented below.


def compiler_messages(outcome: CheckOutcome) -> Iterator[str]:
    """Yield the outcome of one check, line by line; only the verdict if there are no notices.

    >>> list(compiler_messages(CheckOutcome("net.py", "always")))
    ['net.py: the program: always valid']
    """
    place = f"{visible(outcome.source)}: " if outcome.source else ""
    if outcome.problem is not None:
        yield f"{place}error: {visible(str(outcome.problem))}"
    for notice in outcome.notices:
        head, *evidence = notice.text.split("\n")
        line = None if outcome.source else notice.line
        where = place if line is None else f"{visible(line.file)}:{line.number}: "
        yield f"{where}{notice.level}: {_subject(notice, outcome)}: {visible(head)}"
        yield from (f"    {visible(line)}" for line in evidence)
    if outcome.verdict and not outcome.notices:
        yield f"{place}{outcome.subject}: {outcome.verdict} valid"


def _subject(notice: Notice, outcome: CheckOutcome) -> str:
    return visible(f"{notice.operation} ({notice.operator})") if notice.operation else outcome.subject


# Workflow commands of GitHub Actions: lines that become annotations of the files that they name.


_COMMANDS = {"error": "error", "warning": "warning", "note": "notice"}
_NAMED = 5


def github_commands(outcome: CheckOutcome) -> Iterator[str]:
    """Yield the commands for the outcome of one check; notices of a grouped kind share one command."""
    subject = outcome.subject
    if outcome.problem is not None:
        yield command("error", outcome.source, f"{subject} could not be checked", str(outcome.problem))
    together: dict[NoticeKind, list[Notice]] = {}
    for notice in outcome.notices:
        if notice.kind.together:
            together.setdefault(notice.kind, []).append(notice)
        else:
            title = f"{notice.operator} {notice.operation}" if notice.operation else subject
            line = notice.line
            if line is not None and outcome.source and PurePath(line.file).is_absolute():
                line = None  # GitHub shows annotations for paths relative to the repository only
            file = outcome.source if line is None else line.file
            number, column = (0, 0) if line is None else line[1:]
            yield command(_COMMANDS[notice.level], file, title, notice.text, number, column)
    for kind, notices in together.items():
        yield command(_COMMANDS[kind.level], outcome.source, kind.together, _named(notices))


def command(name: str, file: str, title: str, message: str, line: int = 0, column: int = 0) -> str:  # noqa: PLR0913, PLR0917 - its parts
    r"""Return a command, about a line and its column if they are above 0, with special characters escaped.

    >>> command("warning", "a,b.onnx", "Add: n", "100%\nmore")
    '::warning file=a%2Cb.onnx,title=Add%3A n::100%25%0Amore'
    """
    place = f"file={_property(PurePath(file).as_posix())}," if file else ""
    place += f"line={line}," if file and line else ""
    place += f"col={column}," if file and line and column else ""
    return f"::{name} {place}title={_property(title)}::{_data(message)}"


def _named(notices: list[Notice]) -> str:
    """Return the first few operations that notices are about, and the number of others."""
    left = list(dict.fromkeys((n.operation, n.operator) for n in notices))
    named = [f"{operation} ({operator})" for operation, operator in left[:_NAMED]]
    return f"{', '.join(named)}{f' and {len(left) - _NAMED} more' if len(left) > _NAMED else ''}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def sarif_document(outcomes: Sequence[CheckOutcome]) -> dict[str, Any]:
    """Return the outcomes of some checks as a SARIF log."""
    kinds = {n.kind.id: n.kind for o in outcomes for n in o.notices}
    broken = [o for o in outcomes if o.problem is not None]
    invocation: dict[str, Any] = {"executionSuccessful": not broken}
    if broken:
        invocation["toolExecutionNotifications"] = list(map(_notification, broken))
    files = [o for o in outcomes if o.source]
    places = {id(o): n for n, o in enumerate(files)}
    run = {
        "tool": {"driver": {"name": "symbcast", "version": __version__, "rules": list(map(_rule, kinds.values()))}},
        "invocations": [invocation],
        "artifacts": [{"location": {"uri": uri(o.source)}} for o in files],
        "results": [r for o in outcomes for r in _results(o, places.get(id(o)), list(kinds))],
        "columnKind": "unicodeCodePoints",
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def uri(path: str) -> str:
    """Return a path as a URI, which is relative if the path is.

    >>> uri("models/a b.onnx"), uri("/tmp/a#1.onnx")
    ('models/a%20b.onnx', 'file:///tmp/a%231.onnx')
    """
    pure = PurePath(path)
    return pure.as_uri() if pure.is_absolute() else quote(os.fsencode(pure.as_posix()))


def _rule(kind: NoticeKind) -> dict[str, Any]:
    text = {"text": kind.description}
    return {"id": kind.id, "shortDescription": text, "defaultConfiguration": {"level": kind.level}}


def _results(outcome: CheckOutcome, index: int | None, kinds: Sequence[str]) -> Iterator[dict[str, Any]]:
    for notice in outcome.notices:
        location: dict[str, Any] = {}
        artifact = None if index is None else {"uri": uri(outcome.source), "index": index}
        if notice.line is not None:
            region = {"startLine": notice.line.number}
            region |= {"startColumn": notice.line.column} if notice.line.column else {}
            location["physicalLocation"] = {"artifactLocation": {"uri": uri(notice.line.file)}, "region": region}
        elif artifact is not None:
            location["physicalLocation"] = {"artifactLocation": artifact}
        if notice.operation:
            location["logicalLocations"] = [_operation(notice)]
        fingerprint = f"{notice.kind.id}:{notice.operation}:{notice.text.partition(chr(10))[0]}"
        yield {
            "ruleId": notice.kind.id,
            "ruleIndex": kinds.index(notice.kind.id),
            "level": notice.level,
            "message": {"text": notice.text},
            "locations": [location] if location else [],
            **({"analysisTarget": artifact} if notice.line is not None and artifact is not None else {}),
            "partialFingerprints": {"node/v1": fingerprint},
        }


def _operation(notice: Notice) -> dict[str, Any]:
    full = f"{notice.operator}:{notice.operation}"
    return {"name": notice.operation, "fullyQualifiedName": full, "kind": "element"}


def _notification(outcome: CheckOutcome) -> dict[str, Any]:
    notification: dict[str, Any] = {"level": "error", "message": {"text": f"{outcome.source}: {outcome.problem}"}}
    if outcome.source:
        notification["locations"] = [{"physicalLocation": {"artifactLocation": {"uri": uri(outcome.source)}}}]
    return notification
