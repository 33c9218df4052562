"""Types and constants of values as ONNX Runtime keeps them while it opens a model, and why it refuses one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any, TypeAlias

from symbcast.core.structs import NamedTuple
from symbcast.onnx.protobuf import StoredTensor
from symbcast.onnx.schemas import dtype_name, element_type_numbers
from symbcast.operators.values.value import Value

TENSOR, SPARSE = "tensor_type", "sparse_tensor_type"


class ValueType(bytes):
    """The type of a value: the bytes of its ``TypeProto``, so that equal types are equal keys."""

    @staticmethod
    def of(proto: Any) -> ValueType:
        """Return the type in a message."""
        return _interned(proto.SerializeToString(deterministic=True))

    @cached_property
    def proto(self) -> Any:
        """The message, which must not be changed."""
        return self.copy()

    def copy(self) -> Any:
        """Return a new message."""
        from onnx import TypeProto

        return TypeProto.FromString(bytes(self))

    @cached_property
    def is_known(self) -> bool:
        """Whether the type is known at all."""
        kind = self.proto.WhichOneof("value")
        return kind is not None and (kind not in (TENSOR, SPARSE) or bool(getattr(self.proto, kind).elem_type))

    @cached_property
    def is_real(self) -> bool:
        """Whether the element type of a tensor exists; an attribute can hold any number."""
        kind = self.proto.WhichOneof("value")
        return kind not in (TENSOR, SPARSE) or getattr(self.proto, kind).elem_type in element_type_numbers()

    @cached_property
    def sizes(self) -> tuple[int | None, ...] | None:
        """The sizes of a tensor, None for those that are not numbers; None if the rank is unknown."""
        shape = tensor_shape(self.proto)
        if shape is None:
            return None
        return tuple([d.dim_value if d.WhichOneof("value") == "dim_value" else None for d in shape.dim])

    @cached_property
    def text(self) -> str:
        """The type as ONNX writes it, such as ``tensor(float)``.

        >>> tensor_type(1, [2]).text
        'tensor(float)'
        """
        return _text_of(self.proto)


@lru_cache(maxsize=4096)
def _interned(written: bytes) -> ValueType:
    return ValueType(written)


def tensor_type(dtype: int, dims: Iterable[int]) -> ValueType:
    """Return the type of a tensor whose sizes are numbers."""
    return _tensor_type(dtype, tuple(dims))


@lru_cache(maxsize=4096)
def _tensor_type(dtype: int, dims: tuple[int, ...]) -> ValueType:
    from onnx import TypeProto

    proto = TypeProto()
    proto.tensor_type.elem_type = dtype
    proto.tensor_type.shape.SetInParent()
    for size in dims:
        proto.tensor_type.shape.dim.add().dim_value = size
    return ValueType.of(proto)


def declared_type(declared: Any) -> ValueType:
    """Return a declared type without invalid sizes: negative numbers and names without a letter."""
    # As ``RemoveInvalidValues`` in ONNX Runtime's graph.cc does.
    return _without_invalid(ValueType.of(declared))


@lru_cache(maxsize=4096)
def _without_invalid(declared: ValueType) -> ValueType:
    copy = declared.copy()
    for dim in copy.tensor_type.shape.dim if copy.WhichOneof("value") == TENSOR else ():
        kind = dim.WhichOneof("value")
        if (kind == "dim_param" and not dim.dim_param) or (kind == "dim_value" and dim.dim_value < 0):
            dim.ClearField(kind)
    return ValueType.of(copy)


def is_known_type(type_: ValueType | None) -> bool:
    """Return whether a type is known at all."""
    return type_ is not None and type_.is_known


def tensor_shape(proto: Any) -> Any | None:
    """Return the shape in a message of a type; None where it has none."""
    kind = proto.WhichOneof("value")
    if kind not in (TENSOR, SPARSE):
        return None
    tensor = getattr(proto, kind)
    return tensor.shape if tensor.HasField("shape") else None


def without_shape(type_: ValueType) -> ValueType:
    """Return the type of a tensor without its shape; other types as they are."""
    if type_.proto.WhichOneof("value") != TENSOR:
        return type_
    copy = type_.copy()
    copy.tensor_type.ClearField("shape")
    return ValueType.of(copy)


@lru_cache(maxsize=4096)
def stored_type(written: bytes) -> ValueType:
    """Return an inferred type as ONNX Runtime keeps it: without the shapes of elements of sequences."""
    inferred = ValueType(written)
    element = inferred.proto
    if element.WhichOneof("value") != "sequence_type":
        return _interned(written)
    copy = element = inferred.copy()
    while element.WhichOneof("value") == "sequence_type":
        element = element.sequence_type.elem_type
    if element.WhichOneof("value") == TENSOR:
        element.tensor_type.ClearField("shape")
    return ValueType.of(copy)


def _text_of(proto: Any) -> str:
    kind = proto.WhichOneof("value")
    if kind in (TENSOR, SPARSE):
        return f"{'sparse_' if kind == SPARSE else ''}tensor({dtype_name(getattr(proto, kind).elem_type)})"
    if kind == "sequence_type":
        return f"seq({_text_of(proto.sequence_type.elem_type)})"
    if kind == "optional_type":
        return f"optional({_text_of(proto.optional_type.elem_type)})"
    if kind == "map_type":
        return f"map({dtype_name(proto.map_type.key_type)},{_text_of(proto.map_type.value_type)})"
    return ""


@lru_cache(maxsize=4096)
def merged(inferred: ValueType, declared: ValueType) -> tuple[ValueType, bool]:
    """Return a kept type with an inferred shape merged into it, and whether the two agree."""
    # As ``mergeInShapeInfo`` of onnx does: kept sizes take precedence over inferred ones, and numbers over names.
    shape = tensor_shape(inferred.proto)
    if shape is None:
        return declared, True
    result = declared.copy()
    before = tensor_shape(result)
    if before is None:
        getattr(result, result.WhichOneof("value")).shape.CopyFrom(shape)
        return ValueType.of(result), True
    if len(before.dim) != len(shape.dim):
        getattr(result, result.WhichOneof("value")).ClearField("shape")
        return ValueType.of(result), False
    pairs = list(zip(shape.dim, before.dim, strict=True))
    # After a contradiction the sizes that differ are unknown (``UnionShapeInfo``): ONNX Runtime only warns about it.
    agree = all(_fit(new, old) for new, old in pairs)
    for new, old in pairs:
        if agree:
            _merge_size(new, old)
        elif new != old:
            old.Clear()
    return ValueType.of(result), agree


def _fit(new: Any, old: Any) -> bool:
    both_numbers = new.WhichOneof("value") == old.WhichOneof("value") == "dim_value"
    return not both_numbers or bool(new.dim_value == old.dim_value)


def _merge_size(new: Any, old: Any) -> None:
    kind = new.WhichOneof("value")
    if kind == "dim_value" or (kind == "dim_param" and old.WhichOneof("value") is None):
        old.CopyFrom(new)


def value_of_type(type_: ValueType | None) -> Value | None:
    """Return the value of a type, with its shape where all its sizes are numbers; None for an input left out."""
    if type_ is None:
        return None
    sizes = type_.sizes
    shape = None if sizes is None else tuple(n for n in sizes if n is not None)
    is_known = sizes is not None and shape is not None and len(shape) == len(sizes)
    return Value(shape if is_known else None, type_.proto.tensor_type.elem_type)


def type_of_value(value: Value) -> ValueType:
    """Return the type of a value, with sizes that are numbers; an empty type if it is not a tensor."""
    from onnx import TypeProto

    proto = TypeProto()
    if type(value) is not Value or not value.dtype:
        return ValueType.of(proto)
    proto.tensor_type.elem_type = value.dtype
    if value.shape is not None:
        proto.tensor_type.shape.SetInParent()
        for size in value.shape:
            dim = proto.tensor_type.shape.dim.add()
            if isinstance(size, int):
                dim.dim_value = size
    return ValueType.of(proto)


Sizes: TypeAlias = "tuple[int, ...] | int"
"""A list of sizes that are numbers, or one such size."""


# The number of what is known about a value, before it is compared.
UNNUMBERED = 0


@dataclass(slots=True, eq=False)
class KnownValue:
    """What ONNX Runtime knows about a value; it is not changed.

    Attributes:
        type: its type.
        unfolded: its type before constants are folded, if that may differ; else None.
        constant: its tensor, if a computation may use it.
        is_folded: whether its tensor was computed from other constants.
        sizes: its elements, if they are sizes that are known before constants are folded.
        number: the same for values of a model about which the same is known, once it is needed.
        was_known: whether the same was known before constants were folded.
    """

    type: ValueType
    unfolded: ValueType | None = None
    constant: StoredTensor | None = None
    is_folded: bool = False
    sizes: Sizes | None = None
    number: int = field(default=UNNUMBERED, init=False)
    was_known: bool = field(init=False)

    def __post_init__(self) -> None:
        is_same = self.unfolded is None or self.unfolded == self.type
        self.was_known = is_same and not self.is_folded and self.sizes is None

    def facts(self) -> tuple[Any, ...]:
        """Return everything that is known; the name of the constant does not count."""
        data = None if self.constant is None else self.constant.facts
        return self.type, self.unfolded, data, self.is_folded, self.sizes


class TypeScope:
    """The values of one graph, and of the graphs around it.

    Attributes:
        values: the facts about values by name.
        declared: the types that the graph declares of what its nodes make.
        outputs: the names of the outputs of the graph.
        versions: those of the operator sets.
        is_in_function: whether it is the body of a function of the model, or lies in one.
        kind: the versions and `is_in_function`, as a key.
    """

    def __init__(
        self, versions: Mapping[str, int], around: TypeScope | None = None, *, is_in_function: bool = False
    ) -> None:
        self.values: dict[str, KnownValue] = {}
        self.declared: dict[str, ValueType] = {}
        self.outputs: frozenset[str] = frozenset()
        self.versions = versions
        self.is_in_function: bool = around.is_in_function if around is not None else is_in_function
        self.kind: tuple[Any, ...] = around.kind if around is not None else (tuple(versions.items()), is_in_function)
        self._around = around

    def declare(self, graph: Any) -> None:
        """Record the types that a graph declares; those of its outputs override ``value_info``."""
        for value in (*graph.value_info, *graph.output):
            type_ = declared_type(value.type)
            if type_.is_known:
                self.declared[value.name] = type_
        self.outputs = frozenset(o.name for o in graph.output)

    def find(self, name: str) -> KnownValue | None:
        """Return the facts about a value; a value of an inner graph shadows an outer one of the same name."""
        known = self.values.get(name)
        if known is None and self._around is not None:
            known = self._around.find(name)
            # The sizes in an outer value are not known in an inner graph.
            return known if known is None or known.sizes is None else replace(known, sizes=None)
        return known

    def type_of(self, name: str) -> ValueType | None:
        """Return the type of a value; None if it is unknown."""
        known = self.find(name)
        return None if known is None else known.type

    def known_types(self, names: Iterable[str]) -> dict[str, ValueType]:
        """Return the types of values, as far as they are known."""
        pairs = ((name, self.type_of(name)) for name in names if name)
        return {name: t for name, t in pairs if t is not None and t.is_known}

    def put(self, name: str, type_: ValueType) -> None:
        """Record the type of a value."""
        before = self.values.get(name)
        self.values[name] = KnownValue(type_) if before is None else replace(before, type=type_)

    def put_unfolded(self, name: str) -> None:
        """Record that the present type of a value, if any, is the one before constants are folded."""
        before = self.values.get(name)
        if before is not None:
            self.values[name] = replace(before, unfolded=before.type)
            self.declared[name] = before.type

    def put_sizes(self, name: str, sizes: Sizes) -> None:
        """Record the sizes that are the elements of a value."""
        before = self.values.get(name)
        if before is not None:
            self.values[name] = replace(before, sizes=sizes)

    def fold(self, name: str, tensor: Any) -> None:
        """Add a constant that is computed from others."""
        before, type_ = self.values.get(name), tensor_type(tensor.data_type, tensor.dims)
        unfolded, sizes = (None, None) if before is None else (before.unfolded or before.type, before.sizes)
        self.values[name] = KnownValue(type_, unfolded, StoredTensor(tensor), is_folded=True, sizes=sizes)


class SessionRefusal(NamedTuple):
    """Why ONNX Runtime does not open a model: the node, ONNX Runtime's message, and the node's input types.

    ``is_certain`` is false if it may still open the model.
    """

    node: Any
    text: str
    types: Sequence[ValueType | None]
    is_certain: bool = True


class RefusedSessionError(Exception):
    """ONNX Runtime does not open the model."""

    def __init__(self, refusal: SessionRefusal) -> None:
        super().__init__(refusal.text)
        self.refusal = refusal


def refused_session(node: Any, text: str, scope: TypeScope) -> RefusedSessionError:
    """Return a refusal because of a node, as an exception."""
    return RefusedSessionError(
        SessionRefusal(node, text, [scope.type_of(name) if name else None for name in node.input])
    )


def inference_message(error: Exception) -> str:
    """Return an inference's error message without its prefix."""
    text = str(error).strip().splitlines()[0]
    return text.split("Error] ", 1)[-1].split("): ", 1)[-1].rstrip(".")
