"""Draw one survey in one pair of axes: cells, ticks at sizes, and a legend, with text fitted to the space."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib import rcParams
from matplotlib.collections import LineCollection
from matplotlib.font_manager import FontProperties
from matplotlib.patches import Patch, PathPatch
from matplotlib.path import Path
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

from symbcast.core.characters import shorten_end
from symbcast.core.structs import NamedTuple
from symbcast.notebook.figures.colours import MARKS, Colour, FailureStyle, Page, Shading, as_float, ink_on, size_text
from symbcast.notebook.surveys import Cell, Outcome, Survey
from symbcast.notebook.words import FailureCategory, excluded_text, works_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Text


# Lines of text in the available space.


def fit(text: Text, words: str, points: float) -> None:
    """Write one line of text, truncated to a width of ``points``."""
    words = plain(words)
    text.set_text(words)
    scale = 72.0 / text.get_figure().dpi  # type: ignore[union-attr]
    while len(words) > 8 and (wide := max(text.get_window_extent().size) * scale) > points:
        words = f"{words[: max(5, min(len(words) - 4, int(len(words) * points / wide) - 3))].rstrip()}..."
        text.set_text(words)


def points_of(size: str | float) -> float:
    """Return a font size, such as "small", in points."""
    return float(FontProperties(size=size).get_size_in_points())


def plain(words: str) -> str:
    """Return text on one line, since a name can contain any character."""
    return "".join(c if c.isprintable() else " " for c in words)


# One survey in one pair of axes: shades where it works, hatched tints where it fails, ticks at sizes.


# Up to this many sizes, an axis labels each one.
MOST_TICKS = 18
# Sizes from here on are spaced evenly: floating-point numbers cannot distinguish neighbours.
EXACT = 2**50
# Up to this many sizes, cells have borders.
MOST_BORDERS = 48
# Points of width below which no size is written into a cell.
SMALLEST_CELL = 15.0


class PanelStyle(NamedTuple):
    """The style that all panels of a figure share."""

    page: Page
    shading: Shading
    categories: Sequence[FailureCategory]


def draw(ax: Axes, survey: Survey, look: PanelStyle, inches: tuple[float, float]) -> bool:
    """Draw a survey in axes of roughly the given size; return whether sizes are written into its cells."""
    along = survey.sizes[1] if len(survey.sizes) > 1 else (0,)
    frame = _Frame(_Scale(survey.sizes[0]), _Scale(along), inches)
    _draw_works(ax, survey, look.shading, frame)
    for category, mark in zip(look.categories, MARKS, strict=False):
        region = _region(survey, frame, {c for row in survey.rows for c in row if c.blamed in category.blamed})
        if region is not None:
            patch = PathPatch(region, facecolor=look.page.tint(mark))
            ax.add_patch(hatched(patch, mark, look.page.line(mark)))
    excluded = _region(survey, frame, {c for row in survey.rows for c in row if c.outcome is Outcome.EXCLUDED})
    if excluded is not None:
        ax.add_patch(PathPatch(excluded, facecolor=look.page.excluded, linewidth=0))
    _draw_borders(ax, frame, look.page)
    _name_axes(ax, survey, frame)
    return _write_sizes(ax, survey, look.shading, frame)


def hatched(patch: Any, mark: FailureStyle, line: Colour) -> Any:
    """Return a patch with the hatch of a mark."""
    patch.set(hatch=mark.hatch, edgecolor=line, linewidth=0)
    if hasattr(patch, "set_hatch_linewidth"):  # matplotlib 3.10
        patch.set_hatch_linewidth(0.7)
    return patch


class _Scale:
    """Positions of sizes on an axis: at their values if they are evenly spaced, else side by side."""

    def __init__(self, sizes: Sequence[int]) -> None:
        self.sizes = sizes
        steps = {b - a for a, b in pairwise(sizes)} or {1}
        self.step = next(iter(steps)) if len(steps) == 1 and min(steps) > 0 and max(sizes) < EXACT else 0
        self.at = [float(s) for s in sizes] if self.step else [float(n) for n in range(len(sizes))]
        half = (self.step or 1) / 2
        self.edges = np.array([self.at[0] - half, *(place + half for place in self.at)])

    def set_ticks(self, axis: Any, most: int) -> None:
        """Label the sizes on an axis, as many as there is room for."""
        widest = len(str(max(self.sizes)))
        room = max(2, min(MOST_TICKS, most // (widest + 1)))
        if self.step == 1 and len(self.sizes) > room:
            axis.set_major_locator(MaxNLocator(nbins=min(room, 10), integer=True, steps=[1, 2, 5, 10]))
            axis.set_major_formatter(FuncFormatter(lambda size, _: f"{size:.0f}"))
        else:
            every = -(-len(self.at) // room)
            names = {place: str(size) for place, size in zip(self.at, self.sizes, strict=True)}
            axis.set_major_locator(FixedLocator(self.at[::every]))
            axis.set_major_formatter(FuncFormatter(lambda place, _: names.get(place, "")))
        axis.set_minor_locator(NullLocator())


class _Frame(NamedTuple):
    """The positions of a survey's cells, and the overall dimensions."""

    across: _Scale
    along: _Scale
    inches: tuple[float, float]


def _draw_works(ax: Axes, survey: Survey, shading: Shading, frame: _Frame) -> None:
    works = np.array([[c.outcome is Outcome.WORKS for c in row] for row in survey.rows])
    sizes = np.array(
        [[as_float(shading.value(c)) if c.outcome is Outcome.WORKS else 0.0 for c in r] for r in survey.rows]
    )
    across, along = frame.across.edges, frame.along.edges
    if works.any():
        values = np.ma.masked_array(sizes, ~works)
        many = works.size > 5000
        ax.pcolormesh(across, along, values, cmap=shading.cmap, norm=shading.norm, rasterized=many, shading="flat")
    ax.set(xscale="linear", yscale="linear")
    ax.set_xlim(across[0], across[-1])
    ax.set_ylim(along[0], along[-1])


def _region(survey: Survey, frame: _Frame, members: Container[Cell]) -> Path | None:
    """Return all cells of one kind as a single path, so that a hatch covers them without seams."""
    vertices: list[tuple[float, float]] = []
    across = frame.across.edges
    for row, (low, high) in zip(survey.rows, pairwise(frame.along.edges), strict=True):
        for start, stop in _runs(cell in members for cell in row):
            left, right = across[start], across[stop]
            vertices += [(left, low), (right, low), (right, high), (left, high), (left, low)]
    if not vertices:
        return None
    codes = [Path.MOVETO, Path.LINETO, Path.LINETO, Path.LINETO, Path.CLOSEPOLY] * (len(vertices) // 5)
    return Path(np.array(vertices), codes)


def _runs(belong: Iterable[bool]) -> Iterator[tuple[int, int]]:
    """Yield the start and stop of each run of true values."""
    start = 0
    for value, group in groupby(belong):
        stop = start + sum(1 for _ in group)
        if value:
            yield start, stop
        start = stop


def _draw_borders(ax: Axes, frame: _Frame, page: Page) -> None:
    (left, *xs, right), (low, *ys, high) = frame.across.edges, frame.along.edges
    if max(len(xs), len(ys)) < MOST_BORDERS:
        lines = [[(x, low), (x, high)] for x in xs] + [[(left, y), (right, y)] for y in ys]
        ax.add_collection(LineCollection(lines, colors=[page.border], linewidths=1.0, zorder=2), autolim=False)


def _name_axes(ax: Axes, survey: Survey, frame: _Frame) -> None:
    frame.across.set_ticks(ax.xaxis, int(frame.inches[0] * 120 / points_of(rcParams["xtick.labelsize"])))
    fit(ax.set_xlabel("", parse_math=False, usetex=False), survey.names[0], 72 * frame.inches[0])
    if len(survey.names) > 1:
        lines = int(frame.inches[1] * 50 / points_of(rcParams["ytick.labelsize"]))
        frame.along.set_ticks(ax.yaxis, lines * (len(str(max(frame.along.sizes))) + 1))
        fit(ax.set_ylabel("", parse_math=False, usetex=False), survey.names[1], 72 * frame.inches[1])
    else:
        ax.yaxis.set_visible(False)
    ax.tick_params(which="both", length=0)
    ax.grid(visible=False)
    for spine in ax.spines.values():
        spine.set_visible(False)


def _write_sizes(ax: Axes, survey: Survey, shading: Shading, frame: _Frame) -> bool:
    """Write the output size into each working cell, if there is room for all of them."""
    if shading.axis is None or not shading.sizes:
        return False
    across, along = frame.across.at, frame.along.at
    width, height = 72 * frame.inches[0] / len(across), 72 * frame.inches[1] / len(along)
    digits = len(size_text(shading.sizes[-1]))
    font = min(9.0, 0.55 * height, 1.35 * width / (digits + 0.8))
    if width < SMALLEST_CELL or height < SMALLEST_CELL or font < 5.5:
        return False
    for row, y in zip(survey.rows, along, strict=True):
        for cell, x in zip(row, across, strict=True):
            if cell.outcome is Outcome.WORKS:
                size = shading.value(cell)
                ink = ink_on(shading.colour(size))
                ax.text(x, y, size_text(size), ha="center", va="center", fontsize=font, color=ink, zorder=3)
    return True


# The legend.


# So much of the assumptions is written into the legend.
LONGEST = 56


def handles(look: PanelStyle, surveys: Iterable[Survey], assumed: str, are_written: bool, has_bar: bool) -> list[Patch]:
    """Return a labelled patch for each kind of cell in several surveys.

    ``are_written`` says that sizes are written in the cells, ``has_bar`` that a colour bar explains the shades.
    """
    shading, page = look.shading, look.page
    patches: list[Patch] = []
    if shading.sizes:
        middle = shading.sizes[len(shading.sizes) // 2]
        patches.append(Patch(facecolor=shading.colour(middle), label=_works(look, are_written, has_bar)))
    for category, mark in zip(look.categories, MARKS, strict=False):
        patch = Patch(facecolor=page.tint(mark), label=plain(category.label))
        patches.append(hatched(patch, mark, page.line(mark)))
    if any(c.outcome is Outcome.EXCLUDED for s in surveys for row in s.rows for c in row):
        patches.append(Patch(facecolor=page.excluded, label=shorten_end(excluded_text(plain(assumed)), LONGEST)))
    return patches


def draw_legend(make: Callable[..., Any], patches: Sequence[Patch], points: float, **options: Any) -> Any:
    """Draw a legend with as many columns as fit a width in points; ``make`` creates it from patches and options."""
    legend = None
    for columns in range(min(len(patches), 4), 0, -1):
        if legend is not None:
            legend.remove()
        legend = make(
            handles=patches,
            ncols=columns,
            frameon=False,
            fontsize="small",
            handlelength=2.2,
            handleheight=1.3,
            columnspacing=1.4,
            borderpad=0,
            **options,
        )
        for text in legend.get_texts():
            text.set(parse_math=False, usetex=False)
            if columns == 1:
                fit(text, text.get_text(), points - 30)
        if legend.get_window_extent().width * 72 / legend.get_figure().dpi <= points:
            break
    return legend


def _works(look: PanelStyle, are_written: bool, has_bar: bool) -> str:
    shading = look.shading
    if shading.axis is None:
        return works_text(None)
    if len(shading.sizes) == 1:
        return f"works: output axis {shading.axis} is {size_text(shading.sizes[0])}"
    if are_written:
        return works_text(shading.axis)
    return "works" if has_bar else f"works, shaded by the size of output axis {shading.axis}"
