"""The answer about one broadcast as a document, as the message of an exception, and on one line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from symbcast.answers.explanation.alignment import Alignment
from symbcast.answers.explanation.evidence import at_evidence, at_sizes, conflict_lines, failure_at
from symbcast.answers.explanation.fixes import fix
from symbcast.answers.explanation.names import Namer, rule_text
from symbcast.answers.explanation.repairs import best_edit
from symbcast.answers.explanation.surprises import outer_products
from symbcast.answers.explanation.words import in_words
from symbcast.answers.show.account import open_fields
from symbcast.answers.show.document import (
    LONGEST,
    NOTHING,
    Dims,
    Document,
    Field,
    Line,
    Lines,
    Room,
    Sizes,
    Span,
    conjunction,
    field,
    fields,
    heading,
    whole,
    words,
)
from symbcast.answers.show.operands import TONES, brief_table, operand_table
from symbcast.core.characters import clipped, cut, sizes_text, visible
from symbcast.core.logic.formulas import all_of
from symbcast.core.verdicts import Verdict

if TYPE_CHECKING:
    from symbcast.core.logic.formulas import Formula
    from symbcast.core.program.calls.call import Call
    from symbcast.core.program.whole.program import Program

CLAUSES_SHOWN = 8
ONE_LINE = 200
CELLS_WIDTH = {Room.SCREEN: 84, Room.PAGE: 400}
"""How many characters the cells of a row have together: a page's table scrolls."""


def document(result: Call, room: Room = Room.SCREEN) -> Document:
    """Return the answer: the operands aligned, the condition, an example, and a fix.

    >>> from symbcast.answers.public.result import broadcast, call_of
    >>> from symbcast.answers.show.text import render
    >>> print(render(document(call_of(broadcast("N, 3", "M, 1")))))
    numpy: valid for some sizes
    <BLANKLINE>
      axis                    0   1
      from end               -2  -1
      A                       N   3
      B                       M   1
      output    broadcast(M, N)   3
                              ?  ok    ok fine, ? depends on the sizes
    <BLANKLINE>
    valid when   N and M are equal, or one of them is 1
                 N == M or N == 1 or M == 1
    fails at     N=2, M=3: axis 0 (-2) would be 2 beside 3 (sizes must be equal or 1)
    works at     N=1, M=1: output (1, 3)
    fix          assume "N == M" if that is known
    """
    under = " under the assumptions" if result.assumptions else ""
    title = heading(rule_text(result.rule), f"{verdict_words(result)}{under}")
    aligned = Alignment(result)
    return Document(title, TONES[result.verdict], (operand_table(aligned, CELLS_WIDTH[room]), fields(_fields(aligned))))


def verdict_words(result: Call) -> str:
    """Return the verdict in words: for a concrete result it is valid or not."""
    if not result.shown:
        return "valid" if result.verdict is Verdict.ALWAYS else "not valid"
    return VERDICTS[result.verdict]


VERDICTS = {
    Verdict.ALWAYS: "valid for all sizes",
    Verdict.SOMETIMES: "valid for some sizes",
    Verdict.NEVER: "valid for no sizes",
    Verdict.UNKNOWN: "open, not decided for all sizes",
}


def _fields(aligned: Alignment) -> Iterator[Field]:
    yield from answer_fields(aligned)
    yield field("surprise", *(words(s.text) for s in outer_products(aligned)))
    yield field("fix", words(_fix(aligned)))


def _fix(aligned: Alignment) -> str:
    """Return the suggested change: the surely intended edit of an operand, else one that makes the shapes broadcast."""
    edit = best_edit(aligned)
    if edit is not None:
        change, code = edit
        return f"{change.text}: {code['numpy']}"
    found = fix(aligned)
    return found.text if found is not None else ""


def answer_fields(aligned: Alignment) -> Iterator[Field]:
    """Yield the answer's content, without a fix: the condition, assumptions, open questions, and evidence."""
    result = aligned.result
    never, witness, counterexample = result.verdict is Verdict.NEVER, result.witness(), result.counterexample()
    if not result.is_plain:
        yield from open_fields(result.account, aligned.namer)
    yield field("valid when", *_condition(aligned))
    if not result.is_plain:
        yield field("assuming", whole(_assumed(result)))
        yield field("unproven", words(_unproven(result)))
    if never:
        yield field("impossible", *map(words, conflict_lines(aligned)))
    elif counterexample:
        yield field("fails at", _failing(aligned, counterexample))
    if witness:
        yield field("works at", _working(result, witness))
    if not result.is_plain:
        yield field("evidence", words(evidence_text(result, bool(witness or counterexample))))


def evidence_text(answer: Call | Program, is_found: bool) -> str:
    """Return a note if sizes are the smallest found but perhaps not the smallest; else empty."""
    return f"the smallest found: {answer.evidence_reason}" if is_found and answer.evidence_reason else ""


def _condition(aligned: Alignment) -> Iterator[Line]:
    """Yield each clause in words, and all of them as a formula."""
    clauses, namer = _left(aligned.result), aligned.namer
    if not clauses:
        return
    texts = [in_words(c, namer) for c in clauses[:CLAUSES_SHOWN]]
    if all(len(text) <= LONGEST for text in texts):  # longer words are harder to follow than the formula below them
        texts = [f"{'and ' if n else ''}{t}" for n, t in enumerate(texts)]
        if len(clauses) > CLAUSES_SHOWN:
            texts.append(f"and {len(clauses) - CLAUSES_SHOWN} more, all of them below")
        yield from ((Span(text, math=NOTHING),) for text in texts)
    yield from conjunction(clauses, namer)


def _left(result: Call) -> tuple[Formula, ...]:
    """Return the clauses of the condition if it is neither true nor false."""
    return result.clauses if result.verdict in (Verdict.SOMETIMES, Verdict.UNKNOWN) else ()


def _assumed(result: Call) -> str:
    texts = [visible(a.text) for a in result.assumptions]
    if result.min_size:
        texts.append(f"every size is at least {result.min_size}")
    return "; ".join(texts)


def _unproven(result: Call) -> str:
    if result.verdict is Verdict.UNKNOWN or not result.reason:
        return ""
    return f"that no part of the condition follows from the rest: {result.reason}"


def _failing(aligned: Alignment, sizes: Mapping[str, int]) -> Line:
    return Span(sizes_text(sizes), True, math=Sizes(sizes)), Span(f": {failure_at(aligned, sizes)}")


def _working(result: Call, sizes: Mapping[str, int]) -> Line:
    concrete = at_evidence(result, sizes)
    if concrete is None or concrete.shape is None:
        return ()
    shape = concrete.shape
    output = Span(cut(str(tuple(shape)), 80), True, math=Dims(shape.dims))
    return Span(sizes_text(sizes), True, math=Sizes(sizes)), Span(": output "), output


def headline(result: Call, binding: Mapping[str, int] | None = None) -> Document:
    """Return the answer in the few lines of an exception's message; with ``binding``, why it fails at those sizes."""
    concrete = at_sizes(result, binding) if binding else None
    aligned = Alignment(result)
    table = brief_table(aligned if concrete is None else Alignment(concrete), 4)
    lines = Lines(tuple(words(text) for text in _headlines(aligned, binding) if text))
    return Document(words(_head(result, binding)), TONES[result.verdict], (table, lines))


def _headlines(aligned: Alignment, binding: Mapping[str, int] | None) -> Iterator[str]:
    result = aligned.result
    if binding:
        yield failure_at(aligned, binding, 3)
    elif result.verdict is Verdict.NEVER:
        yield from conflict_lines(aligned, 3)
    condition = _formula(result, aligned.namer)
    yield f"valid when {condition}" if condition else ""
    yield f"open: {result.reason}" if result.reason else ""
    counterexample = result.counterexample()
    if not binding and result.verdict is Verdict.SOMETIMES and counterexample:
        yield f"fails at {sizes_text(counterexample)}: {failure_at(aligned, counterexample)}"
    change = _fix(aligned)
    yield f"fix: {change}" if change else ""


def _head(result: Call, binding: Mapping[str, int] | None) -> str:
    rule = rule_text(result.rule)
    if binding:
        return f"{rule} cannot broadcast these shapes at {sizes_text(binding)}"
    match result.verdict:
        case Verdict.NEVER if result.shown:
            return f"{rule} cannot broadcast these shapes at any sizes"
        case Verdict.NEVER:
            return f"{rule} cannot broadcast these shapes"
        case Verdict.SOMETIMES:
            return f"{rule} can broadcast these shapes only at some sizes"
        case Verdict.UNKNOWN:
            return f"{rule}: whether these shapes broadcast was not decided"
    return f"{rule} can broadcast these shapes"


def _formula(result: Call, namer: Namer) -> str:
    clauses = _left(result)
    return namer.formula(all_of(clauses)) if clauses else ""


def with_condition(text: str, condition: str, clauses: int) -> str:
    """Return text with a condition behind it, or with the number of its clauses if it does not fit on one line.

    >>> with_condition("numpy: sometimes", "N == 1", 1), with_condition("numpy: sometimes", "N" * 200, 3)
    ('numpy: sometimes if N == 1', 'numpy: sometimes if 3 clauses hold')
    """
    found = f"{text} if {condition}"
    return found if len(found) <= ONE_LINE else f"{text} if {clauses} clause{' holds' if clauses == 1 else 's hold'}"


def summary(result: Call) -> str:
    """Return the answer on one line of at most `ONE_LINE` characters.

    >>> from symbcast.answers.public.result import broadcast, call_of
    >>> summary(call_of(broadcast("N", "3")))
    'numpy: sometimes (3,) if N == 1 or N == 3'
    """
    verdict, namer = result.verdict, Namer(result)
    text = f"{rule_text(result.rule)}: {verdict.value}"
    if result.shape is not None:
        text = f"{text} {clipped(namer.shape(result.shape), 70)}"
    condition = _formula(result, namer)
    if condition:
        text = with_condition(text, condition, len(_left(result)))
    if verdict is Verdict.UNKNOWN:
        text = f"{text} ({result.reason})"
    if verdict is Verdict.NEVER:
        text = f"{text} {' and '.join(clipped(namer.shape(s), 60) for s in result.operands[:4])}"
    return clipped(visible(text), ONE_LINE)
