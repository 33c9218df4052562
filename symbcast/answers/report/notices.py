"""The notices of a program: one for each finding."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from symbcast.answers.explanation.names import Namer
from symbcast.answers.report.findings import Finding, findings_of
from symbcast.answers.report.outcomes import Kind, Level, Notice, Outcome, kind_of, lines
from symbcast.core.characters import listed
from symbcast.core.logic.formulas import FALSE
from symbcast.core.verdicts import Verdict

if TYPE_CHECKING:
    from symbcast.core.program.whole.program import Program

BROADCAST = Kind("broadcast", "The shapes that an operation broadcasts must fit together.")
UNDECIDED = Kind("undecided", "Whether a program is valid for all sizes is not decided.", "note")
_LEVELS: dict[Verdict, Level] = {Verdict.NEVER: "error", Verdict.SOMETIMES: "warning"}


def outcome_of(program: Program, source: str = "") -> Outcome:
    """Return the outcome of checking a program."""
    return Outcome(source, program.verdict.value, notices=tuple(_notices(program, findings_of(program))))


def _notices(program: Program, findings: Sequence[Finding]) -> Iterator[Notice]:
    namer = Namer.of(program.shown)
    for finding in findings:
        told = lines(finding, _required(finding, findings), _operands(finding, namer))
        level = _LEVELS.get(finding.verdict, "note")
        kind = kind_of(finding, BROADCAST, UNDECIDED)
        yield Notice(kind, level, finding.operation, finding.rule or finding.kind, "\n".join(told))
    if program.verdict is Verdict.UNKNOWN:
        text = f"whether the program is valid for all sizes is not decided: {program.reason}"
        yield Notice(UNDECIDED, UNDECIDED.level, "", "", text)


def _required(finding: Finding, findings: Iterable[Finding]) -> str:
    """Return the words that precede a requirement."""
    if finding.verdict is not Verdict.NEVER:
        return "the program is valid only when"
    others = [f.operation for f in findings if f is not finding]
    if finding.formula == FALSE or not others:
        return "the program is never valid:"
    return f"cannot hold together with {listed(others, limit=4)}: it requires that"


def _operands(finding: Finding, namer: Namer) -> Iterator[str]:
    for name, shape in (finding.operands[n] for n in finding.shown):
        if shape is not None:
            yield f"{name} {namer.shape(shape)}"
