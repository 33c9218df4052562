"""Terms in one symbol: piecewise polynomials on residue classes, and thresholds of monotone quotients."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from math import comb, lcm
from typing import TypeAlias

from symbcast.core.algebra.terms import Atom, Operation, Term
from symbcast.core.effort import charge
from symbcast.core.solver.evaluation import value_function
from symbcast.core.solver.residues import MAX_PERIOD, PeriodTooLongError
from symbcast.core.structs import NamedTuple

# Terms in one symbol as piecewise polynomials: the value of a term on a residue class, from the inside out.
#
# On the residue class ``n = residue + period*k`` a term with ``+ - *``, ``// c`` and ``% c`` is a polynomial in k. A
# ``min`` or ``max`` adds at most a few sign changes as places where pieces begin. So nested ones cost the sum of their
# pieces; splitting a formula into the cases of each costs their product.


Polynomial: TypeAlias = "list[int]"
"""The coefficients in k, from the constant up."""

# Units of effort for a piece.
_PIECE = 2


class NotPeriodicError(Exception):
    """A formula that this tier does not solve: a symbolic divisor, too long a period, or too high a power."""


class PolynomialPiece(NamedTuple):
    """A polynomial from a ``k`` on, up to the start of the next piece."""

    start: int
    value: Polynomial


@lru_cache(maxsize=4096)
def period_of_term(value: Term) -> int:
    """Return a period on whose residue classes the term is piecewise a polynomial with integer coefficients."""
    period = 1
    for operation in value.operations():
        if operation.kind in ("//", "%"):
            dividend, divisor = operation.args
            if not divisor.is_constant or not divisor.constant:
                raise NotPeriodicError(f"the divisor {divisor.dim()}")
            period = lcm(period, period_of_term(dividend) * abs(divisor.constant))
        else:
            period = lcm(period, *map(period_of_term, operation.args))
        if period > MAX_PERIOD:
            raise PeriodTooLongError(period)
    return period


class ResidueClassTerms:
    """Terms in one symbol on the sizes ``residue + period*k``; shared operations are evaluated once."""

    def __init__(self, residue: int, period: int) -> None:
        self._size = [PolynomialPiece(0, [residue, period])]
        self._known: dict[Atom, list[PolynomialPiece]] = {}

    def pieces(self, value: Term) -> list[PolynomialPiece]:
        """Return the pieces of a term, in order."""
        whole = self._in_one_piece(value)
        if whole is not None:
            charge(_PIECE)
            return [PolynomialPiece(0, whole)]
        total = [PolynomialPiece(0, [0])]
        for monomial, coefficient in value.coefficients.items():
            product = [PolynomialPiece(0, [coefficient])]
            for atom in monomial:
                product = _merged(product, self._atom(atom), _times)
            total = _merged(total, product, _plus)
        charge(_PIECE * len(total))
        return [PolynomialPiece(start, _trimmed(polynomial)) for start, polynomial in total]

    def _in_one_piece(self, value: Term) -> Polynomial | None:
        """Return a sum of multiples of atoms as one polynomial; None for products and where an atom has pieces."""
        total = [0]
        for monomial, coefficient in value.coefficients.items():
            if len(monomial) > 1:
                return None
            pieces = self._atom(monomial[0]) if monomial else _ONE
            if len(pieces) > 1:
                return None
            polynomial = pieces[0].value
            if len(polynomial) > len(total):
                total += [0] * (len(polynomial) - len(total))
            for n, c in enumerate(polynomial):
                total[n] += coefficient * c
        return _trimmed(total)

    def _atom(self, atom: Atom) -> list[PolynomialPiece]:
        if not isinstance(atom, Operation):
            return self._size
        pieces = self._known.get(atom)
        if pieces is None:
            pieces = self._known[atom] = self._operation(atom)
        return pieces

    def _operation(self, operation: Operation) -> list[PolynomialPiece]:
        first, *rest = operation.args
        pieces = self.pieces(first)
        if operation.kind in ("//", "%"):
            by = operation.args[1].constant
            return [PolynomialPiece(start, _divided(polynomial, by, operation.kind)) for start, polynomial in pieces]
        for arg in rest:
            other = self.pieces(arg)
            chosen = _always_chosen(operation.kind, pieces, other)
            pieces = list(_chosen(operation.kind, pieces, other)) if chosen is None else chosen
        return pieces


_ONE = [PolynomialPiece(0, [1])]


def _divided(dividend: Polynomial, by: int, kind: str) -> Polynomial:
    # The period is a multiple of the dividend's own period times |by|, so `by` divides every coefficient but the first.
    quotient = [c // by for c in dividend]
    return quotient if kind == "//" else [dividend[0] - by * quotient[0]]


def _merged(
    left: Sequence[PolynomialPiece],
    right: Sequence[PolynomialPiece],
    combine: Callable[[Polynomial, Polynomial], Polynomial],
) -> list[PolynomialPiece]:
    if len(left) == len(right) == 1:
        return [PolynomialPiece(0, combine(left[0].value, right[0].value))]
    return [PolynomialPiece(start, combine(a, b)) for start, _, a, b in _aligned(left, right)]


def _aligned(
    left: Sequence[PolynomialPiece], right: Sequence[PolynomialPiece]
) -> Iterator[tuple[int, int | None, Polynomial, Polynomial]]:
    """Yield the ranges on which both are polynomials: the first k, the first k after it (None: no end), and both."""
    starts = sorted({p.start for p in left} | {p.start for p in right})
    m = n = 0
    for start, stop in zip(starts, [*starts[1:], None], strict=True):
        while m + 1 < len(left) and left[m + 1].start <= start:
            m += 1
        while n + 1 < len(right) and right[n + 1].start <= start:
            n += 1
        yield start, stop, left[m].value, right[n].value


def _always_chosen(
    kind: str, left: list[PolynomialPiece], right: list[PolynomialPiece]
) -> list[PolynomialPiece] | None:
    """Return the operand that a min, max or join has for every k, if signs of coefficients show it; else None."""
    if len(left) > 1 or len(right) > 1:
        return None
    difference = _plus(left[0].value, [-c for c in right[0].value] if kind != "join" else [-1])
    if min(difference) >= 0 and (kind != "join" or difference[0]):
        return right if kind == "min" else left
    return left if max(difference) <= 0 and kind == "min" else right if max(difference) <= 0 and kind == "max" else None


def _chosen(kind: str, left: Sequence[PolynomialPiece], right: Sequence[PolynomialPiece]) -> Iterator[PolynomialPiece]:
    """Yield the pieces of the min, max or join of two terms."""
    last: Polynomial | None = None
    for start, stop, a, b in _aligned(left, right):
        difference = _plus(a, [-c for c in b] if kind != "join" else [-1])
        for low, sign in runs_within(_trimmed(difference), start, stop):
            takes_first = sign != 0 if kind == "join" else (sign <= 0) == (kind == "min")
            value = a if takes_first else b
            # Neighbouring pieces with one value are one piece: otherwise nested ones multiply.
            if value != last:
                yield PolynomialPiece(low, value)
            last = value


def runs_within(polynomial: Polynomial, start: int, stop: int | None) -> Iterator[tuple[int, int]]:
    """Yield where the sign of a polynomial changes on ``start <= k < stop``: pairs of first ``k`` and sign."""
    runs = sign_runs(polynomial)
    for (low, sign), following in zip(runs, [*runs[1:], None], strict=True):
        if (following is None or following[0] > start) and (stop is None or low < stop):
            yield max(low, start), sign


def _trimmed(polynomial: Polynomial) -> Polynomial:
    while len(polynomial) > 1 and not polynomial[-1]:
        polynomial = polynomial[:-1]
    return polynomial


def _plus(left: Polynomial, right: Polynomial) -> Polynomial:
    longer, shorter = (left, right) if len(left) >= len(right) else (right, left)
    return [c + (shorter[n] if n < len(shorter) else 0) for n, c in enumerate(longer)]


def _times(left: Polynomial, right: Polynomial) -> Polynomial:
    product = [0] * (len(left) + len(right) - 1)
    for i, a in enumerate(left):
        for j, b in enumerate(right):
            product[i + j] += a * b
    return product


def sign_of(value: int) -> int:
    """Return the sign of an integer."""
    return (value > 0) - (value < 0)


def _value(polynomial: Sequence[int], k: int) -> int:
    total = 0
    for coefficient in reversed(polynomial):
        total = total * k + coefficient
    return total


# The time grows with the fourth power of the degree: a tenth of a second here.
MAX_DEGREE = 128


def sign_runs(polynomial: Sequence[int]) -> list[tuple[int, int]]:
    """Return where an integer polynomial's sign changes over k = 0, 1, 2, ...: pairs of first ``k`` and sign.

    Between sign changes of its difference p(k+1) - p(k), which has one degree less, p is monotone, so bisection finds
    each of its sign changes there. Raises `NotPeriodicError` above `MAX_DEGREE`.

    >>> sign_runs([6, -5, 1])  # (k - 2)(k - 3)
    [(0, 1), (2, 0), (4, 1)]
    """
    # Newton's forward difference has one degree less; a constant has no sign changes.
    degree = len(polynomial) - 1
    if degree <= 0:
        return [(0, sign_of(polynomial[0]))]
    if degree > MAX_DEGREE:
        raise NotPeriodicError(f"a power above {MAX_DEGREE}")
    difference = [sum(comb(power, n) * polynomial[power] for power in range(n + 1, degree + 1)) for n in range(degree)]
    runs: list[tuple[int, int]] = []
    spans = sign_runs(difference)
    for (start, slope), following in zip(spans, [*spans[1:], None], strict=True):
        runs.extend(_monotone_runs(polynomial, start, following[0] if following else None, slope))
    return runs[:1] + [later for earlier, later in pairwise(runs) if later[1] != earlier[1]]


def _monotone_runs(p: Sequence[int], start: int, stop: int | None, slope: int) -> Iterator[tuple[int, int]]:
    """Yield the sign runs of ``p`` on ``start <= k < stop``, where it is monotone."""
    sign = sign_of(_value(p, start))
    yield start, sign
    while slope and sign != slope:
        change = _first_above(p, start, stop, slope, sign)
        if change is None:
            return
        start, sign = change, sign_of(_value(p, change))
        yield start, sign


def _first_above(p: Sequence[int], start: int, stop: int | None, slope: int, sign: int) -> int | None:
    """Return the first ``k`` after ``start`` whose sign has moved on from ``sign`` in the direction of the slope."""

    def moved(k: int) -> bool:
        return (sign_of(_value(p, k)) - sign) * slope > 0

    low, step = start, 1
    while True:
        high = low + step if stop is None else min(low + step, stop - 1)
        if moved(high):
            break
        if stop is not None and high == stop - 1:
            return None
        low, step = high, step * 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if moved(middle) else (middle, high)
    return high


# Thresholds are looked for up to this size.
_LARGEST = 1 << 512


def first_above(terms: Sequence[tuple[Term, int]], most: int) -> int | None:
    """Return the first size, at most ``most``, from which on terms exceed their numbers; None if that is not clear."""
    start = 0
    for value, number in terms:
        if _direction(value) != 1 or not value.is_total:
            return None
        size = value_function(value.dim(), tuple(value.symbols()))
        first = _first(lambda n, size=size, number=number: size(n) > number, 0)  # type: ignore[misc]
        if first is None or first > most:
            return None
        start = max(start, first)
    return start


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


def _direction(value: Term) -> int | None:
    """Return 1 if a term never falls while its symbol grows, -1 if it never rises, 0 for a number; otherwise None."""
    ways: set[int] = set()
    for monomial, coefficient in value.coefficients.items():
        own: set[int | None] = {_direction_of_atom(atom) for atom in monomial}
        if len(monomial) > 1 and not all(atom.is_at_least(0) for atom in monomial):
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
        directions = {way for way in ways if way}
        return None if len(directions) > 1 else next(iter(directions), 0)
    above, below = ways
    if above is None or below is None or atom.lower_bound != 0:
        return None
    if below == 0:
        return above if atom.args[1].is_constant and atom.args[1].constant > 0 else None
    return -1 if above in (0, -1) and below == 1 else None
