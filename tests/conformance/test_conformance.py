"""The suite: its format, its runner, symbcast on all of it, and the page with the table."""

from __future__ import annotations

import json
import warnings
from collections import Counter

import numpy as np
import pytest
from conformance import table
from conformance.runner import OUTCOMES, SUITE, CannotTell, NotAsked, judged, read, size_at

CASES = {case.name: case for case in read()}
KEPT = json.loads(table.ANSWERS.read_text("utf-8"))


def test_the_suite_has_its_schema():
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads(SUITE.with_name("suite.schema.json").read_text("utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(json.loads(SUITE.read_text("utf-8")), schema)
    assert SUITE.stat().st_size < 300_000
    assert Counter(case.kind for case in CASES.values()) == {"broadcast": 27, "operator": 57, "model": 25}


def test_broadcasts_are_those_of_numpy():
    for case in CASES.values():
        if case.kind == "broadcast":
            for sizes, ran in case.ran("numpy"):
                try:
                    found = [list(np.broadcast_shapes(*case.shapes(sizes).values()))]
                except ValueError:
                    found = None
                assert found == ran, (case.name, sizes)


def test_runs_are_of_all_sizes():
    for case in CASES.values():
        assert all(len(runs) == 5 ** len(case.names) for runs in case.runs.values()), case.name


class Oracle:
    """Answers what a runtime did, or what it is given instead."""

    runtime = "onnxruntime"

    def __init__(self, instead=None):
        self.instead = instead

    def infer(self, case):
        if isinstance(self.instead, Exception):
            raise self.instead
        return dict(zip(map(str, case.points()), case.runs[self.runtime], strict=True))

    def at(self, answer, sizes):
        return answer[str(sizes)] if self.instead is None else self.instead(answer[str(sizes)])


def cannot_tell(_ran):
    raise CannotTell


@pytest.mark.parametrize(
    ("instead", "counts"),
    [
        (None, {"right": 25}),
        (lambda ran: [[None, 3]] if ran else None, {"open": 13, "right": 12}),
        (lambda ran: [None] if ran else None, {"open": 13, "right": 12}),
        (cannot_tell, {"open": 25}),
        (lambda _ran: None, {"refused": 13, "right": 12}),
        (ValueError("no"), {"refused": 13, "right": 12}),
        (lambda ran: ran or [[7, 3]], {"right": 13, "silent": 12}),
        (lambda ran: [[9, 3]] if ran else None, {"wrong": 13, "right": 12}),
        (lambda ran: [*ran, [1]] if ran else None, {"wrong": 13, "right": 12}),
        (NotAsked("none"), {}),
    ],
)
def test_outcomes(instead, counts):
    found = judged(Oracle(instead), CASES["two names beside a 3"])
    assert found.counts == counts
    assert found.worst == (max(counts, key=OUTCOMES.index) if counts else None)


def test_sizes_as_text():
    at = {"N": 3, "H": 5}
    known = {"2*N + H//2": 8, "max(N, 4)": 4, "-N % 2": 1, "floor((H - 1)/2)": 2, "broadcast(1, N)": 3, "N**2": 9}
    unknown = dict.fromkeys(["K", "N//0", "import os", "open('x')"])
    assert {text: size_at(text, at) for text in (*known, *unknown)} == {**known, **unknown}


@pytest.mark.parametrize("name", list(CASES)[::9])
def test_symbcast_is_right_on_a_sample(name):
    pytest.importorskip("onnx")
    from conformance.engines.symbcast_engine import Symbcast

    found = judged(Symbcast(), CASES[name])
    assert found.worst in ("right", "open"), found.example


def test_symbcast_is_right_or_says_what_is_open():
    pytest.importorskip("onnx")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = table.answers("symbcast")
    assert {j.case: j.example for j in found if j.worst not in ("right", "open")} == {}
    assert table._summary(found) == KEPT["symbcast"]["cases"]


def test_the_page_shows_what_is_recorded():
    page = table.PAGE.read_text("utf-8")
    assert table._MARK.search(page)[0] == table.table(KEPT)
    assert set(KEPT) == set(table.ENGINES)
