"""What a condition says of the sizes of inputs alone, and what it says of data.

A run works for sizes of inputs if some data suit: if the sizes that data decide can be chosen so that the condition
holds, and what always holds of them too. `symbcast.core.solver.products.projection` eliminates these sizes; the
condition implies the result, so it is necessary. That it is sufficient, for suitable data, is proved here: for all
sizes of inputs that it lets through, one of a few choices makes the condition hold.
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
    from symbcast.paths.regions import Branch

MAX_CHOICES = 64
"""How many choices of the sizes that data decide are tried to prove that some data suit."""


class Suitable(NamedTuple):
    """A condition, divided.

    Attributes:
        inputs: what the sizes of inputs must be: necessary, and sufficient for suitable data.
        data: the clauses that speak of sizes which data decide.
        is_proved: whether it is proved that data can suit at all sizes of inputs that ``inputs`` lets through.
    """

    inputs: Formula
    data: tuple[Formula, ...] = ()
    is_proved: bool = True


def divided(whole: Formula, own: frozenset[Symbol], always: Sequence[Formula], knowledge: Knowledge) -> Suitable:
    """Return what a condition says of inputs alone, and of data.

    ``own`` are the sizes that data decide, ``always`` is what holds of these at all sizes, and ``knowledge`` what is
    assumed of the inputs' sizes.
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
    """Return whether, at all sizes of inputs that were found, one of the choices meets the needs."""
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
    """Return what a size that data decide may be: small numbers, and what it is compared with."""
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
    """Return what always holds of data: what paths suppose of it, after what they decided unless all suppose the same.

    One line may make one size of different arrays, on different paths.
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
