"""Constraints: a formula that must hold, and its origin."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from symbcast.core.logic.formulas import Formula
from symbcast.core.reasons import Detail, Reason

if TYPE_CHECKING:
    from sympy.logic.boolalg import Boolean

_NO_DETAILS: Mapping[str, Detail] = {}


class Origin(NamedTuple):
    """The origin of a constraint.

    ``operands`` are positions in the call; ``axis`` counts the axes of the aligned shapes from the front and ``rank``
    is their number, so that the axis can be named from both ends; both are None for a constraint on whole shapes.
    ``sequence`` is the axis that represents all axes of sequences if ranks are unknown: then an axis before it
    can be named from the front, and one after it from the end.
    """

    rule: str
    operands: tuple[int, ...]
    axis: int | None = None
    rank: int | None = None
    operation: str | None = None
    sequence: int | None = None

    def __str__(self) -> str:
        place = f"{self.rule} of operands {', '.join(map(str, self.operands))}"
        if self.axis is not None and self.rank is not None:
            place = f"{place}, axis {self.axis} ({self.axis - self.rank} from the end)"
        return f"{self.operation}: {place}" if self.operation else place


class Constraint:
    """A single constraint: ``requirement`` must hold.

    Its truth depends on the sizes, so it has no truth value of its own.

    Attributes:
        requirement: The formula that must hold.
        origin: The operands and the axis that it is about.
        why: The reason. Programs match on its ``code``.
        details: The values that fill in the wording of the reason.
    """

    __slots__ = ("details", "origin", "requirement", "why")

    def __init__(
        self, requirement: Formula, origin: Origin, why: Reason, details: Mapping[str, Detail] = _NO_DETAILS
    ) -> None:
        self.requirement = requirement
        self.origin = origin
        self.why = why
        self.details = details

    @property
    def code(self) -> str:
        """The code of the reason, such as ``join``."""
        return self.why.code

    @property
    def reason(self) -> str:
        """The reason in words."""
        return self.why.sentence(self.details)

    @property
    def formula(self) -> Boolean:
        """The requirement as a sympy Boolean."""
        from symbcast.core.logic.booleans import to_sympy

        return to_sympy(self.requirement)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Constraint):
            return NotImplemented
        return (self.requirement, self.origin) == (other.requirement, other.origin)

    def __hash__(self) -> int:
        return hash((self.requirement, self.origin))

    def __bool__(self) -> NoReturn:
        raise TypeError("a constraint has no truth value; it holds for some sizes: see .formula")

    def __str__(self) -> str:
        from symbcast.core.text.printing import formula_text

        return f"{formula_text(self.requirement)} [{self.origin}]"

    def __repr__(self) -> str:
        return f"<Constraint {self}>"
