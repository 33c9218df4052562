"""What a caller knows of a model's inputs: sizes that are bound, shapes, and what is in inputs of integers."""

from __future__ import annotations

import itertools
import json

import onnx
import pytest
import sympy
from onnx import TensorProto, helper, numpy_helper
from parsed_models import holds, parsed, shape_at

import symbcast as sb
from symbcast.cli import Exit, run

ADD = "g (float[N, 4] a, float[M, 4] b) => (float[] y) { y = Add(a, b) }"
RESHAPE = "g (float[N, T] x, int64[2] steps) => (float[] y) { y = Reshape(x, steps) }"
STEPS = "g (float[N, T] x, {kind}[{dims}] k) => (float[] y) {{ y = Expand(x, k) }}"


def check(text, *rest, **given):
    return sb.onnx.check(parsed(text), *rest, **given)


def test_sizes_that_are_bound_are_numbers():
    report = check(ADD, bind={"N": 3})
    assert [str(report.shapes[name]) for name in "ab"] == ["(3, 4)", "(M, 4)"]
    assert [holds(report, {"M": size}) for size in (1, 2, 3, 4)] == [True, False, True, False]
    assert report.assumptions == ("N == 3",)
    assert report.witness() == {"N": 3, "M": 1}


@pytest.mark.parametrize("point", list(itertools.product((1, 2, 3, 4), repeat=2)))
def test_binding_is_putting_numbers_into_the_condition(point):
    sizes = dict(zip("NM", point, strict=True))
    free = check(ADD)
    bound = check(ADD, bind=sizes)
    assert (bound.verdict is sb.Verdict.ALWAYS) == holds(free, sizes)
    assert bound.verdict in (sb.Verdict.ALWAYS, sb.Verdict.NEVER)


def test_shapes_name_and_fix_sizes():
    report = check("g (float[N, ?, H, W] x) => (float[] y) { y = Flatten(x) }", shapes={"x": "batch, 3, 8*h, ?"})
    assert str(report.inputs["x"]) == "(batch, 3, 8*h, W)"
    assert str(report.outputs["y"]) == "(batch, 24*W*h)"


def test_a_name_of_the_model_that_is_given_another_name_has_it_everywhere():
    report = check(ADD.replace("[M, 4]", "[N, 4]"), shapes={"a": "rows, 4"})
    assert [str(s) for s in report.inputs.values()] == ["(rows, 4)", "(rows, 4)"]


def test_names_may_change_places():
    text = "g (float[N, M] a, float[M, 5] b) => (float[] y) { y = MatMul(a, b) }"
    report = check(text, shapes={"a": "M, N"})
    assert {n: str(s) for n, s in report.inputs.items()} == {"a": "(M, N)", "b": "(N, 5)"}
    assert report.verdict is sb.Verdict.ALWAYS


def test_one_size_that_is_given_twice_is_both():
    text = "g (float[N] a, float[N, 2] b) => (float[] y) { y = Add(a, a) }"
    report = check(text, shapes={"a": "k", "b": "m, 2"})
    assert report.witness() == {"k": 1, "m": 1}
    assert check(text, ["k != m"], shapes={"a": "2*k", "b": "4*m, 2"}).witness() == {"k": 2, "m": 1}
    with pytest.raises(sb.BindingError, match="b is given with 3 on axis 0, but the model fixes that at 2"):
        check(text, shapes={"a": "2", "b": "3, 2"})


def test_a_rank_that_the_model_does_not_say_is_given():
    model = parsed("g (float x) => (float[] y) { y = Flatten(x) }")
    model.graph.input[0].type.tensor_type.ClearField("shape")
    assert sb.onnx.check(model).outputs["y"] is None or "2" not in str(sb.onnx.check(model).outputs["y"])
    report = sb.onnx.check(model, shapes={"x": "N, ?, 5"})
    assert str(report.inputs["x"]) == "(N, x_dim_1, 5)"
    assert str(report.outputs["y"]) == "(N, 5*x_dim_1)"


@pytest.mark.parametrize("given", [(2, None, 5), ["2", "?", 5], (2, sympy.Symbol("W"), 5)])
def test_shapes_come_in_every_form(given):
    report = check("g (float[A, W, B] x) => (float[] y) { y = Relu(x) }", shapes={"x": given})
    assert str(report.outputs["y"]) == "(2, W, 5)"


def test_bounds_are_taken_for_granted():
    text = "g (float[N] x, float[4] b) => (float[] y) { y = Add(x, b) }"
    assert check(text, shapes={"x": "2..3"}).verdict is sb.Verdict.NEVER
    assert check(text, shapes={"x": "2..4"}).witness() == {"N": 4}


@pytest.mark.parametrize(
    "given", [[4, "N//2"], "4, N//2", "[4, N // 2]", (4, sympy.Symbol("N", integer=True, positive=True) // 2)]
)
def test_contents_are_sizes(given):
    report = check(RESHAPE, bind={"T": 4}, values={"steps": given})
    assert report.data_sizes == {}
    assert holds(report, {"N": 2}) is False
    at_4 = check(RESHAPE, bind={"T": 2}, values={"steps": given})
    assert shape_at(at_4, "y", {"N": 4}) == (4, 2)


@pytest.mark.parametrize(("n", "t"), list(itertools.product((1, 2, 3, 4, 6, 8), (1, 2, 3))))
def test_contents_are_what_a_constant_would_be(n, t):
    given = check(RESHAPE, bind={"N": n, "T": t}, values={"steps": [4, "N//2"]})
    text = RESHAPE.replace(", int64[2] steps", "").replace("{ y", f"<int64[2] steps = {{4, {n // 2}}}> {{ y")
    constant = check(text, bind={"N": n, "T": t})
    assert given.verdict is constant.verdict
    assert given.verdict is sb.Verdict.NEVER or given.outputs == constant.outputs


def test_the_length_of_contents_is_that_of_the_input():
    report = check(STEPS.format(kind="int64", dims="K"), values={"k": [2, 1, 1]})
    assert str(report.inputs["k"]) == "(3,)"
    assert report.outputs["y"].rank == 3
    assert report.unanalysed == ()


def test_contents_of_a_scalar_and_of_a_matrix():
    scalar = "g (float[N] x, int64 k) => (float[] y) { s = Unsqueeze(k, zero) y = Expand(x, s) }"
    scalar = scalar.replace("{ s", "<int64[1] zero = {0}> { s")
    for given in (1, "1", "N"):
        assert check(scalar, values={"k": given}).verdict is sb.Verdict.ALWAYS
    matrix = "g (float[4, N, M] x, int64[1, 2] k) => (float[] y) { y = GatherND(x, k) }"
    assert str(check(matrix, values={"k": [[3, 0]]}).outputs["y"]) == "(1, M)"
    assert check(matrix, values={"k": [[4, 0]]}).verdict is sb.Verdict.NEVER
    assert holds(check(matrix, values={"k": [[0, 2]]}), {"N": 3}) and not holds(
        check(matrix, values={"k": [[0, 2]]}), {"N": 2}
    )


def test_what_is_not_given_of_contents_stays_open():
    report = check(RESHAPE, bind={"N": 2, "T": 6}, values={"steps": ["?", 4]})
    assert str(report.data_condition) == "steps_0 == 3"
    report = check(RESHAPE, bind={"N": 2, "T": 6}, values={"steps": ["k", 4]})
    assert report.data_sizes == {"k": "k in what is given for the input steps, taken to be 0 or more"}


def test_an_element_type_bounds_what_is_in_it():
    text = "g (float[N] x, uint8[1] k) => (float[] y) { y = Identity(x) }"
    assert check(text, values={"k": ["N"]}).counterexample() is None
    assert "N == 255" in str(check(text, "N >= 255", values={"k": ["N"]}).witness()).replace("'N': ", "N == ")
    with pytest.raises(sb.AssumptionError, match="N >= 256"):
        check(text, "N >= 256", values={"k": ["N"]})


WRONG = [
    ({"bind": {"n": 3}}, "the model has no size named 'n'; did you mean 'N'?"),
    ({"bind": {"Q": 3}}, "the model has no size named 'Q'; there are N, T, steps_0 and steps_1"),
    ({"bind": {"N": 0}}, "N=0: sizes are at least 1; write min_size=0 too"),
    ({"bind": {"N": "3"}}, "N='3' is not a size"),
    ({"bind": {"N": True}}, "N=True is not a size"),
    ({"bind": {"N": 3}, "shapes": {"x": "4, T"}}, "N is bound to 3, but a given shape has 4 for it"),
    ({"shapes": {"X": "3"}}, "the model has no input named 'X'; did you mean 'x'?"),
    ({"shapes": {"x": "B"}}, "x is given with rank 1, but in the model x has rank 2: (N, T)"),
    ({"shapes": {"x": "B,, 3"}}, "the shape given for x cannot be read: unexpected ','"),
    ({"shapes": {"steps": "3"}}, "steps is given with 3 on axis 0, but the model fixes that at 2"),
    ({"values": {"step": [1, 2]}}, "the model has no input named 'step'; did you mean 'steps'?"),
    ({"values": {"x": [1, 2]}}, "contents were given for x, which is of float; give them for inputs of integers"),
    ({"values": {"steps": [1, 2, 3]}}, "steps is given with 3 on axis 0, but the model fixes that at 2"),
    ({"values": {"steps": 4}}, "steps is given with rank 0, but in the model steps has rank 1: (2,)"),
    ({"values": {"steps": [[1], [1, 2]]}}, "the lists in it differ in length"),
    ({"values": {"steps": [1, 2**63]}}, "9223372036854775808 was given for steps, which is of int64, from -9223372036"),
    ({"values": {"steps": [1.5, 2]}}, "1.5: a size is an integer, not a float"),
    ({"values": {"steps": [True, 2]}}, "True is a truth value"),
    ({"values": {"steps": "a b"}}, "the contents given for steps cannot be read"),
]


@pytest.mark.parametrize(("given", "problem"), WRONG, ids=[str(given) for given, _ in WRONG])
def test_what_the_inputs_cannot_have_is_refused(given, problem):
    with pytest.raises(sb.BindingError) as caught:
        check(RESHAPE, **given)
    assert problem in str(caught.value)


@pytest.mark.parametrize("argument", ["bind", "shapes", "values"])
@pytest.mark.parametrize("given", [["N"], "N=3", {3: 4}, 7])
def test_what_is_no_mapping_of_names_is_refused(argument, given):
    with pytest.raises(sb.ShapeTypeError, match=f"write {argument}="):
        check(RESHAPE, **{argument: given})


def test_assumptions_and_what_is_bound_are_taken_together():
    with pytest.raises(sb.AssumptionError, match="contradict each other: N >= 5, N == 3"):
        check(ADD, "N >= 5", bind={"N": 3})


def test_the_annotated_model_has_what_is_given():
    made = check(ADD, bind={"N": 3}, shapes={"b": "rows, 4"}).annotate()
    dims = [[d.dim_value or d.dim_param for d in i.type.tensor_type.shape.dim] for i in made.graph.input]
    assert dims == [[3, 4], ["rows", 4]]


@pytest.fixture
def saved(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    onnx.save(parsed(RESHAPE), "reshape.onnx")
    onnx.save(parsed(ADD), "add.onnx")


def told(*arguments):
    return run(["model", *arguments, "--format", "json"])


def test_the_command_takes_them_for_the_models_that_have_them(saved, capsys):
    given = ["--values", "steps=4,N//2", "--shapes", "x=N, 2", "--bind", "N = 4", "--shapes=a=4, 4"]
    assert told("add.onnx", "reshape.onnx", *given) == Exit.FAILS
    add, reshape = json.loads(capsys.readouterr().out)["models"]
    assert (add["verdict"], add["inputs"]["a"], add["assumptions"]) == (
        "sometimes",
        [4, 4],
        ["N == 4", "a of shape (4, 4)"],
    )
    assert (reshape["verdict"], reshape["outputs"]) == ("always", {"y": [4, 2]})
    assert reshape["assumptions"] == ["N == 4", "x of shape (N, 2)", "steps = [4, N//2]"]


def test_names_that_shapes_give_may_be_bound(saved, capsys):
    assert told("reshape.onnx", "--shapes", "x=rows, 2", "--bind", "rows=4", "--values", "steps=2,4") == Exit.ALWAYS
    assert json.loads(capsys.readouterr().out)["models"][0]["inputs"]["x"] == [4, 2]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--shapes", "x"], '--shapes x: write an input and what is known about it, as in --shapes "x=N, 3, H, W"'),
        (["--values", "=4"], "--values =4: write an input and what is known about it, as in --values steps=4,N//2"),
        (["--values", "steps=4", "--values", "steps=5"], "--values steps=5: steps is 4 already"),
        (["--shapes", "x=3,,"], "the shape given for x cannot be read"),
        (["--values", "step=4,4"], "no input in these models is named 'step'; did you mean 'steps'? There are"),
    ],
)
def test_the_command_says_what_is_wrong(arguments, problem, saved, capsys):
    assert told("reshape.onnx", "add.onnx", *arguments) == Exit.USAGE
    assert problem in capsys.readouterr().err.replace("\n  tip: ", "; ")


def test_constants_that_are_inputs_too_are_none_of_the_callers():
    weight = numpy_helper.from_array(numpy_helper.to_array(helper.make_tensor("w", TensorProto.INT64, [1], [2])), "w")
    graph = helper.make_graph(
        [helper.make_node("Expand", ["x", "w"], ["y"])],
        "g",
        [
            helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N"]),
            helper.make_tensor_value_info("w", TensorProto.INT64, [1]),
        ],
        [onnx.ValueInfoProto(name="y")],
        initializer=[weight],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10)
    with pytest.raises(sb.BindingError, match="no input named 'w'; there is x"):
        sb.onnx.check(model, values={"w": [3]})


@pytest.mark.parametrize("shape", ["T - 3, 4", "N//K - 2, 4", "T - S, 4"])
def test_no_axis_of_a_given_shape_is_negative(shape):
    """At T=1 an input of shape (T - 3, 4) was said to run."""
    report = check("g (float[N, 4] a) => (float[N, 4] y) { y = Relu(a) }", shapes={"a": shape})
    guard = report.guard()
    size, names = shape.split(",")[0], guard.parameters
    for point in itertools.product(range(1, 9), repeat=len(names)):
        sizes = dict(zip(names, point, strict=True))
        assert guard(**sizes) is (eval(size, {}, sizes) >= 0), sizes
    assert eval(size, {}, report.witness()) >= 0


def test_a_name_for_a_number_of_the_model_is_an_assumption():
    model = "g (float[4, K] x) => (float[] y) { y = Relu(x) }"
    report = check(model, shapes={"x": "N, K"})
    assert report.assumptions == ("N == 4", "x of shape (N, K)")
    assert check(model, shapes={"x": "N, K"}, bind={"N": 4}).assumptions == ("N == 4", "x of shape (N, K)")
    assert not report.guard()(N=5)
