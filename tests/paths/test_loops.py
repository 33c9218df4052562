"""Loops over sizes: traces are exact where iterations are alike, and never wrong where they differ.

The functions run in a child process, as users' functions do elsewhere.
"""

import ast
import linecache

import numpy as np
import pytest
from paths.data_cases import CASES as DATA_CASES
from paths.held import held
from paths.loop_adversaries import ADVERSARIES
from paths.loop_cases import CASES

import symbcast as sb
from symbcast.core.isolation import ChildProcess

OPEN = {"box", "halves", "mean_of_large_rows"}
"""The cases whose answer is not exact. Without elements, no data suit `box` and `mean_of_large_rows`."""
EVERY = {f.__name__: (f, arguments) for cases in (CASES, ADVERSARIES, DATA_CASES) for f, arguments in cases.items()}
SECONDS = 60


def given(arguments):
    return [argument(a) for a in arguments]


def argument(text):
    kind, _, shape = text.rpartition(" ") if text.startswith("size ") else text.partition(" ")
    if kind == "size":
        return sb.size(shape)
    return sb.array(shape, {"int": "int64", "bool": "bool"}[kind]) if kind in ("int", "bool") else text


def compared(name):
    """Whether a trace is complete, why not, how often it is right, and where it is wrong: in a child process."""
    function, arguments = EVERY[name]
    report = sb.trace(function, *given(arguments))
    found = held(report, function, *given(arguments), sizes=range(12), most=40)
    return report.complete, report.reason, found.right, found.wrong


@pytest.fixture(scope="module")
def child():
    with ChildProcess() as found:
        yield found


@pytest.mark.parametrize("name", [f.__name__ for f in (*CASES, *DATA_CASES)])
def test_a_loop_over_a_size_is_exact(child, name):
    complete, reason, right, wrong = child.ask(compared, name, SECONDS)
    assert complete is (name not in OPEN), reason
    assert not wrong
    assert right


@pytest.mark.parametrize("name", [f.__name__ for f in ADVERSARIES])
def test_a_loop_whose_iterations_differ_is_never_wrong(child, name):
    assert not child.ask(compared, name, SECONDS)[3]


def test_the_rows_of_a_comprehension_are_an_axis():
    report = sb.trace(lambda x, w: np.stack([row @ w for row in x]), "N, D", "E, K")
    assert report.shapes == sb.shape("N, K")
    assert [report.guard()(N=n, D=2, E=e, K=5) for n, e in ((0, 2), (1, 2), (100, 2), (3, 4))] == [
        False,
        True,
        True,
        False,
    ]


def test_a_trace_restores_the_code_of_functions():
    def rows(x):
        return np.stack([row * 2 for row in x])

    code = rows.__code__
    assert sb.trace(rows, "N, D").complete
    assert rows.__code__ is code
    assert rows(np.ones((2, 3))).shape == (2, 3)


def test_only_a_later_iteration_may_fail():
    def power(a, n):
        out = np.eye(len(a))
        for _ in range(n):
            out = out @ a
        return out

    report = sb.trace(power, "N, M", sb.size("K"))
    assert [report.guard()(N=2, M=3, K=k) for k in range(4)] == [True, True, False, False]


def test_an_index_by_data_is_bounded_by_its_axis():
    report = sb.trace(lambda x: x[int(x.argmax())], "N")
    assert report.complete
    assert [report.guard()(N=n) for n in range(3)] == [False, True, True]


def test_a_cell_of_a_notebook_is_followed_like_a_file():
    """A notebook compiles each statement alone, so methods of a module imported in the cell are called otherwise."""
    text = "import numpy as np\n\ndef sums(x):\n    return np.stack([x[i : i + 3].sum() for i in range(len(x) - 2)])\n"
    name, space = "/tmp/ipykernel_7/2026.py", {}
    linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
    for statement in ast.parse(text).body:
        exec(compile(ast.Module([statement], []), name, "exec"), space)
    report = sb.trace(space["sums"], "N")
    assert str(report.condition) == "N >= 3"
    assert report.complete


WEIGHTS, COUNTER, STATE = list(range(10)), [0], {"n": 0}


def rows_by_number(x):
    return [row * WEIGHTS[i] for i, row in enumerate(x)]


def total_by_number(x):
    return sum(x[i] * WEIGHTS[i] for i in range(len(x)))


def stacked_by_number(x):
    return np.stack([x[i] * WEIGHTS[i] for i in range(len(x))])


def items_that_nothing_uses(x):
    for i in range(len(x)):
        WEIGHTS[i]
    return x


def items_of_an_iterator(x):
    items = iter(WEIGHTS)
    return [row * next(items) for row in x]


def items_of_a_generator(x):
    items = (w for w in WEIGHTS)
    return [row * next(items) for row in x]


def a_counter_of_the_module(x):
    COUNTER[0] = 0

    def one(row):
        COUNTER[0] += 1
        return row * WEIGHTS[COUNTER[0] - 1]

    return [one(row) for row in x]


def a_dict_of_the_module(x):
    STATE["n"] = 0

    def one(row):
        STATE["n"] += 1
        if STATE["n"] > 10:
            raise ValueError("too many")
        return row

    out = []
    for row in x:
        out.append(one(row))  # noqa: PERF401 - a loop is what is tested
    return out


def a_counter_of_a_closure(x):
    count = 0

    def one(row):
        nonlocal count
        count += 1
        return row * WEIGHTS[count - 1]

    return [one(row) for row in x]


def a_callable_with_a_state(x):
    class Counts:
        def __init__(self):
            self.count = 0

        def __call__(self, row):
            self.count += 1
            return row * WEIGHTS[self.count - 1]

    return list(map(Counts(), x))


@pytest.mark.parametrize(
    "function",
    [
        rows_by_number,
        total_by_number,
        stacked_by_number,
        items_that_nothing_uses,
        items_of_an_iterator,
        items_of_a_generator,
        a_counter_of_the_module,
        a_dict_of_the_module,
        a_counter_of_a_closure,
        a_callable_with_a_state,
    ],
    ids=lambda function: function.__name__,
)
def test_what_each_iteration_leaves_behind_is_not_lost(function):
    """They work for at most ten rows: eight are followed one by one, and above that nothing is said to work."""
    report = sb.trace(function, "N, 3")
    assert not report.complete
    guard = report.guard(open=False)
    assert not guard(N=11)
    assert guard(N=2)


def test_a_counter_of_a_closure_is_noticed_in_a_large_module(monkeypatch):
    for number in range(2500):
        monkeypatch.setitem(globals(), f"table_{number}", [number])
    assert not sb.trace(a_counter_of_a_closure, "N, 3").complete
