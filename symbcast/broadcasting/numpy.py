"""The rule of NumPy, which ONNX's multidirectional and OpenVINO's numpy broadcasting share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from symbcast.broadcasting.base import Dims, Emission, Joined, OutputDim, Rule, offered, right_aligned
from symbcast.constraints import Constraint
from symbcast.errors import RuleArgumentError
from symbcast.formulas import Compatible


@offered
class Numpy(Rule):
    """Shapes are aligned at the right, a missing size is 1, and every axis' join must be defined.

    >>> Numpy().emit([("N", 3), (2, 1, 3)]).output
    (2, ('N', 1), (3, 3))
    """

    name: ClassVar[str] = "numpy"
    family: ClassVar[str] = "numpy"
    aliases: ClassVar[tuple[str, ...]] = ("onnx-multidirectional", "openvino-numpy")
    summary: ClassVar[str] = "right-aligned; on each axis the sizes are equal or 1; any number of operands"
    document: ClassVar[str] = "NumPy user guide, Broadcasting; ONNX Broadcasting.md; OpenVINO broadcast_rules"
    variadic: ClassVar[bool] = True

    def check_shapes(self, shapes: Sequence[Dims]) -> None:
        """No operand at all is a scalar to NumPy and an error to ONNX."""
        if not shapes and self.called != "numpy":
            raise RuleArgumentError(self.called, "takes at least one shape", "give one")

    def emit(self, shapes: Sequence[Dims]) -> Emission:
        """One constraint for each axis that two operands reach."""
        constraints: list[Constraint] = []
        output: list[OutputDim] = []
        axes = right_aligned(shapes)
        for axis, column in enumerate(axes):
            sizes = tuple(size for _, size in column)
            if len(sizes) == 1:
                output.append(sizes[0])
                continue
            operands = tuple(n for n, _ in column)
            constraints.append(
                self.constraint(Compatible(sizes), operands, "sizes must be equal or 1", axis, len(axes))
            )
            output.append(Joined(sizes))
        return Emission(constraints, tuple(output))

    def is_join(self, shapes: Sequence[Dims]) -> bool:
        """It is: that is the rule."""
        return True

    def concrete(self, shapes: Sequence[Sequence[int]]) -> tuple[int, ...] | None:
        """The joins of integers, without a constraint being made."""
        if len(shapes) != 2:
            return _join_sizes(shapes)
        long, short = shapes
        if len(long) < len(short):
            long, short = short, long
        axis = len(long) - len(short)
        output = list(long)
        for size in short:
            if size != 1:
                before = output[axis]
                if before == 1:
                    output[axis] = size
                elif before != size:
                    return None
            axis += 1
        return tuple(output)


def _join_sizes(shapes: Sequence[Sequence[int]]) -> tuple[int, ...] | None:
    rank = max(map(len, shapes), default=0)
    output = [1] * rank
    for shape in shapes:
        for axis, size in enumerate(shape, rank - len(shape)):
            if size not in (1, output[axis]):
                if output[axis] != 1:
                    return None
                output[axis] = size
    return tuple(output)
