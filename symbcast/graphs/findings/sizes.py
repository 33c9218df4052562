"""Extend sizes to all symbols of a model, including data-dependent ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from symbcast.core.algebra.sequences import SequenceSymbol, sequences_of
from symbcast.core.logic.formulas import Formula, equal
from symbcast.core.program.sizes.assumptions import Assumption
from symbcast.core.program.sizes.premises import own_set
from symbcast.core.solver.decision.decision import Decision
from symbcast.core.solver.decision.knowledge import ContradictionError, Knowledge
from symbcast.core.solver.evaluation.evaluation import AxisSizes

if TYPE_CHECKING:
    from symbcast.answers.report.failures import Sizes
    from symbcast.core.program.whole.program import Program
    from symbcast.graphs.model import Checked


def knowing(env: Program, more: Iterable[Formula] = ()) -> Knowledge:
    """Return the assumptions of an environment, and more; raise `ContradictionError` if they contradict each other."""
    domains = {s: own_set(s, env.min_size) for s in env.shown}
    return Knowledge(tuple(env.shown), domains, [*(a.formula for a in env.assumptions), *more])


def completed(checked: Checked, given: Mapping[str, int], clauses: Iterable[Formula] = ()) -> Sizes | None:
    """Return the given sizes with those of all other symbols, as small as the clauses allow."""
    names = checked.env.shown
    if checked.asker.sequences:
        return _completed_axes(checked, given, clauses)
    sizes = {s: given[name] for s, name in names.items() if name in given}
    if len(sizes) == len(names):
        return sizes
    try:
        known = knowing(checked.env, [equal(s, size) for s, size in sizes.items()])
    except ContradictionError:
        return None
    return Decision(known, clauses).witness()


def _completed_axes(checked: Checked, given: Mapping[str, Any], clauses: Iterable[Formula]) -> Sizes | None:
    """Do what `completed` does if some of the given sizes are sizes of axes in sequences."""
    from symbcast.core.program.whole.program import Program

    names, sizes = checked.env.shown, dict(given)
    sequences = sequences_of(names)
    plain = {s: name for s, name in names.items() if not isinstance(s, SequenceSymbol)}
    if not sizes.keys() >= {*plain.values(), *(s.name for s in sequences)}:
        env = Program(on_conflict="record")
        known = [equal(s, sizes[name]) for s, name in plain.items() if name in sizes]
        for s in (s for s in sequences if s.name in sizes):
            axes = sizes[s.name]
            known += [equal(s.rank, len(axes)), *(equal(s.axis(n), d) for n, d in enumerate(reversed(axes), 1))]
        for symbol in names:
            env.met(symbol)
        env.assume(*checked.env.assumptions, *map(Assumption, known))
        env.require(*map(Assumption, clauses))
        sizes = {**(env.witness() or {}), **sizes}
    if not sizes.keys() >= {*plain.values(), *(s.name for s in sequences)}:
        return None
    return AxisSizes({s: sizes[name] for s, name in plain.items()}, {s: sizes[s.name] for s in sequences})
