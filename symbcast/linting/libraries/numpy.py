"""Functions of NumPy and the array API."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from symbcast.arrays.arguments import Arguments
from symbcast.arrays.real_run import RealRun
from symbcast.arrays.trace import trace
from symbcast.linting.libraries.traced import Traced, traced_of
from symbcast.paths.conclusions.answer import conclusions_of

_DTYPES = {"float": "float64", "key": "uint32"}


def dtype(name: str) -> str:
    """Return the dtype for a name in an annotation."""
    return _DTYPES.get(name, name)


def traced(function: Callable[..., Any], positional: Sequence[Any], named: Mapping[str, Any], min_size: int) -> Traced:
    """Trace a function; real calls have several kinds of data."""
    import symbcast.arrays  # noqa: F401 - it registers the operations of arrays

    report = trace(function, *positional, min_size=min_size, **named)
    real = RealRun(function, Arguments(positional, named), conclusions_of(report).scope.shapes)
    return traced_of(report, real.results)
