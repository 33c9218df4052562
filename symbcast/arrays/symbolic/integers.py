"""Integers in arrays: their bounds, and ramps that rise or fall by a constant step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim


class Span(NamedTuple):
    """Bounds of the integers in an array; meaningless for an array without elements.

    Attributes:
        low: the lower bound.
        high: the upper bound.
        occurs: which integers are elements: all from `low` to `high` (``"all"``), both bounds (``"ends"``), some of the
            elements of a larger array (``"part"``), or any within the bounds, depending on data (``"none"``).
    """

    low: Dim
    high: Dim
    occurs: Literal["all", "ends", "part", "none"] = "ends"

    @property
    def is_exact(self) -> bool:
        """Whether both bounds occur."""
        return self.occurs in ("all", "ends")

    @property
    def bounds(self) -> Span:
        """The same bounds for a subset of the elements, which need not include the bounds themselves."""
        return self._replace(occurs="none" if self.occurs == "none" else "part")


class Ramp(NamedTuple):
    """Elements of an array of one axis: ``first``, ``first + step``, and so on."""

    first: Dim
    step: int
