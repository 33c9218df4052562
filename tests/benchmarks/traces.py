"""Traced functions: one path with its confirmation, one that asks a hundred questions, and what others do."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

import symbcast as sb
from benchmarks.turns import Case

_numbers = itertools.count()
QUESTIONS = 100

LAYER = """
def layer(x, w):
    x = np.maximum(x @ w, 0)
    return x - x.mean(-1, keepdims=True)
"""
ASKING = f"""
def asking(x):
    for n in range({QUESTIONS}):
        if x.shape[0] <= n:
            raise ValueError(n)
    return x
"""
NETWORK = """
import symbcast as sb, numpy as np
def network(x, *weights):
    for w in weights:
        x = np.maximum(x @ w, 0) + x
    return x
str(sb.trace(network, *[f"A{{k}}, C{{k}}" for k in range({n} + 1)]))
"""
"""A residual network with distinct names in each layer, for a process of its own."""


def made(source: str, numpy: Any = np) -> Callable[..., Any]:
    """Return a new function: no trace of it is known."""
    space: dict[str, Any] = {"np": numpy}
    exec(source, space)
    return next(value for name, value in space.items() if callable(value) and name != "__builtins__")


def one_path() -> sb.TraceReport:
    n = next(_numbers)
    return sb.trace(made(LAYER), f"b{n}, k{n}", f"k{n}, m{n}")


def hundred_questions() -> sb.TraceReport:
    n = next(_numbers)
    return sb.trace(made(ASKING), f"b{n}, k{n}", assume=f"b{n} >= 2*{QUESTIONS}")


def by_jax() -> Case:
    import jax
    from jax import export

    def ask() -> Any:
        n = next(_numbers)
        shapes = [f"b{n}, k{n}", f"k{n}, m{n}"]
        given = export.symbolic_args_specs([jax.ShapeDtypeStruct((1, 1), "float32")] * 2, shapes)
        return jax.eval_shape(made(LAYER, jax.numpy), *given)

    return Case(ask)


def by_torch() -> Case:
    import torch

    def ask() -> Any:
        sizes = ({0: torch.export.Dim.DYNAMIC, 1: torch.export.Dim.DYNAMIC},) * 2
        torch.compiler.reset()
        return torch.export.export(Layer(), (torch.zeros(3, 5), torch.zeros(5, 7)), dynamic_shapes=sizes)

    class Layer(torch.nn.Module):
        def forward(self, x: Any, w: Any) -> Any:
            x = torch.relu(x @ w)
            return x - x.mean(-1, keepdim=True)

    return Case(ask)


CASES = {"one path": Case(one_path), f"one path that asks {QUESTIONS} questions": Case(hundred_questions)}
PEERS = {"one path, jax.eval_shape": by_jax, "one path, torch.export": by_torch}
