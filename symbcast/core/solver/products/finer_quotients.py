"""Quotients of one size by a number and by its multiple, where the remainder by the multiple is known to be small."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from symbcast.core.algebra.terms import Operation, Term, constant
from symbcast.core.logic.formulas import Comparison, Formula


def finer_quotients(constraints: Sequence[Formula], operations: Callable[[], Iterable[Operation]]) -> dict[Term, Term]:
    """Return what replaces quotients: ``X//a`` is ``m//a*(X//m)`` if ``X % m`` is below ``a`` and ``a`` divides ``m``.

    ``X = m*(X//m) + X % m``, of which the first part is a multiple of ``a``, and the second one below it. ``X//m``
    must be one of the operations too: otherwise nothing becomes simpler.
    """
    below = dict(filter(None, map(_remainder, constraints)))
    if not below:
        return {}
    by_number = [o for o in operations() if o.kind == "//" and o.args[1].is_constant and o.args[1].constant > 0]
    found: dict[Term, Term] = {}
    for (size, modulus), most in below.items():
        coarse = next((o for o in by_number if o.args[0] is size and o.args[1].constant == modulus), None)
        if coarse is None:
            continue
        for fine in by_number:
            number = fine.args[1].constant
            if fine.args[0] is size and most < number < modulus and modulus % number == 0:
                found.setdefault(fine, coarse * constant(modulus // number))
    return found


def _remainder(constraint: Formula) -> tuple[tuple[Term, int], int] | None:
    """Return the size and the modulus of a remainder, and the most that it is, if a constraint bounds one."""
    match constraint:
        case Comparison("<=", Operation(kind="%", args=(size, modulus)), int(most)) if modulus.is_constant:
            return (size, modulus.constant), most
        case Comparison("==", Operation(kind="%", args=(size, modulus)), int(most)) if modulus.is_constant:
            return (size, modulus.constant), most
    return None
