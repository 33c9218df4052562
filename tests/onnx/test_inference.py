"""What onnx infers in its own tests of shape inference, held against what is said here: no less, and nothing else."""

from __future__ import annotations

import base64
import gzip
import json
from functools import cache
from pathlib import Path

import pytest

pytest.importorskip("onnx")

import onnx

import symbcast as sb

RECORDED = Path(__file__).parents[1] / "data" / "onnx" / "inference.jsonl.gz"

COARSER = {
    "test_linear_attention_unknown_qkv_with_past_state": "sizes of the output that only the past state tells",
    "test_resize_size[11]": "sizes with scales that are not empty, which the document forbids: it runs for no sizes",
    "test_slice_with_input_shape_axes": "steps that are data, which onnx takes to be 1",
    "test_slice_with_input_shape_steps": "axes that are data, which onnx takes to be all of them in order",
}
"""Tests of onnx that infer more than is said here, and why."""

DIFFERENT = {"test_stft_reals": "onesided is 1 where it is not given: half of the frequencies are left out"}
"""Tests of onnx that infer something else; the reference evaluator sides with what is said here."""


@cache
def rows():
    with gzip.open(RECORDED, "rt") as lines:
        return [json.loads(line) for line in lines]


def compared(row):
    """Return, of the values of a model, whether what is said is the same as what onnx infers, or less, or other."""
    try:
        report = sb.onnx.check(onnx.ModelProto.FromString(base64.b64decode(row["model"])), runtime="spec")
    except sb.ModelError:
        return {"": "refused"}
    return {name: _of_value(report, name, wanted) for name, wanted in row["answers"].items()}


def _of_value(report, name, wanted):
    if isinstance(wanted, list) or wanted is None:
        return _of_shape(report, wanted, report.shapes[name])
    if "sequence" in wanted:
        found = report.sequences.get(name)
        return "coarser" if found is None else _of_elements(report, wanted["sequence"], found)
    held, wanted = report.optionals[name].held, wanted["optional"]
    return (
        _of_elements(report, wanted["sequence"], held) if isinstance(wanted, dict) else _of_shape(report, wanted, held)
    )


def _of_elements(report, wanted, found):
    """Compare the shape that onnx has for all elements with what they have in common, or with each of them."""
    if found.items:
        return max((_of_shape(report, wanted, item) for item in found.items), key=GRADES.index)
    return "same" if found.items == () else _of_shape(report, wanted, found.common)


def _of_shape(report, wanted, found):
    if wanted is None:
        return "same"
    if found is None or getattr(found, "rank", 0) is None:
        return "coarser"
    if len(found) != len(wanted):
        return "different"
    pairs = zip(wanted, found, strict=True)
    return max((_of_size(report, a, b) for a, b in pairs), key=GRADES.index, default="same")


def _of_size(report, wanted, found):
    """Compare sizes; onnx knows nothing of one that has no name, or a name that no input has."""
    name = getattr(found, "name", str(found))
    if str(wanted) == name or (not isinstance(wanted, int) and wanted not in report._checked.env.shown.values()):
        return "same"
    names = {s.name for s in getattr(found, "free_symbols", ())}
    return "coarser" if found is None or names & report.data_sizes.keys() else "different"


GRADES = ["same", "coarser", "different", "refused"]


@pytest.fixture(scope="module")
def grades():
    """Return the worst grade of the models of each test, but for those that are refused."""
    found = {}
    for row in rows():
        grade = max(compared(row).values(), key=GRADES.index, default="same")
        if grade != "refused":
            found[row["test"]] = max(grade, found.get(row["test"], "same"), key=GRADES.index)
    return found


def test_no_less_is_said_than_onnx_infers_but_where_it_guesses(grades):
    assert {test for test, grade in grades.items() if grade == "coarser"} == set(COARSER)


def test_nothing_else_is_said_than_onnx_infers_but_where_it_is_wrong(grades):
    assert {test for test, grade in grades.items() if grade == "different"} == set(DIFFERENT)


def test_what_is_refused_is_refused_by_the_checker_of_onnx_too():
    """Some tests of onnx infer models of types that an operator does not take, or of operators that are gone."""
    refused = [row for row in rows() if "refused" in compared(row).values()]
    assert len(refused) < 40
    for row in refused:
        model = onnx.ModelProto.FromString(base64.b64decode(row["model"]))
        with pytest.raises((onnx.checker.ValidationError, onnx.shape_inference.InferenceError)):
            onnx.checker.check_model(model, full_check=True)


@pytest.mark.parametrize("test", DIFFERENT)
def test_the_reference_evaluator_sides_with_what_is_said(test):
    from onnx.reference import ReferenceEvaluator

    told = [r for r in rows() if r["test"] == test and "refused" not in compared(r).values()]
    assert told
    for row in told:
        model = onnx.ModelProto.FromString(base64.b64decode(row["model"]))
        report = sb.onnx.check(model, runtime="spec")
        (name,) = (n for n, grade in compared(row).items() if grade == "different")
        model.graph.output.append(onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None))
        (real,) = ReferenceEvaluator(model).run(None, {})
        assert list(real.shape) == list(report.shapes[name]) != row["answers"][name]


def test_most_of_onnx_s_own_tests_are_here():
    assert len(rows()) > 800
    assert sum(len(row["answers"]) for row in rows()) > 1100
