"""Where, on a grid of sizes, an answer is valid, what comes out there, and who is to blame where it is not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache, partial
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from symbcast.algebra.sizes import check_size
from symbcast.algebra.terms import symbols_of
from symbcast.broadcasting import Joined
from symbcast.errors import BindingError
from symbcast.notebook.defaults import telling_names
from symbcast.notebook.subjects import Blame, Subject, subject_of
from symbcast.program.bindings import Sizes, read_size, read_sizes
from symbcast.program.premises import own_set
from symbcast.solver.compiler import UndefinedError, join_sizes, predicate, value_function
from symbcast.solver.normal_form import symbols_in

if TYPE_CHECKING:
    from symbcast.algebra.symbols import Symbol
    from symbcast.algebra.terms import Dim
    from symbcast.api.env import ShapeEnv
    from symbcast.api.result import Result
    from symbcast.broadcasting import OutputDim
    from symbcast.logic.formulas import Formula
    from symbcast.onnx.report.model_report import ModelReport
    from symbcast.solver.size_sets import SizeSet

__all__ = ["MAX_CELLS", "SIZES", "Blame", "Cell", "Outcome", "Survey", "survey"]

SIZES = range(17)
"""The sizes that are looked at where none are given."""

MAX_CELLS = 250_000
"""How many cells a survey may have."""


class Outcome(Enum):
    """How an answer fares at some sizes; ``EXCLUDED``: the assumptions, bounds or ``min_size`` rule them out."""

    WORKS = "works"
    FAILS = "fails"
    EXCLUDED = "excluded"


class Cell(NamedTuple):
    """What is so at some sizes.

    ``shape`` is the output where it works, None for a program; ``blamed`` are the positions, among the survey's
    ``blames``, of all axes that fail, or of the operation that a program stops at.
    """

    outcome: Outcome
    shape: tuple[int, ...] | None
    blamed: tuple[int, ...]


@dataclass(frozen=True)
class Survey:
    """An answer at every point of a grid of sizes.

    ``names`` are one symbol or two, and ``sizes`` those that each takes; ``fixed`` are the other symbols' sizes.
    ``blames`` are all that could fail: axes, or operations in their order. ``rows[j][i]`` is the cell where the
    second symbol, if there is one, has its size ``j`` and the first one its size ``i``.
    """

    names: tuple[str, ...]
    sizes: tuple[tuple[int, ...], ...]
    fixed: dict[str, int]
    blames: tuple[Blame, ...]
    rows: tuple[tuple[Cell, ...], ...]

    @property
    def shapes(self) -> set[tuple[int, ...]]:
        """The output shapes that occur."""
        return {cell.shape for row in self.rows for cell in row if cell.shape is not None}


def survey(  # noqa: PLR0913 - a grid has two symbols, each with its sizes
    subject: Result | ShapeEnv | ModelReport,
    x: str | Symbol | None = None,
    y: str | Symbol | Iterable[int] | None = None,
    sizes: Iterable[int] = SIZES,
    *,
    y_sizes: Iterable[int] | None = None,
    fixed: Sizes | None = None,
) -> Survey:
    """Return where a result, a program or a model is valid, for ``sizes`` of two symbols or of one.

    ``y_sizes`` are those of the second symbol where it has others, and sizes in place of ``y`` are those of ``x``
    alone. Where neither symbol is named, they are two that the condition ties together. Other symbols have the sizes in
    ``fixed``, by name or symbol, and else the smallest at which the answer is valid beside those. A model with sizes
    that data decide is valid where it is with suitable data.

    Raises `BindingError` for symbols that the answer does not have, for what are no sizes, and for more than 250,000
    cells; `DimensionError` for sizes beyond 64 bits, and `ShapeTypeError` for another subject.

    >>> from symbcast import broadcast
    >>> found = survey(broadcast("N, 3", "M, 1"), "N", "M", range(1, 4))
    >>> for row in found.rows:
    ...     print([cell.shape or [found.blames[n].label for n in cell.blamed] for cell in row])
    [(1, 3), (2, 3), (3, 3)]
    [(2, 3), (2, 3), ['axis 0 (-2)']]
    [(3, 3), ['axis 0 (-2)'], (3, 3)]
    """
    asked = subject_of(subject)
    if y is not None and not _is_name(y):
        if sizes is not SIZES:
            raise BindingError(f"{y!r:.80} is not the name of a size", "write a name such as 'M', or None")
        sizes, y = y, None  # type: ignore[assignment]
    x, y = _chosen(asked, x, y, fixed)
    axes = _axes(asked, x, y, sizes, y_sizes)
    others = _fixed(asked, axes, fixed)
    names = asked.names
    grid = _Grid(axes, others)
    return Survey(
        names=tuple(names[s] for s in axes),
        sizes=tuple(axes.values()),
        fixed={names[s]: size for s, size in others.items()},
        blames=asked.blames,
        rows=tuple(_rows(asked, grid)),
    )


def _is_name(value: Any) -> bool:
    return isinstance(value, str) or hasattr(type(value), "free_symbols")


def _chosen(asked: Subject, x: Any, y: Any, fixed: Sizes | None) -> tuple[Any, Any]:
    """Return the symbols to vary: those given, or else the most telling ones that are not fixed."""
    if x is not None:
        return x, y
    taken = read_sizes(asked.names, fixed, {})
    free = telling_names({s: name for s, name in asked.names.items() if name not in taken}, asked.condition())
    if y is not None or not free:
        raise BindingError("no symbol is left for the first axis", "name one: x='N'")
    return free[0], free[1] if len(free) > 1 else None


def _axes(asked: Subject, x: Any, y: Any, xs: Any, ys: Any) -> dict[Symbol, tuple[int, ...]]:
    """Return the symbols to vary, with their sizes."""
    first = _symbol(asked, x)
    if y is None:
        if ys is not None:
            raise BindingError("sizes were given for a second symbol, and no symbol", "name it: y='M'")
        return {first: _sizes(asked.names[first], xs)}
    second = _symbol(asked, y)
    if first == second:
        raise BindingError(f"{asked.names[first]} is named for both axes", "name two symbols, or leave the second out")
    across = _sizes(asked.names[first], xs)
    # Sizes that can be gone through once only were gone through.
    along = across if ys is None else _sizes(asked.names[second], ys)
    if len(across) * len(along) > MAX_CELLS:
        raise _too_many(f"{len(across)} by {len(along)} sizes are {len(across) * len(along):,} cells")
    return {first: across, second: along}


def _symbol(asked: Subject, given: Any) -> Symbol:
    try:
        (name,) = read_sizes(asked.names, {given: 0}, {})
    except TypeError:
        raise BindingError(f"{given!r:.80} is not the name of a size", "write a name such as 'N'") from None
    return next(s for s, called in asked.names.items() if called == name)


def _sizes(name: str, given: Any) -> tuple[int, ...]:
    """Return the sizes of an axis; what is endless is not gone through."""
    if isinstance(given, (str, bytes, Mapping)) or not isinstance(given, Iterable):
        raise BindingError(f"{given!r:.80} are not sizes of {name}", "write range(17), or a list of sizes")
    sizes = tuple(check_size(read_size(name, size)) for size in islice(given, MAX_CELLS + 1))
    if not sizes:
        raise BindingError(f"there are no sizes of {name} to look at", "write range(17), or a list of sizes")
    if len(sizes) > MAX_CELLS:
        raise _too_many(f"there are more than {MAX_CELLS:,} sizes of {name}")
    return sizes


def _too_many(problem: str) -> BindingError:
    hint = f"at most {MAX_CELLS:,} cells are looked at: take a step, as in range(0, 4096, 64)"
    return BindingError(problem, hint)


def _fixed(asked: Subject, axes: Mapping[Symbol, Any], given: Sizes | None) -> dict[Symbol, int]:
    """Return the sizes of the symbols that do not vary."""
    sizes = read_sizes(asked.names, given, {})
    for s in axes:
        name = asked.names[s]
        if name in sizes:
            raise BindingError(
                f"{name} varies and is fixed at {sizes[name]}", "give it as an axis or as fixed, not both"
            )
    known = {s: sizes[name] for s, name in asked.names.items() if name in sizes}
    others = [s for s in asked.names if s not in axes]
    if len(known) == len(others):
        return {s: known[s] for s in others}
    smallest = asked.smallest(known)
    return {s: smallest[s] for s in others}


Values = Sequence[Sequence[Any]]
"""One row for each size of the second symbol; rows, and values in them, that are alike are one object."""


class _Grid:
    """The points of a grid: sizes of one symbol or two, and the other symbols' sizes."""

    def __init__(self, axes: Mapping[Symbol, tuple[int, ...]], others: Mapping[Symbol, int]) -> None:
        self._axes = tuple(axes)
        self._sizes = [*axes.values(), (0,)][:2]
        self._others = others
        self.width, self.height = map(len, self._sizes)

    def values(self, symbols: Iterable[Symbol], compiled: Callable[[tuple[Symbol, ...]], Callable[..., Any]]) -> Values:
        """Return a function of some symbols at every point; it is called once for each choice of their sizes.

        ``compiled`` returns the function of the symbols in a given order; where that has no value, None stands.
        """
        used = dict.fromkeys(symbols)
        varying = [a for a in self._axes if a in used]
        still = [s for s in used if s not in self._axes]
        function, rest = compiled((*varying, *still)), [self._others[s] for s in still]
        if len(varying) == 2:
            return [[_value(function, x, y, *rest) for x in self._sizes[0]] for y in self._sizes[1]]
        if not varying:
            return [[_value(function, *rest)] * self.width] * self.height
        if varying[0] == self._axes[0]:
            return [[_value(function, x, *rest) for x in self._sizes[0]]] * self.height
        return [[_value(function, y, *rest)] * self.width for y in self._sizes[1]]

    def where(self, formula: Formula) -> Values:
        """Return whether a formula holds at every point."""
        return self.values(symbols_in(formula), lambda order: predicate(formula, order))

    def allowed(self, min_size: int) -> Iterable[Values]:
        """Yield for each symbol whether its size, at every point, is one that it can be by itself."""
        for s in (*self._axes, *self._others):
            members = own_set(s, min_size)
            yield self.values([s], partial(_membership, members))

    def sizes(self, dim: OutputDim) -> Values:
        """Return the size of an output axis at every point, None where it has none."""
        members = tuple(dict.fromkeys(dim if isinstance(dim, Joined) else (dim,)))
        return self.values(symbols_of(members), lambda order: _join_function(members, order))


def _membership(members: SizeSet, _: tuple[Symbol, ...]) -> Callable[[int], bool]:
    return members.__contains__


def _value(function: Callable[..., Any], *sizes: int) -> Any:
    try:
        return function(*sizes)
    except (ZeroDivisionError, UndefinedError):
        return None


def _join_function(members: Sequence[Dim], order: tuple[Symbol, ...]) -> Callable[..., int]:
    functions = [value_function(d, order) for d in members]
    if len(functions) == 1:
        return functions[0]
    return lambda *sizes: join_sizes(*(function(*sizes) for function in functions))


def _rows(asked: Subject, grid: _Grid) -> Iterator[tuple[Cell, ...]]:
    """Yield the rows of cells."""
    allowed = [v for v in (*grid.allowed(asked.min_size), *map(grid.where, asked.assumed)) if not _is_all_true(v)]
    holding = {n: v for n, v in enumerate(map(grid.where, asked.asked)) if not _is_all_true(v)}
    output = None if asked.output is None else [grid.sizes(d) for d in asked.output]
    positions = tuple(holding)

    @cache
    def works(shape: tuple[int, ...] | None) -> Cell:
        return Cell(Outcome.WORKS, shape, ())

    @cache
    def fails(holds: tuple[bool, ...]) -> Cell:
        failing = [n for n, it_holds in zip(positions, holds, strict=True) if not it_holds]
        return Cell(Outcome.FAILS, None, asked.blamed(failing))

    for j in range(grid.height):
        fits = _points([v[j] for v in allowed], grid.width)
        held = _points([v[j] for v in holding.values()], grid.width)
        shapes = [None] * grid.width if output is None else _points([v[j] for v in output], grid.width)
        yield tuple(
            (works(shape) if all(holds) else fails(holds)) if all(fit) else _EXCLUDED
            for fit, holds, shape in zip(fits, held, shapes, strict=True)
        )


_EXCLUDED = Cell(Outcome.EXCLUDED, None, ())


def _points(rows: Sequence[Sequence[Any]], width: int) -> Sequence[tuple[Any, ...]]:
    """Return what stands in some rows of values at each point."""
    return list(zip(*rows, strict=True)) if rows else [()] * width


def _is_all_true(values: Values) -> bool:
    return all(map(all, {id(row): row for row in values}.values()))
