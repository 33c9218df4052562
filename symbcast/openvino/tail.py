"""Operators without a function: use OpenVINO's own shape inference if all sizes are numbers.

The inference runs on a copy of the model, with the node's inputs replaced by parameters of the given shapes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from symbcast.core.algebra.bounds import numbers_of
from symbcast.graphs.values.value import Value
from symbcast.openvino.constant import Held
from symbcast.openvino.node_call import OpenVinoCall


def infer(call: OpenVinoCall) -> Sequence[Value]:
    """Return the outputs as OpenVINO infers them; each unknown size is a new symbol."""
    kind = call.node.op_type if not call.node.domain else f"{call.node.domain}::{call.node.op_type}"
    values = [call.value(n) for n in range(len(call.inputs))]
    shapes = [numbers_of(call.shape(n)) for n in range(len(values))]
    if any(s is None for s in shapes):
        call.give_up(f"{kind} is not supported here unless all sizes of its inputs are numbers")
    call.note(f"{kind} is not supported here: its shape is inferred by OpenVINO")
    try:
        found = _inferred(call.node, values, [list(s or ()) for s in shapes])
    except RuntimeError as error:
        call.refuse(f"OpenVINO refuses it: {_last_line(error)}")
    outputs = []
    for n, shape in enumerate(found):
        if shape.rank.is_dynamic:
            outputs.append(call.made(None, output=n))
            continue
        dims = [
            int(d.get_length()) if d.is_static else call.fresh(f"{n}_dim_{axis}", f"axis {axis} of output {n}")
            for axis, d in enumerate(shape)
        ]
        outputs.append(call.made(tuple(dims), output=n))
    return outputs


def _inferred(node: Any, values: Sequence[Value], shapes: Sequence[list[int]]) -> list[Any]:
    """Return the shapes that OpenVINO infers for a node with given input shapes."""
    from openvino import opset1

    copy = node.graph.copy_of(node)
    given = []
    for position, (value, shape) in enumerate(zip(values, shapes, strict=True)):
        if isinstance(value, Held):
            given.append(copy.input_value(position))
        else:
            given.append(opset1.parameter(shape, node.raw.get_input_element_type(position)).output(0))
    copy.set_arguments(given)
    copy.validate_and_infer_types()
    return [copy.get_output_partial_shape(n) for n in range(copy.get_output_size())]


def _last_line(error: RuntimeError) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1] if lines else "it gives no reason"
