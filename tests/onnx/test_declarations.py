"""Operators that are declared as data, held against what onnx says of them."""

from __future__ import annotations

import pytest

pytest.importorskip("onnx")

from onnx import defs, parser

import symbcast.onnx
from symbcast.onnx.operators.signatures import DECLARED as DECLARATIONS
from symbcast.onnx.operators.signatures import read_signature

DECLARED = [(d, name) for d in DECLARATIONS for name in d.operators.split() if not d.domain.startswith("com.")]


@pytest.mark.parametrize(("declaration", "name"), DECLARED, ids=[name for _, name in DECLARED])
def test_a_declaration_has_the_inputs_and_attributes_that_onnx_knows(declaration, name):
    schema = defs.get_schema(name, domain=declaration.domain)
    inputs = read_signature(declaration.signature).inputs
    needed = sum(not i.is_optional for i in inputs)
    assert schema.min_input <= needed <= len(inputs) <= schema.max_input
    attributes = set()
    if isinstance(declaration.dtype, str) and not declaration.dtype.startswith("#"):
        attributes.add(declaration.dtype)
    assert attributes <= schema.attributes.keys()


def test_no_operator_is_declared_twice():
    names = [(d.domain, name) for d in DECLARATIONS for name in d.operators.split()]
    assert len(set(names)) == len(names)


def check(text):
    return symbcast.onnx.check(parser.parse_model(f'<ir_version: 8, opset_import: ["" : 18]>\n{text}'), runtime="spec")


def test_sizes_of_one_name_must_be_equal():
    report = check("""
        g (float[N, C, H] x, float[S] scale, float[B] bias) => (float[n, c, h] y) {
          y = InstanceNormalization(x, scale, bias)
        }""")
    assert report.shapes["y"] == symbcast.shape("N, C, H")
    assert {frozenset(map(str, c.args)) for c in report.condition.sympy.args} == {frozenset("CS"), frozenset("CB")}


def test_axes_between_names_are_kept():
    report = check("g (float[A, B, N, M] x) => (float[a, b] y) { y = Det(x) }")
    assert report.shapes["y"] == symbcast.shape("A, B")
    assert str(report.condition) in ("M == N", "N == M")


def test_too_few_axes_are_refused_with_a_reason():
    report = check("g (float[N] x) => (float[n] y) { y = Det(x) }")
    assert report.condition == False  # noqa: E712 - a sympy Boolean
    assert "x must have 2 axes or more, but has 1" in report.explain()
