"""The operators that a program records, each a shape function with its attributes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from symbcast.algebra.arithmetic import add
from symbcast.algebra.sequences import is_sequence
from symbcast.broadcasting import Kind as AttributeKind
from symbcast.broadcasting import Parameter
from symbcast.errors import OperatorError
from symbcast.operators import attributes as kind
from symbcast.operators.context import Context, Dims
from symbcast.operators.einsum import einsum
from symbcast.operators.indexing import gather, indexable
from symbcast.operators.joins import concat, split_as, split_evenly, stack
from symbcast.operators.layout import expand, squeeze, tile, transpose, unsqueeze
from symbcast.operators.matmul import matmul
from symbcast.operators.operator import Operator, reading, recorded
from symbcast.operators.padding import MODES, Padding, pad
from symbcast.operators.reductions import reduce
from symbcast.operators.reshape import copied, flatten, reshape
from symbcast.operators.slices import cut
from symbcast.operators.windows import (
    Positions,
    Window,
    conv,
    convolved_channels,
    covering,
    fitting,
    fitting_rounded_up,
    pool,
    spatial_axes,
    transposed_channels,
    transposed_length,
    weights_of_rank,
)

if TYPE_CHECKING:
    from symbcast.algebra.terms import Dim
    from symbcast.logic.formulas import Formula

TWICE = "no axis may be named twice"


def counted_from_end(axes: Sequence[int]) -> int | None:
    """Return how many of the last axes some axes are among; None where one is counted from the front.

    >>> counted_from_end([-1, -3]), counted_from_end([0])
    (3, None)
    """
    return None if any(axis >= 0 for axis in axes) else max((-axis for axis in axes), default=0)


@recorded
class MatMul(Operator):
    """`numpy.matmul`."""

    name = "matmul"

    @property
    def last_axes(self) -> int:
        """The rows and columns."""
        return 2

    def output(self, context: Context, shapes: Sequence[Dims]) -> Dims:
        left, right = shapes
        return matmul(context, left, right)


@recorded
class Einsum(Operator):
    """`numpy.einsum`, the equation in letters."""

    name = "einsum"
    variadic = True
    parameters = (Parameter("equation", ""),)
    kinds = reading(equation=kind.text)
    equation: str

    def output(self, context: Context, shapes: Sequence[Dims]) -> Dims:
        terms, _, output = self.equation.replace(" ", "").partition("->")
        for term in (*terms.split(","), output):
            letters = term.replace("...", "", 1)
            if letters and not (letters.isascii() and letters.isalpha()):
                context.refuse(f"the term {term!r} must be letters, and '...' at most once")
        if len(set(output.replace(".", ""))) < len(output.replace(".", "")):
            context.refuse("the output may have each letter once")
        return einsum(context, self.equation, shapes, aligns_ellipses=True)


@recorded
class Reduce(Operator):
    """`numpy.sum` and the like."""

    name = "reduce"
    operands = ("data",)
    parameters = (Parameter("axes", None), Parameter("keepdims", False))
    kinds = reading(axes=kind.axes_or_all, keepdims=kind.truth)
    axes: tuple[int, ...] | None
    keepdims: bool

    @property
    def last_axes(self) -> int | None:
        """Those that are reduced, where they are counted from the end; none where all are, and go."""
        if self.axes is None:
            return None if self.keepdims else 0
        return counted_from_end(self.axes)

    def output(self, context: Context, shapes: Sequence[Dims]) -> Dims:
        (dims,) = shapes
        axes = None if self.axes is None else context.distinct_axes(self.axes, len(dims), TWICE)
        return reduce(context, dims, axes, keepdims=self.keepdims)


@recorded
class Reshape(Operator):
    """`numpy.reshape`: the second operand is the target, with a 1 where its size is inferred or copied."""

    name = "reshape"
    operands = ("data", "target")
    parameters = (Parameter("inferred", None), Parameter("copied", ()))
    kinds = reading(inferred=kind.axes_or_all, copied=kind.wholes)
    inferred: tuple[int, ...] | None
    copied: tuple[int, ...]

    def output(self, context: Context, shapes: Sequence[Dims]) -> Dims:
        data, target = shapes
        wanted: list[Dim | None] = [*target]
        for axis in self.copied:
            wanted[context.axis(axis, len(wanted))] = copied(context, data, axis)
        for axis in self.inferred or ():
            wanted[context.axis(axis, len(wanted))] = None
        return reshape(context, data, wanted)


@recorded
class Flatten(Operator):
    """The axes from one to another, both included, in one."""

    name = "flatten"
    operands = ("data",)
    parameters = (Parameter("start", 0), Parameter("end", -1))
    kinds = reading(start=kind.whole, end=kind.whole)
    start: int
    end: int

    def output(self, context: Context, shapes: Sequence[Dims]) -> Dims:
        (dims,) = shapes
        if not dims:
            return (1,)
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
    kinds = reading(order=kind.axes_or_all)
    order: tuple[int, ...] | None

    def output(self, context: Context, shapes: Sequence[Dims]) -> Dims:
        (dims,) = shapes
        order = None if self.order is None else [context.axis(a, len(dims)) for a in self.order]
        return transpose(context, dims, order)


@recorded
class Squeeze(Operator):
    """`numpy.squeeze`, its axes named."""

    name = "squeeze"
    operands = ("data",)
    parameters = (Parameter("axes", None),)
    kinds = reading(axes=kind.axes_or_all)
    axes: tuple[int, ...] | None

    @property
    def last_axes(self) -> int | None:
        """Those that are taken out, where they are named and counted from the end."""
        return None if self.axes is None else counted_from_end(self.axes)

    def output(self, context: Context, shapes: Sequence[Dims]) -> Dims:
        (dims,) = shapes
        if self.axes is not None:
            return squeeze(context, dims, context.distinct_axes(self.axes, len(dims), TWICE))
        unknown = [n for n, d in enumerate(dims) if not isinstance(d, int) and not context.bounds.is_at_least(d, 2)]
        if unknown:
            context.refuse(f"whether axis {unknown[0]} is 1 depends on the sizes: name the axes to take out")
        return squeeze(context, dims, [n for n, d in enumerate(dims) if d == 1])


@recorded
class Unsqueeze(Operator):
    """`numpy.expand_dims`."""

    name = "unsqueeze"
    operands = ("data",)
    parameters = (Parameter("axes", ()),)
    kinds = reading(axes=kind.axes)
    axes: tuple[int, ...]

    @property
    def last_axes(self) -> int | None:
        """Those behind the first new one, where all are counted from the end."""
        counted = counted_from_end(self.axes)
        return None if counted is None else max(0, counted - len(self.axes))

    def output(self, context: Context, shapes: Sequence[Dims]) -> Dims:
        return unsqueeze(context, shapes[0], self.axes)


@recorded
class Expand(Operator):
    """`numpy.broadcast_to`."""

    name = "expand"
    operands = ("data", "target")

    def output(self, context: Context, shapes: Sequence[Dims]) -> Dims:
        data, target = shapes
        if len(data) > len(target):
            context.refuse(f"the target, of rank {len(target)}, must have the {len(data)} axes of the data at least")
        return expand(context, data, target)


@recorded
class Tile(Operator):
    """`numpy.tile`: shapes are aligned at the right."""

    name = "tile"
    operands = ("data", "repeats")

    def output(self, context: Context, shapes: Sequence[Dims]) -> Dims:
        rank = max(map(len, shapes))
        data, repeats = ((1,) * (rank - len(s)) + s for s in shapes)
        return tile(context, data, repeats)


@recorded
class Concat(Operator):
    """`numpy.concatenate`."""

    name = "concat"
    variadic = True
    parameters = (Parameter("axis", 0),)
    kinds = reading(axis=kind.whole)
    axis: int

    @property
    def last_axes(self) -> int | None:
        """Those from the axis on along which tensors are put together, where it is counted from the end."""
        return counted_from_end((self.axis,))

    def expand(self, shapes: Sequence[Sequence[Any]]) -> list[Sequence[Any]]:
        """As that of other operators; all tensors have the same axes of unknown number."""
        if len({(s[0] if s and is_sequence(s[0]) else None, len(s)) for s in shapes}) > 1:
            raise OperatorError(self.name, "tensors of unknown rank must begin with the same sequence of axes")
        return super().expand(shapes)

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

    def output(self, context: Context, shapes: Sequence[Dims]) -> Dims:
        return stack(context, shapes, self.axis)


@recorded
class Split(Operator):
    """One part of `numpy.split`: the second operand, if any, holds the sizes of the parts, else there are ``count``.

    The first part requires what the whole operation does.
    """

    name = "split"
    variadic = True
    operands = ("data", "parts")
    parameters = (Parameter("axis", 0), Parameter("count", 1), Parameter("part", 0))
    kinds = reading(axis=kind.whole, count=kind.positive, part=kind.naturals)
    axis: int
    count: int
    part: int

    def output(self, context: Context, shapes: Sequence[Dims]) -> Dims:
        if len(shapes) not in (1, 2):
            context.refuse(f"takes one shape, and the sizes of its parts, not {len(shapes)}")
        dims = shapes[0]
        place = context.axis(self.axis, len(dims))
        asking = context if self.part == 0 else Silent(context)
        given = shapes[1] if len(shapes) > 1 else None
        parts = split_evenly(asking, dims[place], self.count) if given is None else split_as(asking, dims[place], given)
        if self.part >= len(parts):
            context.refuse(f"part {self.part} must be one of {len(parts)}")
        return (*dims[:place], parts[self.part], *dims[place + 1 :])


class Silent(Context):
    """A context for what is required elsewhere already."""

    def __init__(self, context: Context) -> None:
        self.bounds = context.bounds
        self._context = context

    def require(self, formula: Formula, reason: str) -> None:
        """Require nothing."""

    def refuse(self, reason: str) -> NoReturn:
        """Refuse what the context refuses."""
        self._context.refuse(reason)

    def broadcast(self, *shapes: Dims, rule: str = "numpy", **attributes: Any) -> Dims:
        """Broadcast shapes as the context does."""
        return self._context.broadcast(*shapes, rule=rule, **attributes)


@recorded
class Slice(Operator):
    """A basic slice: a ``"#n"`` among the places is the n-th size of the second operand."""

    name = "slice"
    operands = ("data", "places")
    parameters = (Parameter("starts", ()), Parameter("stops", ()), Parameter("axes", None), Parameter("steps", None))
    kinds = reading(starts=kind.places, stops=kind.places, axes=kind.axes_or_all, steps=kind.axes_or_all)
    starts: tuple[int | str | None, ...]
    stops: tuple[int | str | None, ...]
    axes: tuple[int, ...] | None
    steps: tuple[int, ...] | None

    def output(self, context: Context, shapes: Sequence[Dims]) -> Dims:
        dims, given = list(shapes[0]), shapes[1]
        count = len(self.starts)
        axes = context.distinct_axes(range(count) if self.axes is None else self.axes, len(dims), TWICE)
        steps = (1,) * count if self.steps is None else self.steps
        if not count == len(self.stops) == len(axes) == len(steps):
            context.refuse("starts, stops, axes and steps must be as many")
        for start, stop, axis, step in zip(self.starts, self.stops, axes, steps, strict=True):
            if step == 0:
                context.refuse("no step may be 0")
            size = dims[axis]
            # What is left out reaches to the end that it is next to; -1 counted from the front is before the first.
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
    """`numpy.take` along an axis, of a shape of indices."""

    name = "gather"
    operands = ("data", "indices")
    parameters = (Parameter("axis", 0),)
    kinds = reading(axis=kind.whole)
    axis: int

    def output(self, context: Context, shapes: Sequence[Dims]) -> Dims:
        data, indices = shapes
        found = gather(context, data, indices, self.axis)
        indexable(context, data, indices, self.axis)
        return found


@recorded
class Pad(Operator):
    """`numpy.pad`, of modes that repeat elements once."""

    name = "pad"
    operands = ("data",)
    parameters = (Parameter("widths", 0), Parameter("mode", "constant", MODES, kind=AttributeKind.WORD))
    kinds = reading(widths=kind.ends, mode=kind.text)
    widths: int | tuple[int | tuple[int, int], ...]
    mode: str

    def output(self, context: Context, shapes: Sequence[Dims]) -> Dims:
        (dims,) = shapes
        ends = _ends(context, self.widths, len(dims), "widths")
        return pad(context, [Padding(d, *e) for d, e in zip(dims, ends, strict=True)], self.mode)


class _Windowed(Operator):
    """What convolutions and pools have in common."""

    strides: int | tuple[int, ...]
    dilations: int | tuple[int, ...]
    padding: Any

    def windows(self, context: Context, kernel: Dims) -> list[Window]:
        """Return the windows along each axis, none of which may be empty."""
        rank = len(kernel)
        for size in kernel:
            context.at_most(1, size, "the window must not be empty")
        strides = _each(context, self.strides, rank, "strides")
        dilations = _each(context, self.dilations, rank, "dilations")
        ends = _ends(context, 0 if isinstance(self.padding, str) else self.padding, rank, "padding")
        return [Window(k, s, d, *e) for k, s, d, e in zip(kernel, strides, dilations, ends, strict=True)]


_WINDOW = (Parameter("strides", 1), Parameter("padding", 0), Parameter("dilations", 1))
_WINDOW_KINDS = reading(strides=kind.positives, padding=kind.natural_ends, dilations=kind.positives)


def _covering(_: Context, size: Dim, window: Window) -> Dim:
    return covering(size, window.stride)


@recorded
class Conv(_Windowed):
    """A convolution of (N, C, ...) with weights (M, C / groups, ...), and a bias (M,)."""

    name = "conv"
    variadic = True
    operands = ("data", "weights", "bias")
    parameters = (*_WINDOW, Parameter("groups", 1))
    kinds = reading(**_WINDOW_KINDS, groups=kind.positive)
    groups: int

    def output(self, context: Context, shapes: Sequence[Dims]) -> Dims:
        dims, weights = _data_and_weights(context, shapes)
        convolved_channels(context, dims, weights, self.groups)
        _bias(context, shapes[2:], weights[0])
        positions = _covering if self.padding == "same" else fitting
        return conv(context, dims, weights, self.windows(context, weights[2:]), positions)


@recorded
class ConvTranspose(_Windowed):
    """What undoes a convolution: (N, C, ...) with weights (C, M / groups, ...), and a bias (M,)."""

    name = "conv_transpose"
    variadic = True
    operands = ("data", "weights", "bias")
    parameters = (*_WINDOW, Parameter("groups", 1), Parameter("output_padding", 0))
    kinds = reading(**_WINDOW_KINDS, groups=kind.positive, output_padding=kind.naturals)
    groups: int
    output_padding: int | tuple[int, ...]

    def output(self, context: Context, shapes: Sequence[Dims]) -> Dims:
        if self.padding == "same":
            context.refuse("padding='same' is not offered: write it in numbers")
        dims, weights = _data_and_weights(context, shapes)
        channels = transposed_channels(context, dims, weights, self.groups)
        _bias(context, shapes[2:], channels)
        extras = _each(context, self.output_padding, len(dims) - 2, "output_padding")
        found = []
        for size, window, extra in zip(dims[2:], self.windows(context, weights[2:]), extras, strict=True):
            length = transposed_length(size, window, extra)
            context.at_most(1, size, "the input must not be empty")
            context.at_most(1, length, "the output must not be empty")
            found.append(length)
        return (dims[0], channels, *found)


@recorded
class Pool(_Windowed):
    """A pool of (N, C, ...); the second operand is the size of the window."""

    name = "pool"
    operands = ("data", "kernel")
    parameters = (*_WINDOW, Parameter("ceil_mode", False))
    kinds = reading(**_WINDOW_KINDS, ceil_mode=kind.truth)
    ceil_mode: bool

    def output(self, context: Context, shapes: Sequence[Dims]) -> Dims:
        dims, kernel = shapes
        if len(spatial_axes(context, dims)) != len(kernel):
            context.refuse(f"the kernel must be {len(dims) - 2} sizes, one for each axis after batch and channels")
        positions: Positions = fitting_rounded_up if self.ceil_mode else fitting
        positions = _covering if self.padding == "same" else positions
        return pool(context, dims, self.windows(context, kernel), positions)


def _data_and_weights(context: Context, shapes: Sequence[Dims]) -> tuple[Dims, Dims]:
    if len(shapes) not in (2, 3):
        context.refuse(f"takes data, weights and a bias or none, not {len(shapes)} shapes")
    dims, weights = shapes[:2]
    spatial_axes(context, dims)
    weights_of_rank(context, weights, len(dims))
    return dims, weights


def _bias(context: Context, given: Iterable[Dims], channels: Dim) -> None:
    for bias in given:
        if len(bias) != 1:
            context.refuse(f"the bias must have one axis, and has {len(bias)}")
        context.equal(channels, bias[0], "there must be one bias for each output channel")


def _each(context: Context, given: int | tuple[int, ...], rank: int, name: str) -> tuple[int, ...]:
    if isinstance(given, int):
        return (given,) * rank
    if len(given) != rank:
        context.refuse(f"{name} must be one number, or {rank}: one for each axis")
    return given


def _ends(
    context: Context, given: int | tuple[int | tuple[int, int], ...], rank: int, name: str
) -> list[tuple[int, int]]:
    if isinstance(given, int):
        return [(given, given)] * rank
    if len(given) != rank:
        context.refuse(f"{name} must be one number, or {rank}: one, or a pair, for each axis")
    return [(e, e) if isinstance(e, int) else e for e in given]
