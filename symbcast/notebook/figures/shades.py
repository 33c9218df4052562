"""Map sizes to colours: the shades of working cells."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.colors import BoundaryNorm, Colormap, ListedColormap, Normalize
from matplotlib.ticker import FuncFormatter, MaxNLocator

from symbcast.notebook.figures.palette import Colour, Page
from symbcast.notebook.surveys import Cell, Outcome, Survey

LOWEST = 1.7
"""Inches of height below which a colour bar has no room for words."""
LONGEST = 10
"""The most digits of a size that are written out."""
MOST_STEPS = 24
"""Up to this many sizes each get their own shade; more are shaded in proportion."""


class Shading:
    """The shade of each size of an output axis; a single shade for a program, which has no output.

    All surveys in a figure share one shading.
    """

    def __init__(self, surveys: Iterable[Survey], axis: int | None, page: Page) -> None:
        self.axis = axis
        found = {self.value(c) for s in surveys for row in s.rows for c in row if c.outcome is Outcome.WORKS}
        self.sizes: list[int] = sorted(found)
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
            scale = ScalarMappable(Normalize(-0.5, count - 0.5), self.cmap)
            bar = figure.colorbar(scale, ax=axes, **options)
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
    middles = [a / 2 + b / 2 for a, b in pairwise(sizes)]
    return np.array([sizes[0] - 0.5, *middles, sizes[-1] + 0.5])


def _every(count: int, most: float) -> list[int]:
    """Return equally spaced positions, at most the given number."""
    step = next(step for step in (1, 2, 5, 10, 20, 50) if count / step <= max(most, 2))
    return list(range(0, count, step))
