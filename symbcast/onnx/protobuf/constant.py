"""Constants of a model: tensors whose numbers are read on first use."""

from __future__ import annotations

import struct
from collections.abc import Hashable, Iterable, Sequence
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

from symbcast.graphs.values.contents import MAX_ELEMENTS, from_array, from_numbers
from symbcast.graphs.values.value import Constant

if TYPE_CHECKING:
    from symbcast.graphs.values.contents import Content

EXTERNAL = 1

_SHORT = 16
"""Largest number of elements to read without numpy; importing numpy takes longer than reading them."""
_CODES = {1: "f", 6: "i", 7: "q", 9: "?", 11: "d"}
"""Element types used in shape computations, with their `struct` format letters."""

_INT64 = 7
_INTEGERS = frozenset({2, 3, 4, 5, 6, 7, 9, 12, 13})
_REALS = frozenset({1, 10, 11})


class StoredTensor:
    """A tensor of a model, read once for all that examines it; ``raw`` is its ``TensorProto``.

    Attributes:
        shape, dtype: its sizes and its element type.
        is_long: whether it has more elements than are listed or computed with.
    """

    __slots__ = ("_facts", "_written", "dtype", "is_long", "raw", "shape")

    def __init__(self, tensor: Any, facts: Hashable = None) -> None:
        self.raw = tensor
        self.shape: tuple[int, ...] = tuple(tensor.dims[:])  # a list takes half the time of the container
        self.dtype: int = tensor.data_type
        self.is_long = prod(self.shape) > MAX_ELEMENTS
        self._facts = facts
        self._written: bytes | None = None

    @property
    def facts(self) -> Hashable:
        """The shape and type, and the data unless it is long; equal for tensors that differ only in their names."""
        if self._facts is None:
            self._facts = (self.shape, self.dtype) if self.is_long else unnamed(self.raw)
        return self._facts

    @property
    def written(self) -> bytes:
        """The message as bytes."""
        if self._written is None:
            self._written = self.raw.SerializeToString(deterministic=True)
        return self._written


class Tensors:
    """The tensors of a model: those that are short and equal but for their names are one object."""

    def __init__(self) -> None:
        self._stored: dict[tuple[Any, ...], StoredTensor] = {}
        self._short: dict[tuple[int, ...], bool] = {}
        """Whether tensors have few elements, by element type and sizes."""

    def read(self, tensor: Any) -> StoredTensor:
        """Return a tensor; another one if that is equal to it."""
        kind = tensor.data_type, *tensor.dims[:]
        is_short = self._short.get(kind)
        if is_short is None:
            is_short = self._short[kind] = prod(kind[1:]) <= MAX_ELEMENTS
        if not is_short or tensor.data_location:
            return StoredTensor(tensor)
        data = tensor.raw_data
        if not data and kind[0] == _INT64 and not tensor.HasField("raw_data"):
            data = tuple(tensor.int64_data[:])
        if not data:
            return StoredTensor(tensor)
        key = kind, data
        found = self._stored.get(key)
        if found is None:
            found = self._stored[key] = StoredTensor(tensor, key)
        return found


class Initializers(NamedTuple):
    """The initializers of a graph.

    Attributes:
        names: the name of each.
        tensors: the tensor of each; equal ones may be one object.
        different: each object once.
    """

    names: list[str]
    tensors: list[StoredTensor]
    different: Sequence[StoredTensor]

    @classmethod
    def of(cls, protos: Iterable[Any]) -> Initializers:
        """Read the initializers of a graph."""
        read = Tensors().read
        names, tensors = [], []
        for proto in protos:
            names.append(proto.name)
            tensors.append(read(proto))
        return cls(names, tensors, list(dict.fromkeys(tensors)))


class TensorConstant(Constant):
    """A constant; ``raw`` is its ``TensorProto``."""

    __slots__ = ("_stored",)

    def __init__(self, tensor: Any, stored: StoredTensor | None = None) -> None:
        self._stored = stored = StoredTensor(tensor) if stored is None else stored
        super().__init__(tensor, stored.shape, stored.dtype)

    def read(self) -> Content | None:
        """Return the content, for integers, truth values and real numbers that are short fractions."""
        tensor = self.raw
        is_short_real = tensor.data_type in _REALS and prod(tensor.dims) <= MAX_ELEMENTS
        if tensor.data_type not in _INTEGERS and not is_short_real:
            return None
        numbers = read_short(tensor)
        if numbers is not None:
            return from_numbers(numbers)
        array = self.array
        return None if array is None else from_array(array)

    @property
    def array(self) -> Any:
        """The numbers; None where their data are outside the model, or cannot be read."""
        self.was_read = self._stored.is_long
        return read_array(self.raw)

    def facts(self) -> Hashable | None:
        """Return the shape and type, and the data of a constant that is short enough to be listed."""
        return TensorConstant, self._stored.facts


def unnamed(tensor: Any) -> bytes:
    """Return a tensor as bytes that do not depend on its name."""
    if tensor.HasField("raw_data"):
        return b"%d %r " % (tensor.data_type, list(tensor.dims)) + bytes(tensor.raw_data)
    if tensor.data_type == _INT64:
        return b"%d %r of %r" % (_INT64, list(tensor.dims), list(tensor.int64_data))
    made = type(tensor)()
    made.CopyFrom(tensor)
    made.ClearField("name")
    return bytes(made.SerializeToString(deterministic=True))


def read_short(tensor: Any) -> list[Any] | None:
    """Return the numbers of a short tensor whose data are bytes or integers in the model; None for others."""
    code = _CODES.get(tensor.data_type)
    count = 1
    for size in tensor.dims:
        count *= size
    if code is None or not 0 < count <= _SHORT or tensor.data_location == EXTERNAL:
        return None
    raw = tensor.raw_data
    if not raw and tensor.data_type == _INT64:
        numbers = tensor.int64_data[:]
        return numbers if len(numbers) == count else None
    layout = f"<{count}{code}"
    return list(struct.unpack(layout, raw)) if len(raw) == struct.calcsize(layout) else None


def read_array(tensor: Any) -> Any:
    """Return a tensor as a numpy array; None where its data are outside the model, or cannot be read."""
    from onnx import numpy_helper

    if tensor.data_location == EXTERNAL:
        return None
    try:
        return numpy_helper.to_array(tensor)
    except (ValueError, TypeError, KeyError):
        return None  # a broken tensor: its numbers stay unknown
