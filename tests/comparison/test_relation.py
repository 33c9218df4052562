"""Rules compared on all shapes up to a rank."""

from __future__ import annotations

import itertools
import json

import pytest
import reference

import symbcast as sb

RELATIONS = [
    ("numpy", "paddle", sb.Order.EQUAL),
    ("numpy", "bidirectional", sb.Order.EQUAL),
    ("numpy", "unidirectional", sb.Order.REFINED_BY),
    ("unidirectional", "numpy", sb.Order.REFINES),
    ("none", "pdpd", sb.Order.REFINES),
    ("none", "unidirectional", sb.Order.REFINES),
    ("pdpd", "numpy", sb.Order.REFINES),
    ("pdpd(axis=0)", "numpy", sb.Order.NEITHER),
    ("pdpd", "pdpd(flavour='openvino')", sb.Order.NEITHER),
    ("pdpd", "pdpd(flavour='paddle')", sb.Order.REFINES),
    ("onnx-legacy", "none", sb.Order.EQUAL),
    ("explicit(axes=(0,))", "unidirectional", sb.Order.NEITHER),
    ("onnx-legacy(broadcast=1)", "pdpd", sb.Order.REFINES),
    ("paddle(min_rank=1)", "paddle", sb.Order.REFINES),
    ("tosa", "numpy", sb.Order.REFINES),
    ("tosa", "none", sb.Order.NEITHER),
    ("explicit(axes=(0,))", "stablehlo-broadcast-in-dim(broadcast_dimensions=(0,))", sb.Order.EQUAL),
]


def test_sizes_are_free_names_and_so_unknown_to_the_static_rule():
    assert sb.relation("static", "numpy", rank=2).order is sb.Order.REFINES
    assert sb.relation("pytensor", "torch-unbacked", rank=2).order is sb.Order.EQUAL
    assert sb.relation("none", "static", rank=2).order is sb.Order.REFINES


@pytest.mark.parametrize(("first", "second", "order"), RELATIONS)
def test_relations(first, second, order):
    found = sb.relation(first, second, rank=2)
    assert found.order is order
    assert bool(found.separations) is (order is not sb.Order.EQUAL)
    for separation in found.separations:
        outputs = [output(rule, separation.shapes) for rule in (first, second)]
        assert outputs == [separation.first, separation.second]
        assert outputs[0] != outputs[1] or str(separation).endswith("with different elements")


def output(rule, shapes):
    (answer,) = sb.compare(*shapes, rules=[rule]).answers
    return None if answer.result is None or answer.result.shape is None else tuple(answer.result.shape)


PLAIN = ["numpy", "none", "bidirectional", "unidirectional", "pdpd"]


@pytest.mark.parametrize(("first", "second"), [*itertools.permutations(PLAIN, 2)])
def test_against_all_shapes_of_sizes_up_to_3(first, second):
    """Three sizes besides 1 tell apart all that rank 2 can, as far as rules compare sizes for equality only."""
    shapes = [s for rank in range(3) for s in itertools.product((0, 1, 2, 3), repeat=rank)]
    ways = {"only": False, "other": False, "differ": False}
    for pair in itertools.product(shapes, repeat=2):
        ours, theirs = (reference.RULES[rule](*pair) for rule in (first, second))
        ways["only"] |= ours is not None and theirs is None
        ways["other"] |= ours is None and theirs is not None
        ways["differ"] |= None not in (ours, theirs) and ours != theirs
    expected = {
        (False, False): sb.Order.EQUAL,
        (False, True): sb.Order.REFINES,
        (True, False): sb.Order.REFINED_BY,
        (True, True): sb.Order.NEITHER,
    }[ways["only"], ways["other"]]
    assert sb.relation(first, second, rank=2).order is (sb.Order.NEITHER if ways["differ"] else expected)


def test_ranks_that_are_too_many_to_look_at_are_decided():
    assert sb.relation("numpy", "bidirectional", rank=6).order is sb.Order.EQUAL
    assert sb.relation("pdpd", "numpy", rank=6).order is sb.Order.REFINES


def test_forms():
    found = sb.relation("numpy", "unidirectional")
    assert found.rank == 3
    data = found.to_dict()
    assert json.loads(json.dumps(data)) == data
    assert data["separations"] == [{"shapes": [[1], []], "first": [1], "second": None}]
    assert "numpy accepts everything that unidirectional accepts" in found.explain()
    assert "unidirectional refuses" in found._repr_html_()
    with pytest.raises(TypeError, match="compare its"):
        bool(found)


@pytest.mark.parametrize("rank", [-1, 9, "3", True])
def test_wrong_ranks(rank):
    with pytest.raises(sb.ShapeTypeError, match="write a highest rank from 0 to 8"):
        sb.relation("numpy", "none", rank=rank)
