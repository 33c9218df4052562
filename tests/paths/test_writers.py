"""Writers, indices and outputs of NumPy's functions: traced, and held against NumPy in its own process."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from paths import numpy_calls

import symbcast as sb
from symbcast.arrays.functions.array_functions import FUNCTIONS
from symbcast.arrays.symbolic_array import METHODS

EVERY = 29
"""One of so many listed calls is held against NumPy here; ``numpy_calls.py --listed`` holds all."""


def conditions(function, *arguments):
    report = sb.trace(function, *arguments)
    assert report.complete, report.reason
    return report


def holds(report, **sizes):
    return report.guard()(**sizes)


@pytest.mark.parametrize(
    ("function", "shapes", "works", "fails"),
    [
        (np.add.at, "NKM", (3, 2, 2), [(0, 1, 1), (3, 2, 3), (3, 0, 2)]),
        (np.negative.at, "NK", (0, 0), [(0, 1)]),
        (lambda x, i: np.put_along_axis(x, i, 0, 0), "NK", (2, 1), [(0, 1)]),
        (np.put, "NKM", (0, 0, 3), [(0, 1, 3)]),
        (lambda x, y: np.putmask(x, y > 0, 1), "NM", (3, 3), [(3, 2), (0, 1)]),
        (lambda x, y: np.place(x, y > 0, [1]), "NM", (3, 3), [(3, 2), (0, 1)]),
        (lambda x, y: np.copyto(x, 1, where=y > 0), "NM", (3, 1), [(3, 2), (0, 2)]),
        (lambda x, y: np.cumsum(x, out=y), "NM", (3, 3), [(3, 2)]),
        (lambda x, y: np.take(x, [0], out=y), "NM", (3, 1), [(3, 2), (0, 1)]),
        (lambda x, y: x.flat.__setitem__(slice(None), y), "NM", (3, 2), []),
    ],
)
def test_writers_require_what_numpy_does(function, shapes, works, fails):
    arguments = [sb.array(n, dtype="int64") if n == "K" else n for n in shapes]
    report = sb.trace(function, *arguments)
    names = list(dict.fromkeys(shapes))
    assert holds(report, **dict(zip(names, works, strict=True)))
    for sizes in fails:
        assert not holds(report, **dict(zip(names, sizes, strict=True)))
    assert (report.verdict is sb.Verdict.ALWAYS) is (not fails)


def test_a_diagonal_of_three_axes_requires_equal_sizes():
    report = conditions(lambda x: np.fill_diagonal(x, 1), "N, M, K")
    assert holds(report, N=2, M=2, K=2)
    assert not holds(report, N=2, M=2, K=3)


def test_a_promise_about_sums_of_groups_is_broken():
    @sb.checked("N, D", sb.array("M", dtype="int64"), returns="4, D")
    def sums(x, groups):
        found = np.zeros((4, x.shape[1]))
        np.add.at(found, groups, x)
        return found

    module = type(sys)(sums.__module__)
    module.sums = sums
    assert sb.check_promises(module)


def test_triangles_have_as_many_elements_as_sizes_say():
    report = conditions(lambda x: np.triu_indices(len(x))[0], "N")
    assert not report.data_sizes
    assert report.shapes == sb.shape("(N**2 + N)//2") or str(report.shapes) == "((N**2 + N)//2,)"
    report = conditions(lambda x: x[np.triu_indices(len(x), 1)], "N, M")
    assert [holds(report, N=2, M=m) for m in range(4)] == [False, False, True, True]


def test_indices_that_sizes_decide_are_no_data():
    report = conditions(lambda x, y: x[np.arange(len(y)) % 3], "N", "M")
    assert [holds(report, N=2, M=m) for m in (1, 2, 3, 4)] == [True, True, False, False]
    report = conditions(lambda x, w: x[np.arange(len(w))[:, None] + np.arange(2)], "N", "M")
    assert [holds(report, N=3, M=m) for m in (0, 1, 2, 3)] == [True, True, True, False]
    report = sb.trace(lambda x: x[(np.arange(len(x)) ** 2) // 2], "N")
    assert not report.complete
    assert "depend on sizes only" in report.reason


def test_a_write_through_a_view_is_seen():
    def f(x, i):
        places = np.zeros(len(x), int)
        places[1:] = i
        return x[places]

    report = conditions(f, "N", sb.array("1", dtype="int64"))
    assert holds(report, N=2)
    assert holds(report, N=0)

    def g(x):
        mask = np.zeros(len(x), bool)
        view = mask[:1]
        view[...] = True
        return x[mask]

    report = sb.trace(g, "N")
    assert not report.complete
    assert "how many elements are true" in report.reason


@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.array(x.tolist()),
        lambda x: np.zeros(len(x), dtype=[("a", float)])["a"],
        lambda x: x.flat[:],
        lambda x: x[np.zeros(0, bool)],
        lambda x: x[np.ix_([0, 1], [])],
    ],
)
def test_these_work_always(function):
    assert sb.trace(function, "N, M").verdict is sb.Verdict.ALWAYS


def test_a_guard_takes_sizes_of_inputs():
    report = conditions(lambda x, y: np.unique(x)[:, None] + y, "N", "M")
    assert holds(report, N=3, M=3)
    report = conditions(lambda x, y: x[x > 0] + y, "N", "M")
    assert report.guard().parameters == ("N", "M")
    works = {(n, m) for n in range(5) for m in range(5) if holds(report, N=n, M=m)}
    assert works == {(n, m) for n in range(5) for m in range(5) if m in {1, *range(n + 1)} or n >= 1}
    assert report.verdict is sb.Verdict.SOMETIMES
    assert report.counterexample() == {"N": 0, "M": 2}
    assert "?count" in str(report.data_condition)
    assert report.to_dict()["data_condition"]


def test_data_that_may_fail_are_no_always():
    report = conditions(lambda x: x[x > 0].reshape(2, 2), "N")
    assert str(report.condition) == "N >= 4"

    def raises(x):
        if np.any(x):
            raise ValueError("some are true")
        return x

    report = conditions(raises, "N")
    assert report.verdict is sb.Verdict.SOMETIMES
    assert report.counterexample() is None
    assert "if the data suit" in report.explain()
    assert [f.counterexample for f in report.findings] == [{"N": 1, "?count": 1}]


def test_no_function_of_arrays_takes_what_it_does_not_know():
    """A function with ``**options`` or ``*args`` would drop what it does not know."""
    dropping = re.compile(r"\*\*?_\b")
    folder = Path(sb.__file__).parent / "arrays"
    for file in ("array_functions", "data_functions", "methods", "ufuncs"):
        assert not dropping.search((folder / "functions" / f"{file}.py").read_text("utf-8")), file
    assert not dropping.search((folder / "indexing.py").read_text("utf-8"))


def test_every_public_name_is_known_or_ends_the_path():
    """What is not known and not written in Python ends a path with its name."""
    for text, function in numpy_calls.public_names():
        is_python = hasattr(getattr(function, "_implementation", None), "__code__") or hasattr(function, "__code__")
        if (
            text.startswith("np.")
            and not isinstance(function, np.ufunc)
            and function not in FUNCTIONS
            and not is_python
        ):
            name = text.rpartition(".")[2]
            report = sb.trace(lambda x, f=function: f(x), "N")
            assert not report.complete or report.verdict is sb.Verdict.NEVER or name in STOOD_FOR, text
        elif text.startswith("v.") and text[2:] not in METHODS:
            report = sb.trace(lambda x, name=text[2:]: getattr(x, name)(), "N")
            assert not report.complete, text


STOOD_FOR = frozenset(
    {"array", "asarray", "asanyarray", "ascontiguousarray", "asfortranarray", "result_type", "broadcast"}
)


def test_listed_calls_are_right_in_a_process_of_their_own():
    run = [sys.executable, numpy_calls.__file__, "--listed", "--part", f"5/{EVERY}"]
    said = subprocess.run(run, capture_output=True, text=True, check=True).stdout.splitlines()
    kinds = {line.split()[0] for line in said[:-1]}
    assert kinds <= {"right", "unknown"}, [line for line in said if line.split()[0] not in ("right", "unknown")]
