"""Describe what computing elements must know about sizes; `symbcast.graphs.requirements.recorder` implements it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from symbcast.core.algebra.bounds import Bounds
from symbcast.core.logic.formulas import Formula

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol
    from symbcast.core.algebra.terms import Dim


class KnownSizes(Protocol):
    """What is known about the sizes of a model, and a way to define a size by cases.

    Attributes:
        bounds: known lower bounds of sizes.
    """

    bounds: Bounds

    def is_known(self, formula: Formula) -> bool | None:
        """Return whether a formula is known to hold or to fail, using only numbers and bounds."""

    def by_cases(self, name: str, text: str, chosen: Formula, yes: Dim, no: Dim) -> Symbol:
        """Return a size that equals one dimension if a formula holds, and another if it does not."""
