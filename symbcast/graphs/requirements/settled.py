"""Simplify sizes and comparisons by facts that hold wherever a model runs.

If ``c % 2 == 0`` is required, ``2*(c//2)`` is ``c``; if ``K == 3`` is required, ``K + 27`` is 30. Comparisons are freed
from whole quotients, from factors that are never 0, and from bounded quotients: a Reshape makes a size ``n // c`` if it
requires that ``n`` be a multiple of ``c``. Given that, ``n // c == m`` means ``n == c*m``, which can be divided by the
common factors of both sides: ``batch*length == 7*batch`` means ``length == 7``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from functools import lru_cache
from math import gcd
from typing import TYPE_CHECKING

from symbcast.core.algebra.arithmetic import modulo
from symbcast.core.algebra.bounds import Bounds
from symbcast.core.algebra.operations import Substitution, floordiv_terms, operate
from symbcast.core.algebra.terms import Atom, Operation, Symbol, Term, collect, constant, term
from symbcast.core.logic.formulas import Comparison, Formula, at_most, equal

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim, Monomial


class Settled:
    """Quotients that are whole, and sizes that the current node requires to equal known ones.

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

    def copy(self) -> Settled:
        """Return an independent copy."""
        return Settled(self.whole)

    def take(self, found: Comparison) -> bool:
        """Record the quotient that a comparison requires to be whole; return whether there is one."""
        quotient = quotient_asked_whole(found)
        if quotient is not None and quotient not in self.whole:
            self.whole.add(quotient)
            self._plain.clear()
        return quotient is not None

    def fix(self, size: Symbol, value: Dim) -> None:
        """Record that the current node requires a size to equal a dimension."""
        self._sizes[size] = value

    def forget_sizes(self) -> None:
        """Forget the sizes that the current node required."""
        self._sizes = {}

    @property
    def is_empty(self) -> bool:
        """Whether there are no facts to simplify sizes by."""
        return not self.whole and not self._sizes

    def written(self, dims: tuple[Dim, ...]) -> tuple[Dim, ...]:
        """Simplify dimensions under all requirements; return the same object if none changes."""
        found = tuple(d if isinstance(d, int) else self._written(d) for d in dims)
        return dims if found == dims else found

    def _written(self, dim: Term) -> Dim:
        if self._sizes:
            dim = Substitution(self._sizes, of_symbols=True).term(dim)
        if not self.whole or isinstance(dim, Symbol):
            return dim.dim()
        found = self._plain.get(dim)
        if found is None:
            found = self._plain[dim] = self._without_quotients(dim)
        return found.dim()

    def _without_quotients(self, value: Term) -> Term:
        """Return a term without the whole quotients that are multiplied by their divisor, or by a factor of it."""
        for monomial, factor in value.coefficients.items():
            for atom in monomial:
                if not isinstance(atom, Operation):
                    continue
                plainer = self._multiplied(monomial, factor, atom) if atom in self.whole else None
                if plainer is None and (inner := self._inside(atom)) is not atom:
                    plainer = _product(_without(monomial, (atom,)), factor, inner)
                if plainer is not None:
                    rest = Term({m: c for m, c in value.coefficients.items() if m != monomial})
                    return self._without_quotients(rest + plainer)
        return value

    def _inside(self, operation: Operation) -> Term:
        arguments = tuple(map(self._without_quotients, operation.args))
        return operation if arguments == operation.args else operate(operation.kind, arguments)

    def _multiplied(self, monomial: Monomial, factor: int, quotient: Operation) -> Term | None:
        """Return a multiple of a whole quotient with a smaller divisor, or none."""
        dividend, divisor = quotient.args
        if len(divisor.coefficients) != 1:
            return None
        ((atoms, number),) = divisor.coefficients.items()
        common = gcd(factor, number)
        others = _without(monomial, (quotient, *atoms))
        if others is None or number < 1 or (common == 1 and not atoms):
            return None
        smaller = floordiv_terms(dividend, constant(number // common))
        if (
            isinstance(smaller, Operation) and smaller.kind == "//"
        ):  # a quotient by 1 is its dividend, whatever form that has
            self.whole.add(smaller)
        return _product(others, factor // common, smaller)


def _without(monomial: Monomial, atoms: Iterable[Atom]) -> Monomial | None:
    """Return a monomial divided by atoms; None if they do not divide it."""
    left = Counter(monomial)
    left.subtract(atoms)
    return None if min(left.values(), default=0) < 0 else tuple(left.elements())


def _product(monomial: Monomial | None, factor: int, value: Term) -> Term:
    return collect([(term(Term({monomial or (): 1})) * value, factor)])


def cleared(found: Comparison, whole: Container[Operation], bounds: Bounds) -> Comparison:
    """Return a comparison that is equivalent if the quotients in ``whole`` are whole numbers.

    >>> from symbcast.core.algebra.arithmetic import floor_divide
    >>> from symbcast.core.algebra.symbols import symbol
    >>> from symbcast.core.logic.formulas import equal
    >>> N, T = symbol("N"), symbol("T")
    >>> quotient = floor_divide(N * T, 7)
    >>> cleared(equal(quotient, N), {quotient}, Bounds({N: 1}))
    Comparison('==', T, 7)
    >>> quotient = floor_divide(2 * N, T)
    >>> cleared(equal(quotient, 2), {quotient}, Bounds({T: 1}))
    Comparison('==', N, T)
    """
    difference = term(found.left) - term(found.right)
    for quotient in [o for o in difference.operations() if o in whole]:
        difference = _multiplied_out(difference, quotient, bounds)
    shared = _common_factor(difference, bounds)
    by = gcd(*difference.coefficients.values())
    if not shared and by <= 1 and difference == term(found.left) - term(found.right):
        return found
    if shared:
        divided = {_without(m, shared): c for m, c in difference.coefficients.items()}
        difference = Term({m: c for m, c in divided.items() if m is not None})
    positive = Term({m: c // (by or 1) for m, c in difference.coefficients.items() if c > 0})
    negative = Term({m: -c // (by or 1) for m, c in difference.coefficients.items() if c < 0})
    return Comparison(found.operator, positive.dim(), negative.dim())


def without_whole_quotients(
    clauses: Sequence[Formula], whole: Container[Operation], bounds: Bounds
) -> tuple[Formula, ...]:
    """Return clauses without the quotients in ``whole``, and add that these are whole, so that it is not lost."""
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


def quotient_asked_whole(found: Comparison) -> Operation | None:
    """Return the quotient that is whole if ``n % c == 0`` holds."""
    if found.operator != "==" or found.right != 0:
        return None
    remainder = term(found.left)
    if len(remainder.coefficients) != 1:
        return None
    ((monomial, number),) = remainder.coefficients.items()
    if not number or len(monomial) != 1 or not isinstance(monomial[0], Operation) or monomial[0].kind != "%":
        return None
    return Operation("//", monomial[0].args)


@lru_cache(maxsize=4096)
def bounded(left: Dim, right: Dim) -> Comparison:
    """Return ``left <= right``; if a number bounds a quotient by a number, as a bound on the dividend.

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
    """Return an equivalent term for ``value >= 0``: ``a*(x//k) + c >= 0`` means ``x >= k*n``, or ``x < k*n``."""
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


def _multiplied_out(difference: Term, quotient: Operation, bounds: Bounds) -> Term:
    """Return a difference times the positive divisor of a quotient, which may occur in it only as a linear term."""
    dividend, divisor = quotient.args
    if not bounds.is_at_least(divisor.dim(), 1):
        return difference
    times = difference.coefficients.get((quotient,), 0)
    rest = difference - quotient.scaled(times)
    if not times or any(quotient in monomial for monomial in rest.coefficients):
        return difference
    return rest * divisor + dividend.scaled(times)


def _common_factor(difference: Term, bounds: Bounds) -> list[Atom]:
    """Return the common symbol factors of all monomials, with multiplicity, that are never 0."""
    monomials = list(difference.coefficients)
    if not monomials:
        return []
    shared: list[Atom] = []
    left = [list(m) for m in monomials]
    for atom in monomials[0]:
        if all(atom in m for m in left) and not isinstance(atom, Operation) and bounds.is_at_least(atom, 1):
            shared.append(atom)
            for m in left:
                m.remove(atom)
    return shared
