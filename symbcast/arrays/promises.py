"""Promises about shapes: stated in a decorator and checked by tracing, never while the function runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from inspect import unwrap
from types import ModuleType
from typing import Any, NamedTuple, TypeVar, cast

from symbcast.answers.explanation.names import Namer
from symbcast.arrays.apart import Call, Named, NotImportedError, imported, traced_by
from symbcast.arrays.arguments import TRACED, Arguments, check_call
from symbcast.arrays.enforced import enforced
from symbcast.arrays.report.report import TraceReport
from symbcast.batch.isolation import Child
from symbcast.core.algebra.sequences import SequenceSymbol
from symbcast.core.algebra.symbols import Unknown
from symbcast.core.algebra.terms import Dim, symbols_of
from symbcast.core.logic.formulas import FALSE, Formula, all_of, any_of, equal, negate
from symbcast.core.program.sizes.assumptions import Assumption, Assumptions, read_assumptions
from symbcast.core.shapes import Shape, known_rank, shape
from symbcast.core.signatures import with_advice
from symbcast.core.solver.decision.decision import Decision
from symbcast.core.solver.groups.normal_form import symbols_in
from symbcast.core.verdicts import Verdict
from symbcast.errors import BindingError, ShapeTypeError
from symbcast.paths.conclusions.answer import conclusions_of

F = TypeVar("F", bound=Callable[..., Any])
_ATTRIBUTE = "__symbcast_promise__"


@dataclass(frozen=True)
class Promise:
    """A promise: the arguments that a function accepts at all sizes, and the shapes that it returns."""

    arguments: tuple[Any, ...]
    named: dict[str, Any]
    returns: Any
    assume: Assumptions
    min_size: int

    def call(self) -> Call:
        """Return the arguments of the trace that decides it."""
        return Call(self.arguments, self.named, self.assume, self.min_size)


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
        _check_returned(returns, Arguments(arguments, named), read_assumptions(assume))
        made: Any = function
        if enforce:
            made = enforced(function, Call(arguments, named, assume, min_size), returns)
        setattr(made, _ATTRIBUTE, Promise(arguments, named, returns, assume, min_size))
        return cast("F", made)

    return state


def _check_returned(returns: Any, given: Arguments, assumptions: Sequence[Assumption]) -> None:
    """Raise `BindingError` for a size in the promised shapes that neither the arguments nor the assumptions have."""
    read = [shape(text) for text in _texts(returns)]
    known = {s.name for s in symbols_of(d for found in given.shapes for d in found.dims)}
    known |= {s.name for a in assumptions for s in symbols_in(a.formula)}
    for text, found in zip(_texts(returns), read, strict=True):
        for size in symbols_of(found.dims):
            if not isinstance(size, Unknown | SequenceSymbol) and size.name not in known:
                there = f"the sizes are {', '.join(sorted(known))}" if known else "the arguments have no sizes by name"
                raise BindingError(f"returns={text!r} mentions {size.name}, which no argument has", there)


def _texts(returns: Any) -> list[str]:
    if isinstance(returns, str):
        return [returns]
    parts = returns.values() if isinstance(returns, dict) else returns if isinstance(returns, (tuple, list)) else ()
    return [text for part in parts for text in _texts(part)]


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
    found = {n: f for n, f in vars(module).items() if hasattr(f, _ATTRIBUTE) and f.__module__ == module.__name__}
    if not found:
        raise ShapeTypeError(module, "a module with promises", "add one: @symbcast.checked('N, 3', returns='N')")
    with Child() as child:
        return tuple(
            broken for n, f in found.items() for broken in _broken(f, getattr(f, _ATTRIBUTE), module, n, child)
        )


def promise_of(function: Any) -> Promise | None:
    """Return the promise that `checked` stated about a function; None if there is none."""
    found = getattr(function, _ATTRIBUTE, None)
    return found if isinstance(found, Promise) else None


def _broken(function: Any, promise: Promise, module: ModuleType, name: str, child: Child) -> Iterator[BrokenPromise]:
    report = _report(function, promise, Named.of(module, name), child)
    code = getattr(unwrap(function), "__code__", None) or getattr(type(function).__call__, "__code__", None)
    file, line = (code.co_filename, code.co_firstlineno) if code is not None else ("", 0)
    for fault in faults_of(promise, report):
        message = fault.message
        if not report.isolated:
            message = f"{message} (traced in this process: no other process can import it)"
        yield BrokenPromise(report.name, file, line, message, fault.is_known, report)


class Fault(NamedTuple):
    """Why a promise fails, or is not known to hold; ``is_returned`` if it is about the result."""

    message: str
    is_known: bool
    is_returned: bool = False


def faults_of(promise: Promise, report: TraceReport) -> Iterator[Fault]:
    """Yield why a promise fails or is not known to hold, from the trace of its function."""
    if report.verdict not in (Verdict.ALWAYS, Verdict.UNKNOWN):
        for finding in report.findings:
            yield Fault(f"it {finding.works}: {finding.error}", True)
    if report.account.open:
        yield Fault(f"not known whether it holds: {report.reason}", False)
    if promise.returns is not None:
        for case in report.cases:
            if case.works:
                formula = _as_promised(case.value, promise.returns)
                conclusions = conclusions_of(report)
                if any(s not in conclusions.names for s in symbols_in(formula)):
                    yield Fault("not known whether it returns the promised shapes: one has a range of sizes", False)
                    continue
                decided = Decision(conclusions.knowledge, [any_of([negate(case.condition.formula), formula])])
                if decided.verdict is not Verdict.ALWAYS:
                    text = (
                        "its structure differed" if formula == FALSE else Namer.of(conclusions.names).formula(formula)
                    )
                    is_known = decided.verdict is not Verdict.UNKNOWN
                    yield Fault(f"it returns the promised shapes only if {text}", is_known, is_returned=True)


def _report(function: Any, promise: Promise, named: Named | None, child: Child) -> TraceReport:
    """Return the trace of a function, made in the child process, or in this process if the child cannot find it."""
    call = promise.call()
    name = getattr(function, "__qualname__", type(function).__qualname__)
    if named is not None:
        with suppress(NotImportedError):
            return traced_by(child, imported, named, call, name)
    return call.of(function)


def _is_any(size: Dim) -> bool:
    """Return whether a promised size is ``?``, which promises nothing."""
    return isinstance(size, Unknown) and not size.lower and size.upper is None and size.parity is None


def _as_promised(value: Any, promised: Any) -> Formula:
    """Return the condition under which a result has the promised shapes."""
    if isinstance(value, Shape):
        wanted = known_rank(shape(promised), "a promise", TRACED)
        if len(value.dims) != len(wanted.dims):
            return FALSE
        return all_of(equal(a, b) for a, b in zip(value.dims, wanted.dims, strict=True) if a != b and not _is_any(b))
    if isinstance(value, dict) and isinstance(promised, dict) and value.keys() == promised.keys():
        return all_of(_as_promised(v, promised[k]) for k, v in value.items())
    is_listed = isinstance(value, (tuple, list)) and isinstance(promised, (tuple, list))
    if is_listed and len(value) == len(promised):
        return all_of(_as_promised(v, p) for v, p in zip(value, promised, strict=True))
    return FALSE
