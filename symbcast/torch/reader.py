"""Load exported programs, recognise other files of PyTorch without unpickling them, and read inputs as sizes."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile, is_zipfile

from symbcast.core.programs.program import Program
from symbcast.core.structs import NamedTuple
from symbcast.errors import ModelError
from symbcast.graphs.inputs import KnownInputs, inputs_of, with_known_integers
from symbcast.graphs.inputs import ModelInputs as GraphInputs
from symbcast.graphs.model import Model, check_path
from symbcast.graphs.registry import check_front_end, wrong_model
from symbcast.operators.values.value import Value
from symbcast.torch.graph import TorchGraph
from symbcast.torch.inputs import ProgramInputs, read_program_inputs
from symbcast.torch.library import INT64, load_torch, onnx_type_number

_EXPORT = "torch.export.save(torch.export.export(module, args), 'model.pt2')"
_PICKLE = (b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05")


class OtherTorchFile(NamedTuple):
    """A kind of file that is not an exported program: what it is, what to do in Python, and for a command."""

    problem: str
    hint: str
    advice: str = "export the module by torch.onnx.export or torch.export.save, and give that file"


SCRIPT = OtherTorchFile(
    "it is a TorchScript file (torch.jit.save), which records no sizes",
    f"export the module that it was made from: {_EXPORT}",
)
SCRIPT_MODULE = OtherTorchFile(
    "it is a TorchScript module, which torch does not export", "give the module that it was made from"
)
PICKLED = OtherTorchFile(
    "it was written by torch.save: a pickle of weights or of a whole module, which is not loaded, because a pickle can "
    "run any code",
    "create the module, load weights with torch.load(path, weights_only=True), and give check() the module and its "
    "arguments",
)
CUT = OtherTorchFile(
    "torch cannot read it: it is no zip archive, or only a part of one",
    "save it again with torch.export.save",
    "save it again with torch.export.save",
)
COMPILED = OtherTorchFile(
    "it is an AOTInductor package: compiled code, without the graph that it was compiled from",
    f"check the exported program that was compiled; save it next to the package: {_EXPORT}",
)


def other_torch_file(path: Path) -> OtherTorchFile | None:
    """Return what a file is if it is certainly not an exported program; None for others."""
    # A pickle can run any code: only the names in an archive and the first bytes are read.
    if not is_zipfile(path):
        with path.open("rb") as file:
            if file.read(2) in _PICKLE:
                return PICKLED
        return CUT if path.suffix.lower() in (".pt2", ".pt", ".pth") else None
    try:
        with ZipFile(path) as archive:
            names = archive.namelist()
    except (BadZipFile, OSError):
        return None
    inner = [name.partition("/")[2] or name for name in names]
    if _has_program(names):
        return None
    if any("aotinductor/" in name for name in names):
        return COMPILED
    if "constants.pkl" in inner and any(name.startswith("code/") for name in inner):
        return SCRIPT
    return PICKLED if "data.pkl" in inner else None


def is_other_archive(path: Path) -> bool:
    """Return whether a file is a zip archive without an exported program."""
    if not is_zipfile(path):
        return False
    try:
        with ZipFile(path) as archive:
            return not _has_program(archive.namelist())
    except (BadZipFile, OSError):
        return False


def _has_program(names: Sequence[str]) -> bool:
    inner = [name.partition("/")[2] or name for name in names]
    return any(name.startswith("models/") or name == "serialized_exported_program.json" for name in (*inner, *names))


class TorchModel(Model):
    """A program; ``raw`` is torch's object, ``declared`` holds its inputs."""

    graph: TorchGraph

    def __init__(self, source: str, path: Path | None, program: Any, declared: ProgramInputs) -> None:
        graph = TorchGraph(program, [i.name for i in declared.inputs])
        super().__init__(source, graph, path=path, raw=program)
        self.declared = declared

    def read_inputs(self, env: Program, given: KnownInputs, *, are_open: bool = False) -> GraphInputs:
        """Return the inputs as values. Integer inputs are sizes that the caller knows, like the sizes of tensors."""
        inputs = inputs_of(_values(self.declared), env, given, {})
        return with_known_integers(inputs, [i.name for i in self.declared.inputs if i.is_integer], env)


def read(
    program: Any, runtime: str = "torch", dynamic_shapes: Any = None, called: str = "", gathered: str | None = None
) -> TorchModel:
    """Return a program or load it from a file.

    ``dynamic_shapes`` names its sizes; ``called`` is its display name, ``gathered`` the name of its ``*args``.
    """
    path = Path(os.fspath(program)) if isinstance(program, (str, os.PathLike)) else None
    loaded = load_program(program)
    source = str(path) if path is not None else called or _name_of(loaded)
    return TorchModel(source, path, loaded, read_program_inputs(loaded, dynamic_shapes, gathered))


def load_program(program: Any) -> Any:
    """Return an exported program; raises `ModelError` for a file that torch cannot read."""
    export = load_torch("torch.export")
    if isinstance(program, (str, os.PathLike)):
        source = os.fsdecode(program)
        check_front_end(source, "torch")
        check_path(source, "give the path of a program, such as model.pt2")
        kind = other_torch_file(Path(source))
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
    raise wrong_model(program, "an exported program", "give the result of torch.export.export, or a file model.pt2")


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


def _values(inputs: ProgramInputs) -> dict[str, Value]:
    """Return the inputs as values: tensors with their sizes, and integers as scalars."""
    values = {}
    for i in inputs.inputs:
        if i.is_integer:
            values[i.name] = Value((), INT64)
        elif hasattr(i.value, "shape"):
            values[i.name] = Value(tuple(axis.size for axis in i.axes), onnx_type_number(i.value.dtype))
        else:
            values[i.name] = Value(None)
    return values
