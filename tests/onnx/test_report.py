"""Reports about models: true of the sizes they name, and readable where people and programs read them."""

import json
import re
from html.parser import HTMLParser

import jsonschema
import pytest
from onnx import ModelProto, checker, helper
from onnx import parser as onnx_parser
from small_models import TEXTS, small_model

import symbcast as sb
from symbcast import onnx as models
from symbcast.core.algebra.formulas import dims_of
from symbcast.core.text import parse_dim, parse_formula
from symbcast.onnx.report import ModelReport

NAMES = list(TEXTS)
CONDITIONAL = ["baked", "forced", "table", "mask", "even", "concat", "largest", "cache", "clash", "several", "unnamed"]


@pytest.fixture(scope="module")
def reports():
    return {name: models.check(small_model(name)) for name in NAMES}


@pytest.mark.parametrize(
    ("name", "verdict"),
    [
        *((name, sb.Verdict.SOMETIMES) for name in CONDITIONAL),
        ("never", sb.Verdict.NEVER),
        ("always", sb.Verdict.UNKNOWN),
        ("unknown_op", sb.Verdict.UNKNOWN),
    ],
)
def test_verdicts(reports, name, verdict):
    report = reports[name]
    # Softmax may have no operator of its own yet: then nothing is said for all sizes.
    expected = sb.Verdict.ALWAYS if name == "always" and not report.unanalysed else verdict
    assert report.verdict is expected
    assert bool(report.reason) is (expected is sb.Verdict.UNKNOWN)


def test_what_was_asked_is_kept():
    report = models.check(small_model("mask"), ["B >= 2", "S == 1"], 0, runtime="onnxruntime")
    assert (report.source, report.runtime, report.min_size) == ("g", "onnxruntime", 0)
    assert report.assumptions == ("B >= 2", "S == 1")
    assert {n: str(s) for n, s in report.inputs.items()} == {"x": "(B, T)", "mask": "(C, S)"}
    assert str(report.outputs["y"]) == str(report.shapes["y"])


def test_the_sizes_of_inputs_are_not_assumptions_of_the_user(reports):
    assert reports["mask"].assumptions == ()
    assert "sizes >= 1" in reports["mask"].explain()
    assert "B >= 1" not in reports["mask"].explain()


@pytest.mark.parametrize("name", CONDITIONAL)
def test_the_condition_holds_where_it_is_said_to(reports, name):
    report = reports[name]
    guard = report.guard()
    assert guard(report.witness())
    assert not guard(report.counterexample())
    assert report.findings
    for finding in report.findings:
        assert not guard(finding.counterexample)


@pytest.mark.parametrize("name", CONDITIONAL)
def test_a_finding_fails_alone(reports, name):
    report = reports[name]
    symbols = {s.name: s for f in report.findings for s in f.condition.free_symbols}
    for finding in report.findings:
        sizes = {s: finding.counterexample[n] for n, s in symbols.items()}
        held = [f for f in report.findings if f.condition.subs(sizes) == True]  # noqa: E712 - a sympy truth value
        assert held == [f for f in report.findings if f is not finding]


@pytest.mark.parametrize(
    ("name", "node", "operands", "there", "fix"),
    [
        ("baked", "n0", ["x", "size"], "(2, 4, 2) and [1, 8]", "the shape [1, 8] baked into initializer size fixes N"),
        ("forced", "n0", ["x", "size"], "(1, 1, 2) and [7, -1, 2]", "fixes T (x axis 0) at 7"),
        (
            "table",
            "n5",
            ["found", "part"],
            "(1, 6, 2) and (1, 5, 2)",
            "keep T (ids axis 1) at most 5: initializer places",
        ),
        ("mask", "n0", ["x", "mask"], "(2, 1) and (3, 1)", "give mask axis 0 the size of x axis 0 (C = B)"),
        ("even", "n0", ["x"], "(1, 1)", "pad H (x axis 1) to a multiple of 2"),
        ("concat", "n0", ["x", "y"], "(1, 3) and (2, 3)", "give y axis 0 the size of x axis 0 (M = N)"),
        ("largest", "n0", ["x", "k"], "(1, 1) and [5]", "use sizes of at least 5 for C (x axis 1)"),
        ("cache", "n2", ["mask", "count"], "(1,) and [2]", "give mask axis 0 the size P + S (T = P + S)"),
        ("never", "n0", ["x", "y"], "(1, 3) and (4, 1)", "no input sizes help"),
    ],
)
def test_findings(reports, name, node, operands, there, fix):
    finding = reports[name].findings[0]
    assert finding.node == node
    assert finding.origins[0] == node
    assert [finding.operands[n][0] for n in finding.shown] == operands
    assert finding.sizes_there == there
    assert fix in finding.fix
    text = reports[name].explain()
    assert all(part in " ".join(text.split()) for part in (node, *operands, there, finding.fix))


def test_the_axis_is_told_from_both_ends(reports):
    first, second = reports["mask"].findings
    assert (first.reason, second.reason) == (
        "on axis 0 (-2), sizes must be equal or 1",
        "on axis 1 (-1), sizes must be equal or 1",
    )


def test_all_nodes_that_ask_are_named(reports):
    (finding,) = reports["clash"].findings
    assert finding.origins == ("n1", "n2")


def test_nodes_that_clash():
    report = models.check(small_model("clash"), "N >= 2")
    assert report.verdict is sb.Verdict.NEVER
    assert [f.node for f in report.findings] == ["n1", "n2"]
    assert report.witness() is None
    assert [line.split()[1] for line in str(report).splitlines() if "Expand" in line] == ["n1", "n2"]


def test_an_assumption_leaves_its_condition_out(reports):
    report = models.check(small_model("mask"), "B == C")
    assert [f.node for f in report.findings] == ["n0"]
    assert {s.name for s in report.condition.free_symbols} == {"T", "S"}
    assert "B == C" in report.explain()


def test_what_data_decide_is_explained(reports):
    report = reports["data"]
    ((name, text),) = report.data_sizes.items()
    assert "nonzero elements" in text
    most, finding = report.findings
    assert most.text == "M <= N"  # no more elements are found than there are
    assert not most.is_about_data
    assert finding.is_about_data
    assert str(report.condition) == "M <= N"
    assert name in report.explain()
    assert name not in report.witness()
    assert finding.counterexample[name] <= finding.counterexample["N"]
    assert report.guard()(N=1, M=1)


def test_what_was_not_looked_at_is_said(reports):
    report = reports["unknown_op"]
    assert {u.op_type for u in report.unanalysed} == {"Odd", "Add"}
    assert report.shapes["h"] is None
    assert "Odd" in report.explain()
    assert "not analysed" in repr(report)


@pytest.mark.parametrize("name", NAMES)
def test_text_fits_on_a_screen(reports, name):
    lines = reports[name].explain().splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 100
    assert "\n" not in repr(reports[name])
    assert str(reports[name]) == reports[name].explain()


def test_many_findings_and_long_names_fit_on_a_screen():
    long = "/model/layers.0/self_attn/rotary_emb/" * 8
    inputs = [helper.make_tensor_value_info(f"{long}{n}", 1, [f"d{n}", "K"]) for n in range(40)]
    nodes = [
        helper.make_node("Add", [f"{long}{n}", f"{long}{n + 1}"], [f"{long}sum{n}"], name=f"{long}add{n}")
        for n in range(39)
    ]
    outputs = [helper.make_tensor_value_info(f"{long}sum{n}", 1, None) for n in range(39)]
    graph = helper.make_graph(nodes, long, inputs, outputs)
    report = models.check(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]))
    lines = report.explain().splitlines()
    first, last = (next(n for n, line in enumerate(lines) if line.startswith(s)) for s in ("condition", "assuming"))
    assert len(lines) - (last - first) <= 24
    assert str(report.condition) == " ".join(line.strip() for line in lines[first:last]).removeprefix("condition    ")
    assert max(map(len, lines)) <= 100
    assert report.findings[0].node == f"{long}add0"
    shown = sum(line.startswith("needed by") for line in lines)
    assert f"{len(report.findings) - shown} more" in report.explain()


def test_text():
    assert models.check(small_model("baked")).explain().splitlines() == [
        "g: runs only for some sizes",
        "",
        "runs when    N is 1",
        "needed by    n0 (Reshape): the number of elements must stay the same",
        "operands     x (N, 4, 2), size = [1, 8]",
        "fails at     N=2: (2, 4, 2) and [1, 8]",
        "fix          the shape [1, 8] baked into initializer size fixes N (x axis 0) at 1: export it with",
        "             that size dynamic",
        "condition    N == 1",
        "assuming     sizes >= 1",
        "works at     N=1",
        "output       y (1, 8)",
    ]


# As data.


@pytest.mark.parametrize("name", NAMES)
def test_data_are_as_the_schema_says(reports, name):
    data = reports[name].to_dict()
    jsonschema.Draft202012Validator.check_schema(ModelReport.json_schema())
    jsonschema.validate(data, ModelReport.json_schema())
    assert json.loads(json.dumps(data)) == data
    assert json.dumps(models.check(small_model(name)).to_dict()) == json.dumps(data)


@pytest.mark.parametrize("name", NAMES)
def test_texts_in_data_read_back(reports, name):
    data = reports[name].to_dict()
    assert list(data["shapes"]) == list(reports[name].shapes)
    for dims in data["shapes"].values():
        for dim in dims or ():
            assert isinstance(dim, int) or str(parse_dim(dim))
    assert list(dims_of(parse_formula(data["condition"]))) or data["condition"] in ("True", "False")
    assert [parse_formula(f["condition"]) for f in data["findings"]] == [
        parse_formula(f.text) for f in reports[name].findings
    ]


# As HTML.


class _Page(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.seen, self.text = [], set(), []

    def handle_starttag(self, tag, attrs):
        self.seen.add(tag)
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


@pytest.mark.parametrize("name", NAMES)
def test_html_is_whole(reports, name):
    page = _Page()
    page.feed(reports[name]._repr_html_())
    assert not page.open
    assert page.seen <= {"div", "strong", "table", "tr", "th", "td", "code", "span", "br"}
    assert all(f.node in "".join(page.text) for f in reports[name].findings)


def test_html_shows_what_a_user_wrote_as_text(reports):
    page = _Page()
    page.feed(reports["markup"]._repr_html_())
    text = "".join(page.text)
    assert all(part in text for part in ("<script>alert(1)</script>", "<b>N", "<i>y</i>"))


def test_html_has_no_colour_of_its_own_for_text_and_ground(reports):
    styles = re.findall(r'style="([^"]*)"', reports["mask"]._repr_html_())
    grounds = {s for style in styles for s in re.findall(r"(?:^|;)(?:color|background):([^;]*)", style)}
    assert grounds <= {"inherit", "transparent"}


# As a model.


@pytest.mark.parametrize("name", NAMES)
def test_the_model_is_not_changed(name):
    model = small_model(name)
    before = ModelProto()
    before.CopyFrom(model)
    report = models.check(model)
    report.annotate()
    report.explain()
    assert model == before


@pytest.mark.parametrize("name", NAMES)
def test_an_annotated_model_says_what_the_report_does(reports, name):
    report = reports[name]
    made = report.annotate()
    if name != "unknown_op":
        checker.check_model(made)
    declared = {v.name: v.type.tensor_type for v in (*made.graph.value_info, *made.graph.output)}
    outputs = [n for node in made.graph.node for n in node.output]
    # A model has no place for a shape of unknown rank.
    shapes = {n: None if shape is None or shape.rank is None else shape for n, shape in report.shapes.items()}
    assert {n for n, shape in shapes.items() if n in outputs and shape is not None} <= declared.keys()
    for value, tensor in declared.items():
        shape = shapes[value]
        if shape is None:
            continue
        assert tensor.elem_type
        written = [
            d.dim_value if d.HasField("dim_value") else parse_dim(_quoted(d.dim_param)) for d in tensor.shape.dim
        ]
        # Of a size that data decide, what the model itself calls it stays.
        decided = [not isinstance(d, int) and str(d) in report.data_sizes for d in shape.dims]
        assert [w for w, skip in zip(written, decided, strict=True) if not skip] == [
            d for d, skip in zip(shape.dims, decided, strict=True) if not skip
        ]


def _quoted(text):
    return repr(text) if text.startswith("<") else text


def test_annotation_keeps_what_the_model_says_of_data():
    model = small_model("data")
    made = models.check(model).annotate()
    (output,) = made.graph.output
    assert [d.dim_value or d.dim_param for d in output.type.tensor_type.shape.dim] == [3, "M"]
    (name,) = models.check(model).data_sizes
    inner = {v.name: [d.dim_value or d.dim_param for d in v.type.tensor_type.shape.dim] for v in made.graph.value_info}
    assert inner["i"] == [1, name]


def test_annotation_names_dimensions_that_have_no_name(reports):
    made = reports["unnamed"].annotate()
    assert [i.type.tensor_type.shape.dim[0].dim_param for i in made.graph.input] == ["x_dim_0", "y_dim_0"]


def test_annotation_reaches_into_branches(reports):
    made = reports["branch"].annotate()
    branches = {a.name: a.g for a in made.graph.node[0].attribute}
    inner = {v.name: v.type.tensor_type for v in branches["then_branch"].value_info}
    assert [d.dim_param or d.dim_value for d in inner["u"].shape.dim] == ["broadcast(M, N)", 4]
    # Both branches make an "s": which of the two the report has under that name is not told apart.
    assert "s" not in inner


def test_a_window_that_fits_into_no_small_size_is_not_to_blame_for_the_rest():
    text = """<ir_version: 8, opset_import: ["": 18]>
    g (float[N, 1, L] x, float[1, 1, 2] w) => (float[N, 1, K] c, float[N, 1, L] z) {
        c = Conv (x, w)
        p = MaxPool <kernel_shape = [2], strides = [2]> (x)
        d = Concat <axis = 2> (p, p)
        z = Add (x, d)
    }"""
    report = models.check(onnx_parser.parse_model(text), runtime="onnxruntime")
    (finding,) = report.findings
    assert (finding.text, finding.op_type) == ("L % 2 == 0", "Add")
    assert (finding.counterexample, finding.sizes_there) == ({"N": 1, "L": 3}, "(1, 1, 3) and (1, 1, 2)")
    window = onnx_parser.parse_model(text.replace("z = Add (x, d)", "z = Identity (x)"))
    (alone,) = models.check(window, runtime="onnxruntime").findings
    assert (alone.text, alone.op_type, alone.counterexample) == ("L >= 2", "Conv", {"N": 1, "L": 1})
