"""What sizes decide is never left to data: verdicts, conditions and evidence, held against ONNX Runtime."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")

import onnxruntime
from parsed_models import parsed, points
from running import Refusal, Runs

import symbcast as sb
from symbcast import Verdict

UP_TO = {"T": 20, "N": 12}


def runs_at(model):
    """Return the one size that a model has, and where the model runs of all small ones."""
    runs = Runs(model)
    (name,) = {d.dim_param for i in model.graph.input for d in i.type.tensor_type.shape.dim if d.dim_param}
    found = {p[name]: runs.at(p) for p in points(model, range(1, UP_TO[name] + 1))}
    return name, {size for size, ran in found.items() if not isinstance(ran, Refusal)}


def assert_decided(text):
    """Check that a model of one size is answered exactly, and nothing of it left to data."""
    model = parsed(text)
    report = sb.onnx.check(model, runtime="onnxruntime")
    name, right = runs_at(model)
    condition = report.condition
    sizes = range(1, UP_TO[name] + 1)
    assert {n for n in sizes if condition.guard()({name: n} if condition.symbols else {})} == right
    assert not report.unanalysed
    assert str(report.data_condition) == "True"
    assert all(set(f.counterexample or ()) <= {name} for f in report.findings)
    return report


MAPPED = """g (float[T] x) => (seq(float[n]) y) <int64 six = {6}, float[6] w = {1, 2, 3, 4, 5, 6}> {
    s = SplitToSequence(x, six)
    y = SequenceMap <body = each (float[a] e) => (float[c] f) { f = Add(e, w) }> (s)
}"""
NUMBERS = """<int64 zero = {0}, int64 one = {1}, int64 two = {2}, int64[1] line = {1}, int64[1] flat = {-1},
    bool yes = {1}, float half = {0.5}, float quarter = {0.25}, float unit = {1.0}, float steep = {1.5},
    int64[2] swap = {1, 0},
    int64[1] pair = {2}, int64[1, 1] place = {1}>"""


def of_nodes(nodes):
    head = "g (float[N] x, float[8, 3] t, float[5] w) => (float[a, b] y)"
    return f"{head} {NUMBERS} {{ s = Shape(x)  n = Squeeze(s)  {nodes} }}"


def test_the_last_part_of_a_sequence_is_what_is_left():
    report = assert_decided(MAPPED)
    assert report.counterexample() == {"T": 2}
    assert report.findings[0].text == "T % 6 <= 1"


ONES = "o = ConstantOfShape <value = int64[1] {1}> (s)"


@pytest.mark.parametrize(
    "nodes",
    [
        # Parts, put together and taken out.
        "q = SplitToSequence(x, two)  y = ConcatFromSequence<axis = 0, new_axis = 1>(q)",
        "q = SplitToSequence(x, two)  v = SequenceAt(q, one)  y = Add(v, w)",
        # Sums of ones are ramps, and so is what is computed with ramps.
        f"{ONES}  c = CumSum(o, zero)  y = Gather(t, c)",
        f"{ONES}  c = CumSum<exclusive = 1>(o, zero)  y = Gather(t, c)",
        f"{ONES}  c = CumSum<reverse = 1>(o, zero)  y = Gather(t, c)",
        f"""{ONES}  e = Equal(o, two)  m = Not(e)  i = Cast<to = 6>(m)  z = Cast<to = 6>(zero)
            c = CumSum(i, z)  p = Mul(c, i)  l = Cast<to = 7>(p)  k = Add(l, one)  y = Gather(t, k)""",
        f"{ONES}  v = Add(o, one)  m = ReduceSum<keepdims = 0>(v)  y = Gather(t, m)",
        "r = Range(zero, n, one)  m = ReduceMax<keepdims = 0>(r)  y = Gather(t, m)",
        # Ranges of reals.
        "f = Cast<to = 1>(n)  r = Range(half, f, unit)  y = Add(r, w)",
        "f = Cast<to = 1>(n)  r = Range(quarter, f, steep)  y = Add(r, w)",
        # Branches that hold numbers, as many or more of them.
        """c = Less(n, two)  k = If <then_branch = p () => (int64 a) { a = Identity(two) },
             else_branch = q () => (int64 b) { b = Add(n, n) }> (c)  y = Gather(t, k)""",
        """c = Less(n, two)  k = If <then_branch = p () => (int64[u] a) { a = Identity(flat) },
             else_branch = q () => (int64[v] b) { b = Concat<axis = 0>(line, line, s) }> (c)
           v = Reshape(x, k)  y = Add(v, w)""",
        # Operators without a word of their own here: run over elements that are sizes.
        """v = Concat<axis = 0>(line, s)  k = OneHot(swap, pair, v)  m = ReduceProd<keepdims = 0>(k)
           y = Gather(t, m)""",
        """v = Concat<axis = 0>(line, s, line)  u = Add(s, s)  k = ScatterND(v, place, u)  e = CumSum(k, zero)
           m = Gather(e, two)  y = Gather(t, m)""",
        'v = Concat<axis = 0>(line, s)  k = Einsum<equation = "i,i->">(v, v)  y = Gather(t, k)',
        # What a loop carries, and the iteration number.
        """z = Gather(t, zero)  y = Loop(n, yes, z) <body = b (int64 i, bool c, float[3] a) => (bool d, float[3] e) {
             d = Identity(c)  r = Gather(t, i)  e = Add(a, r) }>""",
        """k = Loop(n, yes, zero) <body = b (int64 i, bool c, int64 a) => (bool d, int64 e) {
             d = Identity(c)  e = Add(a, two) }>  y = Gather(t, k)""",
        """k = Loop(n, yes, zero) <body = b (int64 i, bool c, int64 a) => (bool d, int64 e) {
             d = Identity(c)  r = Gather(w, a)  e = Add(a, two) }>  f = Cast<to = 1>(k)  y = Add(f, w)""",
    ],
)
def test_what_sizes_decide_is_asked_of_sizes(nodes):
    assert_decided(of_nodes(nodes))


def test_a_size_that_changes_in_the_first_turn_alone_is_known():
    model = parsed(
        """g (float[N, D] x, float[8] w) => (float[a, b] y) <bool yes = {1}> {
            s = Shape<end = 1>(x)  n = Squeeze(s)
            y = Loop(n, yes, x) <body = b (int64 i, bool c, float[p, q] a) => (bool d, float[p, q] e) {
                d = Identity(c)  e = Add(a, w)
            }>
        }"""
    )
    report = sb.onnx.check(model, runtime="onnxruntime")
    assert str(report.condition) == "D == 1 or D == 8"
    assert str(report.data_condition) == "True"


@pytest.mark.parametrize(
    "nodes",
    [
        "r = Range(zero, n, one)  m = Mod(r, two)  k = Mul(m, n)  y = Gather(t, k)",
        """f = Cast<to = 1>(n)  q = Sqrt(f)  k = Cast<to = 7>(q)  r = Range(zero, k, one)  g = Cast<to = 1>(r)
           y = Add(g, w)""",
        "f = Cast<to = 1>(n)  q = Sqrt(f)  k = Cast<to = 7>(q)  y = Gather(t, k)",
    ],
)
def test_what_is_not_followed_leaves_the_verdict_open(nodes):
    report = sb.onnx.check(parsed(of_nodes(nodes)), runtime="onnxruntime")
    assert report.verdict is Verdict.UNKNOWN
    assert report.reason
    assert not any(u.is_about_data for u in report.unanalysed)
    assert all(f.counterexample is None for f in report.findings)


@pytest.mark.parametrize(
    "nodes", ["i = Cast<to = 7>(x)  y = Gather(t, i)", "i = ArgMax(x)  k = Add(i, two)  y = Gather(t, k)"]
)
def test_what_data_decide_is_left_to_data(nodes):
    assert sb.onnx.check(parsed(of_nodes(nodes)), runtime="onnxruntime").verdict is Verdict.ALWAYS


def test_evidence_about_data_is_reachable():
    model = parsed(
        """g (float[N, M] x, float[3] w) => (float[a] y) <int64 one = {1}> {
            i = NonZero(x)  k = Gather<axis = 0>(i, one)  f = Cast<to = 1>(k)  y = Add(f, w)
        }"""
    )
    (finding,) = sb.onnx.check(model).findings
    there = finding.counterexample
    assert finding.is_about_data
    assert there["i_count"] <= there["N"] * there["M"]


@pytest.mark.parametrize(
    ("step", "condition"), [("1e-30", "N <= 3"), ("-1e-30", "N >= 4"), ("0.1", "True"), ("0", "False")]
)
def test_a_range_has_room(step, condition):
    """A float range of a length that is not known; ONNX Runtime fails where it has more than 2**47 elements."""
    model = parsed(
        f"""g (float[N] x) => (float[a] y) <float start = {{3.1}}, float step = {{{step}}}> {{
            s = Shape(x)  n = Squeeze(s)  f = Cast<to = 1>(n)  y = Range(start, f, step)
        }}"""
    )
    report = sb.onnx.check(model, runtime="onnxruntime")
    assert report.condition.equivalent(condition)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    for size in range(1, 7) if step != "0" else ():
        try:
            session.run(None, {"x": np.zeros(size, np.float32)})
            runs = True
        except Exception:  # the runtime's errors have no class in common
            runs = False
        assert runs == sb.Condition(condition).guard()({"N": size} if "N" in condition else {})


@pytest.mark.parametrize(("given", "verdict"), [("float d", Verdict.ALWAYS), ("float[N] d", Verdict.UNKNOWN)])
def test_the_step_of_a_range_is_checked_or_left_open(given, verdict):
    """A step that data decide alone is left to data; one that sizes decide too leaves the verdict open."""
    step = "e = Mul(d, third)" if given == "float d" else "k = Sqrt(f)  e = Mul(k, third)"
    model = parsed(
        f"""g (float[N] x, {given}) => (float[a] y) <float start = {{0.1}}, float third = {{0.3}}> {{
            s = Shape(x)  n = Squeeze(s)  f = Cast<to = 1>(n)  {step}  y = Range(start, f, e)
        }}"""
    )
    assert sb.onnx.check(model, runtime="onnxruntime").verdict is verdict
