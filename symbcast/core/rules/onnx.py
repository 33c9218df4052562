"""The rules of ONNX: unidirectional broadcasting and the attributes of opsets before 7."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

from symbcast.core.algebra.formulas import FALSE, Formula, all_of, any_of, equal
from symbcast.core.algebra.terms import Dim
from symbcast.core.rules.broadcast_rule import Ask, Column, Emission, Equal, Instead, Join, Law, Onto, OutputDim, Rule
from symbcast.core.rules.declaration import EQUAL, EQUAL_RANKS, Kind, Parameter, Reason, Remedy
from symbcast.core.rules.placement import (
    AtRight,
    Dims,
    FromAxis,
    OntoRight,
    Placement,
    Places,
    Refusal,
    SameRank,
    axis_run,
    expanded_at_right,
)
from symbcast.core.rules.registry import rule
from symbcast.errors import RuleArgumentError

# How many ones an importer's padding may put behind a shape.
# Each one is an axis of the aligned shapes: axis=-10**9 would fill the memory.
MAX_PADDING = 1000

_RANK = (Remedy.LOWER_RANK, Remedy.SWAP)
_SIZES = (Remedy.TRANSPOSE, Remedy.SET_ONE)
KEPT = Reason("kept", "target axis {axis} keeps data's size, and data does not reach it")
ONES_OR_RUN = Reason("ones-or-run", "B must be all ones or equal to the sizes of A's {where}", _SIZES)
ONES = Reason("ones", "B is not all ones and its {count} axes from axis {axis} on must lie within A's {rank}", _SIZES)
_EQUAL = EQUAL.worded("without broadcast=1 sizes must be equal")
_EQUAL_RANKS = EQUAL_RANKS.worded("without broadcast=1 ranks must be equal, but are {left} and {right}", _RANK)


class _KeepData(Law):
    """The size of data is the output, whatever the target's size is; data must reach the axis."""

    @property
    def reasons(self) -> tuple[Reason, ...]:
        return (KEPT,)

    def asks(self, column: Column) -> Iterator[Ask]:
        # `torch.ones(3).expand(-1, 3)`: "isn't allowed in a leading, non-existing dimension 0".
        if len(column.sizes) == 1:
            yield Ask(FALSE, (0, 1), KEPT, {"axis": column.axis})

    def output(self, column: Column) -> OutputDim:
        return column.sizes[0]


_KEEP_DATA = _KeepData()


@rule
class Unidirectional(Rule):
    """Data is stretched onto the target, never the other way.

    ``keep`` names target axes (counted from 0) that keep data's own size, written ``-1`` in ``torch.expand`` and
    ``paddle.expand``; the target's size there is ignored.
    """

    keep: tuple[int, ...]

    name: ClassVar[str] = "unidirectional"
    family: ClassVar[str] = "onnx"
    aliases: ClassVar[tuple[str, ...]] = ("onnx-unidirectional", "broadcast-to")
    operands: ClassVar[tuple[str, ...]] = ("data", "target")
    parameters: ClassVar[tuple[Parameter, ...]] = (
        Parameter("keep", (), kind=Kind.INTEGERS, summary="target axes that keep data's size"),
    )
    summary: ClassVar[str] = "right-aligned; each data size is 1 or the target's; the output is the target"
    document: ClassVar[str] = "ONNX Broadcasting.md (there A is the target, B the data); numpy.broadcast_to"
    own_reasons: ClassVar[tuple[Reason, ...]] = (KEPT,)
    placement = OntoRight()
    law = Onto()

    @property
    def is_uniform(self) -> bool:
        """Whether all axes are stretched and none is kept."""
        return not self.keep

    def law_at(self, axis: int, law: Law) -> Law:
        """Return the law of one axis; axes in ``keep`` have their own law."""
        return _KEEP_DATA if axis in self.keep else law

    def check_shapes(self, shapes: Sequence[Dims]) -> None:
        """Raise `RuleArgumentError` unless the axes to keep are axes of the target."""
        super().check_shapes(shapes)
        rank = len(shapes[1])
        for axis in self.keep:
            if not 0 <= axis < rank:
                problem = f"keep={self.keep} names axis {axis} of a target of rank {rank}"
                raise RuleArgumentError(self.name, problem, "count axes from 0 at the front of the target", "keep")


class _Run(FromAxis):
    """B lies on a run of A's axes; a negative ``axis`` is counted from the end. Only the rank of B can be refused."""

    def start(self, long: int, short: int) -> int:
        if self.axis is None:
            return long - short
        return self.axis + long if self.axis < 0 else self.axis


class _Padded(_Run):
    """B lies on a run of A's axes; it is padded with ones at its end, so that both are aligned at the right."""

    has_base_rank: ClassVar[bool] = False

    @property
    def reasons(self) -> tuple[Reason, ...]:
        return ()

    def behind(self, a: int, b: int) -> int:
        """Return the number of ones that pad B."""
        return max(0, a - b - self.start(a, b))

    def places(self, ranks: Sequence[int]) -> Places:
        a, b = ranks
        padded = b + self.behind(a, b)
        rank = max(a, padded)
        return Places(rank, (axis_run(rank - a, a), axis_run(rank - padded, b)))

    def base(self, ranks: Sequence[int]) -> int | None:
        return None

    def refusals(self, ranks: Sequence[int]) -> Iterator[Refusal]:
        return iter(())

    def expand(self, shapes: Sequence[Dims]) -> list[Dims] | None:
        return expanded_at_right(shapes) if self.axis is None else None

    def rank_asks(self, ranks: Sequence[Dim]) -> Iterator[tuple[Formula, Refusal]]:
        return iter(())


@rule
class OnnxLegacy(Rule):
    """Elementwise operations before opset 7, with their attributes ``broadcast`` and ``axis``.

    ``broadcast=0`` requires equal shapes. ``broadcast=1`` accepts a B of ones, or one that equals the run of A's sizes
    that starts at ``axis`` (None: at the right; negative: counted from the end).
    ``flavour="openvino"`` is what importers do: B is padded with ones at its end, then broadcast as by `numpy`.
    """

    broadcast: int
    axis: int | None
    flavour: str

    name: ClassVar[str] = "onnx-legacy"
    family: ClassVar[str] = "onnx"
    parameters: ClassVar[tuple[Parameter, ...]] = (
        Parameter("broadcast", 0, kind=Kind.FLAG, summary="whether B is broadcast at all"),
        Parameter("axis", None, summary="the axis of A at which B starts"),
        Parameter("flavour", "document", ("document", "openvino"), Kind.WORD, "whose definition of the rule"),
    )
    summary: ClassVar[str] = "opset < 7: equal shapes, or B of ones or equal to a run of A's axes"
    document: ClassVar[str] = "ONNX operators changelog, Add-1 and Add-6"
    own_reasons: ClassVar[tuple[Reason, ...]] = (ONES_OR_RUN, ONES)

    def check_shapes(self, shapes: Sequence[Dims]) -> None:
        """Raise `RuleArgumentError` for an axis that would pad B with too many ones."""
        super().check_shapes(shapes)
        placement = self.placement
        if isinstance(placement, _Padded) and placement.behind(*map(len, shapes)) > MAX_PADDING:
            problem = f"axis={self.axis} pads B with more than {MAX_PADDING} ones"
            raise RuleArgumentError(self.name, problem, "write an axis of A", "axis")

    @property
    def placement(self) -> Placement:
        """Where B lies: on a run of A's axes with ``broadcast=1``."""
        if self.broadcast:
            return _Padded(self.axis) if self.flavour == "openvino" else _Run(self.axis, may_hang_over=True)
        return AtRight() if self.flavour == "openvino" else SameRank(_EQUAL_RANKS)

    @property
    def law(self) -> Law | None:
        """The law of an axis; None for the document's ``broadcast=1``, which is about all axes at once."""
        if self.flavour == "openvino":
            return Join()
        return None if self.broadcast else Equal(_EQUAL)

    @property
    def instead(self) -> tuple[Instead, ...]:
        """What may be suggested instead: to broadcast at all, or NumPy's rule."""
        return (*(() if self.broadcast else (Instead(attributes={"broadcast": 1}),)), Instead("numpy"))

    def emit(self, shapes: Sequence[Dims]) -> Emission:
        """Return the constraints: one on all axes with the document's ``broadcast=1``, else one for each axis."""
        if self.law is not None:
            return super().emit(shapes)
        a, b = shapes
        refusal = next(self.placement.refusals((len(a), len(b))), None)
        ask = Ask(FALSE, *refusal) if refusal is not None else self._ones_or_run(a, b)
        return Emission([self.constraint(ask)] if b else [], tuple(a))

    def _ones_or_run(self, a: Dims, b: Dims) -> Ask:
        # A B of ones is a scalar by the document, so it fits wherever `axis` points.
        ones = all_of(equal(size, 1) for size in b)
        start = _Run(self.axis).start(len(a), len(b))
        if not 0 <= start <= len(a) - len(b):
            return Ask(ones, (1,), ONES, {"count": len(b), "axis": str(self.axis), "rank": len(a)})
        run = all_of(equal(size, a[axis]) for axis, size in enumerate(b, start))
        where = f"axes {start} to {start + len(b) - 1}" if len(b) > 1 else f"axis {start}"
        return Ask(any_of((ones, run)), (0, 1), ONES_OR_RUN, {"where": where})
