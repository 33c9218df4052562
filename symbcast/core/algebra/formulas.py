"""Formulas over dimensions: rules emit them, conditions consist of them.

A formula is immutable. Its leaves compare dimensions; it does not know how it is decided or shown.

**A term without a value.** ``N//M`` has no value where M is 0, and a join has none at sizes that do not broadcast. A
leaf of a formula (a comparison, `Compatible`, `Clashing`) holds exactly where all its terms have values and it is true
of these. So every formula is true or false at all sizes: definedness is a conjunct of each leaf, `needs` says which.
`negate` is the exact complement: ``not N//M == 2`` is ``M == 0 or N//M != 2``, and a formula and its negation never
hold or fail together. Everything that decides, simplifies, evaluates or writes formulas keeps this law. Two functions
say something else, and their names say so: `opposite` turns a comparison around, which is its negation only where its
terms have values; `where_possible` is where a formula holds or some term in it has no value.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator
from functools import lru_cache
from itertools import combinations
from operator import eq, le, lt, ne
from typing import Any, Literal, TypeAlias, overload

from symbcast.core.algebra.arithmetic import join_members, without_joins_with_one
from symbcast.core.algebra.term_arithmetic import joins_with_one
from symbcast.core.algebra.terms import Dim, Operation, Term, term

Operator: TypeAlias = Literal["==", "!=", "<=", "<"]

COMPARED: dict[Operator, Callable[[Any, Any], Any]] = {"==": eq, "!=": ne, "<=": le, "<": lt}
_NEGATED: dict[Operator, Operator] = {"==": "!=", "!=": "=="}


class Comparison:
    """``left operator right``; ``>=`` and ``>`` are written with the sides exchanged."""

    __slots__ = ("left", "operator", "right")
    __match_args__ = ("operator", "left", "right")

    def __init__(self, operator: Operator, left: Dim, right: Dim) -> None:
        self.operator: Operator = operator
        self.left = left
        self.right = right

    def __eq__(self, other: object) -> bool:
        return (
            type(other) is Comparison
            and self.operator == other.operator
            and self.left == other.left
            and self.right == other.right
        )

    def __hash__(self) -> int:
        return hash((self.operator, self.left, self.right))

    def __repr__(self) -> str:
        return f"Comparison({self.operator!r}, {self.left}, {self.right})"


class _OfDims:
    """A formula about several dimensions at once."""

    __slots__ = ("_hash", "dims")
    __match_args__ = ("dims",)

    def __init__(self, dims: tuple[Dim, ...]) -> None:
        self.dims = dims
        self._hash: int | None = None

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.dims == other.dims

    def __hash__(self) -> int:
        # Cached: there may be a thousand dimensions, and formulas are keys of many tables.
        if self._hash is None:
            self._hash = hash((type(self), self.dims))
        return self._hash

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.dims,)  # hashes of strings differ between processes

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.dims})"


class Compatible(_OfDims):
    """The join of ``dims`` is defined: those other than 1 are all equal."""

    __slots__ = ()


class Clashing(_OfDims):
    """The join of ``dims`` is undefined: two of them differ and neither is 1. The negation of `Compatible`."""

    __slots__ = ()


class _OfParts:
    """A formula composed of formulas."""

    __slots__ = ("parts",)
    __match_args__ = ("parts",)

    def __init__(self, parts: tuple[Formula, ...]) -> None:
        self.parts = parts

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.parts == other.parts

    def __hash__(self) -> int:
        return hash((type(self), self.parts))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.parts})"


class AllOf(_OfParts):
    """Every part holds; true if there are no parts."""

    __slots__ = ()


class AnyOf(_OfParts):
    """Some part holds; false if there are no parts."""

    __slots__ = ()


Leaf: TypeAlias = Comparison | Compatible | Clashing
Formula: TypeAlias = Comparison | Compatible | Clashing | AllOf | AnyOf

# The classes of formulas, to distinguish a formula from input that can be read as one.
FORMULA_KINDS = (Comparison, Compatible, Clashing, AllOf, AnyOf)

TRUE = AllOf(())
FALSE = AnyOf(())


def equal(left: Dim, right: Dim) -> Comparison:
    """Return ``left == right``."""
    return Comparison("==", left, right)


def different(left: Dim, right: Dim) -> Comparison:
    """Return ``left != right``."""
    return Comparison("!=", left, right)


def at_most(left: Dim, right: Dim) -> Comparison:
    """Return ``left <= right``."""
    return Comparison("<=", left, right)


def one_or_equal(data: Dim, target: Dim) -> AnyOf:
    """Return ``data == 1 or data == target``: the requirement of one-directional broadcasting on an axis."""
    return AnyOf((equal(data, 1), equal(data, target)))


def all_of(parts: Iterable[Formula]) -> Formula:
    """Return the conjunction, flattened, without repeats and with ``true`` and ``false`` simplified away."""
    formulas = tuple(parts)
    if len(formulas) == 1 and type(formulas[0]) is not AllOf:
        return formulas[0]
    members: dict[Formula, None] = {}
    for part in formulas:
        for member in part.parts if isinstance(part, AllOf) else (part,):
            if member == FALSE:
                return FALSE
            members[member] = None
    return next(iter(members)) if len(members) == 1 else AllOf(tuple(members))


def any_of(parts: Iterable[Formula]) -> Formula:
    """Return the disjunction, flattened, without repeats and with ``true`` and ``false`` simplified away."""
    members: dict[Formula, None] = {}
    for part in parts:
        for member in part.parts if isinstance(part, AnyOf) else (part,):
            if member == TRUE:
                return TRUE
            members[member] = None
    return next(iter(members)) if len(members) == 1 else AnyOf(tuple(members))


def negate(formula: Formula, known: Container[Formula] = ()) -> Formula:
    """Return the formula that holds exactly where this one does not: also where a term has no value.

    With ``known``, only where these formulas hold, such as that a divisor is not 0.

    >>> from symbcast.core.algebra.symbols import symbol
    >>> N, M = symbol("N"), symbol("M")
    >>> negate(at_most(3, N))
    Comparison('<', N, 3)
    >>> from symbcast.core.algebra.arithmetic import floor_divide
    >>> negate(equal(floor_divide(N, M), 2))
    AnyOf((Comparison('==', M, 0), Comparison('!=', N//M, 2)))
    """
    return _negated(formula, frozenset(), known)


def _negated(formula: Formula, ahead: frozenset[Formula], known: Container[Formula]) -> Formula:
    """Return the negation where the formulas ``ahead`` of it hold."""
    match formula:
        case AllOf(parts):
            return any_of(_negated(part, ahead, known) for part in parts)
        case AnyOf(parts):
            if len(parts) < 2 or is_total(formula):
                return all_of(_negated(part, ahead, known) for part in parts)
            negations: list[Formula] = []
            for part in parts:  # those before it fail too: where M != 0, no part needs that again
                negations.append(_negated(part, ahead, known))
                ahead = ahead.union(clauses(negations[-1]))
            return all_of(negations)
    lost = [opposite(need) for need in needs(formula) if need not in ahead and need not in known]
    return any_of((*lost, opposite(formula))) if lost else opposite(formula)


@overload
def opposite(formula: Leaf) -> Leaf: ...
@overload
def opposite(formula: Formula) -> Formula: ...
def opposite(formula: Formula) -> Formula:
    """Return the negation where all terms have values; elsewhere, a formula and its opposite may both fail.

    To be used only where something else makes sure of the values; `negate` needs nothing else.

    >>> opposite(at_most(3, 4))
    Comparison('<', 4, 3)
    """
    match formula:
        case Comparison(operator, left, right):
            if operator in _NEGATED:
                return Comparison(_NEGATED[operator], left, right)
            return Comparison("<" if operator == "<=" else "<=", right, left)
        case Compatible(dims):
            return Clashing(dims)
        case Clashing(dims):
            return Compatible(dims)
        case AllOf(parts):
            return any_of(map(opposite, parts))
        case AnyOf(parts):
            return all_of(map(opposite, parts))


def where_possible(formula: Formula, known: Container[Formula] = ()) -> Formula:
    """Return the formula that holds where this one does, or could if its terms without values had some.

    >>> from symbcast.core.algebra.arithmetic import floor_divide
    >>> from symbcast.core.algebra.symbols import symbol
    >>> where_possible(equal(floor_divide(symbol("N"), symbol("M")), 2))
    AnyOf((Comparison('==', M, 0), Comparison('==', N//M, 2)))
    """
    if is_total(formula):
        return formula
    match formula:
        case AllOf(parts):
            return all_of(where_possible(part, known) for part in parts)
        case AnyOf(parts):
            return any_of(where_possible(part, known) for part in parts)
    return any_of((*(opposite(need) for need in needs(formula) if need not in known), formula))


def is_total(formula: Formula) -> bool:
    """Return whether all terms of a formula have values at all sizes."""
    match formula:
        case Comparison(_, left, right):
            return _has_value(left) and _has_value(right)
        case Compatible(dims) | Clashing(dims):
            return all(map(_has_value, dims))
        case AllOf(parts) | AnyOf(parts):
            return all(map(is_total, parts))


def _has_value(dim: Dim) -> bool:
    return isinstance(dim, int) or dim.is_Symbol or dim.is_total


def needs(leaf: Leaf) -> list[Leaf]:
    """Return what the terms of a leaf need to have values: no divisor is 0, joins are defined.

    Those of inner terms come first: where these hold, the terms of the next ones have values.
    """
    return [] if is_total(leaf) else needs_of(dims_of(leaf))


def needs_of(dims: Iterable[Dim]) -> list[Leaf]:
    """Return the same of dimensions."""
    seen: set[Operation] = set()
    return [need for dim in dims if not isinstance(dim, int) for need in operation_needs(dim, seen)]


def factors_of(divisor: Term) -> Iterable[Term]:
    """Return terms that are all other than 0 exactly where a divisor is: the factors of a product, each once."""
    if len(divisor.coefficients) != 1 or divisor.is_constant:
        return (divisor,)
    (monomial,) = divisor.coefficients
    return dict.fromkeys(monomial)


def operation_needs(value: Term, seen: set[Operation]) -> Iterator[Leaf]:
    """Yield what the operations in a term need to have values, each once; ``seen`` holds those already handled."""
    if value.is_total:
        return
    for operation in value.operations():
        if operation in seen:
            continue
        seen.add(operation)
        for arg in operation.args:
            yield from operation_needs(arg, seen)
        if operation.kind in ("//", "%"):
            yield from (different(f.dim(), 0) for f in factors_of(operation.args[1]) if not f.is_at_least(1))
        if operation.kind == "join":
            members = tuple(arg.dim() for arg in operation.args if not (arg.is_constant and arg.constant == 1))
            if len(members) > 1:
                yield Compatible(members)
            yield from (at_most(0, arg.dim()) for arg in operation.args if not arg.is_at_least(0))


def lost_needs(formula: Formula, changed: Formula, change: Callable[[Dim], Dim] | None = None) -> list[Formula]:
    """Return what the terms of a leaf need to have values that a changed form of it neither states nor needs itself.

    Rewriting may drop a term: ``N//M - N//M < 1`` is ``M != 0``, not true. If ``change`` was applied to the dimensions,
    it is applied to what they need too.
    """
    if changed == FALSE or is_total(formula) or isinstance(formula, (AllOf, AnyOf)):
        return []
    kept = clauses(changed)
    beside = {need for part in kept if not isinstance(part, (AllOf, AnyOf)) for need in needs(part)}
    joins = [set(part.dims) for part in kept if isinstance(part, Compatible)]

    def is_kept(need: Formula) -> bool:
        is_joined = isinstance(need, Compatible) and any(join.issuperset(need.dims) for join in joins)
        return is_joined or need in beside or need in kept or (need == formula and change is None)

    needed = needs(formula) if change is None else [with_dims(need, change) for need in needs(formula)]
    return [need for need in needed if not is_kept(need)]


def expand(formula: Compatible | Clashing) -> Formula:
    """Return an n-ary compatibility (or its opposite) spelled out pair by pair."""
    pairs = list(combinations(formula.dims, 2))
    # A pair may hold although a term in it has no value: where b is 1, or in another pair.
    lost = needs(formula)
    if isinstance(formula, Compatible):
        return all_of([*lost, *(any_of((equal(a, b), equal(a, 1), equal(b, 1))) for a, b in pairs)])
    return all_of([*lost, any_of(all_of((different(a, b), different(a, 1), different(b, 1))) for a, b in pairs)])


def with_dims(formula: Formula, change: Callable[[Dim], Dim]) -> Formula:
    """Return a formula with each dimension changed, its parts flattened again."""
    match formula:
        case Comparison(operator, left, right):
            return Comparison(operator, change(left), change(right))
        case Compatible(dims) | Clashing(dims):
            return type(formula)(tuple(map(change, dims)))
        case AllOf(parts):
            return all_of(with_dims(p, change) for p in parts)
        case AnyOf(parts):
            return any_of(with_dims(p, change) for p in parts)


def with_leaves(formula: Formula, change: Callable[[Leaf], Formula]) -> Formula:
    """Return a formula with each comparison and each join changed, its parts flattened again."""
    match formula:
        case AllOf(parts):
            return all_of(with_leaves(p, change) for p in parts)
        case AnyOf(parts):
            return any_of(with_leaves(p, change) for p in parts)
    return change(formula)


def clauses(formula: Formula) -> tuple[Formula, ...]:
    """Return the conjuncts of a formula."""
    return formula.parts if isinstance(formula, AllOf) else (formula,)


def literals(formula: Formula) -> tuple[Formula, ...]:
    """Return the disjuncts of a clause."""
    return formula.parts if isinstance(formula, AnyOf) else (formula,)


def literal_count(formula: Formula) -> int:
    """Return the number of comparisons and joins in a formula."""
    return sum(map(literal_count, formula.parts)) if isinstance(formula, (AllOf, AnyOf)) else 1


def dims_of(formula: Formula) -> Iterator[Dim]:
    """Yield every dimension that a formula mentions, in order, including repeats."""
    match formula:
        case Comparison(_, left, right):
            yield left
            yield right
        case Compatible(dims) | Clashing(dims):
            yield from dims
        case AllOf(parts) | AnyOf(parts):
            for part in parts:
                yield from dims_of(part)


def operations_in(formula: Formula) -> Iterator[Operation]:
    """Yield the operations at every depth in a formula, the inner ones first, including repeats."""
    return (o for dim in dims_of(formula) if not isinstance(dim, int) for o in dim.all_operations())


def holds(formula: Formula) -> bool:
    """Return whether a formula over integers only holds (tier F0: no solver, no algebra)."""
    match formula:
        case Comparison(operator, left, right):
            return bool(COMPARED[operator](left, right))
        case Compatible(dims):
            return len({d for d in dims if d != 1}) <= 1
        case Clashing(dims):
            return len({d for d in dims if d != 1}) > 1
        case AllOf(parts):
            return all(map(holds, parts))
        case AnyOf(parts):
            return any(map(holds, parts))


# Definedness: a leaf with a term that has no value is false. Here that is written out, for readers who evaluate terms
# before they compare them.


@lru_cache(maxsize=4096)
def definedness(dim: Dim) -> tuple[Formula, ...]:
    """Return the conditions for a dimension to be a size: it is not negative, and all its parts have values.

    >>> from symbcast.core.algebra.arithmetic import floor_divide
    >>> from symbcast.core.algebra.symbols import symbol
    >>> N = symbol("N")
    >>> definedness(N + 1), definedness(N - 1)
    ((), (Comparison('<=', 0, N - 1),))
    """
    value = term(dim)
    needed = dict.fromkeys(operation_needs(value, set()))
    if not value.is_at_least(0):
        needed[at_most(0, dim)] = None
    return tuple(needed)


def with_values(formula: Formula) -> Formula:
    """Return the same formula with what each leaf needs written before it: no divisor is 0, joins are defined.

    Read from left to right, as programs read it, nothing in it is evaluated without having a value. An alternative
    needs nothing that an earlier one says, nor does a conjunct: in ``M == 0 or N//M != 2`` the second is only read
    where M is not 0.

    >>> from symbcast.core.algebra.arithmetic import floor_divide
    >>> from symbcast.core.algebra.symbols import symbol
    >>> N = symbol("N")
    >>> with_values(at_most(1, floor_divide(7, N)))
    AllOf((Comparison('!=', N, 0), Comparison('<=', 1, 7//N)))
    """
    return formula if is_total(formula) else _guarded(formula, frozenset())


def _guarded(formula: Formula, known: frozenset[Formula]) -> Formula:
    """Return a formula with what its leaves need, apart from what is ``known`` wherever it is read."""
    if is_total(formula):
        return formula
    guarded: list[Formula] = []
    match formula:
        case AllOf(parts):
            for part in parts:
                guarded.append(_guarded(part, known))
                known = known.union(clauses(guarded[-1]))
            return all_of(guarded)
        case AnyOf(parts):
            for part in parts:
                guarded.append(_guarded(part, known))
                if not isinstance(part, (AllOf, AnyOf)):
                    known = known.union((opposite(part),))
            return any_of(guarded)
    written = apart_from_one(formula)
    if written is not formula:
        return _guarded(written, known)
    return all_of([*(need for need in needs(formula) if need not in known), formula])


def apart_from_one(formula: Leaf) -> Formula:
    """Return a leaf without joins with 1 of terms that may be negative: each such term, which must not be negative.

    >>> from symbcast.core.algebra.arithmetic import defined_join, subtract
    >>> from symbcast.core.algebra.symbols import symbol
    >>> N, M = symbol("N"), symbol("M")
    >>> apart_from_one(at_most(N, defined_join((1, subtract(M, 3)))))
    AllOf((Comparison('<=', 0, M - 3), Comparison('<=', N, M - 3)))
    """
    terms = [term(dim) for dim in dims_of(formula) if not isinstance(dim, int)]
    sizes = dict.fromkeys(size for value in terms for size in joins_with_one(value).values())
    if not sizes:
        return formula
    needed = (at_most(0, without_joins_with_one(size).dim()) for size in sizes)
    return all_of([*needed, with_dims(formula, lambda dim: without_joins_with_one(term(dim)).dim())])


def each_member(comparison: Comparison) -> Formula:
    """Return the equality of a join and one of its members as one for each other member: it is 1 or the same."""
    sides = ((comparison.left, comparison.right), (comparison.right, comparison.left))
    for joined, size in sides if comparison.operator == "==" else ():
        members = join_members(joined)
        if len(members) > 1 and size in members:
            # Where one member has no value, another that is 1 would hide it.
            inner: list[Formula] = [need for member in members for need in definedness(member)]
            return all_of([*inner, *(one_or_equal(m, size) for m in members if m != size)])
    return comparison
