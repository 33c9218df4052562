"""One rule's answer for the shapes on which rules are compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from symbcast.answers.comparison.question import Question
from symbcast.answers.explanation.names import Namer, rule_text
from symbcast.answers.public.conditions import Condition
from symbcast.answers.public.result import Result, call_of
from symbcast.core.broadcasting import OutputDim, Rule
from symbcast.core.logic.formulas import FALSE, Formula, all_of, clauses
from symbcast.core.program.calls.call import Call
from symbcast.core.solver.budget import answered
from symbcast.core.verdicts import Verdict
from symbcast.errors import RuleArgumentError


@dataclass(frozen=True)
class RuleAnswer:
    """One rule's answer for the shapes.

    Attributes:
        rule: The rule as text, such as ``pdpd(axis=1)``.
        result: The rule's answer; None if it does not accept this number of shapes or these ranks at all.
        refusal: Why it does not accept them; empty if it does.
        rule_asked: The rule itself.
        question: The shapes.
    """

    rule: str
    result: Result | None
    rule_asked: Rule = field(repr=False)
    question: Question = field(repr=False)
    refusal: str = ""

    @property
    def budget(self) -> float | None:
        """The time limit of each question in seconds; None for no limit."""
        return self.question.budget

    @property
    def verdict(self) -> Verdict:
        """Whether the rule accepts the shapes always, sometimes or never."""
        return Verdict.NEVER if self.result is None else self.result.verdict

    @answered
    def condition(self) -> Condition:
        """The sizes at which the rule accepts the shapes."""
        return self.question.condition(FALSE) if self.result is None else Condition(self.result)

    @cached_property
    def required(self) -> tuple[Formula, ...]:
        """The rule's requirements, conjunct by conjunct, not simplified."""
        if self.result is None:
            return (FALSE,)
        found = all_of(c.requirement for c in call_of(self.result).constraints)
        return clauses(found)

    @cached_property
    def law(self) -> tuple[object, ...]:
        """The rule's requirements and output; rules for which these are equal behave the same on the shapes."""
        if self.result is None or FALSE in self.required:
            return (FALSE,)
        return self.required, self.output, self.places

    @property
    def output(self) -> tuple[OutputDim, ...]:
        """The output's axes, each named by the sizes that meet there."""
        return () if self.result is None else call_of(self.result).emission.output

    @cached_property
    def places(self) -> tuple[tuple[int, ...], ...]:
        """The output axis of each axis of each operand; empty if the rule refuses the shapes."""
        if self.result is None:
            return ()
        return self.result.rule.places([s.rank for s in self.question.shapes]).of

    @property
    def shape(self) -> str:
        """The output shape as text, empty if there is none."""
        if self.result is None or self.result.shape is None:
            return ""
        return Namer(call_of(self.result)).shape(self.result.shape)

    def at(self, shapes: Sequence[Sequence[int]]) -> tuple[int, ...] | None:
        """Return the output for integer shapes; None if the rule refuses them."""
        return None if self.result is None else self.result.rule.concrete(shapes)


def answer_of(rule: Rule, question: Question) -> RuleAnswer:
    """Return a rule's answer for the shapes of a question."""
    try:
        call = Call(rule, question.shapes, question.scope)
    except RuleArgumentError as error:
        return RuleAnswer(
            rule_text(rule), None, rule, question, f"{error.problem}; {error.hint}" if error.hint else error.problem
        )
    call.budget = question.budget
    return RuleAnswer(rule_text(rule), Result(call), rule, question)
