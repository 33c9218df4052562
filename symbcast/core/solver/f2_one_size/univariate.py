"""Formulas in one name solved as sets of sizes, also sums of remainders, modulus by modulus."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache, partial, reduce
from itertools import accumulate
from math import gcd, lcm
from operator import and_, or_
from typing import TypeAlias

from symbcast.core.algebra.formulas import (
    COMPARED,
    AllOf,
    AnyOf,
    Clashing,
    Comparison,
    Compatible,
    Formula,
    Operator,
    dims_of,
    expand,
    needs,
    with_dims,
)
from symbcast.core.algebra.term_arithmetic import Substitution, joined_sizes, operate, substitute
from symbcast.core.algebra.terms import Atom, Operation, Symbol, Term, constant, symbols_of, term
from symbcast.core.effort import charge, remembered
from symbcast.core.solver.evaluation import value_function
from symbcast.core.solver.f2_one_size.piecewise import (
    NotPeriodicError,
    PolynomialPiece,
    ResidueClassTerms,
    first_above,
    period_of_term,
    runs_within,
)
from symbcast.core.solver.residues import (
    MAX_PERIOD,
    Pattern,
    PeriodTooLongError,
    pattern_complement,
    pattern_intersection,
    pattern_of_mask,
    pattern_union,
    prime_powers,
    residue_node,
)
from symbcast.core.solver.size_sets import ALL, EMPTY, Segment, SizeSet, normal_segments

# Sums of remainders compared with a number: solved modulus by modulus.
#
# ``N % 1009 == N % 1013`` has the period 1,022,117, but only 1,009 cases: the values of the first remainder, each of
# which fixes the second. So remainders whose periods have common factors are grouped, each group is written out
# separately, and a sum is decided group by group: the cases are the values of the partial sum.


Values: TypeAlias = list[int]
"""The value at each residue; as many as the period has residues."""

# Number of values of a partial sum that are distinguished.
_MOST_VALUES = 4096


class _Sum:
    """A sum of values with coprime periods, and the sizes at which its comparison with 0 holds."""

    def __init__(self, tables: Sequence[Values], operator: Operator) -> None:
        self.periods = [len(table) for table in tables]
        self.masks = [_where(table) for table in tables]
        self.operator = operator
        last = self.masks[-1]
        self.values = sorted(last)
        # Masks of the residues of the last table with values up to each of its values.
        self.up_to = list(accumulate((last[value] for value in self.values), or_, initial=0))
        self.known: dict[tuple[int, int], Pattern] = {}

    def of(self, position: int, total: int) -> Pattern:
        """Return where the partial sum plus the tables from a position on gives a wanted sum."""
        if (position, total) not in self.known:
            if len(self.known) > _MOST_VALUES:
                raise PeriodTooLongError(f"{_MOST_VALUES} values of a sum")
            self.known[position, total] = self._of(position, total)
        return self.known[position, total]

    def _of(self, position: int, total: int) -> Pattern:
        period = self.periods[position]
        if position == len(self.periods) - 1:
            return pattern_of_mask(period, self._last(total))
        masks: dict[Pattern, int] = {}
        for value, mask in self.masks[position].items():
            rest = self.of(position + 1, total + value)
            masks[rest] = masks.get(rest, 0) | mask
        primes = prime_powers(period)
        if len(primes) == 1 and all(primes[0][0] < prime_powers(p)[0][0] for p in self.periods[position + 1 :]):
            return residue_node(primes[0][0], period, masks)
        pattern: Pattern = False
        for rest, mask in masks.items():
            pattern = pattern_union(pattern, pattern_intersection(pattern_of_mask(period, mask), rest))
        return pattern

    def _last(self, total: int) -> int:
        """Return the mask of the last table's residues that complete a total to a wanted value."""
        match self.operator:
            case "==" | "!=":
                equal = self.masks[-1].get(-total, 0)
                return equal if self.operator == "==" else self.up_to[-1] & ~equal
            case "<=":
                return self.up_to[bisect_right(self.values, -total)]
            case "<":
                return self.up_to[bisect_left(self.values, -total)]


def _where(table: Values) -> dict[int, int]:
    """Return, for each value, the mask of the residues that have it."""
    masks: dict[int, int] = {}
    for residue, value in enumerate(table):
        masks[value] = masks.get(value, 0) | 1 << residue
    return masks


def _grouped(tables: Sequence[Values]) -> list[Values]:
    """Return the tables, those whose periods have a common factor added up, ordered by their least primes."""
    groups: list[Values] = []
    for table in tables:
        tied = [g for g in groups if gcd(len(g), len(table)) > 1]
        period = lcm(len(table), *map(len, tied))
        if tied and period > MAX_PERIOD:
            raise PeriodTooLongError(period)
        together = [sum(t[n % len(t)] for t in (table, *tied)) for n in range(period)] if tied else table
        groups = [*(g for g in groups if gcd(len(g), len(table)) == 1), together]
    return sorted((g for g in groups if len(g) > 1), key=lambda g: prime_powers(len(g))) or groups[:1]


def where_congruent(operation: Operation, remainder: int) -> Pattern | None:
    """Return where a remainder ``(a*n + b) % m`` is a given one; None if it is not a remainder of a linear term.

    The modulus may be large: a congruence splits into one for each of its prime powers. ``(a*n + b)//c % m`` is a
    remainder by ``c*m``, which does not split.
    """
    by, step = operation.args[1].constant, 1
    dividend: Term = operation.args[0]
    if isinstance(dividend, Operation) and dividend.kind == "//" and dividend.args[1].is_constant:
        step, dividend = dividend.args[1].constant, dividend.args[0]
    slope_and_offset = linear_coefficients(dividend)
    if slope_and_offset is None or step < 1 or (step > 1 and len(prime_powers(abs(step * by))) > 1):
        return None
    if not (0 <= remainder < by or by < remainder <= 0):
        return False
    slope, offset = slope_and_offset
    pattern: Pattern = True
    for _, power in reversed(prime_powers(abs(step * by))):
        congruent = (n for n in range(power) if (slope * n + offset - step * remainder) % power < step)
        own = pattern_of_mask(power, sum(1 << n for n in congruent))
        pattern = pattern_intersection(own, pattern)
    return pattern


def linear_coefficients(dividend: Term) -> tuple[int, int] | None:
    """Return slope and offset of a linear term of one symbol, None for other terms."""
    others = [m for m in dividend.coefficients if m]
    if len(others) != 1 or len(others[0]) != 1 or isinstance(others[0][0], Operation):
        return None
    return dividend.coefficients[others[0]], dividend.constant


# Tier F2: formulas over one symbol, solved exactly.
#
# On each residue class of a suitable period every term built with ``+ - *`` and ``// c``, ``% c`` is a polynomial,
# whose sign changes finitely often. So the sizes that satisfy a formula are finite exceptions plus residue classes: a
# `SizeSet`, computed here without a solver. Where only remainders are summed, each modulus is solved separately.


def solution_set(formula: Formula) -> SizeSet:
    """Return the sizes of the only symbol of ``formula`` that satisfy it; without a symbol, all sizes or none.

    Raises `NotPeriodicError` if the answer would not be finite exceptions plus residue classes of a short period.
    """
    try:
        return _solve(formula) if _is_linear(formula) else _solve_renamed(under_one_name(formula))
    except PeriodTooLongError as error:
        raise NotPeriodicError(f"a period above {MAX_PERIOD}") from error


# The symbol under which formulas about one symbol are solved: those that differ only in names are solved once.
ONE_NAME = Symbol("n")


def under_one_name(formula: Formula) -> Formula:
    """Return a formula with its only symbol called `ONE_NAME`; unchanged if more than the name is known of it."""
    symbols = symbols_of(dims_of(formula))
    if len(symbols) != 1 or type(symbols[0]) is not Symbol:
        return formula
    return with_dims(formula, Substitution({symbols[0]: ONE_NAME}, of_symbols=True).dim)


def _is_linear(formula: Formula) -> bool:
    """Return whether a formula compares a symbol with an integer."""
    if type(formula) is not Comparison:
        return False
    left, right = formula.left, formula.right
    return (type(right) is Symbol and isinstance(left, int)) or (type(left) is Symbol and isinstance(right, int))


# Units of effort for a residue class.
_CLASS = 10
# Up to which size all sizes are tried.
_MAX_TRIED = 16_384
# With a longer period, the cases of a ``min``, ``max`` or join are solved one by one.
_MAX_CLASSES = 1024


def narrowed_set(members: SizeSet, formula: Formula) -> SizeSet | None:
    """Return the members that satisfy a formula about their only symbol; None if this tier cannot decide it."""
    try:
        return members & solution_set(formula)
    except (NotPeriodicError, PeriodTooLongError):
        return None


def _solve(formula: Formula) -> SizeSet:
    match formula:
        case Comparison(operator, left, right):
            if type(right) is Symbol and isinstance(left, int):
                return _solve_linear(operator, -1, left)
            if type(left) is Symbol and isinstance(right, int):
                return _solve_linear(operator, 1, -right)
            # The sizes at which a term has no value are excluded here: below, any answer about them will do.
            solution = _solve_difference(operator, term(left) - term(right))
            return reduce(and_, map(_solve, needs(formula)), solution)
        case Compatible() | Clashing():
            return _solve(expand(formula))
        case AllOf(parts):
            return reduce(and_, map(_solve, parts), ALL)
        case AnyOf(parts):
            return SizeSet.union(map(_solve, parts))


_solve_renamed = remembered(4096)(_solve)


def _solve_difference(operator: Operator, difference: Term) -> SizeSet:
    """Return the sizes at which ``difference operator 0``."""
    slope_and_offset = linear_coefficients(difference)
    return _solve_linear(operator, *slope_and_offset) if slope_and_offset else _solve_other(operator, difference)


@remembered(4096)
def _solve_other(operator: Operator, difference: Term) -> SizeSet:
    """Return the sizes at which a difference that is not linear, compared with 0, satisfies the operator."""
    if difference.is_constant:
        return ALL if COMPARED[operator](difference.constant, 0) else EMPTY
    # A size replaced by 0 may be a divisor: the comparison has no value at any size, so it is false.
    if any(o.kind in ("//", "%") and o.args[1] is constant(0) for o in difference.all_operations()):
        return EMPTY
    solution = _solve_quotient(operator, difference)
    if solution is None:
        solution = _solve_divided_numbers(operator, difference)
    if solution is not None:
        return solution
    cases = _case_operation(difference)
    if cases is not None:
        solution = _solve_on_classes(operator, difference, _MAX_CLASSES)
        return _solve_cases(operator, difference, cases) if solution is None else solution
    repeating = _solve_remainders(operator, difference)
    if repeating is not None:
        return repeating
    solution = _solve_on_classes(operator, difference, MAX_PERIOD)
    if solution is None:
        raise PeriodTooLongError(MAX_PERIOD)
    return solution


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
        value, rest = divmod(number, factor)
        equal = EMPTY if rest else at_least(value) - at_least(value + 1)
        return equal if operator == "==" else ~equal
    most = number - 1 if operator == "<" else number
    if factor < 0:
        return at_least(-(most // -factor))
    return ~at_least(most // factor + 1)


def _solve_divided_numbers(operator: Operator, difference: Term) -> SizeSet | None:
    """Return the solution for quotients and remainders of numbers by growing terms; None for other differences.

    From the size on at which the divisors exceed the numbers, ``8 // A`` is 0 and ``8 % A`` is 8. Smaller sizes are
    tried one by one.
    """
    large: dict[Atom, Term] = {}
    operations = list(difference.all_operations())
    divided = [o for o in operations if o.kind in ("//", "%") and not o.args[1].is_constant]
    if not divided or any(o.kind == "join" for o in operations):
        return None
    for operation in divided:
        number, divisor = operation.args
        if not number.is_constant:
            return None
        is_negative = number.constant < 0
        if operation.kind == "//":
            large[operation] = constant(-1 if is_negative else 0)
        else:
            large[operation] = number + divisor if is_negative else number
    start = first_above([(o.args[1], abs(o.args[0].constant)) for o in divided], _MAX_TRIED)
    if start is None:
        return None
    charge(_CLASS * start)
    (symbol,) = difference.symbols()
    value, compare = value_function(difference.dim(), (symbol,)), COMPARED[operator]
    small = [n for n in range(start) if _is_defined(divided, symbol, n) and compare(value(n), 0)]
    beyond = _solve_difference(operator, Substitution(large, of_symbols=False).term(difference))
    return SizeSet.of(small) | (SizeSet.interval(start, None) & beyond)


def _is_defined(divided: Iterable[Operation], symbol: Symbol, size: int) -> bool:
    return all(value_function(o.args[1].dim(), (symbol,))(size) for o in divided)


def _quotient_at_least(above: Term, below: Term, number: int) -> SizeSet:
    """Return the sizes at which ``above//below >= number``."""
    rest = above - below.scaled(number)
    positive = _solve_difference("<", -below) & _solve_difference("<=", -rest)
    negative = _solve_difference("<", below)
    return positive | (negative & _solve_difference("<=", rest)) if negative else positive


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
        pieces = ResidueClassTerms(residue, period).pieces(difference)
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
        remainder, rest = divmod(-difference.constant, factor)
        pattern = where_congruent(operation, remainder) if not rest else False
        if pattern is not None:
            return normal_segments([Segment(0, None, pattern if operator == "==" else pattern_complement(pattern))])
    tables = [[factor * value for value in _values(operation)] for operation, factor in remainders]
    return normal_segments([Segment(0, None, _Sum(_grouped(tables), operator).of(0, difference.constant))])


def _is_remainder(atom: Atom) -> bool:
    return isinstance(atom, Operation) and atom.kind == "%" and bool(atom.args[1].constant) and atom.args[1].is_constant


@remembered(256)
def _values(remainder: Operation) -> list[int]:
    """Return the values of the remainders at each residue of the period."""
    value = remainder
    period = period_of_term(value)
    return [ResidueClassTerms(residue, period).pieces(value)[0].value[0] for residue in range(period)]


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
        segments.append(Segment(start, None, pattern_of_mask(period, mask)))
    return normal_segments(segments)


def _within(mask: int, period: int, start: int, stop: int) -> Pattern:
    """Return the pattern of a mask for a range of sizes; a constant if all or none of them have their bit set."""
    if stop - start < period:
        first, last = start % period, stop % period
        window = (1 << last) - (1 << first) if first < last else ((1 << period) - (1 << first)) | ((1 << last) - 1)
        if not mask & window:
            return False
        if not window & ~mask:
            return True
    return pattern_of_mask(period, mask)


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
    # A single term that may be negative must not stay a join with 1, or the next question would be this one.
    other = joined_sizes(rest) if operation.kind == "join" else operate(operation.kind, tuple(rest))
    if operation.kind == "join":
        takes_other = _solve_difference("==", first - constant(1))
    else:
        takes_other = _solve_difference("<" if operation.kind == "max" else "<=", first - other)
        if operation.kind == "min":
            takes_other = ~takes_other
    from_first = _solve_difference(operator, substitute(difference, {operation: first}))
    from_other = _solve_difference(operator, substitute(difference, {operation: other}))
    return (takes_other & from_other) | (from_first - takes_other)


def _true_runs(operator: Operator, pieces: Sequence[PolynomialPiece]) -> Iterator[tuple[int, int | None]]:
    """Yield ranges of ``k`` on which ``pieces operator 0``, with their last ``k`` (None: no end)."""
    for piece, following in zip(pieces, [*pieces[1:], None], strict=True):
        stop = None if following is None else following.start
        runs = list(runs_within(piece.value, piece.start, stop))
        ends = [start - 1 for start, _ in runs[1:]]
        for (start, sign), end in zip(runs, [*ends, None if stop is None else stop - 1], strict=True):
            if COMPARED[operator](sign, 0):
                yield start, end
