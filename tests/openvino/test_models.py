"""Whole models of OpenVINO, built by hand: their sizes, what follows shapes through them, and what is said of them."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from itertools import product
from pathlib import Path

import jsonschema
import numpy as np
import pytest

pytest.importorskip("openvino")

import openvino as ov
from openvino import opset13 as op
from openvino.utils.node_factory import NodeFactory
from openvino_answers import accepts, differs, shape_at

import symbcast as sb
from symbcast.cli import Exit, run

DATA = Path(__file__).parents[1] / "data"


def parameter(name, *dims, kind=np.float32):
    return op.parameter(ov.PartialShape(list(dims)), kind, name=name)


def runs(model, sizes):
    """Return the shapes of the outputs at the sizes of the inputs' open dimensions in order; None where it fails."""
    left = iter(sizes)
    shapes = [[d.get_length() if d.is_static else next(left) for d in i.partial_shape] for i in model.inputs]
    request = ov.Core().compile_model(model, "CPU").create_infer_request()
    try:
        request.infer([np.zeros(s, i.get_element_type().to_dtype()) for i, s in zip(model.inputs, shapes, strict=True)])
    except RuntimeError:
        return None
    return [list(request.get_output_tensor(n).shape) for n in range(len(model.outputs))]


def hold_against_runs(model, sizes, names):
    """Check the answer about a model at every one of some sizes."""
    report = sb.openvino.check(model)
    for at in product(sizes, repeat=len(names)):
        by_name = dict(zip(names, at, strict=True))
        real = runs(model, at)
        assert accepts(report, by_name) == (real is not None), by_name
        if real is not None:
            told = [shape_at(s, by_name) for s in report.outputs.values()]
            assert not any(map(differs, told, real)), (by_name, told, real)
    return report


# Sizes.


def test_an_open_dimension_is_called_by_its_input_and_axis():
    x, y = parameter("x", -1, 3), parameter("a/b:0", -1)
    report = sb.openvino.check(ov.Model([op.add(x, y)], [x, y]))
    assert str(report.inputs) == "{'x': Shape('(x_dim_0, 3)'), 'a/b:0': Shape('(a_b_0_dim_0,)')}"
    assert str(report.condition) == "a_b_0_dim_0 == 1 or a_b_0_dim_0 == 3"


def test_dimensions_of_one_symbol_are_one_size():
    shared = ov.Dimension()
    shared.set_symbol(ov.Symbol())
    x, y = parameter("x", shared, 3), parameter("y", 5, shared)
    report = sb.openvino.check(ov.Model([op.matmul(x, y, True, True)], [x, y]))
    assert str(report.inputs) == "{'x': Shape('(x_dim_0, 3)'), 'y': Shape('(5, x_dim_0)')}"
    assert report.verdict.value == "always"


def test_the_interval_of_a_dimension_is_assumed():
    x = parameter("x", ov.Dimension(2, 5), ov.Dimension(4, -1))
    report = sb.openvino.check(ov.Model([op.reshape(x, op.constant([-1, 3]), False)], [x]))
    assert report.assumptions == ("2 <= x_dim_0 <= 5", "x_dim_1 >= 4")
    assert report.witness() == {"x_dim_0": 3, "x_dim_1": 4}
    assert report.counterexample() == {"x_dim_0": 2, "x_dim_1": 4}


def test_an_interval_decides_what_it_can():
    x, y = parameter("x", ov.Dimension(2, 5)), parameter("y", ov.Dimension(5, 9))
    assert str(sb.openvino.check(ov.Model([op.add(x, y)], [x, y])).condition) == "x_dim_0 == 5 and y_dim_0 == 5"
    largest = op.topk(x, op.constant(2), 0, "max", "value").output(0)
    assert sb.openvino.check(ov.Model([largest], [x])).verdict.value == "always"


def test_an_assumption_beyond_an_interval_is_a_contradiction():
    x = parameter("x", ov.Dimension(2, 5))
    with pytest.raises(sb.AssumptionError):
        sb.openvino.check(ov.Model([op.relu(x)], [x]), "x_dim_0 == 7").verdict  # noqa: B018


def test_an_assumption_about_a_size_that_there_is_not_is_an_error():
    x = parameter("x", -1)
    with pytest.raises(sb.AssumptionError, match="mentions N, which the model does not have"):
        sb.openvino.check(ov.Model([op.relu(x)], [x]), "N > 1")


def test_sizes_are_bound_named_and_given_as_of_an_onnx_model():
    x, steps = parameter("x", ov.Dimension(2, 5), -1), parameter("steps", 2, kind=np.int64)
    model = ov.Model([op.reshape(x, steps, False)], [x, steps])
    found = sb.openvino.check(model, shapes={"x": "N, 2*K"}, values={"steps": ["N*K", 2]})
    assert (found.verdict.value, str(*found.outputs.values())) == ("always", "(K*N, 2)")
    assert found.assumptions == ("2 <= N <= 5", "x of shape (N, 2*K)", "steps = [K*N, 2]")
    found = sb.openvino.check(model, bind={"x_dim_0": 3, "x_dim_1": 4}, values={"steps": [-1, 5]})
    assert found.verdict.value == "never"
    with pytest.raises(sb.AssumptionError):
        sb.openvino.check(model, bind={"x_dim_0": 6}).verdict  # noqa: B018
    with pytest.raises(sb.BindingError, match="no input named 'y'"):
        sb.openvino.check(model, shapes={"y": "N, 2"})


def test_an_input_of_unknown_rank_is_as_the_caller_says():
    x = op.parameter(ov.PartialShape.dynamic(), np.float32, name="x")
    model = ov.Model([op.relu(x)], [x])
    assert str(*sb.openvino.check(model).outputs.values()) == "(*x,)"
    assert str(*sb.openvino.check(model, shapes={"x": "N, 3"}).outputs.values()) == "(N, 3)"


# What follows shapes through a model.


def test_sizes_are_followed_through_what_computes_them():
    x = parameter("x", -1, -1)
    shape = op.shape_of(x)
    rows = op.gather(shape, op.constant([0]), op.constant(0))
    half = op.divide(op.gather(shape, op.constant([1]), op.constant(0)), op.constant([2]))
    target = op.concat([rows, op.constant([2]), half], 0)
    hold_against_runs(ov.Model([op.reshape(x, target, False)], [x]), range(1, 6), ("x_dim_0", "x_dim_1"))


def test_a_range_counts_the_sizes():
    x = parameter("x", -1, 4)
    length = op.squeeze(op.gather(op.shape_of(x), op.constant([0]), op.constant(0)), op.constant([0]))
    counted = op.range(op.constant(0), length, op.constant(2), "i64")
    hold_against_runs(ov.Model([op.gather(x, counted, op.constant(0))], [x]), range(1, 8), ("x_dim_0",))


def test_a_negative_quotient_is_rounded_as_where_it_is_computed():
    """The CPU rounds -4/3 towards 0, constants are folded to -2, and -6/3 is the same for both."""
    x = parameter("x", -1)
    for taken, factor in ((5, 1), (6, 3)):
        above = op.subtract(op.multiply(op.shape_of(x), op.constant([factor])), op.constant([taken]))
        start = op.squeeze(op.divide(above, op.constant([3])), op.constant([0]))
        model = ov.Model([op.range(start, op.constant(9), op.constant(1), "i64")], [x])
        report = hold_against_runs(model, range(1, 8), ("x_dim_0",))
        assert ("x_dim_0" in str(report.outputs)) == (factor == 3)


def test_a_loop_carries_values_and_puts_others_together():
    x = parameter("x", -1, 2)
    rows = op.squeeze(op.gather(op.shape_of(x), op.constant([0]), op.constant(0)), op.constant([0]))
    carried = parameter("carried", -1, 2)
    grown = op.concat([carried, op.constant(np.zeros((1, 2), np.float32))], 0)
    body = ov.Model([op.constant(True), grown, op.reduce_sum(carried, op.constant([0]), True)], [carried])
    node = op.loop(rows.output(0), op.constant(True).output(0))
    node.set_function(body)
    node.set_special_body_ports([-1, 0])
    node.set_merged_input(carried, x.output(0), body.results[1].output(0))
    last = node.get_iter_value(body.results[1].output(0), -1)
    sums = node.get_concatenated_slices(body.results[2].output(0), 0, 1, 1, -1, 0)
    report = hold_against_runs(ov.Model([last, sums], [x]), (1, 2, 3), ("x_dim_0",))
    assert list(map(str, report.outputs.values())) == ["(2*x_dim_0, 2)", "(x_dim_0, 2)"]


def test_an_iterator_slices_its_inputs_and_asks_its_body():
    x, y = parameter("x", -1, -1), parameter("y", -1, 3)
    part, whole = parameter("part", 1, -1), parameter("whole", -1, 3)
    body = ov.Model([op.matmul(part, whole, False, False)], [part, whole])
    node = op.tensor_iterator()
    node.set_function(body)
    node.set_sliced_input(part, x.output(0), 0, 1, 1, -1, 0)
    node.set_invariant_input(whole, y.output(0))
    made = node.get_concatenated_slices(body.results[0].output(0), 0, 1, 1, -1, 0)
    report = hold_against_runs(ov.Model([made], [x, y]), (1, 2, 3), ("x_dim_0", "x_dim_1", "y_dim_0"))
    assert str(report.condition) == "x_dim_1 == y_dim_0"


@pytest.mark.parametrize(("kind", "gates"), [("LSTM", 4), ("GRU", 3), ("RNN", 1)])
def test_a_recurrent_layer_over_any_batch_and_length(kind, gates):
    activations = {"LSTM": ["sigmoid", "tanh", "tanh"], "GRU": ["sigmoid", "tanh"], "RNN": ["tanh"]}[kind]
    x, h = parameter("x", -1, -1, 3), parameter("h", -1, 1, 2)
    sizes = op.shape_of(x)
    batch, length = (op.gather(sizes, op.constant([n]), op.constant(0)) for n in (0, 1))
    lengths = op.broadcast(length, batch)
    weights = [op.constant(np.zeros(s, np.float32)) for s in ((1, 2 * gates, 3), (1, 2 * gates, 2), (1, 2 * gates))]
    states = [h, h] if kind == "LSTM" else [h]
    factory = NodeFactory("opset5")
    attributes = {"hidden_size": 2, "direction": "forward", "activations": activations}
    node = factory.create(f"{kind}Sequence", [v.output(0) for v in (x, *states, lengths, *weights)], attributes)
    model = ov.Model([op.result(o) for o in node.outputs()], [x, h], kind)
    hold_against_runs(model, (1, 2, 3), ("x_dim_0", "x_dim_1", "h_dim_0"))


def test_interpolate_to_the_size_of_another_tensor():
    x, y = parameter("x", 1, 2, -1, -1), parameter("y", 1, 2, -1, -1)
    size = op.strided_slice(op.shape_of(x), op.constant([2]), op.constant([4]), op.constant([1]), [0], [0])
    pooled = op.avg_pool(y, [2, 2], [0, 0], [0, 0], [2, 2], True, rounding_type="ceil")
    resized = op.interpolate(
        pooled, size, "nearest", "sizes", pads_begin=[0] * 4, pads_end=[0] * 4, axes=op.constant([2, 3])
    )
    names = ("x_dim_2", "x_dim_3", "y_dim_2", "y_dim_3")
    hold_against_runs(ov.Model([op.add(x, resized)], [x, y]), (2, 3), names)


def test_the_branches_of_an_if_are_asked_where_they_are_taken():
    x = parameter("x", -1, 2)
    a, b = parameter("a", -1, 2), parameter("b", -1, 2)
    first = ov.Model([op.reshape(a, op.constant([-1, 4]), False)], [a])
    second = ov.Model([op.reshape(b, op.constant([-1, 3]), False)], [b])
    rows = op.squeeze(op.gather(op.shape_of(x), op.constant([0]), op.constant(0)), op.constant([0]))
    node = op.if_op(op.greater(rows, op.constant(4)).output(0))
    node.set_then_body(first)
    node.set_else_body(second)
    node.set_input(x.output(0), a, b)
    made = node.set_output(first.results[0], second.results[0])
    hold_against_runs(ov.Model([made], [x]), range(1, 10), ("x_dim_0",))


# What is not known.


def test_an_operator_that_is_not_known_is_inferred_where_its_sizes_are_numbers():
    x = parameter("x", 2, 3, 4, 4)
    report = sb.openvino.check(ov.Model([op.extract_image_patches(x, [2, 2], [1, 1], [1, 1], "valid")], [x]))
    assert str(next(iter(report.outputs.values()))) == "(2, 12, 3, 3)"
    assert [u.op_type for u in report.unanalysed] == ["ExtractImagePatches"]
    assert report.verdict.value == "unknown"


def test_an_operator_that_is_not_known_leaves_its_output_unknown():
    x = parameter("x", -1, 3, 4, 4)
    node = op.extract_image_patches(x, [2, 2], [1, 1], [1, 1], "valid")
    report = sb.openvino.check(ov.Model([node], [x]))
    assert list(report.outputs.values()) == [None]
    assert "unless all sizes of its inputs are numbers" in report.unanalysed[0].reason


def test_the_output_of_a_result_is_its_input():
    x = parameter("x", -1, 3)
    twice = op.add(op.result(x).output(0), op.constant(np.float32(1)))
    assert list(map(str, sb.openvino.check(ov.Model([twice], [x])).outputs.values())) == ["(x_dim_0, 3)"]


def test_how_many_are_selected_is_data():
    x = parameter("x", -1, 3)
    report = sb.openvino.check(ov.Model([op.non_zero(x)], [x]))
    (count,) = report.data_sizes
    assert str(report.outputs[next(iter(report.outputs))]) == f"(2, {count})"


# The report, and where models come from.


@pytest.fixture
def model_file(tmp_path):
    x, y = parameter("x", -1, 3), parameter("y", -1, 3)
    ov.save_model(ov.Model([op.add(x, y)], [x, y], "pair"), tmp_path / "pair.xml")
    return tmp_path / "pair.xml"


def test_a_report_is_told_as_of_an_onnx_model(model_file):
    report = sb.openvino.check(model_file)
    assert report.runtime == "openvino"
    told = report.explain()
    assert "runs only for some sizes" in told
    assert "x (x_dim_0, 3), y (y_dim_0, 3)" in told
    assert "give y axis 0 the size of x axis 0 (y_dim_0 = x_dim_0)" in told
    assert repr(report).startswith("<OpenVinoReport of ")
    jsonschema.validate(report.to_dict(), report.json_schema())
    assert report.guard()(x_dim_0=2, y_dim_0=1)


def test_a_file_and_the_model_in_it_have_the_same_answer(model_file):
    loaded = ov.Core().read_model(model_file)
    assert str(sb.openvino.check(model_file).condition) == str(sb.openvino.check(loaded).condition)


def test_what_is_no_model_is_an_error(tmp_path):
    with pytest.raises(sb.ModelError, match="there is no such file"):
        sb.openvino.check(tmp_path / "none.xml")
    broken = tmp_path / "broken.xml"
    broken.write_text("<net")
    with pytest.raises(sb.ModelError, match="OpenVINO cannot read it"):
        sb.openvino.check(broken)
    with pytest.raises(sb.ShapeTypeError):
        sb.openvino.check(3)


def test_a_file_that_ends_the_reader_does_not_end_this_process(tmp_path):
    """OpenVINO 2026.4 crashes on this model; a later one may read it."""
    model = tmp_path / "wespeaker.onnx"
    model.write_bytes(gzip.decompress((DATA / "onnx" / "models" / "wespeaker.onnx.gz").read_bytes()))
    code = f"""import symbcast as sb
try:
    print(sb.openvino.check({str(model)!r}).verdict.value)
except sb.ModelError as error:
    print(error)"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "reader crashes on it; check it by symbcast.onnx" in done.stdout or done.stdout.strip() == "sometimes"


def test_without_openvino_the_extra_is_named(monkeypatch, model_file):
    monkeypatch.setitem(sys.modules, "openvino", None)
    with pytest.raises(sb.MissingExtraError, match=r"pip install '\.\[openvino\]'"):
        sb.openvino.check(model_file)


@pytest.mark.parametrize(
    ("arguments", "status"),
    [((), Exit.FAILS), (("--bind", "y_dim_0=1"), Exit.ALWAYS), (("--shapes", "x=1, 3"), Exit.ALWAYS)],
)
def test_the_command_line_reads_openvino_models(arguments, status, model_file, capsys):
    assert run(["model", str(model_file), *arguments, "--format", "json"]) == status
    (told,) = json.loads(capsys.readouterr().out)["models"]
    assert told["runtime"] == "openvino"


def test_what_a_front_end_does_not_offer_is_said_so(model_file, capsys):
    assert run(["model", str(model_file), "--output", str(model_file.with_name("out.onnx"))]) == Exit.USAGE
    assert "--output is not for models of openvino; omit it" in capsys.readouterr().err


@pytest.mark.parametrize("axis", [0, -1])
@pytest.mark.parametrize(
    "make",
    [
        op.softmax,
        op.log_softmax,
        lambda x, axis: op.cum_sum(x, np.int32(axis)),
        lambda x, axis: op.reduce_sum(x, np.array([axis])),
        lambda x, axis: op.reduce_max(x, np.array([axis, 0])),
        lambda x, axis: op.squeeze(x, np.array([axis])),
    ],
)
def test_a_number_has_an_axis_along_which_nothing_is_done(make, axis):
    x = parameter("x")
    report = hold_against_runs(ov.Model([make(x, axis)], [x]), (), ())
    assert report.verdict is sb.Verdict.ALWAYS and list(report.outputs.values()) == [()]
