"""Rare cases that the requirements of a model refute: sizes that are 0 at no input sizes at which it runs."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from symbcast.core.effort import EffortSpentError
from symbcast.core.logic.formulas import equal
from symbcast.core.program.sizes.assumptions import Assumption
from symbcast.core.solver.budget import share
from symbcast.core.verdicts import Verdict
from symbcast.graphs.requirements.least_sizes import positive_sizes

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim
    from symbcast.graphs.requirements.recorder import Asker

_REFUTED = 1_000_000
"""Units of effort for one case, without a walk for it."""


def learn_from_refuted(asker: Asker, runs_nowhere: Callable[[Assumption], bool]) -> None:
    """Learn lower bounds of input sizes from sizes that are 0 in no case in which the model runs.

    The last sizes come first: they are usually the smallest, and refute the cases of earlier ones. The first one that
    is not refuted ends the search. ``runs_nowhere`` walks through the model where an assumption holds, and returns
    whether it is shown to run at no such sizes: there the rare case is the only one, and its sizes are short.
    """
    for size, place in reversed(asker.zeros.items()):
        bounds = positive_sizes(size, asker.bounds, asker.given)
        if not bounds or asker.bounds.is_at_least(size, 1):
            continue
        verdict = _verdict_at_zero(asker, size)
        if verdict is Verdict.UNKNOWN and runs_nowhere(Assumption(equal(size, 0))):
            verdict = Verdict.NEVER
        if verdict is not Verdict.NEVER:
            return
        asker.learn(place, bounds, "the model runs at no smaller sizes")


def _verdict_at_zero(asker: Asker, size: Dim) -> Verdict:
    """Return whether a model runs where a size is 0, as far as little effort decides that."""
    env = asker.env.fork()
    with suppress(EffortSpentError), share(_REFUTED):
        env.require(Assumption(equal(size, 0)))
        return env.decided_verdict
    return Verdict.UNKNOWN
