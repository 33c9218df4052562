"""The model files that a command reads, and the paths that it writes to."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from symbcast.batch.interrupts import Undone
from symbcast.cli.statuses import UsageError
from symbcast.cli.stdin import STDIN, read_stdin
from symbcast.core.characters import closest

ENDING = ".onnx"
_MOST_BYTES = 1 << 31
"""One more byte than a model can have; reading the model reports this."""
_BEGINNINGS = (
    (b"\x1f\x8b", f"{ENDING}.gz"),
    (b"<?xml", ".xml"),
    (b"<net", ".xml"),
    (b"<ir_version", ".onnxtxt"),
    (b"< ir_version", ".onnxtxt"),
    (b"{", ".json"),
    (b"module", ".mlir"),
    (b"func.func", ".mlir"),
    (b'"builtin.module"', ".mlir"),
    (b"#loc", ".mlir"),
    (b"ML\xefR", ".mlirbc"),
    (b"PK\x03\x04", ".pt2"),
)
_SEARCHED = (ENDING, f"{ENDING}.gz", ".onnxtxt", ".mlir", ".mlirbc", ".pt2")
"""The endings that make a file in a folder a model."""
_OPENVINO = ".xml"
"""Of other files too: in a folder, a file with this ending is a model if it begins like one."""


def is_there(path: str) -> bool:
    """Return whether there is a file or folder with a name."""
    try:
        return Path(path).exists()
    except (OSError, ValueError):  # the name is too long or invalid
        return False


@contextmanager
def model_on_stdin(name: str) -> Iterator[str]:
    """Yield the path of a temporary file, named ``name``, with the model from standard input.

    The file has the extension of the model's format. Raises `UsageError` if standard input is empty.
    """
    data = read_stdin(_MOST_BYTES)
    if not data:
        raise UsageError("- reads a model from standard input, which is empty")
    # They load compression and random numbers, which take as long as an answer.
    from shutil import rmtree
    from tempfile import TemporaryDirectory

    with TemporaryDirectory(prefix="symbcast-") as folder, Undone(lambda: rmtree(folder, ignore_errors=True)):
        path = Path(folder, f"{name}{_ending(data)}")
        path.write_bytes(data)
        yield str(path)


def _ending(data: bytes) -> str:
    """Return the file extension for model data, as determined by how the data begin."""
    start = data[:1000].lstrip()
    found = next((ending for begins, ending in _BEGINNINGS if start.startswith(begins)), ENDING)
    return found if found != ENDING or b"ir_version:" not in start else ".textproto"


def model_files(arguments: Sequence[str]) -> list[str]:
    """Return the named files, each once, with folders replaced by the files in them, sorted by name.

    A folder without models, or one that cannot be read, stays in the list, so that it is reported. Raises `UsageError`
    for an empty name, such as an unset shell variable.
    """
    if not all(arguments):
        raise UsageError("a file name is empty; check that the variable it comes from is set")
    return list(dict.fromkeys(path for argument in arguments for path in _files(argument)))


def _files(argument: str) -> Iterator[str]:
    try:
        is_folder = Path(argument).is_dir()
    except OSError:  # the name is too long; reading the file reports it
        is_folder = False
    if not is_folder:
        yield argument
        return
    closed: list[str] = []
    found = list(closed)
    for folder, _, names in os.walk(argument, onerror=lambda error: closed.append(str(error.filename))):
        found += [str(Path(folder, name)) for name in names if _is_model(Path(folder, name))]
    yield from sorted([*found, *closed], key=lambda path: Path(path).parts) or [argument]


def _is_model(path: Path) -> bool:
    """Return whether a file of a folder is a model."""
    name = path.name.lower()
    return name.endswith(_SEARCHED) or (name.endswith(_OPENVINO) and ending_of(path) == _OPENVINO)


def ending_of(path: Path) -> str:
    """Return the ending that the first bytes of a model file suggest; ``.onnx`` if they suggest none."""
    try:
        with path.open("rb") as file:
            return _ending(file.read(1000))
    except OSError:
        return ENDING


def near_file(path: str) -> str:
    """Return the file of the same folder whose name is close to a path that does not exist; empty if none is."""
    try:
        names = sorted(entry.name for entry in Path(path).parent.iterdir())
    except OSError:
        return ""
    name = Path(path).name
    same = [n for n in names if Path(n).stem == name]
    found = same[0] if len(same) == 1 else closest(name, names)
    return str(Path(path).parent / found) if found else ""


def targets(output: str, files: Sequence[str], arguments: Sequence[str], overwrite: bool) -> Mapping[str, str]:
    """Return where the model of each file is written: a file for one model, or a path in a folder.

    The target is a folder if several models are written, or if the output or an argument is a folder; but one model may
    always be written to a file with a model's extension. Raises `UsageError` if two models would be written to one
    path, or one would replace a model that is read or, without ``overwrite``, any file.
    """
    if output == STDIN:
        raise UsageError("--output - : standard output carries the report; name a file")
    try:
        return _targets(output, files, arguments, overwrite)
    except (OSError, ValueError) as error:
        raise UsageError(f"--output {output}: {getattr(error, 'strerror', None) or error}") from None


def _targets(output: str, files: Sequence[str], arguments: Sequence[str], overwrite: bool) -> Mapping[str, str]:
    is_named = output.lower().endswith(ENDING) and not Path(output).is_dir()
    is_folder = output.endswith(("/", os.sep)) or any(Path(p).is_dir() for p in (output, *arguments))
    if len(files) == 1 and (is_named or not is_folder):
        found = {files[0]: output}
    elif is_named or Path(output).is_file():
        raise UsageError(f"--output {output} is a file; name a folder for several models or a folder of models")
    else:
        common = Path(os.path.commonpath([Path(f).absolute().parent for f in files]))
        found = {f: str(Path(output) / _named(Path(f).absolute().relative_to(common))) for f in files}
    read = {Path(f).resolve(): f for f in files}
    written: dict[str, str] = {}
    for file, target in found.items():
        if Path(target).resolve() in read:
            over = read[Path(target).resolve()]
            another = f"name another {'file' if output == target else 'folder'}"
            raise UsageError(f"--output {output} would write over {over}: an input is never overwritten; {another}")
        if target in written:
            raise UsageError(f"--output {output} would write both {written[target]} and {file} to {target}")
        written[target] = file
    there = [target for target in written if Path(target).exists() or Path(target).is_symlink()]
    if there and not overwrite:
        others = f", and {len(there) - 1} more" if len(there) > 1 else ""
        raise UsageError(f"--output: {there[0]} already exists{others}; name another, or add --overwrite")
    return found


def _named(path: Path) -> Path:
    """Return a path with the extension of a model, whatever the original format."""
    plain = path.with_suffix("") if path.suffix == ".gz" else path
    return plain if plain.suffix.lower() == ENDING else plain.with_name(f"{plain.name}{ENDING}")
