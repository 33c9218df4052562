"""The ``dynamic_shapes`` that ``torch.export.export`` accepts, as text to paste.

An axis gets a `Dim` if its only requirements are a range, a divisor, or equality with another axis, and torch can prove
all of its guards from them. All other axes are left to torch (``Dim.AUTO``), which then infers their requirements.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from symbcast.core.algebra.operations import Substitution
from symbcast.core.algebra.symbols import Symbol, symbol
from symbcast.core.algebra.terms import Term, constant, term
from symbcast.core.logic.formulas import Comparison, Formula
from symbcast.core.program.sizes.premises import own_set
from symbcast.core.solver.groups.normal_form import symbols_in
from symbcast.core.solver.sets.size_sets import SizeSet
from symbcast.core.solver.sets.univariate import narrow
from symbcast.torch.guards.guard_texts import is_plain
from symbcast.torch.guards.provable import is_provable
from symbcast.torch.guards.spec_texts import entry
from symbcast.torch.reading.inputs import shown_source

if TYPE_CHECKING:
    from symbcast.torch.guards.guards import Guards
    from symbcast.torch.reading.inputs import Axis, Inputs

AUTO, FIXED = "Dim.AUTO", "Dim.STATIC"
_MOST = 1 << 16
"""The largest factor that is tried for a ``factor*Dim``."""


class Suggestion(NamedTuple):
    """Lines that create the `Dim` objects, and the expression for ``dynamic_shapes``."""

    lines: tuple[str, ...]
    shapes: str
    classes: tuple[type, ...] = ()
    """The named tuples that the expression uses."""

    def __str__(self) -> str:
        return "\n".join(("from torch.export import Dim", "", *self.lines, f"dynamic_shapes = {self.shapes}"))


class _Form(NamedTuple):
    """A `Dim` for a size: the text of its axis, the line that creates it, and the size as a term of a new symbol."""

    text: str
    line: str
    written: Term
    most: int | None


class Suggester:
    """Suggests dynamic shapes for one program; axes in ``refused``, by torch's names, are left to torch.

    With ``is_tried``, torch is asked to accept the suggestion afterwards; otherwise an axis has a `Dim` only if torch
    surely proves its guards.
    """

    def __init__(
        self,
        inputs: Inputs,
        guards: Guards,
        refused: Collection[str] = (),
        *,
        is_tried: bool = False,
        has_ranges: bool = True,
    ) -> None:
        """Without ``has_ranges``, axes that are left to torch are left without a range."""
        self._has_ranges = has_ranges
        self._inputs = inputs
        self._clauses = guards.env.clauses
        self._asked = [g.formula for g in guards.all if g.formula is not None]
        self._difficult = [g.text for g in guards.all if g.formula is not None and not is_plain(g.text)]
        self._ranges = guards.ranges
        self._trivial = [g.text for g in guards.all if g.formula is not None and _is_trivial(g.formula)]
        self._env = guards.env
        self._is_tried = is_tried
        self._axes = [a for a in inputs.axes if a.is_dynamic]
        self._fixed = [s.source for s in guards.specialised if s.was_open]
        unread = guards.open
        self._refused = {a.size for a in self._axes if a.source in refused or a.axis is None or str(a.size) in unread}

    def suggestion(self) -> Suggestion:
        """Return the suggested dynamic shapes."""
        said, lines = self.texts()
        structure = self._inputs.arguments.whole
        entries = [entry(i, said) for i in self._inputs.inputs]
        return Suggestion(tuple(lines), structure.text(entries), tuple(dict.fromkeys(structure.classes())))

    def texts(self) -> tuple[dict[str, str], list[str]]:
        """Return the text for each open axis, by torch's name of it, and the lines that create the `Dim` objects."""
        said = dict.fromkeys(self._fixed, FIXED)
        lines: dict[str, str] = {}
        for axis in self._axes:
            form = self._form(axis)
            said[axis.source] = self._auto(axis) if form is None else form.text
            if form is not None and form.line:
                lines.setdefault(form.text, form.line)
        return said, list(lines.values())

    def _auto(self, axis: Axis) -> str:
        """Return ``Dim.AUTO`` with the range that the program has, if it has an end."""
        low, high = self._ranges.get(str(axis.size), (0, None))
        if high is None or axis.axis is None or not self._has_ranges:
            return AUTO
        return f"{AUTO}({f'min={low}, ' if low > 2 else ''}max={high})"

    def _form(self, axis: Axis) -> _Form | None:
        """Return the `Dim` for an axis; None if it is left to torch."""
        if not isinstance(axis.size, Symbol):
            return None
        alike = self._alike(axis.size)
        if any(size in self._refused for size in alike):
            return None
        first, same = alike[0], dict.fromkeys(alike, term(alike[0]))
        members: SizeSet | None = own_set(first, max(1, self._env.least(first)))
        for clause in self._clauses:
            sizes = set(symbols_in(clause))
            if sizes.isdisjoint(alike) or (_is_equality(clause) and sizes <= set(alike)):
                continue
            found = _renamed(clause, same)
            if found is None or set(symbols_in(found)) != {first}:
                return None
            members = narrow(members, found) if members is not None else None
            if members is None:
                return None
        form = None if members is None else _formed(first, members)
        return form if form is None or self._is_tried or self._is_proved(alike, form) else None

    def _is_proved(self, alike: list[Symbol], form: _Form) -> bool:
        """Return whether torch proves all guards about some sizes from a `Dim`.

        A guard that holds for all sizes is in the program because torch could not prove it.
        """
        names = [shown_source(a.source) for a in self._axes if a.size in alike]
        if any(name in text for name in names for text in (*self._trivial, *self._difficult)):
            return False
        written = dict.fromkeys(alike, form.written)
        most = {} if form.most is None else dict.fromkeys(symbols_in_term(form.written), form.most)
        about = [f for f in self._asked if not set(symbols_in(f)).isdisjoint(alike)]
        return all(is_provable(f, written, most) for f in about if set(symbols_in(f)) <= set(alike))

    def _alike(self, size: Symbol) -> list[Symbol]:
        """Return all sizes that must equal this one, in the order of the axes."""
        met, grown = {size}, True
        while grown:
            pairs = [set(symbols_in(c)) for c in self._clauses if _is_equality(c)]
            found = met.union(*(pair for pair in pairs if pair & met))
            grown, met = found != met, found
        order = [a.size for a in self._axes]
        return sorted(met, key=lambda s: order.index(s) if s in order else len(order))


def symbols_in_term(value: Term) -> Iterator[Symbol]:
    """Yield the symbols of a sum."""
    for monomial in value.coefficients:
        for atom in monomial:
            if isinstance(atom, Symbol):
                yield atom


def _renamed(clause: Formula, same: dict[Symbol, Term]) -> Formula | None:
    """Return a comparison with all equal sizes written as the first of them; None for other formulas."""
    if set(symbols_in(clause)) == {next(iter(same))}:
        return clause
    if not isinstance(clause, Comparison):
        return None
    substitution = Substitution(same, of_symbols=True)
    sides = [substitution.term(term(d)).dim() for d in (clause.left, clause.right)]
    return Comparison(clause.operator, *sides)


def _formed(size: Symbol, members: SizeSet) -> _Form | None:
    """Return a `Dim` for a set of sizes, or a multiple of one, or ``Dim.STATIC`` for a single size.

    Returns None for other sets.
    """
    name, low = size.name, members.least()
    if low is None:
        return None
    high = members.greatest
    if low == high:
        return _Form(FIXED, "", constant(low), None)
    own = symbol(f"{name} above its least")
    if members.same(SizeSet.interval(low, high)):
        most = None if high is None else high - low
        return _Form(name, f"{name} = {_made(name, low, high)}", term(own) + constant(low), most)
    found = members.first(2)
    factor = found[1] - found[0] if len(found) == 2 else 0
    if not 1 < factor <= _MOST:
        return None
    if not members.same(SizeSet.residues(factor, [low % factor]) & SizeSet.interval(low, high)):
        return None
    written = term(own).scaled(factor) + constant(low)
    offset = low % factor
    root = f"_{name}"
    most = None if high is None else high // factor
    return _Form(
        f"{factor}*{root}" + (f" + {offset}" if offset else ""),
        f"{root} = {_made(root, low // factor, most)}",
        written,
        None if most is None else most - low // factor,
    )


def _made(name: str, low: int, high: int | None) -> str:
    ends = [f"min={low}"] if low > 1 else []
    ends += [f"max={high}"] if high is not None else []
    return f"Dim({', '.join([repr(name), *ends])})"


def _is_trivial(formula: Formula) -> bool:
    """Return whether a formula without sizes, or that compares a term with itself, is all that is left of a guard."""
    return not symbols_in(formula) or (isinstance(formula, Comparison) and formula.left == formula.right)


def _is_equality(formula: Formula) -> bool:
    return (
        isinstance(formula, Comparison)
        and formula.operator == "=="
        and isinstance(formula.left, Symbol)
        and isinstance(formula.right, Symbol)
    )


def with_range(dim: Any, given: Any) -> Any:
    """Return `Dim.AUTO` with the range of a `Dim`, if it has one; ``dim`` is torch's class."""
    low, high = (getattr(given, end, None) for end in ("min", "max"))
    ends = {"min": low} if isinstance(low, int) and low > 2 else {}
    ends |= {"max": high} if isinstance(high, int) and high < _NO_END else {}
    return dim.AUTO(**ends) if ends else dim.AUTO


_NO_END = 1 << 40
"""The end of the range of a `Dim` without one is larger."""
