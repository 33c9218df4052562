"""Branches on data whose arms assign: both are run and joined, alone and in loops over sizes."""

# ruff: noqa: SIM108 - both ways to write it are traced

import numpy as np
import pytest
from paths.held import held

import symbcast as sb


def largest(x):
    s = 0
    for i in range(len(x)):
        s = max(s, x[i])
    return np.full(3, s)


def place_of_largest(x):
    best, at = (x[0], 0)
    for i in range(len(x)):
        if x[i] > best:
            best = x[i]
            at = i
    return (x[at], best)


def count(x):
    n = 0
    for v in x:
        if v > 0:
            n += 1
    return np.zeros(n)


def written_after(x, y):
    v = x if x.sum() > 0 else y
    v[0] = 1
    return v


def two_shapes(x):
    if x.sum() > 0:
        n = 1
    else:
        n = 2
    return np.zeros(n)


def common_subsequence(x, y):
    c = np.zeros((len(x) + 1, len(y) + 1))
    for i in range(1, len(x) + 1):
        for j in range(1, len(y) + 1):
            if x[i - 1] == y[j - 1]:
                c[i, j] = c[i - 1, j - 1] + 1
            else:
                c[i, j] = max(c[i - 1, j], c[i, j - 1])
    return c[-1, -1]


def running_sum(x):
    out = np.zeros(len(x))
    s = 0.0
    for i in range(len(x)):
        s = s + x[i]
        if s > 3:
            s = 0.0
        out[i] = s
    return out


def number_or_product(x, y):
    if x.sum() > 0:
        r = x @ y
    else:
        r = 0.0
    return r


def unbound(x):
    if x.sum() > 0:
        z = np.sqrt(x)
    return z


def exchanged(x, y):
    if x.sum() > 0:
        a = x
        b = y
    else:
        a = y
        b = x
    return a + b


def negated(x):
    if not x.sum() > 0:
        r = -x
    else:
        r = x
    return r


def other_name(x):
    a = np.zeros(3)
    b = a
    if x.sum() > 0:
        a = np.ones(3)
    a[0] = 5
    return np.zeros(int(b[0]))


def span_of(x):
    lo = x[0]
    hi = x[0]
    for v in x[1:]:
        lo = min(lo, v)
        hi = max(hi, v)
    return np.linspace(lo, hi, len(x))


def sorted_numbers(x):
    return np.array(sorted([x.min(), x.max(), x.mean()]))


def integer_or_number(x):
    s = 1.0
    for v in x:
        if v > s:
            s = 2
    return s


def dict_written(x):
    m = {0: 1.0}
    if x.sum() > 0:
        m[0] = 2.0
    return x * m[0]


def none_or_number(x):
    r = 1.0 if x.sum() > 0 else None
    return x if r is None else x * r


def view_or_sum(x, y):
    for i in range(len(x)):
        if x[i] > 0:
            y = y[:]
        else:
            y = y + 1
    return y


def distance(x, y):
    d = np.inf
    for i in range(len(x)):
        for j in range(len(y)):
            e = abs(x[i] - y[j])
            d = e if e < d else d
    return np.atleast_1d(d)


def elements_written(x):
    z = np.zeros(4)
    for v in x:
        if v > 0.5:
            z[0] = v
        else:
            z[1] = v
    return z


CASES = [
    (largest, "N"),
    (place_of_largest, "N"),
    (count, "N"),
    (written_after, "N", "N"),
    (written_after, "N", "M"),
    (two_shapes, "N"),
    (common_subsequence, "N", "M"),
    (running_sum, "N"),
    (number_or_product, "N", "M"),
    (unbound, "N"),
    (exchanged, "N", "M"),
    (negated, "N"),
    (other_name, "N"),
    (span_of, "N"),
    (sorted_numbers, "N"),
    (integer_or_number, "N"),
    (dict_written, "N"),
    (none_or_number, "N"),
    (view_or_sum, "N", "M"),
    (distance, "N", "M"),
    (elements_written, "N"),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].__name__)
def test_both_arms_are_joined(case):
    function, *arguments = case
    report = sb.trace(function, *arguments)
    assert report.complete, report.reason
    assert not held(report, function, *arguments, sizes=range(6), most=36).wrong


def test_a_count_of_data_is_not_negative():
    assert sb.trace(count, "N").verdict is sb.Verdict.ALWAYS


def test_arms_that_write_into_one_array_need_no_path_each():
    assert sb.trace(common_subsequence, "N", "M").paths == 3  # rows, columns, or none


def kept(x):
    shapes = []

    def noted(y):
        shapes.append(y.shape)
        return y

    v = noted(x[:1]) if x.sum() > 0 else noted(x[1:])
    return np.zeros(len(shapes)), v


def test_an_arm_with_effects_is_not_joined():
    report = sb.trace(kept, "N")
    assert {str(c.value[0]) for c in report.cases if c.works} == {"(1)"} or report.complete
    assert not held(report, kept, "N").wrong


def one_or_two(x):
    w = 1.0 if x.sum() > 0 else 2.0
    if w < 0:
        raise ValueError("no")
    for v in x:
        u = 1.0 if v > 0 else 2.0
        if u < 0:
            raise ValueError("no")
    return np.full(2, w)


def test_what_no_arm_leads_to_is_not_said_to_happen():
    assert sb.trace(one_or_two, "N").verdict is sb.Verdict.ALWAYS


def first_ones(x):
    n = 0
    for v in x:
        if v > 0:
            n += 1
    return x[:n].reshape(n, 1)


def test_a_requirement_on_a_joined_number_gives_the_join_up():
    assert sb.trace(first_ones, "N").verdict is not sb.Verdict.SOMETIMES
