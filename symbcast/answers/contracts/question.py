"""The question behind a contract: a condition with the names of its sizes, its origins, and the inputs it is about."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from symbcast.answers.explanation.names import Namer
from symbcast.core.logic.formulas import FALSE, AnyOf, Clashing, Compatible, all_of, any_of, clauses, expand
from symbcast.core.solver.groups.normal_form import flattened, symbols_in
from symbcast.core.text.printing import formula_text

if TYPE_CHECKING:
    from symbcast.answers.contracts.inputs import Tensor
    from symbcast.core.algebra.symbols import Symbol
    from symbcast.core.logic.formulas import Formula


def spelled_out(formulas: Iterable[Formula]) -> tuple[Formula, ...]:
    """Return formulas with the compatibility of two sizes as alternatives."""
    pairs = (Compatible, Clashing)
    parts = (part for formula in formulas for part in clauses(formula))
    return tuple(c for part in parts for c in clauses(expand(part) if isinstance(part, pairs) else part))


def alternatives(clause: Formula) -> tuple[Formula, ...]:
    """Return the parts of a disjunction; of another formula, itself."""
    return tuple(clause.parts) if isinstance(clause, AnyOf) else (clause,)


def _unknown_stop(_sizes: Mapping[str, int]) -> None:
    return None


def _accepted(_target: str, _text: str) -> str:
    return ""


class Partial(NamedTuple):
    """What is known of an answer that is open at some sizes, besides the sizes that work.

    Attributes:
        needed: What is proved to be required, with the assumptions.
        undecided: The sizes that are neither proved to work nor proved to fail.
        reason: Why they are open.
    """

    needed: Formula
    undecided: Formula
    reason: str


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
        stop: Returns the operation that fails first at some sizes, and its own requirement as text, if it is known.
        data: What data must meet besides, as text; empty if the sizes suffice.
        notes: What was not checked of data, such as that indices are within an axis.
        partial: Of an answer that is open at some sizes, what is known besides the condition, which then has only sizes
            that are proved to work; None if nothing is open.
        refusal: Returns why the consumer of a target refuses a text, where it is at hand to be tried; else empty.
    """

    formula: Formula
    condition: Formula
    names: Mapping[Symbol, str]
    inputs: Mapping[str, Tensor]
    outputs: Mapping[str, Tensor]
    aliases: Mapping[str, str]
    open: str
    find: Callable[[], Sequence[Any]] = tuple
    stop: Callable[[Mapping[str, int]], tuple[str, str] | None] = _unknown_stop
    data: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    partial: Partial | None = None
    refusal: Callable[[str, str], str] = _accepted

    def within(self, works: Formula, undecided: Formula, reason: str) -> Question:
        """Return the question about sizes that are proved to work, of an answer that is open at others."""
        return replace(
            self,
            formula=all_of([self.formula, works]),
            condition=all_of([self.condition, works]),
            open="",
            partial=Partial(self.formula, undecided, reason),
        )

    def for_all_data(self, required: Sequence[Formula]) -> Question:
        """Return the question about sizes that work whatever the data are, as far as sizes can ensure that.

        ``required`` are conditions that also mention sizes that data decide. Of alternatives, those about named sizes
        alone suffice: of ``rate != 16000 or N >= 192``, ``N >= 192``.
        """
        ensured: list[Formula] = []
        left: list[Formula] = []
        for clause in flattened(spelled_out(required)):
            own = any_of(part for part in alternatives(clause) if symbols_in(part).keys() <= self.names.keys())
            (left if own == FALSE else ensured).append(clause if own == FALSE else own)
        partial = self.partial and self.partial._replace(needed=all_of([self.partial.needed, *ensured]))
        return replace(
            self,
            formula=all_of([self.formula, *ensured]),
            condition=all_of([self.condition, *ensured]),
            partial=partial,
            data=tuple(map(self._text, left)),
        )

    def with_suitable_data(self, required: Sequence[Formula]) -> Question:
        """Return the question about sizes that work if the data meet what is required of them."""
        return replace(self, data=tuple(map(self._text, required)))

    def _text(self, clause: Formula) -> str:
        return formula_text(clause)

    @cached_property
    def namer(self) -> Namer:
        """The names of sizes in texts."""
        return Namer.of(self.names)

    @cached_property
    def clauses(self) -> tuple[tuple[Formula, str], ...]:
        """The conjuncts in normal form, with their texts."""
        return self._with_texts(self.formula)

    @cached_property
    def required(self) -> tuple[tuple[Formula, str], ...]:
        """The conjuncts that are proved to be required, with their texts: outside them, sizes fail."""
        return self.clauses if self.partial is None else self._with_texts(self.partial.needed)

    def _with_texts(self, formula: Formula) -> tuple[tuple[Formula, str], ...]:
        return tuple((clause, self.namer.formula(clause)) for clause in flattened(clauses(formula)))

    @cached_property
    def assumed(self) -> tuple[Formula, ...]:
        """The assumptions in normal form, without those that are clauses of the condition."""
        own = {*flattened(clauses(self.condition))}
        return tuple(clause for clause, _ in self.clauses if clause not in own)

    @cached_property
    def hidden(self) -> tuple[Symbol, ...]:
        """The sizes in the condition without a name: nothing can be said about them."""
        return tuple(s for s in symbols_in(self.formula) if s not in self.names)

    def origin(self, clause: Formula) -> str:
        """Return the first operation that requires a clause; empty if it is unknown or an assumption."""
        return self._nodes.get(self.namer.formula(clause), "")

    @cached_property
    def _nodes(self) -> dict[str, str]:
        """The operation or line behind each clause that a finding is about."""
        found: dict[str, str] = {}
        for finding in self.find():
            operation = getattr(finding, "operation", "") or getattr(finding, "origins", ("",))[0]
            line = getattr(finding, "line", 0)
            place = f"{finding.file}:{line}" if isinstance(line, int) and line and hasattr(finding, "file") else ""
            for clause in flattened(clauses(finding.formula)):
                found.setdefault(self.namer.formula(clause), place or operation)
            found.setdefault(finding.text, place or operation)
        return found
