"""The labelled parts of an answer as a table of two columns."""

from __future__ import annotations

from collections.abc import Sequence

from symbcast.display.html.elements import cell, code, row, table, text
from symbcast.explaining.sections import Phrase, Section

_LABEL = "padding:2px 16px 2px 0;text-align:left;vertical-align:top;white-space:nowrap;opacity:.75"
_BODY = "padding:2px 0;text-align:left;vertical-align:top;white-space:normal;overflow-wrap:anywhere"


def section_table(sections: Sequence[Section], label: str = "the answer") -> str:
    """Return sections as a table; nothing where there are none."""
    if not sections:
        return ""
    return table(map(_row, sections), label, "border-collapse:collapse;max-width:100%")


def phrase(line: Phrase) -> str:
    """Return a line as HTML."""
    return "".join(code(span.text) if span.is_code else text(span.text) for span in line)


def _row(section: Section) -> str:
    body = "<br>".join(map(phrase, section.lines))
    return row((cell(text(section.label), _LABEL, "th", scope="row"), cell(body, _BODY)))
