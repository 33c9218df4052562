"""Products and operations that are all that a formula says about its sizes: solved as if each were one size.

``H*W % 16 == 0 and (H*W//16) % 3 == 0`` is about the product alone, and a set of sizes says it as ``H*W % 48 == 0``.
The set is right for each number from the least value of the product on, whether or not the product has that value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from symbcast.core.algebra.arithmetic import replacing
from symbcast.core.algebra.bounds import Bounds
from symbcast.core.algebra.operations import operate
from symbcast.core.algebra.terms import Operation, Symbol, Term, collect, constant, made_symbol
from symbcast.core.effort import charge
from symbcast.core.logic.formulas import Comparison, Formula, all_of, any_of, dims_of, literals, with_dims
from symbcast.core.solver.groups.normal_form import flattened, normal, symbols_in
from symbcast.core.solver.sets.congruences import PeriodTooLongError
from symbcast.core.solver.sets.piecewise import NotPeriodicError
from symbcast.core.solver.sets.set_formulas import shortest
from symbcast.core.solver.sets.size_sets import SizeSet
from symbcast.core.solver.sets.univariate import solve

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Monomial

_CANDIDATE = 20
"""Units of effort for a composite size that is tried."""
_NAME = made_symbol(Symbol, "composite size")


def solved_composites(constraints: Sequence[Formula], least: Mapping[Symbol, int]) -> list[Formula]:
    """Return equivalent constraints, where sizes are at least ``least``: those about one composite size are solved.

    >>> from symbcast.core.algebra.symbols import symbol
    >>> from symbcast.core.text import parse_formula
    >>> texts = "min(H*W, 1) == 0 or H*W == min(H*W, 1) + 1 or H*W == 1", "H*N % 16 == 0", "(H*N//16) % 3 == 0"
    >>> solved_composites([parse_formula(text) for text in texts], {symbol(s): 0 for s in "HWN"})
    [Comparison('<=', H*W, 2), Comparison('==', H*N % 48, 0)]
    """
    bounds = Bounds({s: low for s, low in least.items() if low})
    alone = [c if _composite(c) else any_of(_solved(literals(c), any_of, bounds)) for c in constraints]
    return flattened(_solved(alone, all_of, bounds))


def _solved(
    parts: Iterable[Formula], together: Callable[[Iterable[Formula]], Formula], bounds: Bounds
) -> Iterator[Formula]:
    """Yield parts of a conjunction or disjunction, those about one composite size together in their shortest form."""
    own: dict[Term | Formula, list[Formula]] = {}
    for part in parts:
        own.setdefault(_composite(part) or part, []).append(part)
    for size, about in own.items():
        yield _shortest(size, together(about), bounds) if isinstance(size, Term) else size


def _composite(formula: Formula) -> Term | None:
    """Return the term, a product or an operation, in which all sizes of a formula occur, and only there."""
    symbols = symbols_in(formula)
    if len(symbols) < 2:
        return None
    dims = [dim for dim in dims_of(formula) if not isinstance(dim, int)]
    for monomial in dict.fromkeys(m for dim in dims for m in _monomials(dim, len(symbols))):
        charge(_CANDIDATE)
        if symbols_in(_named(formula, monomial)).keys() == {_NAME}:
            return Term({monomial: 1})
    return None


def _monomials(value: Term, count: int) -> Iterator[Monomial]:
    """Yield the products and operations in a term that have so many sizes, the outer ones last."""
    for monomial in value.coefficients:
        if len({s for atom in monomial for s in atom.symbols()}) == count:
            for atom in monomial:
                for arg in atom.args if isinstance(atom, Operation) else ():
                    yield from _monomials(arg, count)
            yield monomial


def _named(formula: Formula, monomial: Monomial) -> Formula:
    """Return a formula with a name in place of a product."""
    return with_dims(formula, lambda dim: dim if isinstance(dim, int) else _with_name(dim, monomial).dim())


def _with_name(value: Term, monomial: Monomial) -> Term:
    parts: list[tuple[Term, int]] = []
    for product, coefficient in value.coefficients.items():
        made: Term = _NAME if product == monomial else constant(1)
        for atom in product if product != monomial else ():
            if isinstance(atom, Operation):
                made = made * operate(atom.kind, tuple(_with_name(arg, monomial) for arg in atom.args))
            else:
                made = made * atom
        parts.append((made, coefficient))
    return collect(parts)


def _shortest(size: Term, given: Formula, bounds: Bounds) -> Formula:
    """Return what a formula requires of a composite size; the formula itself, if that is no longer."""
    low = bounds.least(size.dim())
    ((monomial, _),) = size.coefficients.items()
    named = normal(_named(given, monomial))
    is_plain = isinstance(named, Comparison) and {type(named.left), type(named.right)} == {Symbol, int}
    if is_plain or low is None or low < 0 or not size.is_total:
        return given
    try:
        found = shortest(_NAME, solve(named), SizeSet.interval(low, None), [named])
    except (NotPeriodicError, PeriodTooLongError):
        return given
    made = with_dims(found, replacing({_NAME: size.dim()}))
    return made if _length(made) < _length(given) else given


def _length(formula: Formula) -> int:
    return sum(1 if isinstance(dim, int) else dim.size for dim in dims_of(formula))
