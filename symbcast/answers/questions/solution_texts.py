"""The sizes that give a wanted output, as a document and as data for JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

from symbcast.answers.explanation.alignment import Alignment
from symbcast.answers.explanation.evidence import at_evidence
from symbcast.answers.explanation.names import Namer, rule_text
from symbcast.answers.show.call import answer_fields
from symbcast.answers.show.document import Document, Field, Room, Sizes, Span, field, fields, heading
from symbcast.answers.show.operands import TONES, operand_table
from symbcast.core.characters import clipped, sizes_text
from symbcast.core.logic.formulas import FALSE, all_of
from symbcast.core.shapes import sizes_of
from symbcast.core.verdicts import Verdict

if TYPE_CHECKING:
    from symbcast.core.program.calls.call import Call

VERSION = 1
"""The version of the data: incremented when a key changes meaning or is removed."""
_WIDTH = {Room.SCREEN: 84, Room.PAGE: 400}
_WORDS = {
    Verdict.ALWAYS: "for all sizes",
    Verdict.SOMETIMES: "for some sizes",
    Verdict.NEVER: "for no sizes",
    Verdict.UNKNOWN: "for sizes that were not decided",
}
_OF_VALIDITY = ("fails at", "works at")


class SolutionData(TypedDict):
    """A question about a wanted output, the condition on the sizes that give it, and an example of these."""

    version: int
    rule: str
    operands: list[str]
    wanted: str
    verdict: str
    condition: str
    example: dict[str, int] | None
    shapes: list[list[int]] | None
    reason: str


def document(call: Call, room: Room = Room.SCREEN) -> Document:
    """Return for which sizes the output is the wanted one, the last operand.

    >>> import symbcast
    >>> print(symbcast.solve("?, 3", "N, 1", out="5, 3").explain())
    numpy: the output is (5, 3) for some sizes
    <BLANKLINE>
      axis       0   1
      from end  -2  -1
      A         ?0   3
      B          N   1
      wanted     5   3
      output     5   3
                 ?  ok    ok fine, ? depends on the sizes
    <BLANKLINE>
    valid when   ?0 is 1 or 5
                 and N is 1 or 5
                 and ?0 is 5, or N is 5
                 (?0 == 1 or ?0 == 5) and (N == 1 or N == 5) and (?0 == 5 or N == 5)
    example      ?0=1, N=5: (1, 3) with (5, 1)
    """
    aligned = Alignment(call)
    wanted = clipped(aligned.namer.shape(call.operands[-1]), 80)
    title = heading(rule_text(call.rule), f"the output is {wanted} {_WORDS[call.verdict]}")
    found = [f for f in answer_fields(aligned) if f.label not in _OF_VALIDITY]
    table = operand_table(aligned, _WIDTH[room])
    return Document(title, TONES[call.verdict], (table, fields([*found, _example(call)])))


def _example(call: Call) -> Field:
    sizes, shapes = call.witness(), example_shapes(call)
    if sizes is None or shapes is None:
        return field("example")
    given = (Span(sizes_text(sizes), True, math=Sizes(sizes)), Span(": ")) if sizes else ()
    return field("example", (*given, Span(" with ".join(map(str, shapes)), True)))


def example_shapes(call: Call) -> tuple[tuple[int, ...], ...] | None:
    """Return the operands at the smallest sizes that give the wanted output; None if there are none."""
    sizes = call.witness()
    concrete = None if sizes is None else at_evidence(call, sizes)
    return None if concrete is None else tuple(map(sizes_of, concrete.operands[:-1]))


def to_data(call: Call) -> SolutionData:
    """Return the answer as data that `json.dumps` accepts."""
    namer, shapes = Namer(call), example_shapes(call)
    operands = list(map(namer.shape, call.operands))
    condition = FALSE if call.verdict is Verdict.NEVER else all_of(call.clauses)
    return {
        "version": VERSION,
        "rule": rule_text(call.rule),
        "operands": operands[:-1],
        "wanted": operands[-1],
        "verdict": call.verdict.value,
        "condition": namer.formula(condition),
        "example": call.witness(),
        "shapes": None if shapes is None else list(map(list, shapes)),
        "reason": call.reason,
    }
