"""Outputs of nodes whose inputs have an unknown rank: what is known of their ends.

What such a node asks of sizes is not looked at, and nothing else in a model uses these shapes: where the rank of a
value is not known, no operator but these answers for it. They say what a value's last axes are, at all sizes at which
the node runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from symbcast.algebra.arithmetic import join
from symbcast.algebra.sequences import is_sequence, without_last
from symbcast.broadcasting import Rule, find_rule
from symbcast.broadcasting.outputs import members_of
from symbcast.errors import SymbcastError
from symbcast.onnx.declarations import DECLARATIONS
from symbcast.onnx.node_call import NodeCall, UnknownShapeError
from symbcast.onnx.values.numbers import BOOL
from symbcast.onnx.values.value import Dims, OpenValue, Value
from symbcast.operators.operator import find_operator

if TYPE_CHECKING:
    from symbcast.algebra.terms import Dim
    from symbcast.broadcasting import OutputDim

    Ends = Callable[[NodeCall, Sequence[Dims]], Dims]

_AS_FIRST = """
    Clip Cast CastLike Dropout GroupNormalization Hardmax InstanceNormalization LayerNormalization
    LogSoftmax LpNormalization LRN RMSNormalization Softmax
"""
_PAIRS = "Add And BitShift BitwiseAnd BitwiseOr BitwiseXor Div Equal Greater GreaterOrEqual Less LessOrEqual Mod Mul Or"
_MANY = "Max Mean Min Pow Sub Sum Where Xor"
_OF_TRUTHS = "And Equal Greater GreaterOrEqual IsInf IsNaN Less LessOrEqual Not Or Xor"
_TRUTHS = frozenset(_OF_TRUTHS.split(" "))
_MATRIX = 2
_LEGACY = 8
"""Before this version of the operator set, operands were broadcast otherwise."""


def outputs_of_unknown_rank(call: NodeCall) -> Sequence[Value]:
    """Return the first output of a node of which some input has an unknown rank; none where nothing is known of it."""
    ends = _ENDS.get(call.node.op_type) if call.node.domain in ("", "ai.onnx") else None
    if ends is None:
        return ()
    try:
        shapes = [call.walk.ends(value) for value in call.inputs if value is not None]
        found = ends(call, shapes)
    except (SymbcastError, UnknownShapeError):
        return ()
    if not any(map(is_sequence, found)):
        return ()
    dtype = BOOL if call.node.op_type in _TRUTHS else call.dtype(1 if call.node.op_type == "Where" else 0)
    return (OpenValue(found, 0 if call.node.op_type in ("Cast", "CastLike") else dtype),)


def _as_first(call: NodeCall, shapes: Sequence[Dims]) -> Dims:
    return shapes[0]


def _broadcast(call: NodeCall, shapes: Sequence[Dims]) -> Dims:
    if call.version < _LEGACY:
        raise UnknownShapeError
    return _emitted(find_rule("numpy", {}), shapes)


def _matmul(call: NodeCall, shapes: Sequence[Dims]) -> Dims:
    left, right = shapes
    if len(right) == _MATRIX and not any(map(is_sequence, right)):
        # Whatever is before the last axis of the one operand stays, also where that is a vector.
        return (*(left[:-1] if len(left) > 1 else (without_last(left[0], 1),)), right[-1])
    return _emitted(find_operator("matmul", {}), shapes)


def _reduced(call: NodeCall, shapes: Sequence[Dims]) -> Dims:
    axes = call.axes("axes", 1, 13 if call.node.op_type == "ReduceSum" else 18)
    if not axes:
        raise UnknownShapeError
    keepdims = bool(call.integer("keepdims", 1))
    return _emitted(find_operator("reduce", {"axes": tuple(axes), "keepdims": keepdims}), shapes[:1])


def _moved(call: NodeCall, shapes: Sequence[Dims]) -> Dims:
    axes = call.axes("axes", 1, 13)
    if axes is None:
        raise UnknownShapeError
    return _emitted(find_operator(call.node.op_type.lower(), {"axes": tuple(axes)}), shapes[:1])


def _concat(call: NodeCall, shapes: Sequence[Dims]) -> Dims:
    return _emitted(find_operator("concat", {"axis": call.integer("axis", 1)}), shapes)


def _emitted(rule: Rule, shapes: Sequence[Dims]) -> Dims:
    return tuple(map(_size, rule.emit_open(shapes).output))


def _size(dim: OutputDim) -> Dim:
    """Return the size of an output axis, at the sizes at which its members have a join."""
    members = members_of(dim)
    number = next((m for m in members if isinstance(m, int) and m != 1), None)
    return join(members) if number is None else number


_REDUCTIONS = "L1 L2 LogSum LogSumExp Max Mean Min Prod Sum SumSquare"
_SAME = [name for d in DECLARATIONS if d.signature == "X -> X" and not d.domain for name in d.operators.split()]
_ENDS: dict[str, Ends] = {
    **dict.fromkeys((*_SAME, *_AS_FIRST.split()), _as_first),
    **dict.fromkeys(f"{_PAIRS} {_MANY}".split(), _broadcast),
    **{f"Reduce{name}": _reduced for name in _REDUCTIONS.split()},
    "MatMul": _matmul,
    "Concat": _concat,
    "Squeeze": _moved,
    "Unsqueeze": _moved,
}
