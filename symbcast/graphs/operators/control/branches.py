"""Handle branches: walk both, and record the requirements of each under the condition that it is taken."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from symbcast.core.algebra.arithmetic import multiply
from symbcast.core.logic.formulas import Formula, at_most, equal, negate
from symbcast.graphs.values.contents import Elements
from symbcast.graphs.values.elements import truth
from symbcast.graphs.values.value import NEVER, Value
from symbcast.graphs.walking.node_call import NodeCall
from symbcast.graphs.walking.walker import Fork, either

Branch: TypeAlias = "Callable[[], Sequence[Value]]"
"""Walks through a branch, and returns its value for each output."""
Paired: TypeAlias = "Callable[[Value, Value], tuple[Value, Value]]"


def branched(call: NodeCall, chosen: Formula, yes: Branch, no: Branch, paired: Paired | None = None) -> Sequence[Value]:
    """Return the outputs of whichever branch is taken; ``paired`` may change the two values for one output.

    If the branches' outputs differ in rank, the walk continues separately for each branch.
    """
    known = call.is_known(chosen)
    if known is not None:
        return yes() if known else no()
    with call.asker.under(chosen):
        first = yes()
    with call.asker.under(negate(chosen)):
        second = no()
    if paired is not None:
        pairs = [paired(a, b) for a, b in zip(first, second, strict=True)]
        first, second = [a for a, _ in pairs], [b for _, b in pairs]
    if NEVER not in (*first, *second) and any(_is_apart(a, b) for a, b in zip(first, second, strict=True)):
        call.walk.fork = Fork(chosen, first, second)
    outputs = zip(call.node.outputs, first, second, strict=False)
    return [either(call.asker, name, chosen, a, b) for name, a, b in outputs]


def _is_apart(yes: Value, no: Value) -> bool:
    """Return whether two values cannot be merged by cases: their ranks, or the lengths of their lists, differ."""
    are_lists = isinstance(yes.content, Elements) and isinstance(no.content, Elements)
    return rank_of(yes) != rank_of(no) or (are_lists and yes.shape != no.shape)


def rank_of(value: Value) -> int | None:
    """Return the rank of a value; None if it is unknown."""
    return None if value.shape is None else len(value.shape)


def chosen_of(call: NodeCall) -> Formula:
    """Return the formula that the first input is true; a new size, 1 if true and 0 if not, represents unknown data."""
    shape = call.value(0).shape
    if shape is not None:
        call.equal(multiply(*shape), 1, "the condition must be one truth value")
    items = call.elements(0)
    found = truth(items[0]) if items else None
    return found if found is not None else taken_by_data(call, call.input_name(0))


def taken_by_data(call: NodeCall, name: str) -> Formula:
    """Return ``taken == 1`` for a new size that is 1 if the first branch is taken and 0 if not."""
    text = f"1 where {name} is true and the first branch is taken, 0 where it is not"
    taken = call.fresh("taken", text, by=[0])
    call.asker.assume(at_most(taken, 1))
    return equal(taken, 1)
