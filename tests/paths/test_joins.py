"""Branches on data whose arms assign: both are run and joined, alone and in loops over sizes."""

# ruff: noqa: SIM108 - both ways to write it are traced

from collections import deque

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


def lagrange(x, y):
    r = 0.0
    for i in range(len(x)):
        w = y[i]
        for j in range(len(x)):
            if i != j:
                w = w * (0.5 - x[j]) / (x[i] - x[j])
        r += w
    return np.full(2, r)


def decomposed(a):
    n = len(a)
    lower, upper = np.eye(n), a * 1.0
    for k in range(n):
        for i in range(k + 1, n):
            lower[i, k] = upper[i, k] / upper[k, k]
            upper[i] -= lower[i, k] * upper[k]
    return lower, upper


def exchange_sorted(x):
    for i in range(len(x)):
        for j in range(len(x) - 1 - i):
            if x[j] > x[j + 1]:
                x[j], x[j + 1] = x[j + 1], x[j]
    return x


def differences(x, y):
    return np.array([x[i] - y[j] for i in range(len(x)) for j in range(len(x)) if i != j])


def pairs(x):
    out = []
    for i in range(len(x)):
        for j in range(i + 1, len(x)):
            p = x[i] * x[j]
            out.append(p)
    return np.array(out)


def above_the_diagonal(x, y):
    out = []
    for i in range(len(x)):
        for j in range(len(x)):
            if i < j and x[i] > 0:
                v = y[j]
                out.append(v)
    return np.array(out)


def every_third(x):
    return np.array([x[i] for i in range(len(x)) if i % 3 == 1])


def inner_ones(x):
    return np.array([x[i - 1] + x[i + 1] for i in range(len(x)) if i > 0 and i < len(x) - 1])


def split_by_sign(x):
    low, high = [], []
    for v in x:
        if v > 0.5:
            high.append(v)
        else:
            low.append(v)
    return np.array(low), np.array(high)


def without_small(x):
    s, out = 0.0, []
    for v in x:
        if v < 0.2:
            continue
        s += v
        out.append(v)
    return np.array(out), np.full(2, s)


def flagged(x, y):
    f = False
    for v in x:
        if v > 0.9:
            f = True
    return y if f else x


def raised_by_flag(x):
    f = False
    for v in x:
        f = True if v > 0.9 else f
    if f:
        raise ValueError("no")
    return x


def absolute(v):
    if v > 0:
        return v
    return -v


def called_in_each(x):
    return np.array([absolute(v) for v in x])


def written_if_first(x):
    z = np.zeros(len(x))
    for i in range(len(x)):
        z[i] = x[i] if i == 0 else z[i - 1] + x[i]
    return z


def counted_by_index(x):
    n = 0
    for i in range(len(x)):
        if i % 2 == 0:
            n += 1
    if n == 3:
        raise ValueError("no")
    return x


def beyond_the_end(x):
    return np.array([x[i + 1] for i in range(len(x)) if i % 2 == 0])


def last_of_empty(x):
    for i in range(len(x)):
        for j in range(i):
            v = x[j]
    return v


def set_of_some(x):
    return {i for i in range(3) if x.sum() > 0}, [v for v in x if any(u > v for u in x if u != v)]


CASES = [
    (lagrange, "N", "N"),
    (lagrange, "N", "M"),
    (decomposed, "N, N"),
    (exchange_sorted, "N"),
    (differences, "N", "N"),
    (pairs, "N"),
    (above_the_diagonal, "N", "N"),
    (every_third, "N"),
    (inner_ones, "N"),
    (split_by_sign, "N"),
    (without_small, "N"),
    (flagged, "N", "M"),
    (called_in_each, "N"),
    (written_if_first, "N"),
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


def looked_at(x):
    out = []
    for v in x:
        if v > 0.5:
            out.append(v)
        if out:
            return x.reshape(2, -1)
    return x


def left_early(x):
    out = []
    for v in x:
        if v > 0.5:
            out.append(v)
        if x.sum() > 3:
            break
    return np.array(out)


def distinct_of_some(x):
    return np.zeros(len(set(int(9 * v) for v in x if v > 0.2)))  # noqa: C401 - what is traced


def kept_in_rows(x):
    return np.array([b for a in range(len(x)) if not (x[a] > 0.5 or x[a] < 0.1) for b in range(1, len(x) - 1)])


def kept_by_calls(x):
    return np.array([absolute(v) for v in x if absolute(v) > 0.5])


def inner_list_of_data(x):
    return np.array([u for v in x for u in ([v] if absolute(v) > 0.5 else [])])


NOT_JOINED = [
    (kept_in_rows, "N"),
    (kept_by_calls, "N"),
    (inner_list_of_data, "N"),
    (looked_at, "N"),
    (left_early, "N"),
    (distinct_of_some, "N"),
    (counted_by_index, "N"),
    (beyond_the_end, "N"),
    (last_of_empty, "N"),
    (set_of_some, "N"),
    (raised_by_flag, "N"),
    (differences, "N", "M"),
    (above_the_diagonal, "N", "M"),
]


@pytest.mark.parametrize("case", NOT_JOINED, ids=lambda case: case[0].__name__)
def test_what_an_arm_or_a_later_error_needs_is_not_lost(case):
    function, *arguments = case
    report = sb.trace(function, *arguments, observe=False)
    assert not held(report, function, *arguments, sizes=range(6)).wrong


def test_a_list_that_data_leave_empty_is_empty_where_it_is_looked_at():
    assert str(sb.trace(looked_at, "N", observe=False).condition) == "True"


def test_items_that_indices_choose_are_counted():
    for function, shape in [(differences, "N**2 - N"), (pairs, "(N**2 - N)//2"), (every_third, "(N + 1)//3")]:
        arguments = ["N"] * function.__code__.co_argcount
        shapes = {str(c.value) for c in sb.trace(function, *arguments, min_size=2).cases if c.works}
        assert f"({shape},)" in shapes


def test_a_list_of_a_result_may_be_long():
    report = sb.trace(lambda x: [v for v in x if v > 0], "N")
    assert report.complete
    assert "a list when" in report.explain()


def test_a_list_of_the_elements_is_a_result():
    assert sb.trace(lambda x: x.tolist(), "N").cases[0].value is list


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


class Tally:
    def __init__(self):
        self.count = 0

    def append(self, value):
        self.count += 1


@pytest.mark.parametrize("kept", [deque, Tally])
def test_only_lists_are_joined_where_one_arm_appends(kept):
    # The other arm appended too: the result had one item for all data.
    def positive(x):
        values = kept()
        if x.sum() > 0.5:
            values.append(1)
        return np.zeros(values.count if kept is Tally else len(values))

    report = sb.trace(positive, "N")
    assert report.complete
    assert {str(case.value) for case in report.cases} == {"(0,)", "(1,)"}


def sums_of_larger(x, y):
    s = 0.0
    for _ in x:
        s += sum(u for u in y if u > s)
    return np.full(2, s)


def numbers_of_larger(x, y):
    n = 0
    for v in x:
        n += sum(1 for u in y if u > v)
    return np.zeros(n)


def rows_of_some(x, y):
    return sum(np.zeros(3) * u for u in y if u > 0.5)


def any_of_some(x, y):
    return np.array([any(u > v for u in y if u > 0.5) for v in x])


@pytest.mark.parametrize("function", [sums_of_larger, numbers_of_larger, rows_of_some, any_of_some])
def test_what_a_condition_leaves_out_of_a_sum_is_not_decided(function):
    report = sb.trace(function, "N", "M")
    assert report.complete
    assert report.paths <= 4
    assert not held(report, function, "N", "M", sizes=range(5)).wrong


def by_key(x, y):
    order = sorted(range(len(x)), key=lambda i: x[i] + y[i])
    out = np.zeros(len(x))
    for rank, i in enumerate(order):
        out[i] = rank
    return out


def by_second(x, y):
    return np.array([a for a, b in sorted(zip(x, y, strict=False), key=lambda pair: pair[1])])


def by_sum(x, y):
    return np.array(sorted(np.outer(x, y), key=lambda row: row.sum(), reverse=True))


def of_lists(x, y):
    return np.array(sorted(x.tolist())), sorted(y)[0]


def of_rows(x, y):
    return np.array(sorted(np.outer(x, y)))


@pytest.mark.parametrize(
    ("function", "condition"),
    [(by_key, "N - 1 < M"), (by_second, "True"), (by_sum, "True"), (of_lists, "M > 0"), (of_rows, None)],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_sorted_items_are_some_of_the_items(function, condition):
    report = sb.trace(function, "N", "M", observe=False)
    assert report.complete is (condition is not None)
    assert condition in (None, str(report.condition))
    assert not held(report, function, "N", "M", sizes=range(5)).wrong
