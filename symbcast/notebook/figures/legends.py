"""Explain the colours and hatches of a plot in a legend."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from matplotlib.patches import Patch

from symbcast.core.characters import clipped
from symbcast.notebook.figures.palette import MARKS
from symbcast.notebook.figures.panel import Look, hatched
from symbcast.notebook.figures.shades import size_text
from symbcast.notebook.figures.titles import fit, plain
from symbcast.notebook.surveys import Outcome, Survey
from symbcast.notebook.words import excluded_text, works_text

LONGEST = 56
"""So much of the assumptions is written into the legend."""


def handles(look: Look, surveys: Iterable[Survey], assumed: str, are_written: bool, has_bar: bool) -> list[Patch]:
    """Return a labelled patch for each kind of cell in several surveys.

    ``are_written`` says that sizes are written in the cells, ``has_bar`` that a colour bar explains the shades.
    """
    shading, page = look.shading, look.page
    found: list[Patch] = []
    if shading.sizes:
        middle = shading.sizes[len(shading.sizes) // 2]
        found.append(Patch(facecolor=shading.colour(middle), label=_works(look, are_written, has_bar)))
    for category, mark in zip(look.categories, MARKS, strict=False):
        patch = Patch(facecolor=page.tint(mark), label=plain(category.label))
        found.append(hatched(patch, mark, page.line(mark)))
    if any(c.outcome is Outcome.EXCLUDED for s in surveys for row in s.rows for c in row):
        found.append(Patch(facecolor=page.excluded, label=clipped(excluded_text(plain(assumed)), LONGEST)))
    return found


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


def _works(look: Look, are_written: bool, has_bar: bool) -> str:
    shading = look.shading
    if shading.axis is None:
        return works_text(None)
    if len(shading.sizes) == 1:
        return f"works: output axis {shading.axis} is {size_text(shading.sizes[0])}"
    if are_written:
        return works_text(shading.axis)
    return "works" if has_bar else f"works, shaded by the size of output axis {shading.axis}"
