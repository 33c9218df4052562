"""Terms that share what is in them: what is worked out of them costs what they are as graphs, and is right."""

from __future__ import annotations

import itertools
import sys

import pytest

from symbcast.core.algebra.arithmetic import add, floor_divide, join, modulo, multiply, replace_symbols
from symbcast.core.algebra.formulas import all_of, any_of, at_most, definedness, different, equal
from symbcast.core.algebra.symbols import symbol
from symbcast.core.solver.evaluation import holds_at, predicate, size_at, value_function

N, M = symbol("N"), symbol("M")
DEEP = 24


def nested(depth, by=7, base=N):
    """Return a term in which each level holds the one below twice: as a tree it has 2**depth leaves and more."""
    found = base
    for _ in range(depth):
        found = add(floor_divide(multiply(found, 5), by), modulo(add(found, 1), 3))
    return found


def worked_out(depth, size, by=7):
    for _ in range(depth):
        size = size * 5 // by + (size + 1) % 3
    return size


def calls(action):
    """Return what an action returns, and how many functions it called."""
    count = 0

    def counting(frame, event, arg):
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(counting)
    try:
        found = action()
    finally:
        sys.setprofile(None)
    return found, count


@pytest.mark.parametrize("size", [0, 1, 12345])
def test_deep_terms_are_evaluated_and_compiled(size):
    dim = nested(DEEP)
    assert dim.size > 1 << DEEP
    for value in (lambda: size_at(dim, {N: size}), lambda: value_function(dim, (N,))(size)):
        found, count = calls(value)
        assert found == worked_out(DEEP, size)
        assert count < 20_000


def joined(depth):
    """Return a term in which each level joins what the one below has twice."""
    found = N
    for _ in range(depth):
        found = join((found, multiply(found, M)))
    return found


@pytest.mark.parametrize("sizes", [(0, 0), (1, 5), (4, 1), (2, 3), (3, 0)])
def test_deep_joins_are_compiled_with_what_they_share(sizes):
    dim, at = joined(DEEP), dict(zip((N, M), sizes, strict=True))
    expected = holds_at(at_most(0, dim), at)
    found, count = calls(lambda: predicate(at_most(0, dim), (N, M))(*sizes))
    assert found == expected == (sizes in {(0, 0), (4, 1)})
    assert count < 50_000


def test_what_deep_terms_need_is_found_once():
    needs, count = calls(lambda: definedness(nested(DEEP, by=add(M, 0))))
    assert needs == (different(M, 0),)
    assert count < 200_000


def test_deep_terms_with_other_symbols():
    found, count = calls(lambda: replace_symbols(nested(DEEP), {N: M}))
    assert found is nested(DEEP, base=M)
    assert count < 100_000


@pytest.mark.parametrize("by", [4, M])
@pytest.mark.parametrize("joined", [False, True])
def test_a_compiled_formula_holds_where_it_does_evaluated(by, joined):
    """What may have no value, as a quotient by 0 or a join of sizes that clash, stays behind its guard."""
    shared = nested(5, by)
    other = join((shared, M)) if joined else add(shared, M)
    formula = any_of([all_of([at_most(2, M), equal(modulo(other, 3), 0)]), at_most(shared, add(other, -2))])
    compiled = predicate(formula, (N, M))
    for n, m in itertools.product(range(12), range(5)):
        assert compiled(n, m) == holds_at(formula, {N: n, M: m}), (n, m)
