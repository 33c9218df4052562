"""Long conditions written in fewer characters.

What conjuncts share is written once, and idle extremes are left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations, product

from symbcast.core.algebra.arithmetic import floor_divide, join
from symbcast.core.algebra.formulas import (
    TRUE,
    AllOf,
    AnyOf,
    Comparison,
    Compatible,
    Formula,
    all_of,
    any_of,
    at_most,
    clauses,
    dims_of,
    equal,
    literals,
    negate,
    with_dims,
)
from symbcast.core.algebra.term_arithmetic import Substitution
from symbcast.core.algebra.terms import Dim, Operation, Symbol, Term
from symbcast.core.effort import SHORTENED, EffortSpentError, budget_share
from symbcast.core.solver.decision import AssumptionSet, Decision
from symbcast.core.solver.evaluation import with_joins
from symbcast.core.solver.size_sets import ALL, SizeSet
from symbcast.core.structs import NamedTuple
from symbcast.core.text.notation import formula_text

# Conjuncts in fewer characters: what alternatives or conjuncts share is written once.
#
# The forms of the solver are conjunctions of alternatives, each with the operations that require it. If they are too
# long to be read, ``(A or X) and (A or Y)`` becomes ``A or X and Y``, where pairs that are broadcast become one join,
# and ``X and C or Y and C`` becomes ``(X or Y) and C``. Values from the least size on become a bound.


# Among more conjuncts, none that share alternatives are searched for.
_MOST = 40


def factored(conjuncts: Iterable[Formula], sets: Mapping[Symbol, SizeSet]) -> list[Formula]:
    """Return conjuncts that together are equivalent where each symbol is in its set, in no more characters.

    >>> from symbcast.core.text import parse_formula
    >>> texts = "T == 0 or W == 1 or W == 6", "T == 0 or R == 1 or R == 6", "R == W or R == 1 or W == 1"
    >>> print(*map(formula_text, factored(map(parse_formula, texts), {})), sep="; ")
    T == 0 or compatible(W, 6, R); R == W or R == 1 or W == 1
    >>> text = "A == 2 and (T == B or T == 1) or H == 1 and C == 1 or W == 1 and C == 1"
    >>> print(*map(formula_text, factored([parse_formula(text)], {})))
    (A == 2 and (T == B or T == 1)) or ((H == 1 or W == 1) and C == 1)
    >>> texts = "x == 1 or x == b", "y == 1 or y == b", "H <= 3 or 28 <= H and H <= 31"
    >>> print(*map(formula_text, factored(map(parse_formula, texts), {})), sep="; ")
    broadcast(b, x, y) == b; H <= 3 or H//4 == 7
    """
    shortest = list(_with_joins([_without_common(_in_bounds(c, sets)) for c in conjuncts]))
    while len(shortest) <= _MOST:
        best = max(_mergers(shortest), key=lambda m: m.saved, default=None)
        if best is None or best.saved <= 0:
            break
        shortest = [best.merged if c is best.first else c for c in shortest if c is not best.second]
    return shortest


def _with_joins(conjuncts: Sequence[Formula]) -> Iterator[Formula]:
    """Yield conjuncts in which sizes that are each 1 or the same other one are one join."""
    onto: dict[Dim, list[Dim]] = {}
    of = {c: pair for c in conjuncts if (pair := _stretched(c))}
    for size, target in of.values():
        onto.setdefault(target, []).append(size)
    for conjunct in conjuncts:
        pair = of.get(conjunct)
        sizes = onto[pair[1]] if pair else []
        if pair is None or len(sizes) < 2:
            yield conjunct
        elif pair[0] == sizes[0]:
            yield equal(join([pair[1], *sizes]), pair[1])


def _stretched(formula: Formula) -> tuple[Dim, Dim] | None:
    """Return a size and its value where it is not 1, if a formula says no more than this."""
    match formula:
        case AnyOf((Comparison("==", Symbol() as size, 1), Comparison("==", left, right))) | AnyOf(
            (Comparison("==", left, right), Comparison("==", Symbol() as size, 1))
        ):
            target = right if left == size else left if right == size else None
            return (size, target) if isinstance(target, Symbol) else None
    return None


def _in_bounds(formula: Formula, sets: Mapping[Symbol, SizeSet]) -> Formula:
    """Return a formula in which a bound replaces the first sizes of a symbol's set, if they are alternatives."""
    if isinstance(formula, AllOf):
        return _as_quotients(all_of(_in_bounds(part, sets) for part in formula.parts))
    if not isinstance(formula, AnyOf):
        return formula
    values: dict[Dim, list[int]] = {}
    for part in formula.parts:
        match part:
            case Comparison("==", size, int(value)):
                values.setdefault(size, []).append(value)
    bounds = {
        size: at_most(size, max(alike))
        for size, alike in values.items()
        if len(alike) > 1 and _first_values(size, len(alike), sets) == sorted(alike)
    }
    parts = (bounds.get(p.left, p) if isinstance(p, Comparison) and p.operator == "==" else p for p in formula.parts)
    return any_of(dict.fromkeys(_in_bounds(part, sets) for part in parts))


def _as_quotients(formula: Formula) -> Formula:
    """Return a conjunction in which ``28 <= H and H <= 31`` is ``H//4 == 7``."""
    parts = clauses(formula)
    bounds = [c for c in parts if isinstance(c, Comparison) and c.operator == "<="]
    replaced: dict[Formula, Formula] = {}
    for lower, upper in product(bounds, repeat=2):
        match lower, upper:
            case Comparison(left=int(low), right=size), Comparison(left=other, right=int(high)) if size == other:
                width = high - low + 1
                if width > 1 and low % width == 0:
                    replaced |= {lower: equal(floor_divide(size, width), low // width), upper: TRUE}
    return all_of(replaced.get(c, c) for c in parts)


def _first_values(size: Dim, count: int, sets: Mapping[Symbol, SizeSet]) -> list[int]:
    """Return the least values that a size may have; none if it may be negative or have no value."""
    if isinstance(size, Symbol):
        return sets.get(size, ALL).first(count)
    is_size = isinstance(size, Term) and size.is_total and size.is_at_least(0)
    return list(range(count)) if is_size else []


def _without_common(formula: Formula) -> Formula:
    """Return alternatives in which the conjunct that most of them share is written once."""
    if not isinstance(formula, AnyOf):
        return formula
    shared = Counter(c for part in formula.parts if isinstance(part, AllOf) for c in part.parts)
    common, times = max(shared.items(), key=lambda item: item[1], default=(formula, 1))
    if times < 2:
        return formula
    alike = [part for part in formula.parts if common in clauses(part)]
    rests = any_of(all_of(c for c in clauses(part) if c != common) for part in alike)
    return any_of([*(p for p in formula.parts if p not in alike), all_of([_without_common(rests), common])])


class _Merger(NamedTuple):
    """Two conjuncts, and one that is equivalent to both."""

    first: Formula
    second: Formula
    merged: Formula

    @property
    def saved(self) -> int:
        """How many characters fewer one conjunct has than both."""
        return len(formula_text(all_of([self.first, self.second]))) - len(formula_text(self.merged))


def _mergers(conjuncts: Sequence[Formula]) -> Iterator[_Merger]:
    """Yield two conjuncts that share alternatives, and one in which these are written once."""
    plain = {frozenset(pair) for c in conjuncts if (pair := _pair(c))}
    for first, second in combinations(conjuncts, 2):
        shared = [part for part in literals(first) if part in literals(second)]
        for common in [shared, *([part] for part in shared)] if shared else ():
            rests = [any_of(p for p in literals(c) if p not in common) for c in (first, second)]
            yield _Merger(first, second, any_of([*common, _joined(rests, plain) or all_of(rests)]))


def _joined(parts: Sequence[Formula], plain: set[frozenset[Dim]]) -> Formula | None:
    """Return parts as one join; None if they and the ``plain`` pairs are not all pairs of its members."""
    pairs = [_pair(part) for part in parts]
    members = dict.fromkeys(size for pair in pairs for size in pair)
    known = {frozenset(pair) for pair in pairs} | plain
    is_join = () not in pairs and all(frozenset(pair) in known for pair in combinations(members, 2))
    return Compatible(tuple(members)) if is_join else None


def _pair(formula: Formula) -> tuple[Dim, ...]:
    """Return the two sizes that a formula requires to be broadcast; none if it requires something else."""
    match with_joins(formula):
        case Compatible((left, right)):
            return left, right
        case AnyOf((Comparison("==", size, 1), Comparison("==", other, int(value)))) if size == other:
            return size, value
        case AnyOf((Comparison("==", size, int(value)), Comparison("==", other, 1))) if size == other:
            return size, value
    return ()


def without_extremes(conjuncts: Sequence[Formula], assumptions: AssumptionSet) -> Sequence[Formula]:
    """Replace ``min`` and ``max`` of a size and a number by the size where that is proved equivalent.

    >>> from symbcast.core.solver.decision import AssumptionSet
    >>> from symbcast.core.text import parse_formula
    >>> formulas = [parse_formula(text) for text in ("max(H//16, 1)*max(W//16, 1) == 196", "H == W")]
    >>> without_extremes(formulas, AssumptionSet.of_names(tuple(formulas[0].left.symbols())))[0]
    Comparison('==', (H//16)*(W//16), 196)
    """
    dims = dict.fromkeys(d for c in conjuncts for d in dims_of(c) if not isinstance(d, int))
    extremes = dict(pair for d in dims for pair in _extremes(d))
    if not extremes:
        return conjuncts
    terms = Substitution(extremes, of_symbols=False)
    shorter = [with_dims(c, terms.dim) for c in conjuncts]
    try:
        with budget_share(SHORTENED):
            is_same = _implies(conjuncts, shorter, assumptions) and _implies(shorter, conjuncts, assumptions)
    except EffortSpentError:
        is_same = False
    return shorter if is_same else conjuncts


def _extremes(value: Term) -> Iterator[tuple[Operation, Dim]]:
    """Yield each min and max of a term and a number, at any depth, with the term; inner ones are replaced in it."""
    for operation in value.all_operations():
        others = [arg for arg in operation.args if not arg.is_constant]
        if operation.kind in ("min", "max") and len(others) == 1:
            inner = Substitution(dict(_extremes(others[0])), of_symbols=False)
            yield operation, inner.term(others[0]).dim()


def _implies(known: Sequence[Formula], implied: Sequence[Formula], assumptions: AssumptionSet) -> bool:
    other = all_of(c for c in implied if c not in known)
    return Decision(assumptions, [*known, negate(other)]).satisfiable is False
