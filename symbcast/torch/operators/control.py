"""Branches, which are walked as those of an ONNX model are, and loops, which are not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from symbcast.graphs.node_call import UnknownShapeError
from symbcast.graphs.operators.branches import branched, taken_by_data
from symbcast.graphs.values.value import Value
from symbcast.torch.operators.scalars import truth_of
from symbcast.torch.registry import operator

if TYPE_CHECKING:
    from symbcast.core.logic.formulas import Formula
    from symbcast.torch.node_call import TorchCall


@operator("higher_order.cond")
def cond(call: TorchCall) -> Sequence[Value]:
    """The outputs of one branch or the other; what each of them asks holds where it is taken."""
    yes, no = call.node.graphs.values()
    operands = [value if isinstance(value, Value) else Value(None) for value in call.given("3") or ()]
    within = call.walk.within
    return branched(
        call,
        _chosen(call),
        lambda: within(yes, call.scope, operands),
        lambda: within(no, call.scope, operands),
    )


def _chosen(call: TorchCall) -> Formula:
    """Return when the first branch is taken: in terms of sizes, or of a size of its own that is 1 there and 0 else."""
    found = truth_of(call.given("0"))
    return taken_by_data(call, "the predicate") if found is None else found


@operator("higher_order.while_loop", "higher_order.scan", "higher_order.map_impl", "higher_order.associative_scan")
def looped(call: TorchCall) -> Sequence[Value]:
    """A loop: how often it runs, data may decide; its outputs are as torch recorded them."""
    raise UnknownShapeError("what the body of the loop asks was not looked at; its shapes are as torch recorded them")
