"""Operations on quotients that are whole and at least 1, as sizes are that a reshape infers."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from symbcast.core.algebra.bounds import exact_quotient
from symbcast.core.algebra.operations import monomial_quotient, operate
from symbcast.core.algebra.terms import Operation, Term, constant, term

if TYPE_CHECKING:
    from symbcast.core.algebra.bounds import Bounds
    from symbcast.core.algebra.terms import Atom


class WholeQuotients:
    """What operations are where some quotients, of sizes from 1 on, are known to be whole: then they are at least 1.

    >>> from symbcast.core.algebra.bounds import Bounds
    >>> from symbcast.core.algebra.symbols import symbol
    >>> from symbcast.core.text import parse_dim
    >>> whole = WholeQuotients([parse_dim("a*b//c")], Bounds({symbol(s): 1 for s in "abc"}))
    >>> [whole.evaluated(parse_dim(text)) for text in ("min(a*b//c, 1)", "4*a*b//(a*b//c)", "a*b % (a*b//c)")]
    [1, 4*c, 0]
    >>> whole.multiplied_out(parse_dim("3*c*(a*b//c) + c"))
    3*a*b + c
    """

    def __init__(self, quotients: Collection[Operation], bounds: Bounds) -> None:
        self._quotients = quotients
        self._bounds = bounds

    def evaluated(self, operation: Operation) -> Term | None:
        """Return the simpler term that an operation equals; None if these quotients do not decide it."""
        if not self._quotients:
            return None
        match operation.kind:
            case "min" | "max":
                return self._extreme(operation)
            case "//" | "%":
                return self._divided(operation)
        return None

    def multiplied_out(self, value: Term) -> Term:
        """Return a term in which a quotient times its divisor is the dividend."""
        if not self._quotients:
            return value
        for monomial, factor in value.coefficients.items():
            for quotient in (a for a in monomial if a in self._quotients and isinstance(a, Operation)):
                dividend, divisor = quotient.args
                if len(divisor.coefficients) != 1:
                    continue
                ((atoms, number),) = divisor.coefficients.items()
                others = monomial_quotient(monomial, (quotient, *atoms))
                if others is not None and factor % number == 0:
                    rest = Term({m: c for m, c in value.coefficients.items() if m != monomial})
                    return self.multiplied_out(rest + Term({others: factor // number}) * dividend)
        return value

    def _extreme(self, operation: Operation) -> Term | None:
        """Return a min or max without what 1 decides about it."""
        is_least = operation.kind == "min"
        positive = [a for a in operation.args if a in self._quotients]
        small = [a for a in operation.args if a.is_constant and a.constant <= 1]
        if not positive or not small:
            return None
        gone = positive if is_least else small
        return operate(operation.kind, tuple(a for a in operation.args if a not in gone))

    def _divided(self, operation: Operation) -> Term | None:
        """Return an exact quotient by a product with a whole quotient ``n//d`` in it: ``x//(n//d)`` is ``x*d//n``."""
        dividend, divisor = operation.args
        for quotient in self._factors(divisor):
            above, below = quotient.args
            rest = exact_quotient((divisor.dim(),), (quotient,))
            found = None if rest is None else exact_quotient((dividend.dim(), below.dim()), (above.dim(), rest))
            if found is not None:
                return term(found) if operation.kind == "//" else constant(0)
        return None

    def _factors(self, divisor: Term) -> Iterator[Operation]:
        """Yield the whole quotients in a product whose factors are all at least 1."""
        if len(divisor.coefficients) != 1 or divisor.is_constant:
            return
        ((atoms, number),) = divisor.coefficients.items()
        if number > 0 and all(map(self._is_positive, atoms)):
            yield from (a for a in atoms if a in self._quotients and isinstance(a, Operation))

    def _is_positive(self, atom: Atom) -> bool:
        return atom in self._quotients or self._bounds.is_at_least(atom.dim(), 1)
