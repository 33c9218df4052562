"""The answer about a model as LaTeX."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from symbcast.algebra.latex import text_latex
from symbcast.display.latex.formulas import Typesetter, sizes_latex
from symbcast.display.latex.layout import array, displayed, labelled, row, stacked
from symbcast.explaining.naming import Namer
from symbcast.onnx.reporting.wording import asked_text, closing, headline

if TYPE_CHECKING:
    from symbcast.onnx.reporting.findings import Finding
    from symbcast.onnx.reporting.report import ModelReport

SHOWN = 10
"""How many findings have a row."""
_LONGEST = 100


def report_latex(report: ModelReport) -> str:
    """Return the answer: the verdict, each condition with the node that asks it first, and sizes that work."""
    typesetter = Typesetter(Namer.of(report._checked.env.shown))
    rows = [row((_condition(f, typesetter), text_latex(asked_text(f), _LONGEST))) for f in report.findings[:SHOWN]]
    asked = array("ll", rows) if rows else ""
    return displayed(stacked((text_latex(headline(report)), asked, labelled(_sections(report)))))


def _condition(finding: Finding, typesetter: Typesetter) -> str:
    return "" if finding.formula is None else typesetter.formula(finding.formula)


def _sections(report: ModelReport) -> Iterator[tuple[str, Sequence[str]]]:
    more = len(report.findings) - SHOWN
    if more > 0:
        yield "and", [text_latex(f"{more} more; .findings has them all")]
    for label, content, _ in closing(report, report.findings[:SHOWN]):
        if label == "works at":
            yield label, [sizes_latex(report.witness() or {})]
        elif content and label != "condition":
            yield label, [text_latex(content, _LONGEST)]
