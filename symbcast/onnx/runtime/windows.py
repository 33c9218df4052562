"""The number of window positions in ONNX Runtime (seen with 1.31)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symbcast.core.algebra.arithmetic import add, ceil_divide, floor_divide, multiply, subtract
from symbcast.graphs.walking.node_call import NodeCall
from symbcast.operators.context import Context
from symbcast.operators.networks.windows import NOT_NEGATIVE, Window, covering

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim


def rounded_towards_zero(context: Context, size: Dim, window: Window) -> Dim:
    """Return the number of window positions if negative quotients round up, as division in C++ does.

    So a window slightly larger than its input still has one position; a window larger by a full stride has none.
    """
    return _divided(context, window.room(size), window.stride)


def _divided(context: Context, room: Dim, stride: int) -> Dim:
    context.at_most(1, add(room, 2 * stride), NOT_NEGATIVE)
    whole = add(floor_divide(room, stride), 1)
    if stride == 1 or context.bounds.is_at_least(room, 0):
        return whole
    positive = context.bounds.larger(whole, 1)
    if context.bounds.is_at_least(add(room, stride), 1):
        return positive
    return add(positive, context.bounds.smaller(ceil_divide(room, stride), 0))


def covering_positions(context: Context, size: Dim, window: Window, *, rounds_up: bool, is_strict: bool) -> Dim:
    """Return the number of positions of a pool with automatic padding.

    The runtime computes the padding for an undilated window, and ``is_strict`` kernels refuse negative padding.
    """
    count = covering(size, window.stride)
    distance = multiply(subtract(count, 1), window.stride)
    if window.dilation == 1:
        if is_strict:
            padding = subtract(add(distance, window.kernel), size)
            context.at_most(0, padding, "windows with gaps between them must end where the input does")
        return count
    room = add(distance, subtract(window.kernel, window.span))
    if rounds_up:
        context.at_most(1, add(room, 2 * window.stride), NOT_NEGATIVE)
        return add(ceil_divide(room, window.stride), 1)
    return _divided(context, room, window.stride)


def transposed_positions(call: NodeCall, size: Dim, window: Window, asked: int) -> None:
    """Require that the input have at least as many elements as the requested output has windows."""
    needed = add(floor_divide(subtract(asked, window.span), window.stride), 1)
    call.at_most(needed, size, "the requested output is too large for the input")
    call.at_most(1, size, "the input must not be empty")
