"""Operators that are analysed by torch's decompositions, held against recorded runs of their kernels at small sizes."""

import gzip
import json
import warnings
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from operator_calls import operator_of  # noqa: E402
from operator_rules import FAILED, answer, judged, ranks_of, unpacked  # noqa: E402

import symbcast as sb  # noqa: E402
from symbcast.torch.eager import runs  # noqa: E402

RECORDED = Path(__file__).parent.parent / "data" / "torch" / "operators.jsonl.gz"
ROWS = [json.loads(line) for line in gzip.decompress(RECORDED.read_bytes()).decode().splitlines()]
WEAKER = ("_weight_norm_interface",)
"""Operators whose decompositions check less or more than their kernels, so they are not trusted."""


def rows_of(name):
    return [r for r in ROWS if r["op"].partition(".")[0] == name]


@pytest.mark.parametrize("name", sorted(runs.TRUSTED))
def test_a_trusted_decomposition_runs_where_the_kernel_runs(name):
    known = 0
    for row in rows_of(name):
        target = operator_of(row["op"])
        assert not judged(row, target).wrong, row
        ran = [outcome for outcome in unpacked(row["runs"]) if outcome != FAILED]
        known += bool(ran) and all(
            v is not None for v in answer(row["op"], row["args"], ranks_of(ran[0]), target).outputs
        )
    assert known, "no call was followed to its end"


@pytest.mark.parametrize("name", WEAKER)
def test_a_decomposition_that_differs_from_the_kernel_is_not_trusted(name, monkeypatch):
    assert name not in runs.TRUSTED
    monkeypatch.setattr(runs, "TRUSTED", frozenset({name}))
    assert any(judged(row, operator_of(row["op"])).wrong for row in rows_of(name))


class Decomposed(torch.nn.Module):
    """Operators without rules: two trusted ones, and one whose decomposition is weaker than its kernel."""

    def forward(self, x, y):
        return x.fliplr(), torch.addr(x, x[:, 0], y), torch.ops.aten._weight_norm_interface(x, x[:, :1])[0]


def test_nodes_without_a_rule_are_decomposed_if_that_is_trusted():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        auto = torch.export.Dim.AUTO
        axes = ({0: auto, 1: auto}, {0: auto})
        report = sb.torch.check(Decomposed(), (torch.ones(4, 7), torch.ones(7)), dynamic_shapes=axes)
    assert {u.op_type for u in report.unanalysed} == {"aten._weight_norm_interface"}
    assert str(report.condition) == "x_dim_1 == 1 or x_dim_1 == y_dim_0"


def test_sizes_behind_an_operator_without_a_rule_are_not_decided():
    """Torch recorded `n//2*2`, under its guard that n is at least 4; at 1 the operator returns two rows."""

    @torch.library.custom_op("symbcast_tests::pairs", mutates_args=())
    def pairs(x: torch.Tensor) -> torch.Tensor:
        n = len(x)
        return x[: n // 2 * 2].clone() if n > 3 else torch.cat([x, x])

    @pairs.register_fake
    def _(x):
        n = x.shape[0]
        return x.new_empty(n // 2 * 2 if n > 3 else 2 * n, x.shape[1])

    class Added(torch.nn.Module):
        def forward(self, x, y):
            return torch.ops.symbcast_tests.pairs(x) + y

    tensors = (torch.zeros(8, 3), torch.zeros(8, 3))
    automatic = {0: torch.export.Dim.AUTO}
    report = sb.torch.check(Added(), tensors, dynamic_shapes={"x": automatic, "y": automatic})
    assert Added()(torch.zeros(1, 3), torch.zeros(2, 3)).shape == (2, 3)
    assert report.verdict is sb.Verdict.UNKNOWN
    assert not report.condition.implies("y_dim_0 == 2*(x_dim_0//2) or y_dim_0 == 1")
    assert report.unanalysed[0].reason == "symbcast_tests.pairs is not supported here"
