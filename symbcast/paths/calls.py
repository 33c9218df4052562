"""A function of sizes, called on a path and with numbers."""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from symbcast.core.solver.evaluation.evaluation import UndefinedError, size_at, value_at
from symbcast.paths.real_calls import Raised
from symbcast.paths.runs.path import current
from symbcast.paths.values.real import Real
from symbcast.paths.values.size import Size, sized

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol
    from symbcast.core.algebra.terms import Dim
    from symbcast.paths.runs.path import Path


MAX_NUMBER = 1 << 12
"""The largest number that a function of sizes is called with: the function may loop that often."""


class Calls:
    """A function of a tuple of sizes, and the sizes to call it with."""

    def __init__(self, run: Callable[[tuple[Any, ...]], Any], dims: Sequence[Dim]) -> None:
        self.run, self.dims = run, tuple(dims)

    def on(self, path: Path) -> Any:
        """Return the function's result on a path."""
        return self.run(tuple(sized(d, path) for d in self.dims))

    has_data = False

    def results(self, at: Mapping[Symbol, int]) -> Iterator[Any]:
        """Yield the function's result or error at some sizes twice, because both must agree."""
        yield self._called(at)
        yield self._called(at)

    def _called(self, at: Mapping[Symbol, int]) -> Any:
        token = current.set(None)
        try:
            return self.run(tuple(size_at(d, at) for d in self.dims))
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # a function may raise SystemExit, or its own error type
            return Raised.of(error)
        finally:
            current.reset(token)

    def fits(self, found: Any, real: Any, at: Mapping[Symbol, int]) -> bool:
        """Return whether the result on a path equals a real value at some sizes."""
        return _is_same(found, real, at)

    def is_small(self, at: Mapping[Symbol, int]) -> bool:
        """Return whether the function may be called with these numbers."""
        values = [value_at(d, at) for d in self.dims]
        return all(v is not None and 0 <= v <= MAX_NUMBER for v in values)

    def is_without_data(self, at: Mapping[Symbol, int]) -> bool:
        """Return True: the call has no data."""
        return True

    def is_of_data(self, error: BaseException) -> bool:
        """Return False: the call has no data."""
        return False

    def text(self, value: Any, at: Mapping[Symbol, int] | None = None) -> str:
        """Return a value as text, with its sizes replaced by numbers."""
        return reprlib.repr(value if at is None else _at(value, at))


def _at(found: Any, at: Mapping[Symbol, int]) -> Any:
    """Return a result of a path with its sizes replaced by numbers."""
    if issubclass(type(found), Size):
        return value_at(found.dim, at)
    if type(found) is Real:
        return _number(found, at)
    if type(found) in (tuple, list):
        return type(found)(_at(v, at) for v in found)
    return {_at(k, at): _at(v, at) for k, v in found.items()} if isinstance(found, Mapping) else found


def _number(found: Real, at: Mapping[Symbol, int]) -> Any:
    """Return the value of a real at some sizes; None if it is undefined there."""
    try:
        return found.recipe(at)
    except (ArithmeticError, UndefinedError, ValueError):
        return None


def _is_same(found: Any, real: Any, at: Mapping[Symbol, int]) -> bool:
    """Return whether a result of a path equals a real value at some sizes, as far as values can be compared."""
    if issubclass(type(found), Size):
        return type(real) is int and value_at(found.dim, at) == real
    if type(found) is Real:
        return _is_equal(_number(found, at), real)
    if type(found) is not type(real):
        return False
    if isinstance(found, (tuple, list)):
        return len(found) == len(real) and all(_is_same(f, r, at) for f, r in zip(found, real, strict=True))
    if isinstance(found, Mapping):
        values = {_at(k, at): v for k, v in found.items()}
        return values.keys() == real.keys() and all(_is_same(v, real[k], at) for k, v in values.items())
    return _is_equal(found, real)


def _is_equal(found: Any, real: Any) -> bool:
    """Return whether two values are equal; values that compare by identity count as equal."""
    if getattr(type(found), "__eq__", None) is object.__dict__["__eq__"]:
        return True
    try:
        return bool(found == real) or bool(found != found and real != real)  # noqa: PLR0124 - NaN != NaN
    except Exception:
        return True
