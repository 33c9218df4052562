"""Rare cases that the requirements of a model refute: sizes that are 0 at no input sizes at which it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symbcast.core.logic.formulas import at_most, equal
from symbcast.core.program.sizes.assumptions import Assumption
from symbcast.core.verdicts import Verdict
from symbcast.graphs.requirements.least_sizes import least_sizes

if TYPE_CHECKING:
    from symbcast.graphs.requirements.recorder import Asker

_MAX_UNDECIDED = 3
"""After this number of undecided cases the others are left open too."""


def learn_from_refuted(asker: Asker) -> None:
    """Learn lower bounds of input sizes from sizes that are 0 in no case in which the model runs.

    The last sizes come first: they are usually the smallest, and refute the cases of earlier ones.
    """
    undecided = 0
    for size, place in reversed(asker.zeros.items()):
        bounds = [found for found in least_sizes(at_most(1, size), asker.bounds) if found[0] in asker.given]
        if not bounds or asker.bounds.is_at_least(size, 1):
            continue
        env = asker.env.fork()
        env.require(Assumption(equal(size, 0)))
        if env.verdict is Verdict.NEVER:
            asker.learn(place, bounds, "the model runs at no smaller sizes")
        else:
            undecided += 1
            if undecided == _MAX_UNDECIDED:
                return
