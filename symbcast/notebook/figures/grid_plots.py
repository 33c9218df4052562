"""Plot where a broadcast, a program, a function or a model is valid."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import product
from operator import index
from typing import TYPE_CHECKING, Any, NoReturn

from symbcast.answers.public.env import ShapeEnv
from symbcast.answers.public.result import Result
from symbcast.core.advice import with_advice
from symbcast.core.algebra.terms import Symbol
from symbcast.core.programs.arguments import Sizes, read_given_size, read_given_sizes
from symbcast.errors import BindingError, MissingExtraError, ShapeTypeError
from symbcast.notebook.sections import informative_axis
from symbcast.notebook.subjects import subject_of
from symbcast.notebook.surveys import Survey, survey
from symbcast.paths.answer import PathsAnswer

if TYPE_CHECKING:
    import sympy
    from matplotlib.axes import Axes

    from symbcast.onnx.report import ModelReport

# The most plots in one figure.
MOST_PANELS = 36


@with_advice
def plot(  # noqa: PLR0913 - what a caller may want otherwise
    subject: Result | ShapeEnv | PathsAnswer | ModelReport,
    x: str | Symbol | None = None,
    y: str | Symbol | Iterable[int] | None = None,
    sizes: Iterable[int] | None = None,
    *,
    y_sizes: Iterable[int] | None = None,
    axis: int | None = None,
    fixed: Sizes | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Plot the sizes of one or two symbols for which an answer is valid, and return the axes.

    Working cells are shaded by the size of an ``axis`` of the output, by default the first one that varies; failing
    cells are hatched by who is to blame, and cells that the assumptions exclude are left plain. If neither ``x`` nor
    ``y`` is given, two symbols that the condition relates are chosen. Other symbols get the sizes in ``fixed``, else
    the smallest that work, which are written above the plot. ``sizes`` applies to both symbols, unless ``y_sizes`` is
    given. If ``ax`` is given, only these axes and a colour bar next to them are drawn.

        plot(result, "N", "M", range(17))
        plot(result, "N", range(17))

    Raises `MissingExtraError` without matplotlib, `BindingError` for symbols, sizes and axes that the answer does not
    have, and `ShapeTypeError` if ``ax`` is not ordinary matplotlib axes.
    """
    _require_matplotlib("plot")
    _check_axes(ax)
    from symbcast.notebook.figures.layout import draw_one, page_style

    points = survey(subject, x, y, sizes, y_sizes=y_sizes, fixed=fixed)
    shaded = _output_axis(subject, axis, [points])
    if ax is not None:
        return draw_one(subject, points, shaded, ax)
    with page_style():
        return draw_one(subject, points, shaded, None)


@with_advice
def plots(  # noqa: PLR0913
    subject: Result | ShapeEnv | PathsAnswer | ModelReport,
    x: str | Symbol | None = None,
    y: str | Symbol | None = None,
    sizes: Iterable[int] | None = None,
    *,
    each: Mapping[str, Iterable[int]] | Mapping[sympy.Symbol, Iterable[int]],
    y_sizes: Iterable[int] | None = None,
    axis: int | None = None,
    fixed: Sizes | None = None,
) -> list[Axes]:
    """Draw one plot of an answer for each size of further symbols, side by side, and return the axes row by row.

    ``each`` gives these sizes, as in ``{"K": (1, 2, 3)}``; with several symbols, every combination is drawn. All plots
    share one legend and one scale. Everything else is as in `plot`.

        plots(result, "N", "M", range(9), each={"K": (1, 2, 3)})

    Raises the same errors as `plot`, and `BindingError` for more than 36 plots.
    """
    _require_matplotlib("plots")
    from symbcast.notebook.figures.layout import draw_many, page_style

    named = _each(subject, each)
    fixed_at = read_given_sizes(subject_of(subject).names, fixed, {})
    for name in named:
        if name in fixed_at:
            raise BindingError(f"{name} is both in each and fixed at {fixed_at[name]}", "give it only once")
    # Copy sizes from one-shot iterators, so that every plot can use them.
    sizes = tuple(sizes) if isinstance(sizes, Iterable) and not isinstance(sizes, (str, range)) else sizes
    y_sizes = tuple(y_sizes) if isinstance(y_sizes, Iterable) and not isinstance(y_sizes, (str, range)) else y_sizes
    panels = [dict(zip(named, point, strict=True)) for point in product(*named.values())]
    surveys = _alike([survey(subject, x, y, sizes, y_sizes=y_sizes, fixed={**fixed_at, **p}) for p in panels], subject)
    columns = len(list(named.values())[-1]) if len(named) > 1 else min(len(panels), 4)
    with page_style():
        return draw_many(subject, surveys, panels, min(columns, 6), _output_axis(subject, axis, surveys))


def _alike(surveys: list[Survey], subject: Any) -> list[Survey]:
    """Repeat surveys with the symbols of the first one and the sizes of all of them."""
    first = surveys[0]
    if all((s.names, s.sizes) == (first.names, first.sizes) for s in surveys):
        return surveys
    alike = [s for s in surveys if s.names == first.names]
    xs, ys = ([sorted({size for s in alike for size in s.sizes[n]}) for n in range(len(first.names))] + [None])[:2]
    x, y = (*first.names, None)[:2]
    return [survey(subject, x, y, xs, y_sizes=ys, fixed=_without(s.fixed, (x, y))) for s in surveys]


def _without(fixed: Mapping[str, int], names: Collection[str | None]) -> dict[str, int]:
    return {name: size for name, size in fixed.items() if name not in names}


def _require_matplotlib(function: str) -> None:
    try:
        import matplotlib.pyplot  # noqa: F401 - it has to be there
    except ImportError as error:
        raise MissingExtraError(f"symbcast.notebook.{function}", "notebook") from error


def _check_axes(ax: Any) -> None:
    from matplotlib.axes import Axes

    if ax is not None and not (isinstance(ax, Axes) and ax.name == "rectilinear"):
        raise ShapeTypeError(ax, "axes for drawing a grid", "create axes: figure, ax = plt.subplots()")


def _each(subject: Any, each: Any) -> dict[str, list[int]]:
    """Return the sizes that get their own plot, by name."""
    if not isinstance(each, Mapping) or not each:
        raise BindingError(
            f"{each!r:.80} does not map names to the sizes to show side by side", "write each={'K': (1, 2, 3)}"
        )
    sizes_by_name: dict[str, list[int]] = {}
    count = 1
    for key, sizes in each.items():
        (name,) = read_given_sizes(subject_of(subject).names, {key: 0}, {})
        if isinstance(sizes, str) or not isinstance(sizes, Iterable):
            raise BindingError(f"{sizes!r:.80} are not sizes of {name}", "write each={'K': (1, 2, 3)}")
        sizes_by_name[name] = []
        for size in sizes:
            sizes_by_name[name].append(read_given_size(name, size))
            if len(sizes_by_name[name]) * count > MOST_PANELS:
                raise BindingError(f"each would give more than {MOST_PANELS} plots", "give fewer sizes")
        count *= len(sizes_by_name[name])
    if not count:
        raise BindingError("each has no sizes", "write each={'K': (1, 2, 3)}")
    return sizes_by_name


def _output_axis(subject: Any, axis: Any, surveys: Sequence[Survey]) -> int | None:
    """Return the output axis to shade, counted from the front; None if there is none."""
    output = subject_of(subject).output
    if axis is not None:
        if output is None:
            raise BindingError(
                f"axis={axis!r:.80} needs a single output, but there are several operations", "leave it out"
            )
        try:
            return range(len(output))[index(axis)] if not isinstance(axis, bool) else _no_axis(axis, len(output))
        except (TypeError, IndexError):
            return _no_axis(axis, len(output))
    return informative_axis([s.shapes for s in surveys])


def _no_axis(axis: Any, rank: int) -> NoReturn:
    hint = f"give an integer from {-rank} to {rank - 1}" if rank else "its rank is 0: leave it out"
    raise BindingError(f"axis={axis!r:.80} is not an axis of the output", hint)
