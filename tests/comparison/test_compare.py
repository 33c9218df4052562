"""Rules compared on some shapes: what is said, in every form, and that recorded differences of runtimes are found."""

from __future__ import annotations

import json
import re
from itertools import product

import jsonschema
import pytest
import recorded

import symbcast as sb
from symbcast.core.solver import decision


def pair_of(*shapes, rules, **given):
    (pair,) = sb.compare(*shapes, rules=rules, **given).pairs
    return pair


# Questions of public threads, with their answers.


def test_paddles_axis_beside_onnx():
    """onnx-tensorrt#53: a bias of channels laid at axis 1, which opset 7 no longer knows."""
    pair = pair_of("N, C, H, W", "C", rules=["pdpd(axis=1)", "onnx-multidirectional"])
    assert pair.order is sb.Order.NEITHER
    assert pair.first.verdict is sb.Verdict.ALWAYS
    assert str(pair.second.condition) == "W == C or W == 1 or C == 1"
    assert pair.agree.condition.equivalent("C == 1")
    # Both give (N, C, H, W), and the one adds to each channel what the other adds to each column.
    assert pair.apart.condition.equivalent("C == W and C != 1")
    assert pair.differ.condition.equivalent("W == 1 and C != 1")
    assert pair.only_first.condition.equivalent("C != 1 and W != 1 and C != W")
    assert pair.only_second.verdict is sb.Verdict.NEVER
    assert pair.differ.example == ({"N": 1, "C": 2, "H": 1, "W": 1}, ((1, 2, 1, 1), (2,)), (1, 2, 1, 1), (1, 2, 1, 2))


def test_legacy_broadcast_of_a_shape_of_rank_2():
    """openvino#4462: (2, 3, 4, 5) and (3, 4) at axis 1, of Add before opset 7."""
    rules = ["onnx-legacy(broadcast=1, axis=1)", "onnx-legacy(broadcast=1, axis=1, flavour='openvino')", "numpy"]
    found = sb.compare("2, 3, 4, 5", "3, 4", rules=rules)
    assert [a.verdict for a in found.answers] == [sb.Verdict.ALWAYS, sb.Verdict.ALWAYS, sb.Verdict.NEVER]
    assert found.pairs[0].order is sb.Order.EQUAL
    assert found.pairs[1].only_first.example.first == (2, 3, 4, 5)


def test_leading_and_trailing_broadcast_of_caffe2():
    """pytorch#6243: what is fused into `broadcast=1` is not NumPy's broadcasting: ones in the middle are refused."""
    pair = pair_of("N, C, H, W", "C, 1, 1", rules=["onnx-legacy(broadcast=1)", "numpy"])
    assert pair.order is sb.Order.REFINES
    assert pair.only_second.condition.equivalent("C != 1 and (H != 1 or W != 1)")


# What is said.


def test_a_rule_that_does_not_take_the_shapes_refuses_them():
    found = sb.compare("N", "M", "K", rules=["numpy", "pdpd"])
    assert found.answers[1].refusal == "takes 2 shapes (A, B), not 3; give one shape for each"
    assert found.pairs[0].order is sb.Order.REFINED_BY
    assert not found.answers[1].condition.guard()(N=1, M=1, K=1)
    assert "takes 2 shapes" in found.explain()


def test_rules_are_given_in_any_form():
    rules = [sb.broadcast("N", rule="numpy").rule, "pdpd( axis = 1 , flavour='paddle')", "unidirectional(keep=[0, 1])"]
    found = sb.compare("N, 3", "N, 3", rules=rules)
    assert [a.rule for a in found.answers] == ["numpy", "pdpd(axis=1, flavour='paddle')", "unidirectional(keep=(0, 1))"]
    assert found.pair("numpy", "unidirectional(keep=(0, 1))").first.rule == "numpy"


WRONG = [
    (["nump"], sb.UnknownRuleError, "did you mean 'numpy'"),
    (["pdpd(axis=x)"], sb.RuleArgumentError, "not an integer"),
    (["pdpd(1)"], sb.RuleArgumentError, "'1' is not an attribute; write 'pdpd\\(axis=1\\)'"),
    (["pdpd(axes=1)"], sb.RuleArgumentError, "has no attribute 'axes'"),
    (["explicit"], sb.RuleArgumentError, "needs axes="),
    (["pdpd(axis=1"], sb.RuleArgumentError, "no '\\)' ends its attributes '\\(axis=1'; write 'pdpd\\(axis=1\\)'"),
    (
        ["pdpd axis=1"],
        sb.RuleArgumentError,
        "'axis=1' is not a list of attributes in parentheses; write 'pdpd\\(axis=1\\)'",
    ),
    (["explicit(axes=(0,1)"], sb.RuleArgumentError, "write 'explicit\\(axes=\\(0, 1\\)\\)'"),
    (["nump(axis=1"], sb.UnknownRuleError, "there is no rule 'nump"),
    ([3], sb.ShapeTypeError, "is not a rule"),
    ("numpy", sb.ShapeTypeError, "write a list"),
    (None, sb.ShapeTypeError, "write a list"),
]


@pytest.mark.parametrize(("rules", "kind", "message"), WRONG)
def test_wrong_rules(rules, kind, message):
    with pytest.raises(kind, match=message):
        sb.compare("N", "M", rules=rules)


def test_other_wrong_input():
    with pytest.raises(sb.AssumptionError):
        sb.compare("N", "M", rules=["numpy"], assume=["N < 2", "N > 3"])
    with pytest.raises(sb.AssumptionError, match="mentions no size of these shapes; their sizes are N and M"):
        sb.compare("N", "M", rules=["numpy"], assume="Q > 1")
    with pytest.raises(sb.ShapeTypeError, match="these are numpy, pdpd"):
        sb.compare("N", "M", rules=["numpy", "pdpd"]).pair("numpy", "none")
    with pytest.raises(TypeError, match="no truth value"):
        bool(sb.compare("N", "M", rules=["numpy"]))


def test_unknown_sizes_are_those_of_broadcast():
    """A label, and a shape that is held, mean one size in all operands; ``?`` is another one wherever it stands."""
    held, other = sb.shape("?"), sb.shape("?")
    for shapes in (("?0", "?0"), ("?a", "?a"), (held, held)):
        assert pair_of(*shapes, rules=["numpy", "none"]).order is sb.Order.EQUAL
    for shapes in (("?", "?"), ("?0", "?1"), (held, other), (held, "?")):
        assert pair_of(*shapes, rules=["numpy", "none"]).order is sb.Order.REFINED_BY


def test_without_rules_all_that_need_no_attributes():
    found = sb.compare("N, 3", "N, 3", min_size=1)
    assert [a.rule for a in found.answers] == [
        rule.name for rule in sb.rules() if all(p.default is not sb.broadcasting.REQUIRED for p in rule.parameters)
    ][: len(found.answers)]
    assert [[a.rule for a in group] for group in found.groups] == [[a.rule for a in found.answers]]
    assert "all rules give the same answer" in found.explain()


def test_forms():
    found = sb.compare("N, ?", "M, 1", rules=["numpy", "pdpd", "none"], assume="N >= 2", min_size=1)
    data = found.to_dict()
    jsonschema.Draft202012Validator(found.json_schema()).validate(data)
    assert json.loads(json.dumps(data)) == data
    assert data["shapes"] == ["(N, ?0)", "(M, 1)"]
    assert [answer["condition"] for answer in data["rules"]] == [str(a.condition) for a in found.answers]
    page = found._repr_html_()
    assert "pdpd" in page
    assert "<script" not in page
    assert "N &gt;= 2" in page
    assert str(found) == found.explain()
    assert "<Comparison of numpy, pdpd, none on (N, ?), (M, 1)>" in repr(found)


def test_html_of_hostile_names():
    page = sb.compare("'<script>', 3", "M, 1", rules=["numpy", "pdpd"])._repr_html_()
    assert "<script" not in page


# What runtimes were recorded to answer differently.


def rules_of(row, other):
    """Return the rules that are what a row's system and another one do; None where one is none of ours."""
    kind, attrs = row["rule"], row["attrs"]
    if kind == "pdpd" and other == "paddle" and attrs["axis"] >= -1:
        return [f"pdpd(axis={attrs['axis']}, flavour='{flavour}')" for flavour in ("openvino", "paddle")]
    if kind == "explicit" and other == "jax":
        axes = tuple(attrs["axes"])
        return [
            f"explicit(axes={axes}, flavour='openvino')",
            f"stablehlo-broadcast-in-dim(broadcast_dimensions={axes})",
        ]
    return ["unidirectional", "bidirectional"] if kind == "unidirectional" and other == "ort:PRelu" else None


def test_where_runtimes_differ_compare_says_so():
    wrong, met = [], {True: 0, False: 0}
    for row in recorded.runtimes():
        ours = row["out"] if row["ok"] else None
        for other, theirs in [*row["differ"].items(), *((name, ours) for name in row["also"])]:
            rules = rules_of(row, other)
            if rules is None:
                continue
            shapes = row["shapes"][::-1] if row["rule"] == "unidirectional" else row["shapes"]
            try:
                pair = pair_of(*map(tuple, shapes), rules=rules)
            except sb.RuleArgumentError as error:
                # What jax refuses whatever the shapes are: an axis named twice, or not in order.
                if theirs is not None:
                    wrong.append((row, other, error))
                continue
            met[ours != theirs] += 1
            outputs = [
                None if a.result is None or a.result.shape is None else list(a.result.shape)
                for a in (pair.first, pair.second)
            ]
            if outputs != [ours, theirs] or (pair.order is sb.Order.EQUAL) is not (ours == theirs):
                wrong.append((row, other, outputs, pair.order))
    assert wrong == []
    assert met[True] >= 300
    assert met[False] >= 1000


# What it costs.


def test_names_and_integers_need_no_solver(monkeypatch):
    """The time of a comparison is in `tests/benchmarks`; what keeps it short is that nothing is decided."""
    asked = []
    monkeypatch.setattr(decision.Decision, "__init__", lambda *_: asked.append(1))
    found = sb.compare(
        "N, C, H, W", "C, 1, K", rules=["pdpd(axis=0)", "numpy", "none", "unidirectional"], assume="N != 3"
    )
    orders = [pair.order for pair in found.pairs]
    assert sb.Order.NEITHER in orders
    assert all(pair.agree.example or pair.agree.is_empty for pair in found.pairs)
    assert asked == []


def test_html_tells_which_rule_is_alone_and_why_one_refuses() -> None:
    shown = sb.compare("N", "M", "K", rules=["numpy", "pdpd"])._repr_html_()
    assert "takes 2 shapes (A, B), not 3" in shown
    alone = re.sub(r"<[^>]*>", " ", shown[shown.index("one alone") :]).split()
    assert alone[:3] == ["one", "alone", "numpy"]


def test_words_for_few():
    assert "1 rule on (N,): there is no other rule to compare it with" in sb.compare("N", rules=["numpy"]).explain()
    assert "2 rules on no shapes" in sb.compare(rules=["numpy", "none"]).explain()


@pytest.mark.parametrize("name", ["shapes", "assumptions", "min_size", "budget", "names"])
def test_what_was_asked_cannot_be_set(name):
    found = sb.compare("N", "M", assume="N >= 2", min_size=1)
    with pytest.raises(AttributeError):
        setattr(found, name, None)
    assert (found.assumptions, found.min_size, list(found.names.values())) == (("N >= 2",), 1, ["N", "M"])


def test_the_budget_of_a_pair_and_its_regions_cannot_be_set():
    pair = sb.compare("N", "M", rules=["numpy", "none"], budget=60).pairs[0]
    for found in (pair, pair.agree):
        with pytest.raises(AttributeError):
            found.budget = None
        assert found.budget == 60


@pytest.mark.parametrize(
    ("shapes", "rules"),
    [
        (("broadcast((broadcast(2, M)//2), (M + 1))", "M//N"), ("numpy", "none")),
        (("2*3, min(M, M)", "broadcast((max(M - 2, 1)), (broadcast(K, 0)//2))"), ("numpy", "pdpd(axis=1)")),
    ],
)
def test_a_region_keeps_where_an_operand_has_no_value(shapes, rules):
    """Clauses about a join that has no value were left out of the regions: they held where both rules refuse."""
    pair = pair_of(*shapes, rules=rules)
    regions = (pair.first, pair.second, pair.only_first, pair.only_second)
    guards = [region.condition.guard() for region in regions]
    names = sorted({name for guard in guards for name in guard.parameters})
    for point in product(range(5), repeat=len(names)):
        sizes = dict(zip(names, point, strict=True))
        accept = [guard(**{n: sizes[n] for n in guard.parameters}) for guard in guards]
        assert accept[2:] == [accept[0] and not accept[1], accept[1] and not accept[0]], sizes


def test_the_example_is_smallest_where_an_assumption_makes_names_equal():
    """Each of the equal names counts: N=2, K=M=1 is smaller than N=1, K=M=2."""
    pair = pair_of("N", "max(K, M)", assume="M == K", rules=("numpy", "onnx-legacy"))
    assert pair.only_first.example.sizes == {"N": 2, "K": 1, "M": 1}
