"""Branches, which are walked as those of an ONNX model are, and loops, which are not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from symbcast.core.logic.formulas import at_most, equal, negate
from symbcast.onnx.node_call import UnknownShapeError
from symbcast.onnx.values.value import Value
from symbcast.onnx.walker import either
from symbcast.torch.operators.scalars import truth_of
from symbcast.torch.registry import operator

if TYPE_CHECKING:
    from symbcast.core.logic.formulas import Formula
    from symbcast.torch.node_call import TorchCall


@operator("higher_order.cond")
def branched(call: TorchCall) -> Sequence[Value]:
    """The outputs of one branch or the other; what each of them asks holds where it is taken."""
    yes, no = call.node.inner
    operands = [value if isinstance(value, Value) else Value(None) for value in call.given("3") or ()]
    chosen = _chosen(call)
    known = call.is_known(chosen)
    if known is not None:
        return call.walk.within(yes if known else no, call.scope, operands)
    with call.asker.under(chosen):
        first = call.walk.within(yes, call.scope, operands)
    with call.asker.under(negate(chosen)):
        second = call.walk.within(no, call.scope, operands)
    found = zip(call.node.output, first, second, strict=True)
    return [either(call.asker, name, chosen, a, b) for name, a, b in found]


def _chosen(call: TorchCall) -> Formula:
    """Return when the first branch is taken: in terms of sizes, or of a size of its own that is 1 there and 0 else."""
    found = truth_of(call.given("0"))
    if found is not None:
        return found
    taken = call.fresh("taken", "1 where data take the first branch, 0 where they do not", by=[0])
    call.asker.assume(at_most(taken, 1))
    return equal(taken, 1)


@operator("higher_order.while_loop", "higher_order.scan", "higher_order.map_impl", "higher_order.associative_scan")
def looped(call: TorchCall) -> Sequence[Value]:
    """A loop: how often it runs, data may decide; its outputs are as torch recorded them."""
    raise UnknownShapeError("what the body of the loop asks was not looked at; its shapes are as torch recorded them")
