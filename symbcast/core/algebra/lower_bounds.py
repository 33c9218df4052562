"""The least value of a term over all sizes from 0 on, by cases and by bounds of quotients.

Intervals of the separate parts are too weak where a symbol occurs in several parts: ``(N + 3)//4`` is never
below ``(N + 1)//4``, nor below ``max(N//4, 0)``. So a ``min`` or ``max`` on the wrong side is replaced by each of its
members, quotients by numbers are multiplied out, ``x - k + 1 <= k*(x//k) <= x``, and a factor that is 0 or 1 is set to
either. Each step is sound: the answer is a lower bound, though perhaps not the greatest.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from symbcast.core.algebra.operations import monomial_quotient
from symbcast.core.algebra.terms import Atom, Monomial, Operation, Term, constant

_MAX_STEPS = 6
"""How many operations in one another are taken apart."""


@lru_cache(maxsize=8192)
def lower_bound(value: Term, steps: int = _MAX_STEPS) -> int | None:
    """Return a lower bound of a term at sizes from 0 on; None if none is found.

    >>> from symbcast.core.algebra.arithmetic import floor_divide, maximum
    >>> from symbcast.core.algebra.symbols import symbol
    >>> N = symbol("N")
    >>> low, high = floor_divide(N + 1, 4), floor_divide(N + 3, 4)
    >>> lower_bound(high - low), lower_bound(N + 1 - maximum((high, 1))), lower_bound(low - high)
    (0, 0, -1)
    """
    found = value.lower_bound
    part = next(_openable(value), None) if steps > 0 else None
    if part is None:
        return found
    monomial, atom = part
    better = _by_operation(value, monomial, atom, steps - (2 if atom.kind == "join" else 1))
    return found if better is None else better if found is None else max(found, better)


def _openable(value: Term) -> Iterator[tuple[Monomial, Operation]]:
    """Yield the operations that have known bounds besides their intervals, each with its monomial."""
    for monomial in value.coefficients:
        for atom in monomial:
            if isinstance(atom, Operation) and _is_bounded(atom, monomial, value.coefficients[monomial]):
                yield monomial, atom


def _is_bounded(atom: Operation, monomial: Monomial, factor: int) -> bool:
    """Return whether known bounds of the operation count in its monomial, whose coefficient is ``factor``."""
    if atom.kind == "//":
        by = atom.args[1]
        return len(monomial) == 1 and by.is_constant and by.constant > 0
    if len(monomial) > 1 and not atom.is_truth_value and any(a is not atom and not _is_size(a) for a in monomial):
        return False
    if atom.kind == "join":  # sizes from 1 on join to the greatest of them
        return factor > 0 and all(arg.lower_bound is not None and arg.lower_bound >= 1 for arg in atom.args)
    return atom.kind in ("min", "max")


def _is_size(atom: Atom) -> bool:
    return atom.lower_bound is not None and atom.lower_bound >= 0


def _by_operation(value: Term, monomial: Monomial, atom: Operation, steps: int) -> int | None:
    """Return a lower bound of a term, from the bounds of one operation in one of its monomials."""
    if len(monomial) > 1 and atom.is_truth_value:
        return _by_truth_value(value, atom, steps)
    factor = value.coefficients[monomial]
    others = monomial_quotient(monomial, (atom,)) or ()
    rest = value - Term({monomial: factor})
    if atom.kind == "//":
        by = atom.args[1].constant
        inside = atom.args[0] - constant(by - 1) if factor > 0 else atom.args[0]
        low = lower_bound(rest.scaled(by) + inside.scaled(factor), steps)
        return None if low is None else -(-low // by)
    lows = [lower_bound(rest + Term({others: factor}) * arg, steps) for arg in atom.args]
    known = [low for low in lows if low is not None]
    if (atom.kind == "min") == (factor > 0):
        return min(known) if len(known) == len(lows) else None
    return max(known, default=None)


def _by_truth_value(value: Term, atom: Operation, steps: int) -> int | None:
    lows = [lower_bound(_put_in(value, atom, number), steps) for number in (0, 1)]
    known = [low for low in lows if low is not None]
    return min(known) if len(known) == len(lows) else None


def _put_in(value: Term, atom: Operation, number: int) -> Term:
    """Return a term with an atom of its monomials replaced by a number."""
    found = {m: c for m, c in value.coefficients.items() if atom not in m}
    for monomial, factor in value.coefficients.items():
        if atom in monomial and number:
            without = tuple(a for a in monomial if a is not atom)
            found[without] = found.get(without, 0) + factor
    return Term({m: c for m, c in found.items() if c})
