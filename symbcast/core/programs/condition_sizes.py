"""The solver's view of questions about conditions: their sizes, the assumptions about these, and where one fails.

A condition on sequences of axes is a conjunction of clauses, each about every axis. So a clause fails if it fails on
some axis. `Refutation` looks for any such axis; it need not be known which one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from symbcast.core.algebra.formulas import Formula, all_of, any_of, clauses, negate, with_values
from symbcast.core.algebra.symbols import SequenceSymbol, sequences_of
from symbcast.core.algebra.terms import Symbol
from symbcast.core.effort import stop_reason
from symbcast.core.programs.arguments import Assumption, own_set
from symbcast.core.programs.unknown_rank import UnrolledSequences, axis_checked_formula
from symbcast.core.solver.decision import AssumptionSet, ContradictionError, Decision
from symbcast.core.solver.evaluation import symbols_in
from symbcast.core.structs import NamedTuple
from symbcast.errors import AssumptionError, DimensionError, UndecidedError, UnknownRankError


class QuestionFormulas(NamedTuple):
    """The formulas of a question: those that users wrote, those that rules require, and others known to hold."""

    written: Iterable[Formula]
    required: Iterable[Formula]
    assumed: list[Formula]


class ConditionSizes:
    """The sizes of some conditions in the order of their questions, and the assumptions about them.

    ``min_axis`` is the minimum size of an axis of a sequence, ``min_size`` that of all other sizes. Raises
    `AssumptionError` for a written clause about all axes of sequences that fails if all of these are 1, as axes that
    do not exist are.
    """

    def __init__(self, order: Iterable[Symbol], formulas: QuestionFormulas, min_size: int, min_axis: int) -> None:
        assumed = formulas.assumed
        written = [c for formula in formulas.written for c in clauses(formula)]
        conjuncts = [*(c for formula in formulas.required for c in clauses(formula)), *written]
        mentioned = {s: None for f in (*conjuncts, *assumed) for s in symbols_in(f)}
        # Simplification keeps the order of the question.
        symbols = tuple(dict.fromkeys((*(s for s in order if s in mentioned), *mentioned)))
        self.unrolled: UnrolledSequences | None = None
        if any(isinstance(s, SequenceSymbol) for s in symbols):
            check_kinds(symbols)
            for clause in written:
                axis_checked_formula(Assumption(clause), min_axis)
            self.unrolled = UnrolledSequences([*conjuncts, *assumed], sequences_of(symbols), min_axis)
            assumed = [a.formula for a in self.unrolled.known(map(Assumption, assumed))]
            symbols = (*self.unrolled.symbols(symbols), *self.unrolled.hidden)
        own = {s: own_set(s, min_axis if isinstance(s, SequenceSymbol) else min_size) for s in symbols}
        try:
            self.assumptions = AssumptionSet(symbols, own, assumed)
        except ContradictionError:
            if self.unrolled is None:
                raise
            if not self.bound:
                raise AssumptionError("the assumptions leave no sizes") from None
            # The bound on the ranks may be what excludes all sizes.
            raise UnknownRankError("a sequence with itself, shifted by some axes", "it") from None

    @property
    def bound(self) -> str:
        """Why answers cover only some ranks; empty if they cover all."""
        return "" if self.unrolled is None else self.unrolled.reason

    def seen(self, formula: Formula) -> Formula:
        """Return a condition expressed in these symbols, with what its terms need to have values.

        Conditions of answers leave that out where a comparison says it: ``broadcast(N, M) == N``.
        """
        return with_values(formula) if self.unrolled is None else all_of(self._parts(formula))

    def fails(self, formula: Formula) -> Formula:
        """Return a formula for where a condition fails, in these symbols."""
        return negate(with_values(formula)) if self.unrolled is None else any_of(map(negate, self._parts(formula)))

    def _parts(self, formula: Formula) -> list[Formula]:
        assert self.unrolled is not None
        return [part for clause in clauses(with_values(formula)) for part in self.unrolled.formulas(clause)]

    def decision(self, formula: Formula) -> Decision:
        """Return the decision about a condition."""
        return Decision(self.assumptions, [self.seen(formula)])

    def named(self, sizes: Mapping[Symbol, int], names: Mapping[Symbol, str]) -> dict[str, int]:
        """Return sizes by name, without those that no formula mentions."""
        if self.unrolled is None:
            return {name: sizes[s] for s, name in names.items() if s in sizes}
        depths = self.unrolled.depths
        known_names = {
            s: name
            for s, name in names.items()
            if (s.sequence in depths if isinstance(s, SequenceSymbol) else s in sizes)
        }
        return self.unrolled.named(sizes, known_names)


class Refutation:
    """The sizes at which one condition holds and another does not."""

    def __init__(self, sizes: ConditionSizes, holds: Formula, fails: Formula) -> None:
        self._sizes = sizes
        self._decision = Decision(sizes.assumptions, [all_of((sizes.seen(holds), sizes.fails(fails)))])

    @property
    def is_impossible(self) -> bool:
        """Whether there are no such sizes; raises `UndecidedError` if that is beyond the limits."""
        can_hold = self._decision.satisfiable
        if can_hold is None:
            raise UndecidedError(self._decision.reason)
        if not can_hold and self._sizes.bound:
            raise UndecidedError(self._sizes.bound)
        return not can_hold

    def witness(self, names: Mapping[Symbol, str]) -> dict[str, int] | None:
        """Return the smallest such sizes by name; None if there are none.

        Raises the same errors as `is_impossible`, and `UndecidedError` if such sizes exist but none were found.
        """
        if self.is_impossible:
            return None
        point = self._decision.witness()
        if point is None:
            raise UndecidedError(self._decision.evidence_reason or stop_reason())
        return self._sizes.named(point, names)


def check_kinds(symbols: Iterable[Symbol]) -> None:
    """Raise `DimensionError` if a size and a sequence have the same name."""
    both_kinds = list(symbols)
    names = {s.name for s in both_kinds if not isinstance(s, SequenceSymbol)}
    for sequence in sequences_of(both_kinds):
        if sequence.name in names:
            raise DimensionError(sequence.name, "it is a size and a sequence of axes", "give one of them another name")
