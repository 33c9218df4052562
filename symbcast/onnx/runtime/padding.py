"""ONNX Runtime's requirements on padded axes (seen with 1.31)."""

from __future__ import annotations

from collections.abc import Sequence

from symbcast.core.logic.formulas import any_of, at_most, equal
from symbcast.operators.context import Context, Dims
from symbcast.operators.rearranging.padding import NOT_BELOW, Padding, has_elements, require_elements


def pad_in_runtime(context: Context, paddings: Sequence[Padding], mode: str) -> Dims:
    """Return the padded sizes.

    The runtime lets padding remove more elements than an axis has if as many are added at its other end. To repeat
    elements, it requires every axis, padded or not, to have some; except in wrap mode, it also accepts an empty tensor
    whose empty axes stay empty.
    """
    for padding in paddings:
        context.at_most(0, padding.padded, NOT_BELOW)
    if mode != "constant":
        _require_elements(context, mode, paddings)
    return tuple(p.padded for p in paddings)


def _require_elements(context: Context, mode: str, paddings: Sequence[Padding]) -> None:
    empty = [equal(p.size, 0) for p in paddings if not context.bounds.is_at_least(p.size, 1) and mode != "wrap"]
    for padding in paddings:
        require_elements(context, any_of([*empty, has_elements(context, mode, padding)]), mode)
        if empty and padding.padded != padding.size:
            stays_empty = any_of([at_most(1, padding.size), equal(padding.padded, 0)])
            require_elements(context, stays_empty, mode)
