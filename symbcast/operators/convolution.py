"""Convolutions and pools: windows that slide along axes, and their number of positions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from symbcast.core.algebra.arithmetic import add, ceil_divide, floor_divide, modulo, multiply, subtract
from symbcast.core.algebra.formulas import equal
from symbcast.core.algebra.terms import Dim
from symbcast.core.rules.placement import rank_if_known
from symbcast.core.structs import NamedTuple
from symbcast.operators.attributes import NaturalEnds, NaturalPerAxis, Positive, PositivePerAxis, Truth
from symbcast.operators.joining_and_slicing import ends_of
from symbcast.operators.operator import Context, Dims, operator
from symbcast.operators.reach import Reach

NOT_NEGATIVE = "the window is too large for the padded input: the number of its positions must not be negative"


class SlidingWindow(NamedTuple):
    """The window along one axis, and the padding of the axis at both ends."""

    kernel: Dim
    stride: int = 1
    dilation: int = 1
    before: int = 0
    after: int = 0

    @property
    def span(self) -> Dim:
        """The number of elements that the window covers, gaps included."""
        if isinstance(self.kernel, int):
            return (self.kernel - 1) * self.dilation + 1
        return add(multiply(subtract(self.kernel, 1), self.dilation), 1)

    def room(self, size: Dim) -> Dim:
        """Return how far the window can move within the padded axis; negative if it does not fit."""
        span, padding = self.span, self.before + self.after
        return add(size, padding - span) if isinstance(span, int) else subtract(add(size, padding), span)


Positions: TypeAlias = "Callable[[Context, Dim, SlidingWindow], Dim]"
"""Returns how many positions a window has along an axis."""


def fitting(context: Context, size: Dim, window: SlidingWindow) -> Dim:
    """Return the number of window positions within the padded axis; there must be at least one."""
    room = window.room(size)
    context.at_most(0, room, "the window must fit into the padded input")
    return add(floor_divide(room, window.stride), 1)


def rounded_down(context: Context, size: Dim, window: SlidingWindow) -> Dim:
    """Return the number of window positions within the padded axis, possibly 0."""
    room = window.room(size)
    # `room//stride + 1 >= 0` exactly where `room >= -stride`.
    context.at_most(0, add(room, window.stride), NOT_NEGATIVE)
    return add(floor_divide(room, window.stride), 1)


def rounded_up(context: Context, size: Dim, window: SlidingWindow) -> Dim:
    """Return the number of positions if a window may extend past the padding, but must start before its end part.

    The number may be 0, as in `rounded_down`.
    """
    room = window.room(size)
    # `ceil(room/stride) + 1 >= 0` exactly where `room > -2*stride`.
    context.at_most(1, add(room, 2 * window.stride), NOT_NEGATIVE)
    return _begun(context, size, window)


def fitting_rounded_up(context: Context, size: Dim, window: SlidingWindow) -> Dim:
    """Return the number of positions as `rounded_up` does; there must be at least one."""
    reason = "there must be a position for the window"
    # `ceil(room/stride) + 1 >= 1` exactly where `room > -stride`; and the first window starts before the end part.
    context.at_most(1, add(window.room(size), window.stride), reason)
    context.at_most(1, add(size, window.before), reason)
    return _begun(context, size, window)


def _begun(context: Context, size: Dim, window: SlidingWindow) -> Dim:
    # Windows that start before the end part are ceil(begun/stride), those that the room has, and one that goes past it,
    # ceil(room/stride) + 1. The quotient grows with its dividend, so the lesser dividend gives the lesser of both.
    begun, reaching = add(size, window.before), add(window.room(size), window.stride)
    return ceil_divide(context.bounds.smaller(begun, reaching), window.stride)


def covering(size: Dim, stride: int) -> Dim:
    """Return the number of positions if the padding keeps the size, apart from the stride."""
    return ceil_divide(size, stride)


def spatial_axes(context: Context, dims: Dims) -> Dims:
    """Return the sizes of the axes after batch and channels; there must be at least one."""
    context.refuse_if(len(dims) < 3, "the input must have a batch, channels and an axis or more to slide along")
    return dims[2:]


def weights_of_rank(context: Context, weights: Dims, rank: int) -> None:
    """Refuse weights that do not have the rank of the input."""
    context.refuse_if(len(weights) != rank, f"input and weights must have the same rank, not {rank} and {len(weights)}")


def groups_of(context: Context, groups: Dim) -> None:
    """Require a number of groups of at least 1; a size may decide it."""
    context.refuse_if(isinstance(groups, int) and groups < 1, "there must be at least one group")
    context.at_most(1, groups, "there must be at least one group")


def convolved_channels(context: Context, dims: Dims, weights: Dims, groups: Dim) -> None:
    """Require that channels fit: ``dims`` are (N, C, ...), ``weights`` (M, C / groups, ...)."""
    context.equal(
        dims[1], multiply(weights[1], groups), "the channels must equal the weights' channels times the groups"
    )
    reason = f"the output channels must be a multiple of the {groups} groups"
    context.require(equal(modulo(weights[0], groups), 0), reason)


def conv(
    context: Context, dims: Dims, weights: Dims, windows: Sequence[SlidingWindow], positions: Positions = fitting
) -> Dims:
    """Return the shape of a convolution whose channels fit: one output channel for each filter."""
    sizes = (positions(context, s, w) for s, w in zip(dims[2:], windows, strict=True))
    return (dims[0], weights[0], *sizes)


def transposed_channels(context: Context, dims: Dims, weights: Dims, groups: Dim) -> Dim:
    """Return the channels of a transposed convolution of (N, C, ...) with weights (C, M / groups, ...)."""
    context.equal(dims[1], weights[0], "the channels must equal the weights' input channels")
    reason = f"the channels must be a multiple of the {groups} groups"
    context.require(equal(modulo(dims[1], groups), 0), reason)
    return multiply(weights[1], groups)


def transposed_length(size: Dim, window: SlidingWindow, extra: int = 0) -> Dim:
    """Return the length covered by one window per element, a stride apart, minus the padding."""
    full = add(multiply(subtract(size, 1), window.stride), window.span, extra)
    return subtract(full, window.before + window.after)


def pool(context: Context, dims: Dims, windows: Sequence[SlidingWindow], positions: Positions = fitting) -> Dims:
    """Return the shape of a pool of (N, C, ...): one element for each position of the window."""
    return (*dims[:2], *(positions(context, s, w) for s, w in zip(dims[2:], windows, strict=True)))


# The operators of programs.


def _rank_of_data(
    ranks: Iterable[int | None], strides: object = 1, padding: object = 0, dilations: object = 1, **_: object
) -> int | None:
    """Return the rank of data that follows from other operands, or from attributes with a value for each axis.

    ``ranks`` are the ranks of data that the operands require, None for an operand of unknown rank.
    """
    of_attributes = (len(n) + 2 for n in (strides, dilations, padding) if isinstance(n, tuple))
    return next((r for r in (*ranks, *of_attributes) if r is not None), None)


def _same_rank_and_bias(shapes: Sequence[Dims], **attributes: object) -> list[Reach | None]:
    """All axes: data and weights have the same rank, and the bias has one axis."""
    rank = _rank_of_data(map(rank_if_known, shapes[:2]), **attributes)
    reach = None if rank is None else Reach(rank=rank)
    return [reach, reach, Reach(rank=1)]


def _pooled(shapes: Sequence[Dims], **attributes: object) -> list[Reach | None]:
    """All axes: data have two more axes than the kernel has sizes."""
    data, kernel = map(rank_if_known, shapes)
    rank = _rank_of_data((data, None if kernel is None else kernel + 2), **attributes)
    return [None, None] if rank is None else [Reach(rank=rank), Reach(rank=max(0, rank - 2))]


def _windows(
    context: Context, kernel: Dims, strides: PositivePerAxis, padding: NaturalEnds, dilations: PositivePerAxis
) -> list[SlidingWindow]:
    """Return the windows along each axis; none may be empty."""
    rank = len(kernel)
    context.filled(kernel, "the window must not be empty")
    steps, gaps = _each(context, strides, rank, "strides"), _each(context, dilations, rank, "dilations")
    ends = ends_of(context, 0 if isinstance(padding, str) else padding, rank, "padding")
    return [SlidingWindow(k, s, d, *e) for k, s, d, e in zip(kernel, steps, gaps, ends, strict=True)]


def _each(context: Context, value: int | tuple[int, ...], rank: int, name: str) -> tuple[int, ...]:
    if isinstance(value, int):
        return (value,) * rank
    if len(value) != rank:
        axes = "1 axis" if rank == 1 else f"{rank} axes"
        context.refuse(f"{name} has {len(value)} numbers for {axes}; write one number, or one for each axis")
    return value


def _covering(_: Context, size: Dim, window: SlidingWindow) -> Dim:
    return covering(size, window.stride)


@operator("conv", reach=_same_rank_and_bias)
def conv_operator(  # noqa: PLR0913, PLR0917 - its attributes are its own
    context: Context,
    data: Dims,
    weights: Dims,
    bias: Dims | None = None,
    strides: PositivePerAxis = 1,
    padding: NaturalEnds = 0,
    dilations: PositivePerAxis = 1,
    groups: Positive = 1,
) -> Dims:
    """A convolution of (N, C, ...) with weights (M, C / groups, ...), and a bias (M,)."""
    spatial_axes(context, data)
    weights_of_rank(context, weights, len(data))
    convolved_channels(context, data, weights, groups)
    _check_bias(context, bias, weights[0])
    windows = _windows(context, weights[2:], strides, padding, dilations)
    return conv(context, data, weights, windows, _covering if padding == "same" else fitting)


@operator("conv_transpose", reach=_same_rank_and_bias)
def conv_transpose(  # noqa: PLR0913, PLR0917 - its attributes are its own
    context: Context,
    data: Dims,
    weights: Dims,
    bias: Dims | None = None,
    strides: PositivePerAxis = 1,
    padding: NaturalEnds = 0,
    dilations: PositivePerAxis = 1,
    groups: Positive = 1,
    output_padding: NaturalPerAxis = 0,
) -> Dims:
    """A transposed convolution of (N, C, ...) with weights (C, M / groups, ...), and a bias (M,)."""
    context.refuse_if(padding == "same", "padding='same' is not supported here: write it in numbers")
    spatial_axes(context, data)
    weights_of_rank(context, weights, len(data))
    channels = transposed_channels(context, data, weights, groups)
    _check_bias(context, bias, channels)
    extras = _each(context, output_padding, len(data) - 2, "output_padding")
    windows = _windows(context, weights[2:], strides, padding, dilations)
    lengths = []
    for size, window, extra in zip(data[2:], windows, extras, strict=True):
        length = transposed_length(size, window, extra)
        context.at_most(1, size, "the input must not be empty")
        context.at_most(1, length, "the output must not be empty")
        lengths.append(length)
    return (data[0], channels, *lengths)


def _check_bias(context: Context, bias: Dims | None, channels: Dim) -> None:
    if bias is not None:
        context.refuse_if(len(bias) != 1, f"the bias must have one axis, but has {len(bias)}")
        context.equal(channels, bias[0], "there must be one bias for each output channel")


@operator("pool", reach=_pooled)
def pool_operator(  # noqa: PLR0913, PLR0917 - its attributes are its own
    context: Context,
    data: Dims,
    kernel: Dims,
    strides: PositivePerAxis = 1,
    padding: NaturalEnds = 0,
    dilations: PositivePerAxis = 1,
    ceil_mode: Truth = False,
) -> Dims:
    """A pool of (N, C, ...); the second operand is the size of the window."""
    if len(spatial_axes(context, data)) != len(kernel):
        context.refuse(f"the kernel must be {len(data) - 2} sizes, one for each axis after batch and channels")
    positions: Positions = fitting_rounded_up if ceil_mode else fitting
    positions = _covering if padding == "same" else positions
    return pool(context, data, _windows(context, kernel, strides, padding, dilations), positions)
