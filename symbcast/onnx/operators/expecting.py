"""Shapes that an operand must have: what most operators with weights, states and scales ask."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from symbcast.onnx.call import Call

if TYPE_CHECKING:
    from symbcast.dims import Dim


def expect(call: Call, position: int, what: str, wanted: Sequence[Dim | None]) -> None:
    """Ask that an operand, where it is given, have a shape; None stands for a size that is not asked about.

    An operand of unknown shape is noted.
    """
    if not call.has(position):
        return
    found = call.value(position).shape
    if found is None:
        call.note(f"that {what} has the shape it must have was not looked at: its shape is not known")
        return
    if len(found) != len(wanted):
        call.refuse(f"{what} must have rank {len(wanted)}, and has {len(found)}")
    for axis, (size, target) in enumerate(zip(found, wanted, strict=True)):
        if target is not None:
            call.equal(size, target, f"axis {axis} of {what} must be {target}")
