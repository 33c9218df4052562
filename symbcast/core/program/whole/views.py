"""The solver's view of a program: the symbols of its sizes, the facts known about them, and the requirements."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from symbcast.core.algebra.sequences import sequences_of
from symbcast.core.logic.formulas import Formula
from symbcast.core.program.operations.needs import needs
from symbcast.core.program.operations.operation import Op
from symbcast.core.program.sizes.premises import knowledge

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol
    from symbcast.core.program.sizes.unrolling import Unrolled
    from symbcast.core.program.whole.trace import Trace
    from symbcast.core.solver.decision.knowledge import Knowledge


class View:
    """The sizes of a program, ``symbols``, and the facts known about them, ``assumed``.

    ``unrolled`` says how many axes of each sequence are distinguished; None if the program has no sequences.
    """

    def __init__(self, trace: Trace, unrolled: Unrolled | None = None) -> None:
        order = trace.names.order
        self.unrolled = unrolled
        self.symbols = tuple(order) if unrolled is None else (*unrolled.symbols(order), *unrolled.hidden)
        self._assumptions = trace.assumptions if unrolled is None else unrolled.known(trace.assumptions)
        self._min_size = trace.min_size

    @staticmethod
    def of(trace: Trace, mentioned: Iterable[Formula] = ()) -> View:
        """Return the solver's view of a trace in its present state; axes in ``mentioned`` are distinguished too."""
        sequences = sequences_of(trace.names.order)
        if not sequences:
            return View(trace)
        from symbcast.core.program.sizes.unrolling import Unrolled

        asked = [formula for op in trace.ops for formula in needs(op)]
        assumed = [a.formula for a in trace.assumptions]
        return View(trace, Unrolled([*asked, *assumed, *mentioned], sequences, trace.min_size))

    @cached_property
    def knowledge(self) -> Knowledge:
        """The facts known about the sizes; raises `AssumptionError` if the assumptions contradict each other."""
        return knowledge(self.symbols, self._assumptions, self._min_size)

    @property
    def assumed(self) -> list[Formula]:
        """The assumptions, and the facts about sizes that follow from ranks."""
        return [a.formula for a in self._assumptions]

    @property
    def bound(self) -> str:
        """Why the answer covers only some ranks; empty if it covers all."""
        return "" if self.unrolled is None else self.unrolled.reason

    def seen(self, formulas: Iterable[Formula]) -> list[Formula]:
        """Return formulas in the symbols of this view."""
        if self.unrolled is None:
            return list(formulas)
        return [found for formula in formulas for found in self.unrolled.formulas(formula)]

    def needs(self, op: Op) -> tuple[Formula, ...]:
        """Return the requirements of an operation as distinct clauses."""
        return needs(op) if self.unrolled is None else tuple(dict.fromkeys(self.seen(needs(op))))

    def named(self, sizes: Mapping[Symbol, int], names: Mapping[Symbol, str]) -> dict[str, int]:
        """Return sizes by name; the axes of a sequence are combined, as in ``batch=(2, 3)``."""
        if self.unrolled is None:
            return {name: sizes[s] for s, name in names.items()}
        return self.unrolled.named(sizes, names)
