"""Trace a function of arrays: run it along all its paths with arrays that have no data."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from symbcast.algebra.door import to_sympy
from symbcast.arrays import (  # noqa: F401 - they register what arrays can do
    data_functions,
    functions,
    indices,
    methods,
    replacements,
    ufuncs,
)
from symbcast.arrays.arguments import Arguments
from symbcast.arrays.report import TraceReport
from symbcast.arrays.standins import standing_in
from symbcast.arrays.symbolic_array import SymbolicArray
from symbcast.paths.exploration import MAX_PATHS, explored
from symbcast.paths.places import home_of
from symbcast.paths.real import Real
from symbcast.paths.size import Size, sized
from symbcast.program.assumptions import Assumptions, check_min_size, read_assumptions
from symbcast.program.scope import Scope
from symbcast.shapes import shape_of

UNTOLD = (TypeError, AttributeError, NotImplementedError, RecursionError, MemoryError, ImportError, NameError)
"""Errors that may come of arrays that have no data: of a path that ends in one nothing is said."""


def trace(
    function: Callable[..., Any],
    *arguments: Any,
    assume: Assumptions = (),
    min_size: int = 0,
    max_paths: int = MAX_PATHS,
    **named: Any,
) -> TraceReport:
    """Run a function of arrays with sizes that are symbols, and return for which sizes it works.

    The function's own code is run, once for each path that sizes can take through it. ``arguments`` are shapes as text,
    `symbcast.array` for another type than float64, `symbcast.size` for an integer, and any other value as it is; in
    ``named`` arguments text stays text. Data are taken to be finite. ``assume`` and ``min_size`` are as in
    `symbcast.broadcast`. What is not known, and more than ``max_paths`` paths, makes the answer incomplete.

    >>> report = trace(lambda x, y: x + y, "N, 3", "M, 1")
    >>> report.condition, report.shapes
    (Eq(M, 1) | Eq(N, 1) | Eq(N, M), Shape('(broadcast(M, N), 3)'))
    """
    given = Arguments(arguments, named)
    scope = Scope(given.shapes, given.is_fresh, read_assumptions(assume), check_min_size(min_size))

    def run(path: Any) -> Any:
        args, options = given.made(scope.shapes, SymbolicArray, lambda dim: sized(dim, path))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = function(*args, **options)
        return told(found)

    def is_real(error: BaseException, path: Any) -> bool:
        return given.fails_alike(function, scope.shapes, path, error)

    with standing_in(), np.errstate(all="ignore"):
        found = explored(
            run,
            [a.formula for a in scope.assumptions],
            min_size=scope.min_size,
            home=home_of(function),
            limit=max_paths,
            untold=UNTOLD,
            is_real=is_real,
        )
    name = getattr(function, "__qualname__", type(function).__qualname__)
    return TraceReport(scope, found, name, given.texts())


def told(value: Any) -> Any:
    """Return what a function returned, in its structure: of arrays their shapes, of sizes expressions."""
    kind = type(value)
    if kind is SymbolicArray:
        return shape_of(value.dims)
    if kind is Size:
        return to_sympy(value.dim)
    if kind is Real:
        return float
    if isinstance(value, np.ndarray):
        return shape_of(value.shape)
    if kind in (tuple, list):
        return kind(map(told, value))
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return kind(*map(told, value))
    if isinstance(value, Mapping):
        return {k: told(v) for k, v in value.items()}
    return value
