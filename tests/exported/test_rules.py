"""The rules for torch's operators, held against recorded runs of them at small sizes; this needs no torch."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from operator_rules import judged

from symbcast.torch.eager.runs import TRUSTED

RECORDED = Path(__file__).parent.parent / "data" / "torch" / "operators.jsonl.gz"
ROWS = [json.loads(line) for line in gzip.decompress(RECORDED.read_bytes()).decode().splitlines()]
NOT_HELD = {
    "linalg_inv": "a matrix of ones has no inverse; the rule is that of linalg_det",
    "_fused_rms_norm": "checks nothing; the rule is that of rms_norm, which it stands for",
    "linalg_tensorinv": "a tensor of ones has no inverse; `test_linear_algebra_of_tensors_with_several_axes` runs it",
    "linalg_tensorsolve": "a tensor of ones has no inverse; `test_linear_algebra_of_tensors_with_several_axes` runs it",
    "linalg_ldl_factor": "a matrix of ones is singular; the rule is that of linalg_ldl_factor_ex",
    "linalg_lu_factor": "a matrix of ones is singular; the rule is that of linalg_lu_factor_ex",
}
"""Operators whose runs say nothing of a rule, and why."""
UNCHECKED = (
    "_adaptive_avg_pool2d_backward",
    "_adaptive_avg_pool3d_backward",
    "_batch_norm_no_update",
    "_batch_norm_with_update",
    "_batch_norm_with_update_functional",
    "_cdist_backward",
    "_fft_c2r",
    "_log_softmax_backward_data",
    "_native_batch_norm_legit",
    "_native_batch_norm_legit_functional",
    "_native_batch_norm_legit_no_training",
    "_pdist_backward",
    "_scaled_dot_product_flash_attention_for_cpu",
    "_weight_norm",
    "adaptive_max_pool2d_backward",
    "adaptive_max_pool3d_backward",
    "binary_cross_entropy",
    "binary_cross_entropy_backward",
    "convolution_backward",
    "embedding_bag",
    "gradient",
    "grid_sampler_2d_backward",
    "index_add_",
    "linalg_ldl_solve",
    "lstm",
    "lu_unpack",
    "max_pool3d_with_indices_backward",
    "native_batch_norm",
    "native_batch_norm_backward",
    "native_group_norm_backward",
    "reflection_pad1d_backward",
    "reflection_pad2d_backward",
    "reflection_pad3d_backward",
    "replication_pad1d_backward",
    "replication_pad2d_backward",
    "replication_pad3d_backward",
    "unfold_backward",
)
"""Operators that go beyond tensors of other sizes, or squeeze them: their rules refuse what runs by chance."""
EMPTY = {
    "affine_grid_generator": "F.affine_grid refuses sizes of 0 before it calls the operator, which takes them",
    "convolution_backward": "without channels on either side, one run reads weights that do not fit",
}
"""Operators that are held at sizes from 1 on, and why."""

DECOMPOSED = TRUSTED | {"_weight_norm_interface"}
"""Operators without a rule: `test_decompositions.py` holds their decompositions."""


def of(row):
    return row["op"].partition(".")[0]


@pytest.mark.parametrize("name", sorted({of(row) for row in ROWS} - NOT_HELD.keys() - DECOMPOSED))
def test_a_rule_says_when_an_operator_runs_and_what_comes_out(name):
    for row in (r for r in ROWS if of(r) == name):
        wrong = judged(row).wrong
        if name in UNCHECKED:
            wrong = [w for w in wrong if "said to fail" not in w]
        if name in EMPTY:
            wrong = [w for w in wrong if "=0" not in w.partition(":")[0]]
        assert not wrong, (row["op"], row["args"], wrong[:3], len(wrong))


def test_few_runs_are_left_open():
    found = [judged(row) for row in ROWS[::7]]
    assert sum(f.left_open for f in found) <= sum(f.runs for f in found) / 50
