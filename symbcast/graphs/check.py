"""Check models, one or many: give inputs symbolic sizes, walk the nodes, and combine their requirements.

A front end is the description of a framework that lets its models be walked. It reads a model into a `Model` and maps
its operators to functions; the walk, the condition, the findings, the report with its formats and the command line
come with that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any, Self, TypeAlias, TypeVar

from symbcast.core.algebra.arithmetic import check_min_size
from symbcast.core.algebra.bounds import Bounds
from symbcast.core.algebra.formulas import Comparison, at_most
from symbcast.core.algebra.symbols import Unknown, sequences_of
from symbcast.core.algebra.terms import Symbol
from symbcast.core.effort import check_budget, within_optional
from symbcast.core.isolation import load_nothing
from symbcast.core.programs.arguments import Assumption, Assumptions, read_assumptions
from symbcast.core.programs.program import Program
from symbcast.core.shapes import ShapeLike
from symbcast.core.solver.evaluation import symbols_in
from symbcast.core.structs import NamedTuple
from symbcast.core.verdicts import Verdict
from symbcast.errors import AssumptionError, ShapeTypeError
from symbcast.graphs.inputs import (
    NO_LAYOUTS,
    ContentsLike,
    KnownInputs,
    Layouts,
    ModelInputs,
    aliases_of,
    read_known_inputs,
    without_aliases,
)
from symbcast.graphs.model import CheckedModel, Model, ModelConditions
from symbcast.graphs.walking.facts import LONG, VERY_LONG, TooLongError
from symbcast.graphs.walking.node_call import NodeCall
from symbcast.graphs.walking.requirements import Requirements, learn_from_refuted
from symbcast.graphs.walking.unknown_ranks import Reaches, none_of, padded
from symbcast.graphs.walking.walk import Walk
from symbcast.operators.operator import Dims
from symbcast.operators.reach import Reach
from symbcast.operators.values.value import Decider, OptionalValue, Value, decider_of_content

if TYPE_CHECKING:
    from symbcast.graphs.graph import Node
    from symbcast.graphs.report.graph_report import GraphReport


# Front ends.


Call = TypeVar("Call", bound=NodeCall)
Operator: TypeAlias = Callable[[Call], Value | Sequence[Value]]
"""The function of an operator, from a call to its outputs."""
Offered = TypeVar("Offered", bound=Callable[..., Value | Sequence[Value]])


class OperatorTable(dict[tuple[str, str], Operator[Call]]):
    """Map operators to functions from a call to its outputs, by domain (empty for the framework's own) and name.

    A name without a dot is in ``namespace``, if the framework has one.
    """

    def __init__(self, namespace: str = "") -> None:
        super().__init__()
        self._namespace = namespace
        self._reaches: dict[tuple[str, str], Reaches] = {}

    def offer(self, *names: str, domain: str = "", reaches: Reaches | None = None) -> Callable[[Offered], Offered]:
        """Register the decorated function for the operators with these names.

        ``reaches`` says how far they look into inputs of unknown rank; without it, all ranks must be known.

        >>> table = OperatorTable("aten")
        >>> @table.offer("relu", "prims.neg")
        ... def same(call):
        ...     return call.inputs[0]
        >>> sorted(table)
        [('', 'aten.relu'), ('', 'prims.neg')]
        """

        def put(function: Offered) -> Offered:
            for name in names:
                within = f"{self._namespace}." if self._namespace and "." not in name else ""
                self[domain, within + name] = function
                if reaches is not None:
                    self._reaches[domain, within + name] = reaches
            return function

        return put

    def reaches_of(self, call: NodeCall, shapes: Sequence[Dims | None]) -> Sequence[Reach | None]:
        """Return a node's reach into each input; None if the rank of that input must be known.

        Raises `UnknownShapeError` if all ranks must be known, or if the reach depends on unknown values.
        """
        reaches = self._reaches.get((call.node.domain, call.node.op_type), none_of)
        return padded(reaches(call, shapes), len(shapes))

    def with_files(self, package: str) -> Self:
        """Return the table after importing each file of a package; the files register their operators in it."""
        for file in iter_modules(import_module(package).__path__):
            import_module(f"{package}.{file.name}")
        return self


def unknown_operator(call: NodeCall) -> Sequence[Value]:
    """Leave the outputs of an operator without a function unknown."""
    call.give_up("the operator is not supported here")


@dataclass(frozen=True)
class FrontEnd:
    """A framework whose models are walked.

    Attributes:
        name: its name; also the extra that it needs, if any.
        read: reads the path or object that a caller passes, given the runtime in question.
        operators: the functions of operators, by domain and name: an `OperatorTable`, or a plain mapping.
        report: creates the answer from a model that was walked.
        runtimes: the supported runtimes, the default first, each with a description of the assumptions made about it.
        tail: answers for operators that ``operators`` does not contain.
        call: creates the call of an operator.
        walk: creates the walk.
        layouts: which operators take images, for short names of their sizes.
        prepare: loads the modules that checks need, which takes longer than most checks; for processes that check many
            models.
        read_function: reads one function of a model, whose name comes last; None if models have no functions by name.
        module: the module that has it as ``FRONT_END``; answers of other front ends do not pickle.
        shapes_argument: the argument of its ``check`` that has the shapes of inputs, for messages.
    """

    name: str
    read: Callable[[Any, str], Model]
    operators: Mapping[tuple[str, str], Operator[Any]]
    report: Callable[..., GraphReport]
    runtimes: Mapping[str, str] = field(default_factory=dict)
    tail: Callable[[Any], Sequence[Value]] = unknown_operator
    call: Callable[..., NodeCall] = NodeCall
    walk: Callable[[Any, FrontEnd, Requirements], Walk] = Walk
    layouts: Layouts = NO_LAYOUTS
    prepare: Callable[[], None] = load_nothing
    read_function: Callable[[Any, str, str], Model] | None = None
    module: str = ""
    shapes_argument: str = "shapes"

    def __reduce__(self) -> str | tuple[Any, ...]:
        """Pickle as the name of the module that has it as FRONT_END: tables of operators hold functions."""
        return (_front_end_of, (self.module,)) if self.module else super().__reduce__()

    def runtime(self, requested: str | None = None) -> str:
        """Return the runtime that a question is about: the requested one if it is supported, otherwise the default."""
        return (
            requested if requested is not None and requested in self.runtimes else next(iter(self.runtimes), self.name)
        )

    def operator(self, node: Node) -> Operator[Any] | None:
        """Return the function of a node's operator; None if it has none."""
        return self.operators.get((node.domain, node.op_type))

    def reaches(self, call: NodeCall, shapes: Sequence[Dims | None]) -> Sequence[Reach | None]:
        """Return a node's reach into each input, as its operator was registered with; see `OperatorTable`."""
        find = self.operators.reaches_of if isinstance(self.operators, OperatorTable) else none_of
        return find(call, shapes)


def _front_end_of(module: str) -> Any:
    return import_module(module).FRONT_END


# The maximum number of walks through a model; bounds that are found late, and that help, cause another walk.
MAX_WALKS = 3
# How many sizes of a model the error about an unknown size lists.
_NAMED = 12


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
        is_bound = all(type(v) is int for v in assume.values())
        word, known = ("bind", "sizes") if is_bound else (front_end.shapes_argument, "shapes")
        raise ShapeTypeError(assume, "an assumption", f"write {word}={{...}} for known {known}")
    known_inputs = read_known_inputs(bind, shapes, values, min_size, front_end.shapes_argument)
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
        # A size may be bound by its alias: the message has what the caller wrote, not the model's name.
        if written:
            raise AssumptionError(error.problem, [written.get(t, t) for t in error.clashing], error.hint) from None
        raise
    env, asker = walked.env, walked.asker
    model.settle(walked.walk)

    again = _Again(front_end, model, question)
    said = (text for _, text in model.said(walked.inputs, question.min_size) if text)
    stated, known = (*(a.text for a in walked.assumptions), *said), question.known_inputs.texts()
    return CheckedModel(
        model.source,
        model,
        env,
        ModelConditions(env, asker, again.conditions),
        asker,
        walked.walk,
        walked.inputs,
        tuple(dict.fromkeys((*stated, *_named_numbers(question.known_inputs, walked.inputs), *known))),
        question.min_size,
        walked.inputs.known_inputs,
        again,
        front_end.runtimes.get(question.runtime, ""),
        aliases,
    )


def _named_numbers(known_inputs: KnownInputs, inputs: ModelInputs) -> Iterator[str]:
    """Yield what a given name of an axis means where the model has a number there: the name does not free the axis."""
    for name, given in known_inputs.shapes.items():
        own = inputs.values[name].shape or ()
        if len(own) == len(given.dims):
            pairs = zip(given.dims, own, strict=True)
            yield from (f"{d.name} == {n}" for d, n in pairs if type(d) is Symbol and isinstance(n, int))


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
