"""What a confirmation says: the sizes, the node and the runtime's message, without names of its source."""

from __future__ import annotations

import pytest

pytest.importorskip("onnx")

from symbcast.onnx.report import Confirmation

NODE = "Non-zero status code returned while running Add node. Name:'z' Status Message: "
FINDING = object()
CASES = [
    (Confirmation({"N": 1}, "runs", "ran", True, ""), "agrees: at N=1 it runs"),
    (
        Confirmation(
            {"N": 2},
            "z",
            f"{NODE}/src/core/ops.h:560 void ort::Iterator::Append(ptrdiff_t, ptrdiff_t) axis == 1 "
            "|| axis == largest was false. Attempting to broadcast 2 by 3",
            True,
            "",
            FINDING,
        ),
        "agrees: at N=2 z fails: Attempting to broadcast 2 by 3",
    ),
    (
        Confirmation(
            {"N": 2},
            "z",
            f"{NODE}matmul_helper.h:59 Compute MatMul dimension mismatch",
            True,
            "and y fails before it",
            FINDING,
        ),
        "agrees: at N=2 z fails, and y fails before it: MatMul dimension mismatch",
    ),
    (
        Confirmation(
            {"N": 2},
            "z",
            f"{NODE}helper.h:47 ort::Helper::Helper(const ort::Shape&, ort::Vector&, bool) size != 0 "
            "&& (n % size) == 0 was false. no such reshape",
            None,
            "it failed earlier, at another node, y",
            FINDING,
        ),
        "not confirmed: at N=2 z should fail; it failed earlier, at another node, y: no such reshape",
    ),
    (
        Confirmation({"N": 2}, "z", f"{NODE}Cannot broadcast", True, "", FINDING, "y"),
        "agrees: at N=2 the run fails; it stops at y, before z: Cannot broadcast",
    ),
    (Confirmation({"N": 2}, "z", "ran", False, "it ran", FINDING), "DISAGREES: at N=2 z should fail; it ran"),
    (
        Confirmation({"N": 1}, "runs", "Cannot split", False, "it failed"),
        "DISAGREES: at N=1 it should run; it failed: Cannot split",
    ),
    (
        Confirmation({"N": 1}, "runs", "ran", False, "z is (2,), not (3,)"),
        "DISAGREES: at N=1 it should run; z is (2,), not (3,)",
    ),
]


@pytest.mark.parametrize(("confirmation", "said"), CASES, ids=[said[:40] for _, said in CASES])
def test_it_is_said_in_plain_words(confirmation, said):
    assert str(confirmation) == said
