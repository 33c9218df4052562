"""Assumptions about sizes: read, checked for mistyped names, and split into what the solver takes."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from symbcast.core.algebra.formulas import FORMULA_KINDS, Formula, with_values
from symbcast.core.algebra.size_values import check_size
from symbcast.core.algebra.symbols import MAX_RANK, Rank, SequenceSymbol, Unknown
from symbcast.core.algebra.terms import Symbol
from symbcast.core.characters import closest, number_hint, prose_list, quoted_name, visible
from symbcast.core.solver.decision import AssumptionSet, ContradictionError
from symbcast.core.solver.f2_one_size.set_formulas import set_formula
from symbcast.core.solver.normal_form import symbols_in
from symbcast.core.solver.size_sets import ALL, SizeSet
from symbcast.core.text import names_lost, parse_assumption
from symbcast.core.text.printing import formula_text
from symbcast.errors import AssumptionError, DimensionError, ShapeTypeError

if TYPE_CHECKING:
    from sympy.logic.boolalg import Boolean


class HasFormula(Protocol):
    """An object with a formula, such as a `symbcast.Condition`."""

    @property
    def formula(self) -> Formula:
        """What holds."""


AssumptionLike: TypeAlias = "str | Boolean | HasFormula"
"""What one assumption may be: text such as ``"N >= 2"``, a sympy Boolean, a condition, an assumption of an answer."""

Assumptions: TypeAlias = "AssumptionLike | Iterable[AssumptionLike] | None"


class Assumption:
    """One assumption: its formula, and its text, which is made from the formula if nobody wrote it.

    ``is_written`` means that a user wrote it as text, so that a name in it may be mistyped. ``source`` is the sympy
    Boolean that it was read from: a symbol in it is never a dummy, while a name in text may refer to one. ``lost`` are
    names in its text that the formula does not mention.
    """

    __slots__ = ("_text", "formula", "is_written", "lost", "source")

    def __init__(
        self,
        formula: Formula,
        text: str | None = None,
        is_written: bool = False,
        source: object = None,
        lost: tuple[Symbol, ...] = (),
    ) -> None:
        self.formula = formula
        self.source = source
        self.lost = lost
        self._text = text
        self.is_written = is_written

    @property
    def text(self) -> str:
        """The text as written; a sentence is in the notation of conditions."""
        if self._text is None:
            self._text = formula_text(self.formula)
        return self._text

    @property
    def written(self) -> str | None:
        """The text that a user wrote, None if there is none."""
        return self._text if self.is_written else None

    def __repr__(self) -> str:
        return f"<Assumption {visible(self.text)}>"


def read_assumptions(assume: Assumptions) -> list[Assumption]:
    """Return assumptions given as text or sympy Booleans, one or several.

    Raises `ShapeSyntaxError`, `ShapeTypeError` or `AssumptionError`.
    """
    if type(assume) is list:
        return list(map(_read_assumption, assume))
    if assume is None:
        return []
    if isinstance(assume, (bytes, Mapping)):
        sizes = assume.items() if isinstance(assume, Mapping) else ()
        texts = [f"{name} == {size}" for name, size in sizes if isinstance(name, str) and type(size) is int]
        hint = f"write {texts[0]!r}" if texts else "write text such as 'N >= 2', or a list of texts"
        raise ShapeTypeError(assume, "an assumption", hint)
    if isinstance(assume, str) or hasattr(type(assume), "free_symbols") or not isinstance(assume, Iterable):
        assume = [assume]
    items = list(assume)
    if len(items) == 2 and isinstance(items[0], str) and type(items[1]) is int:
        raise ShapeTypeError(assume, "an assumption", f"write '{items[0]} == {items[1]}'")
    return [_read_assumption(item) for item in items]


def _read_assumption(item: Any) -> Assumption:
    if isinstance(item, str):
        if "?" in item and re.search(r"\?(?!\w)", re.sub(r"'[^']*'|\"[^\"]*\"", "", item)):
            raise AssumptionError(
                f"{item.strip()!r} mentions an unknown size", hint="give it the same label in both places, such as ?a"
            )
        formula, text = parse_assumption(item)
        return Assumption(with_values(formula), text, is_written=True, lost=names_lost(item))
    if isinstance(item, Assumption):
        return item
    if isinstance(getattr(item, "formula", None), FORMULA_KINDS):  # a Condition
        return Assumption(item.formula, str(item))
    from symbcast.core.algebra.sympy_conversion import formula_from_sympy

    formula = formula_from_sympy(item)
    return Assumption(with_values(formula), formula_text(formula), source=item)


def check_min_size(value: object) -> int:
    """Return ``min_size`` if it is a size."""
    if isinstance(value, bool) or not isinstance(value, int):
        hint = number_hint("min_size", value, "write min_size=0 or min_size=1")
        raise ShapeTypeError(value, "a least size", hint)
    if value < 0:
        raise DimensionError(value, "a size is not negative", "write 0 or more")
    return check_size(value)


# Whether assumptions concern sizes that the shapes have: if not, there is a mistake, such as a mistyped name.


_DIGIT = re.compile(r"\d")


def check_links(assumptions: Iterable[Assumption], sizes: Iterable[Symbol], names: Mapping[Symbol, str]) -> None:
    """Raise `AssumptionError` for a written assumption that no chain of assumptions links to one of ``sizes``.

    ``N == 8*k`` is also about ``k``, so with it ``k >= 2`` is linked to a shape that has ``N``. An assumption that is
    not text, such as a `symbcast.Condition` or a sympy relation, may be about other sizes, which come from elsewhere.
    """
    own = dict.fromkeys(map(_subject, sizes))
    for assumption, strange in _unlinked(assumptions, own, names):
        if assumption.is_written:
            raise _unlinked_error(assumption.text, strange, [names.get(s, s.name) for s in own])


def mistyped_assumptions(
    assumptions: Iterable[Assumption], sizes: Iterable[Symbol], names: Mapping[Symbol, str]
) -> Iterator[tuple[str, str]]:
    """Yield the text of each assumption without a link to ``sizes``, with the size whose name is close to one in it.

    Names that differ in a digit are different on purpose.
    """
    own = dict.fromkeys(map(_subject, sizes))
    there = [name for name in (names.get(s, s.name) for s in own) if not _DIGIT.search(name)]
    for assumption, strange in _unlinked(assumptions, own, names):
        close = next(filter(None, (closest(name, there) for name in strange if not _DIGIT.search(name))), None)
        if close is not None:
            yield assumption.text, close


def _unlinked(
    assumptions: Iterable[Assumption], own: Iterable[Symbol], names: Mapping[Symbol, str]
) -> Iterator[tuple[Assumption, list[str]]]:
    """Yield each assumption without a link to ``own``, and the names in it."""
    mentioned = [(a, frozenset(map(_subject, symbols_in(a.formula)))) for a in assumptions]
    linked = linked_sizes(own, [symbols for _, symbols in mentioned])
    for assumption, symbols in mentioned:
        if symbols and linked.isdisjoint(symbols):
            yield assumption, [names.get(s, s.name) for s in symbols_in(assumption.formula)]


def _subject(s: Symbol) -> Symbol:
    """Return the symbol itself, or its sequence of axes if it belongs to one."""
    return s.sequence.rest() if isinstance(s, SequenceSymbol) else s


def linked_sizes(own: Iterable[Symbol], groups: Iterable[frozenset[Symbol]]) -> set[Symbol]:
    """Return the symbols linked to ``own`` through groups; each group links its members."""
    linked = set(own)
    waiting = list(groups)
    while True:
        joined = [group for group in waiting if not linked.isdisjoint(group)]
        if not joined:
            return linked
        waiting = [group for group in waiting if linked.isdisjoint(group)]
        linked.update(*joined)


_EVERY = ("all", "any", "every", "each", "dim", "dims", "size", "sizes")


def _unlinked_error(text: str, strange: Iterable[str], own: Collection[str]) -> AssumptionError:
    close = next(filter(None, (closest(name, own) for name in strange)), None)
    there = (
        f"their sizes are {prose_list([quoted_name(name) for name in own], limit=20)}"
        if own
        else "all sizes are numbers"
    )
    if not close and any(name.casefold() in _EVERY for name in strange):
        there = f"the minimum of all sizes is an argument of its own, min_size (--min-size for a command); {there}"
    hint = f"did you mean {quoted_name(close)}? {there[0].upper()}{there[1:]}" if close else there
    return AssumptionError(f"{text!r} mentions no size of these shapes", hint=hint)


@lru_cache(maxsize=4096)
def own_set(s: Symbol, min_size: int) -> SizeSet:
    """Return the set of values that a symbol's own assumptions allow."""
    if isinstance(s, SequenceSymbol):
        # An axis that does not exist has the size 1, whatever the minimum size of others.
        if isinstance(s, Rank):
            return SizeSet.interval(0, MAX_RANK)
        return SizeSet.interval(min_size, None) | SizeSet.of([1]) if min_size else ALL
    lower = max(min_size, s.lower)
    sizes = ALL if lower == 0 and s.upper is None else SizeSet.interval(lower, s.upper)
    return sizes if s.parity is None else sizes & SizeSet.residues(2, [s.parity])


def assumed_formulas(symbols: Iterable[Symbol], assumptions: Iterable[Assumption], min_size: int) -> list[Formula]:
    """Return all assumptions about some sizes: those implied for each size, and the explicit ones."""
    return [*(set_formula(s, own_set(s, min_size)) for s in symbols), *(a.formula for a in assumptions)]


def assumption_set(symbols: Iterable[Symbol], assumptions: Sequence[Assumption], min_size: int) -> AssumptionSet:
    """Return the assumptions about some sizes as a set.

    Raises `AssumptionError` if the assumptions allow no sizes, with the fewest that contradict each other.
    """
    order = tuple(symbols)
    if not min_size and not assumptions and all(type(s) is Symbol for s in order):
        return AssumptionSet.of_names(order)
    known = _assumption_set(order, [a.formula for a in assumptions], min_size)
    if known is None:
        raise _contradiction(order, list(assumptions), min_size)
    return known


def _assumption_set(symbols: tuple[Symbol, ...], formulas: Iterable[Formula], min_size: int) -> AssumptionSet | None:
    """Return the assumptions about some symbols, None if they contradict each other."""
    try:
        return AssumptionSet(symbols, {s: own_set(s, min_size) for s in symbols}, formulas)
    except ContradictionError:
        return None


def _contradiction(symbols: tuple[Symbol, ...], needed: list[Assumption], min_size: int) -> AssumptionError:
    # One by one: what is left is irreducible, though a smaller clash may exist.
    for assumption in list(needed):
        fewer = [a for a in needed if a is not assumption]
        if _assumption_set(symbols, [a.formula for a in fewer], min_size) is None:
            needed = fewer
    mentioned = {s for a in needed for s in symbols_in(a.formula)}
    bounded = [s for s in symbols if s.lower or s.upper is not None or s.parity is not None]
    own = [_own_text(s) for s in bounded if s in mentioned or (not needed and not own_set(s, min_size))]
    needs_minimum = min_size > 0 and (
        not needed or _assumption_set(symbols, [a.formula for a in needed], 0) is not None
    )
    minimum = [f"min_size={min_size}"] if needs_minimum else []
    if not needed:
        return AssumptionError("the sizes leave nothing", [*own, *minimum])
    several = len(needed) + len(own) + len(minimum) > 1
    problem = "these assumptions contradict each other" if several else "this assumption is never true"
    return AssumptionError(problem, [*(a.text for a in needed), *own, *minimum])


def _own_text(s: Symbol) -> str:
    """Return a symbol's own bounds as text."""
    if isinstance(s, Unknown):
        return f"{s.name} in {s.lower}..{'' if s.upper is None else s.upper}"
    return formula_text(set_formula(s, own_set(s, 0)))
