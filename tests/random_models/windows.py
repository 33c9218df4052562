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


def pad(maker: Maker) -> None:
    data = maker.tensor(least=1)
    if data:
        mode = maker.random.choice(["constant", "constant", "reflect", "edge"])
        counts = maker.constant(_numbers(maker, 2 * data.rank, -1, 2))
        maker.keep(maker.node("Pad", [data.name, counts], mode=mode), data.rank)


def resize(maker: Maker) -> None:
    data = maker.tensor(least=1, most=4)
    if not (data and data.is_full):  # ONNX Runtime may end at once where there is nothing to resize
        return
    if maker.chance(50):
        scales = [maker.random.choice([1, 1, 2, 0.5, 1.5]) for _ in range(data.rank)]
        inputs = [data.name, "", maker.constant(scales, np.float32)]
    else:
        inputs = [data.name, "", "", maker.sizes(data.rank)]
    maker.keep(maker.node("Resize", inputs, mode="nearest"), data.rank)


STEPS = [conv, conv, conv_transpose, pool, pool, global_pool, pad, resize]
