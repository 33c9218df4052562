"""Provide a static explorer: pages that show a saved notebook get the answer and a picture."""

from __future__ import annotations

from base64 import b64encode
from typing import TYPE_CHECKING

from symbcast.answers.comparison.document import document
from symbcast.answers.public.result import call_of
from symbcast.answers.show import call, html
from symbcast.answers.show.document import Room
from symbcast.errors import MissingExtraError
from symbcast.notebook.defaults import telling_axis
from symbcast.notebook.explorer.view import Looking, shown_section
from symbcast.notebook.subjects import subject_of
from symbcast.notebook.surveys import survey_of

if TYPE_CHECKING:
    from symbcast.answers.comparison import Comparison
    from symbcast.answers.public.result import Result
    from symbcast.notebook.figures.picture import Picture

_NOTE = "This is an explorer: run the notebook to change the shapes."


def page(result: Result, looking: Looking, comparison: Comparison | None = None) -> str:
    """Return the answer as HTML, with the map as a picture and the comparison with another rule, if there are any."""
    parts = [html.render(call.document(call_of(result), Room.PAGE))]
    if result.symbols:
        parts.append(_picture(result, looking))
    if comparison is not None:
        parts.append(html.render(document(comparison)))
    return "".join((*parts, html.element("div", html.text(_NOTE), "opacity:.75")))


def _picture(result: Result, looking: Looking) -> str:
    try:
        from symbcast.notebook.figures.picture import image

        made = picture_of(result, looking)
    except ImportError:
        # The text is complete without the picture.
        return html.element("div", html.text(str(MissingExtraError("the picture", "notebook"))))
    return image(b64encode(made.as_png()), "image/png", made.description)


def picture_of(result: Result, looking: Looking) -> Picture:
    """Return the map of a result that has symbols as a figure; raises `ImportError` without matplotlib."""
    from symbcast.notebook.figures.layout import picture

    found = survey_of(asked := subject_of(result), shown_section(asked, looking, decided=True))
    rank = len(next(iter(found.shapes), ()))
    axis = looking.shade if looking.shade in range(rank) else telling_axis([found.shapes])
    return picture(result, found, axis)
