"""Make arguments of given sizes for running an exported program and its module."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from math import prod
from typing import TYPE_CHECKING, Any

from symbcast.core.algebra.symbols import Symbol
from symbcast.core.characters import clipped
from symbcast.torch.reading.library import load

if TYPE_CHECKING:
    from symbcast.torch.reading.inputs import Axis, Inputs

LARGEST = 1 << 26
"""The largest total number of elements of all arguments for a run."""


class Arguments:
    """Makes arguments for one program; a tensor whose shape is unchanged is the example input.

    Other tensors are random with a fixed seed if they are floating-point or complex; otherwise all their elements are
    1.
    """

    def __init__(self, program: Any, inputs: Inputs) -> None:
        self._program = program
        self._inputs = inputs

    def shapes(self, sizes: Mapping[str, int], others: Mapping[str, int] | None = None) -> list[tuple[int, ...] | None]:
        """Return the shapes at some sizes by name; ``others`` sets the sizes of fixed axes, by torch's names."""
        found: list[tuple[int, ...] | None] = []
        for i in self._inputs.inputs:
            dims = [_size(axis, sizes, others or {}) for axis in i.axes]
            found.append(tuple(dims) if hasattr(i.value, "shape") else None)
        return found

    def at(self, sizes: Mapping[str, int], others: Mapping[str, int] | None = None) -> tuple[Any, Any] | None:
        """Return positional and keyword arguments at some sizes; None if they are too large."""
        torch, pytree = load(), load("torch.utils._pytree")
        shapes = self.shapes(sizes, others)
        if sum(prod(s) for s in shapes if s is not None) > LARGEST:
            return None
        generator = torch.Generator().manual_seed(0)

        def made(shape: tuple[int, ...], like: Any, example: Any) -> Any:
            if isinstance(example, torch.Tensor) and tuple(example.shape) == shape:
                return example.clone()
            return _filled(torch, shape, like.dtype, generator)

        leaves = list(self._leaves(sizes, shapes, made))
        args, kwargs = pytree.tree_unflatten(leaves, self._program.call_spec.in_spec)
        return args, kwargs

    def without_elements(self, sizes: Mapping[str, int]) -> list[Any]:
        """Return all arguments in one list, with uninitialised tensors."""
        torch = load()

        def made(shape: tuple[int, ...], like: Any, _: Any) -> Any:
            return torch.empty(shape, dtype=like.dtype, device=like.device)

        return list(self._leaves(sizes, self.shapes(sizes), made))

    def _leaves(
        self,
        sizes: Mapping[str, int],
        shapes: Iterable[tuple[int, ...] | None],
        made: Callable[[tuple[int, ...], Any, Any], Any],
    ) -> Iterator[Any]:
        """Yield the arguments; ``made`` makes a tensor from a shape, a recorded tensor and the example, if any."""
        leaves = load("torch.utils._pytree").tree_leaves
        examples = leaves(self._program.example_inputs) if self._program.example_inputs else []
        for n, (i, shape) in enumerate(zip(self._inputs.inputs, shapes, strict=True)):
            example = examples[n] if n < len(examples) else None
            if shape is None:
                yield _size(i.axes[0], sizes, {}) if i.is_integer else example
            else:
                yield made(shape, i.value, example)


def _size(axis: Axis, sizes: Mapping[str, int], others: Mapping[str, int]) -> int:
    if axis.source in others:
        return others[axis.source]
    return sizes[axis.size.name] if isinstance(axis.size, Symbol) else int(axis.size)  # type: ignore[arg-type]


def _filled(torch: Any, shape: tuple[int, ...], dtype: Any, generator: Any) -> Any:
    if dtype.is_floating_point or dtype.is_complex:
        return torch.randn(shape, generator=generator).to(dtype)
    return torch.ones(shape, dtype=dtype)


def error_of(module: Any, arguments: tuple[Any, Any]) -> str:
    """Return the error of a module on some arguments; empty if it runs."""
    torch = load()
    args, kwargs = arguments
    try:
        with torch.no_grad():
            module(*args, **kwargs)
    except Exception as error:
        return clipped(" ".join(f"{type(error).__name__}: {error}".split()), 300)
    return ""
