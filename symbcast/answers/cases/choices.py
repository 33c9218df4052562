"""Columns of a broadcast: which sizes that meet on an axis are stretched, the ranks of sequences, and strides.

The sizes other than 1 are all equal. So either all sizes of an axis are equal, or some are 1 and the others are equal
and not 1. These choices exclude each other, and wherever the axis is valid one of them holds.

From the depth on, one axis represents all axes in front of the distinguished ones, and has no requirements. If two
sequences meet there, each of these axes is stretched or not independently, so the number of cases is unbounded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from symbcast.core.algebra.arithmetic import join, multiply, replace_symbols
from symbcast.core.algebra.formulas import Compatible, Formula, at_most, different, equal, one_or_equal
from symbcast.core.algebra.symbols import AxisSequence, AxisSize, Rest, axis_of, is_sequence
from symbcast.core.algebra.term_arithmetic import Substitution
from symbcast.core.algebra.terms import Dim, Symbol, symbols_of, term
from symbcast.core.rules import Joined, Rule
from symbcast.core.rules.broadcast_rule import members_of
from symbcast.core.shapes import Shape, any_shape_of, is_open, shape_of
from symbcast.core.structs import NamedTuple
from symbcast.errors import UnknownRankError

if TYPE_CHECKING:
    from symbcast.core.programs.bindings import RankedSizes


class AxisColumn(NamedTuple):
    """The sizes that meet on an axis; ``output`` is the output size, None for their join."""

    sizes: tuple[Dim, ...]
    output: Dim | None = None

    @property
    def requirements(self) -> tuple[Formula, ...]:
        """The rules' requirements for the axis; they hold wherever a choice does."""
        if self.output is None:
            return (Compatible(self.sizes),)
        return tuple(one_or_equal(size, self.output) for size in self.sizes)

    def choices(self, before: Choice) -> Iterator[Choice]:
        """Yield the choices compatible with the earlier ones: all sizes equal first, then by the fewest 1s.

        >>> from symbcast.core.algebra.symbols import symbol
        >>> [c.literals for c in AxisColumn((symbol("N"), 3)).choices(Choice())]
        [[Comparison('==', N, 3)], [Comparison('==', N, 1)]]
        """
        sizes = [d for d in dict.fromkeys(map(before.resolve, self.sizes)) if d != 1]
        output = None if self.output is None else before.resolve(self.output)
        if output == 1:
            choice = before.copy()
            if all(choice.make_one(d) for d in sizes):
                choice.written_ones.update(dict.fromkeys(self.sizes))
                yield choice
            return
        free = [d for d in sizes if d != output and not before.is_large(d)]
        # Without an output, "all are 1" is a part of "all are equal": as a choice of its own it would overlap.
        most = len(sizes) - 1 if output is None and sizes else len(sizes)
        for count in range(min(len(free), most) + 1):
            for ones in combinations(free, count):
                rest = [d for d in sizes if d not in ones] if ones else sizes
                choice = before.copy()
                if choice.choose(ones, rest, rest[0] if output is None and rest else output):
                    choice.written_ones.update((d, None) for d in self.sizes if before.resolve(d) in (1, *ones))
                    yield choice


class Choice:
    """The choices made in some columns.

    Attributes:
        literals: The comparisons that state the choices.
        written_ones: The sizes of columns that were chosen to be 1, as the columns write them. A term may resolve to
            another one after each choice, so that the forms in which it was compared do not recognise it.
    """

    __slots__ = ("_large", "_ones", "_same", "_values", "literals", "written_ones")

    def __init__(self) -> None:
        self.literals: list[Formula] = []
        self.written_ones: dict[Dim, None] = {}
        self._values: dict[Symbol, Dim] = {}
        # For terms that are not symbols, an equal term: the one that stands for all of them in `_ones`, `_large`.
        self._same: dict[Dim, Dim] = {}
        # The terms, other than symbols, that are 1.
        self._ones: dict[Dim, None] = {}
        # The terms that are not 1.
        self._large: dict[Dim, None] = {}

    @staticmethod
    def of_values(values: dict[Symbol, Dim]) -> Choice:
        """Return an empty choice in which some symbols are known: each is a number or another symbol."""
        choice = Choice()
        choice._values = dict(values)
        return choice

    @staticmethod
    def together(choices: Sequence[Choice]) -> Choice:
        """Combine choices that have no sizes in common into one."""
        choice = Choice()
        for one in choices:
            choice.literals += one.literals
            choice.written_ones.update(one.written_ones)
            choice._values.update(one._values)
            choice._same.update(one._same)
            choice._ones.update(one._ones)
            choice._large.update(one._large)
        return choice

    def copy(self) -> Choice:
        """Return an independent copy of this choice."""
        copy = _new(Choice)
        copy.literals, copy._values = self.literals.copy(), self._values.copy()
        copy._ones, copy._large = self._ones.copy(), self._large.copy()
        copy._same, copy.written_ones = self._same.copy(), self.written_ones.copy()
        return copy

    def resolve(self, dim: Dim) -> Dim:
        """Resolve a size under this choice; a join of chosen sizes becomes one of them."""
        # Before any substitution: the form in which a column wrote it may be recognised only now.
        if dim in self.written_ones:
            return 1
        while not isinstance(dim, int):
            if dim.is_Symbol:  # nearly every size of a program
                value = self._values.get(dim)  # type: ignore[call-overload] # a term that is a symbol is a Symbol
                if value is None:
                    return dim
                dim = value
                continue
            known = {s: self._values[s] for s in symbols_of((dim,)) if s in self._values}
            if not known:
                break
            dim = replace_symbols(dim, known)
        if isinstance(dim, int):
            return dim
        if dim in self._ones:
            return 1
        if dim in self._same:
            return self.resolve(self._same[dim])
        joins = {o: self.joined([a.dim() for a in o.args]) for o in term(dim).operations() if o.kind == "join"}
        joins = {o: d for o, d in joins.items() if o is not d}
        return self.resolve(Substitution(joins, of_symbols=False).term(term(dim)).dim()) if joins else dim

    def joined(self, sizes: Sequence[Dim]) -> Dim:
        """Return the join of chosen sizes: the first that is not 1, since all such sizes are equal."""
        return next((d for d in map(self.resolve, sizes) if d != 1), 1)

    def is_large(self, dim: Dim) -> bool:
        """Return whether a size is known not to be 1 under this choice."""
        return dim != 1 if isinstance(dim, int) else dim in self._large

    def choose(self, ones: Sequence[Dim], rest: Sequence[Dim], size: Dim | None) -> bool:
        """Choose that sizes are 1, and that the others equal a size other than 1; return whether this is consistent."""
        for dim in ones:
            if not self.make_one(dim):
                return False
        if size is None:
            return True
        for dim in rest:
            if dim is not size and not self.make_equal(size, dim):
                return False
        # Otherwise this would overlap the choice in which fewer sizes are 1.
        return not ones or self.make_large(size)

    def make_one(self, dim: Dim) -> bool:
        """Choose that a size is 1; return whether this is consistent with the choice."""
        dim = self.resolve(dim)
        if dim == 1 or self.is_large(dim):
            return dim == 1
        self.literals.append(equal(dim, 1))
        if not isinstance(dim, int) and dim.is_Symbol:
            return self._bind(dim, 1)
        self._ones[dim] = None
        return True

    def imply_one(self, dim: Dim) -> bool:
        """Record that a size is 1, which the choice already implies; return whether this is consistent."""
        count = len(self.literals)
        is_possible = self.make_one(dim)
        del self.literals[count:]
        return is_possible

    def make_large(self, dim: Dim) -> bool:
        """Choose that a size is not 1; return whether this is consistent with the choice."""
        dim = self.resolve(dim)
        if not self.is_large(dim):
            if dim == 1:
                return False
            self._large[dim] = None
            self.literals.append(different(dim, 1))
        return True

    def make_equal(self, left: Dim, right: Dim) -> bool:
        """Choose that two sizes are equal; return whether this is consistent with the choice."""
        left, right = self.resolve(left), self.resolve(right)
        if left == right or (isinstance(left, int) and isinstance(right, int)):
            return left == right
        if left == 1 or right == 1:
            return self.make_one(right if left == 1 else left)
        self.literals.append(equal(left, right))
        # A symbol in the term that would replace it (N and N//2) cannot be substituted: those terms are united instead.
        for gone, value in ((right, left), (left, right)):
            if not isinstance(gone, int) and gone.is_Symbol and gone not in symbols_of((value,)):
                return self._bind(gone, value)
        return self._unite(left, right)

    def _unite(self, left: Dim, right: Dim) -> bool:
        """Let one of two equal terms stand for the other too; return whether this is consistent."""
        # A number stands for a term and never the other way round: `resolve` ends at numbers.
        representative, gone = (right, left) if isinstance(right, int) else (left, right)
        self._same[gone] = representative
        if gone in self._large and not isinstance(representative, int):
            self._large[representative] = None
        return True

    def _bind(self, symbol: Dim, value: Dim) -> bool:
        """Substitute a value for a symbol; return whether this is consistent with the other sizes."""
        self._values[symbol] = value  # type: ignore[index] # a term that is a symbol is a Symbol
        self._ones.pop(symbol, None)
        if not self._ones and not self._large and not self._same:
            return True
        bound = {symbol: value}
        for known in (self._ones, self._large):
            for dim in [d for d in known if symbol in symbols_of((d,))]:
                del known[dim]
                known[replace_symbols(dim, bound)] = None
        if 1 in self._large or any(d != 1 and isinstance(d, int) for d in self._ones):
            return False
        # The equal terms may now be numbers, names or other terms; what follows is no choice and needs no literal.
        count, same = len(self.literals), self._same
        self._same = {}
        names = [d for d in self._ones if not isinstance(d, int) and d.is_Symbol]
        is_possible = all(self._bind(name, 1) for name in names)
        is_possible &= all(
            self.make_equal(replace_symbols(a, bound), replace_symbols(b, bound)) for a, b in same.items()
        )
        del self.literals[count:]
        return is_possible


_new = object.__new__


class RankColumn(NamedTuple):
    """A sequence whose last ``depth`` axes are distinguished; a choice sets its rank."""

    sequence: AxisSequence
    depth: int

    @property
    def sizes(self) -> tuple[Dim, ...]:
        """The number of axes, and the sizes that it determines."""
        return (self.sequence.rank, *map(self.sequence.axis, range(1, self.depth + 1)))

    @property
    def output(self) -> None:
        """None: a choice of rank has no output size."""
        return

    @property
    def requirements(self) -> tuple[Formula, ...]:
        """Empty: every rank is valid."""
        return ()

    def choices(self, before: Choice) -> Iterator[Choice]:
        """Yield each number of axes below the depth, then "at least the depth".

        >>> from symbcast.answers.cases.choices import Choice
        >>> [c.literals for c in RankColumn(AxisSequence("a"), 1).choices(Choice())]
        [[Comparison('==', rank(a), 0)], [Comparison('<=', 1, rank(a))]]
        """
        rank = before.resolve(self.sequence.rank)
        for count in range(self.depth):
            choice = before.copy()
            # Axes that do not exist have the size 1: that follows from the rank, and is no literal.
            if choice.make_equal(rank, count) and all(map(choice.imply_one, self.sizes[count + 1 :])):
                yield choice
        if not isinstance(rank, int):
            choice = before.copy()
            choice.literals.append(at_most(self.depth, rank))
            yield choice
        elif rank >= self.depth:
            yield before.copy()


class Ranks:
    """The ranks that the cases of a question distinguish; ``bounded`` are the sequences without further axes."""

    def __init__(self, sizes: RankedSizes) -> None:
        self.depths: Mapping[AxisSequence, int] = sizes.unrolled.depths
        self._bounded = {s for s, most in sizes.greatest.items() if most is not None and most <= self.depths[s]}

    def columns(self) -> Iterator[RankColumn]:
        """Yield the columns in which ranks are chosen."""
        return (RankColumn(s, depth) for s, depth in self.depths.items() if depth)

    def unrolled(self, column: AxisColumn) -> Iterator[AxisColumn]:
        """Yield a column for each distinguished axis.

        Raises `UnknownRankError` if different sequences meet on the axes before these.
        """
        rests = [s for s in symbols_of(_dims(column)) if isinstance(s, Rest)]
        if not rests:
            yield column
            return
        for n in range(1, max(self.depths[s.sequence] - s.place for s in rests) + 1):
            yield AxisColumn(
                tuple(self._axis(d, n) for d in column.sizes),
                None if column.output is None else self._axis(column.output, n),
            )
        self._open(rests)

    def _axis(self, dim: Dim, place: int) -> Dim:
        return _cut(axis_of(dim, place), self.depths)

    def check(self, shape: Shape) -> None:
        """Raise `UnknownRankError` for a shape that cannot be divided into cases."""
        self.shape(shape, {s: self.depths[s] for s in self._bounded})

    def at(self, resolve: Callable[[Dim], Dim]) -> dict[AxisSequence, int]:
        """Return the rank of each sequence whose rank resolves to a number, if all of its axes are distinguished."""
        ranks = {s: resolve(s.rank) for s in self.depths}
        return {s: rank for s, rank in ranks.items() if isinstance(rank, int) and rank <= self.depths[s]}

    def shape(self, shape: Shape, ranks: Mapping[AxisSequence, int]) -> Shape:
        """Return a shape with the given ranks for some sequences, at least the distinguished axes for the others."""
        dims: list[Dim] = []
        for dim in shape.dims:
            dims += self._axes(dim, ranks) if is_sequence(dim) else [dim]
        whole = any_shape_of(dims)
        if any(map(is_sequence, whole.dims[1:])):
            sequence = next(s.sequence for s in symbols_of(whole.dims) if isinstance(s, Rest))
            raise UnknownRankError("cases where sizes precede a sequence", str(shape), _hint(sequence))
        return whole

    def _axes(self, dim: Dim, ranks: Mapping[AxisSequence, int]) -> Iterator[Dim]:
        rests = [s for s in symbols_of((dim,)) if isinstance(s, Rest)]
        further = self._open([s for s in rests if s.sequence not in ranks])
        if further:
            yield join(further)
        for n in range(max(ranks.get(s.sequence, self.depths[s.sequence]) - s.place for s in rests), 0, -1):
            yield _cut(axis_of(dim, n), ranks)

    def _open(self, rests: Iterable[Rest]) -> list[Rest]:
        """Return the axes in front of the distinguished ones; raise `UnknownRankError` for more than one sequence."""
        sequences = dict.fromkeys(s.sequence for s in rests if s.sequence not in self._bounded)
        if len(sequences) > 1:
            names = [s.rest().name for s in sequences]
            raise UnknownRankError(f"cases where {' and '.join(names)} meet", names[-1], _hint(list(sequences)[-1]))
        return [s.rest(self.depths[s]) for s in sequences]


def _cut(dim: Dim, ranks: Mapping[AxisSequence, int]) -> Dim:
    """Return a size with 1 for axes that do not exist at the given ranks of sequences."""
    axes = [s for s in symbols_of((dim,)) if isinstance(s, AxisSize)]
    return replace_symbols(dim, {s: 1 for s in axes if s.place > ranks.get(s.sequence, s.place)})


def _hint(sequence: AxisSequence) -> str:
    return f'assume the number of axes, as in assume="{sequence.rank} <= 2"'


def _dims(column: AxisColumn) -> tuple[Dim, ...]:
    return (*column.sizes, *(() if column.output is None else (column.output,)))


# Broadcasts as columns, and how a case reads their operands: stretched axes and strides.


# What rules call an operand that is a shape to broadcast to, and has no elements.
_TARGET = "target"


@dataclass(frozen=True)
class CaseLayout:
    """How a broadcast reads its operands in one case.

    Attributes:
        name: The broadcast's name; empty for a single broadcast.
        shape: The output. A sequence of axes is one entry, here and in the attributes below.
        operands: The operands that have elements, with their shapes in this case.
        strides: For each of these operands, the distance in elements to the next one along each output axis, for
            contiguous operands, the last axis innermost; 0 where the operand is stretched or has no axis.
        stretched: For each of these operands, whether it is stretched, or has no axis, on each output axis.
    """

    name: str
    shape: Shape
    operands: tuple[Shape, ...]
    strides: tuple[Shape, ...]
    stretched: tuple[tuple[bool, ...], ...]


class BroadcastColumns(NamedTuple):
    """A broadcast that is divided into cases: operands, the output as the rule emits it, and the axes' positions.

    ``axes[n][i]`` is the output axis of axis ``i`` of operand ``n``; ``axes[n]`` is None for one without elements.
    """

    name: str
    operands: tuple[Shape, ...]
    output: tuple[Dim | Joined, ...]
    axes: tuple[tuple[int, ...] | None, ...]

    @property
    def is_operator(self) -> bool:
        """Whether it is an operator such as a matmul, for which only the output is given."""
        return all(axes is None for axes in self.axes)

    def columns(self) -> Iterator[AxisColumn]:
        """Yield the columns to choose from."""
        for axis, joined in enumerate(self.output):
            sizes = [
                operand.dims[place]
                for operand, axes in zip(self.operands, self.axes, strict=True)
                for place, lies in enumerate(axes or ())
                if lies == axis
            ]
            if isinstance(joined, Joined):
                yield AxisColumn(tuple(dict.fromkeys((*joined, *sizes))))
            elif any(size != joined for size in sizes):
                yield AxisColumn(tuple(dict.fromkeys(s for s in sizes if s != joined)), joined)

    def layout(self, resolve: Callable[[Dim], Dim]) -> CaseLayout:
        """Return how operands are read where sizes resolve to others."""

        def resolved(dim: Dim) -> Dim:  # the axes of a sequence are not a size, and stay unchanged
            return dim if is_sequence(dim) else resolve(dim)

        joined = [next((d for d in map(resolved, members_of(o)) if d != 1), 1) for o in self.output]
        operands, strides, stretched = [], [], []
        for operand, axes in zip(self.operands, self.axes, strict=True):
            if axes is None:
                continue
            dims = tuple(map(resolved, operand.dims))
            own: list[Dim] = [0] * len(joined)
            is_stretched = [True] * len(joined)
            step: Dim = 1
            for dim, axis in reversed(list(zip(dims, axes, strict=True))):
                if 0 <= axis < len(joined):
                    # A size of 1 under an output of 1 is read once, at its own stride.
                    is_stretched[axis] = dim == 1 != joined[axis]
                    own[axis] = 0 if is_stretched[axis] else step
                # Axes that follow one another are read as one: the stride of a sequence is that of its last axis.
                step = step if is_sequence(dim) else multiply(step, dim)
            operands.append(any_shape_of(dims))
            strides.append(shape_of(own))
            stretched.append(tuple(is_stretched))
        return CaseLayout(self.name, any_shape_of(joined), tuple(operands), tuple(strides), tuple(stretched))

    @property
    def naive(self) -> int | None:
        """The number of cases if nothing is known: for each axis, the possible sets of stretched operands."""
        count = 1
        for axis in range(len(self.output)):
            meeting = sum(axis in (axes or ()) for axes in self.axes)
            # Every set of the operands that meet may be stretched, but for all of them.
            count *= max(1, 2**meeting - 1)
        return count


class OpenBroadcastColumns(NamedTuple):
    """A broadcast of shapes, some of unknown rank; ``output`` is given for an operator."""

    name: str
    rule: Rule
    operands: tuple[Shape, ...]
    output: Shape | None
    ranks: Ranks

    @property
    def is_operator(self) -> bool:
        """Whether it is an operator such as a matmul, for which only the output is given."""
        return _is_operator(self.rule, self.output)

    def columns(self) -> Iterator[AxisColumn]:
        """Yield the columns to choose from."""
        for column in broadcast_of(self.name, self.rule, self.operands, self.output).columns():
            yield from self.ranks.unrolled(column)

    def layout(self, resolve: Callable[[Dim], Dim]) -> CaseLayout:
        """Return how operands are read where sizes and ranks resolve to others."""
        ranks = self.ranks.at(resolve)
        operands = tuple(self.ranks.shape(s, ranks) for s in self.operands)
        output = None if self.output is None else self.ranks.shape(self.output, ranks)
        return broadcast_of(self.name, self.rule, operands, output).layout(resolve)

    @property
    def naive(self) -> None:
        """None: the axes cannot be counted, so neither can the cases."""
        return


def broadcast_of(name: str, rule: Rule, operands: tuple[Shape, ...], output: Shape | None = None) -> BroadcastColumns:
    """Return a broadcast by a rule; ``output`` is given for an operator, where only the output is shown.

    The rule aligns operands of unknown rank; an axis that represents several then comes first.
    """
    if output is not None and _is_operator(rule, output):
        return BroadcastColumns(name, operands, output.dims, (None,) * len(operands))
    dims: Sequence[Sequence[Dim]] = [s.values for s in operands]
    if any(map(is_open, operands)):
        emitted, dims = rule.emit_open(dims).output, rule.expand(dims)
        operands = tuple(map(any_shape_of, dims))
    else:
        emitted = rule.emit(dims).output
    places = rule.places(list(map(len, dims)))
    fits = places.rank == len(emitted)
    axes = tuple(of if fits and rule.operand_name(n) != _TARGET else None for n, of in enumerate(places.of))
    return BroadcastColumns(name, operands, emitted, axes)


def _is_operator(rule: Rule, output: Shape | None) -> bool:
    return rule.family == "operators" and output is not None


def joins_in(dims: Sequence[Dim]) -> Iterator[AxisColumn]:
    """Yield a column for each join within sizes, the inner ones first."""
    for dim in dims:
        if not isinstance(dim, int) and not dim.is_Symbol:
            joins = (o for o in dim.all_operations() if o.kind == "join")
            yield from (AxisColumn(tuple(arg.dim() for arg in join.args)) for join in joins)
