"""CPU time a node of whole models: real ONNX models, and a repeated layer in each format.

``PYTHONPATH=tests python -m benchmarks.nodes`` prints a table. A model is checked with its condition, the best of three
after one that loads the modules; a row over several models has the median.
"""

from __future__ import annotations

import gzip
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import onnx

import symbcast as sb
from benchmarks.test_layers import transformer

FOLDER = Path(__file__).parents[1] / "data" / "onnx" / "models"
ROUNDS = 3
LAYERS = 12


def microseconds(check: Callable[[], Any], nodes: int) -> float:
    """Return the CPU time of a check, for each node."""
    check()
    best = float("inf")
    for _ in range(ROUNDS):
        start = time.process_time()
        check()
        best = min(best, time.process_time() - start)
    return best / nodes * 1e6


def real_models(runtime: Any) -> float:
    """Return the median of the real models in the tests."""
    models = [onnx.load_model_from_string(gzip.decompress(p.read_bytes())) for p in sorted(FOLDER.glob("*.onnx.gz"))]
    found = [(lambda m=m: sb.onnx.check(m, runtime=runtime).condition, len(m.graph.node)) for m in models]
    return median(microseconds(check, nodes) for check, nodes in found)


def onnx_layers(runtime: Any) -> float:
    model = transformer(LAYERS)
    return microseconds(lambda: sb.onnx.check(model, runtime=runtime).condition, len(model.graph.node))


def openvino_layers() -> float:
    import openvino as ov

    with TemporaryDirectory() as folder:
        path = f"{folder}/layers.onnx"
        onnx.save(transformer(LAYERS), path)
        model = ov.Core().read_model(path)
        return microseconds(lambda: sb.openvino.check(model).condition, len(model.get_ordered_ops()))


def torch_layers() -> float:
    import torch

    layer = torch.nn.TransformerEncoderLayer(8, 2, 32, dropout=0.0, activation="gelu", batch_first=True).train()
    sizes = ({0: torch.export.Dim.DYNAMIC, 1: torch.export.Dim.DYNAMIC},)
    net = torch.nn.TransformerEncoder(layer, LAYERS, enable_nested_tensor=False)
    program = torch.export.export(net, (torch.zeros(3, 5, 8),), dynamic_shapes=sizes)
    return microseconds(lambda: sb.torch.check(program).condition, len(program.graph.nodes))


def stablehlo_layers() -> float:
    import jax
    import jax.numpy as jnp

    def layers(x: Any) -> Any:
        for _ in range(LAYERS):
            x = x + jax.nn.gelu(x @ jnp.ones((8, 32))) @ jnp.ones((32, 8))
            x = (x - x.mean(-1, keepdims=True)) / (x.var(-1, keepdims=True) + 1e-5) ** 0.5
        return x

    given = jax.ShapeDtypeStruct(jax.export.symbolic_shape("B, S, 8"), jnp.float32)
    text = jax.export.export(jax.jit(layers))(given).mlir_module()
    return microseconds(lambda: sb.stablehlo.check(text).condition, text.count(" = "))


ROWS: dict[str, Callable[[], float]] = {
    "ONNX, real models, ONNX Runtime": lambda: real_models("onnxruntime"),
    "ONNX, real models, specification": lambda: real_models("spec"),
    "ONNX, a transformer of 288 nodes, ONNX Runtime": lambda: onnx_layers("onnxruntime"),
    "ONNX, a transformer of 288 nodes, specification": lambda: onnx_layers("spec"),
    "OpenVINO IR of this transformer": openvino_layers,
    "torch, exported encoder of 12 layers": torch_layers,
    "StableHLO, 12 layers": stablehlo_layers,
}


def rows() -> Iterator[tuple[str, float | None]]:
    """Yield each row with its microseconds a node; None where its library is not installed."""
    for name, measure in ROWS.items():
        try:
            yield name, measure()
        except ModuleNotFoundError:
            yield name, None


def main() -> None:
    """Print the table."""
    print("| model | CPU a node |\n|---|---|")
    for name, found in rows():
        print(f"| {name} | {'not installed' if found is None else f'{found:.0f} µs'} |", flush=True)


if __name__ == "__main__":
    main()
