"""Operators that put elements around a tensor, or take them away there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from symbcast.algebra.arithmetic import add
from symbcast.formulas import Formula, all_of, any_of, at_most, equal
from symbcast.onnx.call import Call
from symbcast.onnx.knowing.contents import is_size
from symbcast.onnx.knowing.values import Dims, Value
from symbcast.onnx.operators.making import asked_shape
from symbcast.onnx.registry import operator

if TYPE_CHECKING:
    from symbcast.algebra.terms import Dim

_IS_DATA = "that the pads, which are data, are possible was not looked at"
_MODES = ("constant", "reflect", "edge", "wrap")


class Padding(NamedTuple):
    """An axis and what is put at its ends; taken away there, where it is below 0."""

    size: Dim
    before: Dim
    after: Dim

    @property
    def padded(self) -> Dim:
        """The size of the axis with its padding."""
        return add(self.size, self.before, self.after)


@operator("Pad")
def pad(call: Call) -> Value:
    """Elements at the ends of axes: one number, or those within reflected, repeated at the edge or wrapped around."""
    dims = call.shape(0)
    mode = call.text("mode", "constant")
    if mode not in _MODES:
        call.refuse(f"mode must not be {mode!r}")
    if call.is_onnxruntime and not dims:
        call.refuse("the input must have an axis")
    if call.version >= 11 and call.has(2):
        for size in call.rank(2, (0, 1), "the number to pad with"):
            call.equal(size, 1, "there must be one number to pad with")
    axes = _axes(call, len(dims))
    amounts = _amounts(call, 2 * len(axes))
    if amounts is None:
        return _padded_by_data(call, dims, axes)
    found = {axis: Padding(dims[axis], amounts[n], amounts[n + len(axes)]) for n, axis in enumerate(axes)}
    paddings = [found.get(axis, Padding(size, 0, 0)) for axis, size in enumerate(dims)]
    for padding in paddings:
        call.at_most(0, padding.padded, "no more may be taken away from an axis than there is")
    if mode != "constant":
        _ask_for_elements(call, mode, paddings)
    elif not call.is_onnxruntime:
        for padding in paddings:
            call.at_most(0, _kept(call, padding), "no more may be taken away from an axis than there is")
    return Value(tuple(p.padded for p in paddings), call.dtype())


def _axes(call: Call, rank: int) -> list[int]:
    given = call.axes("axes", 3, 18) if call.version >= 18 else None
    if given is None:
        return list(range(rank))
    axes = [call.axis(a, rank) for a in given]
    if len(set(axes)) != len(axes):
        call.refuse("no axis may be padded twice")
    return axes


def _amounts(call: Call, count: int) -> list[Dim] | None:
    """Return how much is put before each axis, then after each; None where data decide."""
    if call.version < 11:
        given = call.integers("pads" if call.version > 1 else "paddings") or []
        if len(given) != count:
            call.refuse(f"pads must be {count} numbers")
        return [*given]
    (length,) = call.rank(1, (1,), "pads")
    call.equal(length, count, f"pads must be {count} numbers")
    items = call.elements(1)
    if items is None or len(items) != count or (items and not any(map(is_size, items))):
        return None
    if not all(map(is_size, items)):
        call.note(_IS_DATA)
    return [i if is_size(i) else call.fresh(f"pad_{n}", f"element {n} of pads") for n, i in enumerate(items)]


def _padded_by_data(call: Call, dims: Dims, axes: Sequence[int]) -> Value:
    call.note(_IS_DATA)
    shape = [call.fresh(f"size_{n}", f"axis {n} padded") if n in axes else d for n, d in enumerate(dims)]
    return Value(tuple(shape), call.dtype())


def _kept(call: Call, padding: Padding) -> Dim:
    """Return what is left of an axis before anything is put to it."""
    return add(padding.size, call.bounds.smaller(padding.before, 0), call.bounds.smaller(padding.after, 0))


def _ask_for_elements(call: Call, mode: str, paddings: Sequence[Padding]) -> None:
    """Ask for the elements that the padding repeats.

    The runtime wants some on every axis, padded or not; but it lets an empty tensor pass that stays empty along its
    empty axes, other than to wrap it.
    """
    if not call.is_onnxruntime:
        for padding in paddings:
            _ask(call, any_of([_stays(padding), _has_elements(call, mode, padding)]), mode)
        return
    empty = [equal(p.size, 0) for p in paddings if not call.bounds.is_at_least(p.size, 1) and mode != "wrap"]
    for padding in paddings:
        _ask(call, any_of([*empty, _has_elements(call, mode, padding)]), mode)
        if empty and padding.padded != padding.size:
            _ask(call, any_of([at_most(1, padding.size), equal(padding.padded, 0)]), mode)


def _ask(call: Call, formula: Formula, mode: str) -> None:
    reason = "an axis must have the elements that its padding repeats"
    if mode == "reflect":
        reason = "an axis must be longer than its padding, which reflects it"
    call.require(formula, reason)


def _stays(padding: Padding) -> Formula:
    return all_of([equal(padding.before, 0), equal(padding.after, 0)])


def _has_elements(call: Call, mode: str, padding: Padding) -> Formula:
    kept = _kept(call, padding)
    if mode != "reflect":
        return at_most(1, kept)
    return all_of([at_most(add(n, 1), kept) for n in dict.fromkeys((0, padding.before, padding.after))])


@operator("CenterCropPad")
def center_crop_pad(call: Call) -> Value:
    """Axes cut, or padded, to a size at both ends."""
    dims = call.shape(0)
    given = call.integers("axes")
    axes = list(range(len(dims))) if given is None else [call.axis(a, len(dims)) for a in given]
    if len(set(axes)) != len(axes):
        call.refuse("no axis may be cut twice")
    known = call.sizes(1) if call.is_onnxruntime else None
    # The runtime takes a size below 0 for 0.
    sizes = asked_shape(call, 1) if known is None else tuple(call.bounds.larger(size, 0) for size in known)
    if len(sizes) != len(axes):
        call.refuse(f"the shape must be {len(axes)} numbers")
    wanted = dict(zip(axes, sizes, strict=True))
    return Value(tuple(wanted.get(n, d) for n, d in enumerate(dims)), call.dtype())
