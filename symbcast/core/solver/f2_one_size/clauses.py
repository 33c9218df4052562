"""Comparisons in canonical form, and formulas as clauses of these comparisons."""

from __future__ import annotations

from functools import lru_cache
from itertools import product
from math import prod

from symbcast.core.algebra.bounds import common_factors
from symbcast.core.algebra.formulas import (
    COMPARED,
    FALSE,
    TRUE,
    AllOf,
    AnyOf,
    Clashing,
    Comparison,
    Compatible,
    Formula,
    all_of,
    any_of,
    clauses,
    expand,
    literals,
    lost_needs,
)
from symbcast.core.algebra.term_arithmetic import monomial_quotient, sides_of
from symbcast.core.algebra.terms import Dim, Symbol, Term, constant, term
from symbcast.core.effort import charge, remembered
from symbcast.core.solver.f2_one_size.piecewise import NotPeriodicError
from symbcast.core.solver.f2_one_size.set_formulas import set_formula
from symbcast.core.solver.f2_one_size.univariate import solution_set

# Joins of at most this many sizes are spelled out pair by pair; larger ones stay whole.
PAIRWISE_UP_TO = 6
MOST_CLAUSES = 64
_SOLUTIONS_UP_TO = 3
# Units of effort for sympy to factor a polynomial.
_FACTORING = 10_000


@lru_cache(maxsize=8192)
def canonical_comparison(comparison: Comparison) -> Formula:
    """Return an equivalent comparison in lowest terms, its sides sorted; `TRUE` or `FALSE` if it is decided.

    Coefficients are divided by their common factor, and positive terms stand on one side each; a comparison that no
    non-negative sizes satisfy is false.

    >>> from symbcast.core.algebra.symbols import symbol
    >>> N, M = symbol("N"), symbol("M")
    >>> canonical_comparison(Comparison("==", 2 * N + 2, 4 * M))
    Comparison('==', 2*M, N + 1)
    >>> canonical_comparison(Comparison("==", 2 * N, 1)) == FALSE
    True
    """
    operator = comparison.operator
    difference = term(comparison.left) - term(comparison.right)
    if operator == "<":
        operator, difference = "<=", difference + constant(1)
    if difference.is_constant:
        return TRUE if COMPARED[operator](difference.constant, 0) else FALSE
    common = difference.content
    if operator == "<=":
        # The constant is rounded up: over the integers, 2*N + 1 <= 0 says no less than N + 1 <= 0.
        difference = Term({m: -(-c // common) if not m else c // common for m, c in difference.coefficients.items()})
        difference = Term({m: c for m, c in difference.coefficients.items() if c})
        if difference.is_at_least(1):
            return FALSE
        if (-difference).is_at_least(0):
            return TRUE
        if difference.is_at_least(0):
            return canonical_comparison(Comparison("==", difference.dim(), 0))
    else:
        impossible = difference.constant % common != 0 or difference.is_at_least(1) or (-difference).is_at_least(1)
        if impossible:
            return FALSE if operator == "==" else TRUE
        one_sided = difference.is_at_least(0) or (-difference).is_at_least(0)
        if operator == "!=" and one_sided and difference.is_linear:  # a product splits into its factors
            above = difference if difference.is_at_least(0) else -difference
            return canonical_comparison(Comparison("<=", 1, above.dim()))
        difference = Term({m: c // common for m, c in difference.coefficients.items()})
        if difference.leading < 0:
            difference = -difference
    left, right = sides_of(difference)
    if operator == "<=" and left.constant == 1 and not left.is_constant:
        # `N + 1 <= M` is what `N < M` says.
        operator, left = "<", left - constant(1)
    return Comparison(operator, left.dim(), right.dim())


def with_canonical_literals(formula: Formula) -> Formula:
    """Return the formula with its comparisons canonical and short joins spelled out."""
    match formula:
        case Comparison():
            canonical = _in_lowest_terms(canonical_comparison(formula))
            return all_of([canonical, *map(with_canonical_literals, lost_needs(formula, canonical))])
        case Compatible(dims) | Clashing(dims):
            distinct = type(formula)(tuple(dict.fromkeys(dims)))
            return with_canonical_literals(expand(distinct)) if len(distinct.dims) <= PAIRWISE_UP_TO else distinct
        case AllOf(parts):
            return all_of(map(with_canonical_literals, parts))
        case AnyOf(parts):
            return any_of(map(with_canonical_literals, parts))


@remembered(8192)
def _in_lowest_terms(literal: Formula) -> Formula:
    """Return a comparison over one symbol solved if the result is short, an equation factored if possible."""
    if not isinstance(literal, Comparison):
        return literal
    difference = term(literal.left) - term(literal.right)
    symbols = difference.symbols()
    if len(symbols) == 1 and not _is_plain(literal):
        return _solved(literal, *symbols)
    if literal.operator in ("==", "!=") and not difference.is_linear:
        return _factored(literal, difference)
    return literal


def _is_plain(literal: Comparison) -> bool:
    sides = (literal.left, literal.right)
    return any(isinstance(d, int) for d in sides) and any(not isinstance(d, int) and d.is_Symbol for d in sides)


def _solved(literal: Comparison, symbol: Symbol) -> Formula:
    try:
        solution = set_formula(symbol, solution_set(literal))
    except NotPeriodicError:
        return literal
    flat = all(isinstance(part, Comparison) for part in literals(solution))
    return solution if flat and len(literals(solution)) <= _SOLUTIONS_UP_TO else literal


def _factored(literal: Comparison, difference: Term) -> Formula:
    """Return ``x*y == 0`` as ``x == 0 or y == 0``, for polynomials in symbols."""
    if difference.has_operations or not _is_small(difference) or _is_irreducible(difference):
        return literal
    factors = _shared_factors(difference) or _factors(difference)
    parts = [canonical_comparison(Comparison(literal.operator, factor, 0)) for factor in factors]
    if parts == [literal]:
        return literal
    return (any_of if literal.operator == "==" else all_of)(map(_in_lowest_terms, parts))


def _shared_factors(value: Term) -> list[Dim]:
    """Return the symbols that all monomials have, and the rest of the polynomial; none if no symbol is shared.

    This finds most factors that there are, and avoids loading sympy, which is slow.
    """
    shared = common_factors(value)
    if not shared:
        return []
    atoms = tuple(shared.elements())
    rest = Term({monomial_quotient(m, atoms) or (): c for m, c in value.coefficients.items()})
    return [*shared, *([] if rest.is_constant else [rest])]


def _factors(value: Term) -> list[Dim]:
    """Return the different factors of a polynomial, as sympy finds them."""
    import sympy

    from symbcast.core.algebra.sympy_conversion import from_sympy, to_sympy

    charge(_FACTORING)
    _, factors = sympy.factor_list(to_sympy(value))
    return [from_sympy(factor) for factor, _ in factors]


def _is_irreducible(value: Term) -> bool:
    """Return whether a polynomial clearly has no factors, as is usual.

    If one symbol occurs only to the power of 1 and in a single monomial, any factorisation has one factor without it,
    which divides that symbol's coefficient and all other monomials: a product of symbols that all monomials have.

    >>> from symbcast.core.algebra.symbols import symbol
    >>> K, M, N = map(symbol, "KMN")
    >>> _is_irreducible(term(M * N - 2 * K)), _is_irreducible(term(M * N - M * K))
    (True, False)
    """
    monomials = list(value.coefficients)
    common = set(monomials[0]).intersection(*monomials[1:])
    atoms = [atom for monomial in monomials for atom in monomial]
    return not common and len(monomials) > 1 and any(atoms.count(atom) == 1 for atom in atoms)


def _is_small(value: Term) -> bool:
    """Return whether factoring is quick: sympy's cost grows fast with the number of symbols and the degree."""
    return len(value.symbols()) <= 6 and len(value.coefficients) <= 24 and all(len(m) <= 6 for m in value.coefficients)


def clauses_of(formula: Formula) -> list[Formula]:
    """Return conjuncts equivalent to the formula, none with a conjunction directly under its disjunction.

    If distributing would create too many conjuncts, the conjunct is left unchanged.
    """
    result: dict[Formula, None] = {}
    for clause in clauses(with_canonical_literals(formula)):
        for distributed in _distributed(clause):
            if distributed != TRUE:
                result[distributed] = None
    return list(result)


def _distributed(clause: Formula) -> list[Formula]:
    if not isinstance(clause, AnyOf):
        return [clause]
    choices = [_conjuncts(part) for part in clause.parts]
    # Distributing multiplies: 64 choices of two would be 2**64 clauses.
    if prod(map(len, choices)) > MOST_CLAUSES:
        return [clause]
    return [any_of(choice) for choice in product(*choices)]


def _conjuncts(formula: Formula) -> list[Formula]:
    if isinstance(formula, AllOf):
        return [c for part in formula.parts for c in _distributed(part)]
    return [formula]
