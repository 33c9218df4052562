"""What is known of a value in a graph: its shape, its element type, and of small integer tensors what is in them.

Sequences of tensors and optional values have no shape. A sequence has a length and, where its elements are of one rank,
the sizes that all of them share.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import cached_property, reduce
from operator import or_
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from symbcast.core.algebra.arithmetic import floor_divide, modulo, multiply, replaced, subtract
from symbcast.core.logic.formulas import Formula, at_most
from symbcast.graphs.values.deciders import Decider

if TYPE_CHECKING:
    from symbcast.core.algebra.bounds import Bounds
    from symbcast.core.algebra.symbols import Symbol
    from symbcast.core.algebra.terms import Dim
    from symbcast.graphs.values.contents import Content


Dims: TypeAlias = "tuple[Dim, ...]"


class Value:
    """A value: ``shape`` is None where not even the rank is known; ``content`` is what is known of the elements.

    ``dtype`` is the number of the element type in ``TensorProto.DataType``, 0 where it is not known. ``decided_by``
    says what decides the elements (`symbcast.graphs.values.deciders`); the walk sets it, None before that.
    """

    __slots__ = ("content", "decided_by", "dtype", "shape")

    def __init__(self, shape: Dims | None, dtype: int = 0, content: Content | None = None) -> None:
        self.shape = shape
        self.dtype = dtype
        self.content = content
        self.decided_by: Decider | None = None

    def with_sizes(self, shape: Dims | None) -> Value:
        """Return the value with its shape written otherwise."""
        made = Value(shape, self.dtype, self.content)
        made.decided_by = self.decided_by
        return made

    def with_content(self, content: Content | None) -> Value:
        """Return a value of the same shape and type with other elements, which the same decides."""
        made = Value(self.shape, self.dtype, content)
        made.decided_by = self.decided_by
        return made

    def __repr__(self) -> str:
        return f"Value({self.shape}, {self.dtype}, {self.content})"


class OpenValue(Value):
    """A value whose rank is not known, but something of its shape is: ``ends`` has a sequence of axes in it.

    Only `symbcast.graphs.unknown_ranks`, and what tells of values, look at these; to all others the shape is not known.
    """

    __slots__ = ("ends",)

    def __init__(self, ends: Dims, dtype: int = 0) -> None:
        super().__init__(None, dtype)
        self.ends = ends


def sizes_known(value: Value) -> Dims | None:
    """Return the shape of a value, with a sequence of axes in it where the rank is not known; None where nothing is."""
    return value.ends if isinstance(value, OpenValue) else value.shape


class Constant(Value):
    """A value that a model holds; its elements are read when they are asked for.

    ``raw`` is what the framework has for it.
    """

    __slots__ = ("__dict__", "raw")

    def __init__(self, raw: Any, shape: Dims, dtype: int) -> None:
        self.raw = raw
        super().__init__(shape, dtype)
        self.decided_by = Decider.NUMBERS

    def read(self) -> Content | None:
        """Return the elements, or what they are as a whole; None where they are not to be known."""
        return None

    @property
    def array(self) -> Any:
        """The numbers as a NumPy array; None where they cannot be read."""
        return None

    @cached_property
    def _read(self) -> Content | None:
        return self.read()

    @property
    def content(self) -> Content | None:
        """The elements, or what they are as a whole."""
        return self._read

    @content.setter
    def content(self, content: Content | None) -> None:
        if content is not None:
            self.__dict__["_read"] = content


UNKNOWN = Value(None)
"""A value of which nothing is known."""
UNKNOWN.decided_by = Decider.BOTH

NEVER = Value(None)
"""A value that never is: what makes it can run at no sizes."""
NEVER.decided_by = Decider.NUMBERS


CommonShape: TypeAlias = "tuple[Dim | None, ...] | None"
"""What shapes have in common: None for a size in which they may differ, None for all where their ranks may."""


class Parts(NamedTuple):
    """What comes of a tensor cut in parts of one ``size``, the last of which is what is left of the ``whole``.

    ``each`` is the shape of every part but the one that is left, ``rest`` is the shape of that.
    """

    each: Dims
    rest: Dims
    size: Dim
    whole: Dim

    @property
    def whole_count(self) -> Dim:
        """How many parts there are of the shape ``each``."""
        return floor_divide(self.whole, self.size)

    @property
    def has_rest(self) -> Formula:
        """When a part is left."""
        return at_most(1, modulo(self.whole, self.size))

    @property
    def common(self) -> CommonShape:
        """What the shapes have in common."""
        return agreed([self.each, self.rest])

    def length_at(self, axis: int, position: Dim, bounds: Bounds) -> Dim | None:
        """Return how long the part at a position from the front is; None where no one formula says so."""
        if self.each[axis] == self.rest[axis]:
            return self.each[axis]
        if (self.each[axis], self.rest[axis]) != (self.size, modulo(self.whole, self.size)):
            return None
        return bounds.smaller(self.size, subtract(self.whole, multiply(position, self.size)))


class SequenceValue(Value):
    """A sequence of tensors, or of maps.

    ``items`` are its elements where each of them is known, ``common`` is what their shapes have in common, and
    ``parts`` says how they were cut from one tensor. ``dtype`` is the element type of its tensors.
    """

    __slots__ = ("common", "items", "length", "parts")

    def __init__(
        self,
        length: Dim,
        common: CommonShape,
        dtype: int = 0,
        items: tuple[Value, ...] | None = None,
        parts: Parts | None = None,
    ) -> None:
        super().__init__(None, dtype)
        self.length = length
        self.common = common
        self.items = items
        self.parts = parts

    def __repr__(self) -> str:
        return f"SequenceValue({self.length}, {self.common}, {self.dtype}, {self.items})"


class OptionalValue(Value):
    """What is there where a formula holds: ``held`` is it, None where nothing is known to be there ever."""

    __slots__ = ("held", "is_there")

    def __init__(self, held: Value | None, is_there: Formula) -> None:
        super().__init__(None, 0 if held is None else held.dtype)
        self.held = held
        self.is_there = is_there

    def __repr__(self) -> str:
        return f"OptionalValue({self.held}, {self.is_there})"


def sizes_in(value: Value) -> Iterator[Dim]:
    """Yield all sizes that a value is described by: of a tensor its shape."""
    if isinstance(value, SequenceValue):
        yield value.length
        yield from (d for d in value.common or () if d is not None)
        for item in value.items or ():
            yield from sizes_in(item)
    elif isinstance(value, OptionalValue):
        yield from () if value.held is None else sizes_in(value.held)
    else:
        yield from value.ends if isinstance(value, OpenValue) else value.shape or ()


def put_sizes(value: Value, sizes: Mapping[Symbol, Dim]) -> None:
    """Put sizes in the place of symbols in what a value that a model declares is described by."""
    if isinstance(value, SequenceValue):
        value.length = replaced(value.length, sizes)
        if value.common is not None:
            value.common = tuple(None if d is None else replaced(d, sizes) for d in value.common)
    elif isinstance(value, OptionalValue) and value.held is not None:
        put_sizes(value.held, sizes)
    elif isinstance(value, OpenValue):
        value.ends = tuple(replaced(d, sizes) for d in value.ends)
    elif value.shape is not None:
        value.shape = tuple(replaced(d, sizes) for d in value.shape)


def sequence_of(items: Iterable[Value], dtype: int = 0) -> SequenceValue:
    """Return the sequence of some values."""
    listed = tuple(items)
    found = next((i.dtype for i in listed if i.dtype), dtype)
    made = SequenceValue(len(listed), agreed([i.shape for i in listed]), found, listed)
    deciders = [i.decided_by for i in listed if i.decided_by is not None]
    made.decided_by = reduce(or_, deciders) if deciders and len(deciders) == len(listed) else None
    return made


def agreed(shapes: Sequence[CommonShape]) -> CommonShape:
    """Return what shapes have in common."""
    known = [s for s in shapes if s is not None]
    if not known or len(known) < len(shapes) or len({len(s) for s in known}) > 1:
        return None
    return tuple(sizes[0] if len(set(sizes)) == 1 else None for sizes in zip(*known, strict=True))


def common_to(sequences: Sequence[SequenceValue]) -> CommonShape:
    """Return what the elements of sequences have in common; one that is empty has none that differ."""
    return agreed([s.common for s in sequences if s.items != ()])


def limited(common: CommonShape, symbols: Set[Symbol]) -> CommonShape:
    """Return what shapes have in common but for sizes of other symbols than some: these may be others elsewhere."""
    if common is None:
        return None
    return tuple(d if isinstance(d, int) or (d is not None and d.symbols().keys() <= symbols) else None for d in common)


def whole_shape(common: CommonShape) -> Dims | None:
    """Return what shapes have in common where that is all of them."""
    if common is None:
        return None
    known = tuple(d for d in common if d is not None)
    return known if len(known) == len(common) else None
