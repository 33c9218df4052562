"""Promises that are checked when their function is called, by the condition that its trace proved.

The function is traced at its first call. The sizes of a call then decide: names must have one size each, the
assumptions and the condition must hold for some sizes that fit, and so must the promised shapes of the result. What was
decided is kept for each set of shapes.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache, wraps
from inspect import signature
from typing import Any, NamedTuple

from symbcast.arrays.apart import Call
from symbcast.arrays.arguments import TRACED, WITHOUT_CHECKS, ArrayArgument, SizeArgument, confirming
from symbcast.arrays.report.report import TraceReport
from symbcast.core.logic.formulas import Formula, equal
from symbcast.core.shapes import Shape, known_rank, shape
from symbcast.core.solver.decision.decision import Decision
from symbcast.errors import BindingError
from symbcast.paths.conclusions.answer import conclusions_of
from symbcast.paths.runs.path import current


class IncompleteTraceWarning(UserWarning):
    """A call that a promise does not decide: the trace is incomplete, or an argument has no shape."""


class _Said(NamedTuple):
    """What is wrong with a call, or why it is not decided; both empty if it keeps the promise."""

    error: str = ""
    unknown: str = ""


Sizes = tuple["int | tuple[int, ...] | None", ...]
"""The shapes and sizes of a call in the order of the promise; None for what has none."""


class Enforced:
    """A function's promise, and what is known about the shapes that it was called with."""

    def __init__(self, function: Callable[..., Any], call: Call, returns: Any) -> None:
        self.function, self.call, self.returns = function, call, returns
        self.name = getattr(function, "__qualname__", type(function).__qualname__)
        bound = signature(function).bind(*call.arguments, **call.named)
        self._asked = dict(bound.arguments)
        self.before = lru_cache(4096)(self._before)
        self.after = lru_cache(4096)(self._after)

    @cached_property
    def report(self) -> TraceReport:
        """The trace of the function, made at its first call."""
        return self.call.of(self.function)

    def shapes_of(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Sizes:
        """Return the shapes in the arguments of a call."""
        given = signature(self.function).bind(*args, **kwargs)
        given.apply_defaults()
        pairs = ((asked, given.arguments.get(name)) for name, asked in self._asked.items())
        return tuple(size for asked, value in pairs for size in _sizes(asked, value))

    def _before(self, sizes: Sizes) -> _Said:
        """Decide about the arguments of a call."""
        found = conclusions_of(self.report)
        constraints: list[Formula] = [a.formula for a in found.scope.assumptions]
        unknown = "an argument has no shape" if None in sizes else ""
        for asked, size in zip(found.scope.shapes, sizes, strict=True):
            dims = (size,) if isinstance(size, int) else size
            if dims is not None and len(dims) != len(asked.dims):
                return _Said(f"an argument has {len(dims)} axes, and {asked} is promised")
            constraints += [equal(d, n) for d, n in zip(asked.dims, dims or (), strict=False) if d != n]
        if _is_possible(found.knowledge, constraints) is False:
            shapes = ", ".join(map(str, found.scope.shapes))
            return _Said(f"the arguments have the shapes {_text(sizes)}, and {shapes} are promised")
        is_possible = _is_possible(found.knowledge, [*constraints, found.formula])
        if is_possible is False:
            return _Said(f"it works only if {self.report.condition}, and the arguments have the shapes {_text(sizes)}")
        if self.report.account.open and not _is_possible(found.knowledge, [*constraints, found.works]):
            return _Said(unknown=unknown or f"the trace is incomplete: {self.report.reason}")
        return _Said(unknown=unknown or ("" if is_possible else "the condition was not decided"))

    def _after(self, sizes: Sizes, returned: Any) -> _Said:
        """Decide about the shapes of a result; ``returned`` are the pairs of its shapes and the promised ones."""
        found = conclusions_of(self.report)
        names = {name: symbol for symbol, name in found.scope.names.items()}
        constraints: list[Formula] = []
        for asked, size in zip(found.scope.shapes, sizes, strict=True):
            dims = (size,) if isinstance(size, int) else size
            constraints += [equal(d, n) for d, n in zip(asked.dims, dims or (), strict=False) if d != n]
        for promised, dims in returned:
            wanted = _bound(known_rank(shape(promised), "a promise", TRACED), names)
            if dims is None or len(dims) != len(wanted):
                return _Said(f"it returns {_text((dims,))}, and ({promised}) is promised")
            constraints += [equal(d, n) for d, n in zip(wanted, dims, strict=True) if d != n]
        if _is_possible(found.knowledge, constraints) is False:
            shapes, promised = _text(tuple(d for _, d in returned)), ", ".join(str(p) for p, _ in returned)
            return _Said(f"it returns {shapes} for {_text(sizes)}, and ({promised}) is promised")
        return _Said()

    def refuse(self, said: _Said) -> None:
        """Raise `BindingError` for a call that breaks the promise; warn about one that is not decided."""
        if said.error:
            raise BindingError(f"{self.name}: {said.error}")
        if said.unknown:
            warnings.warn(f"{self.name} is not checked: {said.unknown}", IncompleteTraceWarning, stacklevel=4)


def enforced(function: Callable[..., Any], call: Call, returns: Any) -> Callable[..., Any]:
    """Return a function that checks each call of another one by its promise."""
    promise = Enforced(function, call, returns)

    @wraps(function)
    def checking(*args: Any, **kwargs: Any) -> Any:
        if current.get() is not None or confirming.get():  # another function is being traced
            return function(*args, **kwargs)
        sizes = promise.shapes_of(args, kwargs)
        promise.refuse(promise.before(sizes))
        result = function(*args, **kwargs)
        if returns is not None:
            promise.refuse(promise.after(sizes, tuple(_returned(returns, result))))
        return result

    setattr(checking, WITHOUT_CHECKS, function)
    return checking


def _is_possible(knowledge: Any, constraints: Sequence[Formula]) -> bool | None:
    return Decision(knowledge, constraints).satisfiable


def _bound(promised: Shape, names: Mapping[str, Any]) -> tuple[Any, ...]:
    from symbcast.core.algebra.arithmetic import replaced
    from symbcast.core.algebra.terms import symbols_of

    known = {s: names[s.name] for s in symbols_of(promised.dims) if s.name in names}
    return tuple(replaced(d, known) for d in promised.dims)


def _sizes(asked: Any, value: Any) -> Iterator[int | tuple[int, ...] | None]:
    """Yield the shapes and sizes of a value where a promise has some."""
    if isinstance(asked, (ArrayArgument, str, Shape)):
        yield _shape_of(value)
    elif isinstance(asked, SizeArgument):
        yield int(value) if isinstance(value, int) else None
    elif type(asked) in (list, tuple):
        values = value if isinstance(value, (list, tuple)) and len(value) == len(asked) else [None] * len(asked)
        for inner, one in zip(asked, values, strict=True):
            yield from _sizes(inner, one)
    elif type(asked) is dict:
        for key, inner in asked.items():
            yield from _sizes(inner, value.get(key) if isinstance(value, Mapping) else None)


def _shape_of(value: Any) -> tuple[int, ...] | None:
    dims = getattr(value, "shape", () if isinstance(value, (int, float, complex)) else None)
    return None if dims is None else tuple(dims)


def _returned(promised: Any, value: Any) -> Iterator[tuple[Any, tuple[int, ...] | None]]:
    """Yield the promised shapes, each with that of the result."""
    if isinstance(promised, (str, Shape)):
        yield promised, _shape_of(value)
    elif isinstance(promised, Mapping):
        for key, inner in promised.items():
            yield from _returned(inner, value.get(key) if isinstance(value, Mapping) else None)
    else:
        values = value if isinstance(value, (list, tuple)) else ()
        for number, inner in enumerate(promised):
            yield from _returned(inner, values[number] if number < len(values) else None)


def _text(sizes: Any) -> str:
    return ", ".join("no shape" if s is None else str(s) for s in sizes)
