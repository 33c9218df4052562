"""Which front end reads a file, and why a file is certainly no model."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from symbcast.cli.files import ENDING, ending_of, is_there, near_file
from symbcast.errors import ModelError
from symbcast.graphs.registry import front_end_of, front_ends

if TYPE_CHECKING:
    from symbcast.graphs.registry import Registered


def front_end_for(path: str) -> Registered:
    """Return the front end for a file by its name, or else by how it begins; ONNX if neither determines it."""
    return front_end_of(path) or front_end_of(f"model{ending_of(Path(path))}") or front_ends()["onnx"]


def is_readable(path: str) -> bool:
    """Return whether a file may be a model: whether `check_readable` accepts it."""
    return next(_faults(path), None) is None


def check_readable(path: str) -> None:
    """Raise `ModelError` for a file that is certainly no model, with what to do; no front end is loaded."""
    for problem, hint in _faults(path):
        raise ModelError(path, problem, hint)


def _faults(path: str) -> Iterator[tuple[str, str]]:
    """Yield each problem of a file, and what to do."""
    if Path(path).is_dir():
        is_open = os.access(path, os.R_OK | os.X_OK)
        models = "is a folder without models (.onnx, .mlir, .pt2, or .xml of OpenVINO)"
        yield models if is_open else "is a folder that cannot be read", ""
        return
    if path.endswith(".py"):
        hint = "trace a function with symbcast trace MODULE:FUNCTION, or check annotations with symbcast lint"
        yield "is Python source, not a model", hint
        return
    if not is_there(path):
        yield from _missing(path)
        return
    if front_end_for(path).name == "torch":
        yield from _of_torch(Path(path))
    elif front_end_of(path) is None and ending_of(Path(path)) == ENDING:
        yield from _pickled(Path(path))


def _missing(path: str) -> Iterator[tuple[str, str]]:
    if any(character in path for character in "*?["):
        folder, pattern = Path(path).parent, Path(path).name
        if any(folder.glob(pattern)):
            yield "there is no such file", "leave the quotes out: the shell lists the files that match"
        other = str(folder / f"{pattern.rpartition('.')[0] or pattern}{ENDING}")
        is_other = any(folder.glob(Path(other).name))
        yield "no file matches", f"did you mean {other}?" if is_other else ""
    elif near := near_file(path):
        yield "there is no such file", f"did you mean {near}?"


def _of_torch(path: Path) -> Iterator[tuple[str, str]]:
    from symbcast.torch.reading.files import is_other_archive

    yield from _pickled(path)
    if not path.name.endswith(".pt2") and is_other_archive(path):
        yield "is a zip archive, not a model", "export the model to ONNX, and give that file"


def _pickled(path: Path) -> Iterator[tuple[str, str]]:
    from symbcast.torch.reading.files import kind_of

    try:
        kind = kind_of(path)
    except OSError:  # reading the file reports it
        return
    if kind is not None:
        yield kind.problem, kind.advice
