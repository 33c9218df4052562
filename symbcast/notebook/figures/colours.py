"""The colours of plots: hatches and tints of failures, and shades of working cells by their size."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.colors import (
    BoundaryNorm,
    Colormap,
    LinearSegmentedColormap,
    ListedColormap,
    Normalize,
    to_rgb,
    to_rgba,
)
from matplotlib.ticker import FuncFormatter, MaxNLocator

from symbcast.answers.show.html import FAILURES, FINE
from symbcast.core.structs import NamedTuple
from symbcast.notebook.surveys import Cell, Outcome, Survey

# Colours and hatches are distinguishable with any colour vision and in black-and-white print.
#
# Working cells are a solid green, darker (on a dark page, lighter) for larger sizes; failing cells have a tint, with a
# lightness that no green has, and a hatch for each kind of failure; excluded cells are plain.


Colour = tuple[float, float, float]
Translucent = tuple[float, float, float, float]

WHITE, BLACK = (1.0, 1.0, 1.0), (0.0, 0.0, 0.0)


class FailureStyle(NamedTuple):
    """The style of a kind of failure: the full colour, from which tint and hatch are derived, and the hatch."""

    colour: str
    hatch: str


HATCHES = ("////", "\\\\\\\\", "....", "xxxx", "||||", "----")
MARKS = tuple(map(FailureStyle, FAILURES, HATCHES))


class Page:
    """The colours of a plot on a page, matched to its light or dark background."""

    def __init__(self, background: str | Colour, ink: str | Colour) -> None:
        self.background: Colour = to_rgb(background)
        self.ink: Colour = to_rgb(ink)
        self.is_dark = lightness(self.background) < 0.5

    def tint(self, mark: FailureStyle) -> Colour | Translucent:
        """Return the fill of a failing cell."""
        return mixed(to_rgb(mark.colour), self.background, 0.34 if self.is_dark else 0.3)

    def line(self, mark: FailureStyle) -> Colour:
        """Return the colour of a hatch, which must be visible on the tint."""
        towards, share = (WHITE, 0.9) if self.is_dark else (BLACK, 0.8)
        return mixed(mixed(to_rgb(mark.colour), towards, share), to_rgb(self.tint(mark)), 0.7)

    @property
    def border(self) -> Colour | Translucent:
        """The colour of the lines between cells."""
        return self.background

    @property
    def excluded(self) -> Colour | Translucent:
        """The fill colour of an excluded cell."""
        return mixed(self.ink, self.background, 0.12 if self.is_dark else 0.07)

    @property
    def works(self) -> LinearSegmentedColormap:
        """From the smallest size to the largest: the further from the page, the larger."""
        green = to_rgb(FINE)
        # The green is placed by its lightness, so that equal steps look equal.
        if self.is_dark:
            shades = [(0.0, mixed(green, BLACK, 0.8)), (0.24, green), (1.0, mixed(green, WHITE, 0.22))]
        else:
            shades = [(0.0, mixed(green, WHITE, 0.78)), (0.18, green), (1.0, mixed(green, BLACK, 0.35))]
        return LinearSegmentedColormap.from_list("sizes", shades)


class AnyPage(Page):
    """The colours of a plot with a transparent background, for light and dark pages.

    Tints are translucent. Greens and hatches have a medium lightness, between that of the tints on white and on black;
    larger sizes are darker.
    """

    INK: Colour = (0.475, 0.475, 0.475)
    """As far from white as from JupyterLab's and GitHub's dark pages: a contrast of 4.35 to either."""

    def __init__(self) -> None:
        super().__init__(WHITE, self.INK)

    def tint(self, mark: FailureStyle) -> Translucent:
        """Return the fill of a failing cell."""
        return (*to_rgb(mark.colour), 0.3)

    def line(self, mark: FailureStyle) -> Colour:
        """Return the colour of a hatch, which must be visible on the tint."""
        colour = to_rgb(mark.colour)
        light, middle = lightness(colour), 0.46
        if light > middle:
            return mixed(colour, BLACK, middle / light)
        return mixed(colour, WHITE, (1 - middle) / (1 - light))

    @property
    def border(self) -> Translucent:
        """The colour of the lines between cells."""
        return (0.5, 0.5, 0.5, 0.5)

    @property
    def excluded(self) -> Translucent:
        """The fill of an excluded cell."""
        return (0.5, 0.5, 0.5, 0.16)

    @property
    def works(self) -> LinearSegmentedColormap:
        """The shades from the smallest size to the largest."""
        green = to_rgb(FINE)
        shades = [(0.0, mixed(green, WHITE, 0.72)), (0.4, green), (1.0, mixed(green, BLACK, 0.78))]
        return LinearSegmentedColormap.from_list("sizes", shades)


def page_of(face: Any, ink: Any) -> Page:
    """Return the colours for a plot with the given background and text colours; a transparent one suits any page."""
    *_, opacity = to_rgba(face)
    return AnyPage() if opacity < 0.5 else Page(to_rgb(face), to_rgb(ink))


def ink_on(colour: Colour) -> Colour:
    """Return black or white, whichever is easier to read on a colour."""
    return BLACK if lightness(colour) > 0.4 else WHITE


def mixed(colour: Colour, other: Colour, share: float) -> Colour:
    """Mix two colours, with the given ``share`` of the first."""
    red, green, blue = (share * a + (1 - share) * b for a, b in zip(colour, other, strict=True))
    return red, green, blue


def lightness(colour: Colour) -> float:
    """Return the approximate lightness of a colour, from 0 to 1: accurate enough to distinguish dark from light."""
    red, green, blue = colour
    return 0.299 * red + 0.587 * green + 0.114 * blue


# The shades of working cells.


# Inches of height below which a colour bar has no room for words.
LOWEST = 1.7
# The most digits of a size that are written out.
LONGEST = 10
# Up to this many sizes each get their own shade; more are shaded in proportion.
MOST_STEPS = 24


class Shading:
    """The shade of each size of an output axis; a single shade for a program, which has no output.

    All surveys in a figure share one shading.
    """

    def __init__(self, surveys: Iterable[Survey], axis: int | None, page: Page) -> None:
        self.axis = axis
        values = {self.value(c) for s in surveys for row in s.rows for c in row if c.outcome is Outcome.WORKS}
        self.sizes: list[int] = sorted(values)
        self.cmap: Colormap = page.works
        shades = list(map(as_float, self.sizes))
        self.norm: Normalize = Normalize(min(shades, default=0.0), max(shades, default=1.0))
        self.has_steps = len(self.sizes) <= MOST_STEPS
        if self.has_steps and self.sizes:
            count = len(self.sizes)
            places = [0.2] if count == 1 else [n / (count - 1) for n in range(count)]
            self.cmap = ListedColormap([page.works(place) for place in places])
            self.norm = BoundaryNorm(_bounds(shades), count)

    def value(self, cell: Cell) -> int:
        """Return the size that determines a working cell's shade."""
        return 1 if self.axis is None or cell.shape is None else cell.shape[self.axis]

    def colour(self, size: int) -> Colour:
        """Return the shade of a size."""
        red, green, blue, _ = self.cmap(self.norm(as_float(size)))
        return red, green, blue

    def colourbar(self, figure: Any, axes: Any, inches: float, **options: Any) -> Any:
        """Draw a colour bar next to some axes of about the given height."""
        if self.has_steps:
            # All boxes of the bar have the same height, whatever their sizes, so they are placed by number.
            count = len(self.sizes)
            bar = figure.colorbar(ScalarMappable(Normalize(-0.5, count - 0.5), self.cmap), ax=axes, **options)
            shown = _every(count, inches * 4.5)
            bar.set_ticks(shown, labels=[size_text(self.sizes[n]) for n in shown])
        else:
            bar = figure.colorbar(ScalarMappable(self.norm, self.cmap), ax=axes, **options)
            bar.ax.yaxis.set_major_locator(
                MaxNLocator(nbins=max(2, min(8, int(inches * 3))), integer=True, steps=[1, 2, 5, 10])
            )
            bar.ax.yaxis.set_major_formatter(FuncFormatter(lambda size, _: size_text(int(size))))
        if inches >= LOWEST:
            bar.set_label(f"size of output axis {self.axis}")
        bar.ax.tick_params(which="both", length=0)
        bar.outline.set_visible(False)
        return bar


def as_float(size: int) -> float:
    """Return a size as a float for matplotlib, even if a product of sizes is too large for one."""
    return float(min(size, 10**300))


def size_text(size: int) -> str:
    """Return a size as short text.

    >>> size_text(65536), size_text(2**70)
    ('65536', '1.18e21')
    """
    digits = str(size)
    return digits if len(digits) <= LONGEST else f"{digits[0]}.{digits[1:3]}e{len(digits) - 1}"


def _bounds(sizes: Sequence[float]) -> Any:
    """Return boundaries that separate consecutive sizes."""
    return np.array([sizes[0] - 0.5, *[a / 2 + b / 2 for a, b in pairwise(sizes)], sizes[-1] + 0.5])


def _every(count: int, most: float) -> list[int]:
    """Return equally spaced positions, at most the given number."""
    step = next(step for step in (1, 2, 5, 10, 20, 50) if count / step <= max(most, 2))
    return list(range(0, count, step))
