"""Nodes with windows that slide over the last axes, pads and resampling."""

from __future__ import annotations

import numpy as np
from random_models.maker import Maker


def _numbers(maker: Maker, count: int, low: int, high: int) -> list[int]:
    return [maker.random.randint(low, high) for _ in range(count)]


def conv(maker: Maker) -> None:
    data = maker.tensor(least=3, most=4)
    if not data:
        return
    axes = data.rank - 2
    weights = maker.constant(np.zeros([*_numbers(maker, 2, 1, 3), *_numbers(maker, axes, 1, 3)]), np.float32)
    attributes = {"strides": _numbers(maker, axes, 1, 3), "dilations": _numbers(maker, axes, 1, 2)}
    if maker.chance(60):
        attributes["pads"] = _numbers(maker, 2 * axes, 0, 2)
    else:
        attributes["auto_pad"] = maker.random.choice(["SAME_UPPER", "SAME_LOWER", "VALID"])
    maker.keep(maker.node("Conv", [data.name, weights], **attributes), data.rank)


def conv_transpose(maker: Maker) -> None:
    data = maker.tensor(least=3, most=4)
    if data:
        axes = data.rank - 2
        weights = maker.constant(np.zeros([*_numbers(maker, 2, 1, 2), *_numbers(maker, axes, 1, 3)]), np.float32)
        pads = _numbers(maker, 2 * axes, 0, 1)
        strides = _numbers(maker, axes, 1, 3)
        maker.keep(maker.node("ConvTranspose", [data.name, weights], strides=strides, pads=pads), data.rank)


def pool(maker: Maker) -> None:
    data = maker.tensor(least=3, most=4)
    if data:
        axes = data.rank - 2
        kernel = _numbers(maker, axes, 1, 3)
        made = maker.node(
            maker.random.choice(["MaxPool", "AveragePool"]),
            [data.name],
            kernel_shape=kernel,
            strides=_numbers(maker, axes, 1, 3),
            ceil_mode=maker.random.randint(0, 1),
            pads=[maker.random.randint(0, k - 1) for k in kernel] * 2,
        )
        maker.keep(made, data.rank)


def global_pool(maker: Maker) -> None:
    data = maker.tensor(least=3, most=4)
    if data:
        op_type = maker.random.choice(["GlobalAveragePool", "GlobalMaxPool"])
        maker.keep(maker.node(op_type, [data.name]), data.rank)


STEPS = [conv, conv, conv_transpose, pool, pool, global_pool]
