"""What follows from an answer: relations that hold or do not, and where operands are stretched."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NoReturn

from symbcast.answers.data import ExpansionData, ProvedData, ProvedRelationData
from symbcast.answers.explanation.evidence import Alignment
from symbcast.answers.explanation.words import Namer, axis_text, in_words, names_of_operands, rule_text
from symbcast.answers.public.conditions import Condition
from symbcast.answers.show import document as doc
from symbcast.answers.show.broadcast import TONES, answer_fields, verdict_words
from symbcast.answers.show.documented import Explained
from symbcast.core.advice import Guessable
from symbcast.core.algebra.symbols import SequenceSymbol
from symbcast.core.characters import sizes_text, visible
from symbcast.core.programs.arguments import unknown_name_error
from symbcast.core.programs.broadcast_call import BroadcastCall
from symbcast.core.programs.certificates import counterexample
from symbcast.core.programs.conditions import Statement, condition_names, condition_of_answer
from symbcast.core.programs.stretching import AxisStretch, Known
from symbcast.core.rules import Rule
from symbcast.core.verdicts import Verdict
from symbcast.errors import ShapeTypeError, UndecidedError

# Relations that follow from a broadcast, or do not: as a document and as data for JSON.


# The version of the data: incremented when a key changes meaning or is removed.
VERSION = 1
_KEPT = ("valid when", "assuming", "undecided", "impossible")


@dataclass(frozen=True)
class ProvedRelation:
    """A relation: ``sizes`` are the smallest valid ones at which it fails, ``reason`` why that was not decided."""

    relation: str
    sizes: dict[str, int] | None = None
    reason: str = ""


def prove_relations(call: BroadcastCall, relation: str) -> ProvedRelation:
    """Return whether a relation holds at all valid sizes; raise `BindingError` if it mentions other sizes."""
    own = {} if call.scope is None else call.scope.names
    names = list(dict.fromkeys(s.sequence.rest().name if isinstance(s, SequenceSymbol) else n for s, n in own.items()))
    said = Statement(relation)
    for s, name in condition_names(said).items():
        own_name = s.sequence.rest().name if isinstance(s, SequenceSymbol) else name
        if own_name not in names:
            raise unknown_name_error(own_name, names)
    try:
        return ProvedRelation(relation, counterexample(call, said))
    except UndecidedError as error:
        return ProvedRelation(relation, reason=error.reason)


def relations_document(call: BroadcastCall, relations: Sequence[ProvedRelation]) -> doc.Document:
    """Return which relations hold at all valid sizes, and the smallest sizes at which the others fail.

    >>> from symbcast.answers.public.result import broadcast, call_of
    >>> from symbcast.answers.show.document import render
    >>> call = call_of(broadcast("N, 3", "M, 1", assume="N >= 2"))
    >>> proofs = [prove_relations(call, text) for text in ("N == M or M == 1", "N == M")]
    >>> print(render(relations_document(call, proofs)))
    numpy: valid for some sizes
    <BLANKLINE>
    valid when   M is 1 or equals N
                 M == 1 or M == N
    assuming     N >= 2
    proved       N == M or M == 1
    refuted      N == M
                 at N=2, M=1
    """
    open_or_not = any(p.sizes is not None for p in relations), any(p.reason for p in relations)
    tone = doc.Tone.IMPOSSIBLE if open_or_not[0] else doc.Tone.UNDECIDED if open_or_not[1] else doc.Tone.FINE
    known_fields = [f for f in answer_fields(Alignment(call)) if f.label in _KEPT]
    return doc.Document(
        doc.heading(rule_text(call.rule), verdict_words(call)),
        tone,
        (doc.fields([*known_fields, *map(_field, relations)]),),
    )


def _field(proved: ProvedRelation) -> doc.Field:
    label = "undecided" if proved.reason else "proved" if proved.sizes is None else "refuted"
    at = (
        ()
        if proved.sizes is None
        else (doc.Span("at "), doc.Span(sizes_text(proved.sizes), True, math=doc.NamedSizes(proved.sizes)))
    )
    return doc.field(label, doc.whole(visible(proved.relation)), at, doc.words(proved.reason))


def relations_data(call: BroadcastCall, relations: Sequence[ProvedRelation]) -> ProvedData:
    """Return the relations as data that `json.dumps` accepts."""
    namer = Namer(call)
    return {
        "version": VERSION,
        "rule": rule_text(call.rule),
        "operands": list(map(namer.shape, call.operands)),
        "assumptions": [a.text for a in call.assumptions],
        "min_size": call.min_size,
        "verdict": call.verdict.value,
        "relations": list(_data(relations)),
    }


def _data(relations: Sequence[ProvedRelation]) -> Iterator[ProvedRelationData]:
    for p in relations:
        holds = None if p.reason else p.sizes is None
        yield {"relation": p.relation, "holds": holds, "counterexample": p.sizes, "reason": p.reason}


_SAID = {
    Verdict.ALWAYS: "always stretched",
    Verdict.SOMETIMES: "stretched for some sizes",
    Verdict.NEVER: "never stretched",
    Verdict.UNKNOWN: "not decided whether it is stretched",
}
_TOLD = {
    "expanding": "its size is 1 at all valid sizes: known_expanding_dimensions",
    "nonexpanding": "its size is the output's at all valid sizes: known_nonexpanding_dimensions",
}
_TONES = {
    Verdict.ALWAYS: doc.Tone.FINE,
    Verdict.SOMETIMES: doc.Tone.CONDITIONAL,
    Verdict.NEVER: doc.Tone.FINE,
    Verdict.UNKNOWN: doc.Tone.UNDECIDED,
}


@dataclass(frozen=True)
class Expansion(Guessable, Explained):
    """Whether an operand is stretched on an output axis: its size there is 1, or it has none, and the output's is not.

    It covers the sizes at which the broadcast, or the program, is valid. It has no truth value: compare its
    ``verdict``, or use its ``condition``.

    Attributes:
        operand: The operand's name.
        axis: The output axis, counted from the front; from the end, where -1 is the last, if the rank is not known.
        rank: The number of output axes; None if it is not known.
        verdict: Always, never, or sometimes stretched; unknown if that was not decided (then ``reason`` says why).
        condition: The valid sizes at which it is stretched.
        known: The StableHLO annotation: ``"nonexpanding"`` if its size equals the output's at all valid sizes, else
            ``"expanding"`` if its size is 1 at all of them, else empty. A size of 1 whose output may be 1 too is
            annotated as expanding, as StableHLO does for static types: only its one element is read.
        reason: Why it was not decided.
        operation: The operation of a program.
    """

    operand: str
    axis: int
    rank: int | None
    verdict: Verdict
    condition: Condition
    known: Known
    reason: str = ""
    operation: str = ""

    def to_dict(self) -> ExpansionData:
        """Return the answer as plain data for JSON."""
        return {
            "operation": self.operation,
            "operand": self.operand,
            "axis": self.axis,
            "rank": self.rank,
            "verdict": self.verdict.value,
            "condition": str(self.condition),
            "known": self.known,
            "reason": self.reason,
        }

    def __str__(self) -> str:
        when = f" when {self.condition}" if self.verdict is Verdict.SOMETIMES else ""
        said = "stretched" if when else _SAID[self.verdict]
        return f"{self._subject()}: {said}{when}"

    def __bool__(self) -> NoReturn:
        raise TypeError("an expansion has no truth value: compare its .verdict")

    def _subject(self) -> str:
        of = f" of {self.operation}" if self.operation else ""
        where = f"axis {self.axis}" if self.rank is None else axis_text(self.axis, self.rank)
        return f"{self.operand}{of} on {where}"

    def _document(self, *_room: doc.Room) -> doc.Document:
        return doc.Document(
            doc.heading(self._subject(), _SAID[self.verdict]), _TONES[self.verdict], (doc.fields(self._fields()),)
        )

    def _fields(self) -> list[doc.Field]:
        formula = self.condition.formula
        when = self.verdict in (Verdict.SOMETIMES, Verdict.UNKNOWN)
        said = (doc.Span(in_words(formula, Namer.of({})), math=doc.NOTHING),) if when else ()
        return [
            doc.field("when", said, doc.whole(str(self.condition), doc.JointFormulas((formula,))) if when else ()),
            doc.field("StableHLO", doc.words(_TOLD.get(self.known, "no annotation"))),
            doc.field("undecided", doc.words(self.reason)),
        ]


def all_expansions(result: BroadcastCall) -> tuple[Expansion, ...]:
    """Return for each operand of a valid broadcast whether it is stretched on each output axis."""
    ranks, unknown = [s.rank for s in result.aligned], result.open_axes
    places = [
        ExpansionPlace(operand, len(ranks), axis, rank, unknown)
        for rank in (result.rule.places(ranks).rank,)
        for operand in range(len(ranks))
        for axis in range(unknown, rank)
    ]
    return tuple(expansion_at(result, place) for place in places)


def expansion_at(result: BroadcastCall, place: ExpansionPlace) -> Expansion:
    """Return whether an operand of a valid broadcast is stretched on an axis."""
    stretch = result.stretch(place.operand, place.axis)
    return expansion_of(stretch, condition_of_answer(Condition, stretch.formula, result), result.rule, place)


def expansion_document(result: BroadcastCall, expansions: Sequence[Expansion]) -> doc.Document:
    """Return a table of operands and axes: stretched or not, and the StableHLO annotation.

    >>> from symbcast.answers.public.result import broadcast, call_of
    >>> call = call_of(broadcast("n, 4", "2, 1"))
    >>> from symbcast.answers.show.document import render
    >>> print(render(expansion_document(call, all_expansions(call))))
    numpy: valid for some sizes
    <BLANKLINE>
      operand  axis    stretched    StableHLO
      A        0 (-2)  when n == 1
      A        1 (-1)  never        nonexpanding
      B        0 (-2)  never        nonexpanding
      B        1 (-1)  always       expanding
    <BLANKLINE>
    valid when   n is 1 or 2
                 n == 1 or n == 2
    """
    heads = doc.Row("operand", tuple(map(doc.Span, ("axis", "stretched", "StableHLO"))), doc.Part.HEAD)
    rows = [doc.Row(e.operand, (doc.Span(_axis_of(e)), _when(e), doc.Span(e.known))) for e in expansions]
    known_fields = [f for f in answer_fields(Alignment(result)) if f.label not in ("fails at", "works at")]
    tables = (doc.Table("expansions", (heads, *rows), align="lll"),) if rows else ()
    return doc.Document(
        doc.heading(rule_text(result.rule), verdict_words(result)),
        TONES[result.verdict],
        (*tables, doc.fields(known_fields)),
    )


def _axis_of(expansion: Expansion) -> str:
    axis, rank = expansion.axis, expansion.rank
    return str(axis) if rank is None else f"{axis} ({axis - rank})"


def _when(expansion: Expansion) -> doc.Span:
    match expansion.verdict:
        case Verdict.SOMETIMES:
            return doc.Span(f"when {expansion.condition}", True)
        case Verdict.UNKNOWN:
            return doc.Span("not decided")
        case verdict:
            return doc.Span(verdict.value)


def expansion_of(
    stretch: AxisStretch, condition: Condition, rule: Rule, place: ExpansionPlace, operation: str = ""
) -> Expansion:
    """Return the result for an operand; ``condition`` is that of ``found`` in the names of the answer."""
    name = names_of_operands(rule, place.operands)[place.operand]
    axis, rank = (place.axis - place.rank, None) if place.unknown else (place.axis, place.rank)
    return Expansion(name, axis, rank, stretch.verdict, condition, stretch.known, stretch.reason, operation)


@dataclass(frozen=True)
class ExpansionPlace:
    """An operand and an output axis, by number, with their counts; the first ``unknown`` axes represent others."""

    operand: int
    operands: int
    axis: int
    rank: int
    unknown: int = 0

    @staticmethod
    def of(rule: Rule, ranks: Sequence[int], operand: int | str, axis: int, unknown: int = 0) -> ExpansionPlace:
        """Return the place that a caller names: an operand by number or by name, an axis from either end.

        If some axes are unknown, the axis is counted from the end. Raises `ShapeTypeError` for anything else.
        """
        names, rank = names_of_operands(rule, len(ranks)), rule.places(ranks).rank
        number = names.index(operand) if isinstance(operand, str) and operand in names else operand
        if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < len(names):
            raise ShapeTypeError(operand, "an operand", f"these are 0 to {len(names) - 1}, or {', '.join(names)}")
        first, last = unknown - rank, -1 if unknown else rank - 1
        if isinstance(axis, bool) or not isinstance(axis, int) or not first <= axis <= last:
            known = "no single axis is known" if unknown else "the output has rank 0"
            axes = f"{first} to {last}" if first <= last and first else f"none, {known}"
            raise ShapeTypeError(axis, "an axis of the output", f"these are {axes}")
        return ExpansionPlace(number, len(names), axis % rank, rank, unknown)
