"""One binding worked out axis by axis, as HTML."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from symbcast.display.html.elements import MONO, RULE, cell, code, element, ground, row, scrolling, table, text
from symbcast.display.palette import FINE, IMPOSSIBLE
from symbcast.explaining.alignment import Mark

if TYPE_CHECKING:
    from symbcast.explaining.working import Step, Working

_HEAD = "padding:1px 12px;text-align:left;vertical-align:baseline;white-space:nowrap;opacity:.75"
_PLAIN = f"padding:1px 12px;text-align:left;vertical-align:baseline;{MONO};font-size:.95em"
_CELL = f"{_PLAIN};white-space:pre"
_OUTCOME = f"{_PLAIN};white-space:pre-wrap"
_ABOVE = f"border-top:1px solid {RULE}"


def working_table(working: Working) -> str:
    """Return a row for each axis: the sizes that meet there, a mark, and what comes out or why nothing does."""
    return "".join(_parts(working))


def _parts(working: Working) -> Iterator[str]:
    if working.steps:
        heads = ("axis", *working.operands, "", "output")
        rows = [row(cell(text(h), _HEAD, "th", scope="col") for h in heads), *map(_row, working.steps)]
        yield scrolling(table(rows, "the axes at these sizes", "border-collapse:collapse"))
    if working.shape is None:
        said = working.problem or "the shapes do not broadcast at these sizes"
        yield element("div", f"{_mark(Mark.IMPOSSIBLE)} {text(said)}", "margin:6px 0 0")
    else:
        yield element("div", f"{_mark(Mark.FINE)} output {code(str(working.shape))}", "margin:6px 0 0")


def _row(step: Step) -> str:
    cells = [cell(text(step.axis), f"{_CELL};{_ABOVE}", "th", scope="row")]
    cells += [cell(text(c), f"{_CELL};{_ABOVE}") for c in step.cells]
    outcome = text(step.output or step.reason)
    return row((*cells, cell(_mark(step.mark), f"{_CELL};{_ABOVE}"), cell(outcome, f"{_OUTCOME};{_ABOVE}")))


def _mark(mark: Mark) -> str:
    colour = FINE if mark is Mark.FINE else IMPOSSIBLE
    return element("span", text(mark.value), f"{MONO};padding:0 6px;{ground(colour)}")
