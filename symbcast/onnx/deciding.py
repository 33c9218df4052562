"""What decides the elements that a node makes, from what decides those of its inputs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from symbcast.graphs.deciding import decider_of_made, joined
from symbcast.graphs.values.deciders import Decider

if TYPE_CHECKING:
    from symbcast.graphs.graph import Node
    from symbcast.graphs.values.value import Value

_SHAPES_ONLY = frozenset({"Shape", "Size", "SequenceLength"})
_RANDOM = frozenset({
    "Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike",
})  # fmt: skip
_SELECTING = frozenset({"Clip", "Max", "Min"})
"""Operators that take elements of one operand or another by their values."""


def decider_of_output(node: Node, inputs: Sequence[Value | None], position: int) -> Decider:
    """Return what decides the output at a position, whose elements are not known exactly, from what decides the inputs.

    Inputs of the output's own type variable hold what the elements are made of; the others say how they are laid out.
    """
    op_type = node.op_type
    if op_type in _SHAPES_ONLY:
        return Decider.SIZES
    if op_type in _RANDOM:
        return Decider.DATA
    signature = _signature(op_type, node.version, node.domain)
    made_of = list(inputs)
    is_moving = op_type in _SELECTING
    if signature is not None:
        kind = signature.outputs[min(position, len(signature.outputs) - 1)]
        last = len(signature.inputs) - 1
        same = [v for n, v in enumerate(inputs) if signature.inputs[min(n, last)] == kind]
        is_moving |= kind in signature.parametric
        if is_moving and joined(same):
            made_of = same
    return decider_of_made(made_of, is_moving=is_moving)


class _Signature:
    """The types of an operator's inputs and outputs, as the standard names them.

    ``parametric`` are those that hold texts as well as numbers: nothing is computed with these, elements are moved.
    """

    __slots__ = ("inputs", "outputs", "parametric")

    def __init__(self, schema: Any) -> None:
        self.inputs = tuple(i.type_str for i in schema.inputs) or ("",)
        self.outputs = tuple(o.type_str for o in schema.outputs) or ("",)
        allowed = {c.type_param_str: c.allowed_type_strs for c in schema.type_constraints}
        self.parametric = frozenset(name for name, types in allowed.items() if "tensor(string)" in types)


@lru_cache(maxsize=1024)
def _signature(op_type: str, version: int, domain: str) -> _Signature | None:
    from onnx import defs

    try:
        return _Signature(defs.get_schema(op_type, version, domain))
    except defs.SchemaError:
        return None
