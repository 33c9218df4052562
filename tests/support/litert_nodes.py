"""Single operators of LiteRT, each in its own model, built with the classes of the schema in ai-edge-litert.

An input is ``(type, shape)`` for an input of the model, with None for an axis that is left open, or
``(type, shape, values)`` for a constant; None is an input that is not given. Types are letters: f, i (32 bits),
l (64 bits), b, u and 8.
"""

from __future__ import annotations

import random
from itertools import product

MOST_RUNS = 160


class ModelBuilder:
    """Builds a ``.tflite`` file."""

    def __init__(self):
        from ai_edge_litert import schema_py_generated as schema

        self.schema = schema
        self.model = schema.ModelT()
        self.model.version = 3
        self.model.buffers, self.model.operatorCodes, self.model.subgraphs = [schema.BufferT()], [], []
        self._codes = {}

    def graph(self):
        graph = self.schema.SubGraphT()
        graph.tensors, graph.inputs, graph.outputs, graph.operators, graph.name = [], [], [], [], b"main"
        self.model.subgraphs.append(graph)
        return graph

    def tensor(self, graph, kind, shape=(), values=None, name="", is_variable=False):
        import numpy as np

        types = self.schema.TensorType
        dtypes = {"f": "float32", "i": "int32", "l": "int64", "b": "bool", "u": "uint8", "8": "int8", "c": "complex64"}
        names = {**dtypes, "r": "resource"}
        tensor = self.schema.TensorT()
        tensor.type = getattr(types, names[kind].upper())
        tensor.name = (name or f"t{len(graph.tensors)}").encode()
        tensor.shape = [1 if d is None else d for d in shape]
        if None in shape:
            tensor.shapeSignature = [-1 if d is None else d for d in shape]
        tensor.buffer, tensor.isVariable = 0, is_variable
        if values is not None:
            buffer = self.schema.BufferT()
            filled = np.full(shape, values) if isinstance(values, (int, float)) else np.reshape(values, shape)
            buffer.data = list(filled.astype(dtypes[kind]).tobytes())
            self.model.buffers.append(buffer)
            tensor.buffer = len(self.model.buffers) - 1
        graph.tensors.append(tensor)
        return len(graph.tensors) - 1

    def operator(self, graph, name, inputs, outputs, options="", attributes=None, version=1, custom=""):
        if (name, custom) not in self._codes:
            code = self.schema.OperatorCodeT()
            code.builtinCode = getattr(self.schema.BuiltinOperator, name)
            code.deprecatedBuiltinCode, code.version = min(code.builtinCode, 127), version
            code.customCode = custom.encode() or None
            self.model.operatorCodes.append(code)
            self._codes[name, custom] = len(self.model.operatorCodes) - 1
        operator = self.schema.OperatorT()
        operator.opcodeIndex, operator.inputs, operator.outputs = self._codes[name, custom], inputs, outputs
        if options:
            table = getattr(self.schema, f"{options}T")()
            for key, value in (attributes or {}).items():
                assert hasattr(table, key), (options, key)
                setattr(table, key, value)
            number = getattr(self.schema.BuiltinOptions, options, None)
            if number is None:
                operator.builtinOptions2Type = getattr(self.schema.BuiltinOptions2, options)
                operator.builtinOptions2 = table
            else:
                operator.builtinOptionsType, operator.builtinOptions = number, table
        graph.operators.append(operator)

    def content(self):
        import flatbuffers

        builder = flatbuffers.Builder(1024)
        builder.Finish(self.model.Pack(builder), b"TFL3")
        return bytes(builder.Output())


def model(row):
    """Return the content of the model of a row; its inputs are x0, x1, ... and its outputs y0, y1, ..."""
    builder = ModelBuilder()
    graph = builder.graph()
    inputs = []
    for n, given in enumerate(row["inputs"]):
        if given is None:
            inputs.append(-1)
            continue
        is_state = len(given) > 2 and given[2] == "state"
        tensor = builder.tensor(graph, *given[:2], *([] if is_state else given[2:]), name=f"x{n}", is_variable=is_state)
        inputs.append(tensor)
        if len(given) == 2:
            graph.inputs.append(tensor)
    ranks = row["ranks"] or [0] * len(row["outputs"])
    outputs = [
        builder.tensor(graph, kind, [row["size"]] * ranks[n], name=f"y{n}") for n, kind in enumerate(row["outputs"])
    ]
    graph.outputs = outputs
    builder.operator(graph, row["op"], inputs, outputs, row["options"], row["attributes"], row["version"])
    return builder.content()


def names(row):
    """Return the names of the sizes that are left open."""
    return [f"x{n}_dim_{axis}" for n, axis in _open(row)]


def _open(row):
    for n, given in enumerate(row["inputs"]):
        if given is not None and len(given) == 2:
            yield from ((n, axis) for axis, d in enumerate(given[1]) if d is None)


def shapes_at(row, sizes):
    """Return the shapes of the inputs of a row's model at some sizes, by name."""
    taken = iter(sizes)
    return {
        f"x{n}": [next(taken) if d is None else d for d in given[1]]
        for n, given in enumerate(row["inputs"])
        if given is not None and len(given) == 2
    }


def runs(row):
    """Return the sizes at which a row is run: all from 0 to 4, or a draw of them, always the same."""
    sizes = list(product(range(row.get("most", 4) + 1), repeat=len(list(_open(row)))))
    return sizes if len(sizes) <= MOST_RUNS else random.Random(7).sample(sizes, MOST_RUNS)


def row(op, inputs, outputs="f", options="", most=4, feed=None, version=1, ranks=(), size=1, **attributes):
    return {
        "op": op, "inputs": [None if i is None else list(i) for i in inputs], "outputs": list(outputs),
        "options": options, "attributes": attributes, "most": most, "feed": feed or {},
        "version": version, "ranks": ranks, "size": size,
    }  # fmt: skip


N2, N3, N4 = (None,) * 2, (None,) * 3, (None,) * 4
FLOATS = [
    "ABS", "CEIL", "COS", "ELU", "EXP", "FLOOR", "GELU", "HARD_SWISH", "L2_NORMALIZATION", "LEAKY_RELU",
    "LOG", "LOGISTIC", "LOG_SOFTMAX", "NEG", "RELU", "RELU6", "RELU_0_TO_1", "RELU_N1_TO_1", "ROUND", "RSQRT",
    "SIGN", "SIN", "SOFTMAX", "SQRT", "SQUARE", "TANH", "ZEROS_LIKE",
]  # fmt: skip
OPTIONS = {
    "ABS": "AbsOptions", "COS": "CosOptions", "EXP": "ExpOptions", "GELU": "GeluOptions",
    "L2_NORMALIZATION": "L2NormOptions", "LEAKY_RELU": "LeakyReluOptions", "LOG_SOFTMAX": "LogSoftmaxOptions",
    "NEG": "NegOptions", "SIGN": "SignOptions", "SQUARE": "SquareOptions", "SOFTMAX": "SoftmaxOptions",
    "HARD_SWISH": "HardSwishOptions", "ZEROS_LIKE": "ZerosLikeOptions",
    "ADD": "AddOptions", "SUB": "SubOptions", "MUL": "MulOptions", "DIV": "DivOptions",
    "MAXIMUM": "MaximumMinimumOptions", "MINIMUM": "MaximumMinimumOptions", "POW": "PowOptions",
    "SQUARED_DIFFERENCE": "SquaredDifferenceOptions", "FLOOR_DIV": "FloorDivOptions", "FLOOR_MOD": "FloorModOptions",
    "LESS": "LessOptions", "LESS_EQUAL": "LessEqualOptions", "GREATER": "GreaterOptions",
    "GREATER_EQUAL": "GreaterEqualOptions", "EQUAL": "EqualOptions", "NOT_EQUAL": "NotEqualOptions",
    "LOGICAL_AND": "LogicalAndOptions", "LOGICAL_OR": "LogicalOrOptions", "ATAN2": "ATan2Options",
    "BITWISE_XOR": "BitwiseXorOptions", "RIGHT_SHIFT": "RightShiftOptions",
}  # fmt: skip
COMPARED = ("LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL", "EQUAL", "NOT_EQUAL")
OF_TWO = ("ADD", "SUB", "MUL", "DIV", "MAXIMUM", "MINIMUM", "POW", "SQUARED_DIFFERENCE", "FLOOR_DIV", "FLOOR_MOD",
          *COMPARED)  # fmt: skip
CONV = {"strideH": 1, "strideW": 1, "dilationHFactor": 1, "dilationWFactor": 1}


def ints(*values, shape=None):
    return ("i", [len(values)] if shape is None else shape, list(values))


def _elementwise():
    for op in FLOATS:
        yield row(op, [("f", N3 if op != "SOFTMAX" else N2)], options=OPTIONS.get(op, ""), most=3, **(
            {"beta": 1.0} if op == "SOFTMAX" else {}
        ))  # fmt: skip
    for op, rank in product(("SOFTMAX", "LOG_SOFTMAX"), (1, 3, 4, 5)):
        beta = {"beta": 1.0} if op == "SOFTMAX" else {}
        yield row(op, [("f", (2,) * (rank - 1) + (None,) if rank > 3 else (None,) * rank)], "f", OPTIONS[op], **beta)
    yield row("LOGICAL_NOT", [("b", N2)], "b", "LogicalNotOptions")
    yield row("CAST", [("i", N2)], "f", "CastOptions")
    for op in OF_TWO:
        kind = "b" if op in COMPARED else "f"
        yield row(op, [("f", (None, 3)), ("f", N2)], kind, OPTIONS[op])
    yield row("ADD", [("f", N2), ("f", N3)], "f", "AddOptions", most=3)
    for op, divisor in product(("DIV", "FLOOR_DIV", "FLOOR_MOD"), (0, 2)):
        yield row(op, [("i", N2), ("i", (1,), [divisor])], "i", OPTIONS[op])
    yield row("MUL", [("f", ()), ("f", (None, None))], "f", "MulOptions")
    yield row("ADD", [("f", (2, 1, 2, 1, None, 1)), ("f", (2, 2, 2, 1, None))], "f", "AddOptions")
    for op in ("LOGICAL_AND", "LOGICAL_OR"):
        yield row(op, [("b", N2), ("b", N2)], "b", OPTIONS[op], most=3)
    for op in ("BITWISE_XOR", "RIGHT_SHIFT"):
        yield row(op, [("i", N2), ("i", N2)], "i", OPTIONS[op], most=3)
    yield row("PRELU", [("f", N3), ("f", (1, 3), 0.5)])
    yield row("PRELU", [("f", N3), ("f", N2)], most=3)
    yield row("ADD_N", [("f", N2), ("f", N2)], "f", "AddNOptions", most=3)
    yield row("SELECT_V2", [("b", N2), ("f", N2), ("f", (None, 2))], "f", "SelectV2Options", most=3)
    yield row("SELECT", [("b", N2), ("f", N2), ("f", N2)], "f", "SelectOptions", most=2, ranks=[2])
    yield row("SELECT", [("b", (None,)), ("f", N2), ("f", N2)], "f", "SelectOptions", most=3, ranks=[2])
    yield row("SELECT", [("b", ()), ("f", N2), ("f", N2)], "f", "SelectOptions", most=3, ranks=[2])


def _layout():
    for target in ((-1, 4), (2, -1, 3), (3, 4), (-1,), (0, 4), (1, -1, 1, 2), ()):
        yield row("RESHAPE", [("f", N3), ints(*target)], "f", "ReshapeOptions", newShape=list(target))
        yield row("RESHAPE", [("f", N2)], "f", "ReshapeOptions", newShape=list(target))
    yield row("SQUEEZE", [("f", N3)], "f", "SqueezeOptions", squeezeDims=[0, -1])
    yield row("SQUEEZE", [("f", (1, 2, 1, None))], "f", "SqueezeOptions", squeezeDims=[0])
    for axis in (0, 1, -1, -3):
        yield row("EXPAND_DIMS", [("f", N2), ("i", [], [axis])], "f", "ExpandDimsOptions")
    yield row("TRANSPOSE", [("f", N3), ints(2, 0, 1)], "f", "TransposeOptions", most=3)
    yield row("TRANSPOSE", [("f", N3), ints(0, -1, -2)], "f", "TransposeOptions", most=3)
    for axis in (0, -1):
        yield row("CONCATENATION", [("f", N2), ("f", N2)], "f", "ConcatenationOptions", axis=axis)
        yield row("PACK", [("f", N2), ("f", N2)], "f", "PackOptions", axis=axis, valuesCount=2)
        yield row("UNPACK", [("f", N3)], "fff", "UnpackOptions", axis=axis, num=3)
        yield row("SPLIT", [("i", [], [axis]), ("f", N2)], "ff", "SplitOptions", numSplits=2)
        yield row("SPLIT_V", [("f", N2), ints(1, 2), ("i", [], [axis])], "ff", "SplitVOptions", numSplits=2)
        yield row("SPLIT_V", [("f", N2), ints(-1, 2), ("i", [], [axis])], "ff", "SplitVOptions", numSplits=2)
    for begin, size in (((0, 1), (2, -1)), ((1, 2), (-1, 1)), ((0, 0), (0, 3)), ((3, 1), (-1, -1)), ((-1, 0), (1, -1))):
        yield row("SLICE", [("f", N2), ints(*begin), ints(*size)], "f", "SliceOptions", size=None)
        yield row("SLICE", [("f", N2), ints(*begin), ints(*size)], "f", "SliceOptions", size=2)
    slices = [
        ((0, 1), (2, 3), (1, 1), {}),
        ((1, 0), (0, -1), (1, 2), {"beginMask": 2, "endMask": 1}),
        ((0, 1), (0, 2), (1, 1), {"beginMask": 1, "endMask": 1, "shrinkAxisMask": 2}),
        ((-1, 0), (0, 0), (1, 1), {"endMask": 2, "shrinkAxisMask": 1}),
        ((0, 0), (0, 0), (-1, 1), {"beginMask": 3, "endMask": 3}),
        ((-1, 3), (0, 0), (-1, -2), {}),
        ((-2, -3), (-1, 4), (1, 1), {}),
        ((0, 0, 1), (0, 0, 3), (1, 1, 1), {"newAxisMask": 1, "beginMask": 2, "endMask": 2}),
        ((0, 0), (0, 1), (1, 1), {"ellipsisMask": 1}),
        ((0, -2), (0, 1), (1, 1), {"ellipsisMask": 1, "endMask": 2}),
    ]
    for begin, end, step, some in slices:
        masks = {**dict.fromkeys(("beginMask", "endMask", "ellipsisMask", "newAxisMask", "shrinkAxisMask"), 0), **some}
        yield row(
            "STRIDED_SLICE", [("f", N2), ints(*begin), ints(*end), ints(*step)], "f", "StridedSliceOptions", **masks
        )
    yield row("STRIDED_SLICE", [("f", N3), ints(0, 0), ints(0, 2), ints(1, 1)], "f", "StridedSliceOptions",
              beginMask=0, endMask=0, ellipsisMask=1, newAxisMask=0, shrinkAxisMask=0)  # fmt: skip
    yield row("DYNAMIC_UPDATE_SLICE", [("f", N2), ("f", N2), ints(1, 0)], "f", "DynamicUpdateSliceOptions")
    pads = ints(0, 0, 1, 2, shape=[2, 2])
    yield row("PAD", [("f", N2), pads], "f", "PadOptions")
    yield row("PADV2", [("f", N2), pads, ("f", [], [1])], "f", "PadV2Options")
    for mode in (0, 1):
        yield row("MIRROR_PAD", [("f", N2), pads], "f", "MirrorPadOptions", mode=mode)
        yield row("MIRROR_PAD", [("f", N2), ints(3, 2, 1, 1, shape=[2, 2])], "f", "MirrorPadOptions", mode=mode)
    yield row("TILE", [("f", N2), ints(2, 3)], "f", "TileOptions")
    yield row("TILE", [("f", N2), ints(0, 1)], "f", "TileOptions")
    yield row("BROADCAST_TO", [("f", N2), ints(2, 3, 4)], "f", "BroadcastToOptions", version=2)
    yield row("BROADCAST_TO", [("f", N2), ints(3, 0)], "f", "BroadcastToOptions", version=2)
    yield row("REVERSE_V2", [("f", N2), ints(-1)], "f", "ReverseV2Options")
    for axes in ((0,), (1, 0), (0, 2)):
        yield row("REVERSE_V2", [("f", N3), ints(*axes)], "f", "ReverseV2Options", most=3)
    yield row(
        "REVERSE_SEQUENCE", [("f", N3), ("i", (None,))], "f", "ReverseSequenceOptions", most=3, seqDim=1, batchDim=0
    )
    for block in (1, 2):
        yield row("DEPTH_TO_SPACE", [("f", N4)], "f", "DepthToSpaceOptions", blockSize=block)
        yield row("SPACE_TO_DEPTH", [("f", N4)], "f", "SpaceToDepthOptions", blockSize=block)
    ends = ints(0, 1, 1, 0, shape=[2, 2])
    yield row("SPACE_TO_BATCH_ND", [("f", N4), ints(2, 3), ends], "f", "SpaceToBatchNDOptions")
    yield row("BATCH_TO_SPACE_ND", [("f", N4), ints(2, 1), ends], "f", "BatchToSpaceNDOptions")
    yield row("SPACE_TO_BATCH_ND", [("f", N3), ints(2), ints(-2, 1, shape=[1, 2])], "f", "SpaceToBatchNDOptions")
    yield row("SPACE_TO_BATCH_ND", [("f", N3), ints(2), ints(1, 1, shape=[1, 2])], "f", "SpaceToBatchNDOptions")
    yield row("BATCH_TO_SPACE_ND", [("f", N3), ints(2), ints(1, 2, shape=[1, 2])], "f", "BatchToSpaceNDOptions")
    yield row("SHAPE", [("f", N3)], "i", "ShapeOptions", most=3, outType=2)
    yield row("RANK", [("f", N3)], "i", "RankOptions", most=2)
    yield row("FILL", [ints(2, 0, 3), ("f", [])], "f", "FillOptions")
    yield row("RANGE", [("i", [], [0]), ("i", [], [7]), ("i", [], [-2])], "i", "RangeOptions")
    yield row("RANGE", [("i", [], [7]), ("i", [], [0]), ("i", [], [-2])], "i", "RangeOptions")


def _networks():
    def image(op, kernel, options, most=4, channels=2, **attributes):
        bias = ("f", [kernel[3] if op == "DEPTHWISE_CONV_2D" else kernel[0]], 0)
        shape = (None, None, None, channels)
        return row(op, [("f", shape), ("f", list(kernel), 1), bias], "f", options, most, **attributes)

    for padding, stride, dilation in product((0, 1), (1, 2, 3), (1, 2)):
        settings = {
            "padding": padding,
            "strideH": stride,
            "strideW": 1,
            "dilationHFactor": dilation,
            "dilationWFactor": 1,
        }
        yield image("CONV_2D", (2, 3, 2, 2), "Conv2DOptions", most=4, **settings)
        yield image("DEPTHWISE_CONV_2D", (1, 3, 2, 4), "DepthwiseConv2DOptions", most=4, depthMultiplier=2, **settings)
    settings = {"padding": 1, **CONV}
    yield image("CONV_2D", (4, 1, 2, 2), "Conv2DOptions", 4, None, **settings)
    yield image("DEPTHWISE_CONV_2D", (1, 1, 2, 4), "DepthwiseConv2DOptions", 4, None, depthMultiplier=1, **settings)
    for op, padding, stride, kernel in product(("MAX_POOL_2D", "AVERAGE_POOL_2D"), (0, 1), (1, 2), (2, 3)):
        pool = {"padding": padding, "strideH": stride, "strideW": 1, "filterHeight": kernel, "filterWidth": 2}
        yield row(op, [("f", N4)], "f", "Pool2DOptions", **pool)
    yield row("L2_POOL_2D", [("f", N4)], "f", "Pool2DOptions",
              padding=1, strideH=2, strideW=1, filterHeight=2, filterWidth=1)  # fmt: skip
    for op, options in (("RESIZE_BILINEAR", "ResizeBilinearOptions"),
                        ("RESIZE_NEAREST_NEIGHBOR", "ResizeNearestNeighborOptions")):  # fmt: skip
        yield row(op, [("f", N4), ints(3, 5)], "f", options)
        yield row(op, [("f", N4), ints(0, 2)], "f", options, ranks=[4], most=3)
    for keep in (False, True):
        weights = [("f", (5, 3), 1), ("f", [5], 0)]
        yield row("FULLY_CONNECTED", [("f", N2), *weights], "f", "FullyConnectedOptions", keepNumDims=keep)
        yield row("FULLY_CONNECTED", [("f", N3), *weights], "f", "FullyConnectedOptions", keepNumDims=keep)
        yield row("FULLY_CONNECTED", [("f", N2), weights[0], None], "f", "FullyConnectedOptions", keepNumDims=keep)
    for x, y in product((False, True), repeat=2):
        yield row("BATCH_MATMUL", [("f", N2), ("f", (None, 3, None))], "f", "BatchMatMulOptions", adjX=x, adjY=y)
        yield row("BATCH_MATMUL", [("f", (None, 2, None)), ("f", N3)], "f", "BatchMatMulOptions", adjX=x, adjY=y)
    for op in ("MEAN", "SUM", "REDUCE_PROD", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_ANY", "REDUCE_ALL"):
        kind = "b" if op in ("REDUCE_ANY", "REDUCE_ALL") else "f"
        for keep in (False, True):
            yield row(op, [(kind, N3), ints(-1, 0)], kind, "ReducerOptions", keepDims=keep)
        yield row(op, [(kind, N3), ints(1)], kind, "ReducerOptions", keepDims=False)
    for op in ("ARG_MAX", "ARG_MIN"):
        yield row(op, [("f", N2), ints(-1)], "i", f"{op.title().replace('_', '')}Options", outputType=2)
    yield row("CUMSUM", [("f", N2), ("i", [], [1])], "f", "CumsumOptions", exclusive=False, reverse=True)
    for padding in (0, 1):
        yield row("TRANSPOSE_CONV", [ints(1, 4, 5, 2), ("f", (2, 3, 2, 3), 1), ("f", N4)], "f", "TransposeConvOptions",
                  padding=padding, strideH=2, strideW=2)  # fmt: skip
    yield row("LOCAL_RESPONSE_NORMALIZATION", [("f", N4)], "f", "LocalResponseNormalizationOptions",
              radius=1, bias=1.0, alpha=1.0, beta=0.5, most=3)  # fmt: skip


def _indexing():
    for axis, batch in ((0, 0), (1, 0), (-1, 1)):
        yield row("GATHER", [("f", N3), ("i", N2)], "f", "GatherOptions", axis=axis, batchDims=batch)
    yield row("GATHER", [("f", N2), ints(2, 0)], "f", "GatherOptions", axis=0)
    yield row("EMBEDDING_LOOKUP", [("i", (None,)), ("f", (3, 4), 1)], "f")
    yield row("GATHER_ND", [("f", N3), ("i", (None, 2))], "f", "GatherNdOptions")
    yield row("GATHER_ND", [("f", N3), ints(1, 0, 0, 2, shape=[2, 2])], "f", "GatherNdOptions")
    yield row("SCATTER_ND", [ints(3, 1, shape=[2, 1]), ("f", N2), ints(4, 3)], "f", "ScatterNdOptions")
    yield row("SCATTER_ND", [ints(3, 4, shape=[2, 1]), ("f", N2), ints(4, 3)], "f", "ScatterNdOptions")
    yield row("SCATTER_ND", [("i", (None, 1)), ("f", N2), ints(4, 3)], "f", "ScatterNdOptions")
    for axis in (0, -1):
        numbers = [("i", [], [3]), ("f", [], [1]), ("f", [], [0])]
        yield row("ONE_HOT", [("i", N2), *numbers], "f", "OneHotOptions", axis=axis)
    for count in (-1, 0, 2):
        yield row("TOPK_V2", [("f", N2), ("i", [], [count])], "fi", "TopKV2Options")
    yield row("NON_MAX_SUPPRESSION_V4", [("f", N2), ("f", (None,)), ("i", [], [3]), ("f", [], [0.5]), ("f", [], [0])],
              "ii", "NonMaxSuppressionV4Options")  # fmt: skip
    yield row("UNSORTED_SEGMENT_SUM", [("f", N3), ("i", N2), ("i", [], [2])], "f", "UnsortedSegmentSumOptions", most=3)
    yield row("UNSORTED_SEGMENT_MAX", [("f", N2), ("i", (None,)), ("i", [], [2])], "f", "UnsortedSegmentMaxOptions")
    yield row("SEGMENT_SUM", [("f", N2), ("i", (None,))], "f", "SegmentSumOptions")
    yield row("WHERE", [("b", N2)], "l", "WhereOptions")
    yield row("UNIQUE", [("i", (None,))], "ii", "UniqueOptions", idxOutType=2)
    yield row("MATRIX_DIAG", [("f", N2)], "f", "MatrixDiagOptions")
    yield row("SPARSE_TO_DENSE", [("i", (None, 2)), ints(2, 3), ("f", (None,)), ("f", [], [0])], "f",
              "SparseToDenseOptions")  # fmt: skip
    yield row("BUCKETIZE", [("f", N2)], "i", "BucketizeOptions", boundaries=[0.0, 1.0])
    yield row("RFFT2D", [("f", N3), ints(2, 4)], "c", "Rfft2dOptions")
    yield row("MULTINOMIAL", [("f", N2), ("i", [], [3])], "i", "RandomOptions")


def _recurrent():
    for major in (False, True):
        weights = [
            *[("f", [4, 3], 0.1)] * 4,
            *[("f", [4, 4], 0.1)] * 4,
            None,
            None,
            None,
            *[("f", [4], 0)] * 4,
            None,
            None,
        ]
        states = [("f", [2, 4], "state"), ("f", [2, 4], "state")]
        yield row("UNIDIRECTIONAL_SEQUENCE_LSTM", [("f", N3), *weights, *states], "f",
                  "UnidirectionalSequenceLSTMOptions", timeMajor=major, fusedActivationFunction=4)  # fmt: skip
        weights = [("f", [4, 3], 0.1), ("f", [4, 4], 0.1), ("f", [4], 0), ("f", [2, 4], "state")]
        yield row("UNIDIRECTIONAL_SEQUENCE_RNN", [("f", N3), *weights], "f",
                  "SequenceRNNOptions", timeMajor=major)  # fmt: skip


def rows():
    """Return all rows."""
    return [*_recurrent(), *_elementwise(), *_layout(), *_networks(), *_indexing()]
