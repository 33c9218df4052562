"""OpenVINO's partial shapes in and out."""

from __future__ import annotations

import gc

import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

import symbcast as sb
from symbcast.adapters import openvino as adapter

ov = pytest.importorskip("openvino")
ops = pytest.importorskip("openvino.opset13")


def with_symbol(held, *bounds):
    dimension = ov.Dimension(*bounds)
    dimension.set_symbol(held)
    return dimension


dims = st.one_of(st.integers(0, 9), st.sampled_from(["N", "M", "?", "?a", "2..5", "3..", "..7"]))


@given(st.lists(dims, max_size=5))
def test_shapes_are_read_back(dims):
    shape = sb.shape(tuple(dims))
    written = adapter.write(shape)
    assert adapter.read(written) == shape
    assert [(d.get_min_length(), d.get_max_length()) for d in written] == [bounds(d) for d in shape]


def bounds(dim):
    if isinstance(dim, int):
        return dim, dim
    high = getattr(dim, "upper", None)
    return getattr(dim, "lower", 0), -1 if high is None else high


def test_bounds_are_the_unknowns_own():
    shape = adapter.read(ov.PartialShape("1..,..5,?,2..7,4"))
    assert shape == sb.shape("1.., ..5, ?, 2..7, 4")
    assert sb.broadcast(ov.PartialShape("2..7"), "8").verdict is sb.Verdict.NEVER
    assert adapter.assumptions(ov.PartialShape("2..7")) == []


def test_unknowns_without_a_symbol_are_different():
    shape = ov.PartialShape([-1, -1])
    first, second = adapter.read(shape)
    assert first != second
    assert sb.broadcast(shape, shape).verdict is sb.Verdict.SOMETIMES


def test_a_symbol_is_one_size():
    held = ov.Symbol()
    shape = ov.PartialShape([with_symbol(held), with_symbol(held, 3, 9), 1])
    first, second, _ = adapter.read(shape)
    assert first is second is adapter.read(shape)[0]
    assert sb.broadcast((shape[0],), (shape[1],)).verdict is sb.Verdict.ALWAYS
    assert adapter.assumptions(shape) == [sympy.Ge(first, 3), sympy.Le(first, 9)]
    assert [d.get_symbol() == held for d in adapter.write(adapter.read(shape))] == [True, True, False]


def test_the_bounds_of_a_symbol_hold_of_the_shape_passed_directly():
    held = ov.Symbol()
    shape = ov.PartialShape([with_symbol(held, 3, 9), 1])
    result = sb.broadcast(shape, "2, 4", assume=adapter.assumptions(shape))
    assert result.verdict is sb.Verdict.NEVER
    assert sb.broadcast(shape, "2, 4").verdict is sb.Verdict.SOMETIMES


def test_a_symbol_is_forgotten_with_its_dimension():
    gc.collect()
    before = len(adapter._dims_by_symbol)
    kept = adapter.read(ov.PartialShape([with_symbol(ov.Symbol()), with_symbol(ov.Symbol())]))
    assert len(adapter._dims_by_symbol) == before + 2
    assert kept[0] != kept[1]


def test_symbols_go_through_a_model():
    parameter = ops.parameter(ov.PartialShape([with_symbol(ov.Symbol()), 3]))
    model = ov.Model([ops.relu(parameter)], [parameter])
    shapes = [parameter, parameter.output(0), model.input(0), model.output(0), model.get_parameters()[0]]
    assert len({sb.shape(s) for s in shapes}) == 1
    assert sb.broadcast(model.input(0), model.output(0)).verdict is sb.Verdict.ALWAYS


def test_assumed_ranges_are_written():
    one, other = adapter.write_all(["N, ?a", "?a, M"], assume=["N == M", "M >= 2", "M <= 8", "?a >= 1"])
    assert [str(one), str(other)] == ["[2..8,1..]", "[1..,2..8]"]
    assert one[0].get_symbol() == other[1].get_symbol()
    assert one[1].get_symbol() == other[0].get_symbol()
    assert adapter.assumptions(adapter.write("N", assume="N <= 7")) == [sb.symbol("N") <= 7]


def test_tensors_and_dimensions():
    assert sb.shape(ov.Tensor(ov.Type.f32, ov.Shape([2, 3]))) == sb.shape((2, 3))
    assert sb.shape(("N", ov.Dimension(3), ov.Dimension(0, 5))) == sb.shape("N, 3, ..5")
    assert adapter.read(ov.Dimension(3)) == sb.shape("3")


@pytest.mark.parametrize(
    ("text", "how", "says"),
    [
        ("N + 1", {}, "not expressions"),
        ("N//2", {}, "not expressions"),
        ("broadcast(N, M)", {}, "not expressions"),
        ("N", {"assume": "N % 2 == 0"}, "gaps"),
        ("N, M", {"assume": "N < M"}, "several sizes"),
    ],
)
def test_what_a_partial_shape_cannot_express_says_so(text, how, says):
    with pytest.raises(sb.DimensionError, match=says):
        adapter.write(text, **how)


@pytest.mark.parametrize(
    ("value", "error"),
    [
        (ops.split(ops.parameter([4, 4]), 0, 2), sb.ShapeTypeError),
        (ov.Type.f32, sb.ShapeTypeError),
        (3, sb.ShapeTypeError),
    ],
)
def test_what_has_no_shape_is_refused(value, error):
    with pytest.raises(error):
        adapter.read(value)


def test_a_dynamic_rank_is_any_number_of_axes():
    result = sb.broadcast(ov.PartialShape.dynamic(), "N, 3")
    assert str(result.shape) == "(...0[:-2], broadcast(...0[-2], N), 3)"
    assert adapter.assumptions(ov.PartialShape.dynamic()) == []
    written = adapter.write_all(["...", "?a, 3", "?a"])
    assert [p.rank.is_dynamic for p in written] == [True, False, False]
    assert written[1][0].get_symbol() == written[2][0].get_symbol()
    with pytest.raises(sb.UnknownRankError):
        adapter.write("..., 3")
