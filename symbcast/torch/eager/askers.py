"""How the functions of operators state requirements while code runs along a path."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

from symbcast.core.algebra.arithmetic import join
from symbcast.core.algebra.symbols import Unknown
from symbcast.core.broadcasting import Joined, find_rule
from symbcast.core.logic.formulas import FALSE, Formula, at_most, equal
from symbcast.graphs.walking.node_call import UnknownShapeError
from symbcast.operators.context import evaluated

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol
    from symbcast.core.algebra.terms import Dim
    from symbcast.graphs.requirements.recorder import Place
    from symbcast.operators.context import Dims
    from symbcast.paths.runs.path import Path

Refused: type[Exception] = type("RuntimeError", (RuntimeError, IndexError), {})
"""An error of torch about sizes: a `RuntimeError`, or for some operators an `IndexError`."""


class PathAsker:
    """The requirements of operators on one path, in the form of `symbcast.graphs.requirements.recorder.Asker`."""

    guards: tuple[Formula, ...] = ()
    turns: dict[Symbol, Dim] = {}  # noqa: RUF012 - there are no loops of graphs on a path
    sequences: frozenset[Any] = frozenset()

    def __init__(self, path: Path) -> None:
        self.path = path
        self.bounds = path.bounds
        self.origins: dict[Symbol, str] = {}
        self.is_trying = False

    def require(self, place: Place, formula: Formula, reason: str, code: str = "") -> None:
        """Require a formula on this path; raise torch's error if it cannot hold."""
        if self.is_trying:
            if evaluated(formula) == FALSE:
                raise UnknownShapeError
            return
        self.path.require(formula, reason, Refused)

    def equal(self, place: Place, left: Dim, right: Dim, reason: str) -> None:
        """Require that two sizes be equal."""
        if left is not right and left != right:
            self.require(place, equal(left, right), reason)

    def at_most(self, place: Place, left: Dim, right: Dim, reason: str) -> None:
        """Require that one size be at most another."""
        if not self.bounds.is_at_most(left, right):
            self.require(place, at_most(left, right), reason)

    def is_size(self, place: Place, dim: Dim, reason: str) -> None:
        """Require that a dimension be nonnegative."""
        if not self.bounds.is_at_least(dim, 0):
            self.require(place, at_most(0, dim), reason)

    def never(self, place: Place, reason: str) -> NoReturn:
        """Raise torch's error for an operator that runs at no sizes."""
        raise UnknownShapeError if self.is_trying else Refused(reason)

    def broadcast(self, place: Place, shapes: Sequence[Dims], rule: str, attributes: dict[str, Any]) -> Dims:
        """Broadcast shapes, and return the output."""
        if self.is_trying:
            emission = find_rule(rule, attributes).emit(tuple(shapes))
            return tuple(join(list(d)) if isinstance(d, Joined) else d for d in emission.output)
        try:
            return self.path.broadcast(*shapes, rule=rule, **attributes)
        except ValueError as error:
            raise Refused(str(error)) from None

    def symbol(self, name: str, text: str, least: int = 0, *, is_undecided: bool = False) -> Symbol:
        """Return a new size that data decide."""
        if self.is_trying:
            raise UnknownShapeError
        if is_undecided:
            self.path.fail_to_trace(f"{text}: data or sizes decide it")
        found = self.path.data_size(text.partition(" [")[0].removeprefix("the number of ") or name, least)
        self.origins[found] = text
        return found

    def limit(self, size: Symbol, most: Dim) -> None:
        """Assume that a size that data decide is at most a dimension."""
        self.path.suppose(at_most(size, most))

    def by_cases(  # noqa: PLR0913 - as `Asker.by_cases`
        self, name: str, text: str, chosen: Formula, yes: Dim, no: Dim, *, least: int = 0
    ) -> Dim:
        """Return one of two dimensions, as the path decides."""
        return yes if self.path.ask(chosen) else no

    def is_of_data(self, size: Symbol) -> bool:
        """Return whether data decide a size."""
        return isinstance(size, Unknown)

    def is_positive(self, dims: Iterable[Dim]) -> bool:
        """Return whether all sizes are known to be at least 1."""
        return all(self.bounds.is_at_least(d, 1) for d in dims)

    def is_known(self, formula: Formula) -> bool | None:
        """Return whether a formula is known to hold or to fail, without a decision."""
        return self.path.is_known(formula)

    @contextmanager
    def trying(self, walk: AbstractContextManager[None]) -> Iterator[None]:
        """Make no requirements in this context."""
        before, self.is_trying = self.is_trying, True
        try:
            with walk:
                yield
        finally:
            self.is_trying = before
