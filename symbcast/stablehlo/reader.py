"""Modules from files, bytes, text and objects as models: the function to check, its inputs, and their sizes."""

from __future__ import annotations

import os
import re
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from math import ceil
from pathlib import Path
from time import process_time
from typing import Any

from symbcast.core.algebra.formulas import Formula, at_most
from symbcast.core.algebra.symbols import symbol
from symbcast.core.algebra.terms import Dim
from symbcast.core.isolation import DiedError, IsolatedFunction, TimedOutError
from symbcast.core.programs.program import Program
from symbcast.core.structs import NamedTuple
from symbcast.errors import ModelError
from symbcast.graphs.inputs import KnownInputs, ModelInputs, free_name, identifier, inputs_of, with_known_integers
from symbcast.graphs.model import Model, check_path
from symbcast.graphs.registry import check_front_end, wrong_model
from symbcast.operators.values.value import Value
from symbcast.stablehlo.graph import CALLS, Functions, located
from symbcast.stablehlo.mlir import attribute_of, bindings, nested_operations, parsed, tensor_type_of

# What comes from outside is parsed in a child process first: MLIR's parser recurses and can overflow the stack, and
# 5,000 nested ``stablehlo.if`` end the process. The child parses with half of the usual stack, so whatever it survives
# is safe here.


_STACK = 1 << 22
# Only guards against damaged bytecode on which the parser hangs: MLIR reads 10 MB in a second of computing.
#
# Waiting for a processor does not count, else a busy machine would decide what is read.
_SECONDS, _PER_SECOND, _WAIT = 10, 1 << 20, 3600
# The greatest number of operations of a module that is walked.
MAX_OPERATIONS = 50_000
_TEXT = "text of a module"
_TRUNCATED = "it may be truncated, or of a version that this jaxlib does not read"


class ModuleSource(NamedTuple):
    """A module, the name of where it comes from, and its file, if any."""

    source: str
    path: Path | None
    module: Any


def read_module(model: Any) -> ModuleSource:
    """Return a module from a path, bytes, text, an ``ir.Module`` or a ``jax.export.Exported``.

    Raises `ModelError` for anything that MLIR does not read.
    """
    ir = bindings()
    if isinstance(model, ir.Module):
        return ModuleSource(_name_of(model), None, model)
    artifact = getattr(model, "mlir_module_serialized", None)
    if isinstance(artifact, bytes):
        return ModuleSource(str(getattr(model, "fun_name", "exported")), None, parsed(artifact))
    if isinstance(model, (bytes, bytearray)):
        return ModuleSource("bytes of a module", None, _parsed_apart("bytes of a module", bytes(model)))
    if isinstance(model, str) and (not model or "\n" in model or "{" in model):
        return ModuleSource(_TEXT, None, _parsed_apart(_TEXT, model))
    if isinstance(model, (str, os.PathLike)):
        path = Path(model)
        check_front_end(str(path), "stablehlo")
        return ModuleSource(str(path), path, _parsed_apart(str(path), _contents(path)))
    hint = "give a path, text, bytes, an ir.Module or a jax.export.Exported"
    raise wrong_model(model, "a StableHLO module", hint)


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
        problem = IsolatedFunction(probe, _WAIT)(data)
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
    outcome: list[str | Exception] = []

    def work() -> None:
        try:
            outcome.append(_problem(data))
        except Exception as error:
            outcome.append(error)

    # MLIR's own errors go to the descriptor, not to Python's sys.stderr.
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
    if isinstance(outcome[0], Exception):
        raise outcome[0]
    return outcome[0]


@contextmanager
def _limited(seconds: float) -> Iterator[None]:
    """End this process with SIGXCPU if it computes for more seconds; on Windows, there is no such limit."""
    if sys.platform == "win32":
        yield
        return
    import resource

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
        problem = too_many(sum(1 for _ in islice(nested_operations(module.operation), MAX_OPERATIONS + 1)))
        if not problem and (isinstance(data, bytes) or "\\" in data):  # text that is UTF-8 needs escapes for others
            _read_texts(module)
    except ValueError as error:
        return f"MLIR does not read it: {error}"
    except RuntimeError:  # the bindings say only that a conversion failed
        return "MLIR does not read it: a name in it is no UTF-8"
    return problem


def _read_texts(module: Any) -> None:
    """Read all names; the bindings raise `RuntimeError`, or end the process, for one that is no UTF-8."""
    for op in nested_operations(module.operation):
        located(op.location)
        for block in (b for r in op.regions for b in r.blocks):
            for argument in block.arguments:
                located(argument.location)
        for name in op.attributes:
            attribute_of(op, name)


class HloModel(Model):
    """A function of a module; ``raw`` is the module."""

    def __init__(self, read: ModuleSource, function: str | None) -> None:
        program = Functions(read.module, str(read.path or ""))
        name = _chosen(read.source, program.functions, function)
        op = program.functions[name]
        inner = _count(read.source, name, program.functions)
        self._arguments = _Arguments(op, program)
        outputs = _output_names(op)
        graph = program.top(name, self._arguments.names, outputs)
        super().__init__(read.source, graph, path=read.path, raw=read.module, inner=inner)

    def read_inputs(self, env: Program, known: KnownInputs, *, are_open: bool = False) -> ModelInputs:
        """Return the arguments as values. Scalar integers are sizes that the caller knows, as sizes of tensors are."""
        inputs = inputs_of(self._arguments.values(), env, known, {}, are_open=are_open)
        return with_known_integers(inputs, [name for name, v in inputs.values.items() if v.shape == ()], env)

    def said(self, inputs: ModelInputs, min_size: int) -> Iterator[tuple[Formula, str]]:
        """Yield the bounds in the types of arguments, and that scalar integers are not negative."""
        yield from ((at_most(0, s), f"{s} >= 0") for s in inputs.symbols if s in inputs.integers)
        for name, bounds in self._arguments.bounds.items():
            for size, most in zip(inputs.named.get(name) or (), bounds, strict=False):
                if most is not None:
                    yield at_most(size, most), f"{size} <= {most}"


def read(model: Any, runtime: str = "stablehlo", function: str | None = None) -> HloModel:
    """Return a function of a module as a model; raises `ModelError` if the module cannot be read."""
    return HloModel(read_module(model), function)


def _chosen(source: str, functions: Mapping[str, Any], function: str | None) -> str:
    """Return the function to check: the wanted one, ``main``, or the only one that is public."""
    bodies = {name: op for name, op in functions.items() if len(op.regions[0].blocks)}
    if function is not None:
        if function not in bodies:
            raise ModelError(source, f"has no function {function}", f"its functions are {', '.join(bodies) or 'none'}")
        return function
    public = [n for n, op in bodies.items() if attribute_of(op, "sym_visibility") in (None, "public")]
    choices = ["main"] if "main" in bodies else public if len(public) == 1 else list(bodies) if len(bodies) == 1 else []
    if not choices:
        names = ", ".join(list(public or bodies)[:8])
        problem = f"has no function main, but {names}" if names else "has no function with a body"
        raise ModelError(
            source,
            problem,
            "choose one by name (function=, or --function)" if names else "give a module with a function",
        )
    return choices[0]


def _count(source: str, top: str, functions: Mapping[str, Any]) -> int:
    """Return how many operations the functions have that a function calls; raises `ModelError` for recursion."""
    calls: dict[str, list[str]] = {}
    count, pending = 0, [top]
    while pending:
        name = pending.pop()
        if name in calls or name not in functions:
            continue
        calls[name] = []
        for op in nested_operations(functions[name]):
            count += 1
            if op.name in CALLS:
                calls[name].append(op.attributes[CALLS[op.name]].value)
        pending += calls[name]
    _check_acyclic(source, top, calls)
    if too_many(count):
        raise ModelError(source, too_many(count), "check a part of it")
    return count


def _check_acyclic(source: str, top: str, calls: Mapping[str, list[str]]) -> None:
    done: set[str] = set()
    # Without recursion: a chain of calls may be longer than Python's stack is deep.
    open_calls: dict[str, Iterator[str]] = {top: iter(calls[top])}
    while open_calls:
        name = next(reversed(open_calls))
        called = next(open_calls[name], None)
        if called is None:
            done.add(name)
            del open_calls[name]
        elif called in open_calls:
            raise ModelError(
                source, f"the function {called} calls itself", "only functions without recursion are checked"
            )
        elif called not in done:
            open_calls[called] = iter(calls.get(called, ()))


def _output_names(op: Any) -> list[str]:
    """Return a name for each result of a function: JAX's, or ``result0``, ``result1`` and so on."""
    taken: set[str] = set()
    count = len(op.attributes["function_type"].value.results)
    attributes = attribute_of(op, "res_attrs") or [{}] * count
    return [free_name(a.get("jax.result_info") or f"result{n}", taken) for n, a in enumerate(attributes)]


class _Arguments:
    """The arguments of a function, with names for them and for their dynamic sizes.

    An argument has the name of its location, else ``arg0``. A dynamic size has the name of JAX's dimension variable
    that is read from it, else ``<argument>_<axis>``.
    """

    def __init__(self, op: Any, program: Functions) -> None:
        taken: set[str] = set()
        arguments = list(op.regions[0].blocks[0].arguments)
        passed, constants = _passed(op, program), dict(enumerate(_constants(op)))
        names = (constants.get(n) or _name_in(a.location) or passed.names.get(n) for n, a in enumerate(arguments))
        self.names = [free_name(name or f"arg{n}", taken) for n, name in enumerate(names)]
        self._variables = passed.variables
        self._types = [tensor_type_of(a.type) for a in arguments]
        self.bounds = {n: t.bounds for n, t in zip(self.names, self._types, strict=True) if t is not None}

    def values(self) -> dict[str, Value]:
        """Return the arguments as values."""
        taken: set[str] = set()
        values: dict[str, Value] = {}
        own: dict[str, Dim] = {}
        for number, (name, kind) in enumerate(zip(self.names, self._types, strict=True)):
            if kind is None or kind.sizes is None:
                values[name] = Value(None, kind.dtype if kind is not None else 0)
                continue
            dims: list[Dim] = []
            for axis, size in enumerate(kind.sizes):
                variable = self._variables.get((number, axis), "")
                if size is None and variable not in own:
                    fresh = free_name(variable or f"{name}_{axis}", taken)
                    own[variable or fresh] = symbol(fresh)
                    variable = variable or fresh
                dims.append(own[variable] if size is None else size)
            values[name] = Value(tuple(dims), kind.dtype)
        return values


_CONSTANT = "jax.global_constant"


class _Passed(NamedTuple):
    """What the parameters of called functions say about arguments that are passed on to them.

    ``variables`` are JAX's dimension variables by argument and axis: JAX passes the sizes that it reads from arguments.
    """

    names: dict[int, str]
    variables: dict[tuple[int, int], str]


def _passed(op: Any, program: Functions) -> _Passed:
    passed = _Passed({}, {})
    for call in (inner.operation for inner in op.regions[0].blocks[0].operations):
        called = program.functions.get(attribute_of(call, "callee")) if call.name == "func.call" else None
        if called is None or not len(called.regions[0].blocks):
            continue
        for value, parameter in zip(call.operands, called.regions[0].blocks[0].arguments, strict=True):
            number = getattr(value, "arg_number", None)
            if number is not None:
                passed.names.setdefault(number, _name_in(parameter.location))
        for value, name in zip(call.operands, _constants(called), strict=False):
            place = _read_from(value) if name and name not in passed.variables.values() else None
            if place is not None:
                passed.variables.setdefault(place, name)
    return passed


def _constants(op: Any) -> list[str]:
    """Return the dimension variable of JAX for each parameter of a function; empty for other parameters."""
    return [a.get(_CONSTANT, "") for a in attribute_of(op, "arg_attrs") or ()]


def _name_in(location: Any) -> str:
    return identifier(str(location.name_str)) if isinstance(location, bindings().NameLoc) else ""


def _read_from(value: Any) -> tuple[int, int] | None:
    """Return the argument and the axis whose size a value is; None if it is something else."""
    op = getattr(value.owner, "operation", None)
    if op is None or op.name != "stablehlo.get_dimension_size":
        return None
    number = getattr(op.operands[0], "arg_number", None)
    return None if number is None else (number, int(op.attributes["dimension"].value))
