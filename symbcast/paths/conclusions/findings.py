"""Findings of runs: each conjunct of the condition, and the line that fails first where it is violated."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from symbcast.answers.explanation.names import Namer
from symbcast.answers.explanation.words import in_words
from symbcast.answers.guards import Requirement
from symbcast.answers.report.failures import shape_at
from symbcast.core.algebra.terms import symbols_of
from symbcast.core.logic.formulas import FALSE, Formula
from symbcast.core.program.statements.statement import Statement, public
from symbcast.core.solver.decision.counterexamples import Breaks
from symbcast.core.solver.groups.normal_form import symbols_in
from symbcast.core.solver.sets.set_formulas import gathered
from symbcast.core.verdicts import Verdict
from symbcast.paths.places import line_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from symbcast.core.algebra.symbols import Symbol
    from symbcast.core.solver.decision.decision import Decision
    from symbcast.operators.context import Dims
    from symbcast.paths.conclusions.conclusions import Conclusions
    from symbcast.paths.conclusions.regions import Branch


@dataclass(frozen=True, kw_only=True)
class PathFinding:
    """A conjunct of a run's condition; if no sizes are known to work, a line that fails.

    Attributes:
        file: The file of the line that fails first at `counterexample`; empty if unknown.
        line: Its line number, from 1.
        source: The text of the line.
        operation: The failing operation, such as ``"matmul"``; empty if the user's code raises the error.
        operands: The shapes of its operands.
        formula: The requirement.
        text: The requirement as text that `symbcast.Condition` reads back.
        words: The requirement in words.
        error: The type and reason of the error.
        counterexample: The smallest sizes that violate this conjunct and, if possible, no other.
        sizes_there: The operands' shapes at these sizes.
        fix: The suggested fix.
    """

    file: str = ""
    line: int = 0
    source: str = ""
    operation: str = ""
    operands: tuple[Dims, ...] = ()
    formula: Formula = field(repr=False)
    text: str
    words: str
    error: str = ""
    counterexample: dict[str, int] | None = field(default=None, hash=False)
    sizes_there: str = ""
    fix: str = ""

    @property
    def condition(self) -> Statement:
        """The requirement as a `symbcast.Condition`."""
        return public(self.text)

    @property
    def requirement(self) -> Requirement:
        """The requirement as a check of generated code, with the line that fails as its place."""
        line = line_text(self.file, self.line) if self.file else ""
        place = line or self.operation
        because = f": {self.error}" if self.error else ""
        return Requirement(self.formula, place, f"{place or 'the run'} requires {self.text}{because}")

    @property
    def works(self) -> str:
        """The sizes at which the run works according to this finding, as in "works only when N is even"."""
        return "works for no sizes" if self.formula == FALSE else f"works only when {self.words}"

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.words}"


def findings_of(paths: Conclusions) -> Iterator[PathFinding]:
    """Yield the findings of a run: each conjunct, with the line that fails first where it does not hold."""
    namer = Namer.of(paths.names)
    known: dict[int, Breaks] = {}
    for decision, clause in conjuncts_of(paths):
        if clause == FALSE:
            sizes: Mapping[Symbol, int] | None = decision.counterexample()
        else:
            if id(decision) not in known:
                known[id(decision)] = Breaks(decision, decision.clauses)
            sizes = known[id(decision)].at(clause)
        branch = None if sizes is None else paths.failing_at(sizes)
        yield _finding(paths, clause, sizes, branch, namer)


def conjuncts_of(paths: Conclusions) -> Iterator[tuple[Decision, Formula]]:
    """Yield the conjuncts of the condition, then those about data, each with the decision that it belongs to."""
    decision = paths.decision
    if decision.verdict is not Verdict.ALWAYS:
        yield from ((decision, clause) for clause in decision.clauses)
    # Of an open answer, it is not known whether data can violate what some paths require of them.
    if paths.suitable.data and paths.exploration.is_complete and decision.verdict is not Verdict.NEVER:
        data, sizes = paths.data_decision, paths.exploration.data
        yield from ((data, clause) for clause in data.clauses if not symbols_in(clause).keys().isdisjoint(sizes))


def _finding(
    paths: Conclusions, clause: Formula, sizes: Mapping[Symbol, int] | None, branch: Branch | None, namer: Namer
) -> PathFinding:
    place = branch.end.place if branch is not None else None
    step = branch.steps[-1] if branch is not None and branch.steps and branch.steps[-1].error else None
    operands = () if step is None else tuple(o for o in step.operands if o)
    text, said = namer.formula(clause), in_words(clause, namer)
    return PathFinding(
        file="" if place is None else place.file,
        line=0 if place is None else place.line,
        source="" if place is None else place.source,
        operation="" if step is None else step.operation,
        operands=operands,
        formula=clause,
        text=text,
        words="no sizes work" if clause == FALSE else said,
        error="" if branch is None else branch.end.error,
        counterexample=None if sizes is None else {name: sizes[s] for s, name in paths.names.items() if s in sizes},
        sizes_there="" if sizes is None else _there(operands, sizes),
        fix=_fix(paths, clause, text) if clause != FALSE else "",
    )


def _there(operands: Sequence[Dims], sizes: Mapping[Symbol, int]) -> str:
    """Return operands at some sizes as text; empty if a data-dependent size is not given."""
    if any(s not in sizes for o in operands for s in symbols_of(o)):
        return ""
    return " beside ".join(shape_at(o, sizes) for o in operands)


def _fix(paths: Conclusions, clause: Formula, text: str) -> str:
    short = gathered(clause)
    text = text if short == clause else Namer.of(paths.names).formula(short)
    if symbols_in(clause).keys().isdisjoint(paths.exploration.data):
        return f"call it only where {text}, or check that before"
    return f"check that the data satisfy {text} before"
