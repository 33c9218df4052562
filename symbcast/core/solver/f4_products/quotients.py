"""Quotients whose remainders are known: whole ones, and those by a number and by its multiple."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial

from symbcast.core.algebra.arithmetic import modulo
from symbcast.core.algebra.bounds import Bounds, exact_quotient
from symbcast.core.algebra.formulas import Comparison, Formula, equal
from symbcast.core.algebra.term_arithmetic import monomial_quotient, operate, quotient_and_remainder
from symbcast.core.algebra.terms import Operation, Term, constant, term


class WholeQuotients:
    """What operations are where some quotients are known to be whole; those of sizes from 1 on are then at least 1.

    >>> from symbcast.core.algebra.bounds import Bounds
    >>> from symbcast.core.algebra.symbols import symbol
    >>> from symbcast.core.text import parse_dim
    >>> whole = WholeQuotients([parse_dim("a*b//c")], Bounds({symbol(s): 1 for s in "abc"}))
    >>> [whole.evaluated(parse_dim(text)) for text in ("min(a*b//c, 1)", "4*a*b//(a*b//c)", "a*b % (a*b//c)")]
    [1, 4*c, 0]
    >>> whole.multiplied_out(parse_dim("3*c*(a*b//c) + c"))
    3*a*b + c
    """

    def __init__(self, whole: Collection[Operation], bounds: Bounds) -> None:
        self._whole = whole
        self._quotients = {o for o in whole if all(bounds.is_at_least(arg.dim(), 1) for arg in o.args)}
        self._bounds = bounds

    def evaluated(self, operation: Operation) -> Term | None:
        """Return the simpler term that an operation equals; None if these quotients do not decide it."""
        match operation.kind:
            case "min" | "max":
                return self._extreme(operation)
            case "%" if any(map(partial(_is_multiple, operation), self._whole)):
                return constant(0)
            case "//" | "%":
                return self._divided(operation)
        return None

    def merged(self, comparison: Comparison) -> Comparison:
        """Return a comparison in which ``(n//d) % m == 0`` is ``n % (d*m) == 0``."""
        match comparison:
            case Comparison("==", Operation(kind="%", args=(Operation() as quotient, divisor)), 0):
                if quotient in self._whole:
                    above, below = quotient.args
                    return equal(modulo(above.dim(), (below * divisor).dim()), 0)
        return comparison

    def multiplied_out(self, value: Term) -> Term:
        """Return a term in which a quotient times its divisor is the dividend."""
        for quotient in [o for o in value.operations() if o in self._whole]:
            above, below = quotient.args
            parts = ((monomial_quotient(m, (quotient,)), c) for m, c in value.coefficients.items())
            times = Term({rest: c for rest, c in parts if rest is not None})
            factor, left = (
                _divided_by_number(times, below.constant) if below.is_constant else quotient_and_remainder(times, below)
            )
            if factor.coefficients:
                return self.multiplied_out(value + (left - times) * quotient + above * factor)
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
            exact = None if rest is None else exact_quotient((dividend.dim(), below.dim()), (above.dim(), rest))
            if exact is not None:
                return term(exact) if operation.kind == "//" else constant(0)
        return None

    def _factors(self, divisor: Term) -> Iterator[Operation]:
        """Yield the whole quotients in a product whose factors are all at least 1."""
        if not divisor.is_constant and self.is_positive(divisor):
            (atoms,) = divisor.coefficients
            yield from (a for a in atoms if a in self._quotients and isinstance(a, Operation))

    def is_positive(self, value: Term) -> bool:
        """Return whether a term is a product whose factors are all known to be at least 1."""
        if len(value.coefficients) != 1:
            return False
        ((atoms, number),) = value.coefficients.items()
        return number > 0 and all(a in self._quotients or self._bounds.is_at_least(a.dim(), 1) for a in atoms)


def _is_multiple(remainder: Operation, whole: Operation) -> bool:
    """Return whether a remainder has the dividend of a whole quotient, and as divisor a factor of the one there."""
    (dividend, divisor), (above, below) = remainder.args, whole.args
    return above == dividend and exact_quotient((below.dim(),), (divisor.dim(),)) is not None


def _divided_by_number(value: Term, number: int) -> tuple[Term, Term]:
    """Return what monomials with a multiple of a number are divided by it, and the other monomials."""
    quotient = {m: c // number for m, c in value.coefficients.items() if c % number == 0}
    return Term(quotient), Term({m: c for m, c in value.coefficients.items() if c % number})


def finer_quotients(constraints: Sequence[Formula], operations: Callable[[], Iterable[Operation]]) -> dict[Term, Term]:
    """Return what replaces quotients: ``X//a`` is ``m//a*(X//m)`` if ``X % m`` is below ``a`` and ``a`` divides ``m``.

    ``X = m*(X//m) + X % m``, of which the first part is a multiple of ``a``, and the second one below it. ``X//m``
    must be one of the operations too: otherwise nothing becomes simpler.
    """
    below = dict(filter(None, map(_remainder, constraints)))
    if not below:
        return {}
    by_number = [o for o in operations() if o.kind == "//" and o.args[1].is_constant and o.args[1].constant > 0]
    replaced: dict[Term, Term] = {}
    for (size, modulus), most in below.items():
        coarse = next((o for o in by_number if o.args[0] is size and o.args[1].constant == modulus), None)
        if coarse is None:
            continue
        for fine in by_number:
            number = fine.args[1].constant
            if fine.args[0] is size and most < number < modulus and modulus % number == 0:
                replaced.setdefault(fine, coarse * constant(modulus // number))
    return replaced


def _remainder(constraint: Formula) -> tuple[tuple[Term, int], int] | None:
    """Return the size and the modulus of a remainder, and the most that it is, if a constraint bounds one."""
    match constraint:
        case Comparison("<=" | "==", Operation(kind="%", args=(size, modulus)), int(most)) if modulus.is_constant:
            return (size, modulus.constant), most
    return None
