"""The ``dynamic_shapes`` that ``torch.export.export`` accepts, as text to paste.

An axis gets a `Dim` if its only requirements are a range, a divisor, or equality with another axis, and torch can prove
all of its guards from them. All other axes are left to torch (``Dim.AUTO``), which then infers their requirements.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from typing import Any, NamedTuple, TypeAlias

from symbcast.core.algebra.arithmetic import Substitution
from symbcast.core.algebra.formulas import AllOf, Comparison, Formula
from symbcast.core.algebra.symbols import symbol
from symbcast.core.algebra.terms import Atom, Operation, Symbol, Term, constant, term
from symbcast.core.programs.arguments import own_set
from symbcast.core.solver.evaluation import symbols_in
from symbcast.core.solver.f2_one_size.univariate import narrowed_set
from symbcast.core.solver.size_sets import SizeSet
from symbcast.torch.guards.guard_texts import fits_intervals
from symbcast.torch.guards.guards import Guards
from symbcast.torch.inputs import InputAxis, ProgramInput, ProgramInputs, shown_source

# Which guards torch can prove from a `Dim`: it knows the interval of each size, and nothing about sizes that differ.
#
# Torch accepts a `Dim` only if each guard holds for all of its values, by interval arithmetic that treats every
# occurrence of a size as independent. It proves ``1 + (H - 1)//32 != 1`` from ``H >= 33``, but not ``H//2 <= H``.


# The least and the greatest value; None if there is no bound.
Interval: TypeAlias = tuple[int | None, int | None]
_ALL: Interval = (None, None)


def is_provable(formula: Formula, written: dict[Symbol, Term], most: dict[Symbol, int]) -> bool:
    """Return whether torch proves a guard where sizes are written as other terms; ``most`` bounds their symbols.

    >>> from symbcast.core.algebra.symbols import symbol
    >>> from symbcast.core.text import parse_formula
    >>> H, h = symbol("H"), symbol("h")
    >>> is_provable(parse_formula("H//2 <= H"), {H: term(h) + term(33)}, {})
    False
    >>> is_provable(parse_formula("H//2 <= H"), {H: term(h).scaled(2)}, {})
    True
    """
    match formula:
        case AllOf(parts):
            return all(is_provable(part, written, most) for part in parts)
        case Comparison(operator, left, right):
            sides = [Substitution(written, of_symbols=True).term(term(d)) for d in (left, right)]
            return _holds(operator, sides[0], sides[1], most)
        case _:
            return False


def _holds(operator: str, left: Term, right: Term, most: dict[Symbol, int]) -> bool:
    difference = right - left
    low, high = _interval(difference, most)
    if operator == "==":
        return low == high == 0
    if operator == "!=":
        return (low is not None and low >= 1) or (high is not None and high <= -1)
    return low is not None and low >= (1 if operator == "<" else 0)


def _interval(value: Term, most: dict[Symbol, int]) -> Interval:
    low: int | None = 0
    high: int | None = 0
    for monomial, coefficient in value.coefficients.items():
        least, greatest = _product([_atom(a, most) for a in monomial])
        ends = (least, greatest) if coefficient >= 0 else (greatest, least)
        low = None if low is None or ends[0] is None else low + coefficient * ends[0]
        high = None if high is None or ends[1] is None else high + coefficient * ends[1]
    return low, high


def _product(intervals: list[Interval]) -> Interval:
    low = 1
    high: int | None = 1
    for least, greatest in intervals:
        # With a negative end, the ends of a product are no longer the products of the ends; torch gives up too.
        if least is None or least < 0:
            return _ALL if len(intervals) > 1 else (least, greatest)
        low, high = low * least, None if high is None or greatest is None else high * greatest
    return low, high


def _atom(atom: Atom, most: dict[Symbol, int]) -> Interval:
    if isinstance(atom, Symbol):
        return 0, most.get(atom)
    if not isinstance(atom, Operation):
        return _ALL
    args = [_interval(a, most) for a in atom.args]
    if atom.kind in ("min", "max"):
        return _extreme(atom.kind, args)
    if atom.kind not in ("//", "%") or not atom.args[1].is_constant or atom.args[1].constant < 1:
        return _ALL
    by, (low, high) = atom.args[1].constant, args[0]
    if atom.kind == "%":
        return 0, by - 1
    return None if low is None else low // by, None if high is None else high // by


def _extreme(kind: str, args: list[Interval]) -> Interval:
    choose = min if kind == "min" else max
    known = [[end for end in ends if end is not None] for ends in zip(*args, strict=True)]
    lows, highs = known
    if kind == "min":
        return (choose(lows) if len(lows) == len(args) else None), (choose(highs) if highs else None)
    return (choose(lows) if lows else None), (choose(highs) if len(highs) == len(args) else None)


# The text of ``dynamic_shapes``, nested as the arguments are.


def entry(argument: ProgramInput, said: dict[str, str]) -> str:
    """Return the entry of one argument in dynamic shapes, from the text of each axis that was asked to be open."""
    axes = {axis.axis: said[axis.source] for axis in argument.axes if axis.source in said}
    if not axes:
        return "None"
    # An integer argument has no axes: its entry is its own text.
    own = axes.get(None)
    return own if own is not None else "{" + ", ".join(f"{n}: {t}" for n, t in axes.items()) + "}"


def nested(inputs: ProgramInputs, said: dict[str, str]) -> str:
    """Return the text of dictionaries and lists, nested as the names of arguments in torch's guards say."""
    root: dict[object, object] = {}
    for i in inputs.inputs:
        place: dict[object, object] = root
        *outer, last = _keys(i.source)
        for key in outer:
            place = place.setdefault(key, {})  # type: ignore[assignment]
        place[last] = entry(i, said)
    return _text(root)


def _text(value: object) -> str:
    if not isinstance(value, dict):
        return str(value)
    if value and all(isinstance(key, int) for key in value):
        return "[" + ", ".join(_text(value.get(n, "None")) for n in range(max(value) + 1)) + "]"
    return "{" + ", ".join(f"{key!r}: {_text(v)}" for key, v in value.items()) + "}"


def _keys(source: str) -> list[object]:
    """Return the path to an argument in torch's guards: ``['x', 0, 'k']`` for ``L['x'][0]['k']``."""
    keys: list[object] = []
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
                return []
    return keys[::-1]


AUTO, FIXED = "Dim.AUTO", "Dim.STATIC"
# The largest factor that is tried for a ``factor*Dim``.
_MOST = 1 << 16


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
        inputs: ProgramInputs,
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
        self._difficult = [g.text for g in guards.all if g.formula is not None and not fits_intervals(g.text)]
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

    def _auto(self, axis: InputAxis) -> str:
        """Return ``Dim.AUTO`` with the range that the program has, if it has an end."""
        low, high = self._ranges.get(str(axis.size), (0, None))
        if high is None or axis.axis is None or not self._has_ranges:
            return AUTO
        # Torch assumes a minimum of 2 for open axes.
        return f"{AUTO}({f'min={low}, ' if low > 2 else ''}max={high})"

    def _form(self, axis: InputAxis) -> _Form | None:
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
            renamed = _renamed(clause, same)
            if renamed is None or set(symbols_in(renamed)) != {first}:
                return None
            members = narrowed_set(members, renamed) if members is not None else None
            if members is None:
                return None
        form = None if members is None else _formed(first, members)
        return form if form is None or self._is_tried or self._is_proved(alike, form) else None

    def _is_proved(self, alike: list[Symbol], form: _Form) -> bool:
        """Return whether torch proves all guards about some sizes from a `Dim`."""
        # A guard that holds for all sizes is in the program because torch could not prove it.
        names = [shown_source(a.source) for a in self._axes if a.size in alike]
        if any(name in text for name in names for text in (*self._trivial, *self._difficult)):
            return False
        written = dict.fromkeys(alike, form.written)
        most = {} if form.most is None else dict.fromkeys(symbols_in_term(form.written), form.most)
        about = [f for f in self._asked if not set(symbols_in(f)).isdisjoint(alike)]
        return all(is_provable(f, written, most) for f in about if set(symbols_in(f)) <= set(alike))

    def _alike(self, size: Symbol) -> list[Symbol]:
        """Return all sizes that must equal this one, in the order of the axes."""
        alike, grown = {size}, True
        # Equality is transitive: pairs are joined until nothing is added.
        while grown:
            pairs = [set(symbols_in(c)) for c in self._clauses if _is_equality(c)]
            union = alike.union(*(pair for pair in pairs if pair & alike))
            grown, alike = union != alike, union
        order = [a.size for a in self._axes]
        return sorted(alike, key=lambda s: order.index(s) if s in order else len(order))


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
    # Torch's interval arithmetic knows only ends: a symbol from 0 on, plus the least size, lets differences cancel.
    own = symbol(f"{name} above its least")
    if members.same(SizeSet.interval(low, high)):
        most = None if high is None else high - low
        return _Form(name, f"{name} = {_dim_text(name, low, high)}", term(own) + constant(low), most)
    firsts = members.first(2)
    # Torch knows multiples only: the first two members show the factor, and all members are compared with it.
    factor = firsts[1] - firsts[0] if len(firsts) == 2 else 0
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
        f"{root} = {_dim_text(root, low // factor, most)}",
        written,
        None if most is None else most - low // factor,
    )


def _dim_text(name: str, low: int, high: int | None) -> str:
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


def with_range(dim: Any, spec: Any) -> Any:
    """Return `Dim.AUTO` with the range of a `Dim`, if it has one; ``dim`` is torch's class."""
    low, high = (getattr(spec, end, None) for end in ("min", "max"))
    ends = {"min": low} if isinstance(low, int) and low > 2 else {}
    ends |= {"max": high} if isinstance(high, int) and high < _NO_END else {}
    return dim.AUTO(**ends) if ends else dim.AUTO


# The end of the range of a `Dim` without one is larger.
_NO_END = 1 << 40
