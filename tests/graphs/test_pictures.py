"""Pictures of models: how they are folded, what they show, and that names cannot become part of the page."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections import Counter
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kinds import ANSWERS

import symbcast as sb
from symbcast.graphs.graph import module_path
from symbcast.graphs.report.drawing import MOST, MOST_OPEN, OPEN, GraphBlock, drawing_of, fold_blocks

DETECTOR = "tests/data/onnx/models/ppocr_v4_det.onnx.gz"


# Blocks.


@st.composite
def graphs(draw):
    count = draw(st.integers(1, 70))
    paths = [draw(st.lists(st.sampled_from("abc"), max_size=3)) for _ in range(count)]
    uses = [[draw(st.integers(0, n - 1)) for _ in range(draw(st.integers(0, 2)))] if n else [] for n in range(count)]
    return paths, uses


@given(graphs())
def test_every_node_is_in_one_place_and_no_block_is_too_long(graph):
    paths, uses = graph
    top = fold_blocks(paths, uses)
    assert sorted(top.places()) == [*range(len(paths))]
    pending = [top]
    while pending:
        block = pending.pop()
        assert 1 <= len(block.members) <= MOST
        inner = [m for m in block.members if isinstance(m, GraphBlock)]
        assert all(len(b.members) > 1 for b in inner)
        pending += inner


def test_a_chain_is_cut_where_one_value_goes_on():
    # Ten times: three nodes in a row, and a sum with the value before them.
    uses = [[] if n == 0 else [n - 1, n - 4] if n % 4 == 0 else [n - 1] for n in range(41)]
    top = fold_blocks([()] * 41, uses)
    assert [[*block.places()][-1] % 4 for block in top.members] == [0] * len(top.members)


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("", ()),
        ("layers.0", ("layers.0",)),
        ("/m/layers.10.attn/aten::mm", ("m", "layers.10", "attn", "aten::mm")),
        ("a..b//c", ("a", "b", "c")),
        ("net.0.1.2x", ("net.0.1", "2x")),
    ],
)
def test_an_index_stays_with_its_list(name, path):
    assert module_path(name) == path


# Drawings.

REPORTS = ["model", "openvino model", "exported program", "stablehlo module"]


@pytest.mark.parametrize("kind", REPORTS)
def test_every_front_end_has_pictures(kind):
    report = ANSWERS[kind]()
    picture = report.plot()
    data = drawing_of(report)
    blamed = [item for item in data["items"] if "f" in item]
    assert [item["o"] for item in blamed] == [report.findings[0].op_type]
    assert {item["k"] for item in data["items"]} == {"input", "node", "output"}
    (taken,) = (item["i"] for item in blamed)
    shapes = [str(shape) for shape in report.inputs.values()]
    assert [data["shapes"][data["values"][value][1]] for value in taken] == shapes
    assert "1 requirement>" in repr(picture)
    assert picture._repr_html_().count("<iframe") == 1


def test_a_large_model_opens_at_the_blamed_nodes():
    report = sb.onnx.check(DETECTOR)
    data = drawing_of(report)
    items = data["items"]
    members = Counter(item["p"] for item in items)
    assert max(members.values()) <= MOST + 2  # and inputs and outputs
    assert members[-1] + sum(members[block] for block in data["open"]) <= MOST_OPEN
    blamed = [n for n, item in enumerate(items) if item.get("f") == [0, 1]]
    assert [items[n]["n"] for n in blamed] == ["p2o.Add.252"] == [report.findings[0].node]
    assert items[blamed[0]]["p"] in data["open"]
    assert items[items[blamed[0]]["p"]]["c"] == {"f": 1, "u": 0}
    assert data["findings"][0]["items"] == blamed
    assert data["condition"] == str(report.condition)


def chain(count):
    onnx = pytest.importorskip("onnx")
    lines = "\n".join(f"v{n + 1} = Relu(v{n})" for n in range(count))
    text = f"""<ir_version: 9, opset_import: ["" : 18]> g (float[N] v0, float[M] w) => (float[P] y) {{
        {lines}
        y = Add(v{count}, w) }}"""
    return onnx.parser.parse_model(text)


def test_five_thousand_nodes_are_folded():
    data = drawing_of(sb.onnx.check(chain(5000)))
    members = Counter(item["p"] for item in data["items"])
    assert sum(item["k"] == "node" for item in data["items"]) == 5001
    assert max(members.values()) <= MOST + 3
    assert members[-1] + sum(members[block] for block in data["open"]) <= MOST_OPEN
    assert [item["o"] for item in data["items"] if "f" in item] == ["Add"]


def test_constants_are_inputs_and_not_nodes():
    onnx = pytest.importorskip("onnx")
    text = """<ir_version: 9, opset_import: ["" : 18]> g (float[N] x) => (float[P] y) {
        one = Constant <value = float[3] {1, 2, 3}> ()
        two = Neg(one)
        y = Add(x, two) }"""
    data = drawing_of(sb.onnx.check(onnx.parser.parse_model(text)))
    assert [item["n"] for item in data["items"]] == ["x", "y", "y"]
    assert [data["values"][v][0] for v in data["items"][1]["i"]] == ["x", "two"]
    assert [data["shapes"][data["values"][v][1]] for v in data["items"][1]["i"]] == ["(N,)", "(3,)"]


FUNCTIONS = """<ir_version: 9, opset_import: ["" : 18, "own" : 1]>
g (bool c, float[N] x, float[M] w, float[M] u) => (float[P] y) {
    a = own.twice (x, x)
    b = own.twice (w, u)
    e = own.twice (w, u)
    f = own.twice (u, u)
    y = If (c) <then_branch = then () => (float[A] t) { d = Neg(w) h = Neg(d) t = Neg(h) },
                else_branch = other () => (float[B] k) { k = Identity(x) }> }
<domain: "own", opset_import: ["" : 18]>
twice (p, q) => (s) {
    d = Concat <axis = 0> (p, p)
    s = Add (d, q) }"""


def test_the_body_of_a_function_is_drawn_for_each_call():
    onnx = pytest.importorskip("onnx")
    report = sb.onnx.check(onnx.parser.parse_model(FUNCTIONS))
    assert str(report.shapes["d"]) == "(M,)", "the name of a value in a function is its own"
    data = drawing_of(report)
    items, values, shapes = data["items"], data["values"], data["shapes"]
    inside = [n for n, item in enumerate(items) if item.get("o") == "Concat"]
    blocks = [items[n]["p"] for n in inside]
    assert [items[block]["n"] for block in blocks] == ["a", "b", "e", "f"]
    assert all(items[block]["s"] == "twice and what it runs" for block in blocks)
    assert [shapes[values[items[n]["r"][0]][1]] for n in inside] == ["(2*N,)", *["(2*M,)"] * 3]
    assert [values[v][0] for v in items[inside[1]]["i"]] == ["w", "w"], "what the call takes, under its own name"
    blamed = [item for item in items if "f" in item]
    assert {item["o"] for item in blamed} == {"Add"} and len(report.findings) == 2
    assert all(items[item["p"]]["c"]["f"] for item in blamed)


BRANCHES = """<ir_version: 9, opset_import: ["" : 18]> g (bool c, float[N] x, float[M] w) => (float[P] y) {
    y = If (c) <then_branch = then () => (float[A] a) { b = Relu(x) d = Add(b, w) a = Neg(d) },
                else_branch = other () => (float[B] e) { e = Identity(x) }> }"""


def test_the_blamed_node_of_a_branch_is_drawn():
    onnx = pytest.importorskip("onnx")
    data = drawing_of(sb.onnx.check(onnx.parser.parse_model(BRANCHES)))
    items = data["items"]
    (blamed,) = (item for item in items if item["k"] == "node" and "f" in item and item["o"] == "Add")
    assert items[blamed["p"]]["k"] == "block"
    assert [data["values"][v][0] for v in blamed["i"]] == ["b", "w"]
    made = {data["values"][v][3] for v in next(i for i in items if i.get("o") == "If")["i"]}
    assert len(made & {n for n, item in enumerate(items) if item["p"] == blamed["p"]}) == 1


# Pages.


def scripts(page):
    return re.findall(r"<script>(.*?)</script>", page, re.S)


def test_names_are_text_only():
    onnx = pytest.importorskip("onnx")
    hostile = "/</script><script>alert(1)</script><!-- \u2028 {0}"
    model = chain(2)
    model.graph.node[2].name = hostile
    model.graph.node[1].name = "'\"><img src=x onerror=alert(1)>"
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "<b>N</b>"
    page = sb.onnx.check(onnx.load_from_string(model.SerializeToString())).plot().html
    assert "alert(1)</script>" not in page and "<img" not in page and "<b>" not in page
    assert len(scripts(page)) == 2
    data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)[1])
    titles = [item["n"] for item in data["items"]]
    assert "script><!-- \\u2028 {0}" in titles  # a slash ends the name of a module


def test_a_page_loads_nothing_and_runs_its_own_scripts_only():
    page = sb.onnx.check(DETECTOR).plot().html
    allowed = re.search(r"script-src ([^\"]*)\"", page)[1].split()
    assert allowed == [f"'sha256-{b64encode(sha256(s.encode()).digest()).decode()}'" for s in scripts(page)]
    assert not re.search(r"<(link|img|iframe)|<script src|@import|\burl\((?!#tip)", page)
    assert "Permission is hereby granted" in page


def test_a_page_is_saved(tmp_path):
    picture = sb.onnx.check(chain(OPEN)).plot()
    picture.save(tmp_path / "model.html")
    assert (tmp_path / "model.html").read_text("utf-8") == picture.html
    assert [p.name for p in tmp_path.iterdir()] == ["model.html"]
    with pytest.raises(OSError, match="missing"):
        picture.save(tmp_path / "missing" / "model.html")


FUNCTION = """<ir_version: 9, opset_import: ["" : 18, "own" : 1]> g (float[N] x, float[M] w, float[K] v)
    => (float[P] y) {
    a = own.F(x, w) y = Concat <axis = 0> (v, v) }
    <domain: "own", opset_import: ["" : 18]> F (p, q) => (r) { r = Add(p, q) }"""


def test_a_node_of_a_function_is_not_taken_for_one_of_its_name():
    onnx = pytest.importorskip("onnx")
    model = onnx.parser.parse_model(FUNCTION)
    model.graph.node[1].name = model.functions[0].node[0].name = "sum"
    report = sb.onnx.check(model)
    data = drawing_of(report)
    (finding,) = data["findings"]
    (place,) = finding["items"]
    assert (finding["node"], data["items"][place]["o"]) == ("sum", "Add")
    assert [item["o"] for item in data["items"] if item["n"] == "sum"] == ["Concat", "Add"]


CAPTURED = """<ir_version: 9, opset_import: ["" : 18]> g (bool c, float[N] x) => (float[P] y) {
    one = Constant <value = float[1] {1}> ()
    y = If (c) <then_branch = then () => (float[A] a) { b = Add(x, one) d = Relu(b) a = Neg(d) },
                else_branch = other () => (float[B] e) { e = Identity(x) }> }"""


def test_a_branch_knows_the_shapes_of_the_values_around_it():
    onnx = pytest.importorskip("onnx")
    data = drawing_of(sb.onnx.check(onnx.parser.parse_model(CAPTURED)))
    (added,) = (item for item in data["items"] if item.get("o") == "Add")
    assert [data["shapes"][data["values"][v][1]] for v in added["i"]] == ["(N,)", "(1,)"]
