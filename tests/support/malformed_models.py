"""Models that are malformed, one fault in each, and what is said of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import onnx
from onnx import TensorProto, helper
from onnx.parser import parse_model

RUNS, NEVER, UNKNOWN = "always", "never", "unknown"


class Case(NamedTuple):
    """A model, what is said of it, and what is said where ONNX Runtime is asked about, if that differs.

    What is said is a verdict, or a part of the text of the `ModelError`.
    """

    make: Callable[[], Any]
    said: str
    of_runtime: str | None = None


node = helper.make_node
FLOATS = ("N", "C")


def graph_of(nodes, inputs=None, outputs=("y",), constants=(), dtype=TensorProto.FLOAT):
    return helper.make_graph(
        list(nodes),
        "g",
        [helper.make_tensor_value_info(n, dtype, s) for n, s in (inputs or {"x": FLOATS}).items()],
        [helper.make_tensor_value_info(o, dtype, ("P", "Q")) for o in outputs],
        list(constants),
    )


def of(*nodes, opset=18, functions=(), imports=None, **options):
    """Return a model of some nodes."""
    model = onnx.ModelProto(ir_version=9)
    model.graph.CopyFrom(graph_of(nodes, **options))
    model.functions.extend(functions)
    default = [("", opset), ("own", 1), ("com.microsoft", 1)]
    model.opset_import.extend(helper.make_opsetid(*pair) for pair in (default if imports is None else imports))
    return model


def text(source, opset=18):
    """Return a model as a text writes it."""
    return parse_model(f'<ir_version: 9, opset_import: ["": {opset}, "own": 1]> {source}')


def changed(model, change):
    change(model)
    return model


def function(name, *nodes, inputs=("a",), outputs=("b",), imports=(("", 18), ("own", 1))):
    return helper.make_function(
        "own", name, list(inputs), list(outputs), list(nodes), [helper.make_opsetid(*i) for i in imports]
    )


def tensor(dims, raw=None, dtype=TensorProto.FLOAT, **fields):
    made = TensorProto(name="w", dims=dims, data_type=dtype, **fields)
    if raw is not None:
        made.raw_data = raw
    return made


def adding(constant):
    """Return a model that adds a constant to its input."""
    return of(node("Add", ["x", "w"], ["y"]), constants=[constant])


def _first(**fields):
    return lambda m: [setattr(m.graph.node[0].attribute[0], name, value) for name, value in fields.items()]


CALL = node("F", ["x"], ["y"], domain="own")
RELU = node("Relu", ["x"], ["y"])
TURNED = node("Transpose", ["x"], ["y"], perm=[1, 0])
IF = """g (float[N] x, bool c) => (float[N] y) { y = If(c) <
    then_branch = t (%s) => (%s) { %s }, else_branch = e () => (float[N] b) { b = Relu(x) }> }"""
LOOP = """g (float[N] x, int64 m, bool c) => (float[N] y) { y = Loop(m, c, x) <body = b (%s) => (%s)
    { c2 = Identity(%s) x2 = Relu(x) }> }"""
SCAN = """g (float[S] s, float[T, S] x) => (float[S] s2, float[T, S] y) { s2, y = Scan<num_scan_inputs = %s, body =
    b (%s) => (%s) { so = Add(si, xi) yo = Identity(so) } %s>(s, x) }"""
TURN, SUM = "float[S] si, float[S] xi", "float[S] so, float[S] yo"

CASES = {
    # Attributes.
    "unknown attribute": Case(
        lambda: of(node("ReduceSum", ["x"], ["y"], axes=[0]), opset=13),
        "the node 'y' (ReduceSum) has the attribute 'axes', which ReduceSum of version 13 does not have; "
        "versions up to 12 have it",
    ),
    "attribute of a tool": Case(lambda: of(node("Relu", ["x"], ["y"], __hint=1)), RUNS),
    "missing attribute": Case(
        lambda: of(node("Concat", ["x", "x"], ["y"])), "the node 'y' (Concat) lacks the attribute 'axis'"
    ),
    "float for an integer": Case(
        lambda: of(node("Concat", ["x", "x"], ["y"], axis=1.0)),
        "the node 'y' (Concat) has the attribute 'axis' as a float; it must be an integer",
    ),
    "text for integers": Case(
        lambda: of(node("Transpose", ["x"], ["y"], perm="10")), "'perm' as text; it must be integers"
    ),
    "attribute twice": Case(
        lambda: changed(of(TURNED), lambda m: m.graph.node[0].attribute.add().CopyFrom(m.graph.node[0].attribute[0])),
        "has the attribute 'perm' twice",
    ),
    "attribute without a type": Case(lambda: changed(of(TURNED), _first(type=0)), "'perm' as nothing"),
    "attribute of another type than it says": Case(
        lambda: changed(of(node("Concat", ["x"], ["y"], axis=[1])), _first(type=2)),
        "has the attribute 'axis', whose type is an integer, and which holds integers",
    ),
    "attribute without a name": Case(lambda: changed(of(TURNED), _first(name="")), "has an attribute without a name"),
    "constant of nothing": Case(lambda: of(node("Constant", [], ["y"])), "the node 'y' (Constant) holds no value"),
    # Inputs and outputs.
    "too few inputs": Case(lambda: of(node("Add", ["x"], ["y"])), "has 1 input; Add of version 18 has 2 inputs"),
    "too many inputs": Case(
        lambda: of(node("Relu", ["x", "x"], ["y"])), "has 2 inputs; Relu of version 18 has 1 input"
    ),
    "no inputs": Case(lambda: of(node("Sum", [], ["y"])), "has no inputs; Sum of version 18 has 1 or more"),
    "input left out": Case(lambda: of(node("Add", ["x", ""], ["y"])), "leaves out input 1, which Add must have"),
    "too many outputs": Case(
        lambda: of(node("Relu", ["x"], ["y", "z"])), "has 2 outputs; Relu of version 18 has 1 output"
    ),
    # Names.
    "undefined input": Case(
        lambda: of(node("Relu", ["q"], ["y"])), "the node 'y' (Relu) uses 'q', which no node produces"
    ),
    "undefined output": Case(
        lambda: of(node("Relu", ["x"], ["z"])), "the output 'y' of the graph 'g' is not produced in it"
    ),
    "undefined in a branch": Case(lambda: text(IF % ("", "float[N] a", "a = Relu(q)")), "'a' (Relu) uses 'q'"),
    "name made twice": Case(
        lambda: of(RELU, node("Neg", ["x"], ["y"])), "'y' (Neg) makes 'y', which is already defined"
    ),
    "name of an input made": Case(
        lambda: of(node("Relu", ["x"], ["x"]), outputs="x"), "makes 'x', which is already defined"
    ),
    "name made around and in a branch": Case(
        lambda: text((IF % ("", "float[N] z", "z = Neg(x)")).replace("{ y = If", "{ z = Relu(x) y = If")),
        "'z' (Neg) makes 'z', which is already defined",
    ),
    "two nodes of one name": Case(
        lambda: of(node("Relu", ["x"], ["h"], name="a"), node("Neg", ["h"], ["y"], name="a")),
        RUNS,
        "two nodes are called 'a', which ONNX Runtime refuses",
    ),
    "initializer twice": Case(
        lambda: of(node("Add", ["x", "w"], ["y"]), constants=[tensor([1], bytes(4)), tensor([2], bytes(8))]),
        "the initializer 'w' is defined twice",
    ),
    "nodes that are not sorted": Case(
        lambda: of(node("Neg", ["h"], ["y"]), node("Relu", ["x"], ["h"])),
        "'y' (Neg) uses 'h', which a later node produces; sort the nodes",
        RUNS,
    ),
    "branch that uses what comes later": Case(
        lambda: text((IF % ("", "float[N] a", "a = Relu(q)")).replace("}> }", "}> q = Neg(x) }")),
        "'a' (Relu) uses 'q', which a later node produces",
        RUNS,
    ),
    "nodes not sorted in a branch": Case(
        lambda: text(IF % ("", "float[N] a", "a = Relu(q) q = Neg(x)")),
        "'a' (Relu) uses 'q', which a later node produces",
    ),
    "nodes in a circle": Case(
        lambda: of(node("Add", ["x", "h"], ["y"]), node("Relu", ["y"], ["h"])),
        "depend on each other in a cycle: the node 'y' (Add) -> the node 'h' (Relu) -> the node 'y' (Add)",
    ),
    # Element types.
    "types that differ": Case(
        lambda: text("g (float[N] x, int64[N] z) => (float[N] y) { y = Add(x, z) }"),
        "'y' (Add) takes 'z' of type int64 as input 1; it must have the type of 'x', which is float; "
        "put a Cast before it",
    ),
    "type that is not taken": Case(
        lambda: text("g (float[N] x, float[2] i) => (float[2] y) { h = Neg(i) y = Gather(x, h) }"),
        "'y' (Gather) takes 'h' of type float as input 1; Gather does not accept that type there",
    ),
    "type that a later version takes": Case(
        lambda: text("g (int32[N] x) => (int32[N] y) { y = Relu(x) }", 13), "takes 'x' of type int32 as input 0"
    ),
    "output declared of another type": Case(
        lambda: text("g (float[N] x) => (int64[N] y) { y = Relu(x) }"), RUNS, "'y' is declared as int64, but is float"
    ),
    "input of no element type": Case(lambda: of(RELU, dtype=0), "the input 'x' has the unknown element type 0"),
    "input of no type": Case(
        lambda: changed(of(RELU), lambda m: m.graph.input[0].ClearField("type")), "the input 'x' has no type"
    ),
    # Operators and their versions.
    "operator that there is not": Case(
        lambda: of(node("Relux", ["x"], ["y"])),
        "an operator that is not in version 18 of ONNX: no version has an operator of this name",
    ),
    "operator of a later version": Case(lambda: of(node("Gelu", ["x"], ["y"])), "it exists from version 20 on"),
    "operator that was given up": Case(
        lambda: of(node("Upsample", ["x", "x"], ["y"])), "Upsample does not exist from version 10 on"
    ),
    "operator of the runtime": Case(
        lambda: of(node("SimplifiedLayerNormalization", ["x", "w"], ["y"]), constants=[tensor([1], bytes(4))]), RUNS
    ),
    "operator of others": Case(lambda: of(node("Odd", ["x"], ["y"], domain="own")), UNKNOWN),
    "version 0": Case(lambda: of(RELU, opset=0), "version 0 of the operators of 'ai.onnx' is imported"),
    "version of the future": Case(
        lambda: of(RELU, opset=9999), "version 9999 of the operators of 'ai.onnx' is imported"
    ),
    "format of the future": Case(
        lambda: changed(of(RELU), lambda m: setattr(m, "ir_version", 9999)), "the model has IR version 9999"
    ),
    "no version of ONNX": Case(
        lambda: of(RELU, imports=[("own", 1)]),
        "'y' (Relu) uses the domain 'ai.onnx', which the model does not import",
        RUNS,
    ),
    # If, Loop and Scan.
    "If without a branch": Case(
        lambda: text("""g (float[N] x, bool c) => (float[N] y) {
            y = If(c) <then_branch = t () => (float[N] a) { a = Relu(x) }> }"""),
        "the node 'y' (If) lacks the attribute 'else_branch'",
    ),
    "branch with an input": Case(
        lambda: text(IF % ("float[N] q", "float[N] a", "a = Relu(q)")),
        "has 1 inputs of its then_branch; there must be 0",
    ),
    "branch with more outputs": Case(
        lambda: text(IF % ("", "float[N] a, float[N] d", "a = Relu(x) d = Neg(x)")),
        "has 2 outputs of its then_branch; there must be 1",
    ),
    "Loop without a body": Case(
        lambda: text("g (float[N] x, int64 m, bool c) => (float[N] y) { y = Loop(m, c, x) }"),
        "lacks the attribute 'body'",
    ),
    "Loop whose body takes too few": Case(
        lambda: text(LOOP % ("int64 i, bool c1", "bool c2, float[N] x2", "c1")),
        "has 2 inputs of its body; there must be 3",
    ),
    "Loop whose body gives too much": Case(
        lambda: text(LOOP % ("int64 i, bool c1, float[N] v", "bool c2, float[N] x2, float[N] x2", "c1")),
        "has 3 outputs of its body; there must be 2",
    ),
    "Scan of more than there is": Case(
        lambda: text(SCAN % ("5", TURN, SUM, "")), "has 5 inputs in its num_scan_inputs; there must be 2"
    ),
    "Scan with too many axes": Case(
        lambda: text(SCAN % ("1", TURN, SUM, ", scan_input_axes = [0, 0, 0]")), "has 3 numbers in its scan_input_axes"
    ),
    "Scan whose body gives too little": Case(
        lambda: text(SCAN % ("1", TURN, "float[S] so", "")), "has 1 outputs of its body; there must be 2"
    ),
    "Scan along an axis that there is not": Case(
        lambda: text(SCAN % ("1", TURN, SUM, ", scan_input_axes = [7]")), NEVER
    ),
    # Shapes.
    "negative axis out of range": Case(lambda: of(node("Softmax", ["x"], ["y"], axis=-9)), NEVER),
    "order of too few axes": Case(lambda: of(node("Transpose", ["x"], ["y"], perm=[0])), NEVER),
    # Tensors.
    "data too short": Case(
        lambda: adding(tensor([2, 3], bytes(20))),
        "the initializer 'w' has 20 bytes of data, and its shape (2, 3) takes 24",
    ),
    "data too long": Case(lambda: adding(tensor([2, 3], bytes(40))), "has 40 bytes of data"),
    "no data": Case(lambda: adding(tensor([2, 3])), "has 0 elements in float_data, and its shape (2, 3) takes 6"),
    "data of another type": Case(
        lambda: adding(tensor([2], dtype=TensorProto.INT64, float_data=[1, 2])), "has 0 elements in int64_data"
    ),
    "data too short in a node": Case(
        lambda: of(node("Constant", [], ["y"], value=tensor([2, 3], bytes(20)))),
        "the tensor in 'value' of the node 'y'",
    ),
    "negative size": Case(lambda: adding(tensor([-2, 3], bytes(24))), "has the shape (-2, 3): no size can be negative"),
    "type that there is not": Case(lambda: adding(tensor([2], bytes(8), 99)), "'w' has the unknown element type 99"),
    "data nowhere": Case(
        lambda: adding(tensor([2], data_location=TensorProto.EXTERNAL)),
        "has its data in another file, but does not name it",
    ),
    "2**60 elements": Case(
        lambda: adding(tensor([2**60], b"")),
        "has the shape (1152921504606846976,), which takes 4611686018427387904 bytes",
    ),
    # Functions.
    "function that calls itself": Case(
        lambda: of(CALL, functions=[function("F", node("F", ["a"], ["b"], domain="own"))]),
        "the function 'own.F' calls itself: 'own.F' -> 'own.F'",
    ),
    "functions that call one another": Case(
        lambda: of(
            CALL,
            functions=[
                function("F", node("G", ["a"], ["b"], domain="own")),
                function("G", node("F", ["a"], ["b"], domain="own")),
            ],
        ),
        "the function 'own.F' calls itself: 'own.F' -> 'own.G' -> 'own.F'",
    ),
    "function twice": Case(
        lambda: of(CALL, functions=[function("F", node("Relu", ["a"], ["b"]))] * 2),
        "the function 'own.F' is defined twice",
    ),
    "function with too many inputs": Case(
        lambda: of(node("F", ["x", "x"], ["y"], domain="own"), functions=[function("F", node("Relu", ["a"], ["b"]))]),
        "the node 'y' (F) has 2 inputs, and the function 'own.F' has 1",
    ),
    "undefined in a function": Case(
        lambda: of(CALL, functions=[function("F", node("Relu", ["q"], ["b"]))]),
        "in the function 'F', the node 'b' (Relu) uses 'q', which no node produces",
    ),
    "function without a version": Case(
        lambda: of(CALL, functions=[function("F", node("Relu", ["a"], ["b"]), imports=[("own", 1)])]),
        "in the function 'F', the node 'b' (Relu) uses the domain 'ai.onnx', which the model does not import",
    ),
    # Files.
    "empty file": Case(lambda: b"", "the file is empty"),
    "text": Case(lambda: b"hello there", "is text, not an ONNX model"),
    "cut short": Case(lambda: of(RELU).SerializeToString()[:-30], "is not an ONNX model, or is truncated or damaged"),
}
