"""Asks ONNX Runtime about single nodes that slide windows, and keeps its answers.

    python tests/onnx/record_windows.py

The answers that are kept are of onnxruntime 1.31.0 with the CPU provider and its own optimisations (onnx 1.23.0). One
row is one node, run at every size of its symbol; `recorded_nodes` says how to read it.
"""

from __future__ import annotations

import random
import sys
from itertools import product
from pathlib import Path

sys.path.extend(str(Path(__file__).parents[1] / folder) for folder in (".", "support", "surveys"))

from recorded_nodes import floats, node, record, sized, values, zeros

LINE = floats(1, 2, "H")
SIZES = range(21)
PADS = [(0, 0), (0, 1), (1, 0), (1, 1), (0, 2), (2, 1), (2, 2), (3, 3)]
SAME = ("SAME_UPPER", "SAME_LOWER")
CEILED = {"MaxPool": 10, "AveragePool": 10, "LpPool": 18}
DILATED = {"MaxPool": 10, "AveragePool": 19, "LpPool": 18}
VERSIONS = {"MaxPool": (1, 8, 10, 11, 12, 22), "AveragePool": (7, 10, 11, 19, 22), "LpPool": (2, 11, 18, 22)}
CONV = (1, 11, 22)


def pools(choose):
    """Give pools along one axis."""
    grid = list(product((1, 2, 3, 4), (1, 2, 3), PADS, (0, 1), (1, 2, 3)))
    for op, versions in VERSIONS.items():
        for kernel, stride, pads, ceil, dilation in choose.sample(grid, 330 if op == "MaxPool" else 130):
            attributes = {"kernel_shape": [kernel], "strides": [stride], "pads": list(pads)}
            since = max([CEILED[op]] * ceil + [DILATED[op]] * (dilation > 1) + [1])
            if ceil:
                attributes["ceil_mode"] = 1
            if dilation > 1:
                attributes["dilations"] = [dilation]
            version = choose.choice([v for v in versions if v >= since])
            yield sized(node(op, version, attributes, [LINE], 2 if op == "MaxPool" and version >= 8 else 1), SIZES)
        for kernel, stride, auto, ceil, dilation in product((1, 2, 3), (1, 2, 3), (*SAME, "VALID"), (0, 1), (1, 2)):
            attributes = {"kernel_shape": [kernel], "strides": [stride], "auto_pad": auto}
            since = max([CEILED[op]] * ceil + [DILATED[op]] * (dilation > 1) + [1])
            if ceil:
                attributes["ceil_mode"] = 1
            if dilation > 1:
                attributes["dilations"] = [dilation]
            version = choose.choice([v for v in versions if v >= since])
            yield sized(
                node(op, version, attributes, [LINE], choose.choice((1, 2)) if op == "MaxPool" and version >= 8 else 1),
                SIZES,
            )


def pools_beyond_a_line():
    """Give pools over more axes, of other types, and of odd attributes."""
    yield sized(
        node("MaxPool", 12, {"kernel_shape": [3, 2], "strides": [2, 1]}, [floats("N", "C", "H", "W")]),
        range(3),
        range(3),
        range(5),
        (0, 1, 2, 5),
    )
    yield sized(
        node(
            "AveragePool",
            11,
            {"kernel_shape": [3, 3], "pads": [1, 0, 1, 2], "strides": [2, 2], "ceil_mode": 1},
            [floats("N", 3, "H", "W")],
        ),
        range(3),
        range(6),
        range(6),
    )
    yield sized(
        node("MaxPool", 12, {"kernel_shape": [2, 2, 2], "strides": [2, 2, 3]}, [floats(1, 2, "D", "H", "W")]),
        range(4),
        range(4),
        range(4),
    )
    yield sized(
        node("LpPool", 18, {"kernel_shape": [2, 2], "strides": [2, 3]}, [floats(2, 1, "H", "W")]), range(6), range(6)
    )
    for rank in range(6):
        shape = floats(*(["H", 2, 4, 4, 4][:rank]))
        for op, version in (("MaxPool", 12), ("AveragePool", 11), ("LpPool", 18)):
            yield sized(node(op, version, {"kernel_shape": [2]}, [shape]), *[range(3)] * bool(rank))
        for op in ("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"):
            yield sized(node(op, 2 if op == "GlobalLpPool" else 1, {}, [shape]), *[range(3)] * bool(rank))
    for op in ("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"):
        version = 18 if op == "GlobalLpPool" else 22
        yield sized(node(op, version, {}, [floats("N", "C", "H")]), range(3), range(3), range(3))
        yield sized(node(op, version, {}, [floats("N", 8, "H", "W")]), range(3), range(3), range(3))
    for attributes in (
        {},
        {"kernel_shape": [2, 2]},
        {"kernel_shape": [0]},
        {"kernel_shape": [2], "strides": [0]},
        {"kernel_shape": [2], "strides": [1, 1]},
        {"kernel_shape": [2], "pads": [1]},
        {"kernel_shape": [3], "pads": [-1, 0]},
        {"kernel_shape": [2], "dilations": [0]},
        {"kernel_shape": [2], "dilations": [1, 1]},
        {"kernel_shape": [2], "auto_pad": "VALID", "pads": [1, 1]},
        {"kernel_shape": [3], "auto_pad": "SAME_UPPER", "pads": [1, 1]},
        {"kernel_shape": [3], "storage_order": 1},
        {"kernel_shape": [2], "auto_pad": "NOTSET", "pads": [1, 1]},
        {"kernel_shape": [3], "pads": []},
    ):
        for op, version in (("MaxPool", 12), ("AveragePool", 22), ("LpPool", 22)):
            if "storage_order" not in attributes or op == "MaxPool":
                yield sized(node(op, version, attributes, [LINE]), range(6))
    for kind in ("double", "int8", "uint8"):
        yield sized(
            node("MaxPool", 12, {"kernel_shape": [3], "strides": [2]}, [{"shape": [1, 2, "H"], "type": kind}]), range(8)
        )
        yield sized(
            node(
                "MaxPool",
                12,
                {"kernel_shape": [1], "strides": [3], "auto_pad": "SAME_UPPER"},
                [{"shape": [1, 2, "H"], "type": kind}],
            ),
            range(8),
        )


def convolutions(choose):
    """Give convolutions along one axis."""
    grid = list(product((1, 2, 3, 4), (1, 2, 3), PADS, (1, 2, 3)))
    for kernel, stride, pads, dilation in choose.sample(grid, 150):
        attributes = {"strides": [stride], "pads": list(pads), "dilations": [dilation]}
        yield sized(node("Conv", choose.choice(CONV), attributes, [LINE, zeros(3, 2, kernel)]), SIZES)
    for kernel, stride, auto, dilation in product((1, 2, 3), (1, 2, 3), (*SAME, "VALID"), (1, 2)):
        attributes = {"strides": [stride], "auto_pad": auto, "dilations": [dilation]}
        yield sized(node("Conv", choose.choice(CONV), attributes, [LINE, zeros(3, 2, kernel)]), SIZES)
    for inputs, ranges in (
        ([floats("N", "C", 5), zeros(4, 3, 2)], (range(3), range(6))),
        ([floats(1, "C", 5), floats("M", "D", 2)], (range(3), range(4), range(4))),
        ([floats(1, 2, "H"), floats(3, 2, "K")], (range(5), range(1, 5))),
        ([floats(1, 2, 5), floats("M", 2, 2), floats("B")], (range(4), range(4))),
        ([floats(1, 2, 5), zeros(1, 2, 2), floats("B")], (range(4),)),
        ([floats(1, 2, 5), zeros(3, 2, 2), floats(3, "B")], (range(3),)),
        ([floats(1, 2, "H", "W"), zeros(3, 2, 2, 3)], (range(5), range(5))),
        ([floats(1, 2, 3, "H", "W"), zeros(3, 2, 2, 3, 1)], (range(5), range(5))),
        ([floats(1, 2, "H"), zeros(3, 2, 2, 2)], (range(4),)),
        ([floats(1, 2, "H", 3), zeros(3, 2, 2)], (range(4),)),
        ([floats("N", 2), zeros(3, 2)], (range(4),)),
    ):
        yield sized(node("Conv", 11, {}, inputs), *ranges)
    for group in (0, 1, 2, 3, 4):
        yield sized(
            node("Conv", 11, {"group": group}, [floats(1, "C", 5), floats("M", "D", 2)]), range(7), range(7), range(4)
        )
        yield sized(
            node("ConvTranspose", 11, {"group": group}, [floats(1, "C", 5), floats("M", "D", 2)]),
            range(7),
            range(7),
            range(4),
        )
    for attributes in (
        {"kernel_shape": [2, 2]},
        {"kernel_shape": [3]},
        {"kernel_shape": [2]},
        {"strides": [0]},
        {"strides": [1, 1]},
        {"pads": [1]},
        {"pads": [-1, 0]},
        {"dilations": [0]},
        {"dilations": [1, 1]},
        {"auto_pad": "VALID", "pads": [1, 1]},
        {"auto_pad": "SAME_UPPER", "pads": [1, 1]},
        {"auto_pad": "NOTSET", "pads": [1, 1]},
        {"pads": []},
        {"strides": []},
    ):
        yield sized(node("Conv", 11, attributes, [LINE, zeros(3, 2, 2)]), range(6))
        yield sized(node("ConvTranspose", 11, attributes, [LINE, zeros(2, 3, 2)]), range(6))


def quantized(choose):
    """Give convolutions of small integers."""
    line, point = {"shape": [1, 2, "H"], "type": "uint8"}, values([0], "uint8")
    zero, scale = {"shape": [], "type": "uint8", "values": 0}, {"shape": [], "type": "float", "values": 1.0}
    for kernel, stride, pads, dilation in choose.sample(list(product((1, 2, 3, 4), (1, 2, 3), PADS, (1, 2, 3))), 25):
        attributes = {"strides": [stride], "pads": list(pads), "dilations": [dilation]}
        yield sized(node("ConvInteger", 10, attributes, [line, zeros(3, 2, kernel, kind="uint8")]), range(13))
        inputs = [line, scale, zero, zeros(3, 2, kernel, kind="uint8"), scale, zero, scale, zero]
        yield sized(node("QLinearConv", 10, attributes, inputs), range(13))
    for given in (point, zero, {"shape": ["Z"], "type": "uint8"}):
        ranges = [range(4), range(5)] if given["shape"] == ["Z"] else [range(4)]
        yield sized(node("ConvInteger", 10, {}, [line, zeros(3, 2, 2, kind="uint8"), given]), *ranges)
        yield sized(node("ConvInteger", 10, {}, [line, zeros(3, 2, 2, kind="uint8"), zero, given]), *ranges)
    weights = zeros(3, 2, 2, kind="uint8")
    for n, kind in ((1, "float"), (2, "uint8"), (4, "float"), (5, "uint8"), (6, "float"), (7, "uint8"), (8, "int32")):
        inputs = [line, scale, zero, weights, scale, zero, scale, zero, None]
        inputs[n] = {"shape": ["Z"], "type": kind}
        yield sized(node("QLinearConv", 10, {}, inputs), (3, 4), range(5))
    for auto in (*SAME, "VALID"):
        yield sized(node("ConvInteger", 10, {"auto_pad": auto, "strides": [2]}, [line, weights]), range(9))


def transposed(choose):
    """Give transposed convolutions along one axis."""
    grid = list(product((1, 2, 3, 4), (1, 2, 3), PADS, (1, 2, 3), (0, 1, 2)))
    for kernel, stride, pads, dilation, extra in choose.sample(grid, 150):
        attributes = {"strides": [stride], "pads": list(pads), "dilations": [dilation], "output_padding": [extra]}
        yield sized(node("ConvTranspose", choose.choice(CONV), attributes, [LINE, zeros(2, 3, kernel)]), range(13))
    autos = product((1, 2, 3, 4), (1, 2, 3), (*SAME, "VALID"), (1, 2), (0, 1))
    for kernel, stride, auto, dilation, extra in choose.sample(list(autos), 80):
        attributes = {"strides": [stride], "auto_pad": auto, "dilations": [dilation]}
        if extra:
            attributes["output_padding"] = [extra]
        yield sized(node("ConvTranspose", choose.choice(CONV), attributes, [LINE, zeros(2, 3, kernel)]), range(13))
    asked = product((1, 2, 3, 4), (1, 2, 3), (*SAME, "VALID", None), (1, 2), (0, 1), (1, 7, 12), ((0, 0), (1, 1), None))
    for kernel, stride, auto, dilation, extra, size, pads in choose.sample(list(asked), 200):
        attributes = {"strides": [stride], "dilations": [dilation], "output_shape": [size]}
        if auto:
            attributes["auto_pad"] = auto
        elif pads:
            attributes["pads"] = list(pads)
        if extra:
            attributes["output_padding"] = [extra]
        yield sized(node("ConvTranspose", choose.choice(CONV), attributes, [LINE, zeros(2, 3, kernel)]), range(13))
    plane = [floats("N", 2, "H", "W"), zeros(2, 3, 2, 3)]
    yield sized(
        node("ConvTranspose", 11, {"output_shape": [7, 8], "strides": [2, 2]}, plane), (1, 2), range(6), range(6)
    )
    yield sized(
        node("ConvTranspose", 11, {"output_shape": [1, 3, 7, 8], "strides": [2, 2]}, plane), (1, 2), range(6), range(6)
    )
    yield sized(
        node("ConvTranspose", 11, {"output_shape": [2, 3, 7, 8], "strides": [2, 2]}, plane), (1, 2), range(6), range(6)
    )
    yield sized(node("ConvTranspose", 11, {}, [LINE, zeros(2, 3, 2), floats("B")]), (1, 4), range(5))
    yield sized(node("ConvTranspose", 11, {"group": 2}, [LINE, zeros(2, 3, 2), floats("B")]), (1, 4), range(8))


def others(choose):
    """Give what undoes windows, and what takes regions out."""
    indices = {"shape": [1, 2, "I"], "type": "int64"}
    for attributes in (
        {"kernel_shape": [2], "strides": [2]},
        {"kernel_shape": [3], "strides": [2], "pads": [1, 0]},
        {"kernel_shape": [3]},
        {"kernel_shape": [1], "pads": [1, 1]},
    ):
        yield sized(node("MaxUnpool", 11, attributes, [LINE, indices]), range(6), range(6))
    for shape in ([1, 2, 9], [1, 2, 3], [2, 2, 9], [9], [1, 2, 0]):
        given = {"shape": [len(shape)], "type": "int64", "values": shape}
        yield sized(
            node(
                "MaxUnpool",
                11,
                {"kernel_shape": [2], "strides": [2]},
                [LINE, {"shape": [1, 2, "H"], "type": "int64"}, given],
            ),
            range(7),
        )
    yield sized(
        node(
            "MaxUnpool",
            11,
            {"kernel_shape": [2], "strides": [2]},
            [LINE, {"shape": [1, 2, "H"], "type": "int64"}, {"sizes": [1, 2, "A"], "type": "int64"}],
        ),
        range(5),
        range(12),
    )
    for pooled in ([2, 3], [1, 1], [0, 2], [2]):
        yield sized(
            node("MaxRoiPool", 1, {"pooled_shape": pooled}, [floats(1, 2, "H", 5), floats("R", "F")]),
            (1, 4),
            range(3),
            (4, 5, 6),
        )
    yield sized(
        node("MaxRoiPool", 1, {"pooled_shape": [2, 2]}, [floats("N", "C", 4, 5), floats("R", 5)]),
        range(3),
        range(3),
        range(3),
    )
    batch = {"shape": ["B"], "type": "int64"}
    for attributes in (
        {},
        {"output_height": 2, "output_width": 3},
        {"output_height": 2, "output_width": 3, "mode": "max"},
        {"output_height": 0},
    ):
        for version in (10, 16):
            yield sized(
                node("RoiAlign", version, attributes, [floats(1, 2, "H", 5), floats("R", "F"), batch]),
                range(3),
                range(3),
                (3, 4),
                range(3),
            )
    yield sized(
        node("RoiAlign", 16, {}, [floats("N", "C", 4, 5), floats("R", 4), {"shape": ["R"], "type": "int64"}]),
        range(3),
        range(3),
        range(3),
    )
    for attributes in ({}, {"pads": [1, 0, 1, 1]}, {"strides": [2, 1]}, {"dilations": [1, 2], "pads": [0, 1, 0, 1]}):
        image, block = values([4, 5], "int64"), values([2, 3], "int64")
        yield sized(node("Col2Im", 18, attributes, [floats(1, "K", "L"), image, block]), (0, 6, 9, 12), range(26))
        image, block = {"sizes": ["H", 5], "type": "int64"}, values([2, 2], "int64")
        yield sized(
            node("Col2Im", 18, attributes, [floats("N", 8, "L"), image, block]), range(3), range(0, 25, 4), range(6)
        )
    for attributes in ({}, {"pads": [1, 0, 1, 1]}, {"strides": [2, 1]}, {"dilations": [1, 2]}, {"offset_group": 2}):
        offset = floats(1, 16 if "offset_group" in attributes else 8, "P", "Q")
        yield sized(
            node("DeformConv", 19, attributes, [floats(1, 2, "H", 5), zeros(3, 2, 2, 2), offset]),
            range(6),
            range(5),
            range(3, 7),
        )
    inputs = [floats("N", 2, "H", 5), floats("M", 2, 2, 2), floats("N", 8, "P", 5)]
    yield sized(node("DeformConv", 19, {"pads": [1, 0, 1, 1]}, inputs), range(2), range(3), range(2), (1, 2))
    yield sized(
        node(
            "DeformConv",
            19,
            {},
            [floats(1, "C", 4, 5), zeros(3, 2, 2, 2), floats("N", "O", 3, 4), floats("B"), floats(1, "M", 3, 4)],
        ),
        (1, 2),
        (1, 2),
        (4, 8, 9),
        range(2, 5),
        (4, 8),
    )


def rows():
    """Give every row, the same ones each time."""
    choose = random.Random(20260101)
    yield from pools(choose)
    yield from pools_beyond_a_line()
    yield from convolutions(choose)
    yield from quantized(choose)
    yield from transposed(choose)
    yield from others(choose)


if __name__ == "__main__":
    record(rows(), "windows")
