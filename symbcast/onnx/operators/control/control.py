"""If: its branches are walked, and asked under the condition that they are taken."""

from __future__ import annotations

from collections.abc import Sequence

from symbcast.core.algebra.arithmetic import multiply
from symbcast.core.logic.formulas import Formula, at_most, equal, negate
from symbcast.onnx.node_call import NodeCall
from symbcast.onnx.registry import operator
from symbcast.onnx.values.contents import Elements
from symbcast.onnx.values.elements import truth
from symbcast.onnx.values.value import NEVER, Value
from symbcast.onnx.walker import Fork, either


@operator("If")
def if_(call: NodeCall) -> Sequence[Value]:
    """The outputs of one branch or the other; what each of them asks holds where it is taken."""
    branches = {name: call.attribute(name).g for name in ("then_branch", "else_branch")}
    chosen = chosen_of(call)
    known = call.is_known(chosen)
    if known is not None:
        return call.walk.within(branches["then_branch" if known else "else_branch"], call.scope, ())
    with call.asker.under(chosen):
        yes = call.walk.within(branches["then_branch"], call.scope, ())
    with call.asker.under(negate(chosen)):
        no = call.walk.within(branches["else_branch"], call.scope, ())
    if NEVER not in (*yes, *no) and any(_is_apart(a, b) for a, b in zip(yes, no, strict=True)):
        call.walk.fork = Fork(chosen, yes, no)
    return [either(call.asker, name, chosen, a, b) for name, a, b in zip(call.node.output, yes, no, strict=False)]


def _is_apart(yes: Value, no: Value) -> bool:
    """Return whether two values cannot be one by cases: they differ in rank, or hold lists of different lengths."""
    are_lists = isinstance(yes.content, Elements) and isinstance(no.content, Elements)
    return rank_of(yes) != rank_of(no) or (are_lists and yes.shape != no.shape)


def rank_of(value: Value) -> int | None:
    """Return how many axes a value has; None where that is not known."""
    return None if value.shape is None else len(value.shape)


def chosen_of(call: NodeCall) -> Formula:
    """Return when the then-branch is taken: in terms of sizes, or of a size of its own that is 1 there and 0 else."""
    shape = call.value(0).shape
    if shape is not None:
        call.equal(multiply(*shape), 1, "the condition must be one truth value")
    items = call.elements(0)
    found = truth(items[0]) if items else None
    if found is not None:
        return found
    taken = call.fresh(
        "taken", f"1 where {call.input_name(0)} is true and the then-branch is taken, 0 where it is not", by=[0]
    )
    call.asker.assume(at_most(taken, 1))
    return equal(taken, 1)
