"""Promises that are checked at each call, by the condition that a trace proved."""

import itertools
import sys
import warnings

import numpy as np
import pytest

import symbcast as sb


@sb.checked("N, D", "M, D", returns="N, M", enforce=True)
def distances(x, y):
    return np.sqrt(((x[:, None] - y[None]) ** 2).sum(-1))


@sb.checked("N", "M", returns="N", enforce=True)
def added(x, y):
    return x + y


@sb.checked("2*N", sb.size("N"), returns="N, 2", enforce=True)
def paired(x, count):
    return x.reshape(count, 2)


@sb.checked("N", assume="N >= 2", returns=("N - 1", ()), enforce=True)
def changes(x, scale=1.0):
    return scale * np.diff(x), x.sum()


@sb.checked("N", enforce=True)
def by_data(x):
    return np.ones(int(f"{x.sum():.0f}"))


@sb.checked("N", returns="2*N", enforce=True)
def wrong(x):
    return np.concatenate([x, x, x])


def kept(function, *args):
    try:
        function(*args)
    except sb.BindingError:
        return False
    return True


def test_a_call_is_refused_exactly_where_it_breaks_the_promise():
    for n, d, m, e in itertools.product(range(4), repeat=4):
        assert kept(distances, np.ones((n, d)), np.ones((m, e))) == (d == e)
    for n, m in itertools.product(range(4), repeat=2):
        assert kept(added, np.ones(n), np.ones(m)) == (m in (1, n) or (n == 1 and m == 1))
    for n, count in itertools.product(range(6), range(4)):
        assert kept(paired, np.ones(n), count) == (n == 2 * count)
    assert [kept(changes, np.ones(n)) for n in range(4)] == [False, False, True, True]
    assert [kept(wrong, np.ones(n)) for n in range(3)] == [True, False, False]


def test_other_ranks_are_refused():
    with pytest.raises(sb.BindingError, match=r"distances: an argument has 1 axes, and \(N, D\) is promised"):
        distances(np.ones(3), np.ones((3, 3)))


def test_arguments_by_name_and_defaults():
    assert changes(x=np.ones(3), scale=2.0)[0].shape == (2,)
    assert distances(y=np.ones((4, 3)), x=np.ones((2, 3))).shape == (2, 4)


def test_what_is_not_decided_warns():
    with pytest.warns(sb.IncompleteTraceWarning, match="by_data is not checked: the trace is incomplete"):
        assert by_data(np.ones(3)).shape == (3,)
    with pytest.warns(sb.IncompleteTraceWarning, match="an argument has no shape"):
        added([1, 2], np.ones(2))


def test_a_function_that_calls_a_checked_one_is_traced_as_without_checks():
    report = sb.trace(lambda x, y: distances(x, y).sum(0), "A, B", "C, D")
    assert report.complete and report.condition.equivalent(sb.Condition("B == D or B == 1 or D == 1"))


def test_promises_with_checks_are_checked_by_tracing_too():
    broken = {b.name: b for b in sb.check_promises(sys.modules[__name__])}
    assert set(broken) == {"added", "by_data", "wrong"}


def test_the_function_is_traced_once():
    calls = []

    @sb.checked("N", returns="N", enforce=True)
    def counted(x):
        calls.append(np.shape(x))
        return x

    counted(np.ones(2))
    traced = len(calls)
    for n in (2, 3, 4):
        counted(np.ones(n))
    assert len(calls) == traced + 3


def test_without_enforce_nothing_is_checked():
    function = sb.checked("N, 2", returns="N")(lambda x: x)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert function(np.ones(3)).shape == (3,)
