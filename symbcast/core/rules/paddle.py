"""The rule of Paddle's elementwise operations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from symbcast.core.rules.declaration import Alias, Parameter
from symbcast.core.rules.numpy import Numpy
from symbcast.core.rules.placement import AtRight
from symbcast.core.rules.registry import rule
from symbcast.errors import RuleArgumentError


@rule
class Paddle(Numpy):
    """`Numpy`; ``min_rank=1`` is the document's reading, which requires "at least one dimension in each tensor".

    Paddle 3.3.1 accepts rank 0, and so does the default. The document's "max of the sizes" is wrong if a size
    is 0: Paddle itself gives 0 for 0 with 1, as the join does.
    """

    min_rank: int

    name: ClassVar[str] = "paddle"
    family: ClassVar[str] = "paddle"
    aliases: ClassVar[tuple[str | Alias, ...]] = ()
    needs_shape: ClassVar[bool] = True
    parameters: ClassVar[tuple[Parameter, ...]] = (Parameter("min_rank", 0, summary="the minimum rank of an operand"),)
    summary: ClassVar[str] = "as numpy; min_rank=1 refuses rank 0, as the document does"
    document: ClassVar[str] = "PaddlePaddle guide, Broadcasting"

    def check_attributes(self) -> None:
        if self.min_rank < 0:
            raise RuleArgumentError(self.name, f"min_rank={self.min_rank} is negative", "write 0 or 1", "min_rank")

    @property
    def placement(self) -> AtRight:  # type: ignore[override] # Numpy's is the same for all its rules
        return AtRight(self.min_rank)

    def concrete(self, shapes: Sequence[Sequence[int]]) -> tuple[int, ...] | None:
        """Return the joins as `Numpy` does, unless a rank is too low."""
        return super().concrete(shapes) if all(len(s) >= self.min_rank for s in shapes) else None
