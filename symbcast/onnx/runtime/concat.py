"""How ONNX Runtime concatenates tensors if some are empty (seen with 1.31)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from symbcast.core.logic.formulas import FALSE, Formula, any_of, equal, negate
from symbcast.graphs.walking.node_call import NodeCall
from symbcast.operators.context import Context, Dims
from symbcast.operators.rearranging.joins import off_axis_reason

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim


def join_skipping_empty(call: NodeCall, _: Context, shapes: Sequence[Dims], axis: int) -> list[Dim]:
    """Return the sizes that all tensors share except on one axis.

    The runtime ignores empty tensors; if all are empty, it takes the sizes of the first one.
    """
    empty = [call.empty(s) for s in shapes]
    chosen = next((n for n, e in enumerate(empty) if e == FALSE), len(shapes) - 1)
    dims = list(shapes[chosen])
    for n in range(len(dims)):
        if n == axis:
            continue
        for m, other in enumerate(shapes):
            for k in range(m) if empty[chosen] != FALSE else (chosen,):
                if other[n] != shapes[k][n]:
                    reason = off_axis_reason(n, axis, len(dims))
                    call.require(any_of([empty[m], empty[k], equal(other[n], shapes[k][n])]), reason)
        if empty[chosen] == FALSE:
            known = [s[n] for s, e in zip(shapes, empty, strict=True) if e == FALSE and isinstance(s[n], int)]
            dims[n] = known[0] if known else dims[n]
            continue
        dims[n] = _by_emptiness(call, [s[n] for s in shapes], empty, n)
    return dims


def _by_emptiness(call: NodeCall, sizes: Sequence[Dim], empty: Sequence[Formula], axis: int) -> Dim:
    """Return the size of the first nonempty tensor, or else of the first one."""
    what = f"axis {axis}, of the first of them that holds something"
    name = f"{call.place.name}_dim_{axis}"
    if len(set(sizes)) == 1:
        return sizes[0]
    if len(sizes) == 2 and not any(d in call.asker.cases for d in sizes):
        return call.asker.by_cases(
            name,
            what,
            negate(empty[0]),
            sizes[0],
            call.asker.by_cases(name, what, negate(empty[1]), sizes[1], sizes[0]),
        )
    return call.asker.symbol(name, what, is_undecided=True)
