"""The answer about a model in words, on one screen: what it asks, which node asks it, where it fails, what to do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from textwrap import wrap
from typing import TYPE_CHECKING

from symbcast.characters import clipped, visible
from symbcast.explaining.naming import Namer, cut, listed, sizes_text
from symbcast.formulas import FALSE
from symbcast.verdicts import Verdict

if TYPE_CHECKING:
    from symbcast.onnx.reporting.findings import Finding
    from symbcast.onnx.reporting.report import ModelReport

LABEL = 13
WIDTH = 100
LINES = 24
"""How many lines a screen has."""
SHOWN = 3
"""How many findings are told at length, where there is room."""
KINDS = 5
"""How many operators are named of which nodes were not looked at."""
NAME = 44
"""How long the name of a node or a value may be in text; longer ones lose their middle."""
SUMMARY = 200

Section = tuple[str, str, int]
"""A label, a text, and on how many lines it may run on."""


def explanation(report: ModelReport) -> str:
    """Return the answer about a model in words."""
    for shown in range(SHOWN, 0, -1):
        lines = [headline(report), "", *_lines(_sections(report, shown))]
        if len(lines) <= LINES:
            break
    return "\n".join(lines)


def headline(report: ModelReport) -> str:
    """Return what the model is called and whether it runs, on a line."""
    return f"{cut(visible(report.source), 60)}: {verdict_words(report)}"


def verdict_words(report: ModelReport) -> str:
    """Return the verdict in words."""
    match report.verdict:
        case Verdict.ALWAYS:
            data = bool(report.unanalysed) or any(f.is_about_data for f in report.findings)
            sizes = f"all sizes from {report.min_size} on" if report.min_size else "all sizes"
            return f"runs for {sizes}{', with data that suit' if data else ''}"
        case Verdict.SOMETIMES:
            left = ", as far as was looked at" if report._left_open else ""
            return f"runs for some sizes only{left}"
        case Verdict.NEVER:
            return "runs for no sizes"
        case Verdict.UNKNOWN:
            return "whether it runs for all sizes was not decided"


def summary(report: ModelReport) -> str:
    """Return the answer on one line."""
    text = f"{cut(report.source, 60)}: {report.verdict.value}"
    count = report._left_open
    if report.verdict is Verdict.SOMETIMES:
        text = f"{text} if {condition_text(report)}"
    if count:
        text = f"{clipped(text, SUMMARY - 40)}; {count} {'node' if count == 1 else 'nodes'} not looked at"
    return clipped(visible(text), SUMMARY)


def condition_text(report: ModelReport) -> str:
    """Return the condition as text that parses back."""
    from symbcast.formulas import all_of

    env = report._env
    if env.verdict is Verdict.NEVER:
        return "False"
    return Namer.of(env.shown).formula(all_of(env.clauses)) if env.clauses else "True"


def unanalysed_texts(report: ModelReport) -> Iterator[str]:
    """Yield what was not looked at of sizes, and of data: how many nodes, of which operators, and why the first."""
    for is_about_data in (False, True):
        left = [u for u in report.unanalysed if u.is_about_data is is_about_data]
        nodes = {u.node: u.op_type for u in left}
        if not nodes:
            continue
        kinds = Counter(nodes.values()).most_common()
        more = [f"{len(kinds) - KINDS} more kinds"] if len(kinds) > KINDS else []
        counted = listed([*(f"{n} {kind}" for kind, n in kinds[:KINDS]), *more])
        first = f"{cut(left[0].node, NAME)}: {left[0].reason}"
        yield f"{counted}{', about data' if is_about_data else ''}; first {first}"


def operand_text(finding: Finding, position: int, namer: Namer) -> str:
    """Return an operand: its name, and its shape or the few integers in it."""
    name, shape = finding.operands[position]
    content = finding.contents[position]
    if content is not None:
        listing = ", ".join(map(namer.dim, content))
        return f"{cut(name, NAME)} = {clipped(f'[{listing}]' if shape else listing, 60)}"
    return f"{cut(name, NAME)} {'of a shape that is not known' if shape is None else clipped(namer.shape(shape), 80)}"


def asked_text(finding: Finding) -> str:
    """Return which node asks, and why."""
    more = len(finding.origins) - 1
    also = f" (and {more} more {'node' if more == 1 else 'nodes'})" if more > 0 else ""
    reason = f": {finding.reason}" if finding.reason else ""
    return f"{cut(finding.node, NAME)} ({finding.op_type}){also}{reason}"


def failing_text(finding: Finding) -> str:
    """Return the smallest sizes at which a finding fails, and the operands there."""
    if finding.counterexample is None:
        return ""
    there = f": {finding.sizes_there}" if finding.sizes_there else ""
    return f"{sizes_text(finding.counterexample, 6)}{there}"


def _sections(report: ModelReport, shown: int) -> Iterator[Section]:
    namer = Namer.of(report._env.shown)
    findings = report.findings
    never = report.verdict is Verdict.NEVER
    for number, finding in enumerate(findings[:shown]):
        yield from _of_finding(finding, namer, number, never)
    if len(findings) > shown:
        yield "and", f"{len(findings) - shown} more; .findings has them all", 1
    yield from closing(report, findings[:shown])


def closing(report: ModelReport, findings: Sequence[Finding]) -> Iterator[Section]:
    """Yield what is said after the findings that are shown."""
    if report.verdict is not Verdict.NEVER and any(not f.is_about_data for f in report.findings):
        yield "condition", condition_text(report), 2
    yield "assuming", clipped("; ".join(_assumed(report)), 160), 2
    yield from _of_data(report, findings)
    for text in unanalysed_texts(report):
        yield "not checked", text, 2
    if report._env.reason:
        yield "undecided" if report.verdict is Verdict.UNKNOWN else "unproven", report._env.reason, 2
    witness = report.witness()
    if witness:
        yield "works at", sizes_text(witness), 1


def _of_finding(finding: Finding, namer: Namer, number: int, never: bool) -> Iterator[Section]:
    if never:
        yield "and" if number else "impossible", asked_text(finding), 2
        yield "which asks", "" if finding.formula == FALSE else f"that {finding.words}", 2
    else:
        if finding.is_about_data:
            yield "and data" if number else "data must", f"be such that {finding.words}", 2
        else:
            yield "and" if number else "runs when", finding.words, 2
        yield "asked by", asked_text(finding), 2
    operands = [operand_text(finding, n, namer) for n in finding.shown]
    yield "operands" if len(operands) > 1 else "operand", ", ".join(operands), 2
    yield "fails at", failing_text(finding), 1
    yield "fix", "" if finding.is_about_data else finding.fix, 2


def _assumed(report: ModelReport) -> list[str]:
    found = list(report.assumptions)
    if report.min_size and report.verdict is not Verdict.ALWAYS:
        found.append(f"sizes from {report.min_size} on")
    if report.runtime == "onnxruntime":
        found.append("what ONNX Runtime does, where that is not what the documents say")
    return found


def _of_data(report: ModelReport, findings: Sequence[Finding]) -> Iterator[Section]:
    """Yield the sizes that data decide, where a condition is about them."""
    told = {name: text for name, text in report.data_sizes.items() if any(name in f.text for f in findings)}
    for number, (name, text) in enumerate(told.items()):
        if number == 2:
            yield "", f"and {len(told) - 2} more; .data_sizes has them all", 1
            return
        yield "" if number else "data decide", f"{cut(name, NAME)}: {text}", 1


def _lines(sections: Iterator[Section]) -> Iterator[str]:
    room = WIDTH - LABEL
    for label, text, most in sections:
        if not text:
            continue
        parts = wrap(visible(text), room, break_on_hyphens=False) or [""]
        if len(parts) > most:
            parts = [*parts[: most - 1], clipped(" ".join(parts[most - 1 :]), room)]
        for number, part in enumerate(parts):
            yield f"{'' if number else label:<{LABEL}}{part}".rstrip()
