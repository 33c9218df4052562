"""Rare cases that the requirements of a model refute: sizes that are 0 at no input sizes at which it runs."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from symbcast.core.effort import EffortSpentError
from symbcast.core.logic.formulas import at_most, equal
from symbcast.core.program.sizes.assumptions import Assumption
from symbcast.core.solver.budget import share
from symbcast.core.verdicts import Verdict
from symbcast.graphs.requirements.least_sizes import least_sizes

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim
    from symbcast.graphs.requirements.recorder import Asker

_REFUTED = 1_000_000
"""Units of effort for one case."""


def learn_from_refuted(asker: Asker) -> None:
    """Learn lower bounds of input sizes from sizes that are 0 in no case in which the model runs.

    The last sizes come first: they are usually the smallest, and refute the cases of earlier ones. The first one that
    is not refuted ends the search.
    """
    for size, place in reversed(asker.zeros.items()):
        bounds = [found for found in least_sizes(at_most(1, size), asker.bounds) if found[0] in asker.given]
        if not bounds or asker.bounds.is_at_least(size, 1):
            continue
        if not _is_refuted(asker, size):
            return
        asker.learn(place, bounds, "the model runs at no smaller sizes")


def _is_refuted(asker: Asker, size: Dim) -> bool:
    """Return whether a model is shown to run nowhere where a size is 0."""
    env = asker.env.fork()
    with suppress(EffortSpentError), share(_REFUTED):
        env.require(Assumption(equal(size, 0)))
        return env.verdict is Verdict.NEVER
    return False
