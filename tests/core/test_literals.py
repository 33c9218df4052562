"""A literal in a question, and a name that is assumed to be that number, give one answer."""

import itertools

import drawn_literals
import pytest

import symbcast as sb


@pytest.mark.parametrize("kind", sorted(drawn_literals.KINDS))
def test_a_literal_is_a_name_that_is_known(kind):
    assert drawn_literals.examined(kind, 120, 0) == []


@pytest.mark.parametrize(
    "text", ["broadcast(1, M - 3) == M - 3", "broadcast(M - 3, M - 3) == M - 3", "1 <= broadcast(M - 3) + 1"]
)
def test_a_size_that_is_joined_with_1_must_not_be_negative(text):
    condition = sb.Condition(text)
    assert condition.equivalent("M >= 3")
    assert [condition.guard()(M=size) for size in (0, 2, 3, 4)] == [False, False, True, True]


def test_a_join_with_1_keeps_what_its_name_required():
    result = sb.broadcast("broadcast(N, M - 3) + 5", "K", assume="N == 1")
    literal = sb.broadcast("broadcast(1, M - 3) + 5", "K")
    assert str(literal.condition) == str(result.condition) == "M >= 3 and (M + 2 == K or K == 1)"
    assert str(literal.shape) == str(result.shape) == "(M + 2,)"


@pytest.mark.parametrize("text", ["min(K, M, 1)*K", "(N + K)*min(M, K, 1)", "2*M*K*min(K, M, 1)", "min(2*K, 1)*K"])
def test_a_least_of_several_sizes_and_1_stays_in_a_product(text):
    """``K*min(K, M, 1)`` is 0 where M is 0, and K elsewhere."""
    condition = sb.Condition(f"{text} == A")
    guard = condition.guard()
    for sizes in itertools.product(range(4), repeat=len(guard.parameters)):
        point = dict(zip(guard.parameters, sizes, strict=True))
        assert guard(point) is eval(f"{text} == A", {"min": min}, point), point


def test_a_join_with_1_inside_a_maximum_must_not_be_negative():
    condition = sb.solve("[M]", "[N, max(broadcast(3 - K, 1), 1)]", out="[M, M]").condition
    assert [condition.guard()(M=0, N=0, K=k) for k in range(6)] == [False, False, True, True, False, False]


def test_a_join_with_a_number_of_a_term_that_may_be_negative_is_decided():
    """Its cases once led from the join of the term alone to that join again, without an end."""
    result = sb.broadcast("2//(2*K//2), max(K, 2*broadcast(0, N))", "2*broadcast(3 - K, 2), N")
    guard = result.guard()
    for k, n in itertools.product(range(1, 5), range(4)):
        joined = 2 if 3 - k in (1, 2) else None
        left = None if n not in (0, 1) or joined is None else (2 // k, max(k, 0))
        right = None if joined is None else (2 * joined, n)
        fits = left is not None and all(a == b or 1 in (a, b) for a, b in zip(left, right, strict=True))
        assert guard(K=k, N=n) is fits, (k, n)
    assert result.expands


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("M*N - 1 >= 0", "M >= 1 and N >= 1"),
        ("3*M*N > 2", "M >= 1 and N >= 1"),
        ("2*M*N < 2", "M == 0 or N == 0"),
        ("4 - M**2*N >= 4", "M == 0 or N == 0"),
        ("2*M*N <= 2", "2*M*N <= 2"),
    ],
)
def test_a_product_beside_0_is_said_of_its_factors(text, short):
    condition = sb.Condition(text)
    assert str(condition.simplified()) == short
    guard, other = condition.guard(), sb.Condition(short).guard()
    assert all(guard(M=m, N=n) is other(M=m, N=n) for m, n in itertools.product(range(4), repeat=2))
