"""Sizes at which all of some formulas and at least one of some alternatives hold, decided without a disjunction.

An alternative is decided together with the formulas about sizes tied to its own: all other formulas are about other
sizes, so the choice of alternative does not affect them. Groups of sizes that differ only in names, as the axes of
shapes often do, are one question.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, TypeAlias

from symbcast.core.effort import Stage
from symbcast.core.logic.formulas import FALSE, TRUE, Formula, any_of
from symbcast.core.solver.budget import DECIDED, stage
from symbcast.core.solver.decision.decision import Decision
from symbcast.core.solver.decision.knowledge import Knowledge
from symbcast.core.solver.groups.connectivity import Group, groups
from symbcast.core.solver.groups.normal_form import flattened, normal, put_in, standard_names
from symbcast.core.solver.sets.smallest import cost
from symbcast.core.verdicts import Verdict

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol
    from symbcast.core.solver.sets.size_sets import SizeSet

    _Asked: TypeAlias = tuple[tuple[Symbol, ...], tuple[SizeSet, ...], tuple[Formula, ...], tuple[Formula, ...]]


class OneOf:
    """The sizes at which ``common`` holds, as decided by ``base``, and at least one of the alternatives.

    >>> from symbcast.core.algebra.symbols import symbol
    >>> from symbcast.core.logic.formulas import different, equal
    >>> a, b, c = map(symbol, "abc")
    >>> common, known = [equal(a, b)], Knowledge([a, b, c], {}, ())
    >>> found = OneOf(Decision(known, common), common, [different(a, b), different(c, 1)])
    >>> found.verdict, found.witness()
    (<Verdict.SOMETIMES: 'sometimes'>, {a: 1, b: 1, c: 2})
    """

    def __init__(self, base: Decision, common: Iterable[Formula], alternatives: Iterable[Formula]) -> None:
        known = base.knowledge
        told = [normal(put_in(a, known.values)) for a in alternatives]
        self._base = base
        self._is_free = TRUE in told
        left = [] if self._is_free or base.impossible else [a for a in told if a != FALSE]
        formulas = flattened(put_in(c, known.values) for c in common) if left else []
        if FALSE in formulas:  # the base did not find this out because effort ran out
            left, formulas = [], []
        self._groups = [
            [_Question(known.domains, group, a) for a in (*group.alternatives, any_of(group.alternatives))]
            for group in groups(known.domains, formulas, known.others, left)
            if group.alternatives
        ]

    @property
    def is_empty(self) -> bool | None:
        """Whether no such sizes exist; None if undecided."""
        base = self._base.satisfiable
        found = base if self._is_free else _any(a.satisfiable for a in self._alternatives())
        if base is False or found is False:
            return True
        return False if base and found else None

    @property
    def verdict(self) -> Verdict:
        """Whether all sizes satisfy it, some, or none; unknown if undecided."""
        is_empty = self.is_empty
        if is_empty is not False:
            return Verdict.NEVER if is_empty else Verdict.UNKNOWN
        base = self._base.verdict
        if self._is_free or base is Verdict.SOMETIMES:
            return base
        # One of several alternatives about independent sizes always holds if and only if this is true within one group.
        found = {group[-1].verdict for group in self._groups}
        if Verdict.ALWAYS in found:
            return base
        return Verdict.UNKNOWN if Verdict.UNKNOWN in found else Verdict.SOMETIMES

    @property
    def reason(self) -> str:
        """Why something was not decided."""
        found = (self._base.reason, *(a.reason for a in self._alternatives()))
        return next(filter(None, found), "")

    def witness(self) -> dict[Symbol, int] | None:
        """Return the smallest such sizes as `Decision.witness` orders them; None if none were found."""
        least = self._base.witness()
        if least is None or self._is_free:
            return least
        found = [self._base.whole([least, sizes]) for a in self._alternatives() if (sizes := a.witness()) is not None]
        ones = dict.fromkeys(least, 1)
        return min(filter(None, found), key=lambda sizes: cost(tuple(sizes), sizes, ones), default=None)

    def _alternatives(self) -> Iterator[_Question]:
        return (a for group in self._groups for a in group[:-1])


def _any(found: Iterable[bool | None]) -> bool | None:
    """Return whether any of the answers is true; None if undecided."""
    is_open = False
    for one in found:
        if one:
            return True
        is_open = is_open or one is None
    return None if is_open else False


class _Question:
    """A formula, together with the other formulas about the sizes of its group."""

    def __init__(self, domains: Mapping[Symbol, SizeSet], group: Group, formula: Formula) -> None:
        self._sets = tuple(domains[s] for s in group.symbols)
        self._group = group
        self._asked = (*group.formulas, formula)

    @property
    def satisfiable(self) -> bool | None:
        """Whether it can hold; None if undecided."""
        return self._decision.satisfiable

    @property
    def verdict(self) -> Verdict:
        """Whether it holds always, sometimes or never."""
        return self._decision.verdict

    @property
    def reason(self) -> str:
        """Why something was not decided, in the symbol names of the question."""
        return _decided(self._group.symbols, self._sets, self._group.others, self._asked).reason

    def witness(self) -> dict[Symbol, int] | None:
        """Return the smallest sizes of the group."""
        found = self._decision.witness()
        return None if found is None else {s: found[standard] for s, standard in self._names.items()}

    @property
    def _decision(self) -> Decision:
        """The decision on the same question about standard names."""
        return _stage(*self._asked_of)()

    @cached_property
    def _names(self) -> dict[Symbol, Symbol]:
        return standard_names(self._group.symbols)

    @cached_property
    def _asked_of(self) -> _Asked:
        names = self._names
        others, asked = (tuple(put_in(f, names) for f in given) for given in (self._group.others, self._asked))
        return tuple(names.values()), self._sets, others, asked


def _decided(
    symbols: Sequence[Symbol], sets: Sequence[SizeSet], others: Sequence[Formula], asked: Sequence[Formula]
) -> Decision:
    return Decision(Knowledge(symbols, dict(zip(symbols, sets, strict=True)), others), asked)


@lru_cache(maxsize=1024)
def _stage(
    symbols: tuple[Symbol, ...], sets: tuple[SizeSet, ...], others: tuple[Formula, ...], asked: tuple[Formula, ...]
) -> Stage[Decision]:
    def decided() -> Decision:
        return _decided(symbols, sets, others, asked)

    return stage(2 * DECIDED, decided, decided)
