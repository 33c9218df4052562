"""The rules of OpenVINO's elementwise operations and of its Broadcast-3."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import ClassVar

from symbcast.broadcasting.base import (
    REQUIRED,
    Dims,
    Emission,
    Joined,
    OutputDim,
    Parameter,
    Places,
    Rule,
    as_axes,
    as_int,
    offered,
    run,
)
from symbcast.broadcasting.numpy import Numpy
from symbcast.constraints import Constraint
from symbcast.errors import RuleArgumentError
from symbcast.formulas import Compatible, at_most, equal, one_or_equal

_ELEMENTWISE = "OpenVINO, Broadcast Rules For Elementwise Operations"
_ONTO = "the size must be 1 or the target's"


@offered
class NoBroadcast(Rule):
    """The shapes must match."""

    name: ClassVar[str] = "none"
    family: ClassVar[str] = "openvino"
    summary: ClassVar[str] = "no broadcasting: same rank and equal sizes"
    document: ClassVar[str] = _ELEMENTWISE

    def emit(self, shapes: Sequence[Dims]) -> Emission:
        """An equality for each axis."""
        a, b = shapes
        if len(a) != len(b):
            return Emission([self.refuse((0, 1), f"ranks must be equal, and are {len(a)} and {len(b)}")], tuple(a))
        constraints = [
            self.constraint(equal(x, y), (0, 1), "sizes must be equal", axis, len(a))
            for axis, (x, y) in enumerate(zip(a, b, strict=True))
        ]
        return Emission(constraints, tuple(a))


@offered
class Bidirectional(Numpy):
    """`Numpy` on data and a target shape; the output need not be the target."""

    name: ClassVar[str] = "bidirectional"
    family: ClassVar[str] = "openvino"
    aliases: ClassVar[tuple[str, ...]] = ()
    operands: ClassVar[tuple[str, ...]] = ("data", "target")
    variadic: ClassVar[bool] = False
    summary: ClassVar[str] = "data and target broadcast each other, as numpy; a target size of 1 keeps data's"
    document: ClassVar[str] = "OpenVINO, Bidirectional Broadcast Rules; Broadcast-3; ONNX Expand"

    def check_shapes(self, shapes: Sequence[Dims]) -> None:
        """Exactly data and target."""
        Rule.check_shapes(self, shapes)


@offered
class Explicit(Rule):
    """Data axis ``i`` is mapped to target axis ``axes[i]``.

    ``flavour="document"`` wants the axes strictly increasing (one output axis for each data axis);
    ``flavour="openvino"`` takes duplicates, and lets data of rank 0 name one axis of size 1, as its code does.
    """

    axes: tuple[int, ...]
    flavour: str

    name: ClassVar[str] = "explicit"
    family: ClassVar[str] = "openvino"
    operands: ClassVar[tuple[str, ...]] = ("data", "target")
    parameters: ClassVar[tuple[Parameter, ...]] = (
        Parameter("axes", REQUIRED),
        Parameter("flavour", "document", ("document", "openvino")),
    )
    summary: ClassVar[str] = "data axis i goes to target axis axes[i]; each data size is 1 or the target's"
    document: ClassVar[str] = "OpenVINO, Broadcast-3, mode explicit"

    def check_attributes(self) -> None:
        self.axes = as_axes(self.name, "axes", self.axes)

    def emit(self, shapes: Sequence[Dims]) -> Emission:
        """One constraint for each data axis, on the target axis that it is mapped to."""
        data, target = shapes
        rank = len(target)
        if len(data) < len(self.axes):
            axis = self.axes[0]
            scalar = self.constraint(equal(target[axis], 1), (1,), "the axis a scalar names must be 1", axis, rank)
            return Emission([scalar], tuple(target))
        constraints = [
            self.constraint(one_or_equal(size, target[axis]), (0, 1), _ONTO, axis, rank)
            for size, axis in zip(data, self.axes, strict=True)
        ]
        return Emission(constraints, tuple(target))

    def places(self, ranks: Sequence[int]) -> Places:
        """Data lies on the axes named."""
        return Places(ranks[1], (self.axes[: ranks[0]], run(0, ranks[1])))

    def check_shapes(self, shapes: Sequence[Dims]) -> None:
        """The axes are as many as data has, in order, and within the target."""
        super().check_shapes(shapes)
        axes, (data_rank, rank) = self.axes, map(len, shapes)
        scalar = self.flavour == "openvino" and data_rank == 0 and len(axes) == 1
        if len(axes) != data_rank and not scalar:
            problem = f"axes={axes} names {len(axes)} axes for data of rank {data_rank}"
            raise RuleArgumentError(self.name, problem, "give one axis for each axis of data")
        for axis in axes:
            if not 0 <= axis < rank:
                allowed = f"0..{rank - 1}" if rank else "none, its rank is 0"
                problem = f"axis {axis} in axes={axes} is outside the target's axes ({allowed})"
                raise RuleArgumentError(self.name, problem, "count axes from 0 at the front of the target")
        strict = self.flavour == "document"
        if any(a > b or (strict and a == b) for a, b in pairwise(axes)):
            order = "strictly increasing" if strict else "sorted"
            problem = f"axes={axes} must be {order}"
            raise RuleArgumentError(self.name, problem, f"write axes={tuple(sorted(set(axes)))} and reorder data")


@offered
class Pdpd(Rule):
    """B is laid onto a run of A's axes that starts at ``axis`` (-1: at the right), and only B is stretched.

    ``flavour="document"`` is the document: sizes of B that hang over A's end must be 1.
    ``flavour="openvino"`` is OpenVINO's code: nothing may hang over, no size of B exceeds A's, and A's 1 beside
    B's 0 gives 0. ``flavour="paddle"`` is Paddle's code: the shorter shape is laid at ``axis`` of the longer one,
    both are stretched, and equal shapes are taken whatever the axis. (What Paddle does with an axis below -1 follows
    no rule, and no flavour takes one.)
    """

    axis: int
    flavour: str

    name: ClassVar[str] = "pdpd"
    family: ClassVar[str] = "openvino"
    parameters: ClassVar[tuple[Parameter, ...]] = (
        Parameter("axis", -1),
        Parameter("flavour", "document", ("document", "openvino", "paddle")),
    )
    summary: ClassVar[str] = "B is stretched onto a run of A's axes from axis= on; A never is"
    document: ClassVar[str] = _ELEMENTWISE + ", PDPD"

    def check_attributes(self) -> None:
        axis = as_int(self.name, "axis", self.axis)
        self.axis = axis
        if axis < -1:
            raise RuleArgumentError(self.name, f"axis={axis} is negative", "write -1 for the right or 0 and more")

    def emit(self, shapes: Sequence[Dims]) -> Emission:
        """One constraint for each axis of B."""
        a, b = shapes
        if self.flavour == "paddle":
            return self._paddle(a, b)
        if len(b) > len(a):
            reason = f"B's rank {len(b)} must not exceed A's rank {len(a)}"
            return Emission([self.refuse((0, 1), reason)], tuple(a))
        start = self._start(len(a), len(b))
        if self.flavour == "openvino":
            return self._openvino(a, b, start)
        constraints = [
            self.constraint(one_or_equal(size, a[axis]), (0, 1), "B's size must be 1 or A's", axis, len(a))
            if axis < len(a)
            else self.constraint(equal(size, 1), (1,), "a size of B past the end of A must be 1")
            for axis, size in enumerate(b, start)
        ]
        return Emission(constraints, tuple(a))

    def check_shapes(self, shapes: Sequence[Dims]) -> None:
        """The axis lies within A, or just past its end."""
        super().check_shapes(shapes)
        named, rank = ("the longer shape", max(map(len, shapes))) if self.flavour == "paddle" else ("A", len(shapes[0]))
        same_rank = self.flavour == "paddle" and len(shapes[0]) == len(shapes[1])
        if self.axis > rank and not same_rank:
            problem = f"axis={self.axis} is past the end of {named}, whose rank is {rank}"
            raise RuleArgumentError(self.name, problem, f"write an axis from 0 to {rank}, or -1 for the right")

    def places(self, ranks: Sequence[int]) -> Places:
        """The second, or to Paddle the shorter, lies on a run of the other's axes."""
        a, b = ranks
        if self.flavour != "paddle" or a > b:
            return Places(a, (run(0, a), run(self._start(a, b), b)))
        if a == b:
            return Places(a, (run(0, a), run(0, b)))
        return Places(b, (run(self._start(b, a), a), run(0, b)))

    def _start(self, long: int, short: int) -> int:
        return long - short if self.axis == -1 else self.axis

    def _openvino(self, a: Dims, b: Dims, start: int) -> Emission:
        if start + len(b) > len(a):
            reason = f"B's {len(b)} axes from axis {start} on must lie within A's {len(a)}"
            return Emission([self.refuse((0, 1), reason)], tuple(a))
        constraints: list[Constraint] = []
        output: list[OutputDim] = list(a)
        for axis, size in enumerate(b, start):
            pair = (a[axis], size)
            constraints.append(self.constraint(Compatible(pair), (0, 1), "sizes must be equal or 1", axis, len(a)))
            reason = "B's size must not exceed A's"
            constraints.append(self.constraint(at_most(size, a[axis]), (0, 1), reason, axis, len(a)))
            output[axis] = Joined((a[axis], size))
        return Emission(constraints, tuple(output))

    def _paddle(self, a: Dims, b: Dims) -> Emission:
        if len(a) == len(b) and self.axis > 0:
            # Laid at axis, B hangs over A's end; but equal shapes never reach Paddle's check of the axis.
            same = [
                self.constraint(equal(x, y), (0, 1), f"with axis={self.axis} sizes must be equal", n, len(a))
                for n, (x, y) in enumerate(zip(a, b, strict=True))
            ]
            return Emission(same, tuple(a))
        long, short = (a, b) if len(a) >= len(b) else (b, a)
        start = self._start(len(long), len(short))
        if start + len(short) > len(long) or self.axis >= max(1, len(long)):
            run = f"the shorter shape's {len(short)} axes from axis {start} on"
            reason = f"{run} must lie within the other's {len(long)}"
            return Emission([self.refuse((0, 1), reason)], tuple(long))
        constraints: list[Constraint] = []
        output: list[OutputDim] = list(long)
        for axis, size in enumerate(short, start):
            pair = (long[axis], size) if long is a else (size, long[axis])
            constraints.append(self.constraint(Compatible(pair), (0, 1), "sizes must be equal or 1", axis, len(long)))
            output[axis] = Joined(pair)
        return Emission(constraints, tuple(output))
