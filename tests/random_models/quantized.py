"""Nodes of quantised numbers: made from floats, computed with, and made floats again."""

from __future__ import annotations

import numpy as np
from random_models.maker import FLOAT, MICROSOFT, Maker, Tensor


def _scale(maker: Maker) -> str:
    return maker.constant(0.5, np.float32)


def _zero(maker: Maker, dtype: type = np.uint8) -> str:
    return maker.constant(0, dtype)


def _quantised(maker: Maker, data: Tensor) -> str:
    return maker.node("QuantizeLinear", [data.name, _scale(maker), _zero(maker)])


def _kept(maker: Maker, name: str, rank: int) -> None:
    """Take in a quantised tensor as the floats that it stands for."""
    maker.keep(maker.node("DequantizeLinear", [name, _scale(maker), _zero(maker)]), rank)


def to_and_fro(maker: Maker) -> None:
    """A scale for all, or one for each place along an axis."""
    data = maker.tensor(least=1)
    if not data:
        return
    if maker.chance(50):
        _kept(maker, _quantised(maker, data), data.rank)
        return
    axis = maker.axis(data)
    scale = maker.vector(data, axis)
    made = maker.node("QuantizeLinear", [data.name, scale], axis=axis)
    if maker.chance(50):
        scale = maker.vector(data, axis)
    maker.keep(maker.node("DequantizeLinear", [made, scale], axis=axis), data.rank)


def dynamic(maker: Maker) -> None:
    data = maker.tensor()
    if data.is_full:
        made = maker.nodes("DynamicQuantizeLinear", [data.name], 3)
        maker.keep(maker.node("DequantizeLinear", made), data.rank)


def matmul_integer(maker: Maker) -> None:
    a, b = maker.tensor(least=1, most=3), maker.tensor(least=1, most=3)
    if a and b and a.is_full and b.is_full:
        inputs = [_quantised(maker, a), _quantised(maker, b)]
        zeros = [_zero(maker)] * maker.random.randint(0, 2)
        rank = max(a.rank, b.rank, 2) - (a.rank == 1) - (b.rank == 1)
        maker.keep(maker.cast(maker.node("MatMulInteger", [*inputs, *zeros]), FLOAT), rank)


def linear_matmul(maker: Maker) -> None:
    a, b = maker.tensor(least=2, most=3), maker.tensor(least=2, most=3)
    if a and b and a.is_full and b.is_full:
        scale, zero = _scale(maker), _zero(maker)
        inputs = [_quantised(maker, a), scale, zero, _quantised(maker, b), scale, zero, scale, zero]
        _kept(maker, maker.node("QLinearMatMul", inputs), max(a.rank, b.rank))


def _weights(maker: Maker, axes: int) -> str:
    return maker.constant(np.zeros([*maker.numbers(2, 1, 3), *maker.numbers(axes, 1, 3)]), np.uint8)


def conv_integer(maker: Maker) -> None:
    data = maker.tensor(4)
    if data and data.is_full:
        made = maker.node("ConvInteger", [_quantised(maker, data), _weights(maker, 2)], strides=maker.numbers(2, 1, 2))
        maker.keep(maker.cast(made, FLOAT), 4)


def linear_conv(maker: Maker) -> None:
    data = maker.tensor(4)
    if data and data.is_full:
        scale, zero = _scale(maker), _zero(maker)
        weights = _weights(maker, 2)
        bias = [maker.constant(np.zeros(maker.random.randint(1, 3)), np.int32)] if maker.chance(30) else []
        inputs = [_quantised(maker, data), scale, zero, weights, scale, zero, scale, zero, *bias]
        made = maker.node("QLinearConv", inputs, pads=maker.numbers(4, 0, 1), dilations=maker.numbers(2, 1, 2))
        _kept(maker, made, 4)


def linear_pair(maker: Maker) -> None:
    a, b = maker.tensor(), maker.tensor()
    if a.is_full and b.is_full:
        scale, zero = _scale(maker), _zero(maker)
        inputs = [_quantised(maker, a), scale, zero, _quantised(maker, b), scale, zero, scale, zero]
        op_type = maker.random.choice(["QLinearAdd", "QLinearMul"])
        _kept(maker, maker.node(op_type, inputs, domain=MICROSOFT), max(a.rank, b.rank))


def linear_each(maker: Maker) -> None:
    data = maker.tensor()
    if data.is_full:
        scale, zero = _scale(maker), _zero(maker)
        op_type = maker.random.choice(["QLinearSigmoid", "QLinearLeakyRelu"])
        _kept(
            maker, maker.node(op_type, [_quantised(maker, data), scale, zero, scale, zero], domain=MICROSOFT), data.rank
        )


def linear_concat(maker: Maker) -> None:
    first = maker.tensor(least=1)
    if first and first.is_full:
        scale, zero = _scale(maker), _zero(maker)
        parts = [t for t in (first, maker.tensor(first.rank)) if t and t.is_full]
        inputs = [name for t in parts for name in (_quantised(maker, t), scale, zero)]
        made = maker.node("QLinearConcat", [scale, zero, *inputs], axis=maker.axis(first), domain=MICROSOFT)
        _kept(maker, made, first.rank)


def linear_global_pool(maker: Maker) -> None:
    data = maker.tensor(4)
    if data and data.is_full:
        scale, zero = _scale(maker), _zero(maker)
        inputs = [_quantised(maker, data), scale, zero, scale, zero]
        _kept(maker, maker.node("QLinearGlobalAveragePool", inputs, channels_last=0, domain=MICROSOFT), 4)


def gemm(maker: Maker) -> None:
    a, b = maker.tensor(2), maker.tensor(2)
    if a and b and a.is_full and b.is_full:
        scale, zero = _scale(maker), _zero(maker)
        inputs = [_quantised(maker, a), scale, zero, _quantised(maker, b), scale, zero]
        transposed = {"transA": maker.random.randint(0, 1), "transB": maker.random.randint(0, 1)}
        maker.keep(maker.node("QGemm", inputs, domain=MICROSOFT, **transposed), 2)


def matmul_to_float(maker: Maker) -> None:
    a, b = maker.tensor(least=2, most=3), maker.tensor(2)
    if a and b and a.is_full and b.is_full:
        scale = _scale(maker)
        if maker.chance(50):
            inputs = [_quantised(maker, a), _quantised(maker, b), scale, scale]
            made = maker.node("MatMulIntegerToFloat", inputs, domain=MICROSOFT)
        else:
            made = maker.node("DynamicQuantizeMatMul", [a.name, _quantised(maker, b), scale], domain=MICROSOFT)
        maker.keep(made, max(a.rank, b.rank))


STEPS = [
    to_and_fro,
    to_and_fro,
    dynamic,
    matmul_integer,
    linear_matmul,
    conv_integer,
    linear_conv,
    linear_pair,
    linear_each,
    linear_concat,
    linear_global_pool,
    gemm,
    matmul_to_float,
]
