"""Numbers on a path: sizes that become numbers, numbers that data decide, and numbers that sizes decide."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Hashable, Iterable
from typing import TYPE_CHECKING, Any, NoReturn

from symbcast.core.algebra.symbols import Symbol, Unknown
from symbcast.core.logic.formulas import Comparison, Formula, at_most, equal
from symbcast.core.solver.evaluation.evaluation import UndefinedError, size_at
from symbcast.operators.context import Context
from symbcast.paths.runs.opaque import facts
from symbcast.paths.values.size import sized

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim
    from symbcast.core.program.facts.facts import Facts
    from symbcast.core.solver.satisfiability.incremental import Growing
    from symbcast.paths.places import Place
    from symbcast.paths.runs.indices import Loops
    from symbcast.paths.runs.opaque import OpaqueSizes
    from symbcast.paths.runs.steps import Alternative, Question


class Numbers(Context):
    """The part of a path that makes numbers.

    Attributes:
        numbers: the places where sizes had to become numbers.
        opaque_sizes: the integers that sizes decide but that are not terms.
        takes_opaque: whether there may be such integers; otherwise the sizes in them become numbers.
    """

    numbers: list[Place]
    opaque_sizes: OpaqueSizes
    takes_opaque: bool
    questions: list[Question]
    loops: Loops
    size_class: Callable[..., Any] | None
    _begun: Alternative
    _growing: Growing
    _facts: Facts
    _data: dict[tuple[Any, ...], Unknown]
    _data_count: dict[Place, int]

    @abstractmethod
    def ask(self, formula: Formula, *, is_number: bool = False) -> bool: ...

    @abstractmethod
    def suppose(self, formula: Formula) -> None: ...

    @abstractmethod
    def place(self) -> Place: ...

    @abstractmethod
    def check_current(self) -> None: ...

    @abstractmethod
    def fail_to_trace(self, what: str) -> NoReturn: ...

    @abstractmethod
    def _meet(self, formula: Formula) -> None: ...

    def number(self, dim: Dim) -> int:
        """Return a dimension as a number, and restrict this path to that number."""
        if isinstance(dim, int):
            return dim
        self.check_current()
        known = self._facts.dim(dim)
        if isinstance(known, int):
            return known
        self.numbers.append(self.place())
        while True:
            value = self._value_to_try(dim)
            if self.ask(equal(dim, value), is_number=True):
                return value

    def _value_to_try(self, dim: Dim) -> int:
        number = len(self.questions)
        if number < len(self._begun.questions):
            begun = self._begun.questions[number].formula
            if isinstance(begun, Comparison) and begun.left == dim and isinstance(begun.right, int):
                return begun.right
        self._meet(equal(dim, 0))
        try:
            return size_at(dim, self._growing.sizes)
        except (ZeroDivisionError, UndefinedError):
            self.fail_to_trace(f"{dim} has no value")

    def shown(self, dim: Dim) -> int:
        """Return a number that a dimension can be on this path, without deciding anything."""
        self._meet(equal(dim, 0))
        return size_at(dim, self._growing.sizes)

    def values(self, symbols: Iterable[Symbol]) -> dict[Symbol, int]:
        """Return numbers for symbols, and restrict this path to them."""
        return {s: self.number(s) for s in symbols}

    def sized(self: Any, dim: Dim) -> Any:
        """Return a dimension as a number or size that code can compute with."""
        return sized(dim, self)

    def data_size(self, what: str, lower: int = 0, upper: int | None = None) -> Unknown:
        """Return a data-dependent number; runs get the same one for the same visit to the same line."""
        place = self.place()
        count = self._data_count[place] = self._data_count.get(place, 0) + 1
        key = (place, count, what, lower, upper)
        if key not in self._data:
            self._data[key] = Unknown(f"?{what}{len(self._data) or ''}", lower, upper)
        self.loops.add_data(self._data[key])
        return self._data[key]

    def opaque(
        self, key: Hashable, low: Dim | None, high: Dim | None, origin: tuple[str, Any], *, is_even: bool = False
    ) -> Any:
        """Return an integer that sizes decide, of which only bounds are known; None if it must become a number."""
        known, place = self.opaque_sizes.known(key), self.place()
        if known is not None:
            return self.sized(known)
        if not self.takes_opaque or low is None or self.opaque_sizes.is_refused(place):
            return None
        if not self.bounds.is_at_least(low, 0) and not self.ask(at_most(0, low)):
            return None
        if high is not None and not self.ask(at_most(low, high)):  # sizes at which the function has no such value
            return None
        found = self.data_size("rounded")
        self.opaque_sizes.add(found, key, place, origin)
        for fact in facts(found, low, high, is_even):
            self.suppose(fact)
        return self.sized(found)

    def origin(self, dim: Dim) -> tuple[str, Any]:
        """Return the function that computed an opaque integer, and its argument; empty for other sizes."""
        return self.opaque_sizes.origin(dim)
