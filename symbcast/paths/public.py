"""The public entry point of the engine: run any code over sizes along all its paths."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from symbcast.core.program.sizes.assumptions import Assumptions, check_min_size, read_assumptions
from symbcast.core.program.sizes.scope import Scope
from symbcast.core.shapes import ShapeLike, known_rank, shape
from symbcast.core.signatures import with_advice
from symbcast.errors import ShapeTypeError
from symbcast.paths.calls import Calls
from symbcast.paths.confirmation import confirmed
from symbcast.paths.paths import Paths
from symbcast.paths.places import home_of
from symbcast.paths.remains import without_remains
from symbcast.paths.runs.exploration import MAX_PATHS, UNTOLD, explored
from symbcast.paths.values.real import Real
from symbcast.paths.values.returned import told
from symbcast.paths.values.size import Size


@with_advice
def explore_paths(
    run: Callable[[tuple[Any, ...]], Any],
    sizes: ShapeLike,
    assume: Assumptions = (),
    min_size: int = 0,
    *,
    max_paths: int = MAX_PATHS,
) -> Paths:
    """Run a function of sizes along all its paths, and return the sizes at which it works.

    ``run`` is called once per path, with one tuple of sizes that behave like ints. It may compute, compare, branch and
    raise, but must be deterministic. Each path is confirmed by calls with numbers up to 4096: pairwise different ones,
    and 0 and 1 if the path has them. There are two calls per path, plus at most 160 more. If a call disagrees with the
    trace, the path is left unknown. ``assume`` and ``min_size`` are as in `symbcast.broadcast`. At most ``max_paths``
    paths are followed; if there are more, the answer is not `complete`.

    >>> def halves(sizes):
    ...     (n,) = sizes
    ...     if n % 2:
    ...         raise ValueError("odd")
    ...     return n // 2
    >>> found = explore_paths(halves, "N")
    >>> found.condition, found.cases[0].value, found.cases[1].error
    (Condition('N % 2 == 0'), floor(N/2), 'ValueError: odd')
    """
    if not callable(run):
        hint = "the function comes first: explore_paths(f, 'N')" if callable(sizes) else "pass the function"
        raise ShapeTypeError(run, "a function", hint)
    given = known_rank(shape(sizes), "paths", "give each size its own name")
    scope = Scope((given,), (isinstance(sizes, str),), read_assumptions(assume), check_min_size(min_size))
    (bound,) = scope.shapes
    calls = Calls(run, bound.dims)
    assumed = [a.formula for a in scope.assumptions]
    home = home_of(run)
    least = scope.min_size
    with without_remains([run], (Size, Real)):
        found = explored(calls.on, assumed, told=told, min_size=least, home=home, limit=max_paths, untold=UNTOLD)
    found = confirmed(found, calls, scope.names, assumed, min_size=least, home=home)
    return Paths(scope, found)
