"""Knowledge about sizes: their own bounds and the assumptions about them, checked for contradictions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from symbcast.core.algebra.sequences import MAX_RANK, Rank, SequenceSymbol
from symbcast.core.algebra.symbols import Symbol, Unknown
from symbcast.core.logic.formulas import Formula
from symbcast.core.program.sizes.assumptions import Assumption
from symbcast.core.solver.decision.knowledge import ContradictionError, Knowledge
from symbcast.core.solver.groups.normal_form import symbols_in
from symbcast.core.solver.sets.set_formulas import describe
from symbcast.core.solver.sets.size_sets import ALL, SizeSet
from symbcast.core.text.printing import formula_text
from symbcast.errors import AssumptionError


@lru_cache(maxsize=4096)
def own_set(s: Symbol, min_size: int) -> SizeSet:
    """Return the set of values that a symbol's own assumptions allow."""
    if isinstance(s, SequenceSymbol):
        # An axis that does not exist has the size 1, whatever the minimum size of others.
        if isinstance(s, Rank):
            return SizeSet.interval(0, MAX_RANK)
        return SizeSet.interval(min_size, None) | SizeSet.of([1]) if min_size else ALL
    lower = max(min_size, s.lower)
    found = ALL if lower == 0 and s.upper is None else SizeSet.interval(lower, s.upper)
    return found if s.parity is None else found & SizeSet.residues(2, [s.parity])


def assumed(symbols: Iterable[Symbol], assumptions: Iterable[Assumption], min_size: int) -> list[Formula]:
    """Return all assumptions about some sizes: those implied for each size, and the explicit ones."""
    return [*(describe(s, own_set(s, min_size)) for s in symbols), *(a.formula for a in assumptions)]


def knowledge(symbols: Iterable[Symbol], assumptions: Sequence[Assumption], min_size: int) -> Knowledge:
    """Return the knowledge about some sizes.

    Raises `AssumptionError` if the assumptions allow no sizes, with the fewest that contradict each other.
    """
    order = tuple(symbols)
    if not min_size and not assumptions and all(type(s) is Symbol for s in order):
        return Knowledge.of_names(order)
    found = _known(order, [a.formula for a in assumptions], min_size)
    if found is None:
        raise _contradiction(order, list(assumptions), min_size)
    return found


def _known(symbols: tuple[Symbol, ...], formulas: Iterable[Formula], min_size: int) -> Knowledge | None:
    """Return the knowledge about some symbols, None if it contradicts itself."""
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
    """Return a symbol's own bounds as text."""
    if isinstance(s, Unknown):
        return f"{s.name} in {s.lower}..{'' if s.upper is None else s.upper}"
    return formula_text(describe(s, own_set(s, 0)))
