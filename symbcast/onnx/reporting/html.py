"""The answer about a model as static HTML: no script, no style sheet, colours that suit a light page and a dark one."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING

from symbcast.explaining.naming import Namer, clipped, cut, sizes_text
from symbcast.onnx.reporting.wording import (
    asked_text,
    condition_text,
    failing_text,
    operand_text,
    unanalysed_texts,
    verdict_words,
)
from symbcast.verdicts import Verdict

if TYPE_CHECKING:
    from symbcast.onnx.reporting.findings import Finding
    from symbcast.onnx.reporting.report import ModelReport

SHOWN = 10
"""How many findings have a row."""
LONGEST = 300

_EDGES = {
    Verdict.ALWAYS: "#2e9e5b",
    Verdict.SOMETIMES: "#c98a1b",
    Verdict.NEVER: "#d0493f",
    Verdict.UNKNOWN: "#7f7f7f",
}
_CELL = "padding:4px 10px 4px 0;text-align:left;vertical-align:top;border-top:1px solid rgba(127,127,127,.35)"
_CODE = "font-family:ui-monospace,monospace;font-size:.95em;overflow-wrap:anywhere"


def page(report: ModelReport) -> str:
    """Return the answer as HTML that can stand within a page."""
    edge = _EDGES[report.verdict]
    parts = [
        f'<div style="border-left:4px solid {edge};padding:2px 0 2px 12px;line-height:1.45">',
        f"<div><strong>{_text(cut(report.source, 80))}</strong>: {_text(verdict_words(report))}</div>",
        *(f"<div>{_text(label)} {body}</div>" for label, body in _lines(report)),
        *_table(report),
        "</div>",
    ]
    return "".join(parts)


def _lines(report: ModelReport) -> Iterable[tuple[str, str]]:
    if report.verdict is not Verdict.NEVER and any(not f.is_about_data for f in report.findings):
        yield "runs when", _code(condition_text(report))
    if report.assumptions:
        yield "assuming", _code("; ".join(report.assumptions))
    for text in unanalysed_texts(report):
        yield "not checked:", _text(text)
    witness = report.witness()
    if witness:
        yield "works at", _code(sizes_text(witness))


def _table(report: ModelReport) -> Iterable[str]:
    findings = report.findings
    if not findings:
        return
    namer = Namer.of(report._checked.env.names)
    yield '<table style="border-collapse:collapse;margin-top:6px;background:transparent;color:inherit">'
    heads = ("asked by", "must be", "operands", "fails at", "fix")
    yield _tr("th", heads)
    for finding in findings[:SHOWN]:
        yield _tr("td", _row(finding, namer))
    yield "</table>"
    if len(findings) > SHOWN:
        yield f"<div>and {len(findings) - SHOWN} more</div>"


def _tr(kind: str, cells: Iterable[str]) -> str:
    made = (f'<{kind} style="{_CELL}">{cell}</{kind}>' for cell in cells)
    return f"<tr>{''.join(made)}</tr>"


def _row(finding: Finding, namer: Namer) -> Iterable[str]:
    operands = "<br>".join(_code(operand_text(finding, n, namer)) for n in finding.shown)
    return (
        f'<span title="{_text(finding.node)}">{_text(asked_text(finding))}</span>',
        _text(finding.words),
        operands,
        _code(failing_text(finding)),
        _text(finding.fix),
    )


def _text(text: str) -> str:
    return escape(clipped(text, LONGEST))


def _code(text: str) -> str:
    return f'<code style="{_CODE};background:transparent;color:inherit">{_text(text)}</code>'
