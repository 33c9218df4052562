"""Operator schemas of the standard: attributes, inputs, outputs and their element types.

Each of onnx's schemas is read once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any, NamedTuple

from symbcast.onnx.validity.faults import Source, label, quoted

KNOWN_DOMAINS = frozenset({"", "ai.onnx.ml"})
"""The domains whose operators are all known; schemas of other domains are missing or change within a version."""

OF_RUNTIME = frozenset(
    {
        "Affine",
        "Crop",
        "DynamicSlice",
        "GRUUnit",
        "GivenTensorFill",
        "ImageScaler",
        "LayerNormalization",
        "MeanVarianceNormalization",
        "MemcpyFromHost",
        "MemcpyToHost",
        "ParametricSoftplus",
        "Scale",
        "ScaledTanh",
        "SimplifiedLayerNormalization",
        "ThresholdedRelu",
    }
)
"""Operators that ONNX Runtime (1.31) has in ONNX's domain from version 1 on; the standard has them later or never.

From ``onnxruntime.capi.onnxruntime_pybind11_state.get_all_operator_schema()``: its optimiser writes them.
"""


class Slot(NamedTuple):
    """An input: whether it is required, its type parameter, and its allowed types."""

    is_single: bool
    type_name: str
    allowed: frozenset[int]
    """Numbers of ``TensorProto.DataType``; empty if the input may be something other than a tensor."""


class Schema(NamedTuple):
    """An operator of one version.

    Attributes:
        since: the version that introduced it.
        inputs, outputs: the minimum and maximum number of each.
        slots: the inputs; if the last one is variadic, it repeats.
        attributes: by name, the number of the attribute's type and whether it is required.
    """

    since: int
    inputs: tuple[int, int]
    outputs: tuple[int, int]
    slots: tuple[Slot, ...]
    attributes: Mapping[str, tuple[int, bool]]
    is_deprecated: bool
    """Whether it must not be used; one with a definition by others may be, such as GroupNormalization of version 18."""
    is_homogeneous: bool
    """Whether all variadic inputs have the same type."""

    def slot(self, position: int) -> Slot:
        """Return the input at a position."""
        return self.slots[min(position, len(self.slots) - 1)]


@lru_cache(maxsize=4096)
def schema(op_type: str, version: int, domain: str) -> Schema | None:
    """Return the schema of an operator; None if the version does not have it."""
    from onnx import AttributeProto, defs

    try:
        found: Any = defs.get_schema(op_type, version, domain)
    except defs.SchemaError:
        return None
    return Schema(
        found.since_version,
        (found.min_input, found.max_input),
        (found.min_output, found.max_output),
        tuple(map(_slot, found.inputs)),
        {n: (AttributeProto.AttributeType.Value(a.type.name), a.required) for n, a in found.attributes.items()},
        found.deprecated and not (found.has_function or found.has_context_dependent_function),
        all(i.is_homogeneous for i in found.inputs),
    )


def _slot(given: Any) -> Slot:
    from onnx.defs import OpSchema

    return Slot(
        given.option == OpSchema.FormalParameterOption.Single, given.type_str, frozenset(_tensor_types(given.types))
    )


def _tensor_types(texts: Any) -> list[int]:
    """Return the element types in texts such as ``tensor(float)``; none if any text has another form."""
    found = [_type_numbers().get(text) for text in texts]
    return [] if None in found else [n for n in found if n is not None]


@lru_cache(maxsize=1)
def _type_numbers() -> Mapping[str, int]:
    from onnx import TensorProto

    return {f"tensor({name.lower()})": number for name, number in TensorProto.DataType.items()}


def first_version(op_type: str, domain: str) -> int | None:
    """Return the version that introduced an operator; None if there is none."""
    from onnx import defs

    versions = [s.since_version for s in defs.get_all_schemas_with_history() if (s.name, s.domain) == (op_type, domain)]
    return min(versions, default=None)


class Mistyped(NamedTuple):
    """A node whose operator does not accept the combination of its input element types.

    Attributes:
        node: the node.
        types: the element types of its inputs, 0 for unknown ones.
        position: the position of the faulty input.
        other: the input that must have the same type; None if the operator never accepts the type at that position.
    """

    node: Any
    types: Sequence[int]
    position: int
    other: int | None


def mistyped(op_type: str, domain: str, version: int, types: Sequence[int]) -> tuple[int, int | None] | None:
    """Return the mistyped input of an operator and the input whose type it must match; None if all are right.

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
    """Return the real types of the outputs of a model whose declared type is different."""
    declared = {o.name: o.type.tensor_type.elem_type for o in model.graph.output}
    return {name: found[name] for name, dtype in declared.items() if dtype and found.get(name, 0) not in (0, dtype)}


class Found(NamedTuple):
    """Suspected faults: mistyped nodes, and outputs whose declared type is wrong."""

    nodes: Iterable[Mistyped]
    outputs: Mapping[str, int]


def check_types(source: str, model: Any, found: Found, known: Mapping[str, int]) -> None:
    """Raise `ModelError` for wrong types of node inputs or outputs that onnx's inference, ``known``, confirms."""
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
        what = f"{node.op_type} does not accept that type there"
        if other is not None:
            what = f"it must have the type of {quoted(node.input[other])}, which is {_name(types[other])}"
        raise Source(source).fault(f"{wrong}; {what}", "put a Cast before it")
    for output in model.graph.output:
        declared, real = output.type.tensor_type.elem_type, known.get(output.name, 0)
        if output.name in found.outputs and real == found.outputs[output.name]:
            raise Source(source).fault(
                f"the output {quoted(output.name)} is declared as {_name(declared)}, but is {_name(real)}"
            )


@cache
def _name(dtype: int) -> str:
    from onnx import TensorProto

    return str(TensorProto.DataType.Name(dtype)).lower()
