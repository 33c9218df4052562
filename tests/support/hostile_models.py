"""Models that ask for too much, one thing in each, and what is said of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from malformed_models import Case, function, node, of, tensor, text
from onnx import TensorProto, helper, numpy_helper

INTEGERS = TensorProto.INT64


def held(name, items, dtype=np.int64):
    return numpy_helper.from_array(np.array(items, dtype), name)


def called(name, given="a", made="b"):
    return node(name, [given], [made], domain="own")


def functions_calling_twice(last):
    """Return 24 functions: each calls the one before twice, the first holds a node."""
    made = [function("f0", last)]
    made += [function(f"f{n}", called(f"f{n - 1}", "a", "c"), called(f"f{n - 1}", "c", "b")) for n in range(1, 24)]
    return of(called("f23", "x", "y"), functions=made)


def _output(name):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, None)


def branches_in_functions():
    """Return 20 functions: each calls the one before in both branches of an If."""
    made = [function("f0", node("Relu", ["a"], ["b"]), inputs=("a", "c"))]
    for n in range(1, 20):
        then, other = (
            helper.make_graph([node(f"f{n - 1}", ["a", "c"], [name], domain="own")], name, [], [_output(name)])
            for name in ("p", "q")
        )
        branch = node("If", ["c"], ["b"], then_branch=then, else_branch=other)
        made.append(function(f"f{n}", branch, inputs=("a", "c")))
    return _with_condition(of(node("f19", ["x", "c"], ["y"], domain="own"), functions=made))


def _with_condition(model):
    model.graph.input.append(helper.make_tensor_value_info("c", TensorProto.BOOL, ()))
    return model


def branches(depth, name="y"):
    """Return an If with an If in each branch, and so on."""
    inner = []
    for side in "tf":
        made = f"{name}{side}"
        leaf = node("Relu", ["x"], [made])
        inner.append(helper.make_graph([branches(depth - 1, made) if depth else leaf], made, [], [_output(made)]))
    return node("If", ["c"], [name], then_branch=inner[0], else_branch=inner[1])


def branches_on_one_side(depth, name="y"):
    leaf = helper.make_graph([node("Neg", ["x"], [f"{name}f"])], "f", [], [_output(f"{name}f")])
    inner = node("Relu", ["x"], [f"{name}t"]) if not depth else branches_on_one_side(depth - 1, f"{name}t")
    return node(
        "If", ["c"], [name], then_branch=helper.make_graph([inner], "t", [], [_output(f"{name}t")]), else_branch=leaf
    )


def loops(depth):
    """Return a Loop in a Loop, and so on."""
    inner = node("Relu", [f"v{depth}"], [f"w{depth}"])
    if depth:
        inner = node("Loop", ["", "", f"v{depth}"], [f"w{depth}"], body=loops(depth - 1))
    given = [("i", TensorProto.INT64, ()), ("k", TensorProto.BOOL, ()), ("v", TensorProto.FLOAT, None)]
    inputs = [helper.make_tensor_value_info(f"{n}{depth}", dtype, shape) for n, dtype, shape in given]
    outputs = [helper.make_tensor_value_info(f"l{depth}", TensorProto.BOOL, ()), _output(f"w{depth}")]
    return helper.make_graph([node("Identity", [f"k{depth}"], [f"l{depth}"]), inner], "b", inputs, outputs)


def repeated(op, count, *more, **attributes):
    """Return nodes that each take what the one before made, twice."""
    return [*(node(op, [f"k{n}", f"k{n}"], [f"k{n + 1}"], **attributes) for n in range(count)), *more]


def chain(count) -> Any:
    made = of(node("Relu", ["x"], ["v0"]), outputs=(f"v{count - 1}",))
    for n in range(1, count):
        made.graph.node.add(op_type="Relu", input=[f"v{n - 1}"], output=[f"v{n}"])
    return made


TO = node("Reshape", ["x", "s"], ["y"])
MANY_AXES = "whose sizes data decide; at most 1024 are supported"
TOO_MANY_NODES = "expand to too many nodes"

CASES = {
    "ConstantOfShape of 2**31": Case(
        lambda: of(node("ConstantOfShape", ["s"], ["y"]), constants=[held("s", [2**31])]), "always"
    ),
    "shape of 2**31 axes": Case(
        lambda: of(
            node("ConstantOfShape", ["n"], ["o"], value=held("", [3])),
            node("Add", ["o", "o"], ["s"]),
            TO,
            constants=[held("n", [2**31])],
        ),
        MANY_AXES,
    ),
    "shape of 20,000 axes": Case(
        lambda: text("g (int64[20000] s) => (float[A] y) { y = ConstantOfShape(s) }"), MANY_AXES
    ),
    "shape of 20,000 ones": Case(
        lambda: of(node("ConstantOfShape", ["s"], ["y"]), constants=[held("s", [1] * 20_000)]), MANY_AXES
    ),
    "Expand to 10**9 axes": Case(
        lambda: text("g (float[N] x, int64[1000000000] s) => (float[A] y) { y = Expand(x, s) }"), MANY_AXES
    ),
    "Tile by 10**9 numbers": Case(
        lambda: text("g (float[N] x, int64[1000000000] s) => (float[A] y) { y = Tile(x, s) }"), MANY_AXES
    ),
    "Tile by 10**7": Case(lambda: of(node("Tile", ["x", "s"], ["y"]), constants=[held("s", [10**7] * 2)]), "always"),
    "Tile of a shape by 10**7": Case(
        lambda: of(node("Tile", ["k", "n"], ["s"]), TO, constants=[held("k", [1]), held("n", [10**7])]), MANY_AXES
    ),
    "Pad of a shape by 10**8": Case(
        lambda: of(node("Pad", ["k", "n"], ["s"]), TO, constants=[held("k", [1]), held("n", [10**8] * 2)]), MANY_AXES
    ),
    "Pad by 2**40": Case(lambda: of(node("Pad", ["x", "n"], ["y"]), constants=[held("n", [2**40] * 4)]), "always"),
    "Concat that doubles 40 times": Case(
        lambda: of(*repeated("Concat", 40, node("Reshape", ["x", "k40"], ["y"]), axis=0), constants=[held("k0", [1])]),
        MANY_AXES,
    ),
    "Concat that doubles a shape": Case(
        lambda: of(node("Shape", ["x"], ["k0"]), *repeated("Concat", 40, node("Reshape", ["x", "k40"], ["y"]), axis=0)),
        MANY_AXES,
    ),
    "Gather of 10**9": Case(
        lambda: of(
            node("Gather", ["k0", "i"], ["k1"], axis=0),
            node("Gather", ["k1", "i"], ["k2"], axis=1),
            node("Gather", ["k2", "i"], ["k3"], axis=2),
            node("Identity", ["x"], ["y"]),
            constants=[held("k0", [[[1]]]), held("i", [0] * 1000)],
        ),
        "always",
    ),
    "Expand and Add of 10**9": Case(
        lambda: of(
            node("Expand", ["k", "n"], ["e"]),
            node("Add", ["e", "e"], ["s"]),
            TO,
            constants=[held("k", [1]), held("n", [10**9])],
        ),
        MANY_AXES,
    ),
    "sizes squared 40 times": Case(
        lambda: of(node("Shape", ["x"], ["k0"]), *repeated("Mul", 40), node("ConstantOfShape", ["k40"], ["y"])),
        "multiplies more than 4096 sizes",
    ),
    "sizes of hundreds of digits": Case(
        lambda: of(*repeated("Concat", 1000, node("Neg", ["k1000"], ["y"]), axis=0), inputs={"k0": ("N", 2)}), "always"
    ),
    "sizes of ten thousand digits": Case(
        lambda: of(*repeated("Concat", 9_000, node("Neg", ["k9000"], ["y"]), axis=0), inputs={"k0": ("N", 2)}),
        "a number of more than 8192 bits",
    ),
    "numbers of ten thousand digits": Case(
        lambda: of(*repeated("Concat", 9_000, node("Neg", ["k9000"], ["y"]), axis=0), inputs={"k0": (1, 2)}),
        "has more than 8192 bits",
    ),
    "2**60 elements in a node": Case(
        lambda: of(node("Constant", [], ["s"], value=tensor([2**60], b"", INTEGERS)), TO), "no model can hold that"
    ),
    "2**30 elements beside the model": Case(lambda: of(TO, constants=[_outside(2**30)]), MANY_AXES),
    "Range of 10**12": Case(
        lambda: of(
            node("Range", ["a", "b", "d"], ["s"]), TO, constants=[held("a", 0), held("b", 10**12), held("d", 1)]
        ),
        MANY_AXES,
    ),
    "OneHot of 2**60": Case(
        lambda: of(
            node("Cast", ["x"], ["i"], to=INTEGERS),
            node("OneHot", ["i", "d", "v"], ["y"]),
            constants=[held("d", 2**60), held("v", [0.0, 1.0], np.float32)],
        ),
        "always",
    ),
    "EyeLike of 2**31": Case(lambda: of(node("EyeLike", ["x"], ["y"]), inputs={"x": (2**31, 2**31)}), "always"),
    "24 functions": Case(lambda: functions_calling_twice(node("Relu", ["a"], ["b"])), "always"),
    "24 functions that ask": Case(lambda: functions_calling_twice(node("MatMul", ["a", "a"], ["b"])), "sometimes"),
    "24 functions that grow": Case(
        lambda: functions_calling_twice(node("Concat", ["a", "a"], ["b"], axis=0)), TOO_MANY_NODES
    ),
    "24 functions of data": Case(lambda: functions_calling_twice(node("Unique", ["a"], ["b"], axis=0)), TOO_MANY_NODES),
    "24 functions of another's": Case(
        lambda: functions_calling_twice(node("Odd", ["a"], ["b"], domain="own")), TOO_MANY_NODES
    ),
    "If in If, 20 deep": Case(lambda: _with_condition(of(branches_on_one_side(19))), "always"),
    "If in both branches of If, 11 deep": Case(
        lambda: _with_condition(of(branches(11))), "more than 1000 branches and loops run under conditions"
    ),
    "If in functions, 20 deep": Case(branches_in_functions, "more than 1000 branches and loops"),
    "Loop of 10**9 turns": Case(
        lambda: text("""g (float[N] x) => (float[M] y) <int64 m = {1000000000}, bool c = {1}> {
            y = Loop(m, c, x) <body = b (int64 i, bool c1, float[Q] v) => (bool c2, float[R] w)
                { c2 = Identity(c1) w = Concat<axis = 0>(v, x) }> }"""),
        "always",
    ),
    "Loop in Loop, 20 deep": Case(
        lambda: of(node("Loop", ["", "", "x"], ["y"], body=loops(19))), "more than 1000 branches and loops"
    ),
    "chain of 20,000 nodes": Case(lambda: chain(20_000), "always"),
    "rank 10,000": Case(
        lambda: of(node("Neg", ["x"], ["y"]), inputs={"x": tuple(f"d{n}" for n in range(10_000))}), "always"
    ),
    "size of rank 10,000": Case(
        lambda: of(
            node("Size", ["x"], ["n"]), node("Neg", ["x"], ["y"]), inputs={"x": tuple(f"d{n}" for n in range(10_000))}
        ),
        "multiplies more than 4096 sizes",
    ),
    "a thousand inputs": Case(
        lambda: of(node("Identity", ["x7"], ["y"]), inputs={f"x{n}": (f"N{n}", f"M{n}") for n in range(1000)}), "always"
    ),
    "Concat of 20,000": Case(lambda: of(node("Concat", ["x"] * 20_000, ["y"], axis=0)), "always"),
    "Transpose of 10**6 axes": Case(lambda: of(node("Transpose", ["x"], ["y"], perm=list(range(10**6)))), "never"),
    "Einsum of 10**5 letters": Case(lambda: of(node("Einsum", ["x"], ["y"], equation="a" * 10**5 + "->b")), "never"),
    "names of megabytes": Case(
        lambda: of(node("Relu", ["x"], ["v" * 10**6], name="n" * 10**6), node("Add", ["v" * 10**6, "x"], ["y"])),
        "always",
    ),
    "size written in many brackets": Case(
        lambda: of(node("Relu", ["x"], ["y"]), inputs={"x": ("(" * 50_000 + "N" + ")" * 50_000,)}), "always"
    ),
    "size written as a tower of powers": Case(
        lambda: of(node("Relu", ["x"], ["y"]), inputs={"x": ("9**9**9**9",)}), "always"
    ),
    "size written in 10**5 digits": Case(
        lambda: of(node("Relu", ["x"], ["y"]), inputs={"x": ("9" * 10**5,)}), "always"
    ),
    "window of 2**62": Case(
        lambda: of(
            node("Conv", ["x", "w"], ["y"], pads=[2**62] * 4, strides=[2**62] * 2, dilations=[2**62] * 2),
            inputs={"x": ("N", 3, "H", "W"), "w": (4, 3, 2**62, 2**62)},
        ),
        "H would be larger than 2**63 - 1",
    ),
}


def _outside(count):
    made = tensor([count], dtype=INTEGERS, data_location=TensorProto.EXTERNAL)
    made.name = "s"
    made.external_data.add(key="location", value="weights.bin")
    return made
