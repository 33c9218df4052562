"""`Check`: whether every size in some ranges works, where it fails first, and how to make requests fit."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NoReturn

from symbcast.answers.contracts.checks.failures import Failure, ends_work, failures_in, undecided_in
from symbcast.answers.contracts.checks.fitting import Advice, advice_for, larger_sizes
from symbcast.answers.contracts.search.space import decision_in
from symbcast.answers.contracts.wanted import range_text
from symbcast.core.characters import sizes_text
from symbcast.core.effort import EffortSpentError
from symbcast.core.solver.budget import one_call, share
from symbcast.core.solver.groups.normal_form import symbols_in
from symbcast.core.verdicts import Verdict

if TYPE_CHECKING:
    from symbcast.answers.contracts.checks.failures import Ranges
    from symbcast.answers.contracts.question import Question

_ADVISED = 300_000
"""Units of effort for advice."""


class Check:
    """The answer to whether every size in some ranges works.

    Attributes:
        ranges: The ranges by the names of all sizes.
        verdict: ALWAYS if every size works, SOMETIMES, NEVER, or UNKNOWN: then `reason` says why.
        failures: A failure for each clause that some sizes violate, with the smallest such sizes.
        ends_work: Whether the least sizes and the greatest ones work: a test of a profile's ends finds no failure.
    """

    def __init__(self, question: Question, ranges: Ranges) -> None:
        self._question = question
        self._ranges = ranges
        self.ranges = {name: ranges[s] for s, name in question.names.items()}
        self.failures: tuple[Failure, ...] = ()
        data = f"data must meet {' and '.join(question.data)}" if question.data else ""
        self.reason = question.open or data
        if question.hidden:
            self.reason = "the condition is about sizes without a name"
        else:
            found, why = failures_in(question, ranges)
            undecided = undecided_in(question, ranges)
            self.failures = tuple(found)
            self.reason = self.reason or why or ("" if undecided is None else undecided.reason)
        self.ends_work = not question.hidden and ends_work(question, ranges)
        self.verdict = self._verdict()

    def _verdict(self) -> Verdict:
        if not self.failures:
            if self._question.data and not self._question.open:
                return Verdict.SOMETIMES
            return Verdict.UNKNOWN if self.reason else Verdict.ALWAYS
        decision = decision_in(self._ranges, [self._question.formula])
        if decision is None or decision.impossible:
            return Verdict.NEVER
        return Verdict.SOMETIMES if decision.satisfiable and not self._question.open else Verdict.UNKNOWN

    @property
    def counterexample(self) -> dict[str, int] | None:
        """The smallest failing sizes that were found: those of the first failure with the least sum."""
        known = [f.sizes for f in self.failures if f.sizes is not None]
        return min(known, key=lambda sizes: sum(sizes.values()), default=None)

    @cached_property
    def advice(self) -> tuple[Advice, ...]:
        """How to pad or crop, each with the waste if all sizes of the range are equally likely."""
        return self._advice()

    @one_call
    def _advice(self) -> tuple[Advice, ...]:
        if self._question.hidden or not self.failures:
            return ()
        found: list[Advice] = []
        try:
            with share(_ADVISED):
                found.extend(advice_for(self._question, self._ranges))
                for failure in self._tied():
                    advice = larger_sizes(self._question, failure, self._ranges)
                    found.extend(() if advice is None else (advice,))
        except EffortSpentError:
            pass  # advice is not part of the answer
        return tuple(dict.fromkeys(found))

    def _tied(self) -> Sequence[Failure]:
        """Return the failures of clauses about several sizes."""
        several = {text for clause, text in self._question.clauses if len(symbols_in(clause)) > 1}
        return [failure for failure in self.failures if failure.clause in several]

    def explain(self) -> str:
        """Return the answer in words."""
        wanted = ", ".join(f"{name}={range_text(sizes)}" for name, sizes in self.ranges.items())
        lines = [f"{wanted}: {_WORDS[self.verdict]}"]
        if self.failures and self.ends_work:
            lines.append("the least and the greatest sizes work: the failures are between them")
        lines += [f"fails        {failure}" for failure in self.failures]
        at = self.counterexample
        if at is not None and len(at) > 1:
            lines.append(f"smallest     {sizes_text(at)}")
        lines += [f"fix          {advice}" for advice in self.advice]
        if self.reason:
            lines.append(f"open         {self.reason}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<Check: {self.verdict.value}, {len(self.failures)} failure{'s' * (len(self.failures) != 1)}>"

    def __bool__(self) -> NoReturn:
        raise TypeError("a check has no truth value: compare its .verdict")


_WORDS = {
    Verdict.ALWAYS: "every size works",
    Verdict.SOMETIMES: "some sizes fail",
    Verdict.NEVER: "every size fails",
    Verdict.UNKNOWN: "unknown",
}
