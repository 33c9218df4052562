"""Sizes put in for all the symbols of a model, those too that data decide."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from symbcast.logic.formulas import Formula, equal
from symbcast.program.premises import own_set
from symbcast.solver.decision import Decision
from symbcast.solver.knowledge import ContradictionError, Knowledge

if TYPE_CHECKING:
    from symbcast.api.env import ShapeEnv
    from symbcast.onnx.report.checked import Checked
    from symbcast.report.failures import Sizes


def knowing(env: ShapeEnv, more: Iterable[Formula] = ()) -> Knowledge:
    """Return what an environment assumes, and more; raise `ContradictionError` where that cannot be."""
    domains = {s: own_set(s, env.min_size) for s in env.shown}
    return Knowledge(tuple(env.shown), domains, [*(a.formula for a in env.assumptions), *more])


def completed(checked: Checked, given: Mapping[str, int], clauses: Iterable[Formula] = ()) -> Sizes | None:
    """Return the given sizes with those of all other symbols, as small as they can be where the clauses hold."""
    names = checked.env.shown
    sizes = {s: given[name] for s, name in names.items() if name in given}
    if len(sizes) == len(names):
        return sizes
    try:
        known = knowing(checked.env, [equal(s, size) for s, size in sizes.items()])
    except ContradictionError:
        return None
    return Decision(known, clauses).witness()
