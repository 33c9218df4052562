"""A run of sizes, called on a path and with the numbers of a path: whether it does what was found."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from symbcast.algebra.terms import symbols_of
from symbcast.paths.path import current
from symbcast.paths.places import place_of_error
from symbcast.paths.real import Real
from symbcast.paths.size import Size, sized
from symbcast.solver.evaluation import size_at

if TYPE_CHECKING:
    from symbcast.algebra.symbols import Symbol
    from symbcast.algebra.terms import Dim
    from symbcast.paths.path import Path


class Calls:
    """A function of a tuple of sizes, and the sizes that it is called with."""

    def __init__(self, run: Callable[[tuple[Any, ...]], Any], dims: Sequence[Dim]) -> None:
        self.run, self.dims = run, tuple(dims)
        self._found: Any = None

    def on(self, path: Path) -> Any:
        """Return what the function returns on a path, which `gives` holds against numbers."""
        self._found = self.run(tuple(sized(d, path) for d in self.dims))
        return self._found

    def gives(self, _: Any, path: Path) -> bool:
        """Return whether the function returns, with numbers of a path, what it returned on it."""
        try:
            real = self._with_numbers(path)
        except KeyboardInterrupt:
            raise
        except BaseException:
            return False
        return _is_same(self._found, real, self._sizes(path))

    def fails_alike(self, error: BaseException, path: Path) -> bool:
        """Return whether the function raises an error with numbers of a path as it did on it, at the same line."""
        try:
            self._with_numbers(path)
        except KeyboardInterrupt:
            raise
        except BaseException as real:
            lines = [place_of_error(e, path.root, path.home) for e in (error, real)]
            return type(real) is type(error) and lines[0] == lines[1]
        return False

    def _with_numbers(self, path: Path) -> Any:
        sizes = self._sizes(path)
        token = current.set(None)
        try:
            return self.run(tuple(size_at(d, sizes) for d in self.dims))
        finally:
            current.reset(token)

    def _sizes(self, path: Path) -> dict[Symbol, int]:
        return {**dict.fromkeys(symbols_of(self.dims), max(2, path.min_size)), **path.sizes}


def _is_same(found: Any, real: Any, at: Mapping[Symbol, int]) -> bool:
    """Return whether what was found is a value, at some sizes, as far as values can be compared."""
    if issubclass(type(found), Size):
        return type(real) is int and size_at(found.dim, at) == real
    if type(found) is Real:
        return _is_equal(found.recipe(at), real)
    if type(found) is not type(real):
        return False
    if isinstance(found, (tuple, list)):
        return len(found) == len(real) and all(_is_same(f, r, at) for f, r in zip(found, real, strict=True))
    if isinstance(found, Mapping):
        return found.keys() == real.keys() and all(_is_same(v, real[k], at) for k, v in found.items())
    return _is_equal(found, real)


def _is_equal(found: Any, real: Any) -> bool:
    """Return whether two values are equal; so are those of a kind that only compares identities."""
    if getattr(type(found), "__eq__", None) is object.__dict__["__eq__"]:
        return True
    try:
        return bool(found == real) or bool(found != found and real != real)  # noqa: PLR0124 - a NaN is equal to none
    except Exception:
        return True
