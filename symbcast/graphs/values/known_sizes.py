"""What elements are worked out with: what is known of sizes, as `symbcast.graphs.requirements.recorder` knows it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from symbcast.core.algebra.bounds import Bounds
from symbcast.core.logic.formulas import Formula

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol
    from symbcast.core.algebra.terms import Dim


class KnownSizes(Protocol):
    """What is known of the sizes of a model, and somewhere to note a size that is decided by cases.

    Attributes:
        bounds: what sizes are known to be at least.
    """

    bounds: Bounds

    def is_known(self, formula: Formula) -> bool | None:
        """Return whether a formula is known to hold or not to, by numbers and bounds alone."""

    def by_cases(self, name: str, text: str, chosen: Formula, yes: Dim, no: Dim) -> Symbol:
        """Return a size that is one dimension where a formula holds and another one where it does not."""
