"""Loops over sizes: traces are exact where iterations are alike, and never wrong where they differ."""

import ast
import linecache

import numpy as np
import pytest
from paths.held import held
from paths.loop_adversaries import ADVERSARIES
from paths.loop_cases import CASES

import symbcast as sb

OPEN = {"halves"}
"""The cases whose answer is not exact."""


def traced(function, arguments):
    return sb.trace(function, *given(arguments))


def given(arguments):
    return [sb.size(a.removeprefix("size ")) if a.startswith("size ") else a for a in arguments]


@pytest.mark.parametrize("function", CASES, ids=lambda f: f.__name__)
def test_a_loop_over_a_size_is_exact(function):
    report = traced(function, CASES[function])
    assert report.complete is (function.__name__ not in OPEN), report.reason
    found = held(report, function, *given(CASES[function]), sizes=range(12), most=40)
    assert not found.wrong
    assert found.right


@pytest.mark.parametrize("function", ADVERSARIES, ids=lambda f: f.__name__)
def test_a_loop_whose_iterations_differ_is_never_wrong(function):
    report = traced(function, ADVERSARIES[function])
    found = held(report, function, *given(ADVERSARIES[function]), sizes=range(12), most=40)
    assert not found.wrong


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
