"""The sizes that give a wanted output.

`solve`, and the most general operand that keeps a shape: `broadcastable_to`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar, NoReturn

from symbcast.answers.data import SolutionData
from symbcast.answers.explanation.evidence import Alignment, at_evidence
from symbcast.answers.explanation.words import Namer, rule_text
from symbcast.answers.public.answer import ModuleAnswer
from symbcast.answers.show.broadcast import TONES, answer_fields, operand_table
from symbcast.answers.show.document import Document, Field, NamedSizes, Room, Span, field, fields, heading
from symbcast.answers.show.documented import Explained
from symbcast.answers.show.json import condition_text
from symbcast.core.advice import guessed_meanings, with_advice
from symbcast.core.algebra.formulas import FALSE, Formula, any_of, equal, one_or_equal
from symbcast.core.algebra.symbols import Unknown, is_sequence
from symbcast.core.algebra.terms import Dim
from symbcast.core.characters import shorten_end, sizes_text
from symbcast.core.effort import check_budget, one_call, within_optional
from symbcast.core.programs.arguments import Assumptions, Sizes
from symbcast.core.programs.broadcast_call import BroadcastCall
from symbcast.core.rules import AttributeLike, Emission, Joined, Rule, find_rule
from symbcast.core.rules.broadcast_rule import Ask, OutputDim, members_of, rank_of_output
from symbcast.core.rules.declaration import Constraint, Reason
from symbcast.core.rules.placement import Dims, Places, axis_run, expanded_at_right
from symbcast.core.shapes import Shape, ShapeLike, is_open, shape, shape_of, sizes_of
from symbcast.core.verdicts import Verdict
from symbcast.errors import RuleArgumentError, ShapeTypeError, UnknownRankError

# A rule that requires, in addition to another rule, that the output equal a wanted shape: its last operand.


OUTPUT_SIZE = Reason("output-size", "this size must equal the output's")
OUTPUT_RANK = Reason("output-rank", "the output's rank is {rank}, not {wanted}")


class WithOutput(Rule):
    """Another rule, ``inner``, whose output is the last operand."""

    # The wanted output is an operand, so that verdict, condition, example and conflict come from the one engine.
    name: ClassVar[str] = "output"
    family: ClassVar[str] = "questions"
    summary: ClassVar[str] = "another rule, with the wanted output as the last operand"
    document: ClassVar[str] = ""
    variadic: ClassVar[bool] = True
    own_reasons: ClassVar[tuple[Reason, ...]] = (OUTPUT_SIZE, OUTPUT_RANK)

    def __init__(self, inner: Rule, count: int) -> None:
        self.inner = inner
        self.count = count
        self.operands = (*(inner.operand_name(n) for n in range(count)), "wanted")  # type: ignore[misc] # of this one
        super().__init__(called=inner.called)

    def attributes(self) -> dict[str, object]:  # type: ignore[override] # those of the inner rule
        """Return the attributes of the inner rule."""
        return dict(self.inner.attributes())

    def check_shapes(self, shapes: Sequence[Dims]) -> None:
        self.inner.check_shapes(shapes[:-1])

    def places(self, ranks: Sequence[int]) -> Places:
        """Place operands as the inner rule does, and the output at the right."""
        inner = self.inner.places(ranks[:-1])
        return Places(inner.rank, (*inner.of, axis_run(inner.rank - ranks[-1], ranks[-1])))

    def emit(self, shapes: Sequence[Dims]) -> Emission:
        """Return the inner rule's requirements, and that its output equal the last shape."""
        inner, output = self.inner.emit(shapes[:-1]), shapes[-1]
        last = len(shapes) - 1
        if len(inner.output) != len(output):
            ask = Ask(FALSE, (last,), OUTPUT_RANK, {"rank": len(inner.output), "wanted": len(output)})
            return Emission([*inner.constraints, self.constraint(ask)], inner.output)
        requirements: list[Constraint] = []
        operands = tuple(range(len(shapes)))
        for axis, (size, inner_size) in enumerate(zip(output, inner.output, strict=True)):
            requirements += [
                self.constraint(Ask(f, operands, OUTPUT_SIZE), axis, len(output)) for f in _gives(inner_size, size)
            ]
        return Emission([*inner.constraints, *requirements], tuple(output))

    def expand(self, shapes: Sequence[Dims]) -> list[Dims]:
        """Place operands as the inner rule does; operands and output get as many named axes as the longest has.

        Raises `RuleArgumentError` if sizes precede the output's sequence, unless both outputs have the same sequence
        there.
        """
        *operands, output = shapes
        aligned = [*self.inner.expand(operands), output]
        # Every rule that accepts shapes that begin with a sequence aligns them at the right.
        expanded = expanded_at_right(aligned)
        if expanded is None:
            inner_output = self.inner.emit_open(operands).output
            alike = [
                members_of(dim) == (size,) for dim, size in zip(inner_output, output, strict=False) if is_sequence(size)
            ]
            if len(inner_output) == len(output) and alike == [True]:
                return aligned
            problem = "sizes precede a sequence of axes, and the wanted output has a different sequence there"
            raise RuleArgumentError(self.inner.name, problem, "ask for each rank separately")
        return expanded

    def emit_open(self, shapes: Sequence[Dims]) -> Emission:
        """Return the inner rule's requirements for shapes of unknown rank, and that its output equal the last shape.

        The output has as many axes as the wanted shape, so sizes are compared on every axis that either of them has.
        """
        *operands, output = shapes
        own = self.inner.emit_open(operands)
        *aligned, aligned_output = self.expand(shapes)
        requirements = [c for c in own.constraints if c.origin.axis is None]
        if any(c.requirement == FALSE for c in requirements):
            return Emission(requirements, tuple(aligned_output))
        last = len(shapes) - 1
        ranks = rank_of_output(own.output), rank_of_output(tuple(output))
        if ranks[0] != ranks[1]:
            details = {"rank": str(ranks[0]), "wanted": str(ranks[1])}
            requirements.append(self.constraint(Ask(_same(*ranks), (last,), OUTPUT_RANK, details)))
        inner = self.inner.emit(aligned)
        rank = len(inner.output)
        everyone = tuple(range(len(shapes)))
        sized = list(inner.constraints)
        for back in range(1, min(rank, len(aligned_output)) + 1):
            formulas = _gives(inner.output[-back], aligned_output[-back])
            sized += [self.constraint(Ask(f, everyone, OUTPUT_SIZE), rank - back, rank) for f in formulas]
        place = next((n for n, dim in enumerate(inner.output) if any(map(is_sequence, members_of(dim)))), None)
        requirements += [Constraint(c.requirement, c.origin._replace(sequence=place), c.why, c.details) for c in sized]
        # Leading axes that only one of them has are a sequence without axes.
        front = inner.output[: max(rank - len(aligned_output), 0)]
        return Emission(requirements, (*front, *aligned_output[max(len(aligned_output) - rank, 0) :]))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, WithOutput) and (self.inner, self.count) == (other.inner, other.count)

    def __hash__(self) -> int:
        return hash((self.inner, self.count))

    def __reduce__(self) -> tuple[object, ...]:
        return WithOutput, (self.inner, self.count)


def _same(rank: Dim, other: Dim) -> Formula:
    """Return the formula that two ranks, which are different terms, are equal."""
    return FALSE if isinstance(rank, int) and isinstance(other, int) else equal(rank, other)


def _gives(output: OutputDim, size: Dim) -> Iterator[Formula]:
    """Yield the requirements for an output to equal a size; for a join, one member is that size, the others 1 or it."""
    if not isinstance(output, Joined):
        yield equal(output, size)
        return
    members = list(dict.fromkeys(output))
    yield from (one_or_equal(member, size) for member in members)
    yield any_of([equal(size, 1), *(equal(member, size) for member in members)])


# The sizes that give a wanted output, as a document and as data for JSON.


# The version of the data: incremented when a key changes meaning or is removed.
VERSION = 1
_WIDTH = {Room.SCREEN: 84, Room.PAGE: 400}
_WORDS = {
    Verdict.ALWAYS: "for all sizes",
    Verdict.SOMETIMES: "for some sizes",
    Verdict.NEVER: "for no sizes",
    Verdict.UNKNOWN: "for sizes that were not decided",
}
_OF_VALIDITY = ("fails at", "works at")


def solution_document(call: BroadcastCall, room: Room = Room.SCREEN) -> Document:
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
    output = shorten_end(aligned.namer.shape(call.operands[-1]), 80)
    title = heading(rule_text(call.rule), f"the output is {output} {_WORDS[call.verdict]}")
    shown = [f for f in answer_fields(aligned) if f.label not in _OF_VALIDITY]
    table = operand_table(aligned, _WIDTH[room])
    return Document(title, TONES[call.verdict], (table, fields([*shown, _example(call)])))


def _example(call: BroadcastCall) -> Field:
    sizes, shapes = call.witness(), example_shapes(call)
    if sizes is None or shapes is None:
        return field("example")
    at = (Span(sizes_text(sizes), True, math=NamedSizes(sizes)), Span(": ")) if sizes else ()
    return field("example", (*at, Span(" with ".join(map(str, shapes)), True)))


def example_shapes(call: BroadcastCall) -> tuple[tuple[int, ...], ...] | None:
    """Return the operands at the smallest sizes that give the wanted output; None if there are none."""
    sizes = call.witness()
    concrete = None if sizes is None else at_evidence(call, sizes)
    return None if concrete is None else tuple(map(sizes_of, concrete.operands[:-1]))


def solution_data(call: BroadcastCall) -> SolutionData:
    """Return the answer as data that `json.dumps` accepts."""
    namer, shapes = Namer(call), example_shapes(call)
    operands = list(map(namer.shape, call.operands))
    return {
        "version": VERSION,
        "rule": rule_text(call.rule),
        "operands": operands[:-1],
        "wanted": operands[-1],
        "verdict": call.verdict.value,
        "condition": condition_text(call, namer),
        "example": call.witness(),
        "shapes": None if shapes is None else list(map(list, shapes)),
        "reason": call.reason,
    }


class Solution(Explained, ModuleAnswer):
    """The sizes at which shapes broadcast to a wanted output.

    It has no truth value: compare its ``verdict``.

    Attributes:
        ranks: The possible ranks of the second operand, if the question was about that operand.
    """

    __slots__ = ("__dict__", "__weakref__", "_subject")

    _meanings = guessed_meanings(
        "sizes solutions assignment values -> witness()",
        "output result -> out",
        "shape operand example_shapes -> shapes, or operands",
        base=ModuleAnswer._meanings,
    )

    # A slot takes the place of the abstract property.
    _subject: BroadcastCall

    def __init__(self, call: BroadcastCall, ranks: tuple[int, ...] = ()) -> None:
        self._subject = call  # pyright: ignore[reportIncompatibleMethodOverride]
        self.ranks = ranks

    @property
    def operands(self) -> tuple[Shape, ...]:
        """The shapes, in the order of the rule's operands."""
        return self._subject.operands[:-1]

    @property
    def out(self) -> Shape:
        """The wanted output."""
        return self._subject.operands[-1]

    @property
    @one_call
    def shapes(self) -> tuple[tuple[int, ...], ...] | None:
        """The operands at the witness; None if there is none."""
        return example_shapes(self._subject)

    @one_call
    def evaluate(self, sizes: Sizes | None = None, /, **named: int) -> tuple[tuple[int | None, ...] | None, ...]:
        """Return the operands at given sizes, where they broadcast to the wanted output; raises as `Answer.evaluate`.

        >>> solve("N, 3", "M, 1", out="4, 3").evaluate(N=4, M=1)
        ((4, 3), (1, 1))
        """
        from symbcast.answers.public.evaluation import axes_of, working_sizes

        asked = working_sizes(self, sizes, named, [d for s in self.operands for d in s.dims])
        return tuple(axes_of(operand, asked.by_symbol) for operand in self.operands)

    @one_call
    def _document(self, *room: Room) -> Document:
        return solution_document(self._subject, *room)

    @one_call
    def to_dict(self) -> SolutionData:
        """Return the answer as plain data for JSON, as `json_schema` describes it."""
        return solution_data(self._subject)

    @staticmethod
    def json_schema() -> dict[str, object]:
        """Return the JSON Schema (2020-12) of the data that `to_dict` returns."""
        from symbcast.answers.exchange import question_schema

        return question_schema("solution")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Solution) and (self._subject, self.ranks) == (other._subject, other.ranks)

    def __hash__(self) -> int:
        return hash((self._subject, self.ranks))

    def __bool__(self) -> NoReturn:
        raise TypeError("a solution has no truth value: compare its .verdict")

    @one_call
    def __repr__(self) -> str:
        said = str(self.condition) if self.verdict is not Verdict.UNKNOWN else f"unknown ({self.reason})"
        return f"<Solution {said}>"


def call_with_output(solution: Solution) -> BroadcastCall:
    """Return the plain answer that a solution shows."""
    return solution._subject


@with_advice
def solve(
    *shapes: ShapeLike,
    out: ShapeLike,
    rule: str | Rule = "numpy",
    assume: Assumptions = (),
    min_size: int = 0,
    budget: float | None = None,
    **attributes: AttributeLike,
) -> Solution:
    """Return for which sizes shapes broadcast to a wanted output.

    Shapes, rule, attributes and assumptions are as in `symbcast.broadcast`; ``out`` is the wanted output; its names
    refer to the same sizes as in the shapes. Raises a `SymbcastError` for wrong input.

    >>> found = solve("?, 3", "N, 1", out="5, 3")
    >>> found.condition
    Condition('(?0 == 1 or ?0 == 5) and (N == 1 or N == 5) and (?0 == 5 or N == 5)')
    >>> found.witness(), found.shapes
    ({'?0': 1, 'N': 5}, ((1, 3), (5, 1)))
    >>> solve("N, 3", "4", out="5, 3").verdict
    <Verdict.NEVER: 'never'>
    """
    question = WithOutput(find_rule(rule, attributes), len(shapes))
    seconds = check_budget(budget)
    with within_optional(seconds):
        call = BroadcastCall.of([*shapes, out], question, {}, assume, min_size)
    call.budget = seconds
    return Solution(call)


@with_advice
@one_call
def broadcastable_to(
    target: ShapeLike,
    rule: str | Rule = "numpy",
    rank: int | None = None,
    assume: Assumptions = (),
    min_size: int = 0,
    **attributes: AttributeLike,
) -> Solution:
    """Return the most general second operand that leaves the shape of the first, ``target``, unchanged.

    The operand is ``operands[1]``: its sizes are unknown, and the condition says what they can be. Its rank is
    ``rank``, or the greatest rank that any such operand has; ``ranks`` are all of these, up to that of the target. If
    the rule aligns shapes at the right, an operand of lower rank is this one without its leading sizes of 1. Raises
    `RuleArgumentError` if there is no such operand, and `ShapeTypeError` for an invalid rank.

    >>> found = broadcastable_to("N, C, 3")
    >>> found.operands[1], found.ranks
    (Shape('(?, ?, ?)'), (0, 1, 2, 3))
    >>> found.condition
    Condition('(?0 == 1 or ?0 == N) and (?1 == 1 or ?1 == C) and (?2 == 1 or ?2 == 3)')
    >>> broadcastable_to("N, C, H, W", "pdpd", rank=1, axis=1).condition
    Condition('?0 == 1 or ?0 == C')
    """
    if rank is not None and (isinstance(rank, bool) or not isinstance(rank, int) or rank < 0):
        raise ShapeTypeError(rank, "a rank", "write a number such as rank=1, or None for the highest")
    first, inner = shape(target), find_rule(rule, attributes)
    if is_open(first):
        hint = 'ask solve(target, "...", out=target), where the second operand may have any rank'
        raise UnknownRankError("broadcastable_to", str(first), hint)
    solutions: dict[int, BroadcastCall] = {}
    for operand_rank in range(first.rank + 1) if rank is None else (rank,):
        second = shape_of(Unknown() for _ in range(operand_rank))
        try:
            call = BroadcastCall.of([first, second, first], WithOutput(inner, 2), {}, assume, min_size)
        except RuleArgumentError:
            continue  # the rule's attributes do not fit this rank
        if call.verdict is not Verdict.NEVER:
            solutions[operand_rank] = call
    if not solutions:
        of_rank = "" if rank is None else f" of rank {rank}"
        raise RuleArgumentError(inner.name, f"has no second operand{of_rank} that leaves {first} unchanged")
    return Solution(solutions[max(solutions)], tuple(solutions))
