"""The methods for finding sizes at which formulas hold, cheapest first: some such sizes, or the smallest.

Each method returns sizes, returns None if there are none, or raises `GivenUpError`; then the next one is tried. z3 is
loaded only where it is used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import lru_cache, partial
from typing import TYPE_CHECKING, TypeAlias, TypeVarTuple

from symbcast.core.algebra.terms import term
from symbcast.core.effort import EffortSpentError, charge
from symbcast.core.logic.formulas import Formula, all_of, any_of, dims_of
from symbcast.core.solver.answer import QUICK_LIMIT
from symbcast.core.solver.evaluation.evaluation import holds_at
from symbcast.core.solver.linear import branch_and_bound, integers
from symbcast.core.solver.linear.substitution import remaining, substituted
from symbcast.core.solver.products import elimination
from symbcast.core.solver.sets.smallest import GivenUpError, Level, Point, Wanted, levels, zeros_at

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol

Ts = TypeVarTuple("Ts")
Way: TypeAlias = "Callable[[Sequence[Symbol], Sequence[Formula]], Point | None]"
_FEW_SYMBOLS = 8
_FEW_REPAIRED = 10
_FEW_NUMBERS = 3
_MOST_ALIKE = 1 << 16
_EVALUATED = 10
"""Units of effort for a formula at a point."""


def smallest_point(wanted: Wanted) -> Point | None:
    """Return the smallest sizes, None if there are none; raise `GivenUpError` with the best ones found."""
    ways = (
        branch_and_bound.smallest_point,
        integers.smallest_point,
        _smallest_by_z3,
        partial(integers.smallest_point, nodes=integers.NODES),
        _by_levels,
    )
    return _first_answer(ways, wanted)


def some_point(symbols: Sequence[Symbol], formulas: Sequence[Formula], limit: int | None = None) -> Point | None:
    """Return sizes at which formulas hold, None if there are none; raise `GivenUpError` if undecided.

    ``limit`` is in z3 units; None for the default.
    """
    ways: list[Way] = [_by_elimination, branch_and_bound.some_point, integers.some_point]
    if not all(map(is_linear, formulas)):
        # Most questions about products have an answer that is soon found. Only the others are worth a proof by linear
        # arithmetic, which can refute but not confirm.
        ways += [partial(_by_z3, limit=QUICK_LIMIT), _by_products]
    ways += [partial(_by_z3, limit=limit), partial(integers.some_point, nodes=integers.NODES)]
    return _first_answer(ways, symbols, formulas)


def repaired_point(symbols: Sequence[Symbol], formulas: Sequence[Formula], limit: int | None = None) -> Point | None:
    """Return the same for a few formulas among many, for repairs: their chains of equations are substituted first."""
    reduced = substituted(formulas)
    left = remaining(symbols, reduced)
    few: list[Way] = [branch_and_bound.some_point, integers.some_point] if len(left) <= _FEW_REPAIRED else []
    ways: list[Way] = [_all_alike, *few]
    ways.append(partial(_by_z3, limit=limit))
    if limit is None:
        ways.append(partial(integers.some_point, nodes=integers.NODES))
    found = _first_answer(ways, left, reduced.formulas)
    return None if found is None else reduced.completed(found)


def _all_alike(symbols: Sequence[Symbol], formulas: Sequence[Formula]) -> Point:
    """Return the same size for all symbols: a number of the formulas, or 1, where everything broadcasts."""
    numbers = {1, *(d for f in formulas for d in dims_of(f) if isinstance(d, int) and 0 <= d <= _MOST_ALIKE)}
    for number in sorted(numbers)[:_FEW_NUMBERS]:
        charge(_EVALUATED * len(formulas))
        point = dict.fromkeys(symbols, number)
        if all(holds_at(f, point) for f in formulas):
            return point
    raise GivenUpError


def _first_answer(ways: Iterable[Callable[[*Ts], Point | None]], *question: *Ts) -> Point | None:
    """Return the result of the first method that does not give up; otherwise raise with the results of all of them."""
    found: list[Point] = []
    for way in ways:
        try:
            return way(*question)
        except GivenUpError as error:
            found += error.found
        except EffortSpentError:
            if not found:
                raise
            break
    raise GivenUpError(*found)


def _by_elimination(_: Sequence[Symbol], formulas: Sequence[Formula]) -> None:
    if not elimination.refuted(formulas):
        raise GivenUpError


def _by_products(_: Sequence[Symbol], formulas: Sequence[Formula]) -> None:
    if not elimination.refuted_by_products(formulas):
        raise GivenUpError


def _by_z3(symbols: Sequence[Symbol], formulas: Sequence[Formula], limit: int | None) -> Point | None:
    from symbcast.core.solver.linear import z3_solver

    return z3_solver.some_point(symbols, formulas, limit)


def _smallest_by_z3(wanted: Wanted) -> Point | None:
    from symbcast.core.solver.satisfiability import least_sizes

    return least_sizes.smallest_point(wanted)


def _by_levels(wanted: Wanted) -> Point | None:
    """Try each choice of sizes that are 0, by increasing weight: a single choice is easier to decide."""
    if len(wanted.symbols) > _FEW_SYMBOLS:
        raise GivenUpError
    is_least = True
    for level in levels(wanted.symbols, wanted.domains, wanted.weights):
        try:
            found = _at_level(wanted, level)
        except GivenUpError as error:
            if error.found:
                raise
            is_least, found = False, None
        if found is not None and is_least:
            return found
        if found is not None:
            raise GivenUpError(found)
    if not is_least:
        raise GivenUpError
    return None


def _at_level(wanted: Wanted, level: Level) -> Point | None:
    with suppress(GivenUpError):
        return branch_and_bound.Search(wanted).at_level(sum(wanted.weights[wanted.symbols[n]] for n in level[0]))
    chosen = any_of(all_of(zeros_at(wanted.symbols, zeros)) for zeros in level)
    there = wanted._replace(formulas=[*wanted.formulas, chosen])
    return None if elimination.refuted(there.described()) else _smallest_by_z3(there)


@lru_cache(maxsize=4096)
def is_linear(formula: Formula) -> bool:
    """Return whether a formula multiplies no sizes."""
    return all(isinstance(d, int) or term(d).is_linear for d in dims_of(formula))
