"""The element types of operators of ONNX Runtime's own domains, whose schemas onnx does not have.

`signatures.json` lists them as recorded from ONNX Runtime 1.32 by ``tests/onnx/record_kernels.py``. Their shape
inference is not recorded.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from symbcast.onnx.opening.kernels import LETTERS
from symbcast.onnx.opening.types import ValueType, tensor_type, without_shape


class Slot(NamedTuple):
    """An input or output: its type parameter, the types that it may have, and whether it must be given."""

    parameter: str
    types: frozenset[str]
    is_homogeneous: bool
    is_single: bool


class Signature(NamedTuple):
    """The inputs and outputs of an operator; the last of each may stand for several."""

    inputs: Sequence[Slot]
    outputs: Sequence[Slot]


class MistypedError(Exception):
    """An input is missing, or has a type that the operator does not take."""


@cache
def _signatures() -> Mapping[str, Signature]:
    found = json.loads(files(__package__).joinpath("signatures.json").read_text())
    names = {letter: name for name, letter in LETTERS.items()}

    def slots(rows: list[tuple[str, list[str], bool, bool]]) -> list[Slot]:
        return [Slot(p, frozenset(names.get(t, t) for t in types), bool(h), bool(s)) for p, types, h, s in rows]

    return {operator: Signature(slots(inputs), slots(outputs)) for operator, (inputs, outputs) in found.items()}


def outputs_of(node: Any, types: Mapping[str, ValueType]) -> dict[str, ValueType]:
    """Return the types of a node's outputs, as far as its signature determines them; raises `MistypedError`.

    ``types`` are the known types of values, by name.
    """
    signature = _signatures().get(f"{node.domain}:{node.op_type}")
    if signature is None:
        return {}
    bound: dict[str, str] = {}
    for position, slot in enumerate(signature.inputs):
        if slot.is_single and not "".join(node.input[position : position + 1]):
            raise MistypedError(f"{node.op_type} lacks its input {position}")
    for position, name in enumerate(node.input):
        if name not in types or not signature.inputs:
            continue
        slot = signature.inputs[min(position, len(signature.inputs) - 1)]
        written = types[name].text
        if written not in slot.types:
            raise MistypedError(f"{node.op_type} does not take {name!r} of type {written}")
        if slot.is_homogeneous and bound.setdefault(slot.parameter, written) != written:
            raise MistypedError(f"{name!r} is of type {written}, and must be of type {bound[slot.parameter]}")
    made = {}
    for position, name in enumerate(node.output):
        slot = signature.outputs[min(position, len(signature.outputs) - 1)]
        only = next(iter(slot.types)) if len(slot.types) == 1 else ""
        dtype = _number(bound.get(slot.parameter, only))
        if name and dtype:
            made[name] = without_shape(tensor_type(dtype, ()))
    return made


def _number(written: str) -> int:
    """Return the element type in the text of a tensor's type; 0 for any other text."""
    from onnx import TensorProto

    if not written.startswith("tensor("):
        return 0
    return int(TensorProto.DataType.Value(written.removeprefix("tensor(").rstrip(")").upper()))
