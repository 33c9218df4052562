"""The sizes that give a wanted output: `solve`, and the most general operand that keeps a shape: `broadcastable_to`."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from symbcast.answers.public.modules import ModuleAnswer
from symbcast.answers.questions.output_rule import WithOutput
from symbcast.core.algebra.symbols import Unknown
from symbcast.core.broadcasting import AttributeLike, Rule, find_rule
from symbcast.core.guesses import meant
from symbcast.core.program.calls.call import Call
from symbcast.core.shapes import Shape, ShapeLike, is_open, shape, shape_of
from symbcast.core.signatures import with_advice
from symbcast.core.solver.budget import check_budget, limited, one_call
from symbcast.core.verdicts import Verdict
from symbcast.errors import RuleArgumentError, ShapeTypeError, UnknownRankError

if TYPE_CHECKING:
    from symbcast.answers.questions.solution_texts import SolutionData
    from symbcast.core.program.sizes.assumptions import Assumptions


class Solution(ModuleAnswer):
    """The sizes at which shapes broadcast to a wanted output.

    It has no truth value: compare its ``verdict``.

    Attributes:
        ranks: The possible ranks of the second operand, if the question was about that operand.
    """

    _meant = meant(
        "sizes solutions assignment values -> witness()",
        "output result -> out",
        "shape operand example_shapes -> shapes, or operands",
        base=ModuleAnswer._meant,
    )

    def __init__(self, call: Call, ranks: tuple[int, ...] = ()) -> None:
        self._call = call
        self.ranks = ranks

    @property
    def operands(self) -> tuple[Shape, ...]:
        """The shapes, in the order of the rule's operands."""
        return self._call.operands[:-1]

    @property
    def out(self) -> Shape:
        """The wanted output."""
        return self._call.operands[-1]

    @property
    def verdict(self) -> Verdict:
        """Whether all sizes give the output, some, none, or it is unknown (then `reason` says why)."""
        return self._call.verdict

    @property
    def _subject(self) -> Call:
        return self._call

    @property
    @one_call
    def shapes(self) -> tuple[tuple[int, ...], ...] | None:
        """The operands at the witness; None if there is none."""
        from symbcast.answers.questions.solution_texts import example_shapes

        return example_shapes(self._call)

    @one_call
    def explain(self) -> str:
        """Return the answer in words: the shapes aligned, the condition, an example, or why there is none."""
        from symbcast.answers.questions.solution_texts import document
        from symbcast.answers.show.text import render

        return render(document(self._call))

    __str__ = explain

    @one_call
    def to_dict(self) -> SolutionData:
        """Return the answer as plain data for JSON, as `json_schema` describes it."""
        from symbcast.answers.questions.solution_texts import to_data

        return to_data(self._call)

    @staticmethod
    def json_schema() -> dict[str, object]:
        """Return the JSON Schema (2020-12) of the data that `to_dict` returns."""
        from symbcast.answers.questions.schemas import json_schema

        return json_schema("solution")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Solution) and (self._call, self.ranks) == (other._call, other.ranks)

    def __hash__(self) -> int:
        return hash((self._call, self.ranks))

    def __bool__(self) -> NoReturn:
        raise TypeError("a solution has no truth value: compare its .verdict")

    @one_call
    def __repr__(self) -> str:
        said = str(self.condition) if self.verdict is not Verdict.UNKNOWN else f"unknown ({self.reason})"
        return f"<Solution {said}>"

    @one_call
    def _repr_html_(self) -> str:
        from symbcast.answers.questions.solution_texts import document
        from symbcast.answers.show import html
        from symbcast.answers.show.document import Room

        return html.render(document(self._call, Room.PAGE))


def call_of(solution: Solution) -> Call:
    """Return the plain answer that a solution shows."""
    return solution._call


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
    made = WithOutput(find_rule(rule, attributes), len(shapes))
    seconds = check_budget(budget)
    with limited(seconds):
        call = Call.asked([*shapes, out], made, {}, assume, min_size)
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
    first, found = shape(target), find_rule(rule, attributes)
    if is_open(first):
        hint = 'ask solve(target, "...", out=target), where the second operand may have any rank'
        raise UnknownRankError("broadcastable_to", str(first), hint)
    solutions: dict[int, Call] = {}
    for wanted in range(first.rank + 1) if rank is None else (rank,):
        second = shape_of(Unknown() for _ in range(wanted))
        try:
            call = Call.asked([first, second, first], WithOutput(found, 2), {}, assume, min_size)
        except RuleArgumentError:
            continue  # the rule's attributes do not fit this rank
        if call.verdict is not Verdict.NEVER:
            solutions[wanted] = call
    if not solutions:
        of_rank = "" if rank is None else f" of rank {rank}"
        raise RuleArgumentError(found.name, f"has no second operand{of_rank} that leaves {first} unchanged")
    return Solution(solutions[max(solutions)], tuple(solutions))
