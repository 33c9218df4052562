"""The answer about a run: when it works, the result of each case, and the paths not followed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, NoReturn

from symbcast.answers.public.answer import Answer
from symbcast.answers.public.conditions import Condition
from symbcast.answers.public.modules import ModuleAnswer
from symbcast.core.account import Account
from symbcast.core.effort import call as counted_call
from symbcast.core.guesses import Guessable, meant
from symbcast.core.logic.formulas import TRUE, Formula, all_of, clauses
from symbcast.core.program.sizes.scope import Scope
from symbcast.core.program.statements.statement import about, of_answer
from symbcast.core.program.whole.program import Program
from symbcast.core.shapes import Shape
from symbcast.core.solver.budget import one_call
from symbcast.core.solver.evaluation.evaluation import holds_at
from symbcast.core.solver.groups.normal_form import symbols_in
from symbcast.core.verdicts import Verdict
from symbcast.paths.conclusions.conclusions import Conclusions
from symbcast.paths.conclusions.findings import PathFinding, conjuncts_of, findings_of
from symbcast.paths.places import Place
from symbcast.paths.runs.exploration import Exploration

if TYPE_CHECKING:
    from symbcast.answers.guards import Requirement
    from symbcast.answers.public.generic import GenericAnswer
    from symbcast.core.algebra.symbols import Symbol
    from symbcast.core.program.calls.certificate import Certificate


@dataclass(frozen=True, eq=False)
class Case(Guessable):
    """A region of sizes at which a run always behaves the same way.

    Attributes:
        condition: the region, under the assumptions.
        value: the returned value in its own structure, with sizes as sympy expressions; None if the run fails.
        error: the error's type and its message at the smallest sizes of the region; empty if the run returns.
        place: the line that fails.
    """

    _meant = meant(
        "when guard region -> condition",
        "result output shape shapes returns -> value",
        "exception raises message -> error",
        "line file location -> place",
        "ok succeeds valid -> works",
    )

    condition: Condition
    value: Any = None
    error: str = ""
    place: Place | None = None

    @property
    def works(self) -> bool:
        """Whether the run returns."""
        return not self.error

    def __repr__(self) -> str:
        where = f" at {self.place}" if self.place else ""
        return f"<Case when {self.condition}: {f'{self.error}{where}' if self.error else self.value}>"


class PathsAnswer(ModuleAnswer):
    """The sizes at which a run works, and its behaviour in each case.

    Everything is computed lazily. If some paths were not followed (`complete` is False), `condition` is what is proved
    to be required, and ``account`` says which sizes are proved to work, which are open and why, and at which points
    real calls worked or failed. The condition is about input sizes only; conditions on data-dependent sizes are in
    `data_condition`.
    """

    _meant = meant(
        "result output outputs returns shape return_shape -> shapes, or cases",
        "branches -> cases",
        "exceptions raises lines failures errors -> findings",
        "is_complete finished -> complete",
        "unknown_sizes -> unexplored",
        "symbols sizes -> guard().parameters",
        base=Answer._meant,
    )

    def __init__(self, scope: Scope, exploration: Exploration) -> None:
        self._conclusions = Conclusions(scope, exploration)
        self._first_findings: dict[int, tuple[list[PathFinding], int]] = {}

    @property
    def complete(self) -> bool:
        """Whether every path was followed to its end."""
        return self._conclusions.exploration.is_complete

    @property
    def paths(self) -> int:
        """How many paths were followed."""
        return len(self._conclusions.exploration.outcomes)

    @property
    def title(self) -> str:
        """What was run."""
        return f"a run over {', '.join(self._conclusions.scope.names.values())}"

    @property
    def assumptions(self) -> tuple[str, ...]:
        """The assumptions about the sizes, as text."""
        return tuple(a.text for a in self._conclusions.scope.assumptions)

    @property
    def min_size(self) -> int:
        """The minimum size of every name."""
        return self._conclusions.scope.min_size

    @property
    def generic(self) -> GenericAnswer | None:
        """The answer for large sizes and those for smaller ones; None if the one for all sizes is decided and short.

        It is None too if not all paths were followed.
        """
        from symbcast.answers.public.generic import generic_of

        return generic_of(self._subject) if self.complete else None

    @property
    def data_sizes(self) -> dict[str, str]:
        """The data-dependent numbers by name, each with the line that it comes from."""
        found = self._conclusions.exploration.data
        return {size.name: f"{place}: {place.source}" for size, (place, _) in found.items()}

    @property
    def condition(self) -> Condition:
        """The condition on input sizes under which the run works.

        If some paths were not followed, it is necessary only: `account` has the sizes that are proved to work. If the
        result also depends on data, it is necessary, and sufficient if the data are suitable: see `data_condition`.
        """
        return self._condition

    @cached_property
    def _condition(self) -> Condition:
        return of_answer(Condition, self._conclusions.formula, self._subject)

    @cached_property
    def data_condition(self) -> Condition:
        """The additional requirements on data-dependent sizes."""
        return about(Condition, all_of(self._conclusions.suitable.data), self._conclusions.names)

    @cached_property
    def unexplored(self) -> Condition:
        """The sizes about which nothing is known: those of paths that were not followed to their end."""
        return Condition(self._conclusions.unexplored)

    @cached_property
    def unconfirmed(self) -> Condition:
        """The sizes of paths that no call with numbers confirmed because none of their sizes are small enough."""
        return Condition(self._conclusions.unconfirmed)

    @property
    def verdict(self) -> Verdict:
        """Whether the run works always, sometimes or never, or this is unknown.

        It is "sometimes" if some sizes are known to work and others to fail, even if others still are open, and if data
        can make it fail, even if `condition` is always true.
        """
        return self._conclusions.verdict

    @property
    def account(self) -> Account:
        """What is known: the sizes proved to work and to fail, points of both kinds, and what is open, with reasons."""
        return self._conclusions.account

    @property
    def reason(self) -> str:
        """Why something is unknown; empty if nothing was left open."""
        return self._conclusions.reason

    def witness(self) -> dict[str, int] | None:
        """Return the smallest input sizes at which the run works; None if none are known."""
        return self._conclusions.witness()

    def counterexample(self) -> dict[str, int] | None:
        """Return the smallest input sizes at which the run fails whatever the data; None if none are known."""
        return self._conclusions.counterexample()

    @property
    def unproven(self) -> tuple[Formula, ...]:
        """The conjuncts of the condition that were not proved necessary given the others."""
        return self._conclusions.unproven

    @property
    def findings(self) -> tuple[PathFinding, ...]:
        """The conjuncts of the condition, each with the line that fails first where it does not hold."""
        return self._findings

    @cached_property
    def _findings(self) -> tuple[PathFinding, ...]:
        return tuple(map(self._suited, findings_of(self._conclusions)))

    def _suited(self, finding: PathFinding) -> PathFinding:
        """Return a finding in the words of this kind of run."""
        return finding

    @cached_property
    def cases(self) -> tuple[Case, ...]:
        """The disjoint cases of the run; cases that work come first."""
        return _cases(self._conclusions)

    @property
    def shapes(self) -> Any:
        """The result in its own structure, with arrays as their shapes and sizes as expressions.

        None if it differs between cases: see `cases`.
        """
        values = [c.value for c in self.cases if c.works]
        return values[0] if len(values) == 1 else None

    def at(self, **sizes: int) -> Case | None:
        """Return the case that contains some sizes; None if that is unknown or depends on data."""
        given = {
            s: sizes[name]
            for s, name in self._conclusions.names.items()
            if name in sizes or s in self._conclusions.scope.names
        }
        known = (c for c in self.cases if symbols_in(c.condition.formula).keys() <= given.keys())
        return next((c for c in known if holds_at(c.condition.formula, given)), None)

    @property
    def unanalysed(self) -> tuple[str, ...]:
        """Why nothing is known about the sizes in `unexplored`; empty if every path was followed."""
        return () if self.complete else (self.reason,)

    @one_call
    def certify(self) -> Certificate:
        """Check the answer with z3: whether condition and verdict follow from the steps of the paths.

        The steps are the decisions and requirements as the run met them, with what their terms need to have values.
        Paths that were not followed, and what data decide, are undecided.
        """
        from symbcast.paths.conclusions.certificate import certify_run

        return certify_run(self._conclusions, self.verdict, self._open)

    @property
    def _subject(self) -> Program:
        return self._conclusions.program

    @property
    def _shown(self) -> Mapping[Symbol, str]:
        return self._conclusions.scope.names

    @property
    def _account(self) -> Account:
        found = self._conclusions
        is_exact = found.exploration.is_complete and found.suitable.is_proved
        return Account(found.formula, found.formula) if is_exact else self.account

    @property
    def _data(self) -> Sequence[Formula]:
        return tuple(clauses(self.data_condition.formula))

    @property
    def _open(self) -> str:
        return "" if self.complete else self.reason

    def _requirements(self) -> tuple[Requirement, ...]:
        return tuple(f.requirement for f in self.findings)

    def _outputs(self) -> Mapping[str, Shape | None]:
        if self.shapes is None:
            return {"output": None}
        return dict(named_shapes(self.shapes))

    def _not_covered(self) -> Iterator[str]:
        yield from super()._not_covered()
        if self.data_condition.formula != TRUE:
            yield f"Data must meet: {self.data_condition}"

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.verdict.value}, {self.paths} path{'s' * (self.paths != 1)}>"

    def __bool__(self) -> NoReturn:
        raise TypeError("an answer has no truth value: compare its .verdict")


def named_shapes(value: object, name: str = "output") -> Iterator[tuple[str, Shape]]:
    """Yield the shapes in a returned value, named by their places: ``output_0``, ``output_mean``."""
    if isinstance(value, Shape):
        yield name, value
    elif isinstance(value, Mapping):
        for key, part in value.items():
            yield from named_shapes(part, f"{name}_{key}")
    elif isinstance(value, list | tuple):
        for place, part in enumerate(value):
            yield from named_shapes(part, f"{name}_{place}")


def conclusions_of(answer: PathsAnswer) -> Conclusions:
    """Return the conclusions that an answer shows."""
    return answer._conclusions


def _cases(conclusions: Conclusions, are_working: bool = False) -> tuple[Case, ...]:
    with counted_call():  # one call for all cases: there may be as many cases as paths
        found = conclusions.cases(are_working)
        return tuple(Case(Condition(when), end.value, error, end.place) for when, end, error in found)


def first_findings(answer: PathsAnswer, most: int) -> tuple[list[PathFinding], int]:
    """Return the first findings, and the number of all, which are only counted where that is enough."""
    known = answer._first_findings
    if most not in known:
        found = findings_of(answer._conclusions)
        first = [answer._suited(finding) for finding in islice(found, most)]
        # If every path was followed, each conjunct has a finding.
        left = None if answer.complete else sum(1 for _ in found)
        known[most] = first, sum(1 for _ in conjuncts_of(answer._conclusions)) if left is None else len(first) + left
    return known[most]


def working_cases(answer: PathsAnswer) -> tuple[Case, ...]:
    """Return the cases that work, without computing the others."""
    return _cases(answer._conclusions, are_working=True)
