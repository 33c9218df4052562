"""Asks frameworks about shapes, and keeps their answers in ``data/frameworks.jsonl.gz``.

    python tests/rules/record_frameworks.py torch jax stablehlo pytensor torch-unbacked
    TOSA_OPT=.../tosa-opt python tests/rules/record_frameworks.py tosa

Each system named is asked in the place of what was recorded of it before; the answers of the others stay. The answers
that are kept are of PyTorch 2.13.0 (``torch.broadcast_shapes``), JAX 0.10.2 (``jax.numpy.broadcast_shapes``),
TensorFlow 2.21.0 (``tf.broadcast_static_shape``), of StableHLO's own verifier as jaxlib 0.10.2 ships it, and of that of
TOSA's dialect of MLIR (``tosa-opt`` of tosa-tools 2026.8.0). The questions put to PyTensor 3.0.7, and to PyTorch about
unbacked sizes, have names: for each choice of their sizes there is the output, null where building or running the sum
failed.
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


def questions_with_names():
    choose = random.Random(3)
    parts = ("N", "N", "M", "M", "K", 0, 1, 1, 2, 3)
    one_axis = [[[a], [b]] for a, b in product(("N", "M", 0, 1, 2), repeat=2)]
    drawn = [[choose.choices(parts, k=choose.randint(0, 3)) for _ in range(choose.randint(1, 3))] for _ in range(120)]
    return [*one_axis, *drawn]


def choices(shapes):
    names = sorted({d for shape in shapes for d in shape if isinstance(d, str)})
    yield from (dict(zip(names, sizes, strict=True)) for sizes in product(range(4), repeat=len(names)))


def at(shape, sizes):
    return [sizes.get(d, d) for d in shape]


def named_rows(system, answer_of):
    """Yield a row for each question: the output at each choice of sizes, as a function of the shapes gives it."""
    for given in questions_with_names():
        ask = answer_of(given)
        yield {"system": system, "shapes": given, "at": [[sizes, ask(sizes)] for sizes in choices(given)]}


def pytensor_sum(given):
    import numpy as np
    import pytensor
    import pytensor.tensor as pt

    inputs = [pt.tensor(shape=[d if isinstance(d, int) else None for d in shape], dtype="float64") for shape in given]
    try:
        run = pytensor.function(inputs, sum(inputs[1:], inputs[0]), mode=pytensor.compile.Mode("py", None))
    except ValueError:
        return lambda sizes: None

    def ask(sizes):
        try:
            return list(np.shape(run(*(np.zeros(at(shape, sizes)) for shape in given))))
        except ValueError:
            return None

    return ask


def unbacked_sum(given):
    import sympy
    import torch
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.fx.experimental.symbolic_shapes import ShapeEnv

    env = ShapeEnv()
    with FakeTensorMode(shape_env=env):
        names = {}
        for name in dict.fromkeys(d for shape in given for d in shape if isinstance(d, str)):
            names[name] = env.create_unbacked_symint()
            torch._check(names[name] >= 0)
        symbols = {name: size.node.expr for name, size in names.items()}
        tensors = [torch.empty([names.get(d, d) for d in shape]) for shape in given]
        try:
            out = sum(tensors[1:], tensors[0]).shape
        except RuntimeError:
            return lambda sizes: None
        asserts = [a.expr for found in env.deferred_runtime_asserts.values() for a in found]
        output = [d.node.expr if isinstance(d, torch.SymInt) else sympy.Integer(d) for d in out]

    def ask(sizes):
        values = {symbols[name]: size for name, size in sizes.items()}
        return [int(d.subs(values)) for d in output] if all(bool(a.subs(values)) for a in asserts) else None

    return ask


def tosa_rows():
    import os
    import subprocess
    import tempfile

    import numpy as np

    def tensor(dims):
        return f"tensor<{'x'.join([*map(str, dims), 'f32'])}>"

    for given in questions_of_shapes():
        if len(given) != 2:
            continue
        out = answered(np.broadcast_shapes, given)
        a, b, r = map(tensor, (*given, given[0] if out is None else out))
        text = (
            f"func.func @f(%a: {a}, %b: {b}) -> {r} {{\n%0 = tosa.add %a, %b : ({a}, {b}) -> {r}\nreturn %0 : {r}\n}}"
        )
        with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
            file.write(text)
            file.flush()
            command = [os.environ["TOSA_OPT"], file.name, "--tosa-validate=strict-op-spec-alignment"]
            is_valid = subprocess.run(command, capture_output=True, check=False).returncode == 0
        yield {"system": "tosa", "shapes": given, "out": out if is_valid else None}


SYSTEMS = {
    "torch": torch_rows,
    "jax": jax_rows,
    "tensorflow": tensorflow_rows,
    "stablehlo": stablehlo_rows,
    "pytensor": lambda: named_rows("pytensor", pytensor_sum),
    "torch-unbacked": lambda: named_rows("torch-unbacked", unbacked_sum),
    "tosa": tosa_rows,
}


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
