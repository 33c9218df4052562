"""Padding of axes with a constant, or by reflection, edge repetition or wrapping."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symbcast.core.logic.formulas import any_of, at_most
from symbcast.graphs.values.value import Value
from symbcast.operators.rearranging.padding import Padding, pad
from symbcast.torch.registry import operator

if TYPE_CHECKING:
    from symbcast.operators.context import Dims
    from symbcast.torch.node_call import TorchCall


@operator("constant_pad_nd")
def padded_by_number(call: TorchCall) -> Value:
    """Padding of the last axes with a constant, starting from the last axis."""
    return Value(_constant(call, *_paddings(call)))


@operator("pad")
def padded(call: TorchCall) -> Value:
    """Padding of the last axes in one of four modes, starting from the last axis."""
    ways = {"constant": _constant, "reflect": _reflected, "replicate": _repeated, "circular": _wrapped}
    return Value(ways[str(call.given("mode") or "constant")](call, *_paddings(call)))


@operator("reflection_pad1d", "reflection_pad2d", "reflection_pad3d")
def reflected(call: TorchCall) -> Value:
    """Padding by reflection."""
    return Value(_reflected(call, *_paddings(call)))


@operator("replication_pad1d", "replication_pad2d", "replication_pad3d")
def repeated(call: TorchCall) -> Value:
    """Padding by repetition of the edge."""
    return Value(_repeated(call, *_paddings(call)))


def _paddings(call: TorchCall) -> tuple[Dims, list[Padding]]:
    """Return the sizes of the unpadded axes, and the padding of the other axes."""
    dims, widths = call.dims("self"), call.known_sizes("pad" if call.given("pad") is not None else "padding")
    count = len(widths) // 2
    if len(widths) % 2 or count > len(dims):
        call.refuse(f"there must be two numbers per axis, for at most {len(dims)} axes")
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
        call.refuse("there must be channels, an optional batch, and one to three padded axes")
    for size in (*others[-1:], *(p.size for p in paddings)):  # the batch may be empty
        call.at_most(1, size, "there must be elements to pad with")
    found = tuple(p.padded for p in paddings)
    for size in found:
        call.at_most(0, size, "negative padding must not remove more elements than the axis has")
    if not any(call.bounds.is_at_least(size, 1) for size in found):
        call.require(any_of(at_most(1, size) for size in found), "an axis must be left")
    return (*others, *found)


def _wrapped(call: TorchCall, others: Dims, paddings: list[Padding]) -> Dims:
    if len(others) not in (1, 2):
        call.refuse("there must be channels, and optionally a batch")
    for padding in paddings:
        ends = padding.before, padding.after
        for end in ends:
            call.at_most(
                end, padding.size, "an axis must be at least as long as its padding, which wraps it at most once"
            )
        call.at_most(0, padding.padded, "negative padding must not remove more elements than the axis has")
        if not all(call.bounds.is_at_least(end, 0) for end in ends):
            call.note("not checked: the requirements of negative padding")
    return (*others, *(p.padded for p in paddings))
