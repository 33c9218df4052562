"""Locate a rule's condition on the axes of a node's operands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from symbcast.answers.explanation.names import axis_text

if TYPE_CHECKING:
    from symbcast.core.broadcasting.constraints import Constraint
    from symbcast.graphs.values.value import Value
    from symbcast.operators.context import Dims


def located_reason(inputs: Sequence[Value | None], parts: Sequence[Dims], constraint: Constraint) -> str:
    """Return a rule's reason for a requirement on parts of a node's inputs, with the axis if only one is concerned.

    Each part is a whole input or a run of adjacent axes, such as the batch axes of matrices.
    """
    origin = constraint.origin
    if origin.axis is None or not origin.rank:
        return constraint.reason
    found = set()
    for part in (parts[n] for n in origin.operands):
        axis = origin.axis - (origin.rank - len(part))
        for whole in {v.shape for v in inputs if v is not None and v.shape is not None}:
            starts = [n for n in range(len(whole) - len(part) + 1) if whole[n : n + len(part)] == part]
            if axis >= 0 and part and len(starts) == 1:
                found.add((starts[0] + axis - len(whole), len(whole)))
    if len({back for back, _ in found}) != 1:
        return constraint.reason
    back, rank = max(found)[0], max(rank for _, rank in found)
    return f"on {axis_text(rank + back, rank)}, {constraint.reason}"
