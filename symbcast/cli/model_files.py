"""Model files as arguments.

Which files, read by which front end, written where, and facts given about their inputs.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from symbcast.cli.terminal import STDIN, UsageError, argument_text, is_shape, path_exists, read_stdin
from symbcast.core.characters import near_file
from symbcast.core.interrupts import CleanupOnInterrupt
from symbcast.errors import ModelError
from symbcast.graphs.registry import Registered, front_end_of, front_ends

# The model files that a command reads, and the paths that it writes to.


ENDING = ".onnx"
# One more byte than a model can have; reading the model reports this.
_MOST_BYTES = 1 << 31
_BEGINNINGS = (
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
# The endings that make a file in a folder a model.
_SEARCHED = (ENDING, f"{ENDING}.gz", ".onnxtxt", ".mlir", ".mlirbc", ".pt2", ".tflite", ".tflite.gz")
# Of other files too: in a folder, a file with this ending is a model if it begins like one.
_OPENVINO = ".xml"


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

    with (
        TemporaryDirectory(prefix="symbcast-") as folder,
        CleanupOnInterrupt(lambda: rmtree(folder, ignore_errors=True)),
    ):
        path = Path(folder, f"{name}{_ending(data)}")
        path.write_bytes(data)
        yield str(path)


def _ending(data: bytes) -> str:
    """Return the file extension for model data, as determined by how the data begin."""
    if data.startswith(b"\x1f\x8b"):
        return ".tflite.gz" if _begins_litert(_unzipped(data)) else f"{ENDING}.gz"
    if _begins_litert(data):
        return ".tflite"
    start = data[:1000].lstrip()
    recognized = next((ending for begins, ending in _BEGINNINGS if start.startswith(begins)), ENDING)
    return recognized if recognized != ENDING or b"ir_version:" not in start else ".textproto"


def _begins_litert(data: bytes) -> bool:
    return data[4:8] == b"TFL3"  # a flatbuffer begins with an offset


def _unzipped(data: bytes) -> bytes:
    """Return the first bytes of compressed data; empty if they are damaged."""
    from zlib import decompressobj, error

    try:
        return decompressobj(31).decompress(data[:1000], 8)
    except error:
        return b""


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
    files = list(closed)
    for folder, _, names in os.walk(argument, onerror=lambda error: closed.append(str(error.filename))):
        files += [str(Path(folder, name)) for name in names if _is_model(Path(folder, name))]
    yield from sorted([*files, *closed], key=lambda path: Path(path).parts) or [argument]


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


def output_paths(output: str, files: Sequence[str], arguments: Sequence[str], overwrite: bool) -> Mapping[str, str]:
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
        targets = {files[0]: output}
    elif is_named or Path(output).is_file():
        raise UsageError(f"--output {output} is a file; name a folder for several models or a folder of models")
    else:
        common = Path(os.path.commonpath([Path(f).absolute().parent for f in files]))
        targets = {f: str(Path(output) / _named(Path(f).absolute().relative_to(common))) for f in files}
    read = {Path(f).resolve(): f for f in files}
    written: dict[str, str] = {}
    for file, target in targets.items():
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
    return targets


def _named(path: Path) -> Path:
    """Return a path with the extension of a model, whatever the original format."""
    plain = path.with_suffix("") if path.suffix == ".gz" else path
    return plain if plain.suffix.lower() == ENDING else plain.with_name(f"{plain.name}{ENDING}")


# Which front end reads a file, and why a file is certainly no model.


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
        models = "is a folder without models (.onnx, .mlir, .pt2, .tflite, or .xml of OpenVINO)"
        yield models if is_open else "is a folder that cannot be read", ""
        return
    if path.endswith(".py"):
        hint = "trace a function with symbcast trace MODULE:FUNCTION, or check annotations with symbcast lint"
        yield "is Python source, not a model", hint
        return
    if not path_exists(path):
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
        yield "no file matches", f"did you mean {other}?" if any(folder.glob(Path(other).name)) else ""
    elif near := near_file(path):
        yield "there is no such file", f"did you mean {near}?"


def _of_torch(path: Path) -> Iterator[tuple[str, str]]:
    from symbcast.torch.reader import is_other_archive

    yield from _pickled(path)
    if not path.name.endswith(".pt2") and is_other_archive(path):
        yield "is a zip archive, not a model", "export the model to ONNX, and give that file"


def _pickled(path: Path) -> Iterator[tuple[str, str]]:
    from symbcast.torch.reader import other_torch_file

    try:
        kind = other_torch_file(path)
    except OSError:  # reading the file reports it
        return
    if kind is not None:
        yield kind.problem, kind.advice


# What the user of a command says about a model's sizes and inputs, read before any model is.


def bound_sizes(texts: Sequence[str], min_size: int) -> tuple[tuple[str, int], ...]:
    """Return the sizes that are fixed by name, as ``--bind`` gives them."""
    sizes: dict[str, int] = {}
    for text in texts:
        name, size = _bound(text)
        if size < min_size:
            raise UsageError(f"--bind {text}: sizes are at least {min_size}; add --min-size {size}")
        if sizes.setdefault(name, size) != size:
            raise UsageError(f"--bind {text}: {name} is {sizes[name]} already")
    return tuple(sizes.items())


_BOUND = re.compile(r"\s*(.*?[^=:<>!\s])\s*(={1,2}|:|\s)\s*([+-]?[0-9]+)\s*", re.DOTALL)
_BETWEEN = re.compile(r"\s*(.*?[^=:\s])\s*(?:={1,2}|:)\s*\[?([0-9]+)\s*(?:\.\.|-|:|,)\s*([0-9]+)\]?\s*", re.DOTALL)


def _bound(text: str) -> tuple[str, int]:
    """Return a name and its size."""
    match = _BOUND.fullmatch(text)
    if match is not None and match[2] == "=" and match[3].isdecimal():
        return match[1], int(match[3])
    if match is not None and match[3].startswith("-"):
        raise UsageError(f"--bind {text}: a size is not negative; write a number, as in --bind {match[1]}=4")
    if match is not None:
        raise UsageError(f"--bind {text}: write --bind {argument_text(f'{match[1]}={int(match[3])}')}")
    ends = _BETWEEN.fullmatch(text)
    if ends is not None:
        relation = f"{ends[2]} <= {ends[1]} <= {ends[3]}"
        raise UsageError(f'--bind {text}: --bind fixes one number; for a range, write --assume "{relation}"')
    name, equals, size = (part.strip() for part in text.partition("="))
    if not equals or not name or not size:
        example = f"{text}=4" if text.isidentifier() else "batch=4"
        raise UsageError(f"--bind {text}: write a name and its size, as in --bind {example}")
    if size.isidentifier():
        hint = f'--bind {name}=4, or --assume "{name} == {size}" for two equal sizes'
        raise UsageError(f"--bind {text}: {size} is not a number; write {hint}")
    raise UsageError(
        f"--bind {text}: write a name and its size, as in --bind {name if name.isidentifier() else 'batch'}=4"
    )


def check_named(shapes: Sequence[str], inputs: Callable[[], Sequence[str]]) -> None:
    """Raise `UsageError` for a shape without the name of its input; ``inputs`` returns those of the model."""
    for text in shapes:
        if "=" in text or text.isidentifier() or not is_shape(text):
            continue
        names = inputs()
        dims = ", ".join(part.strip() for part in text.strip(" ()[]").split(","))
        each = " or ".join(f"--shapes {argument_text(f'{name}={dims}')}" for name in names[:3])
        if each:
            raise UsageError(f"--shapes {argument_text(text)}: a shape follows the name of its input; write {each}")


def inputs_given(option: str, texts: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Return the given facts about inputs by name; they are parsed here, before any model is read."""
    from symbcast.graphs.inputs import read_known_inputs

    texts_by_input: dict[str, str] = {}
    for text in texts:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not name or not equals or not value:
            colon = re.fullmatch(r"([^\W\d][\w./]*):(.+)", text) if option == "shapes" and not equals else None
            if colon:
                dims = ", ".join(re.split(r"\s*[,x]\s*", colon[2]))
                raise UsageError(f'--shapes {text}: write --shapes "{colon[1]}={dims}"')
            example = '"x=N, 3, H, W"' if option == "shapes" else "steps=4,N//2"
            raise UsageError(
                f"--{option} {text}: write an input and what is known about it, as in --{option} {example}"
            )
        if texts_by_input.setdefault(name, value) != value:
            raise UsageError(f"--{option} {text}: {name} is {texts_by_input[name]} already")
    if option == "values":
        for name, value in texts_by_input.items():
            _check_numbers(name, value)
    _ = read_known_inputs(shapes=texts_by_input) if option == "shapes" else read_known_inputs(values=texts_by_input)
    return tuple(texts_by_input.items())


def _check_numbers(name: str, value: str) -> None:
    """Raise `UsageError` for numbers that are no integers, as other tools write them."""
    scale = {"k": 1000, "m": 1_000_000}
    counted = re.fullmatch(r"\s*([0-9]+)\s*([kKmM])\s*", value)
    if counted:
        number = int(counted[1]) * scale[counted[2].lower()]
        raise UsageError(f"--values {name}={value}: write --values {name}={number}")
    if re.search(r"(?<![\w.])[0-9]*\.[0-9]+(?![\w.])|\b[0-9]+e-?[0-9]+", value):
        raise UsageError(
            f"--values {name}={value}: values are for inputs of integers, so leave it out for an input of floats; "
            f"elements are whole numbers or sizes, as in --values {name}=4,N//2"
        )
