"""Repairs as a document: each with the answer that it gives and its code."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, TypedDict

from symbcast.answers.explanation.alignment import Alignment
from symbcast.answers.explanation.names import Namer, rule_text
from symbcast.answers.explanation.surprises import surprises
from symbcast.answers.show.call import verdict_words
from symbcast.answers.show.document import Dims, Document, Field, Line, Span, code, field, fields, heading, whole, words
from symbcast.answers.show.operands import TONES, operand_table
from symbcast.core.characters import clipped
from symbcast.core.logic.formulas import all_of
from symbcast.core.verdicts import Verdict
from symbcast.errors import UnknownRankError

if TYPE_CHECKING:
    from symbcast.answers.explanation.repairs import Repair, RepairData
    from symbcast.answers.explanation.surprises import SurpriseData
    from symbcast.core.program.calls.call import Call

VERSION = 1
"""The version of the data: incremented when a key changes meaning or is removed."""
_LABELS = {"numpy": "NumPy", "torch": "PyTorch", "onnx": "ONNX"}


def document(result: Call, repairs: Sequence[Repair]) -> Document:
    """Return the problems of a broadcast, and its repairs.

    >>> from symbcast.answers.public.result import broadcast, call_of
    >>> from symbcast.answers.show.text import render
    >>> result = broadcast("N", "N, 1")
    >>> print(render(document(call_of(result), result.repairs(1))))
    numpy: valid for all sizes
    <BLANKLINE>
      axis       0   1
      from end  -2  -1
      A              N
      B          N   1
      output     N   N
                ok  ok    ok fine
    <BLANKLINE>
    surprise     A (N,) and B (N, 1) make an outer product: N of both is on two axes of the output (N, N)
    repair 1     reshape B to (N,)
                 always valid, output (N,)
    NumPy        b.squeeze(1)
    PyTorch      b.squeeze(1)
    ONNX         b_1_axes = Constant <value_ints = [1]> ()
                 b_1 = Squeeze (b, b_1_axes)
    """
    title = heading(rule_text(result.rule), verdict_words(result))
    return Document(title, TONES[result.verdict], (operand_table(Alignment(result)), fields(_fields(result, repairs))))


class RepairsData(TypedDict):
    """The repairs of a broadcast, and its surely unintended effects at valid sizes.

    ``surprises`` is null if they cannot be determined for all ranks.
    """

    version: int
    repairs: list[RepairData]
    surprises: list[SurpriseData] | None


def to_data(result: Call, repairs: Sequence[Repair]) -> RepairsData:
    """Return repairs and surprises as data that `json.dumps` accepts."""
    try:
        told = [s.to_dict() for s in surprises(result)]
    except UnknownRankError:
        told = None
    return {"version": VERSION, "repairs": [r.to_dict() for r in repairs], "surprises": told}


def _fields(result: Call, repairs: Sequence[Repair]) -> Iterator[Field]:
    namer = Namer(result)
    if result.verdict in (Verdict.SOMETIMES, Verdict.UNKNOWN):
        yield field("valid when", whole(namer.formula(all_of(result.clauses))))
    yield field("undecided", words(result.reason if result.verdict is Verdict.UNKNOWN else ""))
    try:
        yield field("surprise", *(words(s.text) for s in surprises(result)))
    except UnknownRankError as error:
        yield field("not told", words(str(error)))
    for number, repair in enumerate(repairs, 1):
        yield field(f"repair {number}", words(repair.text), _outcome(repair, namer))
        for framework, text in repair.code.items():
            yield field(_LABELS[framework], *(code(line) for line in text.splitlines()))
    if not repairs:
        none = "none is needed" if result.verdict is Verdict.ALWAYS else "none was found"
        yield field("repair", words(none))


def _outcome(repair: Repair, namer: Namer) -> Line:
    if repair.shape is None:
        return ()
    valid = "always valid" if repair.verdict is Verdict.ALWAYS else "valid for some sizes"
    output = Span(clipped(namer.shape(repair.shape), 80), True, math=Dims(repair.shape.dims))
    return Span(f"{valid}, output "), output
