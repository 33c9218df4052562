"""How two rules relate on all shapes up to a rank, as plain data."""

from __future__ import annotations

from dataclasses import dataclass

from symbcast.answers.comparison.pairs import Order
from symbcast.answers.comparison.question import Sizes


@dataclass(frozen=True)
class Separation:
    """Shapes on which two rules differ.

    Attributes:
        shapes: The two shapes.
        first: The output by the first rule; None if it refuses them.
        second: The output by the second.
    """

    shapes: tuple[Sizes, ...]
    first: Sizes | None
    second: Sizes | None

    def __str__(self) -> str:
        if self.first == self.second:
            return f"{' and '.join(map(str, self.shapes))}: both give {self.first}, with different elements"
        outputs = ("refuses" if output is None else f"gives {output}" for output in (self.first, self.second))
        return f"{' and '.join(map(str, self.shapes))}: the first {', the second '.join(outputs)}"


@dataclass(frozen=True)
class Related:
    """How one rule relates to another on all pairs of shapes up to a rank; `Relation` is its public form.

    Attributes:
        first: The first rule, as text.
        second: The second rule, as text.
        rank: The highest rank that was checked.
        order: Equal; refines, where the second accepts all that the first does, with the same output; refined by, where
            it is the other way round; or neither. Unknown if that was not decided.
        separations: The smallest shapes, by rank and then by sizes, that show why the rules are not equal, or why
            neither refines the other: only one accepts them, or the outputs differ, or equal outputs have an axis
            placed elsewhere.
        reason: Why it was not decided.
    """

    first: str
    second: str
    rank: int
    order: Order
    separations: tuple[Separation, ...] = ()
    reason: str = ""
