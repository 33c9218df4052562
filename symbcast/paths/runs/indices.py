"""Loops over sizes in a run, and formulas that hold for all indices if they hold at both ends."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NoReturn

from symbcast.core.algebra.arithmetic import add, replaced, subtract
from symbcast.core.algebra.symbols import Symbol, Unknown
from symbcast.core.logic.formulas import Comparison, Formula
from symbcast.core.solver.groups.normal_form import symbols_in
from symbcast.paths.runs.steps import LoopRefusedError

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim


@lru_cache(maxsize=1000)
def loop_symbol(key: Hashable, number: int) -> Unknown:
    """Return the symbol of a loop's index: all runs use the same one."""
    return Unknown("?index", 0, None)


class Choices:
    """Loops of several paths in which an iteration adds an item to a list after data were asked.

    Either data decide whether it adds one: then another path, which decides the same about sizes, adds none. Or each
    path adds one: then it is known only at the end, and the paths are followed again.

    Attributes:
        items: the item of the first path, by the loop and what was decided about sizes; it must be that of all paths.
        skipped: where an iteration added none.
        always: where each iteration adds one, as earlier runs found.
    """

    def __init__(self, always: Iterable[tuple[Hashable, ...]] = ()) -> None:
        self.items: dict[tuple[Hashable, ...], Any] = {}
        self.skipped: set[tuple[Hashable, ...]] = set()
        self.always = frozenset(always)

    @property
    def unskipped(self) -> frozenset[tuple[Hashable, ...]]:
        """Where each path added an item, which earlier runs did not know."""
        return frozenset(self.items.keys() - self.skipped - self.always)

    @property
    def unsettled(self) -> set[Hashable]:
        """The loops of which an earlier run did not know all places where each path adds an item.

        Every run might find others: the next one iterates over numbers there.
        """
        return {where[0] for where in self.unskipped} & {where[0] for where in self.always}


class Loops:
    """The loops over sizes of one run.

    Attributes:
        running: the loops that are running for a symbolic index.
        varying: the symbols that differ between iterations, each with the loop's key; for an index, also the last one.
        refused: the key of the loop that was given up, if any.
        tries: how often each loop was given up in earlier runs, by its key.
        batches: a size and a step, for each range from 0 with this step.
        born: the data-dependent numbers of the run, in order.
        choices: what data choose in loops, in all runs.
    """

    def __init__(self) -> None:
        self.running: list[Any] = []
        self.varying: dict[Symbol, tuple[Hashable, Dim | None]] = {}
        self.refused: Hashable = None
        self.tries: Mapping[Hashable, int] = {}
        self.batches: list[tuple[Dim, Dim]] = []
        self.born: list[Symbol] = []
        self.choices = Choices()

    def index(self, key: Hashable, last: Dim) -> Symbol:
        """Return the symbol of the next index of a loop."""
        symbol = loop_symbol(key, sum(k == key for k, _ in self.varying.values()))
        self.varying[symbol] = key, last
        return symbol

    def are_in(self, formula: Formula) -> bool:
        """Return whether a formula mentions an index, or a number of an iteration."""
        return bool(self.varying) and any(s in self.varying for s in symbols_in(formula))

    def add_data(self, size: Symbol) -> None:
        """Add a data-dependent number: in a loop, each iteration has its own."""
        self.born.append(size)
        if self.running:
            self.varying[size] = self.running[-1].key, None

    def check(self, symbols: Iterable[Symbol]) -> None:
        """Give up the loop whose index is among the symbols of an open question."""
        for symbol in symbols:
            key, last = self.varying.get(symbol, (None, None))
            if last is not None:
                self.refuse(key)

    def refuse(self, key: Hashable) -> NoReturn:
        """Give up a loop: its iterations differ."""
        self.refused = self.refused or key
        raise LoopRefusedError(key)


def is_linear(formula: Formula, index: Symbol) -> bool:
    """Return whether a formula is an inequality that is linear in an index."""
    if not isinstance(formula, Comparison) or formula.operator not in ("<", "<="):
        return False
    difference = subtract(formula.left, formula.right)
    at = [replaced(difference, {index: add(index, n)}) for n in range(3)]
    return subtract(at[2], at[1]) == subtract(at[1], at[0])
