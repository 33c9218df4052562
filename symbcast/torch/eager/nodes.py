"""The nodes behind a `torch.SymInt`, `torch.SymBool` and `torch.SymFloat` whose sizes are symbcast's.

Torch computes with such a number through the methods of its node, and its compiled code calls the same methods. Where
torch needs an answer, such as in an ``if``, the node asks the run that it belongs to.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from math import isfinite
from typing import TYPE_CHECKING, NoReturn, Protocol

from symbcast.core.logic.formulas import FALSE, TRUE, Formula, all_of, any_of, negate
from symbcast.graphs.values.contents import Ratio

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim

UNKNOWN_REAL = Ratio(0, 0)
"""A real number that data decide."""


class Run(Protocol):
    """A run that the numbers belong to: it answers the questions about sizes."""

    def ask(self, formula: Formula) -> bool:
        """Return whether a formula holds in this run."""

    def expect(self, formula: Formula) -> None:
        """Require a formula that torch checks."""

    def number(self, dim: Dim) -> int:
        """Return a size as a number, and restrict the run to it."""

    def shown(self, dim: Dim) -> int:
        """Return a number that a size can be, for text only."""

    def settled(self, formula: Formula) -> bool | None:
        """Return whether a formula is known to hold or to fail, without a decision."""

    def is_true_for_data(self) -> Formula:
        """Return a formula for a boolean that data decide."""

    def integer_of_data(self) -> Dim:
        """Return an integer that data decide."""

    def give_up(self, reason: str) -> NoReturn:
        """End the run, because what follows is unknown."""


class Node:
    """What all three kinds have in common; ``run`` is the run that they belong to."""

    kind = "int"
    expr = _hint = None  # torch's Python code looks for its own expression and for an example's value

    def __init__(self, run: Run) -> None:
        self.run = run

    def is_int(self) -> bool:
        return self.kind == "int"

    def is_bool(self) -> bool:
        return self.kind == "bool"

    def is_float(self) -> bool:
        return self.kind == "float"

    def is_nested_int(self) -> bool:
        return False

    def is_symbolic(self) -> bool:
        return True

    def is_constant(self) -> bool:
        return False

    def has_hint(self) -> bool:
        return False

    def nested_int(self) -> None:
        return None

    def maybe_as_int(self) -> int | None:
        return None

    maybe_as_float = maybe_as_bool = maybe_as_int
    constant_int = constant_bool = nested_int

    def clone(self) -> Node:
        return self

    def wrap_int(self, number: int) -> Node:
        return KINDS["int"](int(number), self.run)

    def wrap_float(self, number: float) -> Node:
        return KINDS["float"](ratio_of(number), self.run, number)

    def wrap_bool(self, value: bool) -> Node:
        return TruthNode(TRUE if value else FALSE, self.run)

    def str(self) -> builtins.str:
        raise NotImplementedError

    def __str__(self) -> builtins.str:
        return self.str()

    def __repr__(self) -> builtins.str:
        return self.str()

    def _graph_repr(self) -> builtins.str:
        """Return the text of the number in torch's own drawings of graphs."""
        return self.str()


class TruthNode(Node):
    """A boolean: a formula about sizes."""

    kind = "bool"

    def __init__(self, formula: Formula, run: Run) -> None:
        super().__init__(run)
        self.formula = formula

    def str(self) -> builtins.str:
        from symbcast.core.text.printing import formula_text

        return formula_text(self.formula)

    def guard_bool(self, file: builtins.str, line: int) -> bool:
        return self.run.ask(self.formula)

    def guard_size_oblivious(self, file: builtins.str, line: int) -> bool:
        return self.run.ask(self.formula)

    guard_or_false = guard_or_true = guard_size_oblivious

    def expect_true(self, file: builtins.str, line: int) -> bool:
        self.run.expect(self.formula)
        return True

    def statically_known_true(self, file: builtins.str, line: int) -> bool:
        return self.run.settled(self.formula) is True

    def bool_(self) -> bool:
        return self.run.ask(self.formula)

    def int_(self) -> int:
        return int(self.bool_())

    def guard_int(self, file: builtins.str, line: int) -> int:
        return int(self.bool_())

    def sym_not(self) -> Node:
        return TruthNode(negate(self.formula), self.run)

    def sym_and(self, other: TruthNode) -> Node:
        return TruthNode(all_of([self.formula, other.formula]), self.run)

    def sym_or(self, other: TruthNode) -> Node:
        return TruthNode(any_of([self.formula, other.formula]), self.run)

    and_ = bitwise_and = sym_and
    or_ = bitwise_or = sym_or

    def eq(self, other: TruthNode) -> Node:
        both = all_of([self.formula, other.formula])
        return TruthNode(any_of([both, all_of([negate(self.formula), negate(other.formula)])]), self.run)

    def ne(self, other: TruthNode) -> Node:
        found = self.eq(other)
        assert isinstance(found, TruthNode)
        return TruthNode(negate(found.formula), self.run)

    def sym_ite(self, yes: Node, no: Node) -> Node:
        return yes if self.bool_() else no

    def sym_float(self) -> Node:
        return KINDS["float"](Ratio(int(self.bool_()), 1), self.run)


_MOST_BELOW = 64
"""The largest denominator of a factor: a size times it is exact, because a float holds it exactly."""


def ratio_of(number: float) -> Ratio:
    """Return a factor as a quotient, if a size times it is exact."""
    if not isfinite(number):
        return UNKNOWN_REAL
    above, below = float(number).as_integer_ratio()
    return Ratio(above, below) if below <= _MOST_BELOW else UNKNOWN_REAL


KINDS: dict[str, Callable[..., Node]] = {"bool": TruthNode}
"""The classes of nodes by kind; each module adds its own."""
