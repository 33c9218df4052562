"""The smallest sizes that satisfy formulas, by branch and bound in Python: without z3, and with every step counted.

Smallest means fewest zeros, then least weighted sum, then first in order. So the number of zeros and the sum are
guessed from below, and for each guess the sizes are chosen one after another, each starting from its least: the first
sizes found are the smallest. The rest of the sum determines the least and greatest value of a linear row (the rest goes
to the symbol with the least, or greatest, ratio of coefficient to weight); these values bound each size and prune
branches. Other literals are evaluated once all of their symbols have sizes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import inf
from typing import TYPE_CHECKING, Any

from symbcast.core.algebra.terms import Operation, term
from symbcast.core.effort import charge
from symbcast.core.logic.formulas import AllOf, AnyOf, Clashing, Comparison, Compatible, Formula, expand
from symbcast.core.solver.evaluation.evaluation import predicate
from symbcast.core.solver.groups.normal_form import symbols_in
from symbcast.core.solver.linear.all_different import cliques
from symbcast.core.solver.linear.bounds import AllDifferent, Conjunction, Disjunction, Inequality, Node, Row, Test
from symbcast.core.solver.sets.size_sets import ALL, SizeSet
from symbcast.core.solver.sets.smallest import GivenUpError, Point, Wanted, level_weights
from symbcast.core.solver.sets.univariate import narrow

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol

STEPS = 40_000
"""Number of choices and bounds tried for one answer, about 0.05 s, before it is left to z3."""
FEW_STEPS = 1_500
"""The same where z3 is next: about the cost of a z3 call."""
_STEP = 2
"""Units of effort for a step."""
_SETUP = 100
"""Units of effort for each conjunct before the search."""
_PAIRWISE_UP_TO = 4
_ROWS_AT_MOST = 200_000


def smallest_point(wanted: Wanted) -> Point | None:
    """Return the smallest sizes; None if there are none; raise `GivenUpError` when the steps run out."""
    search = Search(wanted, STEPS)
    for zeros in level_weights(search.domains, search.weights):
        found = search.at_level(zeros)
        if found is not None:
            return found
    return None


def some_point(symbols: Sequence[Symbol], formulas: Sequence[Formula], steps: int = FEW_STEPS) -> Point | None:
    """Return small sizes at which formulas hold, None if there are none; raise `GivenUpError` if undecided."""
    search = Search(Wanted(symbols, {}, formulas, dict.fromkeys(symbols, 1)), steps)
    found = search.at_level(0)
    return found if found is not None else search.at_level(len(search.symbols))


class Search:
    """The search for the smallest sizes that satisfy a conjunction; ``steps`` is the number of steps left."""

    def __init__(self, wanted: Wanted, steps: int = STEPS) -> None:
        self.symbols = tuple(wanted.symbols)
        self.steps = steps
        conjuncts = list(_flat(wanted.formulas))
        charge(_SETUP * (1 + len(conjuncts)))
        self._places: dict[Any, int] = {s: n for n, s in enumerate(self.symbols)}
        self.domains, conjuncts = self._narrowed(wanted.domains, conjuncts)
        self.weights = [wanted.weights[s] for s in self.symbols]
        self._values = [0] * len(self.symbols)
        self._rows: list[Row] = []
        self._touching: list[list[Node]] = [[] for _ in self.symbols]
        self._rows_at: list[list[tuple[Row, int]]] = [[] for _ in self.symbols]
        self._bounding: list[list[Inequality]] = [[] for _ in self.symbols]
        self._all = [self._conjunct(f) for f in conjuncts]
        for members in cliques(conjuncts):
            self._crowd([self._places[s] for s in members])

    def at_level(self, zeros: int) -> Point | None:
        """Return the sizes with the least sum whose zeros weigh at most ``zeros``."""
        if not all(self.domains):
            return None
        self._start(zeros)
        extra = max((node.needs(-1) for node in self._all), default=0)
        most = min((node.most(-1) for node in self._all), default=inf)
        ends = [d.greatest for d in self.domains]
        if None not in ends:
            rooms = zip(ends, self._low, self.weights, strict=True)
            most = min(most, sum(w * ((end or 0) - low) for end, low, w in rooms))
        while extra <= most and extra < inf:
            if self._find(int(extra), zeros):
                return dict(zip(self.symbols, self._values, strict=True))
            extra += 1
        return None

    def _narrowed(
        self, domains: Mapping[Symbol, SizeSet], conjuncts: Sequence[Formula]
    ) -> tuple[list[SizeSet], list[Formula]]:
        """Return the set of each symbol by the formulas about only that symbol, and the other formulas."""
        sets = [domains.get(s, ALL) for s in self.symbols]
        others: list[Formula] = []
        for formula in conjuncts:
            symbols = symbols_in(formula)
            narrowed = None
            if len(symbols) == 1:
                place = self._places[next(iter(symbols))]
                narrowed = narrow(sets[place], formula)
            if narrowed is None:
                others.append(formula)
            else:
                sets[place] = narrowed
        return sets, others

    def _start(self, zeros: int) -> None:
        """Start every size at its least and count from there; 0 is included if zeros are allowed."""
        self._low = [(d.least(0 if zeros else 1) if d.least(1) is not None else 0) or 0 for d in self.domains]
        for row in self._rows:
            row.start(self._low)
        for node in self._all:
            if isinstance(node, AllDifferent):
                node.start(self._low)

    def _find(self, extra: int, zeros: int) -> bool:
        """Search for sizes whose sum exceeds the least by ``extra``."""
        left = [extra]
        zeros_left = [zeros]
        self._count(1 + len(self._all))
        if not all(node.possible(-1, extra) for node in self._all):
            return False
        if not self.symbols:
            return extra == 0
        ahead = [self._choices(0, extra)]
        taken: list[int] = []
        while ahead:
            place = len(ahead) - 1
            if len(taken) > place:
                self._move(place, taken.pop(), -1)
            size = next(ahead[place], None)
            if size is None:
                ahead.pop()
                left.pop()
                zeros_left.pop()
                continue
            more = size - self._low[place]
            rest = left[place] - self.weights[place] * more
            allowed = zeros_left[place] - (self.weights[place] if size == 0 else 0)
            self._values[place] = size
            self._move(place, more, 1)
            taken.append(more)
            self._count(1 + len(self._touching[place]))
            if allowed < 0 or not all(node.possible(place, rest) for node in self._touching[place]):
                continue
            if place == len(self.symbols) - 1:
                return True  # every literal was decided when its last symbol got a size
            left.append(rest)
            zeros_left.append(allowed)
            ahead.append(self._choices(place + 1, rest))
        return False

    def _count(self, steps: int) -> None:
        self.steps -= steps
        if self.steps < 0:
            raise GivenUpError
        charge(_STEP * steps)

    def _move(self, place: int, by: int, sign: int) -> None:
        if by:
            for row, coefficient in self._rows_at[place]:
                row.value += sign * by * coefficient

    def _choices(self, place: int, left: int) -> Iterator[int]:
        """Yield the sizes of a symbol, from the least on, that the rest of the sum and the rows allow."""
        domain, low, weight = self.domains[place], self._low[place], self.weights[place]
        if place == len(self.symbols) - 1:
            size = low + left // weight
            if left % weight == 0 and size in domain:
                yield size
            return
        least, most = 0, left // weight
        for leaf in self._bounding[place]:
            least, most = leaf.window(place, left, weight, least, most)
        if least > most:
            return
        for size in domain.members(low + least):
            if size > low + most:
                return
            yield size

    def _conjunct(self, formula: Formula) -> Node:
        node = self._node(formula)
        for symbol in symbols_in(formula):
            place = self._places[symbol]
            self._touching[place].append(node)
            if isinstance(node, Inequality):
                self._bounding[place].append(node)
        return node

    def _crowd(self, places: Sequence[int]) -> None:
        node = AllDifferent(places, self.domains, self.weights, self._values)
        self._all.append(node)
        for place in places:
            self._touching[place].append(node)

    def _node(self, formula: Formula) -> Node:
        if isinstance(formula, AllOf):
            return Conjunction([self._node(p) for p in formula.parts])
        if isinstance(formula, AnyOf):
            return Disjunction([self._node(p) for p in formula.parts])
        if isinstance(formula, (Compatible, Clashing)) and len(formula.dims) <= _PAIRWISE_UP_TO:
            return self._node(expand(formula))
        row = self._row(formula) if isinstance(formula, Comparison) else None
        if row is None or not isinstance(formula, Comparison):
            symbols = tuple(symbols_in(formula))
            return Test(predicate(formula, symbols), [self._places[s] for s in symbols], self._values)
        return Inequality("<=" if formula.operator == "<" else formula.operator, row)

    def _row(self, formula: Comparison) -> Row | None:
        difference = term(formula.left) - term(formula.right)
        coefficients: dict[int, int] = {}
        for monomial, coefficient in difference.coefficients.items():
            if len(monomial) > 1 or any(isinstance(a, Operation) for a in monomial):
                return None
            for atom in monomial:
                coefficients[self._places[atom]] = coefficient
        if len(self._rows) * len(coefficients) > _ROWS_AT_MOST:
            raise GivenUpError
        row = Row(difference.constant + (formula.operator == "<"), coefficients, self.weights)
        self._rows.append(row)
        for place, coefficient in coefficients.items():
            self._rows_at[place].append((row, coefficient))
        return row


def _flat(formulas: Sequence[Formula]) -> Iterator[Formula]:
    for formula in formulas:
        if isinstance(formula, AllOf):
            yield from _flat(formula.parts)
        else:
            yield formula
