"""Sequences, and what may be there: held against what ONNX Runtime and onnx's reference evaluator did with them."""

from __future__ import annotations

import base64

import pytest

pytest.importorskip("onnx")

import onnx
from onnx_backend import at, is_refused
from recorded_differences import rows

import symbcast as sb

ROWS = rows("sequences")
HEAD = '<ir_version: 9, opset_import: ["" : 19]>\n'

LAX = {
    "SequenceMap": "the reference evaluator leaves off the tensors that a shorter sequence has none for",
    "SplitToSequence": "the reference evaluator does not add the parts up",
    "Optional": "the reference evaluator makes a list of what is there",
    "SequenceInsert": "the reference evaluator takes any position",
}
"""Operators that the reference evaluator has otherwise than their documents, and how."""


def checked(text, runtime="spec", min_size=1):
    return sb.onnx.check(onnx.parser.parse_model(HEAD + text), runtime=runtime, min_size=min_size)


def disagreements(row, runtime):
    """Return where the answer about a model is not what was recorded."""
    model = onnx.load_from_string(base64.b64decode(row["model"]))
    report = sb.onnx.check(model, min_size=0, runtime=runtime)
    shape, found = report.shapes["z"], []
    for values, *recorded in row["runs"]:
        outputs = recorded[runtime == "spec"]
        sizes = dict(zip(row["symbols"], values, strict=True))
        if is_refused(report, sizes) != (outputs is None):
            found.append((sizes, outputs, str(report.condition)))
        elif outputs is not None and shape is not None and not fits(shape, sizes, outputs[0]):
            found.append((sizes, outputs, str(shape)))
    return found


def fits(shape, sizes, real):
    """Return whether a shape is the one that was recorded, as far as it is told in sizes of inputs."""
    told = [at(d, sizes) for d in shape]
    return len(told) == len(real) and all(
        a == b or getattr(a, "free_symbols", None) for a, b in zip(told, real, strict=False)
    )


@pytest.mark.parametrize("number", range(len(ROWS)))
def test_it_runs_where_the_runtime_ran_it_and_has_the_shapes_it_had(number):
    assert disagreements(ROWS[number], "onnxruntime") == []


def is_lax(row):
    """Return whether the reference evaluator has one of the operators otherwise than its document."""
    model = onnx.load_from_string(base64.b64decode(row["model"]))
    return any(node.op_type in LAX for node in model.graph.node)


STRICT = [n for n, row in enumerate(ROWS) if not is_lax(row)]


@pytest.mark.parametrize("number", STRICT)
def test_the_documents_are_those_of_the_reference_evaluator(number):
    assert disagreements(ROWS[number], "spec") == []


# What a report says.

LOOP = """g (float[N, 3] x, int64 T) => (float[P, Q] z) {
  e = SequenceEmpty()
  c = Constant<value = bool {1}>()
  s = Loop(T, c, e) <body = b (int64 i, bool ci, seq(float[A, B]) si) => (bool co, seq(float[A, B]) so) {
    co = Identity(ci)
    so = SequenceInsert(si, x)
  }>
  z = ConcatFromSequence<axis = 0>(s)
}"""


def test_a_sequence_has_no_shape_and_is_told_beside():
    report = checked("g (float[N, 3] x, float[M, 3] y) => (seq(float[?, 3]) s) { s = SequenceConstruct(x, y) }")
    assert report.shapes["s"] is None
    told = report.sequences["s"]
    assert (told.length, str(told.common), str(told.items)) == (2, "(None, 3)", "(Shape('(N, 3)'), Shape('(M, 3)'))")


def test_a_loop_makes_a_sequence_as_long_as_it_has_turns():
    report = checked(LOOP)
    assert str(report.sequences["s"].length) == "T"
    assert str(report.shapes["z"]) == "(N*T, 3)"
    assert (str(report.condition), str(report.data_condition)) == ("True", "T >= 1")


def test_the_last_part_is_what_is_left():
    text = "n = Constant<value_int = 4>() s = SplitToSequence(x, n) i = Constant<value_int = 2>() z = SequenceAt(s, i)"
    report = checked(f"g (float[N] x) => (float[P] z) {{ {text} }}")
    assert (str(report.condition), str(report.shapes["z"])) == ("N >= 9", "(min(N - 8, 4),)")
    assert str(report.sequences["s"].length) == "floor(N/4 + 3/4)"


def test_the_length_of_an_input_is_a_size_of_the_inputs():
    text = "i = Constant<value_int = -3>() z = SequenceAt(x, i)"
    report = checked(f"g (seq(float[N, ?]) x) => (float[P, Q] z) {{ {text} }}")
    assert str(report.condition) == "x_length >= 3"
    assert report.witness() == {"x_length": 3, "N": 1}
    assert str(report.shapes["z"][0]) == "N"


def test_a_position_out_of_range_can_be_at_no_sizes():
    text = "s = SequenceConstruct(x, x) i = Constant<value_int = 2>() z = SequenceAt(s, i)"
    report = checked(f"g (float[N] x) => (float[P] z) {{ {text} }}")
    assert report.verdict is sb.Verdict.NEVER
    assert report.findings[0].reason == "the position must be one in the sequence"


def test_what_may_be_left_out_is_asked_for_where_it_is_used():
    report = checked("g (optional(float[N]) x) => (float[P] z) { z = OptionalGetElement(x) }")
    assert (str(report.condition), str(report.data_condition)) == ("True", "x_given == 1")
    assert str(report.optionals["x"].held) == "(N,)"
    text = "h = OptionalHasElement(x) z = If(h) <then_branch = t () => (float[A] o) { o = OptionalGetElement(x) }, "
    text += "else_branch = f () => (float[A] o) { o = Identity(y) }>"
    report = checked(f"g (optional(float[N]) x, float[M] y) => (float[P] z) {{ {text} }}")
    assert (report.verdict, str(report.data_condition)) == (sb.Verdict.ALWAYS, "True")


def test_what_is_never_there_cannot_be_had():
    kind = onnx.helper.make_optional_type_proto(onnx.helper.make_tensor_type_proto(1, [2]))
    nodes = [
        onnx.helper.make_node("Optional", [], ["o"], type=kind.optional_type.elem_type),
        onnx.helper.make_node("OptionalGetElement", ["o"], ["z"]),
    ]
    out = onnx.helper.make_empty_tensor_value_info("z")
    model = onnx.helper.make_model(
        onnx.helper.make_graph(nodes, "g", [], [out]), opset_imports=[onnx.helper.make_opsetid("", 18)]
    )
    assert sb.onnx.check(model).verdict is sb.Verdict.NEVER


def test_a_finding_says_what_is_in_a_sequence():
    text = "s = SequenceConstruct(x, y) z = ConcatFromSequence<axis = 0>(s)"
    report = checked(f"g (float[N, 3] x, float[M, K] y) => (float[P, Q] z) {{ {text} }}")
    assert "s, a sequence of (N, 3) and (M, K)" in report.explain()
    assert report.findings[0].sizes_there == "a sequence of (1, 3) and (1, 1)"
    text = "i = Constant<value_int = 2>() z = SequenceAt(x, i)"
    report = checked(f"g (seq(float[?, 3]) x) => (float[P, Q] z) {{ {text} }}")
    assert "x, a sequence of x_length, each (?, 3)" in report.explain()


def test_maps_are_elements_of_which_nothing_is_known():
    text = '<ir_version: 9, opset_import: ["" : 19, "ai.onnx.ml" : 3]> g (float[N, 2] x) => (z) '
    text += "{ z = ai.onnx.ml.ZipMap<classlabels_int64s = [0, 1]>(x) }"
    report = sb.onnx.check(onnx.parser.parse_model(text))
    assert (str(report.sequences["z"].length), report.sequences["z"].common) == ("N", None)


def test_the_data_are_as_the_schema_says():
    jsonschema = pytest.importorskip("jsonschema")
    for text in (LOOP, "g (optional(seq(float[N])) x) => (seq(float[N]) z) { z = OptionalGetElement(x) }"):
        report = checked(text)
        jsonschema.validate(report.to_dict(), report.json_schema())
    assert checked(LOOP).to_dict()["sequences"]["s"] == {"length": "T", "common": ["N", 3], "items": None}
