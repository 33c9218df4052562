"""What is known of a value in a graph: its shape, its element type, and of small integer tensors what is in them."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

from symbcast.graphs.values.deciders import Decider

if TYPE_CHECKING:
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
