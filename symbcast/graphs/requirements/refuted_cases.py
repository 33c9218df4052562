"""Rare cases that the requirements of a model refute: sizes that are 0 at no input sizes at which it runs."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from symbcast.core.effort import EffortSpentError
from symbcast.core.logic.formulas import any_of, at_most, equal
from symbcast.core.program.sizes.assumptions import Assumption
from symbcast.core.solver.budget import share
from symbcast.core.verdicts import Verdict
from symbcast.graphs.requirements.least_sizes import positive_sizes

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol
    from symbcast.core.algebra.terms import Dim
    from symbcast.core.logic.formulas import Formula
    from symbcast.graphs.requirements.recorder import Asker, Place

_REFUTED = 600_000
_REFUTED_AT_NODE = 300_000
"""Units of effort for one question at the end of a walk, and for one at a node."""
_REASON = "the model runs at no smaller sizes"


def learn_positive(asker: Asker, size: Dim, place: Place) -> bool:
    """Return whether the requirements so far show that a size, which selects a case where it is 0, is not 0.

    Nodes that follow have a short size then. A question that little effort does not decide is the last one.
    """
    bounds = _open_bounds(asker, size) if size in asker.zeros and asker.refutes_zeros else []
    if not bounds:
        return False
    verdict = _verdict_where(asker, equal(size, 0), _REFUTED_AT_NODE)
    asker.refutes_zeros = verdict is not Verdict.UNKNOWN
    if verdict is Verdict.NEVER:
        asker.learn(place, bounds, _REASON)
    return verdict is Verdict.NEVER


def learn_from_refuted(asker: Asker, runs_nowhere: Callable[[Assumption], bool]) -> None:
    """Learn lower bounds of input sizes from sizes that are 0 in no case in which the model runs.

    Usually all of them are: that is one question. If it is too hard, ``runs_nowhere`` walks through the model where an
    assumption holds, and returns whether it is shown to run at no such sizes: with the rare case as the only one,
    sizes are short. If the model runs in some of the cases, they are refuted one by one.
    """
    found: dict[Symbol, tuple[int, Place]] = {}
    for size, place in asker.zeros.items():
        for symbol, low in _open_bounds(asker, size):
            if low > found.get(symbol, (0, place))[0]:
                found[symbol] = low, place
    if not found:
        return
    match _verdict_where(asker, any_of(at_most(symbol, low - 1) for symbol, (low, _) in found.items())):
        case Verdict.SOMETIMES | Verdict.ALWAYS:
            _learn_one_by_one(asker)
            return
        case Verdict.UNKNOWN:
            refuted = {s: case for s, case in found.items() if runs_nowhere(Assumption(at_most(s, case[0] - 1)))}
        case Verdict.NEVER:
            refuted = found
    for symbol, (low, place) in refuted.items():
        asker.learn(place, [(symbol, low)], _REASON)


def _learn_one_by_one(asker: Asker) -> None:
    """Refute each case by itself, until one is not refuted.

    The last sizes come first: they are usually the smallest, and refute the cases of earlier ones.
    """
    for size, place in reversed(asker.zeros.items()):
        bounds = _open_bounds(asker, size)
        if bounds and _verdict_where(asker, equal(size, 0)) is not Verdict.NEVER:
            return
        asker.learn(place, bounds, _REASON)


def _open_bounds(asker: Asker, size: Dim) -> list[tuple[Symbol, int]]:
    """Return the bounds of input sizes where a size is not 0; none if it is known not to be 0."""
    return [] if asker.bounds.is_at_least(size, 1) else positive_sizes(size, asker.bounds, asker.given)


def _verdict_where(asker: Asker, formula: Formula, effort: int = _REFUTED) -> Verdict:
    """Return whether a model runs where a formula holds, as far as little effort decides that."""
    env = asker.env.fork()
    with suppress(EffortSpentError), share(effort):
        env.require(Assumption(formula))
        return env.decided_verdict
    return Verdict.UNKNOWN
