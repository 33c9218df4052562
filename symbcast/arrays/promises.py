"""Promises about shapes: stated in a decorator, checked by tracing in a child process and, if wanted, at each call."""

from __future__ import annotations

import signal
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import redirect_stdout, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache, wraps
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from inspect import signature, unwrap
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar, cast

from symbcast.answers.explanation.words import Namer
from symbcast.arrays.arguments import (
    TRACED,
    WITHOUT_CHECKS,
    ArrayArgument,
    SizeArgument,
    TraceArguments,
    check_call,
    confirming,
)
from symbcast.arrays.trace import TraceReport, trace
from symbcast.core.advice import with_advice
from symbcast.core.algebra.arithmetic import replace_symbols
from symbcast.core.algebra.formulas import FALSE, Formula, all_of, any_of, equal, negate
from symbcast.core.algebra.symbols import SequenceSymbol, Unknown
from symbcast.core.algebra.terms import Dim, symbols_of
from symbcast.core.isolation import ChildProcess, DiedError
from symbcast.core.programs.arguments import Assumption, Assumptions, read_assumptions
from symbcast.core.programs.scope import Scope
from symbcast.core.shapes import Shape, known_rank, shape
from symbcast.core.solver.decision import Decision
from symbcast.core.solver.evaluation import symbols_in
from symbcast.core.structs import NamedTuple
from symbcast.core.verdicts import Verdict
from symbcast.errors import BindingError, ShapeTypeError
from symbcast.paths.answer import conclusions_of
from symbcast.paths.exploration import MAX_PATHS, Exploration, PathOutcome
from symbcast.paths.path import current
from symbcast.paths.steps import UntracedError


@dataclass(frozen=True)
class TraceCall:
    """The arguments of a trace, as `symbcast.trace` takes them."""

    arguments: tuple[Any, ...]
    named: Mapping[str, Any] = field(default_factory=dict)
    assume: Assumptions = ()
    min_size: int = 0
    max_paths: int = MAX_PATHS
    observe: bool = True

    def of(self, function: Callable[..., Any]) -> TraceReport:
        """Return the trace of a function."""
        return trace(
            function,
            *self.arguments,
            assume=self.assume,
            min_size=self.min_size,
            max_paths=self.max_paths,
            observe=self.observe,
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
    scope = Scope.of_arguments(arguments.shapes, arguments.is_fresh, call.assume, call.min_size)
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
    exploration = replace(traced, outcomes=outcomes)
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


# Promises that are checked when their function is called, by the condition that its trace proved.
#
# The function is traced at its first call. The sizes of a call then decide: names must have one size each, the
# assumptions and the condition must hold for some sizes that fit, and so must the promised shapes of the result. What
# was decided is kept for each set of shapes.


class IncompleteTraceWarning(UserWarning):
    """A call that a promise does not decide: the trace is incomplete, or an argument has no shape."""


class _CallDecision(NamedTuple):
    """What is wrong with a call, or why it is not decided; both empty if it keeps the promise."""

    error: str = ""
    unknown: str = ""


# The shapes and sizes of a call in the order of the promise; None for what has none.
SizesOfCall = tuple["int | tuple[int, ...] | None", ...]


class EnforcedPromise:
    """A function's promise, and what is known about the shapes that it was called with."""

    def __init__(self, function: Callable[..., Any], call: TraceCall, returns: Any) -> None:
        self.function, self.call, self.returns = function, call, returns
        self.name = getattr(function, "__qualname__", type(function).__qualname__)
        bound = signature(function).bind(*call.arguments, **call.named)
        self._promised = dict(bound.arguments)
        self.before = lru_cache(4096)(self._before)
        self.after = lru_cache(4096)(self._after)

    @cached_property
    def report(self) -> TraceReport:
        """The trace of the function, made at its first call."""
        return self.call.of(self.function)

    def shapes_of(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> SizesOfCall:
        """Return the shapes in the arguments of a call."""
        bound = signature(self.function).bind(*args, **kwargs)
        bound.apply_defaults()
        values = {name: bound.arguments.get(name) for name in self._promised}
        kinds = (ArrayArgument, SizeArgument, str, Shape)
        return tuple(_size_of(p, v) for p, v in _pairs(self._promised, values) if isinstance(p, kinds))

    def _before(self, sizes: SizesOfCall) -> _CallDecision:
        """Decide about the arguments of a call."""
        conclusions = conclusions_of(self.report)
        unknown = "an argument has no shape" if None in sizes else ""
        for promised, size in zip(conclusions.scope.shapes, sizes, strict=True):
            if isinstance(size, tuple) and len(size) != len(promised.dims):
                return _CallDecision(f"an argument has {len(size)} axes, and {promised} is promised")
        constraints = [*(a.formula for a in conclusions.scope.assumptions), *_fitted(conclusions.scope.shapes, sizes)]
        if _is_possible(conclusions.assumptions, constraints) is False:
            shapes = ", ".join(map(str, conclusions.scope.shapes))
            return _CallDecision(f"the arguments have the shapes {_text(sizes)}, and {shapes} are promised")
        is_possible = _is_possible(conclusions.assumptions, [*constraints, conclusions.formula])
        if is_possible is False:
            return _CallDecision(
                f"it works only if {self.report.condition}, and the arguments have the shapes {_text(sizes)}"
            )
        # Outside of the proved sizes, an incomplete trace decides nothing.
        if self.report.account.open and not _is_possible(conclusions.assumptions, [*constraints, conclusions.works]):
            return _CallDecision(unknown=unknown or f"the trace is incomplete: {self.report.reason}")
        return _CallDecision(unknown=unknown or ("" if is_possible else "the condition was not decided"))

    def _after(self, sizes: SizesOfCall, returned: Any) -> _CallDecision:
        """Decide about the shapes of a result; ``returned`` are the pairs of its shapes and the promised ones."""
        conclusions = conclusions_of(self.report)
        names = {name: symbol for symbol, name in conclusions.scope.names.items()}
        constraints = _fitted(conclusions.scope.shapes, sizes)
        for promised, dims in returned:
            expected = _bound(known_rank(shape(promised), "a promise", TRACED), names)
            if dims is None or len(dims) != len(expected):
                return _CallDecision(f"it returns {_text((dims,))}, and ({promised}) is promised")
            constraints += [equal(d, n) for d, n in zip(expected, dims, strict=True) if d != n]
        if _is_possible(conclusions.assumptions, constraints) is False:
            shapes, promised = _text(tuple(d for _, d in returned)), ", ".join(str(p) for p, _ in returned)
            return _CallDecision(f"it returns {shapes} for {_text(sizes)}, and ({promised}) is promised")
        return _CallDecision()

    def refuse(self, said: _CallDecision) -> None:
        """Raise `BindingError` for a call that breaks the promise; warn about one that is not decided."""
        if said.error:
            raise BindingError(f"{self.name}: {said.error}")
        if said.unknown:
            warnings.warn(f"{self.name} is not checked: {said.unknown}", IncompleteTraceWarning, stacklevel=4)


def enforce_promise(function: Callable[..., Any], call: TraceCall, returns: Any) -> Callable[..., Any]:
    """Return a function that checks each call of another one by its promise."""
    promise = EnforcedPromise(function, call, returns)

    @wraps(function)
    def checking(*args: Any, **kwargs: Any) -> Any:
        if current.get() is not None or confirming.get():  # another function is being traced
            return function(*args, **kwargs)
        sizes = promise.shapes_of(args, kwargs)
        promise.refuse(promise.before(sizes))
        result = function(*args, **kwargs)
        if returns is not None:
            promise.refuse(promise.after(sizes, tuple((p, _shape_of(v)) for p, v in _pairs(returns, result))))
        return result

    setattr(checking, WITHOUT_CHECKS, function)
    return checking


def _fitted(shapes: Sequence[Shape], sizes: SizesOfCall) -> list[Formula]:
    """Return what holds where the arguments of a call have these shapes and sizes."""
    pairs = ((s.dims, (n,) if isinstance(n, int) else n or ()) for s, n in zip(shapes, sizes, strict=True))
    return [equal(d, n) for dims, numbers in pairs for d, n in zip(dims, numbers, strict=False) if d != n]


def _is_possible(assumptions: Any, constraints: Sequence[Formula]) -> bool | None:
    return Decision(assumptions, constraints).satisfiable


def _bound(promised: Shape, names: Mapping[str, Any]) -> tuple[Any, ...]:
    known = {s: names[s.name] for s in symbols_of(promised.dims) if s.name in names}
    return tuple(replace_symbols(d, known) for d in promised.dims)


def _pairs(promised: Any, value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the parts of a promise, each with the part of a value at its place; None where the structure differs."""
    if isinstance(promised, Mapping):
        is_like = isinstance(value, Mapping) and value.keys() == promised.keys()
        for key, inner in promised.items():
            yield from _pairs(inner, value[key] if is_like else None)
    elif type(promised) in (list, tuple):
        is_like = isinstance(value, (list, tuple)) and len(value) == len(promised)
        for inner, one in zip(promised, value if is_like else [None] * len(promised), strict=True):
            yield from _pairs(inner, one)
    else:
        yield promised, value


def _size_of(promised: Any, value: Any) -> int | tuple[int, ...] | None:
    if isinstance(promised, SizeArgument):
        return int(value) if isinstance(value, int) else None
    return _shape_of(value)


def _shape_of(value: Any) -> tuple[int, ...] | None:
    dims = getattr(value, "shape", () if isinstance(value, (int, float, complex)) else None)
    return None if dims is None else tuple(dims)


def _text(sizes: Any) -> str:
    return ", ".join("no shape" if s is None else str(s) for s in sizes)


F = TypeVar("F", bound=Callable[..., Any])
_ATTRIBUTE = "__symbcast_promise__"


@dataclass(frozen=True)
class Promise:
    """A promise: the trace that decides it, of a function's arguments at all sizes, and the shapes that it returns."""

    call: TraceCall
    returns: Any


@dataclass(frozen=True, eq=False)
class BrokenPromise:
    """A promise that fails, or that is not known to hold.

    Attributes:
        name: the name of the function.
        file: its file.
        line: its first line.
        message: what fails, and where.
        is_known: whether the promise is known to fail.
        report: the trace of the function; its `isolated` says whether it ran in a child process.
    """

    name: str
    file: str
    line: int
    message: str
    is_known: bool
    report: TraceReport

    def __repr__(self) -> str:
        return f"{self.file}:{self.line}: {self.name}: {self.message}"


@with_advice
def checked(
    *arguments: Any,
    returns: Any = None,
    assume: Assumptions = (),
    min_size: int = 0,
    enforce: bool = False,
    **named: Any,
) -> Callable[[F], F]:
    """State for which arguments a function works and what it returns; the function itself is not changed.

    Arguments are as in `symbcast.trace`. ``returns`` is a shape, or a tuple, list or dict of shapes with the structure
    of the result; None makes no promise about the result. Nothing is checked when the function runs: `check_promises`
    does that.

    With ``enforce``, each call is checked too: the function is traced at its first call, and the condition that was
    proved decides about the sizes of each call. Raises `BindingError` for a call that breaks the promise; warns with
    `IncompleteTraceWarning` if the trace is incomplete or an argument has no shape.

    >>> import numpy as np
    >>> @checked("N, D", "M, D", returns="N, M")
    ... def distances(x, y):
    ...     return np.sqrt(((x[:, None] - y[None]) ** 2).sum(-1))
    >>> distances(np.ones((2, 3)), np.zeros((4, 3))).shape
    (2, 4)
    """
    if len(arguments) == 1 and callable(arguments[0]) and not named and returns is None:
        name = getattr(arguments[0], "__name__", "f")
        raise ShapeTypeError(arguments[0], "a shape", f"write the shapes too: @checked('N, 3') before def {name}")

    def state(function: F) -> F:
        check_call(function, arguments, named, ("returns", "assume", "min_size", "enforce"), "checked")
        _check_returned(returns, TraceArguments(arguments, named), read_assumptions(assume))
        call = TraceCall(arguments, named, assume, min_size)
        marked: Any = enforce_promise(function, call, returns) if enforce else function
        setattr(marked, _ATTRIBUTE, Promise(call, returns))
        return cast("F", marked)

    return state


def _check_returned(returns: Any, arguments: TraceArguments, assumptions: Sequence[Assumption]) -> None:
    """Raise `BindingError` for a size in the promised shapes that neither the arguments nor the assumptions have."""
    texts = [text for text, _ in _pairs(returns, None) if isinstance(text, str)]
    read = list(map(shape, texts))
    known = {s.name for s in symbols_of(d for read_shape in arguments.shapes for d in read_shape.dims)}
    known |= {s.name for a in assumptions for s in symbols_in(a.formula)}
    for text, read_shape in zip(texts, read, strict=True):
        for size in symbols_of(read_shape.dims):
            if not isinstance(size, Unknown | SequenceSymbol) and size.name not in known:
                there = f"the sizes are {', '.join(sorted(known))}" if known else "the arguments have no sizes by name"
                raise BindingError(f"returns={text!r} mentions {size.name}, which no argument has", there)


@with_advice
def check_promises(module: ModuleType) -> tuple[BrokenPromise, ...]:
    """Return the promises of a module's functions that fail or are not known to hold.

    For use in a test: ``assert not symbcast.check_promises(module)``. Raises `ShapeTypeError` if no function of the
    module has a promise.

    The module is imported again in a child process, and its functions are traced there. If a function kills that
    process, its promise is not known to hold. Functions that the child cannot find by the module's name and file, such
    as functions of a notebook, are traced in this process; `BrokenPromise.message` says so.
    """
    if not isinstance(module, ModuleType):
        hint = f"import {module}, and pass it without quotes" if isinstance(module, str) else "pass an imported module"
        raise ShapeTypeError(module, "a module", hint)
    functions = {n: f for n, f in vars(module).items() if hasattr(f, _ATTRIBUTE) and f.__module__ == module.__name__}
    if not functions:
        raise ShapeTypeError(module, "a module with promises", "add one: @symbcast.checked('N, 3', returns='N')")
    with ChildProcess() as child:
        return tuple(
            broken for n, f in functions.items() for broken in _broken(f, getattr(f, _ATTRIBUTE), module, n, child)
        )


def promise_of(function: Any) -> Promise | None:
    """Return the promise that `checked` stated about a function; None if there is none."""
    promise = getattr(function, _ATTRIBUTE, None)
    return promise if isinstance(promise, Promise) else None


def _broken(
    function: Any, promise: Promise, module: ModuleType, name: str, child: ChildProcess
) -> Iterator[BrokenPromise]:
    report = _report(function, promise, FunctionPlace.of(module, name), child)
    code = getattr(unwrap(function), "__code__", None) or getattr(type(function).__call__, "__code__", None)
    file, line = (code.co_filename, code.co_firstlineno) if code is not None else ("", 0)
    for fault in faults_of(promise, report):
        message = fault.message
        if not report.isolated:
            message = f"{message} (traced in this process: no other process can import it)"
        yield BrokenPromise(report.name, file, line, message, fault.is_known, report)


class PromiseFault(NamedTuple):
    """Why a promise fails, or is not known to hold; ``is_returned`` if it is about the result."""

    message: str
    is_known: bool
    is_returned: bool = False


def faults_of(promise: Promise, report: TraceReport) -> Iterator[PromiseFault]:
    """Yield why a promise fails or is not known to hold, from the trace of its function."""
    if report.verdict not in (Verdict.ALWAYS, Verdict.UNKNOWN):
        for finding in report.findings:
            yield PromiseFault(f"it {finding.works}: {finding.error}", True)
    if report.account.open:
        seen = f"; observed {report.observed}" if report.observed else ""
        yield PromiseFault(f"not known whether it holds: {report.reason}{seen}", False)
    if promise.returns is not None:
        for case in report.cases:
            if case.works:
                formula = _as_promised(case.value, promise.returns)
                conclusions = conclusions_of(report)
                if any(s not in conclusions.names for s in symbols_in(formula)):
                    yield PromiseFault(
                        "not known whether it returns the promised shapes: one has a range of sizes", False
                    )
                    continue
                decided = Decision(conclusions.assumptions, [any_of([negate(case.condition.formula), formula])])
                if decided.verdict is not Verdict.ALWAYS:
                    text = (
                        "its structure differed" if formula == FALSE else Namer.of(conclusions.names).formula(formula)
                    )
                    is_known = decided.verdict is not Verdict.UNKNOWN
                    yield PromiseFault(f"it returns the promised shapes only if {text}", is_known, is_returned=True)


def _report(function: Any, promise: Promise, named: FunctionPlace | None, child: ChildProcess) -> TraceReport:
    """Return the trace of a function, made in the child process, or in this process if the child cannot find it."""
    name = getattr(function, "__qualname__", type(function).__qualname__)
    if named is not None:
        with suppress(FunctionNotFoundError):
            return trace_in_child(child, import_function, named, promise.call, name)
    return promise.call.of(function)


def _is_any(size: Dim) -> bool:
    """Return whether a promised size is ``?``, which promises nothing."""
    return isinstance(size, Unknown) and not size.lower and size.upper is None and size.parity is None


def _as_promised(value: Any, promised: Any) -> Formula:
    """Return the condition under which a result has the promised shapes."""
    needs: list[Formula] = []
    for part, returned in _pairs(promised, value):
        expected = known_rank(shape(part), "a promise", TRACED).dims if isinstance(returned, Shape) else ()
        if not isinstance(returned, Shape) or len(returned.dims) != len(expected):
            return FALSE
        needs += [equal(a, b) for a, b in zip(returned.dims, expected, strict=True) if a != b and not _is_any(b)]
    return all_of(needs)
