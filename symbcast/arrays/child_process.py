"""Trace in a child process: if the child is killed, the answer is unknown and names the function.

The child imports the function by the name and the file of its module. The report that it returns does not need that
module: errors are kept as type name and message, and any result other than a shape, size or plain value as its text.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, field, replace
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from symbcast.arrays.arguments import TraceArguments
from symbcast.arrays.trace import TraceReport, trace
from symbcast.core.isolation import ChildProcess, DiedError
from symbcast.core.programs.arguments import Assumptions, check_min_size, read_assumptions
from symbcast.core.programs.scope import Scope
from symbcast.core.shapes import Shape
from symbcast.paths.answer import conclusions_of
from symbcast.paths.exploration import MAX_PATHS, Exploration, PathOutcome
from symbcast.paths.steps import UntracedError


@dataclass(frozen=True)
class TraceCall:
    """The arguments of a trace, as `symbcast.trace` takes them."""

    arguments: tuple[Any, ...]
    named: Mapping[str, Any] = field(default_factory=dict)
    assume: Assumptions = ()
    min_size: int = 0
    max_paths: int = MAX_PATHS

    def of(self, function: Callable[..., Any]) -> TraceReport:
        """Return the trace of a function."""
        return trace(
            function,
            *self.arguments,
            assume=self.assume,
            min_size=self.min_size,
            max_paths=self.max_paths,
            **self.named,
        )


def trace_in_child(
    child: ChildProcess, find: Callable[[Any], Any], place: Any, call: TraceCall, name: str
) -> TraceReport:
    """Return the trace of the function that ``find`` finds at a place, in a child process.

    ``find`` is pickled by its name. Errors raised by ``find`` or by `symbcast.trace` are raised here too. If the
    process dies, the report says that nothing is known about the function called ``name``.
    """
    try:
        report = child.ask(_traced, (find, place, call))
    except DiedError as error:
        report = report_of_crash(call, name, error)
    report.isolated = True
    return report


def _traced(job: tuple[Callable[[Any], Any], Any, TraceCall]) -> TraceReport:
    find, place, call = job
    # The child's output is the channel of its answers.
    with redirect_stdout(sys.stderr):
        return _portable(call.of(find(place)))


def _ending(status: int | None) -> str:
    if status is None or status >= 0:
        return f"exit status {status}"
    try:
        return f"signal {-status} ({signal.Signals(-status).name})"
    except ValueError:
        return f"signal {-status}"


def report_of_crash(call: TraceCall, name: str, error: DiedError) -> TraceReport:
    """Return the report for a function that killed the process it was traced in: nothing is known."""
    reason = f"{name} killed the process that it was traced in: {_ending(error.status)}"
    arguments = TraceArguments(call.arguments, call.named)
    scope = Scope(arguments.shapes, arguments.is_fresh, read_assumptions(call.assume), check_min_size(call.min_size))
    return TraceReport(scope, Exploration([PathOutcome((), untraced=UntracedError(reason))]), name, arguments.texts())


class FunctionNotFoundError(ImportError):
    """Another process cannot find the function by its module's name, or finds a different function."""


@dataclass(frozen=True)
class FunctionPlace:
    """The location of a function: its module, file, name, and a fingerprint of its code."""

    module: str
    file: str
    name: str
    version: str

    @staticmethod
    def of(module: ModuleType, name: str) -> FunctionPlace | None:
        """Return the location of a name in a module; None for a module without a file, or one run as a script."""
        file = getattr(module, "__file__", None)
        if not file or module.__name__ == "__main__" or sys.modules.get(module.__name__, module) is not module:
            return None
        return FunctionPlace(module.__name__, str(Path(file).resolve()), name, _version(getattr(module, name)))


def _version(function: Any) -> str:
    code = getattr(function, "__code__", None)
    return "" if code is None else f"{code.co_firstlineno} {code.co_names} {code.co_code.hex()}"


def import_function(named: FunctionPlace) -> Any:
    """Return a function after importing its module by name or from its file. Raises `FunctionNotFoundError`."""
    try:
        function = getattr(_module(named), named.name)
    except Exception as error:
        raise FunctionNotFoundError(f"{named.module}: {type(error).__name__}: {error}") from None
    if _version(function) != named.version:
        raise FunctionNotFoundError(f"{named.module}: {named.name} is a different function in that process")
    return function


def _module(named: FunctionPlace) -> ModuleType:
    try:
        module = import_module(named.module)
    except ImportError:
        module = None
    if module is not None and str(Path(module.__file__ or "").resolve()) == named.file:
        return module
    spec = spec_from_file_location(named.module, named.file)
    if spec is None or spec.loader is None:
        raise ImportError(named.file)
    module = sys.modules[named.module] = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# Sending reports between processes.


def _portable(report: TraceReport) -> TraceReport:
    conclusions = conclusions_of(report)
    traced = conclusions.exploration
    outcomes = [
        replace(o, error=o.error and _error(type(o.error).__name__, str(o.error)), value=_plain(o.value))
        for o in traced.outcomes
    ]
    exploration = Exploration(outcomes, traced.pending, traced.data, traced.observed)
    return TraceReport(conclusions.scope, exploration, report.name, report.arguments)


class _ReportedError(Exception):
    """An error kept as its type name and message."""

    def __reduce__(self) -> Any:
        return _error, (type(self).__name__, str(self))


def _error(kind: str, text: str) -> BaseException:
    error: BaseException = type(kind, (_ReportedError,), {})(text)
    return error


@dataclass(frozen=True)
class _ValueText:
    """A returned value kept as its text."""

    text: str

    def __repr__(self) -> str:
        return self.text

    __str__ = __repr__


def _plain(value: Any) -> Any:
    sympy = sys.modules.get("sympy")  # not loaded, there is no expression
    is_expression = sympy is not None and isinstance(value, sympy.Basic)
    if is_expression or isinstance(value, Shape) or value is float or value is None:
        return value
    if isinstance(value, dict):
        return {_plain(k): _plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        parts: Sequence[Any] = [_plain(v) for v in value]
        return parts if isinstance(value, list) else tuple(parts)
    return value if type(value) in (bool, int, float, complex, str, bytes) else _ValueText(repr(value))
