"""The rules of ONNX: unidirectional broadcasting and the attributes of opsets before 7."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from symbcast.broadcasting.base import Dims, Emission, OutputDim, Parameter, Places, Rule, as_axes, as_int, offered, run
from symbcast.broadcasting.numpy import Numpy
from symbcast.constraints import Constraint
from symbcast.errors import RuleArgumentError
from symbcast.formulas import FALSE, all_of, any_of, equal, one_or_equal

MAX_PADDING = 1000
"""How many ones an importer's padding may put behind a shape."""


@offered
class Unidirectional(Rule):
    """Data is stretched onto the target, never the other way.

    ``keep`` names target axes (counted from 0) that keep data's own size, written ``-1`` in ``torch.expand`` and
    ``paddle.expand``; what stands in the target there is not looked at.
    """

    keep: tuple[int, ...]

    name: ClassVar[str] = "unidirectional"
    family: ClassVar[str] = "onnx"
    aliases: ClassVar[tuple[str, ...]] = ("onnx-unidirectional", "broadcast-to")
    operands: ClassVar[tuple[str, ...]] = ("data", "target")
    parameters: ClassVar[tuple[Parameter, ...]] = (Parameter("keep", ()),)
    summary: ClassVar[str] = "right-aligned; each data size is 1 or the target's; the output is the target"
    document: ClassVar[str] = "ONNX Broadcasting.md (there A is the target, B the data); numpy.broadcast_to"

    def check_attributes(self) -> None:
        self.keep = as_axes(self.name, "keep", self.keep)

    def emit(self, shapes: Sequence[Dims]) -> Emission:
        """One constraint for each axis of data."""
        data, target = shapes
        rank = len(target)
        if len(data) > rank:
            reason = f"data's rank {len(data)} must not exceed the target's rank {rank}"
            return Emission([self.refuse((0, 1), reason)], tuple(target))
        offset = rank - len(data)
        output: list[OutputDim] = list(target)
        constraints: list[Constraint] = []
        for axis in self.keep:
            if axis < offset:
                reason = f"target axis {axis} keeps data's size, and data does not reach it"
                constraints.append(self.constraint(FALSE, (0, 1), reason, axis, rank))
            else:
                output[axis] = data[axis - offset]
        for axis, size in enumerate(data, offset):
            if axis not in self.keep:
                requirement = one_or_equal(size, target[axis])
                reason = "the size must be 1 or the target's"
                constraints.append(self.constraint(requirement, (0, 1), reason, axis, rank))
        return Emission(constraints, tuple(output))

    def places(self, ranks: Sequence[int]) -> Places:
        """Data lies at the right of the target, and hangs over where its rank is greater."""
        data, target = ranks
        return Places(target, (run(target - data, data), run(0, target)))

    def check_shapes(self, shapes: Sequence[Dims]) -> None:
        """The axes to keep are the target's."""
        super().check_shapes(shapes)
        rank = len(shapes[1])
        for axis in self.keep:
            if not 0 <= axis < rank:
                problem = f"keep={self.keep} names axis {axis} of a target of rank {rank}"
                raise RuleArgumentError(self.name, problem, "count axes from 0 at the front of the target")


@offered
class OnnxLegacy(Rule):
    """Elementwise operations before opset 7, with their attributes ``broadcast`` and ``axis``.

    ``broadcast=0`` wants equal shapes. ``broadcast=1`` takes a B of ones, or one that equals the run of A's sizes
    that starts at ``axis`` (None: at the right; negative: counted from the end).
    ``flavour="openvino"`` is what importers do: B is padded with ones behind it, then broadcast as `numpy`.
    """

    broadcast: int
    axis: int | None
    flavour: str

    name: ClassVar[str] = "onnx-legacy"
    family: ClassVar[str] = "onnx"
    parameters: ClassVar[tuple[Parameter, ...]] = (
        Parameter("broadcast", 0),
        Parameter("axis", None),
        Parameter("flavour", "document", ("document", "openvino")),
    )
    summary: ClassVar[str] = "opset < 7: equal shapes, or B of ones or equal to a run of A's axes"
    document: ClassVar[str] = "ONNX operators changelog, Add-1 and Add-6"

    def check_attributes(self) -> None:
        broadcast = int(self.broadcast) if isinstance(self.broadcast, bool) else self.broadcast
        if as_int(self.name, "broadcast", broadcast) not in (0, 1):
            raise RuleArgumentError(self.name, f"broadcast={broadcast!r} is not offered", "write broadcast=0 or 1")
        self.broadcast = broadcast
        if self.axis is not None:
            self.axis = as_int(self.name, "axis", self.axis)

    def places(self, ranks: Sequence[int]) -> Places:
        """With ``broadcast=1`` B lies on a run of A's axes."""
        a, b = ranks
        if not self.broadcast:
            return super().places(ranks)
        start = self._start(a, b)
        if self.flavour != "openvino":
            return Places(a, (run(0, a), run(start, b)))
        padded = b + max(0, a - b - start)
        rank = max(a, padded)
        return Places(rank, (run(rank - a, a), run(rank - padded, b)))

    def emit(self, shapes: Sequence[Dims]) -> Emission:
        """Equalities, one for each axis of B, unless all of B is 1."""
        a, b = shapes
        if self.flavour == "openvino":
            return self._padded(a, b)
        if not self.broadcast:
            return self._equal(a, b)
        if len(b) > len(a):
            reason = f"B's rank {len(b)} must not exceed A's rank {len(a)}"
            return Emission([self.refuse((0, 1), reason)], tuple(a))
        ones = all_of(equal(size, 1) for size in b)
        start = self._start(len(a), len(b))
        if not 0 <= start <= len(a) - len(b):
            reason = f"B is not all ones and its {len(b)} axes from axis {self.axis} on must lie within A's {len(a)}"
            return Emission([self.constraint(ones, (1,), reason)], tuple(a))
        run = all_of(equal(size, a[axis]) for axis, size in enumerate(b, start))
        where = f"axes {start} to {start + len(b) - 1}" if len(b) > 1 else f"axis {start}"
        reason = f"B must be all ones or equal the sizes of A's {where}"
        constraints = [self.constraint(any_of((ones, run)), (0, 1), reason)] if b else []
        return Emission(constraints, tuple(a))

    def _equal(self, a: Dims, b: Dims) -> Emission:
        if len(a) != len(b):
            reason = f"without broadcast=1 ranks must be equal, and are {len(a)} and {len(b)}"
            return Emission([self.refuse((0, 1), reason)], tuple(a))
        constraints = [
            self.constraint(equal(x, y), (0, 1), "without broadcast=1 sizes must be equal", axis, len(a))
            for axis, (x, y) in enumerate(zip(a, b, strict=True))
        ]
        return Emission(constraints, tuple(a))

    def _start(self, a: int, b: int) -> int:
        if self.axis is None:
            return a - b
        return self.axis + a if self.axis < 0 else self.axis

    def check_shapes(self, shapes: Sequence[Dims]) -> None:
        """Padding does not go on for ever."""
        super().check_shapes(shapes)
        if self.flavour == "openvino" and self._behind(*shapes) > MAX_PADDING:
            problem = f"axis={self.axis} pads B with more than {MAX_PADDING} ones"
            raise RuleArgumentError(self.name, problem, "write an axis of A")

    def _behind(self, a: Dims, b: Dims) -> int:
        """Return how many ones B is padded with."""
        return max(0, len(a) - len(b) - self._start(len(a), len(b))) if self.broadcast else 0

    def _padded(self, a: Dims, b: Dims) -> Emission:
        emission = Numpy().emit((a, (*b, *(1,) * self._behind(a, b))))
        renamed = [Constraint(c.requirement, c.origin._replace(rule=self.name), c.reason) for c in emission.constraints]
        return Emission(renamed, emission.output)
