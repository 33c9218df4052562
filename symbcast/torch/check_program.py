"""The check of an exported program: its inputs become sizes, its nodes are walked, what they ask is put together."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from symbcast.answers.public.env import ShapeEnv
from symbcast.core.algebra.bounds import Bounds
from symbcast.core.algebra.terms import symbols_of
from symbcast.core.program.sizes.assumptions import Assumption, Assumptions, check_min_size, read_assumptions
from symbcast.errors import ModelError, ShapeTypeError
from symbcast.onnx.check_model import Walked, repeated, sized, walked_through
from symbcast.onnx.inputs.given import Given, read_given
from symbcast.onnx.inputs.names import inputs_of
from symbcast.onnx.inputs.present import Present
from symbcast.onnx.report.checked import Checked
from symbcast.onnx.requirements.condition import Conditions
from symbcast.onnx.requirements.recorder import Asker
from symbcast.onnx.validity.models import Examined
from symbcast.onnx.values.contents import Elements, is_size
from symbcast.onnx.values.value import Value
from symbcast.torch.element_types import INT64, number_of
from symbcast.torch.graph import Graph, Model
from symbcast.torch.inputs import Inputs, read_inputs
from symbcast.torch.library import load
from symbcast.torch.walk import TorchWalk

if TYPE_CHECKING:
    from symbcast.core.shapes import ShapeLike
    from symbcast.onnx.inputs.given import ContentsLike
    from symbcast.onnx.inputs.names import Inputs as ModelInputs


class Question(NamedTuple):
    """A program, and what is asked about it."""

    source: str
    path: Path | None
    model: Model
    inputs: Inputs
    assume: tuple[Assumption, ...]
    min_size: int
    budget: float | None


def question_of(  # noqa: PLR0913 - each is something that is known, or asked
    program: Any,
    assume: Assumptions,
    min_size: int,
    names: Mapping[str, str],
    *,
    budget: float | None = None,
    called: str = "",
) -> Question:
    """Return what is asked about a program, which may be a file; ``called`` is the name to tell it by, if any."""
    check_min_size(min_size)
    path = Path(os.fspath(program)) if isinstance(program, (str, os.PathLike)) else None
    loaded = load_program(program)
    inputs = read_inputs(loaded, dict(names))
    model = Model(Graph(loaded, [i.name for i in inputs.inputs]))
    source = str(path) if path is not None else called or _name_of(loaded)
    return Question(source, path, model, inputs, tuple(read_assumptions(assume)), min_size, budget)


def load_program(program: Any) -> Any:
    """Return an exported program; raises `ModelError` for a file that torch does not read."""
    export = load("torch.export")
    if isinstance(program, (str, os.PathLike)):
        source = os.fsdecode(program)
        if not Path(source).is_file():
            raise ModelError(source, "there is no such file", "give the path of a program, such as model.pt2")
        try:
            return export.load(source)
        except Exception as error:
            lines = [line.strip() for line in str(error).splitlines() if line.strip()]
            problem = f"torch does not read it: {lines[0] if lines else type(error).__name__}"
            raise ModelError(source, problem, "write it again with torch.export.save") from error
    if isinstance(program, export.ExportedProgram):
        return program
    raise ShapeTypeError(program, "an exported program", "give what torch.export.export returns, or a file model.pt2")


def _name_of(program: Any) -> str:
    """Return the name of the class of the module that was exported."""
    for node in program.graph.nodes:
        stack = list((node.meta.get("nn_module_stack") or {}).values())
        if stack:
            kind = stack[0][1]
            name = str(kind if isinstance(kind, str) else kind.__name__).rpartition(".")[2]
            if not name.startswith("_"):  # torch's own
                return name
    return "program"


def checked(question: Question, given: Given) -> Checked:
    """Return a program that was walked through, given what a caller knows of its inputs."""
    found = repeated(partial(_walked, question, given))
    env, asker = found.env, found.asker
    return Checked(
        question.source,
        question.path,
        question.model,
        env,
        Conditions(env, asker),
        asker,
        found.walk,
        found.inputs,
        (*(a.text for a in found.assumptions), *given.texts()),
        question.min_size,
        given,
        partial(checked, question),
    )


def _walked(question: Question, given: Given, before: Asker | None) -> Walked:
    """Walk through a program, knowing of its inputs what an earlier walk learned."""
    graph = question.model.graph
    env = ShapeEnv(question.assume, on_conflict="record", budget=question.budget)
    assumptions = tuple(env.assumptions)
    asker = Asker(env, "torch", Bounds({}))
    inputs = inputs_of(_values(question.inputs), env, given, {})
    walk = TorchWalk(Examined(question.model, {}, {}, inner=0), asker, question.inputs.symbols)
    sized(asker, inputs, question.min_size)
    inputs = _with_integers(question.inputs, inputs, env)
    return walked_through(Walked(env, asker, walk, inputs, assumptions), graph, before)


def _values(inputs: Inputs) -> dict[str, Value]:
    """Return the inputs as values: tensors of their sizes, and integers that are held."""
    found = {}
    for i in inputs.inputs:
        if i.is_integer:
            found[i.name] = Value((), INT64)
        elif hasattr(i.value, "shape"):
            found[i.name] = Value(tuple(axis.size for axis in i.axes), number_of(i.value.dtype))
        else:
            found[i.name] = Value(None)
    return found


def _with_integers(declared: Inputs, inputs: ModelInputs, env: ShapeEnv) -> ModelInputs:
    """Return inputs with the integers among them as sizes: a caller knows them as it knows those of tensors."""
    contents = [inputs.values[i.name].content for i in declared.inputs if i.is_integer]
    integers = symbols_of([d for c in contents if isinstance(c, Elements) for d in c.items if is_size(d)])
    for size in integers:
        env.met(size)
    held = {s: text for s, text in inputs.held.items() if s not in integers}
    return inputs._replace(symbols=tuple(dict.fromkeys((*inputs.symbols, *integers))), held=held)


def names_in(path: str, shapes: Mapping[str, ShapeLike], values: Mapping[str, ContentsLike]) -> Present:
    """Return the names in a program, those too that shapes and contents give which are given of inputs that it has."""
    inputs = read_inputs(load_program(path))
    names = tuple(i.name for i in inputs.inputs)
    given = read_given(
        shapes={name: shape for name, shape in shapes.items() if name in names},
        values={name: contents for name, contents in values.items() if name in names},
    )
    found = inputs_of(_values(inputs), ShapeEnv(), given, {})
    return Present(tuple(s.name for s in (*found.symbols, *found.held)), names)
