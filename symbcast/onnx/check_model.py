"""The check of a model: its inputs become sizes, its nodes are walked, and what they ask is put together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

from symbcast.algebra.bounds import Bounds
from symbcast.algebra.symbols import Symbol
from symbcast.api.env import ShapeEnv
from symbcast.errors import AssumptionError, ShapeTypeError
from symbcast.logic.formulas import Comparison, at_most
from symbcast.onnx.inputs.given import Given, read_given
from symbcast.onnx.inputs.models import load
from symbcast.onnx.inputs.names import read_inputs
from symbcast.onnx.report.checked import Checked
from symbcast.onnx.report.model_report import ModelReport
from symbcast.onnx.requirements.condition import Conditions
from symbcast.onnx.requirements.recorder import Asker, Runtime
from symbcast.onnx.walk import Walk
from symbcast.program.assumptions import Assumptions, check_min_size, read_assumptions
from symbcast.solver.normal_form import symbols_in

if TYPE_CHECKING:
    import onnx
    import onnx_ir

    from symbcast.onnx.inputs.given import ContentsLike
    from symbcast.program.assumptions import Assumption
    from symbcast.shapes import ShapeLike

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

    ``bind`` fixes sizes by name; ``shapes`` gives the shapes of inputs, which names or fixes their sizes; ``values``
    gives what is in inputs of integers, as numbers and expressions in sizes: ``{"steps": [4, "N//2"]}``. All three are
    taken for granted.

    Raises `ModelError` for what is no model, `BindingError` for shapes, sizes and contents that its inputs cannot have,
    `AssumptionError` for assumptions that contradict each other or speak of sizes that the model does not have, and
    `MissingExtraError` without the extra ``onnx``.

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
    source, proto = load(model)
    path = Path(fspath(model)) if isinstance(model, (str, PathLike)) else None
    question = Question(source, path, proto, tuple(read_assumptions(assume)), min_size, runtime, budget)
    return ModelReport(_checked(question, given))


class Question(NamedTuple):
    """A model, and what is asked about it."""

    source: str
    path: Path | None
    proto: Any
    assume: tuple[Assumption, ...]
    min_size: int
    runtime: Runtime
    budget: float | None


def _checked(question: Question, given: Given) -> Checked:
    """Return a model that was walked through, given what a caller knows of its inputs."""
    source, path, proto, assume, min_size, runtime, budget = question
    env = ShapeEnv(assume, on_conflict="record", budget=budget)
    assumptions = tuple(env.assumptions)
    asker = Asker(env, runtime, Bounds({}))
    walk = Walk(proto, asker)
    inputs = read_inputs(proto.graph, env, given)
    asker.inputs = inputs.symbols
    for symbol in dict.fromkeys(inputs.symbols):
        asker.bounds.learn(symbol, min_size)
        if min_size:
            asker.assume(at_most(min_size, symbol))
    _learn(asker.bounds, env.assumptions)
    asker.origins.update(inputs.held)
    walk.top.values.update(inputs.values)
    walk.graph(proto.graph, walk.top)
    _check_names(assumptions, asker)
    texts = (*(a.text for a in assumptions), *given.texts())
    conditions, again = Conditions(env, asker), partial(_checked, question)
    return Checked(source, path, proto, env, conditions, asker, walk, inputs, texts, min_size, given, again)


def _learn(bounds: Bounds, assumptions: Iterable[Assumption]) -> None:
    """Take in the least sizes that assumptions name."""
    for assumption in assumptions:
        match assumption.formula:
            case Comparison("<=" | "==", int(least), Symbol() as size):
                bounds.learn(size, least)
            case Comparison("==", Symbol() as size, int(least)):
                bounds.learn(size, least)


def _check_names(assumptions: Iterable[Assumption], asker: Asker) -> None:
    """Raise `AssumptionError` where an assumption speaks of a size that the model does not have."""
    known = {s.name for s in (*asker.inputs, *asker.origins)}
    for assumption in assumptions:
        strange = [s.name for s in symbols_in(assumption.formula) if s.name not in known]
        if strange:
            names = list(dict.fromkeys(s.name for s in (*asker.inputs, *asker.origins)))
            shown = ", ".join(names[:_NAMED]) + (", ..." if len(names) > _NAMED else "")
            hint = f"its sizes are {shown}" if names else "all its sizes are numbers"
            raise AssumptionError(
                f"{assumption.text!r} speaks of {strange[0]}, which the model does not have", hint=hint
            )
