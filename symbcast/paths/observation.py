"""Observed answers: what real calls do at all small sizes, and the shortest condition that says it. Nothing is proved.

Where a proof does not reach, the function is called at all sizes up to a small one, in a child process. The condition
is a least cover of the points that work by conjunctions of literals (`symbcast.core.solver.simplification.two_level`),
and each axis of a result is the first form in the sizes that has the right value at all points. With enough literals,
any points have a condition. So it counts only if it has few literals, and if the condition of the smaller sizes alone
predicts what happens at the largest ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations, permutations, product
from typing import Any

from symbcast.answers.public.conditions import Condition
from symbcast.core.algebra import arithmetic
from symbcast.core.algebra.formulas import (
    FALSE,
    Comparison,
    Formula,
    all_of,
    any_of,
    at_most,
    dims_of,
    equal,
    literal_count,
    opposite,
)
from symbcast.core.algebra.symbols import Unknown
from symbcast.core.algebra.terms import Dim, Symbol
from symbcast.core.isolation import DiedError, ForkLimits, forked
from symbcast.core.programs.arguments import own_set
from symbcast.core.programs.conditions import condition_about
from symbcast.core.shapes import shape_of
from symbcast.core.solver.evaluation import holds_at, value_at
from symbcast.core.solver.simplification.two_level import LITERAL_COST, LiteralTable, cover
from symbcast.core.structs import NamedTuple
from symbcast.paths.conclusions import Conclusions
from symbcast.paths.exploration import Exploration, Observation, ObservedCall
from symbcast.paths.real_calls import CallsWithNumbers, NumbersBySymbol, RaisedError
from symbcast.paths.steps import UntracedError

# The largest size that is tried, for one name, two names, and so on: at most 256 points.
LARGEST = (12, 6, 5, 3, 2)
# How many literals a condition may have: more explain any points of one name, and of several.
MAX_LITERALS = (3, 6)
# How many kinds of data are tried for the forms of results.
KINDS = 7
# The limits of the child process.
LIMITS = ForkLimits(cpu_seconds=10, seconds=20)
# How a process ends that exceeds them, on Linux and macOS: SIGKILL and SIGXCPU.
_OF_LIMITS = (-9, -24)


class CalledPoint(NamedTuple):
    """What calls did at a point: it works if any data do; ``forms`` are the forms of its results.

    ``works`` is None if only the data of these calls, or the memory that they may have, made it fail.
    """

    works: bool | None
    error: str = ""
    forms: tuple[Any, ...] = ()


def observed(conclusions: Conclusions, calls: CallsWithNumbers) -> Exploration:
    """Return the exploration with what calls at all small sizes show, or with the reason why there are none."""
    scope, exploration = conclusions.scope, conclusions.exploration
    names = list(scope.names)
    is_known = conclusions.works == conclusions.formula  # only data are open
    if is_known or not exploration.is_steady or not 0 < len(names) <= len(LARGEST):
        return exploration
    largest = LARGEST[len(names) - 1]
    while (largest + 1 - scope.min_size) ** len(names) > calls.most_points:
        largest -= 1
    domains = [[n for n in range(scope.min_size, largest + 1) if n in own_set(s, scope.min_size)] for s in names]
    larger = [at for at in _larger(len(names)) if all(n in own_set(s, 0) for n, s in zip(at, names, strict=True))]
    points = [dict(zip(names, at, strict=True)) for at in (*product(*domains), *larger)]
    points = [p for p in points if all(holds_at(a.formula, p) for a in scope.assumptions) and calls.is_small(p)]
    if len(points) < 2:
        return exploration
    called, reason = _called(calls, points)
    if reason:
        return replace(exploration, unobserved=reason)
    at = [{scope.names[s]: n for s, n in p.items()} for p in points]
    # That it failed with all data that were tried proves nothing of other data.
    certain = [c.works or (c.works is False and calls.is_without_data(p)) for c, p in zip(called, points, strict=True)]
    single = [ObservedCall(named, c.error) for named, c, known in zip(at, called, certain, strict=True) if known]
    known = {tuple(call.sizes.items()): call for call in (*single, *exploration.observed)}
    exploration = replace(exploration, observed=tuple(known.values()))
    labels = [_proved(conclusions, p, c.works) for p, c in zip(points, called, strict=True)]
    decided = [(p, works) for p, works in zip(points, labels, strict=True) if works is not None]
    condition = _condition(decided, names, largest)
    if condition is None:
        return replace(exploration, unobserved="no short condition says at which of the sizes that were tried it works")
    results = [(p, form) for p, c in zip(points, called, strict=True) if c.works for form in c.forms]
    value = _value(results, names) if results else None
    small = sum(max(p.values()) <= largest for p, _ in decided)
    works = sum(is_working for _, is_working in decided)
    about = condition_about(Condition, condition, conclusions.names)
    seen = Observation(about, value, small, largest, len(decided) - small, works)
    return replace(exploration, observation=seen)


def _larger(count: int) -> Iterator[tuple[int, ...]]:
    """Yield some larger sizes, at which a condition and forms that only fit small ones fail: equal, and one unlike."""
    for size in (9, 14) if count > 1 else (14, 17, 20):
        yield (size,) * count
        for place in range(count if count > 1 else 0):
            for one, others in ((size, 3), (3, size)):
                yield tuple(one if n == place else others for n in range(count))


def _proved(conclusions: Conclusions, at: NumbersBySymbol, is_working: bool | None) -> bool | None:
    """Return what is proved about a point; otherwise what calls did there."""
    if holds_at(conclusions.works, at):
        return True
    return is_working if holds_at(conclusions.formula, at) else False


def _called(calls: CallsWithNumbers, points: Sequence[NumbersBySymbol]) -> tuple[list[CalledPoint], str]:
    """Return what calls did at each point, or the reason why they were not completed."""

    def work() -> list[CalledPoint]:
        called = [_call(calls, p) for p in points]
        # What an earlier call left behind must not decide.
        again = _call(calls, points[0])
        return called if again == called[0] else []

    if calls.has_data:
        try:
            called, refused = forked(work, LIMITS)
        except DiedError as error:
            if error.status in _OF_LIMITS:
                return [], f"calls at small sizes took more than {LIMITS.cpu_seconds} seconds of CPU time"
            return [], f"it was called at small sizes in a child process, which ended: {error}"
        if refused:
            return [], f"it is not called at all small sizes: {refused}"
    else:
        called = work()
    return called or [], "" if called else "the function behaves differently from call to call"


def _call(calls: CallsWithNumbers, at: NumbersBySymbol) -> CalledPoint:
    forms: dict[Any, None] = {}
    errors: list[BaseException] = []
    for number, real in enumerate(calls.results(at)):
        if forms and number >= KINDS:
            break
        if isinstance(real, RaisedError):
            errors.append(real.error)
        else:
            forms[form_of(real)] = None  # data may decide it
    if forms:
        return CalledPoint(True, "", tuple(forms))
    of_data = any(isinstance(e, UntracedError | MemoryError) or calls.is_of_data(e) for e in errors)
    return CalledPoint(None if of_data else False, f"{type(errors[0]).__name__}: {errors[0]}" if errors else "")


# The condition.


def _condition(points: Sequence[tuple[NumbersBySymbol, bool]], names: Sequence[Symbol], most: int) -> Formula | None:
    """Return a short condition for where points work; None if it is long, or fails to predict the largest sizes."""
    # The condition of the smaller sizes must be right at the larger ones, which it has not seen.
    smaller = [p for p in points if max(p[0].values()) < (most if len(names) > 1 else most * 3 // 4)]
    formulas: list[Formula] = []
    for stage in (_comparisons, _remainders, _sums):  # the simplest literals that suffice
        formulas += stage(names, most)
        whole, seen = _covered(points, formulas), _covered(smaller, formulas)
        if whole is None or seen is None or literal_count(whole) > MAX_LITERALS[len(names) > 1]:
            continue
        if all(holds_at(seen, at) == works == holds_at(whole, at) for at, works in points):
            return whole
    return None


def _covered(points: Sequence[tuple[NumbersBySymbol, bool]], formulas: Sequence[Formula]) -> Formula | None:
    """Return the shorter of two forms: conjunctions that cover what works, or clauses that exclude what fails.

    None if literals cannot tell a point that works from one that fails.
    """
    everywhere = (1 << len(points)) - 1
    both = [f for formula in formulas for f in (formula, opposite(formula))]
    masks = [sum(holds_at(f, at) << n for n, (at, _) in enumerate(points)) for f in both]
    table = LiteralTable(everywhere, masks, [LITERAL_COST + _cost(f) for f in both])
    works = sum(is_working << n for n, (_, is_working) in enumerate(points))
    for n in range(len(points)):
        alike = table.mask(literal for literal, mask in enumerate(masks) if mask >> n & 1)
        if alike & works and alike & ~works:
            return None
    cubes, clauses = cover(table, works) or [], cover(table, everywhere & ~works) or []
    # A remainder by 0 has no value: there neither a literal nor its opposite holds, and clauses exclude too much.
    is_exact = all(masks[n] ^ masks[n ^ 1] == everywhere for clause in clauses for n in clause)
    if is_exact and table.cost(clauses) < table.cost(cubes):
        return all_of(any_of(both[n ^ 1] for n in clause) for clause in clauses)
    return any_of(all_of(both[n] for n in cube) for cube in cubes) if cubes else FALSE


def _cost(formula: Formula) -> int:
    """Return what makes a literal less likely: large numbers, and operations."""
    dims = list(dims_of(formula))
    is_point = isinstance(formula, Comparison) and formula.operator in {"==", "!="} and isinstance(formula.right, int)
    return 3 * is_point + sum(abs(d) if isinstance(d, int) else 1 if isinstance(d, Symbol) else 20 for d in dims)


def _comparisons(names: Sequence[Symbol], most: int) -> Iterator[Formula]:
    for a, b in combinations(names, 2):
        yield from (equal(a, b), at_most(a, b), at_most(b, a))
    for a in names:
        yield from (at_most(k, a) for k in range(1, min(most, 5) + 1))
        yield from (equal(a, k) for k in range(min(most, 4) + 1))


def _remainders(names: Sequence[Symbol], most: int) -> Iterator[Formula]:
    for a in names:
        yield from (equal(arithmetic.modulo(a, k), 0) for k in range(2, min(most, 4) + 1))
    for a, b in permutations(names, 2):
        yield equal(a, arithmetic.add(b, 1))
        yield equal(a, arithmetic.multiply(2, b))
        yield equal(arithmetic.modulo(a, b), 0)


def _sums(names: Sequence[Symbol], _most: int) -> Iterator[Formula]:
    for a in names:
        for b, c in combinations([n for n in names if n is not a], 2):
            yield from (equal(a, arithmetic.add(b, c)), equal(a, arithmetic.multiply(b, c)))


# The result.


def form_of(real: Any) -> tuple[Any, ...]:
    """Return the structure of a result, with the shapes of its arrays, as plain data."""
    shape = getattr(real, "dims", getattr(real, "shape", None))
    if isinstance(shape, tuple) and all(isinstance(n, int) for n in shape):
        return "array", shape
    if isinstance(real, (list, tuple)):
        return "list" if isinstance(real, list) else "tuple", tuple(map(form_of, real))
    if isinstance(real, dict) and all(type(k) in (str, int) for k in real):
        return "dict", tuple(map(form_of, real.values())), tuple(real)
    if type(real) is int:
        return "int", real
    return "type", float if isinstance(real, (float, complex)) else f"a {type(real).__name__}" if real else str(real)


def _value(forms: Sequence[tuple[NumbersBySymbol, Any]], names: Sequence[Symbol]) -> Any:
    """Return the structure that all results have, with each axis as a form in the sizes; None if there is none."""
    kind = forms[0][1][0]
    if any(form[0] != kind for _, form in forms):
        return None
    if kind == "type":
        return forms[0][1][1] if len({form[1] for _, form in forms}) == 1 else None
    if kind == "int":
        dim = _axis([(at, form[1]) for at, form in forms], names)
        from symbcast.core.algebra.sympy_conversion import to_sympy  # it loads sympy

        return float if dim is None else to_sympy(dim)
    if len({len(form[1]) for _, form in forms}) > 1:
        return None if kind == "array" else f"a {kind}"
    columns = [[(at, form[1][n]) for at, form in forms] for n in range(len(forms[0][1][1]))]
    if kind == "array":
        return shape_of(tuple(_UNKNOWN if d is None else d for d in (_axis(c, names) for c in columns)))
    parts = [_value(column, names) for column in columns]
    if kind == "dict":
        return dict(zip(forms[0][1][2], parts, strict=True)) if len({form[2] for _, form in forms}) == 1 else "a dict"
    return parts if kind == "list" else tuple(parts)


# An axis whose size data decide, or no form has.
_UNKNOWN = Unknown()


def _axis(sizes: Sequence[tuple[NumbersBySymbol, int]], names: Sequence[Symbol]) -> Dim | None:
    """Return the first form that has the size of an axis at all points; None if none has."""
    return next((d for d in _dims(sizes[0][1], names) if all(value_at(d, at) == n for at, n in sizes)), None)


def _dims(constant: int, names: Sequence[Symbol]) -> Iterator[Dim]:
    """Yield forms in some sizes, the simplest first."""
    yield from names
    yield constant
    for a, b in combinations(names, 2):
        yield arithmetic.join((a, b))
    linear = list(_linear(names))
    yield from linear
    yield from (arithmetic.maximum((0, d)) for d in linear)
    for count in (2, 3):
        yield from (arithmetic.multiply(*group) for group in combinations(names, count))
    for a in names:
        yield arithmetic.multiply(a, a)
        triangle = arithmetic.multiply(a, arithmetic.add(a, -1))
        yield arithmetic.floor_divide(triangle, 2)
        yield arithmetic.floor_divide(arithmetic.multiply(a, arithmetic.add(a, 1)), 2)
        for by in (2, 3, 4):
            yield from (arithmetic.floor_divide(arithmetic.add(a, k), by) for k in range(-3, 4))
    for pair in combinations(names, 2):
        yield from (arithmetic.minimum(pair), arithmetic.maximum(pair))
    for a in names:
        for k in (1, 2, 3):
            yield from (arithmetic.minimum((a, k)), arithmetic.maximum((a, k)))


def _linear(names: Sequence[Symbol]) -> Iterator[Dim]:
    coefficients = sorted(product((0, 1, -1, 2), repeat=min(len(names), 3)), key=lambda c: sum(map(abs, c)))
    for chosen in coefficients:
        scaled = [arithmetic.multiply(c, s) for c, s in zip(chosen, names, strict=False) if c]
        if scaled:
            yield from (arithmetic.add(*scaled, k) for k in (0, 1, -1, 2, -2, 3, -3))
