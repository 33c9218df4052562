"""Whether ONNX Runtime opens a model: refusals are foreseen, and nothing that opens is refused."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import onnx
import pytest
from onnx import helper, parser

import symbcast as sb
from symbcast.onnx.session import folding, kernels
from symbcast.onnx.session import kernels as signatures

onnxruntime = pytest.importorskip("onnxruntime")
TESTS = Path(__file__).parents[1]
IF = """g (float[N] x, float[5, 7] z) => (float[M] y) <bool c = {1}, int64[2] k = {-1, 3}, int64[2] j = {-2, 2}> {
    y = If(c) <then_branch = t () => (float[Q] a) { a = Relu(x) }, else_branch = e () => (float[P] b) %s> }"""
CALL = """g (float[5, 7] x) => (float[M, L] y) { y = %s }
    <domain: "own", opset_import: ["": 18]> F (a) => (b) { k = Constant<value_ints = [-1, 3]>() b = Reshape(a, k) }"""
RANGE = """g (float[%s] x) => (float[M] y) <float a = {0.1}, float d = {1e-30}, int64[1] first = {0}> {
    s = Shape(x) f = Cast<to = 1>(s) n = Squeeze(f, first) y = Range(a, n, d) }"""
LARGE = 2**63 - 1

REFUSED = {
    "a target of another size": (
        "g (float[3, 5] x, int64[4] t) => (float y) { y = NegativeLogLikelihoodLoss(x, t) }",
        "Input and target dimension value mismatch",
    ),
    "one side of complex numbers": (
        "g (float[1, N, 2] x) => (float[B, L, 2] y) { y = DFT<onesided = 1, axis = 1>(x) }",
        "one-sided DFT requires real input (last dimension must be 1)",
    ),
    "a slice backwards from the largest number": (
        f"""g (float[5] x) => (float[M, K] y) <int64[1] a = {{{LARGE}}}, int64[1] e = {{-{LARGE}}}, int64[1] i = {{0}},
            int64[1] s = {{-1}}, int64[2] k = {{-1, 3}}> {{ p = Slice(x, a, e, i, s) y = Reshape(p, k) }}""",
        "Dimension could not be inferred: incompatible shapes",
    ),
    "a branch that is never taken": (
        IF % "<float[3] v = {1, 2, 3}, float[2] w = {1, 2}> { b = Add(v, w) }",
        "Incompatible dimensions",
    ),
    "a constant that is folded in it": (
        IF % "{ s = Max(k, j) q = Reshape(z, s) b = Relu(q) }",
        "Dimension could not be inferred: incompatible shapes",
    ),
    "a node that nothing uses": (
        "g (float[5, 7] x, float[5, 6] z) => (float[5, 7] y) { w = Add(x, z) y = Relu(x) }",
        "Incompatible dimensions",
    ),
    "a size as a real number": (RANGE % 6, "All inputs to 'Range' op must be of the same type"),
    "a function": (CALL % "own.F(x)", "Dimension could not be inferred: incompatible shapes"),
    "no kernel": (
        "g (int16[5, 7] x) => (int16[5, 7] y) { y = Relu(x) }",
        "there is no implementation of Max of version 13 for tensor(int16), tensor(int16)",
    ),
    "a body that declares another rank": (
        """g (float[S] s, float[T, S] x) => (float[S] t, float[T, S] y) { t, y = Scan<num_scan_inputs = 1, body =
            b (float[S] si, float[A, B, C] xi) => (float[S] so, float[S] yo) {
                so = Identity(si) yo = Relu(xi) }>(s, x) }
        """,
        "'xi' is declared with a different type than it has",
    ),
    "a rank that is known only before constants are folded": (
        """g (float[1, 2] x, float[1] z, bool c) => (float[M] y) <int64[1] k = {0}, int64 i = {0}, float[1] two = {2.0},
            int64[2] p = {1, 1}, int64[1] a = {2}, int64[1] b = {0}> { y = If(c) <
            then_branch = t () => (float[Q] d) { d = Identity(z) },
            else_branch = e () => (float[P] f) {
                s = Shape(x) g = Gather(s, k) h = Cast<to = 1>(g) j = Div(h, two) l = Ceil(j) m = Cast<to = 7>(l)
                n = Expand(z, m) sz = Shape(n) u = Cast<to = 1>(sz) v = Floor(u) w = Cast<to = 7>(v)
                o = Concat<axis = 0>(w, p) q, r, tail = Split<axis = -1>(n, o)
                ab = Concat<axis = 0>(a, b) f = Reshape(tail, ab) }> }""",
        "Invalid position of 0",
    ),
    "a branch that a folded condition takes": (
        """g (float[2, 2] x, float[3, 3] z) => (float[A, B] y) <int64 two = {2}, int64[1] o = {0}> {
            s = Shape<end = 1>(x) n = Squeeze(s, o) c = Less(n, two)
            b = If(c) <then_branch = t () => (float[P, Q] d) { d = Identity(z) },
                else_branch = e () => (float[R, S] f) { f = Identity(x) }>
            y = Add(z, b) }""",
        "Incompatible dimensions",
    ),
    "a name that a kernel does not know": (
        'g (uint8[N] x) => (uint8[N] y) { y = BitShift<direction = "UP">(x, x) }',
        "direction of BitShift must be one of LEFT, RIGHT",
    ),
}
OPENED = {
    "a target that may fit": "g (float[N, 5] x, int64[M] t) => (float y) { y = NegativeLogLikelihoodLoss(x, t) }",
    "a declared shape that is wrong": "g (float[6] x) => (float[7, 1] y) { y = Relu(x) }",
    "a constant index out of range": """g (float[N] x) => (float[M] y) <float[3] w = {1, 2, 3}, int64[1] i = {7}> {
        y = Relu(x) b = Gather(w, i) }""",
    "a function that nothing calls": CALL % "Relu(x)",
    "a type without a kernel in a branch that is removed": """g (int16[N] x) => (int16[N] y) <bool c = {1}> {
        y = If(c) <then_branch = t () => (int16[Q] a) { a = Identity(x) },
        else_branch = e () => (int16[P] b) { b = Relu(x) }> }""",
    "a type with casts around": "g (float16[N] x) => (float16[N] y) { y = Sinh(x) }",
    "a type with a definition": "g (double[N] x) => (double[N] y) { y = Mish(x) }",
    "a part of unknown shape": """g (float[N, 3] x, float[5, 7] z) => (float[A, B] y)
        <int64[1] m = {-1}> { s = Shape<start = 1>(x) q = Concat<axis = 0>(m, s) y = Reshape(z, q) }""",
    "a range to a size that is not known": RANGE % "N",
    "a size as a shape": """g (float[1] x) => (float[A] y) <int64 i = {0}> {
        s = Shape(x) n = Gather(s, i) y = Reshape(x, n) }""",
}


def model_of(text):
    return parser.parse_model(f'<ir_version: 9, opset_import: ["": 18, "own": 1]> {text}')


def opens(model):
    """Return whether the runtime opens a model, asked in its own process, as some models end it."""
    script = """if True:
        import sys, onnxruntime
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4
        try:
            onnxruntime.InferenceSession(sys.stdin.buffer.read(), options, providers=["CPUExecutionProvider"])
        except Exception as error:
            print(error)
            sys.exit(3)"""
    return subprocess.run([sys.executable, "-c", script], input=model.SerializeToString(), check=False).returncode == 0


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_opened_never_runs(name):
    text, reason = REFUSED[name]
    model = model_of(text)
    report = sb.onnx.check(model, runtime="onnxruntime")
    assert report.verdict is sb.Verdict.NEVER
    said = [f.reason for f in report.findings]
    assert f"ONNX Runtime does not open the model: {reason}" in said or report.condition == sb.Condition(False)
    assert not opens(model)


def test_definitions_are_of_the_versions_that_a_model_imports():
    """The inference of NegativeLogLikelihoodLoss looks at the weights from version 22 on."""
    text = "g (float[3, 5] x, int64[3] t, float[2] w) => (float y) { y = SoftmaxCrossEntropyLoss(x, t, w) }"
    for version, verdict in ((21, sb.Verdict.ALWAYS), (22, sb.Verdict.NEVER)):
        model = parser.parse_model(f'<ir_version: 9, opset_import: ["": {version}]> {text}')
        assert sb.onnx.check(model, runtime="onnxruntime").verdict is verdict
        assert opens(model) == (verdict is sb.Verdict.ALWAYS)


def test_a_refusal_names_the_node_and_its_operands():
    text, reason = REFUSED["a branch that is never taken"]
    (finding,) = sb.onnx.check(model_of(text), runtime="onnxruntime").findings
    assert (finding.operation, finding.kind, finding.sizes_there) == ("b", "Add", "(3,) and (2,)")
    assert finding.reason == f"ONNX Runtime does not open the model: {reason}"


@pytest.mark.parametrize("name", OPENED)
def test_what_is_opened_is_not_refused(name):
    model = model_of(OPENED[name])
    report = sb.onnx.check(model, runtime="onnxruntime")
    assert not any("open" in f.reason for f in report.findings)
    assert opens(model)


@pytest.mark.parametrize("name", [*REFUSED, *OPENED])
def test_nodes_are_inferred_alike_from_bytes_and_from_messages(name, monkeypatch):
    def found():
        report = sb.onnx.check(model_of(REFUSED[name][0] if name in REFUSED else OPENED[name]), runtime="onnxruntime")
        return [f.reason for f in report.findings], report.unanalysed, report.shapes

    assert folding.inference() is folding._by_bytes
    expected = found()
    monkeypatch.setattr(folding, "inference", lambda: folding._by_messages)
    assert found() == expected


def test_the_documents_know_of_no_session():
    model = model_of(REFUSED["a branch that is never taken"][0])
    assert sb.onnx.check(model).verdict is sb.Verdict.ALWAYS


def test_a_wrong_note_of_a_type_leaves_the_answer_open():
    model = model_of("g (float[N] x) => (float[N] y) <int64[N] p> { p = Relu(x) y = Relu(x) }")
    report = sb.onnx.check(model, runtime="onnxruntime")
    assert report.verdict is sb.Verdict.UNKNOWN
    assert [u.reason for u in report.unanalysed] == [
        "ONNX Runtime may not open the model: 'p' is declared as tensor(int64), but is tensor(float)"
    ]
    assert not opens(model)


def named(*names, op_type="Constant"):
    """Return a model of nodes of such names, the last of another operator."""
    model = model_of("g (float[N] x) => (float[N] y) { y = Relu(x) }")
    for n, name in enumerate(names):
        attributes = {"value_int": n} if op_type == "Constant" else {}
        inputs = [] if op_type == "Constant" else ["x"]
        model.graph.node.append(helper.make_node(op_type, inputs, [f"c{n}"], name=name, **attributes))
    return model


def test_constants_may_share_a_name():
    model = named("same", "same")
    assert opens(model)
    assert sb.onnx.check(model, runtime="onnxruntime").verdict is sb.Verdict.ALWAYS


def test_other_nodes_may_not():
    model = named("same", "same", op_type="Neg")
    assert not opens(model)
    with pytest.raises(sb.ModelError, match="two nodes are called 'same', which ONNX Runtime refuses"):
        sb.onnx.check(model, runtime="onnxruntime")


def test_a_constant_may_have_the_name_of_another_node():
    model = named("same")
    model.graph.node[0].name = "same"
    assert opens(model)
    assert sb.onnx.check(model, runtime="onnxruntime").verdict is sb.Verdict.ALWAYS


def sparse(values, places, dims):
    model = model_of("g (float[N] x) => (float[N] y) { y = Relu(x) z = Neg(w) }")
    made = helper.make_sparse_tensor(
        helper.make_tensor("w", onnx.TensorProto.FLOAT, [len(values)], values),
        helper.make_tensor("i", onnx.TensorProto.INT64, [len(places)], places),
        dims,
    )
    model.graph.sparse_initializer.append(made)
    return model


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (([1.0], [4], [4]), "has the index 4, which is not within 0 to 3"),
        (([1.0], [-1], [4]), "has the index -1, which is not within 0 to 3"),
        (([1.0, 2.0], [1], [4]), "has indices of shape (1,); for 2 values it must be (2,)"),
        (([1.0], [0], [-1]), "has the shape (-1,): no size can be negative"),
    ],
)
def test_sparse_constants_without_a_place_are_malformed(given, said):
    model = sparse(*given)
    assert not opens(model)
    with pytest.raises(sb.ModelError) as found:
        sb.onnx.check(model, runtime="onnxruntime")
    assert f"the sparse initializer 'w' {said}" in str(found.value)


def test_sparse_constants_with_places_run():
    model = sparse([1.0, 2.0], [1, 3], [4])
    assert opens(model)
    assert sb.onnx.check(model, runtime="onnxruntime").verdict is sb.Verdict.ALWAYS


def test_an_operator_of_the_runtime_whose_sizes_clash_leaves_the_answer_open():
    """What the runtime's own operators infer is not known: a branch that may never be taken may refuse the model."""
    model = parser.parse_model("""<ir_version: 9, opset_import: ["": 18, "com.microsoft": 1]>
        g (uint8[2, 3] p, uint8[2, 4] q, float s, uint8 z, bool c) => (uint8[A, B] y) { y = If(c) <
        then_branch = t () => (uint8[C, D] a) { a = com.microsoft.QLinearConcat<axis = 0>(s, z, p, s, z, q, s, z) },
        else_branch = e () => (uint8[E, F] b) { b = Identity(p) }> }""")
    report = sb.onnx.check(model, runtime="onnxruntime")
    assert report.verdict is not sb.Verdict.ALWAYS
    assert any("may not open the model" in u.reason for u in report.unanalysed)
    assert not opens(model)


def test_random_models_open_as_foreseen():
    """A sample of `tests/surveys/survey_openings.py`."""
    found = subprocess.run(
        [sys.executable, str(TESTS / "surveys" / "survey_openings.py"), "40", "--start", "2000", "--batch"],
        capture_output=True,
        text=True,
        check=True,
    )
    items = json.loads(found.stdout.splitlines()[-1])
    assert len(items) == 40
    assert {item["said"] for item in items} >= {"opened", "refused"}
    assert [i for i in items if i["said"] not in ("refused" if i["error"] else "opened", "left open")] == []


@pytest.mark.skipif(not onnxruntime.__version__.startswith("1.32"), reason="recorded from another version")
def test_the_recorded_kernels_are_those_of_the_runtime():
    script = """import json, record_kernels
print(json.dumps([record_kernels.recorded(), record_kernels.signatures()]))"""
    found = subprocess.run(
        [sys.executable, "-c", script], cwd=Path(__file__).parent, capture_output=True, text=True, check=True
    )
    folder = Path(kernels.__file__).parent
    assert Path(signatures.__file__).parent == folder
    held = [json.loads((folder / name).read_text()) for name in ("kernels.json", "signatures.json")]
    assert json.loads(found.stdout) == held
