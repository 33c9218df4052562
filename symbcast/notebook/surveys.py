"""Survey a grid of sizes: where an answer is valid, the output there, and who is to blame elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any

from symbcast.answers.explanation.words import Namer
from symbcast.answers.public.env import ShapeEnv
from symbcast.answers.public.result import Result
from symbcast.core.advice import with_advice
from symbcast.core.algebra.arithmetic import check_size
from symbcast.core.algebra.terms import Symbol
from symbcast.core.programs.arguments import Sizes, read_given_size, read_given_sizes
from symbcast.core.structs import NamedTuple
from symbcast.errors import BindingError
from symbcast.notebook.sections import Ranges, Section, SurveyGrid, Values, section
from symbcast.notebook.subjects import FailureSource, SurveySubject, subject_of
from symbcast.paths.answer import PathsAnswer

if TYPE_CHECKING:
    from symbcast.onnx.report import ModelReport

__all__ = ["MAX_CELLS", "Cell", "FailureSource", "Outcome", "Survey", "survey", "survey_of"]

# The largest size to survey if none are given, unless larger ones are needed to show both outcomes.
UP_TO = 16

# So many sizes of a symbol are chosen at most; beyond, they are taken in steps.
MOST_SIZES = 65

# How many cells a survey may have.
MAX_CELLS = 250_000


class Outcome(Enum):
    """The outcome of an answer at some sizes; ``EXCLUDED``: the assumptions, bounds or ``min_size`` rule them out."""

    WORKS = "works"
    FAILS = "fails"
    EXCLUDED = "excluded"


class Cell(NamedTuple):
    """The outcome at some sizes, with its details.

    ``shape`` is the output if it works, None for a program; ``blamed`` holds the positions, among the survey's
    ``blames``, of all axes that fail, or of the operation at which a program stops.
    """

    outcome: Outcome
    shape: tuple[int, ...] | None
    blamed: tuple[int, ...]


@dataclass(frozen=True)
class Survey:
    """An answer at every point of a grid of sizes.

    ``names`` has one or two symbols, and ``sizes`` their sizes; ``fixed`` has the sizes of the other symbols, and
    ``following`` the text of those sizes that the assumptions determine from these. ``blames`` lists everything that
    could fail: axes, or operations in order. ``rows[j][i]`` is the cell where the first symbol has its size ``i`` and
    the second symbol, if there is one, its size ``j``.
    """

    names: tuple[str, ...]
    sizes: tuple[tuple[int, ...], ...]
    fixed: dict[str, int]
    blames: tuple[FailureSource, ...]
    rows: tuple[tuple[Cell, ...], ...]
    following: dict[str, str] = field(default_factory=dict)

    @property
    def shapes(self) -> set[tuple[int, ...]]:
        """The output shapes that occur."""
        return {cell.shape for row in self.rows for cell in row if cell.shape is not None}

    @property
    def outcomes(self) -> set[Outcome]:
        """The outcomes that occur: works, fails, or excluded."""
        return {cell.outcome for row in self.rows for cell in row}


@with_advice
def survey(  # noqa: PLR0913 - a grid has two symbols, each with its sizes
    subject: Result | ShapeEnv | PathsAnswer | ModelReport,
    x: str | Symbol | None = None,
    y: str | Symbol | Iterable[int] | None = None,
    sizes: Iterable[int] | None = None,
    *,
    y_sizes: Iterable[int] | None = None,
    fixed: Sizes | None = None,
) -> Survey:
    """Survey where a result, a program or a model is valid, for ``sizes`` of one or two symbols.

    ``y_sizes`` gives the second symbol's sizes if they differ; if sizes are passed as ``y``, only ``x`` varies.
    Defaults are chosen so that the survey shows both outcomes if both exist: two symbols that the condition relates;
    the sizes from 0 to 16, or as far as needed, with steps over long ranges; and for the other symbols the sizes in
    ``fixed``, by name or symbol, else the smallest that work. Symbols that the assumptions express in terms of the
    varying ones follow them. A model with sizes that data decide counts as valid if suitable data make it valid.

    Raises `BindingError` for symbols that the answer does not have, for invalid sizes, and for more than 250,000 cells;
    `DimensionError` for sizes beyond 64 bits; and `ShapeTypeError` for any other subject.

    >>> from symbcast import broadcast
    >>> found = survey(broadcast("N, 3", "M, 1"), "N", "M", range(1, 4))
    >>> for row in found.rows:
    ...     print([cell.shape or [found.blames[n].label for n in cell.blamed] for cell in row])
    [(1, 3), (2, 3), (3, 3)]
    [(2, 3), (2, 3), ['axis 0 (-2)']]
    [(3, 3), ['axis 0 (-2)'], (3, 3)]
    >>> found = survey(broadcast("batch, heads, T, T + P", "batch, 1, 1, S"))
    >>> found.names, found.fixed, sorted(outcome.value for outcome in found.outcomes)
    (('T', 'S'), {'batch': 1, 'heads': 1, 'P': 1}, ['fails', 'works'])
    """
    question = subject_of(subject)
    if y is not None and not _is_name(y):
        if sizes is not None:
            raise BindingError(f"{y!r:.80} is not the name of a size", "write a name such as 'M', or None")
        sizes, y = y, None  # type: ignore[assignment]
    chosen = _chosen(question, x, y)
    both = _given_sizes(question, chosen, sizes, y_sizes)
    known = _known(question, chosen, fixed)
    chosen_section = section(question, chosen, known, Ranges(UP_TO, MOST_SIZES, both))
    if chosen_section is None:
        raise BindingError("no symbol is left for the first axis", "name one: x='N'")
    across, along = [*map(len, chosen_section.axes.values()), 1][:2]
    if across * along > MAX_CELLS:
        raise _too_many(f"{across} by {along} sizes give {across * along:,} cells")
    return survey_of(question, chosen_section)


def survey_of(subject: SurveySubject, chosen: Section) -> Survey:
    """Return the survey of the sizes of a section."""
    names = subject.names
    return Survey(
        names=tuple(names[s] for s in chosen.axes),
        sizes=tuple(chosen.axes.values()),
        fixed={names[s]: size for s, size in chosen.fixed.items()},
        following={names[s]: Namer.of(names).dim(dim) for s, dim in chosen.following.items()},
        blames=subject.blames,
        rows=tuple(_rows(subject, SurveyGrid(chosen.axes, chosen.fixed, chosen.following))),
    )


def _is_name(value: Any) -> bool:
    return isinstance(value, str) or hasattr(type(value), "free_symbols")


def _chosen(subject: SurveySubject, x: Any, y: Any) -> tuple[Symbol, ...] | None:
    """Return the symbols to vary; None if none is named."""
    if x is None:
        if y is not None:
            raise BindingError("no symbol is left for the first axis", "name one: x='N'")
        return None
    first = _symbol(subject, x)
    if y is None:
        return (first,)
    second = _symbol(subject, y)
    if first == second:
        raise BindingError(
            f"{subject.names[first]} is named for both axes", "name two symbols, or leave the second out"
        )
    return first, second


def _symbol(subject: SurveySubject, name_or_symbol: Any) -> Symbol:
    try:
        (name,) = read_given_sizes(subject.names, {name_or_symbol: 0}, {})
    except TypeError:
        raise BindingError(f"{name_or_symbol!r:.80} is not the name of a size", "write a name such as 'N'") from None
    return next(s for s, called in subject.names.items() if called == name)


def _given_sizes(
    subject: SurveySubject, chosen: tuple[Symbol, ...] | None, xs: Any, ys: Any
) -> tuple[tuple[int, ...] | None, tuple[int, ...] | None]:
    """Return the given sizes for the first symbol and for the second; None for sizes that are not given."""
    if ys is not None and chosen is not None and len(chosen) == 1:
        raise BindingError("sizes were given for a second symbol, but no second symbol", "name it: y='M'")
    first, second = (
        [subject.names[s] for s in (*(chosen or subject.names), *subject.names)][:2]
        if xs is not None or ys is not None
        else ("", "")
    )
    across = None if xs is None else _sizes(first, xs)
    # One-shot iterables were already consumed.
    return across, across if ys is None else _sizes(second, ys)


def _sizes(name: str, values: Any) -> tuple[int, ...]:
    """Return the sizes of an axis, without consuming an infinite iterable."""
    if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable):
        raise BindingError(f"{values!r:.80} are not sizes of {name}", "write range(17), or a list of sizes")
    sizes = tuple(check_size(read_given_size(name, size)) for size in islice(values, MAX_CELLS + 1))
    if not sizes:
        raise BindingError(f"the sizes of {name} are empty", "write range(17), or a list of sizes")
    if len(sizes) > MAX_CELLS:
        raise _too_many(f"there are more than {MAX_CELLS:,} sizes of {name}")
    return sizes


def _too_many(problem: str) -> BindingError:
    hint = f"at most {MAX_CELLS:,} cells are evaluated: use a step, as in range(0, 4096, 64)"
    return BindingError(problem, hint)


def _known(subject: SurveySubject, chosen: tuple[Symbol, ...] | None, fixed: Sizes | None) -> dict[Symbol, int]:
    """Return the given sizes of symbols that do not vary."""
    sizes = read_given_sizes(subject.names, fixed, {})
    for s in chosen or ():
        name = subject.names[s]
        if name in sizes:
            raise BindingError(
                f"{name} cannot both vary and be fixed at {sizes[name]}", "give it as an axis or as fixed, not both"
            )
    return {s: sizes[name] for s, name in subject.names.items() if name in sizes}


def _rows(subject: SurveySubject, grid: SurveyGrid) -> Iterator[tuple[Cell, ...]]:
    """Yield the survey's rows of cells."""
    by_itself = (grid.allowed(s, subject.min_size) for s in subject.names)
    allowed = [v for v in (*by_itself, *map(grid.where, subject.assumed)) if not _is_all_true(v)]
    holding = {n: v for n, v in enumerate(map(grid.where, subject.requirements)) if not _is_all_true(v)}
    output = None if subject.output is None else [grid.sizes(d) for d in subject.output]
    positions = tuple(holding)

    @cache
    def works(shape: tuple[int, ...] | None) -> Cell:
        return Cell(Outcome.WORKS, shape, ())

    @cache
    def fails(holds: tuple[bool, ...]) -> Cell:
        failing = [n for n, it_holds in zip(positions, holds, strict=True) if not it_holds]
        return Cell(Outcome.FAILS, None, subject.blamed(failing))

    for j in range(grid.height):
        fits = _points([v[j] for v in allowed], grid.width)
        holding_at = _points([v[j] for v in holding.values()], grid.width)
        shapes = [None] * grid.width if output is None else _points([v[j] for v in output], grid.width)
        yield tuple(
            (works(shape) if all(holds) else fails(holds)) if all(fit) else _EXCLUDED
            for fit, holds, shape in zip(fits, holding_at, shapes, strict=True)
        )


_EXCLUDED = Cell(Outcome.EXCLUDED, None, ())


def _points(rows: Sequence[Sequence[Any]], width: int) -> Sequence[tuple[Any, ...]]:
    """Return the values at each point of several rows."""
    return list(zip(*rows, strict=True)) if rows else [()] * width


def _is_all_true(values: Values) -> bool:
    return all(map(all, {id(row): row for row in values}.values()))
