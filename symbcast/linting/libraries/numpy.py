"""Functions of NumPy and the array API."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from symbcast.arrays.arguments import TraceArguments
from symbcast.arrays.trace import RealRun, TraceReport, trace
from symbcast.linting.libraries.traced import LibraryTrace, read_value, trace_of_paths
from symbcast.paths.answer import conclusions_of

_DTYPES = {"float": "float64", "key": "uint32"}
__all__ = ["dtype", "paths_of", "read_value", "traced"]


def dtype(name: str) -> str:
    """Return the dtype for a name in an annotation."""
    return _DTYPES.get(name, name)


def paths_of(
    function: Callable[..., Any], positional: Sequence[Any], named: Mapping[str, Any], min_size: int
) -> TraceReport:
    """Trace a function along its paths."""
    import symbcast.arrays  # noqa: F401 - it registers the operations of arrays

    return trace(function, *positional, min_size=min_size, observe=False, **named)


def traced(
    function: Callable[..., Any], positional: Sequence[Any], named: Mapping[str, Any], min_size: int
) -> LibraryTrace:
    """Trace a function; real calls have several kinds of data."""
    report = paths_of(function, positional, named, min_size)
    real = RealRun(function, TraceArguments(positional, named), conclusions_of(report).scope.shapes)
    return trace_of_paths(report, real.results)
