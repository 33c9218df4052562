"""Integers that code computes from sizes through floats: terms where floats round as terms do, or else bounds."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from paths.held import held

import symbcast as sb
from symbcast.core.algebra.symbols import symbol
from symbcast.paths.real_numbers import FloatRatio

N = symbol("N")
CONSTANTS = st.one_of(
    st.integers(1, 999).map(lambda k: k / 1000),
    st.fractions(0, 4, max_denominator=60).map(float),
    st.integers(1, 99).map(lambda k: 1 - k / 100),
)


@settings(deadline=None)
@given(CONSTANTS, st.lists(st.integers(0, 2**26), min_size=1, max_size=20))
@example(0.7, [90])  # 62.99999999999999
@example(0.29, [100])  # 28.999999999999996
@example(0.8, [5, 10, 15])
def test_a_product_that_is_certain_is_rounded_as_its_ratio(factor, sizes):
    ratio = FloatRatio(N, 1, True).times(factor)
    if ratio is None:
        return
    scale = Fraction(1, ratio.below) * (
        ratio.above.scaled(1).coefficients[N,] if not isinstance(ratio.above, int) else 0
    )
    near = [math.ceil(n / scale.numerator) * scale.denominator for n in sizes if scale]
    for n in {*sizes, *near}:
        if ratio.is_certain("floor", True):
            assert math.floor(n * factor) == math.floor(n * scale)
        if ratio.is_certain("ceil", True):
            assert math.ceil(n * factor) == math.ceil(n * scale)


def share(x):
    n = int(len(x) * 0.8)
    return x[:n], x[n:]


def uneven_share(x):
    n = int(len(x) * 0.7)
    return x[:n], x[n:]


def rounded_up(x):
    return x[: math.ceil(0.2 * len(x))]


def half(x):
    return x[: int(0.5 * len(x) + 0.5)]


def thrice(x):
    return x[: int((1 - 0.25) * len(x))]


def padded(x):
    n = len(x)
    return np.pad(x, (0, 2 ** int(np.ceil(np.log2(n))) - n))


def padded_by_math(x):
    return np.concatenate([x, np.zeros(2 ** math.ceil(math.log2(len(x))) - len(x))])


def transformed(x):
    return np.fft.rfft(x, 1 << (len(x) - 1).bit_length())


def below(x):
    return x[: 2 ** int(np.floor(np.log2(len(x))))]


def square(x):
    side = math.isqrt(len(x))
    return x[: side * side].reshape(side, side)


def rooted(x):
    return x[: int(np.sqrt(len(x)))]


def rounded(x):
    return x[: round(len(x) * 0.3)]


def compared(x):
    return x[2:] if len(x) * 0.3 >= 2 else x


def fractions(x):
    train, valid = int(0.6 * len(x)), int(0.2 * len(x))
    return x[:train], x[train : train + valid], x[train + valid :]


def same_twice(x):
    return x[: int(len(x) * 0.7)] + np.ones(int(len(x) * 0.7))


def matched(x):
    return x[: int(len(x) * 0.7)] + np.ones(4)


def shifted(x):
    return x[: int((len(x) - 3) * 0.7)]


def backwards(x):
    return x[int(-0.5 * len(x)) :]


def rooted_by_power(x):
    return x[: int(len(x) ** 0.5)]


CASES = {
    share: "4*N//5", uneven_share: "", rounded_up: "(N + 4)//5", half: "(N + 1)//2", thrice: "3*N//4", padded: "",
    padded_by_math: "", transformed: "", below: "", square: "", rooted: "", rounded: "", compared: "",
    fractions: "3*N//5", same_twice: "", shifted: "", backwards: "N//2", rooted_by_power: "",
}  # fmt: skip


@pytest.mark.parametrize("function", CASES, ids=lambda f: f.__name__)
def test_an_integer_made_of_a_size_needs_no_number(function):
    report = sb.trace(function, "N")
    assert report.complete, report.reason
    found = held(report, function, "N", sizes=range(24), most=24)
    assert not found.wrong
    assert CASES[function] in str([c.value for c in report.cases])


def test_where_more_than_bounds_are_needed_sizes_become_numbers():
    report = sb.trace(matched, "N")
    assert not report.complete
    assert not held(report, matched, "N", sizes=range(12), most=12).wrong
    assert report.guard()(N=6) and not report.guard()(N=5)


def test_whole_numbers_keep_their_bounds_unless_they_are_rounded_to_tens():
    """4 becomes 0, so its index is valid where 4 is not."""
    kept = sb.trace(lambda x, y: y[np.arange(len(x)).round(1)], "N", "M")
    assert kept.guard()(N=5, M=5) and not kept.guard()(N=5, M=4)
    lost = sb.trace(lambda x, y: y[np.arange(len(x)).round(-1)], "N", "M", observe=False)
    assert lost.verdict is sb.Verdict.UNKNOWN and "predicted" not in lost.account.reason


def test_numpy_rounds_numbers_that_sizes_decide():
    # `numpy.round` calls a method; the path ended there.
    def half(x):
        return np.zeros(int(np.round(len(x) / 2))), np.round(len(x) / 2) + x, np.around(len(x) / 3, 1) * x

    report = sb.trace(half, "N", assume="N <= 6")
    assert report.complete
    assert not held(report, half, "N", sizes=range(7)).wrong
