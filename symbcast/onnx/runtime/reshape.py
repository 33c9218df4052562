"""Infer a -1 together with sizes of 0 as ONNX Runtime does (seen with 1.31)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from symbcast.core.logic.formulas import any_of, equal, negate
from symbcast.graphs.walking.node_call import NodeCall
from symbcast.operators.context import Context, Dims
from symbcast.operators.rearranging.reshape import SAME_NUMBER, infer_size, whole_quotient

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim


def infer_size_beside_zero(call: NodeCall, context: Context, data: Dims, given: Sequence[Dim]) -> Dim:
    """Return the size at a -1 if others may be 0: the runtime leaves sizes of 0 out of both products."""
    empty = call.empty(given)
    if call.is_known(empty) is False:
        return infer_size(context, data, given)
    filled = [call.bounds.larger(d, 1) for d in given]
    with call.asker.under(empty):
        call.require(any_of(equal(d, 0) for d in data), SAME_NUMBER)
        beside_zero = whole_quotient(call, [call.bounds.larger(d, 1) for d in data], filled)
    if call.is_known(empty):
        return beside_zero
    with call.asker.under(negate(empty)):
        beside_others = whole_quotient(call, data, filled)
    if beside_zero == beside_others:
        return beside_zero
    name, text = f"{call.place.name}_worked_out", "the size for -1, which depends on whether another size is 0"
    return call.asker.by_cases(name, text, empty, beside_zero, beside_others)
