"""Call a module or function of torch with real tensors, to confirm or refute what a trace says."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from math import prod
from typing import TYPE_CHECKING, Any

from symbcast.core.algebra.terms import symbols_of
from symbcast.core.solver.evaluation.evaluation import size_at, value_at
from symbcast.paths.real_calls import Raised, are_small
from symbcast.paths.runs.path import current
from symbcast.torch.eager.sizes import SizeNode
from symbcast.torch.eager.tensors import dims_of, is_symbolic
from symbcast.torch.reading.library import load

if TYPE_CHECKING:
    from symbcast.arrays.arguments import Arguments
    from symbcast.core.algebra.symbols import Symbol
    from symbcast.core.algebra.terms import Dim
    from symbcast.core.shapes import Shape

MAX_ELEMENTS = 1 << 16
MAX_SIZE = 1 << 10
_OF_DATA = ("singular", "converge", "positive-definite", "index out of range", "out of bounds")


class RealCalls:
    """A module or function with its arguments, called with real tensors; see `symbcast.paths.confirmation`."""

    has_data = True

    def __init__(self, called: Callable[..., Any], given: Arguments, shapes: Sequence[Shape]) -> None:
        self._called, self._given, self._shapes = called, given, shapes

    def results(self, at: Mapping[Symbol, int]) -> Iterator[Any]:
        """Yield the result or error of a call for different data, each on a copy of the module."""
        for filled in (_ones, _spread, _zeros, _counted, _signed, _last):
            yield self._result(at, filled)

    def _result(self, at: Mapping[Symbol, int], filled: Callable[[Sequence[int], Any], Any]) -> Any:
        args, options = self._given.made(
            self._shapes,
            lambda dims, dtype: filled([size_at(d, at) for d in dims], dtype_of(dtype)),
            lambda dim: size_at(dim, at),
        )
        token = current.set(None)
        try:
            with warnings.catch_warnings(), load().no_grad():
                warnings.simplefilter("ignore")
                return copied(self._called)(*args, **options)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # code may raise SystemExit, or its own error type
            return Raised.of(error)
        finally:
            current.reset(token)

    def fits(self, found: Any, real: Any, at: Mapping[Symbol, int]) -> bool:
        """Return whether a real result has the structure, shapes and sizes of the traced one."""
        torch = load()
        if is_symbolic(found) or isinstance(found, torch.Tensor):
            dims = dims_of(found)
            return (
                isinstance(real, torch.Tensor)
                and len(dims) == real.dim()
                and all(_is_of_data(d, at) or value_at(d, at) == n for d, n in zip(dims, real.shape, strict=True))
            )
        if isinstance(found, torch.SymInt) and isinstance(found.node, SizeNode):
            dim = found.node.dim
            return isinstance(real, int) and (_is_of_data(dim, at) or value_at(dim, at) == real)
        if isinstance(found, torch.SymInt | torch.SymFloat | torch.SymBool):
            return isinstance(real, (int, float, bool))
        if dataclasses.is_dataclass(found) and not isinstance(found, Mapping):
            return type(real) is type(found) and self.fits(vars(found), vars(real), at)
        if isinstance(found, Mapping):
            is_like = isinstance(real, Mapping) and list(found) == list(real)
            return is_like and all(self.fits(v, real[k], at) for k, v in found.items())
        if isinstance(found, (tuple, list)):
            is_like = isinstance(real, (tuple, list)) and len(found) == len(real)
            return is_like and all(self.fits(f, r, at) for f, r in zip(found, real, strict=True))
        if type(found) in (bool, int, str, float):
            return type(real) is type(found) and bool(found == real)
        return type(real) is type(found)

    def is_small(self, at: Mapping[Symbol, int]) -> bool:
        """Return whether all tensors of the call are small."""
        return are_small(self._shapes, at, MAX_SIZE, MAX_ELEMENTS)

    def is_without_data(self, at: Mapping[Symbol, int]) -> bool:
        """Return False: this does not check whether tensors are empty."""
        return False

    def is_of_data(self, error: BaseException) -> bool:
        """Return whether an error depends on data, such as a singular matrix or an index."""
        text = str(error).lower()
        return any(words in text for words in _OF_DATA)

    def text(self, value: Any, at: Mapping[Symbol, int] | None = None) -> str:
        """Return the shapes and numbers in a value as text, at some sizes."""
        torch = load()
        if isinstance(value, torch.Tensor):
            dims = dims_of(value)
            return f"({', '.join(str(d if at is None or _is_of_data(d, at) else value_at(d, at)) for d in dims)})"
        if isinstance(value, torch.SymInt) and isinstance(value.node, SizeNode):
            dim = value.node.dim
            return str(dim if at is None or _is_of_data(dim, at) else value_at(dim, at))
        if isinstance(value, Mapping):
            return f"{{{', '.join(f'{k!r}: {self.text(v, at)}' for k, v in value.items())}}}"
        if isinstance(value, (tuple, list)):
            return f"[{', '.join(self.text(v, at) for v in value)}]"
        return repr(value)[:80] if value is None or type(value) in (bool, int, str) else f"a {type(value).__name__}"


def _is_of_data(dim: Dim, at: Mapping[Symbol, int]) -> bool:
    return any(s not in at for s in symbols_of((dim,)))


def copied(called: Any) -> Any:
    """Return a copy of a module that shares its parameters, so that no call leaves anything in it; else the function.

    Buffers are copied: modules in training write to them.
    """
    if not isinstance(called, load().nn.Module):
        return called
    shared = {id(p): p for p in called.parameters()}
    try:
        return deepcopy(called, shared)
    except Exception:  # a module may hold anything
        return called


def dtype_of(name: Any) -> Any:
    """Return the element type of torch with a name, such as ``float32``; an element type as it is."""
    return getattr(load(), name) if isinstance(name, str) else name


def _ones(shape: Sequence[int], dtype: Any) -> Any:
    return load().ones(*(shape,), dtype=dtype)


def _zeros(shape: Sequence[int], dtype: Any) -> Any:
    return load().zeros(*(shape,), dtype=dtype)


def _spread(shape: Sequence[int], dtype: Any) -> Any:
    """Return numbers spread between 0 and 1; for types without fractions, alternating 1 and 0."""
    torch = load()
    count = torch.arange(1, prod(shape) + 1, dtype=torch.float64)
    found = (count * 0.6180339887498949) % 1 if dtype.is_floating_point or dtype.is_complex else count % 2
    return found.reshape(shape).to(dtype)


def _counted(shape: Sequence[int], dtype: Any) -> Any:
    return load().arange(prod(shape)).reshape(shape).to(dtype)


def _signed(shape: Sequence[int], dtype: Any) -> Any:
    torch = load()
    return (_spread(shape, torch.float64) * 8 - 4).to(dtype)


def _last(shape: Sequence[int], dtype: Any) -> Any:
    """Return tensors of -1: negative numbers, and the last index."""
    return -_ones(shape, dtype) if dtype.is_signed else _ones(shape, dtype)
