"""Differences of CUDA's kernels: the declared ones against recorded runs on a GPU, and the notes of reports."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from operator_calls import with_sizes
from operator_rules import answer, ranks_of

import symbcast as sb
from symbcast.core.solver.evaluation import holds_at
from symbcast.operators.values.value import Value
from symbcast.torch import cuda

pytestmark = pytest.mark.filterwarnings("ignore")
RECORDED = json.loads((Path(__file__).parent.parent / "data" / "torch" / "cuda_differences.json").read_text("utf-8"))[
    "differences"
]
EXAMPLES = [
    (d["operator"], d["kind"], e) for d in RECORDED if d["kind"] != "CPU fails, CUDA runs" for e in d["examples"]
]
DEFAULTS = {
    "keepdim": False, "dim": None, "return_inverse": False, "return_counts": False, "mode": "constant", "weight": None,
    "bias": None,
}  # fmt: skip
# Their rules ask for more than these kernels check, so they do not say that such points run.
STRICTER = ("lstm.input", "_fused_rms_norm.default")


def tensors(args):
    """Return arguments with values instead of texts of tensors."""
    return {**DEFAULTS, **with_sizes(args, lambda shape, dtype: Value(tuple(shape)))}


def predicted(operator, args, cpu):
    """Return what the declared differences say about a call: a list of what CUDA does."""
    rows = cuda._rows().get(operator.partition(".")[0], ())
    output = Value(tuple(int(n) for n in cpu.partition(";")[0].split(",") if n))
    found = ((row["cuda"], cuda.formula_of_row(row, tensors(args), output)) for row in rows)
    return [does for does, formula in found if formula is not None and holds_at(formula, {})]


def runs_on_cpu(operator, example):
    """Return whether the rule for the CPU says that a call runs."""
    said = answer(operator, example["args"], ranks_of(example["cpu"]))
    return holds_at(said.condition, {})


@pytest.mark.parametrize(("operator", "kind", "example"), EXAMPLES)
def test_a_recorded_difference_is_declared(operator, kind, example):
    if not runs_on_cpu(operator, example):
        return  # the report says that it does not run at all
    assert operator not in STRICTER
    fails = "fails" in predicted(operator, example["args"], example["cpu"])
    assert fails == (kind == "CPU runs, CUDA fails")
    assert predicted(operator, example["args"], example["cpu"])


@pytest.mark.parametrize("name", sorted(cuda._rows()))
def test_each_declared_difference_was_recorded(name):
    kernel = {"pad": "replication_pad2d"}.get(name, name)
    for row in cuda._rows()[name]:
        kind = "CPU runs, CUDA fails" if row["cuda"] == "fails" else "other shapes"
        assert any(operator.partition(".")[0] == kernel and k == kind for operator, k, _ in EXAMPLES)


def test_sizes_at_which_both_run_are_not_said_to_differ():
    same = {"input": "T:3,2,3", "hx": "T:1,2,2", "batch_first": False}
    assert not predicted("gru.input", same, "3,2,2")
    assert not predicted("group_norm.default", {"input": "T:1,2,3", "num_groups": 2, "weight": "T:2"}, "1,2,3")
    assert not predicted("replication_pad2d.default", {"self": "T:1,2,2", "padding": [0, -1, 0, 0]}, "1,2,1")
    assert not predicted("aminmax.default", {"self": "T:", "keepdim": True}, "")


def test_a_report_says_where_a_module_fails_on_cuda_alone():
    torch = pytest.importorskip("torch")
    pytest.importorskip("torch.export")
    auto = torch.export.Dim.AUTO
    example = torch.ones(3, 6, 4), torch.ones(1, 6, 5)
    shapes = {"input": {1: auto}, "hx": {1: auto}}
    report = sb.torch.check(torch.nn.GRU(4, 5), example, dynamic_shapes=shapes, device="cuda")
    (found,) = report.cuda_differences
    assert found.cuda == "fails" and found.condition.equivalent("input_dim_1 == 1 and hx_dim_1 != 1")
    assert "on CUDA" in str(report) and "on CUDA" not in str(sb.torch.check(report.program))
    equal = torch.export.Dim("B")
    shapes = {"input": {1: equal}, "hx": {1: equal}}
    assert not sb.torch.check(torch.nn.GRU(4, 5), example, dynamic_shapes=shapes, device="cuda").cuda_differences
    with pytest.raises(sb.errors.ShapeTypeError, match="'cpu' or 'cuda'"):
        sb.torch.check(report.program, device="gpu")
