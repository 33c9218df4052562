"""What ONNX Runtime says to the reports: it runs where they say so, and fails where and at the node that they say."""

import numpy as np
import onnx
import pytest
from onnx import external_data_helper
from small_models import RUNNABLE, small_model

import symbcast as sb
from symbcast import onnx as models
from symbcast.onnx import report as confirming
from symbcast.onnx import runtime_process as running

pytest.importorskip("onnxruntime")

DECIDED_BY_DATA = {"data", "branch"}


@pytest.mark.parametrize("name", RUNNABLE)
def test_the_runtime_agrees(name):
    report = models.check(small_model(name), runtime="onnxruntime")
    found = report.confirm()
    assert [c.finding for c in found] == [*([] if report.verdict is sb.Verdict.NEVER else [None]), *report.findings]
    for confirmation in found:
        is_open = confirmation.finding is not None and name in DECIDED_BY_DATA
        assert confirmation.agrees is (None if is_open else True), str(confirmation)
        assert bool(confirmation.reason) is (is_open or "fails before it" in confirmation.reason)


def test_where_it_runs_and_where_it_fails():
    report = models.check(small_model("table"))
    runs, fails = report.confirm()
    assert (runs.sizes, runs.expected, runs.happened) == (report.witness(), "runs", "ran")
    assert (fails.sizes, fails.expected) == ({"B": 1, "T": 6}, "n5")
    assert "n5" in fails.happened
    assert "agrees" in str(fails)


def test_what_the_runtime_does_otherwise_is_said(monkeypatch):
    report = models.check(small_model("mask"))
    ran = running.RunResult({"y": [1, 1]})
    monkeypatch.setattr(confirming, "run_all", lambda path, feeds: [ran] * len(feeds))
    runs, *fail = report.confirm()
    assert runs.agrees is True
    assert [(c.agrees, c.happened) for c in fail] == [(False, "ran")] * 2
    assert all("runtime='onnxruntime'" in c.reason for c in fail)


def test_outputs_are_compared(monkeypatch):
    report = models.check(small_model("mask"))
    monkeypatch.setattr(confirming, "run_all", lambda path, feeds: [running.RunResult({"y": [1, 7]})] * len(feeds))
    runs = report.confirm()[0]
    assert runs.agrees is False
    assert "(1, 7)" in runs.reason
    assert "(1, 1)" in runs.reason


def test_a_failure_at_another_node_says_nothing(monkeypatch):
    report = models.check(small_model("mask"))
    error = "Non-zero status code returned while running Relu node. Name:'elsewhere' Status Message: no"
    monkeypatch.setattr(confirming, "run_all", lambda path, feeds: [running.RunResult(None, error)] * len(feeds))
    runs, *fail = report.confirm()
    assert runs.agrees is False
    assert [c.agrees for c in fail] == [None, None]
    assert all("elsewhere" in c.reason for c in fail)


@pytest.mark.parametrize(("zeros", "agrees"), [("fails", True), ("runs", False)])
def test_a_failure_at_another_node_confirms_that_the_sizes_fail(monkeypatch, zeros, agrees):
    """The run for the witness succeeds, so the sizes make the others fail, unless other elements run there."""
    report = models.check(small_model("mask"))
    ran = running.RunResult({"y": [1, 1]})
    error = "Non-zero status code returned while running Relu node. Name:'elsewhere' Status Message: no"

    def run(path, feeds):
        is_second = all(f.number == 0 for f in feeds[0])
        failed = running.RunResult(None, error)
        return [ran if is_second and zeros == "runs" else failed] * len(feeds) if is_second else [ran, failed, failed]

    monkeypatch.setattr(confirming, "run_all", run)
    runs, *fails = report.confirm()
    assert runs.agrees is True
    assert [c.agrees for c in fails] == [agrees] * 2
    assert all(("it stops at elsewhere, before" in str(c)) is agrees for c in fails)


def test_a_model_that_the_runtime_does_not_know_says_nothing():
    (runs,) = models.check(small_model("unknown_op")).confirm()
    assert runs.agrees is None
    assert "could not load" in runs.reason


def test_sizes_too_large_to_run_say_nothing():
    report = models.check(small_model("mask"), "T >= 1000000000")
    assert {c.agrees for c in report.confirm()} == {None}
    assert all("elements" in c.reason for c in report.confirm())


def test_a_run_that_ends_the_process_does_not_stop_the_others(monkeypatch):
    calls = []

    def process(model, feeds, *more):
        calls.append(len(feeds))
        return [running.RunResult({"y": [1, 1]})] * (
            1 if len(calls) == 1 else len(feeds)
        ), "the process ended with status -11"

    monkeypatch.setattr(running, "_process", process)
    runs, first, second = models.check(small_model("mask")).confirm()
    assert calls == [3, 1]
    assert (runs.agrees, first.agrees, second.agrees) == (True, None, False)
    assert "-11" in first.happened


def test_weights_beside_the_file_are_found(tmp_path):
    model = small_model("table")
    for tensor in model.graph.initializer:
        if tensor.name in ("words", "places"):
            external_data_helper.set_external_data(tensor, location="weights.bin")
    onnx.save(model, tmp_path / "table.onnx")
    assert (tmp_path / "weights.bin").exists()
    report = models.check(tmp_path / "table.onnx")
    assert [c.agrees for c in report.confirm()] == [True, True]
    assert report.source == str(tmp_path / "table.onnx")


def test_numbers_that_sizes_come_from_are_given():
    text = "g (float[N] x, int64[2] size) => (float[A, B] y) { y = Reshape(x, size) }"
    model = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["": 17]> {text}')
    report = models.check(model)
    runs = report.confirm()[0]
    assert runs.agrees is True


def test_filling_is_the_same_each_time():
    reals = [running._filled(onnx.TensorProto.FLOAT, (2, 3), None, 1) for _ in range(2)]
    assert np.array_equal(*reals)
    assert reals[0].dtype == np.float32
    assert running._filled(onnx.TensorProto.INT64, (2,), None, 1).tolist() == [1, 1]
    assert running._filled(onnx.TensorProto.INT64, (2,), (4, 5), 1).tolist() == [4, 5]
    assert running._filled(onnx.TensorProto.BOOL, (), None, 0).tolist() is False
    assert running._filled(onnx.TensorProto.STRING, (1,), None, 0).tolist() == [""]


def test_without_the_runtime_its_extra_is_named(monkeypatch):
    report = models.check(small_model("mask"))
    monkeypatch.setattr(confirming, "find_spec", lambda name: None)
    with pytest.raises(sb.MissingExtraError, match=r"pip install '\.\[onnxruntime\]'"):
        report.confirm()
