"""One account of what is known: what every answer's verdict, texts, guards, contracts and data derive from.

An answer adopts it by returning an `Account` from its ``account``:

- ``works`` is a formula for sizes that are *proved* to work, `FALSE` if nothing is proved; ``needed`` is a proved
  requirement, `TRUE` if none is known: wherever it does not hold, the answer fails. ``works`` implies ``needed``; the
  sizes between the two are open, and ``needed`` is never weaker than what was proved. If everything is decided, the
  two are the same formula.
- ``open`` has a reason for each thing that was not analysed, with the sizes concerned. What was followed on one branch,
  or what a rule left without a note, must not be in ``works``.
- ``working`` and ``failing`` are points: sizes by name at which the answer was proved, or observed in a real call, to
  work or to fail. They decide SOMETIMES whatever is open. `symbcast.core.fallback_points` tries cheap candidates.
- ``can_work`` and ``can_fail`` say whether any sizes work or fail, if that is proved: False for "none do".

The rest derives from it: `Account.verdict` and `Account.at`, and in `symbcast.answers` the texts, the guards, which
raise `UndecidedError` at open sizes, contracts, which rest on ``works`` alone, exit statuses, and ``account`` in JSON.
All formulas are about sizes that the assumptions allow; they do not repeat the assumptions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from symbcast.core.fallback_points import samples_of
from symbcast.core.logic.definedness import with_values
from symbcast.core.logic.formulas import FALSE, TRUE, Formula, all_of, any_of, equal, negate
from symbcast.core.solver.evaluation.evaluation import holds_at
from symbcast.core.verdicts import Verdict, possible, verdict_of

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol
    from symbcast.core.solver.decision.decision import Decision

Sizes: TypeAlias = "Mapping[str, int]"
"""Sizes by name; a sequence of axes has a tuple of sizes."""


class Open(NamedTuple):
    """Something that was not decided, and why.

    Attributes:
        reason: why it is open, in words, with the place if there is one.
        where: the sizes concerned: `TRUE` for all that ``needed`` allows. `FALSE` says that each size is decided alone,
            by evaluating the condition, but not whether all or any sizes work.
    """

    reason: str
    where: Formula = TRUE


class Account(NamedTuple):
    """What is known about an answer; see the module for how the parts relate.

    >>> from symbcast.core.text import parse_formula
    >>> known = Account(FALSE, parse_formula("K == M"), (Open("the operator 'Mystery' has no rule"),), can_fail=True)
    >>> known.verdict, known._replace(working=({"K": 1, "M": 1},)).verdict
    (<Verdict.UNKNOWN: 'unknown'>, <Verdict.SOMETIMES: 'sometimes'>)
    """

    works: Formula
    needed: Formula
    open: tuple[Open, ...] = ()
    working: tuple[Sizes, ...] = ()
    failing: tuple[Sizes, ...] = ()
    can_work: bool | None = None
    can_fail: bool | None = None

    @property
    def verdict(self) -> Verdict:
        """The verdict: the only place that derives one from parts.

        ALWAYS takes that nothing is open. NEVER takes a proof that no sizes meet ``needed``: open parts do not matter
        then, because each requirement alone makes the answer fail.
        """
        can_fail = True if self.failing else self.can_fail
        if self.open and can_fail is False:
            can_fail = None
        return verdict_of(True if self.working else self.can_work, can_fail)

    @property
    def fails(self) -> Formula:
        """The sizes that are proved to fail."""
        return negate(with_values(self.needed))

    @property
    def is_open(self) -> bool:
        """Whether some sizes are neither proved to work nor proved to fail, as far as the formulas show."""
        return self.works != self.needed

    @property
    def open_sizes(self) -> Formula:
        """The sizes that are neither proved to work nor proved to fail; points known to work or fail may be in it."""
        return all_of((self.needed, negate(with_values(self.works)))) if self.is_open else FALSE

    @property
    def reason(self) -> str:
        """Why something is open; empty if nothing is."""
        return next((part.reason for part in self.open), "")

    def with_points(self, names: Mapping[Symbol, str]) -> Formula:
        """Return the sizes known to work: those proved, and the points, for symbols with these names."""
        if not self.is_open:
            return self.works
        return any_of((self.works, *(_is_at(names, point) for point in self.working)))

    def may_work(self, names: Mapping[Symbol, str]) -> Formula:
        """Return the sizes not known to fail: those that ``needed`` allows, without the points known to fail."""
        if not self.is_open:
            return self.needed
        points = (_is_at(names, p) for p in self.failing if _meets(self.needed, names, p))
        return all_of((self.needed, *map(negate, points)))

    def at(self, sizes: Mapping[Symbol, int], names: Mapping[Symbol, str]) -> bool | None:
        """Return whether the answer works at some sizes that the assumptions allow; None if that is open."""
        if holds_at(self.with_points(names), sizes):
            return True
        return None if self.is_open and holds_at(self.may_work(names), sizes) else False


def exact(condition: Formula, verdict: Verdict, points: Sequence[Sizes | None], reason: str) -> Account:
    """Return the account of a condition that decides each size, though perhaps not whether all or any work.

    ``verdict`` is as far as that was decided; ``points`` are sizes that work and sizes that fail, each if known.
    """
    working, failing = points
    can_work, can_fail = possible(verdict)
    account = Account(condition, condition, (), joined([working]), joined([failing]), can_work, can_fail)
    return account if account.verdict is not Verdict.UNKNOWN else account._replace(open=(Open(reason, FALSE),))


def sampled_verdict(decision: Decision) -> Verdict:
    """Return the verdict on constraints that the solver left undecided, if two points show it."""
    working, failing = samples_of(decision)
    return verdict_of(working is not None or None, failing is not None or None)


def _is_at(names: Mapping[Symbol, str], point: Sizes) -> Formula:
    return all_of(equal(s, point[name]) for s, name in names.items() if name in point and isinstance(point[name], int))


def _meets(needed: Formula, names: Mapping[Symbol, str], point: Sizes) -> bool:
    """Return whether a point, which has no sequences of axes, is one that the requirement allows."""
    sizes = {s: point[name] for s, name in names.items() if isinstance(point.get(name), int)}
    return len(sizes) == len(names) and holds_at(needed, sizes)


def joined(points: Sequence[Sizes | None]) -> tuple[Sizes, ...]:
    """Return the points that are known, each once."""
    unlike = {tuple(p.items()): p for p in points if p is not None}
    return tuple(unlike.values())
