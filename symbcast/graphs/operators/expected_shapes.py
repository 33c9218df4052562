"""Check operand shapes: the main requirement of most operators with weights, states and scales."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from symbcast.core.text.printing import dim_text
from symbcast.graphs.values.value import Constant
from symbcast.graphs.walking.node_call import NodeCall
from symbcast.operators.operands import expect_shape

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim
    from symbcast.operators.context import Dims


def known_shape(call: NodeCall, position: int, what: str) -> Dims | None:
    """Return the shape of an operand; None if it is missing, or if its shape is unknown, which is noted."""
    if not call.has(position):
        return None
    found = call.value(position).shape
    if found is None:
        call.note(f"not checked: the shape of {what}, which is unknown")
    return found


def known_shapes(call: NodeCall, *positions: int) -> dict[str, Dims | None]:
    """Return the shapes of several operands by name, each as `known_shape` returns it."""
    names = {n: call.input_name(n) for n in positions}
    return {name: known_shape(call, n, name) for n, name in names.items()}


def known_rank(call: NodeCall, position: int, allowed: Iterable[int], what: str) -> Dims | None:
    """Return the shape of an operand as `known_shape` does, and require that its rank be one of ``allowed``."""
    found = known_shape(call, position, what)
    if found is not None and len(found) not in allowed:
        call.refuse(f"{what} must not have rank {len(found)}")
    return found


def expect(call: NodeCall, position: int, what: str, wanted: Sequence[Dim | None]) -> None:
    """Require that an operand, if given, have the ``wanted`` shape, where None stands for any size."""
    expect_shape(call, what, known_shape(call, position, what), wanted)


def expect_numbers(call: NodeCall, *positions: int) -> None:
    """Require that operands, if given, each hold one number, in a tensor of rank 0 or 1."""
    for position in positions:
        name = call.input_name(position)
        found = known_shape(call, position, name)
        if found:
            if len(found) > 1:
                call.refuse(f"{name} must be one number")
            call.equal(found[0], 1, f"{name} must be one number")


def real_number(call: NodeCall, position: int) -> float | None:
    """Return the one number that a constant operand holds; None if it is no constant, or has more elements."""
    value = call.value(position)
    array = value.array if isinstance(value, Constant) else None
    return None if array is None or array.size != 1 else float(array.ravel()[0])


def expect_line(call: NodeCall, *positions: int) -> None:
    """Require that operands, if given, have rank 1."""
    for position in positions:
        found = known_shape(call, position, call.input_name(position))
        if found is not None and len(found) != 1:
            call.refuse(f"{call.input_name(position)} must have one axis, but has {len(found)}")


def expect_number_or_line(call: NodeCall, position: int, what: str, size: Dim) -> None:
    """Require that an operand, if given, be one number, or a tensor of rank 1 with one or ``size`` numbers."""
    found = known_shape(call, position, what)
    if found:
        if len(found) > 1:
            call.refuse(f"{what} must have at most one axis")
        call.one_of(found[0], (1, size), f"{what} must have 1 or {dim_text(size)} elements")
