"""Models of repeated layers: CPU time a node, how it grows, and others on the same transformer in the same run.

python -m pytest tests/benchmarks/test_layers.py --benchmark-enable --benchmark-columns=median,rounds

The groups are named after the number of nodes; ``extra_info`` has microseconds a node.
"""

from __future__ import annotations

import time

import pytest

import symbcast as sb
from benchmarks.layers import ASKED, NODES, transformer

LAYERS = (1, 12, 192)


@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("layers", LAYERS)
def test_transformers(layers, asked, benchmark):
    if not benchmark.enabled and (asked != "symbcast" or layers > 12):
        pytest.skip("others and large models are asked with --benchmark-enable")
    if asked in {"onnxruntime", "torch"} and layers > 12:
        pytest.skip(f"takes {asked} minutes")
    try:
        run = ASKED[asked](layers)
    except ImportError as error:
        pytest.skip(f"not installed: {error}")
    run()
    benchmark.group = f"{NODES * layers} nodes"
    benchmark.pedantic(run, rounds=5 if benchmark.enabled else 1, warmup_rounds=0)
    start = time.process_time()
    run()
    benchmark.extra_info["microseconds a node"] = (time.process_time() - start) / (NODES * layers) * 1e6


def test_the_transformer_runs_at_all_sizes():
    report = sb.onnx.check(transformer(2), runtime="onnxruntime")
    assert report.verdict is sb.Verdict.ALWAYS
    assert report.shapes["x_1"] == sb.shape("B, S, 8")
