"""Asks ONNX Runtime about single nodes that pad, crop and resample, and keeps its answers.

    python tests/onnx/record_resampling.py

The answers that are kept are of onnxruntime 1.31.0 with the CPU provider and its own optimisations (onnx 1.23.0). One
row is one node, run at every combination of the sizes of its symbols; `recorded_nodes` says how to read it.
"""

from __future__ import annotations

import random
import sys
from itertools import product
from pathlib import Path

sys.path.extend(str(Path(__file__).parents[1] / folder) for folder in (".", "support", "surveys"))

from recorded_nodes import floats, node, record, sized, values

PADS = range(-3, 5)
MODES = {"constant": 2, "reflect": 2, "edge": 2, "wrap": 19}
PADDED = (2, 11, 13, 18, 19, 21, 23)
RESIZED = (10, 11, 13, 18, 19)
COORDINATES = ("half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel")


def integers(*items):
    """Return a constant of integers."""
    return values(items, "int64")


def pads(choose):
    """Give paddings of one axis, and of several."""
    for mode, since in MODES.items():
        versions = [v for v in PADDED if v >= since]
        for before, after in product(PADS, PADS):
            yield sized(_pad(choose.choice(versions), mode, [floats("H")], [before, after]), range(8))
        for amounts in ([0, 1, 0, 1], [1, 0, 0, -1], [-1, 2, 2, -2], [0, 0, 0, 0], [3, 0, -3, 0], [1, 1, 1, 1]):
            yield sized(_pad(choose.choice(versions), mode, [floats("H", "W")], amounts), range(5), range(5))
        for axes in ([1], [-1], [0, 2], [-1, 0], [3], [0, 0], []):
            amounts = [1, 0, 0, 1][: 2 * len(axes)]
            version = max(18, since)
            inputs = [floats("H", 2, "W"), integers(*amounts), None, integers(*axes)]
            yield sized(node("Pad", version, {"mode": mode}, inputs), range(4), range(4))
        for count in (0, 1, 3):
            yield sized(_pad(choose.choice(versions), mode, [floats("H")], [1] * count), range(3))
        given = {"sizes": ["A", "B"], "type": "int64"}
        yield sized(node("Pad", max(13, since), {"mode": mode}, [floats("H"), given]), range(5), range(4), range(4))
    yield sized(_pad(13, "nothing", [floats("H")], [1, 1]), range(3))
    yield sized(node("Pad", 13, {}, [floats(), integers()]))
    shaped = {"shape": [1, 2], "type": "int64", "values": [1, 1]}
    yield sized(node("Pad", 11, {}, [floats("H"), shaped]), range(3))
    for shape in ([], [1], ["V"]):
        filling = {"shape": shape, "type": "float"}
        ranges = [range(3), range(3)] if shape == ["V"] else [range(3)]
        yield sized(node("Pad", 13, {}, [floats("H"), integers(1, 1), filling]), *ranges)


def _pad(version, mode, inputs, amounts):
    attributes = {"mode": mode}
    if version < 11:
        return node("Pad", version, {**attributes, "pads": amounts}, inputs)
    return node("Pad", version, attributes, [*inputs, integers(*amounts)])


def _resize(version, attributes, image, scales=None, sizes=None, region=None):
    """Return a row for Resize as its version has it."""
    if version < 11:
        return node("Resize", version, attributes, [image, scales])
    inputs = [image, region, scales, sizes]
    if version < 13:
        inputs[1] = region or values([], "float")
        inputs[2] = scales or values([], "float")
    while inputs[-1] is None:
        inputs.pop()
    return node("Resize", version, attributes, inputs)


def scaled(choose):
    """Give Resize by scales."""
    numbers = (
        0.1,
        0.2,
        0.3,
        0.4,
        0.6,
        0.7,
        0.9,
        1 / 3,
        2 / 3,
        1 / 7,
        0.5,
        0.25,
        0.75,
        1.0,
        1.1,
        1.3,
        1.5,
        1.7,
        1.9,
        2.0,
    )
    numbers += (
        2.1,
        2.5,
        3.0,
        3.3,
        4.7,
        0.001,
        0.15,
        0.35,
        0.45,
        0.55,
        0.65,
        0.85,
        0.95,
        1.05,
        1.15,
        1.23456,
        0.0,
        -1.0,
    )
    for number in numbers:
        for shape, mode in ((["H"], "nearest"), ([2, "H"], "linear")):
            given = values([1.0, number][-len(shape) :], "float")
            row = _resize(choose.choice(RESIZED), {"mode": mode}, floats(*shape), given)
            yield sized(row, [*range(31), 90, 117, 1000, 4095, 9999])
    for mode, scales in product(
        ("nearest", "linear", "cubic"),
        (
            *([2.0], [1.0], [2.0, 2.0], [1.0, 2.0], [2.0, 1.0], [1.0, 1.0, 2.0], [2.0, 2.0, 2.0], [1.0, 2.0, 2.0]),
            *([1.0, 1.0, 2.0, 2.0], [1.0, 2.0, 2.0, 1.0], [2.0, 1.0, 2.0, 2.0], [1.0, 2.0, 2.0, 2.0]),
            *([2.0, 2.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 2.0, 2.0, 2.0], [1.0, 2.0, 1.0, 2.0, 2.0]),
            *(
                [1.0, 0.5, 2.0, 1.0],
                [1.0, 1.0, 0.5, 0.5],
                [1.0, 1.0, 1.0, 2.0, 2.0],
                [2.0, 1.0, 2.0, 2.0, 2.0],
                [1.0, 2.0, 2.0, 2.0, 1.0],
            ),
        ),
    ):
        sizes = ["N", 2, 3, "H", 2][: len(scales)] if len(scales) < 5 else ["N", 2, 3, "H", 2]
        version = choose.choice([v for v in RESIZED if v >= 11 or mode != "cubic"])
        row = _resize(version, {"mode": mode}, floats(*sizes), values(scales, "float"))
        yield sized(row, *[range(4)] * len(row["symbols"]))
    for mode, scales in product(
        ("linear", "cubic"), ([1.0, 0.5, 2.0, 1.0], [1.0, 1.0, 0.5, 0.5], [2.0, 0.5, 0.5, 1.0])
    ):
        attributes = {"mode": mode, "antialias": 1}
        yield sized(_resize(18, attributes, floats(1, 2, 3, "H"), values(scales, "float")), range(4))
    for scales in ([2.0], [1.0, 2.0, 2.0], []):
        for version in (10, 11, 13):
            yield sized(_resize(version, {}, floats("H", 2), values(scales, "float")), range(3))
    for mode, over in product(("nearest", "linear"), (1, 2, 3)):
        given = {"sizes": ["A", "B"], "type": "float", "over": over}
        row = _resize(choose.choice(RESIZED), {"mode": mode}, floats("H", 5), given)
        yield sized(row, range(4), range(5), range(5))


def to_sizes(choose):
    """Give Resize to sizes."""
    for mode, rank in product(("nearest", "linear", "cubic"), range(1, 6)):
        shape = ["N", "C", "D", "H", "W"][:rank]
        wanted = ["A", "B", "E", "F", "G"][:rank]
        version = choose.choice(RESIZED[1:])
        row = _resize(version, {"mode": mode}, floats(*shape), sizes={"sizes": wanted, "type": "int64"})
        row["sizes"] = [[choose.choice((0, 1, 2, 3)) for _ in row["symbols"]] for _ in range(60)]
        for _ in range(60):
            few = [choose.choice((1, 2, 3)) for _ in shape]
            asked = [n if choose.random() < 0.7 else choose.choice((1, 2, 3)) for n in few]
            row["sizes"].append([*few, *asked])
        yield row
    for coordinates, version in product(COORDINATES, (11, 19)):
        attributes = {"mode": "linear", "coordinate_transformation_mode": coordinates}
        wanted = {"sizes": [1, 2, "A", "B"], "type": "int64"}
        yield sized(_resize(version, attributes, floats(1, 2, "H", 3), sizes=wanted), range(4), range(4), range(1, 3))
    for wanted in ([2], [1, 2, 3], [-1, 2], [0, 2]):
        yield sized(_resize(13, {}, floats("H", 2), sizes=integers(*wanted)), range(3))
    both = _resize(13, {}, floats("H", 2), scales=values([1.0, 2.0], "float"), sizes=integers(2, 2))
    yield sized(both, range(3))
    yield sized(node("Resize", 13, {}, [floats("H", 2)]), range(3))


def along_axes(choose):
    """Give Resize of some axes, and with the ratio of its sizes kept."""
    for axes in ([2], [-1], [2, 3], [3, 2], [0], [2, 2], [4], [-2, -1]):
        for mode, version in product(("nearest", "linear"), (18, 19)):
            attributes = {"mode": mode, "axes": axes}
            scales = values([2.0, 0.5][: len(axes)], "float")
            yield sized(_resize(version, attributes, floats(1, 2, "H", "W"), scales), range(4), range(4))
            wanted = {"sizes": ["A", 3][: len(axes)], "type": "int64"}
            row = _resize(version, attributes, floats(1, 2, "H", "W"), sizes=wanted)
            yield sized(row, range(4), range(4), range(4))
    for policy in ("stretch", "not_larger", "not_smaller"):
        for wanted in ([7, 8], [3, 3], [10, 4], [1, 9]):
            attributes = {"mode": "nearest", "keep_aspect_ratio_policy": policy, "axes": [0, 1]}
            yield sized(_resize(18, attributes, floats("H", "W"), sizes=integers(*wanted)), range(9), range(9))
            for height, width in product((2, 3, 5), (4, 7)):
                image = floats(height, width, "H")
                yield sized(_resize(18, attributes, image, sizes=integers(*wanted)), range(3))
        attributes = {"keep_aspect_ratio_policy": policy}
        yield sized(_resize(18, attributes, floats("H", 4), values([0.5, 2.0], "float")), range(5))


def of_regions():
    """Give Resize of a region."""
    attributes = {"mode": "linear", "coordinate_transformation_mode": "tf_crop_and_resize"}
    for low, high in ((0.0, 1.0), (0.25, 0.75), (0.0, 0.5), (0.2, 0.7), (0.5, 0.25)):
        region = values([0.0, low, 1.0, high], "float")
        for version in (11, 13, 18):
            row = _resize(version, attributes, floats("H", "W"), values([1.0, 2.0], "float"), region=region)
            yield sized(row, range(3), range(9))
            row = _resize(version, attributes, floats("H", "W"), sizes=integers(3, 5), region=region)
            yield sized(row, range(3), range(5))
    yield sized(_resize(13, attributes, floats("H", "W"), sizes=integers(3, 5)), range(3), range(3))
    short = values([0.0, 1.0], "float")
    yield sized(_resize(13, attributes, floats("H", "W"), sizes=integers(3, 5), region=short), range(3), range(3))
    part = {**attributes, "axes": [1]}
    region = values([0.0, 0.5], "float")
    yield sized(_resize(18, part, floats("H", "W"), sizes=integers(5), region=region), range(3), range(3))


def upsampled():
    """Give Upsample."""
    for scales in ([1.0, 2.0], [2.0, 1.0], [1.0, 1.5], [1.0, 0.5], [1.0, 1.0], [2.0]):
        for mode in ("nearest", "linear"):
            attributes = {"mode": mode}
            yield sized(
                node("Upsample", 9, attributes, [floats("H", "W"), values(scales, "float")]), range(4), range(5)
            )
            yield sized(node("Upsample", 7, {**attributes, "scales": scales}, [floats("H", "W")]), range(4), range(5))
    for scales in ([1.0, 1.0, 2.0, 3.0], [1.0, 2.0, 2.0, 2.0], [2.0, 1.0, 2.0, 2.0]):
        for mode in ("nearest", "linear"):
            image = floats(1, 2, "H", "W")
            yield sized(node("Upsample", 9, {"mode": mode}, [image, values(scales, "float")]), range(4), range(4))
    given = {"sizes": ["A", "B"], "type": "float"}
    yield sized(node("Upsample", 9, {}, [floats("H", 3), given]), range(4), range(4), range(4))


def grids():
    """Give what samples along grids."""
    for mode in ("linear", "nearest", "cubic"):
        image, grid = floats("N", "C", "H", 3), floats("M", "P", 4, "T")
        ranges = (range(3), range(1, 3), range(3), range(3), range(3), (1, 2, 3))
        yield sized(node("GridSample", 20, {"mode": mode}, [image, grid]), *ranges)
        image, grid = floats("N", 2, "D", "H", 3), floats("M", "P", 4, 2, "T")
        ranges = (range(1, 3), range(3), range(1, 3), range(1, 3), range(3), (2, 3))
        yield sized(node("GridSample", 20, {"mode": mode}, [image, grid]), *ranges)
    image, grid = floats("N", "C", "H", 3), floats("M", "P", 4, "T")
    yield sized(node("GridSample", 16, {}, [image, grid]), range(3), (0, 2), range(3), range(3), range(3), (2, 3))
    yield sized(node("GridSample", 16, {}, [floats("N", 2, 3), floats("N", 2, 1)]), range(3))
    yield sized(node("GridSample", 16, {}, [floats("N", 2, 3, 4), floats("N", 2, 2)]), range(3))
    for size in ([2, 3, 4, 5], [2, 3, 4, 5, 6], [2, 3, 4], [0, 3, 4, 5], [2, 3, 0, 5]):
        rows = len(size) - 2
        theta = floats("N", "R", "S")
        row = node("AffineGrid", 20, {}, [theta, integers(*size)])
        yield sized(row, range(4), range(rows, rows + 2), range(rows, rows + 3))
    given = {"sizes": ["N", 3, "A", "B"], "type": "int64"}
    yield sized(node("AffineGrid", 20, {}, [floats("N", 2, 3), given]), range(3), range(3), range(3))


def centred():
    """Give CenterCropPad."""
    for wanted, axes in (
        *(([3, 4], None), ([3], [0]), ([3], [-1]), ([4, 3], [1, 0]), ([0, 2], None), ([3], None), ([2, 2, 2], None)),
        *(([3], [2]), ([3, 3], [0, 0]), ([-1, 3], None), ([-3, 3], None)),
    ):
        attributes = {} if axes is None else {"axes": axes}
        row = node("CenterCropPad", 18, attributes, [floats("H", "W"), integers(*wanted)])
        yield sized(row, range(7), range(7))
    given = {"sizes": ["A"], "type": "int64"}
    yield sized(node("CenterCropPad", 18, {"axes": [1]}, [floats(2, "H"), given]), range(7), range(7))


def rows():
    """Give every row, the same ones each time."""
    choose = random.Random(20260102)
    yield from pads(choose)
    yield from scaled(choose)
    yield from to_sizes(choose)
    yield from along_axes(choose)
    yield from of_regions()
    yield from upsampled()
    yield from grids()
    yield from centred()


if __name__ == "__main__":
    record(rows(), "resampling")
