"""Calls of an explored function with numbers instead of sizes, as `symbcast.paths.confirmation` makes them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from symbcast.core.solver.evaluation.evaluation import value_at
from symbcast.paths.places import Place, lines_of_error

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol
    from symbcast.core.shapes import Shape

Sizes = Mapping["Symbol", int]


class Raised(NamedTuple):
    """An error raised by a real call, and the lines of its traceback, outermost first."""

    error: BaseException
    lines: tuple[Place, ...]

    @classmethod
    def of(cls, error: BaseException) -> Raised:
        """Return an error that was just caught, with the lines of its traceback."""
        return cls(error, tuple(lines_of_error(error)))


def are_small(shapes: Sequence[Shape], at: Sizes, size: int, elements: int) -> bool:
    """Return whether arrays at some sizes have no larger axis than ``size``, and at most so many elements each."""
    found = [[value_at(d, at) for d in s.dims] for s in shapes]
    small = [[n for n in shape if n is not None and 0 <= n <= size] for shape in found]
    return found == small and all(prod(s) <= elements for s in small)


class RealCalls(Protocol):
    """Calls of the explored function by a front end, with numbers instead of sizes.

    Attributes:
        has_data: whether calls at the same sizes use different data, so that one can fail and another work.
    """

    has_data: bool

    def results(self, at: Sizes) -> Iterator[Any]:
        """Yield the results of calls at some sizes, or `Raised`; data differ between calls, the most useful first."""

    def fits(self, found: Any, real: Any, at: Sizes) -> bool:
        """Return whether a real result fits the traced one; data-dependent parts fit anything."""

    def is_small(self, at: Sizes) -> bool:
        """Return whether a call at some sizes takes little time and memory."""

    def is_without_data(self, at: Sizes) -> bool:
        """Return whether all arrays of a call at some sizes are empty, so that no other data are possible."""

    def is_of_data(self, error: BaseException) -> bool:
        """Return whether an error is caused by the data of the call, not by its sizes."""

    def text(self, value: Any, at: Sizes | None = None) -> str:
        """Return a traced result at some sizes, or a real result, as text."""


class Limits(NamedTuple):
    """Limits on the work to confirm one exploration.

    Attributes:
        calls: the maximum number of calls beyond the first `sure` of each path.
        sure: the number of results compared for each path at pairwise different sizes.
        effort: the maximum number of formula evaluations to find sizes for calls.
        reaches: whether an outcome that works for certain data needs a call with such data. Data-dependent sizes may be
            related: of two masks that are complements, one is never empty unless there are no elements.
    """

    calls: int = 160
    sure: int = 2
    effort: int = 20_000
    reaches: bool = False
