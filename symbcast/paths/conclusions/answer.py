"""The answer about a run: when it works, the result of each case, and the paths not followed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn

from symbcast.answers.public.answer import Answer
from symbcast.answers.public.conditions import Condition
from symbcast.answers.public.env import ShapeEnv
from symbcast.core.effort import call as counted_call
from symbcast.core.logic.formulas import FALSE, Formula, all_of, clauses, negate
from symbcast.core.program.sizes.assumptions import Assumption
from symbcast.core.program.sizes.premises import knowledge
from symbcast.core.program.sizes.scope import Scope
from symbcast.core.solver.decision.decision import Decision
from symbcast.core.solver.decision.knowledge import Knowledge
from symbcast.core.solver.evaluation.evaluation import holds_at
from symbcast.core.solver.groups.normal_form import symbols_in
from symbcast.core.verdicts import Verdict
from symbcast.paths.conclusions.conditions import Conditions
from symbcast.paths.conclusions.regions import Branch, End, Regions
from symbcast.paths.conclusions.suitable import Suitable, always_held, divided
from symbcast.paths.places import Place
from symbcast.paths.runs.exploration import Exploration, Outcome
from symbcast.paths.runs.steps import Step

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol


@dataclass(frozen=True, eq=False)
class Case:
    """A region of sizes at which a run always behaves the same way.

    Attributes:
        when: the region, under the assumptions.
        value: the returned value in its own structure, with sizes as sympy expressions; None if the run fails.
        error: the error's type and its message at the smallest sizes of the region; empty if the run returns.
        place: the line that fails.
    """

    when: Condition
    value: Any = None
    error: str = ""
    place: Place | None = None

    @property
    def works(self) -> bool:
        """Whether the run returns."""
        return not self.error

    def __repr__(self) -> str:
        where = f" at {self.place}" if self.place else ""
        return f"<Case when {self.when}: {f'{self.error}{where}' if self.error else self.value}>"


class PathsAnswer(Answer):
    """The sizes at which a run works, and its behaviour in each case.

    Everything is computed lazily. If some paths were not followed (`complete` is False), `condition` covers the sizes
    known to work, `unexplored` the sizes about which nothing is known, and the verdict is unknown. The condition is
    about input sizes only; conditions on data-dependent sizes are in `data_condition`.
    """

    def __init__(self, scope: Scope, exploration: Exploration) -> None:
        self.scope = scope
        self.exploration = exploration

    @property
    def complete(self) -> bool:
        """Whether every path was followed to its end."""
        return self.exploration.is_complete

    @property
    def paths(self) -> int:
        """The number of paths that were followed."""
        return len(self.exploration.outcomes)

    @property
    def title(self) -> str:
        """What was run, for the heading."""
        return f"a run over {', '.join(self.scope.names.values())}"

    @property
    def assumptions(self) -> tuple[str, ...]:
        """The assumptions about the sizes, as text."""
        return tuple(a.text for a in self.scope.assumptions)

    @property
    def condition(self) -> Condition:
        """The condition on input sizes under which the run works, as far as its paths were followed.

        If the result also depends on data, the condition is necessary, and sufficient if the data are suitable: see
        `data_condition`.
        """
        return Condition.of_answer(self.formula, self._subject)

    @property
    def data_condition(self) -> Condition:
        """The additional requirements on data-dependent sizes."""
        return Condition.about(all_of(self.suitable.data), self.names)

    @property
    def formula(self) -> Formula:
        """The condition as a formula."""
        return self.suitable.inputs

    @cached_property
    def suitable(self) -> Suitable:
        """The requirements on inputs only, and on data."""
        whole = self._region(lambda end: end.kind == "value")
        own = frozenset(self.exploration.data)
        found = divided(whole, own, self.always, self.input_knowledge) if own else Suitable(whole)
        return found._replace(inputs=self._conditions.short(found.inputs)) if found.data else found

    @cached_property
    def always(self) -> list[Formula]:
        """Facts about data that hold at all sizes, such as: the count of true elements is at most the element count."""
        return always_held(self._branches) if self.exploration.data else []

    @cached_property
    def unexplored(self) -> Condition:
        """The sizes about which nothing is known, because their paths were not followed to the end."""
        return Condition(self._region(lambda end: end.kind == "open"))

    @cached_property
    def unconfirmed(self) -> Condition:
        """The sizes of paths that were not confirmed by a call because all of their sizes are too large."""
        doubted = [_is_unconfirmed(o) for o in self.exploration.outcomes]
        if not any(doubted):
            return Condition(FALSE)
        kinds = [End("open" if is_doubted else "value") for is_doubted in doubted]
        ends = [Branch(o.steps, end) for o, end in zip(self.exploration.outcomes, kinds, strict=True)]
        others = [b._replace(end=End("value")) for b in self.failing]
        found = {tuple(s.formula for s in b.steps if s.kind != "suppose"): b for b in (*others, *ends)}
        regions = Regions(list(found.values()), self.knowledge.domains)
        return Condition(self._conditions.short(regions.of(lambda end: end.kind == "open")))

    @property
    def verdict(self) -> Verdict:
        """Whether the run works always, sometimes or never; unknown if some paths were not followed.

        If data can make it fail, the verdict is "sometimes", even if `condition` is always true.
        """
        if not self.complete:
            return Verdict.UNKNOWN
        found = self.decision.verdict
        if not self.suitable.data or found is Verdict.NEVER:
            return found
        if not self.suitable.is_proved:
            return Verdict.UNKNOWN
        return Verdict.SOMETIMES if found is Verdict.ALWAYS else found

    @property
    def reason(self) -> str:
        """Why something is unknown; empty if nothing was left open."""
        untraced = next((o.untraced for o in self.exploration.outcomes if o.untraced is not None), None)
        if untraced is not None:
            return str(untraced)
        if self.exploration.pending:
            numbers = next((o.numbers[0] for o in self.exploration.outcomes if o.numbers), None)
            made = f"; {numbers} makes a number of a size: {numbers.source}" if numbers else ""
            left = len(self.exploration.pending)
            return f"{left} path{' was' if left == 1 else 's were'} not followed beyond {self.paths}{made}"
        if not self.suitable.is_proved:
            return "not decided: whether suitable data exist at all sizes of the condition"
        return self.decision.reason

    @cached_property
    def cases(self) -> tuple[Case, ...]:
        """The disjoint cases of the run; cases that work come first."""
        ends = dict.fromkeys((b.end.kind, b.end.key) for b in self.failing)
        firsts = {(b.end.kind, b.end.key): b.end for b in reversed(self.failing)}
        order = sorted((firsts[k] for k in ends if k[0] != "open"), key=lambda e: e.kind != "value")
        with counted_call():  # one call for all cases: there can be as many cases as paths
            return tuple(self._cases(order))

    def _cases(self, ends: Iterable[End]) -> Iterator[Case]:
        for end in ends:
            found = self._region(end.is_same)
            if found != FALSE:
                yield Case(Condition(found), end.value, self._error(end, found), end.place)

    def _error(self, end: End, when: Formula) -> str:
        """Return an error with its message at the smallest sizes of a case: one line may raise several messages."""
        if len({b.end.error for b in self.failing if end.is_same(b.end)}) < 2:
            return end.error
        sizes = Decision(self.knowledge, clauses(when)).witness()
        branch = None if sizes is None else self.failing_at(sizes)
        return end.error if branch is None else branch.end.error

    def witness(self) -> dict[str, int] | None:
        """Return the smallest input sizes at which the run works; None if none are known."""
        return self._named(self.decision.witness())

    def counterexample(self) -> dict[str, int] | None:
        """Return the smallest input sizes at which the run fails for all data; None if none are known."""
        if self.complete:
            return self._named(self.decision.counterexample())
        followed = self._region(lambda end: end.kind in ("value", "open"))
        own = frozenset(self.exploration.data)
        possible = divided(followed, own, self.always, self.input_knowledge).inputs
        return self._named(Decision(self.input_knowledge, [negate(possible)]).witness())

    def at(self, **sizes: int) -> Case | None:
        """Return the case that contains some sizes; None if that is unknown or depends on data."""
        given = {s: sizes[name] for s, name in self.names.items() if name in sizes or s in self.scope.names}
        known = (c for c in self.cases if symbols_in(c.when.formula).keys() <= given.keys())
        return next((c for c in known if holds_at(c.when.formula, given)), None)

    @property
    def shown(self) -> Mapping[Symbol, str]:
        """The names of the input sizes, in order."""
        return self.scope.names

    def guarded(self, with_assumptions: bool) -> Formula:
        """Return the condition, optionally together with the assumptions."""
        return self._subject.guarded(True) if with_assumptions else self.formula

    @property
    def unproven(self) -> tuple[Formula, ...]:
        """The conjuncts of the condition that were not proved to be needed next to the others."""
        return tuple(c for c in self.decision.clauses if c in self.decision.unproven)

    @property
    def unanalysed(self) -> tuple[str, ...]:
        """Why nothing is known about the sizes in `unexplored`; empty if every path was followed."""
        return () if self.complete else (self.reason,)

    @cached_property
    def _subject(self) -> ShapeEnv:
        """The input sizes with their assumptions, and the condition."""
        env = ShapeEnv(on_conflict="record", min_size=self.scope.min_size)
        for size in self.scope.names:
            env.met(size)
        env.assume(*self.scope.assumptions)
        for clause in clauses(self.formula):
            env.require(Assumption(clause))
        return env

    @cached_property
    def names(self) -> Mapping[Symbol, str]:
        """The names of all sizes, including data-dependent ones."""
        return {**self.scope.names, **{s: s.name for s in self.exploration.data}}

    @cached_property
    def knowledge(self) -> Knowledge:
        """The assumptions about all sizes."""
        return knowledge(tuple(self.names), self.scope.assumptions, self.scope.min_size)

    @cached_property
    def input_knowledge(self) -> Knowledge:
        """The assumptions about input sizes."""
        if not self.exploration.data:
            return self.knowledge
        return knowledge(tuple(self.scope.names), self.scope.assumptions, self.scope.min_size)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.verdict.value}, {self.paths} path{'s' * (self.paths != 1)}>"

    def __bool__(self) -> NoReturn:
        raise TypeError("an answer has no truth value: compare its .verdict")

    # Inside.

    @cached_property
    def decision(self) -> Decision:
        """The decision about the condition."""
        return Decision(self.input_knowledge, clauses(self.formula))

    @cached_property
    def data_decision(self) -> Decision:
        """The decision about the condition together with the requirements on data."""
        asked = [*clauses(self.formula), *self.suitable.data]
        return Decision(self.data_knowledge, asked)

    @cached_property
    def data_knowledge(self) -> Knowledge:
        """The assumptions about all sizes, and the facts that always hold for data-dependent sizes."""
        given = [*self.scope.assumptions, *map(Assumption, self.always)]
        return knowledge(tuple(self.names), given, self.scope.min_size)

    def _named(self, sizes: Mapping[Symbol, int] | None) -> dict[str, int] | None:
        return None if sizes is None else {name: sizes[s] for s, name in self.scope.names.items()}

    def _region(self, is_wanted: Callable[[End], bool]) -> Formula:
        with counted_call():
            return self._conditions.short(self._regions.of(is_wanted))

    @cached_property
    def _conditions(self) -> Conditions:
        return Conditions(self.knowledge)

    @cached_property
    def _regions(self) -> Regions:
        return Regions(self.failing, self.knowledge.domains)

    @cached_property
    def _branches(self) -> list[Branch]:
        """The paths as branches, each with its end."""
        found = [Branch(o.steps, _end_of(o)) for o in self.exploration.outcomes]
        return [*found, *(Branch(a.steps, End("open")) for a in self.exploration.pending)]

    @cached_property
    def failing(self) -> list[Branch]:
        """The paths, plus one failing path per requirement; requirements become decisions."""
        found: dict[object, Branch] = {}
        for branch in self._branches:
            taken: list[Step] = []
            for step in branch.steps:
                if step.kind == "require":
                    end = _failed(f"{step.error}: {step.reason}", step.place)
                    failing = (*taken, step._replace(kind="decide", formula=negate(step.formula)))
                    found.setdefault(tuple(s.formula for s in failing), Branch(failing, end))
                taken.append(step if step.kind == "suppose" else step._replace(kind="decide"))
            found.setdefault(tuple(s.formula for s in taken), Branch(tuple(taken), branch.end))
        return list(found.values())

    def failing_at(self, sizes: Mapping[Symbol, int]) -> Branch | None:
        """Return the failing path at some sizes; data-dependent sizes that are not given are tried as 0 to 3."""
        for number in range(4 if self.exploration.data.keys() - sizes.keys() else 1):
            at: dict[Symbol, int] = {**dict.fromkeys(self.exploration.data, number), **sizes}
            for branch in self.failing:
                if branch.end.kind == "error" and all(holds_at(s.formula, at) for s in branch.steps):
                    return branch
        return None


def _is_unconfirmed(outcome: Outcome) -> bool:
    return outcome.untraced is None and not outcome.is_confirmed


def _failed(error: str, place: Place) -> End:
    # Compare errors without their messages, which may contain numbers specific to one path.
    return End("error", (error.partition(":")[0], place), None, error, place)


def _end_of(outcome: Outcome) -> End:
    if outcome.untraced is not None:
        return End("open")
    if outcome.error is not None:
        return _failed(f"{type(outcome.error).__name__}: {outcome.error}", outcome.place)
    return End("value", repr(outcome.value), outcome.value)
