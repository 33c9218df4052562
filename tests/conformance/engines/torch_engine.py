"""PyTorch: `torch.export` with sizes left to it (`Dim.AUTO`), which returns a program with guards."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from math import prod
from typing import Any

import torch
from conformance.engines.interpretation import computed, integers, reshaped, sliced
from conformance.runner import Case, NotAsked, Sizes
from torch.nn import functional

_TYPES = {"float32": torch.float32, "int64": torch.int64, "bool": torch.bool}


def _symmetric(pads: Sequence[int] | None) -> Sequence[int]:
    half = len(pads or ()) // 2
    return tuple(pads[:half]) if pads else (0,)


def _conv(x: Any, w: Any, strides: Any = (1,), pads: Any = None, dilations: Any = (1,), group: int = 1) -> Any:
    function = functional.conv1d if x.ndim == 3 else functional.conv2d
    return function(x, w, None, tuple(strides), _symmetric(pads), tuple(dilations), group)


def _transposed_conv(x: Any, w: Any, strides: Any) -> Any:
    return functional.conv_transpose1d(x, w, stride=tuple(strides))


def _max_pool(x: Any, kernel_shape: Any, strides: Any = (1,), ceil_mode: int = 0) -> Any:
    function = functional.max_pool1d if x.ndim == 3 else functional.max_pool2d
    return function(x, tuple(kernel_shape), tuple(strides), ceil_mode=bool(ceil_mode))


def _average_pool(x: Any, kernel_shape: Any, strides: Any = (1,), pads: Any = None) -> Any:
    function = functional.avg_pool1d if x.ndim == 3 else functional.avg_pool2d
    return function(x, tuple(kernel_shape), tuple(strides), _symmetric(pads))


def _padded(x: Any, pads: Sequence[int], mode: str = "constant") -> Any:
    pairs = zip(pads[: x.ndim], pads[x.ndim :], strict=True)
    flat = [n for pair in reversed(list(pairs)) for n in pair]
    if mode == "constant":
        return functional.pad(x, flat)
    return functional.pad(x[None], flat[:2], mode)[0]


def _gemm(x: Any, w: Any, b: Any = None, transB: int = 0) -> Any:  # noqa: N803 - ONNX's name
    product = x @ (w.T if transB else w)
    return product if b is None else product + b


def _resized(x: Any, _region: Any, scales: Sequence[int], mode: str) -> Any:
    return functional.interpolate(x, scale_factor=[float(s) for s in scales[2:]], mode=mode)


def _halves(x: Any, parts: Any = None, axis: int = 0) -> Any:
    if parts is None:
        raise NotAsked("chunk takes parts of unequal sizes")
    return torch.split(x, parts, axis)


OPERATORS = {
    "Add": torch.add,
    "ArgMax": lambda x, axis, keepdims: torch.argmax(x, axis, bool(keepdims)),
    "AveragePool": _average_pool,
    "BatchNormalization": lambda x, s, b, m, v: functional.batch_norm(x, m, v, s, b),
    "Concat": lambda *xs, axis: torch.cat(xs, axis),
    "ConstantOfShape": torch.zeros,
    "Conv": _conv,
    "ConvTranspose": _transposed_conv,
    "CumSum": torch.cumsum,
    "DepthToSpace": lambda x, blocksize: functional.pixel_shuffle(x, upscale_factor=blocksize),
    "Einsum": lambda *xs, equation: torch.einsum(equation, *xs),
    "Expand": lambda x, shape: x.expand(shape),
    "Flatten": lambda x, axis: x.reshape(prod(x.shape[:axis]), prod(x.shape[axis:])),
    "Gather": lambda x, at: x[torch.as_tensor(at)],
    "Gemm": _gemm,
    "GlobalAveragePool": lambda x: x.mean((2, 3), keepdim=True),
    "LayerNormalization": lambda x, scale: functional.layer_norm(x, (x.shape[-1],), scale),
    "MatMul": torch.matmul,
    "MaxPool": _max_pool,
    "Mul": torch.mul,
    "Neg": torch.neg,
    "PRelu": lambda x, slope: torch.where(x < 0, x * slope, x),
    "Pad": _padded,
    "ReduceMax": lambda x, axes, keepdims: torch.amax(x, tuple(axes), bool(keepdims)),
    "ReduceMean": lambda x, axes, keepdims: torch.mean(x, tuple(axes), bool(keepdims)),
    "Relu": torch.relu,
    "Reshape": lambda x, shape: x.reshape(reshaped(x.shape, shape)),
    "Resize": _resized,
    "Shape": lambda x, start=None, end=None: tuple(x.shape[start:end]),
    "Sigmoid": torch.sigmoid,
    "Slice": lambda x, *given: x[sliced(x.ndim, *given)],
    "Softmax": lambda x, axis: x.softmax(axis),
    "SpaceToDepth": lambda x, blocksize: functional.pixel_unshuffle(x, downscale_factor=blocksize),
    "Split": _halves,
    "Sub": torch.sub,
    "Sum": lambda *xs: sum(xs[1:], xs[0]),
    "Tile": lambda x, times: x.repeat(times),
    "TopK": lambda x, k: torch.topk(x, k[0]),
    "Transpose": lambda x, perm: x.permute(perm),
    "Trilu": lambda x, upper: torch.tril(x),
    "Unsqueeze": lambda x, axes: x.unsqueeze(axes[0]),
    "Where": torch.where,
}


class _Module(torch.nn.Module):
    def __init__(self, case: Case) -> None:
        super().__init__()
        self.case = case

    def forward(self, *inputs: Any) -> Any:
        return tuple(computed(self.case, OPERATORS, dict(zip(self.case.inputs, inputs, strict=True)), integers))


class Torch:
    """The program that `torch.export` makes from an example at which the module runs; its guards say where it works.

    The example has the first sizes from 2 on at which the module runs, pairwise different ones if there are any.
    """

    runtime = "torch"
    package = "torch"

    def infer(self, case: Case) -> tuple[Case, Any]:
        sizes = _example(case)
        auto = torch.export.Dim.AUTO
        dynamic = tuple(
            {axis: auto for axis, d in enumerate(shape) if isinstance(d, str)} for _, shape in case.inputs.values()
        )
        inputs = tuple(_inputs(case, sizes))
        program = torch.export.export(_Module(case), inputs, dynamic_shapes=(dynamic,), strict=False)
        return case, program.module()

    def at(self, answer: tuple[Case, Any], sizes: Sizes) -> list[tuple[int, ...]] | None:
        case, module = answer
        try:
            return [tuple(value.shape) for value in module(*_inputs(case, sizes))]
        except (AssertionError, ZeroDivisionError):  # a guard
            return None
        except Exception:  # it passed the guards
            return []

    def run(self, case: Case, sizes: Sizes) -> list[tuple[int, ...]]:
        """Return the shapes that come out of a run; raise if it fails."""
        return [tuple(value.shape) for value in _Module(case)(*_inputs(case, sizes))]


def _inputs(case: Case, sizes: Sizes) -> list[Any]:
    return [torch.zeros(shape, dtype=_TYPES[case.inputs[n][0]]) for n, shape in case.shapes(sizes).items()]


def _example(case: Case) -> dict[str, int]:
    """Return sizes to export at."""
    runs = [sizes for sizes, ran in case.ran("torch") if ran is not None]
    large = [sizes for sizes in runs if all(size >= 2 for size in sizes.values())]
    different = [sizes for sizes in large if len(set(sizes.values())) == len(sizes)]
    first = next(itertools.chain(different, large, runs), None)
    return first or dict(zip(case.names, range(2, 2 + len(case.names)), strict=True))
