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
