"""Values with named fields, at a fraction of what dataclasses cost when a process starts.

Defining a dataclass takes 0.4 ms and needs `inspect`, which loads Python's parser and disassembler: together, twenty
dataclasses took longer than the answer to a short question.
"""

from __future__ import annotations

from operator import attrgetter
from typing import Any, ClassVar, Self, dataclass_transform


@dataclass_transform(frozen_default=True)
class Struct:
    """A value with the annotated fields of its class; it equals any other of its class with equal fields.

    As for a frozen dataclass, fields are given by position or by name, may have defaults, are matched by position, and
    are never set again. Only classes derived from this one directly have fields.

    >>> class Span(Struct):
    ...     low: int
    ...     high: int = 9
    >>> Span(2), Span(2) == Span(2, 9), Span(2).replace(low=3)
    (Span(low=2, high=9), True, Span(low=3, high=9))
    """

    __match_args__: ClassVar[tuple[str, ...]] = ()
    _values: ClassVar[Any]

    def __init_subclass__(cls) -> None:
        names = cls.__match_args__ = tuple(cls.__annotations__)  # type: ignore[misc]
        cls._values = attrgetter(*names)
        arguments = ", ".join([f"{name}=cls.{name}" if hasattr(cls, name) else name for name in names])
        stores = "".join([f"    _fields[{name!r}] = {name}\n" for name in names])
        source = f"def __init__(self, {arguments}):\n    _fields = self.__dict__\n{stores}"
        namespace: dict[str, Any] = {"cls": cls}
        exec(source, namespace)  # as dataclasses do: a loop over the fields would triple the time to make an instance
        cls.__init__ = namespace["__init__"]  # type: ignore[method-assign]

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is not changed; replace() returns a copy with another {name}")

    def __eq__(self, other: object) -> bool:
        return self._values(self) == other._values(other) if type(other) is type(self) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._values(self))

    def __repr__(self) -> str:
        shown = ", ".join([f"{name}={getattr(self, name)!r}" for name in self.__match_args__])
        return f"{type(self).__qualname__}({shown})"

    def replace(self, **fields: Any) -> Self:
        """Return a copy with other values of some fields."""
        return type(self)(**{name: fields.pop(name, getattr(self, name)) for name in self.__match_args__}, **fields)
