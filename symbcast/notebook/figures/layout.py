"""Figures of one or several panels, with titles, a colour bar and a legend; they keep a description as text."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import BytesIO
from typing import TYPE_CHECKING, Any

import matplotlib.pyplot as plt
from matplotlib import rcParams
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.gridspec import GridSpecFromSubplotSpec
from matplotlib.transforms import ScaledTranslation, blended_transform_factory

from symbcast.answers.show.html import element
from symbcast.notebook import words
from symbcast.notebook.figures.colours import BLACK, LOWEST, WHITE, AnyPage, Shading, page_of, size_text
from symbcast.notebook.figures.panel import PanelStyle, draw, draw_legend, fit, handles, points_of
from symbcast.notebook.surveys import Survey

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.patches import Patch


# Figures that keep a text description wherever they are displayed or saved.


_IMAGES = ("image/png", "image/svg+xml", "image/jpeg", "application/pdf")
# Where a file of each format has room for a description.
_KEYS = {"png": "Description", "svg": "Title", "pdf": "Subject"}


class Picture(Figure):
    """A figure with a ``description`` for people who cannot see it.

    In a notebook it is an HTML image with that alternative text, so that its transparent background shows the page:
    notebooks put a white background behind other transparent images. In a file the description is part of the metadata.
    """

    description: str = ""

    def savefig(self, fname: Any, **options: Any) -> None:
        """Save the figure, with its description if the format has a field for it."""
        form = str(options.get("format") or str(fname).rpartition(".")[2]).lower()
        if form in _KEYS and self.description:
            options["metadata"] = {_KEYS[form]: self.description, **(options.get("metadata") or {})}
        super().savefig(fname, **options)

    def as_png(self) -> bytes:
        """Return the figure as PNG data."""
        buffer = BytesIO()
        self.savefig(buffer, format="png", bbox_inches="tight")
        return buffer.getvalue()

    def _ipython_display_(self) -> None:
        from IPython.core.getipython import get_ipython
        from IPython.display import display

        shell = get_ipython()
        known = shell.display_formatter if shell is not None else None
        formatters = known.formatters if known is not None else {}
        bundle: dict[str, Any] = {"text/plain": self.description}
        metadata: dict[str, Any] = {}
        for kind in _IMAGES:
            data = formatters[kind](self) if kind in formatters else None
            if data is not None:
                bundle[kind], own = data if isinstance(data, tuple) else (data, {})
                metadata[kind] = {**own, "alt": self.description}
        if not metadata:
            bundle["image/png"] = b64encode(self.as_png()).decode()
            metadata["image/png"] = {"alt": self.description}
        kind = next(iter(metadata))
        bundle["text/html"] = image(bundle[kind], kind, self.description, metadata[kind].get("width"))
        display(bundle, metadata=metadata, raw=True)  # type: ignore[no-untyped-call]


def image(data: str | bytes, kind: str, description: str, width: int | None = None) -> str:
    """Return an image as HTML with its alternative text; ``data`` is text, or already base64-encoded."""
    if kind == "image/svg+xml":
        data = b64encode(data if isinstance(data, bytes) else data.encode())
    text = data.decode() if isinstance(data, bytes) else data
    # Concatenate without escaping: the data are long, and base64 needs no escaping.
    metadata = {"alt": description, **({"width": str(width)} if width else {})}
    tag = element("img", "", "max-width:100%;height:auto", **metadata).removesuffix("></img>")
    return f'{tag} src="data:{kind};base64,{text.strip()}">'


# Layout: panels, titles, a colour bar and a legend, without cutting anything off.


Inches = tuple[float, float]

# Inches of a cell, where there is room.
CELL = 0.3
# Inches of width of a colour bar.
BAR = 0.17
# The most plots of a figure to describe in words.
MOST_DESCRIBED = 4
# Inches between a legend and what is next to it.
GAP = 0.055


# What figures are like that suit any page.
NEUTRAL: dict[Any, Any] = {
    **dict.fromkeys(("figure.facecolor", "axes.facecolor"), "none"),
    **dict.fromkeys(("text.color", "axes.labelcolor", "xtick.color", "ytick.color"), AnyPage.INK),
}


@contextmanager
def page_style() -> Iterator[None]:
    """Apply the style of our own figures: the caller's, or one that suits any page if the caller's is the default."""
    is_default = (
        all(to_rgb(rcParams[face]) == WHITE for face in ("figure.facecolor", "axes.facecolor"))
        and to_rgb(rcParams["text.color"]) == BLACK
    )
    changed = NEUTRAL if is_default else {}
    before = {key: rcParams[key] for key in changed}
    # rc_context would also revert settings of a backend that is loaded inside it: the notebook backend makes pyplot
    # interactive, and without that shows no second figure.
    rcParams.update(changed)
    try:
        yield
    finally:
        rcParams.update(before)


def picture(subject: Any, survey: Survey, axis: int | None) -> Picture:
    """Return a picture of one survey, without registering it with pyplot."""
    with page_style():
        figure = draw_one(subject, survey, axis, None, _unshown).figure
    assert isinstance(figure, Picture)
    return figure


def draw_one(
    subject: Any, survey: Survey, axis: int | None, ax: Axes | None, make: Callable[..., Any] | None = None
) -> Axes:
    """Draw one survey into the given axes, or into a new figure."""
    beside, assumed = 0.0, words.assumed_text(subject)
    if ax is None:
        ax, inches, room = _new_axes(survey, axis, make or pyplot_picture)
        describe(ax.figure, subject, [survey])
        look = _look([survey], axis, ax)
    else:
        look = _look([survey], axis, ax)
        if ax.figure.get_layout_engine() is None:
            _give_room(ax, handles(look, [survey], assumed, True, True))
            beside = _beside(ax, look)
        inches = _inches_of(ax)
        room = 72 * inches[0]
        inches = inches[0] - beside, inches[1]
    are_written = draw(ax, survey, look, inches)
    has_bar = _has_bar(look) and not (are_written and len(survey.names) == 1)
    if has_bar:
        fraction = max(0.06, max(beside, BAR) / (inches[0] + beside))
        aspect = max(4, inches[1] / BAR)
        look.shading.colourbar(ax.figure, ax, inches[1], fraction=fraction, pad=0.02, aspect=aspect)
    fixed = words.fixed_text(survey.fixed, survey.following)
    above = " · ".join(filter(None, (fixed, words.condition_text(subject))))
    _write_titles(ax, words.question_text(subject), above, room, words.missing_text(subject, survey))
    patches = handles(look, [survey], assumed, are_written, has_bar and inches[1] >= LOWEST)
    _draw_legend_below(ax, patches, 72 * (inches[0] + beside))
    return ax


def _unshown(**options: Any) -> Any:
    figure = Picture(**options)
    FigureCanvasAgg(figure)
    return figure


def pyplot_picture(**options: Any) -> Any:
    """Return a new picture that pyplot shows with its other figures."""
    return plt.figure(FigureClass=Picture, **options)


def describe(figure: Any, subject: Any, surveys: Sequence[Survey]) -> None:
    """Set the text description of a picture."""
    question, condition = words.question_text(subject), words.condition_text(subject)
    texts = [words.description(question, condition, survey) for survey in surveys[:MOST_DESCRIBED]]
    missing = [words.missing_text(subject, surveys[0])] if len(surveys) == 1 else []
    more = [f"and {len(surveys) - MOST_DESCRIBED} more plots"] if len(surveys) > MOST_DESCRIBED else []
    figure.description = " ".join(filter(None, (*texts, *missing, *more)))


def _give_room(ax: Axes, patches: Sequence[Patch]) -> None:
    """Shrink axes to make room for titles and a legend of these patches; they keep at least half of their height.

    Their figure has no layout that does this. If a layout is set later, it starts from the smaller axes.
    """
    width, height = _inches_of(ax)
    legend = _draw_legend_below(ax, patches, 72 * width)
    below = _high(legend) + 2 * GAP
    legend.remove()
    above = (points_of("small") + 1.2 * points_of("large") + 9) / 72
    share = min(1.0, 0.5 * height / (above + below))
    heights = share * above, height - share * (above + below), share * below
    spec = ax.get_subplotspec()
    if spec is not None:
        ax.set_subplotspec(GridSpecFromSubplotSpec(3, 1, spec, hspace=0, height_ratios=heights)[1])
    else:
        box = ax.get_position()
        inch = box.height / height
        ax.set_position((box.x0, box.y0 + heights[2] * inch, box.width, heights[1] * inch))


def _beside(ax: Axes, look: PanelStyle) -> float:
    """Return the width in inches that a colour bar and its numbers take from the axes."""
    if not _has_bar(look):
        return 0.0
    return min(BAR + 0.35 + 0.09 * len(size_text(look.shading.sizes[-1])), 0.4 * _inches_of(ax)[0])


def _draw_legend_below(ax: Axes, patches: Sequence[Patch], points: float) -> Any:
    """Draw a legend of the given width in points below the axis label."""
    below = ax.transAxes + ScaledTranslation(0, -_below(ax) / 72, ax.figure.dpi_scale_trans)
    # The layout would shrink the axes if the legend were wider.
    options = {"loc": "upper left", "bbox_to_anchor": (0, 0), "bbox_transform": below, "borderaxespad": 0}
    return draw_legend(ax.legend, patches, points, **options)


def _high(legend: Any) -> float:
    """Return the height of a legend in inches."""
    return float(legend.get_window_extent().height / legend.get_figure().dpi)


def _inches_of(ax: Axes) -> Inches:
    box = ax.get_window_extent()
    return box.width / ax.figure.dpi, box.height / ax.figure.dpi


def _new_axes(survey: Survey, axis: int | None, make: Callable[..., Any]) -> tuple[Axes, Inches, float]:
    """Return axes in a new figure, their size, and the points available for a title."""
    width, height = _inches(survey, widest=5.4, highest=5.0)
    is_strip = len(survey.names) == 1
    left = _left(survey)
    largest = max((c.shape[axis] for row in survey.rows for c in row if c.shape), default=0) if axis is not None else 0
    right = 0.1 if axis is None else _larger() * (0.65 + 0.09 * len(size_text(largest)))
    width = max(width, 4.6 - left - right)
    size = (left + width + right, height + _larger() * (1.25 if is_strip else 1.5))
    ax = make(figsize=size, layout="constrained").subplots()
    return ax, (width, height), 72 * (size[0] - left)


def _left(survey: Survey) -> float:
    """Return the approximate width in inches of the second symbol's tick labels and name, next to the axes."""
    return 0.2 if len(survey.names) == 1 else _larger() * (0.5 + 0.09 * len(str(max(survey.sizes[1]))))


def _larger() -> float:
    """Return the factor by which the font is larger than usual; text needs that much more space in a figure."""
    return max(1.0, float(rcParams["font.size"]) / 10)


def draw_many(
    subject: Any, surveys: Sequence[Survey], panels: Sequence[Mapping[str, int]], columns: int, axis: int | None
) -> list[Axes]:
    """Draw surveys side by side with a common legend and scale, and return their axes row by row."""
    rows = -(-len(surveys) // columns)
    inches = _inches(surveys[0], widest=min(3.4, 11 / columns), highest=3.2)
    size = (max(5.6, columns * (inches[0] + 0.35) + 1.4), rows * (inches[1] + 0.55) + 1.3)
    figure = pyplot_picture(figsize=size, layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True)
    describe(figure, subject, surveys)
    axes = list(grid.flat)
    look = _look(surveys, axis, axes[0])
    are_written = has_bar = False
    # Common sizes go above all panels, other sizes above each panel.
    rest = {n: size for n, size in surveys[0].fixed.items() if all(s.fixed[n] == size for s in surveys)}
    rest = {n: size for n, size in rest.items() if n not in panels[0]}
    for place, (ax, survey, panel) in enumerate(zip(axes, surveys, panels, strict=False)):
        are_written = draw(ax, survey, look, inches)
        title = ax.set_title("", loc="left", fontsize="medium", parse_math=False, usetex=False)
        own = {n: size for n, size in survey.fixed.items() if n not in rest}
        fit(title, words.fixed_text({**panel, **own}), 72 * inches[0])
        _label_outer(ax, is_first=place % columns == 0, is_last=place + columns >= len(surveys))
    for ax in axes[len(surveys) :]:
        ax.remove()
    if _has_bar(look) and not (are_written and len(surveys[0].names) == 1):
        has_bar, high = True, rows * (inches[1] + 0.5)
        look.shading.colourbar(figure, axes[: len(surveys)], high, fraction=0.05, pad=0.015, aspect=high / BAR)
    above = " · ".join(filter(None, (words.question_text(subject), words.fixed_text(rest, surveys[0].following))))
    title = figure.suptitle("", x=0, ha="left", fontsize="large", parse_math=False, usetex=False)
    room = 72 * (size[0] - _left(surveys[0]) - 0.1)
    fit(title, above, room)
    patches = handles(look, surveys, words.assumed_text(subject), are_written, has_bar)
    # Title and legend are aligned with the left edge of the first axes, wherever the layout puts them.
    title.set_transform(blended_transform_factory(axes[0].transAxes, figure.transFigure))
    raised = figure.transFigure + ScaledTranslation(0, GAP, figure.dpi_scale_trans)
    beside = blended_transform_factory(axes[0].transAxes, raised)
    options = {"loc": "lower left", "bbox_to_anchor": (0, 0), "bbox_transform": beside, "borderaxespad": 0}
    legend = draw_legend(figure.legend, patches, room, **options)
    below = (_high(legend) + 2 * GAP) / size[1]
    figure.set_layout_engine("constrained", rect=(0, below, 1, 1 - below))
    return axes[: len(surveys)]


def _label_outer(ax: Axes, is_first: bool, is_last: bool) -> None:
    """Keep tick labels and names only in the first column and at the bottom of each column, which may be shorter."""
    ax.tick_params(labelleft=is_first, labelbottom=is_last)
    if not is_first:
        ax.set_ylabel("")
    if not is_last:
        ax.set_xlabel("")


def _look(surveys: Sequence[Survey], axis: int | None, ax: Axes) -> PanelStyle:
    page = page_of(ax.get_facecolor(), rcParams["text.color"])
    return PanelStyle(page, Shading(surveys, axis, page), words.categories(surveys, surveys[0].blames))


def _has_bar(look: PanelStyle) -> bool:
    return look.shading.axis is not None and len(look.shading.sizes) > 1


def _inches(survey: Survey, widest: float, highest: float) -> Inches:
    """Return a survey's size in inches: with square cells, unless one side has far more cells than the other."""
    across = len(survey.sizes[0])
    roomy = max(CELL, 0.14 + 0.09 * len(str(max(survey.sizes[0]))))
    if len(survey.sizes) == 1:
        return min(max(across * roomy, 4.0), 6.4), 0.4
    along = len(survey.sizes[1])
    width = max(across * min(widest / across, highest / along, roomy), 2.6)
    return width, min(max(along * min(width / across, 0.8), 1.4), highest)


def _write_titles(ax: Axes, question: str, above: str, room: float, missing: str) -> None:
    """Write lines above the axes, at the left: the question, then in smaller type sizes, condition and missing outcome.

    An outcome is missing if it exists, but not at the sizes in the picture.
    """
    small = points_of("small")
    lines = [text for text in (missing, above) if text]
    title = ax.set_title(
        "", loc="left", pad=max(1, len(lines)) * (small + 3) + 6, fontsize="large", parse_math=False, usetex=False
    )
    fit(title, question, room)
    for place, text in enumerate(lines):
        line = ax.annotate(
            "",
            (0, 1),
            (0, 5 + place * (small + 3)),
            xycoords="axes fraction",
            textcoords="offset points",
            fontsize="small",
            parse_math=False,
            usetex=False,
        )
        line.set_in_layout(False)  # it may be wider than the axes, which must keep their width
        fit(line, text, room)


def _below(ax: Axes) -> float:
    """Return the distance in points below the axes at which a legend clears the ticks and the label."""
    ticks = points_of(rcParams["xtick.labelsize"]) + ax.xaxis.get_tick_padding()
    return 1.2 * (ticks + points_of(rcParams["axes.labelsize"]) + ax.xaxis.labelpad) + 8
