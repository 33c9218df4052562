"""Real calls confirm a trace: with the user's own functions and caches, and whatever kind of error they raise."""

import functools
import inspect
import itertools
import pickle
import sys
import types

import numpy as np
import pytest
from paths.held import held

import symbcast as sb
from symbcast.paths.answer import conclusions_of

TABLE = {np.sum: 0, np.mean: 1, np.maximum: 2, len: 1}
REDUCERS = {"sum": np.sum, "mean": np.mean}
KEPT = {}
PART = functools.partial(np.zeros, dtype=int)


def by_key(x):
    return x.sum(TABLE[np.sum])


def by_identity(x):
    return x if REDUCERS["sum"] is np.sum else x.sum(0)


def by_signature(x):
    return x if "where" in inspect.signature(np.sum).parameters else x.sum(0)


def by_pickle(x):
    return x if pickle.loads(pickle.dumps(np.sum)) is np.sum else x.sum(0)


def by_partial(x):
    return x[{PART: 1}[PART] :]


def by_builtin(x):
    return x.sum(TABLE[len] - 1)


def by_type(x):
    return x if type(np.sum) is type(REDUCERS["sum"]) else x.sum(0)


def by_id(x):
    return x if id(np.sum) == id(REDUCERS["sum"]) else x.sum(0)


@pytest.mark.parametrize(
    "function", [by_key, by_identity, by_signature, by_pickle, by_partial, by_builtin, by_type, by_id]
)
def test_a_function_is_a_value_as_without_a_trace(function):
    report = sb.trace(function, "N, 3")
    assert report.verdict is sb.Verdict.ALWAYS, report.reason
    found = held(report, function, "N, 3", sizes=range(5))
    assert not found.wrong
    assert not found.open


def test_what_a_function_refuses_it_refuses_in_a_trace():
    def inspects(x):
        inspect.getfullargspec(np.sum)  # a TypeError: NumPy's dispatcher has no Python signature
        return x

    assert sb.trace(inspects, "N").verdict is sb.Verdict.NEVER


def test_real_calls_see_no_stand_in():
    seen = []

    def function(x):
        if type(x) is np.ndarray:
            seen.append((np is sys.modules["numpy"], np.zeros is vars(sys.modules["numpy"])["zeros"], type(len)))
        return np.zeros(len(x))

    assert sb.trace(function, "N").complete
    assert set(seen) == {(True, True, types.BuiltinFunctionType)}


def in_a_dict(x):
    if "ones" not in KEPT:
        KEPT["ones"] = np.ones(len(x))
    return x + KEPT["ones"]


def in_a_default(x, kept=[]):  # noqa: B006 - it is what is tested
    if not kept:
        kept.append(np.ones(len(x)))
    return x + kept[0]


@functools.lru_cache
def ones_of(name):
    return np.ones(KEPT["size"]) if name else None


def in_a_cache(x):
    KEPT["size"] = len(x)
    return x + ones_of("a name")


def in_an_attribute(x):
    if not hasattr(in_an_attribute, "kept"):
        in_an_attribute.kept = np.ones(len(x))
    return x + in_an_attribute.kept


@pytest.mark.parametrize("function", [in_a_dict, in_a_default, in_a_cache, in_an_attribute])
def test_nothing_without_data_stays_in_a_cache(function):
    """The first call decides what is kept, so that another size fails: nothing is proved, and nothing is wrong."""
    KEPT.clear()
    ones_of.cache_clear()
    vars(in_an_attribute).clear()
    report = sb.trace(function, "N")
    assert not report.complete
    assert report.account.failing and report.account.working
    kept = [*KEPT.values(), *(in_a_default.__defaults__[0]), *vars(in_an_attribute).values()]
    kept += [ones_of("a name")] if function is in_a_cache else []
    assert {type(v) for v in kept} <= {np.ndarray, int}
    KEPT.clear()


class OwnError(Exception):
    """An error of another kind than a trace raises."""


def raises_another(x, y):
    kind = OwnError if type(x) is np.ndarray else ValueError
    if x.shape[0] != y.shape[0]:
        raise kind("rows differ")
    return x


def test_an_error_of_another_kind_confirms_that_a_call_fails():
    report = sb.trace(raises_another, "N", "M")
    assert report.complete, report.reason
    assert report.condition.equivalent("N == M")
    assert [c.error for c in report.cases if c.error] == ["OwnError: rows differ"]


def refuses_ones(x):
    if x.sum() == x.shape[0]:
        raise ValueError("ones")
    return np.array([float(v) for v in {str(v) for v in x}])


def test_a_call_that_other_data_let_work_is_no_point_that_fails():
    report = sb.trace(refuses_ones, "N")
    assert not report.complete
    assert report.account.failing == ({"N": 0},)  # the sum of no elements is their number
    assert {"N": 0} not in report.account.working


def averaged(x, y):
    return np.average(np.hypot(x, y), axis=-1, weights=np.ones(x.shape[-1]))


def test_one_point_without_data_is_decided_by_a_call():
    report = sb.trace(averaged, "A, N", "A, N")
    assert report.complete
    assert report.condition.equivalent("N >= 1")
    assert report.guard()(A=0, N=0) is False
    assert report.certify()


def averaged_with(x, y, other):
    return averaged(x, y), other


def test_only_the_sizes_are_open_at_which_calls_disagree():
    report = sb.trace(averaged_with, "A, N", "A, N", "B")
    assert report.verdict is sb.Verdict.SOMETIMES
    account, names = report.account, conclusions_of(report).scope.names
    assert sb.Condition("N >= 1").equivalent(str(report.cases[0].condition))
    for sizes in itertools.product(range(4), repeat=3):
        at = dict(zip(names, sizes, strict=True))
        assert account.at(at, names) in ((sizes[1] > 0), None)
        assert (account.at(at, names) is None) <= (sizes[:2] == (0, 0))
    lines = report.explain().split("\n")
    assert lines[0].endswith(": open for some sizes")
    assert lines[2:4] == ["works when   N is at least 1", "fails when   A is not 0, and N is 0"]
    assert lines[4].startswith("open         when A is 0, and N is 0: at A=0, N=0, B=")
    assert "the real call raised ZeroDivisionError" in "\n".join(lines[4:6])


def of_trace(x):
    t = np.trace(x)
    return complex(t) if t > 0 else 0j


def test_what_only_data_decide_is_open_for_data_and_not_for_sizes():
    report = sb.trace(of_trace, "N, M")
    lines = report.explain().split("\n")
    assert lines[0].endswith(": open for some data")
    assert "works        at all sizes, if the data suit" in lines
    assert any(line.startswith("open         for some data: a number is made from array data") for line in lines)


def test_points_that_work_are_not_open():
    report = sb.trace(lambda x: x.tobytes(), sb.array("N", "int64"))
    assert report.account.working
    assert "open         at all sizes but those below: " in report.explain()


def test_nothing_known_is_not_that_nothing_works():
    report = sb.trace(lambda x: np.array(hash(x.tobytes())), "N", observe=False)
    assert not report.complete
    assert str(report.condition) == "True"
    assert report.verdict is sb.Verdict.UNKNOWN


def attention(q, k, v):
    s = q @ k.T / np.sqrt(q.shape[1])
    s = s + np.triu(np.full(s.shape, -np.inf), 1)
    top = {i: float(r.max()) for i, r in enumerate(s)}
    e = np.exp(s - np.array([top[i] for i in range(len(s))])[:, None])
    return (e / e.sum(1, keepdims=True)) @ v


def test_findings_of_an_incomplete_trace_are_requirements():
    report = sb.trace(attention, "T, d", "S, d", "S, e")
    assert not report.complete
    assert report.findings
    names = conclusions_of(report).scope.names
    for sizes in itertools.product(range(4), (1, 2), range(4), (1,)):
        at = dict(zip(names.values(), sizes, strict=True))
        arrays = [np.ones((at["T"], at["d"])), np.ones((at["S"], at["d"])), np.ones((at["S"], at["e"]))]
        if not all(
            sb.Condition(f.text).guard()(**{n: at[n] for n in map(str, f.condition.symbols)}) for f in report.findings
        ):
            with pytest.raises(ValueError, match=r"."):
                attention(*arrays)
    assert "T != " not in report.explain()


def reduced(m):
    h, w = m.shape
    scale = min(1.0, 3 / h, 3 / w)
    if scale == 1.0:
        return m
    x = np.linspace(0, w - 1, max(1, int(scale * w))).astype(int)
    y = np.linspace(0, h - 1, max(1, int(scale * h))).astype(int)
    return m[y[:, None], x]


def test_a_condition_of_nested_disjunctions_ends():
    report = sb.trace(reduced, "H, W")
    assert not report.complete
    found = held(report, reduced, "H, W", sizes=range(12))
    assert not found.wrong
    assert found.right
    assert [f.text for f in report.findings] == ["H >= 1", "W >= 1"]


def test_arguments_are_bound_alike_by_all_traces():
    pytest.importorskip("jax")
    for trace in (sb.trace, sb.jax.trace):
        with pytest.raises(sb.BindingError, match="give a shape or a value for y too"):
            trace(lambda x, y: x + y, "N, 3")
        with pytest.raises(sb.BindingError, match="has no 'budget'"):
            trace(lambda x: x, "N, 3", budget=1.0)
