"""Nodes that broadcast, multiply matrices, reduce and normalise."""

from __future__ import annotations

import numpy as np
from random_models.maker import BOOL, FLOAT, Maker


def binary(maker: Maker) -> None:
    a, b = maker.tensor(), maker.tensor()
    op_type = maker.random.choice(["Add", "Sub", "Mul", "Div"])
    maker.keep(maker.node(op_type, [a.name, b.name]), max(a.rank, b.rank), (a, b))


_UNARY = [
    *["Abs", "Acos", "Asinh", "Atan", "Celu", "Cos", "Elu", "Erf", "Exp", "Floor", "HardSigmoid", "HardSwish"],
    *["Identity", "LeakyRelu", "Log", "Neg", "Reciprocal", "Relu", "Round", "Selu", "Shrink", "Sigmoid", "Sign", "Sin"],
    *["Softplus", "Softsign", "Sqrt", "Tan", "Tanh", "ThresholdedRelu"],
]


def unary(maker: Maker) -> None:
    data = maker.tensor()
    maker.keep(maker.node(maker.random.choice(_UNARY), [data.name]), data.rank, (data,))


def clip(maker: Maker) -> None:
    data = maker.tensor()
    bounds = [maker.constant(n, np.float32) for n in range(maker.random.randint(0, 2))]
    maker.keep(maker.node("Clip", [data.name, *bounds]), data.rank, (data,))


def dropout(maker: Maker) -> None:
    data = maker.tensor()
    made, mask = maker.nodes("Dropout", [data.name], 2)
    maker.keep(made, data.rank, (data,))
    maker.keep(maker.node("Cast", [mask], to=FLOAT), data.rank, (data,))


def logical(maker: Maker) -> None:
    a, b = maker.tensor(), maker.tensor()
    truths = [maker.cast(t.name, BOOL) for t in (a, b)]
    made = maker.node(maker.random.choice(["And", "Or", "Xor"]), truths)
    made = maker.node("CastLike", [maker.node("Not", [made]), a.name])
    maker.keep(made, max(a.rank, b.rank), (a, b))


def of_integers(maker: Maker) -> None:
    """Bits and remainders of integers of which none is 0."""
    a, b = maker.tensor(), maker.tensor()
    op_type = maker.random.choice(["BitwiseAnd", "BitwiseOr", "BitwiseXor", "Mod", "Pow", "BitShift"])
    dtype = 13 if op_type == "BitShift" else 7
    left, right = maker.cast(a.name, dtype), maker.cast(b.name, dtype)
    right = maker.node("Max", [right, maker.constant(1, np.uint64 if dtype == 13 else np.int64)])
    attributes = {"direction": "LEFT"} if op_type == "BitShift" else {}
    made = maker.node(op_type, [left, right], **attributes)
    maker.keep(maker.cast(made, FLOAT), max(a.rank, b.rank), (a, b))


def is_number(maker: Maker) -> None:
    data = maker.tensor()
    truth = maker.node(maker.random.choice(["IsNaN", "IsInf"]), [data.name])
    maker.keep(maker.cast(truth, FLOAT), data.rank, (data,))


def comparison(maker: Maker) -> None:
    a, b = maker.tensor(), maker.tensor()
    truth = maker.node(maker.random.choice(["Less", "Equal", "GreaterOrEqual"]), [a.name, b.name])
    maker.keep(maker.node("Cast", [truth], to=FLOAT), max(a.rank, b.rank), (a, b))


def variadic(maker: Maker) -> None:
    operands = [maker.tensor() for _ in range(maker.random.randint(1, 4))]
    op_type = maker.random.choice(["Sum", "Max", "Min", "Mean"])
    maker.keep(maker.node(op_type, [t.name for t in operands]), max(t.rank for t in operands), operands)


def where(maker: Maker) -> None:
    a, b, c = (maker.tensor() for _ in range(3))
    truth = maker.node("Greater", [c.name, maker.constant(0.5, np.float32)])
    maker.keep(maker.node("Where", [truth, a.name, b.name]), max(a.rank, b.rank, c.rank), (a, b, c))


def prelu(maker: Maker) -> None:
    """A slope that may be the larger: then ONNX Runtime infers another shape than it makes, so nothing follows."""
    data = maker.tensor(least=1)
    slope = data and maker.tensor(most=data.rank)
    if slope:
        maker.node("PRelu", [data.name, slope.name])


def along_axis(maker: Maker) -> None:
    data = maker.tensor(least=1)
    if data:
        op_type = maker.random.choice(["Softmax", "LogSoftmax", "Hardmax"])
        maker.keep(maker.node(op_type, [data.name], axis=maker.axis(data)), data.rank, (data,))


def layer_norm(maker: Maker) -> None:
    data, scale = maker.tensor(least=1), maker.tensor(1)
    if data and scale:
        maker.keep(maker.node("LayerNormalization", [data.name, scale.name]), data.rank, (data, scale))


def matmul(maker: Maker) -> None:
    a, b = maker.tensor(least=1), maker.tensor(least=1)
    if a and b:
        rank = max(a.rank, b.rank, 2) - (a.rank == 1) - (b.rank == 1)
        maker.keep(maker.node("MatMul", [a.name, b.name]), rank, (a, b))


def gemm(maker: Maker) -> None:
    a, b, bias = maker.tensor(2), maker.tensor(2), maker.tensor(most=2)
    if a and b:
        inputs = [a.name, b.name, *([bias.name] if bias and maker.chance(60) else [])]
        made = maker.node("Gemm", inputs, transA=maker.random.randint(0, 1), transB=maker.random.randint(0, 1))
        maker.keep(made, 2, (a, b))


_EQUATIONS = [
    ("ij,jk->ik", (2, 2), 2),
    ("ij,kj->ki", (2, 2), 2),
    ("ij,ij->i", (2, 2), 1),
    ("i,j->ij", (1, 1), 2),
    ("bij,bjk->bik", (3, 3), 3),
    ("...ij,...jk->...ik", (3, 2), 3),
    ("ii->i", (2,), 1),
]


def einsum(maker: Maker) -> None:
    equation, ranks, rank = maker.random.choice(_EQUATIONS)
    operands = [maker.tensor(r) for r in ranks]
    if all(t and t.is_full for t in operands):  # of nothing, ONNX Runtime ends at once with a division by 0
        maker.keep(maker.node("Einsum", [t.name for t in operands], equation=equation), rank, operands)


_REDUCTIONS = [
    *["ReduceMean", "ReduceSum", "ReduceL1", "ReduceL2", "ReduceProd", "ReduceLogSum", "ReduceLogSumExp"],
    *["ReduceSumSquare", "ReduceMax", "ReduceMin"],
]


def reduce(maker: Maker) -> None:
    data = maker.tensor(least=1)
    if not data:
        return
    op_type = maker.random.choice(_REDUCTIONS)
    kept = maker.random.randint(0, 1)
    axes = sorted({maker.random.randrange(data.rank) for _ in range(maker.random.randint(0, 2))})
    rank = data.rank if kept else data.rank - len(axes) if axes else 0
    inputs = [data.name, *([maker.constant(axes)] if axes else [])]
    maker.keep(maker.node(op_type, inputs, keepdims=kept), rank, (data,))


STEPS = [binary] * 4 + [
    unary,
    unary,
    clip,
    dropout,
    logical,
    of_integers,
    is_number,
    comparison,
    variadic,
    where,
    prelu,
    along_axis,
    layer_norm,
    matmul,
    matmul,
    gemm,
    einsum,
    reduce,
]
