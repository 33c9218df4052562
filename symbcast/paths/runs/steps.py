"""The steps of a path (its decisions and requirements), its questions, and the error that ends tracing."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Literal, NamedTuple

from symbcast.core.algebra.symbols import Symbol
from symbcast.core.logic.formulas import Comparison, Formula
from symbcast.errors import SymbcastError
from symbcast.operators.context import Dims
from symbcast.paths.places import NOWHERE, Place

MAX_REFUSED = 64
"""The maximum number of values that one run rejects for sizes that become numbers; each leaves another path."""


class UntracedError(SymbcastError):
    """The run did something that the tracer does not support, so the path is unknown.

    ``what`` describes it, and ``place`` is the line that did it. ``is_compiled`` says that compiled code got an array
    without data: a real call might make it write out of bounds, as compiled code may not check sizes.
    """

    def __init__(self, what: str, place: Place = NOWHERE, *, is_compiled: bool = False) -> None:
        super().__init__(what, place)
        self.what = what
        self.place = place
        self.is_compiled = is_compiled

    def __str__(self) -> str:
        return f"{self.what}, at {self.place}: {self.place.source}" if self.place.file else self.what


class LoopRefusedError(BaseException):
    """The iterations of a loop differ, so one symbolic iteration cannot represent them; ``key`` identifies the loop.

    It is no `Exception`, so that the traced code does not catch it.
    """

    def __init__(self, key: Hashable) -> None:
        super().__init__(key)
        self.key = key


class Step(NamedTuple):
    """A decision or a requirement of a path.

    Attributes:
        kind: ``"decide"``: the run took the branch on which the formula holds; ``"require"``: the run continues only
            where the formula holds, and fails with ``error`` elsewhere; ``"suppose"``: the formula holds for all data.
        formula: the formula that holds from here on.
        place: the responsible line.
        operation: the operation on the line, such as ``"matmul"``; empty for a decision.
        reason: why the formula is required, in words.
        operands: the shapes of the operands.
        error: the type of the error raised where the formula does not hold.
    """

    kind: Literal["decide", "require", "suppose"]
    formula: Formula
    place: Place
    operation: str = ""
    reason: str = ""
    operands: tuple[Dims, ...] = ()
    error: str = ""


class Question(NamedTuple):
    """A question that a run asked, and its answer; ``is_open`` says whether the facts allow both answers."""

    formula: Formula
    answer: bool
    is_open: bool
    is_number: bool = False

    @property
    def is_refused(self) -> bool:
        """Whether the answer rejects a value for a size that had to become a number, or takes another row."""
        return self.is_number and self.answer is not _is_equality(self.formula)


class Alternative(NamedTuple):
    """The questions up to an open one, which gets its other answer, and sizes at which these answers hold.

    ``steps`` are the decisions and requirements up to that point.
    """

    questions: tuple[Question, ...]
    sizes: Mapping[Symbol, int]
    steps: tuple[Step, ...] = ()

    @property
    def refused_numbers(self) -> int:
        """The number of values rejected where a size had to become a number, plus rows of arrays already iterated."""
        return sum(q.is_refused for q in self.questions)


def _is_equality(formula: Formula) -> bool:
    return isinstance(formula, Comparison) and formula.operator == "=="
