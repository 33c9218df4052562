"""Figures put together: panels, titles, a colour bar and a legend, laid out so that nothing is cut."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import matplotlib.pyplot as plt
from matplotlib import rcParams
from matplotlib.colors import to_rgb
from matplotlib.font_manager import FontProperties
from matplotlib.transforms import ScaledTranslation

from symbcast.notebook.plotting.categories import categories
from symbcast.notebook.plotting.legends import draw_legend, handles
from symbcast.notebook.plotting.palette import Page
from symbcast.notebook.plotting.panel import Look, draw
from symbcast.notebook.plotting.shading import LOWEST, Shading, size_text
from symbcast.notebook.plotting.titles import assumed_text, condition_text, fit, fixed_text, question_text
from symbcast.notebook.surveying import Survey

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Inches = tuple[float, float]

CELL = 0.3
"""Inches of a cell, where there is room."""


def draw_one(subject: Any, survey: Survey, axis: int | None, ax: Axes | None) -> Axes:
    """Draw one survey into axes, or into a figure made for it."""
    if ax is None:
        ax, inches, room = _new_axes(survey, axis)
    else:
        box = ax.get_window_extent()
        inches = box.width / ax.figure.dpi, box.height / ax.figure.dpi
        room = 72 * inches[0]
    look = _look([survey], axis, ax)
    are_written = draw(ax, survey, look, inches)
    has_bar = _has_bar(look) and not (are_written and len(survey.names) == 1)
    if has_bar:
        look.shading.colourbar(ax.figure, ax, inches[1], fraction=0.06, pad=0.02, aspect=max(4, inches[1] / 0.17))
    above = " · ".join(filter(None, (fixed_text(survey.fixed), condition_text(subject))))
    _write_titles(ax, question_text(subject), above, room)
    patches = handles(look, [survey], assumed_text(subject), are_written, has_bar and inches[1] >= LOWEST)
    below = ax.transAxes + ScaledTranslation(0, -_below(ax) / 72, ax.figure.dpi_scale_trans)
    # What is wider than the axes would have the layout make them narrower.
    options = {"loc": "upper left", "bbox_to_anchor": (0, 0), "bbox_transform": below, "borderaxespad": 0}
    draw_legend(ax.legend, patches, 72 * inches[0], **options)
    return ax


def _new_axes(survey: Survey, axis: int | None) -> tuple[Axes, Inches, float]:
    """Return axes in a figure of their own, how large they will be, and how many points a title has."""
    width, height = _inches(survey, widest=5.4, highest=5.0)
    is_strip = len(survey.names) == 1
    left = 0.2 if is_strip else 0.5 + 0.09 * len(str(max(survey.sizes[1])))
    largest = max((c.shape[axis] for row in survey.rows for c in row if c.shape), default=0) if axis is not None else 0
    right = 0.1 if axis is None else 0.65 + 0.09 * len(size_text(largest))
    width = max(width, 4.6 - left - right)
    size = (left + width + right, height + (1.25 if is_strip else 1.5))
    _, ax = plt.subplots(figsize=size, layout="constrained")
    return ax, (width, height), 72 * (size[0] - left)


def draw_many(
    subject: Any, surveys: Sequence[Survey], panels: Sequence[Mapping[str, int]], columns: int, axis: int | None
) -> list[Axes]:
    """Draw surveys beside each other, with one legend and one scale, and return their axes row by row."""
    rows = -(-len(surveys) // columns)
    inches = _inches(surveys[0], widest=min(3.4, 11 / columns), highest=3.2)
    size = (max(5.6, columns * (inches[0] + 0.35) + 1.4), rows * (inches[1] + 0.55) + 1.3)
    figure, grid = plt.subplots(
        rows, columns, figsize=size, squeeze=False, sharex=True, sharey=True, layout="constrained"
    )
    axes = list(grid.flat)
    look = _look(surveys, axis, axes[0])
    are_written = has_bar = False
    for ax, survey, panel in zip(axes, surveys, panels, strict=False):
        are_written = draw(ax, survey, look, inches)
        title = ax.set_title("", loc="left", fontsize="medium", parse_math=False, usetex=False)
        fit(title, fixed_text(panel), 72 * inches[0])
        ax.label_outer()
    for ax in axes[len(surveys) :]:
        ax.remove()
    if _has_bar(look) and not (are_written and len(surveys[0].names) == 1):
        has_bar, high = True, rows * (inches[1] + 0.5)
        look.shading.colourbar(figure, axes[: len(surveys)], high, fraction=0.05, pad=0.015, aspect=high / 0.17)
    rest = {name: size for name, size in surveys[0].fixed.items() if name not in panels[0]}
    above = " · ".join(filter(None, (question_text(subject), fixed_text(rest))))
    title = figure.suptitle("", x=0.01, ha="left", fontsize="large", parse_math=False, usetex=False)
    fit(title, above, 72 * (size[0] - 0.2))
    patches = handles(look, surveys, assumed_text(subject), are_written, has_bar)
    draw_legend(figure.legend, patches, 72 * (size[0] - 0.4), loc="outside lower left")
    return axes[: len(surveys)]


def _look(surveys: Sequence[Survey], axis: int | None, ax: Axes) -> Look:
    page = Page(to_rgb(ax.get_facecolor()), rcParams["text.color"])
    return Look(page, Shading(surveys, axis, page), categories(surveys, surveys[0].blames))


def _has_bar(look: Look) -> bool:
    return look.shading.axis is not None and len(look.shading.sizes) > 1


def _inches(survey: Survey, widest: float, highest: float) -> Inches:
    """Return how large to draw a survey: with square cells, unless there are far more one way than the other."""
    across = len(survey.sizes[0])
    roomy = max(CELL, 0.14 + 0.09 * len(str(max(survey.sizes[0]))))
    if len(survey.sizes) == 1:
        return min(max(across * roomy, 4.0), 6.4), 0.4
    along = len(survey.sizes[1])
    cell = min(widest / across, highest / along, roomy)
    width = max(across * cell, 2.6)
    return width, min(max(along * min(width / across, 0.8), 1.4), highest)


def _write_titles(ax: Axes, question: str, above: str, room: float) -> None:
    """Write two lines above axes, at the left: the question, and smaller the sizes and the condition."""
    small = _points("small")
    title = ax.set_title("", loc="left", pad=small + 9, fontsize="large", parse_math=False, usetex=False)
    fit(title, question, room)
    line = ax.annotate(
        "",
        (0, 1),
        (0, 5),
        xycoords="axes fraction",
        textcoords="offset points",
        fontsize="small",
        alpha=0.8,
        parse_math=False,
        usetex=False,
    )
    line.set_in_layout(False)  # it may be wider than the axes, which are to keep their width
    fit(line, above, room)


def _below(ax: Axes) -> float:
    """Return how many points below the axes a legend clears their ticks and label."""
    ticks = _points(rcParams["xtick.labelsize"]) + ax.xaxis.get_tick_padding()
    label = _points(rcParams["axes.labelsize"]) + ax.xaxis.labelpad
    return 1.2 * (ticks + label) + 8


def _points(size: Any) -> float:
    return float(FontProperties(size=size).get_size_in_points())
