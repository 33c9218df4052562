"""Load exported programs and read their inputs as sizes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from symbcast.core.algebra.terms import symbols_of
from symbcast.errors import ModelError, ShapeTypeError
from symbcast.graphs.inputs.inputs import Inputs as GraphInputs
from symbcast.graphs.inputs.inputs import inputs_of
from symbcast.graphs.model import Model, check_path
from symbcast.graphs.values.contents import Elements, is_size
from symbcast.graphs.values.value import Value
from symbcast.torch.reading.element_types import INT64, number_of
from symbcast.torch.reading.files import kind_of
from symbcast.torch.reading.graph import TorchGraph
from symbcast.torch.reading.inputs import Inputs, read_inputs
from symbcast.torch.reading.library import load

if TYPE_CHECKING:
    from symbcast.core.program.whole.program import Program
    from symbcast.graphs.inputs.given import Given


class TorchModel(Model):
    """A program; ``raw`` is torch's object, ``declared`` holds its inputs."""

    graph: TorchGraph

    def __init__(self, source: str, path: Path | None, program: Any, declared: Inputs) -> None:
        graph = TorchGraph(program, [i.name for i in declared.inputs])
        super().__init__(source, graph, path=path, raw=program)
        self.declared = declared

    def read_inputs(self, env: Program, given: Given, *, are_open: bool = False) -> GraphInputs:
        """Return the inputs as values. Integer inputs are sizes that the caller knows, like the sizes of tensors."""
        inputs = inputs_of(_values(self.declared), env, given, {})
        contents = [inputs.values[i.name].content for i in self.declared.inputs if i.is_integer]
        integers = symbols_of([d for c in contents if isinstance(c, Elements) for d in c.items if is_size(d)])
        for size in integers:
            env.met(size)
        held = {s: text for s, text in inputs.held.items() if s not in integers}
        symbols = tuple(dict.fromkeys((*inputs.symbols, *integers)))
        own = frozenset(integers).difference(inputs.symbols)
        return inputs._replace(symbols=symbols, held=held, integers=own)


def read(
    program: Any, runtime: str = "torch", dynamic_shapes: Any = None, called: str = "", gathered: str | None = None
) -> TorchModel:
    """Return a program or load it from a file.

    ``dynamic_shapes`` names its sizes; ``called`` is its display name, ``gathered`` the name of its ``*args``.
    """
    path = Path(os.fspath(program)) if isinstance(program, (str, os.PathLike)) else None
    loaded = load_program(program)
    source = str(path) if path is not None else called or _name_of(loaded)
    return TorchModel(source, path, loaded, read_inputs(loaded, dynamic_shapes, gathered))


def load_program(program: Any) -> Any:
    """Return an exported program; raises `ModelError` for a file that torch cannot read."""
    export = load("torch.export")
    if isinstance(program, (str, os.PathLike)):
        source = os.fsdecode(program)
        check_path(source, "give the path of a program, such as model.pt2")
        kind = kind_of(Path(source))
        if kind is not None:
            raise ModelError(source, kind.problem, kind.hint)
        try:
            return export.load(source)
        except Exception as error:
            lines = [line.strip() for line in str(error).splitlines() if line.strip()]
            problem = f"torch cannot read it: {lines[0] if lines else type(error).__name__}"
            raise ModelError(source, problem, "save it again with torch.export.save") from error
    if isinstance(program, export.ExportedProgram):
        return program
    raise ShapeTypeError(program, "an exported program", "give the result of torch.export.export, or a file model.pt2")


def _name_of(program: Any) -> str:
    """Return the class name of the exported module."""
    for node in program.graph.nodes:
        stack = list((node.meta.get("nn_module_stack") or {}).values())
        if stack:
            kind = stack[0][1]
            name = str(kind if isinstance(kind, str) else kind.__name__).rpartition(".")[2]
            if not name.startswith("_"):  # torch's own
                return name
    return "program"


def _values(inputs: Inputs) -> dict[str, Value]:
    """Return the inputs as values: tensors with their sizes, and integers as scalars."""
    found = {}
    for i in inputs.inputs:
        if i.is_integer:
            found[i.name] = Value((), INT64)
        elif hasattr(i.value, "shape"):
            found[i.name] = Value(tuple(axis.size for axis in i.axes), number_of(i.value.dtype))
        else:
            found[i.name] = Value(None)
    return found
