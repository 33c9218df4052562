"""Items of lists that a loop stores into: the item at an index that is no number may be any of them."""

import numpy as np
import pytest
from paths.held import held

import symbcast as sb


def first_of_zeros(x):
    values = [0.0] * len(x)
    if len(x) > 0:
        values[0] = 5.0
    return np.array(values)


def prefix_sums(x):
    sums = [0.0] * (len(x) + 1)
    for i in range(len(x)):
        sums[i + 1] = sums[i] + x[i]
    return np.array(sums)


def second(x):
    values = [0.0] * len(x)
    values[1] = x.sum()
    return np.array(values)


def increasing(x):
    lengths = [1] * len(x)
    for i in range(1, len(x)):
        for j in range(i):
            if x[j] < x[i]:
                lengths[i] = max(lengths[i], lengths[j] + 1)
    return max(lengths) if lengths else 0


def table(x):
    rows = [[0.0] * (len(x) + 1) for _ in range(len(x) + 1)]
    for i in range(1, len(x) + 1):
        for j in range(1, len(x) + 1):
            if x[i - 1] == x[j - 1]:
                rows[i][j] = rows[i - 1][j - 1] + 1
            else:
                rows[i][j] = max(rows[i - 1][j], rows[i][j - 1])
    return np.array(rows), rows[-1][-1]


def one_row(x):
    rows = [[0.0] * 3 for _ in range(len(x))]
    if len(x) > 1:
        rows[1][0] = x[0]
    return np.array(rows)


def counts(x):
    bins = [0] * 10
    for v in x:
        bins[int(v * 9.99)] += 1
    return np.array(bins)


def marked(x):
    seen = [False] * len(x)
    for i in range(len(x)):
        if x[i] > 0.5 and not seen[i]:
            seen[i] = True
    return np.array(seen)


def nearest_first(x):
    distances = [float("inf")] * len(x)
    distances[0] = 0.0
    done = [False] * len(x)
    for _ in range(len(x)):
        u = -1
        for i in range(len(x)):
            if not done[i] and (u == -1 or distances[i] < distances[u]):
                u = i
        done[u] = True
        for v in range(len(x)):
            if x[v] > 0.1 and distances[u] + x[v] < distances[v]:
                distances[v] = distances[u] + x[v]
    return np.array(distances)


def written_in_an_arm(x):
    rows = [0.0] * len(x)
    for i in range(len(x)):
        if i % 2 == 0:
            for j in range(3):
                rows[i] += x[i] * j
    return np.array(rows)


def of_two_shapes(x):
    parts = [np.zeros(1)] * len(x)
    for i in range(len(x)):
        parts[i] = np.zeros(i + 2)
    return np.concatenate([*parts, x])


def emptied_row(x):
    rows = [[1.0] for _ in range(len(x))]
    for i in range(len(x)):
        rows[i].append(x[i])
    return np.array(rows)


def of_data(x):
    parts = [x, x * 2, x + 1]
    return parts[int(x.sum()) % 3]


def deleted(x):
    values = [0.0] * len(x)
    del values[0]
    return np.array(values)


EXACT = (
    first_of_zeros, prefix_sums, second, increasing, table, one_row, counts, marked, nearest_first, written_in_an_arm,
    of_data,
)  # fmt: skip


@pytest.mark.parametrize("function", (*EXACT, of_two_shapes, emptied_row, deleted), ids=lambda f: f.__name__)
def test_what_is_stored_is_joined_with_what_was_there(function):
    report = sb.trace(function, "N", observe=False)
    assert report.complete or function not in EXACT
    assert not held(report, function, "N", sizes=range(6)).wrong


def test_an_index_must_be_within_the_list():
    assert str(sb.trace(second, "N").condition) == "N >= 2"
    assert str(sb.trace(nearest_first, "N").condition) == "N > 0"


def test_items_of_a_list_are_different_elements():
    def some(x):
        flags = [v > 0.5 for v in x]
        if flags[0] and not flags[1]:
            raise ValueError("no")
        return x

    report = sb.trace(some, "N", assume="N >= 2")
    assert report.verdict is sb.Verdict.SOMETIMES
    assert any(case.error == "ValueError: no" for case in report.cases)
