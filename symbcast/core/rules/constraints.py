"""Constraints: a formula that must hold, and its origin.

A reason has a code, which programs match on, and a wording, which people read. Explanations, suggested fixes and SARIF
rule ids are derived from the code; nothing in symbcast parses the wording.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from symbcast.core.algebra.formulas import Formula

if TYPE_CHECKING:
    from sympy.logic.boolalg import Boolean


Detail = int | str
"""A value that is put into the wording of a reason: a rank, an axis, the name of an operand."""


class Remedy(Enum):
    """A kind of change that may make a broadcast valid. Each suggestion is tried before it is shown."""

    ADD_ONES = "add axes of size 1 to an operand, but not in front"
    LOWER_RANK = "drop leading axes of an operand"
    SWAP = "exchange the two operands"
    TRANSPOSE = "put the axes of an operand in another order"
    SET_ONE = "set sizes of an operand to 1"


class Reason(NamedTuple):
    """Why a constraint is required.

    Attributes:
        code: What programs match on; it does not change between releases.
        wording: The sentence for people. Names in braces are filled in from the details of a constraint, as with
            `str.format`: ``"ranks must be equal, but are {left} and {right}"``.
        remedies: What may be suggested where a constraint with this reason fails.

    >>> Reason("rank-odd", "the rank must be even, and is {rank}").sentence({"rank": 3})
    'the rank must be even, and is 3'
    """

    code: str
    wording: str
    remedies: tuple[Remedy, ...] = ()

    def sentence(self, details: Mapping[str, Detail]) -> str:
        """Return the wording with the details filled in."""
        return self.wording.format_map(details) if details else self.wording

    def worded(self, wording: str, remedies: tuple[Remedy, ...] | None = None) -> Reason:
        """Return the reason with the same code but another wording, and with other remedies if given."""
        return Reason(self.code, wording, self.remedies if remedies is None else remedies)


_AXIS = (Remedy.ADD_ONES, Remedy.TRANSPOSE, Remedy.SET_ONE)

JOIN = Reason("join", "sizes must be equal or 1", _AXIS)
"""The sizes on an axis have a join: those other than 1 are equal."""
ONTO = Reason("onto", "the size must be 1 or the target's", _AXIS)
"""A size is stretched onto that of the target: it is 1 or equal to it."""
EQUAL = Reason("equal", "sizes must be equal", (Remedy.TRANSPOSE, Remedy.SET_ONE))
"""The sizes on an axis are equal."""
EQUAL_RANKS = Reason("equal-ranks", "ranks must be equal, but are {left} and {right}")
"""The ranks of two shapes are equal."""
PAST_END = Reason("past-end", "a size of B past the end of A must be 1", (Remedy.SET_ONE,))
"""A size for which the other operand has no axis is 1."""
SIZE = Reason("size", "the dimension must be a size")
"""A dimension of an operand, such as N - 3, is an integer that is not negative."""
REQUIRED_FORMULA = Reason("required", "it is required")
"""A formula that the caller requires."""


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
        from symbcast.core.algebra.sympy_conversion import formula_to_sympy

        return formula_to_sympy(self.requirement)

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
