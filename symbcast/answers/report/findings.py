"""Findings: a program's requirements, each conjunct with its operations, the reason, and where it fails."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from symbcast.answers.explanation.names import Namer, names_of_operands, rule_text
from symbcast.answers.explanation.words import in_words
from symbcast.answers.report.failures import Sizes, broken, located_reason, saying, shape_at
from symbcast.answers.report.stops import Stops
from symbcast.core.characters import visible
from symbcast.core.logic.formulas import FALSE, Formula
from symbcast.core.shapes import Shape
from symbcast.core.verdicts import Verdict

if TYPE_CHECKING:
    from symbcast.core.broadcasting.constraints import Constraint
    from symbcast.core.program.calls.call import Call
    from symbcast.core.program.operations.operation import Op
    from symbcast.core.program.statements.statement import Statement
    from symbcast.core.program.whole.answers import Requirement
    from symbcast.core.program.whole.program import Program


@dataclass(frozen=True, kw_only=True)
class Finding:
    """A conjunct of a condition; or, if no sizes are valid, the requirement of one of the clashing operations.

    The conjunction of the findings of a program is its condition.

    Attributes:
        operation: The name of the operation that requires it: the first of its origins that fails at `counterexample`.
        stops_at: The name of the operation at which a run with the sizes of `counterexample` stops: the first one of
            the whole program whose requirements fail there, perhaps for another reason; empty if unknown.
        kind: The kind of this operation: ``"broadcast"``, ``"matmul"``, ``"equal"``, ``"require"``, ...
        rule: The rule of a broadcast with its attributes, such as ``"pdpd(axis=1)"``; else empty.
        operands: The operands of this operation by name, with their shapes; None for one that is not known.
        shown: The positions of the operands that meet where it fails.
        formula: The requirement.
        text: The requirement as text, which `symbcast.Condition` reads back.
        words: The requirement in words.
        code: The code of the reason, such as ``"join"`` or ``"equal"``: see `symbcast.core.reasons`.
        reason: A sentence on why the operation requires it, with the axis if it is about one.
        failing: What `counterexample` returns, perhaps as a mapping that shares most sizes with other findings.
        sizes_there: The operands that meet, with their shapes at these sizes: ``"(1, 3) beside (1, 2)"``.
        origins: The names of all operations that it comes from, in order.
        is_joint: Whether it follows from the origins together, but not from any one of them.
        verdict: The severity. NEVER: no sizes are valid for all the clashing operations. SOMETIMES: it holds at some
            sizes and fails at others. UNKNOWN: not decided. A requirement that always holds is not a finding.
    """

    operation: str
    kind: str
    rule: str = ""
    operands: tuple[tuple[str, Shape | None], ...] = ()
    shown: tuple[int, ...] = ()
    formula: Formula = field(repr=False)
    text: str
    words: str
    code: str = ""
    reason: str = ""
    failing: Mapping[str, int] | None = field(default=None, hash=False)
    sizes_there: str = ""
    stops_at: str = ""
    origins: tuple[str, ...] = ()
    is_joint: bool = False
    verdict: Verdict = Verdict.SOMETIMES

    @property
    def counterexample(self) -> dict[str, int] | None:
        """The smallest sizes at which this fails and, if possible, nothing else does; None if none were found."""
        return self.failing if self.failing is None or type(self.failing) is dict else dict(self.failing)

    @property
    def condition(self) -> Statement:
        """What must hold, as a `symbcast.Condition`."""
        from symbcast.core.program.statements.statement import public

        return public(self.text)

    def __str__(self) -> str:
        return f"{self.operation} ({self.rule or self.kind}): {self.words}"


def findings_of(program: Program) -> tuple[Finding, ...]:
    """Return a program's requirements in the order of the operations; if no sizes are valid, only the clashing ones."""
    reader = _Reader(program)
    if program.verdict is Verdict.NEVER:
        return tuple(map(reader.clash, program.clashes()))
    return tuple(map(reader.conjunct, program.requirements()))


def findings_of_call(call: Call) -> tuple[Finding, ...]:
    """Return one broadcast's requirements, as the findings of a program with no other operation."""
    from symbcast.core.program.whole.program import Program

    least = call.min_size
    program = Program(call.assumptions, least, on_conflict="record", budget=call.budget)
    program.broadcast(call.operands, call.rule)
    return findings_of(program)


def severity(verdict: Verdict, counterexample: Mapping[str, int] | None) -> Verdict:
    """Return the severity of a finding, given the verdict of the whole and the sizes at which it fails."""
    if verdict is Verdict.SOMETIMES and counterexample is None:
        return Verdict.UNKNOWN
    return verdict


class _Blame(NamedTuple):
    """The operation that a finding is reported for, and its failing constraint."""

    op: Op
    constraint: Constraint | None


class _Reader:
    """Makes the findings of one program."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._namer = Namer.of(program.shown)
        self._verdict = program.verdict
        self._stops = Stops(program)

    def conjunct(self, requirement: Requirement) -> Finding:
        """Return the finding about a conjunct of the condition."""
        clause, origins, is_asked = requirement
        if not origins:
            # If no smaller set was found within the time limit, all operations together require it.
            origins = tuple(op for op in self._program.operations if op.kind != "assume")
        found = self._finding(clause, origins, self._program.breaking(clause))
        return replace(found, is_joint=not is_asked and len(found.origins) > 1)

    def clash(self, requirement: Requirement) -> Finding:
        """Return the finding about one of the operations that clash."""
        clause, origins, _ = requirement
        return self._finding(clause, origins, self._program.failing(clause))

    def _finding(self, clause: Formula, origins: Sequence[Op], failing: Mapping[str, int] | None) -> Finding:
        sizes = None if failing is None else self._program.symbol_sizes(failing)
        op, constraint = _blame(clause, origins, sizes)
        shown = () if constraint is None else constraint.origin.operands
        stop = None if sizes is None else self._stops.first(sizes)
        return Finding(
            operation=op.name,
            kind=op.kind,
            rule=rule_text(op.rule) if op.rule is not None and op.kind == "broadcast" else "",
            operands=tuple(zip(names_of_operands(op.rule, len(op.operands)), op.operands, strict=True)),
            shown=shown,
            formula=clause,
            text=self._namer.formula(clause),
            words="no sizes work" if clause == FALSE else in_words(clause, self._namer),
            code="" if constraint is None else constraint.code,
            reason=_reason(op, constraint),
            failing=failing,
            sizes_there="" if sizes is None else _there((op.operands[n] for n in shown), sizes),
            stops_at="" if stop is None else stop[1].name,
            origins=tuple(dict.fromkeys(o.name for o in origins)),
            verdict=severity(self._verdict, failing),
        )


def _blame(clause: Formula, origins: Sequence[Op], sizes: Sizes | None) -> _Blame:
    """Return the first operation that fails at the given sizes; without sizes, one that requires the clause."""
    for op in origins:
        found = broken(op, sizes, clause) if sizes is not None else saying(clause, op)
        if found is not None:
            return _Blame(op, found)
    return _Blame(origins[0], None)


def _reason(op: Op, constraint: Constraint | None) -> str:
    """Return why a constraint is required; for the caller's own requirement, say so and quote it."""
    if constraint is None:
        return ""
    return f"{constraint.reason}: {visible(op.text)}" if op.kind == "require" else located_reason(constraint)


def _there(shapes: Iterable[Shape], sizes: Sizes) -> str:
    return " beside ".join(shape_at(shape.dims, sizes) for shape in shapes)
