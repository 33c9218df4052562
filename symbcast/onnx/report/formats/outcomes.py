"""What became of the check of one file, as plain data: it goes from process to process, and into every format."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from symbcast.characters import sizes_text

if TYPE_CHECKING:
    from symbcast.show.document import Document
from symbcast.reasons import JOIN, ONTO

Level: TypeAlias = Literal["error", "warning", "note"]

BROADCAST, DISAGREEMENT, UNANALYSED, UNDECIDED = "broadcast", "disagreement", "unanalysed", "undecided"
"""The kinds of notices that are not called after an operator."""
_BROADCAST_CODES = frozenset({JOIN.code, ONTO.code})
"""The codes of reasons that are findings of the kind `BROADCAST`; all others are called after the operator."""


class Problem(NamedTuple):
    """Why a file could not be checked, and what to do."""

    problem: str
    hint: str = ""

    def __str__(self) -> str:
        return f"{self.problem}; {self.hint}" if self.hint else self.problem


class Notice(NamedTuple):
    """Something to be said of a node, or of a whole model where ``node`` is empty."""

    kind: str
    level: Level
    node: str
    op_type: str
    text: str


class Confirmed(NamedTuple):
    """A run in the real runtime, and whether it went as the report says; None where it says nothing."""

    sizes: dict[str, int]
    expected: str
    happened: str
    agrees: bool | None
    reason: str
    text: str


class Outcome(NamedTuple):
    """What became of the check of one file.

    ``verdict`` is empty where it could not be checked at all; ``problem`` says why, or what went wrong afterwards.
    ``names`` are those of its sizes, ``document`` is the report in words and ``data`` the same for JSON; of these only
    what was asked for is there. ``remarks`` are for whoever started the check, and no part of the answer.
    """

    source: str
    verdict: str = ""
    seconds: float = 0.0
    problem: Problem | None = None
    names: tuple[str, ...] = ()
    document: Document | None = None
    data: dict[str, Any] | None = None
    notices: tuple[Notice, ...] = ()
    findings: int = 0
    unanalysed: int = 0
    confirmed: tuple[Confirmed, ...] = ()
    remarks: tuple[str, ...] = ()


def notices_of(report: Mapping[str, Any]) -> Iterator[Notice]:
    """Yield what is to be said of a model, given its report as `ModelReport.to_dict` returns it.

    There is a notice for each finding, and one for each node that was not looked at.
    """
    level: Level = "error" if report["verdict"] == "never" else "warning"
    for finding in report["findings"]:
        said: Level = "note" if finding["is_about_data"] else level
        yield Notice(_kind(finding), said, finding["node"], finding["op_type"], "\n".join(_lines(finding)))
    for left in report["unanalysed"]:
        yield Notice(UNANALYSED, "note", left["node"], left["op_type"], f"not looked at: {left['reason']}")
    if report["verdict"] == "unknown":
        text = f"whether the model runs for all sizes is not decided: {report['reason']}"
        yield Notice(UNDECIDED, "note", "", "", text)


def disagreements(confirmed: Iterable[Confirmed]) -> Iterator[Notice]:
    """Yield a notice for each run in the real runtime that did not go as the report says."""
    for run in confirmed:
        if run.agrees is False:
            yield Notice(DISAGREEMENT, "error", "", "", f"ONNX Runtime {run.text}")


def _kind(finding: Mapping[str, Any]) -> str:
    # Reports that were written before there were codes have none.
    return BROADCAST if finding.get("code", "") in _BROADCAST_CODES else finding["op_type"] or UNDECIDED


def _lines(finding: Mapping[str, Any]) -> Iterator[str]:
    """Yield what must hold, what the node asks, where it fails, and what to do."""
    needs = "data must be such that" if finding["is_about_data"] else "the model runs only when"
    yield f"{needs} {finding['words']}"
    if finding["reason"]:
        yield f"{finding['op_type']} asks: {finding['reason']}"
    shown = [_operand(finding["operands"][n]) for n in finding["shown"]]
    if shown:
        yield f"operands: {', '.join(shown)}"
    if finding["counterexample"]:
        there = f": {finding['sizes_there']}" if finding["sizes_there"] else ""
        yield f"fails at {sizes_text(finding['counterexample'])}{there}"
    if finding["fix"]:
        yield f"fix: {finding['fix']}"


def _operand(operand: Mapping[str, Any]) -> str:
    """Return an operand: its name, and its shape or the few integers in it."""
    if operand["content"] is not None:
        return f"{operand['name']} = [{', '.join(map(str, operand['content']))}]"
    if operand["shape"] is None:
        return f"{operand['name']} of a shape that is not known"
    sizes = ", ".join(map(str, operand["shape"]))
    return f"{operand['name']} ({sizes}{',' if len(operand['shape']) == 1 else ''})"
