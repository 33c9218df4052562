"""Facts about the elements of an array: their integer values, their truth, and what they depend on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from symbcast.arrays.symbolic.integers import Ramp, Span
from symbcast.arrays.symbolic.patterns import Pattern


@dataclass
class Contents:
    """Facts about the elements of an array.

    Attributes:
        truth: whether all elements are true, or all are false; None if unknown.
        span: bounds of the elements, for integers.
        ramp: the elements of one axis if they rise or fall by a constant step.
        pattern: which elements of two axes are true, if sizes decide that.
        is_data: whether the elements depend on the values of arguments; if not, they depend on sizes only.
        true_count: the number of true elements once it was requested; empty before.
        false_count: the ``true_count`` list of the array that this one negates; None if there is no such array.
        parts: the slices along the first axis, if each was created separately.
        divisors: the sizes by which elements were divided: where one is 0, they may not be finite.
    """

    truth: bool | None = None
    span: Span | None = None
    ramp: Ramp | None = None
    pattern: Pattern | None = None
    is_data: bool = True
    true_count: list[Any] = field(default_factory=list)
    false_count: list[Any] | None = None
    parts: tuple[Any, ...] | None = None
    divisors: tuple[Any, ...] = ()

    @property
    def spread(self) -> Contents:
        """Return the facts that remain when elements are reordered, reshaped or repeated."""
        return Contents(self.truth, self.span, is_data=self.is_data, divisors=self.divisors)

    @property
    def some(self) -> Contents:
        """Return the facts that hold for a subset of the elements."""
        span = self.span.bounds if self.span else None
        return Contents(self.truth, span, is_data=self.is_data, divisors=self.divisors)

    @property
    def moved(self) -> Contents:
        """Return the facts that remain when all elements are reordered or reshaped, each occurring once."""
        found = self.spread
        found.true_count, found.false_count = self.true_count, self.false_count
        return found


class Memory:
    """Elements that several arrays may share: a write through one array changes them for all.

    Attributes:
        writes: the number of writes so far.
    """

    __slots__ = ("writes",)

    def __init__(self) -> None:
        self.writes = 0
