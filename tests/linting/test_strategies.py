"""Sizes and arrays drawn for a condition satisfy it, or just fail it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import symbcast as sb

CONDITIONS = [
    "N == M or M == 1",
    "N % 4 == 0 and M == 2*N",
    "N >= 20",
    "N == 2*K + 1 and K < M",
    "compatible(N, M, K)",
    "N*M == 12",
    "N // 3 == M and N % 3 != 0",
]


@pytest.mark.parametrize("text", CONDITIONS)
def test_sizes(text):
    guard = sb.Condition(text).guard()

    @given(sb.strategies.sizes(text), sb.strategies.failing_sizes(text))
    def check(sizes, failing):
        assert guard(**sizes) and not guard(**failing)

    check()


@given(st.data())
def test_exactly_one_clause_fails_if_that_is_possible(data):
    clauses = ["N == M", "K >= 3", "N % 2 == 0"]
    sizes = data.draw(sb.strategies.failing_sizes(" and ".join(clauses)))
    held = [sb.Condition(c).guard() for c in clauses]
    assert [g(**{n: sizes[n] for n in g.parameters}) for g in held].count(False) == 1


@given(sb.strategies.arrays("2*N, 3", "M", condition="N == M", dtype="int64", min_size=1))
def test_arrays(arrays):
    x, y = arrays
    assert x.dtype == "int64" and x.shape == (2 * len(y), 3) and len(y) >= 1


@pytest.mark.parametrize("text", ["N >= 20", "N == M"])
def test_sizes_vary(text):
    seen = set()

    @given(sb.strategies.sizes(text))
    def draw(sizes):
        seen.add(tuple(sizes.items()))

    draw()
    assert len(seen) >= 5


def test_conditions_without_sizes_are_refused():
    with pytest.raises(sb.AssumptionError):
        sb.strategies.sizes("N < M and M < N")
    with pytest.raises(sb.AssumptionError):
        sb.strategies.failing_sizes("N >= 0")
