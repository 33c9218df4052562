"""Windows that slide along axes: their number of positions, and the shapes of convolutions and pools."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from symbcast.core.algebra.arithmetic import add, ceil_divide, floor_divide, modulo, multiply, subtract
from symbcast.core.logic.formulas import equal
from symbcast.operators.context import Context, Dims

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim

NOT_NEGATIVE = "the window is too large for the padded input: the number of its positions must not be negative"


class Window(NamedTuple):
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


Positions: TypeAlias = "Callable[[Context, Dim, Window], Dim]"
"""Returns how many positions a window has along an axis."""


def fitting(context: Context, size: Dim, window: Window) -> Dim:
    """Return the number of window positions within the padded axis; there must be at least one."""
    room = window.room(size)
    context.at_most(0, room, "the window must fit into the padded input")
    return add(floor_divide(room, window.stride), 1)


def rounded_down(context: Context, size: Dim, window: Window) -> Dim:
    """Return the number of window positions within the padded axis, possibly 0."""
    room = window.room(size)
    context.at_most(0, add(room, window.stride), NOT_NEGATIVE)
    return add(floor_divide(room, window.stride), 1)


def rounded_up(context: Context, size: Dim, window: Window) -> Dim:
    """Return the number of positions if a window may extend past the padding, but must start before its end part.

    The number may be 0, as in `rounded_down`.
    """
    room = window.room(size)
    context.at_most(1, add(room, 2 * window.stride), NOT_NEGATIVE)
    return _begun(context, size, window)


def fitting_rounded_up(context: Context, size: Dim, window: Window) -> Dim:
    """Return the number of positions as `rounded_up` does; there must be at least one."""
    reason = "there must be a position for the window"
    context.at_most(1, add(window.room(size), window.stride), reason)
    context.at_most(1, add(size, window.before), reason)
    return _begun(context, size, window)


def _begun(context: Context, size: Dim, window: Window) -> Dim:
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
    context: Context, dims: Dims, weights: Dims, windows: Sequence[Window], positions: Positions = fitting
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


def transposed_length(size: Dim, window: Window, extra: int = 0) -> Dim:
    """Return the length covered by one window per element, a stride apart, minus the padding."""
    full = add(multiply(subtract(size, 1), window.stride), window.span, extra)
    return subtract(full, window.before + window.after)


def pool(context: Context, dims: Dims, windows: Sequence[Window], positions: Positions = fitting) -> Dims:
    """Return the shape of a pool of (N, C, ...): one element for each position of the window."""
    return (*dims[:2], *(positions(context, s, w) for s, w in zip(dims[2:], windows, strict=True)))
