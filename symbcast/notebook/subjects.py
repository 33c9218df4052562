"""Extract a result's, program's or model's requirements on sizes, and determine who is to blame if they fail."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from symbcast.answers.explanation.evidence import Alignment
from symbcast.answers.explanation.words import axis_text
from symbcast.answers.public.env import ShapeEnv, program_of
from symbcast.answers.public.result import Result, call_of
from symbcast.core.algebra.formulas import FALSE, Formula, any_of, dims_of, equal, negate
from symbcast.core.algebra.symbols import Unknown
from symbcast.core.algebra.terms import Dim, Symbol
from symbcast.core.programs.arguments import own_set
from symbcast.core.programs.broadcast_call import BroadcastCall
from symbcast.core.programs.operations import operation_requirements
from symbcast.core.programs.program import Program
from symbcast.core.rules import OutputDim
from symbcast.core.rules.declaration import SIZE, Constraint
from symbcast.core.shapes import Shape
from symbcast.core.solver.decision import AssumptionSet, ContradictionError, Decision
from symbcast.core.solver.evaluation import predicate, replace_in_formula, symbols_in
from symbcast.core.structs import NamedTuple
from symbcast.core.verdicts import Verdict
from symbcast.errors import BindingError, ShapeTypeError
from symbcast.paths.answer import PathsAnswer, conclusions_of

if TYPE_CHECKING:
    from symbcast.onnx.report import ModelReport


class FailureSource(NamedTuple):
    """The source of a failing requirement: an axis of the aligned shapes, an operation by name, or the ranks.

    ``axis`` counts from the front; it is None for operations and ranks, and out of range if an operand extends beyond
    the output.
    """

    label: str
    axis: int | None = None


# Compared by identity: an operation may have this name, too.
RANKS = FailureSource("ranks")

# It is unknown whether it works there. Compared by identity, as above.
NOT_FOLLOWED = FailureSource("not followed")


@dataclass(frozen=True)
class SurveySubject:
    """A question about sizes, in the form that surveys use.

    ``requirements`` holds the formulas that must hold; ``blamed`` maps the positions of failing ones to positions in
    ``blames``. ``assumed`` holds the assumptions other than ``min_size`` and the symbols' own bounds; ``output`` is the
    output shape if all formulas hold, None for a program; ``condition`` returns the simplified formulas that must hold;
    ``own_evidence`` returns the answer's own witness and counterexample.
    """

    names: Mapping[Symbol, str]
    min_size: int
    assumed: tuple[Formula, ...]
    requirements: tuple[Formula, ...]
    blames: tuple[FailureSource, ...]
    blamed: Callable[[Sequence[int]], tuple[int, ...]]
    condition: Callable[[], Sequence[Formula]]
    output: tuple[OutputDim, ...] | None = None
    own_evidence: Callable[[], tuple[Mapping[str, int] | None, Mapping[str, int] | None]] | None = None

    def evidence(self, fixed: Mapping[Symbol, int]) -> tuple[Mapping[Symbol, int] | None, Mapping[Symbol, int] | None]:
        """Return the smallest witness and the smallest counterexample that include the given sizes.

        Each is None if it does not exist, or was not found.
        """
        if self.own_evidence is not None and not fixed:
            works, fails = self.own_evidence()
            return self._by_symbol(works), self._by_symbol(fails)
        known = self._known(fixed)
        if known is None:
            return None, None
        decision = Decision(known, self.condition())
        return decision.witness(), decision.counterexample()

    def _by_symbol(self, sizes: Mapping[str, int] | None) -> dict[Symbol, int] | None:
        return None if sizes is None else {s: sizes[name] for s, name in self.names.items()}

    def least(self, fixed: Mapping[Symbol, int]) -> dict[Symbol, int]:
        """Return the smallest sizes that the assumptions allow, given some of the sizes.

        If the assumptions contradict the given sizes, return the least size that each other symbol allows by itself.
        """
        known = self._known(fixed)
        witness = (known and Decision(known, ()).witness()) or {}
        return {s: fixed.get(s, witness.get(s, own_set(s, self.min_size).least(1) or 0)) for s in self.names}

    def first_sizes(self, s: Symbol, up_to: int) -> tuple[int, ...]:
        """Return the sizes from 0 to ``up_to``; if the symbol must be larger, return as many sizes from its least one.

        If the assumptions allow at most one of the sizes from 0, return the first sizes that they allow.
        """
        known = self._known({})
        stands = s if known is None else known.values.get(s, s)
        if isinstance(stands, int):
            return tuple(range(stands, stands + up_to + 1) if stands > up_to else range(up_to + 1))
        domain = own_set(s, self.min_size) if known is None else known.domains[stands]  # type: ignore[index]
        members = domain.first(up_to + 1)
        return tuple(range(up_to + 1) if sum(m <= up_to for m in members) > 1 or not members else members)

    def broken(self, sizes: Mapping[Symbol, int]) -> list[Formula]:
        """Return the requirements that fail at some sizes."""
        return [
            f for f in self.requirements if not predicate(f, used := tuple(symbols_in(f)))(*(sizes[s] for s in used))
        ]

    def pair(
        self, moved: Collection[Symbol], fixed: Mapping[Symbol, int]
    ) -> tuple[Mapping[Symbol, int], Mapping[Symbol, int]] | None:
        """Return the smallest pair of working and failing sizes that differ only in the moved symbols."""
        other: dict[Symbol, Symbol] = {s: Unknown(f"?{n}") for n, s in enumerate(moved)}
        own = {s: own_set(s, self.min_size) for s in self.names}
        premises = [*self.assumed, *(equal(s, size) for s, size in fixed.items()), *self.condition()]
        assumed = [replace_in_formula(f, other) for f in self.assumed if not other.keys().isdisjoint(symbols_in(f))]
        try:
            domains = {**own, **{there: own[s] for s, there in other.items()}}
            known = AssumptionSet(tuple(domains), domains, [*premises, *assumed])
        except ContradictionError:
            return None
        counterexample = Decision(known, [replace_in_formula(f, other) for f in self.condition()]).counterexample()
        if counterexample is None:
            return None
        return {s: counterexample[s] for s in self.names}, {s: counterexample[other.get(s, s)] for s in self.names}

    def _known(self, fixed: Mapping[Symbol, int]) -> AssumptionSet | None:
        """Return the assumptions combined with the given sizes; None if they contradict each other."""
        own = {s: own_set(s, self.min_size) for s in self.names}
        try:
            return AssumptionSet(tuple(own), own, [*self.assumed, *(equal(s, size) for s, size in fixed.items())])
        except ContradictionError:
            return None


def subject_of(value: Result | ShapeEnv | PathsAnswer | ModelReport) -> SurveySubject:
    """Return the question of a result, an environment, a traced function or a model's report.

    Raises `ShapeTypeError` for anything else, and `BindingError` if there are no symbols to vary.
    """
    if isinstance(value, Result):
        call = call_of(value)
        call.check_ranks("a plot")
        subject = _of_call(call) if call.scope is not None else None
    elif isinstance(value, ShapeEnv):
        program = program_of(value)
        program.check_ranks("a plot")
        subject = _of_program(program)
    elif isinstance(value, PathsAnswer):
        subject = _of_paths(value)
    else:
        subject = _of_report(value)
    if subject is None or not subject.names:
        raise BindingError(
            "all sizes here are integers", "there is nothing to vary: write a name such as 'N' for a size"
        )
    return subject


def _of_call(call: BroadcastCall) -> SurveySubject:
    assert call.scope is not None
    constraints = call.constraints
    alignment = Alignment(call)
    blames_of_each = [_blames(c, alignment) for c in constraints]
    all_blames = {blame for blames_of_one in blames_of_each for blame in blames_of_one}
    blames = tuple(sorted(all_blames, key=lambda b: (b.axis is not None, b.axis)))
    positions = [tuple(map(blames.index, blames_of_one)) for blames_of_one in blames_of_each]
    sized = [_dim_of_size(c, call) for c in constraints]
    about = [set(dims_of(c.requirement)) if d is None else set() for c, d in zip(constraints, sized, strict=True)]

    def blamed(failing: Sequence[int]) -> tuple[int, ...]:
        # Where a dimension is not a valid size, the rule's requirements on it do not count as failures.
        no_sizes = {sized[n] for n in failing if sized[n] is not None}
        return tuple(sorted({p for n in failing if no_sizes.isdisjoint(about[n]) for p in positions[n]}))

    return SurveySubject(
        names=call.scope.names,
        min_size=call.scope.min_size,
        assumed=tuple(a.formula for a in call.assumptions),
        requirements=tuple(c.requirement for c in constraints),
        blames=blames,
        blamed=blamed,
        condition=lambda: call.clauses,
        output=call.emission.output,
        own_evidence=lambda: (call.witness(), call.counterexample()),
    )


def _dim_of_size(constraint: Constraint, call: BroadcastCall) -> Dim | None:
    """Return the dimension that a constraint requires to be a size; None for a rule's requirement."""
    origin = constraint.origin
    if constraint.code != SIZE.code or origin.axis is None:
        return None
    return call.operands[origin.operands[0]].dims[origin.axis]


def _blames(constraint: Constraint, alignment: Alignment) -> list[FailureSource]:
    if constraint.requirement == FALSE and constraint.origin.axis is None:
        return [RANKS]
    rank = alignment.places.rank
    return [FailureSource(_axis_label(axis, rank), axis) for axis in alignment.axes_of(constraint)]


def _axis_label(axis: int, rank: int) -> str:
    if 0 <= axis < rank:
        return axis_text(axis, rank)
    return f"axis {axis} ({'past the end' if axis >= rank else 'before the front'})"


def _of_program(env: Program) -> SurveySubject:
    asking = [(op, requirements) for op in env.operations if (requirements := operation_requirements(op))]
    formulas = list(dict.fromkeys(f for _, requirements in asking for f in requirements))
    place = {f: n for n, f in enumerate(formulas)}
    labels = {op.name: None for op, _ in asking}
    number = {label: n for n, label in enumerate(labels)}
    operations = [(number[op.name], {place[f] for f in requirements}) for op, requirements in asking]

    def blamed(failing: Sequence[int]) -> tuple[int, ...]:
        # A program stops at the first operation that fails: later ones are not reached.
        return next(((blame,) for blame, requirements in operations if not requirements.isdisjoint(failing)), ())

    return SurveySubject(
        names=env.shown,
        min_size=env.min_size,
        assumed=tuple(a.formula for a in env.assumptions),
        requirements=tuple(formulas),
        blames=tuple(map(FailureSource, labels)),
        blamed=blamed,
        condition=lambda: env.clauses,
    )


def _of_paths(answer: PathsAnswer) -> SurveySubject:
    """Return a function's requirements: each failing line is to blame for the sizes at which it fails."""
    scope = conclusions_of(answer).scope
    regions: dict[FailureSource, list[Formula]] = {}
    for case in answer.cases:
        if not case.works:
            label = str(case.place) if case.place else case.error.partition(":")[0]
            regions.setdefault(FailureSource(label), []).append(case.condition.formula)
    if not answer.complete:
        regions[NOT_FOLLOWED] = [answer.unexplored.formula]
    requirements = tuple(negate(any_of(region)) for region in regions.values())
    if any(s not in scope.names for f in requirements for s in symbols_in(f)):
        raise BindingError("for which sizes the function works depends on data", "see its .condition")
    shapes = [case.value for case in answer.cases if case.works]
    return SurveySubject(
        names=scope.names,
        min_size=scope.min_size,
        assumed=tuple(a.formula for a in scope.assumptions),
        requirements=requirements,
        blames=tuple(regions),
        blamed=tuple,
        condition=lambda: requirements,
        output=shapes[0].dims if len(shapes) == 1 and isinstance(shapes[0], Shape) else None,
    )


def _of_report(report: Any) -> SurveySubject:
    from symbcast.onnx.report import ModelReport

    if not isinstance(report, ModelReport):
        expected = "a result, an environment, a traced function or a model's report"
        if isinstance(report, str):
            raise ShapeTypeError(report, expected, f"write plot(symbcast.broadcast({report!r}, ...))")
        raise ShapeTypeError(report, expected, "call symbcast.broadcast(...), ShapeEnv or symbcast.onnx.check first")
    checked = report._checked
    decided_by_data = checked.asker.origins.keys()
    if not decided_by_data:
        return _of_program(checked.env)
    return _of_open_model(report, frozenset(decided_by_data))


def _of_open_model(report: ModelReport, decided_by_data: frozenset[Symbol]) -> SurveySubject:
    """Return a model's requirements on its input sizes, if it also has sizes that data decide."""
    env = report._checked.env
    findings = [f for f in report.findings if not f.is_about_data]
    labels = list(dict.fromkeys(f.node for f in findings))
    requirements = [f.formula for f in findings if f.formula is not None]
    if report.verdict is Verdict.NEVER:
        # The findings are the nodes that conflict; each of them may hold on its own.
        requirements = [FALSE]

    def blamed(failing: Sequence[int]) -> tuple[int, ...]:
        nodes = labels if requirements == [FALSE] else [findings[n].node for n in failing]
        return tuple(sorted({labels.index(node) for node in nodes}))

    return SurveySubject(
        names={s: name for s, name in env.shown.items() if s not in decided_by_data},
        min_size=env.min_size,
        assumed=tuple(a.formula for a in env.assumptions if decided_by_data.isdisjoint(symbols_in(a.formula))),
        requirements=tuple(requirements),
        blames=tuple(map(FailureSource, labels)),
        blamed=blamed,
        condition=lambda: requirements,
    )
