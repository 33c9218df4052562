"""Which operators of ONNX are followed by functions of symbcast's own."""

from __future__ import annotations

import pytest

pytest.importorskip("onnx")

from onnx import defs

from symbcast.onnx.operators.declarations import OPERATORS

INFERRED = {"ImageDecoder"}
"""Operators whose shapes are what onnx infers."""
NEWEST = 28
"""The operator set up to which all are followed."""


def test_every_operator_of_onnx_is_followed():
    schemas = [s for s in defs.get_all_schemas_with_history() if s.domain in {"", "ai.onnx.ml"} and not s.deprecated]
    names = {(s.domain, s.name) for s in schemas if s.domain or s.since_version <= NEWEST}
    assert {name for domain, name in names - OPERATORS.keys()} <= INFERRED | REMOVED


REMOVED = {"GRUUnit", "Affine", "Crop", "ParametricSoftplus", "Scale", "ScaledTanh", "ImageScaler", "GivenTensorFill"}
"""Operators of experiments before opset 10, which newer versions of onnx do not have."""
