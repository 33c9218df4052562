"""Elements put at the ends of axes: one number, or those within reflected, repeated at the edge or wrapped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symbcast.core.logic.formulas import any_of, at_most
from symbcast.graphs.values.value import Value
from symbcast.operators.padding import Padding, pad
from symbcast.torch.registry import operator

if TYPE_CHECKING:
    from symbcast.graphs.values.value import Dims
    from symbcast.torch.node_call import TorchCall


@operator("constant_pad_nd")
def padded_by_number(call: TorchCall) -> Value:
    """A number put at the ends of the last axes, the last one first."""
    return Value(_constant(call, *_paddings(call)))


@operator("pad")
def padded(call: TorchCall) -> Value:
    """Elements put at the ends of the last axes, the last one first, in one of four ways."""
    ways = {"constant": _constant, "reflect": _reflected, "replicate": _repeated, "circular": _wrapped}
    return Value(ways[str(call.given("mode") or "constant")](call, *_paddings(call)))


@operator("reflection_pad1d", "reflection_pad2d", "reflection_pad3d")
def reflected(call: TorchCall) -> Value:
    """Elements within the axis reflected."""
    return Value(_reflected(call, *_paddings(call)))


@operator("replication_pad1d", "replication_pad2d", "replication_pad3d")
def repeated(call: TorchCall) -> Value:
    """Elements at the edge repeated."""
    return Value(_repeated(call, *_paddings(call)))


def _paddings(call: TorchCall) -> tuple[Dims, list[Padding]]:
    """Return the axes that are left alone, and those that are padded with what is put at their ends."""
    dims, widths = call.dims("self"), call.known_sizes("pad" if call.given("pad") is not None else "padding")
    count = len(widths) // 2
    if len(widths) % 2 or count > len(dims):
        call.refuse(f"there must be two numbers for an axis, for {len(dims)} axes at most")
    ends = [(widths[2 * n], widths[2 * n + 1]) for n in reversed(range(count))]
    first = len(dims) - count
    return dims[:first], [Padding(d, *e) for d, e in zip(dims[first:], ends, strict=True)]


def _constant(call: TorchCall, others: Dims, paddings: list[Padding]) -> Dims:
    return (*others, *pad(call, paddings, "constant"))


def _reflected(call: TorchCall, others: Dims, paddings: list[Padding]) -> Dims:
    for size, *ends in paddings:
        for end in ends:
            call.at_most(end + 1, size, "an axis must be longer than its padding, which reflects it")
    return _repeated(call, others, paddings)


def _repeated(call: TorchCall, others: Dims, paddings: list[Padding]) -> Dims:
    if len(others) not in (1, 2) or not 1 <= len(paddings) <= 3:
        call.refuse("there must be channels, with a batch or without, and one to three axes that are padded")
    for size in (*others[-1:], *(p.size for p in paddings)):  # a batch may be empty
        call.at_most(1, size, "there must be elements to pad with")
    found = tuple(p.padded for p in paddings)
    for size in found:
        call.at_most(0, size, "no more may be taken away from an axis than there is")
    if not any(call.bounds.is_at_least(size, 1) for size in found):
        call.require(any_of(at_most(1, size) for size in found), "an axis must be left")
    return (*others, *found)


def _wrapped(call: TorchCall, others: Dims, paddings: list[Padding]) -> Dims:
    if len(others) not in (1, 2):
        call.refuse("there must be channels, with a batch or without")
    for padding in paddings:
        ends = padding.before, padding.after
        for end in ends:
            call.at_most(end, padding.size, "an axis must not be shorter than its padding, which wraps it once at most")
        call.at_most(0, padding.padded, "no more may be taken away from an axis than there is")
        if not all(call.bounds.is_at_least(end, 0) for end in ends):
            call.note("what it requires where it takes elements away was not looked at")
    return (*others, *(p.padded for p in paddings))
