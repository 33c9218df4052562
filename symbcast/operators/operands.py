"""Shapes that an operand must have: weights, states, caches and masks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from symbcast.core.logic.formulas import all_of, any_of, equal
from symbcast.core.text.printing import dim_text
from symbcast.operators.context import Context, Dims

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim


class Operand(NamedTuple):
    """An optional operand: its name, and its shape if known."""

    name: str
    dims: Dims | None


def expect_shape(context: Context, what: str, found: Dims | None, wanted: Sequence[Dim | None]) -> None:
    """Require that an operand, if known, have the given shape; None means any size."""
    if found is None:
        return
    if len(found) != len(wanted):
        context.refuse(f"{what} must have rank {len(wanted)}, but has {len(found)}")
    for axis, (size, target) in enumerate(zip(found, wanted, strict=True)):
        if target is not None:
            context.equal(size, target, f"axis {axis} of {what} must be {dim_text(target)}")


def expect_one_of(context: Context, what: str, found: Dims | None, allowed: Sequence[Dims], reason: str) -> None:
    """Require that an operand, if known, have one of the allowed shapes."""
    if found is None:
        return
    shapes = [shape for shape in allowed if len(shape) == len(found)]
    if not shapes:
        ranks = ", ".join(str(n) for n in sorted({len(shape) for shape in allowed}))
        context.refuse(f"the rank of {what} must be one of {ranks}, and is {len(found)}")
    context.require(any_of(all_of(map(equal, found, shape)) for shape in shapes), reason)
