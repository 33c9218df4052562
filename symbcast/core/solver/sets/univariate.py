"""Tier F2: formulas over one symbol, solved exactly.

On each residue class of a suitable period every term built with ``+ - *`` and ``// c``, ``% c`` is a polynomial, whose
sign changes finitely often. So the sizes that satisfy a formula are finite exceptions plus residue classes: a
`SizeSet`, computed here without a solver. Where only remainders are summed, each modulus is solved separately
(`symbcast.core.solver.sets.remainder_sums`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from symbcast.core.algebra.arithmetic import replacing
from symbcast.core.algebra.operations import operate, substitute
from symbcast.core.algebra.terms import Atom, Operation, Symbol, Term, constant, symbols_of, term
from symbcast.core.effort import charge, remembered
from symbcast.core.logic.formulas import (
    AllOf,
    AnyOf,
    Clashing,
    Comparison,
    Compatible,
    Formula,
    Operator,
    dims_of,
    expand,
    with_dims,
)
from symbcast.core.solver.sets.congruences import Pattern, PeriodTooLongError, inverse, of_mask
from symbcast.core.solver.sets.monotone import by_thresholds
from symbcast.core.solver.sets.piecewise import NotPeriodicError, OnClass, Piece, period_of_term, runs_within, sign_of
from symbcast.core.solver.sets.remainder_sums import congruence, linear, summed
from symbcast.core.solver.sets.size_sets import ALL, EMPTY, MAX_PERIOD, Segment, SizeSet, normal

if TYPE_CHECKING:
    pass


_SATISFIES: dict[Operator, Callable[[int], bool]] = {
    "==": lambda sign: sign == 0,
    "!=": lambda sign: sign != 0,
    "<=": lambda sign: sign <= 0,
    "<": lambda sign: sign < 0,
}


def solve(formula: Formula) -> SizeSet:
    """Return the sizes of the only symbol of ``formula`` that satisfy it; without a symbol, all sizes or none.

    Raises `NotPeriodicError` if the answer would not be finite exceptions plus residue classes of a short period.
    """
    try:
        return _solve(formula) if _is_linear(formula) else _solve_renamed(under_one_name(formula))
    except PeriodTooLongError as error:
        raise NotPeriodicError(f"a period above {MAX_PERIOD}") from error


ONE_NAME = Symbol("n")
"""The symbol under which formulas about one symbol are solved: those that differ only in names are solved once."""


def under_one_name(formula: Formula) -> Formula:
    """Return a formula with its only symbol called `ONE_NAME`; unchanged if more than the name is known of it."""
    symbols = symbols_of(dims_of(formula))
    if len(symbols) != 1 or type(symbols[0]) is not Symbol:
        return formula
    return with_dims(formula, replacing({symbols[0]: ONE_NAME}))


def _is_linear(formula: Formula) -> bool:
    """Return whether a formula compares a symbol with an integer."""
    if type(formula) is not Comparison:
        return False
    left, right = formula.left, formula.right
    return (type(right) is Symbol and isinstance(left, int)) or (type(left) is Symbol and isinstance(right, int))


@remembered(4096)
def _solve_renamed(formula: Formula) -> SizeSet:
    return _solve(formula)


_CLASS = 10
"""Units of effort for a residue class."""
_MAX_CLASSES = 1024
"""With a longer period, the cases of a ``min``, ``max`` or join are solved one by one."""


def narrow(members: SizeSet, formula: Formula) -> SizeSet | None:
    """Return the members that satisfy a formula about their only symbol; None if this tier cannot decide it."""
    try:
        return members & solve(formula)
    except (NotPeriodicError, PeriodTooLongError):
        return None


def _solve(formula: Formula) -> SizeSet:
    match formula:
        case Comparison(operator, left, right):
            if type(right) is Symbol and isinstance(left, int):
                return _solve_linear(operator, -1, left)
            if type(left) is Symbol and isinstance(right, int):
                return _solve_linear(operator, 1, -right)
            return _solve_difference(operator, term(left) - term(right))
        case Compatible() | Clashing():
            return _solve(expand(formula))
        case AllOf(parts):
            found = ALL
            for part in parts:
                found = found & _solve(part)
            return found
        case AnyOf(parts):
            return SizeSet.union(map(_solve, parts))


def _solve_difference(operator: Operator, difference: Term) -> SizeSet:
    """Return the sizes at which ``difference operator 0``."""
    slope_and_offset = linear(difference)
    return _solve_linear(operator, *slope_and_offset) if slope_and_offset else _solve_other(operator, difference)


@remembered(4096)
def _solve_other(operator: Operator, difference: Term) -> SizeSet:
    """Return the sizes at which a difference that is not linear, compared with 0, satisfies the operator."""
    if difference.is_constant:
        return ALL if _SATISFIES[operator](sign_of(difference.constant)) else EMPTY
    found = by_thresholds(operator, difference)
    if found is None:
        found = _solve_quotient(operator, difference)
    if found is not None:
        return found
    cases = _case_operation(difference)
    if cases is not None:
        found = _solve_on_classes(operator, difference, _MAX_CLASSES)
        return _solve_cases(operator, difference, cases) if found is None else found
    repeating = _solve_remainders(operator, difference)
    if repeating is not None:
        return repeating
    found = _solve_on_classes(operator, difference, MAX_PERIOD)
    if found is None:
        raise PeriodTooLongError(MAX_PERIOD)
    return found


def _solve_quotient(operator: Operator, difference: Term) -> SizeSet | None:
    """Return the solution for a multiple of one quotient by a term, plus a number; None for other differences.

    ``a//b >= n`` says that ``a >= n*b`` where b is positive, and ``a <= n*b`` where b is negative.
    """
    quotients = [(m, c) for m, c in difference.coefficients.items() if m]
    if len(quotients) != 1 or len(quotients[0][0]) != 1:
        return None
    ((quotient,), factor), number = quotients[0], -difference.constant
    if not isinstance(quotient, Operation) or quotient.kind != "//" or not all(a.is_total for a in quotient.args):
        return None
    above, below = quotient.args
    at_least = partial(_quotient_at_least, above, below)
    if operator in ("==", "!="):
        wanted, rest = divmod(number, factor)
        equal = EMPTY if rest else at_least(wanted) - at_least(wanted + 1)
        return equal if operator == "==" else _divisors_not_zero(difference) - equal
    most = number - 1 if operator == "<" else number
    if factor < 0:
        return at_least(-(most // -factor))
    return _divisors_not_zero(difference) - at_least(most // factor + 1)


def _quotient_at_least(above: Term, below: Term, number: int) -> SizeSet:
    """Return the sizes at which ``above//below >= number``."""
    rest = above - below.scaled(number)
    found = _solve_difference("<", -below) & _solve_difference("<=", -rest)
    negative = _solve_difference("<", below)
    return found | (negative & _solve_difference("<=", rest)) if negative else found


def _divisors_not_zero(value: Term) -> SizeSet:
    """Return the sizes at which no divisor in a term is 0."""
    found = ALL
    for operation in value.operations():
        if operation.kind in ("//", "%") and not operation.args[1].is_constant:
            found &= _solve_difference("!=", operation.args[1])
        for arg in operation.args:
            found &= _divisors_not_zero(arg)
    return found


def _solve_on_classes(operator: Operator, difference: Term, most: int) -> SizeSet | None:
    """Return the solution from the residue classes of a period; None if that is longer than ``most``."""
    try:
        period = period_of_term(difference)
    except (NotPeriodicError, PeriodTooLongError):
        if most < MAX_PERIOD:
            return None
        raise
    if period > most:
        return None
    charge(_CLASS * period)
    events: list[tuple[int, int]] = []
    for residue in range(period):
        pieces = OnClass(residue, period).pieces(difference)
        for low, high in _true_runs(operator, pieces):
            events.append((residue + period * low, residue))
            if high is not None:
                events.append((residue + period * high + 1, residue))
    return _swept(events, period)


@lru_cache(maxsize=4096)
def _solve_linear(operator: Operator, slope: int, offset: int) -> SizeSet:
    """Return the sizes ``n`` at which ``slope*n + offset operator 0``."""
    match operator:
        case "==":
            return EMPTY if offset % slope else SizeSet.of([-offset // slope])
        case "!=":
            return ~_solve_linear("==", slope, offset)
        case "<":
            return _solve_linear("<=", slope, offset + 1)
        case "<=":
            return SizeSet.interval(0, -offset // slope) if slope > 0 else SizeSet.interval(-(offset // slope), None)


def _solve_remainders(operator: Operator, difference: Term) -> SizeSet | None:
    """Return the solution if only remainders by numbers are summed, so that everything is periodic."""
    remainders: list[tuple[Operation, int]] = []
    for monomial, coefficient in difference.coefficients.items():
        if monomial and not (len(monomial) == 1 and _is_remainder(monomial[0])):
            return None
        remainders.extend((atom, coefficient) for atom in monomial if isinstance(atom, Operation))
    if len(remainders) == 1 and operator in ("==", "!="):
        ((operation, factor),) = remainders
        wanted, rest = divmod(-difference.constant, factor)
        found = congruence(operation, wanted) if not rest else False
        if found is not None:
            return normal([Segment(0, None, found if operator == "==" else inverse(found))])
    tables = [[factor * value for value in _values(operation)] for operation, factor in remainders]
    return normal([Segment(0, None, summed(tables, operator, difference.constant))])


def _is_remainder(atom: Atom) -> bool:
    return isinstance(atom, Operation) and atom.kind == "%" and bool(atom.args[1].constant) and atom.args[1].is_constant


@remembered(256)
def _values(remainder: Operation) -> list[int]:
    """Return the values of the remainders at each residue of the period."""
    value = remainder
    period = period_of_term(value)
    return [OnClass(residue, period).pieces(value)[0].value[0] for residue in range(period)]


def _swept(events: list[tuple[int, int]], period: int) -> SizeSet:
    """Return the set whose residue bits flip at the given sizes."""
    segments: list[Segment] = []
    mask, start = 0, 0
    for at, residue in sorted(events):
        if at > start:
            if mask:
                segments.append(Segment(start, at - 1, _within(mask, period, start, at)))
            start = at
        mask ^= 1 << residue
    if mask:
        segments.append(Segment(start, None, of_mask(period, mask)))
    return normal(segments)


def _within(mask: int, period: int, start: int, stop: int) -> Pattern:
    """Return the pattern of a mask for a range of sizes; a constant if all or none of them have their bit set."""
    if stop - start < period:
        first, last = start % period, stop % period
        window = (1 << last) - (1 << first) if first < last else ((1 << period) - (1 << first)) | ((1 << last) - 1)
        if not mask & window:
            return False
        if not window & ~mask:
            return True
    return of_mask(period, mask)


def _case_operation(value: Term) -> Operation | None:
    """Return a ``min``, ``max`` or join that contains no other one, if there is one."""
    for operation in value.operations():
        for arg in operation.args:
            inner = _case_operation(arg)
            if inner is not None:
                return inner
        if operation.kind in ("min", "max", "join"):
            return operation
    return None


def _solve_cases(operator: Operator, difference: Term, operation: Operation) -> SizeSet:
    """Split into cases by the argument that the operation takes its value from."""
    first, *rest = operation.args
    other = operate(operation.kind, tuple(rest))
    if operation.kind == "join":
        takes_other = _solve_difference("==", first - constant(1))
    else:
        takes_other = _solve_difference("<" if operation.kind == "max" else "<=", first - other)
        if operation.kind == "min":
            takes_other = ~takes_other
    from_first = _solve_difference(operator, substitute(difference, {operation: first}))
    from_other = _solve_difference(operator, substitute(difference, {operation: other}))
    return ((takes_other & from_other) | (from_first - takes_other)) & _divisors_not_zero(difference)


def _true_runs(operator: Operator, pieces: Sequence[Piece]) -> Iterator[tuple[int, int | None]]:
    """Yield ranges of ``k`` on which ``pieces operator 0``, with their last ``k`` (None: no end)."""
    for piece, following in zip(pieces, [*pieces[1:], None], strict=True):
        stop = None if following is None else following.start
        runs = list(runs_within(piece.value, piece.start, stop))
        ends = [start - 1 for start, _ in runs[1:]]
        for (start, sign), end in zip(runs, [*ends, None if stop is None else stop - 1], strict=True):
            if _SATISFIES[operator](sign):
                yield start, end
