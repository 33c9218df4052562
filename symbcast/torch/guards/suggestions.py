"""The ``dynamic_shapes`` that ``torch.export.export`` accepts, as text to paste.

An axis gets a `Dim` if its only requirements are a range, a divisor, or a linear relation to another axis, and torch
can prove all of its guards from them. All other axes are left to torch (``Dim.AUTO``), which infers their requirements.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from types import MappingProxyType

from symbcast.core.algebra.formulas import AllOf, Comparison, Formula
from symbcast.core.algebra.symbols import symbol
from symbcast.core.algebra.term_arithmetic import Substitution
from symbcast.core.algebra.terms import Dim, Symbol, Term, term
from symbcast.core.solver.evaluation import symbols_in
from symbcast.core.solver.f2_one_size.ranges import interval
from symbcast.core.solver.f2_one_size.univariate import narrowed_set
from symbcast.core.solver.size_sets import SizeSet
from symbcast.core.structs import NamedTuple
from symbcast.torch.guards.guard_texts import fits_intervals
from symbcast.torch.guards.guards import Guards
from symbcast.torch.guards.ranges import AxisRange, Ranges, Root, SizeLines
from symbcast.torch.inputs import InputAxis, ProgramInput, ProgramInputs, shown_source

# Which guards torch can prove from a `Dim`: it knows the interval of each size, and nothing about sizes that differ.
#
# Torch accepts a `Dim` only if each guard holds for all of its values, by interval arithmetic that treats every
# occurrence of a size as independent. It proves ``1 + (H - 1)//32 != 1`` from ``H >= 33``, but not ``H//2 <= H``.


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
            return _holds(operator, Substitution(written, of_symbols=True).term(term(right) - term(left)), most)
        case _:
            return False


def _holds(operator: str, difference: Term, most: dict[Symbol, int]) -> bool:
    """Return whether a difference compares with 0 wherever its symbols are at most some numbers."""
    low, high = interval(difference, {s: SizeSet.interval(0, n) for s, n in most.items()})
    if operator == "==":
        return low == high == 0
    if operator == "!=":
        return (low is not None and low >= 1) or (high is not None and high <= -1)
    return low is not None and low >= (1 if operator == "<" else 0)


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


class Suggestion(NamedTuple):
    """Lines that create the `Dim` objects, and the expression for ``dynamic_shapes``."""

    lines: tuple[str, ...]
    shapes: str
    classes: tuple[type, ...] = ()
    """The named tuples that the expression uses."""

    def __str__(self) -> str:
        return "\n".join(("from torch.export import Dim", "", *self.lines, f"dynamic_shapes = {self.shapes}"))


NOTHING: Mapping[Dim, int] = MappingProxyType({})


class _Planner:
    """Finds the `Dim` objects for one program; ``is_tried`` says that torch is asked to accept them afterwards."""

    def __init__(
        self,
        inputs: ProgramInputs,
        guards: Guards,
        refused: Collection[str],
        example: Mapping[Dim, int],
        *,
        is_tried: bool,
    ) -> None:
        self._example = example
        self._axes = [a for a in inputs.axes if a.is_dynamic]
        self._sizes = list(dict.fromkeys(a.size for a in self._axes if isinstance(a.size, Symbol)))
        self._guards, self._is_tried = guards, is_tried
        self._known = SizeLines({s: max(1, guards.env.least(s)) for s in self._sizes}, guards.env.clauses)
        for name, (low, high) in guards.ranges.items():
            if symbol(name) in self._sizes:
                # A range of torch starts at 2, which a `Dim` need not say.
                self._known.within(symbol(name), low if low > 2 else 0, high)
        left = {a.size for a in self._axes if a.source in refused or a.axis is None or str(a.size) in guards.open}
        self._left = self._known.open | {self._known.lines[s].parameter for s in left if isinstance(s, Symbol)}
        self._left_alone = left

    def ranges(self, *, has_ranges: bool = True) -> Ranges:
        """Return how each axis is written; without ``has_ranges``, axes that are left to torch have no range."""
        fixed = {s.source: AxisRange(s.source, is_fixed=True) for s in self._guards.specialised if s.was_open}
        of_size = dict(self._written())
        for axis in self._axes:
            known = of_size.get(axis.size) if isinstance(axis.size, Symbol) else None
            known = self._auto(axis) if known is None and has_ranges and axis.axis is not None else known
            fixed[axis.source] = (known or AxisRange(""))._replace(source=axis.source)
        return Ranges(fixed)

    def _auto(self, axis: InputAxis) -> AxisRange:
        """Return an axis that is left to torch, with the range that the program has, if it has an end."""
        low, high = self._guards.ranges.get(str(axis.size), (0, None))
        # Torch assumes a minimum of 2 for open axes, and infers what its own guards, which name sizes, ask for.
        below = SizeSet.interval(2, low - 1) if low > 2 else SizeSet.of(())
        for guard in self._guards.all:
            if ".size()" in guard.text and guard.formula is not None and [*symbols_in(guard.formula)] == [axis.size]:
                narrowed = narrowed_set(below, guard.formula)
                below = below if narrowed is None else narrowed
        return AxisRange("", low=low if below else None, high=high)

    def _written(self) -> Iterator[tuple[Symbol, AxisRange]]:
        """Yield the sizes that a `Dim` says, each as a line over its root."""
        taken = {size.name for size in self._sizes}
        for sizes in self._classes().values():
            # Torch takes 2 or more for each open axis: what a `Dim` of its own need not say, derived ones must.
            for size in sizes if len({self._known.lines[s] for s in sizes}) > 1 else ():
                self._known.within(size, 2, None)
        for parameter, sizes in self._classes().items():
            if parameter is None:
                yield from ((s, AxisRange("", is_fixed=True)) for s in sizes if s not in self._left_alone)
            elif parameter not in self._left and self._known.ends(parameter)[1] and self._is_proved(parameter, sizes):
                yield from self._over_one_root(parameter, sizes, taken)

    def _classes(self) -> dict[Symbol | None, list[Symbol]]:
        """Return the sizes over each parameter; those over none are fixed."""
        classes: dict[Symbol | None, list[Symbol]] = {}
        for size in self._sizes:
            classes.setdefault(self._known.lines[size].parameter, []).append(size)
        return classes

    def _over_one_root(
        self, parameter: Symbol, sizes: Sequence[Symbol], taken: set[str]
    ) -> Iterator[tuple[Symbol, AxisRange]]:
        lines, (high, _) = self._known.lines, self._known.ends(parameter)
        # The least axis is the root: torch 2.13 crashes over some sizes that subtract from theirs.
        own = min((s for s in sizes if lines[s].factor == 1), key=lambda s: lines[s].offset, default=None)
        name = own.name if own is not None else f"_{sizes[0].name}"
        while own is None and name in taken:
            name += "_"
        taken.add(name)
        # The root is an axis, or counts the multiples of a factor.
        _, factor, offset = lines[own or sizes[0]]
        low = offset // factor
        # Torch fixes a root that is 0 or 1 in the example; an example that is not known may have the least size.
        given = max(offset, self._example.get(sizes[0], offset + factor * 2 * (offset % factor == 0)))
        low += max(0, 2 - low - (given - offset) // factor) if own is None else 0
        offsets = {s: lines[s].offset - lines[s].factor * low for s in sizes}
        root = Root(name, low, None if high is None else low + high, min(offsets.values()) < 0)
        for size in sizes:
            yield size, AxisRange("", root, lines[size].factor, offsets[size])

    def _is_proved(self, parameter: Symbol, sizes: Sequence[Symbol]) -> bool:
        """Return whether torch surely proves all guards about some sizes from a `Dim`, or is asked to."""
        if self._is_tried:
            return True
        # A guard that holds for all sizes is in the program because torch could not prove it.
        names = [shown_source(a.source) for a in self._axes if a.size in sizes]
        read = [g for g in self._guards.all if g.formula is not None]
        # Torch keeps the maximum of a size and a number, whatever the range of the size.
        hard = [
            g.text
            for g in read
            if _is_trivial(g.formula) or not fits_intervals(g.text) or re.search(r"m(?:ax|in)\(", g.text, re.I)  # type: ignore[arg-type]
        ]
        if any(name in text for name in names for text in hard):
            return False
        written = {s: self._known.lines[s].written for s in sizes}
        high, _ = self._known.ends(parameter)
        most = {} if high is None else {parameter: high}
        return all(
            is_provable(g.formula, written, most)  # type: ignore[arg-type]
            for g in read
            if set(symbols_in(g.formula)) <= set(sizes)  # type: ignore[arg-type]
        )


def ranges_of(  # noqa: PLR0913 - each is a fact about the program, or an option
    inputs: ProgramInputs,
    guards: Guards,
    refused: Collection[str] = (),
    example: Mapping[Dim, int] = NOTHING,
    *,
    is_tried: bool = False,
    has_ranges: bool = True,
) -> Ranges:
    """Return how the open axes of a program are written; axes in ``refused``, by torch's names, are left to torch.

    ``example`` has the sizes of the example, if it is known; a size below the least one stands for that.
    With ``is_tried``, torch is asked to accept them afterwards; otherwise an axis has a `Dim` only if torch surely
    proves its guards. Without ``has_ranges``, axes that are left to torch are left without a range.
    """
    return _Planner(inputs, guards, refused, example, is_tried=is_tried).ranges(has_ranges=has_ranges)


def suggestion_of(inputs: ProgramInputs, ranges: Ranges) -> Suggestion:
    """Return dynamic shapes as text to paste."""
    structure = inputs.arguments.whole
    entries = [entry(i, ranges.texts) for i in inputs.inputs]
    return Suggestion(ranges.lines, structure.text(entries), tuple(dict.fromkeys(structure.classes())))


def _is_trivial(formula: Formula) -> bool:
    """Return whether a formula without sizes, or that compares a term with itself, is all that is left of a guard."""
    return not symbols_in(formula) or (isinstance(formula, Comparison) and formula.left == formula.right)
