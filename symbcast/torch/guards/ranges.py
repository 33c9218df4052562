"""The sizes of a program's open axes as one object: ranges, factors and relations, as ``torch.export`` can say them.

Suggestions, repairs of refused dynamic shapes and deployments are written from it. A size is a line
``factor*t + offset`` over a parameter ``t`` of 0 or more. Each clause about one parameter narrows its set; a linear
equality of two parameters writes both as lines over a third one. What is left of the clauses is not a `Dim`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from math import gcd
from typing import Any

from symbcast.answers.contracts.targets.declaration import SteppedSize
from symbcast.core.algebra.formulas import Comparison, Formula, with_dims
from symbcast.core.algebra.symbols import symbol
from symbcast.core.algebra.term_arithmetic import Substitution
from symbcast.core.algebra.terms import Symbol, Term, constant, term
from symbcast.core.solver.evaluation import holds_at, symbols_in
from symbcast.core.solver.f2_one_size.univariate import narrowed_set
from symbcast.core.solver.size_sets import SizeSet
from symbcast.core.structs import NamedTuple
from symbcast.torch.guards.known_sizes import cancelled

AUTO, FIXED = "Dim.AUTO", "Dim.STATIC"
# The largest factor that is tried for a ``factor*Dim``.
_MOST = 1 << 16


class Line(NamedTuple):
    """A size ``factor*t + offset`` for each ``t`` of 0 or more; a number has no parameter and the factor 0."""

    parameter: Symbol | None
    factor: int
    offset: int

    @property
    def written(self) -> Term:
        """The size as a term of the parameter."""
        own = constant(0) if self.parameter is None else term(self.parameter).scaled(self.factor)
        return own + constant(self.offset)


class SizeLines:
    """Sizes of at least ``least`` as lines over as few parameters as the clauses leave.

    Attributes:
        lines: the line of each size.
        sets: the values of each parameter.
        open: the parameters about which a clause says more than ``lines`` and ``sets``.

    >>> from symbcast.core.text import parse_formula
    >>> a, b = symbol("a"), symbol("b")
    >>> known = SizeLines({a: 1, b: 1}, map(parse_formula, ("2*a == b + 1", "a >= 3", "b <= 21")))
    >>> [line.written for line in known.lines.values()], known.sets[known.lines[a].parameter].greatest
    (['a above its least' + 3, 2*'a above its least' + 5], 8)
    """

    def __init__(self, least: Mapping[Symbol, int], clauses: Iterable[Formula]) -> None:
        own = {size: symbol(f"{size.name} above its least") for size in least}
        self.lines = {size: Line(own[size], 1, low) for size, low in least.items()}
        self.sets = {t: SizeSet.interval(0, None) for t in own.values()}
        left = list(clauses)
        # A join or a step may make an earlier clause one about a single parameter.
        while len(left) > len(left := [c for c in left if not self._learn(c)]):
            pass
        self.open = {self.lines[s].parameter for c in left for s in symbols_in(c) if s in self.lines}

    def ends(self, parameter: Symbol) -> tuple[int | None, bool]:
        """Return the greatest value of a parameter, None if there is none, and whether all from 0 on are values."""
        high = self.sets[parameter].greatest
        return high, self.sets[parameter].same(SizeSet.interval(0, high))

    def within(self, size: Symbol, low: int, high: int | None) -> None:
        """Narrow a size to a range, unless that leaves no value."""
        for clause in (Comparison("<=", low, size), *(() if high is None else (Comparison("<=", size, high),))):
            self._learn(clause)

    def _learn(self, clause: Formula) -> bool:
        """Add a clause to what is known exactly; return whether it says no more."""
        written = Substitution({s: line.written for s, line in self.lines.items()}, of_symbols=True)
        formula = with_dims(clause, lambda d: cancelled(written.term(term(d))).dim())
        about = list(symbols_in(formula))
        if not about:
            return holds_at(formula, {})
        if any(t not in self.sets for t in about):
            return False
        if len(about) == 1:
            return self._narrow(about[0], formula)
        return len(about) == 2 and isinstance(formula, Comparison) and self._join(about[0], about[1], formula)

    def _narrow(self, t: Symbol, formula: Formula) -> bool:
        members = narrowed_set(self.sets[t], formula)
        if not members:
            return False
        self.sets[t] = members
        low, *others = members.first(2)
        step = others[0] - low if others else 0
        high = members.greatest
        same = SizeSet.residues(step, [low % step]) & SizeSet.interval(low, high) if step else SizeSet.of([low])
        if step <= _MOST and members.same(same):
            self._rewrite(t, Line(t if step else None, step, low))
            self.sets[t] = SizeSet.interval(0, None if high is None else (high - low) // (step or 1))
        return True

    def _rewrite(self, t: Symbol, line: Line) -> None:
        """Write the sizes over a parameter as lines over that of another line."""
        for size, own in self.lines.items():
            if own.parameter == t:
                self.lines[size] = Line(line.parameter, own.factor * line.factor, own.offset + own.factor * line.offset)

    def _join(self, t: Symbol, u: Symbol, formula: Comparison) -> bool:
        """Write two parameters with ``a*t == b*u + c`` as lines over one; both must grow with it."""
        rest = (term(formula.left) - term(formula.right)).coefficients
        a, b, c = rest.get((t,), 0), -rest.get((u,), 0), -rest.get((), 0)
        if formula.operator != "==" or a * b <= 0 or not rest.keys() <= {(t,), (u,), ()}:
            return False
        if a < 0:
            a, b, c = -a, -b, -c
        divisor = gcd(a, b)
        (high_t, is_range_t), (high_u, is_range_u) = self.ends(t), self.ends(u)
        if c % divisor or not (is_range_t and is_range_u):
            return False
        a, b, c = a // divisor, b // divisor, c // divisor
        # a*t == b*u + c has the solutions (first + b*w, second + a*w); the least w with both at least 0 becomes 0.
        first = c * pow(a, -1, b) % b if b > 1 else 0
        first += b * max(0, -((a * first - c) // b // a))
        second = (a * first - c) // b
        ends = [(h - low) // f for h, low, f in ((high_t, first, b), (high_u, second, a)) if h is not None]
        if ends and min(ends) < 0:
            return False
        self._rewrite(t, Line(t, b, first))
        self._rewrite(u, Line(t, a, second))
        self.sets[t] = SizeSet.interval(0, min(ends, default=None))
        return True


class Root(NamedTuple):
    """A `Dim` that axes are written with, and its range; ``high`` is None without an end."""

    name: str
    low: int
    high: int | None
    is_least_written: bool = False
    """Whether torch must know the least size, because a derived size subtracts from it."""

    @property
    def line(self) -> str:
        """The line that creates it."""
        ends = [f"min={self.low}"] if self.low > 1 or self.is_least_written else []
        ends += [f"max={self.high}"] if self.high is not None else []
        return f"{self.name} = Dim({', '.join([repr(self.name), *ends])})"


class AxisRange(NamedTuple):
    """The sizes of one axis: ``factor*root + offset``; without a root, a fixed size or one that is left to torch.

    Attributes:
        source: torch's name of the axis.
        low, high: the range of an axis that is left to torch; None stands for no end, and for ``low`` of 2 or less.
    """

    source: str
    root: Root | None = None
    factor: int = 0
    offset: int = 0
    low: int | None = None
    high: int | None = None
    is_fixed: bool = False

    @property
    def text(self) -> str:
        """The entry for ``dynamic_shapes``."""
        if self.root is not None:
            return SteppedSize({self.root.name: self.factor}, self.offset).expression
        ends = ", ".join(f"{end}={n}" for end, n in (("min", self.low), ("max", self.high)) if n is not None)
        return FIXED if self.is_fixed else f"{AUTO}({ends})" if ends else AUTO


class Ranges(NamedTuple):
    """How each open axis is written, by torch's name of it."""

    axes: Mapping[str, AxisRange]

    @property
    def roots(self) -> tuple[Root, ...]:
        """The `Dim` objects, in the order of the axes."""
        return tuple(dict.fromkeys(axis.root for axis in self.axes.values() if axis.root is not None))

    @property
    def lines(self) -> tuple[str, ...]:
        """The lines that create the `Dim` objects."""
        return tuple(root.line for root in self.roots)

    @property
    def texts(self) -> dict[str, str]:
        """The entry of each axis."""
        return {source: axis.text for source, axis in self.axes.items()}

    def values(self, dim: Any) -> dict[str, Any]:
        """Return the entries as objects of torch; ``dim`` is the class `torch.export.Dim`."""
        space: dict[str, Any] = {"Dim": dim}
        exec("\n".join(self.lines), space)
        return {source: eval(text, space) for source, text in self.texts.items()}


def with_range(dim: Any, spec: Any) -> Any:
    """Return `Dim.AUTO` with the range of a `Dim` or a hint, if it has one; ``dim`` is torch's class."""
    low, high = range_of(spec)
    return eval(AxisRange("", low=low if low is not None and low > 2 else None, high=high).text, {"Dim": dim})


def range_of(spec: Any) -> tuple[int | None, int | None]:
    """Return the ends of a `Dim`, a derived one or a hint; None for an end that it does not have."""
    low, high = (getattr(spec, end, None) for end in ("min", "max"))
    return low if isinstance(low, int) else None, high if isinstance(high, int) and high < _NO_END else None


# The end of the range of a `Dim` without one is larger.
_NO_END = 1 << 40


def with_axes(value: Any, change: Callable[[str, Any], Any], place: str = "") -> Any:
    """Return dynamic shapes with a function applied to torch's name of each axis and to its entry."""
    if isinstance(value, Mapping):
        if value and all(isinstance(k, int) for k in value) and not _has_nested(value):
            return {k: change(f"{place}.size()[{k}]", v) for k, v in value.items()}
        return {k: with_axes(v, change, f"{place}[{k!r}]" if place else f"L[{k!r}]") for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        make = getattr(type(value), "_make", type(value))  # a named tuple takes several arguments
        if _has_nested(value):
            return make(with_axes(v, change, f"{place}[{n}]") for n, v in enumerate(value))
        return make(change(f"{place}.size()[{n}]", v) for n, v in enumerate(value))
    return change(place, value) if value is not None and re.fullmatch(r"L\['\w+'\]", place) else value


def _has_nested(value: Any) -> bool:
    items = value.values() if isinstance(value, Mapping) else value
    return any(isinstance(v, (Mapping, list, tuple)) for v in items)
