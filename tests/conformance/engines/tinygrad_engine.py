"""tinygrad: tensors whose sizes are variables from 0 to 4. Its device ``PYTHON`` needs no compiler."""

from __future__ import annotations

import os
from collections.abc import Sequence
from math import prod
from typing import Any

os.environ.setdefault("DEV", "PYTHON")

from conformance.engines.interpretation import computed, integers, reshaped, sliced
from conformance.runner import LARGEST, Case, Shape, Sizes
from tinygrad import Tensor, Variable, dtypes
from tinygrad.uop.ops import sym_infer

_TYPES = {"float32": dtypes.float32, "int64": dtypes.int64, "bool": dtypes.bool}


def _pads(pads: Sequence[int] | None) -> int:
    return pads[0] if pads else 0


def _padded(x: Tensor, pads: Sequence[int], mode: str = "constant") -> Tensor:
    pairs = tuple(zip(pads[: x.ndim], pads[x.ndim :], strict=True))
    return x.pad(pairs, mode=mode)


def _conv(x: Tensor, w: Tensor, strides: Any = 1, pads: Any = None, dilations: Any = 1, group: int = 1) -> Tensor:
    return x.conv2d(w, None, group, strides, dilations, _pads(pads))


def _gemm(x: Tensor, w: Tensor, b: Tensor | None = None, transB: int = 0) -> Tensor:  # noqa: N803 - ONNX's name
    product = x @ (w.T if transB else w)
    return product if b is None else product + b


def _resized(x: Tensor, _region: Any, scales: Sequence[int], mode: str) -> Tensor:
    return x.interpolate(tuple(int(s) * d for s, d in zip(scales[2:], x.shape[2:], strict=True)), mode=mode)


OPERATORS = {
    "Add": lambda x, y: x + y,
    "ArgMax": lambda x, axis, keepdims: x.argmax(axis, bool(keepdims)),
    "AveragePool": lambda x, kernel_shape, strides=1, pads=None: x.avg_pool2d(
        tuple(kernel_shape), strides, padding=_pads(pads)
    ),
    "Concat": lambda x, *others, axis: x.cat(*others, dim=axis),
    "ConstantOfShape": lambda shape: Tensor.zeros(*shape),
    "Conv": _conv,
    "ConvTranspose": lambda x, w, strides: x.conv_transpose2d(w, stride=strides),
    "CumSum": lambda x, axis: x.cumsum(axis),
    "Einsum": lambda *xs, equation: Tensor.einsum(equation, *xs),
    "Expand": lambda x, shape: x.expand(*shape),
    "Flatten": lambda x, axis: x.reshape(prod(x.shape[:axis]), prod(x.shape[axis:])),
    "Gather": lambda x, at: x[at if isinstance(at, Tensor) else Tensor(at)],
    "Gemm": _gemm,
    "GlobalAveragePool": lambda x: x.mean((2, 3), keepdim=True),
    "LayerNormalization": lambda x, scale: x.layernorm() * scale,
    "MatMul": lambda x, y: x.matmul(y),
    "MaxPool": lambda x, kernel_shape, strides=1, ceil_mode=0: x.max_pool2d(
        tuple(kernel_shape), strides, ceil_mode=bool(ceil_mode)
    ),
    "Mul": lambda x, y: x * y,
    "Neg": lambda x: -x,
    "Pad": _padded,
    "ReduceMax": lambda x, axes, keepdims: x.max(tuple(axes), bool(keepdims)),
    "ReduceMean": lambda x, axes, keepdims: x.mean(tuple(axes), bool(keepdims)),
    "Relu": lambda x: x.relu(),
    "Reshape": lambda x, shape: x.reshape(*reshaped(x.shape, shape)),
    "Resize": _resized,
    "Shape": lambda x, start=None, end=None: x.shape[start:end],
    "Sigmoid": lambda x: x.sigmoid(),
    "Slice": lambda x, *given: x[sliced(x.ndim, *given)],
    "Softmax": lambda x, axis: x.softmax(axis),
    "Split": lambda x, parts=None, axis=0: x.chunk(2, axis) if parts is None else x.split(parts, axis),
    "Squeeze": lambda x, axes: x.squeeze(axes[0]),
    "Sub": lambda x, y: x - y,
    "Sum": lambda *xs: sum(xs[1:], xs[0]),
    "Tile": lambda x, times: x.repeat(*times),
    "TopK": lambda x, k: x.topk(k[0]),
    "Transpose": lambda x, perm: x.permute(*perm),
    "Trilu": lambda x, upper: x.tril(),
    "Unsqueeze": lambda x, axes: x.unsqueeze(axes[0]),
    "Where": lambda c, x, y: c.where(x, y),
}


class Tinygrad:
    """The shapes of tensors that are computed lazily over variables."""

    runtime = "tinygrad"
    package = "tinygrad"

    def infer(self, case: Case) -> list[tuple[Any, ...]]:
        variables = {name: Variable(name, 0, LARGEST) for name in case.names}
        given = {
            name: Tensor.empty(*(variables.get(d, d) for d in shape), dtype=_TYPES[kind])
            for name, (kind, shape) in case.inputs.items()
        }
        return [value.shape for value in computed(case, OPERATORS, given, integers)]

    def at(self, answer: list[tuple[Any, ...]], sizes: Sizes) -> list[Shape]:
        return [[sym_infer(d, dict(sizes)) for d in shape] for shape in answer]

    def run(self, case: Case, sizes: Sizes) -> list[tuple[int, ...]]:
        """Return the shapes that come out of a run; raise if it fails."""
        given = {n: Tensor.zeros(*shape, dtype=_TYPES[case.inputs[n][0]]) for n, shape in case.shapes(sizes).items()}
        return [tuple(value.realize().shape) for value in computed(case, OPERATORS, given, integers)]
