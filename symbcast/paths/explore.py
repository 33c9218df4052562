"""Run any code over sizes along all its paths: the public entry point, and its answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from symbcast.answers.show.document import Document, Room
from symbcast.answers.show.documented import Explained
from symbcast.core.advice import with_advice
from symbcast.core.programs.arguments import Assumptions
from symbcast.core.programs.scope import Scope
from symbcast.core.shapes import ShapeLike, known_rank, shape
from symbcast.errors import ShapeTypeError
from symbcast.paths.answer import PathsAnswer
from symbcast.paths.confirmation import confirm
from symbcast.paths.exploration import DOUBTFUL_ERRORS, MAX_PATHS, explore_all, restoring_caches
from symbcast.paths.real_calls import SizeFunction
from symbcast.paths.real_numbers import Real
from symbcast.paths.sizes import Size, lasting_value
from symbcast.paths.steps import home_of


class Paths(Explained, PathsAnswer):
    """The sizes at which a run works, its behaviour in each case, and the line behind each requirement."""

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as plain data for JSON."""
        from symbcast.paths.answer import paths_to_dict

        return paths_to_dict(self)

    def _repr_latex_(self) -> str:

        return self._in_latex(Room.PAGE)

    def _document(self, *room: Room) -> Document:
        from symbcast.paths.document import document

        return document(self, *room)


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
    >>> answer = explore_paths(halves, "N")
    >>> answer.condition, answer.cases[0].value, answer.cases[1].error
    (Condition('N % 2 == 0'), floor(N/2), 'ValueError: odd')
    """
    if not callable(run):
        hint = "the function comes first: explore_paths(f, 'N')" if callable(sizes) else "pass the function"
        raise ShapeTypeError(run, "a function", hint)
    input_shape = known_rank(shape(sizes), "paths", "give each size its own name")
    scope = Scope.of_arguments((input_shape,), (isinstance(sizes, str),), assume, min_size)
    (bound,) = scope.shapes
    calls, home = SizeFunction(run, bound.dims), home_of(run)
    with restoring_caches([run], (Size, Real)):
        exploration = explore_all(
            calls.on, scope, lasting=lasting_value, home=home, limit=max_paths, doubtful=DOUBTFUL_ERRORS
        )
    return Paths(scope, confirm(exploration, calls, scope, home=home))
