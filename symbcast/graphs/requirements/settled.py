"""What holds wherever a model runs, used to write sizes shorter.

Where ``c % 2 == 0`` is required, ``2*(c//2)`` is ``c``; where ``K == 3`` is, ``K + 27`` is 30.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from math import gcd
from typing import TYPE_CHECKING

from symbcast.core.algebra.operations import Substitution, floordiv_terms, operate
from symbcast.core.algebra.terms import Atom, Operation, Symbol, Term, collect, constant, term
from symbcast.graphs.requirements.quotients import quotient_asked_whole

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim, Monomial
    from symbcast.core.logic.formulas import Comparison


class Settled:
    """Quotients that are whole, and the sizes that the node at hand requires to be known ones.

    Only what is required in all branches of a model goes in.

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
        """Return one that goes on from here."""
        return Settled(self.whole)

    def take(self, found: Comparison) -> bool:
        """Take in the quotient that a comparison requires to be whole; return whether it does so."""
        quotient = quotient_asked_whole(found)
        if quotient is not None and quotient not in self.whole:
            self.whole.add(quotient)
            self._plain.clear()
        return quotient is not None

    def fix(self, size: Symbol, value: Dim) -> None:
        """Take in that the node at hand requires a size to be another one."""
        self._sizes[size] = value

    def forget_sizes(self) -> None:
        """Forget the sizes that the node at hand required."""
        self._sizes = {}

    @property
    def is_empty(self) -> bool:
        """Whether nothing is known to write sizes by."""
        return not self.whole and not self._sizes

    def written(self, dims: tuple[Dim, ...]) -> tuple[Dim, ...]:
        """Return dimensions as they are where all that is required holds; the same object where none is another."""
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
        """Return a term without the whole quotients that are multiplied by their divisor, or by a part of it."""
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
        ):  # divided by 1, it is the dividend, whatever that is
            self.whole.add(smaller)
        return _product(others, factor // common, smaller)


def _without(monomial: Monomial, atoms: Iterable[Atom]) -> Monomial | None:
    """Return a monomial divided by atoms; None where they do not divide it."""
    left = Counter(monomial)
    left.subtract(atoms)
    return None if min(left.values(), default=0) < 0 else tuple(left.elements())


def _product(monomial: Monomial | None, factor: int, value: Term) -> Term:
    return collect([(term(Term({monomial or (): 1})) * value, factor)])
