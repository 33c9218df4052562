import json
from importlib import import_module
from pathlib import Path

import pytest

import symbcast as sb

pytest.importorskip("jaxlib")

from openvino_answers import accepts, shape_at
from stablehlo.refinement import at_all_sizes, refined
from stablehlo.size_constraints import SIZES
from stablehlo.small_modules import CASES

from symbcast.stablehlo.graph import IMPLEMENTED, OPERATORS

SPECIFIED = json.loads((Path(__file__).parents[1] / "data" / "stablehlo" / "constraints.json").read_text())["operators"]
NOT_REFINED = {
    "chlo.broadcast_add", "chlo.ragged_dot", "chlo.scan", "einsum", "reduce_scatter", "rng_bit_generator",
    "real numbers of arith", "requirements on shapes", "set_dimension_size", "shape.assuming",
    "tensor and arith on indices",
}  # fmt: skip
"""Modules with operators that StableHLO's refinement does not check."""


def shown(shape):
    return "" if shape is None else str(shape)[1:-1].rstrip(",")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_condition_and_the_shapes_of_small_modules(case):
    report = sb.stablehlo.check(case.text)
    assert report.equivalent(case.condition), str(report.condition)
    assert "; ".join(map(shown, report.outputs.values())) == case.shapes
    assert not report.unanalysed
    assert not report.data_sizes


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_refinement_accepts_the_same_sizes_and_gives_the_same_shapes(case):
    types = [t.strip() for t in case.arguments.split(";")]
    report = sb.stablehlo.check(case.text)
    count = sum(t.count("?") for t in types)
    for sizes, static in at_all_sizes(types, 6 if count < 2 else 4 if count == 2 else 2):
        found, runs = refined(case.text, static), accepts(report, sizes)
        if case.name not in NOT_REFINED:
            assert (found is not None) == runs, sizes
        for wanted, shape in zip(found or (), report.outputs.values(), strict=bool(found)):
            if runs and None not in wanted and shape is not None:
                assert tuple(shape_at(shape, sizes)) == wanted, sizes


def test_all_operators_of_the_specification_are_known():
    constants = {"constant"}  # read by the walk
    assert {name for name in SPECIFIED if ("", f"stablehlo.{name}") not in OPERATORS} == constants


@pytest.mark.parametrize("dialect", ["stablehlo", "chlo"])
def test_all_operators_of_the_dialects_are_known(dialect):
    bindings = vars(import_module(f"jaxlib.mlir.dialects._{dialect}_ops_gen")).values()
    names = {kind.OPERATION_NAME for kind in bindings if hasattr(kind, "OPERATION_NAME")}
    followed = {f"{dialect}.constant", f"{dialect}.return"}  # read by the walk
    assert {name for name in names if ("", name) not in OPERATORS} <= followed


def test_operators_implement_the_constraints_about_sizes():
    assert IMPLEMENTED == SIZES
    assert all(SIZES[name] <= SPECIFIED[name].keys() for name in SIZES)


def test_other_constraints_are_checked_by_the_parser():
    """They are about ranks, attributes, element types and regions: a module that breaks one is not read."""
    about_shapes = ("shape(result", "shape(operand", "dim(operand", "dim(lhs", "same(shape")
    for name, constraints in SPECIFIED.items():
        left = {c: t for c, t in constraints.items() if c not in SIZES.get(name, ()) and "quantized" not in t}
        assert not [c for c, t in left.items() if any(f"`{start}" in t for start in about_shapes)], name
