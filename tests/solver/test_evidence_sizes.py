"""Evidence is small, and each of its numbers is a size: at most 2**63 - 1."""

import itertools

import pytest

import symbcast as sb

LARGEST = 2**63 - 1
S, U = sb.Verdict.SOMETIMES, sb.Verdict.UNKNOWN


def test_small_sizes_are_found_where_a_model_has_many_digits():
    env = sb.ShapeEnv()
    env.matmul("(L//3, B)", "(((2*(S//7)+3)//2)+2,)")
    env.tile("(L//3,)", "(1, B - L + 4)")
    env.expand("(1, (L//3)*(B - L + 4))", "(K, max(2, (D + P)//3) - 5)")
    env.conv("(D//2, T, K + B)", "(2, L + 1 - 3, 3)", strides=3, padding=2, groups=2)
    witness = env.witness()
    assert sum(witness.values()) == 37
    assert env.guard()(witness)


def test_the_sum_is_least():
    condition = sb.Condition("H*max(P, 3)*max(S, 3) % (64*((W + 5)//6)) == 0")
    guard = condition.guard()
    points = (dict(zip("HPSW", p, strict=True)) for p in itertools.product(range(1, 11), repeat=4) if sum(p) <= 13)
    valid = [point for point in points if guard(point)]
    least = min(valid, key=lambda p: (sum(p.values()), [p[name] for name in guard.parameters]))
    assert condition.witness() == least


BEYOND = {
    "N > 9223372036854775807": (U, None),
    "N == 4*M and M >= 4611686018427387904": (U, None),
    "N == 4*M and M >= 2000000000000000000": (S, {"N": 8 * 10**18, "M": 2 * 10**18}),
    "N == M + 9223372036854775807": (S, {"N": LARGEST, "M": 0}),
    "N >= 9223372036854775807": (S, {"N": LARGEST}),
    "N == 1 or M > 9223372036854775807": (S, {"N": 1, "M": 1}),
}


@pytest.mark.parametrize("text", BEYOND)
def test_no_evidence_is_larger_than_a_size(text):
    env = sb.ShapeEnv()
    env.require(text)
    assert (env.verdict, env.witness()) == BEYOND[text]
    assert ("2**63 - 1" in env.reason) == (env.verdict is U)
    assert env.counterexample() is not None
