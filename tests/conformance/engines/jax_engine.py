"""JAX: `jax.eval_shape` over the symbolic dimensions of `jax.export`, which are at least 1 by definition."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import jax
import jax.numpy as jnp
from conformance.engines.interpretation import computed, integers, reshaped, sliced
from conformance.runner import Case, Sizes, size_at


def _pool(x: Any, kernel: Sequence[int], strides: Sequence[int] | None, pads: Sequence[int] | None, of: Any) -> Any:
    window = (1, 1, *kernel)
    steps = (1, 1, *(strides or [1] * len(kernel)))
    start, reduce = of
    return jax.lax.reduce_window(x, start, reduce, window, steps, ((0, 0), (0, 0), *_pads(pads, len(kernel))))


def _pads(pads: Sequence[int] | None, rank: int) -> list[tuple[int, int]]:
    given = pads or [0] * 2 * rank
    return list(zip(given[:rank], given[rank:], strict=True))


def _conv(x: Any, w: Any, strides: Any = None, pads: Any = None, dilations: Any = None, group: int = 1) -> Any:
    rank = x.ndim - 2
    return jax.lax.conv_general_dilated(
        x, w, strides or [1] * rank, _pads(pads, rank), rhs_dilation=dilations, feature_group_count=group
    )


def _max_pool(x: Any, kernel_shape: Any, strides: Any = None, pads: Any = None) -> Any:
    return _pool(x, kernel_shape, strides, pads, (-jnp.inf, jax.lax.max))


def _average_pool(x: Any, kernel_shape: Any, strides: Any = None, pads: Any = None) -> Any:
    return _pool(x, kernel_shape, strides, pads, (0.0, jax.lax.add)) / prod(kernel_shape)


def _normalised(x: Any, scale: Any) -> Any:
    return (x - x.mean(-1, keepdims=True)) / jnp.sqrt(x.var(-1, keepdims=True)) * scale


def _gemm(x: Any, w: Any, b: Any = None, transB: int = 0) -> Any:  # noqa: N803 - ONNX's name
    product = x @ (w.T if transB else w)
    return product if b is None else product + b


def _resized(x: Any, _region: Any, scales: Sequence[int], mode: str) -> Any:
    for axis, scale in enumerate(scales):
        x = x if scale == 1 else jnp.repeat(x, int(scale), axis)
    return x


OPERATORS = {
    "Add": jnp.add,
    "ArgMax": lambda x, axis, keepdims: jnp.argmax(x, axis, keepdims=bool(keepdims)),
    "AveragePool": _average_pool,
    "Concat": lambda *xs, axis: jnp.concatenate(xs, axis),
    "ConstantOfShape": jnp.zeros,
    "Conv": _conv,
    "CumSum": jnp.cumsum,
    "Einsum": lambda *xs, equation: jnp.einsum(equation, *xs),
    "Expand": jnp.broadcast_to,
    "Flatten": lambda x, axis: x.reshape(prod(x.shape[:axis]), prod(x.shape[axis:])),
    "Gather": lambda x, at: jnp.take(x, jnp.asarray(at), axis=0),
    "Gemm": _gemm,
    "GlobalAveragePool": lambda x: x.mean((2, 3), keepdims=True),
    "LayerNormalization": _normalised,
    "MatMul": jnp.matmul,
    "MaxPool": _max_pool,
    "Mul": jnp.multiply,
    "Neg": jnp.negative,
    "Pad": lambda x, pads, mode="constant": jnp.pad(x, _pads(pads, x.ndim), mode),
    "ReduceMax": lambda x, axes, keepdims: jnp.max(x, tuple(axes), keepdims=bool(keepdims)),
    "ReduceMean": lambda x, axes, keepdims: jnp.mean(x, tuple(axes), keepdims=bool(keepdims)),
    "Relu": jax.nn.relu,
    "Reshape": lambda x, shape: jnp.reshape(x, reshaped(x.shape, shape)),
    "Resize": _resized,
    "Shape": lambda x, start=None, end=None: x.shape[start:end],
    "Sigmoid": jax.nn.sigmoid,
    "Slice": lambda x, *given: x[sliced(x.ndim, *given)],
    "Softmax": jax.nn.softmax,
    "Split": lambda x, parts=None, axis=0: jnp.split(x, 2 if parts is None else parts[:-1], axis),
    "Squeeze": lambda x, axes: jnp.squeeze(x, tuple(axes)),
    "Sub": jnp.subtract,
    "Sum": lambda *xs: sum(xs[1:], xs[0]),
    "Tile": jnp.tile,
    "TopK": lambda x, k: jax.lax.top_k(x, k[0]),
    "Transpose": lambda x, perm: x.transpose(perm),
    "Trilu": lambda x, upper: jnp.tril(x),
    "Unsqueeze": lambda x, axes: jnp.expand_dims(x, tuple(axes)),
    "Where": jnp.where,
}


class Jax:
    """The shapes that `jax.eval_shape` gives for symbolic dimensions."""

    runtime = "jax"
    package = "jax"

    def infer(self, case: Case) -> list[list[str]]:
        names = case.names
        dims = dict(zip(names, jax.export.symbolic_shape(", ".join(names)), strict=True)) if names else {}
        given = {
            name: jax.ShapeDtypeStruct([dims.get(d, d) for d in shape], _kind(kind))
            for name, (kind, shape) in case.inputs.items()
        }
        found = jax.eval_shape(lambda inputs: computed(case, OPERATORS, inputs, integers), given)
        return [[str(d) for d in value.shape] for value in found]

    def at(self, answer: list[list[str]], sizes: Sizes) -> list[list[int | None]] | None:
        if 0 in sizes.values():
            return None
        return [[size_at(d, sizes) for d in shape] for shape in answer]

    def run(self, case: Case, sizes: Sizes) -> list[tuple[int, ...]]:
        """Return the shapes that come out at integer sizes; raise if it fails.

        JAX checks shapes when it traces a call: nothing is compiled, which would take seconds for each size.
        """
        given = {
            name: jax.ShapeDtypeStruct(shape, _kind(case.inputs[name][0])) for name, shape in case.shapes(sizes).items()
        }
        found = jax.eval_shape(lambda inputs: computed(case, OPERATORS, inputs, integers), given)
        return [tuple(value.shape) for value in found]


def _kind(name: str) -> str:
    """Return a type that JAX has without its option for 64 bits."""
    return name.replace("64", "32")
