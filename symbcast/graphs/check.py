"""Check models, one or many: give inputs symbolic sizes, walk the nodes, and combine their requirements."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from os import PathLike, fspath
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

from symbcast.core.algebra.bounds import Bounds
from symbcast.core.algebra.formulas import Comparison, at_most
from symbcast.core.algebra.symbols import Unknown, sequences_of
from symbcast.core.algebra.terms import Symbol
from symbcast.core.programs.assumptions import Assumption, Assumptions, check_min_size, read_assumptions
from symbcast.core.programs.program import Program
from symbcast.core.solver.budget import check_budget, within_optional
from symbcast.core.solver.normal_form import symbols_in
from symbcast.core.verdicts import Verdict
from symbcast.errors import AssumptionError, MissingExtraError, ShapeTypeError, SymbcastError
from symbcast.graphs.inputs import ModelInputs, aliases_of, without_aliases
from symbcast.graphs.jobs import FileResult, Stamp, run_jobs
from symbcast.graphs.known_inputs import NOTHING, ContentsLike, KnownInputs, read_known_inputs
from symbcast.graphs.model import CheckedModel, Model, ModelConditions
from symbcast.graphs.registry import front_ends
from symbcast.graphs.walking.facts import LONG, VERY_LONG, TooLongError
from symbcast.graphs.walking.requirements import Requirements, learn_from_refuted
from symbcast.operators.values.value import Decider, OptionalValue, Value, decider_of_content

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from symbcast.core.shapes import ShapeLike
    from symbcast.graphs.front_end import FrontEnd
    from symbcast.graphs.walking.walk import Walk


MAX_WALKS = 3
"""The maximum number of walks through a model; bounds that are found late, and that help, cause another walk."""
_NAMED = 12
"""How many sizes of a model the error about an unknown size lists."""


class ModelQuestion(NamedTuple):
    """A question about a model, with what the caller knows about it.

    ``is_plain`` says that sizes stay as the rules of the nodes write them, without simplification by requirements.
    """

    assume: tuple[Assumption, ...]
    min_size: int
    known_inputs: KnownInputs
    runtime: str
    budget: float | None
    is_plain: bool = False


def read_question(  # noqa: PLR0913 - each is something that is known, or asked
    front_end: FrontEnd,
    assume: Assumptions = (),
    min_size: int = 1,
    *,
    bind: Mapping[str, int] | None = None,
    shapes: Mapping[str, ShapeLike] | None = None,
    values: Mapping[str, ContentsLike] | None = None,
    runtime: str | None = None,
    budget: float | None = None,
) -> ModelQuestion:
    """Read a caller's question and knowledge; ``runtime`` is one of the front end's; None for its default."""
    about = front_end.runtime(runtime)
    if runtime not in (None, about):
        raise ShapeTypeError(runtime, "a runtime", f"write one of {', '.join(map(repr, front_end.runtimes))}")
    check_min_size(min_size)
    if isinstance(assume, Mapping):
        word = "bind" if all(type(v) is int for v in assume.values()) else "shapes"
        raise ShapeTypeError(
            assume, "an assumption", f"write {word}={{...}} for known {'sizes' * (word == 'bind') or word}"
        )
    known_inputs = read_known_inputs(bind, shapes, values, min_size)
    return ModelQuestion(tuple(read_assumptions(assume)), min_size, known_inputs, about, check_budget(budget))


def check_graph(front_end: FrontEnd, model: Model, question: ModelQuestion) -> CheckedModel:
    """Walk through a model and return it with the results."""
    aliases = _aliases(front_end, model, question.known_inputs)
    assume, known_inputs = (
        without_aliases(question.assume, question.known_inputs, aliases)
        if aliases
        else (question.assume, question.known_inputs)
    )
    written = {
        f"{aliases[name]} == {size}": f"{name} == {size}"
        for name, size in question.known_inputs.bind.items()
        if name in aliases
    }
    question = question._replace(assume=assume, known_inputs=known_inputs)
    try:
        with within_optional(question.budget):
            walked = _repeated(front_end, model, question)
    except AssumptionError as error:
        if written:
            raise AssumptionError(error.problem, [written.get(t, t) for t in error.clashing], error.hint) from None
        raise
    env, asker = walked.env, walked.asker
    model.settle(walked.walk)

    again = _Again(front_end, model, question)
    said = (text for _, text in model.said(walked.inputs, question.min_size) if text)
    return CheckedModel(
        model.source,
        model,
        env,
        ModelConditions(env, asker, again.conditions),
        asker,
        walked.walk,
        walked.inputs,
        (*(a.text for a in walked.assumptions), *said, *question.known_inputs.texts()),
        question.min_size,
        walked.inputs.known_inputs,
        again,
        front_end.runtimes.get(question.runtime, ""),
        aliases,
    )


@dataclass(frozen=True)
class _Again:
    """Asks another question about a model; unlike a function in `check_graph`, it pickles."""

    front_end: FrontEnd
    model: Model
    question: ModelQuestion

    def __call__(self, known_inputs: KnownInputs | None = None, **changed: Any) -> CheckedModel:
        """Return the model walked with other given values, assumptions or runtime, or with plain sizes."""
        if known_inputs is not None:
            changed["known_inputs"] = known_inputs
        question = self.question._replace(**changed)
        return check_graph(self.front_end, self.model, question)

    def conditions(self, more: Sequence[Assumption]) -> ModelConditions:
        """Return the conditions under more assumptions."""
        return self(assume=(*self.question.assume, *more)).conditions


def _aliases(front_end: FrontEnd, model: Model, known_inputs: KnownInputs) -> dict[str, str]:
    """Return the model's own names of sizes by their aliases, before names of sizes are read in what is given."""
    known = KnownInputs({}, known_inputs.shapes, {})
    inputs = model.read_inputs(Program(on_conflict="record"), known.of((), model.input_names))
    return aliases_of(inputs, model.graph, front_end.layouts, known)


class _Walked(NamedTuple):
    """The result of a walk through a model; ``assumptions`` are the caller's."""

    env: Program
    asker: Requirements
    walk: Walk
    inputs: ModelInputs
    assumptions: tuple[Assumption, ...]


def _repeated(front_end: FrontEnd, model: Model, question: ModelQuestion) -> _Walked:
    """Walk through a model with short sizes; with long ones, if names for cases are still needed at the end."""
    if question.is_plain:
        return _walked_with_short_sizes(front_end, model, question, VERY_LONG, None)
    short = _learned(front_end, model, question, LONG)
    if not short.asker.names_cases:
        return short
    whole = _learned(front_end, model, question, VERY_LONG)
    return short if whole.asker.names_cases else whole


def _learned(front_end: FrontEnd, model: Model, question: ModelQuestion, longest: int) -> _Walked:
    """Walk through a model, and again with the bounds it learned, as long as they help and new ones are learned."""
    walked = partial(_walked_with_short_sizes, front_end, model, question, longest)
    walked_last, known = walked(None), 0
    for _ in range(MAX_WALKS - 1):
        if walked_last.asker.names_cases:
            learn_from_refuted(walked_last.asker, partial(_runs_nowhere, front_end, model, question, walked_last.asker))
        learned = walked_last.asker.learned_count
        if learned == known or not walked_last.asker.bounds.answers_more():
            break
        walked_last, known = walked(walked_last.asker), learned
    return walked_last


def _runs_nowhere(
    front_end: FrontEnd, model: Model, question: ModelQuestion, asker: Requirements, case: Assumption
) -> bool:
    """Return whether a walk through a model shows that it runs at no sizes at which an assumption holds."""
    known = (Assumption(at_most(low, s)) for s in asker.given if (low := asker.bounds.least(s)))
    try:
        walked = _walked_with_short_sizes(
            front_end, model, question._replace(assume=(*question.assume, *known, case)), LONG, None
        )
    except AssumptionError:
        return True
    return walked.env.decided_verdict is Verdict.NEVER


def _walked_with_short_sizes(
    front_end: FrontEnd, model: Model, question: ModelQuestion, longest: int, before: Requirements | None
) -> _Walked:
    """Walk through a model; if its sizes become too long, with names for those that depend on cases."""
    try:
        return _walked(front_end, model, question, longest, before)
    except TooLongError:
        return _walked(front_end, model, question, None, before)


def _walked(
    front_end: FrontEnd, model: Model, question: ModelQuestion, longest: int | None, before: Requirements | None
) -> _Walked:
    """Walk through a model, with all assumptions about its inputs and the bounds from an earlier walk."""
    env = _environment(question.assume, question.budget)
    assumptions = tuple(env.assumptions)
    asker = Requirements(env, question.runtime, Bounds({}), longest, is_plain=question.is_plain)
    walk = front_end.walk(model, front_end, asker)
    inputs = model.read_inputs(env, question.known_inputs, are_open=question.min_size <= 1)
    for symbol in dict.fromkeys(s for s in inputs.symbols if s not in inputs.integers):
        asker.bounds.learn(symbol, question.min_size)
        if question.min_size:
            asker.assume(at_most(question.min_size, symbol))
    for formula, _ in model.said(inputs, question.min_size):
        asker.assume(formula)
    _learn(asker, env.assumptions)
    asker.start(inputs.symbols, inputs.elements, before)
    for flag in inputs.flags:
        asker.assume(at_most(flag, 1))
    for value in inputs.values.values():
        _mark_input(value, asker)
    walk.top.values.update(inputs.values)
    walk.graph(model.graph, walk.top)
    asker.restate_all()
    _check_names(assumptions, asker)
    model.note(walk)
    return _Walked(env, asker, walk, inputs, assumptions)


def _environment(assume: Sequence[Assumption], budget: float | None) -> Program:
    """Return an environment with assumptions about sizes, by name or label, that the model brings later."""
    env = Program(on_conflict="record", budget=budget)
    for size in (s for a in assume for s in symbols_in(a.formula)):
        if isinstance(size, Unknown):
            env.named(size.name)
    env.assume(assume)
    return env


def _mark_input(value: Value, asker: Requirements) -> None:
    """Mark the elements of an input as decided by data, except those that the caller gave."""
    decider = decider_of_content(value.content, value.shape, asker)
    value.decided_by = Decider.DATA if decider is None else decider
    if isinstance(value, OptionalValue) and value.inner is not None:
        _mark_input(value.inner, asker)


def _learn(asker: Requirements, assumptions: Iterable[Assumption]) -> None:
    """Record the lower bounds that assumptions state, and the quotients that they state to be integers."""
    bounds = asker.bounds
    for assumption in assumptions:
        if isinstance(assumption.formula, Comparison):
            asker.facts.take(assumption.formula)
        match assumption.formula:
            case Comparison("<=" | "==", int(least), Symbol() as size):
                bounds.learn(size, least)
            case Comparison("==", Symbol() as size, int(least)):
                bounds.learn(size, least)


def _check_names(assumptions: Iterable[Assumption], asker: Requirements) -> None:
    """Raise `AssumptionError` if an assumption uses a size that the model does not have."""
    known = {s.name for s in (*asker.inputs, *asker.origins)}
    for assumption in assumptions:
        unknown_sizes = (s for s in symbols_in(assumption.formula) if sequences_of([s]) or s.name not in known)
        strange = [s.name for s in unknown_sizes if asker.sequences.isdisjoint(sequences_of([s]))]
        if strange:
            names = list(dict.fromkeys(s.name for s in (*asker.inputs, *asker.origins)))
            shown = ", ".join(names[:_NAMED]) + (", ..." if len(names) > _NAMED else "")
            hint = f"its sizes are {shown}" if names else "all its sizes are numbers"
            raise AssumptionError(
                f"{assumption.text!r} mentions {strange[0]}, which the model does not have", hint=hint
            )


class PresentNames(NamedTuple):
    """The names of a model's sizes and inputs, which select the parts of a question about many models that apply."""

    sizes: tuple[str, ...]
    inputs: tuple[str, ...]


def names_in(front_end: FrontEnd, model: Model, known_inputs: KnownInputs) -> PresentNames:
    """Return the names in a model, its aliases, and the names in what is given for its inputs."""
    inputs = model.input_names
    model_inputs = model.read_inputs(Program(), known_inputs.of((), inputs))
    sizes = (s.name for s in (*model_inputs.symbols, *model_inputs.elements))
    return PresentNames((*sizes, *_aliases(front_end, model, known_inputs)), inputs)


# Check many models, in processes on this machine or with any executor, and yield results as they arrive.


class FileCheck(NamedTuple):
    """A file, the name of the front end that reads it, and the question."""

    path: str
    front_end: str
    question: ModelQuestion


def check_files(
    front_end: FrontEnd,
    paths: Iterable[str | PathLike[str]],
    question: ModelQuestion,
    executor: Executor | None,
    timeout: float | None,
) -> Iterator[FileResult]:
    """Check model files and yield each result as it arrives; a file that cannot be checked does not stop the others.

    Sizes and inputs in the question apply to the models that have them. ``executor`` is any executor of
    `concurrent.futures`; None uses processes on this machine. A model that takes longer than ``timeout`` seconds gets
    the status ``"timed out"``, and no verdict.
    """
    jobs = (FileCheck(fspath(path), front_end.name, question) for path in paths)
    with closing(run_jobs(_result, jobs, executor, timeout, prepare=front_end.prepare)) as endings:
        for ending in endings:
            yield FileResult.of(ending, ending.job.path, timeout)


def _result(job: FileCheck) -> FileResult:
    """Return the result for one file."""
    start, stamp = perf_counter(), Stamp.of(job.path)
    try:
        report = _report(job)
        result = FileResult(job.path, "checked", report=report, stamp=stamp)
    except MissingExtraError:
        raise
    except (SymbcastError, OSError) as error:
        result = FileResult(job.path, "failed", problem=" ".join(str(error).split()), stamp=stamp)
    except Exception as error:
        problem = f"the check itself failed ({type(error).__name__}: {error}); please report it"
        result = FileResult(job.path, "failed", problem=problem, stamp=stamp)
    return FileResult(result.path, result.status, perf_counter() - start, result.problem, result.report, stamp)


def _report(job: FileCheck) -> dict[str, object]:
    front_end, question = front_ends()[job.front_end].load(), job.question
    model = front_end.read(job.path, question.runtime)
    if question.known_inputs != NOTHING:
        names = names_in(front_end, model, question.known_inputs)
        question = question._replace(known_inputs=question.known_inputs.of(names.sizes, names.inputs))
    return front_end.report(check_graph(front_end, model, question)).to_dict()
