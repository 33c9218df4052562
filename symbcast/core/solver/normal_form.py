"""Formulas with known sizes substituted and trivial parts removed, before they are decided."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations, pairwise
from typing import Any

from symbcast.core.algebra.arithmetic import join_members, joins_with_one, symbol_replacer, value_of
from symbcast.core.algebra.formulas import (
    FALSE,
    TRUE,
    AllOf,
    AnyOf,
    Clashing,
    Comparison,
    Compatible,
    Formula,
    Operator,
    all_of,
    any_of,
    apart_from_one,
    at_most,
    clauses,
    dims_of,
    equal,
    holds,
    is_total,
    may_be_negative,
    needs,
    negate,
    one_or_equal,
    with_dims,
)
from symbcast.core.algebra.products import equal_products
from symbcast.core.algebra.symbols import UserSymbol, symbol
from symbcast.core.algebra.terms import Dim, Symbol, Term, term
from symbcast.core.solver.f1_names.relations import Joinable, OneWay, SameSize, nodes_of


def symbols_in(formula: Formula) -> dict[Symbol, None]:
    """Return the symbols of a formula, in order of appearance."""
    symbols: dict[Symbol, None] = {}
    if type(formula) is Comparison:
        dims: Iterable[Dim] = (formula.left, formula.right)
    else:
        dims = formula.dims if type(formula) is Compatible else dims_of(formula)
    for dim in dims:
        if type(dim) is Symbol:
            symbols[dim] = None
        elif not isinstance(dim, int):
            symbols.update(dim.symbols())
    return symbols


def replace_in_formula(formula: Formula, values: Mapping[Any, Dim]) -> Formula:
    """Return the formula with some symbols replaced."""
    return with_dims(formula, symbol_replacer(values))


def standard_names(symbols: Iterable[Symbol]) -> dict[Symbol, Symbol]:
    """Return a standard symbol for each symbol by position, so that formulas that differ only in names become equal.

    A symbol with more than a name, such as a least size, is not replaced.
    """
    return {s: symbol(f"s{n:03}") if is_any_size(s) else s for n, s in enumerate(symbols)}


def names_in_order(symbols: Sequence[Symbol]) -> dict[Symbol, Symbol]:
    """Return names in alphabetical order for symbols; none if theirs are.

    Terms are sorted by names. Under these, choices among equally good answers depend on the order of symbols alone.
    Those with a least size and the like are replaced too: only for questions whose domains say all that is known.
    """
    if all(a.name < b.name for a, b in pairwise(symbols)):
        return {}
    digits = max(3, len(str(len(symbols))))
    return {s: symbol(f"s{n:0{digits}}") for n, s in enumerate(symbols)}


def is_any_size(s: Symbol) -> bool:
    """Return whether nothing is known about a symbol but its name."""
    return not isinstance(s, UserSymbol) and s.lower == 0 and s.upper is None and s.parity is None


def in_normal_form(formula: Formula) -> Formula:
    """Return the formula without duplicates, units and decided parts; the same object if nothing changes."""
    match formula:
        case Comparison(operator, left, right):
            return _normal_comparison(operator, left, right)
        case Compatible() | Clashing() if not is_total(formula) and (apart := apart_from_one(formula)) is not formula:
            return in_normal_form(apart)
        case Compatible(dims):
            return _normal_join(dims)
        case Clashing(dims):
            return _normal_clash(formula, [value_of(d) for d in dims])
        case AllOf(parts):
            return all_of(map(in_normal_form, parts))
        case AnyOf((Comparison("==", data, 1), Comparison("==", same, target))) if data == same and not (
            joins_with_one(term(data)) or joins_with_one(term(target))
        ):
            return _normal_onto(data, target)
        case AnyOf(parts):
            return any_of(map(in_normal_form, parts))


def _normal_comparison(operator: Operator, left: Dim, right: Dim) -> Formula:
    a, b = left, right = value_of(left), value_of(right)
    if type(a) is Symbol and (type(b) is int or (type(b) is Symbol and a is not b)):
        return Comparison(operator, a, b)
    if isinstance(a, int) and isinstance(b, int):
        return TRUE if holds(Comparison(operator, a, b)) else FALSE
    if _is_undefined(a) or _is_undefined(b):
        return FALSE
    comparison = Comparison(operator, left, right)
    if not is_total(comparison) and (apart := apart_from_one(comparison)) is not comparison:
        return in_normal_form(apart)
    if a == b:
        return _defined(Comparison(operator, a, b)) if operator in ("==", "<=") else FALSE
    if operator in ("==", "!=") and (rest := _without_common_terms(a, b)) is not None:
        return _normal_comparison(operator, *rest)
    if operator in ("<=", "<") and (factors := _factors_beside_0(operator, a, b)) is not None:
        return factors
    products = equal_products(a, b) if operator in ("==", "!=") else None
    if products is not None:
        return in_normal_form(products if operator == "==" else negate(products))
    return comparison


def _factors_beside_0(operator: Operator, left: Dim, right: Dim) -> Formula | None:
    """Return whether a product of sizes is 0, or at least 1, as a formula about its factors; None for other bounds.

    So ``1 <= 3*M*N``, ``0 <= M*N - 1`` and ``0 < M*N`` are ``1 <= M and 1 <= N``.
    """
    is_above = isinstance(left, int)
    number, value = (left, right) if isinstance(left, int) else (right, left)
    if not isinstance(number, int) or isinstance(value, int) or not value.is_total:
        return None
    number -= value.constant
    products = [(m, c) for m, c in value.coefficients.items() if m]
    if len(products) != 1 or len(products[0][0]) < 2:
        return None
    ((monomial, times),) = products
    if any(atom.lower_bound is None or atom.lower_bound < 0 for atom in monomial):
        return None
    if operator == "<":
        number += 1 if is_above else -1
    if times < 0:
        is_above, number, times = not is_above, -number, -times
    factors = dict.fromkeys(monomial)
    if is_above:
        return all_of(at_most(1, factor) for factor in factors) if 1 <= number <= times else None
    return any_of(equal(factor, 0) for factor in factors) if 0 <= number < times else None


def _without_common_terms(left: Dim, right: Dim) -> tuple[Dim, Dim] | None:
    """Return two sums without the terms that both have and that always have a value; None if there are none."""
    if isinstance(left, int) or isinstance(right, int):
        return None
    a, b = left.coefficients, right.coefficients
    if len(a) < 2 or len(b) < 2:
        return None
    common = {m for m, n in a.items() if m and b.get(m) == n and all(atom.is_total for atom in m)}
    if not common:
        return None
    rest = (Term({m: n for m, n in each.items() if m not in common}).dim() for each in (a, b))
    return next(rest), next(rest)


def _is_undefined(dim: Dim) -> bool:
    """Return whether a dimension in normal form is undefined: it has no symbols and is not an integer."""
    return not isinstance(dim, int) and not dim.symbols()


def _defined(leaf: Comparison | Compatible | Clashing) -> Formula:
    """Return where all terms of a leaf have values: what is left of one that is true of all values."""
    return all_of(map(in_normal_form, needs(leaf)))


def _normal_clash(clash: Clashing, dims: Sequence[Dim]) -> Formula:
    if any(map(_is_undefined, dims)):
        return FALSE
    if is_total(clash):
        return negate(_normal_join(dims))
    members = tuple(dict.fromkeys(d for d in dims if d != 1))
    return Clashing(members) if len(members) > 1 else FALSE


def _normal_join(dims: Iterable[Dim]) -> Formula:
    members: dict[Dim, None] = {}
    number: int | None = None
    sizes: list[Formula] = []
    for member in (value_of(m) for dim in dims for m in _members(dim, sizes)):
        if _is_undefined(member):
            return FALSE
        if isinstance(member, int):
            if member == 1:
                continue
            if number is not None and member != number:
                return FALSE
            number = member
        else:
            members[member] = None
    if number is not None:
        return all_of([*sizes, *(_normal_onto(member, number) for member in members)])
    join = Compatible(tuple(members))
    return all_of([*sizes, join if len(members) > 1 else _defined(join)])


def _members(dim: Dim, sizes: list[Formula]) -> Sequence[Dim]:
    """Return the members of a join; add to ``sizes`` that those are not negative, which none of them says."""
    members = join_members(dim)
    if len(members) > 1:
        sizes += (at_most(0, m) for m in members if not isinstance(m, int) and may_be_negative(m))
    return members


def _normal_onto(data: Dim, target: Dim) -> Formula:
    data, target = value_of(data), value_of(target)
    if isinstance(data, int):
        return TRUE if data == 1 else in_normal_form(equal(target, data))
    if _is_undefined(data):
        return FALSE
    if data == target:
        return _defined(equal(data, target))
    return equal(data, 1) if target == 1 or _is_undefined(target) else one_or_equal(data, target)


def with_joins(clause: Formula) -> Formula:
    """Return a normalized clause; if it spells out the join of two sizes, in any order, it becomes a join."""
    normal = in_normal_form(clause)
    if not isinstance(normal, AnyOf) or len(normal.parts) != 3 or not is_total(normal):
        return normal  # where a term has no value, the alternatives may hold and the join does not
    sides = [(p.left, p.right) for p in normal.parts if isinstance(p, Comparison) and p.operator == "=="]
    ones = [a for a, b in sides if b == 1]
    pairs = [pair for pair in sides if pair[1] != 1]
    if len(ones) == 2 and len(pairs) == 1 and set(ones) == set(pairs[0]):
        return in_normal_form(Compatible(pairs[0]))
    return normal


def as_relation(formula: Formula) -> Joinable | OneWay | SameSize | None:
    """Return the relation of the graph that equals a formula between plain symbols, None for any other formula."""
    relation = as_relation_of_terms(formula)
    return relation if relation is not None and all(node.is_Symbol for node in nodes_of(relation)) else None


def as_relation_of_terms(formula: Formula) -> Joinable | OneWay | SameSize | None:
    """Return the relation that equals a formula, treating terms as opaque; None for any other formula."""
    match formula:
        case Compatible(dims):
            return None if any(isinstance(d, int) for d in dims) else Joinable(dims)
        case Comparison("==", left, right):
            return None if isinstance(left, int) or isinstance(right, int) else SameSize(left, right)
        case AnyOf((Comparison("==", data, 1), Comparison("==", same, target))) if data == same:
            return None if isinstance(data, int) or isinstance(target, int) else OneWay(data, target)
        case _:
            return None


def normal_conjuncts(formulas: Iterable[Formula]) -> list[Formula]:
    """Return the distinct conjuncts of some formulas in normal form, without `TRUE`."""
    distinct: dict[Formula, None] = {}
    for formula in formulas:
        for clause in clauses(in_normal_form(formula)):
            distinct[clause] = None
    return list(distinct)


def with_larger_joins(known: Sequence[Formula]) -> Iterator[Formula]:
    """Yield conjuncts in which joins of all pairs of some sizes are replaced by the equivalent join of all of them."""
    joins = {clause: join.dims for clause in known if isinstance(join := with_joins(clause), Compatible)}
    ahead = {frozenset(pair): None for dims in joins.values() for pair in combinations(dims, 2)}
    beside: dict[Dim, dict[Dim, None]] = {}
    for one, other in map(tuple, ahead):
        beside.setdefault(one, {})[other] = None
        beside.setdefault(other, {})[one] = None
    for clause in known:
        members = list(joins.get(clause, ()))
        if not members:
            yield clause
        elif any(frozenset(pair) in ahead for pair in combinations(members, 2)):
            common = dict.fromkeys(dim for dims in joins.values() for dim in dims)
            for dim in common:
                if dim not in members and all(dim in beside[member] for member in members):
                    members.append(dim)
            for pair in combinations(members, 2):
                ahead.pop(frozenset(pair), None)
            yield Compatible(tuple(members)) if len(members) > 2 else clause
