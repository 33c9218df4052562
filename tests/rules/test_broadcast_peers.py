"""What others answered about two sizes that nothing ties together: they still do, and what it is worth."""

from __future__ import annotations

import json

import pytest
from broadcast_peers import KEPT, PEERS, answer, installed

import symbcast as sb

RECORDED = json.loads(KEPT.read_text("utf-8"))
RESULT = sb.broadcast("N, 3", "M, 1")


@pytest.mark.parametrize("package", PEERS)
@pytest.mark.filterwarnings("default")  # theirs
def test_they_answer_as_they_did(package):
    release = RECORDED[package]["release"]
    if installed(package) != release:
        pytest.skip(f"{package} {release} is not installed, but {installed(package)}")
    assert {"release": release, **answer(package)} == RECORDED[package]


@pytest.mark.parametrize(("shape", "sizes"), [("(N, 3)", {"N": 1, "M": 2}), ("(max(N, M), 3)", {"N": 0, "M": 1})])
def test_a_shape_alone_is_another_one_somewhere_and_hides_a_failure(shape, sizes):
    assert shape in {kept.get("shape") for kept in RECORDED.values()}
    told = sb.broadcast(shape)
    assert told.evaluate({name: size for name, size in sizes.items() if name in shape}) != RESULT.evaluate(sizes)
    assert told.verdict is sb.Verdict.ALWAYS
    assert not sb.Condition(RESULT).guard()(N=2, M=3)


def test_one_name_for_both_rules_out_sizes_that_work():
    for package in ("torch", "onnxruntime"):
        assert RECORDED[package]["shape"] == "(N, 3) of (N, 3) + (N, 1)"
    assert sb.Condition(RESULT).guard()(N=1, M=2)


def test_an_error_is_for_all_sizes_though_some_work():
    assert "incompatible shapes" in RECORDED["jax"]["error"]
    assert RESULT.verdict is sb.Verdict.SOMETIMES
