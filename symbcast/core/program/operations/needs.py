"""The requirements of each operation of a program on its own, without the others."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from symbcast.core.broadcasting import Demand, Joined, OutputDim, right_aligned
from symbcast.core.logic.formulas import Compatible, Formula, clauses
from symbcast.core.program.operations.operation import SAME, Op, demand_of
from symbcast.core.program.operations.size_needs import equalities, size_needs, unjoined
from symbcast.core.shapes import is_open
from symbcast.core.solver.groups.normal_form import flattened

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim


def needs(op: Op) -> tuple[Formula, ...]:
    """Return the requirements of an operation as distinct clauses in normal form, with nested joins flattened."""
    if op.kind == "assume":
        return ()
    found: dict[Formula, None] = {}
    for operand in op.operands:
        for dim in operand.dims:
            if not isinstance(dim, int) and not dim.is_Symbol:
                found.update(dict.fromkeys(_clauses_of_size(dim)))
    columns, asked = columns_and_asked(op)
    for column in columns:
        if isinstance(column, Joined):
            found.update(dict.fromkeys(_clauses_of_join(column)))
    found.update(dict.fromkeys(flattened(asked)))
    return tuple(found)


@lru_cache(maxsize=4096)
def _clauses_of_size(dim: Dim) -> list[Formula]:
    return flattened(size_needs((dim,)))


@lru_cache(maxsize=4096)
def _clauses_of_join(column: Joined) -> list[Formula]:
    return flattened([unjoined(Compatible(tuple(column)))])


def columns_and_asked(op: Op, demand: Demand | None = None) -> tuple[Sequence[OutputDim], list[Formula]]:
    """Return the output axes of an operation, and its requirements other than that the joins among them be defined.

    ``demand`` is that of its rule on its operands, if the caller knows it.
    """
    if op.kind in ("require", "assume"):
        assert op.formula is not None
        return (), list(clauses(op.formula))
    is_of_any_rank = any(map(is_open, op.operands))
    if op.rule is None and not is_of_any_rank:
        left, right = op.operands
        return left.values, equalities(left, right)
    rule = SAME if op.rule is None else op.rule
    if not is_of_any_rank and rule.is_join([s.dims for s in op.operands]):
        return [Joined(size for _, size in column) for column in right_aligned([s.values for s in op.operands])], []
    output, found = demand_of(rule, op.operands) if demand is None else demand
    return output, [f for asked in found for f in clauses(unjoined(asked))]
