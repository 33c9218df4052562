"""The model files that a command is given, and where what it writes goes."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from symbcast.cli.statuses import UsageError

ENDING = ".onnx"
_SEARCHED = (ENDING, f"{ENDING}.gz", ".onnxtxt")


def read_stdin() -> bytes:
    """Return what comes in on standard input; raises `UsageError` where it is closed or cannot be read."""
    try:
        return sys.stdin.buffer.read()
    except (AttributeError, OSError, ValueError) as error:
        raise UsageError(
            f"standard input cannot be read: {getattr(error, 'strerror', None) or 'it is closed'}"
        ) from None


def model_files(arguments: Sequence[str]) -> list[str]:
    """Return the files that are named, each once, and in the place of a folder those in it, in the order of names.

    A folder without models, or one that cannot be read, stays: it is told of in its place. Raises `UsageError` for an
    empty name, as an unset variable of a shell is.
    """
    if not all(arguments):
        raise UsageError("a file name is empty; see that the variable it is from is set")
    return list(dict.fromkeys(path for argument in arguments for path in _files(argument)))


def _files(argument: str) -> Iterator[str]:
    try:
        is_folder = Path(argument).is_dir()
    except OSError:  # the name is too long, as is told when the file is read
        is_folder = False
    if not is_folder:
        yield argument
        return
    closed: list[str] = []
    found = list(closed)
    for folder, _, names in os.walk(argument, onerror=lambda error: closed.append(str(error.filename))):
        found += [str(Path(folder, name)) for name in names if name.lower().endswith(_SEARCHED)]
    yield from sorted([*found, *closed], key=lambda path: Path(path).parts) or [argument]


def targets(output: str, files: Sequence[str], arguments: Sequence[str]) -> Mapping[str, str]:
    """Return where the model of each file is written to: a file for one model, or a place in a folder.

    It is a folder where several models are written, a folder is given, or there is one. Raises `UsageError` where two
    would be written to one place, or one in the place of a model that is read.
    """
    to_folder = len(files) > 1 or output.endswith(("/", os.sep)) or any(Path(p).is_dir() for p in (output, *arguments))
    if not to_folder:
        found = {files[0]: output}
    elif Path(output).is_file():
        raise UsageError(f"--output {output} is a file; for several models, or a folder of them, name a folder")
    else:
        common = Path(os.path.commonpath([Path(f).absolute().parent for f in files]))
        found = {f: str(Path(output) / _named(Path(f).absolute().relative_to(common))) for f in files}
    read = {Path(f).resolve(): f for f in files}
    written: dict[str, str] = {}
    for file, target in found.items():
        if Path(target).resolve() in read:
            raise UsageError(f"--output {output} would write over {read[Path(target).resolve()]}")
        if target in written:
            raise UsageError(f"--output {output} would write both {written[target]} and {file} to {target}")
        written[target] = file
    return found


def _named(path: Path) -> Path:
    """Return a path with the ending of a model, whatever its format was."""
    plain = path.with_suffix("") if path.suffix == ".gz" else path
    return plain if plain.suffix.lower() == ENDING else plain.with_name(f"{plain.name}{ENDING}")
