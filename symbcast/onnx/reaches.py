"""Determine which axes of inputs of unknown rank a node depends on, and which rank it requires, if any.

Only operators that leave all other axes unchanged are listed: their functions see a sequence of axes as one axis
(`symbcast.graphs.walking.unknown_ranks`).
"""

from __future__ import annotations

from collections.abc import Sequence

from symbcast.core.rules.placement import sequence_place
from symbcast.graphs.walking.node_call import NodeCall, UnknownShapeError
from symbcast.graphs.walking.unknown_ranks import Reaches, padded, required_numbers
from symbcast.onnx.operators.declarations import DECLARATIONS
from symbcast.operators.context import Dims
from symbcast.operators.operator import find_operator
from symbcast.operators.reach import ANY, Reach, reach_beside_new, reach_of

_MATRIX = Reach(rank=2)
_LEGACY = 8
"""Before this version of the operator set, broadcasting was different."""


def reaches_of(call: NodeCall, shapes: Sequence[Dims | None]) -> Sequence[Reach | None]:
    """Return a node's reach into each input; None if the rank of that input must be known.

    Raises `UnknownShapeError` if all ranks must be known, or if the reach depends on unknown values.
    """
    found = _REACHES.get(call.node.op_type) if not call.node.domain else None
    if found is None:
        raise UnknownShapeError
    return padded(found(call, shapes), len(shapes))


def _any(call: NodeCall, shapes: Sequence[Dims | None]) -> Sequence[Reach | None]:
    return [ANY] * len(shapes)


def _broadcast(call: NodeCall, shapes: Sequence[Dims | None]) -> Sequence[Reach | None]:
    if call.version < _LEGACY:
        raise UnknownShapeError
    return [ANY] * len(shapes)


def _along(default: int) -> Reaches:
    """Return the reach of an operator along an axis; other inputs have a known rank or are broadcast to the first."""

    def reaches(call: NodeCall, shapes: Sequence[Dims | None]) -> Sequence[Reach | None]:
        return [reach_of([call.integer("axis", default)])]

    return reaches


def _softmax(call: NodeCall, shapes: Sequence[Dims | None]) -> Sequence[Reach | None]:
    return [reach_of([call.integer("axis", 1 if call.version < 13 else -1)])]


def _normalised(call: NodeCall, shapes: Sequence[Dims | None]) -> Sequence[Reach | None]:
    axis = call.integer("axis", -1)
    return [reach_of([axis]), ANY, ANY] if axis < 0 else []


def _cumulated(call: NodeCall, shapes: Sequence[Dims | None]) -> Sequence[Reach | None]:
    return [reach_of(required_numbers(call, 1))]


def _reduced(call: NodeCall, shapes: Sequence[Dims | None]) -> Sequence[Reach | None]:
    axes = call.axes("axes", 1, 13 if call.node.op_type == "ReduceSum" else 18)
    if axes:
        return [] if _may_be_number(call, shapes) else [reach_of(axes)]
    return [] if call.integer("keepdims", 1) or call.integer("noop_with_empty_axes") else [ANY]


def _may_be_number(call: NodeCall, shapes: Sequence[Dims | None]) -> bool:
    """Return whether data may be a scalar, which ONNX Runtime reduces along any axes."""
    return call.asker.runtime == "onnxruntime" and len(shapes[0] or ()) == 1


def _searched(call: NodeCall, shapes: Sequence[Dims | None]) -> Sequence[Reach | None]:
    return [] if _may_be_number(call, shapes) else [reach_of([call.integer("axis")])]


def _axes_needed(call: NodeCall) -> list[int]:
    axes = call.axes("axes", 1, 13)
    if not axes:  # without a list of axes, it depends on all axes
        raise UnknownShapeError
    return axes


def _squeezed(call: NodeCall, shapes: Sequence[Dims | None]) -> Sequence[Reach | None]:
    return [reach_of(_axes_needed(call))]


def _unsqueezed(call: NodeCall, shapes: Sequence[Dims | None]) -> Sequence[Reach | None]:
    return [reach_beside_new(_axes_needed(call))]


def _concat(call: NodeCall, shapes: Sequence[Dims | None]) -> Sequence[Reach | None]:
    ranks = [len(s) for s in shapes if s is not None and sequence_place(s) is None]
    return [Reach(rank=ranks[0]) if ranks else reach_of([call.integer("axis", 1)])] * len(shapes)


def _matmul(call: NodeCall, shapes: Sequence[Dims | None]) -> Sequence[Reach | None]:
    return find_operator("matmul", {}).reaches([s or () for s in shapes])


def _einsum(call: NodeCall, shapes: Sequence[Dims | None]) -> Sequence[Reach | None]:
    """Treat an ellipsis as one sequence: it has the same number of axes in each term, so it cannot cover two."""
    equation = call.text("equation")
    terms, _, output = equation.partition("->")
    if terms.count("...") > 1 or (terms.count("...") and output and "..." not in output):
        raise UnknownShapeError
    return find_operator("einsum", {"equation": equation}).reaches([s or () for s in shapes])


def _sliced(call: NodeCall, shapes: Sequence[Dims | None]) -> Sequence[Reach | None]:
    if call.version < 10:
        starts: Sequence[object] = call.integers("starts") or []
        axes = call.integers("axes")
    else:
        starts, axes = call.elements(1) or (), required_numbers(call, 3) if call.has(3) else None
    return [reach_of(range(len(starts)) if axes is None else axes)] if starts or axes else []


def _gathered(call: NodeCall, shapes: Sequence[Dims | None]) -> Sequence[Reach | None]:
    return [reach_of([call.integer("axis")]), ANY]


def _one_hot(call: NodeCall, shapes: Sequence[Dims | None]) -> Sequence[Reach | None]:
    return [reach_beside_new([call.integer("axis", -1)])]


def _triangle(call: NodeCall, shapes: Sequence[Dims | None]) -> Sequence[Reach | None]:
    return [Reach(last=2)]


def _normalised_batch(call: NodeCall, shapes: Sequence[Dims | None]) -> Sequence[Reach | None]:
    return [Reach(first=2)]


def _taken_sizes(call: NodeCall, shapes: Sequence[Dims | None]) -> Sequence[Reach | None]:
    """Return the last ``-start`` axes, or all of them if there are fewer."""
    start, end = call.integer("start"), call.attribute("end")
    return [Reach(last=-start, is_written=True)] if start < 0 and (end is None or end < 0) else []


def _transposed(call: NodeCall, shapes: Sequence[Dims | None]) -> Sequence[Reach | None]:
    order = call.integers("perm")
    return [] if order is None else [Reach(rank=len(order))]


def _ranks(*ranks: int) -> Reaches:
    """Return the reach of an operator with operands of fixed ranks."""
    found = [Reach(rank=rank) for rank in ranks]
    return lambda call, shapes: found


def _gemm(call: NodeCall, shapes: Sequence[Dims | None]) -> Sequence[Reach | None]:
    """Return the reach of Gemm, which broadcasts the bias; ONNX Runtime treats a first operand of rank 1 as a row."""
    return [None if call.asker.runtime == "onnxruntime" else _MATRIX, _MATRIX, ANY]


def _windowed(call: NodeCall, shapes: Sequence[Dims | None]) -> Sequence[Reach | None]:
    """Return the reach for a rank of two plus the length of ``kernel_shape``, else for the rank of data or weights."""
    kernel, known = (
        call.integers("kernel_shape"),
        [len(s) for s in shapes[:2] if s is not None and sequence_place(s) is None],
    )
    is_pool = call.node.op_type.endswith("Pool")
    rank = len(kernel) + 2 if kernel else None if is_pool or not known else known[0]
    if rank is None:
        raise UnknownShapeError
    if is_pool:
        return [Reach(rank=rank)]
    return [Reach(rank=rank), Reach(rank=rank), None if call.node.op_type == "ConvInteger" else Reach(rank=1)]


def _of_length(position: int) -> Reaches:
    """Return the reach of an operator whose rank is the length of an input, unless it lists axes."""

    def reaches(call: NodeCall, shapes: Sequence[Dims | None]) -> Sequence[Reach | None]:
        shape = shapes[position] if position < len(shapes) else None
        if shape is None or len(shape) != 1 or not isinstance(shape[0], int) or call.integers("axes") or call.has(3):
            raise UnknownShapeError
        each = 2 if call.node.op_type == "Pad" else 1
        return [Reach(rank=shape[0] // each)]

    return reaches


_PLAIN = [d for d in DECLARATIONS if d.signature in ("X -> X", "* -> *") and d.axis is None and not d.domain]
_EACH = "CastLike Clip Dropout"
_PAIRS = """
    Add And BitShift BitwiseAnd BitwiseOr BitwiseXor Div Equal Expand Greater GreaterOrEqual Less LessOrEqual Max Mean
    Min Mod Mul Or Pow PRelu Sub Sum Where Xor
"""
_REDUCTIONS = "L1 L2 LogSum LogSumExp Max Mean Min Prod Sum SumSquare"
_REACHES: dict[str, Reaches] = {
    **dict.fromkeys((name for d in _PLAIN for name in d.operators.split()), _any),
    **dict.fromkeys(_EACH.split(), _any),
    **dict.fromkeys(_PAIRS.split(), _broadcast),
    **dict.fromkeys(("Hardmax", "LogSoftmax", "Softmax"), _softmax),
    **dict.fromkeys(("LayerNormalization", "RMSNormalization"), _normalised),
    **dict.fromkeys(("LpNormalization", "TopK"), _along(-1)),
    **dict.fromkeys(("CumSum", "CumProd"), _cumulated),
    **{f"Reduce{name}": _reduced for name in _REDUCTIONS.split()},
    **dict.fromkeys(("ArgMax", "ArgMin"), _searched),
    "Squeeze": _squeezed,
    "Unsqueeze": _unsqueezed,
    "Concat": _concat,
    "BatchNormalization": _normalised_batch,
    "Shape": _taken_sizes,
    "MatMul": _matmul,
    "Einsum": _einsum,
    "Slice": _sliced,
    "Gather": _gathered,
    "OneHot": _one_hot,
    "Split": _along(0),
    "Transpose": _transposed,
    "Gemm": _gemm,
    "DepthToSpace": _ranks(4),
    "SpaceToDepth": _ranks(4),
    "EyeLike": _ranks(2),
    "Trilu": _triangle,
    **dict.fromkeys(("GRU", "LSTM", "RNN"), _ranks(3, 3, 3)),
    **dict.fromkeys(("Conv", "ConvInteger", "ConvTranspose", "AveragePool", "LpPool", "MaxPool"), _windowed),
    "Pad": _of_length(1),
    "Tile": _of_length(1),
}
