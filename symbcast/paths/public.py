"""The engine by itself: any code over sizes, along all its paths."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from symbcast.algebra.door import to_sympy
from symbcast.paths.exploration import MAX_PATHS, explored
from symbcast.paths.paths import Paths
from symbcast.paths.places import home_of
from symbcast.paths.size import Size, sized
from symbcast.program.assumptions import Assumptions, check_min_size, read_assumptions
from symbcast.program.scope import Scope
from symbcast.shapes import ShapeLike, shape


def explore_paths(
    run: Callable[[tuple[Any, ...]], Any],
    sizes: ShapeLike,
    assume: Assumptions = (),
    min_size: int = 0,
    *,
    max_paths: int = MAX_PATHS,
) -> Paths:
    """Run a function of sizes along all its paths, and return for which sizes it works.

    ``run`` is called with one tuple of sizes that behave as ints, once for each path. It may compute, compare, branch
    and raise, and must do the same each time. ``assume`` and ``min_size`` are as in `symbcast.broadcast`. More than
    ``max_paths`` paths are not followed: then the answer is not `complete`.

    >>> def halves(sizes):
    ...     (n,) = sizes
    ...     if n % 2:
    ...         raise ValueError("odd")
    ...     return n // 2
    >>> found = explore_paths(halves, "N")
    >>> found.condition, found.cases[0].value, found.cases[1].error
    (Eq(Mod(N, 2), 0), floor(N/2), 'ValueError: odd')
    """
    given = shape(sizes)
    scope = Scope((given,), (isinstance(sizes, str),), read_assumptions(assume), check_min_size(min_size))
    (bound,) = scope.shapes
    found = explored(
        lambda path: told(run(tuple(sized(d, path) for d in bound.dims))),
        [a.formula for a in scope.assumptions],
        min_size=scope.min_size,
        home=home_of(run),
        limit=max_paths,
    )
    return Paths(scope, found)


def told(value: Any) -> Any:
    """Return what a run returned, with its sizes as expressions that outlive it."""
    if issubclass(type(value), Size):
        return to_sympy(value.dim)
    if type(value) in (tuple, list):
        return type(value)(map(told, value))
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(told, value))
    if isinstance(value, Mapping):
        return {k: told(v) for k, v in value.items()}
    return value
