"""Peers that are given the programs of `benchmarks.operators` over one set of names: shapes alone, no condition.

jax traces a whole program at once; torch and tinygrad record each operation on tensors without data; tvm's relax
normalises each call. Sizes of torch have an example each, for which it specialises nothing here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from benchmarks.operators import OPERATIONS, OPERATORS, new_names, over
from benchmarks.turns import Case

Build = Callable[[str], Callable[[], Any]]


def jax(name: str) -> Callable[[], Any]:
    import jax
    import jax.numpy as jnp
    from jax import export

    functions: Mapping[str, Callable[..., Any]] = {
        "matmul": jnp.matmul,
        "einsum": partial(jnp.einsum, "bij,bjk->bik"),
        "transpose": lambda x: jnp.transpose(x, (0, 2, 1)),
        "reduce": lambda x: x.sum(1),
        "concat": lambda x, y: jnp.concatenate([x, y], 1),
        "conv": lambda x, w: jax.lax.conv(x, w, (1, 1), "VALID"),
    }
    operands = OPERATORS[name].operands

    def ask() -> Any:
        texts = over(operands, new_names())
        like = [[int(size) if size.isdecimal() else 1 for size in text.split(", ")] for text in texts]
        shapes = export.symbolic_args_specs([jax.ShapeDtypeStruct(shape, "float32") for shape in like], texts)
        if name == "reshape":
            target = shapes[1].shape
            return jax.eval_shape(lambda x: [jnp.reshape(x, target) for _ in range(OPERATIONS)], shapes[0])
        return jax.eval_shape(lambda *given: [functions[name](*given) for _ in range(OPERATIONS)], *shapes)

    return ask


def torch(name: str) -> Callable[[], Any]:
    import torch
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv, StatelessSymbolicContext

    functions: Mapping[str, Callable[..., Any]] = {
        "matmul": torch.matmul,
        "einsum": partial(torch.einsum, "bij,bjk->bik"),
        "transpose": lambda x: x.permute(0, 2, 1),
        "reduce": lambda x: x.sum(1),
        "concat": lambda x, y: torch.cat([x, y], 1),
        "reshape": lambda x: x.reshape(x.shape[0] * x.shape[1], x.shape[2]),
        "conv": torch.nn.functional.conv2d,
    }
    hints = {"b": 5, "t": 17, "k": 19, "s": 23}
    texts = OPERATORS[name].operands[: 1 if name == "reshape" else None]

    def ask() -> Any:
        mode = FakeTensorMode(shape_env=ShapeEnv())
        tensors = []
        for text in texts:
            letters = text.split(", ")
            dynamic = [DimDynamic.DYNAMIC if a in hints else DimDynamic.STATIC for a in letters]
            data = torch.empty([hints.get(a) or int(a) for a in letters])
            tensors.append(mode.from_tensor(data, symbolic_context=StatelessSymbolicContext(dynamic_sizes=dynamic)))
        with mode:
            return [functions[name](*tensors).shape for _ in range(OPERATIONS)]

    return ask


def tvm(name: str) -> Callable[[], Any]:
    from tvm import relax, tirx

    functions: Mapping[str, Callable[..., Any]] = {
        "matmul": relax.op.matmul,
        "einsum": lambda x, y: relax.op.einsum((x, y), "bij,bjk->bik"),
        "transpose": lambda x: relax.op.permute_dims(x, [0, 2, 1]),
        "reduce": lambda x: relax.op.sum(x, 1),
        "concat": lambda x, y: relax.op.concat([x, y], 1),
        "conv": relax.op.nn.conv2d,
    }
    operands = OPERATORS[name].operands

    def ask() -> Any:
        sizes = {letter: tirx.Var(own, "int64") for letter, own in new_names().items()}
        shapes = [[eval(size, {}, sizes) for size in text.split(", ")] for text in operands]
        builder = relax.BlockBuilder()
        tensors = [relax.Var(f"x{n}", relax.TensorType(shape, "float32")) for n, shape in enumerate(shapes)]
        if name == "reshape":
            return [builder.normalize(relax.op.reshape(tensors[0], shapes[1])).ty for _ in range(OPERATIONS)]
        return [builder.normalize(functions[name](*tensors)).ty for _ in range(OPERATIONS)]

    return ask


def tinygrad(name: str) -> Callable[[], Any]:
    from tinygrad import Tensor, Variable

    functions: Mapping[str, Callable[..., Any]] = {
        "matmul": lambda x, y: x.matmul(y),
        "einsum": partial(Tensor.einsum, "bij,bjk->bik"),
        "transpose": lambda x: x.permute(0, 2, 1),
        "reduce": lambda x: x.sum(1),
        "concat": lambda x, y: x.cat(y, dim=1),
    }
    operands = OPERATORS[name].operands

    def ask() -> Any:
        sizes = {letter: Variable(own, 1, 4096) for letter, own in new_names().items()}
        shapes = [[eval(size, {}, sizes) for size in text.split(", ")] for text in operands]
        if name == "reshape":
            data = Tensor.empty(*shapes[0], device="NULL")
            return [data.reshape(*shapes[1]).shape for _ in range(OPERATIONS)]
        tensors = [Tensor.empty(*shape, device="NULL") for shape in shapes]
        return [functions[name](*tensors).shape for _ in range(OPERATIONS)]

    return ask


PEERS: Mapping[str, Build] = {"jax.eval_shape": jax, "torch, fake": torch, "tvm, relax": tvm, "tinygrad": tinygrad}
REFUSED = {("conv", "tinygrad")}
"""tinygrad asks whether the number of elements of the padded input is right, and gives up where sizes decide it."""


def case(operator: str, peer: str) -> Case:
    """Return a program of an operator, given to a peer."""
    return Case(PEERS[peer](operator), OPERATIONS)
