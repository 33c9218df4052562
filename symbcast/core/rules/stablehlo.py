"""The rule of StableHLO's operation broadcast_in_dim."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from symbcast.core.rules.broadcast_rule import Onto, Rule
from symbcast.core.rules.declaration import ONTO, REQUIRED, Kind, Parameter
from symbcast.core.rules.placement import Dims, OnAxes
from symbcast.core.rules.registry import rule
from symbcast.errors import RuleArgumentError


@rule
class BroadcastInDim(Rule):
    """Axis ``i`` of the operand is mapped to axis ``broadcast_dimensions[i]`` of the result, in any order.

    There is one axis for each operand axis (C2), all are axes of the result (C3), and they are distinct (C4); each size
    of the operand is 1 or that of the result there (C5). (C1) and (C6) are about element types.
    """

    broadcast_dimensions: tuple[int, ...]

    name: ClassVar[str] = "stablehlo-broadcast-in-dim"
    family: ClassVar[str] = "stablehlo"
    operands: ClassVar[tuple[str, ...]] = ("operand", "result")
    parameters: ClassVar[tuple[Parameter, ...]] = (
        Parameter("broadcast_dimensions", REQUIRED, kind=Kind.INTEGERS, summary="the result axis of each operand axis"),
    )
    summary: ClassVar[str] = "operand axis i goes to result axis broadcast_dimensions[i]; sizes are 1 or the result's"
    document: ClassVar[str] = "StableHLO specification, broadcast_in_dim"
    law = Onto(ONTO.worded("the operand's size must be 1 or the result's"))

    @property
    def placement(self) -> OnAxes:
        """The placement of the operand on the named axes."""
        return OnAxes(self.broadcast_dimensions, "broadcast_dimensions", operands=self.operands)

    def check_attributes(self) -> None:
        dims = self.broadcast_dimensions
        if len(set(dims)) < len(dims):
            problem = f"broadcast_dimensions={dims} has duplicates"
            raise RuleArgumentError(self.name, problem, "name each axis once", "broadcast_dimensions")

    def check_shapes(self, shapes: Sequence[Dims]) -> None:
        """Raise `RuleArgumentError` unless there is one axis for each operand axis, and all lie within the result."""
        super().check_shapes(shapes)
        self.placement.check(self.name, [len(s) for s in shapes])
