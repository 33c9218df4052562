"""Nodes of images and signals: sampled, cropped, laid out and transformed."""

from __future__ import annotations

import numpy as np
from random_models.maker import FLOAT, INT64, Maker

_NO_KERNEL = 22
"""ONNX Runtime (1.31) runs some operators in the versions before this one alone."""


def roi_align(maker: Maker) -> None:
    data, boxes = maker.tensor(4), maker.tensor(2)
    if not (data and boxes and data.is_full and boxes.is_full) or maker.opset >= _NO_KERNEL:
        return
    count = maker.axis_size(boxes, 0) if maker.chance(70) else maker.random.randint(1, 2)
    regions = boxes.name if maker.chance(30) else maker.filled([maker.axis_size(boxes, 0), 4], 0)
    attributes = {"output_height": maker.random.randint(1, 2), "output_width": 2}
    maker.keep(maker.node("RoiAlign", [data.name, regions, maker.filled([count], 0, np.int64)], **attributes), 4)


def max_roi_pool(maker: Maker) -> None:
    data = maker.tensor(4)
    if data and data.is_full and maker.opset < _NO_KERNEL:
        regions = maker.filled([maker.random.randint(1, 2), maker.random.choice([5, 5, 4])], 0)
        maker.keep(maker.node("MaxRoiPool", [data.name, regions], pooled_shape=maker.numbers(2, 1, 2)), 4)


def grid_sample(maker: Maker) -> None:
    data, grid = maker.tensor(4), maker.tensor(4)
    if not (data and grid and data.is_full and grid.is_full):
        return
    batch = maker.axis_size(data, 0) if maker.chance(80) else maker.random.randint(1, 2)
    sizes = [batch, maker.axis_size(grid, 1), maker.axis_size(grid, 2), maker.random.choice([2, 2, 2, 3])]
    maker.keep(maker.node("GridSample", [data.name, maker.filled(sizes, 0)]), 4)


def affine_grid(maker: Maker) -> None:
    if maker.opset >= 20:
        data = maker.tensor(least=1)
        batch = maker.axis_size(data, 0) if data else 1
        theta = maker.filled([batch, 2, 3], 0)
        size = maker.node("Concat", [maker.constant([maker.random.randint(1, 3)]), maker.sizes(3, 1, 3)], axis=0)
        if data and maker.chance(70):
            size = maker.node("Concat", [maker.axis_size(data, 0), maker.sizes(3, 1, 3)], axis=0)
        maker.keep(maker.node("AffineGrid", [theta, size]), 4)


def col2im(maker: Maker) -> None:
    data = maker.tensor(3)
    if data and data.is_full:
        image, block = maker.constant(maker.numbers(2, 1, 4)), maker.constant(maker.numbers(2, 1, 2))
        maker.keep(maker.node("Col2Im", [data.name, image, block]), 4)


def crop_pad(maker: Maker) -> None:
    data = maker.tensor(least=1, most=4)
    if data and data.is_full:
        axes = sorted(maker.random.sample(range(data.rank), maker.random.randint(1, data.rank)))
        made = maker.node("CenterCropPad", [data.name, maker.sizes(len(axes))], axes=axes)
        maker.keep(made, data.rank)


def unpool(maker: Maker) -> None:
    data = maker.tensor(4)
    if data and data.is_full:
        window = {"kernel_shape": [2, 2], "strides": maker.numbers(2, 1, 2)}
        made = maker.nodes("MaxPool", [data.name], 2, **window)
        maker.keep(maker.node("MaxUnpool", made, **window), 4)


def lp_pool(maker: Maker) -> None:
    data = maker.tensor(least=3, most=4)
    if data and data.is_full:
        axes = data.rank - 2
        window = {"kernel_shape": maker.numbers(axes, 1, 3), "strides": maker.numbers(axes, 1, 2)}
        maker.keep(maker.node("LpPool", [data.name], **window), data.rank)


def global_lp_pool(maker: Maker) -> None:
    data = maker.tensor(least=3, most=4)
    if data and data.is_full and maker.opset < _NO_KERNEL:
        maker.keep(maker.node("GlobalLpPool", [data.name]), data.rank)


def suppressed(maker: Maker) -> None:
    boxes, scores = maker.tensor(3), maker.tensor(3)
    if boxes and scores and boxes.is_full and scores.is_full:
        inputs = [boxes.name, scores.name]
        if maker.chance(70):
            inputs[0] = maker.filled([maker.axis_size(scores, 0), maker.axis_size(scores, 2), 4], 0)
        made = maker.node("NonMaxSuppression", [*inputs, maker.constant([1])])
        maker.keep(maker.cast(made, FLOAT), 2)


def fourier(maker: Maker) -> None:
    """A line of real or complex numbers, in the time or the frequency."""
    data = maker.tensor(least=2, most=3)
    if not (data and data.is_full):
        return
    signal = maker.node("Unsqueeze", [data.name, maker.constant([data.rank])])
    length = [maker.scalar()] if maker.chance(40) else []
    axis, onesided = maker.random.randrange(1, data.rank), maker.random.randint(0, 1)
    if maker.opset >= 20:
        inputs = [signal, *(length or [""]), maker.constant(axis)]
        made = maker.node("DFT", inputs, onesided=onesided)
    else:
        made = maker.node("DFT", [signal, *length], axis=axis, onesided=onesided)
    maker.keep(made, data.rank + 1)


def short_fourier(maker: Maker) -> None:
    data = maker.tensor(2)
    if data and data.is_full:
        step, length = maker.constant(maker.random.randint(1, 2)), maker.random.randint(1, 4)
        window = [maker.constant(np.ones(length), np.float32)] if maker.chance(50) else ["", maker.constant(length)]
        signal = maker.node("Unsqueeze", [data.name, maker.constant([2])])
        maker.keep(maker.node("STFT", [signal, step, *window], onesided=maker.random.randint(0, 1)), 4)


def hann(maker: Maker) -> None:
    op_type = maker.random.choice(["HannWindow", "HammingWindow", "BlackmanWindow"])
    count = maker.node("Max", [maker.scalar(), maker.constant(1)])
    maker.keep(maker.node(op_type, [count], periodic=maker.random.randint(0, 1)), 1)


def mel(maker: Maker) -> None:
    numbers = [maker.constant(n) for n in (maker.random.randint(1, 3), maker.random.choice([4, 8, 9]), 16)]
    edges = [maker.constant(n, np.float32) for n in (0, maker.random.choice([4, 8]))]
    maker.keep(maker.node("MelWeightMatrix", [*numbers, *edges]), 2)


def determinant(maker: Maker) -> None:
    data = maker.tensor(least=2)
    if data and data.is_full:
        maker.keep(maker.node("Det", [data.name]), data.rank - 2)


def same_eye(maker: Maker) -> None:
    data = maker.tensor(2)
    if data:
        maker.keep(maker.node("EyeLike", [data.name], k=maker.random.randint(-1, 1)), 2, (data,))


def reversed_lines(maker: Maker) -> None:
    data = maker.tensor(least=2)
    if data and data.is_full:
        batch = maker.random.randint(0, 1)
        count = maker.axis_size(data, batch) if maker.chance(80) else maker.random.randint(1, 3)
        lengths = maker.filled([count], 1, np.int64)
        made = maker.node("ReverseSequence", [data.name, lengths], batch_axis=batch, time_axis=1 - batch)
        maker.keep(made, data.rank, (data,))


def unique(maker: Maker) -> None:
    data = maker.tensor(least=1)
    if data and data.is_full:
        if maker.chance(50):
            maker.keep(maker.node("Unique", [data.name]), 1)
        else:
            maker.keep(maker.node("Unique", [data.name], axis=maker.axis(data)), data.rank)


def like_random(maker: Maker) -> None:
    """Numbers drawn for the shape of others."""
    data = maker.tensor()
    if maker.opset >= _NO_KERNEL:
        return
    op_type = maker.random.choice(["RandomNormalLike", "RandomUniformLike"])
    maker.keep(maker.node(op_type, [data.name]), data.rank, (data,))


def drawn(maker: Maker) -> None:
    data = maker.tensor(2)
    if data and data.is_full and maker.opset < _NO_KERNEL:
        made = maker.node("Multinomial", [data.name], sample_size=maker.random.randint(1, 3), dtype=INT64)
        maker.keep(maker.cast(made, FLOAT), 2)


STEPS = [
    roi_align,
    max_roi_pool,
    grid_sample,
    affine_grid,
    col2im,
    crop_pad,
    unpool,
    lp_pool,
    global_lp_pool,
    suppressed,
    fourier,
    short_fourier,
    hann,
    mel,
    determinant,
    same_eye,
    reversed_lines,
    unique,
    like_random,
    drawn,
]
