"""Broadcasts and programs divided into cases, and the proof that the cases cover their sizes once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import TypeAlias, TypeVar, overload

from symbcast.answers.cases import choices
from symbcast.answers.cases.partition import Partition, PartitionPart
from symbcast.core.advice import Guessable, guessed_meanings
from symbcast.core.algebra.arithmetic import check_limit
from symbcast.core.algebra.formulas import FALSE, TRUE, Formula, all_of, any_of, equal, negate
from symbcast.core.algebra.symbols import Rest, SequenceSymbol, Unknown, sequences_of, symbol
from symbcast.core.algebra.terms import Symbol
from symbcast.core.characters import sizes_text
from symbcast.core.effort import Satisfiability, answer_property, one_call
from symbcast.core.programs.arguments import GivenSizes, Sizes, assumption_set, unknown_name_error
from symbcast.core.programs.bindings import RankedSizes, read_needed
from symbcast.core.programs.broadcast_call import BroadcastCall
from symbcast.core.programs.certificates import Certificate, Claim, Proof
from symbcast.core.programs.conditions import Statement, condition_of_same_sizes
from symbcast.core.programs.operations import distinct_names
from symbcast.core.programs.program import Program
from symbcast.core.programs.unknown_rank import UnrolledSequences, sizes_at
from symbcast.core.rules import Rule
from symbcast.core.shapes import Shape, is_open
from symbcast.core.solver.decision import AssumptionSet
from symbcast.core.solver.evaluation import AxisSizes, holds_at, predicate, replace_in_formula, symbols_in
from symbcast.core.solver.f2_one_size.set_formulas import set_formula
from symbcast.core.solver.f3_linear.z3_solver import Session, on_worker
from symbcast.core.verdicts import Verdict
from symbcast.errors import BindingError, ShapeTypeError

# The cases of a broadcast, or of a program: in each, all output sizes and all stretched axes are the same.


# The most cases to list, unless the caller gives another limit.
MOST = 10_000

Hint: TypeAlias = "Sizes | str | Statement"
"""Expected sizes: all or some of them by name, or a condition on them."""


class CasesQuestion:
    """The question that is divided into cases.

    Attributes:
        subject: The broadcast, or the program.
        names: The name of each size.
        broadcasts: The broadcasts, in order; given as None for the one of a call whose ranks are known.
        partition: The sizes at which all broadcasts are valid.
        condition: The condition under which all broadcasts are valid, made when it is first asked for.
        unrolled: The number of axes of each sequence that are distinguished; None if all ranks are known.
    """

    def __init__(
        self,
        subject: BroadcastCall | Program,
        condition: Statement | Callable[[], Statement],
        names: Mapping[Symbol, str],
        broadcasts: Sequence[choices.BroadcastColumns | choices.OpenBroadcastColumns] | None,
        partition: Partition,
    ) -> None:
        self.subject = subject
        self.names = names
        self._condition = condition
        self._broadcasts = broadcasts
        self.partition = partition
        self.unrolled: UnrolledSequences | None = None

    @cached_property
    def condition(self) -> Statement:
        return self._condition if isinstance(self._condition, Statement) else self._condition()

    @cached_property
    def broadcasts(self) -> tuple[choices.BroadcastColumns | choices.OpenBroadcastColumns, ...]:
        if self._broadcasts is not None:
            return tuple(self._broadcasts)
        assert isinstance(self.subject, BroadcastCall)
        return (choices.broadcast_of(self.subject.rule.called, self.subject.rule, self.subject.operands),)

    @cached_property
    def _called(self) -> dict[Symbol, Symbol]:
        return {s: symbol(n) for s, n in self.names.items() if not _is_itself(s) and s is not symbol(n)}

    def named(self, sizes: Mapping[Symbol, int]) -> dict[str, int]:
        """Return sizes by name, with the sizes of a sequence's axes together, as ``batch=(2, 3)``."""
        if self.unrolled is None:
            return {name: sizes[s] for s, name in self.names.items()}
        return self.unrolled.named(sizes, self.names)

    def statement(self, formula: Formula) -> Statement:
        """Return a condition on the sizes of the question."""
        return condition_of_same_sizes(
            self.condition, replace_in_formula(formula, self._called) if self._called else formula
        )

    def formula_of(self, statement: Statement) -> Formula:
        """Return a condition over the sizes of the question; raise `BindingError` if it mentions others."""
        symbols = {s if _is_itself(s) else symbol(n): s for s, n in self.names.items()}
        for other in symbols_in(statement.formula):
            if other not in symbols:
                raise unknown_name_error(other.name, list(self.names.values()))
        return replace_in_formula(statement.formula, symbols)


def _is_itself(s: Symbol) -> bool:
    """Return whether a symbol is an unknown or belongs to a sequence: these are not looked up by name."""
    return isinstance(s, (Unknown, SequenceSymbol))


class Case(Guessable):
    """The valid sizes of a broadcast or a program at which it behaves in one way.

    Attributes:
        number: The position of the case.
        hints: The positions of the hints that it contains.
    """

    _meanings = guessed_meanings(
        "guard when constraint -> condition",
        "example sizes -> witness()",
        "output out -> shape",
        "contains matches check -> has(...)",
    )

    def __init__(self, question: CasesQuestion, parts: PartitionPart, number: int, hints: tuple[int, ...] = ()) -> None:
        self._question = question
        self._parts = parts
        self.number = number
        self.hints = hints

    @property
    def budget(self) -> float | None:
        """The time limit of each question in seconds; None for no limit."""
        return self._question.subject.budget

    @answer_property
    def condition(self) -> Statement:
        """The condition that distinguishes the case from the others, under the assumptions; irredundant."""
        return self._question.statement(self.formula)

    @property
    def formula(self) -> Formula:
        """The guard as a formula over the sizes of the question."""
        return all_of(self._parts.clauses)

    @one_call
    def holds(self, sizes: Mapping[Symbol, int]) -> bool:
        """Return whether the guard holds at the sizes that it mentions."""
        if isinstance(sizes, AxisSizes):
            return holds_at(self.formula, sizes)
        symbols = tuple(symbols_in(self.formula))
        return predicate(self.formula, symbols)(*(sizes[s] for s in symbols))

    def has(self, sizes: Mapping[str, int]) -> bool:
        """Return whether the case contains sizes, given by name."""
        return self.holds(read_needed(symbols_in(self.formula), self._question.names, sizes, {}, "has"))

    @answer_property
    def layouts(self) -> tuple[choices.CaseLayout, ...]:
        """How each broadcast reads its operands, in order."""
        return tuple(b.layout(self._parts.resolve) for b in self._question.broadcasts)

    @property
    def shape(self) -> Shape:
        """The output; for a program, the output of the last operation."""
        return self.layouts[-1].shape

    @property
    def strides(self) -> tuple[Shape, ...]:
        """The element strides of each operand of the last operation along the output's axes: 0 where stretched."""
        return self.layouts[-1].strides

    @property
    def stretched(self) -> tuple[tuple[bool, ...], ...]:
        """For each operand of the last operation, whether it is stretched on each output axis."""
        return self.layouts[-1].stretched

    @property
    def shapes(self) -> dict[str, Shape]:
        """The output of each operation of a program by its name."""
        return {layout.name: layout.shape for layout in self.layouts}

    @one_call
    def witness(self) -> dict[str, int]:
        """Return the smallest sizes of the case."""
        return self._question.named(self._parts.witness())

    def __eq__(self, other: object) -> bool:
        """Return whether two cases have the same number, hints, sizes and behaviour."""
        return isinstance(other, Case) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash((self.number, self.formula))

    @one_call
    def _key(self) -> tuple[object, ...]:
        return self.number, self.hints, self.formula, self._question.names, self.layouts

    def __str__(self) -> str:
        return f"{self.condition}: {self.shape}" if len(self._question.broadcasts) == 1 else str(self.condition)

    @one_call
    def __repr__(self) -> str:
        return f"<Case {self.number}: {self}>"


class CaseDivision(Guessable, Sequence[Case]):
    """The cases of a broadcast or a program, which do not overlap. `symbcast.Cases` is its public form.

    Attributes:
        is_complete: Whether these are all the cases: the condition holds exactly where one of the guards does.
    """

    _meanings = guessed_meanings(
        "complete exhaustive -> is_complete",
        "cases guards conditions -> the cases, which it is a sequence of",
        "remainder default otherwise -> rest",
        "lookup get match select -> find(...)",
        "dispatch -> to_python() or to_cpp()",
        "why show text -> explain()",
    )

    def __init__(self, question: CasesQuestion, cases: Sequence[Case], is_complete: bool) -> None:
        self._question = question
        self._cases = tuple(cases)
        self.is_complete = is_complete

    @property
    def naive(self) -> int | None:
        """The number of cases if nothing were known about the sizes: 3 for an axis where two operands meet.

        None if a rank is unknown.
        """
        each = [b.naive for b in self._question.broadcasts]
        return None if None in each else prod(n for n in each if n is not None)

    @overload
    def __getitem__(self, place: int) -> Case: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Case, ...]: ...
    def __getitem__(self, place: int | slice) -> Case | tuple[Case, ...]:
        """Return a case, or several."""
        return self._cases[place]

    def __len__(self) -> int:
        return len(self._cases)

    @property
    def budget(self) -> float | None:
        """How many seconds each question may take; None where no clock decides."""
        return self._question.subject.budget

    @property
    def condition(self) -> Statement:
        """The condition under which all is valid."""
        return self._question.condition

    @property
    def rest(self) -> Statement:
        """The condition for sizes that none of these cases contains; false if the cases are complete."""
        if self.is_complete:
            return self._question.statement(FALSE)
        return self.condition & ~self._question.statement(any_of(c.formula for c in self))

    @one_call
    def find(self, sizes: Sizes | None = None, /, **named: int) -> Case | None:
        """Return the case that contains sizes, given as to `Result.evaluate`; None if no case does.

        Raises `BindingError` for a missing size that distinguishes cases, an unknown name, or an invalid size.
        """
        telling = {s for case in self for s in symbols_in(case.formula)}
        needed = read_needed(telling, self._question.names, sizes, named, "find")
        return next((case for case in self if case.holds(needed)), None)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CaseDivision):
            return NotImplemented
        ours, theirs = (self.condition, self.is_complete), (other.condition, other.is_complete)
        return ours == theirs and self._cases == other._cases

    def __hash__(self) -> int:
        return hash((self.condition, self._cases))

    @one_call
    def __repr__(self) -> str:
        more = "" if self.is_complete else " and more"
        return f"<{type(self).__name__}: {len(self)}{more}>"


# Broadcasts and programs divided into cases.


D = TypeVar("D", bound=CaseDivision)
HintedSizes: TypeAlias = choices.BroadcastColumns | choices.OpenBroadcastColumns
"""A broadcast that is divided into cases."""


@dataclass(frozen=True)
class _QuestionSizes:
    """The sizes of a question, as its cases use them.

    ``requirements`` are the formulas that must hold, ``names`` the name of each size, in order. ``unrolled`` says which
    axes of sequences are distinguished, ``ranks`` which ranks; both are None if all ranks are known.
    """

    requirements: Sequence[Formula]
    names: Mapping[Symbol, str]
    assumptions: AssumptionSet
    unrolled: UnrolledSequences | None = None
    ranks: choices.Ranks | None = None

    @staticmethod
    def of_ranks(ranks: RankedSizes) -> _QuestionSizes:
        """Return the sizes of a question with sequences of axes."""
        return _QuestionSizes(ranks.required, ranks.names, ranks.assumption_set, ranks.unrolled, choices.Ranks(ranks))

    def broadcast(self, name: str, rule: Rule, operands: tuple[Shape, ...], output: Shape | None = None) -> HintedSizes:
        """Return a broadcast to divide into cases; ``output`` is given for an operator."""
        if self.ranks is None or not any(map(is_open, operands)):
            return choices.broadcast_of(name, rule, operands, output)
        for dims in (*operands, *(() if output is None else (output,))):
            self.ranks.check(dims)
        return choices.OpenBroadcastColumns(name, rule, operands, output, self.ranks)

    def partition(self, columns: Iterable[choices.AxisColumn]) -> Partition:
        """Return the sizes at which everything required holds, divided by columns."""
        if FALSE in self.requirements:
            # Operands whose ranks alone make them fail have no layout.
            return Partition(self.assumptions, (), self.requirements)
        if self.ranks is None:
            return Partition(self.assumptions, columns, self.requirements)
        unrolled = [cells for column in columns for cells in self.ranks.unrolled(column)]
        parts: list[choices.AxisColumn | choices.RankColumn] = [*self.ranks.columns(), *unrolled]
        return Partition(self.assumptions, parts, self.requirements)


def cases_of_call(
    kind: type[D], call: BroadcastCall, condition: Callable[[], Statement], limit: int | None = None
) -> D:
    """Return the cases of a broadcast; ``condition`` returns its condition as a value."""
    if call.is_plain:
        names = call.shown
        # Each axis has a column, which expresses all that the rule requires there.
        relations = call.rule.relations(call.masks.shapes) or ()
        columns = [choices.AxisColumn(tuple(dict.fromkeys(sizes))) for _, sizes in relations if len({*sizes, 1}) > 2]
        partition = Partition(AssumptionSet.of_names(tuple(names)), columns, ())
        return _cases(kind, CasesQuestion(call, condition, names, None, partition), (), limit)
    requirements, scope = [c.requirement for c in call.constraints], call.scope
    if scope is None:
        sizes = _QuestionSizes(requirements, {}, AssumptionSet((), {}, ()))
    elif not scope.sequences:
        sizes = _QuestionSizes(requirements, scope.names, scope.assumption_set)
    else:
        sizes = _QuestionSizes.of_ranks(RankedSizes.of_call("cases", call))
    broadcast = sizes.broadcast(call.rule.called, call.rule, call.operands)
    partition = sizes.partition([*choices.joins_in([d for s in call.operands for d in s.dims]), *broadcast.columns()])
    question = CasesQuestion(call, condition, sizes.names, [broadcast], partition)
    question.unrolled = sizes.unrolled
    return _cases(kind, question, (), limit)


def cases_of_program(
    kind: type[D], program: Program, condition: Statement, hints: Iterable[Hint] = (), limit: int | None = None
) -> D:
    """Return the cases of a program, those that contain hints first."""
    operations = [op for op in program.operations if op.kind != "assume"]
    requirements: list[Formula] = [FALSE] if program.verdict is Verdict.NEVER else []
    requirements += (c.requirement for op in operations for c in op.constraints)
    assumed, least = program.assumptions, program.min_size
    if sequences_of(program.shown):
        sizes = _QuestionSizes.of_ranks(RankedSizes("cases", requirements, program.shown, (assumed, least)))
    else:
        sizes = _QuestionSizes(requirements, program.shown, assumption_set(program.shown, assumed, least))
    broadcasts: list[HintedSizes] = []
    columns: list[choices.AxisColumn] = []
    outputs = [op for op in operations if op.output is not None]
    names = {op.number: name for op, name in zip(outputs, distinct_names(outputs), strict=True)}
    for op in operations:
        columns += choices.joins_in([d for s in op.operands for d in s.dims])
        if op.rule is not None and op.output is not None:
            broadcasts.append(sizes.broadcast(names[op.number], op.rule, op.operands, op.output))
            columns += choices.joins_in(op.output.dims) if broadcasts[-1].is_operator else broadcasts[-1].columns()
    question = CasesQuestion(program, condition, sizes.names, broadcasts, sizes.partition(columns))
    question.unrolled = sizes.unrolled
    return _cases(kind, question, hints, limit)


def _cases(kind: type[D], question: CasesQuestion, hints: Iterable[Hint], limit: int | None) -> D:
    """Return the cases, those that contain the most hints first."""
    partition, most = question.partition, MOST if limit is None else check_limit(limit)
    if isinstance(hints, (str, Mapping, Statement)):
        raise ShapeTypeError(hints, "several hints", "write a list: hints=['N == 1']")
    hinted: dict[tuple[Formula, ...], tuple[PartitionPart, list[int]]] = {}
    for place, hint in enumerate(hints):
        for parts in _hinted(question, hint, place, most):
            numbered = hinted.setdefault(parts.key, (parts, []))
            numbered[1].append(place)
    first = sorted(hinted.values(), key=lambda numbered: -len(numbered[1]))
    chosen = [(parts, tuple(places)) for parts, places in first[:most]]
    is_complete = False
    if len(chosen) < most:
        known = set(hinted)
        parts_found, all_found = partition.parts(most + len(chosen))
        others = [parts for parts in parts_found if parts.key not in known]
        is_complete = all_found and len(chosen) + len(others) <= most
        chosen += [(parts, ()) for parts in others[: most - len(chosen)]]
    cases = [Case(question, parts, number, places) for number, (parts, places) in enumerate(chosen)]
    return kind(question, cases, is_complete)


def _hinted(question: CasesQuestion, hint: Hint, place: int, limit: int) -> list[PartitionPart]:
    """Return the parts that contain sizes of a hint; raise `BindingError` if there are none."""
    partition, names = question.partition, question.names
    if not isinstance(hint, Mapping):
        hint_formula = question.formula_of(condition_of_same_sizes(question.condition, TRUE) & hint)
        matching = partition.parts_within([hint_formula], limit)
        return _some(matching, place, str(hint))
    bound = GivenSizes.read(names, hint, {})
    sizes = {s: bound.sizes[name] for s, name in names.items() if name in bound.sizes}
    # The axes that are not distinguished have no requirements.
    sizes.update((s, size) for s, size in sizes_at(names, bound.axes).items() if not isinstance(s, Rest))
    if len(sizes) == len(names):
        parts = partition.part_at(sizes)
        matching = [] if parts is None else [parts]
    else:
        matching = partition.parts_within([equal(s, size) for s, size in sizes.items()], limit)
    return _some(matching, place, sizes_text(bound.by_name))


def _some(sizes: list[PartitionPart], place: int, said: str) -> list[PartitionPart]:
    if not sizes:
        raise BindingError(f"hint {place} ({said}) admits no valid sizes", "see .condition and .assumptions")
    return sizes


# Prove cases with z3: no two hold together, and they cover exactly the rules' requirements.


def certify_cases(cases: CaseDivision) -> Certificate:
    """Return what z3 proves about the cases from the raw constraints."""
    partition = cases._question.partition
    known = partition.assumptions
    guards, required = [case.formula for case in cases], all_of(partition.all_requirements)
    claims = [
        *((f"case {n} and those before it share no sizes", [g, any_of(guards[:n])]) for n, g in enumerate(guards) if n),
        ("wherever a case holds, the constraints do", [any_of(guards), negate(required)]),
    ]
    if cases.is_complete:
        claims.append(("wherever the constraints hold, a case does", [required, negate(any_of(guards))]))
    assumed = [*(set_formula(s, sizes) for s, sizes in known.domains.items()), *known.others]

    def prove() -> list[Claim]:
        session = Session(known.domains, assumed)
        return [
            Claim(t, _never(session, [replace_in_formula(f, known.values) for f in formulas])) for t, formulas in claims
        ]

    evidence = [_evidence(case) for case in cases]
    return Certificate((*(on_worker(prove) if known.domains or guards else ()), *evidence))


def _never(session: Session, formulas: Sequence[Formula]) -> Proof:
    answer = session.check(formulas)
    if answer is Satisfiability.UNSATISFIABLE:
        return Proof.PROVED
    return Proof.REFUTED if answer is Satisfiability.SATISFIABLE else Proof.UNDECIDED


def _evidence(case: Case) -> Claim:
    is_inside = case.has(case.witness())
    return Claim(f"the witness of case {case.number} lies in it", Proof.PROVED if is_inside else Proof.REFUTED)
