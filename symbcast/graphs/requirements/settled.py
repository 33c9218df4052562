"""Simplify sizes and comparisons by facts that hold wherever a model runs.

If ``c % 2 == 0`` is required, ``2*(c//2)`` is ``c``; if ``K == 3`` is required, ``K + 27`` is 30. Comparisons are
simplified by removing whole quotients, factors that are never 0, and bounded quotients: a Reshape makes a size ``n //
c`` if it requires that ``n`` be a multiple of ``c``. Given that, ``n // c == m`` means ``n == c*m``, which can be
divided by the common factors of both sides: ``batch*length == 7*batch`` means ``length == 7``.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from functools import lru_cache
from math import gcd
from typing import TYPE_CHECKING

from symbcast.core.algebra.arithmetic import modulo
from symbcast.core.algebra.bounds import Bounds
from symbcast.core.algebra.operations import Substitution, floordiv_terms, monomial_quotient, operate
from symbcast.core.algebra.terms import Operation, Symbol, Term, collect, constant, term
from symbcast.core.logic.formulas import Comparison, Formula, at_most, equal
from symbcast.core.logic.whole_quotients import cleared, quotient_asked_whole

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim, Monomial


class Settled:
    """The quotients known to be whole, and the sizes that the current node requires to equal known ones.

    Only requirements that hold in all branches of a model are added.

    >>> from symbcast.core.algebra.symbols import symbol
    >>> from symbcast.core.text import parse_dim
    >>> settled = Settled({parse_dim("c//6")})
    >>> settled.fix(symbol("K"), 3)
    >>> settled.written((parse_dim("6*(c//6)"), parse_dim("2*(c//6)"), parse_dim("K + 27")))
    (c, c//3, 30)
    >>> settled.written((parse_dim("12*(c//6)//d"),))
    (2*c//d,)
    """

    def __init__(self, whole: Iterable[Operation] = ()) -> None:
        self.whole = set(whole)
        self._sizes: dict[Symbol, Dim] = {}
        self._plain: dict[Term, Term] = {}
        self._plain_inside: dict[Operation, Term] = {}

    def copy(self) -> Settled:
        """Return an independent copy."""
        return Settled(self.whole)

    def take(self, found: Comparison) -> bool:
        """Record the quotient that a comparison requires to be whole, if any; return whether there is one."""
        quotient = quotient_asked_whole(found)
        if quotient is not None and quotient not in self.whole:
            self.whole.add(quotient)
            self._plain.clear()
            self._plain_inside.clear()
        return quotient is not None

    def fix(self, size: Symbol, value: Dim) -> None:
        """Record that the current node requires a size to equal a dimension."""
        self._sizes[size] = value

    def forget_sizes(self) -> None:
        """Forget the values that the current node requires sizes to have."""
        self._sizes = {}

    @property
    def is_empty(self) -> bool:
        """Whether there are no facts with which to simplify sizes."""
        return not self.whole and not self._sizes

    def written(self, dims: tuple[Dim, ...]) -> tuple[Dim, ...]:
        """Simplify dimensions under all requirements; return the same object if nothing changes."""
        found = tuple(d if isinstance(d, int) else self._written(d) for d in dims)
        return dims if found == dims else found

    def _written(self, dim: Term) -> Dim:
        if self._sizes:
            dim = Substitution(self._sizes, of_symbols=True).term(dim)
        return self.multiplied_out(dim.dim())

    def multiplied_out(self, dim: Dim) -> Dim:
        """Simplify a dimension by the whole quotients alone, as for a requirement that may state what a size equals."""
        if not self.whole or isinstance(dim, int | Symbol):
            return dim
        found = self._plain.get(dim)
        if found is None:
            found = self._plain[dim] = self._without_quotients(dim)
        return found.dim()

    def _without_quotients(self, value: Term) -> Term:
        """Return a term without whole quotients that are multiplied by their divisor or by a factor of it."""
        for monomial, factor in value.coefficients.items():
            for atom in monomial:
                if not isinstance(atom, Operation):
                    continue
                plainer = self._multiplied(monomial, factor, atom) if atom in self.whole else None
                if plainer is None and (inner := self._inside(atom)) is not atom:
                    plainer = _product(monomial_quotient(monomial, (atom,)), factor, inner)
                if plainer is not None:
                    rest = Term({m: c for m, c in value.coefficients.items() if m != monomial})
                    return self._without_quotients(rest + plainer)
        return value

    def _inside(self, operation: Operation) -> Term:
        found = self._plain_inside.get(operation)
        if found is None:
            arguments = tuple(map(self._without_quotients, operation.args))
            found = operation if arguments == operation.args else operate(operation.kind, arguments)
            self._plain_inside[operation] = found
        return found

    def _multiplied(self, monomial: Monomial, factor: int, quotient: Operation) -> Term | None:
        """Return a multiple of a whole quotient, simplified to a smaller divisor; None if that is impossible."""
        dividend, divisor = quotient.args
        if len(divisor.coefficients) != 1:
            return None
        ((atoms, number),) = divisor.coefficients.items()
        common = gcd(factor, number)
        others = monomial_quotient(monomial, (quotient, *atoms))
        if others is None or number < 1 or (common == 1 and not atoms):
            return None
        smaller = floordiv_terms(dividend, constant(number // common))
        if (
            isinstance(smaller, Operation) and smaller.kind == "//"
        ):  # dividing by 1 gives the dividend, which need not be a quotient
            self.whole.add(smaller)
        return _product(others, factor // common, smaller)


class Unsettled(Settled):
    """No facts: sizes and comparisons stay as rules write them, so that simplified ones can be held against them."""

    is_empty = True

    def copy(self) -> Unsettled:
        """Return an independent copy."""
        return Unsettled()

    def take(self, found: Comparison) -> bool:
        """Record nothing."""
        return False

    def fix(self, size: Symbol, value: Dim) -> None:
        """Record nothing."""


def _product(monomial: Monomial | None, factor: int, value: Term) -> Term:
    return collect([(term(Term({monomial or (): 1})) * value, factor)])


def without_whole_quotients(
    clauses: Sequence[Formula], whole: Container[Operation], bounds: Bounds
) -> tuple[Formula, ...]:
    """Return clauses without the quotients in ``whole``, plus clauses which state that these quotients are integers."""
    found: list[Formula] = []
    for clause in clauses:
        if not isinstance(clause, Comparison):
            found.append(clause)
            continue
        used = [o.args for o in quotients_of(clause) if o in whole]
        found += [equal(modulo(above.dim(), below.dim()), 0) for above, below in used]
        found.append(cleared(clause, whole, bounds) if used else clause)
    return tuple(dict.fromkeys(found))


def quotients_of(found: Comparison) -> Iterator[Operation]:
    """Yield the quotients in the sums on both sides of a comparison."""
    for side in (found.left, found.right):
        yield from (o for o in term(side).operations() if o.kind == "//")


@lru_cache(maxsize=4096)
def bounded(left: Dim, right: Dim) -> Comparison:
    """Return ``left <= right``; if it bounds a quotient by a number, rewrite it as a bound on the dividend.

    >>> from symbcast.core.text import parse_dim
    >>> bounded(7, parse_dim("(N + 2)//32 + 1")), bounded(parse_dim("N//4"), 2)
    (Comparison('<=', 190, N), Comparison('<=', N, 11))
    """
    difference = term(right) - term(left)
    plainer = _without_quotients(difference)
    if plainer == difference or plainer.is_constant:
        return at_most(left, right)
    positive = Term({m: c for m, c in plainer.coefficients.items() if c > 0})
    return at_most((positive - plainer).dim(), positive.dim())


def _without_quotients(value: Term) -> Term:
    """Rewrite a term in ``value >= 0`` without quotients: ``a*(x//k) + c >= 0`` means ``x >= k*n``, or ``x < k*n``."""
    offset = value.constant
    rest = value - constant(offset)
    if len(rest.coefficients) != 1:
        return value
    (((atom, *others), factor),) = rest.coefficients.items()
    if others or not isinstance(atom, Operation) or atom.kind != "//" or not atom.args[1].is_constant:
        return value
    inside, by = atom.args[0], atom.args[1].constant
    if by < 1:
        return value
    if factor > 0:
        return _without_quotients(inside + constant(offset // factor * by))
    return _without_quotients(constant(offset // -factor * by + by - 1) - inside)
