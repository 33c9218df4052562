"""Suggest one fix for a conjunct of a condition, from its sizes: for programs, and for models, which know more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import combinations, islice
from typing import Generic, TypeVar

from symbcast.answers.explanation.words import Namer, in_words
from symbcast.core.algebra.formulas import Comparison, Formula, equal, literals
from symbcast.core.algebra.symbols import SequenceSymbol, sequences_of
from symbcast.core.algebra.terms import Dim, Symbol, symbols_of, term
from symbcast.core.characters import prose_list, sizes_text
from symbcast.core.effort import EffortSpentError, share
from symbcast.core.programs.arguments import own_set
from symbcast.core.programs.program import Program
from symbcast.core.solver.decision import AssumptionSet, ContradictionError, Decision
from symbcast.core.solver.evaluation import replace_in_formula, symbols_in
from symbcast.core.solver.f2_one_size.univariate import narrowed_set
from symbcast.core.solver.residues import PeriodTooLongError, divisors
from symbcast.core.solver.size_sets import ALL, SizeSet
from symbcast.core.verdicts import Verdict

# How many equalities, alone and in pairs, are tried; each costs a decision.
_MOST_EQUALITIES = 12
MOST_SYMBOLS = 5
# How many sizes are listed one by one.
_FEW = 4
# Units for the fix of one clause.
_EFFORT = 100_000
# How long a condition in words may be to be repeated in a fix.
_LONGEST = 160


# What is known of the place where a size is required: the node of a model.
Place = TypeVar("Place")


class SizeFixes(Generic[Place]):
    """Finds fixes for the conjuncts of one program's condition: sizes to give, to pad, or to keep apart."""

    def __init__(self, env: Program) -> None:
        self._env = env
        self._namer = Namer.of(env.shown)
        self._least = env.min_size

    def of(self, clause: Formula) -> str:
        """Return the first fix that fits; empty if there is none, or none was found with the effort for one clause."""
        try:
            with share(_EFFORT):
                return self._first(clause)
        except EffortSpentError:
            return ""

    def _first(self, clause: Formula) -> str:
        symbols = list(symbols_in(clause))
        if not symbols:
            return ""
        if sequences_of(symbols):
            return self._example(clause, symbols)
        return self._of_sizes(clause, symbols) or self._example(clause, symbols)

    def _of_sizes(self, clause: Formula, symbols: Sequence[Symbol]) -> str:
        return self._of_one(clause, symbols[0]) if len(symbols) == 1 else self._of_several(clause, symbols)

    def _example(self, clause: Formula, symbols: Sequence[Symbol]) -> str:
        witness = self._env.witness() or {}
        names = [s.sequence.name if isinstance(s, SequenceSymbol) else self._env.shown[s] for s in symbols]
        sizes = {name: witness[name] for name in names if name in witness}
        such = f", such as {sizes_text(sizes)}" if sizes else ""
        words = in_words(clause, self._namer)
        return f"give sizes at which {words if len(words) <= _LONGEST else 'it holds'}{such}"

    # One size.

    def _of_one(self, clause: Formula, symbol: Symbol, place: Place | None = None) -> str:
        members = self._members(clause, symbol)
        if members is None or not members:
            return ""
        name, domain = self._called(symbol), own_set(symbol, self._env.min_size) & self._domain(symbol)
        if members.only is not None:
            return self._of_one_value(name, members.only, place)
        if members.greatest is not None and members.same(domain & SizeSet.interval(0, members.greatest)):
            return f"keep {name} at most {members.greatest}{self._why_at_most(members.greatest, place)}"
        factor = self._factor(members, domain)
        if factor:
            return f"pad {name} to a multiple of {factor}"
        if members.greatest is not None and len(members.first(_FEW + 1)) <= _FEW:
            return f"give {name} {self._size_in(members)}{self._otherwise(members, place)}"
        low = members.least()
        if members.same(domain & SizeSet.interval(low or 0, None)):
            return f"use sizes of at least {low} for {name}"
        return ""

    def _of_one_value(self, name: str, size: int, _place: Place | None) -> str:
        """Return what to do about a size that has one value."""
        return f"give {name} the size {size}"

    def _why_at_most(self, _size: int, _place: Place | None) -> str:
        """Return why a size has a greatest value, with the punctuation before it."""
        return ""

    def _otherwise(self, _members: SizeSet, _place: Place | None) -> str:
        """Return what can be done instead of giving a size one of a few values."""
        return ""

    def _size_in(self, members: SizeSet) -> str:
        """Return the sizes of a set in words: all of them if they are few, otherwise their kind, or the smallest."""
        sizes, whole = members.first(_FEW + 1), SizeSet.interval(self._least, None)
        if members.greatest is not None and len(sizes) <= _FEW:
            return f"the size {prose_list(list(map(str, sizes)), 'or')}"
        if members.same(SizeSet.interval(sizes[0], None)):
            return f"a size from {sizes[0]} on"
        factor = self._factor(members, whole) if members.greatest is None else 0
        return f"a multiple of {factor}" if factor else f"another size, such as {sizes[0]},"

    def _members(self, clause: Formula, symbol: Symbol) -> SizeSet | None:
        return narrowed_set(self._domain(symbol), clause)

    def _domain(self, symbol: Symbol) -> SizeSet:
        known = self._known([symbol])
        assumed = known.domains.get(symbol)
        if assumed is not None:
            return assumed
        value = known.values.get(symbol)
        return SizeSet.of([value]) if isinstance(value, int) else ALL

    def _factor(self, members: SizeSet, domain: SizeSet) -> int:
        """Return the least number whose multiples are all among the members, 0 if there is none."""
        for factor in divisors(members.segments[-1].period)[1:]:
            try:
                if SizeSet.residues(factor, [0]) & SizeSet.interval(1, None) & domain <= members:
                    return factor
            except PeriodTooLongError:
                return 0
        return 0

    # Several sizes.

    def _of_several(self, clause: Formula, symbols: Sequence[Symbol]) -> str:
        for pairs in islice(self._equalities(symbols), _MOST_EQUALITIES):
            if self._follows(clause, pairs):
                return prose_list([self._made_equal(one, gone) for one, gone in pairs])
        for literal in literals(clause):
            match literal:
                case Comparison("==" | "<=" | "<" as operator, left, right):
                    most = (term(left) + 1).dim() if operator == "<" else left
                    for size, other in ((right, most), *([(left, right)] if operator != "<" else [])):
                        if isinstance(size, Symbol) and size not in symbols_of((other,)):
                            return self._given(size, other)
        return ""

    def _equalities(self, symbols: Sequence[Symbol]) -> Iterator[tuple[tuple[Symbol, Symbol], ...]]:
        """Yield equalities, first single ones and then pairs; those between sizes on the same axis come first."""
        if len(symbols) > MOST_SYMBOLS:
            return
        ordered = sorted(symbols, key=self._order.__getitem__)
        pairs = sorted(combinations(ordered, 2), key=lambda pair: self._axis(pair[0]) != self._axis(pair[1]))
        yield from ((pair,) for pair in pairs)
        yield from combinations(pairs, 2)

    def _follows(self, clause: Formula, pairs: Sequence[tuple[Symbol, Symbol]]) -> bool:
        """Return whether a clause always holds if some sizes are equal, and they can be equal."""
        try:
            known = self._known(list(symbols_in(clause)), [equal(a, b) for a, b in pairs])
        except ContradictionError:
            return False
        return Decision(known, [replace_in_formula(clause, known.values)]).verdict is Verdict.ALWAYS

    def _made_equal(self, size: Symbol, other_size: Symbol) -> str:
        """Return that a size is made equal to an earlier one."""
        return self._given(size, other_size)

    def _given(self, size: Symbol, value: Dim) -> str:
        """Return that a size is given a value."""
        return f'assume "{self._namer.dim(size)} == {self._namer.dim(value)}" if that is known'

    # Words for sizes; a model's sizes have places.

    def _axis(self, _symbol: Symbol) -> int | None:
        return None

    def _called(self, symbol: Symbol) -> str:
        return self._namer.dim(symbol)

    def _known(self, symbols: Sequence[Symbol], more: Sequence[Formula] = ()) -> AssumptionSet:
        """Return what is assumed of some sizes alone, and more; raise `ContradictionError` if it is contradictory."""
        domains = {s: own_set(s, self._least) for s in symbols}
        about = [f for f, used in self._assumed_formulas if used <= domains.keys()]
        return AssumptionSet(tuple(symbols), domains, [*about, *more])

    @cached_property
    def _assumed_formulas(self) -> list[tuple[Formula, set[Symbol]]]:
        return [(a.formula, set(symbols_in(a.formula))) for a in self._env.assumptions]

    @cached_property
    def _order(self) -> dict[Symbol, int]:
        return {s: n for n, s in enumerate(self._env.shown)}
