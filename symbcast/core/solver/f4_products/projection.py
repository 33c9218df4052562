"""Sizes that data decide, eliminated from a condition: what it requires of the sizes of inputs."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from heapq import heappop, heappush
from itertools import islice, product
from typing import Literal, TypeAlias

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
    at_most,
    equal,
    expand,
    literals,
    negate,
)
from symbcast.core.algebra.terms import Dim, Operation, Symbol, Term, constant, symbols_of, term
from symbcast.core.effort import cached_uncounted, charge
from symbcast.core.solver.evaluation import in_normal_form, normal_conjuncts, replace_in_formula, symbols_in
from symbcast.core.structs import NamedTuple


def with_sizes_outside_operations(comparison: Comparison, sizes: Container[Symbol]) -> Formula:
    """Return an equivalent formula in which the given sizes occur in fewer operations.

    >>> from symbcast.core.algebra.symbols import symbol
    >>> from symbcast.core.text import parse_dim
    >>> with_sizes_outside_operations(at_most(7, parse_dim("min(N, e)")), {symbol("e")})
    AllOf((Comparison('<=', 0, N - 7), Comparison('<=', 0, e - 7)))
    >>> with_sizes_outside_operations(at_most(parse_dim("e//2"), parse_dim("N")), {symbol("e")})
    Comparison('<=', 0, 2*N + 1 - e)
    """
    room = term(comparison.right) - term(comparison.left)
    operation = _outermost(room, sizes)
    if operation is None:
        return comparison
    if comparison.operator == "==":
        return all_of([_opened(room, operation, sizes), _opened(-room, operation, sizes)])
    if comparison.operator == "!=":
        less, more = room - constant(1), -room - constant(1)
        return any_of([_opened(less, operation, sizes), _opened(more, operation, sizes)])
    return _opened(room - constant(comparison.operator == "<"), operation, sizes)


def _outermost(room: Term, sizes: Container[Symbol]) -> Operation | None:
    """Return an operation that contains one of the sizes, has a summand to itself, and can be opened."""
    for monomial, factor in room.coefficients.items():
        if len(monomial) == 1 and isinstance(monomial[0], Operation) and any(s in sizes for s in monomial[0].symbols()):
            operation = monomial[0]
            if operation.kind in ("min", "max") or (operation.kind == "//" and _is_whole(operation, factor)):
                return operation
    return None


def _is_whole(quotient: Operation, factor: int) -> bool:
    divisor = quotient.args[1]
    return abs(factor) == 1 and divisor.is_constant and divisor.constant > 0


def _opened(room: Term, operation: Operation, sizes: Container[Symbol]) -> Formula:
    """Return a formula stating that a term in which an operation is added or subtracted is at least 0."""
    factor = room.coefficients[operation,]
    rest = room - operation.scaled(factor)
    if operation.kind == "//":
        # n <= x//k where k*n <= x, and x//k <= n where x < k*(n + 1), because n is an integer.
        inside, by = operation.args[0], operation.args[1].constant
        bounded = rest.scaled(by) + (inside if factor > 0 else constant(by - 1) - inside)
        return with_sizes_outside_operations(at_most(0, bounded.dim()), sizes)
    each = (
        with_sizes_outside_operations(at_most(0, (rest + arg.scaled(factor)).dim()), sizes) for arg in operation.args
    )
    return all_of(each) if (operation.kind == "min") == (factor > 0) else any_of(each)


# The consequences for the inputs' sizes of a condition that also mentions data-dependent sizes.
#
# A data-dependent size is eliminated: each clause that fixes it or bounds it from one side is combined with each
# clause that it can conflict with (Fourier and Motzkin's elimination, over clauses: resolution). The results are
# implied by the condition, so they are necessary. They are also sufficient, for some data, if the size has the
# coefficient 1 or -1 everywhere, as it nearly always has.


Cases: TypeAlias = "Mapping[Symbol, tuple[Formula, Dim, Dim]]"

MAX_CLAUSES = 200
# Limits on the number and length of clauses: those beyond are dropped, and not part of the condition.
MAX_LITERALS = 8
# How many clauses are combined with others to eliminate one size: kept ones may give way to shorter ones for long.
MAX_RESOLVED = 2_000
# Units for a clause that is made from two, or compared with another one, as measured.
_CLAUSE = 5


class Projection(NamedTuple):
    """The clauses that mention only the inputs' sizes, and those that also mention data-dependent sizes.

    ``is_whole`` is False if a clause about sizes by cases was too long to keep; the sizes still decide it.
    """

    inputs: tuple[Formula, ...]
    data: tuple[Formula, ...]
    is_whole: bool = True


def project(
    required: Sequence[Formula], own: frozenset[Symbol], assumed: Iterable[Formula], cases: Cases
) -> Projection:
    """Return the consequences of clauses for the sizes not in ``own``, which are data-dependent.

    ``assumed`` holds the facts known about ``own``; ``cases`` gives, for some of them, a formula and the size in either
    case.
    """
    data = [c for c in required if not own.isdisjoint(symbols_in(c))]
    if not data:
        return Projection(tuple(required), ())
    # A longer clause would be dropped below, after it cost its normal form.
    assumed = [f for f in assumed if not own.isdisjoint(symbols_in(f)) and literals_of(f) <= MAX_LITERALS]
    inputs = [c for c in required if own.isdisjoint(symbols_in(c))]
    spread, is_whole = _by_cases(data, cases, own)
    speaking = _Clauses((*spread, *_spelled_out(assumed, own)))
    consequences = [c for c in spread if own.isdisjoint(symbols_in(c))]
    for size in sorted(own.intersection(speaking.sizes), key=lambda s: str(s.name)):
        for resolvent in _eliminated(speaking.take(size), size):
            if own.isdisjoint(symbols_in(resolvent)):
                consequences.append(resolvent)
            else:
                speaking.add(resolvent)
    if is_whole:
        others = own - _by_sizes(cases, own)
        data = [c for c in data if not others.isdisjoint(symbols_in(c))]
    return Projection((*inputs, *dict.fromkeys(consequences)), tuple(data), is_whole)


def literals_of(formula: Formula) -> int:
    """Return the most literals of a clause of a formula, where that needs no normal form."""
    match formula:
        case AnyOf(parts):
            return sum(map(literals_of, parts))
        case AllOf(parts):
            return max(map(literals_of, parts), default=0)
        case _:
            return 1


def _by_sizes(cases: Cases, own: frozenset[Symbol]) -> set[Symbol]:
    """Return the sizes by cases that the inputs' sizes fully determine."""
    determined: set[Symbol] = set()
    for size, (chosen, yes, no) in cases.items():
        mentioned = {*symbols_in(chosen), *symbols_of((yes, no))}
        if own.isdisjoint(mentioned - determined):
            determined.add(size)
    return determined


def _by_cases(required: Iterable[Formula], cases: Cases, own: frozenset[Symbol]) -> tuple[list[Formula], bool]:
    """Return clauses in which sizes by cases are replaced by their value in each case.

    Also return whether all clauses were kept.
    """
    clauses, is_whole = _Clauses(_spelled_out(required, own)), True
    for size in reversed(list(cases)):  # a later one may depend on earlier ones
        chosen, yes, no = cases[size]
        for clause in clauses.take(size):
            if len(clauses) >= MAX_CLAUSES:
                is_whole = False
                continue
            for alternative, dim in ((negate(chosen), yes), (chosen, no)):
                for replaced in _spelled_out([any_of([alternative, replace_in_formula(clause, {size: dim})])], own):
                    if len(literals(replaced)) <= MAX_LITERALS:
                        clauses.add(replaced)
                    else:
                        is_whole = False
    short = [c for c in clauses if not cases or len(literals(c)) <= MAX_LITERALS]
    return short, is_whole and len(short) == len(clauses)


class _Clauses:
    """Distinct clauses in order of arrival, indexed by the sizes that they mention."""

    def __init__(self, clauses: Iterable[Formula]) -> None:
        self._clauses: dict[Formula, None] = {}
        self._by_size: dict[Symbol, dict[Formula, None]] = {}
        for clause in clauses:
            self.add(clause)

    def __iter__(self) -> Iterator[Formula]:
        return iter(self._clauses)

    def __len__(self) -> int:
        return len(self._clauses)

    @property
    def sizes(self) -> Iterable[Symbol]:
        """The sizes that clauses mention or once mentioned."""
        return self._by_size.keys()

    def add(self, clause: Formula) -> None:
        """Add a clause."""
        self._clauses[clause] = None
        for size in symbols_in(clause):
            self._by_size.setdefault(size, {})[clause] = None

    def take(self, size: Symbol) -> list[Formula]:
        """Remove and return the clauses that mention a size."""
        taken = list(self._by_size.pop(size, ()))
        for clause in taken:
            del self._clauses[clause]
            for other in symbols_in(clause):
                if other != size:
                    del self._by_size[other][clause]
        return taken


def _spelled_out(formulas: Iterable[Formula], own: frozenset[Symbol]) -> Iterator[Formula]:
    """Yield the clauses of formulas: disjunctions of comparisons, with the sizes in ``own`` moved out of operations."""
    for formula in formulas:
        for parts in _conjuncts(formula, own):
            yield from normal_conjuncts([any_of(parts)])


def _conjuncts(formula: Formula, own: frozenset[Symbol]) -> list[tuple[Formula, ...]]:
    match formula:
        case Comparison():
            plainer = with_sizes_outside_operations(formula, own)
            return [(formula,)] if plainer == formula else _conjuncts(plainer, own)
        case Compatible() | Clashing():
            return _conjuncts(expand(formula), own)
        case AllOf(parts):
            return [c for p in parts for c in _conjuncts(p, own)]
        case AnyOf(parts):
            products: list[tuple[Formula, ...]] = [()]
            for part in parts:
                each = _conjuncts(part, own)
                products = [(*a, *b) for a, b in islice(product(products, each), MAX_CLAUSES)]
                charge(_CLAUSE * len(products))
            return products


Clause: TypeAlias = "frozenset[Formula]"
"""Comparisons, each in one form; at least one of them holds."""
Kind: TypeAlias = Literal["==", "<=", ">="]


class _Literal(NamedTuple):
    """A comparison of the size with a term that does not mention it, and the rest of its clause."""

    kind: Kind
    other: Dim
    rest: Clause


class _Waiting:
    """Distinct clauses to be processed, short ones first, because these are the strongest."""

    def __init__(self) -> None:
        self._heap: list[tuple[int, int, Clause]] = []
        self._seen: set[Clause] = set()

    def put(self, clause: Clause) -> None:
        if len(clause) <= MAX_LITERALS and clause not in self._seen:
            heappush(self._heap, (len(clause), len(self._seen), clause))
            self._seen.add(clause)

    def get(self) -> Clause | None:
        return heappop(self._heap)[-1] if self._heap else None


def _eliminated(speaking: Sequence[Formula], size: Symbol) -> list[Formula]:
    """Return the consequences of clauses with a size eliminated: resolvents of pairs, computed repeatedly."""
    waiting = _Waiting()
    for clause in map(_canonical, (_without_unequal(c, size) for c in speaking)):
        if clause is not None:
            waiting.put(clause)
    minimal: dict[Clause, list[_Literal]] = {frozenset([at_most(0, size)]): [_Literal(">=", 0, frozenset())]}
    for _ in range(MAX_RESOLVED):
        clause = waiting.get()
        if clause is None or len(minimal) >= MAX_CLAUSES:
            break
        charge(_CLAUSE * len(minimal))
        # A clause with all alternatives of another one says less than it.
        if any(known <= clause for known in minimal):
            continue
        for known in [k for k in minimal if clause < k]:
            del minimal[known]
        minimal[clause] = list(_readings(clause, size))
        for other in minimal.values():
            for resolvent in _resolvents(minimal[clause], other):
                waiting.put(resolvent)
    formulas = [any_of(sorted(clause, key=str)) for clause in minimal]
    return [c for c in formulas if size not in symbols_in(c)]


def _without_unequal(clause: Formula, size: Symbol) -> Formula:
    """Return a clause in which ``!=`` of a size is replaced by less than or greater than."""
    return any_of(
        any_of([Comparison("<", f.left, f.right), Comparison("<", f.right, f.left)])
        if isinstance(f, Comparison) and f.operator == "!=" and size in symbols_in(f)
        else f
        for f in literals(clause)
    )


def _canonical(clause: Formula) -> Clause | None:
    """Return the comparisons of a clause that can hold; None if the clause always holds."""
    parts = {_one_form(part) for part in literals(clause)}
    return None if TRUE in parts else frozenset(parts - {FALSE})


@cached_uncounted(4096)
def _one_form(part: Formula) -> Formula:
    """Return a comparison of 0 with a term, identical for all comparisons equivalent over the integers."""
    if not isinstance(part, Comparison):
        return part
    difference = term(part.right) - term(part.left)
    if part.operator in ("==", "!="):
        return _decided(part.operator, -difference if difference.leading < 0 else difference)
    room = difference if part.operator == "<=" else difference + constant(-1)
    return TRUE if room.is_at_least(0) else _decided("<=", room)


def _decided(operator: Operator, difference: Term) -> Formula:
    comparison = Comparison(operator, 0, difference.dim())
    decided = in_normal_form(comparison)
    # By the signs of its factors, a comparison may be several clauses: a literal stays one comparison.
    return comparison if isinstance(decided, AllOf) and decided != TRUE else decided


def _resolvents(left: Sequence[_Literal], right: Sequence[_Literal]) -> Iterator[Clause]:
    for a in left:
        for b in right:
            together = _together(a.kind, a.other, b.kind, b.other)
            if together == FALSE:
                yield a.rest | b.rest
            elif together != TRUE:
                yield a.rest | b.rest | {together}


def _readings(clause: Clause, size: Symbol) -> Iterator[_Literal]:
    """Yield the comparisons of a clause that fix the size or bound it from below or above."""
    for part in clause:
        reading = _read(part, size) if isinstance(part, Comparison) and size in symbols_in(part) else None
        if reading is not None:
            yield _Literal(*reading, clause - {part})


@lru_cache(maxsize=4096)
def _read(comparison: Comparison, size: Symbol) -> tuple[Kind, Dim] | None:
    difference = term(comparison.right)
    coefficient = difference.coefficients.get((size,), 0)
    other = (difference - size.scaled(coefficient)).scaled(-coefficient)
    if abs(coefficient) != 1 or size in other.symbols():
        return None
    if comparison.operator == "==":
        return "==", other.dim()
    return ">=" if coefficient == 1 else "<=", other.dim()


@cached_uncounted(8192)
def _together(first: Kind, a: Dim, second: Kind, b: Dim) -> Formula:
    """Return the relation between two dimensions that follows if each of them equals or bounds the same size."""
    if first == second:
        return _one_form(equal(a, b)) if first == "==" else TRUE
    is_upper = second == ">=" or first == "<="
    return _one_form(at_most(b, a) if is_upper else at_most(a, b))
