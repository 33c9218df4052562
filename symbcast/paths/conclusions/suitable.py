"""Split a condition into requirements on input sizes only and requirements on data.

A run works at some input sizes if suitable data exist: if the data-dependent sizes can be chosen so that the condition
holds, together with the facts that always hold for them. `symbcast.core.solver.products.projection` eliminates these
sizes. The condition implies the result, so the result is necessary. This module proves that it is also sufficient if
the data are suitable: at all input sizes that it allows, one of a few choices makes the condition hold.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, product
from typing import TYPE_CHECKING, NamedTuple

from symbcast.core.algebra.terms import term
from symbcast.core.logic.formulas import FALSE, TRUE, Comparison, Formula, all_of, any_of, clauses, literals, negate
from symbcast.core.solver.decision.decision import Decision
from symbcast.core.solver.groups.normal_form import flattened, put_in, symbols_in
from symbcast.core.solver.products.projection import project
from symbcast.core.verdicts import Verdict

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol
    from symbcast.core.algebra.terms import Dim
    from symbcast.core.solver.decision.knowledge import Knowledge
    from symbcast.paths.conclusions.regions import Branch

MAX_CHOICES = 64
"""How many choices of the data-dependent sizes are tried to prove that suitable data exist."""


class Suitable(NamedTuple):
    """A condition split into requirements on inputs and on data.

    Attributes:
        inputs: the requirements on input sizes: necessary, and sufficient for suitable data.
        data: the clauses that mention data-dependent sizes.
        is_proved: whether suitable data are proved to exist at all input sizes that ``inputs`` allows.
    """

    inputs: Formula
    data: tuple[Formula, ...] = ()
    is_proved: bool = True


def divided(whole: Formula, own: frozenset[Symbol], always: Sequence[Formula], knowledge: Knowledge) -> Suitable:
    """Return the requirements of a condition on inputs only, and on data.

    ``own`` are the data-dependent sizes, ``always`` the facts that always hold for them, and ``knowledge`` the
    assumptions about the input sizes.
    """
    asked = clauses(whole)
    data = tuple(c for c in asked if not own.isdisjoint(symbols_in(c)))
    if not data:
        return Suitable(whole)
    bounds = [f for s in sorted(own, key=lambda s: str(s.name)) for f in _bounds(s)]
    found = all_of(project(asked, own, [*always, *bounds], {}).inputs)
    needs = all_of([*asked, *(f for f in (*always, *bounds) if not own.isdisjoint(symbols_in(f)))])
    return Suitable(found, data, _is_sufficient(found, needs, own, knowledge))


def _bounds(size: Symbol) -> Iterator[Formula]:
    if size.lower:
        yield Comparison("<=", size.lower, size)
    if size.upper is not None:
        yield Comparison("<=", size, size.upper)


def _is_sufficient(found: Formula, needs: Formula, own: frozenset[Symbol], knowledge: Knowledge) -> bool:
    """Return whether, at all input sizes that ``found`` allows, one of the choices satisfies the needs."""
    if found == FALSE:
        return True
    met = [s for s in symbols_in(needs) if s in own]
    choices = [_choices(s, needs, own) for s in met]
    ways = []
    for chosen in islice(product(*choices), MAX_CHOICES):
        made = all_of(flattened([put_in(needs, dict(zip(met, chosen, strict=True)))]))
        if made == TRUE:
            return True
        ways.append(made)
    return Decision(knowledge, [any_of([negate(found), *ways])]).verdict is Verdict.ALWAYS


def _choices(size: Symbol, needs: Formula, own: frozenset[Symbol]) -> list[Dim]:
    """Return values to try for a data-dependent size: small numbers, and the terms compared with it."""
    numbers = [size.lower, size.lower + 1] if size.upper is None or size.upper > size.lower else [size.lower]
    return list(dict.fromkeys([*numbers, *_compared(size, needs, own)]))


def _compared(size: Symbol, needs: Formula, own: frozenset[Symbol]) -> Iterator[Dim]:
    for part in (p for c in clauses(needs) for p in _comparisons(c)):
        if size in symbols_in(part):
            difference = term(part.right) - term(part.left)
            factor = difference.coefficients.get((size,), 0)
            other = (difference - size.scaled(factor)).scaled(-factor)
            if abs(factor) == 1 and own.isdisjoint(other.symbols()):
                yield other.dim()


def _comparisons(formula: Formula) -> Iterator[Comparison]:
    for part in literals(formula):
        if isinstance(part, Comparison):
            yield part
        elif part != formula:
            for inner in clauses(part):
                yield from _comparisons(inner)


def always_held(branches: Iterable[Branch]) -> list[Formula]:
    """Return the facts about data that all paths suppose; other facts hold only after their paths' decisions.

    On different paths, the same line can compute a data-dependent size from different arrays.
    """
    found: dict[Symbol, list[frozenset[Formula]]] = {}
    conditional: dict[Formula, list[Formula]] = {}
    for branch in branches:
        before: list[Formula] = []
        here: dict[Symbol, set[Formula]] = {}
        for step in branch.steps:
            if step.kind == "suppose":
                conditional.setdefault(step.formula, []).append(any_of([*map(negate, before), step.formula]))
                for size in symbols_in(step.formula):
                    here.setdefault(size, set()).add(step.formula)
            else:
                before.append(step.formula)
        for size, formulas in here.items():
            found.setdefault(size, []).append(frozenset(formulas))
    return [f for formula, cases in conditional.items() for f in _held(formula, cases, found)]


def _held(
    formula: Formula, cases: Sequence[Formula], found: Mapping[Symbol, Sequence[frozenset[Formula]]]
) -> list[Formula]:
    sizes = [s for s in symbols_in(formula) if s in found and str(s.name).startswith("?")]
    is_alike = all(formula in formulas for s in sizes for formulas in found[s])
    return [formula] if is_alike else list(dict.fromkeys(cases))
