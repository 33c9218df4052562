"""The node tests of the onnx package: no failure, no wrong shape, and nothing that they run on is refused."""

from __future__ import annotations

from fnmatch import fnmatch

import pytest

pytest.importorskip("onnx")

from onnx_backend import at, case, is_refused, recorded

import symbcast.onnx
from symbcast.onnx.operators.declarations import OPERATORS

PARTS = 12

REFUSED_BY_ONNXRUNTIME = {
    "test_*_batchwise": "it has no recurrent layers of layout 1",
    "test_attention_4d_*padded_kv*": "its mask must be as long as the keys",
    "test_convinteger_with_padding": "it takes one zero point for all weights",
    "test_reduce_*_empty_set_bool": "it does not reduce no truth values to one",
    "test_attention_local_window_*_mask": "it knows no local windows, and no mask that is broadcast along queries",
}
"""Tests that ONNX Runtime 1.31 does not run, for their sizes: what it asks is rightly false there."""


def opens(model):
    """Return whether ONNX Runtime opens a model; it has no kernels for many of the newest operators and types."""
    onnxruntime = pytest.importorskip("onnxruntime")
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    try:
        onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    except Exception:  # onnxruntime has no base class for what it raises here
        return False
    return True


def problems_of(test, with_constants, runtime, min_size):
    given = case(test, with_constants=with_constants)
    if min_size and 0 in given.sizes.values():
        return
    report = symbcast.onnx.check(given.model, min_size=min_size, runtime=runtime)
    for node in report.unanalysed:
        if "could not be analysed" in node.reason:
            yield str(node)
    is_known = runtime == "onnxruntime" and any(fnmatch(test.name, name) for name in REFUSED_BY_ONNXRUNTIME)
    if not is_known and is_refused(report, given.sizes):
        if not any("does not open the model" in finding.reason for finding in report.findings):
            yield "refused at the recorded sizes"
        elif opens(given.model):
            yield "opens, though the report says that it does not"
    for name, expected in given.outputs.items():
        shape = report.shapes[name]
        if shape is None or shape.rank is None:
            continue
        found = [at(dim, given.sizes) for dim in shape]
        if len(found) != len(expected) or any(
            dim != size for dim, size in zip(found, expected, strict=True) if not getattr(dim, "free_symbols", None)
        ):
            yield f"{name} is {shape}, at the recorded sizes {found} and not {expected}"


def part_of(number):
    return recorded()[number::PARTS]


@pytest.mark.parametrize("number", range(PARTS))
@pytest.mark.parametrize("with_constants", [True, False], ids=["constants", "data"])
def test_a_node_has_the_recorded_shapes_at_the_recorded_sizes(number, with_constants):
    found = []
    for test in part_of(number):
        ways = [("spec", 1)] if test.name.endswith("_expanded") else [("spec", 0), ("onnxruntime", 1)]
        for runtime, min_size in ways:
            problems = problems_of(test, with_constants, runtime, min_size)
            found += [(test.name, runtime, min_size, problem) for problem in problems]
    assert found == []


@pytest.mark.parametrize("number", range(PARTS))
def test_the_condition_holds_at_the_recorded_sizes(number):
    for test in part_of(number):
        nodes = test.model.graph.node
        if len(nodes) > 1 or (nodes[0].domain, nodes[0].op_type) not in OPERATORS:
            continue
        given = case(test, with_constants=True)
        condition = symbcast.onnx.check(given.model, min_size=0).condition
        assert at(condition, given.sizes) != False, test.name  # noqa: E712 - a sympy Boolean, perhaps open


def test_most_shapes_are_closed_where_small_integers_are_given():
    closed = count = 0
    for test in recorded():
        if test.name.endswith("_expanded"):
            continue
        given = case(test, with_constants=True)
        shapes = symbcast.onnx.check(given.model).shapes
        for name in given.outputs:
            count += 1
            dims = shapes[name]
            closed += dims is not None and all(
                isinstance(at(d, given.sizes), int) or at(d, given.sizes).is_Integer for d in dims
            )
    assert closed > 0.85 * count
