"""Sizes that advance in steps as lines: ``step * k + offset``, with k in a range."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from symbcast.answers.guards.names import ascii_identifier
from symbcast.core.algebra.terms import Operation, term
from symbcast.errors import TargetError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from symbcast.answers.contracts.targets.request import Box, Request
    from symbcast.core.algebra.terms import Dim


class Line(NamedTuple):
    """A size as a linear expression of free ones, which have bounds.

    Attributes:
        factors: The factor of each free size.
        offset: The number that is added.
        free: The free size of its own, with the bounds ``low`` and ``high``; empty if the size is fixed or derived.
    """

    factors: dict[str, int]
    offset: int
    free: str = ""
    low: int = 0
    high: int = 0

    @property
    def expression(self) -> str:
        """The expression as text without parentheses, which JAX does not read.

        >>> Line({"_H": 32, "N": 1}, -3).expression
        '32*_H + N - 3'
        """
        parts = [name if factor == 1 else f"{factor}*{name}" for name, factor in self.factors.items() if factor]
        parts += [str(self.offset)] if self.offset or not parts else []
        return " + ".join(parts).replace("+ -", "- ")


def lines_of(request: Request, box: Box, reserved: Collection[str]) -> dict[str, Line]:
    """Return each size of a box as a line; derived sizes as expressions of the others.

    No name of a free size is a reserved word. Raises `TargetError` if a size is not linear.
    """
    derived = {request.question.names[s]: expression for s, expression in request.derived.items()}
    lines = free_lines({name: sizes for name, sizes in box.items() if name not in derived}, reserved)
    lines.update({name: line_of(request, expression, lines) for name, expression in derived.items()})
    return {name: lines[name] for name in box}


def free_lines(box: Box, reserved: Collection[str] = ()) -> dict[str, Line]:
    """Return each size of a box as a line; all names are identifiers, none is reserved, and no two are equal.

    >>> line = free_lines({"H": range(64, 1281, 32), "N": range(1, 17), "C": range(3, 4)})["H"]
    >>> line.expression, line.low, line.high
    ('32*_H', 2, 40)
    """
    return {name: _line(spelled, box[name]) for name, spelled in distinct(box, reserved).items()}


def distinct(names: Iterable[str], reserved: Collection[str] = ()) -> dict[str, str]:
    """Return an identifier for each name; none is reserved, and none equals another, also not with ``_`` in front.

    >>> distinct(["a.b", "a_b", "lambda"], {"lambda"})
    {'a.b': 'a_b', 'a_b': 'a_b_', 'lambda': 'lambda_'}
    """
    found: dict[str, str] = {}
    taken = {*reserved}
    for name in names:
        spelled = ascii_identifier(name)
        while spelled in taken or f"_{spelled}" in taken:
            spelled += "_"
        taken |= {spelled, f"_{spelled}"}
        found[name] = spelled
    return found


def _line(name: str, sizes: range) -> Line:
    if len(sizes) == 1:
        return Line({}, sizes[0])
    if sizes.step == 1:
        return Line({name: 1}, 0, name, sizes[0], sizes[-1])
    step, free = sizes.step, f"_{name}"
    low = max(1, sizes[0] // step)  # a free size of 0 is refused by JAX, and a special case for torch
    return Line({free: step}, sizes[0] - low * step, free, low, low + len(sizes) - 1)


def line_of(request: Request, dim: Dim, lines: Mapping[str, Line]) -> Line:
    """Return a dimension of an input as an expression of the free sizes; raise `TargetError` if it is not linear."""
    factors: dict[str, int] = {}
    offset = 0
    for monomial, factor in term(dim).coefficients.items():
        if len(monomial) > 1 or any(isinstance(atom, Operation) for atom in monomial):
            raise TargetError(request.target, f"it has no way to write the size {dim}", "name it: it is a size")
        line = lines[request.name_of(monomial[0])] if monomial else Line({}, 1)
        offset += factor * line.offset
        for name, own in line.factors.items():
            factors[name] = factors.get(name, 0) + factor * own
    return Line(factors, offset)
