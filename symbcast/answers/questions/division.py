"""Broadcasts and programs divided into cases."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from symbcast.answers.questions.cases import MOST, Case, Division, Hint, Question
from symbcast.answers.questions.choices import Column
from symbcast.answers.questions.layouts import Broadcast, OpenBroadcast, broadcast_of, joins_in
from symbcast.answers.questions.partition import Partition, Parts
from symbcast.answers.questions.ranks import RankColumn, Ranks
from symbcast.core.algebra.sequences import Rest, sequences_of
from symbcast.core.algebra.symbols import Symbol
from symbcast.core.broadcasting import Rule
from symbcast.core.characters import sizes_text
from symbcast.core.logic.formulas import FALSE, TRUE, Formula, equal
from symbcast.core.program.calls.call import Call
from symbcast.core.program.calls.ranked import RankedSizes
from symbcast.core.program.limits import check_limit
from symbcast.core.program.sizes.given import Given
from symbcast.core.program.sizes.premises import knowledge
from symbcast.core.program.sizes.unrolling import Unrolled, sizes_at
from symbcast.core.program.statements.statement import Statement, of_same_sizes
from symbcast.core.program.whole.program import Program
from symbcast.core.shapes import Shape, is_open
from symbcast.core.solver.decision.knowledge import Knowledge
from symbcast.core.verdicts import Verdict
from symbcast.errors import BindingError, ShapeTypeError

D = TypeVar("D", bound=Division)
Told: TypeAlias = Broadcast | OpenBroadcast
"""A broadcast that is divided into cases."""


@dataclass(frozen=True)
class _Sizes:
    """The sizes of a question, as its cases use them.

    ``asked`` are the formulas that must hold, ``names`` the name of each size, in order. ``unrolled`` says which axes
    of sequences are distinguished, ``ranks`` which ranks; both are None if all ranks are known.
    """

    asked: Sequence[Formula]
    names: Mapping[Symbol, str]
    knowledge: Knowledge
    unrolled: Unrolled | None = None
    ranks: Ranks | None = None

    @staticmethod
    def of_ranks(found: RankedSizes) -> _Sizes:
        """Return the sizes of a question with sequences of axes."""
        return _Sizes(found.asked, found.names, found.knowledge, found.unrolled, Ranks(found))

    def broadcast(self, name: str, rule: Rule, operands: tuple[Shape, ...], output: Shape | None = None) -> Told:
        """Return a broadcast to divide into cases; ``output`` is given for an operator."""
        if self.ranks is None or not any(map(is_open, operands)):
            return broadcast_of(name, rule, operands, output)
        for found in (*operands, *(() if output is None else (output,))):
            self.ranks.check(found)
        return OpenBroadcast(name, rule, operands, output, self.ranks)

    def partition(self, columns: Iterable[Column]) -> Partition:
        """Return the sizes at which everything required holds, divided by columns."""
        if FALSE in self.asked:
            # Operands whose ranks alone make them fail have no layout.
            return Partition(self.knowledge, (), self.asked)
        if self.ranks is None:
            return Partition(self.knowledge, columns, self.asked)
        unrolled = [found for column in columns for found in self.ranks.unrolled(column)]
        told: list[Column | RankColumn] = [*self.ranks.columns(), *unrolled]
        return Partition(self.knowledge, told, self.asked)


def cases_of_call(kind: type[D], call: Call, condition: Callable[[], Statement], limit: int | None = None) -> D:
    """Return the cases of a broadcast; ``condition`` returns its condition as a value."""
    if call.is_plain:
        names = call.shown
        # Each axis has a column, which expresses all that the rule requires there.
        found = call.rule.relations(call.masks.shapes) or ()
        columns = [Column(tuple(dict.fromkeys(sizes))) for _, sizes in found if len({*sizes, 1}) > 2]
        partition = Partition(Knowledge.of_names(tuple(names)), columns, ())
        return _cases(kind, Question(call, condition, names, None, partition), (), limit)
    asked, scope = [c.requirement for c in call.constraints], call.scope
    if scope is None:
        sizes = _Sizes(asked, {}, Knowledge((), {}, ()))
    elif not scope.sequences:
        sizes = _Sizes(asked, scope.names, scope.knowledge)
    else:
        sizes = _Sizes.of_ranks(RankedSizes.of_call("cases", call))
    broadcast = sizes.broadcast(call.rule.called, call.rule, call.operands)
    dims = [d for s in call.operands for d in s.dims]
    partition = sizes.partition([*joins_in(dims), *broadcast.columns()])
    question = Question(call, condition, sizes.names, [broadcast], partition)
    question.unrolled = sizes.unrolled
    return _cases(kind, question, (), limit)


def cases_of_program(
    kind: type[D], program: Program, condition: Statement, hints: Iterable[Hint] = (), limit: int | None = None
) -> D:
    """Return the cases of a program, those that contain hints first."""
    operations = [op for op in program.operations if op.kind != "assume"]
    asked: list[Formula] = [FALSE] if program.verdict is Verdict.NEVER else []
    asked += (c.requirement for op in operations for c in op.constraints)
    assumed, least = program.assumptions, program.min_size
    if sequences_of(program.shown):
        sizes = _Sizes.of_ranks(RankedSizes("cases", asked, program.shown, (assumed, least)))
    else:
        sizes = _Sizes(asked, program.shown, knowledge(program.shown, assumed, least))
    broadcasts: list[Told] = []
    columns: list[Column] = []
    for op in operations:
        columns += joins_in([d for s in op.operands for d in s.dims])
        if op.rule is not None and op.output is not None:
            broadcasts.append(sizes.broadcast(op.name, op.rule, op.operands, op.output))
            columns += joins_in(op.output.dims) if broadcasts[-1].is_operator else broadcasts[-1].columns()
    question = Question(program, condition, sizes.names, broadcasts, sizes.partition(columns))
    question.unrolled = sizes.unrolled
    return _cases(kind, question, hints, limit)


def _cases(kind: type[D], question: Question, hints: Iterable[Hint], limit: int | None) -> D:
    """Return the cases, those that contain the most hints first."""
    partition, most = question.partition, MOST if limit is None else check_limit(limit)
    if isinstance(hints, (str, Mapping, Statement)):
        raise ShapeTypeError(hints, "several hints", "write a list: hints=['N == 1']")
    hinted: dict[tuple[Formula, ...], tuple[Parts, list[int]]] = {}
    for place, hint in enumerate(hints):
        for parts in _hinted(question, hint, place, most):
            found = hinted.setdefault(parts.key, (parts, []))
            found[1].append(place)
    first = sorted(hinted.values(), key=lambda found: -len(found[1]))
    chosen = [(parts, tuple(places)) for parts, places in first[:most]]
    is_complete = False
    if len(chosen) < most:
        known = set(hinted)
        parts_found, all_found = partition.parts(most + len(chosen))
        others = [parts for parts in parts_found if parts.key not in known]
        is_complete = all_found and len(chosen) + len(others) <= most
        chosen += [(parts, ()) for parts in others[: most - len(chosen)]]
    made = [Case(question, parts, number, places) for number, (parts, places) in enumerate(chosen)]
    return kind(question, made, is_complete)


def _hinted(question: Question, hint: Hint, place: int, limit: int) -> list[Parts]:
    """Return the parts that contain sizes of a hint; raise `BindingError` if there are none."""
    partition, names = question.partition, question.names
    if not isinstance(hint, Mapping):
        wanted = question.formula_of(of_same_sizes(question.condition, TRUE) & hint)
        found = partition.parts_within([wanted], limit)
        return _some(found, place, str(hint))
    given = Given.read(names, hint, {})
    sizes = {s: given.sizes[name] for s, name in names.items() if name in given.sizes}
    # The axes that are not distinguished have no requirements.
    sizes.update((s, size) for s, size in sizes_at(names, given.axes).items() if not isinstance(s, Rest))
    if len(sizes) == len(names):
        parts = partition.part_at(sizes)
        found = [] if parts is None else [parts]
    else:
        found = partition.parts_within([equal(s, size) for s, size in sizes.items()], limit)
    return _some(found, place, sizes_text(given.by_name))


def _some(found: list[Parts], place: int, said: str) -> list[Parts]:
    if not found:
        raise BindingError(f"hint {place} ({said}) admits no valid sizes", "see .condition and .assumptions")
    return found
