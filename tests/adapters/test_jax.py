"""Jax dimensions in and out, held against jax's own evaluation."""

from __future__ import annotations

import gc
import itertools

import pytest
from hypothesis import given
from solver.expressions import NAMES, SYMBOLS, expressions

import symbcast as sb
from symbcast.adapters import jax as adapter
from symbcast.core.shapes import shape_of
from symbcast.core.solver.evaluation import value_function

jax = pytest.importorskip("jax")
export = pytest.importorskip("jax.export")

POINTS = list(itertools.product(range(1, 5), repeat=3))
total = expressions(3, divisors=(2, 3, 4, -2), functions=("min", "max"), max_leaves=5).filter(
    lambda e: not isinstance(e.dim, int)
)


def evaluate(dim, point):
    return dim if isinstance(dim, int) else dim._evaluate(dict(zip(NAMES, point, strict=True)))


@given(total)
def test_dimensions_have_the_same_sizes_in_jax_and_back(expression):
    try:
        (written,) = adapter.write(shape_of((expression.dim,)), min_size=1)
        (back,) = adapter.read((written,)).dims
    except sb.DimensionError:
        assert expression.at((1, 1, 1)) < 0, "jax finds some dimensions to be a negative number"
        return
    compiled = value_function(back, SYMBOLS)
    for point in POINTS:
        assert evaluate(written, point) == expression.at(point), point
        assert compiled(*point) == expression.at(point), point


@given(expressions(3, divisors=(2, 3, 4), max_leaves=5).filter(lambda e: not isinstance(e.dim, int)))
def test_what_is_written_is_read_back(expression):
    shape = shape_of((expression.dim,))
    assert adapter.read(adapter.write(shape, min_size=1)).dims == shape.dims


@pytest.mark.parametrize(
    "text",
    ["N, 3", "()", "N", "2*N - 1, N//2, max(N, M) % 3", "N//M, N % M, min(N, 3*M)", "?, 2..5", "?a, ?a + 1", "N**3*M"],
)
def test_shapes_are_read_back(text):
    shape = sb.shape(text)
    assert adapter.read(adapter.write(shape, min_size=1)) == shape


@pytest.mark.parametrize(
    "text", ["floordiv(a - 9, b)", "mod(a - 9, b)", "mod(a, -3)", "floordiv(a, -2)", "- b - 2*a^2"]
)
def test_division_is_pythons(text):
    (dim,) = export.symbolic_shape(text)
    compiled = value_function(adapter.read((dim,)).dims[0], tuple(adapter._scopes.symbol(dim.scope, n) for n in NAMES))
    for point in POINTS:
        assert compiled(*point) == evaluate(dim, point), point


def test_one_size_of_a_scope_is_one_dimension():
    a, b = export.symbolic_shape("a, b")
    first, second = jax.ShapeDtypeStruct((a, b, 3), "float32"), jax.ShapeDtypeStruct((a, 1, 3), "float32")
    assert adapter.read(first)[0] is adapter.read(second)[0]
    assert sb.broadcast(first, second).verdict is sb.Verdict.ALWAYS
    assert sb.broadcast(first, "a, b, 3").verdict is sb.Verdict.ALWAYS


def test_sizes_of_two_scopes_are_two():
    one, other = (jax.ShapeDtypeStruct(export.symbolic_shape("a"), "float32") for _ in range(2))
    result = sb.broadcast(one, other)
    assert result.verdict is sb.Verdict.SOMETIMES
    assert result.counterexample() == {"a": 2, "a_1": 3}


def test_a_scope_is_forgotten_with_its_shapes():
    adapter.read(export.symbolic_shape("a"))
    gc.collect()
    before = len(adapter._scopes._symbols)
    adapter.read(export.symbolic_shape("gone"))
    gc.collect()
    assert len(adapter._scopes._symbols) <= before


def test_a_scope_brings_its_constraints():
    a, b = export.symbolic_shape("a, b", constraints=["a >= 4", "mod(b, 2) == 0", "3*b <= a^2"])
    known = adapter.assumptions((a,))
    assert sb.broadcast((a,), (4,), assume=[*known, "a <= 4"]).verdict is sb.Verdict.ALWAYS
    assert sb.broadcast((b,), (3,), assume=[*known, "b < 3"]).verdict is sb.Verdict.NEVER
    with pytest.raises(sb.AssumptionError):
        sb.broadcast((a, b), (1,), assume=[*known, "b >= 100", "a <= 17"])


def test_every_size_is_at_least_1():
    (a,) = export.symbolic_shape("a")
    assert sb.broadcast((a,), (3,), assume=[*adapter.assumptions(a), "a <= 1"]).verdict is sb.Verdict.ALWAYS
    assert sb.broadcast((a,), (3,), assume="a <= 1").verdict is sb.Verdict.SOMETIMES


def test_assumptions_become_constraints():
    shape = adapter.write("N, M", assume=["N >= 4", "N <= 64", "N % 2 == 0", "M > N", "M + N <= 100"])
    known = adapter.assumptions(shape)
    for assumed in ["N >= 4", "N <= 64", "N % 2 == 0", "M >= N + 1", "M + N <= 100"]:
        # Under what was written and its own negation nothing is left.
        with pytest.raises(sb.AssumptionError):
            sb.broadcast("N", "M", assume=[*known, f"not ({assumed})"])


def test_what_the_assumptions_fix_is_put_in():
    one, other = adapter.write_all(["N, ?a, 3", "M, ?a, K"], assume=["N == M", "K == 3"], min_size=1)
    assert one == other
    assert one[0].scope is other[1].scope


def test_what_was_exported_can_be_asked_about():
    shape = jax.ShapeDtypeStruct(adapter.write("N, 2*N", assume="N >= 2"), "float32")
    exported = export.export(jax.jit(lambda x: x.sum(0)))(shape)
    assert adapter.read(exported.in_avals[0]) == sb.shape("N, 2*N")
    assert adapter.read(exported.out_avals[0]) == sb.shape("2*N")


def test_names_that_are_words_of_our_own_stay_names():
    shape = export.symbolic_shape("None, and, broadcast, not")
    assert [s.name for s in adapter.read(shape).symbols] == ["None", "and", "broadcast", "not"]


def test_concrete_arrays_have_shapes():
    assert adapter.read(jax.ShapeDtypeStruct((2, 3), "float32")) == sb.shape((2, 3))
    assert adapter.assumptions(jax.ShapeDtypeStruct((2, 3), "float32")) == []


@pytest.mark.parametrize(
    ("text", "how", "says"),
    [
        ("N", {}, "N >= 1"),
        ("N", {"assume": "N == 0 or N >= 5"}, "N >= 1"),
        ("broadcast(N, M)", {"min_size": 1}, r"rewrite\(sympy.Max\)"),
        ("2*broadcast(N, M) + 1", {"min_size": 1}, "broadcast of two sizes"),
        ("'a b'", {"min_size": 1}, "identifiers"),
        ("max", {"min_size": 1}, "identifiers"),
        ("_", {"min_size": 1}, "identifiers"),
        ("N, M", {"assume": "N != M", "min_size": 1}, "=="),
        ("N", {"assume": "N == 1 or N >= 5"}, "=="),
    ],
)
def test_what_jax_cannot_express_says_so(text, how, says):
    with pytest.raises(sb.DimensionError, match=says):
        adapter.write(text, **how)


@pytest.mark.parametrize("value", [3, 2.5, object(), None])
def test_what_is_no_shape_is_refused(value):
    with pytest.raises(sb.ShapeTypeError):
        adapter.read(value)
