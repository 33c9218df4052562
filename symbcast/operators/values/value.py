"""Values: their known shapes, element types and elements, and what decides these: numbers, sizes or data.

Sequences of tensors and optional values have no shape. A sequence has a length and, if all its elements have the same
rank, the sizes that they share.

A node whose condition was not analysed may fail because of its sizes, unless the elements that prevented the analysis
are proven to be data, that is, every element depends on data that can be chosen. `DATA` states exactly that; any other
decider leaves the verdict open.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence, Set
from enum import IntFlag
from functools import cached_property, reduce
from operator import or_
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from symbcast.core.algebra.arithmetic import floor_divide, modulo, multiply, replace_symbols, subtract
from symbcast.core.algebra.bounds import Bounds, numbers_of
from symbcast.core.algebra.formulas import FORMULA_KINDS, Formula, at_most
from symbcast.core.algebra.symbols import sequences_of
from symbcast.core.algebra.terms import Dim, Symbol, symbols_of
from symbcast.core.solver.evaluation import symbols_in
from symbcast.core.structs import NamedTuple
from symbcast.operators.values.contents import FLOATS, Content, Elements, IndexRamp, RampStack, SizeRatio, is_size

if TYPE_CHECKING:
    from symbcast.operators.operator import Dims


# Classify what decides a value's elements: nothing (they are the same at all sizes), sizes, data, or both.


class Decider(IntFlag):
    """What decides the elements of a value; ``|`` joins deciders.

    `DATA` alone means that data can be chosen to give a node the elements that it needs; a question about any other
    elements may have an answer that depends on sizes.
    """

    NUMBERS = 0
    SIZES = 1
    DATA = 2
    BOTH = 3


UNNUMBERED = 0


class Value:
    """A value: ``shape`` is None if not even the rank is known; ``content`` describes the known elements.

    ``dtype`` is the number of the element type in ``TensorProto.DataType``, 0 if unknown. ``decided_by`` says what
    decides the elements (`symbcast.operators.values.value`); it is None until the walk sets it. ``key`` is a number
    that values of one walk share if the same is known about them; it is `UNNUMBERED` until the walk needs it.

    Nodes about which the same is known share their outputs, so a walk does not change a value that a node gave.
    """

    __slots__ = ("content", "decided_by", "dtype", "key", "shape")

    def __init__(self, shape: Dims | None, dtype: int = 0, content: Content | None = None) -> None:
        self.shape = shape
        self.dtype = dtype
        self.content = content
        self.decided_by: Decider | None = None
        self.key = UNNUMBERED

    def facts(self) -> Hashable | None:
        """Return everything that is known about the value; None if that is more than a tensor's shape and elements."""
        if type(self) is not Value or self.shape is None:
            return None
        return self.shape, self.dtype, self.decided_by, type(self.content), self.content

    def copy(self) -> Value:
        """Return another value about which the same is known."""
        copy = Value.__new__(Value)  # without the constructor, which takes longer
        copy.shape, copy.dtype, copy.content = self.shape, self.dtype, self.content
        copy.decided_by, copy.key = self.decided_by, self.key
        return copy

    def with_sizes(self, shape: Dims | None) -> Value:
        """Return the value with its shape in another form."""
        value = Value(shape, self.dtype, self.content)
        value.decided_by = self.decided_by
        return value

    def with_content(self, content: Content | None) -> Value:
        """Return a value with other elements, but the same shape, type and decider."""
        value = Value(self.shape, self.dtype, content)
        value.decided_by = self.decided_by
        return value

    def __repr__(self) -> str:
        return f"Value({self.shape}, {self.dtype}, {self.content})"


class OpenValue(Value):
    """A value of unknown rank with a partly known shape: ``ends`` contains a sequence of axes.

    Only `symbcast.graphs.walking.unknown_ranks` and the reports use ``ends``; for all other code the shape is unknown.
    """

    __slots__ = ("ends",)

    def __init__(self, ends: Dims, dtype: int = 0) -> None:
        super().__init__(None, dtype)
        self.ends = ends


def known_dims(value: Value) -> Dims | None:
    """Return a value's shape, which includes a sequence of axes if the rank is unknown; None if nothing is known."""
    return value.ends if isinstance(value, OpenValue) else value.shape


def is_of_unknown_rank(dims: Dims) -> bool:
    """Return whether sizes include those of an unnamed sequence of axes."""
    return any(s.is_anonymous for s in sequences_of(symbols_of(dims)))


# Looking it up in the class takes longer.
_NUMBERS = Decider.NUMBERS


class Constant(Value):
    """A value stored in a model; its elements are read on demand.

    ``raw`` is the framework's object for the value; ``was_read`` says whether an array of its numbers was read.
    """

    __slots__ = ("__dict__", "raw", "was_read")

    def __init__(self, raw: Any, shape: Dims, dtype: int) -> None:
        self.raw = raw
        self.was_read = False
        super().__init__(shape, dtype)
        self.decided_by = _NUMBERS

    def read(self) -> Content | None:
        """Return the elements, as a list or an array; None if they cannot be known."""
        return None

    @property
    def array(self) -> Any:
        """The numbers as a NumPy array; None if they cannot be read."""
        return None

    @cached_property
    def _read(self) -> Content | None:
        return self.read()

    @property
    def content(self) -> Content | None:
        """The elements, as a list or an array."""
        return self._read

    @content.setter
    def content(self, content: Content | None) -> None:
        if content is not None:
            self.__dict__["_read"] = content


# A value about which nothing is known.
UNKNOWN = Value(None)
UNKNOWN.decided_by = Decider.BOTH

# A value that never exists: its node can run at no sizes.
NEVER = Value(None)
NEVER.decided_by = Decider.NUMBERS


CommonShape: TypeAlias = "tuple[Dim | None, ...] | None"
"""The common part of shapes: None for a size in which they may differ, None for the whole if their ranks may differ."""


class SequenceParts(NamedTuple):
    """The parts into which a tensor is cut, each of length ``size``; the last one is the remainder of ``whole``.

    ``each`` is the shape of every part except the remainder, ``rest`` is the shape of the remainder.
    """

    each: Dims
    rest: Dims
    size: Dim
    whole: Dim

    @property
    def whole_count(self) -> Dim:
        """The number of parts with the shape ``each``."""
        return floor_divide(self.whole, self.size)

    @property
    def has_rest(self) -> Formula:
        """The condition that there is a remainder."""
        return at_most(1, modulo(self.whole, self.size))

    @property
    def common(self) -> CommonShape:
        """The sizes that the shapes of all parts have in common."""
        return agreed([self.each, self.rest])

    def length_at(self, axis: int, position: Dim, bounds: Bounds) -> Dim | None:
        """Return the length of the part at a position from the front; None if no single formula gives it."""
        if self.each[axis] == self.rest[axis]:
            return self.each[axis]
        if (self.each[axis], self.rest[axis]) != (self.size, modulo(self.whole, self.size)):
            return None
        return bounds.smaller(self.size, subtract(self.whole, multiply(position, self.size)))


class SequenceValue(Value):
    """A sequence of tensors, or of maps.

    ``items`` holds the elements if all are known, ``common`` is the common part of their shapes, and ``parts``
    describes how they were cut from one tensor. ``dtype`` is the element type of the tensors.
    """

    __slots__ = ("common", "items", "length", "parts")

    def __init__(
        self,
        length: Dim,
        common: CommonShape,
        dtype: int = 0,
        items: tuple[Value, ...] | None = None,
        parts: SequenceParts | None = None,
    ) -> None:
        super().__init__(None, dtype)
        self.length = length
        self.common = common
        self.items = items
        self.parts = parts

    def __repr__(self) -> str:
        return f"SequenceValue({self.length}, {self.common}, {self.dtype}, {self.items})"


class OptionalValue(Value):
    """An optional value, present if a formula holds; ``inner`` is the value, None if it is not known to ever exist."""

    __slots__ = ("inner", "is_there")

    def __init__(self, inner: Value | None, is_there: Formula) -> None:
        super().__init__(None, 0 if inner is None else inner.dtype)
        self.inner = inner
        self.is_there = is_there

    def __repr__(self) -> str:
        return f"OptionalValue({self.inner}, {self.is_there})"


def sizes_in(value: Value) -> Iterator[Dim]:
    """Yield all sizes that describe a value: for a tensor, its shape."""
    if isinstance(value, SequenceValue):
        yield value.length
        yield from (d for d in value.common or () if d is not None)
        for item in value.items or ():
            yield from sizes_in(item)
    elif isinstance(value, OptionalValue):
        yield from () if value.inner is None else sizes_in(value.inner)
    else:
        yield from value.ends if isinstance(value, OpenValue) else value.shape or ()


def put_sizes(value: Value, sizes: Mapping[Symbol, Dim]) -> None:
    """Replace symbols by sizes in a value that a model declares."""
    if isinstance(value, SequenceValue):
        value.length = replace_symbols(value.length, sizes)
        if value.common is not None:
            value.common = tuple(None if d is None else replace_symbols(d, sizes) for d in value.common)
    elif isinstance(value, OptionalValue) and value.inner is not None:
        put_sizes(value.inner, sizes)
    elif isinstance(value, OpenValue):
        value.ends = tuple(replace_symbols(d, sizes) for d in value.ends)
    elif value.shape is not None:
        value.shape = tuple(replace_symbols(d, sizes) for d in value.shape)
        value.key = UNNUMBERED


def sequence_of(items: Iterable[Value], dtype: int = 0) -> SequenceValue:
    """Return a sequence of the given values."""
    listed = tuple(items)
    common_dtype = next((i.dtype for i in listed if i.dtype), dtype)
    sequence = SequenceValue(len(listed), agreed([i.shape for i in listed]), common_dtype, listed)
    deciders = [i.decided_by for i in listed if i.decided_by is not None]
    sequence.decided_by = reduce(or_, deciders) if deciders and len(deciders) == len(listed) else None
    return sequence


def agreed(shapes: Sequence[CommonShape]) -> CommonShape:
    """Return the common part of shapes."""
    known = [s for s in shapes if s is not None]
    if not known or len(known) < len(shapes) or len({len(s) for s in known}) > 1:
        return None
    return tuple(sizes[0] if len(set(sizes)) == 1 else None for sizes in zip(*known, strict=True))


def common_to(sequences: Sequence[SequenceValue]) -> CommonShape:
    """Return the common part of the shapes in sequences; empty sequences do not restrict it."""
    return agreed([s.common for s in sequences if s.items != ()])


def limited(common: CommonShape, symbols: Set[Symbol]) -> CommonShape:
    """Keep only those sizes of a common part that use the given symbols: other symbols may change elsewhere."""
    if common is None:
        return None
    return tuple(d if isinstance(d, int) or (d is not None and d.symbols().keys() <= symbols) else None for d in common)


def whole_shape(common: CommonShape) -> Dims | None:
    """Return the common part of shapes if it is complete."""
    if common is None:
        return None
    known = tuple(d for d in common if d is not None)
    return known if len(known) == len(common) else None


_ALL = tuple(map(Decider, range(len(Decider.__members__))))
_NUMBERS_VALUE, _SIZES_VALUE, _DATA_VALUE, _ = _ALL  # looking one up in the class takes longer
_OPEN = Decider.SIZES.value


class SizesOfData(Protocol):
    """Tells which sizes data decide."""

    def is_of_data(self, size: Symbol) -> bool:
        """Return whether data are proven to decide a size."""


def join_deciders(values: Iterable[Value | None]) -> Decider:
    """Return what decides elements that are computed from all of the given values."""
    number = 0
    for value in values:
        if value is not None:
            number |= _OPEN if value.decided_by is None else value.decided_by._value_  # numbers join faster than flags
    return _ALL[number]


def decider_of_content(content: Content | None, shape: Dims | None, sizes: SizesOfData) -> Decider | None:
    """Return what decides elements that are known exactly; None if they are not known exactly.

    ``sizes`` tells which sizes data decide.
    """
    if content is None:
        return None
    match content:
        case Elements(items):
            if None in items:
                return None
            return _of_symbols({s for item in items for s in symbols_of_element(item)}, sizes)
        case IndexRamp() | RampStack():
            parts = content.parts if isinstance(content, RampStack) else (content,)
            decider = _of_symbols(set(symbols_of([d for p in parts for d in (p.start, *p.strides)])), sizes)
            if any(any(p.strides) for p in parts) and numbers_of(shape) is None:
                decider |= Decider.SIZES
            return decider
    return _NUMBERS_VALUE if hasattr(content, "array") else None


def symbols_of_element(item: Any) -> Iterable[Symbol]:
    """Return the sizes that occur in an element."""
    if isinstance(item, int):
        return ()
    if isinstance(item, FORMULA_KINDS):
        return symbols_in(item)
    return symbols_of(item if isinstance(item, SizeRatio) else (item,) if is_size(item) else ())


def _of_symbols(symbols: Iterable[Symbol], sizes: SizesOfData) -> Decider:
    decider = Decider.NUMBERS
    for s in symbols:
        decider |= Decider.DATA if sizes.is_of_data(s) else Decider.SIZES
    return decider


def decider_of_result(made_of: Sequence[Value | None], *, is_moving: bool) -> Decider:
    """Return what decides elements that are made from the elements of other values.

    ``is_moving`` says that elements are only moved, and nothing is computed.
    """
    decider = join_deciders(made_of)
    if is_moving or decider is _SIZES_VALUE or decider is _DATA_VALUE:
        return decider
    if decider is _NUMBERS_VALUE:  # sizes decide how many times a number is repeated
        return _SIZES_VALUE if any(map(_is_open, made_of)) else decider
    return _DATA_VALUE if any(map(_is_free, made_of)) else decider


ElementSource: TypeAlias = "Decider | tuple[int, ...]"
"""What decides the elements that an operator makes: sizes or data alone, or the operands that they are copied from."""
FIRST: ElementSource = (0,)
EVERY: ElementSource = ()


def decider_of_source(source: ElementSource | None, operands: Sequence[Value | None]) -> Decider:
    """Return what decides the elements that an operator makes; without a source, it computes with all operands."""
    if isinstance(source, Decider):
        return source
    copied = [operands[n] for n in source or () if n < len(operands)]
    return decider_of_result(copied if join_deciders(copied) else operands, is_moving=source is not None)


def _is_open(value: Value | None) -> bool:
    return value is not None and numbers_of(value.shape) is None


def _is_free(value: Value | None) -> bool:
    """Return whether data can give the elements any values, and so compensate for what sizes decide."""
    if value is None or value.decided_by is not _DATA_VALUE:
        return False
    return value.dtype in FLOATS or value.content is None
