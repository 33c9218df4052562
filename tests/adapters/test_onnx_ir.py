"""onnx-ir dimensions in and out, held against onnx-ir's own evaluation."""

from __future__ import annotations

import itertools
import math

import pytest
import sympy
from hypothesis import assume, given
from solver.expressions import NAMES, SYMBOLS, expressions

import symbcast as sb
from symbcast.adapters import onnx_ir as adapter
from symbcast.core.shapes import shape_of
from symbcast.core.solver.evaluation import value_function

ir = pytest.importorskip("onnx_ir")

POINTS = list(itertools.product(range(6), repeat=3))
N = sb.symbol("N")


@given(
    expressions(3, divisors=(2, 3, 4), functions=("min", "max"), max_leaves=5).filter(
        lambda e: not isinstance(e.dim, int)
    )
)
def test_dimensions_have_the_same_sizes_in_onnx_ir_and_back(expression):
    try:
        written = adapter.write(shape_of((expression.dim,)))
    except sb.DimensionError as error:
        assume("wrongly" not in error.problem and "at least 1" not in error.problem)
        assert expression.at((1, 1, 1)) < 0, "sympy finds some dimensions to be a negative number"
        return
    (back,) = adapter.read(written).dims
    (reread,) = adapter.read(ir.Shape([str(written[0])])).dims  # as it comes back from a file
    first, second = value_function(back, SYMBOLS), value_function(reread, SYMBOLS)
    dim = written[0]
    for point in [p for p in POINTS if 0 not in p][::7]:
        theirs = dim if isinstance(dim, int) else dim.evaluate(dict(zip(NAMES, point, strict=True)))
        assert theirs == expression.at(point), point
    for point in POINTS:
        assert first(*point) == second(*point) == expression.at(point), point


@pytest.mark.parametrize(
    "text",
    [
        "N, 3",
        "()",
        "?, ?",
        "'a b', batch.1",
        "N//2, N % 3, ((N + 1)//2 + 1)//3",
        "max(N, M) - 1, min(N, 4)",
        "1 - N**2",
    ],
)
def test_shapes_are_read_back(text):
    shape = sb.shape(text)
    assert adapter.read(adapter.write(shape)) == shape


@pytest.mark.parametrize(
    ("text", "dim"),
    [
        ("N", "N"),
        ("batch.1", "batch.1"),
        ("a b", "'a b'"),
        ("N+", "'N+'"),
        ("S", "S"),
        ("N//2 + 1", "N//2 + 1"),
        ("floor(N/2)", "N//2"),
        ("Max(N, M)", "max(N, M)"),
        ("N % 2", "N % 2"),
        ("7", "7"),
        ("?", "?"),
        ("-1", "?"),
        ("", "?"),
        (None, "?"),
    ],
)
def test_texts_are_read(text, dim):
    assert adapter.read(ir.Shape([text])) == sb.shape(f"{dim},")


def test_arithmetic_of_onnx_ir_is_read():
    n = ir.SymbolicDim("N")
    assert adapter.read((n + 1, n * 2, math.ceil(n / 2), n // 2)) == sb.shape("N + 1, 2*N, -(-N//2), N//2")


def test_a_name_is_one_size_and_unknowns_are_not():
    shape = ir.Shape(["N", None])
    assert sb.broadcast(ir.Shape(["N"]), ir.Shape(["N"])).verdict is sb.Verdict.ALWAYS
    assert sb.broadcast(shape, shape).verdict is sb.Verdict.SOMETIMES
    assert sb.broadcast(shape, "N, 1").verdict is sb.Verdict.ALWAYS


def test_names_within_expressions_are_at_least_1():
    assert adapter.assumptions(ir.Shape(["M", "N + 1", 3, None]), ir.SymbolicDim("N") * 2) == [sympy.Ge(N, 1)]


def test_values_have_shapes():
    assert sb.shape(ir.Value(name="x", shape=ir.Shape(["N", 3]))) == sb.shape("N, 3")
    assert sb.shape(("M", ir.SymbolicDim("N"))) == sb.shape("M, N")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("broadcast(N, M)", "broadcast of two sizes"),
        ("N//M", "divide by a number"),
        ("N*M % M", "divide by a number"),
        ("min(N, 4)//2", "its own name"),
        ("(N % 4) % 3", "its own name"),
        ("?a, ?a", "a name instead"),
        ("?a + 1", "a name instead"),
        ("2..5", "bounds"),
        ("'N+1'", "another name"),
        ("'?'", "another name"),
        ("'a b' + 1", "as one name;"),
        ("min(N, 1)", "as 1;"),
    ],
)
def test_what_onnx_ir_cannot_express_says_so(text, says):
    with pytest.raises(sb.DimensionError, match=says):
        adapter.write(text)


@pytest.mark.parametrize(
    ("value", "error"),
    [
        (3, sb.ShapeTypeError),
        (ir.Shape(["N/2"]), sb.DimensionError),
        (ir.Shape(["sqrt(N)"]), sb.DimensionError),
        (ir.Shape([ir.SymbolicDim(sympy.Integer(-3))]), sb.DimensionError),
    ],
)
def test_what_is_no_shape_is_refused(value, error):
    with pytest.raises(error):
        adapter.read(value)


def test_a_value_without_a_shape_has_any_number_of_axes():
    assert str(sb.broadcast(ir.Value(name="x"), "N").shape) == "(...0[:-1], broadcast(...0[-1], N))"
    with pytest.raises(sb.UnknownRankError):
        adapter.write("..., 3")
