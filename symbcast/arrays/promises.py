"""What functions promise of shapes: stated beside them, and checked by tracing them, never while they run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from inspect import unwrap
from types import ModuleType
from typing import Any, TypeVar

from symbcast.answers.explanation.names import Namer
from symbcast.arrays.apart import Call, Named, NotImportedError, imported, traced_by
from symbcast.arrays.arguments import TRACED
from symbcast.arrays.report.report import TraceReport
from symbcast.batch.isolation import Child
from symbcast.core.logic.formulas import FALSE, Formula, all_of, any_of, equal, negate
from symbcast.core.program.sizes.assumptions import Assumptions
from symbcast.core.shapes import Shape, known_rank, shape
from symbcast.core.solver.decision.decision import Decision
from symbcast.core.verdicts import Verdict
from symbcast.errors import ShapeTypeError

F = TypeVar("F", bound=Callable[..., Any])
_ATTRIBUTE = "__symbcast_promise__"


@dataclass(frozen=True)
class Promise:
    """What a function promises: the arguments that it takes, at all sizes, and the shapes that it returns."""

    arguments: tuple[Any, ...]
    named: dict[str, Any]
    returns: Any
    assume: Assumptions
    min_size: int


@dataclass(frozen=True, eq=False)
class BrokenPromise:
    """A promise that does not hold, or of which that is not known.

    Attributes:
        name: what the function is called.
        file: its file.
        line: its first line.
        message: what does not hold, and where.
        is_known: whether it is known that the promise fails.
        report: the trace of the function; its `isolated` says whether that ran in a process of its own.
    """

    name: str
    file: str
    line: int
    message: str
    is_known: bool
    report: TraceReport

    def __repr__(self) -> str:
        return f"{self.file}:{self.line}: {self.name}: {self.message}"


def checked(
    *arguments: Any, returns: Any = None, assume: Assumptions = (), min_size: int = 0, **named: Any
) -> Callable[[F], F]:
    """State for which arguments a function works and what it returns; the function stays as it is.

    Arguments are as in `symbcast.trace`; ``returns`` is a shape, or a tuple, list or dict of such, in the structure of
    what the function returns; None promises nothing of that. Nothing is checked when the function runs:
    `check_promises` checks.

    >>> import numpy as np
    >>> @checked("N, D", "M, D", returns="N, M")
    ... def distances(x, y):
    ...     return np.sqrt(((x[:, None] - y[None]) ** 2).sum(-1))
    >>> distances(np.ones((2, 3)), np.zeros((4, 3))).shape
    (2, 4)
    """

    def state(function: F) -> F:
        setattr(function, _ATTRIBUTE, Promise(arguments, named, returns, assume, min_size))
        return function

    return state


def check_promises(module: ModuleType) -> tuple[BrokenPromise, ...]:
    """Return the promises of a module's functions that do not hold, or are not known to; none where all hold.

    Fit for a test: ``assert not symbcast.check_promises(module)``. Raises `ShapeTypeError` for a module in which no
    function promises anything.

    The module is imported once more, in a process of its own, and its functions are traced there: whether a promise
    holds is not known of a function that kills that process. What cannot be found there by the module's name and file,
    such as functions of a notebook, is traced in this process; `BrokenPromise.message` says so.
    """
    found = {n: f for n, f in vars(module).items() if hasattr(f, _ATTRIBUTE) and f.__module__ == module.__name__}
    if not found:
        raise ShapeTypeError(module, "a module with promises", "state some: @symbcast.checked('N, 3', returns='N')")
    with Child() as child:
        return tuple(
            broken for n, f in found.items() for broken in _broken(f, getattr(f, _ATTRIBUTE), module, n, child)
        )


def _broken(function: Any, promise: Promise, module: ModuleType, name: str, child: Child) -> Iterator[BrokenPromise]:
    report = _report(function, promise, Named.of(module, name), child)
    code = getattr(unwrap(function), "__code__", None) or getattr(type(function).__call__, "__code__", None)
    file, line = (code.co_filename, code.co_firstlineno) if code is not None else ("", 0)

    def told(message: str, is_known: bool = True) -> BrokenPromise:
        if not report.isolated:
            message = f"{message} (traced in this process: no other one can import it)"
        return BrokenPromise(report.name, file, line, message, is_known, report)

    if report.verdict is Verdict.UNKNOWN:
        yield told(f"whether it holds is not known: {report.reason}", False)
    elif report.verdict is not Verdict.ALWAYS:
        for finding in report.findings:
            yield told(f"it {finding.works}: {finding.error}")
    if promise.returns is not None:
        for case in report.cases:
            if case.works:
                formula = _as_promised(case.value, promise.returns)
                decided = Decision(report.knowledge, [any_of([negate(case.when.formula), formula])])
                if decided.verdict is not Verdict.ALWAYS:
                    text = Namer.of(report.names).formula(formula) if formula != FALSE else "the structure were another"
                    yield told(f"it returns what it promises only if {text}", decided.verdict is not Verdict.UNKNOWN)


def _report(function: Any, promise: Promise, named: Named | None, child: Child) -> TraceReport:
    """Return the trace of a function: in the child process, or in this one where that does not find it."""
    call = Call(promise.arguments, promise.named, promise.assume, promise.min_size)
    name = getattr(function, "__qualname__", type(function).__qualname__)
    if named is not None:
        with suppress(NotImportedError):
            return traced_by(child, imported, named, call, name)
    return call.of(function)


def _as_promised(value: Any, promised: Any) -> Formula:
    """Return when what a function returns has the shapes that it promises."""
    if isinstance(value, Shape):
        wanted = known_rank(shape(promised), "a promise", TRACED)
        if len(value.dims) != len(wanted.dims):
            return FALSE
        return all_of(equal(a, b) for a, b in zip(value.dims, wanted.dims, strict=True) if a != b)
    if isinstance(value, dict) and isinstance(promised, dict) and value.keys() == promised.keys():
        return all_of(_as_promised(v, promised[k]) for k, v in value.items())
    is_listed = isinstance(value, (tuple, list)) and isinstance(promised, (tuple, list))
    if is_listed and len(value) == len(promised):
        return all_of(_as_promised(v, p) for v, p in zip(value, promised, strict=True))
    return FALSE
