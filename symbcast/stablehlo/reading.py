"""Modules from files, bytes, text and objects. What comes from outside is parsed in a child process first.

MLIR's parser recurses and can overflow the stack: 5,000 nested ``stablehlo.if`` end the process. The child parses with
half of the usual stack, so whatever it survives is safe here.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from math import ceil
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

from symbcast.batch.endings import DiedError, TimedOutError
from symbcast.batch.isolation import Isolated
from symbcast.errors import ModelError, ShapeTypeError
from symbcast.graphs.model import check_path
from symbcast.stablehlo.attributes import attribute_of
from symbcast.stablehlo.graph import located
from symbcast.stablehlo.mlir import bindings, operations_in, parsed

_STACK = 1 << 22
_SECONDS, _PER_SECOND, _WAIT = 10, 1 << 20, 3600
"""Only guards against damaged bytecode on which the parser hangs: MLIR reads 10 MB in a second of computing.

Waiting for a processor does not count, else a busy machine would decide what is read.
"""
MAX_OPERATIONS = 50_000
"""The greatest number of operations of a module that is walked."""
_TEXT = "text of a module"
_TRUNCATED = "it may be truncated, or of a version that this jaxlib does not read"


class Read(NamedTuple):
    """A module, the name of where it comes from, and its file, if any."""

    source: str
    path: Path | None
    module: Any


def read_module(model: Any) -> Read:
    """Return a module from a path, bytes, text, an ``ir.Module`` or a ``jax.export.Exported``.

    Raises `ModelError` for anything that MLIR does not read.
    """
    ir = bindings()
    if isinstance(model, ir.Module):
        return Read(_name_of(model), None, model)
    artifact = getattr(model, "mlir_module_serialized", None)
    if isinstance(artifact, bytes):
        return Read(str(getattr(model, "fun_name", "exported")), None, parsed(artifact))
    if isinstance(model, (bytes, bytearray)):
        return Read("bytes of a module", None, _parsed_apart("bytes of a module", bytes(model)))
    if isinstance(model, str) and (not model or "\n" in model or "{" in model):
        return Read(_TEXT, None, _parsed_apart(_TEXT, model))
    if isinstance(model, (str, os.PathLike)):
        path = Path(model)
        return Read(str(path), path, _parsed_apart(str(path), _contents(path)))
    hint = "give a path, text, bytes, an ir.Module or a jax.export.Exported"
    raise ShapeTypeError(model, "a StableHLO module", hint)


def _name_of(module: Any) -> str:
    attributes = module.operation.attributes
    return str(attributes["sym_name"].value) if "sym_name" in attributes else "module"


def _contents(path: Path) -> bytes:
    check_path(str(path), "give the path of a module, such as model.mlir")
    try:
        return path.read_bytes()
    except OSError as error:
        raise ModelError(str(path), f"cannot be read: {error.strerror or error}", "") from error


def _parsed_apart(source: str, data: str | bytes) -> Any:
    """Return a module that a child process could parse; raises `ModelError` if it could not."""
    if not data:
        raise ModelError(source, "is empty", "give a module with a function")
    if isinstance(data, bytes) and not data.startswith(b"ML\xefR"):
        data = _as_text(source, data)
    try:
        problem = Isolated(probe, _WAIT)(data)
    except DiedError:
        raise ModelError(source, "MLIR's parser crashes on it", "it may be damaged, or nested too deeply") from None
    except TimedOutError as error:
        raise ModelError(source, f"MLIR's parser {error}", _TRUNCATED) from None
    if problem:
        hint = _hint(problem, isinstance(data, str)) if problem.startswith("MLIR") else "check a part of it"
        raise ModelError(source, problem, hint)
    return parsed(data)


def _hint(problem: str, is_text: bool) -> str:
    """Return what to do about MLIR's message on a module."""
    unknown = re.search(r"[Dd]ialect `(\w+)'", problem)
    if unknown:
        return f"lower {unknown[1]} to StableHLO: this jaxlib reads no operators of it in their own notation"
    return "correct it there, or write it with a StableHLO that this jaxlib reads" if is_text else _TRUNCATED


def _as_text(source: str, data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise ModelError(source, "is neither MLIR bytecode nor text", "write the module again") from None


def too_many(count: int) -> str:
    """Return that a module has too many operations, or an empty text."""
    return f"has more than {MAX_OPERATIONS} operations, which is too many to follow" if count > MAX_OPERATIONS else ""


def probe(data: str | bytes) -> str:
    """Parse a module, read its texts and forget it; return why that failed, or an empty text.

    Nothing is written to stderr. A process that computes for too long ends.
    """
    found: list[str | Exception] = []

    def work() -> None:
        try:
            found.append(_problem(data))
        except Exception as error:
            found.append(error)

    before, own = threading.stack_size(_STACK), os.dup(2)
    with Path(os.devnull).open("w") as nothing:
        os.dup2(nothing.fileno(), 2)
    try:
        thread = threading.Thread(target=work)
        with _limited(_SECONDS + len(data) / _PER_SECOND):
            thread.start()
            thread.join()
    finally:
        threading.stack_size(before)
        os.dup2(own, 2)
        os.close(own)
    if isinstance(found[0], Exception):
        raise found[0]
    return found[0]


@contextmanager
def _limited(seconds: float) -> Iterator[None]:
    """End this process with SIGXCPU if it computes for more seconds; on Windows, there is no such limit."""
    try:
        import resource
    except ModuleNotFoundError:
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_CPU)
    own = (limit for limit in (soft, hard) if limit != resource.RLIM_INFINITY)
    resource.setrlimit(resource.RLIMIT_CPU, (min([ceil(process_time() + seconds), *own]), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))


def _problem(data: str | bytes) -> str:
    try:
        module = parsed(data)
        problem = too_many(sum(1 for _ in islice(operations_in(module.operation), MAX_OPERATIONS + 1)))
        if not problem and (isinstance(data, bytes) or "\\" in data):  # text that is UTF-8 needs escapes for others
            _read_texts(module)
    except ValueError as error:
        return f"MLIR does not read it: {error}"
    except RuntimeError:  # the bindings say only that a conversion failed
        return "MLIR does not read it: a name in it is no UTF-8"
    return problem


def _read_texts(module: Any) -> None:
    """Read all names; the bindings raise `RuntimeError`, or end the process, for one that is no UTF-8."""
    for op in operations_in(module.operation):
        located(op.location)
        for block in (b for r in op.regions for b in r.blocks):
            for argument in block.arguments:
                located(argument.location)
        for name in op.attributes:
            attribute_of(op, name)
