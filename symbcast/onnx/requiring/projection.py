"""What a condition says of the inputs' sizes alone, where it speaks of sizes too that data decide.

A size that data decide is eliminated: a clause that needs it equal to, at least, or at most something is put together
with each clause that it clashes with (Fourier and Motzkin's elimination, over clauses: resolution). What comes out is
implied by the condition, so it is necessary. It is sufficient too, for some data, where the size has the coefficient
1 or -1 wherever it stands, as it nearly always has.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from symbcast.deciding.normal import flattened, put_in, symbols_in
from symbcast.definedness import lower_bound
from symbcast.formulas import (
    FALSE,
    AllOf,
    AnyOf,
    Clashing,
    Comparison,
    Compatible,
    Formula,
    any_of,
    at_most,
    different,
    equal,
    expand,
    literals,
    negate,
)
from symbcast.reading import term
from symbcast.terms import Term, as_term, atom_key

if TYPE_CHECKING:
    import sympy

    from symbcast.dims import Dim

Cases: TypeAlias = "Mapping[sympy.Symbol, tuple[Formula, Dim, Dim]]"

MAX_CLAUSES = 200
MAX_LITERALS = 8
"""How many clauses there may be, and how long: what goes beyond is let go, and not part of the condition."""


class Projection(NamedTuple):
    """The clauses over the inputs' sizes alone, and the clauses that speak of others too."""

    inputs: tuple[Formula, ...]
    data: tuple[Formula, ...]


def project(
    asked: Sequence[Formula], own: frozenset[sympy.Symbol], assumed: Iterable[Formula], cases: Cases
) -> Projection:
    """Return what clauses say of the sizes other than those in ``own``, which data decide.

    ``assumed`` is known of these; ``cases`` gives those that are one size or another, by a formula.
    """
    data = [c for c in asked if not own.isdisjoint(symbols_in(c))]
    if not data:
        return Projection(tuple(asked), ())
    assumed = [f for f in assumed if not own.isdisjoint(symbols_in(f))]
    inputs = [c for c in asked if own.isdisjoint(symbols_in(c))]
    spread = _by_cases(data, cases)
    speaking = [c for c in (*spread, *_spelled_out(assumed)) if not own.isdisjoint(symbols_in(c))]
    found = [c for c in spread if own.isdisjoint(symbols_in(c))]
    for size in sorted({s for c in speaking for s in symbols_in(c) if s in own}, key=lambda s: str(s.name)):
        without = [c for c in speaking if size not in symbols_in(c)]
        made = _eliminated([c for c in speaking if size in symbols_in(c)], size)
        found += [c for c in made if own.isdisjoint(symbols_in(c))]
        speaking = [*without, *(c for c in made if not own.isdisjoint(symbols_in(c)))]
    return Projection((*inputs, *dict.fromkeys(found)), tuple(data))


def _by_cases(asked: Iterable[Formula], cases: Cases) -> list[Formula]:
    """Return clauses with the sizes that go by cases replaced, under each case, by what they are there."""
    found = list(_spelled_out(asked))
    for size in reversed(list(cases)):  # a later one may be made of earlier ones
        chosen, yes, no = cases[size]
        spread = [c for c in found if size not in symbols_in(c)]
        for clause in found:
            if size in symbols_in(clause) and len(spread) < MAX_CLAUSES:
                spread += _spelled_out([any_of([negate(chosen), put_in(clause, {size: yes})])])
                spread += _spelled_out([any_of([chosen, put_in(clause, {size: no})])])
        found = [c for c in spread if len(literals(c)) <= MAX_LITERALS]
    return found


def _spelled_out(formulas: Iterable[Formula]) -> Iterator[Formula]:
    """Yield the clauses of formulas: disjunctions of comparisons."""
    for formula in formulas:
        for parts in _conjuncts(formula):
            yield from flattened([any_of(parts)])


def _conjuncts(formula: Formula) -> list[tuple[Formula, ...]]:
    match formula:
        case Comparison():
            return [(formula,)]
        case Compatible() | Clashing():
            return _conjuncts(expand(formula))
        case AllOf(parts):
            return [c for p in parts for c in _conjuncts(p)]
        case AnyOf(parts):
            found: list[tuple[Formula, ...]] = [()]
            for part in parts:
                found = [(*a, *b) for a in found for b in _conjuncts(part)][:MAX_CLAUSES]
            return found


Kind: TypeAlias = Literal["==", "!=", "<=", ">="]


class _Literal(NamedTuple):
    """A comparison of the size with something that does not speak of it, and the rest of its clause."""

    kind: Kind
    other: Dim
    rest: tuple[Formula, ...]


def _eliminated(speaking: Sequence[Formula], size: sympy.Symbol) -> list[Formula]:
    """Return what clauses imply without a size: whatever two of them say together, again and again."""
    waiting = list(speaking)
    kept: dict[frozenset[Formula], list[_Literal]] = {frozenset([at_most(0, size)]): [_Literal(">=", 0, ())]}
    while waiting and len(kept) < MAX_CLAUSES:
        clause = _canonical(waiting.pop(0))
        if clause is None or len(clause) > MAX_LITERALS or any(known <= clause for known in kept):
            continue
        for known in [k for k in kept if clause < k]:
            del kept[known]
        kept[clause] = list(_readings(clause, size))
        waiting += [f for other in list(kept.values()) for f in _resolvents(kept[clause], other)]
        del waiting[MAX_CLAUSES:]
    found = [any_of(sorted(clause, key=str)) for clause in kept]
    return [c for c in found if size not in symbols_in(c)]


def _canonical(clause: Formula) -> frozenset[Formula] | None:
    """Return the comparisons of a clause, each in one form, without what never holds; None for what always does."""
    found: set[Formula] = set()
    for part in literals(clause):
        if not isinstance(part, Comparison):
            found.add(part)
            continue
        difference = term(part.right) - term(part.left)
        if part.operator in ("==", "!=") and _leads_with_minus(difference):
            difference = -difference
        low = lower_bound(difference) if part.operator in ("<=", "<") else None
        if low is not None and low >= (part.operator == "<"):
            return None
        decided = flattened([Comparison(part.operator, 0, difference.dim())])
        if not decided:
            return None
        found.update(decided)
    return frozenset(f for f in found if f != FALSE)


def _leads_with_minus(value: Term) -> bool:
    first = min((m for m in value.coefficients if m), key=lambda m: tuple(map(atom_key, m)), default=None)
    return first is not None and value.coefficients[first] < 0


def _resolvents(left: Sequence[_Literal], right: Sequence[_Literal]) -> Iterator[Formula]:
    for a in left:
        for b in right:
            together = _together(a, b)
            if together is not None:
                yield from flattened([any_of((together, *a.rest, *b.rest))])


def _readings(clause: frozenset[Formula], size: sympy.Symbol) -> Iterator[_Literal]:
    """Yield the comparisons of a clause that say what the size is, or what it is at least or at most."""
    parts = sorted(clause, key=str)
    for n, part in enumerate(parts):
        if isinstance(part, Comparison) and size in symbols_in(part):
            yield from _read(part, size, (*parts[:n], *parts[n + 1 :]))


def _read(found: Comparison, size: sympy.Symbol, rest: tuple[Formula, ...]) -> Iterator[_Literal]:
    difference = term(found.left) - term(found.right)
    coefficient = difference.coefficients.get((size,), 0)
    other = (difference - as_term(size).scaled(coefficient)).scaled(-coefficient)
    if abs(coefficient) != 1 or size in other.symbols():
        return
    match found.operator:
        case "==" | "!=" as kind:
            yield _Literal(kind, other.dim(), rest)
        case "<=":
            yield _Literal("<=" if coefficient == 1 else ">=", other.dim(), rest)
        case "<":
            yield _Literal("<=" if coefficient == 1 else ">=", _plus(other.dim(), -coefficient), rest)


def _plus(dim: Dim, step: int) -> Dim:
    return (term(dim) + term(step)).dim()


def _together(a: _Literal, b: _Literal) -> Formula | None:
    """Return what two comparisons of one size with others say of the others; None where that is nothing."""
    for x, y in ((a, b), (b, a)):
        match x.kind, y.kind:
            case "==", "==":
                return equal(x.other, y.other)
            case "==", "!=":
                return different(x.other, y.other)
            case "==", "<=":
                return at_most(x.other, y.other)
            case ("==" | "<=") as kind, ">=":
                del kind
                return at_most(y.other, x.other)
            case _:
                continue
    return None
