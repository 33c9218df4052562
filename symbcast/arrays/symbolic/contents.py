"""What is known of the elements of an array: the integers that occur in it, which are true, and what decides them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from symbcast.arrays.symbolic.integers import Ramp, Span
from symbcast.arrays.symbolic.patterns import Pattern


@dataclass
class Contents:
    """What is known of the elements of an array.

    Attributes:
        truth: whether all elements are true, or all are false; None where that is not known.
        span: bounds of the elements, for integers.
        ramp: the elements of one axis that rise or fall by the same step.
        pattern: which elements of two axes are true, where sizes decide that.
        is_data: whether the values of arguments decide the elements. Where they do not, sizes alone do.
        true_count: how many elements are true, once that was asked; empty before.
        false_count: the same list of the array whose negation this is; None where there is no such array.
        parts: the slices along the first axis, where each was made by itself.
    """

    truth: bool | None = None
    span: Span | None = None
    ramp: Ramp | None = None
    pattern: Pattern | None = None
    is_data: bool = True
    true_count: list[Any] = field(default_factory=list)
    false_count: list[Any] | None = None
    parts: tuple[Any, ...] | None = None

    @property
    def spread(self) -> Contents:
        """What is known of the elements in another order or shape, or repeated."""
        return Contents(self.truth, self.span, is_data=self.is_data)

    @property
    def some(self) -> Contents:
        """What is known of some of the elements."""
        return Contents(self.truth, self.span.bounds if self.span else None, is_data=self.is_data)

    @property
    def moved(self) -> Contents:
        """What is known of all elements, each once, in another order or shape."""
        return Contents(
            self.truth, self.span, is_data=self.is_data, true_count=self.true_count, false_count=self.false_count
        )


class Memory:
    """Elements that several arrays may share: a write through one of them changes them all.

    Attributes:
        writes: how often the elements were changed.
    """

    __slots__ = ("writes",)

    def __init__(self) -> None:
        self.writes = 0
