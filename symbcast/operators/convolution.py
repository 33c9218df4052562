"""Convolutions and pools: windows that slide along axes, and their number of positions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from symbcast.core.algebra.arithmetic import add, ceil_divide, floor_divide, modulo, multiply, subtract
from symbcast.core.algebra.formulas import equal
from symbcast.core.rules import Parameter
from symbcast.core.rules.placement import rank_if_known
from symbcast.operators import attributes as kind
from symbcast.operators.context import Context, Dims
from symbcast.operators.joining_and_slicing import ends_of
from symbcast.operators.operator import Operator, reading, recorded
from symbcast.operators.reach import Reach

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim


# Windows that slide along axes: their number of positions, and the shapes of convolutions and pools.


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
    context.at_most(0, add(room, window.stride), NOT_NEGATIVE)
    return add(floor_divide(room, window.stride), 1)


def rounded_up(context: Context, size: Dim, window: SlidingWindow) -> Dim:
    """Return the number of positions if a window may extend past the padding, but must start before its end part.

    The number may be 0, as in `rounded_down`.
    """
    room = window.room(size)
    context.at_most(1, add(room, 2 * window.stride), NOT_NEGATIVE)
    return _begun(context, size, window)


def fitting_rounded_up(context: Context, size: Dim, window: SlidingWindow) -> Dim:
    """Return the number of positions as `rounded_up` does; there must be at least one."""
    reason = "there must be a position for the window"
    context.at_most(1, add(window.room(size), window.stride), reason)
    context.at_most(1, add(size, window.before), reason)
    return _begun(context, size, window)


def _begun(context: Context, size: Dim, window: SlidingWindow) -> Dim:
    begun, reaching = add(size, window.before), add(window.room(size), window.stride)
    return ceil_divide(context.bounds.smaller(begun, reaching), window.stride)


def covering(size: Dim, stride: int) -> Dim:
    """Return the number of positions if the padding keeps the size, apart from the stride."""
    return ceil_divide(size, stride)


def spatial_axes(context: Context, dims: Dims) -> Dims:
    """Return the sizes of the axes after batch and channels; there must be at least one."""
    if len(dims) < 3:
        context.refuse("the input must have a batch, channels and an axis or more to slide along")
    return dims[2:]


def weights_of_rank(context: Context, weights: Dims, rank: int) -> None:
    """Refuse weights that do not have the rank of the input."""
    if len(weights) != rank:
        context.refuse(f"input and weights must have the same rank, not {rank} and {len(weights)}")


def groups_of(context: Context, groups: int) -> None:
    """Refuse a number of groups below 1."""
    if groups < 1:
        context.refuse("there must be at least one group")


def convolved_channels(context: Context, dims: Dims, weights: Dims, groups: int) -> None:
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


def transposed_channels(context: Context, dims: Dims, weights: Dims, groups: int) -> Dim:
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


# Operators that a program records: convolutions and pools.


class _Windowed(Operator):
    """The common base of convolutions and pools."""

    strides: int | tuple[int, ...]
    dilations: int | tuple[int, ...]
    padding: Any

    def rank_of_data(self, ranks: Iterable[int | None]) -> Reach | None:
        """Return the reach into data whose rank follows from other operands, or from attributes with a value per axis.

        ``ranks`` are the ranks of data that the operands require, None for an operand of unknown rank.
        """
        given = (self.strides, self.dilations, self.padding)
        attributes = (len(found) + 2 for found in given if isinstance(found, tuple))
        rank = next((r for r in (*ranks, *attributes) if r is not None), None)
        return None if rank is None else Reach(rank=rank)

    def windows(self, context: Context, kernel: Dims) -> list[SlidingWindow]:
        """Return the windows along each axis; none may be empty."""
        rank = len(kernel)
        for size in kernel:
            context.at_most(1, size, "the window must not be empty")
        strides = _each(context, self.strides, rank, "strides")
        dilations = _each(context, self.dilations, rank, "dilations")
        ends = ends_of(context, 0 if isinstance(self.padding, str) else self.padding, rank, "padding")
        return [SlidingWindow(k, s, d, *e) for k, s, d, e in zip(kernel, strides, dilations, ends, strict=True)]


_WINDOW = (Parameter("strides", 1), Parameter("padding", 0), Parameter("dilations", 1))
_WINDOW_KINDS = reading(strides=kind.positives, padding=kind.natural_ends, dilations=kind.positives)


def _covering(_: Context, size: Dim, window: SlidingWindow) -> Dim:
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

    def reaches(self, shapes: Sequence[Dims]) -> Sequence[Reach | None]:
        """All axes: data and weights have the same rank, and the bias has one axis."""
        return _one_rank_and_bias(self, shapes)

    def output(self, context: Context, shapes: Sequence[Dims]) -> Dims:
        dims, weights = _data_and_weights(context, shapes)
        convolved_channels(context, dims, weights, self.groups)
        _bias(context, shapes[2:], weights[0])
        positions = _covering if self.padding == "same" else fitting
        return conv(context, dims, weights, self.windows(context, weights[2:]), positions)


@recorded
class ConvTranspose(_Windowed):
    """A transposed convolution of (N, C, ...) with weights (C, M / groups, ...), and a bias (M,)."""

    name = "conv_transpose"
    variadic = True
    operands = ("data", "weights", "bias")
    parameters = (*_WINDOW, Parameter("groups", 1), Parameter("output_padding", 0))
    kinds = reading(**_WINDOW_KINDS, groups=kind.positive, output_padding=kind.naturals)
    groups: int
    output_padding: int | tuple[int, ...]

    def reaches(self, shapes: Sequence[Dims]) -> Sequence[Reach | None]:
        """All axes: data and weights have the same rank, and the bias has one axis."""
        return _one_rank_and_bias(self, shapes)

    def output(self, context: Context, shapes: Sequence[Dims]) -> Dims:
        if self.padding == "same":
            context.refuse("padding='same' is not supported here: write it in numbers")
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

    def reaches(self, shapes: Sequence[Dims]) -> Sequence[Reach | None]:
        """All axes: data have two more axes than the kernel has sizes."""
        data, kernel = map(rank_if_known, shapes)
        found = self.rank_of_data((data, None if kernel is None else kernel + 2))
        return [found, None if found is None or found.rank is None else Reach(rank=max(0, found.rank - 2))]

    def output(self, context: Context, shapes: Sequence[Dims]) -> Dims:
        dims, kernel = shapes
        if len(spatial_axes(context, dims)) != len(kernel):
            context.refuse(f"the kernel must be {len(dims) - 2} sizes, one for each axis after batch and channels")
        positions: Positions = fitting_rounded_up if self.ceil_mode else fitting
        positions = _covering if self.padding == "same" else positions
        return pool(context, dims, self.windows(context, kernel), positions)


def _one_rank_and_bias(operator: _Windowed, shapes: Sequence[Dims]) -> list[Reach | None]:
    found = operator.rank_of_data(map(rank_if_known, shapes[:2]))
    return [found, found, Reach(rank=1)][: len(shapes)]


def _data_and_weights(context: Context, shapes: Sequence[Dims]) -> tuple[Dims, Dims]:
    if len(shapes) not in (2, 3):
        context.refuse(f"takes data, weights and an optional bias, not {len(shapes)} shapes")
    dims, weights = shapes[:2]
    spatial_axes(context, dims)
    weights_of_rank(context, weights, len(dims))
    return dims, weights


def _bias(context: Context, given: Iterable[Dims], channels: Dim) -> None:
    for bias in given:
        if len(bias) != 1:
            context.refuse(f"the bias must have one axis, but has {len(bias)}")
        context.equal(channels, bias[0], "there must be one bias for each output channel")


def _each(context: Context, given: int | tuple[int, ...], rank: int, name: str) -> tuple[int, ...]:
    if isinstance(given, int):
        return (given,) * rank
    if len(given) != rank:
        axes = "1 axis" if rank == 1 else f"{rank} axes"
        context.refuse(f"{name} has {len(given)} numbers for {axes}; write one number, or one for each axis")
    return given
