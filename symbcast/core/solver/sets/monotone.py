"""Comparisons in one symbol that divide by it: if both sides are monotone, two thresholds decide.

``C//M`` falls while M grows. So ``C//M <= M`` holds from some size on, which is found by doubling and halving, however
large C is. Where something is undefined, the comparison does not hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from symbcast.core.algebra.terms import Operation, Term
from symbcast.core.solver.evaluation.evaluation import value_function
from symbcast.core.solver.sets.size_sets import EMPTY, SizeSet

if TYPE_CHECKING:
    from symbcast.core.logic.formulas import Operator

_LARGEST = 1 << 512
"""Thresholds are looked for up to this size."""


def by_thresholds(operator: Operator, difference: Term) -> SizeSet | None:
    """Return the sizes at which ``difference operator 0``; None if the difference is not clearly monotone.

    >>> from symbcast.core.algebra.arithmetic import floor_divide
    >>> from symbcast.core.algebra.symbols import symbol
    >>> M = symbol("M")
    >>> found = by_thresholds("<=", floor_divide(10**18 + 9, M) - M)
    >>> found.least(), found == SizeSet.interval(10**9, None)
    (1000000000, True)
    """
    divisors = list(_divisors(difference))
    way = _direction(difference)
    if not divisors or way is None or any(_direction(d) not in (0, 1) for d in divisors):
        return None
    (symbol,) = difference.symbols()
    start = 0
    for divisor in divisors:
        size = value_function(divisor.dim(), (symbol,))
        found = _first(lambda n, size=size: size(n) > 0, 0)  # type: ignore[misc]
        if found is None:
            return None
        start = max(start, found)
    sign = 1 if way >= 0 else -1
    value = value_function(difference.dim(), (symbol,))
    end = _limit(difference)
    thresholds: list[int | None] = []
    for low in (0, 1):
        at = _first(lambda n, low=low: sign * value(n) >= low, start)  # type: ignore[misc]
        if at is None and (end is None or sign * end >= low):
            return None
        thresholds.append(at)
    return _between(operator, sign, start, *thresholds)


def _between(operator: Operator, sign: int, start: int, zero: int | None, above: int | None) -> SizeSet:
    """Return where a rising term, times its sign, compares with 0: it is 0 from ``zero``, above 0 from ``above``."""
    less, equal, more = _interval(start, zero), _interval(zero, above), _interval(above, None)
    if sign < 0:
        less, more = more, less
    match operator:
        case "==":
            return equal
        case "!=":
            return less | more
        case "<":
            return less
        case _:
            return less | equal


def _interval(low: int | None, end: int | None) -> SizeSet:
    if low is None or low == end:
        return EMPTY
    return SizeSet.interval(low, None if end is None else end - 1)


def _first(holds: Callable[[int], bool], start: int) -> int | None:
    """Return the first size from a start on at which a monotone property holds; None if it is too far away."""
    step = 1
    if holds(start):
        return start
    while not holds(start + step):
        step *= 2
        if step > _LARGEST:
            return None
    low, high = start + step // 2, start + step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def _divisors(value: Term) -> Iterator[Term]:
    """Yield the divisors that are not numbers."""
    for operation in value.operations():
        if operation.kind in ("//", "%") and not operation.args[1].is_constant:
            yield operation.args[1]
        for arg in operation.args:
            yield from _divisors(arg)


def _direction(value: Term) -> int | None:
    """Return 1 if a term never falls while its symbol grows, -1 if it never rises, 0 for a number; otherwise None."""
    ways: set[int] = set()
    for monomial, coefficient in value.coefficients.items():
        own: set[int | None] = {_direction_of_atom(atom) for atom in monomial}
        if len(monomial) > 1 and any(atom.lower_bound is None or atom.lower_bound < 0 for atom in monomial):
            return None
        for way in own - {0}:
            if way is None:
                return None
            ways.add(way if coefficient > 0 else -way)
    return None if len(ways) > 1 else next(iter(ways), 0)


def _direction_of_atom(atom: Term) -> int | None:
    if not isinstance(atom, Operation):
        return 1
    ways = [_direction(arg) for arg in atom.args]
    if None in ways or atom.kind in ("%", "join"):
        return None
    if atom.kind != "//":
        found = {way for way in ways if way}
        return None if len(found) > 1 else next(iter(found), 0)
    above, below = ways
    if above is None or below is None or atom.lower_bound != 0:
        return None
    if below == 0:
        return above if atom.args[1].is_constant and atom.args[1].constant > 0 else None
    return -1 if above in (0, -1) and below == 1 else None


def _limit(value: Term) -> int | None:
    """Return the limit of a term if it is clear: numbers divided by growing terms tend to 0."""
    for monomial in value.coefficients:
        if not monomial:
            continue
        (first, *others) = monomial
        if others or not isinstance(first, Operation) or first.kind != "//":
            return None
        above, below = first.args
        if not above.is_constant or any(True for _ in below.operations()) or below.is_constant:
            return None
    return value.constant
