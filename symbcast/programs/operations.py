"""What each operation of a program asks on its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from symbcast.algebra.arithmetic import join_members
from symbcast.broadcasting import Joined, OutputDim, right_aligned
from symbcast.constraints import Constraint, Origin
from symbcast.deciding.normal import flattened
from symbcast.definedness import definedness
from symbcast.formulas import FALSE, AnyOf, Comparison, Compatible, Formula, all_of, clauses, equal, one_or_equal
from symbcast.programs.op import Op
from symbcast.reasons import EQUAL, EQUAL_RANKS, REQUIRED_FORMULA, SIZE
from symbcast.shapes import Shape

if TYPE_CHECKING:
    from symbcast.algebra.terms import Dim


def needs(op: Op) -> tuple[Formula, ...]:
    """Return what an operation asks as distinct clauses, in normal form, joins within joins taken apart."""
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


def columns_and_asked(op: Op) -> tuple[Sequence[OutputDim], list[Formula]]:
    """Return the output axes of an operation, and what it asks besides that those which are joins be defined."""
    if op.kind in ("require", "assume"):
        assert op.formula is not None
        return (), list(clauses(op.formula))
    if op.rule is None:
        left, right = op.operands
        return left.dims, equalities(left, right)
    if op.rule.is_join([s.dims for s in op.operands]):
        return [Joined(size for _, size in column) for column in right_aligned([s.dims for s in op.operands])], []
    emission = op.rule.emit([s.dims for s in op.operands])
    return emission.output, [f for c in emission.constraints for f in clauses(unjoined(c.requirement))]


def unjoined(formula: Formula) -> Formula:
    """Return a formula with the joins it is about taken apart into their members, where that says the same.

    It says the same beside the formulas that these joins are defined: a join of joins is the join of all members;
    and a join that is 1 or ``t`` has members that are each 1 or ``t``.
    """
    match formula:
        case Compatible(dims):
            return Compatible(tuple(dict.fromkeys(m for d in dims for m in join_members(d))))
        case AnyOf((Comparison("==", data, 1), Comparison("==", same, target))) if data == same:
            members = join_members(data)
            return all_of(one_or_equal(m, target) for m in members) if len(members) > 1 else formula
        case _:
            return formula


def equalities(left: Shape, right: Shape) -> list[Formula]:
    """Return what makes two shapes equal."""
    if left.rank != right.rank:
        return [FALSE]
    return [equal(a, b) for a, b in zip(left.dims, right.dims, strict=True)]


def constraints(op: Op) -> Iterator[Constraint]:
    """Yield what an operation asks, and that the dimensions of its operands be sizes."""
    yield from _size_constraints(op)
    yield from _own_constraints(op)


def _size_constraints(op: Op) -> Iterator[Constraint]:
    for position, operand in enumerate(op.operands):
        for axis, dim in enumerate(operand.dims):
            origin = Origin("size", (position,), axis, operand.rank, op.name)
            for need in size_needs((dim,)):
                yield Constraint(need, origin, SIZE)


def size_needs(dims: Iterable[Dim]) -> list[Formula]:
    """Return what makes dimensions sizes: nothing for integers and symbols."""
    found: dict[Formula, None] = {}
    for dim in dims:
        if isinstance(dim, int):
            if dim < 0:  # a member of a join: no size
                found[FALSE] = None
            continue
        if dim.is_Symbol:
            continue
        members = join_members(dim)
        if len(members) > 1:
            found[Compatible(members)] = None
            found.update(dict.fromkeys(size_needs(members)))
        else:
            found.update(dict.fromkeys(definedness(dim)))
    return list(found)


def _own_constraints(op: Op) -> Iterator[Constraint]:
    if op.kind == "broadcast" and op.rule is not None:
        for constraint in op.rule.emit([s.dims for s in op.operands]).constraints:
            origin = constraint.origin._replace(operation=op.name)
            yield Constraint(constraint.requirement, origin, constraint.why, constraint.details)
    elif op.kind == "equal":
        left, right = op.operands
        if left.rank != right.rank:
            origin = Origin("equal", (0, 1), operation=op.name)
            yield Constraint(FALSE, origin, EQUAL_RANKS, {"left": left.rank, "right": right.rank})
            return
        for axis, formula in enumerate(equalities(left, right)):
            yield Constraint(formula, Origin("equal", (0, 1), axis, left.rank, op.name), EQUAL)
    elif op.kind == "require" and op.formula is not None:
        for clause in clauses(op.formula):
            yield Constraint(clause, Origin("require", (), operation=op.name), REQUIRED_FORMULA)
