"""The element types that operators take: of a node at hand, by the standard's schemas."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from symbcast.onnx.validity.faults import Source, label, quoted
from symbcast.onnx.validity.schemas import KNOWN_DOMAINS, schema


class Mistyped(NamedTuple):
    """A node whose inputs have element types that its operator does not take together.

    Attributes:
        node: the node.
        types: the element types of its inputs, 0 where one is not known.
        position: the input at fault.
        other: the input that has to have the same type; None where no type of the others would do.
    """

    node: Any
    types: Sequence[int]
    position: int
    other: int | None


def mistyped(op_type: str, domain: str, version: int, types: Sequence[int]) -> tuple[int, int | None] | None:
    """Return which input of an operator has a wrong element type, and which one it has to be like; None of none.

    >>> mistyped("Add", "", 14, (1, 1)), mistyped("Add", "", 14, (1, 7)), mistyped("Gather", "", 13, (1, 1))
    (None, (1, 0), (1, None))
    """
    found = schema(op_type, version, domain) if domain in KNOWN_DOMAINS else None
    if found is None or not found.slots:
        return None
    first: dict[str, int] = {}
    for position, dtype in enumerate(types):
        slot = found.slot(position)
        if not dtype or not slot.allowed:
            continue
        if dtype not in slot.allowed:
            return position, None
        other = first.setdefault(slot.type_name, position) if found.is_homogeneous else position
        if types[other] != dtype:
            return position, other
    return None


def other_outputs(model: Any, found: Mapping[str, int]) -> dict[str, int]:
    """Return the outputs of a model that are declared of another type than was found, with that."""
    declared = {o.name: o.type.tensor_type.elem_type for o in model.graph.output}
    return {name: found[name] for name, dtype in declared.items() if dtype and found.get(name, 0) not in (0, dtype)}


class Found(NamedTuple):
    """What seems to be wrong: nodes, and the types of outputs that are declared otherwise."""

    nodes: Iterable[Mistyped]
    outputs: Mapping[str, int]


def check_types(source: str, model: Any, found: Found, known: Mapping[str, int]) -> None:
    """Raise `ModelError` for wrong types, of inputs of a node or of outputs, that onnx infers, ``known``, too."""
    held = dict(known)
    for given in model.graph.input:
        held[given.name] = given.type.tensor_type.elem_type
    held.update((tensor.name, tensor.data_type) for tensor in model.graph.initializer)
    for node, types, position, other in found.nodes:
        places = (position,) if other is None else (position, other)
        if any(held.get(node.input[p]) != types[p] for p in places):
            continue
        wrong = (
            f"{label(node)} takes {quoted(node.input[position])} of type {_name(types[position])} as input {position}"
        )
        what = f"{node.op_type} takes none of that type there"
        if other is not None:
            what = f"it must be like {quoted(node.input[other])}, which is {_name(types[other])}"
        raise Source(source).fault(f"{wrong}; {what}", "put a Cast before it")
    for output in model.graph.output:
        declared, real = output.type.tensor_type.elem_type, known.get(output.name, 0)
        if output.name in found.outputs and real == found.outputs[output.name]:
            raise Source(source).fault(
                f"the output {quoted(output.name)} is declared of type {_name(declared)}, and is {_name(real)}"
            )


@cache
def _name(dtype: int) -> str:
    from onnx import TensorProto

    return str(TensorProto.DataType.Name(dtype)).lower()
