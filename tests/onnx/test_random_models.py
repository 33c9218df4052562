"""The law of whole models: the condition holds exactly where ONNX Runtime runs, and every shape is what comes out."""

from __future__ import annotations

import pytest
from hypothesis import given, note, settings

pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")

from random_models.models import FAMILIES, RandomModel, random_models
from running import assert_agreement

import symbcast as sb

few = settings(max_examples=settings().max_examples // 3)


def check(model: RandomModel) -> None:
    note(str(model))
    report = sb.onnx.check(model.proto, min_size=model.min_size, runtime="onnxruntime")
    assert not [u for u in report.unanalysed if "could not be analysed" in u.reason]
    assert_agreement(model.proto, report, model.points())


@pytest.mark.parametrize("family", FAMILIES)
def test_random_models(family):
    few(given(random_models(family))(check))()
