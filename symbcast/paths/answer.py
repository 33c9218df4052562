"""The answer about a run: cases, findings by line, the certificate, and the same as data for JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Any, NoReturn

from symbcast.answers.explanation.words import Namer, in_words
from symbcast.answers.findings import shape_at
from symbcast.answers.guards.stablehlo import CheckedRequirement
from symbcast.answers.program_report import dims_data
from symbcast.answers.public.answer import Answer, ModuleAnswer
from symbcast.answers.public.conditions import Condition, GenericAnswer, generic_of
from symbcast.core.account import Account
from symbcast.core.advice import Guessable, guessed_meanings
from symbcast.core.algebra.formulas import FALSE, TRUE, Formula, all_of, any_of, at_most, clauses, negate
from symbcast.core.algebra.terms import Symbol, symbols_of
from symbcast.core.characters import sizes_text
from symbcast.core.effort import counted_call, one_call
from symbcast.core.programs import arguments, certificates
from symbcast.core.programs.arguments import Sizes
from symbcast.core.programs.certificates import Certificate, Claim, Proof, ProofQuestion
from symbcast.core.programs.conditions import Statement, condition_about, condition_of_answer, public_condition
from symbcast.core.programs.program import Program
from symbcast.core.programs.scope import Scope
from symbcast.core.shapes import Shape
from symbcast.core.solver.counterexamples import ClauseFailures
from symbcast.core.solver.decision import Decision
from symbcast.core.solver.evaluation import holds_at, symbols_in
from symbcast.core.solver.f2_one_size.set_formulas import gathered
from symbcast.core.verdicts import Verdict
from symbcast.errors import UndecidedError
from symbcast.operators.operator import Dims
from symbcast.paths.conclusions import Conclusions
from symbcast.paths.exploration import Exploration, Observation
from symbcast.paths.observation import observed
from symbcast.paths.real_calls import CallsWithNumbers
from symbcast.paths.regions import Branch
from symbcast.paths.steps import CodePlace, line_text


@dataclass(frozen=True, kw_only=True)
class PathFinding:
    """A conjunct of a run's condition; if no sizes are known to work, a line that fails.

    Attributes:
        file: The file of the line that fails first at `counterexample`; empty if unknown.
        line: Its line number, from 1.
        source: The text of the line.
        operation: The failing operation, such as ``"matmul"``; empty if the user's code raises the error.
        operands: The shapes of its operands.
        formula: The requirement.
        text: The requirement as text that `symbcast.Condition` reads back.
        words: The requirement in words.
        error: The type and reason of the error.
        counterexample: The smallest sizes that violate this conjunct and, if possible, no other.
        sizes_there: The operands' shapes at these sizes.
        fix: The suggested fix.
    """

    file: str = ""
    line: int = 0
    source: str = ""
    operation: str = ""
    operands: tuple[Dims, ...] = ()
    formula: Formula = field(repr=False)
    text: str
    words: str
    error: str = ""
    counterexample: dict[str, int] | None = field(default=None, hash=False)
    sizes_there: str = ""
    fix: str = ""

    @property
    def condition(self) -> Statement:
        """The requirement as a `symbcast.Condition`."""
        return public_condition(self.text)

    @property
    def requirement(self) -> CheckedRequirement:
        """The requirement as a check of generated code, with the line that fails as its place."""
        line = line_text(self.file, self.line) if self.file else ""
        place = line or self.operation
        because = f": {self.error}" if self.error else ""
        return CheckedRequirement(self.formula, place, f"{place or 'the run'} requires {self.text}{because}")

    @property
    def works(self) -> str:
        """The sizes at which the run works according to this finding, as in "works only when N is even"."""
        return "works for no sizes" if self.formula == FALSE else f"works only when {self.words}"

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.words}"


def findings_of(paths: Conclusions) -> Iterator[PathFinding]:
    """Yield the findings of a run: each conjunct, with the line that fails first where it does not hold."""
    namer = Namer.of(paths.names)
    known: dict[int, ClauseFailures] = {}
    for decision, clause in conjuncts_of(paths):
        if clause == FALSE:
            sizes: Mapping[Symbol, int] | None = decision.counterexample()
        else:
            if id(decision) not in known:
                known[id(decision)] = ClauseFailures(decision, decision.clauses)
            sizes = known[id(decision)].at(clause)
        branch = None if sizes is None else paths.failing_at(sizes)
        yield _finding(paths, clause, sizes, branch, namer)


def conjuncts_of(paths: Conclusions) -> Iterator[tuple[Decision, Formula]]:
    """Yield the conjuncts of the condition, then those about data, each with the decision that it belongs to."""
    decision = paths.decision
    if decision.verdict is not Verdict.ALWAYS:
        yield from ((decision, clause) for clause in decision.clauses)
    # Of an open answer, it is not known whether data can violate what some paths require of them.
    if paths.suitable.data and paths.exploration.is_complete and decision.verdict is not Verdict.NEVER:
        data, sizes = paths.data_decision, paths.exploration.data
        yield from ((data, clause) for clause in data.clauses if not symbols_in(clause).keys().isdisjoint(sizes))


def _finding(
    paths: Conclusions, clause: Formula, sizes: Mapping[Symbol, int] | None, branch: Branch | None, namer: Namer
) -> PathFinding:
    place = branch.end.place if branch is not None else None
    step = branch.steps[-1] if branch is not None and branch.steps and branch.steps[-1].error else None
    operands = () if step is None else tuple(o for o in step.operands if o)
    text, said = namer.formula(clause), in_words(clause, namer)
    return PathFinding(
        file="" if place is None else place.file,
        line=0 if place is None else place.line,
        source="" if place is None else place.source,
        operation="" if step is None else step.operation,
        operands=operands,
        formula=clause,
        text=text,
        words=said,
        error="" if branch is None else branch.end.error,
        counterexample=None if sizes is None else {name: sizes[s] for s, name in paths.names.items() if s in sizes},
        sizes_there="" if sizes is None else _there(operands, sizes),
        fix=_fix(paths, clause, text) if clause != FALSE else "",
    )


def _there(operands: Sequence[Dims], sizes: Mapping[Symbol, int]) -> str:
    """Return operands at some sizes as text; empty if a data-dependent size is not given."""
    if any(s not in sizes for o in operands for s in symbols_of(o)):
        return ""
    return " and ".join(shape_at(o, sizes) for o in operands)


def _fix(paths: Conclusions, clause: Formula, text: str) -> str:
    short = gathered(clause)
    text = text if short == clause else Namer.of(paths.names).formula(short)
    if symbols_in(clause).keys().isdisjoint(paths.exploration.data):
        return f"call it only where {text}, or check that before"
    return f"check that the data satisfy {text} before"


@dataclass(frozen=True, eq=False)
class PathCase(Guessable):
    """A region of sizes at which a run always behaves the same way.

    Attributes:
        condition: the region, under the assumptions.
        value: the returned value in its own structure, with sizes as sympy expressions; None if the run fails.
        error: the error's type and its message at the smallest sizes of the region; empty if the run returns.
        place: the line that fails.
    """

    _meanings = guessed_meanings(
        "when guard region -> condition",
        "result output shape shapes returns -> value",
        "exception raises message -> error",
        "line file location -> place",
        "ok succeeds valid -> works",
    )

    condition: Condition
    value: Any = None
    error: str = ""
    place: CodePlace | None = None

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

    If real calls at all small sizes say what the paths left open, `observed` has that, and the verdict is "observed"
    unless some sizes are proved to work or to fail, and others do not. The verdict is "sometimes" if some sizes are
    known to work and others to fail, even if others still are open, and if data can make the run fail, even if
    `condition` is always true. Evidence fails whatever the data.
    """

    _meanings = guessed_meanings(
        "result output outputs returns shape return_shape -> shapes, or cases",
        "branches -> cases",
        "exceptions raises lines failures errors -> findings",
        "is_complete finished -> complete",
        "unknown_sizes -> unexplored",
        "symbols sizes -> guard().parameters",
        base=Answer._meanings,
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
        return generic_of(self._subject) if self.complete else None

    @property
    def data_sizes(self) -> dict[str, str]:
        """The data-dependent numbers by name, each with the line that it comes from."""
        sizes = self._conclusions.exploration.data
        return {size.name: f"{place}: {place.source}" for size, (place, _) in sizes.items()}

    @property
    def condition(self) -> Condition:
        """The condition on input sizes under which the run works.

        If some paths were not followed, it is necessary only: `account` has the sizes that are proved to work. If the
        result also depends on data, it is necessary, and sufficient if the data are suitable: see `data_condition`.
        """
        return self._condition

    # Public names of answers are plain properties, which cannot be assigned; a cached one could be.
    @cached_property
    def _condition(self) -> Condition:
        return condition_of_answer(Condition, self._conclusions.formula, self._subject)

    @cached_property
    def data_condition(self) -> Condition:
        """The additional requirements on data-dependent sizes."""
        return condition_about(Condition, all_of(self._conclusions.suitable.data), self._conclusions.names)

    @cached_property
    def unexplored(self) -> Condition:
        """The sizes about which nothing is known: those of paths that were not followed to their end."""
        return Condition(self._conclusions.unexplored)

    @cached_property
    def unconfirmed(self) -> Condition:
        """The sizes of paths that no call with numbers confirmed because none of their sizes are small enough."""
        return Condition(self._conclusions.unconfirmed)

    @property
    def observed(self) -> Observation | None:
        """What real calls at all small sizes did, if some paths were not followed; it proves nothing."""
        return self._conclusions.exploration.observation

    def _observe(self, calls: CallsWithNumbers) -> None:
        """Call what was run at all small sizes, if some paths were not followed."""
        if not self.complete:
            self._conclusions.exploration = observed(self._conclusions, calls)

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
    def cases(self) -> tuple[PathCase, ...]:
        """The disjoint cases of the run; cases that work come first."""
        return _cases(self._conclusions)

    @property
    def shapes(self) -> Any:
        """The result in its own structure, with arrays as their shapes and sizes as expressions.

        None if it differs between cases: see `cases`.
        """
        values = [c.value for c in self.cases if c.works]
        return values[0] if len(values) == 1 else None

    def at(self, **sizes: int) -> PathCase | None:
        """Return the case that contains some sizes; None if that is unknown or depends on data."""
        at = {
            s: sizes[name]
            for s, name in self._conclusions.names.items()
            if name in sizes or s in self._conclusions.scope.names
        }
        return self._case_at(at)

    @one_call
    def evaluate(self, sizes: Sizes | None = None, /, **named: int) -> Any:
        """Return the result at given sizes in its own structure: arrays as their shapes, sizes as numbers.

        An axis or a size is None if data decide it. Raises as `Answer.evaluate`, and `UndecidedError` if data, or paths
        that were not followed, decide what is returned.
        """
        from symbcast.answers.public.evaluation import dims_in, result_at, working_sizes

        used = [*dims_in([c.value for c in self.cases if c.works]), *self._sizes_of_cases]
        asked = working_sizes(self, sizes, named, used)
        values = [case.value for case in self.cases if case.works and self._may_hold(case, asked.by_symbol)]
        results = [result_at(value, asked.by_symbol) for value in values]
        if results and all(result == results[0] for result in results) and self.complete:
            return results[0]
        known = self._case_at(asked.by_symbol)
        if known is not None and known.works:
            return result_at(known.value, asked.by_symbol)
        why = self.reason if not self.complete else "data decide what is returned"
        raise UndecidedError(f"what {self._called} returns at {sizes_text(asked.by_name)}: {why}")

    @property
    def _sizes_of_cases(self) -> list[Symbol]:
        return [s for case in self.cases for s in symbols_in(case.condition.formula)]

    def _may_hold(self, case: PathCase, at: Mapping[Symbol, int]) -> bool:
        """Return whether sizes may be in a case: where data decide, they may."""
        formula = case.condition.formula
        return not symbols_in(formula).keys() <= at.keys() or holds_at(formula, at)

    def _case_at(self, at: Mapping[Symbol, int]) -> PathCase | None:
        known = (c for c in self.cases if symbols_in(c.condition.formula).keys() <= at.keys())
        return next((c for c in known if holds_at(c.condition.formula, at)), None)

    @property
    def _called(self) -> str:
        return "the run"

    def _failure_at(self, sizes: Mapping[str, int]) -> str:
        case = self._case_at({s: sizes[name] for s, name in self._conclusions.names.items() if name in sizes})
        return "" if case is None or case.works else f"{case.error}{f' at {case.place}' if case.place else ''}"

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
        return certify_run(self._conclusions, self.verdict, self._open)

    @property
    def _subject(self) -> Program:
        return self._conclusions.program

    @property
    def _known(self) -> Conclusions:
        return self._conclusions

    @property
    def _shown(self) -> Mapping[Symbol, str]:
        return self._conclusions.scope.names

    @property
    def _account(self) -> Account:
        conclusions = self._conclusions
        is_exact = conclusions.exploration.is_complete and conclusions.suitable.is_proved
        return Account(conclusions.formula, conclusions.formula) if is_exact else self.account

    @property
    def _data(self) -> Sequence[Formula]:
        return tuple(clauses(self.data_condition.formula))

    @property
    def _open(self) -> str:
        return "" if self.complete else self.reason

    def _requirements(self) -> tuple[CheckedRequirement, ...]:
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


def _cases(conclusions: Conclusions, are_working: bool = False) -> tuple[PathCase, ...]:
    with counted_call():  # one call for all cases: there may be as many cases as paths
        cases = conclusions.cases(are_working)
        return tuple(PathCase(Condition(when), end.value, error, end.place) for when, end, error in cases)


def first_findings(answer: PathsAnswer, most: int) -> tuple[list[PathFinding], int]:
    """Return the first findings, and the number of all, which are only counted where that is enough."""
    known = answer._first_findings
    if most not in known:
        findings = findings_of(answer._conclusions)
        first = [answer._suited(finding) for finding in islice(findings, most)]
        # If every path was followed, each conjunct has a finding.
        left = None if answer.complete else sum(1 for _ in findings)
        known[most] = first, sum(1 for _ in conjuncts_of(answer._conclusions)) if left is None else len(first) + left
    return known[most]


def working_cases(answer: PathsAnswer) -> tuple[PathCase, ...]:
    """Return the cases that work, without computing the others."""
    return _cases(answer._conclusions, are_working=True)


# Certificates of runs: z3 proves the condition from the decisions and requirements of the paths.


def certify_run(conclusions: Conclusions, verdict: Verdict, left_open: str) -> Certificate:
    """Return z3's verdict on the answer about a run; ``left_open`` says what is not covered, empty if nothing.

    What is raw are the paths: the run returns wherever all steps of one of them hold that ended with a value. If some
    were not followed, the condition is what the run needs: where it does not hold, a path fails.
    """
    exploration = conclusions.exploration
    returning = any_of(all_of(step.formula for step in o.steps) for o in exploration.outcomes if o.works)
    least = conclusions.scope.min_size
    known = arguments.assumed_formulas(
        conclusions.names, conclusions.scope.assumptions, 0 if exploration.data else least
    )
    question = ProofQuestion(
        conclusions.names, [*known, *(at_most(least, s) for s in conclusions.scope.names if least)], [returning]
    )
    is_exact = exploration.is_complete and not exploration.data
    claims = certificates.answer_claims(question, clauses(conclusions.formula), verdict, is_sufficient=is_exact)
    if exploration.data:
        claims.append(Claim("wherever the condition holds, suitable data exist", Proof.UNDECIDED, _DATA))
    elif is_exact:
        claims += certificates.evidence_claims(question, verdict, (conclusions.witness(), conclusions.counterexample()))
        claims += _of_results(conclusions, question)
    else:
        claims += _of_followed(conclusions, question, returning)
    if left_open:
        claims.append(Claim("every path was followed", Proof.UNDECIDED, left_open))
    return Certificate(tuple(claims))


_DATA = "z3 is not asked about data"


def _of_results(conclusions: Conclusions, question: ProofQuestion) -> list[Claim]:
    """Return the claim about each result: the sizes shown for it are those of the paths that return it."""
    questions = {}
    for where, end, _ in conclusions.cases(are_working=True):
        paths = conclusions.paths_to(end)
        differ = any_of([all_of([where, negate(paths)]), all_of([paths, negate(where)])])
        questions[f"{end.value} is returned where it is said to be, and nowhere else"] = [differ]
    return certificates.further_claims(question, questions)


def _of_followed(conclusions: Conclusions, question: ProofQuestion, returning: Formula) -> list[Claim]:
    """Return the claims about the sizes that are proved to work and to fail, though some paths were not followed."""
    failing = any_of(all_of(s.formula for s in b.steps) for b in conclusions.failing if b.end.kind == "error")
    needed, works = conclusions.formula, conclusions.works
    questions = {
        "at the sizes proved to work, a path returns": [works, negate(returning)],
        "where the condition does not hold, a path fails": [negate(needed), negate(failing)],
    }
    return certificates.further_claims(question, questions)


def paths_to_dict(report: PathsAnswer) -> dict[str, Any]:
    """Return an answer as data that `json.dumps` takes, the same on every run.

    A shape is a list of numbers and text that `symbcast.core.text` reads back.
    """
    conclusions = conclusions_of(report)
    namer = Namer.of(conclusions.names)
    return {
        "min_size": report.min_size,
        "assumptions": list(report.assumptions),
        "verdict": report.verdict.value,
        "reason": report.reason,
        "complete": report.complete,
        "paths": report.paths,
        "condition": namer.formula(conclusions.formula),
        "data_condition": namer.formula(all_of(conclusions.suitable.data)),
        "unexplored": str(report.unexplored),
        "unconfirmed": str(report.unconfirmed),
        "account": {
            "works": namer.formula(report.account.works),
            "needed": namer.formula(report.account.needed),
            "open": [{"where": namer.formula(o.where), "reason": o.reason} for o in report.account.open],
            "working": [dict(point) for point in report.account.working],
            "failing": [dict(point) for point in report.account.failing],
        },
        "observed": _observed_data(report.observed, namer),
        "witness": report.witness(),
        "counterexample": report.counterexample(),
        "cases": [
            {
                "condition": str(c.condition),
                "value": _value(c.value, namer) if c.works else None,
                "error": c.error,
                "file": c.place.file if c.place else "",
                "line": c.place.line if c.place else 0,
            }
            for c in report.cases
        ],
        "findings": [_finding_data(f, namer) for f in report.findings],
        "data_sizes": report.data_sizes,
    }


def _finding_data(finding: PathFinding, namer: Namer) -> dict[str, Any]:
    data = {**vars(finding), "operands": [dims_data(o, namer) for o in finding.operands], "condition": finding.text}
    return {key: value for key, value in data.items() if key not in ("formula", "text")}


def _observed_data(seen: Observation | None, namer: Namer) -> dict[str, Any] | None:
    if seen is None:
        return None
    counts = {"tried": seen.tried, "largest": seen.largest, "larger": seen.larger, "works": seen.works}
    return {"condition": str(seen.condition), "value": _value(seen.shapes, namer), **counts}


def _value(value: Any, namer: Namer) -> Any:
    if hasattr(value, "dims"):
        return {"shape": dims_data(value.dims, namer)}
    if isinstance(value, dict):
        return {str(k): _value(v, namer) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_value(v, namer) for v in value]
    return value if isinstance(value, (bool, int, float, str, type(None))) else str(value)
