"""Builds the small models of ``tests/data/litert/models``: needs ai-edge-litert.

python tests/litert/record_models.py
"""

from __future__ import annotations

import gzip
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "support"))

from litert_nodes import CONV, ModelBuilder

MODELS = Path(__file__).parents[1] / "data" / "litert" / "models"


def signed(builder, key, graph, number):
    """Give a subgraph a signature with the names of its inputs and outputs."""
    schema = builder.schema
    signature = schema.SignatureDefT()
    signature.signatureKey, signature.subgraphIndex = key.encode(), number
    for field, indices in (("inputs", graph.inputs), ("outputs", graph.outputs)):
        maps = []
        for index in indices:
            pair = schema.TensorMapT()
            pair.name, pair.tensorIndex = graph.tensors[index].name.replace(b"raw_", b""), index
            maps.append(pair)
        setattr(signature, field, maps)
    builder.model.signatureDefs = [*(builder.model.signatureDefs or []), signature]


def classifier():
    """A convolution, a pool, a Reshape to a fixed number of features, and a product: of images of 8 x 8."""
    builder = ModelBuilder()
    graph = builder.graph()
    image = builder.tensor(graph, "f", (1, 8, 8, 3), name="raw_image")
    filters, bias = builder.tensor(graph, "f", (4, 3, 3, 3), 0.1), builder.tensor(graph, "f", (4,), 0)
    features = builder.tensor(graph, "f", (1, 8, 8, 4), name="features")
    builder.operator(graph, "CONV_2D", [image, filters, bias], [features], "Conv2DOptions", {"padding": 0, **CONV})
    active = builder.tensor(graph, "f", (1, 8, 8, 4), name="active")
    builder.operator(graph, "RELU", [features], [active])
    pooled = builder.tensor(graph, "f", (1, 4, 4, 4), name="pooled")
    pool = {"padding": 1, "strideH": 2, "strideW": 2, "filterHeight": 2, "filterWidth": 2}
    builder.operator(graph, "MAX_POOL_2D", [active], [pooled], "Pool2DOptions", pool)
    shape, flat = builder.tensor(graph, "i", (2,), [-1, 64]), builder.tensor(graph, "f", (1, 64), name="flat")
    builder.operator(graph, "RESHAPE", [pooled, shape], [flat], "ReshapeOptions", {"newShape": [-1, 64]})
    weights, offset = builder.tensor(graph, "f", (10, 64), 0.1), builder.tensor(graph, "f", (10,), 0)
    scores = builder.tensor(graph, "f", (1, 10), name="raw_scores")
    builder.operator(graph, "FULLY_CONNECTED", [flat, weights, offset], [scores], "FullyConnectedOptions")
    graph.inputs, graph.outputs = [image], [scores]
    signed(builder, "serving_default", graph, 0)
    return builder.content()


def two_signatures():
    builder = ModelBuilder()
    for number, (key, name) in enumerate((("encode", "raw_encoded"), ("decode", "raw_decoded"))):
        graph = builder.graph()
        given = builder.tensor(graph, "f", (None, 4), name=name)
        state = builder.tensor(graph, "f", (1, 4), name="raw_state")
        builder.operator(graph, "TANH", [given], [state])
        graph.inputs, graph.outputs = [given], [state]
        signed(builder, key, graph, number)
    return builder.content()


def custom():
    builder = ModelBuilder()
    graph = builder.graph()
    given, made = builder.tensor(graph, "f", (None, 4), name="x"), builder.tensor(graph, "f", (1, 4), name="y")
    builder.operator(graph, "CUSTOM", [given], [made], custom="Mine")
    graph.inputs, graph.outputs = [given], [made]
    return builder.content()


def compared(builder, graph, count, limit):
    """Add a subgraph that says whether a count is below a limit."""
    wanted = builder.tensor(graph, "b", (), name="goes_on")
    builder.operator(graph, "LESS", [count, limit], [wanted], "LessOptions")
    return wanted


def loop():
    """Three times, a row of 2 columns is joined to the data."""
    builder = ModelBuilder()
    main, cond, body = builder.graph(), builder.graph(), builder.graph()
    start, data = builder.tensor(main, "i", (), [0]), builder.tensor(main, "f", (None, None), name="x")
    last, out = builder.tensor(main, "i", (), name="n"), builder.tensor(main, "f", (1, 2), name="y")
    indices = {"condSubgraphIndex": 1, "bodySubgraphIndex": 2}
    builder.operator(main, "WHILE", [start, data], [last, out], "WhileOptions", indices)
    main.inputs, main.outputs = [data], [out]
    count, kept = builder.tensor(cond, "i", (), name="count"), builder.tensor(cond, "f", (1, 2), name="kept")
    cond.outputs = [compared(builder, cond, count, builder.tensor(cond, "i", (), [3]))]
    cond.inputs = [count, kept]
    count, kept = builder.tensor(body, "i", (), name="before"), builder.tensor(body, "f", (1, 2), name="rows")
    more, joined = builder.tensor(body, "i", (), name="after"), builder.tensor(body, "f", (2, 2), name="joined")
    builder.operator(body, "ADD", [count, builder.tensor(body, "i", (), [1])], [more], "AddOptions")
    row = builder.tensor(body, "f", (1, 2), 1)
    builder.operator(body, "CONCATENATION", [kept, row], [joined], "ConcatenationOptions", {"axis": 0})
    body.inputs, body.outputs = [count, kept], [more, joined]
    return builder.content()


def branches(then, other, count):
    """Return graphs in each of which an IF runs the graphs with two numbers, relative to its own."""
    builder = ModelBuilder()
    for number in range(count):
        graph = builder.graph()
        flag, made = builder.tensor(graph, "b", (1,), name="c"), builder.tensor(graph, "b", (1,), name="y")
        last = number + max(then, other) >= count
        if last and then:
            builder.operator(graph, "LOGICAL_NOT", [flag], [made], "LogicalNotOptions")
        else:
            indices = {"thenSubgraphIndex": number + then, "elseSubgraphIndex": number + other}
            builder.operator(graph, "IF", [flag, flag], [made], "IfOptions", indices)
        graph.inputs, graph.outputs = [flag], [made]
    return builder.content()


def branch():
    """The rows are doubled in one branch, and joined to themselves in columns in the other, which needs two columns."""
    builder = ModelBuilder()
    main, then, other = builder.graph(), builder.graph(), builder.graph()
    flag, data = builder.tensor(main, "b", (1,), name="flag"), builder.tensor(main, "f", (None, None), name="x")
    out = builder.tensor(main, "f", (1, 2), name="y")
    builder.operator(main, "IF", [flag, data], [out], "IfOptions", {"thenSubgraphIndex": 1, "elseSubgraphIndex": 2})
    main.inputs, main.outputs = [flag, data], [out]
    for graph, shape in ((then, (1, 2)), (other, (3, 1))):
        given, made = builder.tensor(graph, "f", (1, 2), name="given"), builder.tensor(graph, "f", (1, 2), name="made")
        builder.operator(graph, "ADD", [given, builder.tensor(graph, "f", shape, 1)], [made], "AddOptions")
        graph.inputs, graph.outputs = [given], [made]
    return builder.content()


ALL = {
    "classifier": classifier, "two_signatures": two_signatures, "custom": custom, "loop": loop, "branch": branch,
    "recursive": lambda: branches(0, 0, 1), "nested": lambda: branches(1, 1, 40),
}  # fmt: skip

if __name__ == "__main__":
    MODELS.mkdir(exist_ok=True)
    for name, build in ALL.items():
        (MODELS / f"{name}.tflite.gz").write_bytes(gzip.compress(build(), 9, mtime=0))
