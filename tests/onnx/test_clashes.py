"""What is said of models that run at no sizes: what clashes, with its numbers, and what to do."""

from __future__ import annotations

import json
import re

import onnx
import pytest
from parsed_models import parsed

import symbcast as sb
from symbcast.cli import Exit, run

BOUND = {
    "add": ("(float[N,4] a, float[M,4] b) => (float[] y) { y = Add(a, b) }", {"N": 3, "M": 4}),
    "inner": ("(float[N,4] a, float[M,4] b) => (float[] z) { r = Relu(a) y = Mul(r, b) z = Neg(y) }", {"N": 3, "M": 4}),
    "concat": ("(float[N,4] a, float[M,K] b) => (float[] y) { y = Concat<axis=0>(a, b) }", {"N": 3, "M": 4, "K": 5}),
    "matmul": ("(float[N,K] a, float[L,M] b) => (float[] y) { y = MatMul(a, b) }", {"N": 3, "M": 4, "K": 5, "L": 6}),
    "batch": ("(float[B,N,K] a, float[C,K,M] b) => (float[] y) { y = MatMul(a, b) }", {"B": 3, "C": 4}),
    "reshape": ("(float[N,6] a) => (float[] y) <int64[2] s = {-1, 4}> { y = Reshape(a, s) }", {"N": 3}),
    "conv": ("(float[N,C,L] x, float[8,3,5] w) => (float[] y) { y = Conv(x, w) }", {"C": 4, "L": 10}),
    "gather": ("(float[N,4] x) => (float[] y) <int64[1] i = {5}> { y = Gather<axis=0>(x, i) }", {"N": 3}),
    "split": (
        "(float[N,4] x) => (float[] y, float[] z) <int64[2] s = {2, 3}> { y, z = Split<axis=0>(x, s) }",
        {"N": 6},
    ),
    "where": (
        "(bool[N,1] c, float[M,4] a, float[1,K] b) => (float[] y) { y = Where(c, a, b) }",
        {"N": 3, "M": 2, "K": 5},
    ),
    "branch": (
        "(float[N,4] a, float[M,4] b, bool c) => (float[] y) { y = If(c) <then_branch = t () => (float[] u) "
        "{ u = Add(a, b) }, else_branch = e () => (float[] v) { v = Sub(a, b) }> }",
        {"N": 3, "M": 4},
    ),
    "function": (
        "(float[N,4] a, float[M,4] b) => (float[] y) { y = local.f(a, b) }\n"
        '<domain: "local", opset_import: ["" : 18]> f (p, q) => (r) { t = Relu(p) r = Add(t, q) }',
        {"N": 3, "M": 4},
    ),
}
JOIN = "on axis 0 (-2), sizes must be equal or 1: 3 and 4"
SAID = {
    "add": (JOIN, "give M (b axis 0) the size 1 or 3 in place of 4"),
    "inner": (JOIN, "give M (b axis 0) the size 1 or 3 in place of 4"),
    "concat": (
        "on axis 1 (-1), off axis 0 along which it joins, sizes must be equal: 5 and 4",
        "give K (b axis 1) the size 4 in place of 5",
    ),
    "matmul": (
        "the last size of one matrix must equal the second to last of the other: 5 and 6",
        "give L (b axis 0) the size 5 in place of 6",
    ),
    "batch": ("on axis 0 (-3), sizes must be equal or 1: 3 and 4", "give C (b axis 0) the size 1 or 3 in place of 4"),
    "reshape": ("the size at -1 must be a whole number", "give N (a axis 0) a multiple of 2 in place of 3"),
    "conv": (
        "the channels must equal the weights' channels times the groups: 4 and 3",
        "give C (x axis 1) the size 3 in place of 4",
    ),
    "gather": ("indices must be within the axis that they index", "give N (x axis 0) a size from 6 on in place of 3"),
    "split": ("the parts must add up to the size: 5 and 6", "give N (x axis 0) the size 5 in place of 6"),
    "where": ("on axis 0 (-2), sizes must be equal or 1: 3 and 2", "bind other sizes, such as N=1, M=1, K=1"),
    "branch": (JOIN, "give M (b axis 0) the size 1 or 3 in place of 4"),
    "function": (JOIN, "give M (b axis 0) the size 1 or 3 in place of 4"),
}


def clashing(name):
    text, bind = BOUND[name]
    return parsed(f"g {text}"), bind


@pytest.mark.parametrize("name", BOUND)
def test_the_clash_is_named_with_its_numbers_and_a_fix(name):
    model, bind = clashing(name)
    report = sb.onnx.check(model, bind=bind)
    assert report.verdict is sb.Verdict.NEVER
    first = report.findings[0]
    assert (first.reason, first.fix) == SAID[name]
    assert first.counterexample is not None
    assert not any(size.startswith("?") for size in first.counterexample)
    assert bind.items() <= first.counterexample.items()
    assert not any(size.startswith("?") for size in report.counterexample())


@pytest.mark.parametrize("name", BOUND)
def test_what_the_fix_says_works(name):
    model, bind = clashing(name)
    fix = sb.onnx.check(model, bind=bind).findings[0].fix
    sized = re.match(r"give (\w+) \([^)]*\) .*?(\d+(?: or \d+)*).* in place of (\d+)$", fix)
    if sized:
        size, tried = sized[1], [int(n) for n in sized[2].split(" or ")]
        assert bind[size] == int(sized[3])
        changed = [{**bind, size: n} for n in tried]
    else:
        changed = [{**bind, **{n: int(size) for n, size in re.findall(r"(\w+)=(\d+)", fix)}}]
    for other in changed:
        assert sb.onnx.check(model, bind=other).verdict is not sb.Verdict.NEVER


@pytest.mark.parametrize("name", ["add", "concat", "matmul", "conv", "where"])
def test_sizes_that_are_assumed_are_told_of_by_name(name):
    model, bind = clashing(name)
    finding = sb.onnx.check(model, [f"{n} == {size}" for n, size in bind.items()]).findings[0]
    numbers = [int(n) for n in re.findall(r"\d+", SAID[name][0].rpartition(":")[2])]
    said = finding.reason.rpartition(": ")[2]
    assert [int(re.findall(r"\d+", part)[-1]) for part in said.split(" and ")] == numbers
    assert re.search(r"\w = \d", said)
    assert "in place of" in finding.fix
    assert "those of" not in finding.words


def test_only_what_clashes_is_told_of():
    finding = sb.onnx.check(clashing("add")[0], ["N == 3", "M == 4"]).findings[0]
    assert finding.text == "N == M or N == 1 or M == 1"
    assert finding.words == "N and M are equal, or one of them is 1"


def test_assumptions_that_leave_no_sizes_for_a_node_are_named():
    finding = sb.onnx.check(clashing("add")[0], ["N >= 3", "M > N"]).findings[0]
    assert finding.fix == "assume less than N >= 3 and M > N: no sizes satisfy all of that and fit here"


def test_a_model_of_numbers_alone_says_which_clash():
    report = sb.onnx.check(parsed("g (float[3,4] a, float[4,4] b) => (float[] y) { y = Add(a, b) }"))
    assert report.counterexample() == {}
    text = report.explain()
    assert JOIN in text
    assert "fails at     (3, 4) and (4, 4)" in text


def test_each_of_the_nodes_that_clash_says_where_it_fails():
    text = "g (float[N,4] x, float[3,4] a, float[5,4] b) => (float[] y, float[] z) "
    text += "{ y = Concat<axis=1>(x, a) z = Concat<axis=1>(x, b) }"
    findings = sb.onnx.check(parsed(text)).findings
    assert [f.words for f in findings] == ["N is 3", "N is 5"]
    assert all(f.reason.startswith("on axis 0 (-2), off axis 1") for f in findings)


def test_a_size_that_another_is_bound_to_is_the_fix():
    text = "g (float[N,4] x, float[M,4] a) => (float[] y) { y = Concat<axis=1>(x, a) }"
    finding = sb.onnx.check(parsed(text), bind={"M": 3}).findings[0]
    assert finding.fix == "give N (x axis 0) the size 3, to which M is bound"


@pytest.mark.parametrize("format", ["text", "json", "github", "sarif"])
def test_every_format_says_it(format, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    onnx.save(clashing("add")[0], "add.onnx")
    assert run(["model", "add.onnx", "--bind", "N=3", "--bind", "M=4", "--format", format]) == Exit.FAILS
    out = capsys.readouterr().out
    assert "those of 4" not in out
    assert "?0=" not in out
    assert "give sizes at which" not in out
    assert JOIN in out
    assert "give M (b axis 0) the size 1 or 3 in place of 4" in out
    if format == "json":
        (report,) = json.loads(out)["models"]
        assert report["counterexample"] == report["findings"][0]["counterexample"] == {"N": 3, "M": 4}


def test_the_page_says_it():
    model, bind = clashing("add")
    page = sb.onnx.check(model, bind=bind)._repr_html_()
    assert "the size 1 or 3 in place of 4" in page
    assert "?0" not in page


@pytest.mark.parametrize("name", [name for name in BOUND if name != "branch"])
def test_the_runtime_fails_there_too(name):
    pytest.importorskip("onnxruntime", reason="the extra onnxruntime is not installed")
    model, bind = clashing(name)
    runs = sb.onnx.check(model, bind=bind, runtime="onnxruntime").confirm()
    assert runs
    assert all(r.agrees is not False for r in runs)
    assert any(r.agrees for r in runs)


def test_a_size_that_a_shape_fixes_is_the_fix_too():
    model, bind = clashing("add")
    report = sb.onnx.check(model, shapes={"a": "3, 4", "b": "4, 4"})
    assert (report.findings[0].reason, report.findings[0].fix) == SAID["add"]
    assert report.counterexample() == bind
    assert report.assumptions == ("a of shape (3, 4)", "b of shape (4, 4)")
    assert [str(s) for s in report.inputs.values()] == ["(3, 4)", "(4, 4)"]
