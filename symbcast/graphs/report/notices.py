"""Make notices about a model: one for each finding, and one for each node that was not fully analysed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from symbcast.answers.explanation.names import Namer
from symbcast.answers.report.json import sizes
from symbcast.answers.report.outcomes import Kind, Level, Notice, kind_of, lines
from symbcast.core.characters import listed
from symbcast.core.logic.formulas import FALSE
from symbcast.core.verdicts import Verdict
from symbcast.graphs.report.shortening import Shortener

if TYPE_CHECKING:
    from symbcast.graphs.findings.findings import Finding, Share
    from symbcast.graphs.report.answer import GraphAnswer

BROADCAST = Kind("broadcast", "The shapes that a node broadcasts must be compatible.")
UNANALYSED = Kind(
    "unanalysed", "A node's requirements on sizes were not analysed.", "note", together="nodes that were not analysed"
)
UNDECIDED = Kind("undecided", "Whether a model runs for all sizes is not decided.", "note")
_ASKED = "the model runs only when"


def notices_of(report: GraphAnswer) -> Iterator[Notice]:
    """Yield a notice for each finding, and for each node that was not fully analysed; sizes have their aliases."""
    shortener = Shortener(report._checked.aliases)
    for notice in _notices(report, shortener):
        text = shortener.text(notice.text)
        legend = shortener.legend([text])
        yield notice._replace(text=f"{text}\nwhere {', '.join(legend)}" if legend else text)


def _notices(report: GraphAnswer, shortener: Shortener) -> Iterator[Notice]:
    is_never = report.verdict is Verdict.NEVER
    namer = shortener.namer(report._checked.env.shown)
    for finding in report.findings:
        others = [f.node for f in report.findings if f is not finding]
        required = _clash(finding, others) if is_never else _ASKED
        yield notice_of(finding, "error" if is_never else "warning", namer, required)
    for left in report.unanalysed:
        said = left.reason if left.reason.startswith("not checked: ") else f"not analysed: {left.reason}"
        yield Notice(UNANALYSED, UNANALYSED.level, left.node, left.op_type, said)
    if report.verdict is Verdict.UNKNOWN:
        text = f"whether the model runs for all sizes is not decided: {report.reason}"
        yield Notice(UNDECIDED, UNDECIDED.level, "", "", text)


def _clash(finding: Finding, others: Sequence[str]) -> str:
    """Return the text before a node's requirement, for a model that runs at no sizes."""
    if finding.formula == FALSE or not others:
        return "the model runs at no sizes:"
    return f"the model runs at no sizes: together with {listed(others, limit=4)}, this is impossible:"


def notice_of(finding: Finding, level: Level, namer: Namer, required: str = _ASKED) -> Notice:
    """Return the notice of a finding; its text begins with ``required``, and it is only a note if it is about data."""
    if finding.is_about_data:
        required = "data must be such that"
    if finding.formula == FALSE and finding.reason:
        finding = replace(finding, words=finding.reason, reason="")
    said = [*lines(finding, required, [_operand(finding, n, namer) for n in finding.shown])]
    said += [_share(share) for share in finding.together]
    said += [f"from {finding.where}"] * bool(finding.where) + [f"fix: {finding.fix}"] * bool(finding.fix)
    kind = kind_of(finding, BROADCAST, UNDECIDED)
    level = "note" if finding.is_about_data else level
    return Notice(kind, level, finding.node, finding.op_type, "\n".join(said), finding.line)


def _share(share: Share) -> str:
    return f"{share.node} asks {share.text}{f': {share.reason}' if share.reason else ''}"


def _operand(finding: Finding, position: int, namer: Namer) -> str:
    """Format an operand: its name, and its shape or the few integers in it."""
    (name, shape), content = finding.operands[position], finding.contents[position]
    if content is not None:
        return f"{name} = [{_listed(sizes(content, namer))}]"
    if shape is None:
        words = finding.words_of(position)
        return f"{name}, {words}" if words else f"{name} of unknown shape"
    return f"{name} ({_listed(sizes(shape.dims, namer))}{',' if len(shape) == 1 else ''})"


def _listed(sizes: Sequence[int | str]) -> str:
    return ", ".join(map(str, sizes))
