"""How far OpenVINO nodes look into inputs of unknown rank; the counterpart of `symbcast.onnx.reaches`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from symbcast.core.rules.placement import sequence_place
from symbcast.graphs.walking.node_call import NodeCall, UnknownShapeError
from symbcast.graphs.walking.unknown_ranks import Reaches, padded, required_numbers
from symbcast.openvino.operators.elementwise import KEEP_SHAPE, TWO_OPERANDS
from symbcast.operators.context import Dims
from symbcast.operators.operator import find_operator
from symbcast.operators.reach import ANY, Reach, reach_beside_new, reach_of

if TYPE_CHECKING:
    Found = Sequence[Reach | None]


def reaches_of(call: NodeCall, shapes: Sequence[Dims | None]) -> Found:
    """Return how far a node looks into each input, None for an input whose rank must be known.

    Raises `UnknownShapeError` for an operator that needs all ranks, or if the reach depends on something unknown.
    """
    found = _REACHES.get(call.node.op_type)
    if found is None:
        raise UnknownShapeError
    return padded(found(call, shapes), len(shapes))


def _any(call: NodeCall, shapes: Sequence[Dims | None]) -> Found:
    return [ANY] * len(shapes)


def _along_axis(call: NodeCall, shapes: Sequence[Dims | None]) -> Found:
    axis = call.integer("axis", 1)
    return [ANY if axis == -1 and _may_be_number(shapes) else reach_of([axis])]


def _may_be_number(shapes: Sequence[Dims | None]) -> bool:
    """Return whether data may be a scalar, which OpenVINO treats as if it had a last axis of size 1."""
    return len(shapes[0] or ()) == 1


def _reduced(call: NodeCall, shapes: Sequence[Dims | None]) -> Found:
    found = reach_of(required_numbers(call, 1))
    if found.last == 1 and _may_be_number(shapes):
        return [] if call.integer("keep_dims") else [found._replace(least=0)]
    return [found]


def _squeezed(call: NodeCall, shapes: Sequence[Dims | None]) -> Found:
    axes = required_numbers(call, 1)
    if not axes or call.integer("allow_axis_skip"):
        return []
    found = reach_of(axes)
    return [found._replace(least=0) if found.last == 1 and _may_be_number(shapes) else found]


def _unsqueezed(call: NodeCall, shapes: Sequence[Dims | None]) -> Found:
    return [reach_beside_new(required_numbers(call, 1))]


def _gathered(call: NodeCall, shapes: Sequence[Dims | None]) -> Found:
    return [] if call.integer("batch_dims") else [reach_of(required_numbers(call, 2)), ANY]


def _transposed(call: NodeCall, shapes: Sequence[Dims | None]) -> Found:
    order = required_numbers(call, 1)
    return [Reach(rank=len(order))] if order else []


def _concat(call: NodeCall, shapes: Sequence[Dims | None]) -> Found:
    ranks = [len(s) for s in shapes if s is not None and sequence_place(s) is None]
    return [Reach(rank=ranks[0]) if ranks else reach_of([call.integer("axis")])] * len(shapes)


def _matmul(call: NodeCall, shapes: Sequence[Dims | None]) -> Found:
    left, right = find_operator("matmul", {}).reaches([s or () for s in shapes])
    written = Reach(last=2, is_written=True)
    return [written if call.integer("transpose_a") else left, right]


def _convolution(call: NodeCall, shapes: Sequence[Dims | None]) -> Found:
    """Data and filters have equal rank; with groups, the filters have one more axis."""
    more = int(call.node.op_type.startswith("Group"))
    data, filters = (None if s is None or sequence_place(s) is not None else len(s) for s in shapes[:2])
    rank = data if data is not None else None if filters is None else filters - more
    return [] if rank is None else [Reach(rank=rank), Reach(rank=rank + more)]


def _pool(call: NodeCall, shapes: Sequence[Dims | None]) -> Found:
    return [Reach(rank=len(call.integers("kernel") or ()) + 2)]


def _of_images(call: NodeCall, shapes: Sequence[Dims | None]) -> Found:
    return [Reach(rank=4)]


_REDUCTIONS = "L1 L2 LogicalAnd LogicalOr Max Mean Min Prod Sum"
_REACHES: dict[str, Reaches] = {
    **dict.fromkeys((*KEEP_SHAPE, *TWO_OPERANDS, "Clamp", "Convert", "ConvertLike", "Select"), _any),
    **dict.fromkeys(("LogSoftmax", "Softmax"), _along_axis),
    **{f"Reduce{name}": _reduced for name in _REDUCTIONS.split()},
    **dict.fromkeys(("Convolution", "GroupConvolution"), _convolution),
    **dict.fromkeys(("AvgPool", "MaxPool"), _pool),
    **dict.fromkeys(("DepthToSpace", "SpaceToDepth"), _of_images),
    "Concat": _concat,
    "Gather": _gathered,
    "MatMul": _matmul,
    "Squeeze": _squeezed,
    "Transpose": _transposed,
    "Unsqueeze": _unsqueezed,
}
