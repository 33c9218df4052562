"""The assumptions that a clash of operations needs: an error names no others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from symbcast.core.program.operations.operation import Op
from symbcast.core.program.sizes.links import linked_sizes
from symbcast.core.program.whole.trace import Trace
from symbcast.core.solver.groups.normal_form import symbols_in

if TYPE_CHECKING:
    from symbcast.core.program.sizes.assumptions import Assumption

TRIED = 12
"""How many assumptions are left out one by one. Each takes as long as recording the operations that clash."""


def needed_assumptions(trace: Trace, clash: Sequence[Op]) -> list[Assumption]:
    """Return assumptions together with which some operations cannot hold, each of them needed, in order.

    Among more than `TRIED` that share sizes with the operations, some may not be needed.
    """
    operations = [op for op in clash if op.kind != "assume"]
    kept = _linked(trace.assumptions, operations)
    if len(kept) > TRIED:
        return kept
    for assumption in list(kept):
        others = [a for a in kept if a is not assumption]
        if _clash(trace, others, operations):
            kept = others
    return kept


def _linked(assumptions: Sequence[Assumption], operations: Iterable[Op]) -> list[Assumption]:
    """Return the assumptions that share sizes with operations, directly or through others."""
    own = {s for op in operations for c in op.constraints for s in symbols_in(c.requirement)}
    symbols = [frozenset(symbols_in(a.formula)) for a in assumptions]
    linked = linked_sizes(own, symbols)
    return [a for a, found in zip(assumptions, symbols, strict=True) if not linked.isdisjoint(found)]


def _clash(trace: Trace, assumptions: Iterable[Assumption], operations: Iterable[Op]) -> bool:
    """Return whether operations cannot hold together under some assumptions."""
    assumed = [Op(0, "assume", None, formula=a.formula, text=a.text) for a in assumptions]
    renumbered = [op._replace(number=n) for n, op in enumerate([*assumed, *operations])]
    return bool(Trace.replayed(renumbered, trace.min_size, trace.names.copy()).refused)
