"""Asks frameworks about shapes, and keeps their answers in ``data/frameworks.jsonl.gz``.

    python tests/rules/record_frameworks.py torch jax stablehlo

Each system named is asked in the place of what was recorded of it before; the answers of the others stay. The answers
that are kept are of PyTorch 2.13.0 (``torch.broadcast_shapes``), JAX 0.10.2 (``jax.numpy.broadcast_shapes``),
TensorFlow 2.21.0 (``tf.broadcast_static_shape``), and of StableHLO's own verifier as jaxlib 0.10.2 ships it.
"""

from __future__ import annotations

import gzip
import json
import random
import sys
from itertools import product
from pathlib import Path

PATH = Path(__file__).parents[1] / "data" / "frameworks.jsonl.gz"
SIZES = (0, 1, 1, 2, 3)


def shapes(choose, most):
    return [choose.choices(SIZES, k=choose.randint(0, most)) for _ in range(choose.randint(1, 4))]


def pairs_on_one_axis():
    return [[[a], [b]] for a, b in product(range(4), repeat=2)]


def questions_of_shapes():
    choose = random.Random(1)
    small = [[], [[]], [[3]], [[], []], [[2, 3], []]]
    return [*small, *pairs_on_one_axis(), *(shapes(choose, 3) for _ in range(300))]


def answered(function, given):
    try:
        return [int(d) for d in function(*map(tuple, given))]
    except (ValueError, RuntimeError, TypeError):
        return None


def torch_rows():
    import torch

    for given in questions_of_shapes():
        yield {"system": "torch", "shapes": given, "out": answered(torch.broadcast_shapes, given)}


def jax_rows():
    import jax.numpy as jnp

    for given in questions_of_shapes():
        yield {"system": "jax", "shapes": given, "out": answered(jnp.broadcast_shapes, given)}


def tensorflow_rows():
    import tensorflow as tf

    def static(*given):
        return tf.broadcast_static_shape(*map(tf.TensorShape, given))

    for given in questions_of_shapes():
        yield {"system": "tensorflow", "shapes": given, "out": answered(static, given)}


def questions_of_dims():
    choose = random.Random(2)
    for data, target in product([[], [1], [3], [0]], [[], [1], [3], [0]]):
        yield data, target, list(range(len(data)))
    for _ in range(500):
        target = choose.choices(SIZES, k=choose.randint(0, 4))
        dims = [choose.randint(-1, len(target)) for _ in range(choose.randint(0, 3))]
        if choose.random() < 0.8:
            dims = choose.sample(range(len(target)), k=min(len(target), len(dims)))
        data = [choose.choice([1, target[d] if 0 <= d < len(target) else 2, choose.choice(SIZES)]) for d in dims]
        if choose.random() < 0.1:
            data.append(choose.choice(SIZES))
        yield data, target, dims


def stablehlo_rows():
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import stablehlo

    context = ir.Context()
    stablehlo.register_dialect(context)

    def tensor(dims):
        return f"tensor<{'x'.join([*map(str, dims), 'f32'])}>"

    for data, target, dims in questions_of_dims():
        listed = f": {', '.join(map(str, dims))}" if dims else ""
        module = (
            f"%a = stablehlo.constant dense<0.0> : {tensor(data)}\n"
            f'%r = "stablehlo.broadcast_in_dim"(%a) {{broadcast_dimensions = array<i64{listed}>}} '
            f": ({tensor(data)}) -> {tensor(target)}"
        )
        try:
            with context:
                ir.Module.parse(module)
            out = target
        except ir.MLIRError:
            out = None
        yield {"system": "stablehlo", "shapes": [data, target], "broadcast_dimensions": dims, "out": out}


SYSTEMS = {"torch": torch_rows, "jax": jax_rows, "tensorflow": tensorflow_rows, "stablehlo": stablehlo_rows}


def recorded():
    with gzip.open(PATH, "rt") as file:
        return [json.loads(line) for line in file]


def main(names):
    kept = [row for row in recorded() if row["system"] not in names] if PATH.exists() else []
    rows = [*kept, *(row for name in names for row in SYSTEMS[name]())]
    rows.sort(key=lambda row: row["system"])
    lines = "".join(f"{json.dumps(row)}\n" for row in rows)
    PATH.write_bytes(gzip.compress(lines.encode(), mtime=0))


if __name__ == "__main__":
    main(sys.argv[1:])
