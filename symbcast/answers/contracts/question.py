"""The question behind a contract: a condition with the names of its sizes, its origins, and the inputs it is about."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from symbcast.answers.explanation.names import Namer
from symbcast.core.logic.formulas import clauses
from symbcast.core.solver.groups.normal_form import flattened, symbols_in

if TYPE_CHECKING:
    from symbcast.answers.contracts.inputs import Tensor
    from symbcast.core.algebra.symbols import Symbol
    from symbcast.core.logic.formulas import Formula


@dataclass(frozen=True)
class Question:
    """A condition on named sizes.

    Attributes:
        formula: The condition with the assumptions.
        condition: The condition without the assumptions.
        names: The names of all sizes of the question, in order.
        inputs: The inputs by name; empty if the answer has none.
        outputs: The outputs by name; empty if the answer has none.
        aliases: Other names of sizes, with the names that the answer uses.
        open: Why the condition does not suffice, such as an unknown operator; empty if it does.
        find: Returns the findings, each with the text of its clause and the operation behind it.
    """

    formula: Formula
    condition: Formula
    names: Mapping[Symbol, str]
    inputs: Mapping[str, Tensor]
    outputs: Mapping[str, Tensor]
    aliases: Mapping[str, str]
    open: str
    find: Callable[[], Sequence[Any]]

    @cached_property
    def namer(self) -> Namer:
        """The names of sizes in texts."""
        return Namer.of(self.names)

    @cached_property
    def clauses(self) -> tuple[tuple[Formula, str], ...]:
        """The conjuncts in normal form, with their texts."""
        return tuple((clause, self.namer.formula(clause)) for clause in flattened(clauses(self.formula)))

    @cached_property
    def assumed(self) -> tuple[Formula, ...]:
        """The assumptions in normal form, without those that are clauses of the condition."""
        own = {*flattened(clauses(self.condition))}
        return tuple(clause for clause, _ in self.clauses if clause not in own)

    @cached_property
    def hidden(self) -> tuple[Symbol, ...]:
        """The sizes in the condition without a name: nothing can be said about them."""
        return tuple(s for s in symbols_in(self.formula) if s not in self.names)

    def node(self, clause: Formula) -> str:
        """Return the name of the operation behind a clause; empty if it is unknown or an assumption."""
        return self._nodes.get(self.namer.formula(clause), "")

    @cached_property
    def _nodes(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for finding in self.find():
            operation = getattr(finding, "operation", "") or getattr(finding, "origins", ("",))[0]
            line = getattr(finding, "line", 0)
            place = f"{finding.file}:{line}" if isinstance(line, int) and line and hasattr(finding, "file") else ""
            for clause in flattened(clauses(finding.formula)):
                found.setdefault(self.namer.formula(clause), place or operation)
            found.setdefault(finding.text, place or operation)
        return found
