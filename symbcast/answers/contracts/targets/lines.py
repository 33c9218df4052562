"""Sizes that advance in steps as lines: ``step * k + offset``, with k in a range."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from symbcast.answers.guards.names import ascii_identifier
from symbcast.core.algebra.terms import Operation, term
from symbcast.errors import TargetError

if TYPE_CHECKING:
    from symbcast.answers.contracts.targets.request import Box, Request
    from symbcast.core.algebra.terms import Dim


class Line(NamedTuple):
    """A size as an expression of a free one, which has bounds; a fixed size has no free one."""

    expression: str
    free: str
    low: int
    high: int


def lines_of(box: Box) -> dict[str, Line]:
    """Return each size of a box as a line; all names are identifiers, and no two are equal.

    >>> lines_of({"H": range(64, 1281, 32), "N": range(1, 17), "C": range(3, 4)})["H"]
    Line(expression='32*_H', free='_H', low=2, high=40)
    """
    found: dict[str, Line] = {}
    taken: set[str] = set()
    for name, sizes in box.items():
        spelled = ascii_identifier(name)
        while spelled in taken or f"_{spelled}" in taken:
            spelled += "_"
        taken |= {spelled, f"_{spelled}"}
        found[name] = _line(spelled, sizes)
    return found


def _line(name: str, sizes: range) -> Line:
    if len(sizes) == 1:
        return Line(str(sizes[0]), "", sizes[0], sizes[0])
    if sizes.step == 1:
        return Line(name, name, sizes[0], sizes[-1])
    offset = sizes[0] % sizes.step
    text = f"{sizes.step}*_{name}" + (f" + {offset}" if offset else "")
    return Line(text, f"_{name}", sizes[0] // sizes.step, sizes[-1] // sizes.step)


def dim_expression(request: Request, dim: Dim, lines: dict[str, Line]) -> str:
    """Return a dimension of an input as an expression over the free sizes; raise `TargetError` if it is not linear."""
    if isinstance(dim, int):
        return str(dim)
    if dim.is_Symbol:
        return lines[request.name_of(dim)].expression
    parts = []
    for monomial, factor in term(dim).coefficients.items():
        if len(monomial) > 1 or any(isinstance(atom, Operation) for atom in monomial):
            raise TargetError(request.target, f"it has no way to write the size {dim}", "name it: it is a size")
        inner = f"({lines[request.name_of(monomial[0])].expression})" if monomial else "1"
        parts.append(f"{factor}*{inner}")
    return " + ".join(parts)
