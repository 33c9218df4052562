"""What is assumed of sizes: read from text and sympy, checked for contradictions, and what each symbol is by itself."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from symbcast.algebra.symbols import Unknown
from symbcast.characters import visible
from symbcast.deciding.describing import describe
from symbcast.deciding.knowledge import ContradictionError, Knowledge
from symbcast.deciding.normal import symbols_in
from symbcast.deciding.sets import ALL, SizeSet
from symbcast.definedness import with_values
from symbcast.errors import AssumptionError, ShapeTypeError
from symbcast.formulas import FORMULA_KINDS, Formula
from symbcast.printing import formula_text

if TYPE_CHECKING:
    from symbcast.algebra.symbols import Symbol


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
    if isinstance(assume, str) or hasattr(type(assume), "free_symbols") or not isinstance(assume, Iterable):
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


@lru_cache(maxsize=4096)
def own_set(s: Symbol, min_size: int) -> SizeSet:
    """Return the set that a symbol lies in by its own assumptions."""
    lower = max(min_size, s.lower)
    found = ALL if lower == 0 and s.upper is None else SizeSet.interval(lower, s.upper)
    return found if s.parity is None else found & SizeSet.residues(2, [s.parity])


def check_min_size(value: Any) -> int:
    """Return ``min_size`` if it is a size."""
    from symbcast.sizes import check_size

    if isinstance(value, bool) or not isinstance(value, int):
        raise ShapeTypeError(value, "a least size", "write min_size=0 or min_size=1")
    return check_size(value)


def knowledge(symbols: Iterable[Symbol], assumptions: Iterable[Assumption], min_size: int) -> Knowledge:
    """Return what is known of some sizes.

    Raises `AssumptionError` where the assumptions leave no sizes, with the fewest that contradict each other.
    """
    order = tuple(symbols)
    found = _known(order, [a.formula for a in assumptions], min_size)
    if found is None:
        raise _contradiction(order, list(assumptions), min_size)
    return found


def _known(symbols: tuple[Symbol, ...], formulas: Iterable[Formula], min_size: int) -> Knowledge | None:
    """Return the knowledge about some symbols, None where it contradicts itself."""
    try:
        return Knowledge(symbols, {s: own_set(s, min_size) for s in symbols}, formulas)
    except ContradictionError:
        return None


def _contradiction(symbols: tuple[Symbol, ...], kept: list[Assumption], min_size: int) -> AssumptionError:
    for assumption in list(kept):
        fewer = [a for a in kept if a is not assumption]
        if _known(symbols, [a.formula for a in fewer], min_size) is None:
            kept = fewer
    mentioned = {s for a in kept for s in symbols_in(a.formula)}
    bounded = [s for s in symbols if s.lower or s.upper is not None or s.parity is not None]
    own = [_own_text(s) for s in bounded if s in mentioned or (not kept and not own_set(s, min_size))]
    needs_minimum = min_size > 0 and (not kept or _known(symbols, [a.formula for a in kept], 0) is not None)
    minimum = [f"min_size={min_size}"] if needs_minimum else []
    if not kept:
        return AssumptionError("the sizes leave nothing", [*own, *minimum])
    several = len(kept) + len(own) + len(minimum) > 1
    problem = "these assumptions contradict each other" if several else "this assumption is never true"
    return AssumptionError(problem, [*(a.text for a in kept), *own, *minimum])


def _own_text(s: Symbol) -> str:
    """Return what a symbol is by itself."""
    if isinstance(s, Unknown):
        return f"{s.name} in {s.lower}..{'' if s.upper is None else s.upper}"
    return formula_text(describe(s, own_set(s, 0)))
