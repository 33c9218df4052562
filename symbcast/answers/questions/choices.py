"""The ways in which the sizes that meet on an axis broadcast: which of them are stretched, and the output size.

The sizes other than 1 are all equal. So either all sizes of an axis are equal, or some are 1 and the others are equal
and not 1. These choices exclude each other, and wherever the axis is valid one of them holds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

from symbcast.core.algebra.arithmetic import replaced
from symbcast.core.algebra.operations import Substitution
from symbcast.core.algebra.terms import symbols_of, term
from symbcast.core.logic.formulas import Compatible, Formula, different, equal, one_or_equal

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol
    from symbcast.core.algebra.terms import Dim


class Column(NamedTuple):
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
        >>> [c.literals for c in Column((symbol("N"), 3)).choices(Choice())]
        [[Comparison('==', N, 3)], [Comparison('==', N, 1)]]
        """
        sizes = [d for d in dict.fromkeys(map(before.resolve, self.sizes)) if d != 1]
        output = None if self.output is None else before.resolve(self.output)
        if output == 1:
            made = before.copy()
            if all(made.make_one(d) for d in sizes):
                made.written_ones.update(dict.fromkeys(self.sizes))
                yield made
            return
        free = [d for d in sizes if d != output and not before.is_large(d)]
        most = len(sizes) - 1 if output is None and sizes else len(sizes)
        for count in range(min(len(free), most) + 1):
            for ones in combinations(free, count):
                rest = [d for d in sizes if d not in ones] if ones else sizes
                made = before.copy()
                if made.choose(ones, rest, rest[0] if output is None and rest else output):
                    made.written_ones.update((d, None) for d in self.sizes if before.resolve(d) in (1, *ones))
                    yield made


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
        self._same: dict[Dim, Dim] = {}
        """For terms that are not symbols, an equal term: the one that stands for all of them in `_ones`, `_large`."""
        self._ones: dict[Dim, None] = {}
        """The terms, other than symbols, that are 1."""
        self._large: dict[Dim, None] = {}
        """The terms that are not 1."""

    @staticmethod
    def given(values: dict[Symbol, Dim]) -> Choice:
        """Return an empty choice in which some symbols are known: each is a number or another symbol."""
        made = Choice()
        made._values = dict(values)
        return made

    @staticmethod
    def together(found: Sequence[Choice]) -> Choice:
        """Combine choices that have no sizes in common into one."""
        made = Choice()
        for one in found:
            made.literals += one.literals
            made.written_ones.update(one.written_ones)
            made._values.update(one._values)
            made._same.update(one._same)
            made._ones.update(one._ones)
            made._large.update(one._large)
        return made

    def copy(self) -> Choice:
        """Return an independent copy of this choice."""
        made = _new(Choice)
        made.literals, made._values = self.literals.copy(), self._values.copy()
        made._ones, made._large = self._ones.copy(), self._large.copy()
        made._same, made.written_ones = self._same.copy(), self.written_ones.copy()
        return made

    def resolve(self, dim: Dim) -> Dim:
        """Resolve a size under this choice; a join of chosen sizes becomes one of them."""
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
            dim = replaced(dim, known)
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
        told = len(self.literals)
        is_possible = self.make_one(dim)
        del self.literals[told:]
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
        for gone, kept in ((right, left), (left, right)):
            if not isinstance(gone, int) and gone.is_Symbol and gone not in symbols_of((kept,)):
                return self._bind(gone, kept)
        return self._unite(left, right)

    def _unite(self, left: Dim, right: Dim) -> bool:
        """Let one of two equal terms stand for the other too; return whether this is consistent."""
        kept, gone = (right, left) if isinstance(right, int) else (left, right)
        self._same[gone] = kept
        if gone in self._large and not isinstance(kept, int):
            self._large[kept] = None
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
                known[replaced(dim, bound)] = None
        if 1 in self._large or any(d != 1 and isinstance(d, int) for d in self._ones):
            return False
        # The equal terms may now be numbers, names or other terms; what follows is no choice and needs no literal.
        told, same = len(self.literals), self._same
        self._same = {}
        names = [d for d in self._ones if not isinstance(d, int) and d.is_Symbol]
        is_possible = all(self._bind(name, 1) for name in names)
        is_possible &= all(self.make_equal(replaced(a, bound), replaced(b, bound)) for a, b in same.items())
        del self.literals[told:]
        return is_possible


_new = object.__new__
