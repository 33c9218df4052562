"""Values with named fields, at a fraction of what dataclasses and named tuples cost when a process starts.

Defining a dataclass takes 0.4 ms and needs `inspect`, which loads Python's parser and disassembler: together, twenty
dataclasses took longer than the answer to a short question. A named tuple of `typing` takes 0.1 ms: it compiles each
annotation, and a constructor that few commands call. The check of a model defines 160 of them.
"""

from __future__ import annotations

from collections import _tuplegetter  # type: ignore[attr-defined] # of `collections.namedtuple`
from collections.abc import Iterable
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar, Self, dataclass_transform


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


if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple  # noqa: PLC0414 - exported
else:

    class _NamedTupleType(type):
        """Makes classes of named tuples: fields are the annotations; constructors are compiled when they are called."""

        def __new__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> type:
            if bases == (tuple,) or NamedTuple not in bases:
                return super().__new__(cls, name, bases, namespace)
            fields = tuple(namespace.get("__annotations__", ()))
            defaults = {field: namespace.pop(field) for field in fields if field in namespace}
            getters = {field: _tuplegetter(n, f"Alias for field number {n}") for n, field in enumerate(fields)}
            own = {"__slots__": (), "__match_args__": fields, "_fields": fields, "_field_defaults": defaults}
            return super().__new__(cls, name, bases, {**namespace, **getters, **own, "__new__": _constructed_first})

        @property
        def __signature__(cls) -> Any:
            """Returns what `inspect.signature` says of a named tuple of `typing`, without types."""
            from inspect import signature

            of_new = signature(_constructor(cls))
            return of_new.replace(parameters=list(of_new.parameters.values())[1:])

    def _constructed_first(cls: Any, *values: Any, **named: Any) -> Any:
        """Return the first value of a class; its constructor makes the others."""
        return _constructor(cls)(cls, *values, **named)

    def _constructor(cls: Any) -> Any:
        owner = next(c for c in cls.__mro__ if "_fields" in vars(c))
        fields = "".join([f"{field}, " for field in owner._fields])
        new = eval(f"lambda _cls, {fields}: _new(_cls, ({fields}))", {"_new": tuple.__new__})  # as namedtuple does
        new.__defaults__ = tuple(owner._field_defaults.values())
        new.__name__, new.__qualname__ = "__new__", f"{owner.__qualname__}.__new__"
        owner.__new__ = staticmethod(new)
        return new

    class NamedTuple(tuple, metaclass=_NamedTupleType):
        """A tuple with the annotated fields of its class, as `typing.NamedTuple`; not for generic classes.

        >>> class Span(NamedTuple):
        ...     low: int
        ...     high: int = 9
        >>> Span(2), Span(low=1)._replace(high=3), Span._fields
        (Span(low=2, high=9), Span(low=1, high=3), ('low', 'high'))
        """

        __slots__ = ()

        @classmethod
        def _make(cls, values: Iterable[Any]) -> Self:
            return cls(*values)

        def _replace(self, /, **fields: Any) -> Self:
            copy = self._make(map(fields.pop, self._fields, self))
            if fields:
                raise ValueError(f"unexpected field names: {list(fields)!r}")
            return copy

        def _asdict(self) -> dict[str, Any]:
            return dict(zip(self._fields, self, strict=True))

        def __repr__(self) -> str:
            shown = ", ".join([f"{field}={value!r}" for field, value in self._asdict().items()])
            return f"{type(self).__name__}({shown})"

        def __getnewargs__(self) -> tuple[Any, ...]:
            return tuple(self)
