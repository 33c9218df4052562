"""What the standard says of an operator's attributes, inputs and outputs: onnx's schemas, each read once."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

KNOWN_DOMAINS = frozenset({"", "ai.onnx.ml"})
"""The domains whose operators are all known: others have schemas that change under one version, or none."""

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
"""Operators of ONNX's domain that ONNX Runtime (1.31) has from version 1 on; the standard has not, or has them later.

From ``onnxruntime.capi.onnxruntime_pybind11_state.get_all_operator_schema()``: its optimiser writes them.
"""


class Slot(NamedTuple):
    """An input: whether it must be given, which one of the operator's types it has, and the types it may have."""

    is_single: bool
    type_name: str
    allowed: frozenset[int]
    """Numbers of ``TensorProto.DataType``; empty where something else than tensors may come."""


class Schema(NamedTuple):
    """An operator of one version.

    Attributes:
        since: the version that it is from.
        inputs, outputs: the least and the greatest number of them.
        slots: the inputs; the last one stands for any number more where it is variadic.
        attributes: by name, the number of the type and whether it must be given.
    """

    since: int
    inputs: tuple[int, int]
    outputs: tuple[int, int]
    slots: tuple[Slot, ...]
    attributes: Mapping[str, tuple[int, bool]]
    is_deprecated: bool
    """Whether it must not be used; one that is defined by others may be, such as GroupNormalization of version 18."""
    is_homogeneous: bool
    """Whether all inputs of a variadic one have one type."""

    def slot(self, position: int) -> Slot:
        """Return the input at a position."""
        return self.slots[min(position, len(self.slots) - 1)]


@lru_cache(maxsize=4096)
def schema(op_type: str, version: int, domain: str) -> Schema | None:
    """Return what the standard says of an operator; None where there is no such in the version."""
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
    """Return the element types in texts such as ``tensor(float)``; none where there is any other text."""
    found = [_type_numbers().get(text) for text in texts]
    return [] if None in found else [n for n in found if n is not None]


@lru_cache(maxsize=1)
def _type_numbers() -> Mapping[str, int]:
    from onnx import TensorProto

    return {f"tensor({name.lower()})": number for name, number in TensorProto.DataType.items()}


def first_version(op_type: str, domain: str) -> int | None:
    """Return the version from which on there is an operator; None where there never was."""
    from onnx import defs

    versions = [s.since_version for s in defs.get_all_schemas_with_history() if (s.name, s.domain) == (op_type, domain)]
    return min(versions, default=None)
