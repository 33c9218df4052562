"""A trace of one form of a function's arguments, the same for every library."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from symbcast.core.algebra.formulas import Formula
from symbcast.core.algebra.terms import Dim, Symbol
from symbcast.core.solver.decision import AssumptionSet
from symbcast.core.verdicts import Verdict
from symbcast.paths import sizes
from symbcast.paths.answer import PathFinding, PathsAnswer, conclusions_of
from symbcast.paths.steps import CodePlace

RealResults: TypeAlias = "Callable[[Mapping[str, int]], Iterator[Any]]"
"""Calls a function at sizes, by name, and yields its results, or `Raised`."""


@dataclass(frozen=True)
class TraceFailure:
    """A requirement on sizes: the formula, its text and words, the line, and sizes at which it fails."""

    formula: Formula
    text: str
    words: str
    error: str
    place: CodePlace
    operation: str
    at: Mapping[str, int] | None


@dataclass(frozen=True)
class LibraryTrace:
    """A trace: when the function works and what it returns there, what fails, and real calls.

    Attributes:
        is_proved: Whether it is proved to work for all sizes.
        reason: Why some sizes are open; empty if none are.
        names: The names of all sizes, by symbol.
        own: Those that are sizes of arguments.
        cases: The conditions under which it works, each with the result.
        pairs: Broadcasts that put one size on two axes.
    """

    is_proved: bool
    reason: str
    names: Mapping[Symbol, str]
    own: Mapping[Symbol, str]
    assumptions: AssumptionSet
    cases: Sequence[tuple[Formula, Any]]
    failures: Sequence[TraceFailure]
    real: RealResults
    pairs: Sequence[tuple[CodePlace, tuple[tuple[Dim, ...], ...]]] = field(default=())


def read_value(value: Any) -> tuple[Dim, ...] | Dim | None:
    """Return the shape of an array of NumPy or JAX, or the size that a number is; None for any other value."""
    if issubclass(type(value), sizes.Size):
        dim: Dim = value.dim
        return dim
    package = type(value).__module__.partition(".")[0]
    # Nothing else is read: an attribute of the user's class may run the user's code.
    shape = getattr(value, "shape", None) if package in ("numpy", "jax", "jaxlib", "symbcast") else None
    return tuple(map(sizes.dim_of, shape)) if isinstance(shape, tuple) else None


def trace_of_paths(answer: PathsAnswer, real: Callable[[Mapping[Symbol, int]], Iterator[Any]]) -> LibraryTrace:
    """Return the trace that an answer about paths describes."""
    conclusions = conclusions_of(answer)
    symbols = {name: s for s, name in conclusions.scope.names.items()}

    def called(at: Mapping[str, int]) -> Iterator[Any]:
        return real({symbols[n]: size for n, size in at.items() if n in symbols})

    return LibraryTrace(
        answer.verdict is Verdict.ALWAYS,
        answer.account.reason,
        conclusions.names,
        conclusions.scope.names,
        conclusions.assumptions,
        [(c.condition.formula, c.value) for c in answer.cases if c.works],
        list(map(_failure, answer.findings)),
        called,
        [pair for o in conclusions.exploration.outcomes if o.works for pair in o.pairs],
    )


def _failure(finding: PathFinding) -> TraceFailure:
    place = CodePlace(finding.file, finding.line)
    return TraceFailure(
        finding.formula, finding.text, finding.words, finding.error, place, finding.operation, finding.counterexample
    )
