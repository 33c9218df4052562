"""Mistakes that are put into a trace: real calls find them, and the answer is unknown, with both sides."""

import itertools

import numpy as np
import pytest

import symbcast as sb
from symbcast.arrays.functions import array_functions
from symbcast.arrays.symbolic_array import SymbolicArray
from symbcast.core.algebra.arithmetic import add, floor_divide, maximum, modulo, multiply, subtract
from symbcast.core.algebra.formulas import TRUE, Comparison, Compatible, all_of, any_of, at_most, equal, negate
from symbcast.core.solver.evaluation import symbols_in
from symbcast.core.text import parse_formula
from symbcast.paths.answer import conclusions_of
from symbcast.paths.path import Path
from symbcast.paths.regions import Literals

JOINED = (lambda x, y: np.concatenate([x, y]), "N, M", "K, M")
ADDED = (lambda x, y: x + y, "N", "M")
QUARTERS = (lambda x: x.reshape(-1, 4), "N")
THIRD = (lambda x: x[2], "N, M")
PRODUCT = (lambda x, y: x @ y, "N, M", "K, L")
ROLLED = (lambda x: np.roll(x, 1, axis=0), "N, M")
MASKED = (lambda x, y: np.concatenate([x[y > 0], x]), "N, M", "N")


def wrong_shape(real, change):
    """A function of NumPy, traced with a mistake in its shape."""

    def put(monkeypatch):
        right = array_functions.FUNCTIONS[real]

        def ours(*args, **options):
            found = right(*args, **options)
            return SymbolicArray(change(found.dims), found.dtype)

        monkeypatch.setitem(array_functions.FUNCTIONS, real, ours)

    return put


def wrong_requirement(change):
    """Requirements of traces, with a mistake in them."""

    def put(monkeypatch):
        right = Path.require
        monkeypatch.setattr(Path, "require", lambda self, formula, *rest: right(self, change(formula), *rest))

    return put


def fails(real):
    """A function of NumPy that is thought to fail."""

    def put(monkeypatch):
        def ours(*args, **options):
            raise ValueError("as it is not")

        monkeypatch.setitem(array_functions.FUNCTIONS, real, ours)

    return put


def first(change):
    return lambda dims: (change(dims[0]), *dims[1:])


def compatible(change):
    return lambda formula: change(formula.dims) if isinstance(formula, Compatible) else formula


def compared(operator, change):
    return lambda f: change(f) if isinstance(f, Comparison) and f.operator == operator else f


def stronger_equality(formula):
    return all_of([formula, at_most(1, formula.left)])


FAULTS = {
    # Wrong shapes.
    "a size too large": (JOINED, wrong_shape(np.concatenate, first(lambda d: add(d, 1)))),
    "a size too small": (JOINED, wrong_shape(np.concatenate, first(lambda d: subtract(d, 1)))),
    "twice the size": (JOINED, wrong_shape(np.concatenate, first(lambda d: multiply(d, 2)))),
    "another axis": (JOINED, wrong_shape(np.concatenate, lambda d: (d[1], d[0]))),
    "a square": (JOINED, wrong_shape(np.concatenate, lambda d: (d[0], d[0]))),
    "an axis too many": (JOINED, wrong_shape(np.concatenate, lambda d: (*d, 1))),
    "an axis missing": (JOINED, wrong_shape(np.concatenate, lambda d: d[:1])),
    "a number": (JOINED, wrong_shape(np.concatenate, lambda d: (2, *d[1:]))),
    "even sizes only": (ROLLED, wrong_shape(np.roll, first(lambda d: multiply(floor_divide(d, 2), 2)))),
    "never 0": (ROLLED, wrong_shape(np.roll, first(lambda d: maximum([d, 1])))),
    "never 1": (ROLLED, wrong_shape(np.roll, first(lambda d: add(d, floor_divide(1, add(d, 1)))))),
    "turned": (ROLLED, wrong_shape(np.roll, lambda d: (d[1], d[0]))),
    "beside what data decide": (MASKED, wrong_shape(np.concatenate, lambda d: (d[0], add(d[1], 1)))),
    "a rank of what data decide": (MASKED, wrong_shape(np.concatenate, lambda d: d[:1])),
    # Errors.
    "always fails": (JOINED, fails(np.concatenate)),
    "fails where data decide": (MASKED, fails(np.concatenate)),
    # Requirements that are too strong.
    "no stretching": (ADDED, wrong_requirement(compatible(lambda d: equal(*d)))),
    "stretching to the right only": (
        ADDED,
        wrong_requirement(compatible(lambda d: any_of([equal(*d), equal(d[0], 1)]))),
    ),
    "stretching to the left only": (
        ADDED,
        wrong_requirement(compatible(lambda d: any_of([equal(*d), equal(d[1], 1)]))),
    ),
    "no empty broadcasts": (ADDED, wrong_requirement(compatible(lambda d: all_of([Compatible(d), at_most(1, d[0])])))),
    "eighths": (QUARTERS, wrong_requirement(lambda f: all_of([f, equal(rest(f, 8), 0)]))),
    "not 0": (QUARTERS, wrong_requirement(lambda f: all_of([f, at_most(1, symbol_of(f))]))),
    "a row more": (THIRD, wrong_requirement(lambda f: all_of([f, at_most(4, symbol_of(f))]))),
    "a product of some rows": (PRODUCT, wrong_requirement(compared("==", stronger_equality))),
    "never": (PRODUCT, wrong_requirement(compared("==", lambda f: all_of([f, at_most(100, f.left)])))),
    # Requirements that are too weak.
    "any broadcast": (ADDED, wrong_requirement(compatible(lambda d: TRUE))),
    "a size of 0 too": (ADDED, wrong_requirement(compatible(lambda d: any_of([Compatible(d), equal(d[0], 0)])))),
    "the larger size": (ADDED, wrong_requirement(compatible(lambda d: at_most(d[0], d[1])))),
    "halves": (QUARTERS, wrong_requirement(lambda f: equal(rest(f, 2), 0))),
    "any size": (QUARTERS, wrong_requirement(lambda f: TRUE)),
    "a row less": (THIRD, wrong_requirement(lambda f: at_most(2, symbol_of(f)))),
    "any row": (THIRD, wrong_requirement(lambda f: TRUE)),
    "a product of any rows": (PRODUCT, wrong_requirement(compared("==", lambda f: TRUE))),
    "a product that broadcasts": (PRODUCT, wrong_requirement(compared("==", lambda f: Compatible((f.left, f.right))))),
    "the opposite": (PRODUCT, wrong_requirement(compared("==", negate))),
}


def symbol_of(formula):
    return next(iter(symbols_in(formula)))


def rest(formula, number):
    return modulo(symbol_of(formula), number)


def works_at(report, sizes):
    """Whether a function is known to work at sizes; None if that is open."""
    names = conclusions_of(report).scope.names
    return report.account.at(dict(zip(names, sizes, strict=True)), names)


@pytest.mark.parametrize("name", FAULTS)
def test_a_mistake_in_a_trace_is_found(name, monkeypatch):
    (function, *arguments), put = FAULTS[name]
    right = sb.trace(function, *arguments)
    assert right.complete
    put(monkeypatch)
    found = sb.trace(function, *arguments)
    assert not found.complete
    for sizes in itertools.product(range(6), repeat=len(conclusions_of(found).scope.names)):
        said = works_at(found, sizes)
        assert said in (None, works_at(right, sizes)), sizes
    assert " the real call " in found.reason
    assert "; the trace predicted " in found.reason


# What is right stays known, whatever data it takes.


def root(x):
    return np.linalg.cholesky(x)


def checks(x):
    if (x < 0).any():
        raise ValueError("negative")
    return np.sqrt(x)


def sums(i, w):
    found = np.zeros(4)
    return found + w.sum() + i.max(initial=0)


HONEST = {
    "a matrix that is positive definite": (root, ["N, M"], "N == M"),
    "an index": (lambda x, i: x[i], ["N", sb.array("K", "int64")], "N >= 1 or K == 0"),
    "one more than an index": (lambda x, i: x[i + 1], ["N", sb.array("K", "int64")], "N >= 1 or K == 0"),
    "an inverse": (np.linalg.inv, ["N, M"], "N == M"),
    "sorted edges": (np.digitize, ["N", "M"], "True"),
    "whole numbers": (sums, [sb.array("N", "int64"), "M"], "True"),
}


@pytest.mark.parametrize("name", HONEST)
def test_what_few_data_allow_is_confirmed(name):
    function, arguments, condition = HONEST[name]
    report = sb.trace(function, *arguments)
    assert report.complete, report.reason
    assert report.condition.equivalent(condition)
    assert not report.unconfirmed.guard()(**dict.fromkeys(map(str, report.unconfirmed.symbols), 1))


def test_an_error_that_data_decide_is_a_case():
    report = sb.trace(checks, "N, M")
    assert report.complete, report.reason
    assert {c.works for c in report.cases} == {True, False}


def test_an_error_that_a_trace_made_is_not_confirmed_by_another_one_of_its_line(monkeypatch):
    def wrong(a):
        raise ValueError("sorted wrongly")

    monkeypatch.setitem(array_functions.FUNCTIONS, np.sort, wrong)
    report = sb.trace(lambda x, y: np.sort(x) + y, "N,", "M,")  # broadcasting fails in the same line where sizes differ
    assert not report.complete


def differs_in_a_trace(x, y):
    if type(x) is not np.ndarray:
        x = x + y
    return x if x.sum() > 0 else x * 2


def test_a_refuted_requirement_of_several_paths_leaves_all_of_them_unknown():
    report = sb.trace(differs_in_a_trace, "N", "M", observe=False)
    assert report.verdict is sb.Verdict.UNKNOWN
    assert "at N=2, M=3 the real call returned (2)" in report.reason


def test_neither_a_comparison_nor_its_negation_holds_where_it_is_undefined():
    texts = ("broadcast((N + 1)//2, N//2) <= 1", "N % 2 == 0", "N <= 1")
    join, even, small = map(parse_formula, texts)
    literals = Literals({})
    cubes = [literals.cube(formulas) for formulas in ([negate(small), negate(even)], [negate(small), even, join])]
    within = literals.within([c for c in cubes if c is not None])
    of_join = next(n for n in range(len(within)) if literals[n] == join)
    assert (within[of_join], within[of_join ^ 1]) == (0b10, 0)


def test_a_path_of_large_sizes_is_said_to_be_unconfirmed():
    report = sb.trace(lambda x: x[:7] if x.shape[0] > 9999 else x, "N")
    assert report.verdict is sb.Verdict.ALWAYS
    assert report.unconfirmed.equivalent("N > 9999")
    assert "unconfirmed  when N is at least 10000" in report.explain()
    assert report.to_dict()["unconfirmed"] == "N > 9999"


def test_a_path_that_only_numbers_take_is_found_by_sizes_of_0():
    def run(sizes):
        (n,) = sizes
        return 7 if type(n) is int and n == 0 else n

    found = sb.explore_paths(run, "N")
    assert found.verdict is sb.Verdict.UNKNOWN
    assert "at N=0 the real call returned 7; the trace predicted the result 0" in found.reason


def test_calls_are_bounded():
    calls = []

    def many(x, y, z):
        calls.append(x.shape)
        for n in range(8):
            if x.shape[0] == n or y.shape[0] > n:
                z = z + y[:1]
        return x + y + z

    report = sb.trace(many, "N", "M", "K", max_paths=12)
    assert report.paths == 12
    assert len(calls) <= 12 + 7 * 12 + 160


def test_sizes_are_pairwise_different_0_and_1():
    seen = set()

    def function(x, y):
        if type(x) is np.ndarray:
            seen.add((*x.shape, *y.shape))
        return x @ y

    assert sb.trace(function, "N, M", "M, K").complete
    assert all(len({n, m, k}) == 3 for n, m, _, k in seen)
    assert {n for n, _, _, _ in seen} >= {0, 1, 2}
    assert {m for _, m, _, _ in seen} >= {0, 1, 3}
    assert {k for _, _, _, k in seen} >= {0, 1, 5}


def _picky(order, offsets):
    if type(order) is not np.ndarray or type(offsets) is not np.ndarray:
        raise TypeError("no matching signature")
    for n in order:
        for offset in offsets:
            if n + offset >= 0:
                order[n + offset]


def _many_doubts(x):
    mask = np.ones(x.shape)
    mask[0] = 0
    offsets = np.array([x.shape[0], -x.shape[0], 1]).astype(np.int32)
    _picky(np.argsort(x, kind="stable").astype(np.int64), offsets)
    return x


def test_a_refuted_beginning_contains_the_longer_unknown_paths():
    # Regression: two paths of unknown ends shared sizes, and the region of one of them raised ValueError.
    answer = sb.trace(_many_doubts, sb.array("N"))
    (part,) = answer.account.open
    assert part.reason.startswith("at N=2 the real call raised IndexError")
    assert answer.verdict is sb.Verdict.OBSERVED
    assert "more reasons" not in str(answer)
