"""The check of a model: its inputs become sizes, its nodes are walked, and what they ask is put together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

from symbcast.answers.public.env import ShapeEnv
from symbcast.core.algebra.bounds import Bounds
from symbcast.core.algebra.sequences import sequences_of
from symbcast.core.algebra.symbols import Symbol, Unknown
from symbcast.core.logic.formulas import FALSE, Comparison, at_most
from symbcast.core.program.sizes.assumptions import Assumption, Assumptions, check_min_size, read_assumptions
from symbcast.core.solver.groups.normal_form import symbols_in
from symbcast.errors import AssumptionError, ShapeTypeError
from symbcast.onnx.deciding import decider_of_content
from symbcast.onnx.inputs.given import Given, read_given
from symbcast.onnx.inputs.models import load
from symbcast.onnx.inputs.names import Inputs, read_inputs
from symbcast.onnx.opening.session import Refusal, refusal
from symbcast.onnx.opening.values import value_of
from symbcast.onnx.report.checked import Checked
from symbcast.onnx.report.element_types import element_types
from symbcast.onnx.report.model_report import ModelReport
from symbcast.onnx.requirements.condition import Conditions
from symbcast.onnx.requirements.recorder import Asker, Place, Runtime
from symbcast.onnx.validity.models import Examined, examined
from symbcast.onnx.validity.opsets import normal
from symbcast.onnx.validity.schemas import KNOWN_DOMAINS
from symbcast.onnx.validity.types import Found, check_types, other_outputs
from symbcast.onnx.values.deciders import Decider
from symbcast.onnx.values.sequences import OptionalValue
from symbcast.onnx.values.value import UNKNOWN, Value
from symbcast.onnx.walk import Walk
from symbcast.operators.context import evaluated

if TYPE_CHECKING:
    import onnx
    import onnx_ir

    from symbcast.core.shapes import ShapeLike
    from symbcast.onnx.inputs.given import ContentsLike

MAX_WALKS = 3
"""How often a model is walked through: again where it was learned late how large sizes are, and that says more."""
_NAMED = 12
"""How many sizes of a model are named where another one is spoken of."""


def check(  # noqa: PLR0913 - each is something that is known, or asked
    model: str | PathLike[str] | onnx.ModelProto | onnx_ir.Model,
    assume: Assumptions = (),
    min_size: int = 1,
    *,
    bind: Mapping[str, int] | None = None,
    shapes: Mapping[str, ShapeLike] | None = None,
    values: Mapping[str, ContentsLike] | None = None,
    runtime: Runtime = "spec",
    budget: float | None = None,
) -> ModelReport:
    """Say for which sizes of its inputs a model runs, and what every shape in it is.

    ``model`` is a file, a ``ModelProto`` or an ``onnx_ir.Model``; it is not changed, and weights in other files are
    not read. Sizes are called as the model calls them, and ``<input>_dim_<axis>`` where it does not; ``assume`` takes
    relations between them for granted, ``min_size`` is the least size of each. ``runtime="onnxruntime"`` is about what
    ONNX Runtime does, where that is not what the documents of the operators say. ``budget`` limits each question to so
    many seconds, as in `symbcast.broadcast`.

    An input of which nobody says the rank has a sequence of axes of its name, as ``rank(x)`` and ``x[-1]``.

    ``bind`` fixes sizes by name; ``shapes`` gives the shapes of inputs, which names or fixes their sizes; ``values``
    gives what is in inputs of integers, as numbers and expressions in sizes: ``{"steps": [4, "N//2"]}``. All three are
    taken for granted.

    Raises `ModelError` for what is no model or a malformed one, `BindingError` for shapes, sizes and contents that its
    inputs cannot have, `AssumptionError` for assumptions that contradict each other or speak of sizes that the model
    does not have, and `MissingExtraError` without the extra ``onnx``.

    >>> import onnx
    >>> heads = '''<ir_version: 9, opset_import: ["" : 18]>
    ... heads (float[N, T, D] x) => (float[N, T, 8, d] y) <int64[4] wanted = {0, 0, 8, -1}> {
    ...     y = Reshape(x, wanted)
    ... }'''
    >>> report = check(onnx.parser.parse_model(heads))
    >>> report.condition, report.shapes["y"]
    (Eq(Mod(D, 8), 0), Shape('(N, T, 8, D//8)'))
    >>> report = check(onnx.parser.parse_model(heads), shapes={"x": "batch, 2*k, 64"})
    >>> report.verdict.value, report.shapes["y"]
    ('always', Shape('(batch, 2*k, 8, 8)'))
    """
    if runtime not in get_args(Runtime):
        raise ShapeTypeError(runtime, "a runtime", f"write one of {', '.join(map(repr, get_args(Runtime)))}")
    check_min_size(min_size)
    given = read_given(bind, shapes, values, min_size)
    source, loaded = load(model)
    path = Path(fspath(model)) if isinstance(model, (str, PathLike)) else None
    known = tuple(read_assumptions(assume))
    found = examined(source, loaded, runtime)
    refused = refusal(found) if runtime == "onnxruntime" else None
    return ModelReport(_checked(_Question(source, path, found, known, min_size, runtime, budget, refused), given))


class _Question(NamedTuple):
    """A model, and what is asked about it."""

    source: str
    path: Path | None
    examined: Examined
    assume: tuple[Assumption, ...]
    min_size: int
    runtime: Runtime
    budget: float | None
    refusal: Refusal | None
    """Why ONNX Runtime does not open it, where that is asked about."""


def _checked(question: _Question, given: Given) -> Checked:
    """Return a model that was walked through, given what a caller knows of its inputs."""
    found = repeated(partial(_walked, question, given))
    texts = (*(a.text for a in found.assumptions), *given.texts())
    model, env, asker = question.examined.model, found.env, found.asker
    _check_types(question.source, model, found.walk)
    return Checked(
        question.source,
        question.path,
        model,
        env,
        Conditions(env, asker),
        asker,
        found.walk,
        found.inputs,
        texts,
        question.min_size,
        found.inputs.given,
        partial(_checked, question),
    )


class Walked(NamedTuple):
    """What came of a walk through a model; ``assumptions`` are the caller's."""

    env: ShapeEnv
    asker: Asker
    walk: Walk
    inputs: Inputs
    assumptions: tuple[Assumption, ...]


def repeated(walked: Callable[[Asker | None], Walked]) -> Walked:
    """Walk through a model, and again with what that learned, as long as it says more and learns more."""
    found, known = walked(None), 0
    for _ in range(MAX_WALKS - 1):
        learned = found.asker.learned_count
        if learned == known or not found.asker.bounds.answers_more():
            break
        found, known = walked(found.asker), learned
    return found


def _walked(question: _Question, given: Given, before: Asker | None) -> Walked:
    """Walk through a model, knowing of its inputs what an earlier walk learned."""
    model = question.examined.model
    env = environment(question.assume, question.budget)
    assumptions = tuple(env.assumptions)
    asker = Asker(env, question.runtime, Bounds({}))
    walk = Walk(question.examined, asker)
    inputs = read_inputs(model.graph, env, given, are_open=question.min_size <= 1)
    sized(asker, inputs, question.min_size)
    found = walked_through(Walked(env, asker, walk, inputs, assumptions), model.graph, before)
    if question.runtime == "onnxruntime":
        _open(question, walk)
    return found


def _open(question: _Question, walk: Walk) -> None:
    """Refuse what ONNX Runtime does not open, and note where that is in doubt."""
    found = question.refusal
    if found is not None and found.is_certain:
        reason = f"ONNX Runtime does not open the model: {found.text}"
        walk.refuse(found.node, reason, [value_of(t) for t in found.types])
    elif found is not None:
        walk.doubt(found.node, f"ONNX Runtime may not open the model: {found.text}")
    elif any(normal(o.domain) not in KNOWN_DOMAINS for o in question.examined.model.opset_import):
        doubt = refusal(question.examined, walk.found)
        if doubt is not None:
            walk.doubt(doubt.node, f"ONNX Runtime may not open the model: {doubt.text}")
        for place in _impossible(walk.asker):
            if normal(place.node.domain) not in KNOWN_DOMAINS:
                walk.leave(place, "no sizes do for it: ONNX Runtime may not open the model")


def _impossible(asker: Asker) -> Iterator[Place]:
    """Yield the nodes whose own requirements no sizes meet, be it that they are not run."""
    for (name, _), reason in asker.reasons.items():
        if evaluated(reason.formula) == FALSE:
            yield asker.places[name]


def environment(assume: Sequence[Assumption], budget: float | None) -> ShapeEnv:
    """Return an environment with what is assumed of sizes that a model brings later, by name or by label."""
    env = ShapeEnv(on_conflict="record", budget=budget)
    for size in (s for a in assume for s in symbols_in(a.formula)):
        if isinstance(size, Unknown):
            env.named(size.name)
    env.assume(assume)
    return env


def sized(asker: Asker, inputs: Inputs, min_size: int) -> None:
    """Take for granted how large the sizes of inputs are at least."""
    for symbol in dict.fromkeys(inputs.symbols):
        asker.bounds.learn(symbol, min_size)
        if min_size:
            asker.assume(at_most(min_size, symbol))


def walked_through(begun: Walked, graph: Any, before: Asker | None) -> Walked:
    """Walk through a graph, with all that is assumed of its inputs and what an earlier walk learned."""
    env, asker, walk, inputs, assumptions = begun
    learn(asker, env.assumptions)
    asker.start(inputs.symbols, inputs.held, before)
    for flag in inputs.flags:
        asker.assume(at_most(flag, 1))
    for value in inputs.values.values():
        _mark_input(value, asker)
    walk.top.values.update(inputs.values)
    walk.graph(graph, walk.top)
    asker.restate_all()
    check_names(assumptions, asker)
    return begun


def _mark_input(value: Value, asker: Asker) -> None:
    """Say that data decide what is in an input, but for what the caller gave."""
    found = decider_of_content(value.content, value.shape, asker)
    value.decided_by = Decider.DATA if found is None else found
    if isinstance(value, OptionalValue) and value.held is not None:
        _mark_input(value.held, asker)


def _check_types(source: str, model: Any, walk: Walk) -> None:
    """Raise `ModelError` where values have element types that they cannot have; onnx is asked where it seems so.

    That outputs are of the types that they are declared of is asked by ONNX Runtime, and not by ``onnx.checker``.
    """
    outputs: dict[str, int] = {}
    if walk.asker.runtime == "onnxruntime":
        outputs = other_outputs(model, {o.name: (walk.top.find(o.name) or UNKNOWN).dtype for o in model.graph.output})
    if walk.mistyped or outputs:
        check_types(source, model, Found(walk.mistyped, outputs), element_types(model))


def learn(asker: Asker, assumptions: Iterable[Assumption]) -> None:
    """Take in the least sizes that assumptions name, and the quotients that they say are whole."""
    bounds = asker.bounds
    for assumption in assumptions:
        if isinstance(assumption.formula, Comparison):
            asker.settled.take(assumption.formula)
        match assumption.formula:
            case Comparison("<=" | "==", int(least), Symbol() as size):
                bounds.learn(size, least)
            case Comparison("==", Symbol() as size, int(least)):
                bounds.learn(size, least)


def check_names(assumptions: Iterable[Assumption], asker: Asker) -> None:
    """Raise `AssumptionError` where an assumption speaks of a size that the model does not have."""
    known = {s.name for s in (*asker.inputs, *asker.origins)}
    for assumption in assumptions:
        met = (s for s in symbols_in(assumption.formula) if sequences_of([s]) or s.name not in known)
        strange = [s.name for s in met if asker.sequences.isdisjoint(sequences_of([s]))]
        if strange:
            names = list(dict.fromkeys(s.name for s in (*asker.inputs, *asker.origins)))
            shown = ", ".join(names[:_NAMED]) + (", ..." if len(names) > _NAMED else "")
            hint = f"its sizes are {shown}" if names else "all its sizes are numbers"
            raise AssumptionError(
                f"{assumption.text!r} speaks of {strange[0]}, which the model does not have", hint=hint
            )
