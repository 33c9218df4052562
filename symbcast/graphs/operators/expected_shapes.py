"""Shapes that an operand must have: the requirements of most operators with weights, states and scales."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from symbcast.core.text.printing import dim_text
from symbcast.graphs.walking.node_call import NodeCall
from symbcast.operators.operands import expect_shape

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim
    from symbcast.graphs.values.value import Dims


def known_shape(call: NodeCall, position: int, what: str) -> Dims | None:
    """Return the shape of an operand; None if it is not given, or if it is unknown, which is noted."""
    if not call.has(position):
        return None
    found = call.value(position).shape
    if found is None:
        call.note(f"not checked: the shape of {what}, which is unknown")
    return found


def known_shapes(call: NodeCall, *positions: int) -> dict[str, Dims | None]:
    """Return what `known_shape` does for several operands, by their names."""
    names = {n: call.input_name(n) for n in positions}
    return {name: known_shape(call, n, name) for n, name in names.items()}


def known_rank(call: NodeCall, position: int, allowed: Iterable[int], what: str) -> Dims | None:
    """Return what `known_shape` does for an operand whose rank must be one of the allowed ones."""
    found = known_shape(call, position, what)
    if found is not None and len(found) not in allowed:
        call.refuse(f"{what} must not have rank {len(found)}")
    return found


def expect(call: NodeCall, position: int, what: str, wanted: Sequence[Dim | None]) -> None:
    """Require that an operand, if it is given and known, have a shape; None stands for any size."""
    expect_shape(call, what, known_shape(call, position, what), wanted)


def expect_numbers(call: NodeCall, *positions: int) -> None:
    """Require that operands, if given, hold one number each, in a tensor of rank 0 or 1."""
    for position in positions:
        name = call.input_name(position)
        found = known_shape(call, position, name)
        if found:
            if len(found) > 1:
                call.refuse(f"{name} must be one number")
            call.equal(found[0], 1, f"{name} must be one number")


def expect_line(call: NodeCall, *positions: int) -> None:
    """Require that operands, if given, be tensors of one axis."""
    for position in positions:
        found = known_shape(call, position, call.input_name(position))
        if found is not None and len(found) != 1:
            call.refuse(f"{call.input_name(position)} must have one axis, but has {len(found)}")


def expect_number_or_line(call: NodeCall, position: int, what: str, size: Dim) -> None:
    """Require that an operand, if given, be one number, or a tensor of one axis with a number for each column."""
    found = known_shape(call, position, what)
    if found:
        if len(found) > 1:
            call.refuse(f"{what} must have at most one axis")
        call.one_of(found[0], (1, size), f"{what} must have 1 or {dim_text(size)} elements")
