"""Single nodes at sizes from 0 on, as ONNX Runtime ran them: recorded ones of every operator, and random ones."""

from __future__ import annotations

import gzip
import json
from random import Random

import pytest

pytest.importorskip("onnx")

import onnx
from recorded_nodes import DATA, model
from single_nodes import CRASHED, drawn, faults, outcomes, parsed, told, unpacked

import symbcast as sb
from symbcast.onnx.operators.families import OPERATORS

PARTS, DRAWN = 12, 12


@pytest.fixture(scope="module")
def records():
    with gzip.open(DATA / "small_sizes.jsonl.gz", "rt") as lines:
        return [json.loads(line) for line in lines]


@pytest.mark.parametrize("part", range(PARTS))
def test_a_recorded_node_is_answered_as_it_ran(records, part):
    for record in records[part::PARTS]:
        row, runs = unpacked(record)
        assert not faults(row, runs), told(row)


def test_every_operator_that_has_a_rule_and_a_kernel_was_recorded(records):
    state = pytest.importorskip("onnxruntime.capi.onnxruntime_pybind11_state")
    kernels = {
        ("" if k.domain == "ai.onnx" else k.domain, k.op_name)
        for k in state.get_all_opkernel_def()
        if k.provider == "CPUExecutionProvider"
    }
    recorded = {(r.get("domain", ""), r["op"]) for r in records}
    assert {name for _, name in (kernels & OPERATORS.keys()) - recorded} <= UNRECORDED


UNRECORDED = {
    # Of sequences, optionals, maps, texts and graphs, which other recordings have.
    "CastMap", "CategoryMapper", "DictVectorizer", "If", "LabelEncoder", "LinearClassifier", "Loop", "Optional",
    "RegexFullMatch", "SVMClassifier", "Scan", "SequenceAt", "SequenceConstruct", "SequenceEmpty", "SequenceErase",
    "SequenceInsert", "SequenceLength", "StringConcat", "StringNormalizer", "StringSplit", "TfIdfVectorizer",
    "TreeEnsembleClassifier", "ZipMap",
    # Without an input that has a size.
    "BlackmanWindow", "Constant", "ConstantOfShape", "HammingWindow", "HannWindow", "MelWeightMatrix", "RandomNormal",
    "RandomUniform", "Range",
}  # fmt: skip


@pytest.mark.parametrize("part", range(10))
def test_a_random_node_is_answered_as_it_runs(part):
    pytest.importorskip("onnxruntime")
    for number in range(part * DRAWN, (part + 1) * DRAWN):
        row = drawn(Random(number))
        assert not faults(row, outcomes(row)), (number, told(row))


CRASHES = {
    "com.microsoft.DynamicQuantizeLSTM f:3x2x4 s=1@1x4x8 s=1@1x2x8 f=0@1x16 - - - - f=[1] s=[0] f=[1] s=[0]"
    " hidden_size=2 -> 3": (0, 1),
    "com.microsoft.QAttention u:2x3x4 s:4x12 f:12 f=1.0 f=1.0 - u=0 s=0 num_heads=2": (0, 0),
    "com.microsoft.SkipLayerNormalization f:2x3x4 f:2x3x4 f:4": (1, 0),
    "com.microsoft.MultiHeadAttention f:2x3x4 f:2x5x4 f:2x5x4 num_heads=2": (2, 2),
    "ai.onnx.ml.FeatureVectorizer f:2x3 f:2x1 inputdimensions=[3,1]": (0, 0),
    "Unique f:2x3 axis=0 -> 4 @ 11": (0, 1),
    "STFT f:1x8x1 i=2 f:4 @ 17": (2, 0),
    "LSTM f:3x2x4 f:1x8x4 f:1x8x2 hidden_size=2 -> 3 @ 14": (0, 1),
}
"""Nodes that end the process where the given axis of the given input is 0."""


@pytest.mark.parametrize("line", CRASHES)
def test_the_answer_says_where_the_runtime_crashes(line):
    row, (place, axis) = parsed(line), CRASHES[line]
    number = row["inputs"][place]["shape"][axis]
    for given in row["inputs"] if "Attention" in line or "Vectorizer" in line else [row["inputs"][place]]:
        if given and "values" not in given and "constant" not in given:
            given["shape"] = ["A" if d == number and n == axis else d for n, d in enumerate(given["shape"])]
    report = sb.onnx.check(model(row), runtime="onnxruntime", min_size=0)
    found = [f for f in report.findings if "the runtime crashes here" in f.reason]
    assert found
    assert not report.guard()(A=0)
    assert "the runtime crashes here" in str(report.explain())
    assert "the runtime crashes here" in json.dumps(report.to_dict())
    assert "the runtime crashes here" not in str(sb.onnx.check(model(row), min_size=0).explain())


@pytest.mark.parametrize("line", CRASHES)
def test_the_runtime_does_crash_there(line):
    pytest.importorskip("onnxruntime")
    row, (place, axis) = parsed(line), CRASHES[line]
    number = row["inputs"][place]["shape"][axis]
    for given in row["inputs"] if "Attention" in line or "Vectorizer" in line else [row["inputs"][place]]:
        if given and "values" not in given and "constant" not in given:
            given["shape"] = [0 if d == number and n == axis else d for n, d in enumerate(given["shape"])]
    assert outcomes({**row, "symbols": [], "sizes": [[]]}) == [CRASHED]


WHILE = """<ir_version: 8, opset_import: ["" : 17]>
halved (float[n, d] x, float[m] y) => (float[A, B] out) <int64 most = {9223372036854775807}> {
  shape = Shape<end = 1>(x)  first = Squeeze(shape)  three = Constant<value = int64 {3}>()
  more = Greater(first, three)
  last, size = Loop(most, more, x, first)
    <body = b (int64 i, bool c, float[r, d] xi, int64 ni) => (bool co, float[s, d] xo, int64 no) {
      two = Constant<value = int64 {2}>()  half = Div(ni, two)  axes = Constant<value_ints = [0]>()
      end = Unsqueeze(half, axes)  zero = Constant<value_ints = [0]>()  one = Constant<value_ints = [1]>()
      behind = Constant<value_ints = [9223372036854775807]>()
      left = Slice(xi, zero, end, zero, one)  rest = Sub(ni, half)  start = Unsqueeze(rest, axes)
      right = Slice(xi, start, behind, zero, one)  xo = Add(left, right)
      bound = Constant<value = int64 {3}>()  co = Greater(half, bound)  no = Identity(half)
    }>
  rows = Unsqueeze(y, axis)  out = Concat<axis = 1>(last, rows)
}"""


def test_a_loop_whose_turns_sizes_decide_is_exact_where_it_does_not_run():
    text = WHILE.replace("<int64 most", "<int64[1] axis = {1}, int64 most")
    report = sb.onnx.check(onnx.parser.parse_model(text), runtime="onnxruntime")
    assert report.verdict is not sb.Verdict.ALWAYS
    assert report.condition.equivalent("n >= 4 or n == m")
    assert not report.data_condition.implies("n <= 3 or n == m")
    assert report.condition.implies("n == m", assume=["n <= 3"])
