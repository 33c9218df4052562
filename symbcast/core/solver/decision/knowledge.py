"""The assumptions: the set of each symbol, the symbols that share one size, and all other assumptions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Self

from symbcast.core.effort import EffortSpentError
from symbcast.core.logic.formulas import FALSE, Comparison, Formula
from symbcast.core.solver.budget import DECIDED, share
from symbcast.core.solver.groups.normal_form import flattened, put_in, symbols_in
from symbcast.core.solver.groups.set_products import split
from symbcast.core.solver.sets.size_sets import ALL, PeriodTooLongError, SizeSet
from symbcast.core.solver.sets.univariate import narrow

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol
    from symbcast.core.algebra.terms import Dim


class ContradictionError(Exception):
    """The assumptions cannot all hold."""


class Knowledge:
    """Assumptions, split into their parts.

    ``domains`` holds the set of each remaining symbol; ``values`` gives the value of the other symbols (a size, or the
    symbol that represents them); ``others`` holds the assumptions that tie several symbols together; ``given`` is the
    same as a set; ``weights`` is the number of symbols that each remaining one represents.
    """

    def __init__(
        self, symbols: Sequence[Symbol], domains: Mapping[Symbol, SizeSet], assumptions: Iterable[Formula]
    ) -> None:
        self.symbols = tuple(symbols)
        self.domains: dict[Symbol, SizeSet] = {s: domains.get(s, ALL) for s in symbols}
        self.values: dict[Symbol, Dim] = {}
        self.weights = dict.fromkeys(symbols, 1)
        self.others: list[Formula] = []
        self._take_sizes()
        pending = list(assumptions)
        while pending:
            self.others = []
            before = len(self.values)
            for clause in flattened(put_in(f, self.values) for f in pending):
                self._take(clause)
            self._take_sizes()
            if len(self.values) == before:
                break
            pending = self.others
        if any(not domain for domain in self.domains.values()):
            raise ContradictionError
        self._check_others()
        self.given: frozenset[Formula] = frozenset(self.others)

    @classmethod
    def of_names(cls, symbols: Sequence[Symbol]) -> Self:
        """Return that nothing is known about some sizes."""
        made = cls.__new__(cls)
        made.symbols, made.domains = tuple(symbols), dict.fromkeys(symbols, ALL)
        made.values, made.weights = {}, dict.fromkeys(symbols, 1)
        made.others, made.given = [], frozenset()
        return made

    def is_same(self, other: Knowledge) -> bool:
        """Return whether the same is known about the same symbols, in the same order."""
        if self is other:
            return True
        ours, theirs = ((k.domains, k.values, k.weights) for k in (self, other))
        return self.symbols == other.symbols and self.others == other.others and ours == theirs

    def _check_others(self) -> None:
        """Raise `ContradictionError` if the assumptions that tie symbols together provably contradict each other."""
        if not self.others:
            return
        from symbcast.core.solver.decision.linear_groups import Compound

        tied = dict.fromkeys(s for f in self.others for s in symbols_in(f))
        try:
            with share(DECIDED):
                can_hold = Compound(list(tied), self.domains, self.others, [], self.weights).satisfiable
        except EffortSpentError:
            return
        if can_hold is False:
            raise ContradictionError

    def _take(self, clause: Formula) -> None:
        if clause == FALSE:
            raise ContradictionError
        # Two equalities of one round may concern the same symbols: substitute the first into the second.
        clause = put_in(clause, self.values) if self.values else clause
        symbols = symbols_in(clause)
        if len(symbols) == 1:
            (symbol,) = symbols
            narrowed = narrow(self.domains[symbol], clause)
            if narrowed is not None:
                self.domains[symbol] = narrowed
                return
        match clause:
            case Comparison("==", left, right) if len(symbols) == 2 and left in symbols and right in symbols:
                if not self._merge(*symbols):
                    self.others.append(clause)
            case _:
                sets = split(clause, self.domains)
                if sets is None:
                    self.others.append(clause)
                else:
                    self.domains.update(sets)

    def _merge(self, kept: Symbol, gone: Symbol) -> bool:
        """Merge two symbols into one representative; return False if the combined set would have too long a period."""
        if self.symbols.index(gone) < self.symbols.index(kept):
            kept, gone = gone, kept
        try:
            self.domains[kept] = self.domains[kept] & self.domains[gone]
        except PeriodTooLongError:
            return False
        del self.domains[gone]
        self.weights[kept] += self.weights.pop(gone)
        self.values = {s: kept if v == gone else v for s, v in self.values.items()}
        self.values[gone] = kept
        return True

    def _take_sizes(self) -> None:
        """Substitute the size of each symbol that has only one."""
        for symbol, domain in list(self.domains.items()):
            size = domain.only if domain is not ALL else None
            if size is not None:
                self.values = {s: size if v == symbol else v for s, v in self.values.items()}
                self.values[symbol] = size
                del self.domains[symbol], self.weights[symbol]
