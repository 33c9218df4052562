"""Loops that data may leave before their end, ``any`` and ``all``, and questions that Python asks many times."""

import itertools

import numpy as np
import pytest
from paths.held import held

import symbcast as sb
from symbcast.core.solver.evaluation import holds_at
from symbcast.paths.answer import conclusions_of


def returned(x, y):
    for i in range(len(x)):
        if x[i] > y[i]:
            return np.zeros(1)
    return np.zeros(2)


def broken(x, y):
    for i in range(len(x)):
        if x[i] > y[i]:
            break
    return np.zeros(2)


def any_larger(x, y):
    return any(x[i] > y[i] for i in range(len(x)))


def any_next(x, y):
    return any(x[i + 1] > 0.5 for i in range(len(x)))


def any_of_three(x, y):
    return any(x[k] > 0.5 for k in range(3))


def all_in(x, y):
    return all(any(a == b for b in y) for a in x)


def all_of_rows(x, y):
    for row in np.outer(x, y):
        if all(row > 0.5):
            return x
    return y


def compared_pairs(x, y):
    if (x.sum() > 0.5, y.sum() > 0.5) == (True, True):
        return x
    return y


def filtered(x, y):
    return np.zeros(len(list(filter(None, [x.sum() > 1, y.sum() > 1, x.sum() > 2]))))


def chained(x, y):
    out = np.zeros(len(x))
    for i in range(len(x)):
        for step in (-1, 1, 2):
            if 0 <= i + step < len(x):
                out[i] += 1
    return out


def negated(x, y):
    c = False
    for v in x:
        if v > 0.5:
            c = not c
    return x if c else y


def peaks(x, y):
    n = 0
    for i in range(1, len(x) - 1):
        is_peak = x[i] > x[i - 1] and x[i] > x[i + 1]
        n += 1 if is_peak else 0
    return np.full(3, n)


def backwards(x, y):
    v = np.outer(x, x)
    for i in range(len(x) - 1, -1, -1):
        v = v[:, : i + 1] * 2
    return v


CASES = {
    returned: "N == 0 or M >= 1",
    broken: "N == 0 or M >= 1",
    any_larger: "N == 0 or M >= 1",
    any_next: "N != 1",
    any_of_three: "N > 0",
    all_in: "True",
    all_of_rows: "True",
    compared_pairs: "True",
    filtered: "True",
    chained: "True",
    negated: "True",
    peaks: "True",
    backwards: "True",
}


def works(function, n, m):
    """Whether a function works for some of the data that are tried."""
    random = np.random.default_rng(0)
    for draw in (np.ones, np.zeros, random.random, random.random, lambda size: np.arange(size) % 2.0):
        try:
            function(draw(n), draw(m) * 0.5)
        except IndexError:
            continue
        return True
    return False


@pytest.mark.parametrize("function", CASES, ids=lambda f: f.__name__)
def test_what_later_iterations_need_is_not_required_of_data_that_do_not_get_there(function):
    report = sb.trace(function, "N", "M")
    assert report.complete
    assert str(report.condition) == CASES[function]
    assert not held(report, function, "N", "M", sizes=range(6)).wrong
    for n, m in itertools.product(range(5), repeat=2):
        assert report.guard()(N=n, M=m) == works(function, n, m)


def test_a_loop_that_data_do_not_leave_needs_its_last_iteration():
    report = sb.trace(lambda x, y: np.array([x[i] > y[i] for i in range(len(x))]), "N", "M")
    assert str(report.condition) == "N - 1 < M"


def test_each_question_of_a_builtin_is_a_decision():
    # The third question had the answer of a loop whose turns are alike: at N=2 it works for all data.
    report = sb.trace(any_of_three, "N", "M")
    (failing,) = [c for c in report.cases if c.error]
    assert any(holds_at(failing.condition.formula, at) for at in sizes_of(report, N=2, M=0))
    assert not any(holds_at(failing.condition.formula, at) for at in sizes_of(report, N=3, M=0))


def sizes_of(report, **sizes):
    """The sizes with each choice of what data decide."""
    names = conclusions_of(report).scope.names
    data = list(conclusions_of(report).exploration.data)
    at = {s: sizes[name] for s, name in names.items()}
    return [{**at, **dict(zip(data, chosen, strict=True))} for chosen in itertools.product(range(2), repeat=len(data))]
