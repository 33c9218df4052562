"""What a path decided and required, step by step, and what it asked; and how it may break off."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from symbcast.core.algebra.symbols import Symbol
from symbcast.core.logic.formulas import Comparison, Formula
from symbcast.errors import SymbcastError
from symbcast.operators.context import Dims
from symbcast.paths.places import NOWHERE, Place


class UntracedError(SymbcastError):
    """Something that a run does is not known to what traces it, so nothing is said of this path.

    ``what`` is it, ``place`` the line that does it.
    """

    def __init__(self, what: str, place: Place = NOWHERE) -> None:
        super().__init__(what, place)
        self.what = what
        self.place = place

    def __str__(self) -> str:
        return f"{self.what}, at {self.place}: {self.place.source}" if self.place.file else self.what


class Step(NamedTuple):
    """Something that a path decided or requires.

    Attributes:
        kind: ``"decide"``: the run took the way on which the formula holds; ``"require"``: it goes on only where the
            formula holds, and fails with ``error`` elsewhere; ``"suppose"``: it holds of data at all sizes.
        formula: what holds from here on.
        place: the line that asks.
        operation: what the line does, such as ``"matmul"``; empty for a decision.
        reason: why it is required, in words.
        operands: the shapes that meet.
        error: the error where it does not hold.
    """

    kind: Literal["decide", "require", "suppose"]
    formula: Formula
    place: Place
    operation: str = ""
    reason: str = ""
    operands: tuple[Dims, ...] = ()
    error: str = ""


class Question(NamedTuple):
    """A question that a run asked, and how it was answered; ``is_open`` says that the facts allow both answers."""

    formula: Formula
    answer: bool
    is_open: bool
    is_number: bool = False


class Alternative(NamedTuple):
    """The questions up to one that the facts left open, it with its other answer; sizes at which all that holds.

    ``steps`` are what was decided and required up to there.
    """

    questions: tuple[Question, ...]
    sizes: Mapping[Symbol, int]
    steps: tuple[Step, ...] = ()

    @property
    def refused_numbers(self) -> int:
        """How many numbers were gone past where a size had to be one: by which it is not, and rows that there are."""
        return sum(q.is_number and q.answer is not _is_equality(q.formula) for q in self.questions)


def _is_equality(formula: Formula) -> bool:
    return isinstance(formula, Comparison) and formula.operator == "=="
