"""No condition that people read becomes longer than it is recorded: see `readable_conditions.py`."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("onnx")

from readable_conditions import RECORDED, conditions

ASKED = dict(conditions())
FOUND = json.loads(RECORDED.read_text())


def test_each_recorded_condition_is_asked_for():
    assert list(ASKED) == list(FOUND)


@pytest.mark.parametrize("name", ASKED)
def test_a_condition_is_no_longer_than_recorded(name):
    assert len(str(ASKED[name]())) <= len(FOUND[name])
