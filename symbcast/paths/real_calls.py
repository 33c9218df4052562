"""Calls with numbers instead of sizes: what a call does, at which sizes to call, and functions of sizes."""

from __future__ import annotations

import reprlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, count
from math import prod
from typing import Any

from symbcast.core.algebra.formulas import Formula
from symbcast.core.algebra.terms import Dim, Symbol, symbols_of
from symbcast.core.programs.arguments import own_set
from symbcast.core.shapes import Shape
from symbcast.core.solver.evaluation import UndefinedError, holds_at, size_at, symbols_in, value_at
from symbcast.core.solver.f3_linear.equations import solved_for
from symbcast.core.structs import NamedTuple
from symbcast.paths.path import Path, current
from symbcast.paths.real_numbers import Real
from symbcast.paths.sizes import Size, sized
from symbcast.paths.steps import CodePlace, lines_of_error

NumbersBySymbol = Mapping["Symbol", int]


class RaisedError(NamedTuple):
    """An error raised by a real call, and the lines of its traceback, outermost first."""

    error: BaseException
    lines: tuple[CodePlace, ...]

    @classmethod
    def of(cls, error: BaseException) -> RaisedError:
        """Return an error that was just caught, with the lines of its traceback."""
        return cls(error, tuple(lines_of_error(error)))


def result_of(call: Callable[[], Any]) -> Any:
    """Return the result of a real call, for which no path is running, or the error that it raises."""
    token = current.set(None)
    try:
        return call()
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a function may raise SystemExit, or its own error type
        return RaisedError.of(error)
    finally:
        current.reset(token)


def are_small(shapes: Sequence[Shape], at: NumbersBySymbol, size: int, elements: int) -> bool:
    """Return whether arrays at some sizes have no larger axis than ``size``, and at most so many elements each."""
    sizes = [[value_at(d, at) for d in s.dims] for s in shapes]
    small = [[n for n in shape if n is not None and 0 <= n <= size] for shape in sizes]
    return sizes == small and all(prod(s) <= elements for s in small)


def mentions_data(dim: Dim, at: NumbersBySymbol) -> bool:
    """Return whether a dimension mentions a size that data decide."""
    return any(s not in at for s in symbols_of((dim,)))


class CallsWithNumbers(ABC):
    """Calls of the explored function by a front end, with numbers instead of sizes.

    Attributes:
        has_data: whether calls at the same sizes use different data, so that one can fail and another work.
        most_points: at how many points the function may be called to observe it.
    """

    has_data = False
    most_points = 256

    @abstractmethod
    def results(self, at: NumbersBySymbol) -> Iterator[Any]:
        """Yield the results of calls at some sizes, or `RaisedError`; data differ, the most useful first."""

    @abstractmethod
    def fits(self, traced: Any, real: Any, at: NumbersBySymbol) -> bool:
        """Return whether a real result fits the traced one; data-dependent parts fit anything."""

    def is_small(self, at: NumbersBySymbol) -> bool:
        """Return whether a call at some sizes takes little time and memory."""
        return True

    def is_without_data(self, at: NumbersBySymbol) -> bool:
        """Return whether all arrays of a call at some sizes are empty, so that no other data are possible."""
        return not self.has_data

    def is_of_data(self, error: BaseException) -> bool:
        """Return whether an error is caused by the data of the call, not by its sizes."""
        return False

    def limit_of(self, error: BaseException | None) -> str:
        """Return why a library refuses sizes that are no numbers, if an error of the trace is its refusal."""
        return ""

    @abstractmethod
    def text(self, value: Any, at: NumbersBySymbol | None = None) -> str:
        """Return a traced result at some sizes, or a real result, as text."""


class Limits(NamedTuple):
    """Limits on the work to confirm one exploration.

    Attributes:
        calls: the maximum number of calls beyond the first `sure` of each path.
        sure: the number of results compared for each path at pairwise different sizes.
        effort: the maximum number of formula evaluations to find sizes for calls.
        audits: the maximum number of calls that look for suitable data at small sizes.
    """

    calls: int = 160
    sure: int = 2
    effort: int = 20_000
    audits: int = 1000


# Sizes for calls of a path, as different from each other as its conditions allow.
#
# Equal sizes hide mistakes: a result that holds at (2, 2) may fail at (2, 3). So the search starts from preferred
# sizes, which are pairwise different, and repairs them: while a condition is violated, one of its sizes is changed to
# the value that leaves the fewest conditions violated (min-conflicts; Minton et al., 1992). It needs no solver, and
# its effort is limited: if it finds nothing, the caller falls back on sizes that are known to be on the path.


# How many sizes are changed before the search gives up.
MAX_REPAIRS = 12
# A repair tries sizes up to this; larger ones only if they come from a condition or from the path's own sizes.
MAX_TRIED = 10
# The preferred sizes, in order: all different, and none of the first four divides another.
DIFFERENT = (2, 3, 5, 7, 4, 6, 8, 9)
# Other preferred sizes: composite ones, so that a quotient which is right at a prime may be wrong here.
OTHERS = (6, 4, 9, 10, 8, 12, 14, 15)


class PointCondition:
    """A formula and its symbols, with cached values."""

    __slots__ = ("_known", "_order", "formula", "symbols")

    def __init__(self, formula: Formula) -> None:
        self.formula = formula
        self._order = tuple(symbols_in(formula))
        self.symbols = frozenset(self._order)
        # All searches start from the same sizes, so most evaluations repeat earlier ones.
        self._known: dict[tuple[int, ...], bool] = {}

    def holds(self, at: Mapping[Symbol, int]) -> bool:
        """Return whether the formula holds at some sizes."""
        sizes = tuple([at[s] for s in self._order])
        known = self._known.get(sizes)
        if known is None:
            known = self._known[sizes] = holds_at(self.formula, at)
        return known


class PointSearch:
    """A search for sizes of some symbols.

    Attributes:
        symbols: the sizes to find, in order.
        effort: the number of formulas that may still be evaluated; at 0 the search gives up.
    """

    def __init__(self, symbols: Sequence[Symbol], min_size: int, effort: int) -> None:
        self.symbols = tuple(symbols)
        self.effort = effort
        self._domains = {s: own_set(s, min_size) for s in symbols}
        self._preferred = [self._first(preferred) for preferred in (DIFFERENT, OTHERS)]
        self._wanted = self._preferred[0]

    def _first(self, preferred: Sequence[int]) -> dict[Symbol, int]:
        numbers = chain(preferred, count(max(preferred) + 1))
        sizes = {}
        for symbol, number in zip(self.symbols, numbers, strict=False):
            domain = self._domains[symbol]
            sizes[symbol] = number if number in domain else domain.least(2) or domain.least() or 0
        return sizes

    def near(
        self,
        conditions: Sequence[PointCondition],
        fixed: Mapping[Symbol, int],
        hand: Mapping[Symbol, int],
        *,
        is_other: bool = False,
    ) -> dict[Symbol, int] | None:
        """Return sizes near the preferred ones at which all conditions hold; None if none are found.

        ``fixed`` sizes are not changed. ``hand`` holds known sizes of a nearby path, which repairs also try.
        ``is_other`` prefers other sizes.
        """
        self._wanted = self._preferred[is_other]
        at = {**self._wanted, **fixed}
        if any(size not in self._domains[s] for s, size in fixed.items()):
            return None
        broken = {c for c in conditions if not self._holds(c, at)}
        seen = {tuple(at.values())}
        for _ in range(MAX_REPAIRS):
            if not broken or self.effort <= 0:
                break
            condition = next(c for c in conditions if c in broken)
            best: tuple[tuple[int, ...], dict[Symbol, int], set[PointCondition]] | None = None
            for symbol in sorted(condition.symbols - fixed.keys(), key=self.symbols.index):
                for size in self._tried(condition, symbol, at, hand):
                    there = {**at, symbol: size}
                    if tuple(there.values()) in seen or not self._holds(condition, there):
                        continue
                    others = [c for c in conditions if c is not condition and symbol in c.symbols]
                    left = {c for c in broken if symbol not in c.symbols} | {
                        c for c in others if not self._holds(c, there)
                    }
                    # Min-conflicts: take the change that leaves the fewest violated conditions, then the nicest sizes.
                    cost = self._cost(there, symbol, len(left))
                    if best is None or cost < best[0]:
                        best = cost, there, left
            if best is None:
                return None
            _, at, broken = best
            seen.add(tuple(at.values()))
        return None if broken else at

    def _cost(self, at: Mapping[Symbol, int], changed: Symbol, broken: int) -> tuple[int, ...]:
        """Return the cost of a change: violated conditions, a size below 2, equal sizes, distance to the preferred."""
        size = at[changed]
        equal = len(at) - len(set(at.values()))
        return broken, size < 2, equal, abs(size - self._wanted[changed])

    def _tried(
        self, condition: PointCondition, symbol: Symbol, at: Mapping[Symbol, int], hand: Mapping[Symbol, int]
    ) -> Iterator[int]:
        domain = self._domains[symbol]
        near = [hand[symbol] + n for n in (0, -1, 1)] if symbol in hand else []
        solved = _solved(condition.formula, symbol, at)
        others = [at[s] for s in condition.symbols if s is not symbol]
        for size in dict.fromkeys([*solved, self._wanted[symbol], *others, *near, *range(MAX_TRIED + 1)]):
            if size >= 0 and size in domain and size != at[symbol]:
                yield size

    def _holds(self, condition: PointCondition, at: Mapping[Symbol, int]) -> bool:
        self.effort -= 1
        return condition.holds(at)


def _solved(formula: Formula, symbol: Symbol, at: Mapping[Symbol, int]) -> list[int]:
    """Return the value of a symbol if the formula is an equation that can be solved for it."""
    value = solved_for(formula, symbol)
    size = None if value is None else value_at(value.dim(), at)
    return [] if size is None else [size]


# The largest number that a function of sizes is called with: the function may loop that often.
MAX_NUMBER = 1 << 12


class SizeFunction(CallsWithNumbers):
    """A function of a tuple of sizes, and the sizes to call it with."""

    def __init__(self, run: Callable[[tuple[Any, ...]], Any], dims: Sequence[Dim]) -> None:
        self.run, self.dims = run, tuple(dims)

    def on(self, path: Path) -> Any:
        """Return the function's result on a path."""
        return self.run(tuple(sized(d, path) for d in self.dims))

    def results(self, at: Mapping[Symbol, int]) -> Iterator[Any]:
        """Yield the function's result or error at some sizes."""
        # Both results must agree.
        for _ in range(2):
            yield result_of(lambda: self.run(tuple(size_at(d, at) for d in self.dims)))

    def fits(self, traced: Any, real: Any, at: Mapping[Symbol, int]) -> bool:
        """Return whether the result on a path equals a real value at some sizes."""
        return _is_same(traced, real, at)

    def is_small(self, at: Mapping[Symbol, int]) -> bool:
        """Return whether the function may be called with these numbers."""
        values = [value_at(d, at) for d in self.dims]
        return all(v is not None and 0 <= v <= MAX_NUMBER for v in values)

    def text(self, value: Any, at: Mapping[Symbol, int] | None = None) -> str:
        """Return a value as text, with its sizes replaced by numbers."""
        return reprlib.repr(value if at is None else _at(value, at))


def _at(traced: Any, at: Mapping[Symbol, int]) -> Any:
    """Return a result of a path with its sizes replaced by numbers."""
    if issubclass(type(traced), Size):
        return value_at(traced.dim, at)
    if type(traced) is Real:
        return _number(traced, at)
    if type(traced) in (tuple, list):
        return type(traced)(_at(v, at) for v in traced)
    return {_at(k, at): _at(v, at) for k, v in traced.items()} if isinstance(traced, Mapping) else traced


def _number(real: Real, at: Mapping[Symbol, int]) -> Any:
    """Return the value of a real at some sizes; None if it is undefined there."""
    try:
        return real.recipe(at)
    except (ArithmeticError, UndefinedError, ValueError):
        return None


def _is_same(traced: Any, real: Any, at: Mapping[Symbol, int]) -> bool:
    """Return whether a result of a path equals a real value at some sizes, as far as values can be compared."""
    if issubclass(type(traced), Size):
        return type(real) is int and value_at(traced.dim, at) == real
    if type(traced) is Real:
        return _is_equal(_number(traced, at), real)
    if type(traced) is not type(real):
        return False
    if isinstance(traced, (tuple, list)):
        return len(traced) == len(real) and all(_is_same(f, r, at) for f, r in zip(traced, real, strict=True))
    if isinstance(traced, Mapping):
        values = {_at(k, at): v for k, v in traced.items()}
        return values.keys() == real.keys() and all(_is_same(v, real[k], at) for k, v in values.items())
    return _is_equal(traced, real)


def _is_equal(traced: Any, real: Any) -> bool:
    """Return whether two values are equal; values that compare by identity count as equal."""
    if getattr(type(traced), "__eq__", None) is object.__dict__["__eq__"]:
        return True
    try:
        return bool(traced == real) or bool(traced != traced and real != real)  # noqa: PLR0124 - NaN != NaN
    except Exception:
        return True
