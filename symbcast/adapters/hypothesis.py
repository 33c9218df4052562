"""Strategies of Hypothesis: sizes and arrays that satisfy a condition, and ones that just fail it.

>>> from hypothesis import given
>>> import symbcast as sb
>>> @given(sb.strategies.arrays("N, 3", "M, 1", condition="N == M or M == 1"))
... def test(arrays):
...     x, y = arrays
...     assert (x + y).shape == x.shape
>>> test()
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from symbcast.core.algebra.arithmetic import check_min_size
from symbcast.core.algebra.formulas import Formula, all_of, at_most, clauses, equal, negate
from symbcast.core.programs.arguments import Assumptions, assumption_set, read_assumptions
from symbcast.core.programs.scope import Scope
from symbcast.core.shapes import ShapeLike, known_rank, shape, shape_of
from symbcast.core.solver.decision import Decision
from symbcast.core.solver.evaluation import size_at, symbols_in
from symbcast.errors import AssumptionError, MissingExtraError

if find_spec("hypothesis") is None:
    raise MissingExtraError("symbcast.strategies", "hypothesis")

from hypothesis import strategies as st

from symbcast.core.advice import missing_name_advice, with_advice
from symbcast.core.algebra.terms import Symbol

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn, SearchStrategy


__all__ = ["arrays", "failing_arrays", "failing_sizes", "sizes"]
__getattr__ = missing_name_advice(
    __name__,
    __all__,
    "shapes shape array tensors tensor -> arrays('N, 3', 'M, 1', condition='N == M')",
    "dims dim symbols integers -> sizes('N == M')",
)

_KNOWN_RANK = "write a shape for each rank"


@with_advice
def sizes(condition: Assumptions, *, min_size: int = 0, max_size: int = 8) -> SearchStrategy[dict[str, int]]:
    """Return a strategy of sizes, by name, that satisfy a condition, such as the one of an answer.

    Sizes are from ``min_size`` to ``max_size``; larger only where the condition requires it. Raises `AssumptionError`
    if no sizes satisfy the condition.

    >>> from hypothesis import find
    >>> find(sizes("N == 2*M and M >= 3"), lambda at: True)
    {'N': 6, 'M': 3}
    """
    return _Question((), condition, min_size, max_size).satisfying()


@with_advice
def failing_sizes(condition: Assumptions, *, min_size: int = 0, max_size: int = 8) -> SearchStrategy[dict[str, int]]:
    """Return a strategy of sizes that just fail a condition: one of its clauses does not hold, the others do.

    Where the others exclude that, they need not hold. Raises `AssumptionError` if the condition always holds.
    """
    return _Question((), condition, min_size, max_size).failing()


@with_advice
def arrays(
    *shapes: ShapeLike,
    condition: Assumptions = (),
    dtype: Any = "float64",
    elements: Any = None,
    min_size: int = 0,
    max_size: int = 8,
) -> SearchStrategy[tuple[Any, ...]]:
    """Return a strategy of tuples of NumPy arrays with some shapes, whose sizes satisfy a condition.

    ``dtype`` and ``elements`` are those of `hypothesis.extra.numpy.arrays`. Raises as `sizes`.
    """
    question = _Question(shapes, condition, min_size, max_size)
    return question.satisfying().flatmap(lambda at: _filled(question.shapes_at(at), dtype, elements))


@with_advice
def failing_arrays(
    *shapes: ShapeLike,
    condition: Assumptions,
    dtype: Any = "float64",
    elements: Any = None,
    min_size: int = 0,
    max_size: int = 8,
) -> SearchStrategy[tuple[Any, ...]]:
    """Return a strategy of tuples of arrays whose sizes just fail a condition; see `failing_sizes`."""
    question = _Question(shapes, condition, min_size, max_size)
    return question.failing().flatmap(lambda at: _filled(question.shapes_at(at), dtype, elements))


class _Question:
    """Shapes, and a condition on their sizes."""

    def __init__(self, shapes: Sequence[ShapeLike], condition: Assumptions, min_size: int, max_size: int) -> None:
        read = [known_rank(shape(s), "arrays", _KNOWN_RANK) for s in shapes]
        assumed = read_assumptions(condition)
        named = [*read, shape_of(tuple(dict.fromkeys(s for a in assumed for s in symbols_in(a.formula))))]
        whole = Scope(named, [True] * len(named), assumed, check_min_size(min_size))
        self.shapes, self.names, self.max_size = whole.shapes[: len(read)], whole.names, max_size
        self.assumptions = assumption_set(whole.symbols, (), min_size)
        self.formula = all_of(a.formula for a in whole.assumptions)

    def satisfying(self) -> SearchStrategy[dict[str, int]]:
        """Return a strategy of sizes that satisfy the condition."""
        return self._sizes([list(clauses(self.formula))])

    def failing(self) -> SearchStrategy[dict[str, int]]:
        """Return a strategy of sizes that fail one clause."""
        parts = list(clauses(self.formula))
        ways = []
        for part in parts:
            others = [p for p in parts if p is not part]
            for formulas in ([*others, negate(part)], [negate(part)]):
                if Decision(self.assumptions, formulas).satisfiable:
                    ways.append(formulas)
                    break
        return self._sizes(ways)

    def shapes_at(self, at: Mapping[str, int]) -> list[tuple[int, ...]]:
        """Return the shapes at some sizes."""
        sizes = {s: at[name] for s, name in self.names.items()}
        return [tuple(size_at(d, sizes) for d in s.dims) for s in self.shapes]

    def _sizes(self, ways: Sequence[list[Formula]]) -> SearchStrategy[dict[str, int]]:
        """Return a strategy of sizes that satisfy the formulas of one of several ways."""
        possible = [w for w in ways if Decision(self.assumptions, w).satisfiable]
        if not possible:
            raise AssumptionError("no sizes are left to draw", hint="write a condition that some sizes satisfy or fail")

        @st.composite
        def drawn(draw: DrawFn) -> dict[str, int]:
            formulas = draw(st.sampled_from(possible))
            fixed: list[Formula] = []
            for symbol in self.names:
                # Each size is fixed so that the others still exist. Drawing freely and dropping what does not fit would
                # fail a health check of Hypothesis.
                preferred = draw(st.integers(0, self.max_size))
                exact = equal(symbol, preferred)
                if not Decision(self.assumptions, [*formulas, *fixed, exact]).satisfiable:
                    exact = equal(symbol, self._near(symbol, preferred, [*formulas, *fixed]))
                fixed.append(exact)
            return {self.names[s]: size for s, size in self._witness([*formulas, *fixed]).items() if s in self.names}

        return drawn()

    def _near(self, symbol: Symbol, size: int, formulas: Sequence[Formula]) -> int:
        """Return a size of a name that is possible: the next one above the wanted one, or the smallest."""
        larger = Decision(self.assumptions, [*formulas, at_most(size, symbol)]).witness()
        if larger is not None and larger[symbol] <= self.max_size:
            return larger[symbol]
        least = self._witness(formulas)[symbol]
        if least > self.max_size:  # the condition requires large sizes
            larger = Decision(self.assumptions, [*formulas, at_most(least + size, symbol)]).witness()
        return least if larger is None or least <= self.max_size else larger[symbol]

    def _witness(self, formulas: Sequence[Formula]) -> Mapping[Symbol, int]:
        sizes = Decision(self.assumptions, formulas).witness()
        assert sizes is not None, "each size was chosen so that the others exist"
        return sizes


def _filled(shapes: Sequence[tuple[int, ...]], dtype: Any, elements: Any) -> SearchStrategy[tuple[Any, ...]]:
    from hypothesis.extra import numpy as numbers

    return st.tuples(*(numbers.arrays(dtype, s, elements=elements) for s in shapes))
