"""Blame adds up: what the nodes of a finding require implies it, and a node alone is blamed only if its own does."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import parser
from pages import Page, check_latex

import symbcast as sb
from symbcast.core.algebra.formulas import all_of
from symbcast.core.programs.operations import operation_requirements
from symbcast.graphs.report.presentation import notices_of

HEAD = '<ir_version: 9, opset_import: ["" : 18]> '


def checked(inputs, nodes):
    return sb.onnx.check(parser.parse_model(f"{HEAD}g ({inputs}) => (float[] y) {{ {nodes} y = Neg(x) }}"))


def split(number, parts):
    """Return nodes that divide the first axis of ``x`` into parts of equal length."""
    return f"c{number} = Constant <value_ints = [{parts}, -1]> () r{number} = Reshape(ones, c{number}) "


ONES = "rows = Shape <start = 0, end = 1> (x) ones = ConstantOfShape(rows) "


def required_by(report, nodes):
    """Return what some nodes require by themselves, with the assumptions."""
    env, places = report._checked.env, report._checked.asker.places
    ops = [op for op in env.operations if op.kind != "assume" and op.origin in places]
    found = [f for op in ops if places[op.origin].name in nodes for f in operation_requirements(op)]
    return sb.Condition(all_of([*(a.formula for a in env.assumptions), *found]))


def check_blame(report):
    for finding in report.findings:
        clause = sb.Condition(finding.formula)
        nodes = [share.node for share in finding.together] or [finding.node]
        assert required_by(report, nodes).implies(clause), finding
        if finding.together:
            assert finding.is_joint and finding.node == nodes[0] and set(finding.origins) == set(nodes)
            shares = all_of(share.formula for share in finding.together)
            env = report._checked.env
            assert sb.Condition(all_of([*(a.formula for a in env.assumptions), shares])).implies(clause)
            for share in finding.together:
                assert not sb.Condition(share.formula).implies(clause)
                assert sb.Condition(share.text) == sb.Condition(share.formula)
    everything = all_of(f.formula for f in report.findings)
    assert sb.Condition(everything).equivalent(report.condition)


def test_two_requirements_that_make_one_are_given_with_both_nodes():
    report = checked("float[H, 4] x", ONES + split(0, 2) + split(1, 3))
    (finding,) = report.findings
    assert finding.text == "H % 6 == 0"
    assert [(s.node, s.text) for s in finding.together] == [("r0", "H % 2 == 0"), ("r1", "H % 3 == 0")]
    text = " ".join(report.explain().split())
    assert "needed by r0 (Reshape): H % 2 == 0 (the size at -1 must be a whole number)" in text
    assert "and r1 (Reshape): H % 3 == 0 (the size at -1 must be a whole number)" in text
    assert "and r1 (Reshape): H % 3 == 0" in Page(report._repr_html_()).text
    assert r"\text{r1 (Reshape)" in check_latex(report._repr_latex_()) or "r1" in report._repr_latex_()
    (notice,) = notices_of(report)
    assert "r1 requires H % 3 == 0" in notice.text
    (data,) = report.to_dict()["findings"]
    assert [share["condition"] for share in data["together"]] == ["H % 2 == 0", "H % 3 == 0"]
    check_blame(report)


def test_a_node_that_requires_less_is_not_blamed():
    report = checked("float[H, 4] x", ONES + split(0, 2) + split(1, 4))
    (finding,) = report.findings
    assert (finding.text, finding.node, finding.together) == ("H % 4 == 0", "r1", ())
    assert finding.counterexample == {"H": 2}
    check_blame(report)


def test_a_bound_of_a_window_comes_after_what_it_completes():
    nodes = """
        p = AveragePool <kernel_shape = [3, 3]> (x)
        small = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (x)
        scales = Constant <value_floats = [1.0, 1.0, 2.0, 2.0]> ()
        large = Resize <mode = "nearest"> (small, , scales)
        both = Add(large, x)
    """
    report = checked("float[1, 3, H, 8] x", nodes)
    (finding,) = report.findings
    assert finding.node == "both" and finding.counterexample == {"H": 3}
    assert [(s.node, s.text) for s in finding.together] == [("both", "H == 1 or H % 2 == 0"), ("p", "H >= 2")]
    check_blame(report)


def test_a_requirement_that_another_simplified_names_both():
    report = sb.onnx.check(
        parser.parse_model(
            f"{HEAD}g (float[T, B, 2] x, float[7, B, 2] w) => (float[] y) <int64[3] size = {{7, -1, 2}}> {{"
            " r = Reshape(x, size) y = Concat <axis = 0> (r, w) }"
        )
    )
    (finding,) = report.findings
    assert finding.text == "T == 7"
    assert [(s.op_type, s.text) for s in finding.together] == [("Reshape", "B*T % 7 == 0"), ("Concat", "B == B*T//7")]


def test_a_requirement_that_another_clause_completes_is_of_one_node():
    nodes = """
        heads = Constant <value_ints = [0, 8, -1]> ()
        width = Constant <value_ints = [0, -1]> ()
        r = Reshape(x, heads)
        flat = Reshape(r, width)
        z = Concat <axis = 0> (flat, w)
    """
    report = checked("float[N, D] x, float[M, K] w", nodes)
    found = [(f.node, f.text, f.together) for f in report.findings]
    assert found == [("r", "D % 8 == 0", ()), ("z", "D == K", ())]


PARTS = st.lists(st.sampled_from([2, 3, 4, 5, 6, 8]), min_size=1, max_size=4)
KINDS = st.lists(st.sampled_from(["pool", "halves", "table", "equal"]), max_size=3)
OTHERS = {
    "pool": "p = AveragePool <kernel_shape = [3]> (image) ",
    "halves": "s = MaxPool <kernel_shape = [2], strides = [2]> (image) "
    "t = Constant <value_floats = [1.0, 1.0, 2.0]> () "
    'u = Resize <mode = "nearest"> (s, , t) a = Add(u, image) ',
    "table": "k = Constant <value_ints = [4]> () l, li = TopK <axis = 0> (x, k) ",
    "equal": "e = Concat <axis = 1> (x, z) ",
}


@settings(max_examples=60, deadline=None)
@given(PARTS, KINDS)
def test_the_blame_of_random_models_adds_up(parts, kinds):
    kinds = list(dict.fromkeys(kinds))
    image = "axes = Constant <value_ints = [0, 1]> () flat = Unsqueeze(ones, axes) image = Identity(flat) "
    nodes = ONES + image + "".join(split(n, p) for n, p in enumerate(parts)) + "".join(OTHERS[k] for k in kinds)
    check_blame(checked("float[H, 4] x, float[G, 4] z", nodes))


@pytest.mark.parametrize("order", [(2, 3), (3, 2), (4, 6), (6, 4), (2, 3, 5)])
def test_shares_are_as_few_as_can_be(order):
    report = checked("float[H, 4] x", ONES + split(9, 1) + "".join(split(n, p) for n, p in enumerate(order)))
    (finding,) = report.findings
    assert [s.text for s in finding.together] == [f"H % {p} == 0" for p in order]
