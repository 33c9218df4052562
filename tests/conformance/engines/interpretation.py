"""A case computed by functions: one for each operator, on values of any framework."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from conformance.runner import Case, NotAsked

Operators = Mapping[str, Callable[..., Any]]


def computed(case: Case, operators: Operators, inputs: Mapping[str, Any], constant: Callable[..., Any]) -> list[Any]:
    """Return the outputs of a case for values of its inputs.

    A function gets the values of an operator's inputs, its attributes by name, and the number of its outputs as ``of``
    if it takes that. ``constant`` makes a value of a type, a shape and a list of numbers. Raises `NotAsked` for an
    operator without a function.
    """
    values = {"": None, **inputs, **{name: constant(*given) for name, given in case.constants.items()}}
    for node in case.nodes:
        if node.op not in operators:
            raise NotAsked(node.op)
        found = operators[node.op](*(values[i] for i in node.inputs), **node.attributes)
        several = found if isinstance(found, (list, tuple)) and node.op != "Shape" else [found]
        if len(several) < len(node.outputs):
            raise NotAsked(node.op)
        values.update(zip(node.outputs, several, strict=False))
    return [values[name] for name in case.outputs]


def integers(_kind: str, shape: Sequence[int], values: Sequence[Any]) -> Any:
    """Return a constant as numbers: operators take shapes, axes and counts as such."""
    return list(values) if shape else values[0]


def reshaped(shape: Sequence[Any], asked: Sequence[Any]) -> list[Any]:
    """Return the target of a Reshape, where 0 copies an axis."""
    return [shape[n] if isinstance(d, int) and d == 0 else d for n, d in enumerate(asked)]


def sliced(rank: int, starts: Any, ends: Any, axes: Any = None, steps: Any = None) -> tuple[slice, ...]:
    """Return the index of a Slice."""
    index = [slice(None)] * rank
    for n, axis in enumerate(axes or range(len(starts))):
        index[axis] = slice(starts[n], ends[n], (steps or [1] * len(starts))[n])
    return tuple(index)
