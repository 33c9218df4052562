"""Shapes that an operand must have: what most operators with weights, states and scales ask."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from symbcast.core.text.printing import dim_text
from symbcast.graphs.node_call import NodeCall
from symbcast.operators.operands import expect_shape

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim
    from symbcast.graphs.values.value import Dims


def known_shape(call: NodeCall, position: int, what: str) -> Dims | None:
    """Return the shape of an operand; None where it is not given, and where it is not known, which is noted."""
    if not call.has(position):
        return None
    found = call.value(position).shape
    if found is None:
        call.note(f"that the shape of {what} fits was not looked at: it is not known")
    return found


def known_shapes(call: NodeCall, *positions: int) -> dict[str, Dims | None]:
    """Return what `known_shape` does of several operands, by their names."""
    names = {n: call.input_name(n) for n in positions}
    return {name: known_shape(call, n, name) for n, name in names.items()}


def known_rank(call: NodeCall, position: int, allowed: Iterable[int], what: str) -> Dims | None:
    """Return what `known_shape` does, of an operand whose rank must be one of some."""
    found = known_shape(call, position, what)
    if found is not None and len(found) not in allowed:
        call.refuse(f"{what} must not have rank {len(found)}")
    return found


def expect(call: NodeCall, position: int, what: str, wanted: Sequence[Dim | None]) -> None:
    """Require that an operand, if it is given and known, have a shape; None stands for any size."""
    expect_shape(call, what, known_shape(call, position, what), wanted)


def expect_numbers(call: NodeCall, *positions: int) -> None:
    """Ask that operands, where they are given, be one number each, in no axis or in one."""
    for position in positions:
        name = call.input_name(position)
        found = known_shape(call, position, name)
        if found:
            if len(found) > 1:
                call.refuse(f"{name} must be one number")
            call.equal(found[0], 1, f"{name} must be one number")


def expect_line(call: NodeCall, *positions: int) -> None:
    """Ask that operands, where they are given, be lines of numbers: tensors of one axis."""
    for position in positions:
        found = known_shape(call, position, call.input_name(position))
        if found is not None and len(found) != 1:
            call.refuse(f"{call.input_name(position)} must have one axis, and has {len(found)}")


def expect_number_or_line(call: NodeCall, position: int, what: str, size: Dim) -> None:
    """Ask that an operand, where it is given, be one number, or a line of as many as there are columns."""
    found = known_shape(call, position, what)
    if found:
        if len(found) > 1:
            call.refuse(f"{what} must have one axis at most")
        call.one_of(found[0], (1, size), f"{what} must be one number, or one for each of {dim_text(size)}")
