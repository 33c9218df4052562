"""Malformed models: each is an error that says where, or a verdict where it is about shapes."""

from __future__ import annotations

import subprocess
import sys

import pytest
from malformed_models import CASES, NEVER, RELU, RUNS, UNKNOWN, adding, node, of, tensor, text
from model_files import started

import symbcast as sb

VERDICTS = {RUNS, NEVER, UNKNOWN, "sometimes"}


def said(path, runtime):
    """Return what is said of a file: a verdict, or the error."""
    try:
        report = sb.onnx.check(path, runtime=runtime)
        assert report.explain()
        return report.verdict.value
    except sb.ModelError as error:
        assert error.source == str(path)
        return str(error)


def written(made, path):
    path.write_bytes(made if isinstance(made, bytes) else made.SerializeToString())
    return path


@pytest.mark.parametrize("name", CASES)
def test_a_malformed_model_is_told_of(name, tmp_path):
    case = CASES[name]
    path = written(case.make(), tmp_path / "model.onnx")
    for runtime, expected in (("spec", case.said), ("onnxruntime", case.of_runtime or case.said)):
        found = said(path, runtime)
        assert found == expected if expected in VERDICTS else expected in found


def test_there_are_many_cases():
    assert len(CASES) >= 60


LOADS_ALL_THE_SAME = {
    # It fails later, when it is run.
    "order of too few axes"
}


@pytest.mark.parametrize("name", CASES)
def test_the_runtime_says_so_too(name, tmp_path):
    """What ONNX Runtime loads is no error where it is asked about, and what it does not load is no model that runs."""
    runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    case = CASES[name]
    path = written(case.make(), tmp_path / "model.onnx")
    options = runtime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        runtime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        is_loaded = True
    except Exception:  # its errors have no class in common
        is_loaded = False
    expected = case.of_runtime or case.said
    is_refused = expected not in VERDICTS or expected == NEVER
    assert is_refused != is_loaded or name in LOADS_ALL_THE_SAME or expected == UNKNOWN


def test_in_a_folder_it_is_a_row(tmp_path):
    for name in ("If without a branch", "unknown attribute", "attribute of a tool"):
        written(CASES[name].make(), tmp_path / f"{name.replace(' ', '_')}.onnx")
    process = started(str(tmp_path))
    out, err = process.communicate()
    assert process.returncode == 2
    told = " ".join((out + err).split())
    assert "lacks the attribute 'else_branch'" in told
    assert "has the attribute 'axes'" in told
    assert "the check itself failed" not in told


@pytest.mark.parametrize("size", [1 << 10, 1 << 20])
def test_large_weights_are_not_copied(size):
    """Data of up to 64 KiB are counted; of larger ones only that there are any."""
    weights = tensor([size], bytes(4 * size))
    model = of(node("Add", ["x", "w"], ["y"]), constants=[weights])
    assert sb.onnx.check(model).verdict is sb.Verdict.SOMETIMES
    with pytest.raises(sb.ModelError, match=f"has 0 elements in float_data, and its shape \\({size},\\) takes {size}"):
        sb.onnx.check(adding(tensor([size])))


def test_sorted_nodes_give_what_unsorted_ones_do():
    late = of(node("Add", ["h", "x"], ["y"]), node("Transpose", ["x"], ["h"], perm=[1, 0]))
    before = late.SerializeToString()
    report = sb.onnx.check(late, runtime="onnxruntime")
    assert str(report.condition) == "N == C or N == 1 or C == 1"
    assert [n.op_type for n in report.annotate().graph.node] == ["Transpose", "Add"]
    assert late.SerializeToString() == before


def test_an_attribute_that_a_function_fills_in_is_there():
    source = """g (float[N, C] x) => (float[A, B] y) { y = own.F<axis = 1>(x) }
        <domain: "own", opset_import: ["": 18]> F <axis> (a) => (b) { b = Concat<axis: int = @axis>(a, a) }"""
    assert str(sb.onnx.check(text(source)).outputs["y"]) == "(N, 2*C)"


def test_the_check_of_a_model_imports_no_runtime():
    source = (
        f"import sys, symbcast as sb, onnx; sb.onnx.check(onnx.ModelProto.FromString({of(RELU).SerializeToString()!r}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", f"{source}; print('onnxruntime' in sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "False\n"
