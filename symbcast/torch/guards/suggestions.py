"""The ``dynamic_shapes`` that ``torch.export.export`` accepts, as text to paste.

An axis gets a `Dim` if its only requirements are a range, a divisor, or equality with another axis; a `Dim` cannot
express anything else. All other axes are left to torch (``Dim.AUTO``), which then infers their requirements.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, NamedTuple

from symbcast.core.algebra.arithmetic import modulo
from symbcast.core.algebra.symbols import Symbol
from symbcast.core.logic.formulas import Comparison, Formula
from symbcast.core.program.sizes.premises import own_set
from symbcast.core.solver.groups.normal_form import symbols_in
from symbcast.core.solver.sets.size_sets import SizeSet
from symbcast.core.solver.sets.univariate import narrow

if TYPE_CHECKING:
    from symbcast.torch.guards.guards import Guards
    from symbcast.torch.reading.inputs import Axis, Inputs

AUTO = "Dim.AUTO"
_MOST = 1 << 16
"""The largest factor that is tried for a ``factor*Dim``."""


class Suggestion(NamedTuple):
    """Lines that create the `Dim` objects, and the expression for ``dynamic_shapes``."""

    lines: tuple[str, ...]
    shapes: str

    def __str__(self) -> str:
        return "\n".join(("from torch.export import Dim", "", *self.lines, f"dynamic_shapes = {self.shapes}"))


class Suggester:
    """Suggests dynamic shapes for one program; axes in ``refused``, by torch's names, are left to torch."""

    def __init__(self, inputs: Inputs, guards: Guards, refused: Collection[str] = ()) -> None:
        self._inputs = inputs
        self._clauses = guards.env.clauses
        self._least = guards.env.min_size
        self._refused = refused
        self._fixed = {s.axis for s in guards.specialised}
        self._lines: dict[str, str] = {}

    def suggestion(self) -> Suggestion:
        """Return the suggested dynamic shapes."""
        said = {axis.source: self._said(axis) for axis in self._inputs.axes if axis.is_dynamic}
        return Suggestion(tuple(self._lines.values()), _nested(self._inputs, said))

    def _said(self, axis: Axis) -> str:
        """Return the text for an axis: a `Dim`, a multiple of one, None if it is fixed, or ``Dim.AUTO``."""
        size = axis.size
        is_number = axis.axis is None  # torch accepts no `Dim` for an integer
        if axis.source in self._refused or is_number or not isinstance(size, Symbol):
            return AUTO
        size = self._first_of(size)
        about = [c for c in self._clauses if size in symbols_in(c) and not _is_equality(c)]
        members = own_set(size, self._least)
        for clause in about:
            found = narrow(members, clause) if len(list(symbols_in(clause))) == 1 else None
            if found is None:
                return AUTO
            members = found
        return self._dim(size, members)

    def _first_of(self, size: Symbol) -> Symbol:
        """Return the representative of all sizes that must equal this one."""
        met, grown = [size], True
        while grown:
            more = [s for c in self._clauses if _is_equality(c) and set(met) & {*symbols_in(c)} for s in symbols_in(c)]
            found = list(dict.fromkeys([*met, *more]))
            grown, met = len(found) > len(met), found
        order = [a.size for a in self._inputs.axes if a.is_dynamic]
        return min(met, key=order.index)

    def _dim(self, size: Symbol, members: SizeSet) -> str:
        """Return a `Dim` for a set, or a multiple of one; None for a single number, ``Dim.AUTO`` for other sets."""
        name, low = size.name, members.least()
        if low is None:
            return AUTO
        high = members.greatest
        if low == high:
            return "None"
        if members.same(SizeSet.interval(low, high)):
            self._lines[name] = f"{name} = {_made(name, low, high)}"
            return name
        found = members.first(2)
        factor = found[1] - found[0] if len(found) == 2 else 0
        if 1 < factor <= _MOST and low % factor == 0 and high is None:
            wanted = narrow(SizeSet.interval(low, None), Comparison("==", modulo(size, factor), 0))
            if wanted is not None and members.same(wanted):
                self._lines[name] = f"_{name} = {_made(f'_{name}', low // factor, None)}"
                return f"{factor}*_{name}"
        return AUTO


def _made(name: str, low: int, high: int | None) -> str:
    ends = [f"min={low}"] if low > 1 else []
    ends += [f"max={high}"] if high is not None else []
    return f"Dim({', '.join([repr(name), *ends])})"


def _is_equality(formula: Formula) -> bool:
    return (
        isinstance(formula, Comparison)
        and formula.operator == "=="
        and isinstance(formula.left, Symbol)
        and isinstance(formula.right, Symbol)
    )


def _nested(inputs: Inputs, said: dict[str, str]) -> str:
    """Return the text of dictionaries and lists, nested as the arguments are."""
    root: dict[object, object] = {}
    for i in inputs.inputs:
        place: dict[object, object] = root
        *outer, last = _path(i.source)
        for key in outer:
            place = place.setdefault(key, {})  # type: ignore[assignment]
        axes = {axis.axis: said[axis.source] for axis in i.axes if axis.is_dynamic}
        own = axes.get(None)
        place[last] = own if own is not None else "{" + ", ".join(f"{n}: {t}" for n, t in axes.items()) + "}"
        if not axes:
            place[last] = "None"
    return _text(root)


def _text(value: object) -> str:
    if not isinstance(value, dict):
        return str(value)
    if value and all(isinstance(key, int) for key in value):
        return "[" + ", ".join(_text(v) for v in value.values()) + "]"
    return "{" + ", ".join(f"{key!r}: {_text(v)}" for key, v in value.items()) + "}"


def _path(source: str) -> list[object]:
    """Return the path to an argument in torch's guards: ``['x', 0, 'k']`` for ``L['x'][0]['k']``."""
    return list(_keys(source))


def _keys(source: str) -> Iterator[object]:
    keys = []
    node: ast.expr = ast.parse(source, mode="eval").body
    while not isinstance(node, ast.Name):
        match node:
            case ast.Subscript(value=inner, slice=ast.Constant(value=key)):
                keys.append(key)
                node = inner
            case ast.Attribute(value=inner, attr=key):
                keys.append(key)
                node = inner
            case _:
                return
    yield from reversed(keys)
