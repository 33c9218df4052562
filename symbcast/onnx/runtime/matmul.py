"""How ONNX Runtime joins the batch axes of a matrix product (seen with 1.31)."""

from __future__ import annotations

from contextlib import nullcontext
from itertools import zip_longest
from typing import TYPE_CHECKING

from symbcast.logic.formulas import FALSE, Formula, all_of, any_of, at_most, different, equal
from symbcast.onnx.node_call import NodeCall
from symbcast.onnx.values.value import Dims

if TYPE_CHECKING:
    from symbcast.algebra.terms import Dim


def joined_batch(call: NodeCall, left: Dims, right: Dims) -> Dims:
    """Return the batch axes of a product of two operands of two axes or more.

    What is summed over decides: where that is empty, the runtime does not look at the right operand's batch.
    """
    a, b = left[:-2], right[:-2]
    if a == b:
        return call.broadcast(a, b) if a else ()
    if len(a) < len(b):
        return _strictly_broadcast(call, a, b)
    something = at_most(1, left[-1])
    is_summed = call.is_known(something)
    if is_summed is False or not b:
        return a
    with call.asker.under(something) if is_summed is None else nullcontext():
        batch = _strictly_broadcast(call, a, b)
    if is_summed:
        return batch
    name, text = f"{call.place.name}_batch", "an axis of the batch, by whether what is summed over is empty"
    kept = zip(a, batch, strict=True)
    return tuple(x if x == y else call.asker.by_cases(name, text, something, y, x) for x, y in kept)


def _strictly_broadcast(call: NodeCall, left: Dims, right: Dims) -> Dims:
    """Return batch axes broadcast as ONNX Runtime does it (seen with 1.31): a 1 is not stretched to 0.

    Where all axes of the right operand are 1, and the left one has as many, it does not look at them. Where what is
    summed over is empty it does not either: the batch is then that of the left operand.
    """
    batch = call.broadcast(left, right)
    is_unlooked = all_of(equal(d, 1) for d in right) if len(left) >= len(right) else FALSE
    for a, b in zip_longest(reversed(left), reversed(right), fillvalue=1):
        _refuse_one_beside_none(call, a, b, FALSE)
        _refuse_one_beside_none(call, b, a, is_unlooked)
    return batch


def _refuse_one_beside_none(call: NodeCall, one: Dim, none: Dim, unless: Formula) -> None:
    if not call.bounds.is_at_least(none, 1):
        call.require(any_of([different(one, 1), different(none, 0), unless]), "a batch of 1 beside one of 0")


def refuse_no_rows(call: NodeCall, rows: Dims) -> None:
    """Refuse matrices without rows beside a vector: ONNX Runtime takes their rows for a batch."""
    for size in rows:
        if not call.bounds.is_at_least(size, 1):
            call.require(different(size, 0), "an empty matrix is not multiplied by a vector")
