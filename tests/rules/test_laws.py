"""What holds of every rule, however its placement and law are written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import symbcast as sb
from symbcast.core.algebra.formulas import holds
from symbcast.core.rules import Kind, find_rule

ATTRIBUTES = [
    ("numpy", {}),
    ("none", {}),
    ("bidirectional", {}),
    ("paddle", {"min_rank": 1}),
    ("static", {}),
    ("tosa", {}),
    ("unidirectional", {}),
    ("unidirectional", {"keep": (0,)}),
    *(
        ("explicit", {"axes": axes, "flavour": f})
        for axes in [(), (0,), (0, 1), (0, 2), (1, 1)]
        for f in ("document", "openvino")
    ),
    *(("pdpd", {"axis": axis, "flavour": f}) for axis in (-1, 0, 1, 2) for f in ("document", "openvino", "paddle")),
    ("onnx-legacy", {}),
    *(
        ("onnx-legacy", {"broadcast": 1, "axis": a, "flavour": f})
        for a in (None, 0, 1, -2)
        for f in ("document", "openvino")
    ),
    *(("stablehlo-broadcast-in-dim", {"broadcast_dimensions": dims}) for dims in [(), (1,), (2, 0), (0, 1)]),
]
shapes = st.lists(st.sampled_from([0, 1, 1, 2, 3]), max_size=3).map(tuple)


def test_every_rule_is_asked():
    assert {name for name, _ in ATTRIBUTES} == {rule.name for rule in sb.rules()}


def fitting(rule, given_shapes):
    """Return whether a rule takes shapes of such ranks."""
    try:
        rule.check_shapes(given_shapes)
    except sb.RuleArgumentError:
        return False
    return True


@pytest.mark.parametrize(("name", "attributes"), ATTRIBUTES, ids=str)
@given(given_shapes=st.tuples(shapes, shapes))
def test_what_a_rule_says(name, attributes, given_shapes):
    rule = find_rule(name, attributes)
    if not fitting(rule, given_shapes):
        return
    emission = rule.emit(given_shapes)
    valid = all(holds(c.requirement) for c in emission.constraints)
    # Integers are answered as the constraints say.
    output = rule.concrete(given_shapes)
    assert (output is not None) is valid
    assert output is None or len(output) == len(emission.output)
    # Each constraint has a reason that the rule declares, in words that are filled in, and names operands and an axis.
    places = rule.places([len(s) for s in given_shapes])
    for constraint in emission.constraints:
        assert constraint.code in {reason.code for reason in rule.reasons}
        assert "{" not in constraint.reason
        assert constraint.origin.rule == rule.name
        assert set(constraint.origin.operands) <= {0, 1}
        assert constraint.origin.axis is None or 0 <= constraint.origin.axis < places.rank == constraint.origin.rank
    # Each axis of each operand lies somewhere; the output has the axes of the aligned shapes.
    assert [len(axes) for axes in places.of] == [len(s) for s in given_shapes]
    if valid:
        assert len(emission.output) == places.rank
    # What is a join is decided as NumPy's rule decides it.
    if rule.is_join(given_shapes):
        assert output == find_rule("numpy").concrete(given_shapes)


@pytest.mark.parametrize(("name", "attributes"), ATTRIBUTES, ids=str)
@given(ranks=st.tuples(st.integers(0, 4), st.integers(0, 4)))
def test_other_axes_are_attributes_of_the_rule(name, attributes, ranks):
    rule = find_rule(name, attributes)
    for other in rule.placement.elsewhere(ranks):
        # A rule whose axis is fixed has no attribute for it; such a place is never suggested.
        if not other.keys() <= {parameter.name for parameter in rule.parameters}:
            continue
        changed = rule.with_attributes(other)
        assert {n: getattr(changed, n) for n in other} == other


def test_an_attribute_is_checked_by_its_kind():
    for info in sb.rules():
        for parameter in info.parameters:
            assert (parameter.kind is Kind.WORD) is bool(parameter.choices)
            assert parameter.summary
            with pytest.raises(sb.RuleArgumentError, match=parameter.name):
                parameter.check(info.name, 2.5)
