"""The operators that a program records: the same elements in another shape, and repeats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from symbcast.core.broadcasting import Parameter
from symbcast.core.broadcasting.unknown_rank import place_of
from symbcast.operators.context import TWICE, Context, Dims
from symbcast.operators.reach import ANY, Reach, reach_beside_new, reach_of
from symbcast.operators.rearranging.layout import expand, squeeze, tile, transpose, unsqueeze
from symbcast.operators.rearranging.reshape import copied, flatten, reshape, reshape_beside
from symbcast.operators.recorded import attributes as kind
from symbcast.operators.recorded.attributes import Others
from symbcast.operators.recorded.operator import Operator, reading, recorded

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim
    from symbcast.core.broadcasting import AttributeValue


@recorded
class Reshape(Operator):
    """`numpy.reshape`: the second operand is the target, with 1 in place of each inferred or copied size."""

    name = "reshape"
    operands = ("data", "target")
    parameters = (Parameter("inferred", None), Parameter("copied", ()))
    kinds = reading(inferred=kind.axes_or_all, copied=kind.wholes)
    inferred: tuple[int, ...] | None
    copied: tuple[int, ...]

    def written_attributes(self) -> Mapping[str, AttributeValue]:
        """Only whether zeros copy: which sizes are inferred is part of the target."""
        return {"zero_copies": True} if self.copied else {}

    def written_operands(self, shapes: Sequence[Sequence[Any]]) -> Sequence[Sequence[Any]]:
        """The target with -1 for an inferred size and 0 for a copied one."""
        data, target = shapes
        written = dict.fromkeys(self.copied, 0) | dict.fromkeys(self.inferred or (), -1)
        return data, [written.get(n, written.get(n - len(target), d)) for n, d in enumerate(target)]

    def reaches(self, shapes: Sequence[Dims]) -> Sequence[Reach | None]:
        """None: a sequence of axes is passed on unchanged from the data to the target."""
        return [ANY, ANY]

    def output(self, context: Context, shapes: Sequence[Dims]) -> Dims:
        data, target = shapes
        wanted: list[Dim | None] = [*target]
        for axis in self.copied:
            wanted[context.axis(axis, len(wanted))] = copied(context, data, axis)
        for axis in self.inferred or ():
            wanted[context.axis(axis, len(wanted))] = None
        places = place_of(data), place_of(target)
        if places == (None, None):
            return reshape(context, data, wanted)
        if places[0] is None or places[1] is None or data[places[0]] != target[places[1]]:
            context.refuse("takes axes of unknown number only if data and target have the same sequence of them")
        if self.copied and places[0] != places[1]:
            context.refuse("copies sizes only if data and target have their sequence of axes in the same place")
        return reshape_beside(context, data, wanted, data[places[0]])


@recorded
class Flatten(Operator):
    """The axes from ``start`` to ``end``, both included, merged into one."""

    name = "flatten"
    operands = ("data",)
    parameters = (Parameter("start", 0), Parameter("end", -1))
    kinds = reading(start=kind.whole, end=kind.whole)
    start: int
    end: int

    def reaches(self, shapes: Sequence[Dims]) -> Sequence[Reach | None]:
        """The merged axes, if both ends are counted from the same side; a scalar counts as one axis of size 1."""
        if (self.start < 0) is not (self.end < 0):
            return super().reaches(shapes)
        found = reach_of((self.start, self.end))
        return [found._replace(least=0) if found.last == 1 else found]

    def output(self, context: Context, shapes: Sequence[Dims]) -> Dims:
        dims = shapes[0] or (1,)
        start, end = context.axis(self.start, len(dims)), context.axis(self.end, len(dims))
        if start > end:
            context.refuse(f"start={self.start} must not come after end={self.end}")
        return flatten(dims, start, end + 1)


@recorded
class Transpose(Operator):
    """`numpy.transpose`."""

    name = "transpose"
    operands = ("data",)
    parameters = (Parameter("order", None),)
    kinds = reading(order=kind.order)
    order: tuple[int | Others, ...] | None

    def reaches(self, shapes: Sequence[Dims]) -> Sequence[Reach | None]:
        """All axes, as listed in the order; with an ellipsis, only the named ones."""
        if self.order is None:
            return super().reaches(shapes)
        named = [a for a in self.order if isinstance(a, int)]
        return [Reach(rank=len(named)) if len(named) == len(self.order) else reach_of(named)]

    def output(self, context: Context, shapes: Sequence[Dims]) -> Dims:
        (dims,) = shapes
        if self.order is None:
            return transpose(context, dims, None)
        named = {context.axis(a, len(dims)) for a in self.order if isinstance(a, int)}
        others = [n for n in range(len(dims)) if n not in named]
        order: list[int] = []
        for axis in self.order:
            order += [context.axis(axis, len(dims))] if isinstance(axis, int) else others
        return transpose(context, dims, order)


@recorded
class Squeeze(Operator):
    """`numpy.squeeze` with named axes."""

    name = "squeeze"
    operands = ("data",)
    parameters = (Parameter("axes", None),)
    kinds = reading(axes=kind.axes_or_all)
    axes: tuple[int, ...] | None

    def reaches(self, shapes: Sequence[Dims]) -> Sequence[Reach | None]:
        """The removed axes, if they are named."""
        return [None if self.axes is None else reach_of(self.axes)]

    def output(self, context: Context, shapes: Sequence[Dims]) -> Dims:
        (dims,) = shapes
        if self.axes is not None:
            return squeeze(context, dims, context.distinct_axes(self.axes, len(dims), TWICE))
        unknown = [n for n, d in enumerate(dims) if not isinstance(d, int) and not context.bounds.is_at_least(d, 2)]
        if unknown:
            context.refuse(f"whether axis {unknown[0]} is 1 depends on the sizes: name the axes to remove")
        return squeeze(context, dims, [n for n, d in enumerate(dims) if d == 1])


@recorded
class Unsqueeze(Operator):
    """`numpy.expand_dims`."""

    name = "unsqueeze"
    operands = ("data",)
    parameters = (Parameter("axes", ()),)
    kinds = reading(axes=kind.axes)
    axes: tuple[int, ...]

    def reaches(self, shapes: Sequence[Dims]) -> Sequence[Reach | None]:
        """The axes before the last one counted from the front, and after the first one counted from the end."""
        return [reach_beside_new(self.axes)]

    def output(self, context: Context, shapes: Sequence[Dims]) -> Dims:
        return unsqueeze(context, shapes[0], self.axes)


@recorded
class Expand(Operator):
    """`numpy.broadcast_to`."""

    name = "expand"
    operands = ("data", "target")

    def reaches(self, shapes: Sequence[Dims]) -> Sequence[Reach | None]:
        """None: the broadcast aligns the axes."""
        return [ANY, ANY]

    def output(self, context: Context, shapes: Sequence[Dims]) -> Dims:
        data, target = shapes
        if len(data) > len(target) and place_of(data) is place_of(target) is None:
            context.refuse(f"the target, of rank {len(target)}, must have at least the {len(data)} axes of the data")
        return expand(context, data, target)


@recorded
class Tile(Operator):
    """`numpy.tile`: shapes are aligned at the right."""

    name = "tile"
    operands = ("data", "repeats")

    def reaches(self, shapes: Sequence[Dims]) -> Sequence[Reach | None]:
        """As many of the last axes of the data as there are repeats; missing axes count as size 1."""
        return [Reach(last=len(shapes[1]), least=0), None]

    def output(self, context: Context, shapes: Sequence[Dims]) -> Dims:
        rank = max(map(len, shapes))
        data, repeats = ((1,) * (rank - len(s)) + s for s in shapes)
        return tile(context, data, repeats)
