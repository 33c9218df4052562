"""Single nodes of OpenVINO, each in its own model, as plain data: an operator, its attributes and its inputs.

An input is ``[type, shape]`` for a parameter, with None for a dimension that is left open, or ``[type, shape, values]``
for a constant.
"""

from __future__ import annotations

from itertools import product

SLID = {"strides": [1], "pads_begin": [1], "pads_end": [1], "dilations": [1]}


def floats(*shape):
    return ["f32", list(shape)]


def integers(*shape):
    return ["i64", list(shape)]


def held(values, kind="i64"):
    shape = [] if isinstance(values, (int, float)) else [len(values)]
    return [kind, shape, values if shape else [values]]


def zeros(*shape, kind="f32"):
    return [kind, list(shape), 0]


def model(row):
    """Build the model of a row; values are those of its outputs."""
    import numpy as np
    import openvino as ov
    from openvino import opset1
    from openvino.utils.node_factory import NodeFactory

    made, parameters = [], []
    for n, (kind, shape, *values) in enumerate(row["inputs"]):
        if values:
            filled = np.zeros(shape) if values[0] == 0 else np.reshape(values[0], shape)
            made.append(opset1.constant(filled.astype(getattr(ov.Type, kind).to_dtype()), dtype=getattr(ov.Type, kind)))
        else:
            dims = [ov.Dimension(*d) if isinstance(d, list) else -1 if d is None else d for d in shape]
            made.append(opset1.parameter(ov.PartialShape(dims), getattr(ov.Type, kind), name=f"x{n}"))
            parameters.append(made[-1])
    node = NodeFactory(row["opset"]).create(row["op"], [m.output(0) for m in made], row["attributes"])
    return ov.Model([opset1.result(o) for o in node.outputs()], parameters, "small")


def names(row):
    """Return the names of the sizes that are left open."""
    return [
        f"x{n}_dim_{axis}"
        for n, (_, shape, *values) in enumerate(row["inputs"])
        if not values
        for axis, d in enumerate(shape)
        if d is None or isinstance(d, list)
    ]


def shapes_at(row, sizes):
    """Return the shapes of the parameters at some sizes, in order."""
    left = iter(sizes)
    return [
        [next(left) if d is None or isinstance(d, list) else d for d in shape]
        for _, shape, *values in row["inputs"]
        if not values
    ]


def node(op, opset, inputs, sizes=range(1, 6), **attributes):
    """Give a row: a node, and the sizes to run it at."""
    row = {"op": op, "opset": f"opset{opset}", "attributes": attributes, "inputs": inputs}
    row["runs"] = [list(s) for s in product(sizes, repeat=len(names(row)))]
    return row


FEW, TWO, LONG = range(1, 4), (1, 2), range(1, 13)


def rows():  # noqa: PLR0912, PLR0915 - a table
    """Give every row."""
    # Elementwise, in each way of broadcasting.
    yield node("Add", 1, [floats(None, None), floats(None)], FEW)
    yield node("Multiply", 1, [floats(None, None), floats(None, None)], FEW, auto_broadcast="none")
    for axis in (-1, 0, 1):
        pdpd = {"auto_broadcast": "pdpd", "auto_broadcast.auto_broadcast_axis": axis}
        yield node("Add", 1, [floats(None, None, 2), floats(None, None)], FEW, **pdpd)
        yield node("Maximum", 1, [floats(None, None), floats(None)], FEW, **pdpd)
    yield node("Subtract", 1, [floats(None, 2), floats(None)], FEW, auto_broadcast="pdpd")
    yield node("Select", 1, [["boolean", [None, 1]], floats(None), floats(None, None)], FEW)
    yield node("Select", 1, [["boolean", [None]], floats(None), floats(None)], FEW, auto_broadcast="none")
    yield node("SquaredDifference", 1, [floats(None, 1), floats(1, None)], FEW)
    yield node("PRelu", 1, [floats(None, None, 2), floats(None)], FEW)
    yield node("FakeQuantize", 1, [floats(None, None, 2), *[zeros(1, 3, 1)] * 4], FEW, levels=256)
    yield node("FakeQuantize", 1, [floats(2, None), *[floats(None)] * 1, *[zeros(1)] * 3], FEW, levels=256)
    # Broadcast, in each mode.
    yield node("Broadcast", 1, [floats(None), held([2, 3]), held([1])])
    yield node("Broadcast", 1, [floats(None), held([2, 3]), held([0])], mode="explicit")
    yield node("Broadcast", 1, [floats(None, None), held([2, 3])])
    yield node("Broadcast", 3, [floats(None, None), held([2, 3, 4]), held([0, 2])], mode="explicit")
    yield node("Broadcast", 3, [floats(None, None), held([2, 3, 1])], mode="numpy")
    yield node("Broadcast", 3, [floats(None, None, None), held([3, 1])], FEW, mode="bidirectional")
    yield node("Broadcast", 3, [floats(None), held([1, 3, 2])], mode="bidirectional")
    yield node("Broadcast", 3, [floats(None, None), held([2, 3, 4])], mode="numpy")
    # Shapes.
    for zero in (True, False):
        yield node("Reshape", 1, [floats(None, None), held([0, -1] if zero else [2, -1])], special_zero=zero)
        yield node("Reshape", 1, [floats(None, None), held([-1, 4])], special_zero=zero)
        yield node("Reshape", 1, [floats(None, None, 2), held([2, 6])], special_zero=zero)
    yield node("Reshape", 1, [floats(None, None), held([0, 2, 2])], special_zero=True)
    yield node("Reshape", 1, [floats(None, 4), held([0, 0, -1])], special_zero=True)
    yield node("Squeeze", 1, [floats(None, 3, None), held([0, -1])])
    yield node("Squeeze", 15, [floats(None, 3), held([0])])
    yield node("Unsqueeze", 1, [floats(None, 3), held([0, -1])])
    yield node("Transpose", 1, [floats(None, None, 2), held([2, 0, 1])], FEW)
    yield node("Concat", 1, [floats(None, None), floats(None, None)], FEW, axis=0)
    yield node("Concat", 1, [floats(None, 2), floats(None, 2), floats(1, None)], FEW, axis=-1)
    yield node("Split", 1, [floats(None, 3), held(0)], LONG, num_splits=3)
    yield node("VariadicSplit", 1, [floats(None, 3), held(0), held([1, 3])], LONG)
    yield node("VariadicSplit", 1, [floats(None, 3), held(0), held([2, -1])], range(2, 8))
    yield node("Tile", 1, [floats(None, None), held([2, 1, 3])], FEW)
    yield node("Tile", 1, [floats(None, None), held([3])], FEW)
    yield node("DepthToSpace", 1, [floats(1, None, None, 2)], LONG, mode="blocks_first", block_size=2)
    yield node("SpaceToDepth", 1, [floats(1, 2, None, None)], range(1, 5), mode="blocks_first", block_size=2)
    yield node("Squeeze", 1, [floats(None, 1, 3, 1), held([1, 3])], FEW)
    yield node("Tile", 1, [floats(None), held([2, 1, 3])], FEW)
    yield node("Relu", 1, [["f32", [[2, 5], None]]], range(2, 6))
    # Slices.
    for start, stop, step in ((1, 4, 1), (-2, 9, 1), (-1, -9, -1), (4, 0, -2), (0, 1 << 31, 2), (3, 1, 1), (-3, -1, 1)):
        yield node("Slice", 8, [floats(None, 2), held([start]), held([stop]), held([step]), held([0])], LONG)
        masks = {"begin_mask": [0], "end_mask": [0]}
        yield node("StridedSlice", 1, [floats(None, 2), held([start]), held([stop]), held([step])], LONG, **masks)
    three = [held([1, 0, 1]), held([3, 2, 2]), held([1, 1, 1])]
    for masks in (
        {"begin_mask": [1, 0, 0], "end_mask": [0, 0, 1]},
        {"begin_mask": [0, 0, 0], "end_mask": [0, 0, 0], "new_axis_mask": [0, 1, 0]},
        {"begin_mask": [0, 0, 0], "end_mask": [0, 0, 0], "shrink_axis_mask": [0, 1, 0]},
        {"begin_mask": [0, 0, 0], "end_mask": [0, 0, 0], "ellipsis_mask": [0, 1, 0]},
        {"begin_mask": [0, 0, 0], "end_mask": [0, 0, 0], "ellipsis_mask": [1, 0, 0], "shrink_axis_mask": [0, 0, 1]},
        {"begin_mask": [0, 0, 0], "end_mask": [0, 0, 0], "new_axis_mask": [1, 0, 0], "ellipsis_mask": [0, 1, 0]},
    ):
        yield node("StridedSlice", 1, [floats(None, None, None, 2), *three], FEW, **masks)
    back = {"begin_mask": [1], "end_mask": [1]}
    yield node("StridedSlice", 1, [floats(None, 2), held([0]), held([0]), held([-1])], **back)
    yield node("StridedSlice", 1, [floats(None, 2), held([0]), held([0]), held([-2])], LONG, **back)
    # Indices.
    yield node("Gather", 8, [floats(None, 3), integers(None, 2), held(0)], FEW, batch_dims=0)
    yield node("Gather", 8, [floats(None, 3), integers(None, 2), held(1)], FEW, batch_dims=1)
    yield node("Gather", 8, [floats(None, None, 3), integers(None, 2), held(1)], FEW, batch_dims=-1)
    yield node("Gather", 7, [floats(None, 3), integers(None), held(1)], FEW, batch_dims=0)
    yield node("Gather", 1, [floats(None, 3), held([5]), held(0)])
    yield node("Gather", 8, [floats(None, 3), held([5]), held(0)], batch_dims=0)
    yield node("GatherElements", 6, [floats(None, 3), integers(None, None)], FEW, axis=0)
    yield node("GatherND", 8, [floats(None, 3), integers(None, 1)], FEW, batch_dims=0)
    yield node("GatherND", 8, [floats(None, 3, 2), integers(None, 1)], FEW, batch_dims=1)
    yield node("GatherND", 5, [floats(None, 3, 2), integers(None, 3, 1)], FEW, batch_dims=2)
    updates = [floats(None, 3), integers(None, 2), floats(None, 2), held(0)]
    yield node("ScatterElementsUpdate", 3, updates, FEW)
    yield node("ScatterElementsUpdate", 12, updates, FEW, reduction="sum", use_init_val=True)
    yield node("ScatterNDUpdate", 4, [floats(None, 3), integers(None, 1), floats(None, None)], FEW)
    yield node("ScatterUpdate", 3, [floats(None, 3), integers(None), floats(None, 3), held(0)], FEW)
    yield node("ShapeOf", 3, [floats(None, None)], FEW, output_type="i64")
    yield node("NonZero", 3, [floats(None, None)], FEW, output_type="i64")
    yield node("TopK", 11, [floats(None, 3), held(2)], axis=0, mode="max", sort="value", index_element_type="i64")
    yield node("OneHot", 1, [integers(None, 2), held(3), held(1.0, "f32"), held(0.0, "f32")], axis=1)
    boxes = [floats(1, None, 4), floats(1, 2, None), held(3), held(0.5, "f32"), held(0.0, "f32")]
    kind = {"box_encoding": "corner", "sort_result_descending": False, "output_type": "i64"}
    yield node("NonMaxSuppression", 9, boxes, FEW, **kind)
    yield node("CumSum", 3, [floats(None, 2), held(0)], FEW)
    # Products, reductions, what normalises.
    for a in (False, True):
        for b in (False, True):
            inputs = [floats(None, 2, None), floats(2, None)]
            yield node("MatMul", 1, inputs, FEW, transpose_a=a, transpose_b=b)
    yield node("MatMul", 1, [floats(None), floats(None, 3)], FEW, transpose_a=True, transpose_b=False)
    yield node("MatMul", 1, [floats(2, None), floats(None)], FEW, transpose_a=False, transpose_b=True)
    yield node("MatMul", 1, [floats(None, 2, 3), floats(None, 3, 2)], FEW, transpose_a=False, transpose_b=False)
    yield node("Einsum", 7, [floats(None, None), floats(None, 2)], FEW, equation="ij,jk->ik")
    yield node("ReduceMean", 1, [floats(None, 2, None), held([0, -1])], FEW, keep_dims=True)
    yield node("ReduceSum", 1, [floats(None, 2, None), held([1])], FEW, keep_dims=False)
    yield node("Softmax", 8, [floats(None, 2)], FEW, axis=-1)
    yield node("MVN", 6, [floats(None, 2), held([1])], FEW, normalize_variance=True, eps=1e-5, eps_mode="inside_sqrt")
    scales = [zeros(4)] * 4
    yield node("BatchNormInference", 5, [floats(1, None, 2), *scales], epsilon=1e-5)
    yield node("GroupNormalization", 12, [floats(1, 4, None), zeros(4), zeros(4)], FEW, num_groups=2, epsilon=1e-5)
    query = [floats(1, None, 4), floats(1, None, 4), floats(1, None, 4)]
    yield node("ScaledDotProductAttention", 13, query, FEW, causal=False)
    yield node("ScaledDotProductAttention", 13, [*query, floats(None, None)], FEW, causal=False)
    # Windows.
    taps = {"strides": [2], "pads_begin": [1], "pads_end": [0], "dilations": [2]}
    yield node("Convolution", 1, [floats(1, None, None), zeros(4, 2, 3)], range(1, 8), **taps)
    for padding in ("same_upper", "same_lower", "valid"):
        yield node("Convolution", 1, [floats(1, 2, None), zeros(4, 2, 3)], LONG, **taps, auto_pad=padding)
    yield node("GroupConvolution", 1, [floats(1, None, None), zeros(2, 3, 2, 3)], range(1, 8), **taps)
    more = {**taps, "dilations": [1], "output_padding": [1]}
    yield node("ConvolutionBackpropData", 1, [floats(1, None, None), zeros(2, 4, 3)], **more)
    yield node("GroupConvolutionBackpropData", 1, [floats(1, None, None), zeros(2, 1, 3, 3)], **more)
    asked = [floats(1, 2, None), zeros(2, 4, 3), held([7])]
    yield node("ConvolutionBackpropData", 1, asked, **more, auto_pad="same_upper")
    for padding in ("same_upper", "same_lower", "valid"):
        for stride, dilation, extra in ((1, 1, 0), (2, 1, 1), (3, 2, 0)):
            taps = {"strides": [stride], "dilations": [dilation], "pads_begin": [1], "pads_end": [1]}
            taps = {**taps, "output_padding": [extra], "auto_pad": padding}
            yield node("ConvolutionBackpropData", 1, [floats(1, 2, None), zeros(2, 4, 3)], range(7), **taps)
    taps = {"strides": [1], "dilations": [1], "pads_begin": [1], "pads_end": [0], "output_padding": [0]}
    yield node("ConvolutionBackpropData", 1, [floats(None, 2, None), zeros(2, 4, 2)], range(5), **taps)
    yield node("ConvolutionBackpropData", 1, [floats(None, 2, None), zeros(2, 4, 3)], range(5), **taps)
    for rounding, padding in product(("floor", "ceil", "ceil_torch"), ("same_upper", "valid")):
        for kernel, stride in ((1, 2), (2, 3), (3, 2)):
            window = {"kernel": [kernel], "strides": [stride], "pads_begin": [0], "pads_end": [0]}
            window = {**window, "rounding_type": rounding, "auto_pad": padding}
            yield node("MaxPool", 14, [floats(1, 2, None)], range(8), **window, dilations=[1])
            yield node("AvgPool", 14, [floats(1, 2, None)], range(8), **window, **{"exclude-pad": True})
    window = {"kernel": [2], "strides": [1], "pads_begin": [0], "pads_end": [0]}
    yield node("MaxPool", 8, [floats(None, None, 4)], range(3), **window, dilations=[1])
    yield node("AvgPool", 1, [floats(None, None, 4)], range(3), **window, **{"exclude-pad": True})
    yield node("Convolution", 1, [floats(1, 2, None), zeros(4, 2, 3)], range(7), **SLID, auto_pad="valid")
    for rounding in ("floor", "ceil", "ceil_torch"):
        window = {"kernel": [3], "strides": [2], "pads_begin": [1], "pads_end": [1], "rounding_type": rounding}
        yield node("MaxPool", 14, [floats(1, 2, None)], LONG, **window, dilations=[1])
        yield node("AvgPool", 14, [floats(1, 2, None)], LONG, **window, **{"exclude-pad": True})
        far = {**window, "strides": [3], "pads_begin": [0], "kernel": [2]}
        yield node("MaxPool", 14, [floats(1, 2, None)], LONG, **far, dilations=[1])
    window = {"kernel": [3], "strides": [2], "pads_begin": [0], "pads_end": [0], "rounding_type": "ceil"}
    for padding in ("same_upper", "same_lower", "valid"):
        yield node("MaxPool", 8, [floats(1, 2, None)], LONG, **window, dilations=[2], auto_pad=padding)
        yield node("AvgPool", 1, [floats(1, 2, None)], LONG, **window, **{"exclude-pad": True}, auto_pad=padding)
    yield node("AdaptiveAvgPool", 8, [floats(1, 2, None), held([3])], LONG)
    # Sizes.
    for mode in ("constant", "edge", "reflect", "symmetric"):
        yield node("Pad", 12, [floats(None, 2), held([2, 0]), held([1, 0])], pad_mode=mode)
    yield node("Pad", 12, [floats(None, 2), held([-1, 0]), held([-2, 1])], range(4, 8), pad_mode="constant")
    kept = {"mode": "nearest", "coordinate_transformation_mode": "half_pixel", "nearest_mode": "floor"}
    scaled = {**kept, "shape_calculation_mode": "scales", "pads_begin": [0], "pads_end": [0]}
    sized = {**scaled, "shape_calculation_mode": "sizes"}
    picture = floats(1, 2, None, None)
    for factors in ([2.0, 0.5], [0.7, 1.5], [1.3333334, 0.3]):
        held_factors = held(factors, "f32")
        yield node("Interpolate", 11, [picture, held_factors, held([2, 3])], range(2, 9), **scaled)
        yield node("Interpolate", 4, [picture, held([1, 1]), held_factors, held([2, 3])], range(2, 9), **scaled)
    yield node("Interpolate", 11, [picture, held([5, 3]), held([2, 3])], TWO, **sized)
    padded = {**sized, "pads_begin": [0, 0, 1, 0], "pads_end": [0, 0, 2, 0]}
    yield node("Interpolate", 4, [picture, held([5]), held([1.0], "f32"), held([3])], TWO, **padded)
    old = {"axes": [2, 3], "mode": "nearest", "align_corners": False}
    yield node("Interpolate", 1, [picture, held([5, 3])], TWO, **old)
    yield node("Interpolate", 11, [picture, held([0.3, 0.5], "f32"), held([2, 3])], FEW, **scaled)
    # Regions and cells.
    regions = [floats(1, 2, None, 4), floats(None, 4), integers(None)]
    roi = {"pooled_h": 2, "pooled_w": 3, "sampling_ratio": 2, "spatial_scale": 1.0, "mode": "avg"}
    yield node("ROIAlign", 9, regions, FEW, **roi, aligned_mode="asymmetric")
    yield node("GridSample", 9, [floats(None, 2, 3, 3), floats(None, None, 2, 2)], FEW)
    yield node(
        "LSTMCell", 4, [floats(None, 3), *[floats(None, 2)] * 2, zeros(8, 3), zeros(8, 2), zeros(8)], TWO, hidden_size=2
    )
    yield node("GRUCell", 3, [floats(None, 3), floats(None, 2), zeros(6, 3), zeros(6, 2), zeros(6)], TWO, hidden_size=2)
