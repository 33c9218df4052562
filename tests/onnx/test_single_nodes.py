"""Single nodes at sizes from 0 on, as ONNX Runtime ran them: recorded ones of every operator, and random ones."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from itertools import product
from pathlib import Path
from random import Random

import pytest

pytest.importorskip("onnx")

from recorded_nodes import DATA, model
from single_nodes import CRASHED, drawn, faults, parsed, told, unpacked

import symbcast as sb
from symbcast.onnx.operators.declarations import OPERATORS

PARTS, DRAWN = 12, 12


@pytest.fixture(scope="module")
def outcomes():
    """Return what runs rows, in a process whose forks are safe: other tests load libraries with threads."""
    command = [sys.executable, str(Path(__file__).parents[1] / "surveys" / "single_nodes.py"), "--serve"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:

        def run(row):
            print(json.dumps(row), file=server.stdin, flush=True)
            return json.loads(server.stdout.readline())

        yield run


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
def test_a_random_node_is_answered_as_it_runs(outcomes, part):
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
def test_the_runtime_does_crash_there(outcomes, line):
    pytest.importorskip("onnxruntime")
    row, (place, axis) = parsed(line), CRASHES[line]
    number = row["inputs"][place]["shape"][axis]
    for given in row["inputs"] if "Attention" in line or "Vectorizer" in line else [row["inputs"][place]]:
        if given and "values" not in given and "constant" not in given:
            given["shape"] = [0 if d == number and n == axis else d for n, d in enumerate(given["shape"])]
    assert outcomes({**row, "symbols": [], "sizes": [[]]}) == [CRASHED]


_GRAMS = "max_gram_length=2 max_skip_count=0 min_gram_length=1 mode='TF' ngram_indexes=[0,1,2] pool_int64s=[1,2,3]"
_VECTORS = "coefficients=[1.0,1.0] n_supports=2 rho=[0.0] support_vectors=[1.0,2.0,3.0,1.0,2.0,3.0]"
_TREE = (
    "n_targets=2 nodes_falsenodeids=[2,0,0] nodes_modes=['BRANCH_LEQ','LEAF','LEAF'] nodes_nodeids=[0,1,2]"
    " nodes_treeids=[0,0,0] nodes_truenodeids=[1,0,0] nodes_values=[1.0,0.0,0.0] target_ids=[0,0]"
    " target_nodeids=[1,2] target_treeids=[0,0] target_weights=[1.0,2.0]"
)
FOUND = (
    # ONNX Runtime's layout optimiser cannot move no channels into blocks.
    "MaxPool f:Bx0xAx2 kernel_shape=[1,1]",
    "AveragePool f:Ax0x3x2 kernel_shape=[1,1]",
    "GlobalMaxPool f:Ax0x3x2",
    "MaxPool f:Ax0x3 kernel_shape=[1]",
    "MaxPool f:Ax0x3x2 kernel_shape=[1,1] -> 2",
    "MaxPool d:Ax0x3x2 kernel_shape=[1,1]",
    "LpPool f:Ax0x3x2 kernel_shape=[1,1]",
    "MaxPool f:AxBx3x2 kernel_shape=[1,1]",
    # The hidden size must be a number in the model.
    "com.microsoft.EmbedLayerNormalization w:2x3 - f:5xA f:6xA - f:A f:A -> 2",
    "com.microsoft.EmbedLayerNormalization w:2x3 - f:5x4 f:6x4 - f:A f:4 -> 2",
    "com.microsoft.EmbedLayerNormalization w:2x3 - f:5x0 f:6x0 - f:0 f:0 -> 2",
    "com.microsoft.EmbedLayerNormalization w:AxB w:AxB f:5x4 f:6x4 f:Cx4 f:4 f:4 -> 2",
    f"TfIdfVectorizer w:AxB ngram_counts=[0,1] {_GRAMS}",
    f"TfIdfVectorizer w:A ngram_counts=[0,3] {_GRAMS}",
    *(f"TfIdfVectorizer w:A ngram_counts={counts} {_GRAMS}" for counts in ("[0,2]", "[3,0]", "[0]", "[-1,1]", "[0,5]")),
    f"TfIdfVectorizer w:A ngram_counts=[0,1] {_GRAMS}".replace("max_skip_count=0", "max_skip_count=-1"),
    "com.microsoft.MatMulBnb4 f:2x16 u:24 f:AxB K=16 N=3 block_size=16 quant_type=1",
    "com.microsoft.MatMulBnb4 f:2x16 u:24x1 f:3 K=16 N=3 block_size=16 quant_type=1",
    "HammingWindow i:A",
    "HannWindow i:1x1",
    "BlackmanWindow w:AxB",
    f"ai.onnx.ml.SVMRegressor f:Ax3 kernel_type='RBF' {_VECTORS}",
    f"ai.onnx.ml.SVMRegressor f:Ax3 kernel_type='RBF' kernel_params=[0.1] {_VECTORS}",
    f"ai.onnx.ml.SVMRegressor f:Ax3 kernel_type='RBF' kernel_params=[0.1,0.1,2.0] {_VECTORS}".replace("rho=[0.0] ", ""),
    f"ai.onnx.ml.SVMRegressor f:Ax3 kernel_type='RBF' kernel_params=[0.1,0.1,2.0] {_VECTORS}",
    f"ai.onnx.ml.TreeEnsembleRegressor f:A nodes_featureids=[0,0,0] {_TREE}",
    f"ai.onnx.ml.TreeEnsembleRegressor f:A nodes_featureids=[1,0,0] {_TREE}",
    "com.microsoft.QLinearAveragePool u:CxAx3xB f=1.0 u=0 f=1.0 u=0 kernel_shape=[3,3] channels_last=1",
    "ai.onnx.ml.OneHotEncoder i:2xA cats_int64s=[0,1,2] zeros=0",
    "NonZero f=0.0 @ 13",
    "NonZero f=2.0 @ 13",
    "com.microsoft.QLinearSoftmax u:BxA f: u=0 f=1.0 u=0 axis=-1 opset=13",
    # A key/value cache that is updated in place must have room for the keys of others, so there may be none.
    *(
        f"com.microsoft.DecoderMaskedMultiHeadAttention {given} num_heads=2{sharing} -> {count}"
        for given in (
            "f:2x1x8 f:2x2xKx4 f:2x2xKx4",
            "f:2x1x8 f:2x2xKx4 f:2x2xKx4 - - f:2x2xPx4 f:2x2xPx4 w=[1]",
            "f:2x1x8 f:2x1x8 f:2x1x8",
            "f:2x1x8 f:2x1x8 f:2x1x8 - - f:2x2xPx4 f:2x2xPx4",
            "f:2x1x8 f:2x1x8 f:2x1x8 - - f:2x2xPx4 f:2x2xPx4 w=[1]",
            "f:2x1x8 f:2x1x8 f:2x1x8 - - f:2x2xPx4 - w=[1]",
            "f:2x1x8 f:2x1x8",
        )
        for sharing in ("", " past_present_share_buffer=1")
        for count in (1, 3)
    ),
    *(f"com.microsoft.BranchwiseRMSNorm f:{x} f:{s}" for x in ("AxB", "2xAx6", "A") for s in ("C", "6", "Cx6")),
    "com.microsoft.BranchwiseRMSNorm f:AxB f:C num_branches=-1",
    "com.microsoft.RotaryEmbedding f:Nx3xB i=[0] f:5xA f:5xA num_heads=0",
    "com.microsoft.CropAndResize f:Bx2x4xA f:2x4 w:2 w=[2,2]",
    "com.microsoft.CropAndResize f:Bx2x4x4 f:Rx4 w:R w=[2,2]",
    *(f"com.microsoft.CropAndResize f:Bx2x4x4 f:2x4 w={places} w=[2,2]" for places in ("[1,1]", "[-1,0]")),
    "STFT f:Ax6 i=2",
    "STFT f:Ax6x1 i=2 f:3",
    *(
        f"Dropout f:A {ratio} -> 2 @ {opset}"
        for ratio in ("f=1.0", "f=-0.5", "f=0.5", "f:", "f:B")
        for opset in (12, 22)
    ),
    "Dropout f:A ratio=1.0 -> 2 @ 10",
    *(f"Mod {kind}:A {kind}:B fmod={fmod} @ {opset}" for kind in "fh" for fmod in (0, 1) for opset in (10, 13, 28)),
    *(
        f"com.microsoft.QLinear{name} u:A f=1.0 {zero} f=1.0"
        for name in ("Sigmoid", "LeakyRelu")
        for zero in ("u=0", "-")
    ),
    "com.microsoft.QLinearSigmoid u:A f=1.0 u=0 f=1.0 u=0",
    *(f"Split f:A i:B -> {count} @ {opset}" for count in (1, 3) for opset in (13, 18)),
    "Split f:A i:2 -> 3 @ 18",
    *(f"Split f:A i=[] -> {count} @ {opset}" for count in (1, 2) for opset in (13, 18)),
)
"""Nodes about which a random draw found a wrong answer, and their neighbours."""


@pytest.mark.parametrize("line", FOUND)
def test_a_node_that_was_found_is_answered_as_it_runs(outcomes, line):
    pytest.importorskip("onnxruntime")
    row = parsed(line)
    row["symbols"] = sorted({d for given in row["inputs"] if given for d in given["shape"] if isinstance(d, str)})
    row["sizes"] = [list(point) for point in product(range(4), repeat=len(row["symbols"]))]
    assert not faults(row, outcomes(row))
