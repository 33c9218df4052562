"""The sizes in conditions, and the knowledge about them: the solver's view of questions about conditions.

A condition on sequences of axes is a conjunction of clauses, each about every axis. So a clause fails if it fails on
some axis. `Refutation` looks for any such axis; it need not be known which one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from symbcast.core.account import sampled_verdict
from symbcast.core.algebra.sequences import SequenceSymbol, sequences_of
from symbcast.core.logic.definedness import with_values
from symbcast.core.logic.formulas import Formula, all_of, any_of, clauses, negate
from symbcast.core.program.sizes.assumptions import Assumption
from symbcast.core.program.sizes.premises import own_set
from symbcast.core.program.sizes.unrolling import Unrolled, checked
from symbcast.core.solver.budget import reason
from symbcast.core.solver.decision.decision import Decision
from symbcast.core.solver.decision.knowledge import ContradictionError, Knowledge
from symbcast.core.solver.groups.normal_form import symbols_in
from symbcast.core.verdicts import Verdict, within_bound
from symbcast.errors import AssumptionError, DimensionError, UndecidedError, UnknownRankError

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol


class Formulas(NamedTuple):
    """The formulas of a question: those that users wrote, those that rules require, and others known to hold."""

    written: Iterable[Formula]
    asked: Iterable[Formula]
    assumed: list[Formula]


class ConditionSizes:
    """The sizes of some conditions in the order of their questions, and the knowledge about them.

    ``min_axis`` is the minimum size of an axis of a sequence, ``min_size`` that of all other sizes. Raises
    `AssumptionError` for a written clause about all axes of sequences that fails if all of these are 1, as axes that
    do not exist are.
    """

    def __init__(
        self,
        order: Iterable[Symbol],
        formulas: Formulas,
        min_size: int,
        min_axis: int,
    ) -> None:
        assumed = formulas.assumed
        written = [c for formula in formulas.written for c in clauses(formula)]
        conjuncts = [*(c for formula in formulas.asked for c in clauses(formula)), *written]
        found = {s: None for f in (*conjuncts, *assumed) for s in symbols_in(f)}
        # Simplification keeps the order of the question.
        symbols = tuple(dict.fromkeys((*(s for s in order if s in found), *found)))
        self.unrolled: Unrolled | None = None
        if any(isinstance(s, SequenceSymbol) for s in symbols):
            check_kinds(symbols)
            for clause in written:
                checked(Assumption(clause), min_axis)
            self.unrolled = Unrolled([*conjuncts, *assumed], sequences_of(symbols), min_axis)
            assumed = [a.formula for a in self.unrolled.known(map(Assumption, assumed))]
            symbols = (*self.unrolled.symbols(symbols), *self.unrolled.hidden)
        own = {s: own_set(s, min_axis if isinstance(s, SequenceSymbol) else min_size) for s in symbols}
        try:
            self.knowledge = Knowledge(symbols, own, assumed)
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
        return Decision(self.knowledge, [self.seen(formula)])

    def verdict(self, formula: Formula) -> Verdict:
        """Return whether a condition holds always, sometimes or never, or this is unknown."""
        decision = self.decision(formula)
        found = within_bound(decision.verdict, self.bound)
        return found if found is not Verdict.UNKNOWN else sampled_verdict(decision)

    def named(self, sizes: Mapping[Symbol, int], names: Mapping[Symbol, str]) -> dict[str, int]:
        """Return sizes by name, without those that no formula mentions."""
        if self.unrolled is None:
            return {name: sizes[s] for s, name in names.items() if s in sizes}
        depths = self.unrolled.depths
        told = {
            s: name
            for s, name in names.items()
            if (s.sequence in depths if isinstance(s, SequenceSymbol) else s in sizes)
        }
        return self.unrolled.named(sizes, told)


class Refutation:
    """The sizes at which one condition holds and another does not."""

    def __init__(self, sizes: ConditionSizes, holds: Formula, fails: Formula) -> None:
        self._sizes = sizes
        self._decision = Decision(sizes.knowledge, [all_of((sizes.seen(holds), sizes.fails(fails)))])

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
        found = self._decision.witness()
        if found is None:
            raise UndecidedError(self._decision.evidence_reason or reason())
        return self._sizes.named(found, names)


def check_kinds(symbols: Iterable[Symbol]) -> None:
    """Raise `DimensionError` if a size and a sequence have the same name."""
    found = list(symbols)
    names = {s.name for s in found if not isinstance(s, SequenceSymbol)}
    for sequence in sequences_of(found):
        if sequence.name in names:
            raise DimensionError(sequence.name, "it is a size and a sequence of axes", "give one of them another name")
