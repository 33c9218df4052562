"""Which sizes a call is about: names bound to symbols, unknowns labelled, and what is assumed of each."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import count
from typing import TYPE_CHECKING, Any

from symbcast.deciding.describing import describe
from symbcast.deciding.knowledge import ContradictionError, Knowledge
from symbcast.deciding.normal import put_in, put_in_dim, symbols_in
from symbcast.deciding.sets import ALL, SizeSet
from symbcast.definedness import with_values
from symbcast.dims import Unknown, symbol
from symbcast.display.text import visible
from symbcast.errors import AssumptionError, ShapeTypeError
from symbcast.formulas import FORMULA_KINDS, Formula
from symbcast.printing import formula_text
from symbcast.reading import symbols_of
from symbcast.shapes import Shape, shape_of

if TYPE_CHECKING:
    import sympy


class Assumption:
    """One assumption: its formula, and how it was written."""

    __slots__ = ("formula", "text")

    def __init__(self, formula: Formula, text: str) -> None:
        self.formula = formula
        self.text = text

    def __repr__(self) -> str:
        return f"<Assumption {visible(self.text)}>"


def read_assumptions(assume: Any) -> list[Assumption]:
    """Return assumptions given as text or sympy Booleans, one or several.

    Raises `ShapeSyntaxError`, `ShapeTypeError` or `AssumptionError`.
    """
    if assume is None:
        return []
    if isinstance(assume, (bytes, Mapping)):
        raise ShapeTypeError(assume, "an assumption", "write text such as 'N >= 2', or a list of such")
    if isinstance(assume, str) or hasattr(assume, "free_symbols") or not isinstance(assume, Iterable):
        assume = [assume]
    return [_read_assumption(item) for item in assume]


def _read_assumption(item: Any) -> Assumption:
    if isinstance(item, str):
        from symbcast.parsing import parse_formula

        if re.search(r"\?(?!\w)", re.sub(r"'[^']*'|\"[^\"]*\"", "", item)):
            raise AssumptionError(
                f"{item.strip()!r} speaks of an unknown size", hint="give it a label: ?a, here and there"
            )
        return Assumption(with_values(parse_formula(item)), item.strip())
    if isinstance(item, Assumption):
        return item
    if isinstance(getattr(item, "formula", None), FORMULA_KINDS):  # a Condition
        return Assumption(item.formula, str(item))
    from symbcast.booleans import from_sympy

    formula = from_sympy(item)
    return Assumption(with_values(formula), formula_text(formula))


class Scope:
    """The shapes of a call with their symbols bound, and the knowledge about those symbols.

    Text names the symbol of that name which the call holds already; two different sympy symbols of one name are one
    size, shown by the first. Unknowns that text brought are labelled ``?0``, ``?1``... in order.
    """

    __slots__ = ("_names", "assumptions", "knowledge", "min_size", "shapes", "symbols")

    def __init__(
        self, shapes: Sequence[Shape], fresh: Sequence[bool], assumptions: Sequence[Assumption], min_size: int
    ) -> None:
        self.min_size = min_size
        self.shapes = tuple(shapes)
        self.assumptions = assumptions
        given = symbols_of([d for s in shapes for d in s])
        if assumptions:
            brought = (s for a in assumptions for s in symbols_in(a.formula))
            given = tuple(dict.fromkeys((*given, *brought)))
        if not _are_ours(given):
            given = self._bind(given, fresh)
        self.symbols = given
        known = _known(given, tuple([a.formula for a in self.assumptions]), min_size)
        if known is None:
            raise self._contradiction()
        self.knowledge: Knowledge = known
        self._names: dict[sympy.Symbol, str] | None = None

    @property
    def names(self) -> dict[sympy.Symbol, str]:
        """The name that each symbol is shown and bound by."""
        if self._names is None:
            self._names = distinct_names(self.symbols)
        return self._names

    def _bind(self, given: tuple[sympy.Symbol, ...], fresh: Sequence[bool]) -> tuple[sympy.Symbol, ...]:
        """Put in what some symbols are to be replaced by; return the symbols then."""
        bound = self._bindings(given, fresh)
        if bound:
            self.shapes = tuple(shape_of(put_in_dim(d, bound) for d in s) for s in self.shapes)
            renamed = [Assumption(put_in(a.formula, bound), a.text) for a in self.assumptions]
            self.assumptions = [*renamed, *_bounds_brought(bound)]
        return tuple(dict.fromkeys(bound.get(s, s) for s in given))

    def _bindings(self, given: Sequence[sympy.Symbol], fresh: Sequence[bool]) -> dict[sympy.Symbol, sympy.Symbol]:
        """Return what some symbols are to be replaced by: the first of their name, or an unknown by its label."""
        bound: dict[sympy.Symbol, sympy.Symbol] = {}
        first = _firsts(given)
        for s in given:
            if not s.is_Dummy and first[s.name] is not s:
                bound[s] = first[s.name]
        in_shapes = dict.fromkeys(s for shape in self.shapes for s in shape.symbols if isinstance(s, Unknown))
        own = [s for shape, is_fresh in zip(self.shapes, fresh, strict=True) if is_fresh for s in shape.symbols]
        relabelled = dict.fromkeys(s for s in own if isinstance(s, Unknown))
        labels = {s.name: s for s in in_shapes if s not in relabelled}
        for unknown in relabelled:
            if not unknown.name[1:].isdecimal():
                # A label that the text gives is one size throughout the call.
                bound[unknown] = labels.setdefault(unknown.name, unknown)
        numbers = (f"?{n}" for n in count())
        for unknown in relabelled:
            if unknown.name[1:].isdecimal():
                label = next(number for number in numbers if number not in labels)
                labels[label] = bound[unknown] = unknown.renamed(label)
        for s in given:
            if isinstance(s, Unknown) and s not in in_shapes:
                bound[s] = _labelled(s, labels)
        return {old: new for old, new in bound.items() if old is not new}

    def _contradiction(self) -> AssumptionError:
        kept = list(self.assumptions)
        for assumption in list(kept):
            fewer = [a for a in kept if a is not assumption]
            if _known(self.symbols, tuple(a.formula for a in fewer), self.min_size) is None:
                kept = fewer
        own = [f"{s.name} in {s.lower}..{'' if s.upper is None else s.upper}" for s in self._bounded(kept)]
        minimum = [f"min_size={self.min_size}"] if self.min_size else []
        if not kept:
            return AssumptionError("the sizes leave nothing", [*own, *minimum])
        return AssumptionError(
            "these assumptions contradict each other" if len(kept) + len(own) > 1 else "this assumption is never true",
            [*(a.text for a in kept), *own, *(minimum if self._needs_minimum(kept) else ())],
        )

    def _bounded(self, kept: Sequence[Assumption]) -> list[Unknown]:
        mentioned = {s for a in kept for s in symbols_in(a.formula)}
        unknowns = [s for s in self.symbols if isinstance(s, Unknown) and (s.lower > 0 or s.upper is not None)]
        return [u for u in unknowns if not kept or u in mentioned]

    def _needs_minimum(self, kept: Sequence[Assumption]) -> bool:
        return self.min_size > 0 and _known(self.symbols, tuple(a.formula for a in kept), 0) is not None


def _firsts(given: Sequence[sympy.Symbol]) -> dict[str, sympy.Symbol]:
    """Return the symbol that each name is bound to: one the user made, if there is one."""
    first: dict[str, sympy.Symbol] = {}
    for s in given:
        if not s.is_Dummy and (s.name not in first or first[s.name] is symbol(s.name)):
            first[s.name] = s
    dummies = [s for s in given if s.is_Dummy and not isinstance(s, Unknown)]
    for s in dummies:
        # A text can only mean a dummy where no other size has its name.
        alone = sum(d.name == s.name for d in dummies) == 1
        if alone and first.get(s.name) is symbol(s.name):
            first[s.name] = s
    return first


def _labelled(mentioned: Unknown, labels: Mapping[str, Unknown]) -> Unknown:
    """Return the unknown of the shapes that an assumption mentions by its label."""
    if mentioned.name not in labels:
        known = f"the labels are {', '.join(labels)}" if labels else "there is no unknown size in the shapes"
        raise AssumptionError(f"no size here is called {mentioned.name}", hint=known)
    return labels[mentioned.name]


def _bounds_brought(bound: Mapping[sympy.Symbol, sympy.Symbol]) -> Iterator[Assumption]:
    """Yield what sympy knows of symbols that give way to another of their name: it holds of that one too."""
    for gone, kept in bound.items():
        if own_set(gone, 0) is not ALL and own_set(gone, 0) != own_set(kept, 0):
            formula = describe(kept, own_set(gone, 0))
            yield Assumption(formula, formula_text(formula))


@lru_cache(maxsize=2048)
def _known(symbols: tuple[sympy.Symbol, ...], formulas: tuple[Formula, ...], min_size: int) -> Knowledge | None:
    """Return the knowledge about some symbols, None where it contradicts itself."""
    try:
        return Knowledge(symbols, {s: own_set(s, min_size) for s in symbols}, formulas)
    except ContradictionError:
        return None


@lru_cache(maxsize=4096)
def own_set(s: sympy.Symbol, min_size: int) -> SizeSet:
    """Return the set that a symbol lies in by its own assumptions."""
    upper = None
    if isinstance(s, Unknown):
        min_size, upper = max(min_size, s.lower), s.upper
    if s.is_nonpositive:
        upper = 0
    elif s.is_positive or s.is_nonzero:
        min_size = max(1, min_size)
    found = ALL if min_size == 0 and upper is None else SizeSet.interval(min_size, upper)
    if s.is_even or s.is_odd:
        found = found & SizeSet.residues(2, [0 if s.is_even else 1])
    return found


def _are_ours(symbols: Iterable[sympy.Symbol]) -> bool:
    """Return whether every symbol is the one that text of its name means."""
    return all(symbol(s.name) is s for s in symbols)


def distinct_names(symbols: Sequence[sympy.Symbol]) -> dict[sympy.Symbol, str]:
    """Return the name that each symbol is shown and bound by; of several dummies with one name, later ones get more."""
    names: dict[sympy.Symbol, str] = {}
    taken: set[str] = set()
    for s in sorted(symbols, key=lambda s: s.is_Dummy):  # a name of the user's own is kept
        name, number = s.name, 1
        while name in taken:
            name, number = f"{s.name}_{number}", number + 1
        names[s] = name
        taken.add(name)
    return {s: names[s] for s in symbols}


def check_min_size(value: Any) -> int:
    """Return ``min_size`` if it is a size."""
    from symbcast.sizes import check_size

    if isinstance(value, bool) or not isinstance(value, int):
        raise ShapeTypeError(value, "a least size", "write min_size=0 or min_size=1")
    return check_size(value)
