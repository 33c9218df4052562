"""A function of sizes, called on a path and with numbers."""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from symbcast.core.solver.evaluation.evaluation import UndefinedError, size_at, value_at
from symbcast.paths.confirmation import Raised
from symbcast.paths.path import current
from symbcast.paths.real import Real
from symbcast.paths.size import Size, sized

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol
    from symbcast.core.algebra.terms import Dim
    from symbcast.paths.path import Path


MAX_NUMBER = 1 << 12
"""A function of sizes is called with numbers up to here: it may count to them."""


class Calls:
    """A function of a tuple of sizes, and the sizes that it is called with."""

    def __init__(self, run: Callable[[tuple[Any, ...]], Any], dims: Sequence[Dim]) -> None:
        self.run, self.dims = run, tuple(dims)

    def on(self, path: Path) -> Any:
        """Return what the function returns on a path."""
        return self.run(tuple(sized(d, path) for d in self.dims))

    has_data = False

    def results(self, at: Mapping[Symbol, int]) -> Iterator[Any]:
        """Yield what the function returns with numbers, or the error that it raises; twice, which must be the same."""
        yield self._called(at)
        yield self._called(at)

    def _called(self, at: Mapping[Symbol, int]) -> Any:
        token = current.set(None)
        try:
            return self.run(tuple(size_at(d, at) for d in self.dims))
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # a function may raise SystemExit, or a kind of its own
            return Raised.of(error)
        finally:
            current.reset(token)

    def fits(self, found: Any, real: Any, at: Mapping[Symbol, int]) -> bool:
        """Return whether what the function returned on a path is a value, at some sizes."""
        return _is_same(found, real, at)

    def is_small(self, at: Mapping[Symbol, int]) -> bool:
        """Return whether the function may be called with these numbers."""
        values = [value_at(d, at) for d in self.dims]
        return all(v is not None and 0 <= v <= MAX_NUMBER for v in values)

    def is_of_data(self, error: BaseException) -> bool:
        """Return False: there are no data."""
        return False

    def text(self, value: Any, at: Mapping[Symbol, int] | None = None) -> str:
        """Return a value as text, that of a size being its number."""
        return reprlib.repr(value if at is None else _at(value, at))


def _at(found: Any, at: Mapping[Symbol, int]) -> Any:
    """Return what was found as the value that it is at some sizes."""
    if issubclass(type(found), Size):
        return value_at(found.dim, at)
    if type(found) is Real:
        return _number(found, at)
    if type(found) in (tuple, list):
        return type(found)(_at(v, at) for v in found)
    return {_at(k, at): _at(v, at) for k, v in found.items()} if isinstance(found, Mapping) else found


def _number(found: Real, at: Mapping[Symbol, int]) -> Any:
    """Return the number that a real is at some sizes; None where it has none."""
    try:
        return found.recipe(at)
    except (ArithmeticError, UndefinedError, ValueError):
        return None


def _is_same(found: Any, real: Any, at: Mapping[Symbol, int]) -> bool:
    """Return whether what was found is a value, at some sizes, as far as values can be compared."""
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
    """Return whether two values are equal; so are those of a kind that only compares identities."""
    if getattr(type(found), "__eq__", None) is object.__dict__["__eq__"]:
        return True
    try:
        return bool(found == real) or bool(found != found and real != real)  # noqa: PLR0124 - a NaN is equal to none
    except Exception:
        return True
