"""The rule of TOSA, the tensor operator set that compilers for embedded devices lower to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from symbcast.core.algebra.formulas import at_most
from symbcast.core.rules.broadcast_rule import Ask, Column, Instead, Join, Rule
from symbcast.core.rules.declaration import Reason
from symbcast.core.rules.placement import SameRank
from symbcast.core.rules.registry import rule

POSITIVE = Reason("positive", "TOSA's tensors have no sizes of 0")


class _PositiveJoin(Join):
    """Like `Join`, and all sizes are at least 1."""

    @property
    def reasons(self) -> tuple[Reason, ...]:
        return (POSITIVE, *super().reasons)

    def asks(self, column: Column) -> Iterator[Ask]:
        for n, size in zip(column.operands, column.sizes, strict=True):
            if size != 1:
                yield Ask(at_most(1, size), (n,), POSITIVE)
        yield from super().asks(column)


@rule
class Tosa(Rule):
    """Shapes of equal ranks; on each axis the sizes other than 1 are equal, and none is 0.

    The specification pads nothing: a shape of lower rank is reshaped first. Elementwise operators take two operands,
    SELECT three. Its levels, which limit ranks and sizes for a device, are not part of the rule.
    """

    name: ClassVar[str] = "tosa"
    family: ClassVar[str] = "tosa"
    variadic: ClassVar[bool] = True
    needs_shape: ClassVar[bool] = True
    summary: ClassVar[str] = "equal ranks; on each axis the sizes are equal or 1, and none is 0"
    document: ClassVar[str] = "TOSA 1.0 specification, Broadcasting; Tensors"
    placement = SameRank()
    law = _PositiveJoin()
    instead = (Instead("numpy"),)
