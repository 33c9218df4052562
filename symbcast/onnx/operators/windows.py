"""Windows that slide along axes: what a node says of them, and how many positions they have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from symbcast.algebra.arithmetic import add, ceil_divide, floor_divide, multiply, subtract
from symbcast.formulas import any_of, at_most, equal
from symbcast.onnx.call import Call
from symbcast.onnx.knowing.values import Dims

if TYPE_CHECKING:
    from symbcast.algebra.terms import Dim

SAME = frozenset({"SAME_UPPER", "SAME_LOWER"})


class Window(NamedTuple):
    """The window along one axis, and the padding of the axis at both ends."""

    kernel: Dim
    stride: int
    dilation: int
    before: int
    after: int

    @property
    def span(self) -> Dim:
        """How many elements the window lies over, gaps included."""
        return add(multiply(subtract(self.kernel, 1), self.dilation), 1)


def data_axes(call: Call, dims: Dims) -> Dims:
    """Return the sizes of the axes after batch and channels, of which there must be one at least."""
    if len(dims) < 3:
        call.refuse("the input must have a batch, channels and an axis or more to slide along")
    return dims[2:]


def auto_pad(call: Call) -> str:
    """Return how the padding is to be found; empty where the node says it itself."""
    found = call.text("auto_pad", "NOTSET")
    if found not in (*SAME, "VALID", "NOTSET"):
        call.refuse(f"auto_pad must not be {found!r}")
    return "" if found == "NOTSET" else found


def windows(call: Call, kernel: Dims) -> list[Window]:
    """Return the windows of a node along each axis; what it says of them must fit their number, and be positive."""
    rank = len(kernel)
    for size in kernel:
        call.at_most(1, size, "the window must not be empty")
    strides = numbers(call, "strides", 1, rank, 1)
    dilations = numbers(call, "dilations", 1, rank, 1)
    pads = numbers(call, "pads", 0, 2 * rank, 0)
    if auto_pad(call):
        pads = [0] * (2 * rank)
    return [Window(*all_) for all_ in zip(kernel, strides, dilations, pads[:rank], pads[rank:], strict=True)]


def numbers(call: Call, name: str, default: int, count: int, least: int) -> list[int]:
    """Return an attribute of numbers, of which there must be ``count``, none below ``least``."""
    found = call.integers(name)
    if found is None:
        return [default] * count
    if len(found) != count:
        call.refuse(f"{name} must be {count} numbers")
    if min(found, default=least) < least:
        call.refuse(f"{name} must not be below {least}")
    return found


def fitting(call: Call, size: Dim, window: Window) -> Dim:
    """Return at how many positions a window lies within the padded axis; in the runtime it must fit there once."""
    room = _room(size, window)
    if not call.is_onnxruntime:
        return _rounded_down(call, room, window.stride)
    call.at_most(0, room, "the window must fit into the padded input")
    return add(floor_divide(room, window.stride), 1)


def positions_rounded(call: Call, size: Dim, window: Window) -> Dim:
    """Return at how many positions a window lies within the padded axis, or as many as the runtime takes for them."""
    step = rounded_towards_zero if call.is_onnxruntime else _rounded_down
    return step(call, _room(size, window), window.stride)


def _room(size: Dim, window: Window) -> Dim:
    """Return how far a window can be moved within the padded axis; below 0 where it does not fit."""
    return subtract(add(size, window.before + window.after), window.span)


def _rounded_down(call: Call, room: Dim, stride: int) -> Dim:
    call.at_most(0, add(room, stride), NOT_NEGATIVE)
    return add(floor_divide(room, stride), 1)


def rounded_towards_zero(call: Call, room: Dim, stride: int) -> Dim:
    """Return ``room / stride + 1`` as the runtime has it: its division rounds towards zero.

    So a window somewhat larger than its input has one position too, and one larger by a stride has none.
    """
    call.at_most(1, add(room, 2 * stride), NOT_NEGATIVE)
    whole = add(floor_divide(room, stride), 1)
    if stride == 1 or call.bounds.is_at_least(room, 0):
        return whole
    positive = call.bounds.larger(whole, 1)
    if call.bounds.is_at_least(add(room, stride), 1):
        return positive
    return add(positive, call.bounds.smaller(ceil_divide(room, stride), 0))


NOT_NEGATIVE = "the window is too large for the padded input: the number of its positions must not be negative"


def covering(size: Dim, stride: int) -> Dim:
    """Return how many positions padding gives that keeps the size, but for the stride."""
    return ceil_divide(size, stride)


def nonempty(call: Call, dims: Dims, reason: str) -> None:
    """Ask that no size be 0, unless that of the batch is."""
    wanted = [d for d in dims if not call.bounds.is_at_least(d, 1)]
    if not wanted:
        return
    is_empty = [] if call.bounds.is_at_least(dims[0], 1) else [equal(dims[0], 0)]
    for size in wanted:
        if size != dims[0] or not is_empty:
            call.require(any_of([*is_empty, at_most(1, size)]), reason)


def one_for_each(call: Call, position: int, size: Dim, what: str) -> None:
    """Ask that an input, where it is given, have one number for each of something."""
    if call.has(position):
        shape = call.rank(position, (1,), f"{call.input_name(position)}, which has one number for each {what},")
        call.equal(shape[0], size, f"there must be one number for each {what}")


def same_rank(call: Call, shape: Sequence[Dim], rank: int) -> None:
    """Refuse weights that do not have the rank of the input."""
    if len(shape) != rank:
        call.refuse(f"input and weights must have the same rank, not {rank} and {len(shape)}")
