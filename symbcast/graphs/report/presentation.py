"""The answer about a model as a document, as notices and as JSON."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from symbcast.answers.explanation.words import Namer
from symbcast.answers.outcomes import Level, Notice, NoticeKind, kind_of, lines, stopping
from symbcast.answers.program_report import dims_data
from symbcast.answers.show.broadcast import MAY_STILL_FAIL, TONES, open_fields, stated, with_condition
from symbcast.answers.show.document import (
    Block,
    Document,
    Field,
    Fields,
    Line,
    NamedSizes,
    Records,
    Room,
    Shortener,
    Span,
    code,
    conjunction,
    field,
    fields,
    heading,
    render,
    whole,
    words,
)
from symbcast.answers.show.json import account_data, sizes_data
from symbcast.answers.show.program import generic_field
from symbcast.core.algebra.formulas import FALSE, TRUE, all_of
from symbcast.core.characters import prose_list, shorten_end, shorten_middle, sizes_text, visible
from symbcast.core.verdicts import Verdict
from symbcast.graphs.report.answer import GraphAnswer, input_size_names
from symbcast.graphs.report.blame import optional_to_dict, sequence_to_dict
from symbcast.graphs.walking.walk import Unanalysed
from symbcast.operators.values.value import OptionalValue, SequenceValue, is_of_unknown_rank

if TYPE_CHECKING:
    from symbcast.graphs.report.findings import Finding, JointShare


WIDTH = 100
# How many lines a screen has.
LINES = 24
# How many findings a screen shows in full, if there is room.
SHOWN = 3
SHOWN_ON_PAGE = 10
# How many outputs a screen shows.
OUTPUTS = 3
# How many operators are named whose nodes were not checked.
KINDS = 5
# The maximum length of the name of a node or a value in text; longer names lose their middle.
NAME = 44
CONDITION = "condition"
# What the condition of an open answer is: sizes that it allows may still fail.
NECESSARY = "necessary"

_HEADS = ("must hold", "needed by", "operands", "fails at", "fix")
_VALUE_OF = re.compile(r"the value of the input (\w+)")
_CLASHING = ("impossible", "needs", "operands", "fails at", "fix")


def model_document(report: GraphAnswer, room: Room = Room.SCREEN, *, more: tuple[Block, ...] = ()) -> Document:
    """Return the answer about a model, with ``more`` of it at the end; on a screen, with as many findings as fit."""
    shortener = Shortener(report._checked.aliases)
    shown = len(report.findings) if room is Room.WHOLE else SHOWN_ON_PAGE if room is Room.PAGE else SHOWN
    document = _document(report, shown, shortener, is_whole=room is Room.WHOLE)
    while shown > 1 and room is Room.SCREEN and _lines(shortener.document(document)) > LINES:
        shown -= 1
        document = _document(report, shown, shortener)
    return shortener.document(document.replace(blocks=(*document.blocks, *more)))


def _lines(document: Document) -> int:
    """Return how many lines a document has on a screen; a long condition counts as two, so that findings have room."""
    conditions = [
        f
        for block in document.blocks
        if isinstance(block, Fields)
        for f in block.fields
        if f.label in (CONDITION, NECESSARY)
    ]
    condition = render(Document((), None, (Fields(tuple(conditions)),)), WIDTH)
    return render(document, WIDTH).count("\n") + 1 - max(0, condition.count("\n") - 1)


def _document(report: GraphAnswer, shown: int, shortener: Shortener, *, is_whole: bool = False) -> Document:
    namer, never = shortener.namer(report._checked.env.shown), report.verdict is Verdict.NEVER
    findings, more = report.findings[:shown], len(report.findings) - shown
    names = frozenset(input_size_names(report._checked).values()) if report._partial_reason else None
    asking = partial(_requirement_fields, inputs=names)
    rows = [tuple((_clashing if never else asking)(f, n, namer)) for n, f in enumerate(findings)]
    records = Records("what the nodes require", _CLASHING if never else _HEADS, tuple(rows))
    left = field("and", words(f"{more} more; --all, or .findings in Python, lists them" if more > 0 else ""), most=1)
    title = heading(shorten_middle(visible(report.source), 60), model_verdict_words(report))
    known = list(open_fields(report.account, namer)) if report._is_told_open else []
    blocks = records, fields([left, *_closing(report, findings, shortener, is_whole)])
    return Document(title, TONES[report.verdict], (fields(known), *blocks) if known else blocks)


def model_verdict_words(report: GraphAnswer) -> str:
    """Return the verdict in words."""
    match report.verdict:
        case Verdict.ALWAYS:
            data = bool(report.unanalysed) or any(f.is_about_data for f in report.findings)
            sizes = f"all sizes >= {report.min_size}" if report.min_size else "all sizes"
            runs = f"runs for {sizes}" if report._shown else "runs; all of its sizes are fixed"
            return f"{runs}{', with suitable data' if data else ''}"
        case Verdict.SOMETIMES:
            return f"runs only for some sizes{'; open for others' if report._partial_reason else ''}"
        case Verdict.NEVER:
            return "runs for no sizes"
        case Verdict.UNKNOWN | Verdict.OBSERVED:
            account = report.account
            if account.failing or account.needed != TRUE:
                return "open: it fails for some sizes, and whether it runs for any was not decided"
            return "open: whether it runs for all sizes was not decided"


def model_summary(report: GraphAnswer) -> str:
    """Return the answer on one line."""
    text = f"{shorten_middle(report.source, 60)}: {report.verdict.value}"
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


def _requirement_fields(finding: Finding, number: int, namer: Namer, inputs: frozenset[str] | None) -> Iterator[Field]:
    """Yield the fields of a requirement: the first node that has it, its operands, where it fails, and the fix.

    ``inputs`` are the sizes of inputs if some nodes are open, else None.
    """
    label = "runs when" if inputs is None else "must hold"
    yield field("and" if number else label, *stated(finding.formula, namer))
    if finding.together:
        yield field("needed by", *(_share(share, n) for n, share in enumerate(finding.together)))
    else:
        yield field("needed by", _node(finding), words(finding.where), most=3 if finding.where else 2)
    yield from _evidence(finding, namer, inputs)


def _clashing(finding: Finding, number: int, namer: Namer) -> Iterator[Field]:
    """Yield the fields of one of the conflicting nodes and its requirement."""
    yield field("and" if number else "impossible", _node(finding), most=2)
    yield field("needs", *(() if finding.formula == FALSE else stated(finding.formula, namer)))
    yield from _evidence(finding, namer)


def _evidence(finding: Finding, namer: Namer, inputs: frozenset[str] | None = None) -> Iterator[Field]:
    operands = [Span(_operand(finding, n, namer), True) for n in finding.shown]
    line = tuple(span for n, operand in enumerate(operands) for span in ((Span(", "),) * bool(n) + (operand,)))
    yield field("operands" if len(operands) > 1 else "operand", line, most=2)
    yield field("fails at", _failing(finding, inputs), most=1)
    fix = f"{finding.fix}{MAY_STILL_FAIL}" if inputs is not None else finding.fix
    yield field("fix", (Span(fix),) if finding.fix and not finding.is_about_data else ())


def _node(finding: Finding) -> Line:
    """Return the node with the requirement, and the reason for it."""
    more = len(finding.origins) - 1
    also = f" (and {more} more {'node' if more == 1 else 'nodes'})" if more > 0 else ""
    reason = f": {finding.reason}" if finding.reason else ""
    name = shorten_middle(finding.node, NAME)
    whole = finding.node if name != finding.node else ""
    return Span(name, whole=whole), Span(shorten_end(f" ({finding.op_type}){also}{reason}", 300))


def _share(share: JointShare, number: int) -> Line:
    """Return what one of several nodes requires, and the reason."""
    name = shorten_middle(share.node, NAME)
    whole_name = share.node if name != share.node else ""
    spans = (Span(f"{'and ' if number else ''}"), Span(name, whole=whole_name), Span(f" ({share.op_type}): "))
    return (*spans, Span(share.text, True), Span(f" ({share.reason})" if share.reason else ""))


def _operand(finding: Finding, position: int, namer: Namer) -> str:
    """Format an operand: its name, and its shape or the few integers in it."""
    name, shape = finding.operands[position]
    content = finding.contents[position]
    if content is not None:
        listing = ", ".join(map(namer.dim, content))
        return f"{shorten_middle(name, NAME)} = {shorten_end(f'[{listing}]' if shape else listing, 60)}"
    if shape is None:
        words = finding.words_of(position)
        return (
            f"{shorten_middle(name, NAME)}, {shorten_end(words, 80)}"
            if words
            else f"{shorten_middle(name, NAME)} of unknown shape"
        )
    if is_of_unknown_rank(shape.dims):
        return f"{shorten_middle(name, NAME)} of unknown rank"
    return f"{shorten_middle(name, NAME)} {shorten_end(namer.shape(shape), 80)}"


def _failing(finding: Finding, inputs: frozenset[str] | None) -> Line:
    """Return the smallest sizes at which a finding fails, and the operands there.

    Where nodes are open, one of these may stop the run earlier.
    """
    if finding.counterexample is None:
        return ()
    latest = " at the latest" if inputs is not None else ""
    after = (Span(f"{stopping(finding)}{latest}"),) if stopping(finding) else ()
    if not finding.counterexample:
        return (Span(finding.sizes_there, True), *after)
    # What an open node returns may never have the size that the failure supposes.
    supposed = {n: size for n, size in finding.counterexample.items() if inputs is not None and n not in inputs}
    sizes = {n: size for n, size in finding.counterexample.items() if n not in supposed}
    spans = [Span(sizes_text(each, 6), True, math=NamedSizes(each)) for each in (sizes, supposed) if each]
    joint = (Span(" if " if sizes else "if "),) if supposed else ()
    there = (Span(": "), Span(finding.sizes_there, True)) if finding.sizes_there else ()
    return (*spans[:-1], *joint, spans[-1], *there, *after)


# Fields about the whole model.


def _closing(report: GraphAnswer, findings: Sequence[Finding], shortener: Shortener, is_whole: bool) -> Iterator[Field]:
    """Yield the fields after the findings."""
    if report.verdict is not Verdict.NEVER and any(not f.is_about_data for f in report.findings):
        env = report._env
        if not report._left_open and not report._checked.walk.stopped:
            conditions = report._checked.conditions
            yield generic_field(conditions.inputs, shortener.namer(env.shown), is_open=conditions.is_open)
        label = NECESSARY if report.account.is_open else CONDITION
        yield field(label, *conjunction(env.clauses, shortener.namer(env.shown), is_repeated=True))
    yield field("assuming", whole("; ".join(_assumed(report))))
    yield from _of_data(report, findings, is_whole)
    for text in _unanalysed(report):
        yield field("not checked", words(text), most=2)
    # Where it runs for all sizes, effort that ran out on the way left nothing open.
    is_settled = report._is_told_open or report.verdict is Verdict.ALWAYS
    about = "whether each part of the condition is needed: " if report._env.unproven else ""
    yield field("unproven", words("" if is_settled or not report._env.reason else f"{about}{report._env.reason}"))
    witness = report.witness()
    is_shown = report._is_told_open and report.account.is_open
    if witness and not is_shown:
        yield field("works at", code(sizes_text(witness), NamedSizes(witness)), most=1)
    if report.verdict is not Verdict.NEVER:
        yield from _outputs(report, shortener.namer(report._env.shown), is_whole)


def _outputs(report: GraphAnswer, namer: Namer, is_whole: bool) -> Iterator[Field]:
    """Yield the shapes of outputs; of many outputs, those of the first, unless all are wanted."""
    known = [(name, shape) for name, shape in report.outputs.items() if shape is not None]
    shown = known if is_whole or len(known) <= OUTPUTS else known[: OUTPUTS - 1]
    for number, (name, shape) in enumerate(shown):
        label = "" if number else "outputs" if len(known) > 1 else "output"
        text = shorten_end(namer.shape(shape), 120)
        yield field(label, (Span(f"{shorten_middle(visible(name), NAME)} "), Span(text, True)), most=2)
    left = f"and {len(known) - len(shown)} more; --all, or .outputs in Python, has them"
    yield field("", words(left if len(shown) < len(known) else ""), most=1)


def _assumed(report: GraphAnswer) -> list[str]:
    texts = list(report.assumptions)
    if report.min_size and report.verdict is not Verdict.ALWAYS:
        texts.append(f"sizes >= {report.min_size}")
    return [*texts, report._checked.taken] if report._checked.taken else texts


def _of_data(report: GraphAnswer, findings: Sequence[Finding], is_whole: bool) -> Iterator[Field]:
    """Yield the sizes that data decide, if a condition is about them."""
    sizes = {name: text for name, text in report.data_sizes.items() if any(name in f.text for f in findings)}
    for number, (name, text) in enumerate(sizes.items()):
        if number == 2 and not is_whole:
            yield field("", words(f"and {len(sizes) - 2} more; --all, or .data_sizes in Python, lists them"), most=1)
            return
        yield field("" if number else "where", words(f"{shorten_middle(name, NAME)} is {text}"), most=1)
        yield field("", words(_known_value(name, text, findings)), most=1)


def _known_value(name: str, text: str, findings: Sequence[Finding]) -> str:
    """Return how to give the value of an input that data decide, such as one that findings compare it with."""
    match = _VALUE_OF.search(text)
    if match is None:
        return ""
    compared = re.search(rf"(?<!\w){re.escape(name)} [!=]= ([0-9]+)", " ".join(f.text for f in findings))
    value = f"{match[1]}={compared[1] if compared else 1}"
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
        counted = prose_list([*(f"{n} {kind}" for kind, n in kinds[:KINDS]), *more])
        first = f"{shorten_middle(left[0].node, NAME)}: {left[0].reason}"
        yield f"{counted}{', about data' if is_about_data else ''}; first {first}"


# Make notices about a model: one for each finding, and one for each node that was not fully analysed.


BROADCAST = NoticeKind("broadcast", "The shapes that a node broadcasts must be compatible.")
UNANALYSED = NoticeKind(
    "unanalysed", "A node's requirements on sizes were not analysed.", "note", together="nodes that were not analysed"
)
UNDECIDED = NoticeKind("undecided", "Whether a model runs for all sizes is not decided.", "note")
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
    return f"the model runs at no sizes: together with {prose_list(others, limit=4)}, this is impossible:"


def notice_of(finding: Finding, level: Level, namer: Namer, required: str = _ASKED) -> Notice:
    """Return the notice of a finding; its text begins with ``required``, and it is only a note if it is about data."""
    if finding.is_about_data:
        required = "data must be such that"
    if finding.formula == FALSE and finding.reason:
        finding = replace(finding, words=finding.reason, reason="")
    said = [*lines(finding, required, [_operand_line(finding, n, namer) for n in finding.shown])]
    said += [_share_line(share) for share in finding.together]
    said += [f"from {finding.where}"] * bool(finding.where) + [f"fix: {finding.fix}"] * bool(finding.fix)
    kind = kind_of(finding, BROADCAST, UNDECIDED)
    level = "note" if finding.is_about_data else level
    return Notice(kind, level, finding.node, finding.op_type, "\n".join(said), finding.line)


def _share_line(share: JointShare) -> str:
    return f"{share.node} requires {share.text}{f': {share.reason}' if share.reason else ''}"


def _operand_line(finding: Finding, position: int, namer: Namer) -> str:
    """Format an operand: its name, and its shape or the few integers in it."""
    (name, shape), content = finding.operands[position], finding.contents[position]
    if content is not None:
        return f"{name} = [{_listed(dims_data(content, namer))}]"
    if shape is None:
        words = finding.words_of(position)
        return f"{name}, {words}" if words else f"{name} of unknown shape"
    return f"{name} ({_listed(dims_data(shape.dims, namer))}{',' if len(shape) == 1 else ''})"


def _listed(sizes: Sequence[int | str]) -> str:
    return ", ".join(map(str, sizes))


# Export reports as plain data for JSON.


FORMAT = "symbcast.model-report"
# It increases when a key changes its meaning or is removed.
VERSION = 1


def model_report_schema() -> dict[str, Any]:
    """Return the JSON Schema of what `model_report_to_dict` returns."""
    schema: dict[str, Any] = json.loads(Path(__file__).with_name("report.schema.json").read_text("utf-8"))
    return schema


def model_report_to_dict(report: GraphAnswer) -> dict[str, Any]:
    """Return a report as data for `json.dumps`, identical on every run.

    A size is a number, or text that `symbcast.core.text` reads back; an unknown shape is null.
    """
    namer, values = Namer.of(report._checked.env.shown), report._values

    def shapes(values: Any) -> dict[str, list[int | str] | None]:
        return {name: None if shape is None else dims_data(shape.dims, namer) for name, shape in values.items()}

    return {
        "format": FORMAT,
        "version": VERSION,
        "source": report.source,
        "runtime": report.runtime,
        "min_size": report.min_size,
        "assumptions": list(report.assumptions),
        "aliases": report.aliases,
        "verdict": report.verdict.value,
        "reason": report.reason,
        "condition": condition_text(report),
        "witness": sizes_data(report.witness()),
        "counterexample": sizes_data(report.counterexample()),
        "account": account_data(report.account, namer),
        "findings": [_finding_data(f, namer) for f in report.findings],
        "unanalysed": [_unanalysed_data(u) for u in report.unanalysed],
        "data_sizes": report.data_sizes,
        "inputs": shapes(report.inputs),
        "outputs": shapes(report.outputs),
        "shapes": shapes(report.shapes),
        "sequences": {n: sequence_to_dict(v, namer) for n, v in values.items() if isinstance(v, SequenceValue)},
        "optionals": {n: optional_to_dict(v, namer) for n, v in values.items() if isinstance(v, OptionalValue)},
    }


def _share_data(share: JointShare) -> dict[str, str]:
    return {
        "node": share.node,
        "op_type": share.op_type,
        "condition": share.text,
        "words": share.words,
        "reason": share.reason,
    }


def _unanalysed_data(unanalysed: Unanalysed) -> dict[str, Any]:
    names = ("node", "op_type", "reason", "is_about_data")
    return {name: getattr(unanalysed, name) for name in names}


def _finding_data(finding: Finding, namer: Namer) -> dict[str, Any]:
    operands = zip(finding.operands, finding.contents, strict=True)
    return {
        "node": finding.node,
        "op_type": finding.op_type,
        "operands": [
            {
                "name": name,
                "shape": None if shape is None else dims_data(shape.dims, namer),
                "content": None if content is None else dims_data(content, namer),
            }
            for (name, shape), content in operands
        ],
        "shown": list(finding.shown),
        "condition": finding.text,
        "words": finding.words,
        "reason": finding.reason,
        "code": finding.code,
        "counterexample": sizes_data(finding.counterexample),
        "sizes_there": finding.sizes_there,
        "stops_at": finding.stops_at,
        "fix": finding.fix,
        "origins": list(finding.origins),
        "is_about_data": finding.is_about_data,
        **({"where": finding.where} if finding.where else {}),
        **({"together": [_share_data(share) for share in finding.together]} if finding.together else {}),
        **({"baked": [dict(b._asdict(), sizes=list(b.sizes)) for b in finding.baked]} if finding.baked else {}),
    }
