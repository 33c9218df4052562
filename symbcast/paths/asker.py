"""What sizes and numbers ask a path, and what works them out beside arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

if TYPE_CHECKING:
    from types import FrameType

    from symbcast.core.algebra.bounds import Bounds
    from symbcast.core.algebra.symbols import Symbol
    from symbcast.core.algebra.terms import Dim
    from symbcast.core.logic.formulas import Formula


class Asker(Protocol):
    """A path, as a size on it sees it."""

    bounds: Bounds
    hashes: bool
    size_class: Callable[..., Any] | None

    def check_current(self) -> None:
        """Raise `UntracedError` where what runs is no longer this path."""

    def is_running(self) -> bool:
        """Return whether this path is what runs."""

    def is_for_message(self, frame: FrameType) -> bool:
        """Return whether what a frame makes goes into an error or a warning, and nowhere else."""

    def ask(self, formula: Formula) -> bool:
        """Return whether a formula holds on this path."""

    def number(self, dim: Dim) -> int:
        """Return a dimension as the number that it is on this path."""

    def shown(self, dim: Dim) -> int:
        """Return a dimension as a number for text alone: it decides nothing."""

    def values(self, symbols: Iterable[Symbol]) -> dict[Symbol, int]:
        """Return symbols as the numbers that they are on this path."""

    def sized(self, dim: Dim) -> Any:
        """Return a dimension as what code computes with."""


class Arrays:
    """The door to a front end that has arrays.

    Attributes:
        apply: works out a universal function of NumPy of sizes, numbers and arrays; None where there is no front end.
    """

    apply: ClassVar[Callable[..., Any] | None] = None
