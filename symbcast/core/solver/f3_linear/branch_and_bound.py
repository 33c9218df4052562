"""The smallest sizes at which formulas hold, by branch and bound in Python, with the bounds that prune it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf
from typing import Any, TypeAlias

from symbcast.core.algebra.formulas import AllOf, AnyOf, Clashing, Comparison, Compatible, Formula, expand
from symbcast.core.algebra.terms import Symbol, term
from symbcast.core.effort import charge
from symbcast.core.solver.evaluation import predicate, symbols_in
from symbcast.core.solver.f2_one_size.univariate import narrowed_set
from symbcast.core.solver.points import GivenUpError, Point, SmallestPointQuestion, level_weights
from symbcast.core.solver.size_sets import ALL, SizeSet

# Bounds on formulas with some sizes not chosen yet.
#
# Sizes are chosen in order of position. ``possible(place, left)`` tests whether a formula can hold once the size at a
# place is chosen and ``left`` remains of the sum; ``needs(place)`` and ``most(place)`` bound the sums at which it can.


class LinearRow:
    """A linear row: its value with all open sizes at their least, and its gain for each unit of the sum."""

    __slots__ = ("after", "coefficients", "constant", "value")

    def __init__(self, constant: int, coefficients: dict[int, int], weights: Sequence[int]) -> None:
        self.constant = constant
        self.coefficients = coefficients
        self.value = 0
        self.after: dict[int, tuple[Fraction | int, Fraction | int] | None] = {}
        ahead: tuple[Fraction | int, Fraction | int] | None = None
        behind = len(weights)
        # From behind: the gains after a place are those of the symbols after it, and 0 if the row lacks one of them.
        for place in sorted((*coefficients, -1), reverse=True):
            if behind - place > 1:  # the row does not depend on a symbol between them
                ahead = (0, 0) if ahead is None else (min(ahead[0], 0), max(ahead[1], 0))
            self.after[place] = ahead
            if place >= 0:
                ratio = Fraction(coefficients[place], weights[place]) if weights[place] > 1 else coefficients[place]
                ahead = (ratio, ratio) if ahead is None else (min(ahead[0], ratio), max(ahead[1], ratio))
                behind = place

    def ahead(self, place: int) -> tuple[Fraction | int, Fraction | int] | None:
        """Return the least and greatest gain of a unit of the sum after a place; None if nothing comes after it."""
        if place not in self.after:  # the row has no symbol here: same as after its last one before this
            self.after[place] = self.after[max(p for p in self.after if p < place)]
        return self.after[place]

    def start(self, low: Sequence[int]) -> None:
        """Set the value at the least sizes, ``low``."""
        self.value = self.constant + sum(c * low[place] for place, c in self.coefficients.items())


@dataclass(slots=True, eq=False)
class Inequality:
    """A comparison of a row with 0."""

    operator: str
    row: LinearRow

    def possible(self, place: int, left: int) -> bool:
        value = self.row.value
        # A unit of the sum that is left adds between ahead[0] and ahead[1] to the row.
        ahead = self.row.ahead(place) if left else None
        if ahead is None:
            return value == 0 if self.operator == "==" else value <= 0 if self.operator == "<=" else value != 0
        if self.operator == "!=":
            return ahead[0] != ahead[1] or value + left * ahead[0] != 0
        if value + left * ahead[0] > 0:
            return False
        return self.operator == "<=" or value + left * ahead[1] >= 0

    def needs(self, place: int) -> float:
        """Return the smallest amount above the least sum at which this is possible."""
        value, ahead = self.row.value, self.row.ahead(place) or (0, 0)
        if self.operator == "!=":
            return 0 if value else (1 if ahead != (0, 0) else inf)
        if value > 0:
            return -(-value // -ahead[0]) if ahead[0] < 0 else inf
        if self.operator == "<=" or value == 0:
            return 0
        return -(value // ahead[1]) if ahead[1] > 0 else inf

    def most(self, place: int) -> float:
        """Return an amount above the least sum beyond which this is impossible."""
        value, ahead = self.row.value, self.row.ahead(place) or (0, 0)
        if self.operator == "!=":
            return inf
        if ahead[0] > 0:
            return -value // ahead[0]
        return value // -ahead[1] if self.operator == "==" and ahead[1] < 0 else inf

    def window(self, place: int, left: int, weight: int, least: int, most: int) -> tuple[int, int]:
        """Return the range of steps above its least size that a symbol may take, within ``least`` to ``most``."""
        ahead = self.row.ahead(place)
        if ahead is None or self.operator == "!=":
            return least, most
        value, coefficient = self.row.value, self.row.coefficients.get(place, 0)
        # value + c*t + (left - w*t)*ratio is at most 0 for the least ratio, and at least 0 for the greatest.
        least, most = _at_most_zero(value + left * ahead[0], coefficient - weight * ahead[0], least, most)
        if self.operator == "==":
            least, most = _at_most_zero(-value - left * ahead[1], weight * ahead[1] - coefficient, least, most)
        return least, most


def _at_most_zero(value: Fraction | int, slope: Fraction | int, least: int, most: int) -> tuple[int, int]:
    """Return the range of integers t within ``least`` to ``most`` at which ``value + slope*t`` is at most 0."""
    if slope > 0:
        return least, min(most, -value // slope)
    if slope < 0:
        return max(least, -(value // slope)), most
    return (least, most) if value <= 0 else (1, 0)


class LiteralTest:
    """A literal that is evaluated once all its symbols have sizes."""

    __slots__ = ("holds", "last", "places", "values")

    def __init__(self, holds: Callable[..., bool], places: Sequence[int], values: Sequence[int]) -> None:
        self.holds = holds
        self.places = places
        self.last = max(places, default=-1)
        self.values = values

    def possible(self, place: int, _left: int) -> bool:
        return place < self.last or bool(self.holds(*[self.values[p] for p in self.places]))

    def needs(self, _place: int) -> float:
        return 0

    def most(self, _place: int) -> float:
        return inf


class SetTest:
    """A literal about one symbol that is no linear row: the sizes at which it holds."""

    __slots__ = ("ahead", "members", "place", "values", "weight")

    def __init__(self, members: SizeSet, place: int, weight: int, values: Sequence[int]) -> None:
        self.members = members
        self.place = place
        self.weight = weight
        self.values = values
        self.start(0)

    def start(self, low: int) -> None:
        """Count from the least size of the symbol."""
        least = self.members.least(low)
        # By how much the sum exceeds the least one at the first member.
        self.ahead: float = inf if least is None else self.weight * (least - low)

    def possible(self, place: int, left: int) -> bool:
        return self.values[self.place] in self.members if place >= self.place else self.ahead <= left

    def needs(self, _place: int) -> float:
        return self.ahead

    def most(self, _place: int) -> float:
        return inf if self.ahead < inf else -inf


@dataclass(slots=True, eq=False)
class ConjunctionBounds:
    """A conjunction within a clause."""

    parts: Sequence[BoundNode]

    def possible(self, place: int, left: int) -> bool:
        return all(part.possible(place, left) for part in self.parts)

    def needs(self, place: int) -> float:
        return max((part.needs(place) for part in self.parts), default=0)

    def most(self, place: int) -> float:
        return min((part.most(place) for part in self.parts), default=inf)


@dataclass(slots=True, eq=False)
class DisjunctionBounds:
    """A disjunction."""

    parts: Sequence[BoundNode]

    def possible(self, place: int, left: int) -> bool:
        return any(part.possible(place, left) for part in self.parts)

    def needs(self, place: int) -> float:
        return min((part.needs(place) for part in self.parts), default=inf)

    def most(self, place: int) -> float:
        return max((part.most(place) for part in self.parts), default=-inf)


BoundNode: TypeAlias = Inequality | LiteralTest | SetTest | ConjunctionBounds | DisjunctionBounds


# The smallest sizes that satisfy formulas, by branch and bound in Python: without z3, and with every step counted.
#
# Smallest means fewest zeros, then least weighted sum, then first in order. So the number of zeros and the sum are
# guessed from below, and for each guess the sizes are chosen one after another, each starting from its least: the
# first sizes found are the smallest. The rest of the sum determines the least and greatest value of a linear row (the
# rest goes to the symbol with the least, or greatest, ratio of coefficient to weight); these values bound each size
# and prune branches. Other literals are evaluated once all of their symbols have sizes.


# Number of choices and bounds tried for one answer, about 0.05 s, before it is left to z3.
STEPS = 40_000
# The same where z3 is next: about the cost of a z3 call.
FEW_STEPS = 1_500
# Units of effort for a step.
_STEP = 2
# Units of effort for each conjunct before the search.
_SETUP = 100
_PAIRWISE_UP_TO = 4
_ROWS_AT_MOST = 200_000


def smallest_point(question: SmallestPointQuestion) -> Point | None:
    """Return the smallest sizes; None if there are none; raise `GivenUpError` when the steps run out."""
    search = Search(question, STEPS)
    for zeros in level_weights(search.domains, search.weights):
        point = search.at_level(zeros)
        if point is not None:
            return point
    return None


def some_point(symbols: Sequence[Symbol], formulas: Sequence[Formula], steps: int = FEW_STEPS) -> Point | None:
    """Return small sizes at which formulas hold, None if there are none; raise `GivenUpError` if undecided."""
    search = Search(SmallestPointQuestion(symbols, {}, formulas, dict.fromkeys(symbols, 1)), steps)
    # Without the zeros that domains force, there would be no sizes at any sum, and nothing that ends the search.
    point = search.at_level(sum(domain.least(1) is None for domain in search.domains))
    return point if point is not None else search.at_level(len(search.symbols))


class Search:
    """The search for the smallest sizes that satisfy a conjunction; ``steps`` is the number of steps left."""

    def __init__(self, question: SmallestPointQuestion, steps: int = STEPS) -> None:
        self.symbols = tuple(question.symbols)
        self.steps = steps
        conjuncts = list(_flat(question.formulas))
        charge(_SETUP * (1 + len(conjuncts)))
        self._places: dict[Any, int] = {s: n for n, s in enumerate(self.symbols)}
        self.domains, conjuncts = self._narrowed(question.domains, conjuncts)
        self.weights = [question.weights[s] for s in self.symbols]
        self._values = [0] * len(self.symbols)
        self._rows: list[LinearRow] = []
        self._touching: list[list[BoundNode]] = [[] for _ in self.symbols]
        self._rows_at: list[list[tuple[LinearRow, int]]] = [[] for _ in self.symbols]
        self._bounding: list[list[Inequality]] = [[] for _ in self.symbols]
        self._sets: list[SetTest] = []
        self._all = [self._conjunct(f) for f in conjuncts]

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
                narrowed = narrowed_set(sets[place], formula)
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
        for test in self._sets:
            test.start(self._low[test.place])

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
            # The last size takes what is left of the sum: there is no choice.
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

    def _conjunct(self, formula: Formula) -> BoundNode:
        node = self._node(formula)
        for symbol in symbols_in(formula):
            place = self._places[symbol]
            self._touching[place].append(node)
            if isinstance(node, Inequality):
                self._bounding[place].append(node)
        return node

    def _node(self, formula: Formula) -> BoundNode:
        if isinstance(formula, AllOf):
            return ConjunctionBounds([self._node(p) for p in formula.parts])
        if isinstance(formula, AnyOf):
            return DisjunctionBounds([self._node(p) for p in formula.parts])
        if isinstance(formula, (Compatible, Clashing)) and len(formula.dims) <= _PAIRWISE_UP_TO:
            return self._node(expand(formula))
        row = self._row(formula) if isinstance(formula, Comparison) else None
        if row is None or not isinstance(formula, Comparison):
            symbols = tuple(symbols_in(formula))
            members = narrowed_set(ALL, formula) if len(symbols) == 1 else None
            if members is not None:
                place = self._places[symbols[0]]
                test = SetTest(members, place, self.weights[place], self._values)
                self._sets.append(test)
                return test
            return LiteralTest(predicate(formula, symbols), [self._places[s] for s in symbols], self._values)
        return Inequality("<=" if formula.operator == "<" else formula.operator, row)

    def _row(self, formula: Comparison) -> LinearRow | None:
        difference = term(formula.left) - term(formula.right)
        if not difference.is_sum_of_symbols:
            return None
        coefficients = {self._places[m[0]]: c for m, c in difference.coefficients.items() if m}
        if len(self._rows) * len(coefficients) > _ROWS_AT_MOST:
            raise GivenUpError
        row = LinearRow(difference.constant + (formula.operator == "<"), coefficients, self.weights)
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
