"""Cheap points: sizes at which some constraints hold, and sizes at which they do not, found without a solver.

If a solver gives up, two points still show that a question is answered by "sometimes". The candidates are the same
under other names and in another order: all sizes alike, then one size unlike the others. Each is evaluated exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from symbcast.core.effort import Effort, EffortSpentError, charge, counting
from symbcast.core.logic.formulas import dims_of
from symbcast.core.solver.budget import current
from symbcast.core.solver.decision.decision import Decision
from symbcast.core.solver.evaluation.evaluation import holds_at

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol
    from symbcast.core.logic.formulas import Formula
    from symbcast.core.solver.decision.knowledge import Knowledge
    from symbcast.core.solver.sets.size_sets import SizeSet
    from symbcast.core.solver.sets.smallest import Point

SAMPLES = 300_000
"""Units of effort for all samples of a question, whatever was asked before; a tenth of them within a budget."""
_EVALUATED = 6
"""Units for evaluating a formula, and each of its terms."""
_ALIKE = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 128, 256, 0)
_UNLIKE = (2, 3, 0, 8)


class Samples(NamedTuple):
    """Sizes at which all constraints hold, and sizes at which one does not; None for those that were not found."""

    working: Point | None = None
    failing: Point | None = None


_NONE = Samples()


def samples_of(decision: Decision) -> Samples:
    """Return samples of a decision: the smallest points that the solver found, otherwise cheap candidates."""
    known = Samples(decision.witness(), decision.counterexample())
    return sampled(decision.knowledge, decision.constraints, known, partial(_breaking, decision.knowledge))


def _breaking(knowledge: Knowledge, constraint: Formula) -> Point | None:
    alone = Decision(knowledge, [constraint])
    return alone.counterexample() if alone.violable else None


def sampled(
    knowledge: Knowledge,
    constraints: Sequence[Formula],
    known: Samples = _NONE,
    breaking: Callable[[Formula], Point | None] | None = None,
) -> Samples:
    """Return samples of some constraints under assumptions, those in ``known`` if they are confirmed.

    ``breaking`` returns sizes at which a single constraint fails, if it finds some; it is the last resort.

    >>> from symbcast.core.algebra.symbols import symbol
    >>> from symbcast.core.logic.formulas import equal
    >>> from symbcast.core.solver.decision.knowledge import Knowledge
    >>> N, M = symbol("N"), symbol("M")
    >>> sampled(Knowledge.of_names([N, M]), [equal(N, M)])
    Samples(working={N: 1, M: 1}, failing={N: 2, M: 1})
    """
    search = _Search(knowledge, constraints)
    with counting(Effort(SAMPLES if current() is None else SAMPLES // 10)):
        try:
            for point in known:
                search.try_at(point)
            search.run(breaking)
        except EffortSpentError:
            pass  # what was found so far stands
    return Samples(search.working, search.failing)


class _Search:
    """A search for both kinds of points."""

    def __init__(self, knowledge: Knowledge, constraints: Sequence[Formula]) -> None:
        self._known = knowledge
        self._constraints = list(dict.fromkeys(constraints))
        self._units: dict[Formula, int] = {}
        self.working: Point | None = None
        self.failing: Point | None = None

    def run(self, breaking: Callable[[Formula], Point | None] | None) -> None:
        """Try all candidates until there are points of both kinds."""
        for point in self._candidates():
            if self.working is not None and self.failing is not None:
                return
            self.try_at(point)
        if breaking is None:
            return
        for constraint in list(self._constraints):
            if self.failing is None:
                self.try_at(breaking(constraint))

    def try_at(self, point: Point | None) -> None:
        """Keep a point if it is one of sizes that the assumptions allow, and the first of its kind."""
        if point is None or not self._is_allowed(point):
            return
        broken = next((n for n, c in enumerate(self._constraints) if not self._holds(c, point)), None)
        if broken is None:
            self.working = point if self.working is None else self.working
        else:
            self.failing = point if self.failing is None else self.failing
            # The next point most likely breaks the same constraint.
            self._constraints.insert(0, self._constraints.pop(broken))

    def _is_allowed(self, point: Point) -> bool:
        known = self._known
        charge(len(known.domains))
        inside = all(point[s] in members for s, members in known.domains.items())
        return inside and all(self._holds(f, point) for f in known.others)

    def _holds(self, formula: Formula, point: Point) -> bool:
        if formula not in self._units:
            self._units[formula] = _EVALUATED * (1 + sum(1 for _ in dims_of(formula)))
        charge(self._units[formula])
        return holds_at(formula, point)

    def _candidates(self) -> Iterator[Point]:
        domains = self._known.domains
        for size in _ALIKE:
            yield self._whole({s: _near(members, size) for s, members in domains.items()})
        base = {s: _near(members, 1) for s, members in domains.items()}
        for symbol, members in domains.items():
            for size in _UNLIKE:
                yield self._whole({**base, symbol: _near(members, size)})

    def _whole(self, sizes: Mapping[Symbol, int]) -> Point:
        """Return sizes with those of the symbols that are known to equal others."""
        known = self._known
        values = {s: v if isinstance(v, int) else sizes[v] for s, v in known.values.items()}  # type: ignore[index]
        return {s: sizes[s] if s in sizes else values[s] for s in known.symbols}


def _near(members: SizeSet, size: int) -> int:
    """Return the least member from a size on, or the greatest one."""
    found = members.least(size)
    return found if found is not None else (members.greatest or 0)
