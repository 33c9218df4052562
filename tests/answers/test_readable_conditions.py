"""No condition that people read becomes longer than it is recorded: see `readable_conditions.py`."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("onnx")

from readable_conditions import BY_HAND, LONG, RECORDED, TRIED, conditions

import symbcast as sb

ASKED = dict(conditions())
FOUND = json.loads(RECORDED.read_text())


def test_each_recorded_condition_is_asked_for():
    assert list(ASKED) == list(FOUND)


@pytest.mark.parametrize("name", ASKED)
def test_a_condition_is_no_longer_than_recorded(name):
    assert len(str(ASKED[name]())) <= len(FOUND[name])


TRIED_FOR = json.loads(TRIED.read_text())


def test_each_long_condition_names_the_candidates_that_are_other_conditions():
    assert list(TRIED_FOR) == [name for name, text in FOUND.items() if len(text) > LONG]
    tried = [(candidate["candidate"], candidate["differs_at"]) for found in TRIED_FOR.values() for candidate in found]
    assert len(tried) >= 35 and all(isinstance(sizes, dict) for _, sizes in tried)
    assert sum(map(len, json.loads(BY_HAND.read_text()).values())) >= 20


@pytest.mark.parametrize("name", TRIED_FOR)
def test_at_its_sizes_a_candidate_is_another_condition(name):
    given = sb.Condition(FOUND[name]).guard()
    for candidate in TRIED_FOR[name]:
        text, sizes = candidate["candidate"], candidate["differs_at"]
        if " ... " not in text:
            guard = sb.Condition(text).guard()
            assert given(**sizes) != guard(**{n: sizes[n] for n in guard.parameters})
