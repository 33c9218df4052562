"""Operators that a program records: joined tensors, parts of tensors, and padding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from symbcast.core.algebra.arithmetic import add
from symbcast.core.broadcasting import Kind as AttributeKind
from symbcast.core.broadcasting import Parameter
from symbcast.operators.context import TWICE, Context, Dims
from symbcast.operators.reach import ANY, Reach, reach_beside_new, reach_of
from symbcast.operators.rearranging.joins import concat, split_as, split_evenly, stack
from symbcast.operators.rearranging.padding import MODES, Padding, ends_of, pad
from symbcast.operators.rearranging.slices import cut
from symbcast.operators.recorded import attributes as kind
from symbcast.operators.recorded.operator import Operator, Seen, reading, recorded
from symbcast.operators.selecting.indexing import gather, indexable

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim
    from symbcast.core.broadcasting import AttributeValue
    from symbcast.core.logic.formulas import Formula


@recorded
class Concat(Operator):
    """`numpy.concatenate`."""

    name = "concat"
    variadic = True
    parameters = (Parameter("axis", 0),)
    kinds = reading(axis=kind.whole)
    axis: int

    def reaches(self, shapes: Sequence[Dims]) -> Sequence[Reach | None]:
        """The axes up to the one along which tensors are joined."""
        return [reach_of((self.axis,))] * len(shapes)

    def lay(self, shapes: Sequence[Dims]) -> Seen:
        return self.lay_alike(shapes)

    def output(self, context: Context, shapes: Sequence[Dims]) -> Dims:
        return concat(context, shapes, self.axis)


@recorded
class Stack(Operator):
    """`numpy.stack`."""

    name = "stack"
    variadic = True
    parameters = (Parameter("axis", 0),)
    kinds = reading(axis=kind.whole)
    axis: int

    def reaches(self, shapes: Sequence[Dims]) -> Sequence[Reach | None]:
        """The axes before or after the new one."""
        return [reach_beside_new((self.axis,))] * len(shapes)

    def lay(self, shapes: Sequence[Dims]) -> Seen:
        return self.lay_alike(shapes)

    def output(self, context: Context, shapes: Sequence[Dims]) -> Dims:
        return stack(context, shapes, self.axis)


@recorded
class Split(Operator):
    """One part of `numpy.split`: the second operand holds the sizes of the parts; without it, there are ``count``.

    The first part states the requirements of the whole operation.
    """

    name = "split"
    variadic = True
    operands = ("data", "parts")
    parameters = (Parameter("axis", 0), Parameter("count", 1), Parameter("part", 0))
    kinds = reading(axis=kind.whole, count=kind.positive, part=kind.naturals)
    axis: int
    count: int
    part: int

    def written_attributes(self) -> Mapping[str, AttributeValue]:
        """A number of parts is written as ``parts``."""
        found = {name: value for name, value in self.attributes().items() if name == "axis"}
        return {"parts": self.count, **found} if self.count > 1 else found

    def reaches(self, shapes: Sequence[Dims]) -> Sequence[Reach | None]:
        """The axis that is split."""
        return [reach_of((self.axis,)), None][: len(shapes)]

    def output(self, context: Context, shapes: Sequence[Dims]) -> Dims:
        if len(shapes) not in (1, 2):
            context.refuse(f"takes one shape, and optionally the sizes of its parts, not {len(shapes)}")
        dims = shapes[0]
        place = context.axis(self.axis, len(dims))
        asking = context if self.part == 0 else Silent(context)
        given = shapes[1] if len(shapes) > 1 else None
        parts = split_evenly(asking, dims[place], self.count) if given is None else split_as(asking, dims[place], given)
        if self.part >= len(parts):
            context.refuse(f"part {self.part} must be one of {len(parts)}")
        return (*dims[:place], parts[self.part], *dims[place + 1 :])


class Silent(Context):
    """A context that ignores requirements because they are already stated elsewhere."""

    def __init__(self, context: Context) -> None:
        self.bounds = context.bounds
        self._context = context

    def require(self, formula: Formula, reason: str) -> None:
        """Require nothing."""

    def refuse(self, reason: str) -> NoReturn:
        """Refuse through the wrapped context."""
        self._context.refuse(reason)

    def broadcast(self, *shapes: Dims, rule: str = "numpy", **attributes: Any) -> Dims:
        """Broadcast shapes through the wrapped context."""
        return self._context.broadcast(*shapes, rule=rule, **attributes)


@recorded
class Slice(Operator):
    """A basic slice; a position ``"#n"`` is the n-th size of the second operand."""

    name = "slice"
    operands = ("data", "places")
    parameters = (Parameter("starts", ()), Parameter("stops", ()), Parameter("axes", None), Parameter("steps", None))
    kinds = reading(starts=kind.places, stops=kind.places, axes=kind.axes_or_all, steps=kind.axes_or_all)
    starts: tuple[int | str | None, ...]
    stops: tuple[int | str | None, ...]
    axes: tuple[int, ...] | None
    steps: tuple[int, ...] | None

    def reaches(self, shapes: Sequence[Dims]) -> Sequence[Reach | None]:
        """The sliced axes."""
        return [reach_of(range(len(self.starts)) if self.axes is None else self.axes), None]

    def output(self, context: Context, shapes: Sequence[Dims]) -> Dims:
        dims, given = list(shapes[0]), shapes[1]
        count = len(self.starts)
        axes = context.distinct_axes(range(count) if self.axes is None else self.axes, len(dims), TWICE)
        steps = (1,) * count if self.steps is None else self.steps
        if not count == len(self.stops) == len(axes) == len(steps):
            context.refuse("starts, stops, axes and steps must have the same length")
        for start, stop, axis, step in zip(self.starts, self.stops, axes, steps, strict=True):
            if step == 0:
                context.refuse("no step may be 0")
            size = dims[axis]
            # An omitted position means the nearest end; -1 counted from the front is before the first element.
            first = _from_front(context, size, start, given, 0 if step > 0 else size)
            last = _from_front(context, size, stop, given, size if step > 0 else -1)
            dims[axis] = cut(context, size, (first, last, step), sizes=given)[1]
        return tuple(dims)


def _from_front(context: Context, size: Dim, place: int | str | None, given: Dims, default: Dim) -> Dim:
    if place is None:
        return default
    if isinstance(place, str):
        number = int(place[1:])
        return given[number] if number < len(given) else context.refuse(f"there is no size {place}")
    return place if place >= 0 else add(size, place)


@recorded
class Gather(Operator):
    """`numpy.take` along an axis, for a shape of indices."""

    name = "gather"
    operands = ("data", "indices")
    parameters = (Parameter("axis", 0),)
    kinds = reading(axis=kind.whole)
    axis: int

    def reaches(self, shapes: Sequence[Dims]) -> Sequence[Reach | None]:
        """The axis that is indexed."""
        return [reach_of((self.axis,)), ANY]

    def output(self, context: Context, shapes: Sequence[Dims]) -> Dims:
        data, indices = shapes
        found = gather(context, data, indices, self.axis)
        indexable(context, data, indices, self.axis)
        return found


@recorded
class Pad(Operator):
    """`numpy.pad`; modes that repeat elements do so once."""

    name = "pad"
    operands = ("data",)
    parameters = (Parameter("widths", 0), Parameter("mode", "constant", MODES, kind=AttributeKind.WORD))
    kinds = reading(widths=kind.ends, mode=kind.text)
    widths: int | tuple[int | tuple[int, int], ...]
    mode: str

    def reaches(self, shapes: Sequence[Dims]) -> Sequence[Reach | None]:
        """All axes, one for each width."""
        return [None if isinstance(self.widths, int) else Reach(rank=len(self.widths))]

    def output(self, context: Context, shapes: Sequence[Dims]) -> Dims:
        (dims,) = shapes
        ends = ends_of(context, self.widths, len(dims), "widths")
        return pad(context, [Padding(d, *e) for d, e in zip(dims, ends, strict=True)], self.mode)
