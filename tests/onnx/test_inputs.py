"""The inputs of a model: what their sizes are called, and what they hold."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from parsed_models import parsed, shape_at

import symbcast as sb


def taking(*dims, name="x", dtype=TensorProto.FLOAT, ir_version=10, initializer=()):
    """Return a model that hands on one input."""
    graph = helper.make_graph(
        [helper.make_node("Identity", [name], ["y"])],
        "g",
        [helper.make_tensor_value_info(name, dtype, dims)],
        [onnx.ValueInfoProto(name="y")],
        initializer=list(initializer),
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=ir_version)


def names_of(*dims, **given):
    return [s.name for s in sb.onnx.check(taking(*dims, **given)).inputs[given.get("name", "x")].symbols]


SENTENCES = ["Max(1, N)", "floor(N/2)", "ceil(N)", "abs(N)", "Mod(N, 2)", "N mod 4", "N squared", "twice N", "+N", "2N"]
"""Names that people could mean as sizes in a shape that they write; in a model nobody says so."""


@pytest.mark.parametrize(
    "name",
    ["batch", "N", "S", "E", "lambda", "größe", "dynamic_axes_1", "a b", "x:0", "batch-size", "a.b", "3d", *SENTENCES],
)
def test_names_are_kept(name):
    assert names_of(name) == [name]
    assert names_of(name, name) == [name]


@pytest.mark.parametrize("dim", [None, "", "?", "-1", "None", "unk__7", -1])
def test_what_has_no_name_is_called_after_its_place(dim):
    assert names_of(3, dim, dim) == ["x_dim_1", "x_dim_2"]
    assert names_of(dim, name="model/in:0") == ["model_in_0_dim_0"]


def test_a_name_that_is_taken_is_not_given_to_another():
    assert names_of("x_dim_1", None) == ["x_dim_1", "x_dim_1_"]


@pytest.mark.parametrize(
    ("dims", "at_4"), [(("N", "N+1"), (4, 5)), (("N - 1", "2*N"), (3, 8)), (("N//2", "N"), (2, 4)), (("(N)",), (4,))]
)
def test_expressions_are_sizes(dims, at_4):
    report = sb.onnx.check(taking(*dims))
    assert shape_at(report, "y", {"N": 4}) == at_4


def test_a_difference_of_names_that_stand_alone_too():
    report = sb.onnx.check(taking("batch", "size", "batch-size"))
    assert shape_at(report, "y", {"batch": 5, "size": 2}) == (5, 2, 3)


def test_numbers_are_what_they_are():
    assert sb.onnx.check(taking(0, 3)).shapes["y"] == (0, 3)


def test_an_input_without_a_shape():
    model = taking(1)
    model.graph.input[0].type.tensor_type.ClearField("shape")
    report = sb.onnx.check(model)
    assert str(report.shapes["x"]) == "(*x,)"
    assert str(report.shapes["y"]) == "(*x,)"


def test_inputs_of_other_kinds_are_not_known():
    model = parsed("g (seq(float[N]) x, float[M] w) => (float[M] y) { y = Relu(w) }")
    report = sb.onnx.check(model)
    assert report.shapes["x"] is None
    assert str(report.shapes["y"]) == "(M,)"


def test_the_least_size_is_that_of_inputs():
    model = parsed("g (float[N, M] x) => (float[K] y) { y = ArgMax<axis = 0>(x) }")
    assert sb.onnx.check(model).verdict is sb.Verdict.ALWAYS
    assert str(sb.onnx.check(model, min_size=0).condition) == "N >= 1"
    assert sb.onnx.check(model, assume="N >= 2", min_size=0).verdict is sb.Verdict.ALWAYS


@pytest.mark.parametrize("ir_version", [3, 10])
def test_initializers_that_are_inputs_too_are_constants(ir_version):
    """Before version 4 of the format each of them had to be."""
    weights = numpy_helper.from_array(np.zeros((3, 4), np.float32), "w")
    model = parsed("g (float[N, K] x, float[3, 4] w) => (float[N, 4] y) { y = MatMul(x, w) }", 8, ir_version)
    model.graph.initializer.append(weights)
    report = sb.onnx.check(model)
    assert list(report.inputs) == ["x"]
    assert str(report.condition) == "K == 3"


def test_short_vectors_of_integers_hold_sizes():
    model = parsed("g (float[N, M] x, int64[2] target) => (float[A, B] y) { y = Expand(x, target) }")
    report = sb.onnx.check(model)
    assert shape_at(report, "y", {"N": 1, "M": 3, "target_0": 5, "target_1": 1}) == (5, 3)
    assert set(report.data_sizes) == {"target_0", "target_1"}
    assert "target_0" in str(report.data_condition)


def test_a_scalar_holds_a_size():
    model = parsed(
        """g (float[N] x, int64 k) => (float[K] y) <int64[1] zero = {0}> {
            count = Unsqueeze(k, zero)
            y, i = TopK(x, count)
        }"""
    )
    report = sb.onnx.check(model)
    assert list(report.data_sizes) == ["k"]
    assert str(report.data_condition) == "k <= N"
    assert report.condition == True  # noqa: E712 - a sympy truth value: some k will do


def test_a_held_size_does_not_take_the_name_of_a_dimension():
    model = parsed(
        "g (float[k] x, int64 k) => (float[A] y) <int64[1] z = {0}> { n = Unsqueeze(k, z)  y = Expand(x, n) }"
    )
    report = sb.onnx.check(model)
    assert list(report.data_sizes) == ["k_value"]
    assert shape_at(report, "y", {"k": 1, "k_value": 4}) == (4,)
