"""The answer about a model as HTML, of the pieces that all answers are made of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from symbcast.display.html.elements import answer, code, element, heading, text
from symbcast.display.html.sections import section_table
from symbcast.display.html.tables import headed_table
from symbcast.explaining.naming import Namer, cut
from symbcast.explaining.sections import Phrase, Section, section, words
from symbcast.explaining.sections import code as said_in_code
from symbcast.onnx.reporting.wording import asked_text, closing, failing_text, operand_text, verdict_words

if TYPE_CHECKING:
    from symbcast.onnx.reporting.findings import Finding
    from symbcast.onnx.reporting.report import ModelReport

SHOWN = 10
"""How many findings have a row."""
LONGEST = 300

_IN_CODE = ("condition", "assuming", "works at")
_HEADS = ("asked by", "must be", "operands", "fails at", "fix")


def page(report: ModelReport) -> str:
    """Return the answer as HTML that can stand within a page."""
    namer = Namer.of(report._checked.env.shown)
    rows = [_row(finding, namer) for finding in report.findings[:SHOWN]]
    asked = headed_table(_HEADS, rows, "what the nodes ask") if rows else ""
    head = heading(cut(report.source, 80), verdict_words(report))
    return answer(report.verdict, head, asked, section_table(list(_sections(report))))


def _sections(report: ModelReport) -> Iterator[Section]:
    more = len(report.findings) - SHOWN
    if more > 0:
        yield section("and", words(f"{more} more; .findings has them all"))
    for label, content, _ in closing(report, report.findings[:SHOWN]):
        if content:
            yield section(label, _line(label, content))


def _line(label: str, content: str) -> Phrase:
    return said_in_code(content) if label in _IN_CODE else words(content)


def _row(finding: Finding, namer: Namer) -> tuple[str, ...]:
    operands = "<br>".join(_code(operand_text(finding, n, namer)) for n in finding.shown)
    return (
        element("span", text(asked_text(finding), LONGEST), title=finding.node),
        text(finding.words, LONGEST),
        operands,
        _code(failing_text(finding)),
        text(finding.fix, LONGEST),
    )


def _code(content: str) -> str:
    return code(content, LONGEST) if content else ""
