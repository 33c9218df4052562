"""Findings: requirements of a program, each with its operations, the reason, and where a run fails and stops."""

from __future__ import annotations

from collections.abc import Container, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from symbcast.answers.explanation.size_fixes import SizeFixes
from symbcast.answers.explanation.words import Namer, axis_text, in_words, names_of_operands, rule_text
from symbcast.core.algebra.formulas import TRUE, Formula, all_of
from symbcast.core.algebra.symbols import is_sequence, sequences_of
from symbcast.core.algebra.terms import Dim, Symbol, symbols_of
from symbcast.core.characters import shorten_middle, visible
from symbcast.core.effort import EffortSpentError, share
from symbcast.core.programs.arguments import SizesBySymbol, assumption_set
from symbcast.core.programs.operations import Op, operation_requirements
from symbcast.core.rules.declaration import Constraint
from symbcast.core.shapes import Shape
from symbcast.core.solver.decision import Decision
from symbcast.core.solver.evaluation import AxisSizes, UndefinedError, holds_at, normal_conjuncts, size_at, symbols_in
from symbcast.core.structs import NamedTuple
from symbcast.core.verdicts import Verdict
from symbcast.errors import AssumptionError

if TYPE_CHECKING:
    from symbcast.core.programs.answers import ProgramRequirement
    from symbcast.core.programs.broadcast_call import BroadcastCall
    from symbcast.core.programs.conditions import Statement
    from symbcast.core.programs.program import Program


# Where operations fail: the requirement that does not hold at some sizes, why, and the sizes that meet there.


Sizes: TypeAlias = "Mapping[Symbol, int]"

_LONGEST = 60


def failing_constraint(op: Op, sizes: Sizes, clause: Formula = TRUE) -> Constraint | None:
    """Return the first requirement of an operation that does not hold at some sizes.

    A requirement that shares a conjunct with ``clause`` comes before the others.
    """
    failing = [c for c in op.constraints if not holds_at(c.requirement, sizes)]
    return next((c for c in failing if _says(c, clause)), next(iter(failing), None))


def requirement_stating(clause: Formula, op: Op) -> Constraint | None:
    """Return the operation's requirement that equals a clause or has it as a conjunct."""
    return next((c for c in op.constraints if clause in normal_conjuncts([c.requirement])), None)


def _says(constraint: Constraint, clause: Formula) -> bool:
    return not set(normal_conjuncts([constraint.requirement])).isdisjoint(normal_conjuncts([clause]))


def located_reason(constraint: Constraint) -> str:
    """Return why a constraint is required, with its axis from both ends if it is about one axis."""
    origin = constraint.origin
    if origin.axis is None or not origin.rank:
        return constraint.reason
    return f"on {axis_text(origin.axis, origin.rank, origin.sequence)}, {constraint.reason}"


def dims_at(dims: Iterable[Dim], sizes: Sizes) -> list[int | None]:
    """Return dimensions at some sizes; None for one that has no value there, or whose sizes are not given."""
    return [_at(d, sizes) for d in dims]


def _at(dim: Dim, sizes: Sizes) -> int | None:
    try:
        return size_at(dim, sizes)
    except (UndefinedError, ZeroDivisionError, KeyError):
        return None


def shape_at(dims: Sequence[Dim], sizes: Sizes) -> str:
    """Return a shape at some sizes as text, with ``?`` for unknown sizes: ``(1, 64, ?)``."""
    texts = ["?" if size is None else str(size) for size in axes_at(dims, sizes)]
    return shorten_middle(f"({texts[0]},)" if len(texts) == 1 else f"({', '.join(texts)})", _LONGEST)


def axes_at(dims: Sequence[Dim], sizes: Sizes) -> list[int | None]:
    """Return a shape at some sizes: each axis of its sequence, and None for one that has no value there."""
    return dims_at([d for dim in dims for d in _sizes_of(dim, sizes)], sizes)


def _sizes_of(dim: Dim, sizes: Sizes) -> Sequence[Dim]:
    return (
        sizes.axes_of(dim) if isinstance(sizes, AxisSizes) and is_sequence(dim) and has_axes((dim,), sizes) else (dim,)
    )


def has_axes(dims: Iterable[Dim], sizes: Sizes) -> bool:
    """Return whether the axes of all sequences in some dimensions are given."""
    sequences = sequences_of(symbols_of(dims))
    return not sequences or (isinstance(sizes, AxisSizes) and sizes.axes.keys() >= set(sequences))


def without_sizes(sizes: Sizes, symbols: Container[Symbol]) -> Sizes:
    """Return the sizes without the given symbols."""
    others = {s: size for s, size in sizes.items() if s not in symbols}
    return AxisSizes(others, sizes.axes) if isinstance(sizes, AxisSizes) else others


def texts_at(dims: Iterable[Dim], sizes: Sizes) -> list[str]:
    """Return dimensions at some sizes as text, with ``?`` for unknown ones."""
    return ["?" if size is None else str(size) for size in dims_at(dims, sizes)]


# Where a run stops at some sizes: the first operation whose own requirements fail there.


# Units for one requirement: it is shown as it is if that does not suffice to simplify it.
_EFFORT = 100_000


class Stop(NamedTuple):
    """An operation that fails at some sizes, and its own requirement that fails there, as text."""

    op: Op
    requirement: str


class Stops:
    """Where runs of a program stop: each requirement with the first operation that has it, in order."""

    def __init__(self, program: Program) -> None:
        self._program = program
        # The last sizes that several findings share, and the positions of the requirements that fail there.
        self._shared: Mapping[str, int] | None = None
        self._failing: list[int] = []

    @cached_property
    def _required(self) -> list[tuple[Formula, Op]]:
        """The requirements; a long program repeats most of its operations, and with them their requirements."""
        seen: set[Hashable] = set()
        required: dict[Formula, Op] = {}
        for op in self._program.operations:
            key = (op.kind, op.rule, *[s.dims for s in op.operands]) if op.formula is None else op.formula
            if key not in seen:
                seen.add(key)
                for formula in operation_requirements(op):
                    required.setdefault(formula, op)
        return list(required.items())

    def first(self, sizes: Sizes) -> tuple[Formula, Op] | None:
        """Return the first requirement that fails at some sizes and its operation; None if none is known to fail.

        Requirements on sizes that are not given are left out.
        """
        required = self._required
        position = next((n for n in self._suspected(sizes) if _fails(required[n][0], sizes)), None)
        return None if position is None else required[position]

    def _suspected(self, sizes: Sizes) -> Iterable[int]:
        """Return the positions of the requirements that may fail: of few sizes that differ, only those about them."""
        apart = sizes.apart if isinstance(sizes, SizesBySymbol) else None
        if not isinstance(sizes, SizesBySymbol) or apart is None:
            return range(len(self._required))
        changed, shared = apart
        if self._shared is not shared:
            at = sizes.beside(shared)
            self._shared, self._failing = shared, [n for n, (f, _) in enumerate(self._required) if _fails(f, at)]
        return sorted({*self._failing, *(n for name in changed for n in self._about.get(name, ()))})

    @cached_property
    def _about(self) -> dict[str, list[int]]:
        """The positions of the requirements about each size, by its name."""
        about: dict[str, list[int]] = {}
        shown = self._program.shown
        for position, (formula, _) in enumerate(self._required):
            for name in (shown[s] for s in symbols_in(formula) if s in shown):
                about.setdefault(name, []).append(position)
        return about


def _fails(formula: Formula, sizes: Sizes) -> bool:
    """Return whether a formula fails at some sizes; False if not all of its sizes are given."""
    return symbols_in(formula).keys() <= sizes.keys() and not holds_at(formula, sizes)


def first_stop(program: Program, sizes: Sizes) -> Stop | None:
    """Return where a run of a program stops at some sizes; None if no operation is known to fail."""
    stop = Stops(program).first(sizes)
    if stop is None:
        return None
    formula, op = stop
    return Stop(op, Namer.of(program.shown).formula(_simplified(program, formula)))


def _simplified(program: Program, formula: Formula) -> Formula:
    symbols = tuple(symbols_in(formula))
    about = [a for a in program.assumptions if symbols_in(a.formula).keys() <= {*symbols}]
    try:
        with share(_EFFORT):
            return all_of(Decision(assumption_set(symbols, about, program.min_size), [formula]).clauses)
    except (AssumptionError, EffortSpentError):
        return formula


# Findings: a program's requirements, each conjunct with its operations, the reason, and where it fails.


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
        code: The code of the reason, such as ``"join"`` or ``"equal"``: see `symbcast.core.rules.declaration`.
        reason: A sentence on why the operation requires it, with the axis if it is about one.
        failing: What `counterexample` returns, perhaps as a mapping that shares most sizes with other findings.
        sizes_there: The operands that meet, with their shapes at these sizes: ``"(1, 3) and (1, 2)"``.
        fix: How to fix it; empty if nothing was found.
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
    fix: str = ""
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
        from symbcast.core.programs.conditions import public_condition

        return public_condition(self.text)

    def __str__(self) -> str:
        return f"{self.operation} ({self.rule or self.kind}): {self.words}"


def findings_of(program: Program) -> tuple[Finding, ...]:
    """Return a program's requirements in the order of the operations; if no sizes are valid, only the clashing ones."""
    reader = _FindingReader(program)
    if program.verdict is Verdict.NEVER:
        return tuple(map(reader.clash, program.clashes()))
    return tuple(map(reader.conjunct, program.requirements()))


def findings_of_call(call: BroadcastCall) -> tuple[Finding, ...]:
    """Return one broadcast's requirements, as the findings of a program with no other operation."""
    from symbcast.core.programs.program import Program

    least = call.min_size
    program = Program(call.assumptions, least, on_conflict="record", budget=call.budget)
    program.broadcast(call.operands, call.rule)
    return findings_of(program)


def severity(verdict: Verdict, counterexample: Mapping[str, int] | None) -> Verdict:
    """Return the severity of a finding, given the verdict of the whole and the sizes at which it fails."""
    if verdict is Verdict.SOMETIMES and counterexample is None:
        return Verdict.UNKNOWN
    return verdict


class _OperationBlame(NamedTuple):
    """The operation that a finding is reported for, and its failing constraint."""

    op: Op
    constraint: Constraint | None


class _FindingReader:
    """Makes the findings of one program."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._namer = Namer.of(program.shown)
        self._verdict = program.verdict
        self._stops = Stops(program)
        self._fixes = SizeFixes[None](program)

    def conjunct(self, requirement: ProgramRequirement) -> Finding:
        """Return the finding about a conjunct of the condition."""
        clause, origins, is_direct = requirement
        if not origins:
            # If no smaller set was found within the time limit, all operations together require it.
            origins = tuple(op for op in self._program.operations if op.kind != "assume")
        finding = self._finding(clause, origins, self._program.breaking(clause))
        is_joint = not is_direct and len(finding.origins) > 1
        return replace(finding, is_joint=is_joint, fix=self._fixes.of(clause))

    def clash(self, requirement: ProgramRequirement) -> Finding:
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
            words=in_words(clause, self._namer),
            code="" if constraint is None else constraint.code,
            reason=_reason(op, constraint),
            failing=failing,
            sizes_there="" if sizes is None else _there((op.operands[n] for n in shown), sizes),
            stops_at="" if stop is None else stop[1].name,
            origins=tuple(dict.fromkeys(o.name for o in origins)),
            verdict=severity(self._verdict, failing),
        )


def _blame(clause: Formula, origins: Sequence[Op], sizes: Sizes | None) -> _OperationBlame:
    """Return the first operation that fails at the given sizes; without sizes, one that requires the clause."""
    for op in origins:
        constraint = failing_constraint(op, sizes, clause) if sizes is not None else requirement_stating(clause, op)
        if constraint is not None:
            return _OperationBlame(op, constraint)
    return _OperationBlame(origins[0], None)


def _reason(op: Op, constraint: Constraint | None) -> str:
    """Return why a constraint is required; for the caller's own requirement, say so and quote it."""
    if constraint is None:
        return ""
    return f"{constraint.reason}: {visible(op.text)}" if op.kind == "require" else located_reason(constraint)


def _there(shapes: Iterable[Shape], sizes: Sizes) -> str:
    return " and ".join(shape_at(shape.dims, sizes) for shape in shapes)
