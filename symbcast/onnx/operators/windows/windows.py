"""Sliding windows: reading them from a node's attributes, and the requirements on the node's other operands."""

from __future__ import annotations

from symbcast.core.logic.formulas import any_of, at_most, equal
from symbcast.graphs.walking.node_call import NodeCall
from symbcast.onnx.runtime.differences import CONV_EMPTY_WINDOW, CRASHES
from symbcast.operators.context import Dims
from symbcast.operators.networks.windows import Window

SAME = frozenset({"SAME_UPPER", "SAME_LOWER"})


def auto_pad(call: NodeCall) -> str:
    """Return the attribute ``auto_pad``; empty if the node gives its pads."""
    found = call.text("auto_pad", "NOTSET")
    if found not in (*SAME, "VALID", "NOTSET"):
        call.refuse(f"auto_pad must not be {found!r}")
    return "" if found == "NOTSET" else found


def windows(call: NodeCall, kernel: Dims) -> list[Window]:
    """Return a node's window along each axis; attributes must be positive and match the number of axes."""
    rank = len(kernel)
    if not (call.node.op_type in ("ConvInteger", "QLinearConv") and call.does(CONV_EMPTY_WINDOW)):
        for size in kernel:
            is_crash = call.node.op_type == "Conv" and call.does(CRASHES)
            reason = "the runtime crashes here: the window is empty" if is_crash else "the window must not be empty"
            call.at_most(1, size, reason)
    strides = numbers(call, "strides", 1, rank, 1)
    dilations = numbers(call, "dilations", 1, rank, 1)
    pads = numbers(call, "pads", 0, 2 * rank, 0)
    if auto_pad(call):
        pads = [0] * (2 * rank)
    return [Window(*all_) for all_ in zip(kernel, strides, dilations, pads[:rank], pads[rank:], strict=True)]


def numbers(call: NodeCall, name: str, default: int, count: int, least: int) -> list[int]:
    """Return an attribute of ``count`` numbers, none below ``least``."""
    found = call.integers(name)
    if found is None:
        return [default] * count
    if len(found) != count:
        call.refuse(f"{name} must be {count} numbers")
    if min(found, default=least) < least:
        call.refuse(f"{name} must not be below {least}")
    return found


def nonempty(call: NodeCall, dims: Dims, reason: str) -> None:
    """Require that no size be 0, unless the batch is."""
    wanted = [d for d in dims if not call.bounds.is_at_least(d, 1)]
    if not wanted:
        return
    is_empty = [] if call.bounds.is_at_least(dims[0], 1) else [equal(dims[0], 0)]
    for size in wanted:
        if size != dims[0] or not is_empty:
            call.require(any_of([*is_empty, at_most(1, size)]), reason)
