"""The rule of Paddle's elementwise operations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from symbcast.broadcasting.base import Dims, Emission, Parameter, as_int, offered
from symbcast.broadcasting.numpy import Numpy
from symbcast.errors import RuleArgumentError


@offered
class Paddle(Numpy):
    """`Numpy`; ``min_rank=1`` is the document's reading, which asks for "at least one dimension in each tensor".

    Paddle 3.3.1 takes rank 0, and so does the default. The document's "max of the sizes" is wrong where a size
    is 0: Paddle itself gives 0 for 0 beside 1, as the join does.
    """

    min_rank: int

    name: ClassVar[str] = "paddle"
    family: ClassVar[str] = "paddle"
    aliases: ClassVar[tuple[str, ...]] = ()
    parameters: ClassVar[tuple[Parameter, ...]] = (Parameter("min_rank", 0),)
    summary: ClassVar[str] = "as numpy; min_rank=1 refuses rank 0, as the document does"
    document: ClassVar[str] = "PaddlePaddle guide, Broadcasting"

    def check_attributes(self) -> None:
        min_rank = as_int(self.name, "min_rank", self.min_rank)
        self.min_rank = min_rank
        if min_rank < 0:
            raise RuleArgumentError(self.name, f"min_rank={min_rank} is negative", "write 0 or 1")

    def check_shapes(self, shapes: Sequence[Dims]) -> None:
        """At least one operand."""
        if not shapes:
            raise RuleArgumentError(self.name, "takes at least one shape", "give one")

    def emit(self, shapes: Sequence[Dims]) -> Emission:
        """The constraints of `Numpy`, and a refusal for each operand of too low a rank."""
        emission = super().emit(shapes)
        refusals = [
            self.refuse((n,), f"rank {len(s)} is below min_rank={self.min_rank}")
            for n, s in enumerate(shapes)
            if len(s) < self.min_rank
        ]
        return Emission([*refusals, *emission.constraints], emission.output)

    def is_join(self, shapes: Sequence[Dims]) -> bool:
        """As `Numpy`, unless a rank is too low."""
        return all(len(s) >= self.min_rank for s in shapes)

    def concrete(self, shapes: Sequence[Sequence[int]]) -> tuple[int, ...] | None:
        """As `Numpy`, unless a rank is too low."""
        return super().concrete(shapes) if all(len(s) >= self.min_rank for s in shapes) else None
