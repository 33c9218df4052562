"""The rules of OpenVINO's elementwise operations and of its Broadcast-3."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import ClassVar

from symbcast.core.algebra.formulas import equal
from symbcast.core.rules.broadcast_rule import Ask, Column, Equal, Instead, Join, JoinAtMost, Law, Onto, OutputDim, Rule
from symbcast.core.rules.declaration import EQUAL, ONTO, PAST_END, REQUIRED, Alias, Kind, Parameter, Reason, Remedy
from symbcast.core.rules.numpy import Numpy
from symbcast.core.rules.placement import Dims, FromAxis, OnAxes, Placement, SameRank, ShorterFromAxis
from symbcast.core.rules.registry import rule
from symbcast.errors import RuleArgumentError

_ELEMENTWISE = "OpenVINO, Broadcast Rules For Elementwise Operations"

SCALAR_AXIS = Reason("scalar-axis", "the axis a scalar names must be 1")
_B_ONTO_A = ONTO.worded("B's size must be 1 or A's", (Remedy.TRANSPOSE, Remedy.SET_ONE))
_AXIS_EQUAL = EQUAL.worded("with axis={axis} sizes must be equal")


@rule
class NoBroadcast(Rule):
    """The shapes must be equal."""

    name: ClassVar[str] = "none"
    family: ClassVar[str] = "openvino"
    summary: ClassVar[str] = "no broadcasting: same rank and equal sizes"
    document: ClassVar[str] = _ELEMENTWISE
    placement = SameRank()
    law = Equal()
    instead = (Instead("numpy"),)


@rule
class Bidirectional(Numpy):
    """`Numpy` on data and a target shape; the output may differ from the target."""

    name: ClassVar[str] = "bidirectional"
    family: ClassVar[str] = "openvino"
    aliases: ClassVar[tuple[str | Alias, ...]] = ()
    operands: ClassVar[tuple[str, ...]] = ("data", "target")
    variadic: ClassVar[bool] = False
    summary: ClassVar[str] = "data and target broadcast each other, as numpy; a target size of 1 keeps data's"
    document: ClassVar[str] = "OpenVINO, Bidirectional Broadcast Rules; Broadcast-3; ONNX Expand"


class _ScalarAxis(Law):
    """The one axis that data of rank 0 names must have the size 1."""

    def __init__(self, axis: int) -> None:
        self.axis = axis

    @property
    def reasons(self) -> tuple[Reason, ...]:
        return (SCALAR_AXIS,)

    def asks(self, column: Column) -> Iterator[Ask]:
        if column.axis == self.axis:
            yield Ask(equal(column.base_size, 1), (1,), SCALAR_AXIS)

    def output(self, column: Column) -> OutputDim:
        return column.base_size


@rule
class Explicit(Rule):
    """Data axis ``i`` is mapped to target axis ``axes[i]``.

    ``flavour="document"`` requires strictly increasing axes (one output axis for each data axis);
    ``flavour="openvino"`` accepts duplicates, and lets data of rank 0 name one axis of size 1, as its code does.
    """

    axes: tuple[int, ...]
    flavour: str

    name: ClassVar[str] = "explicit"
    family: ClassVar[str] = "openvino"
    operands: ClassVar[tuple[str, ...]] = ("data", "target")
    parameters: ClassVar[tuple[Parameter, ...]] = (
        Parameter("axes", REQUIRED, kind=Kind.INTEGERS, summary="the target axis of each data axis"),
        Parameter("flavour", "document", ("document", "openvino"), Kind.WORD, "whose definition of the rule"),
    )
    summary: ClassVar[str] = "data axis i goes to target axis axes[i]; each data size is 1 or the target's"
    document: ClassVar[str] = "OpenVINO, Broadcast-3, mode explicit"
    own_reasons: ClassVar[tuple[Reason, ...]] = (SCALAR_AXIS,)
    law = Onto()

    @property
    def placement(self) -> OnAxes:
        """The placement of data on the named axes."""
        return OnAxes(self.axes, in_order=True)

    def laid(self, ranks: Sequence[int]) -> tuple[Placement, Law | None]:
        """Return the placement and law as declared, except that OpenVINO lets data of rank 0 name an axis."""
        law = self.law if ranks[0] == len(self.axes) else _ScalarAxis(self.axes[0])
        return self.placement, law

    @property
    def is_uniform(self) -> bool:
        """Whether the law does not depend on the rank of data."""
        return self.flavour == "document" or len(self.axes) != 1

    def check_shapes(self, shapes: Sequence[Dims]) -> None:
        """Raise `RuleArgumentError` unless the axes fit the rank of data, are in order, and lie within the target."""
        super().check_shapes(shapes)
        axes, (data_rank, rank) = self.axes, map(len, shapes)
        scalar = self.flavour == "openvino" and data_rank == 0 and len(axes) == 1
        self.placement.check(self.name, (1 if scalar else data_rank, rank))
        strict = self.flavour == "document"
        if any(a > b or (strict and a == b) for a, b in pairwise(axes)):
            order = "strictly increasing" if strict else "sorted"
            problem = f"axes={axes} must be {order}"
            raise RuleArgumentError(
                self.name, problem, f"write axes={tuple(sorted(set(axes)))} and reorder data", "axes"
            )


@rule
class Pdpd(Rule):
    """B is laid onto a run of A's axes that starts at ``axis`` (-1: at the right), and only B is stretched.

    ``flavour="document"`` follows the document: sizes of B that hang over A's end must be 1.
    ``flavour="openvino"`` is OpenVINO's code: nothing may hang over, no size of B exceeds A's, and A's 1 with
    B's 0 gives 0. ``flavour="paddle"`` is Paddle's code: the shorter shape is laid at ``axis`` of the longer one,
    both are stretched, and equal shapes are accepted whatever the axis. (Paddle's behaviour with an axis below -1
    follows no rule, and no flavour accepts one.)
    """

    axis: int
    flavour: str

    name: ClassVar[str] = "pdpd"
    family: ClassVar[str] = "openvino"
    parameters: ClassVar[tuple[Parameter, ...]] = (
        Parameter("axis", -1, summary="the axis of A at which B starts; -1 aligns their last axes"),
        Parameter("flavour", "document", ("document", "openvino", "paddle"), Kind.WORD, "whose definition of the rule"),
    )
    summary: ClassVar[str] = "B is stretched onto a run of A's axes from axis= on; A never is"
    document: ClassVar[str] = _ELEMENTWISE + ", PDPD"
    own_reasons: ClassVar[tuple[Reason, ...]] = (_AXIS_EQUAL,)

    def check_attributes(self) -> None:
        if self.axis < -1:
            problem, hint = f"axis={self.axis} is negative", "write -1 for the right or 0 and more"
            raise RuleArgumentError(self.name, problem, hint, "axis")

    def check_shapes(self, shapes: Sequence[Dims]) -> None:
        """Raise `RuleArgumentError` unless the axis lies within A, or just past its end."""
        super().check_shapes(shapes)
        named, rank = ("the longer shape", max(map(len, shapes))) if self.flavour == "paddle" else ("A", len(shapes[0]))
        same_rank = self.flavour == "paddle" and len(shapes[0]) == len(shapes[1])
        if self.axis > rank and not same_rank:
            problem = f"axis={self.axis} is past the end of {named}, whose rank is {rank}"
            raise RuleArgumentError(self.name, problem, f"write an axis from 0 to {rank}, or -1 for the right", "axis")

    @property
    def placement(self) -> Placement:
        """The second operand, or for Paddle the shorter one, lies on a run of the other's axes."""
        axis = None if self.axis == -1 else self.axis
        if self.flavour == "paddle":
            return ShorterFromAxis(axis)
        return FromAxis(axis, may_hang_over=self.flavour == "document")

    @property
    def law(self) -> Law:
        """The law: B stretched onto A in the document; in the two frameworks a join, which OpenVINO limits."""
        match self.flavour:
            case "paddle":
                return Join()
            case "openvino":
                return JoinAtMost()
        # Only the trailing ones that the document drops may hang over.
        return Onto(_B_ONTO_A, PAST_END)

    def laid(self, ranks: Sequence[int]) -> tuple[Placement, Law | None]:
        """Return the declared placement and law; with an axis and equal ranks, Paddle needs equal shapes instead."""
        if self.flavour == "paddle" and ranks[0] == ranks[1] and self.axis > 0:
            # Laid at the axis, B hangs over A's end; but equal shapes never reach Paddle's check of the axis.
            return SameRank(), Equal(_AXIS_EQUAL, {"axis": self.axis})
        return self.placement, self.law
