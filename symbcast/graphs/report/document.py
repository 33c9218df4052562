"""Show the answer about a model as a document: requirements with their nodes, failures and fixes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from symbcast.answers.explanation.names import Namer
from symbcast.answers.report.outcomes import stopping
from symbcast.answers.show.account import open_fields
from symbcast.answers.show.call import with_condition
from symbcast.answers.show.document import (
    Block,
    Conjunction,
    Document,
    Field,
    Fields,
    Line,
    Records,
    Room,
    Sizes,
    Span,
    code,
    conjunction,
    field,
    fields,
    heading,
    said,
    whole,
    words,
)
from symbcast.answers.show.generic import generic_field
from symbcast.answers.show.operands import TONES
from symbcast.answers.show.text import render
from symbcast.core.characters import clipped, cut, listed, sizes_text, visible
from symbcast.core.logic.formulas import FALSE, all_of
from symbcast.core.verdicts import Verdict
from symbcast.graphs.report.shortening import Shortener
from symbcast.graphs.values.value import is_of_unknown_rank

if TYPE_CHECKING:
    from symbcast.graphs.findings.findings import Finding, Share
    from symbcast.graphs.report.answer import GraphAnswer

WIDTH = 100
LINES = 24
"""How many lines a screen has."""
SHOWN = 3
"""How many findings a screen shows in full, if there is room."""
SHOWN_ON_PAGE = 10
KINDS = 5
"""How many operators are named whose nodes were not checked."""
NAME = 44
"""The maximum length of the name of a node or a value in text; longer names lose their middle."""
CONDITION = "condition"

_HEADS = ("must hold", "asked by", "operands", "fails at", "fix")
_VALUE_OF = re.compile(r"the value of the input (\w+)")
_CLASHING = ("impossible", "which asks", "operands", "fails at", "fix")


def document(report: GraphAnswer, room: Room = Room.SCREEN, more: tuple[Block, ...] = ()) -> Document:
    """Return the answer about a model, with ``more`` of it at the end; on a screen, with as many findings as fit."""
    shortener = Shortener(report._checked.aliases)
    shown = SHOWN_ON_PAGE if room is Room.PAGE else SHOWN
    made = _document(report, shown, shortener)
    while shown > 1 and room is Room.SCREEN and _lines(shortener.document(made)) > LINES:
        shown -= 1
        made = _document(report, shown, shortener)
    return shortener.document(made.replace(blocks=(*made.blocks, *more)))


def _lines(document: Document) -> int:
    """Return how many lines a document has on a screen; a long condition counts as two, so that findings have room."""
    found = [f for block in document.blocks if isinstance(block, Fields) for f in block.fields if f.label == CONDITION]
    condition = render(Document((), None, (Fields(tuple(found)),)), WIDTH)
    return render(document, WIDTH).count("\n") + 1 - max(0, condition.count("\n") - 1)


def _document(report: GraphAnswer, shown: int, shortener: Shortener) -> Document:
    namer, never = shortener.namer(report._checked.env.shown), report.verdict is Verdict.NEVER
    findings, more = report.findings[:shown], len(report.findings) - shown
    asking = partial(_asking, is_open=bool(report._partial_reason))
    rows = [tuple((_clashing if never else asking)(f, n, namer)) for n, f in enumerate(findings)]
    records = Records("what the nodes ask", _CLASHING if never else _HEADS, tuple(rows))
    left = field(
        "and", words(f"{more} more; --format json, or .findings in Python, lists them all" if more > 0 else ""), most=1
    )
    title = heading(cut(visible(report.source), 60), verdict_words(report))
    known = list(open_fields(report.account, namer)) if report._is_told_open else []
    blocks = records, fields([left, *_closing(report, findings, shortener)])
    return Document(title, TONES[report.verdict], (fields(known), *blocks) if known else blocks)


def verdict_words(report: GraphAnswer) -> str:
    """Return the verdict in words."""
    match report.verdict:
        case Verdict.ALWAYS:
            data = bool(report.unanalysed) or any(f.is_about_data for f in report.findings)
            sizes = f"all sizes from {report.min_size} on" if report.min_size else "all sizes"
            runs = f"runs for {sizes}" if report._shown else "runs; all of its sizes are fixed"
            return f"{runs}{', with suitable data' if data else ''}"
        case Verdict.SOMETIMES:
            return f"runs only for some sizes{'; open for others' if report._partial_reason else ''}"
        case Verdict.NEVER:
            return "runs for no sizes"
        case Verdict.UNKNOWN:
            return "open: whether it runs for all sizes was not decided"


def summary(report: GraphAnswer) -> str:
    """Return the answer on one line."""
    text = f"{cut(report.source, 60)}: {report.verdict.value}"
    count = report._left_open
    if report.verdict is Verdict.SOMETIMES:
        condition = Shortener(report._checked.aliases).text(condition_text(report))
        text = with_condition(text, condition, len(report._env.clauses))
    if count:
        text = f"{text}; {count} {'node' if count == 1 else 'nodes'} not analysed"
    return visible(text)


def condition_text(report: GraphAnswer) -> str:
    """Return the condition as text that can be parsed again."""
    env = report._env
    if env.verdict is Verdict.NEVER:
        return "False"
    return Namer.of(env.shown).formula(all_of(env.clauses)) if env.clauses else "True"


# A finding.


def _asking(finding: Finding, number: int, namer: Namer, is_open: bool) -> Iterator[Field]:
    """Yield the fields of a requirement: the first node that has it, its operands, where it fails, and the fix."""
    label = "must hold" if is_open else "runs when"
    yield field("and" if number else label, _said(finding, namer))
    if finding.together:
        yield field("asked by", *(_share(share, n) for n, share in enumerate(finding.together)))
    else:
        yield field("asked by", _node(finding), words(finding.where), most=3 if finding.where else 2)
    yield from _evidence(finding, namer, is_open)


def _clashing(finding: Finding, number: int, namer: Namer) -> Iterator[Field]:
    """Yield the fields of one of the conflicting nodes and its requirement."""
    yield field("and" if number else "impossible", _node(finding), most=2)
    asks = () if finding.formula == FALSE else _said(finding, namer)
    yield field("which asks", asks, lead="that ")
    yield from _evidence(finding, namer)


def _evidence(finding: Finding, namer: Namer, is_open: bool = False) -> Iterator[Field]:
    operands = [Span(_operand(finding, n, namer), True) for n in finding.shown]
    line = tuple(span for n, operand in enumerate(operands) for span in ((Span(", "),) * bool(n) + (operand,)))
    yield field("operands" if len(operands) > 1 else "operand", line, most=2)
    yield field("fails at", _failing(finding, is_open), most=1)
    yield field("fix", (Span(finding.fix),) if finding.fix and not finding.is_about_data else ())


def _said(finding: Finding, namer: Namer) -> Line:
    return said(finding.words, namer.formula(finding.formula), Conjunction((namer.renamed_formula(finding.formula),)))


def _node(finding: Finding) -> Line:
    """Return the node with the requirement, and the reason for it."""
    more = len(finding.origins) - 1
    also = f" (and {more} more {'node' if more == 1 else 'nodes'})" if more > 0 else ""
    reason = f": {finding.reason}" if finding.reason else ""
    name = cut(finding.node, NAME)
    whole = finding.node if name != finding.node else ""
    return Span(name, whole=whole), Span(clipped(f" ({finding.op_type}){also}{reason}", 300))


def _share(share: Share, number: int) -> Line:
    """Return what one of several nodes requires, and the reason."""
    name = cut(share.node, NAME)
    whole_name = share.node if name != share.node else ""
    asked = (Span(f"{'and ' if number else ''}"), Span(name, whole=whole_name), Span(f" ({share.op_type}), that "))
    return (*asked, Span(share.text, True), Span(f": {share.reason}" if share.reason else ""))


def _operand(finding: Finding, position: int, namer: Namer) -> str:
    """Format an operand: its name, and its shape or the few integers in it."""
    name, shape = finding.operands[position]
    content = finding.contents[position]
    if content is not None:
        listing = ", ".join(map(namer.dim, content))
        return f"{cut(name, NAME)} = {clipped(f'[{listing}]' if shape else listing, 60)}"
    if shape is None:
        words = finding.words_of(position)
        return f"{cut(name, NAME)}, {clipped(words, 80)}" if words else f"{cut(name, NAME)} of unknown shape"
    if is_of_unknown_rank(shape.dims):
        return f"{cut(name, NAME)} of unknown rank"
    return f"{cut(name, NAME)} {clipped(namer.shape(shape), 80)}"


def _failing(finding: Finding, is_open: bool) -> Line:
    """Return the smallest sizes at which a finding fails, and the operands there.

    Where nodes are open, one of these may stop the run earlier.
    """
    if finding.counterexample is None:
        return ()
    latest = " at the latest" if is_open else ""
    after = (Span(f"{stopping(finding)}{latest}"),) if stopping(finding) else ()
    if not finding.counterexample:
        return (Span(finding.sizes_there, True), *after)
    sizes = Span(sizes_text(finding.counterexample, 6), True, math=Sizes(finding.counterexample))
    there = (Span(": "), Span(finding.sizes_there, True)) if finding.sizes_there else ()
    return (sizes, *there, *after)


# Fields about the whole model.


def _closing(report: GraphAnswer, findings: Sequence[Finding], shortener: Shortener) -> Iterator[Field]:
    """Yield the fields after the findings."""
    if report.verdict is not Verdict.NEVER and any(not f.is_about_data for f in report.findings):
        env = report._env
        if not report._left_open and not report._checked.walk.stopped:
            found = report._checked.conditions
            yield generic_field(found.inputs, shortener.namer(env.shown), is_open=found.is_open)
        yield field(CONDITION, *conjunction(env.clauses, shortener.namer(env.shown), is_repeated=True))
    yield field("assuming", whole("; ".join(_assumed(report))))
    yield from _of_data(report, findings)
    for text in _unanalysed(report):
        yield field("not checked", words(text), most=2)
    yield field("unproven", words("" if report._is_told_open else report._env.reason), most=2)
    witness = report.witness()
    is_shown = report._is_told_open and report.account.is_open
    if witness and not is_shown:
        yield field("works at", code(sizes_text(witness), Sizes(witness)), most=1)


def _assumed(report: GraphAnswer) -> list[str]:
    found = list(report.assumptions)
    if report.min_size and report.verdict is not Verdict.ALWAYS:
        found.append(f"sizes from {report.min_size} on")
    return [*found, report._checked.taken] if report._checked.taken else found


def _of_data(report: GraphAnswer, findings: Sequence[Finding]) -> Iterator[Field]:
    """Yield the sizes that data decide, if a condition is about them."""
    sizes = {name: text for name, text in report.data_sizes.items() if any(name in f.text for f in findings)}
    for number, (name, text) in enumerate(sizes.items()):
        if number == 2:
            yield field(
                "", words(f"and {len(sizes) - 2} more; --format json, or .data_sizes in Python, lists them all"), most=1
            )
            return
        yield field("" if number else "where", words(f"{cut(name, NAME)} is {text}"), most=1)
        yield field("", words(_known_value(name, text, findings)), most=1)


def _known_value(name: str, text: str, findings: Sequence[Finding]) -> str:
    """Return how to give the value of an input that data decide, such as one that findings compare it with."""
    found = _VALUE_OF.search(text)
    if found is None:
        return ""
    compared = re.search(rf"(?<!\w){re.escape(name)} [!=]= ([0-9]+)", " ".join(f.text for f in findings))
    value = f"{found[1]}={compared[1] if compared else 1}"
    return f"if its value is known: --values {value}, or values= in Python"


def _unanalysed(report: GraphAnswer) -> Iterator[str]:
    """Yield texts about unchecked nodes, sizes first and then data: counts by operator, and the first reason."""
    for is_about_data in (True,) if report._is_told_open else (False, True):
        left = [u for u in report.unanalysed if u.is_about_data is is_about_data]
        nodes = {u.node: u.op_type for u in left}
        if not nodes:
            continue
        kinds = Counter(nodes.values()).most_common()
        more = [f"{len(kinds) - KINDS} more kinds"] if len(kinds) > KINDS else []
        counted = listed([*(f"{n} {kind}" for kind, n in kinds[:KINDS]), *more])
        first = f"{cut(left[0].node, NAME)}: {left[0].reason}"
        yield f"{counted}{', about data' if is_about_data else ''}; first {first}"
