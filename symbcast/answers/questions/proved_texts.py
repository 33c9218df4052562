"""Relations that follow from a broadcast, or do not: as a document and as data for JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypedDict

from symbcast.answers.explanation.alignment import Alignment
from symbcast.answers.explanation.names import Namer, rule_text
from symbcast.answers.show.call import answer_fields, verdict_words
from symbcast.answers.show.document import (
    Document,
    Field,
    Sizes,
    Span,
    Tone,
    field,
    fields,
    heading,
    whole,
    words,
)
from symbcast.core.algebra.sequences import SequenceSymbol
from symbcast.core.characters import sizes_text, visible
from symbcast.core.program.sizes.given import unknown_name
from symbcast.core.program.statements.entailment import counterexample
from symbcast.core.program.statements.statement import Statement, names_in
from symbcast.errors import UndecidedError

if TYPE_CHECKING:
    from symbcast.core.program.calls.call import Call

VERSION = 1
"""The version of the data: incremented when a key changes meaning or is removed."""
_KEPT = ("valid when", "assuming", "undecided", "impossible")


@dataclass(frozen=True)
class Proved:
    """A relation: ``sizes`` are the smallest valid ones at which it fails, ``reason`` why that was not decided."""

    relation: str
    sizes: dict[str, int] | None = None
    reason: str = ""


class RelationData(TypedDict):
    """A relation, and whether it holds: null if that was not decided."""

    relation: str
    holds: bool | None
    counterexample: dict[str, int] | None
    reason: str


class ProvedData(TypedDict):
    """Relations, and whether they hold at all sizes at which a broadcast is valid."""

    version: int
    rule: str
    operands: list[str]
    assumptions: list[str]
    min_size: int
    verdict: str
    relations: list[RelationData]


def proved(call: Call, relation: str) -> Proved:
    """Return whether a relation holds at all valid sizes; raise `BindingError` if it mentions other sizes."""
    own = {} if call.scope is None else call.scope.names
    names = list(dict.fromkeys(s.sequence.rest().name if isinstance(s, SequenceSymbol) else n for s, n in own.items()))
    said = Statement(relation)
    for s, name in names_in(said).items():
        meant = s.sequence.rest().name if isinstance(s, SequenceSymbol) else name
        if meant not in names:
            raise unknown_name(meant, names)
    try:
        return Proved(relation, counterexample(call, said))
    except UndecidedError as error:
        return Proved(relation, reason=error.reason)


def document(call: Call, found: Sequence[Proved]) -> Document:
    """Return which relations hold at all valid sizes, and the smallest sizes at which the others fail.

    >>> from symbcast.answers.public.result import broadcast, call_of
    >>> from symbcast.answers.show.text import render
    >>> call = call_of(broadcast("N, 3", "M, 1", assume="N >= 2"))
    >>> print(render(document(call, [proved(call, text) for text in ("N == M or M == 1", "N == M")])))
    numpy: valid for some sizes
    <BLANKLINE>
    valid when   M is 1 or equals N
                 M == 1 or M == N
    assuming     N >= 2
    proved       N == M or M == 1
    refuted      N == M
                 at N=2, M=1
    """
    open_or_not = any(p.sizes is not None for p in found), any(p.reason for p in found)
    tone = Tone.IMPOSSIBLE if open_or_not[0] else Tone.UNDECIDED if open_or_not[1] else Tone.FINE
    told = [f for f in answer_fields(Alignment(call)) if f.label in _KEPT]
    return Document(heading(rule_text(call.rule), verdict_words(call)), tone, (fields([*told, *map(_field, found)]),))


def _field(found: Proved) -> Field:
    label = "undecided" if found.reason else "proved" if found.sizes is None else "refuted"
    at = () if found.sizes is None else (Span("at "), Span(sizes_text(found.sizes), True, math=Sizes(found.sizes)))
    return field(label, whole(visible(found.relation)), at, words(found.reason))


def to_data(call: Call, found: Sequence[Proved]) -> ProvedData:
    """Return the relations as data that `json.dumps` accepts."""
    namer = Namer(call)
    return {
        "version": VERSION,
        "rule": rule_text(call.rule),
        "operands": list(map(namer.shape, call.operands)),
        "assumptions": [a.text for a in call.assumptions],
        "min_size": call.min_size,
        "verdict": call.verdict.value,
        "relations": list(_data(found)),
    }


def _data(found: Sequence[Proved]) -> Iterator[RelationData]:
    for p in found:
        holds = None if p.reason else p.sizes is None
        yield {"relation": p.relation, "holds": holds, "counterexample": p.sizes, "reason": p.reason}
