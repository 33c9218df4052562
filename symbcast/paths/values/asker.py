"""The path interface that sizes and numbers use, and the hook for computing with arrays."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
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
        """Raise `UntracedError` if this path is no longer the one that runs."""

    def is_running(self) -> bool:
        """Return whether this path is the one that runs."""

    def is_for_message(self, frame: FrameType) -> bool:
        """Return whether the text that a frame makes is used only in an error or a warning."""

    def ask(self, formula: Formula) -> bool:
        """Return whether a formula holds on this path."""

    def number(self, dim: Dim) -> int:
        """Return the number that a dimension has on this path."""

    def shown(self, dim: Dim) -> int:
        """Return a number for a dimension for use in text only, without deciding anything."""

    def values(self, symbols: Iterable[Symbol]) -> dict[Symbol, int]:
        """Return the numbers that symbols stand for, and restrict this path to them."""

    def opaque(
        self, key: Hashable, low: Dim | None, high: Dim | None, origin: tuple[str, Any], *, is_even: bool = False
    ) -> Any:
        """Return an integer that sizes decide, of which only bounds are known; None if it must become a number.

        Equal integers have equal keys; ``origin`` names the function that computed it, and its argument.
        """

    def origin(self, dim: Dim) -> tuple[str, Any]:
        """Return the origin of an opaque integer; empty for other sizes."""

    def sized(self, dim: Dim) -> Any:
        """Return a dimension as a number or size that code can compute with."""


class Arrays:
    """The hook for a front end that has arrays.

    Attributes:
        apply: applies a NumPy ufunc to sizes, numbers and arrays; None if no such front end is loaded.
    """

    apply: ClassVar[Callable[..., Any] | None] = None
