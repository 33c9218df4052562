"""Texts of random contracts, held against the rules of their readers (`drawn_texts.py`, `exported_contracts.py`)."""

import json
import re
import subprocess
import sys
from importlib.util import find_spec

import pytest
from documents import ROOT

import symbcast as sb
from symbcast.answers.contracts.targets import targets

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
from drawn_texts import READ, mistakes, refused_by_readers

H = '<ir_version: 8, opset_import: ["" : 17]>\n'
TRITON = [
    # a model, the first line, and the dims of inputs and outputs
    ("g (float[N,3] x) => (float[3,N] y) { y = Transpose<perm=[1,0]>(x) }", 0, ["-1, 3", "3, -1"]),
    ("g (float[N,3] x) => (float[N,3] y, int64[2] s) { y = Relu(x)\n s = Shape(x) }", 0, ["-1, 3", "-1, 3", "2"]),
    ("g (float[N,3] x) => (float[M,3] y) { y = Concat<axis=0>(x, x) }", 0, ["-1, 3", "-1, 3"]),
    ("g (float[N,3] x) => (float y) { y = ReduceSum<keepdims=0>(x) }", 0, ["-1, 3", "1"]),
    ("g (float[N,3] x) => (int64[N] y) { y = ArgMax<axis=1, keepdims=0>(x) }", 16, ["3", "1"]),
    ("g (float[N,3] x, float[3] w) => (float[N,3] y) { y = Mul(x, w) }", 0, ["-1, 3", "3", "-1, 3"]),
    ("g (float[N,3] x) => (float[N,3] y) { y = Relu(x) }", 16, ["3", "3"]),
    ("g (float[N,3] x) => (float[A,B] y) { y = Relu(x) }", 16, ["3"]),  # the runtime may find 3 or not
    ("g (float[N,N] x) => (float[N,N] y) { y = Relu(x) }", 0, ["-1, -1", "-1, -1"]),
    ("g (float[N] x) => (float[N] y) { y = Relu(x) }", 16, ["1", "1"]),
]


@pytest.mark.parametrize(("text", "batch", "dims"), TRITON)
def test_a_batch_needs_all_inputs_and_outputs(text, batch, dims):
    onnx = pytest.importorskip("onnx")
    found = sb.onnx.check(onnx.parser.parse_model(H + text)).contract(N="1..16").to("triton")
    assert found.splitlines()[0] == f"max_batch_size: {batch}"
    assert [line.strip() for line in found.splitlines() if "dims" in line] == [f"dims: [{d}]" for d in dims]
    assert ("reshape: { shape: [] }" in found) == (batch > 0 and "1" in dims)


def test_triton_needs_data_types():
    with pytest.raises(sb.TargetError, match="has a data type that Triton knows, and that of x is unknown"):
        sb.Condition("N >= 1").contract(N="1..8").to("triton", inputs={"x": "N, 3"})


REFUSED = [
    # target, inputs, ranges, what the error says
    ("trtexec", {"x": "2, 3"}, {}, "all inputs are fixed"),
    ("trtexec", {"a,b": "N"}, {}, "the input name 'a,b' has a sign with a meaning"),
    ("trtexec", {"x": "N, 1, 1, 1, 1, 1, 1, 1, 1"}, {}, "at most 8 axes, and x has 9"),
    ("trtexec", {"x": "N"}, {"N": "2147483647..2147483648"}, "a size is at most 2147483647"),
    ("onnxruntime-tensorrt", {"x": ()}, {}, "a shape has at least one axis"),
    ("coreml", {"x": "N, 1, 1, 1, 1, 1"}, {}, "1 to 5 axes, and x has 6"),
    ("coreml", {"x": "N", "s": ()}, {}, "1 to 5 axes, and s has 0"),
    ("webnn", {"x": "N"}, {"N": "0..8"}, "N can be 0"),
    ("jax", {"x": "N"}, {"N": "0..8"}, "N can be 0"),
    ("jax", {"x": "N + M"}, {}, "M and N cannot"),
    ("torch", {"x": "N"}, {"N": "0..1"}, "the greatest N is 1"),
    ("stablehlo", {"a: b": "N"}, {}, "has a colon and a space"),
]


@pytest.mark.parametrize(("target", "inputs", "ranges", "told"), REFUSED)
def test_a_text_that_would_break_a_rule_is_refused(target, inputs, ranges, told):
    contract = sb.Condition("N >= 0 and M >= 0").contract({"N": "1..8", "M": "1..8", **ranges})
    with pytest.raises(sb.TargetError, match=told) as error:
        contract.to(target, inputs=inputs)
    assert error.value.hint


def test_names_that_a_text_uses_itself():
    contract = sb.Condition("Dim >= 1 and mod >= 1").contract(Dim="2..8", mod="2..8")
    assert 'Dim_ = Dim("Dim_", min=2, max=8)' in contract.to("torch", inputs={"x": "Dim, mod"})
    assert 'symbolic_shape("(Dim, mod_)"' in contract.to("jax", inputs={"x": "Dim, mod"})


@pytest.mark.parametrize("seed", range(40))
def test_texts_keep_the_rules_of_their_readers(seed):
    assert mistakes(seed)[0] == []


def test_more_texts_keep_the_rules_of_their_readers():
    assert [line for seed in range(1000, 1200) for line in mistakes(seed)[0]] == []


def test_readers_read_the_texts():
    targets = [t for t in READ if find_spec({"stablehlo": "jaxlib", "iree": "iree"}.get(t, t))]
    refused, count = refused_by_readers(range(40), targets)
    assert refused == []
    assert count > 10 * len(targets)


def test_torch_exports_modules_with_the_text_of_their_contract():
    pytest.importorskip("torch")
    command = [sys.executable, str(ROOT / "tests/support/exported_contracts.py"), "24", "0"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert json.loads(done.stdout.splitlines()[-1]) == [], done.stderr[-2000:]


def test_each_target_has_rules_and_each_rule_a_source_and_a_hint():
    table = (ROOT / "symbcast/answers/contracts/targets/README.md").read_text("utf-8")
    assert {*re.findall(r"^\| `(.+?)` \|", table, re.MULTILINE)} <= {*targets()}
    for name, target in targets().items():
        assert bool(target.rules) == (name != "json")
        assert all(rule.text and rule.source and rule.hint for rule in target.rules)
